//! The names of statuses, kinds, verdicts, quirks and other numbers.

use crate::types::*;
use core::ffi::{c_char, CStr};
use core::ptr;
use deltawire::chat::{FinishKind, Owner};
use deltawire::delta::{Kind, Meta};
use deltawire::json::JsonErrorKind;
use deltawire::stream::{Media, Pending, Protocol};
use deltawire::{Error, Quirk, Verdict};

/// The name of a number, from a table of C constants; "?" for a number that is not in the table. A
/// row may also name the library's number, which must equal the constant. `rows`, if given, is how
/// many rows the table must have.
macro_rules! names {
    ($number:expr $(, rows $rows:expr)?; $($known:ident $(= $library:expr)? => $name:literal,)*) => {{
        #[allow(dead_code)] // Most tables state no number of rows.
        const ROWS: usize = [$($known),*].len();
        $(const _: () = assert!(ROWS == $rows);)?
        $($(const _: () = assert!($known == $library);)?)*
        match $number {
            $($known => concat!($name, "\0").as_ptr().cast::<c_char>(),)*
            _ => c"?".as_ptr(),
        }
    }};
}

/// Returns the name of a status, and the status in words.
#[inline(always)] // Each caller then has a table of the texts that it returns, without relocations.
fn words_of(status: deltawire_status) -> [&'static CStr; 2] {
    match status {
        DELTAWIRE_OK => [c"OK", c"done"],
        DELTAWIRE_PAUSED => [c"PAUSED", c"a callback asked for a pause: call again with the unconsumed bytes"],
        DELTAWIRE_MORE => [c"MORE", c"the array or the scratch is full: call again with the unconsumed bytes"],
        DELTAWIRE_NEED_STORAGE => [
            c"NEED_STORAGE",
            c"the block is too small for what it must keep: deltawire_need, deltawire_message_need or \
            deltawire_writer_need has the size",
        ],
        DELTAWIRE_NEED_ROOM => [
            c"NEED_ROOM",
            c"the buffer has no room for the next event: send what was written, and call again with the same event",
        ],
        DELTAWIRE_ABSENT => [c"ABSENT", c"there is no such value, or it has another type"],
        DELTAWIRE_E_NULL => [c"E_NULL", c"a pointer that must not be NULL is NULL"],
        DELTAWIRE_E_CONFIG => [
            c"E_CONFIG",
            c"a struct has an unknown size, which its _INIT macro sets, or a value out of range",
        ],
        DELTAWIRE_E_SMALL => [c"E_SMALL", c"memory is too small: a _size or _need function, or *need, has the length"],
        DELTAWIRE_E_ALIGN => [c"E_ALIGN", c"memory is not aligned to DELTAWIRE_ALIGN"],
        DELTAWIRE_E_STATE => [
            c"E_STATE",
            c"a call is missing before this one: deltawire_init for a new block, deltawire_reset after the end of a stream, \
            the same kind of call (feed or batch) as before for a pending event, deltawire_feed for committed bytes, \
            deltawire_reserve for deltawire_commit; or the config lacks DELTAWIRE_CFG_SHARED, or has it and the call is \
            without _with, or lacks read_len or DELTAWIRE_MODE_USAGE",
        ],
        DELTAWIRE_E_REENTRANT => [
            c"E_REENTRANT",
            c"a callback called a function on the parser or workspace in use: let the callback return first",
        ],
        DELTAWIRE_E_RANGE => [c"E_RANGE", c"an argument is out of range, or a number does not fit its type"],
        DELTAWIRE_E_RESUME => [
            c"E_RESUME",
            c"the parser expects the unconsumed bytes again, or a loop left a batch before its last event",
        ],
        DELTAWIRE_E_NO_PLACE => [c"E_NO_PLACE", c"the protocol has no place for the event"],
        DELTAWIRE_E_LATE => [c"E_LATE", c"the event comes after its choice or its call was written"],
        DELTAWIRE_E_JSON => [c"E_JSON", c"the value is not JSON"],
        DELTAWIRE_E_UNFINISHED => [c"E_UNFINISHED", c"a choice has no finish reason"],
        DELTAWIRE_E_ENDED => [c"E_ENDED", c"the stream ended before"],
        DELTAWIRE_E_ABORTED => {
            [c"E_ABORTED", c"a callback aborted the call: deltawire_reset begins another stream"]
        }
        DELTAWIRE_E_CALLBACK => [
            c"E_CALLBACK",
            c"a callback returned a number that no constant names: deltawire_reset begins another stream",
        ],
        DELTAWIRE_E_STRICT => [
            c"E_STRICT",
            c"the stream has a quirk that the config makes an error, which deltawire_error_quirk names: deltawire_reset \
            begins another stream",
        ],
        _ => [c"?"; 2],
    }
}

/// The name of a status, such as `OK` or `E_NULL`; "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_status_name(status: deltawire_status) -> *const c_char {
    words_of(status)[0].as_ptr()
}

/// A status in words; "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_status_text(status: deltawire_status) -> *const c_char {
    words_of(status)[1].as_ptr()
}

/// How many kinds of the library have no constant in C yet.
const RESERVED: usize = 5;

/// The name of a kind of event, such as `CONTENT`; "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_event_name(kind: u32) -> *const c_char {
    names! { kind, rows Kind::ALL.len() - RESERVED;
        DELTAWIRE_EV_NONE = Kind::None as u32 => "NONE",
        DELTAWIRE_EV_SSE = Kind::Sse as u32 => "SSE",
        DELTAWIRE_EV_COMMENT = Kind::Comment as u32 => "COMMENT",
        DELTAWIRE_EV_KEEP_ALIVE = Kind::KeepAlive as u32 => "KEEP_ALIVE",
        DELTAWIRE_EV_RETRY = Kind::Retry as u32 => "RETRY",
        DELTAWIRE_EV_LAST_EVENT_ID = Kind::LastEventId as u32 => "LAST_EVENT_ID",
        DELTAWIRE_EV_CHUNK = Kind::Chunk as u32 => "CHUNK",
        DELTAWIRE_EV_ROLE = Kind::Role as u32 => "ROLE",
        DELTAWIRE_EV_CONTENT = Kind::Content as u32 => "CONTENT",
        DELTAWIRE_EV_REASONING = Kind::Reasoning as u32 => "REASONING",
        DELTAWIRE_EV_REFUSAL = Kind::Refusal as u32 => "REFUSAL",
        DELTAWIRE_EV_TOOL_CALL = Kind::ToolCall as u32 => "TOOL_CALL",
        DELTAWIRE_EV_TOOL_NAME = Kind::ToolName as u32 => "TOOL_NAME",
        DELTAWIRE_EV_TOOL_ARGUMENTS = Kind::ToolArguments as u32 => "TOOL_ARGUMENTS",
        DELTAWIRE_EV_FUNCTION_NAME = Kind::FunctionName as u32 => "FUNCTION_NAME",
        DELTAWIRE_EV_FUNCTION_ARGUMENTS = Kind::FunctionArguments as u32 => "FUNCTION_ARGUMENTS",
        DELTAWIRE_EV_AUDIO = Kind::Audio as u32 => "AUDIO",
        DELTAWIRE_EV_LOGPROBS = Kind::Logprobs as u32 => "LOGPROBS",
        DELTAWIRE_EV_FINISH = Kind::Finish as u32 => "FINISH",
        DELTAWIRE_EV_CHOICE_ERROR = Kind::ChoiceError as u32 => "CHOICE_ERROR",
        DELTAWIRE_EV_USAGE = Kind::Usage as u32 => "USAGE",
        DELTAWIRE_EV_ERROR = Kind::Error as u32 => "ERROR",
        DELTAWIRE_EV_MALFORMED = Kind::Malformed as u32 => "MALFORMED",
        DELTAWIRE_EV_TOO_LONG = Kind::TooLong as u32 => "TOO_LONG",
        DELTAWIRE_EV_COMMENT_TOO_LONG = Kind::CommentTooLong as u32 => "COMMENT_TOO_LONG",
        DELTAWIRE_EV_LIMIT = Kind::Limit as u32 => "LIMIT",
        DELTAWIRE_EV_QUIRK = Kind::Quirk as u32 => "QUIRK",
        DELTAWIRE_EV_DONE = Kind::Done as u32 => "DONE",
        DELTAWIRE_EV_PAYLOAD = Kind::Payload as u32 => "PAYLOAD",
        DELTAWIRE_EV_META = Kind::Meta as u32 => "META",
        DELTAWIRE_EV_ANNOTATION = Kind::Annotation as u32 => "ANNOTATION",
        DELTAWIRE_EV_SIGNATURE = Kind::Signature as u32 => "SIGNATURE",
        DELTAWIRE_EV_MEDIA = Kind::Media as u32 => "MEDIA",
        DELTAWIRE_EV_NATIVE = Kind::Native as u32 => "NATIVE",
        DELTAWIRE_EV_TOOL_CALL_END = Kind::ToolCallEnd as u32 => "TOOL_CALL_END",
        DELTAWIRE_EV_FRAME = Kind::Frame as u32 => "FRAME",
    }
}

const _: () = {
    assert!(DELTAWIRE_MESSAGE_EVENTS == Kind::MESSAGE);
    assert!(DELTAWIRE_META_OBJECT == Meta::Object as u32);
    assert!(DELTAWIRE_META_SYSTEM_FINGERPRINT == Meta::SystemFingerprint as u32);
    assert!(DELTAWIRE_META_SERVICE_TIER == Meta::ServiceTier as u32);
    assert!(DELTAWIRE_META_PROVIDER == Meta::Provider as u32);
    assert!(DELTAWIRE_META_NATIVE_FINISH_REASON == Meta::NativeFinishReason as u32);
    assert!(DELTAWIRE_META_MEMBER == Meta::Member as u32);
    assert!(DELTAWIRE_META_CHOICE_MEMBER == Meta::ChoiceMember as u32);
    assert!(DELTAWIRE_META_DELTA_MEMBER == Meta::DeltaMember as u32);
    assert!(DELTAWIRE_META_MESSAGE_MEMBER == Meta::MessageMember as u32);
    assert!(DELTAWIRE_META_REASONING_NAME == Meta::ReasoningName as u32);
    assert!(DELTAWIRE_META_CALL_MEMBER == Meta::CallMember as u32);
    assert!(DELTAWIRE_META_FUNCTION_MEMBER == Meta::FunctionMember as u32);
    assert!(DELTAWIRE_OWNER_CHUNK == Owner::Chunk as u32);
    assert!(DELTAWIRE_OWNER_CHOICE == Owner::Choice as u32);
    assert!(DELTAWIRE_OWNER_DELTA == Owner::Delta as u32);
    assert!(DELTAWIRE_OWNER_CALL == Owner::Call as u32);
    assert!(DELTAWIRE_OWNER_FUNCTION == Owner::Function as u32);
    assert!(DELTAWIRE_OWNER_USAGE == Owner::Usage as u32);
};

/// The name of a verdict, such as `Done`; "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_verdict_name(verdict: u32) -> *const c_char {
    names! { verdict;
        DELTAWIRE_VERDICT_EMPTY = Verdict::Empty as u32 => "Empty",
        DELTAWIRE_VERDICT_NOT_A_STREAM = Verdict::NotAStream as u32 => "NotAStream",
        DELTAWIRE_VERDICT_API_ERROR = Verdict::ApiError as u32 => "ApiError",
        DELTAWIRE_VERDICT_DONE = Verdict::Done as u32 => "Done",
        DELTAWIRE_VERDICT_FINISHED = Verdict::Finished as u32 => "Finished",
        DELTAWIRE_VERDICT_BODY = Verdict::Body as u32 => "Body",
        DELTAWIRE_VERDICT_JSON_ANSWER = Verdict::JsonAnswer as u32 => "JsonAnswer",
        DELTAWIRE_VERDICT_OTHER_PROTOCOL = Verdict::OtherProtocol as u32 => "OtherProtocol",
        DELTAWIRE_VERDICT_LOST = Verdict::Lost as u32 => "Lost",
        DELTAWIRE_VERDICT_TRUNCATED = Verdict::Truncated as u32 => "Truncated",
        DELTAWIRE_VERDICT_ABORTED = Verdict::Aborted as u32 => "Aborted",
    }
}

/// The name of a `DELTAWIRE_MEDIA_*`, such as `Gzip` or `None`; "?" for an unknown number. Static,
/// ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_media_name(media: u32) -> *const c_char {
    names! { media;
        DELTAWIRE_MEDIA_NONE => "None",
        DELTAWIRE_MEDIA_GZIP = Media::Gzip as u32 => "Gzip",
        DELTAWIRE_MEDIA_ZSTD = Media::Zstd as u32 => "Zstd",
        DELTAWIRE_MEDIA_BINARY = Media::Binary as u32 => "Binary",
        DELTAWIRE_MEDIA_HTML = Media::Html as u32 => "Html",
        DELTAWIRE_MEDIA_TEXT = Media::Text as u32 => "Text",
    }
}

/// The name of a protocol, such as `Anthropic` or `None`; "?" for an unknown number. Static, ended
/// by NUL.
#[no_mangle]
pub extern "C" fn deltawire_protocol_name(protocol: u32) -> *const c_char {
    names! { protocol;
        DELTAWIRE_PROTOCOL_NONE => "None",
        DELTAWIRE_PROTOCOL_OTHER = Protocol::Other as u32 => "Other",
        DELTAWIRE_PROTOCOL_RESPONSES = Protocol::Responses as u32 => "Responses",
        DELTAWIRE_PROTOCOL_ANTHROPIC = Protocol::Anthropic as u32 => "Anthropic",
        DELTAWIRE_PROTOCOL_GEMINI = Protocol::Gemini as u32 => "Gemini",
        DELTAWIRE_PROTOCOL_INTERACTIONS = Protocol::Interactions as u32 => "Interactions",
        DELTAWIRE_PROTOCOL_OLLAMA = Protocol::Ollama as u32 => "Ollama",
        DELTAWIRE_PROTOCOL_COHERE = Protocol::Cohere as u32 => "Cohere",
        DELTAWIRE_PROTOCOL_CHAT = Protocol::Chat as u32 => "Chat",
    }
}

/// The name of a `DELTAWIRE_PENDING_*`, such as `Event`; "?" for an unknown number. Static, ended by
/// NUL.
#[no_mangle]
pub extern "C" fn deltawire_pending_name(pending: u32) -> *const c_char {
    names! { pending;
        DELTAWIRE_PENDING_NOTHING = Pending::Nothing as u32 => "Nothing",
        DELTAWIRE_PENDING_EVENT = Pending::Event as u32 => "Event",
        DELTAWIRE_PENDING_JSON = Pending::Json as u32 => "Json",
        DELTAWIRE_PENDING_LINE = Pending::Line as u32 => "Line",
    }
}

/// The name of a fault, such as `UnexpectedEnd`; "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_fault_name(fault: u32) -> *const c_char {
    names! { fault;
        DELTAWIRE_FAULT_UNEXPECTED_END = JsonErrorKind::UnexpectedEnd.number() => "UnexpectedEnd",
        DELTAWIRE_FAULT_UNEXPECTED_BYTE = JsonErrorKind::UnexpectedByte.number() => "UnexpectedByte",
        DELTAWIRE_FAULT_TRAILING_BYTES = JsonErrorKind::TrailingBytes.number() => "TrailingBytes",
        DELTAWIRE_FAULT_TOO_DEEP = JsonErrorKind::TooDeep.number() => "TooDeep",
        DELTAWIRE_FAULT_BAD_NUMBER = JsonErrorKind::BadNumber.number() => "BadNumber",
        DELTAWIRE_FAULT_BAD_LITERAL = JsonErrorKind::BadLiteral.number() => "BadLiteral",
        DELTAWIRE_FAULT_BAD_ESCAPE = JsonErrorKind::BadEscape.number() => "BadEscape",
        DELTAWIRE_FAULT_RAW_CONTROL = JsonErrorKind::RawControl.number() => "RawControl",
        DELTAWIRE_FAULT_ILL_FORMED_UTF8 = JsonErrorKind::IllFormedUtf8.number() => "IllFormedUtf8",
    }
}

/// The name of a `DELTAWIRE_FINISH_*` as providers write it, such as `tool_calls`; `other` for
/// OTHER, and "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_finish_name(finish: u32) -> *const c_char {
    names! { finish;
        DELTAWIRE_FINISH_OTHER = FinishKind::Other.number() => "other",
        DELTAWIRE_FINISH_STOP = FinishKind::Stop.number() => "stop",
        DELTAWIRE_FINISH_LENGTH = FinishKind::Length.number() => "length",
        DELTAWIRE_FINISH_TOOL_CALLS = FinishKind::ToolCalls.number() => "tool_calls",
        DELTAWIRE_FINISH_CONTENT_FILTER = FinishKind::ContentFilter.number() => "content_filter",
        DELTAWIRE_FINISH_FUNCTION_CALL = FinishKind::FunctionCall.number() => "function_call",
        DELTAWIRE_FINISH_ERROR = FinishKind::Error.number() => "error",
    }
}

/// The name of a `DELTAWIRE_LIMIT_*`, which is that of the error in Rust: `TooManyCalls` for
/// `DELTAWIRE_LIMIT_TOOL_CALLS`. "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_limit_name(limit: u32) -> *const c_char {
    names! { limit;
        DELTAWIRE_LIMIT_CHOICES = Error::TooManyChoices { choice: 0, offset: 0 }.number() => "TooManyChoices",
        DELTAWIRE_LIMIT_TOOL_CALLS = Error::TooManyCalls { choice: 0, offset: 0 }.number() => "TooManyCalls",
        DELTAWIRE_LIMIT_INDEX = Error::BadIndex { choice: 0, offset: 0 }.number() => "BadIndex",
        DELTAWIRE_LIMIT_LENGTH => "TooLong",
    }
}

/// Returns the quirk with this number.
pub(crate) fn quirk_of(number: u32) -> Option<Quirk> {
    Quirk::ALL.iter().copied().find(|quirk| *quirk as u32 == number)
}

/// The code of a quirk in docs/quirks.md, such as `F6`; NULL for unknown numbers. Static, ended by
/// NUL.
#[no_mangle]
pub extern "C" fn deltawire_quirk_code(quirk: u32) -> *const c_char {
    quirk_of(quirk).map_or(ptr::null(), |quirk| quirk.c_strs()[0].as_ptr())
}

/// The name of a quirk, such as `ContinuedPayload`; NULL for unknown numbers. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_quirk_name(quirk: u32) -> *const c_char {
    quirk_of(quirk).map_or(ptr::null(), |quirk| quirk.c_strs()[1].as_ptr())
}

/// A quirk in words; NULL for unknown numbers. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_quirk_text(quirk: u32) -> *const c_char {
    quirk_of(quirk).map_or(ptr::null(), |quirk| quirk.c_strs()[2].as_ptr())
}
