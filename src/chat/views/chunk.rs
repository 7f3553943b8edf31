//! The view of a whole chunk.

use super::ApiError;
use crate::chat::index::{top, Hint, Index, Read, ValueSpan};
use crate::chat::others::OtherMembers;
use crate::chat::read::{error_of, plain_text, read, usage_of};
use crate::chat::scalar::{ten_digits, text_of};
use crate::delta::{Meta, Part, FLAG_FOREIGN, FLAG_NATIVE};
use crate::dialect::{whole_number, Protocol, Usage};
use crate::json::{JsonError, Text, TextFlags, Value, ValueKind};
use crate::shown::{shown, Bytes};
use crate::QuirkSet;
use core::ops::Range;

/// A known member of the top level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChunkMember {
    /// `id`.
    Id,
    /// `object`.
    Object,
    /// `created`.
    Created,
    /// `model`.
    Model,
    /// `system_fingerprint`.
    SystemFingerprint,
    /// `service_tier`.
    ServiceTier,
    /// `provider`.
    Provider,
    /// `choices`.
    Choices,
    /// `usage`.
    Usage,
}

impl ChunkMember {
    /// Every known member of the top level.
    #[rustfmt::skip]
    pub const ALL: [ChunkMember; 9] = [
        ChunkMember::Id, ChunkMember::Object, ChunkMember::Created, ChunkMember::Model, ChunkMember::SystemFingerprint, ChunkMember::ServiceTier, ChunkMember::Provider,
        ChunkMember::Choices, ChunkMember::Usage,
    ];
}

/// One event's payload: a chat completion chunk, a completion, a whole body, or an error.
///
/// A chunk borrows the payload, and is valid until the parser is used again.
///
/// ```
/// use deltawire::{chat::{Chunk, Index, Update}, track::Tracker};
/// let mut index = Index::new();
/// let payload = br#"{"id":"c1","choices":[{"index":0,"delta":{"content":"Hi"}}]}"#;
/// let chunk = Chunk::read(payload, &mut index)?;
/// assert_eq!(chunk.id().unwrap(), "c1");
/// let mut tracker: Tracker = Tracker::new(); // one for each stream
/// let (choice, update) = tracker.updates(&chunk).next().unwrap();
/// assert!(choice == 0 && matches!(update, Update::Content(text) if text == "Hi"));
/// # Ok::<(), deltawire::json::JsonError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Chunk<'a> {
    payload: &'a [u8],
    index: &'a Index,
    name: &'a [u8],
}

/// The `created` of the chunk before, if it had ten digits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Created {
    digits: [u8; 10],
    /// Whether the member was outside the holes of a template.
    is_fixed: bool,
    number: u64,
}

impl Created {
    /// Returns the number, if each chunk that the same template recognizes has it.
    #[inline(always)]
    pub(crate) fn fixed(&self) -> Option<u64> {
        self.is_fixed.then_some(self.number)
    }
}

impl<'a> Chunk<'a> {
    /// Reads any payload, without a parser.
    ///
    /// # Errors
    ///
    /// Returns an error if the payload is not one JSON object (or null), as far as the pass checks it: the members of
    /// the top level, of choices, deltas and tool calls, and that strings and brackets balance everywhere.
    pub fn read(payload: &'a [u8], index: &'a mut Index) -> Result<Chunk<'a>, JsonError> {
        let Read { end, .. } = read(index, payload, Hint::None, crate::Limits::DEFAULT.max_depth)?;
        let rest = payload.get(end..).unwrap_or(&[]);
        if let Some(at) = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            return Err(JsonError { kind: crate::json::JsonErrorKind::TrailingBytes, offset: end.saturating_add(at) });
        }
        Ok(Chunk { payload, index, name: b"" })
    }

    /// Reads a payload that a parser returned as a chunk, with the same result. JSON may nest as deep as any parser
    /// allows. `is_error` is the chunk's [`is_whole_error`](Self::is_whole_error).
    ///
    /// # Errors
    ///
    /// Returns an error if the payload is not one JSON object or null.
    #[doc(hidden)]
    pub fn of_event(payload: &'a [u8], index: &'a mut Index, is_error: bool) -> Result<Chunk<'a>, JsonError> {
        let hint = if is_error { Hint::Error } else { Hint::None };
        read(index, payload, hint, crate::Limits::MAX_DEPTH)?;
        Ok(Chunk { payload, index, name: b"" })
    }

    /// Returns the chunk of an error event that is plain text, as a parser returned it
    /// ([`is_plain_text`](Self::is_plain_text)).
    #[doc(hidden)]
    pub fn of_plain_text(payload: &'a [u8], index: &'a mut Index) -> Chunk<'a> {
        plain_text(index);
        Chunk { payload, index, name: b"" }
    }

    /// Whether the payload is that of an error event and no JSON object.
    pub fn is_plain_text(&self) -> bool {
        self.index.facts.text
    }

    /// Whether the whole event is an error, even if its payload looks like a chunk.
    pub fn is_whole_error(&self) -> bool {
        self.index.facts.error_is_whole
    }

    fn member(&self, member: usize) -> Option<Value<'a>> {
        self.index.top(self.payload, member)
    }

    fn text(&self, member: usize) -> Option<Text<'a>> {
        self.member(member).and_then(text_of)
    }

    /// Returns the payload as it came: the data of the event, with lines joined by LF.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Returns the range of the event in the stream, in bytes: from the first line of the event to the end of its blank
    /// line (without the LF of a CRLF there).
    pub fn wire_range(&self) -> Range<u64> {
        self.index.frame.0..self.index.frame.1
    }

    /// Returns the name of the event (its `event` field), or an empty name if it has none.
    pub fn event_name(&self) -> &'a [u8] {
        self.name
    }

    /// Returns the quirks of the event's framing, grammar and shape. [`Text::quirks`] returns those of a text.
    pub fn quirks(&self) -> QuirkSet {
        self.index.quirks
    }

    /// Returns `id`, if it is not empty. A number counts, as it is written.
    pub fn id(&self) -> Option<Text<'a>> {
        self.text(top::ID)
    }

    /// Returns where the text of `id` or `model` lies, or `None` if the member is present but no string.
    #[inline(always)]
    pub(crate) fn text_part(&self, field: ChunkMember) -> Option<Part> {
        let member = if field == ChunkMember::Id { top::ID } else { top::MODEL };
        let Some(span) = self.index.top.get(member) else { return Some(Part::NONE) };
        let (start, end, flags) = self.index.place(span);
        let len = end.wrapping_sub(start).checked_sub(2)?;
        let is_text = self.payload.get(start as usize) == Some(&b'"');
        is_text.then_some(Part { start: start.wrapping_add(1), len, flags, lead: 0 })
    }

    /// Returns the segments of a template in which `id` and `model` lie, if these and `created` lie outside its holes.
    #[inline]
    pub(crate) fn fixed_segments(&self) -> Option<[u8; 2]> {
        let span = |member| self.index.top.get(member).unwrap_or_default();
        let [id, model, created] = [top::ID, top::MODEL, top::CREATED].map(span);
        let is_fixed = id.is_fixed() && model.is_fixed() && created.is_fixed();
        is_fixed.then_some([id.segments & 7, model.segments & 7])
    }

    /// Returns `object`, if it is not empty.
    pub fn object(&self) -> Option<Text<'a>> {
        self.text(top::OBJECT)
    }

    /// Returns `created`, in seconds since 1970, if it is a whole number (a number in a string counts).
    #[inline(always)]
    pub fn created(&self) -> Option<u64> {
        self.created_after(&mut Created::default())
    }

    /// Does what [`created`](Self::created) does, for a caller that reads each chunk: nearly every chunk has the time
    /// of the chunk before.
    #[inline(always)]
    pub fn created_after(&self, last: &mut Created) -> Option<u64> {
        let span = self.index.top.get(top::CREATED);
        last.is_fixed = span.is_some_and(|span: ValueSpan| span.is_fixed());
        let (start, end, _) = self.index.place(span?);
        let raw = self.payload.get(start as usize..end as usize)?;
        if let Ok(digits) = <&[u8; 10]>::try_from(raw) {
            if *digits == last.digits {
                return Some(last.number);
            }
            if let Some(number) = ten_digits(raw) {
                (last.digits, last.number) = (*digits, number);
                return Some(number);
            }
        }
        last.is_fixed = false;
        whole_number_at(self.payload, self.index, top::CREATED)
    }

    /// Returns `model`, if it is not empty.
    pub fn model(&self) -> Option<Text<'a>> {
        self.text(top::MODEL)
    }

    /// Returns `system_fingerprint`, if it is not empty.
    pub fn system_fingerprint(&self) -> Option<Text<'a>> {
        self.text(top::SYSTEM_FINGERPRINT)
    }

    /// Returns `service_tier`, if it is not empty.
    pub fn service_tier(&self) -> Option<Text<'a>> {
        self.text(top::SERVICE_TIER)
    }

    /// Returns `provider`, if it is not empty (OpenRouter).
    pub fn provider(&self) -> Option<Text<'a>> {
        self.text(top::PROVIDER)
    }

    /// Returns the text of a delta of kind [`Meta`](crate::delta::Kind::Meta) that is reported once a stream: one of
    /// [`Meta::ONCE`].
    pub(crate) fn meta(&self, meta: Meta) -> Option<Text<'a>> {
        self.text(top_of(meta)?)
    }

    /// Whether [`meta`](Self::meta) may return a text for one of [`Meta::ONCE`] that is not in `emitted`, a set of
    /// [`meta_bit`]s.
    #[inline]
    pub(crate) fn may_have_meta(&self, emitted: u8) -> bool {
        const ALL: u8 = {
            let [one, two, three, four] = Meta::ONCE;
            meta_bit(one) | meta_bit(two) | meta_bit(three) | meta_bit(four)
        };
        self.index.top.mask() as u8 & ALL & !emitted != 0
    }

    /// Whether the chunk may have members that no delta is made of.
    #[doc(hidden)]
    #[inline(always)]
    pub fn may_have_others(&self) -> bool {
        self.index.facts.others
    }

    /// Returns the protocol of the event: that of the stream, or chat completions.
    pub fn protocol(&self) -> Protocol {
        self.index.plan.protocol().unwrap_or(Protocol::Chat)
    }

    /// Returns the flags of the delta of kind [`Chunk`](crate::delta::Kind::Chunk).
    #[inline]
    pub(crate) fn flags(&self) -> u16 {
        if self.index.plan.protocol().is_some() {
            FLAG_NATIVE
        } else if self.index.facts.is_foreign() {
            FLAG_FOREIGN
        } else {
            0
        }
    }

    /// Returns the number of choices.
    pub fn choice_count(&self) -> u32 {
        self.index.choices
    }

    /// Returns `usage`, if it is an object and not empty, or else `x_groq.usage`, or the usage of the first choice.
    pub fn usage(&self) -> Option<Usage<'a>> {
        Usage::of_protocol(usage_of(self.index, self.payload)?, self.index.plan.protocol())
    }

    /// Returns the error that the event is or has at its top level. That of a choice is a delta
    /// ([`Update::ChoiceError`](crate::Update::ChoiceError)).
    pub fn error(&self) -> Option<ApiError<'a>> {
        Some(match error_of(self.index, self.payload)? {
            Ok(value) => ApiError::of(value),
            Err(text) => ApiError::plain(text),
        })
    }

    /// Returns a known member as raw JSON, or `None` if the method with its name returns nothing.
    pub fn field(&self, field: ChunkMember) -> Option<Value<'a>> {
        let text = |member| self.member(member).filter(|value| text_of(*value).is_some());
        match field {
            ChunkMember::Id => text(top::ID),
            ChunkMember::Object => text(top::OBJECT),
            ChunkMember::Created => self.member(top::CREATED).filter(|_| self.created().is_some()),
            ChunkMember::Model => text(top::MODEL),
            ChunkMember::SystemFingerprint => text(top::SYSTEM_FINGERPRINT),
            ChunkMember::ServiceTier => text(top::SERVICE_TIER),
            ChunkMember::Provider => text(top::PROVIDER),
            ChunkMember::Choices => self.member(top::CHOICES).filter(|value| value.kind() == ValueKind::Array),
            ChunkMember::Usage => self.usage().map(|usage| usage.value()),
        }
    }

    /// Returns the index of the members. A chunk consists of its payload, its index and the event name.
    #[doc(hidden)]
    pub fn index(&self) -> &'a Index {
        self.index
    }

    /// Returns the chunk with these parts, which [`payload`](Self::payload), [`index`](Self::index) and
    /// [`event_name`](Self::event_name) returned. If the index is that of another payload, the members are meaningless.
    #[doc(hidden)]
    pub fn from_parts(payload: &'a [u8], index: &'a Index, name: &'a [u8]) -> Self {
        Chunk { payload, index, name }
    }

    /// Returns any member of the top level, by name, as raw JSON (`obfuscation`, `prompt_filter_results`, `timings`,
    /// …). If the payload has the member twice, the last one counts. Walks the payload.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        Value::of_payload(self.payload).get(name).ok()?
    }

    /// Returns the members of the chunk, of its choices and of their deltas that no [`Update`](crate::Update) is made
    /// of and that are not null: `citations`, `timings`, `x_groq`, … and `reasoning_details`, which contain more than
    /// text. Such members of tool calls are updates ([`Update::Member`](crate::Update::Member)). Padding
    /// (`obfuscation`) is left out. Walks the payload, if it may have such members.
    pub fn other_members(&self) -> OtherMembers<'a> {
        let is_object = self.index.facts.others && !self.index.facts.text;
        OtherMembers::of(if is_object { self.payload.trim_ascii() } else { b"" }, self.index.plan.protocol())
    }

    /// Whether the payload looks like a chunk or a body of a chat or legacy completion: it has choices, usage, or an
    /// `object` that says so. False for an event whose name or `type` is that of another protocol.
    pub fn is_completion(&self) -> bool {
        self.index.facts.chat
    }
}

/// Returns a member of the top level as a whole number. Takes the payload and the index, because a pointer to the view
/// would force it into memory.
#[cold]
#[inline(never)]
fn whole_number_at(payload: &[u8], index: &Index, member: usize) -> Option<u64> {
    whole_number(index.top(payload, member)?)
}

/// Returns the bit of one of [`Meta::ONCE`], or no bit for any other.
pub(crate) const fn meta_bit(meta: Meta) -> u8 {
    match top_of(meta) {
        Some(member) => 1u8.wrapping_shl(member as u32),
        None => 0,
    }
}

/// Returns the member of the top level that one of [`Meta::ONCE`] is made of.
const fn top_of(meta: Meta) -> Option<usize> {
    Some(match meta {
        Meta::Object => top::OBJECT,
        Meta::SystemFingerprint => top::SYSTEM_FINGERPRINT,
        Meta::ServiceTier => top::SERVICE_TIER,
        Meta::Provider => top::PROVIDER,
        _ => return None,
    })
}

/// Returns the name of the member whose text begins after these bytes of a payload.
pub(crate) fn name_before(payload: &[u8]) -> Option<Text<'_>> {
    let before = payload.strip_suffix(b"\"")?.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
    let name = before.strip_suffix(b"\"")?.rsplit(|&byte| byte == b'"').next()?;
    Some(Text::from_raw(name, TextFlags::UNKNOWN))
}

shown!("Chunk": Chunk<'_>, this => payload: Bytes(this.payload), wire_range: this.wire_range());
