//! The numbers that bound what the parser will hold or follow.

/// Every limit of the library. None changes with a cargo feature.
///
/// ```
/// let limits = deltawire::Limits { max_event_len: 64 * 1024, ..Default::default() };
/// assert_eq!(limits.max_depth, 128);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one event: its data values, the LFs that join them and the event name. 1 MiB by default.
    /// What the storage can hold bounds it too.
    pub max_event_len: u32,
    /// Bytes of a last event ID; a longer one is ignored ([`Quirk::LongId`](crate::Quirk::LongId)). 1 KiB by default.
    pub max_id_len: u32,
    /// How deep JSON may nest; a deeper payload is malformed. 128 by default, 1024 at most.
    pub max_depth: u32,
    /// Bytes of all texts and all raw JSON that an assembled message may hold. 64 MiB by default.
    pub max_message_len: usize,
}

impl Limits {
    /// The most that [`max_depth`](Limits::max_depth) can be: what the strict check has room for.
    pub const MAX_DEPTH: u32 = 1024;

    /// The limits that hold if nothing else is said.
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
    fn the_defaults_are_those_that_are_documented() {
        let Limits { max_event_len, max_id_len, max_depth, max_message_len } = Limits::default();
        assert_eq!((max_event_len, max_id_len, max_depth), (1_048_576, 1024, 128));
        assert_eq!((max_message_len, Limits::MAX_DEPTH), (67_108_864, 1024));
    }
}
