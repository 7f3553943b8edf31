//! The machine: bytes in, what was found out, as offsets.
//!
//! One block of lines at a time. A payload that lies whole in the caller's slice stays there (`here`); it is copied to
//! the storage once, when the slice ends in mid-event, when a second data line joins it, or when something is to be
//! delivered in its middle. Lines come from [`sse::Lines`](crate::sse::Lines) in pieces; what a line is good for is
//! decided at its first piece and kept in [`Line`], so no byte is looked for twice.
//!
//! The answers must not depend on how the bytes were cut. Therefore: every limit is a function of the bytes so far;
//! a frame never includes the LF of a CRLF that ends it; and nothing is decided by what happens to lie in the slice.

use super::config::{Config, Framing, Validate};
use super::end::{End, Facts, Pending};
use super::keep::Keep;
use super::raw_json::{is_space, Balance};
use crate::chat::index::Hint;
use crate::chat::Index;
use crate::json::{JsonError, JsonErrorKind};
use crate::sse::{Field, Lines, Piece};
use crate::{Quirk, QuirkSet, Storage};

/// Where a span's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the window that the step was given.
    Input,
    /// In the storage.
    Storage,
}

/// Bytes that a step found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where they are.
    pub place: Place,
    /// The offset of the first, there.
    pub start: u32,
    /// How many.
    pub len: u32,
}

impl Span {
    const NONE: Span = Span { place: Place::Storage, start: 0, len: 0 };

    pub(crate) fn of<'a, S: Storage + ?Sized>(self, window: &'a [u8], store: &'a S) -> &'a [u8] {
        let bytes = match self.place {
            Place::Input => window,
            Place::Storage => store.bytes(),
        };
        let start = self.start as usize;
        bytes.get(start..start.saturating_add(self.len as usize)).unwrap_or(&[])
    }
}

/// What a step found: offsets only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// Nothing more in this window.
    NeedMore,
    /// A JSON payload; its index is in the machine.
    Chunk(Span),
    /// `[DONE]`.
    Done,
    /// A comment.
    Comment(Span),
    /// A payload that only keeps the connection alive.
    KeepAlive(Span),
    /// A reconnection time, in milliseconds.
    Retry(u64),
    /// A last event ID that came without an event.
    LastEventId,
    /// A payload that is not JSON, or what followed one that is.
    Malformed(Span, JsonError),
    /// An event over the limit; its rest is discarded.
    TooLong,
    /// A comment over the limit; it is discarded.
    CommentTooLong,
    /// A quirk that is to be an error; its event is consumed.
    Error(Quirk),
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// How many bytes of the window are spent.
    pub consumed: usize,
    /// What was found.
    pub found: Found,
}

/// The block of lines at hand.
#[derive(Clone, Debug, Default)]
struct Block {
    open: bool,
    /// Its rest is discarded.
    skipping: bool,
    has_data: bool,
    /// Its payload came in a field named `error`.
    error_field: bool,
    /// Its payload is a raw JSON value that has not ended.
    raw: bool,
    quirks: QuirkSet,
    /// Where it began in the stream.
    start: u64,
    /// What its payload comes to, here or in the storage.
    len: usize,
    /// Brackets of the payload, as far as `scanned`.
    balance: Balance,
    scanned: usize,
}

/// What the line at hand is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Nothing.
    Skip,
    Payload,
    Name,
    Id,
    Comment,
    Retry,
    /// Unknown; nothing so far.
    Lead,
    /// Unknown; only space so far.
    Space,
    /// Unknown; so many bytes of the word `error` so far.
    ErrorName(u8),
    /// After the colon of `error`.
    ErrorColon,
    /// Unknown; so many bytes of `[DONE]` so far. `SPACED` after a `[` and space.
    Bracket(u8),
    /// In a raw JSON value.
    Raw,
    /// Behind a raw JSON value.
    AfterRaw,
    /// Something else behind it.
    Junk,
}

const DONE: &[u8] = b"[DONE]";
const SPACED: u8 = u8::MAX;

/// What is to be done before the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Nothing,
    /// The event was delivered: forget it.
    Release,
    /// A staged comment was delivered: forget that.
    Unstage,
    /// Bytes behind a sound payload are to be delivered: their start in the storage, and their stream frame is the
    /// event's.
    Trailing(u32),
}

/// How far `finish` has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Open,
    Lines,
    Over,
}

/// The push machine: plain data, no lifetimes, no pointers, offsets only. [`Parser`](super::Parser) wraps it.
#[derive(Clone, Debug)]
pub struct Machine {
    config: Config,
    lines: Lines,
    keep: Keep,
    /// Stream offset of the byte that comes next.
    offset: u64,
    /// Stream offset where the line at hand began.
    line_start: u64,
    line: Line,
    block: Block,
    retry: Option<u64>,
    /// Inside a raw JSON array: its elements are values of their own.
    in_array: bool,
    after: After,
    ending: Ending,
    facts: Facts,
    counts: [u16; Quirk::ALL.len()],
    index: Index,
}

/// The caller's slice, and the payload as long as it lies there.
struct Window<'w> {
    bytes: &'w [u8],
    here: Option<(usize, usize)>,
}

/// What is to be done with a piece.
enum Next {
    Go,
    Found(Found),
    /// Found, and the line goes on at this offset of the window.
    Within(usize, Found),
    /// Found, and the line is to be read again.
    Again(Found),
}

impl Machine {
    /// A machine at the start of a stream.
    pub fn new(config: Config) -> Self {
        Machine {
            config,
            lines: Lines::new(),
            keep: Keep::EMPTY,
            offset: 0,
            line_start: 0,
            line: Line::Skip,
            block: Block::default(),
            retry: None,
            in_array: false,
            after: After::Nothing,
            ending: Ending::Open,
            facts: Facts::default(),
            counts: [0; Quirk::ALL.len()],
            index: Index::new(),
        }
    }

    /// The index of the chunk found last.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// How many bytes were consumed.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How often `quirk` was met. Stops counting at 65,535.
    pub fn quirk_count(&self, quirk: Quirk) -> u16 {
        self.counts.get(quirk as usize).copied().unwrap_or(0)
    }

    /// The verdict so far.
    pub fn end(&self) -> End {
        self.facts.end(self.offset)
    }

    pub(crate) fn last_event_id<'a, S: Storage + ?Sized>(&self, store: &'a S) -> &'a [u8] {
        self.keep.last_id(store)
    }

    pub(crate) fn name<'a, S: Storage + ?Sized>(&self, store: &'a S) -> &'a [u8] {
        self.keep.name(store)
    }

    /// What was odd about the event found last, as a whole.
    pub(crate) fn quirks(&self) -> QuirkSet {
        match self.after {
            After::Release | After::Trailing(_) => self.block.quirks,
            After::Nothing | After::Unstage => QuirkSet::EMPTY,
        }
    }

    pub(crate) fn count(&mut self, quirks: QuirkSet) {
        if quirks.is_empty() {
            return;
        }
        for quirk in quirks.iter() {
            if let Some(count) = self.counts.get_mut(quirk as usize) {
                *count = count.saturating_add(1);
            }
        }
    }

    /// Reads on until something is found or the window is used up. The bytes from `consumed` on are to be given again.
    pub fn step<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Step {
        if let Some(found) = self.begin(store) {
            return Step { consumed: 0, found };
        }
        // Spans are 32 bits wide.
        let bytes = window.get(..i32::MAX as usize).unwrap_or(window);
        let mut window = Window { bytes, here: None };
        let mut rest = bytes;
        loop {
            self.lines.skip_between(&mut rest);
            let at = bytes.len().saturating_sub(rest.len());
            if rest.is_empty() {
                break;
            }
            if !self.lines.in_line() {
                self.line_start = self.offset.saturating_add(at as u64);
            }
            let saved = self.block.raw.then(|| self.lines.clone());
            let Some(piece) = self.lines.next(&mut rest) else { continue };
            let end = bytes.len().saturating_sub(rest.len());
            let (consumed, found) = match self.piece(store, &mut window, piece, end) {
                Next::Go => continue,
                Next::Found(found) => (end, found),
                Next::Within(consumed, found) => {
                    self.lines.stay_in_unknown();
                    (consumed, found)
                }
                Next::Again(found) => {
                    if let Some(lines) = saved {
                        self.lines = lines;
                    }
                    (at, found)
                }
            };
            self.offset = self.offset.saturating_add(consumed as u64);
            return Step { consumed, found };
        }
        let fits = self.settle(store, &mut window);
        self.offset = self.offset.saturating_add(bytes.len() as u64);
        let found = if fits { Found::NeedMore } else { self.too_long() };
        Step { consumed: bytes.len(), found }
    }

    /// The stream ended. Gives what that brings to light, one thing a call; [`Found::NeedMore`] when there is no more.
    pub fn finish<S: Storage + ?Sized>(&mut self, store: &mut S) -> Found {
        if let Some(found) = self.begin(store) {
            return found;
        }
        let mut window = Window { bytes: &[], here: None };
        if self.ending == Ending::Open {
            let saved = self.lines.clone();
            let piece = self.lines.finish();
            self.ending = Ending::Lines;
            match piece.map_or(Next::Go, |piece| self.piece(store, &mut window, piece, 0)) {
                Next::Go => {}
                Next::Found(found) | Next::Within(_, found) => return found,
                Next::Again(found) => {
                    self.lines = saved;
                    self.ending = Ending::Open;
                    return found;
                }
            }
        }
        if self.ending == Ending::Lines {
            self.ending = Ending::Over;
            if let Some(found) = self.last_block(store, &mut window) {
                return found;
            }
        }
        Found::NeedMore
    }

    /// Forgets what was delivered; delivers what is left of it.
    #[inline]
    fn begin<S: Storage + ?Sized>(&mut self, store: &mut S) -> Option<Found> {
        match core::mem::replace(&mut self.after, After::Nothing) {
            After::Nothing => None,
            After::Release => {
                self.forget(store);
                None
            }
            After::Unstage => {
                self.keep.staged = 0;
                None
            }
            After::Trailing(start) => {
                self.after = After::Release;
                let span = Span { place: Place::Storage, start, len: (self.block.len as u32).saturating_sub(start) };
                Some(Found::Malformed(span, JsonError { kind: JsonErrorKind::TrailingBytes, offset: 0 }))
            }
        }
    }

    fn forget<S: Storage + ?Sized>(&mut self, store: &mut S) {
        self.block = Block::default();
        self.keep.release(store);
    }

    /// Moves the payload to the storage, if it lies in the window.
    fn settle<S: Storage + ?Sized>(&mut self, store: &mut S, window: &mut Window<'_>) -> bool {
        let Some((start, len)) = window.here.take() else { return true };
        let bytes = window.bytes.get(start..start.saturating_add(len)).unwrap_or(&[]);
        self.keep.append(store, bytes)
    }

    /// Whether the block can take `more` bytes of any kind.
    fn fits<S: Storage + ?Sized>(&self, store: &S, more: usize) -> bool {
        let used = self.block.len.saturating_add(self.keep.name_len()).saturating_add(self.keep.staged as usize);
        used.saturating_add(more) <= self.keep.room(store, self.config.limits.max_event_len)
    }

    fn too_long(&mut self) -> Found {
        let (start, quirks) = (self.block.start, self.block.quirks);
        self.index.frame = (start, start);
        self.block = Block { open: true, skipping: true, start, quirks, ..Block::default() };
        self.keep.payload = 0;
        self.keep.staged = 0;
        self.keep.forget_name();
        self.line = Line::Skip;
        Found::TooLong
    }

    /// A field of the stream came: the block is open.
    fn open(&mut self) {
        if !self.block.open {
            self.block.open = true;
            self.block.start = self.line_start;
        }
    }

    /// A piece of a line. `end` is where the input behind it begins in the window.
    fn piece<S: Storage + ?Sized>(
        &mut self,
        store: &mut S,
        window: &mut Window<'_>,
        piece: Piece<'_>,
        end: usize,
    ) -> Next {
        if piece.field == Field::Blank {
            return self.blank(store, window, end);
        }
        self.facts.lines = true;
        if self.block.skipping {
            return Next::Go;
        }
        // Where the value lies in the window: behind it comes the one byte that ends the line, if it does.
        let value_end = end.saturating_sub(usize::from(piece.last));
        let start = value_end.saturating_sub(piece.value.len());
        if piece.field == Field::Unknown {
            return self.unknown(store, window, piece, start);
        }
        if piece.first {
            self.facts.fields = true;
            self.in_array = false;
            self.line = match piece.field {
                Field::Data => {
                    if self.block.raw {
                        let found = self.dispatch(store, window, self.line_start, false);
                        return Next::Again(found);
                    }
                    self.open();
                    if !self.join(store, window) {
                        return Next::Found(self.too_long());
                    }
                    Line::Payload
                }
                Field::Event => {
                    self.open();
                    self.keep.forget_name();
                    Line::Name
                }
                Field::Id => {
                    self.open();
                    Line::Id
                }
                Field::Retry => {
                    self.open();
                    self.retry = (piece.value.first().is_some() || !piece.last).then_some(0);
                    Line::Retry
                }
                _ => Line::Comment,
            };
        }
        match self.line {
            Line::Payload => self.payload(store, window, piece.value, start),
            // What is staged comes behind the payload.
            Line::Name | Line::Id if !piece.last && !self.settle(store, window) => Next::Found(self.too_long()),
            Line::Name => self.event_name(store, piece),
            Line::Id => self.id(store, piece),
            Line::Comment => {
                self.index.frame = (self.line_start, self.offset.saturating_add(end as u64));
                self.comment(store, window, piece, start)
            }
            Line::Retry => {
                self.index.frame = (self.line_start, self.offset.saturating_add(end as u64));
                self.retry(store, window, piece)
            }
            _ => Next::Go,
        }
    }

    /// Begins a data line: a second one is joined to the first by LF.
    fn join<S: Storage + ?Sized>(&mut self, store: &mut S, window: &mut Window<'_>) -> bool {
        if !self.block.has_data {
            self.block.has_data = true;
            return true;
        }
        let fits = self.fits(store, 1) && self.settle(store, window) && self.keep.append(store, b"\n");
        self.block.len = self.block.len.saturating_add(1);
        fits
    }

    /// Adds to the payload.
    fn payload<S: Storage + ?Sized>(
        &mut self,
        store: &mut S,
        window: &mut Window<'_>,
        value: &[u8],
        start: usize,
    ) -> Next {
        if !self.fits(store, value.len()) {
            return Next::Found(self.too_long());
        }
        if self.block.len == 0 {
            window.here = Some((start, value.len()));
        } else if !(self.settle(store, window) && self.keep.append(store, value)) {
            return Next::Found(self.too_long());
        }
        self.block.len = self.block.len.saturating_add(value.len());
        Next::Go
    }

    fn event_name<S: Storage + ?Sized>(&mut self, store: &mut S, piece: Piece<'_>) -> Next {
        let fits = self.fits(store, piece.value.len())
            && if piece.last { self.keep.set_name(store, piece.value) } else { self.keep.stage(store, piece.value) };
        if fits {
            Next::Go
        } else {
            Next::Found(self.too_long())
        }
    }

    fn id<S: Storage + ?Sized>(&mut self, store: &mut S, piece: Piece<'_>) -> Next {
        let room = (self.config.limits.max_id_len as usize).saturating_sub(self.keep.staged as usize);
        let inside = piece.value.get(..room).unwrap_or(piece.value);
        if inside.contains(&0) {
            // An ID with a NUL is no ID.
            self.keep.staged = 0;
            self.line = Line::Skip;
            return Next::Go;
        }
        let fits = piece.value.len() <= room
            && if piece.last {
                self.keep.set_id(store, piece.value, self.block.len)
            } else {
                self.keep.stage(store, piece.value)
            };
        if !fits {
            self.keep.staged = 0;
            self.line = Line::Skip;
            self.block.quirks.insert(Quirk::LongId);
        }
        Next::Go
    }

    fn comment<S: Storage + ?Sized>(
        &mut self,
        store: &mut S,
        window: &mut Window<'_>,
        piece: Piece<'_>,
        start: usize,
    ) -> Next {
        if !self.fits(store, piece.value.len()) {
            self.keep.staged = 0;
            self.line = Line::Skip;
            if !self.settle(store, window) {
                return Next::Found(self.too_long());
            }
            self.index.frame = (self.line_start, self.line_start);
            return Next::Found(Found::CommentTooLong);
        }
        if piece.first && piece.last {
            if !self.settle(store, window) {
                return Next::Found(self.too_long());
            }
            let span = Span { place: Place::Input, start: start as u32, len: piece.value.len() as u32 };
            return Next::Found(Found::Comment(span));
        }
        if !(self.settle(store, window) && self.keep.stage(store, piece.value)) {
            return Next::Found(self.too_long());
        }
        if !piece.last {
            return Next::Go;
        }
        self.after = After::Unstage;
        let span = Span { place: Place::Storage, start: self.keep.payload, len: self.keep.staged };
        Next::Found(Found::Comment(span))
    }

    fn retry<S: Storage + ?Sized>(&mut self, store: &mut S, window: &mut Window<'_>, piece: Piece<'_>) -> Next {
        for &byte in piece.value {
            self.retry = match self.retry {
                Some(ms) if byte.is_ascii_digit() => {
                    Some(ms.saturating_mul(10).saturating_add(u64::from(byte.wrapping_sub(b'0'))))
                }
                _ => None,
            };
        }
        let Some(ms) = self.retry.filter(|_| piece.last) else { return Next::Go };
        if !self.settle(store, window) {
            return Next::Found(self.too_long());
        }
        Next::Found(Found::Retry(ms))
    }

    /// A line that event streams do not know.
    fn unknown<S: Storage + ?Sized>(
        &mut self,
        store: &mut S,
        window: &mut Window<'_>,
        piece: Piece<'_>,
        start: usize,
    ) -> Next {
        let held = piece.held;
        if piece.first {
            self.line = if self.config.framing == Framing::Spec {
                Line::Skip
            } else if self.block.raw {
                if !self.join(store, window) {
                    return Next::Found(self.too_long());
                }
                Line::Raw
            } else if self.block.has_data {
                if self.data_is_open(store, window) {
                    self.block.quirks.insert(Quirk::ContinuedPayload);
                    if !self.join(store, window) {
                        return Next::Found(self.too_long());
                    }
                    Line::Payload
                } else {
                    Line::Skip
                }
            } else if held.as_slice().is_empty() {
                Line::Lead
            } else {
                Line::ErrorName(0)
            };
            // What was held is the beginning of a name: no bracket, no quote, no colon.
            match self.line {
                Line::Raw | Line::Payload => {
                    if self.block.raw {
                        self.block.balance.feed(held.as_slice());
                    }
                    if !(self.fits(store, held.as_slice().len()) && self.keep.append(store, held.as_slice())) {
                        return Next::Found(self.too_long());
                    }
                    let len = held.as_slice().len();
                    self.block.len = self.block.len.saturating_add(len);
                }
                Line::ErrorName(_) => {
                    for &byte in held.as_slice() {
                        self.error_name(byte);
                    }
                }
                _ => {}
            }
        }
        self.unknown_bytes(store, window, piece.value, start, piece.last)
    }

    /// Whether the data so far is an object that has not ended. Looks at each byte once.
    fn data_is_open<S: Storage + ?Sized>(&mut self, store: &S, window: &Window<'_>) -> bool {
        let payload = self.payload_bytes(store, window);
        let fresh = payload.get(self.block.scanned..).unwrap_or(&[]);
        self.block.balance.feed(fresh);
        self.block.scanned = payload.len();
        self.block.balance.is_open()
    }

    fn payload_bytes<'a, S: Storage + ?Sized>(&self, store: &'a S, window: &Window<'a>) -> &'a [u8] {
        match window.here {
            Some((start, len)) => window.bytes.get(start..start.saturating_add(len)).unwrap_or(&[]),
            None => self.keep.payload(store),
        }
    }

    fn error_name(&mut self, byte: u8) {
        self.line = match self.line {
            Line::ErrorName(5) if byte == b':' => Line::ErrorColon,
            Line::ErrorName(n) if b"error".get(usize::from(n)) == Some(&byte) => Line::ErrorName(n.saturating_add(1)),
            _ => Line::Skip,
        };
    }

    /// Bytes of an unknown line: what they are good for is told byte by byte, until it is known.
    fn unknown_bytes<S: Storage + ?Sized>(
        &mut self,
        store: &mut S,
        window: &mut Window<'_>,
        bytes: &[u8],
        start: usize,
        last: bool,
    ) -> Next {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match self.line {
                Line::Lead | Line::Space if is_space(byte) => self.line = Line::Space,
                Line::Lead | Line::Space if self.in_array && matches!(byte, b',' | b']') => {
                    self.line = Line::AfterRaw;
                    continue;
                }
                Line::Lead | Line::Space | Line::AfterRaw if byte == b'{' => {
                    self.begin_raw(start.saturating_add(at));
                    continue;
                }
                Line::Lead | Line::Space if byte == b'[' => self.line = Line::Bracket(1),
                Line::Lead => {
                    self.line = Line::ErrorName(0);
                    continue;
                }
                Line::Space => self.line = Line::Skip,
                Line::AfterRaw if is_space(byte) => {}
                Line::ErrorName(_) => self.error_name(byte),
                Line::ErrorColon => {
                    self.open();
                    self.block.has_data = true;
                    self.block.error_field = true;
                    self.block.quirks.insert(Quirk::ErrorField);
                    self.facts.fields = true;
                    self.line = Line::Payload;
                    if byte != b' ' {
                        continue;
                    }
                }
                Line::Bracket(1 | SPACED) if is_space(byte) => self.line = Line::Bracket(SPACED),
                Line::Bracket(1 | SPACED) if byte == b'{' => {
                    self.in_array = true;
                    self.begin_raw(start.saturating_add(at));
                    continue;
                }
                Line::Bracket(6) if is_space(byte) => {}
                Line::Bracket(n) => {
                    let matches = n != SPACED && DONE.get(usize::from(n)) == Some(&byte);
                    self.line = if matches { Line::Bracket(n.saturating_add(1)) } else { Line::Skip };
                }
                Line::AfterRaw if self.in_array && byte == b',' => {}
                Line::AfterRaw if self.in_array && byte == b']' => self.in_array = false,
                Line::AfterRaw => {
                    self.begin_at(start.saturating_add(at));
                    self.line = Line::Junk;
                    continue;
                }
                Line::Raw => {
                    let rest = bytes.get(at..).unwrap_or(&[]);
                    return self.raw(store, window, rest, start.saturating_add(at), last);
                }
                Line::Payload | Line::Junk => {
                    let rest = bytes.get(at..).unwrap_or(&[]);
                    let next = self.payload(store, window, rest, start.saturating_add(at));
                    if !matches!(next, Next::Go) {
                        return next;
                    }
                    break;
                }
                _ => break,
            }
            at = at.saturating_add(1);
        }
        if last {
            return self.unknown_ends(store, window, start.saturating_add(bytes.len()));
        }
        Next::Go
    }

    /// An unknown line ended.
    fn unknown_ends<S: Storage + ?Sized>(&mut self, store: &mut S, window: &mut Window<'_>, end: usize) -> Next {
        match self.line {
            Line::Bracket(6) => {
                self.open();
                self.block.quirks.insert(Quirk::BareDone);
                let end = self.offset.saturating_add(end as u64);
                self.index.frame = (self.line_start, end);
                Next::Found(self.done())
            }
            Line::Bracket(1 | SPACED) => {
                self.in_array = true;
                Next::Go
            }
            Line::Junk => {
                let end = self.offset.saturating_add(end as u64);
                self.line = Line::Skip;
                Next::Found(self.dispatch(store, window, end, false))
            }
            _ => Next::Go,
        }
    }

    /// The block begins in the middle of a line, at this offset of the window.
    fn begin_at(&mut self, at: usize) {
        self.block = Block {
            open: true,
            has_data: true,
            start: self.offset.saturating_add(at as u64),
            quirks: self.block.quirks,
            ..Block::default()
        };
    }

    fn begin_raw(&mut self, at: usize) {
        self.begin_at(at);
        self.block.raw = true;
        self.line = Line::Raw;
    }

    /// Bytes of a raw JSON value.
    fn raw<S: Storage + ?Sized>(
        &mut self,
        store: &mut S,
        window: &mut Window<'_>,
        bytes: &[u8],
        start: usize,
        last: bool,
    ) -> Next {
        let closes = self.block.balance.feed(bytes);
        let value = closes.and_then(|len| bytes.get(..len)).unwrap_or(bytes);
        let next = self.payload(store, window, value, start);
        if closes.is_none() || !matches!(next, Next::Go) {
            return next;
        }
        self.line = Line::AfterRaw;
        let end = start.saturating_add(value.len());
        let found = self.dispatch(store, window, self.offset.saturating_add(end as u64), false);
        if last && value.len() == bytes.len() {
            Next::Found(found)
        } else {
            Next::Within(end, found)
        }
    }

    /// A blank line: the end of the block.
    fn blank<S: Storage + ?Sized>(&mut self, store: &mut S, window: &mut Window<'_>, end: usize) -> Next {
        if !self.block.open {
            return Next::Go;
        }
        if self.block.skipping {
            self.count(self.block.quirks);
            self.forget(store);
            return Next::Go;
        }
        if self.block.raw && !self.facts.fields {
            return Next::Go;
        }
        let end = self.offset.saturating_add(end as u64);
        if self.block.has_data {
            return Next::Found(self.dispatch(store, window, end, false));
        }
        // Silent. Its ID counts all the same.
        let told = self.keep.pending;
        self.keep.commit_id();
        self.index.frame = (self.block.start, end);
        let found = self.told(Found::LastEventId);
        if !told && found == Found::LastEventId {
            self.after = After::Nothing;
            self.forget(store);
            return Next::Go;
        }
        Next::Found(found)
    }

    /// Counts the block's quirks; one of them may make an error of what was found. The block is done.
    fn told(&mut self, found: Found) -> Found {
        let quirks = self.block.quirks;
        self.count(quirks);
        if self.after == After::Nothing {
            self.after = After::Release;
        }
        let quirk = if quirks.is_empty() { None } else { quirks.and(self.config.errors).iter().next() };
        match quirk {
            Some(quirk) => {
                self.after = After::Release;
                Found::Error(quirk)
            }
            None => found,
        }
    }

    fn done(&mut self) -> Found {
        self.after_done();
        self.facts.done = true;
        self.told(Found::Done)
    }

    fn after_done(&mut self) {
        if self.facts.done {
            self.block.quirks.insert(Quirk::EventAfterDone);
        }
    }

    /// The block is complete: what is its payload?
    fn dispatch<S: Storage + ?Sized>(
        &mut self,
        store: &mut S,
        window: &mut Window<'_>,
        end: u64,
        unterminated: bool,
    ) -> Found {
        self.keep.commit_id();
        if self.block.raw {
            let quirk = if self.facts.fields {
                Quirk::JsonBetweenEvents
            } else if self.facts.raw_values == 0 {
                Quirk::JsonBody
            } else {
                Quirk::Ndjson
            };
            self.block.quirks.insert(quirk);
            self.facts.raw_values = self.facts.raw_values.saturating_add(1);
        }
        if unterminated {
            self.block.quirks.insert(Quirk::UnterminatedEvent);
        }
        let frame = (self.block.start, end);
        let payload = self.payload_bytes(store, window);
        let span = match window.here {
            Some((start, len)) => Span { place: Place::Input, start: start as u32, len: len as u32 },
            None => Span { len: payload.len() as u32, ..Span::NONE },
        };
        let trimmed = payload.trim_ascii();
        if trimmed == DONE {
            self.index.frame = frame;
            return self.done();
        }
        self.after_done();
        if trimmed.is_empty() || trimmed.first() == Some(&b':') {
            self.index.frame = frame;
            self.block.quirks.insert(Quirk::KeepAliveData);
            return self.told(Found::KeepAlive(span));
        }
        let name = self.keep.name(store);
        let hint = if self.block.error_field || name == b"error" { Hint::Error } else { Hint::None };
        let limits = self.config.limits;
        let checked = match self.config.validate {
            Validate::Lazy => Ok(()),
            Validate::Strict => crate::json::validate(payload, limits.max_depth),
        };
        let read = checked.and_then(|()| self.index.read(payload, hint, limits.max_depth));
        let (found, trailing) = match read {
            Ok(end) => {
                let rest = payload.get(end..).unwrap_or(&[]);
                let more = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
                (Found::Chunk(span), more.map(|at| end.saturating_add(at)))
            }
            Err(_) if hint == Hint::Error => {
                self.index.plain_text();
                (Found::Chunk(span), None)
            }
            Err(fault) => (Found::Malformed(span, fault), None),
        };
        self.index.frame = frame;
        let named = !name.is_empty();
        if let Found::Chunk(_) = found {
            let facts = self.index.facts;
            if !facts.chat && !facts.error && matches!(name, b"ping" | b"keepalive" | b"keep-alive" | b"heartbeat") {
                self.block.quirks.insert(Quirk::KeepAliveData);
                return self.told(Found::KeepAlive(span));
            }
            let payload_is_null = self.index.quirks.contains(Quirk::NullChunk) && !facts.chat;
            self.facts.foreign |= !facts.chat && !facts.error && !payload_is_null;
            self.facts.chat |= facts.chat;
            self.facts.error |= facts.error;
            self.facts.body |= self.block.raw && facts.message && !facts.delta;
            self.facts.seen |= self.index.seen;
            self.facts.finished |= self.index.finished;
            self.block.quirks |= self.index.quirks;
            self.index.quirks = self.block.quirks;
        } else {
            self.facts.foreign |= named;
        }
        match trailing {
            None => self.told(found),
            Some(at) => {
                // They are delivered by the next step, when the window is another one.
                if !self.settle(store, window) {
                    return self.too_long();
                }
                self.after = After::Trailing(at as u32);
                self.told(Found::Chunk(Span { len: at as u32, ..Span::NONE }))
            }
        }
    }

    /// The stream ended in this block.
    fn last_block<S: Storage + ?Sized>(&mut self, store: &mut S, window: &mut Window<'_>) -> Option<Found> {
        if !self.block.open {
            return None;
        }
        if self.block.raw {
            self.facts.pending = Pending::Json;
            return None;
        }
        self.facts.pending = Pending::Event;
        if self.config.framing == Framing::Spec || self.block.skipping || !self.block.has_data {
            return None;
        }
        let payload = self.keep.payload(store);
        let trimmed = payload.trim_ascii();
        let is_error = self.block.error_field || self.keep.name(store) == b"error";
        let whole = trimmed == DONE || trimmed.is_empty() || trimmed.first() == Some(&b':') || {
            let read = self.index.read(payload, Hint::None, self.config.limits.max_depth);
            read.is_ok_and(|end| payload.get(end..).unwrap_or(&[]).trim_ascii().is_empty())
        };
        if !whole && !is_error {
            return None;
        }
        self.facts.pending = Pending::Nothing;
        Some(self.dispatch(store, window, self.offset, true))
    }

    /// A new stream with the same configuration.
    pub fn reset(&mut self) {
        *self = Machine::new(self.config);
    }
}
