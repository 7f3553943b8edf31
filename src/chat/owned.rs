//! An update that owns its texts.

use super::others::OtherMember;
use super::update::{CallUpdate, NamePiece, Update};
use crate::delta::{
    Delta, Kind, Part, FLAG_CUSTOM, FLAG_EMPTY, FLAG_NATIVE, FLAG_NUMBER, FLAG_OPENS, FLAG_PLAIN, FLAG_PROMPT,
    FLAG_REPLACES, FLAG_REUSES,
};
use crate::dialect::Protocol;
use crate::json::{Text, Value};
use core::fmt;
use smallvec::SmallVec;

/// The number of bytes that an update contains without allocating. Most tokens and tool call IDs are shorter.
const INLINE: usize = 32;

/// An [`Update`] that owns its texts, so that it can be stored, or sent to another thread or task:
/// `Send + Sync + 'static`, 96 bytes. It allocates only for more than 32 bytes of text.
///
/// [`Update::into_owned`] makes one of a pulled or a pushed update, and [`as_update`](OwnedUpdate::as_update) returns
/// an update with the same contents.
///
/// ```
/// use deltawire::{Growing, OwnedUpdate, Parser, Update};
/// let (send, receive) = std::sync::mpsc::channel::<(u32, OwnedUpdate)>();
/// let reader = std::thread::spawn(move || {
///     let mut bytes = &b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n"[..];
///     let mut parser = Parser::new(Growing::new());
///     while let Some(event) = parser.next(&mut bytes)? {
///         for (choice, update) in event.deltas() {
///             if send.send((choice, update.into_owned())).is_err() {
///                 return Ok(()); // nobody listens
///             }
///         }
///     }
///     Ok::<_, deltawire::Error>(())
/// });
/// let mut text = String::new();
/// for (_choice, owned) in receive {
///     if let Update::Content(content) = owned.as_update() {
///         content.push_to(&mut text);
///     }
/// }
/// assert_eq!(text, "Hi");
/// # reader.join().unwrap()?;
/// # Ok::<(), deltawire::Error>(())
/// ```
#[derive(Clone)]
pub struct OwnedUpdate {
    /// The parts of the delta are offsets into `bytes`.
    delta: Delta,
    bytes: Held,
}

/// The texts of an update.
#[derive(Clone)]
enum Held {
    Copied(SmallVec<[u8; INLINE]>),
    /// The only text, where the source has it.
    #[cfg(feature = "bytes")]
    Sliced(bytes::Bytes),
}

impl Held {
    fn as_slice(&self) -> &[u8] {
        match self {
            Held::Copied(bytes) => bytes,
            #[cfg(feature = "bytes")]
            Held::Sliced(bytes) => bytes,
        }
    }

    fn copy(&mut self, more: &[u8]) {
        match self {
            Held::Copied(bytes) => bytes.extend_from_slice(more),
            #[cfg(feature = "bytes")]
            Held::Sliced(bytes) => *self = Held::Copied(bytes.iter().chain(more).copied().collect()),
        }
    }
}

impl OwnedUpdate {
    /// Returns the update, with its texts borrowed from this one.
    pub fn as_update(&self) -> Update<'_> {
        // `of` never returns `None` here, because the delta was made from an update.
        Update::of(&self.delta, self.bytes.as_slice()).unwrap_or(Update::Content(Text::verbatim(b"")))
    }

    fn new(kind: Kind) -> Self {
        OwnedUpdate { delta: Delta::new(kind), bytes: Held::Copied(SmallVec::new()) }
    }

    /// The number of bytes so far.
    fn len(&self) -> u32 {
        u32::try_from(self.bytes.as_slice().len()).unwrap_or(u32::MAX)
    }

    /// Copies bytes. Returns where they lie.
    fn keep(&mut self, bytes: &[u8]) -> Part {
        let start = self.len();
        self.bytes.copy(bytes);
        Part { start, len: self.len().saturating_sub(start), ..Part::NONE }
    }

    /// Copies a text, still escaped.
    fn keep_text(&mut self, text: Text<'_>) -> Part {
        let (flags, lead) = text.parts();
        Part { flags, lead, ..self.keep(text.raw()) }
    }

    fn of_text(kind: Kind, text: Text<'_>) -> Self {
        let mut owned = OwnedUpdate::new(kind);
        owned.delta.text = owned.keep_text(text);
        owned
    }

    fn of_value(kind: Kind, value: Value<'_>) -> Self {
        let mut owned = OwnedUpdate::new(kind);
        owned.delta.text = owned.keep(value.raw());
        owned
    }

    fn of_call(update: CallUpdate<'_>) -> Self {
        let CallUpdate { call, index, opens, reuses, id, kind, custom, empty_arguments } = update;
        let mut owned = OwnedUpdate::new(Kind::ToolCall).of(call);
        owned.delta.text = id.map_or(Part::NONE, |id| owned.keep_text(id));
        owned.delta.aux = kind.map_or(Part::NONE, |kind| owned.keep_text(kind));
        owned.delta.number = index.map_or(0, u64::from);
        owned
            .with_flag(FLAG_NUMBER, index.is_some())
            .with_flag(FLAG_OPENS, opens)
            .with_flag(FLAG_REUSES, reuses)
            .with_flag(FLAG_CUSTOM, custom)
            .with_flag(FLAG_EMPTY, empty_arguments)
    }

    fn of_member(member: OtherMember<'_>) -> Self {
        let mut owned = OwnedUpdate::new(Kind::Meta);
        for bytes in [b"\"", member.name.raw(), b"\":", member.value.raw()] {
            owned.bytes.copy(bytes);
        }
        let len = owned.len();
        let OtherMember { choice, call, .. } = member;
        owned.delta =
            Delta { code: member.meta() as u32, choice, call, text: Part { len, ..Part::NONE }, ..owned.delta };
        owned
    }

    fn of_error(kind: Kind, error: super::ApiError<'_>) -> Self {
        match (error.value(), error.message()) {
            (Some(value), _) => OwnedUpdate::of_value(kind, value),
            (None, text) => OwnedUpdate::of_text(kind, text.unwrap_or(Text::verbatim(b""))).with_flag(FLAG_PLAIN, true),
        }
    }

    /// Sets the tool call that the update belongs to.
    fn of(mut self, call: u32) -> Self {
        self.delta.call = call;
        self
    }

    fn with_code(mut self, code: u32) -> Self {
        self.delta.code = code;
        self
    }

    fn with_flag(mut self, flag: u16, is_set: bool) -> Self {
        self.delta.flags |= if is_set { flag } else { 0 };
        self
    }
}

/// Prints what the update prints.
impl fmt::Debug for OwnedUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.as_update(), f)
    }
}

impl From<Update<'_>> for OwnedUpdate {
    fn from(update: Update<'_>) -> Self {
        update.into_owned()
    }
}

#[cfg(feature = "bytes")]
impl Update<'_> {
    /// Returns the same update. A text of more than 32 bytes that lies in the read is a slice of it; others are copied.
    pub(crate) fn into_sliced(mut self, read: &bytes::Bytes) -> OwnedUpdate {
        let text = match &mut self {
            Update::Content(text)
            | Update::Reasoning(text)
            | Update::Refusal(text)
            | Update::Signature(text)
            | Update::FunctionArguments(text)
            | Update::CallArguments { text, .. } => text,
            _ => return self.into_owned(),
        };
        let (raw, (flags, lead)) = (text.raw(), text.parts());
        let len = raw.len();
        let start = (raw.as_ptr() as usize).wrapping_sub(read.as_ptr() as usize);
        let range = start..start.saturating_add(len);
        if len <= INLINE || read.get(range.clone()).is_none() {
            return self.into_owned();
        }
        *text = Text::verbatim(b"");
        let mut owned = self.into_owned();
        owned.bytes = Held::Sliced(read.slice(range));
        owned.delta.text = Part { flags, lead, len: owned.len(), ..Part::NONE };
        owned
    }
}

impl Update<'_> {
    /// Returns the same update with its own copies of the texts.
    pub fn into_owned(self) -> OwnedUpdate {
        let (text, value) = (OwnedUpdate::of_text, OwnedUpdate::of_value);
        match self {
            Update::Role(role) => text(Kind::Role, role),
            Update::Content(content) => text(Kind::Content, content),
            Update::Reasoning(reasoning) => text(Kind::Reasoning, reasoning),
            Update::Refusal(refusal) => text(Kind::Refusal, refusal),
            Update::Call(call) => OwnedUpdate::of_call(call),
            Update::CallName { call, text: name, piece } => {
                text(Kind::ToolName, name).of(call).with_flag(FLAG_REPLACES, piece == NamePiece::Replaces)
            }
            Update::CallArguments { call, text: arguments } => text(Kind::ToolArguments, arguments).of(call),
            Update::CallEnd { call, whole } => OwnedUpdate::new(Kind::ToolCallEnd).of(call).with_code(whole.into()),
            Update::FunctionName { text: name, piece } => {
                text(Kind::FunctionName, name).with_flag(FLAG_REPLACES, piece == NamePiece::Replaces)
            }
            Update::FunctionArguments(arguments) => text(Kind::FunctionArguments, arguments),
            Update::Audio(audio) => value(Kind::Audio, audio),
            Update::Annotations(annotations) => value(Kind::Annotation, annotations),
            Update::Signature(signature) => text(Kind::Signature, signature),
            Update::Media(part) => value(Kind::Media, part),
            Update::Native(part) => value(Kind::Native, part),
            Update::Logprobs(logprobs) => value(Kind::Logprobs, logprobs),
            Update::Meta(meta, word) => text(Kind::Meta, word).with_code(meta as u32),
            Update::Member(member) => OwnedUpdate::of_member(member),
            Update::Finish(reason) => text(Kind::Finish, reason.text())
                .with_code(reason.kind().number())
                .with_flag(FLAG_PROMPT, reason.is_of_prompt())
                .with_flag(FLAG_NATIVE, reason.is_native()),
            Update::ChoiceError(error) => OwnedUpdate::of_error(Kind::ChoiceError, error),
            Update::Usage(usage) => value(Kind::Usage, usage.value())
                .with_code(usage.protocol() as u32)
                .with_flag(FLAG_NATIVE, usage.protocol() != Protocol::Chat),
            Update::Error(error) => OwnedUpdate::of_error(Kind::Error, error),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    extern crate std;
    use super::{Held, OwnedUpdate};
    use crate::chat::{Chunk, Index};
    use std::vec::Vec;

    #[test]
    fn an_owned_update_is_small_and_allocates_only_for_long_texts() {
        fn can_be_sent<T: Send + Sync + 'static>() {}
        can_be_sent::<OwnedUpdate>();
        assert!(core::mem::size_of::<OwnedUpdate>() <= 96);
        for (len, spilled) in [(0, false), (32, false), (33, true)] {
            let text = "x".repeat(len);
            let payload = std::format!(r#"{{"choices":[{{"delta":{{"content":"{text}","refusal":"."}}}}]}}"#);
            let mut index = Index::new();
            let chunk = Chunk::read(payload.as_bytes(), &mut index).unwrap();
            let owned: Vec<_> =
                chunk.index().updates(payload.as_bytes()).into_iter().map(|(_, update)| update.into_owned()).collect();
            let is_on_heap = matches!(&owned[0].bytes, Held::Copied(bytes) if bytes.spilled());
            assert_eq!(is_on_heap, spilled, "{len}");
        }
    }
}
