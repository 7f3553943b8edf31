//! The envelope of an event: the bytes before its payload, and the line ends after it.

use crate::sse::Ended;

/// The usual bytes before a payload.
pub(in crate::stream) const DATA_PREFIX: &[u8; 6] = b"data: ";

/// The length of [`DATA_PREFIX`] without its space.
pub(super) const UNSPACED: u8 = 5;

/// How an event is framed: its `data:`, and its line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Envelope {
    /// The length of `data:`, with or without a space.
    pub(super) prefix_len: u8,
    /// The line ends after the payload: three bytes, or two bytes and a 0.
    pub(super) ends: [u8; 3],
}

/// The envelope of a template, as lengths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    /// The length of the bytes before the payload.
    pub(super) lead: u8,
    /// The length of the name among those bytes.
    pub(super) name: u8,
    /// The distance from the beginning of the name to the payload.
    pub(super) name_to_payload: u8,
    /// The length of the line ends after the payload.
    pub(super) tail: u8,
    /// How the last line ended.
    pub(super) ended: Ended,
}

impl Lengths {
    pub(super) const NOTHING: Lengths = Lengths { lead: 0, name: 0, name_to_payload: 0, tail: 0, ended: Ended::Alone };
}

impl Envelope {
    pub(super) const USUAL: Envelope = Envelope { prefix_len: 6, ends: *b"\n\n\0" };

    /// Returns the envelope of an event whose payload begins at `start`, or `None` if the event has other lines or
    /// fields.
    pub(super) fn of(event: &[u8], start: usize, len: usize, name: &[u8]) -> Option<Self> {
        let (before, rest) = event.split_at_checked(start)?;
        let tail = rest.get(len..)?;
        let ends = match *tail {
            [first, second] => [first, second, 0],
            [first, second, third] => [first, second, third],
            _ => return None,
        };
        let envelope = Envelope {
            prefix_len: if before.ends_with(DATA_PREFIX) { DATA_PREFIX.len() as u8 } else { UNSPACED },
            ends,
        };
        let rest = envelope.before(name).iter().try_fold(before, |rest, part| rest.strip_prefix(*part))?;
        (rest.is_empty() && tail.iter().all(|byte| matches!(byte, b'\n' | b'\r'))).then_some(envelope)
    }

    /// Returns the line ends after the payload.
    pub(super) fn tail(&self) -> &[u8] {
        self.ends.strip_suffix(b"\0").unwrap_or(&self.ends)
    }

    /// Returns the bytes before the payload of an event with this name, in parts: the `event` line, if the name is not
    /// empty, and the prefix.
    pub(super) fn before<'n>(&'n self, name: &'n [u8]) -> [&'n [u8]; 4] {
        let prefix = DATA_PREFIX.get(..usize::from(self.prefix_len)).unwrap_or_default();
        if name.is_empty() {
            return [b"", b"", b"", prefix];
        }
        let field = if self.prefix_len == UNSPACED { &b"event:"[..] } else { b"event: " };
        [field, name, self.ends.get(..usize::from(self.line_end())).unwrap_or_default(), prefix]
    }

    /// Returns the length of the bytes before the payload.
    pub(super) fn lead(&self, name: &[u8]) -> usize {
        self.before(name).iter().map(|part| part.len()).sum()
    }

    /// Returns the lengths for an event with this name. The event fits a template, so each length fits a byte.
    pub(super) fn framing(&self, name: &[u8]) -> Lengths {
        let ended = match self.tail() {
            b"\r\n\r" => Ended::CrBehindCrLf,
            b"\r\r" => Ended::CrBehindCr,
            [.., b'\r'] => Ended::Cr,
            _ => Ended::Alone,
        };
        let (lead, name, tail) = (self.lead(name) as u8, name.len() as u8, self.tail().len() as u8);
        // The sum is at most `lead`, so it does not overflow.
        let name_to_payload = name.wrapping_add(self.line_end()).wrapping_add(self.prefix_len);
        Lengths { lead, name, name_to_payload, tail, ended }
    }

    /// Returns the length of one line end.
    fn line_end(&self) -> u8 {
        if self.ends.starts_with(b"\r\n") {
            2
        } else {
            1
        }
    }
}
