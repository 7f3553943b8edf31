//! The envelope of an event: what stands before its payload, and the line ends behind it.

use crate::sse::Ended;

/// What usually stands before a payload.
pub(in crate::stream) const HEAD: &[u8; 6] = b"data: ";

/// The length of [`HEAD`] without its space.
pub(super) const UNSPACED: u8 = 5;

/// How events are framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Envelope {
    /// The length of `data:`, with or without a space.
    pub(super) head: u8,
    /// The line ends behind the payload. The third is 0 if there are two.
    pub(super) ends: [u8; 3],
}

/// How the events of a template are framed, in lengths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    /// The length of what stands before the payload, and that of the name in it.
    pub(super) lead: u8,
    pub(super) name: u8,
    /// The distance from the beginning of the name to the payload.
    pub(super) behind_name: u8,
    /// The length of the line ends behind the payload, and how the last of these lines ended.
    pub(super) tail: u8,
    pub(super) ended: Ended,
}

impl Lengths {
    pub(super) const NOTHING: Lengths = Lengths { lead: 0, name: 0, behind_name: 0, tail: 0, ended: Ended::Alone };
}

impl Envelope {
    pub(super) const USUAL: Envelope = Envelope { head: 6, ends: *b"\n\n\0" };

    /// Returns the envelope of an event whose payload begins at `start`, or `None` if the event contains anything else.
    pub(super) fn of(event: &[u8], start: usize, len: usize, name: &[u8]) -> Option<Self> {
        let (before, rest) = event.split_at_checked(start)?;
        let tail = rest.get(len..)?;
        let ends = match *tail {
            [first, second] => [first, second, 0],
            [first, second, third] => [first, second, third],
            _ => return None,
        };
        let envelope = Envelope { head: if before.ends_with(HEAD) { HEAD.len() as u8 } else { UNSPACED }, ends };
        let rest = envelope.before(name).iter().try_fold(before, |rest, part| rest.strip_prefix(*part))?;
        (rest.is_empty() && tail.iter().all(|byte| matches!(byte, b'\n' | b'\r'))).then_some(envelope)
    }

    /// Returns the line ends behind the payload.
    pub(super) fn tail(&self) -> &[u8] {
        self.ends.strip_suffix(b"\0").unwrap_or(&self.ends)
    }

    /// Returns what stands before the payload of an event with this name, in parts: the line of the name, if there is one, and
    /// the head.
    pub(super) fn before<'n>(&'n self, name: &'n [u8]) -> [&'n [u8]; 4] {
        let head = HEAD.get(..usize::from(self.head)).unwrap_or_default();
        if name.is_empty() {
            return [b"", b"", b"", head];
        }
        let field = if self.head == UNSPACED { &b"event:"[..] } else { b"event: " };
        [field, name, self.ends.get(..usize::from(self.line_end())).unwrap_or_default(), head]
    }

    /// Returns how long all that stands before the payload is.
    pub(super) fn lead(&self, name: &[u8]) -> usize {
        self.before(name).iter().map(|part| part.len()).sum()
    }

    /// Returns the framing of an event with this name, all of which fits a template.
    pub(super) fn framing(&self, name: &[u8]) -> Lengths {
        let ended = match self.tail() {
            b"\r\n\r" => Ended::CrBehindCrLf,
            b"\r\r" => Ended::CrBehindCr,
            [.., b'\r'] => Ended::Cr,
            _ => Ended::Alone,
        };
        let (lead, name, tail) = (self.lead(name) as u8, name.len() as u8, self.tail().len() as u8);
        // No longer than the lead.
        let behind_name = name.wrapping_add(self.line_end()).wrapping_add(self.head);
        Lengths { lead, name, behind_name, tail, ended }
    }

    /// Returns the length of a line end.
    fn line_end(&self) -> u8 {
        if self.ends.starts_with(b"\r\n") {
            2
        } else {
            1
        }
    }
}
