//! What a writer writes.

use super::deltawire_str;

/// The request has `stream_options.include_usage`: each chunk of a chat completion has a `usage`,
/// and the last one has the counts. The other protocols always write the usage.
pub const DELTAWIRE_WRITE_USAGE: u32 = 1;
/// Each event has an `id`: its sequence number.
pub const DELTAWIRE_WRITE_EVENT_IDS: u32 = 2;

/// A writer: it turns the events of a response into the bytes of an event stream. Its address is
/// that of its block: `(deltawire_writer *)mem`.
pub struct deltawire_writer {
    _opaque: [u64; 0],
}

/// How a stream is written, and what each of its events repeats. A member that is 0 or absent
/// selects its default. `deltawire_writer_init` copies the struct and its texts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct deltawire_writer_config {
    /// `sizeof(deltawire_writer_config)`; `DELTAWIRE_WRITER_CONFIG_INIT` sets it.
    pub size: u32,
    /// `DELTAWIRE_PROTOCOL_*`: CHAT, RESPONSES or ANTHROPIC.
    pub protocol: u32,
    /// `DELTAWIRE_WRITE_*`, or-ed.
    pub flags: u32,
    /// A text is cut into events of at most this many bytes of text, between characters. 0 is 4096;
    /// at least 16.
    pub text_len: u32,
    /// How long the client waits before it reconnects, in milliseconds, sent with the first event.
    /// 0: nothing is sent.
    pub retry: u32,
    /// Always 0.
    pub reserved: u32,
    /// When the response was made, in seconds since 1970.
    pub created: u64,
    /// The sequence number of the first event.
    pub first_sequence: u64,
    /// The ID of the response, UTF-8. If ID or model is absent, or `created` 0, a translation
    /// (`deltawire_translate`) takes that of the response that it reads.
    pub id: deltawire_str,
    /// The model, UTF-8.
    pub model: deltawire_str,
    /// More members, a JSON object: those of every chunk in chat completions, of the response in
    /// Responses, of the message in Anthropic Messages. docs/writing.md has the defaults of members
    /// that Responses demands.
    pub members: deltawire_str,
}
