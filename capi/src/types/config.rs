//! How a parser behaves.

/// Mode: the stream is a response in chat completion chunks or in another protocol that `protocol`
/// can name.
pub const DELTAWIRE_MODE_CHAT: u32 = 0;
/// Mode: the stream is any event stream. The parser delivers payloads unread, to `on_sse` or as
/// `DELTAWIRE_EV_SSE`.
pub const DELTAWIRE_MODE_SSE: u32 = 1;
/// Mode: as `DELTAWIRE_MODE_CHAT`, for programs that meter a stream, such as gateways. The block
/// also has a meter, which `deltawire_meter_of` reads; it takes at most `DELTAWIRE_METER_SIZE`
/// bytes, which `deltawire_block_size` of this config includes. Most such programs need no
/// callbacks.
pub const DELTAWIRE_MODE_USAGE: u32 = 2;

/// Answer `DELTAWIRE_NEED_STORAGE` when a cut event does not fit into the block. Without this flag
/// the parser drops the event and reports `DELTAWIRE_EV_TOO_LONG`.
pub const DELTAWIRE_CFG_GROW: u32 = 1;
/// Frame the stream exactly as WHATWG HTML 9.2 says: ignore unknown lines, and drop a last event
/// without its blank line.
pub const DELTAWIRE_CFG_SPEC: u32 = 2;
/// Check every byte of each payload, against RFC 8259 and as UTF-8. A payload that fails is
/// malformed.
pub const DELTAWIRE_CFG_STRICT_JSON: u32 = 4;
/// The parser shares the memory of a workspace with other parsers, so its own block is smaller. Each
/// call that reads takes a workspace (`deltawire_feed_with`, …).
pub const DELTAWIRE_CFG_SHARED: u32 = 8;
/// Each delta of a text (content, reasoning, arguments of tool calls) may have all of the text so
/// far, as some servers send it: report only what is new. A delta that does not begin with the text
/// so far, compared by its length and a hash, continues it. Only for such a server: a model may
/// repeat itself.
pub const DELTAWIRE_CFG_SNAPSHOTS: u32 = 16;

/// How a parser behaves. A member that is 0 selects its default. `deltawire_init` copies the struct.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct deltawire_config {
    /// `sizeof(deltawire_config)`; `DELTAWIRE_CONFIG_INIT` sets it.
    pub size: u32,
    /// `DELTAWIRE_MODE_*`.
    pub mode: u32,
    /// `DELTAWIRE_CFG_*`, or-ed.
    pub flags: u32,
    /// How deep JSON may nest; 0 is 128, at most 1024. A payload that nests deeper is malformed.
    pub max_depth: u32,
    /// The kinds of events that a batch emits: `DELTAWIRE_MASK(kind)`, or-ed. 0 is every kind except
    /// `DELTAWIRE_EV_FRAME`, `DELTAWIRE_EV_PAYLOAD`, `DELTAWIRE_EV_META`, `DELTAWIRE_EV_ANNOTATION`,
    /// `DELTAWIRE_EV_SIGNATURE`, `DELTAWIRE_EV_MEDIA` and `DELTAWIRE_EV_NATIVE`. The parser does not
    /// decode texts of other kinds, which saves time.
    /// Callbacks ignore this mask: a feed calls every callback that is not NULL.
    pub events: u64,
    /// The quirks that end the stream with E_STRICT: bit `quirk % 64` of element `quirk / 64`. Bits
    /// of unknown quirks are ignored. All 128 bits are all quirks but
    /// `DELTAWIRE_QUIRK_REPEATED_TEXT`, which must be named: a model may repeat itself.
    pub errors: [u64; 2],
    /// The longest allowed event, in bytes: its data, the line feeds that join its data lines, and
    /// its name. 0 is 1 MiB; at most 2^31 - 1. Without `DELTAWIRE_CFG_GROW` the size of the block is
    /// a limit as well, even for events that no read cut.
    pub max_event_len: u32,
    /// `DELTAWIRE_PROTOCOL_*`, if the caller knows the protocol of the stream: CHAT, RESPONSES,
    /// ANTHROPIC or GEMINI. 0: the first event whose protocol the parser recognizes decides for the
    /// whole stream.
    pub protocol: u32,
    /// The longest allowed last event ID, in bytes; 0 is 1 KiB. The parser ignores a longer ID.
    pub max_id_len: u32,
    /// Bytes at the end of the block that are reserved for direct reading (`deltawire_reserve`),
    /// rounded up to a multiple of 8. 0: no bytes are reserved, and there is no direct reading.
    pub read_len: u32,
    /// How many choices of one stream the parser has room for; 0 is `DELTAWIRE_DEFAULT_CHOICES`, at
    /// most `DELTAWIRE_MAX_CHOICES`. The parser leaves out the deltas of further choices, and
    /// reports that as `DELTAWIRE_EV_LIMIT`.
    pub max_choices: u32,
    /// How many tool calls of one stream, over all choices, the parser has room for; 0 is
    /// `DELTAWIRE_DEFAULT_TOOL_CALLS`, at most `DELTAWIRE_MAX_TOOL_CALLS`. The parser leaves out
    /// further tool calls, and reports that as `DELTAWIRE_EV_LIMIT`.
    pub max_tool_calls: u32,
}
