//! How an event is framed: what stands before its payload, and the line ends behind it.

use crate::sse::Ended;

/// What may stand before a payload.
pub(in crate::stream) const HEAD: &[u8; 6] = b"data: ";

/// How long it is without the space.
pub(super) const UNSPACED: u8 = 5;

/// The framing of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Framing {
    /// `data:`, with or without a space.
    pub(super) head: u8,
    /// The line ends; 0 if there is no third.
    pub(super) ends: [u8; 3],
}

impl Framing {
    pub(super) const USUAL: Framing = Framing { head: 6, ends: *b"\n\n\0" };

    /// The framing of an event, if it has just that payload.
    pub(super) fn of(event: &[u8], start: usize, len: usize, name: &[u8]) -> Option<Self> {
        let (before, rest) = event.split_at_checked(start)?;
        let tail = rest.get(len..)?;
        let ends = match *tail {
            [first, second] => [first, second, 0],
            [first, second, third] => [first, second, third],
            _ => return None,
        };
        let framing = Framing { head: if before.ends_with(HEAD) { HEAD.len() as u8 } else { UNSPACED }, ends };
        let rest = framing.before(name).iter().try_fold(before, |rest, part| rest.strip_prefix(*part))?;
        (rest.is_empty() && tail.iter().all(|byte| matches!(byte, b'\n' | b'\r'))).then_some(framing)
    }

    /// The line ends behind a payload.
    pub(super) fn tail(&self) -> &[u8] {
        self.ends.strip_suffix(b"\0").unwrap_or(&self.ends)
    }

    /// How the last of them ended.
    pub(super) fn ended(&self) -> Ended {
        match self.tail() {
            b"\r\n\r" => Ended::CrBehindCrLf,
            b"\r\r" => Ended::CrBehindCr,
            [.., b'\r'] => Ended::Cr,
            _ => Ended::Alone,
        }
    }

    /// What stands before a payload with this name, in parts: the line of the name, if there is one, and the head.
    pub(super) fn before<'n>(&'n self, name: &'n [u8]) -> [&'n [u8]; 4] {
        let head = HEAD.get(..usize::from(self.head)).unwrap_or_default();
        if name.is_empty() {
            return [b"", b"", b"", head];
        }
        let field = if self.head == UNSPACED { &b"event:"[..] } else { b"event: " };
        [field, name, self.ends.get(..usize::from(self.line_end())).unwrap_or_default(), head]
    }

    /// How long that is.
    pub(super) fn lead(&self, name: &[u8]) -> usize {
        self.before(name).iter().map(|part| part.len()).sum()
    }

    /// How long what stands from the beginning of a name of this length to the payload is.
    pub(super) fn behind_name(&self, name: usize) -> usize {
        name.wrapping_add(usize::from(self.line_end())).wrapping_add(usize::from(self.head))
    }

    /// How long a line end is.
    pub(super) fn line_end(&self) -> u8 {
        if self.ends.starts_with(b"\r\n") {
            2
        } else {
            1
        }
    }
}
