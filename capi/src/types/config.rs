//! How a parser behaves.

/// Mode: response streams: chat completion chunks, and the protocols that are read like them
/// (`dialect`).
pub const DELTAWIRE_MODE_CHAT: u32 = 0;
/// Mode: any event stream. The parser does not read the payloads; `on_sse` and `DELTAWIRE_EV_SSE`
/// deliver them.
pub const DELTAWIRE_MODE_SSE: u32 = 1;
/// Mode: as `DELTAWIRE_MODE_CHAT`, for programs that need only token counts, finish reasons, errors
/// and the verdict. If the first member of an event of Responses or Anthropic Messages is its type,
/// and events of that type have none of these, the parser skips the event; it is a
/// `DELTAWIRE_EV_SSE`. Other events are read in full, so some deltas are emitted and some are not.
pub const DELTAWIRE_MODE_USAGE: u32 = 2;

/// Answer `DELTAWIRE_NEED_STORAGE` when a cut event does not fit into the block. Without this flag
/// the parser drops the event and reports `DELTAWIRE_EV_TOO_LONG`.
pub const DELTAWIRE_CFG_GROW: u32 = 1;
/// Framing exactly as in WHATWG HTML 9.2: unknown lines are ignored, and a last event without its
/// blank line is dropped.
pub const DELTAWIRE_CFG_SPEC: u32 = 2;
/// Check each payload completely, against RFC 8259 and as UTF-8. A payload that fails is malformed.
pub const DELTAWIRE_CFG_STRICT_JSON: u32 = 4;
/// The parser reads with the memory of a workspace, which many parsers share: its block is smaller,
/// and each call that reads is given one (`deltawire_feed_with`, …).
pub const DELTAWIRE_CFG_SHARED: u32 = 8;

/// How a parser behaves. A member that is 0 has its default. `deltawire_init` copies the struct.
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
    /// `DELTAWIRE_EV_FRAME`, `DELTAWIRE_EV_PAYLOAD`, `DELTAWIRE_EV_META`,
    /// `DELTAWIRE_EV_ANNOTATION`, `DELTAWIRE_EV_SIGNATURE`, `DELTAWIRE_EV_MEDIA`,
    /// `DELTAWIRE_EV_NATIVE` and `DELTAWIRE_EV_MESSAGE`. Texts of other kinds are not decoded,
    /// which saves time. Callbacks ignore this mask: a feed calls every callback that is not NULL.
    pub events: u64,
    /// Quirks that are errors: bit `quirk % 64` of element `quirk / 64`. Bits of unknown quirks are
    /// ignored.
    pub errors: [u64; 2],
    /// The longest event, in bytes: its data, the line feeds that join its data lines, and its name.
    /// 0 is 1 MiB; at most 2^31 - 1. Without `DELTAWIRE_CFG_GROW` the size of the block is a limit
    /// as well, even for events that no read cut.
    pub max_event_len: u32,
    /// `DELTAWIRE_PROTOCOL_*`, if the protocol of the stream is known: CHAT, RESPONSES, ANTHROPIC or
    /// GEMINI. 0: the first event whose protocol can be recognised decides for the whole stream.
    pub dialect: u32,
    /// The longest last event ID, in bytes; 0 is 1 KiB. A longer one is ignored.
    pub max_id_len: u32,
    /// Bytes at the end of the block that are reserved for direct reading (`deltawire_reserve`),
    /// rounded up to a multiple of 8. 0: no bytes are reserved, and there is no direct reading.
    pub read_len: u32,
    /// How many choices of one stream there is room for; 0 is `DELTAWIRE_DEFAULT_CHOICES`, at most
    /// `DELTAWIRE_MAX_CHOICES`. Deltas of a further choice are left out, and `DELTAWIRE_EV_LIMIT`
    /// reports that.
    pub max_choices: u32,
    /// How many tool calls of one stream, over all choices, there is room for; 0 is
    /// `DELTAWIRE_DEFAULT_TOOL_CALLS`, at most `DELTAWIRE_MAX_TOOL_CALLS`. A further tool call is
    /// left out, and `DELTAWIRE_EV_LIMIT` reports that.
    pub max_tool_calls: u32,
}
