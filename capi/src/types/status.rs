//! Statuses, what a callback returns, and the sizes that programs are compiled with.

/// The result of a call. 0: the call did all of its work. Above 0: the call stopped early; call
/// again. -1 to -99: misuse. The call changed nothing, and a correct call still succeeds. -100 and
/// below: the stream failed. Every later call returns the same status until `deltawire_reset`.
pub type deltawire_status = i32;

/// All input is consumed, and no event is pending.
pub const DELTAWIRE_OK: i32 = 0;
/// A callback returned `DELTAWIRE_PAUSE` or `DELTAWIRE_AGAIN`. To continue, call again with the
/// bytes from `consumed` on.
pub const DELTAWIRE_PAUSED: i32 = 1;
/// Batch: the array or the scratch is full, or more than 2^31 - 1 bytes were given. Process the
/// events, then call again with the bytes from `consumed` on.
pub const DELTAWIRE_MORE: i32 = 2;
/// The block is too small. A parser answers this for an event that a read cut (only with
/// `DELTAWIRE_CFG_GROW`), an assembler for a message, a writer (`deltawire_writer_put`) for what it
/// writes later. Give it a block of `deltawire_need` or `deltawire_message_need` bytes: after
/// `realloc` call `deltawire_resize`, or call `deltawire_move` with another block. Then call again
/// with the bytes from `consumed` on. A batch has written the events before the cut one: process
/// them first.
pub const DELTAWIRE_NEED_STORAGE: i32 = 3;
/// A writer: the buffer has no room for the next event, which needs `deltawire_writer_room` bytes.
/// Send what was written, then call again with the same event.
pub const DELTAWIRE_NEED_ROOM: i32 = 4;
/// A getter's answer: there is no such value, or it has another type.
pub const DELTAWIRE_ABSENT: i32 = 10;
/// Misuse: a pointer that must not be NULL is NULL.
pub const DELTAWIRE_E_NULL: i32 = -1;
/// Misuse: a struct that the caller fills has an unknown size, a value out of range, or bytes after
/// the members of this version that are not zero.
pub const DELTAWIRE_E_CONFIG: i32 = -2;
/// Misuse: memory is too small. A getter whose text does not fit into the buffer writes only
/// `*need`.
pub const DELTAWIRE_E_SMALL: i32 = -3;
/// Misuse: memory is not aligned to `DELTAWIRE_ALIGN`.
pub const DELTAWIRE_E_ALIGN: i32 = -4;
/// Misuse: the block was never initialized, or the order of calls is wrong.
pub const DELTAWIRE_E_STATE: i32 = -5;
/// Misuse: a callback called a function on the parser that is calling it, or with the workspace that
/// the call uses.
pub const DELTAWIRE_E_REENTRANT: i32 = -6;
/// Misuse: an argument is outside its range, or a number does not fit the requested type.
pub const DELTAWIRE_E_RANGE: i32 = -7;
/// Misuse: the parser expects the bytes from `consumed` on again, because an event is pending or the
/// block had no room for it, and the caller gave fewer bytes or other bytes. Call again with the
/// bytes from `consumed` on.
pub const DELTAWIRE_E_RESUME: i32 = -8;
/// A writer: the protocol has no place for the event.
pub const DELTAWIRE_E_NO_PLACE: i32 = -9;
/// A writer: the event comes too late: its choice finished, its call is over, or the call's ID and
/// name were written.
pub const DELTAWIRE_E_LATE: i32 = -10;
/// A writer: a value is not JSON by RFC 8259, or nests more than 100 levels deep.
pub const DELTAWIRE_E_JSON: i32 = -11;
/// A writer: a choice has no finish reason, or no choice began.
pub const DELTAWIRE_E_UNFINISHED: i32 = -12;
/// A writer: the stream ended before.
pub const DELTAWIRE_E_ENDED: i32 = -13;
/// A callback returned a number below 0, which `deltawire_user_code` returns.
pub const DELTAWIRE_E_ABORTED: i32 = -100;
/// A callback returned a number above 0 that no constant names. `deltawire_user_code` returns that
/// number.
pub const DELTAWIRE_E_CALLBACK: i32 = -101;
/// The stream has a quirk that the config makes an error; `deltawire_error_quirk` and
/// `deltawire_error_offset` name it.
pub const DELTAWIRE_E_STRICT: i32 = -102;

/// A callback returns this to go on.
pub const DELTAWIRE_GO_ON: i32 = 0;
/// A callback returns this to stop after the current event. The event's other callbacks are still
/// called. The call then returns `DELTAWIRE_PAUSED`.
pub const DELTAWIRE_PAUSE: i32 = 1;
/// A callback returns this to stop at once. The call returns `DELTAWIRE_PAUSED`. The next call
/// repeats this callback, with the same piece if a text comes in pieces, and continues from there.
/// The next call must be `deltawire_feed` or `deltawire_finish`, not a batch.
pub const DELTAWIRE_AGAIN: i32 = 2;

/// The alignment of every block, in bytes. Memory from malloc has this alignment, and so does a Go
/// `[]uint64`.
pub const DELTAWIRE_ALIGN: usize = 8;
/// How many bytes of a block the state and tables of the default size take, with room to spare; the
/// event buffer is the rest. This constant grows only with `DELTAWIRE_ABI`.
pub const DELTAWIRE_STATE_SIZE: usize = 12288;
/// The size of a workspace's block, in bytes, with room to spare. This constant grows only with
/// `DELTAWIRE_ABI`.
pub const DELTAWIRE_WORKSPACE_SIZE: usize = 8192;
/// How many bytes of an assembler's block its state and tables of the default size take, with room
/// to spare; the log is the rest. This constant grows only with `DELTAWIRE_ABI`.
pub const DELTAWIRE_MESSAGE_STATE_SIZE: usize = 4096;
/// How many bytes of a writer's block its state takes, with room to spare; its memory is the rest.
/// This constant grows only with `DELTAWIRE_ABI`.
pub const DELTAWIRE_WRITER_STATE_SIZE: usize = 3072;
/// The smallest scratch that a batch accepts, in bytes.
pub const DELTAWIRE_SCRATCH_MIN: usize = 64;
/// How many choices of one stream a parser and an assembler have room for, unless the config sets
/// `max_choices`.
pub const DELTAWIRE_DEFAULT_CHOICES: u32 = 8;
/// How many tool calls of one stream, over all choices, a parser and an assembler have room for,
/// unless the config sets `max_tool_calls`.
pub const DELTAWIRE_DEFAULT_TOOL_CALLS: u32 = 32;
/// The largest `max_choices`.
pub const DELTAWIRE_MAX_CHOICES: u32 = 128;
/// The largest `max_tool_calls`.
pub const DELTAWIRE_MAX_TOOL_CALLS: u32 = 1024;
/// An upper bound of the bytes that one choice or one tool call takes in a block; see
/// `DELTAWIRE_TABLES_SIZE`. This constant grows only with `DELTAWIRE_ABI`.
pub const DELTAWIRE_ROW_SIZE: usize = 128;
/// Every quirk number is below this.
pub const DELTAWIRE_QUIRKS: u32 = 128;
