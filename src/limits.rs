//! The limits on what the parser stores and how deep it reads.

/// Every limit of the library. No cargo feature changes one.
///
/// ```
/// use deltawire::Limits;
/// let limits = Limits::new().with_max_event_len(64 * 1024);
/// assert_eq!((limits.max_event_len(), limits.max_depth()), (64 * 1024, 128));
/// assert_eq!(limits.with_max_depth(1025), None); // out of range
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    pub(crate) max_event_len: u32,
    pub(crate) max_id_len: u32,
    pub(crate) max_depth: u32,
    pub(crate) max_message_len: usize,
}

impl Limits {
    /// The largest [`max_depth`](Limits::max_depth), given by the size of the strict check's stack.
    pub const MAX_DEPTH: u32 = 1024;

    /// The default limits.
    pub const DEFAULT: Limits =
        Limits { max_event_len: 1 << 20, max_id_len: 1 << 10, max_depth: 128, max_message_len: 64 << 20 };

    /// Returns the default limits.
    pub const fn new() -> Limits {
        Limits::DEFAULT
    }

    /// Returns the maximum length of an event in bytes: its data values, the LFs that join them, and the event name.
    /// 1 MiB by default. The storage limits the length too. A longer event is skipped and reported as
    /// [`Event::TooLong`](crate::Event::TooLong).
    pub const fn max_event_len(&self) -> u32 {
        self.max_event_len
    }

    /// Returns the maximum length of a last event ID in bytes. 1 KiB by default. A longer ID is ignored
    /// ([`Quirk::LongId`](crate::Quirk::LongId)).
    pub const fn max_id_len(&self) -> u32 {
        self.max_id_len
    }

    /// Returns the maximum nesting depth of JSON in levels. 128 by default. A deeper payload is malformed.
    pub const fn max_depth(&self) -> u32 {
        self.max_depth
    }

    /// Returns the maximum total length of the texts and the raw JSON in an assembled message, in bytes. 64 MiB by
    /// default.
    pub const fn max_message_len(&self) -> usize {
        self.max_message_len
    }

    /// Returns the limits with another [`max_event_len`](Limits::max_event_len).
    #[must_use]
    pub const fn with_max_event_len(self, bytes: u32) -> Limits {
        Limits { max_event_len: bytes, ..self }
    }

    /// Returns the limits with another [`max_id_len`](Limits::max_id_len).
    #[must_use]
    pub const fn with_max_id_len(self, bytes: u32) -> Limits {
        Limits { max_id_len: bytes, ..self }
    }

    /// Returns the limits with another [`max_depth`](Limits::max_depth), or `None` if that exceeds
    /// [`MAX_DEPTH`](Limits::MAX_DEPTH).
    #[must_use]
    pub const fn with_max_depth(self, levels: u32) -> Option<Limits> {
        if levels > Limits::MAX_DEPTH {
            return None;
        }
        Some(Limits { max_depth: levels, ..self })
    }

    /// Returns the limits with another [`max_message_len`](Limits::max_message_len).
    #[must_use]
    pub const fn with_max_message_len(self, bytes: usize) -> Limits {
        Limits { max_message_len: bytes, ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::Limits;

    #[test]
    fn defaults_are_as_documented() {
        let Limits { max_event_len, max_id_len, max_depth, max_message_len } = Limits::default();
        assert_eq!((max_event_len, max_id_len, max_depth), (1_048_576, 1024, 128));
        assert_eq!((max_message_len, Limits::MAX_DEPTH), (67_108_864, 1024));
    }

    #[test]
    fn each_builder_changes_its_own_limit() {
        let limits = Limits::new().with_max_event_len(1).with_max_id_len(2).with_max_message_len(4);
        let limits = limits.with_max_depth(1024);
        assert_eq!(limits, Some(Limits { max_event_len: 1, max_id_len: 2, max_depth: 1024, max_message_len: 4 }));
        assert!(limits.is_some_and(|limits| limits.with_max_depth(1025).is_none()));
    }
}
