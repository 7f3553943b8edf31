//! The names of the known members.

use crate::json::{Text, TextFlags};

/// Returns the first eight bytes of a name, for a `match` on one number. They identify a name of up to eight bytes (none of
/// them NUL); of a longer one the rest has to be compared, too.
const fn word(name: &[u8]) -> u64 {
    let mut word = 0;
    let mut at = 0;
    while at < 8 && at < name.len() {
        #[allow(clippy::indexing_slicing)] // Checked above; for constants alone.
        let byte = name[at];
        word |= (byte as u64) << (8 * at);
        at += 1;
    }
    word
}

/// Does what [`word`] does, by two loads that may overlap.
#[inline(always)]
fn word_of(name: &[u8]) -> u64 {
    if let Some(first) = name.first_chunk::<8>() {
        return u64::from_le_bytes(*first);
    }
    if let (Some(first), Some(last)) = (name.first_chunk::<4>(), name.last_chunk::<4>()) {
        let shift = 8 * (name.len() as u32 - 4);
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << shift;
    }
    if let (Some(first), Some(last)) = (name.first_chunk::<2>(), name.last_chunk::<2>()) {
        let shift = 8 * (name.len() as u32 - 2);
        return u64::from(u16::from_le_bytes(*first)) | u64::from(u16::from_le_bytes(*last)) << shift;
    }
    name.first().map_or(0, |&byte| u64::from(byte))
}

/// Returns the first four bytes of a name, `text`, as [`Steps::tag`](crate::json::Steps::tag) returns them.
pub(super) const fn tag(text: &[u8; 4]) -> u32 {
    u32::from_le_bytes(*text)
}

/// Returns the slot of a tag among the tags that [`spread`] made `by` for.
#[inline(always)]
pub(super) const fn slot(tag: u32, by: u32) -> u32 {
    tag.wrapping_mul(by) >> 28
}

/// Finds a factor that gives each of these tags a [`slot`] of its own.
pub(super) const fn spread(tags: &[u32]) -> u32 {
    let mut by = 0x9e37_79b1_u32;
    loop {
        let (mut taken, mut at) = (0_u32, 0);
        while at < tags.len() {
            #[allow(clippy::indexing_slicing)] // Checked above; for constants alone.
            let bit = 1 << slot(tags[at], by);
            if taken & bit != 0 {
                break;
            }
            taken |= bit;
            at += 1;
        }
        if at == tags.len() {
            return by;
        }
        by = by.wrapping_mul(0x2c1b_3c6d).wrapping_add(2);
    }
}

macro_rules! keys {
    ($($name:ident = $text:literal;)*) => {
        /// A known name. `Unknown` stands for any other.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Key {
            $($name,)*
            Unknown,
        }

        impl Key {
            const ALL: &'static [(&'static [u8], Key)] = &[$(($text, Key::$name),)*];
        }

        /// The first eight bytes of each known name.
        #[allow(non_upper_case_globals, dead_code)] // Some begin like another.
        mod words {
            $(pub(super) const $name: u64 = super::word($text);)*
        }
    };
}

keys! {
    Annotations = b"annotations";
    Arguments = b"arguments";
    Audio = b"audio";
    Choices = b"choices";
    Content = b"content";
    Created = b"created";
    Custom = b"custom";
    Delta = b"delta";
    Detail = b"detail";
    Error = b"error";
    FinishCamel = b"finishReason";
    FinishReason = b"finish_reason";
    Function = b"function";
    FunctionCall = b"function_call";
    Id = b"id";
    Index = b"index";
    Input = b"input";
    Logprobs = b"logprobs";
    Message = b"message";
    Model = b"model";
    Name = b"name";
    NativeFinishReason = b"native_finish_reason";
    Object = b"object";
    Obfuscation = b"obfuscation";
    Provider = b"provider";
    ProviderFields = b"provider_specific_fields";
    Reasoning = b"reasoning";
    ReasoningContent = b"reasoning_content";
    ReasoningDetails = b"reasoning_details";
    Refusal = b"refusal";
    Role = b"role";
    ServiceTier = b"service_tier";
    SystemFingerprint = b"system_fingerprint";
    Text = b"text";
    Thinking = b"thinking";
    Thought = b"thought";
    ToolCalls = b"tool_calls";
    Type = b"type";
    Usage = b"usage";
    XGroq = b"x_groq";
}

impl Key {
    /// Returns the known name with these bytes, which stand between its quotes. `flags` describe them.
    #[inline]
    pub(super) fn of(raw: &[u8], flags: TextFlags) -> Key {
        if flags.any(TextFlags::ESCAPED.with(TextFlags::CONTROL)) {
            return Key::unescaped(raw);
        }
        let name = match word_of(raw) {
            words::Annotations => Key::Annotations,
            words::Arguments => Key::Arguments,
            words::Audio => Key::Audio,
            words::Choices => Key::Choices,
            words::Content => Key::Content,
            words::Created => Key::Created,
            words::Custom => Key::Custom,
            words::Delta => Key::Delta,
            words::Detail => Key::Detail,
            words::Error => Key::Error,
            words::FinishCamel => Key::FinishCamel,
            words::FinishReason => Key::FinishReason,
            words::Function if raw.len() == 8 => return Key::Function,
            words::Function => Key::FunctionCall,
            words::Id => Key::Id,
            words::Index => Key::Index,
            words::Input => Key::Input,
            words::Logprobs => Key::Logprobs,
            words::Message => Key::Message,
            words::Model => Key::Model,
            words::Name => Key::Name,
            words::NativeFinishReason => Key::NativeFinishReason,
            words::Object => Key::Object,
            words::Obfuscation => Key::Obfuscation,
            words::Provider if raw.len() == 8 => return Key::Provider,
            words::Provider => Key::ProviderFields,
            words::Reasoning => match raw {
                b"reasoning" => Key::Reasoning,
                b"reasoning_content" => Key::ReasoningContent,
                _ => Key::ReasoningDetails,
            },
            words::Refusal => Key::Refusal,
            words::Role => Key::Role,
            words::ServiceTier => Key::ServiceTier,
            words::SystemFingerprint => Key::SystemFingerprint,
            words::Text => Key::Text,
            words::Thinking => Key::Thinking,
            words::Thought => Key::Thought,
            words::ToolCalls => Key::ToolCalls,
            words::Type => Key::Type,
            words::Usage => Key::Usage,
            words::XGroq => Key::XGroq,
            _ => return Key::Unknown,
        };
        match Key::ALL.get(name as usize) {
            Some((text, _)) if *text == raw => name,
            _ => Key::Unknown,
        }
    }

    /// Does what [`of`](Key::of) does, for a name that contains an escape or a control character.
    #[inline(never)]
    fn unescaped(raw: &[u8]) -> Key {
        let mut buffer = [0; 24];
        let copied = Text::from_raw(raw, TextFlags::UNKNOWN).copy_to(&mut buffer);
        let text = buffer.get(..copied.written).filter(|_| copied.complete).unwrap_or_default();
        Key::ALL.iter().find(|(known, _)| *known == text).map_or(Key::Unknown, |(_, name)| *name)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    extern crate std;
    use super::*;
    use std::{format, vec::Vec};

    #[test]
    fn each_name_is_found_and_nothing_near_it() {
        for (text, name) in Key::ALL {
            assert_eq!(Key::of(text, TextFlags::PLAIN), *name);
            assert_eq!(Key::ALL[*name as usize].1, *name);
            let escaped = format!("\\u{:04x}{}", text[0], core::str::from_utf8(&text[1..]).unwrap());
            assert_eq!(Key::of(escaped.as_bytes(), TextFlags::ESCAPED), *name);
            let longer: Vec<u8> = [*text, b"_"].concat();
            for near in [&longer[..], &text[1..], &text[..text.len() - 1]] {
                let due = Key::ALL.iter().find(|(known, _)| known == &near).map_or(Key::Unknown, |found| found.1);
                assert_eq!(Key::of(near, TextFlags::PLAIN), due);
                assert_eq!(Key::of(near, TextFlags::ESCAPED), due);
            }
            for at in 0..text.len() {
                let mut near = text.to_vec();
                near[at] ^= 1;
                let due = Key::ALL.iter().find(|(known, _)| known == &near).map_or(Key::Unknown, |found| found.1);
                assert_eq!(Key::of(&near, TextFlags::PLAIN), due);
            }
        }
        assert_eq!(Key::of(b"", TextFlags::PLAIN), Key::Unknown);
    }
}
