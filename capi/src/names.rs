//! Names of numbers: static, ended by NUL.

use crate::types::*;
use core::ffi::c_char;
use core::ptr;
use deltawire::chat::{FinishKind, Owner};
use deltawire::delta::{Kind, Meta};
use deltawire::stream::{Media, Pending, Protocol};
use deltawire::{Error, Quirk, Verdict};

/// The names of a table: a match from numbers to C strings.
macro_rules! names {
    ($number:expr, $none:expr, $($known:pat => $name:literal,)*) => {
        match $number {
            $($known => concat!($name, "\0").as_ptr().cast::<c_char>(),)*
            _ => $none,
        }
    };
}

/// What is not known.
fn unknown() -> *const c_char {
    c"?".as_ptr()
}

/// The name of a status, such as `OK` or `E_NULL`; "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_status_name(status: deltawire_status) -> *const c_char {
    names! { status, unknown(),
        DELTAWIRE_OK => "OK",
        DELTAWIRE_PAUSED => "PAUSED",
        DELTAWIRE_MORE => "MORE",
        DELTAWIRE_NEED_STORAGE => "NEED_STORAGE",
        DELTAWIRE_ABSENT => "ABSENT",
        DELTAWIRE_E_NULL => "E_NULL",
        DELTAWIRE_E_CONFIG => "E_CONFIG",
        DELTAWIRE_E_SMALL => "E_SMALL",
        DELTAWIRE_E_ALIGN => "E_ALIGN",
        DELTAWIRE_E_STATE => "E_STATE",
        DELTAWIRE_E_REENTRANT => "E_REENTRANT",
        DELTAWIRE_E_RANGE => "E_RANGE",
        DELTAWIRE_E_RESUME => "E_RESUME",
        DELTAWIRE_E_ABORTED => "E_ABORTED",
        DELTAWIRE_E_CALLBACK => "E_CALLBACK",
        DELTAWIRE_E_STRICT => "E_STRICT",
    }
}

/// A status in words; "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_status_text(status: deltawire_status) -> *const c_char {
    names! { status, unknown(),
        DELTAWIRE_OK => "done",
        DELTAWIRE_PAUSED => "a callback asked for a pause",
        DELTAWIRE_MORE => "array or scratch are full",
        DELTAWIRE_NEED_STORAGE => "the block is too small for what it has to keep",
        DELTAWIRE_ABSENT => "there is no such thing",
        DELTAWIRE_E_NULL => "a pointer is NULL",
        DELTAWIRE_E_CONFIG => "a struct has a size or a value that is not known",
        DELTAWIRE_E_SMALL => "memory is too small",
        DELTAWIRE_E_ALIGN => "memory is not aligned",
        DELTAWIRE_E_STATE => "never initialised, or the wrong order of calls",
        DELTAWIRE_E_REENTRANT => "called from a callback",
        DELTAWIRE_E_RANGE => "outside of the range",
        DELTAWIRE_E_RESUME => "the bytes that were not consumed have to be given again, or a batch was left before its end",
        DELTAWIRE_E_ABORTED => "a callback broke off",
        DELTAWIRE_E_CALLBACK => "a callback returned a number that is not known",
        DELTAWIRE_E_STRICT => "a quirk that is to be an error",
    }
}

/// The kinds of events: of the library, their numbers in C, and their names.
macro_rules! kinds {
    ($($kind:ident = $number:ident $name:literal,)*) => {
        // One table rules, the library's. What it reserves is not for C yet.
        const _: () = {
            $(assert!($number == Kind::$kind as u32);)*
            const RESERVED: usize = 4;
            assert!([$($number),*].len() + RESERVED == Kind::ALL.len());
        };

        fn event_name(kind: u32) -> *const c_char {
            names! { kind, unknown(),
                $($number => $name,)*
            }
        }
    };
}

kinds! {
    None = DELTAWIRE_EV_NONE "NONE",
    Sse = DELTAWIRE_EV_SSE "SSE",
    Comment = DELTAWIRE_EV_COMMENT "COMMENT",
    KeepAlive = DELTAWIRE_EV_KEEP_ALIVE "KEEP_ALIVE",
    Retry = DELTAWIRE_EV_RETRY "RETRY",
    LastEventId = DELTAWIRE_EV_LAST_EVENT_ID "LAST_EVENT_ID",
    Chunk = DELTAWIRE_EV_CHUNK "CHUNK",
    Role = DELTAWIRE_EV_ROLE "ROLE",
    Content = DELTAWIRE_EV_CONTENT "CONTENT",
    Reasoning = DELTAWIRE_EV_REASONING "REASONING",
    Refusal = DELTAWIRE_EV_REFUSAL "REFUSAL",
    ToolCall = DELTAWIRE_EV_TOOL_CALL "TOOL_CALL",
    ToolName = DELTAWIRE_EV_TOOL_NAME "TOOL_NAME",
    ToolArguments = DELTAWIRE_EV_TOOL_ARGUMENTS "TOOL_ARGUMENTS",
    FunctionName = DELTAWIRE_EV_FUNCTION_NAME "FUNCTION_NAME",
    FunctionArguments = DELTAWIRE_EV_FUNCTION_ARGUMENTS "FUNCTION_ARGUMENTS",
    Audio = DELTAWIRE_EV_AUDIO "AUDIO",
    Logprobs = DELTAWIRE_EV_LOGPROBS "LOGPROBS",
    Message = DELTAWIRE_EV_MESSAGE "MESSAGE",
    Finish = DELTAWIRE_EV_FINISH "FINISH",
    ChoiceError = DELTAWIRE_EV_CHOICE_ERROR "CHOICE_ERROR",
    Usage = DELTAWIRE_EV_USAGE "USAGE",
    Error = DELTAWIRE_EV_ERROR "ERROR",
    Malformed = DELTAWIRE_EV_MALFORMED "MALFORMED",
    TooLong = DELTAWIRE_EV_TOO_LONG "TOO_LONG",
    CommentTooLong = DELTAWIRE_EV_COMMENT_TOO_LONG "COMMENT_TOO_LONG",
    Limit = DELTAWIRE_EV_LIMIT "LIMIT",
    Quirk = DELTAWIRE_EV_QUIRK "QUIRK",
    Done = DELTAWIRE_EV_DONE "DONE",
    Payload = DELTAWIRE_EV_PAYLOAD "PAYLOAD",
    Meta = DELTAWIRE_EV_META "META",
    Annotation = DELTAWIRE_EV_ANNOTATION "ANNOTATION",
    Signature = DELTAWIRE_EV_SIGNATURE "SIGNATURE",
    Media = DELTAWIRE_EV_MEDIA "MEDIA",
    Native = DELTAWIRE_EV_NATIVE "NATIVE",
    Frame = DELTAWIRE_EV_FRAME "FRAME",
}

/// The name of a kind of event, such as `CONTENT`; "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_event_name(kind: u32) -> *const c_char {
    event_name(kind)
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
    assert!(DELTAWIRE_FINISH_OTHER == FinishKind::Other.number());
    assert!(DELTAWIRE_FINISH_STOP == FinishKind::Stop.number());
    assert!(DELTAWIRE_FINISH_LENGTH == FinishKind::Length.number());
    assert!(DELTAWIRE_FINISH_TOOL_CALLS == FinishKind::ToolCalls.number());
    assert!(DELTAWIRE_FINISH_CONTENT_FILTER == FinishKind::ContentFilter.number());
    assert!(DELTAWIRE_FINISH_FUNCTION_CALL == FinishKind::FunctionCall.number());
    assert!(DELTAWIRE_FINISH_ERROR == FinishKind::Error.number());
    assert!(DELTAWIRE_LIMIT_CHOICES == Error::TooManyChoices { choice: 0, offset: 0 }.number());
    assert!(DELTAWIRE_LIMIT_TOOL_CALLS == Error::TooManyCalls { choice: 0, offset: 0 }.number());
    assert!(DELTAWIRE_LIMIT_INDEX == Error::BadIndex { choice: 0, offset: 0 }.number());
    assert!(DELTAWIRE_META_CALL_MEMBER == Meta::CallMember as u32);
    assert!(DELTAWIRE_META_FUNCTION_MEMBER == Meta::FunctionMember as u32);
    assert!(DELTAWIRE_OWNER_CHUNK == Owner::Chunk as u32);
    assert!(DELTAWIRE_OWNER_CHOICE == Owner::Choice as u32);
    assert!(DELTAWIRE_OWNER_DELTA == Owner::Delta as u32);
    assert!(DELTAWIRE_OWNER_CALL == Owner::Call as u32);
    assert!(DELTAWIRE_OWNER_FUNCTION == Owner::Function as u32);
    assert!(DELTAWIRE_OWNER_USAGE == Owner::Usage as u32);
};

/// Checks numbers against the library's, and makes the function that names them. `none`: the number of what is an `Option` in
/// Rust.
macro_rules! library_names {
    ($type:ident, $function:ident $(, none $none:ident)?; $($name:ident = $number:ident,)*) => {
        const _: () = {
            $(assert!($number == $type::$name as u32);)*
        };

        fn $function(number: u32) -> *const c_char {
            match number {
                $($none => c"None".as_ptr(),)?
                $($number => concat!(stringify!($name), "\0").as_ptr().cast::<c_char>(),)*
                _ => unknown(),
            }
        }
    };
}

library_names! { Verdict, verdict_name;
    Empty = DELTAWIRE_VERDICT_EMPTY,
    NotAStream = DELTAWIRE_VERDICT_NOT_A_STREAM,
    ApiError = DELTAWIRE_VERDICT_API_ERROR,
    Done = DELTAWIRE_VERDICT_DONE,
    Finished = DELTAWIRE_VERDICT_FINISHED,
    Body = DELTAWIRE_VERDICT_BODY,
    JsonAnswer = DELTAWIRE_VERDICT_JSON_ANSWER,
    OtherProtocol = DELTAWIRE_VERDICT_OTHER_PROTOCOL,
    Lost = DELTAWIRE_VERDICT_LOST,
    Truncated = DELTAWIRE_VERDICT_TRUNCATED,
}

library_names! { Media, media_name, none DELTAWIRE_MEDIA_NONE;
    Gzip = DELTAWIRE_MEDIA_GZIP,
    Zstd = DELTAWIRE_MEDIA_ZSTD,
    Binary = DELTAWIRE_MEDIA_BINARY,
    Html = DELTAWIRE_MEDIA_HTML,
    Text = DELTAWIRE_MEDIA_TEXT,
}

library_names! { Protocol, protocol_name, none DELTAWIRE_PROTOCOL_NONE;
    Other = DELTAWIRE_PROTOCOL_OTHER,
    Responses = DELTAWIRE_PROTOCOL_RESPONSES,
    Anthropic = DELTAWIRE_PROTOCOL_ANTHROPIC,
    Gemini = DELTAWIRE_PROTOCOL_GEMINI,
    Interactions = DELTAWIRE_PROTOCOL_INTERACTIONS,
    Ollama = DELTAWIRE_PROTOCOL_OLLAMA,
    Cohere = DELTAWIRE_PROTOCOL_COHERE,
    Chat = DELTAWIRE_PROTOCOL_CHAT,
}

library_names! { Pending, pending_name;
    Nothing = DELTAWIRE_PENDING_NOTHING,
    Event = DELTAWIRE_PENDING_EVENT,
    Json = DELTAWIRE_PENDING_JSON,
    Line = DELTAWIRE_PENDING_LINE,
}

/// The name of a verdict, such as `Done`; "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_verdict_name(verdict: u32) -> *const c_char {
    verdict_name(verdict)
}

/// The name of a `DELTAWIRE_MEDIA_*`, such as `Gzip` or `None`; "?" for an unknown number. Static,
/// ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_media_name(media: u32) -> *const c_char {
    media_name(media)
}

/// The name of a protocol, such as `Anthropic` or `None`; "?" for an unknown number. Static, ended
/// by NUL.
#[no_mangle]
pub extern "C" fn deltawire_protocol_name(protocol: u32) -> *const c_char {
    protocol_name(protocol)
}

/// The name of a `DELTAWIRE_PENDING_*`, such as `Event`; "?" for an unknown number. Static, ended by
/// NUL.
#[no_mangle]
pub extern "C" fn deltawire_pending_name(pending: u32) -> *const c_char {
    pending_name(pending)
}

/// The name of a fault, such as `UnexpectedEnd`; "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_fault_name(fault: u32) -> *const c_char {
    names! { fault, unknown(),
        DELTAWIRE_FAULT_UNEXPECTED_END => "UnexpectedEnd",
        DELTAWIRE_FAULT_UNEXPECTED_BYTE => "UnexpectedByte",
        DELTAWIRE_FAULT_TRAILING_BYTES => "TrailingBytes",
        DELTAWIRE_FAULT_TOO_DEEP => "TooDeep",
        DELTAWIRE_FAULT_BAD_NUMBER => "BadNumber",
        DELTAWIRE_FAULT_BAD_LITERAL => "BadLiteral",
        DELTAWIRE_FAULT_BAD_ESCAPE => "BadEscape",
        DELTAWIRE_FAULT_RAW_CONTROL => "RawControl",
        DELTAWIRE_FAULT_ILL_FORMED_UTF8 => "IllFormedUtf8",
    }
}

/// The name of a `DELTAWIRE_FINISH_*` as providers write it, such as `tool_calls`; `other` for
/// OTHER, whose own words are the text of the event, and "?" for an unknown number. Static, ended by
/// NUL.
#[no_mangle]
pub extern "C" fn deltawire_finish_name(finish: u32) -> *const c_char {
    names! { finish, unknown(),
        DELTAWIRE_FINISH_OTHER => "other",
        DELTAWIRE_FINISH_STOP => "stop",
        DELTAWIRE_FINISH_LENGTH => "length",
        DELTAWIRE_FINISH_TOOL_CALLS => "tool_calls",
        DELTAWIRE_FINISH_CONTENT_FILTER => "content_filter",
        DELTAWIRE_FINISH_FUNCTION_CALL => "function_call",
        DELTAWIRE_FINISH_ERROR => "error",
    }
}

/// What happened where a `DELTAWIRE_LIMIT_*` was exceeded, by the name of that error in Rust:
/// `TooManyCalls` for `DELTAWIRE_LIMIT_TOOL_CALLS`. "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_limit_name(limit: u32) -> *const c_char {
    names! { limit, unknown(),
        DELTAWIRE_LIMIT_CHOICES => "TooManyChoices",
        DELTAWIRE_LIMIT_TOOL_CALLS => "TooManyCalls",
        DELTAWIRE_LIMIT_INDEX => "BadIndex",
        DELTAWIRE_LIMIT_LENGTH => "TooLong",
    }
}

/// The quirk of this number.
pub(crate) fn quirk_of(number: u32) -> Option<Quirk> {
    Quirk::ALL.iter().copied().find(|quirk| *quirk as u32 == number)
}

/// The code of a quirk in docs/quirks.md, such as `F6`. NULL past the last known. Static, ended by
/// NUL.
#[no_mangle]
pub extern "C" fn deltawire_quirk_code(quirk: u32) -> *const c_char {
    quirk_of(quirk).map_or(ptr::null(), |quirk| quirk.c_strs()[0].as_ptr())
}

/// The name of a quirk, such as `ContinuedPayload`. NULL past the last known. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_quirk_name(quirk: u32) -> *const c_char {
    quirk_of(quirk).map_or(ptr::null(), |quirk| quirk.c_strs()[1].as_ptr())
}

/// A quirk in words. NULL past the last known. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_quirk_text(quirk: u32) -> *const c_char {
    quirk_of(quirk).map_or(ptr::null(), |quirk| quirk.c_strs()[2].as_ptr())
}
