//! The names of the known members, and the objects that they belong to.

use crate::json::{Text, TextFlags};

/// Returns the first eight bytes of a name, by two loads that may overlap.
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

/// Returns the bucket of a tag in a hash table. With the factor `by` of [`spread`], each of its tags has a bucket
/// of its own.
#[inline(always)]
pub(super) const fn bucket(tag: u32, by: u32) -> u32 {
    tag.wrapping_mul(by) >> 28
}

/// Finds a factor that gives each of these tags a [`bucket`] of its own.
pub(super) const fn spread(tags: &[u32]) -> u32 {
    let mut by = 0x9e37_79b1_u32;
    loop {
        let (mut taken, mut at) = (0_u32, 0);
        while at < tags.len() {
            #[allow(clippy::indexing_slicing)] // The loop checks the bound; evaluated at compile time.
            let bit = 1 << bucket(tags[at], by);
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

/// The object that a member belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Owner {
    /// The chunk.
    Chunk = 0,
    /// A choice.
    Choice = 1,
    /// The delta of a choice, or its `message`.
    Delta = 2,
    /// A tool call.
    Call = 3,
    /// The `function` of a tool call, or its `custom` tool.
    Function = 4,
    /// The usage of another protocol, which merges the usages of several events.
    Usage = 5,
}

impl Owner {
    /// Returns the owner with this number.
    pub fn from_number(number: u32) -> Option<Owner> {
        let all = [Owner::Chunk, Owner::Choice, Owner::Delta, Owner::Call, Owner::Function, Owner::Usage];
        all.into_iter().find(|owner| *owner as u32 == number)
    }

    /// Whether the owner is a tool call, or a part of one.
    pub(crate) fn is_call(self) -> bool {
        matches!(self, Owner::Call | Owner::Function)
    }
}

/// Declares the known names. After `in` come the owners whose member with this name is never an
/// [other member](super::OtherMembers): it is padding, or deltas or accessors have everything that it contains.
macro_rules! keys {
    ($($name:ident = $text:literal $(in $($owner:ident)+)?;)*) => {
        /// A known name, or `Unknown` for any other name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Key {
            $($name,)*
            Unknown,
        }

        /// The known names, in order.
        static NAMES: [(Name, Key); [$($text as &[u8]),*].len()] = [$((Name::new($text), Key::$name),)*];

        /// The owners after `in` of each name, a bit each.
        static READ: [u8; NAMES.len()] = [$(0 $($(| 1 << Owner::$owner as u8)+)?,)*];
    };
}

keys! {
    Annotations = b"annotations" in Delta;
    Arguments = b"arguments" in Function;
    Audio = b"audio" in Delta;
    BaseResp = b"base_resp";
    Choices = b"choices" in Chunk;
    Content = b"content" in Delta;
    Created = b"created" in Chunk;
    Custom = b"custom" in Call;
    Delta = b"delta" in Choice;
    Detail = b"detail";
    Error = b"error" in Chunk Choice;
    ErrorCode = b"error_code";
    ErrorMessage = b"error_message";
    FinishCamel = b"finishReason" in Choice;
    FinishReason = b"finish_reason" in Choice;
    Function = b"function" in Call;
    FunctionCall = b"function_call" in Delta;
    Id = b"id" in Chunk Delta Call;
    Index = b"index" in Choice Call;
    Input = b"input" in Function;
    Logprobs = b"logprobs" in Choice;
    Message = b"message" in Choice;
    Model = b"model" in Chunk Delta;
    Name = b"name" in Delta Function;
    NativeFinishReason = b"native_finish_reason" in Choice;
    Object = b"object" in Chunk Delta;
    Obfuscation = b"obfuscation" in Chunk Choice Delta Call Function;
    Provider = b"provider" in Chunk;
    ProviderFields = b"provider_specific_fields";
    Reasoning = b"reasoning" in Delta;
    ReasoningContent = b"reasoning_content" in Delta;
    ReasoningDetails = b"reasoning_details";
    ReasoningText = b"reasoning_text" in Delta;
    Refusal = b"refusal" in Delta;
    Role = b"role" in Delta;
    ServiceTier = b"service_tier" in Chunk;
    SystemFingerprint = b"system_fingerprint" in Chunk;
    Text = b"text" in Choice;
    Thinking = b"thinking" in Delta;
    Thought = b"thought" in Delta;
    ToolCalls = b"tool_calls" in Delta;
    Type = b"type" in Delta Call;
    Usage = b"usage" in Chunk;
    XGroq = b"x_groq";
}

/// The name in each bucket of [`bucket_of`], or `Unknown`.
static BUCKETS: [Key; 128] = {
    let (mut buckets, mut at) = ([Key::Unknown; 128], 0);
    while at < NAMES.len() {
        #[allow(clippy::indexing_slicing)] // Evaluated at compile time, where an index out of bounds is an error.
        {
            buckets[NAMES[at].0.bucket(BY)] = NAMES[at].1;
        }
        at += 1;
    }
    buckets
};

/// A factor that gives each known name a bucket of its own, so that one lookup finds the only candidate. If a new name
/// makes another factor necessary, a test finds it.
const BY: u64 = 0xa622_f2f9_70b0_d41f;

/// Returns the bucket of a name in [`BUCKETS`] by its first eight bytes, its last one, and its length.
#[inline(always)]
const fn bucket_of(word: u64, last: u8, len: usize, by: u64) -> usize {
    (word.wrapping_add((len as u64) << 8 | last as u64).wrapping_mul(by) >> 57) as usize
}

impl Key {
    /// Returns the known name with these bytes, which are those between its quotes in a payload. `flags` describe them.
    #[inline]
    pub(super) fn of(raw: &[u8], flags: TextFlags) -> Key {
        if flags.any(TextFlags::ESCAPED.with(TextFlags::CONTROL)) {
            return Key::unescaped(raw);
        }
        let bucket = raw.last().map(|last| bucket_of(word_of(raw), *last, raw.len(), BY));
        let name = bucket.and_then(|bucket| BUCKETS.get(bucket).copied()).unwrap_or(Key::Unknown);
        match NAMES.get(name as usize) {
            Some((text, _)) if text.bytes() == raw => name,
            _ => Key::Unknown,
        }
    }

    /// Whether a member of this owner with this name is never an [other member](super::OtherMembers): it is padding, or
    /// deltas or accessors have everything that it contains.
    pub(super) fn is_read_in(self, owner: Owner) -> bool {
        READ.get(self as usize).is_some_and(|owners| owners >> owner as u8 & 1 != 0)
    }

    /// Does what [`of`](Key::of) does, for a name that contains an escape or a control character.
    #[inline(never)]
    fn unescaped(raw: &[u8]) -> Key {
        let mut buffer = [0; 24];
        let copied = Text::from_raw(raw, TextFlags::UNKNOWN).copy_to(&mut buffer);
        let text = buffer.get(..copied.written).filter(|_| copied.complete).unwrap_or_default();
        NAMES.iter().find(|(known, _)| known.bytes() == text).map_or(Key::Unknown, |(_, name)| *name)
    }
}

/// A name of at most 24 bytes, followed by zeros. A slice would take 40 bytes more in a shared library: the pointer,
/// the length and the relocation.
struct Name {
    bytes: [u8; 24],
    len: u8,
}

impl Name {
    #[allow(clippy::indexing_slicing)] // Evaluated at compile time, where an index out of bounds is an error.
    const fn new(name: &[u8]) -> Self {
        let (mut bytes, mut at) = ([0; 24], 0);
        while at < name.len() {
            bytes[at] = name[at];
            at += 1;
        }
        Name { bytes, len: at as u8 }
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }

    const fn bucket(&self, by: u64) -> usize {
        let [a, b, c, d, e, f, g, h, ..] = self.bytes;
        #[allow(clippy::indexing_slicing)] // Evaluated at compile time.
        let last = self.bytes[self.len as usize - 1];
        bucket_of(u64::from_le_bytes([a, b, c, d, e, f, g, h]), last, self.len as usize, by)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    extern crate std;
    use super::*;
    use std::{format, vec::Vec};

    fn known_of(name: &[u8]) -> Key {
        NAMES.iter().find(|(known, _)| known.bytes() == name).map_or(Key::Unknown, |found| found.1)
    }

    #[test]
    fn each_name_has_a_bucket() {
        let apart = |by: &u64| {
            let mut buckets: Vec<_> = NAMES.iter().map(|(name, _)| name.bucket(*by)).collect();
            buckets.sort_unstable();
            buckets.windows(2).all(|two| two[0] != two[1])
        };
        let mut others =
            core::iter::successors(Some(BY), |by| Some(by.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(2)));
        assert_eq!(others.find(apart), Some(BY), "set BY to the number on the left");
    }

    #[test]
    fn each_name_is_found_and_nothing_near_it() {
        for (known, name) in &NAMES {
            let text = known.bytes();
            assert_eq!(Key::of(text, TextFlags::PLAIN), *name);
            assert_eq!(NAMES[*name as usize].1, *name);
            let escaped = format!("\\u{:04x}{}", text[0], core::str::from_utf8(&text[1..]).unwrap());
            assert_eq!(Key::of(escaped.as_bytes(), TextFlags::ESCAPED), *name);
            let longer: Vec<u8> = [text, b"_"].concat();
            for near in [&longer[..], &text[1..], &text[..text.len() - 1]] {
                let expected = known_of(near);
                assert_eq!(Key::of(near, TextFlags::PLAIN), expected);
                assert_eq!(Key::of(near, TextFlags::ESCAPED), expected);
            }
            for at in 0..text.len() {
                let mut near = text.to_vec();
                near[at] ^= 1;
                let expected = known_of(&near);
                assert_eq!(Key::of(&near, TextFlags::PLAIN), expected);
            }
        }
        assert_eq!(Key::of(b"", TextFlags::PLAIN), Key::Unknown);
    }
}
