//! Updates as offsets: what is left of a delta when an array is full.

use super::kind::Kind;
use super::record;
use crate::chat::index::start_of;
use crate::chat::ApiError;
use crate::json::{Text, TextFlags, Value};
use crate::track::{CallUpdate, Update};

/// U+FFFD, where a half was left over: it stands in no payload.
pub(super) const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// An update, as offsets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) flags: u16,
    pub(super) choice: u32,
    pub(super) call: u32,
    pub(super) code: u32,
    pub(super) number: u64,
    pub(super) text: Part,
    pub(super) aux: Part,
}

/// A text of a payload, or raw JSON of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) start: u32,
    pub(super) len: u32,
    pub(super) flags: TextFlags,
    half: u16,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Nothing,
    Text,
    Raw,
    /// Text of which a piece was given: the rest is decoded too.
    Rest,
    /// U+FFFD.
    Replacement,
}

impl Part {
    pub(super) const NONE: Part = Part { start: 0, len: 0, flags: TextFlags::PLAIN, half: 0, what: What::Nothing };

    pub(super) fn text(payload: &[u8], text: Text<'_>, what: What) -> Part {
        let start = (text.raw().as_ptr() as usize).wrapping_sub(payload.as_ptr() as usize);
        let (flags, half) = text.parts();
        if start > payload.len() {
            return Part { what: What::Replacement, ..Part::NONE };
        }
        Part { start: start as u32, len: text.raw().len() as u32, flags, half, what }
    }

    fn raw(payload: &[u8], value: Value<'_>) -> Part {
        let (start, len) = (start_of(payload, value) as u32, value.raw().len() as u32);
        Part { start, len, what: What::Raw, ..Part::NONE }
    }

    pub(super) fn bytes<'a>(&self, payload: &'a [u8]) -> &'a [u8] {
        if self.what == What::Replacement {
            return REPLACEMENT;
        }
        let start = self.start as usize;
        payload.get(start..start.saturating_add(self.len as usize)).unwrap_or_default()
    }

    pub(super) fn of<'a>(&self, payload: &'a [u8]) -> Text<'a> {
        Text::from_parts(self.bytes(payload), (self.flags, self.half))
    }
}

impl Item {
    pub(super) const NONE: Item =
        Item { kind: Kind::Role, flags: 0, choice: 0, call: 0, code: 0, number: 0, text: Part::NONE, aux: Part::NONE };

    pub(super) fn of(payload: &[u8], choice: u32, update: &Update<'_>) -> Item {
        let text = |kind: Kind, text: Text<'_>| Item {
            kind,
            choice,
            text: Part::text(payload, text, What::Text),
            ..Item::NONE
        };
        let raw = |kind: Kind, value: Value<'_>| Item { kind, choice, text: Part::raw(payload, value), ..Item::NONE };
        let error = |kind: Kind, error: &ApiError<'_>| match error.value() {
            Some(value) => raw(kind, value),
            None => {
                let plain = error.message().unwrap_or(Text::verbatim(b""));
                Item {
                    flags: record::FLAG_PLAIN,
                    text: Part { what: What::Raw, ..text(kind, plain).text },
                    ..text(kind, plain)
                }
            }
        };
        let replaces = |replaces: bool| if replaces { record::FLAG_REPLACES } else { 0 };
        match update {
            Update::Role(role) => text(Kind::Role, *role),
            Update::Content(content) => text(Kind::Content, *content),
            Update::Reasoning(reasoning) => text(Kind::Reasoning, *reasoning),
            Update::Refusal(refusal) => text(Kind::Refusal, *refusal),
            Update::Call(CallUpdate { call, index, opens, reuses, id, kind, custom }) => {
                let part =
                    |text: &Option<Text<'_>>| text.map_or(Part::NONE, |text| Part::text(payload, text, What::Text));
                let flag = |set: bool, flag: u16| if set { flag } else { 0 };
                Item {
                    kind: Kind::ToolCall,
                    flags: flag(*opens, record::FLAG_OPENS)
                        | flag(*reuses, record::FLAG_REUSES)
                        | flag(*custom, record::FLAG_CUSTOM)
                        | record::FLAG_NUMBER,
                    choice,
                    call: *call,
                    number: u64::from(*index),
                    text: part(id),
                    aux: part(kind),
                    ..Item::NONE
                }
            }
            Update::CallName { call, text: name, replaces: whole } => {
                Item { call: *call, flags: replaces(*whole), ..text(Kind::ToolName, *name) }
            }
            Update::CallArguments { call, text: fragment } => {
                Item { call: *call, ..text(Kind::ToolArguments, *fragment) }
            }
            Update::FunctionName { text: name, replaces: whole } => {
                Item { flags: replaces(*whole), ..text(Kind::FunctionName, *name) }
            }
            Update::FunctionArguments(fragment) => text(Kind::FunctionArguments, *fragment),
            Update::Audio(audio) => raw(Kind::Audio, audio.value()),
            Update::Logprobs(logprobs) => raw(Kind::Logprobs, logprobs.value()),
            Update::Message(message) => raw(Kind::Message, message.value()),
            Update::Finish(reason) => Item { code: reason.kind().number(), ..text(Kind::Finish, reason.text()) },
            Update::ChoiceError(failure) => error(Kind::ChoiceError, failure),
            Update::Usage(usage) => raw(Kind::Usage, usage.value()),
            Update::Error(failure) => error(Kind::Error, failure),
        }
    }
}
