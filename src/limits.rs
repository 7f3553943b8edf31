//! The limits on what the parser stores and how deep it reads.

/// Every limit of the library. No cargo feature changes one.
///
/// ```
/// let limits = deltawire::Limits { max_event_len: 64 * 1024, ..Default::default() };
/// assert_eq!(limits.max_depth, 128);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Length of an event in bytes: its data values, the LFs that join them, and the event name. 1 MiB by default. The
    /// storage limits it too. A longer event is skipped and reported as [`Event::TooLong`](crate::Event::TooLong).
    pub max_event_len: u32,
    /// Length of a last event ID in bytes. 1 KiB by default. A longer ID is ignored
    /// ([`Quirk::LongId`](crate::Quirk::LongId)).
    pub max_id_len: u32,
    /// Nesting depth of JSON in levels. 128 by default, at most 1024. A deeper payload is malformed.
    pub max_depth: u32,
    /// Bytes of text and raw JSON in an assembled message, in total. 64 MiB by default.
    pub max_message_len: usize,
}

impl Limits {
    /// The largest [`max_depth`](Limits::max_depth), given by the size of the strict check's stack.
    pub const MAX_DEPTH: u32 = 1024;

    /// The default limits.
    pub const DEFAULT: Limits =
        Limits { max_event_len: 1 << 20, max_id_len: 1 << 10, max_depth: 128, max_message_len: 64 << 20 };
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
}
