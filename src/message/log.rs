//! The assembler without a heap. It appends updates to a log in the caller's memory.

use super::error::LogError;
use super::record::kind;
use super::table::{LoggedCall, LoggedChoice, Rows, Table};
use super::write::{appends, AppendedText, LogState, LogWriter};
use crate::chat::{CallUpdate, Chunk, OtherMember, Owner, Update, Usage};
use crate::delta::Meta;
use crate::dialect::{place_of, Protocol, TokenCounts};
use crate::json::Text;
use crate::tables::Arrays;
use crate::{Error, QuirkSet};

/// Assembles the message of one stream without a heap, from at most `CHOICES` choices with `CALLS` tool calls in all.
///
/// The log is a buffer to which the decoded text of each update is appended. This type is the state of the log without
/// its buffer: plain data of fixed size (2.3 KB) without pointers. The caller passes the buffer to each call. Between
/// calls it may move the buffer, if it keeps the first [`len`](Self::len) bytes.
///
/// The updates must come from a [`Tracker`](crate::track::Tracker), such as that of a parser.
/// [`LogSink`](super::LogSink) takes them from an [`Emitter`](crate::stream::Emitter).
///
/// ```
/// use deltawire::message::{Detail, Field, LogError, MessageLog};
/// use deltawire::Parser;
///
/// let stream = br#"data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}
///
/// data: {"id":"c1","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}
///
/// data: [DONE]
///
/// "#;
/// // A longer event is skipped: Event::TooLong, and the response is not complete.
/// let mut parser = Parser::new([0; 4096]);
/// let mut log: MessageLog = MessageLog::new();
/// let mut buffer = vec![0; 16];
/// let mut input = &stream[..];
/// while let Some(event) = parser.next(&mut input)? {
///     if let Some(chunk) = event.chunk() {
///         while let Err(LogError::NeedStorage { need }) = log.chunk(&mut buffer, &chunk) {
///             buffer.resize(need, 0);
///         }
///     }
///     for (choice, update) in event.deltas() {
///         while let Err(LogError::NeedStorage { need }) = log.put(&mut buffer, choice, &update) {
///             buffer.resize(need, 0);
///         }
///     }
/// }
/// // At the end of the stream do the same with the events of `parser.finish`.
/// # assert!(parser.finish()?.is_none());
/// assert!(parser.end().is_complete());
///
/// let mut text = [0; 5];
/// assert_eq!(log.text(&buffer, Field::Content, 0, 0, &mut text), Some(5));
/// assert_eq!(&text, b"Hello");
/// assert_eq!(log.text(&buffer, Field::Refusal, 0, 0, &mut text), None);
///
/// let mut json = vec![0; log.json(&buffer, Detail::Standard, &mut [])];
/// log.json(&buffer, Detail::Standard, &mut json);
/// assert!(json.ends_with(br#""message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}"#));
/// # Ok::<(), deltawire::Error>(())
/// ```
///
/// # Memory
///
/// A piece that continues the previous text takes its own bytes, any other piece 12 bytes more, a member of a provider
/// 29 bytes more than its name and its value. Records that were replaced (usage with each chunk, a message that is sent
/// again) are removed once the log is longer than twice its length after the last removal plus 1 KiB.
pub type MessageLog<const CHOICES: usize = 8, const CALLS: usize = 32> =
    MessageLogOf<Arrays<LoggedChoice, LoggedCall, CHOICES, CALLS>>;

/// A [`MessageLog`] whose tables of choices and calls may lie elsewhere.
#[derive(Clone)]
pub struct MessageLogOf<T: Rows + ?Sized> {
    /// The most bytes of texts and raw JSON.
    limit: usize,
    /// Whether an update that appends to a text or a list was left out.
    is_cut: bool,
    /// Why the first update was left out.
    left_out: Option<LogError>,
    /// The member with which the chunk goes on that is given again, by its place, where that chunk begins in the stream, and
    /// why one before it was left out.
    members: (u32, u32, Result<(), LogError>),
    pub(super) state: LogState<T>,
}

/// Prints the length, the limit, and why the first update was left out.
impl<T: Rows + ?Sized> core::fmt::Debug for MessageLogOf<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("MessageLog")
            .field("len", &self.len())
            .field("limit", &self.limit)
            .field("left_out", &self.left_out)
            .finish_non_exhaustive()
    }
}

impl<const CHOICES: usize, const CALLS: usize> Default for MessageLog<CHOICES, CALLS> {
    fn default() -> Self {
        MessageLog::new()
    }
}

/// Where the members of a chunk begin.
const FIRST: (u32, u32, Result<(), LogError>) = (0, 0, Ok(()));

/// Positions in the log have 32 bits.
const MAX_LEN: usize = u32::MAX as usize;

/// Whether a member is `reasoning_details`, whose entries are joined.
fn is_details(member: &OtherMember<'_>) -> bool {
    member.owner == Owner::Delta && member.name == "reasoning_details"
}

/// Returns the number of the call that an update belongs to.
fn call_of(update: &Update<'_>) -> u32 {
    match update {
        Update::Call(CallUpdate { call, .. })
        | Update::CallName { call, .. }
        | Update::CallArguments { call, .. }
        | Update::CallEnd { call, .. } => *call,
        _ => 0,
    }
}

impl<const CHOICES: usize, const CALLS: usize> MessageLog<CHOICES, CALLS> {
    /// Creates an empty log, bounded only by its buffer.
    pub const fn new() -> Self {
        MessageLog::with_limit(usize::MAX)
    }

    /// Creates an empty log that keeps at most `limit` bytes of texts and raw JSON. It needs a buffer of at most four
    /// times that plus 64 KiB.
    pub const fn with_limit(limit: usize) -> Self {
        MessageLogOf::with_tables(
            Arrays { choices: [LoggedChoice::EMPTY; CHOICES], calls: [LoggedCall::EMPTY; CALLS] },
            limit,
        )
    }
}

impl<T: Rows> MessageLogOf<T> {
    /// Creates a log with these tables, which keeps at most `limit` bytes of texts and raw JSON.
    #[doc(hidden)]
    pub const fn with_tables(tables: T, limit: usize) -> Self {
        MessageLogOf { limit, is_cut: false, left_out: None, members: FIRST, state: LogState::new(Table::new(tables)) }
    }
}

impl<T: Rows + ?Sized> MessageLogOf<T> {
    /// Makes the log leave out all further updates that append to a text, because one was left out.
    #[cfg(feature = "alloc")]
    pub(super) fn cut(&mut self) {
        (self.is_cut, self.members) = (true, FIRST);
    }

    /// Empties the log, for a new stream.
    pub fn reset(&mut self) {
        (self.is_cut, self.left_out, self.members) = (false, None, FIRST);
        self.state.reset();
    }

    /// Returns how many bytes at the start of the buffer are in use. Copy these when the buffer moves.
    pub fn len(&self) -> usize {
        self.state.fill.len
    }

    /// Whether no byte of the buffer is in use.
    pub fn is_empty(&self) -> bool {
        self.state.fill.len == 0
    }

    /// Returns why the first update was left out of the message, or `None` if none was.
    pub fn left_out(&self) -> Option<LogError> {
        self.left_out
    }

    /// Adds a tracked update. Takes time linear in its length, apart from the occasional removal of replaced records.
    ///
    /// # Errors
    ///
    /// After an error, nothing of the update was added; see [`LogError`]. After [`NeedStorage`](LogError::NeedStorage),
    /// pass the same update again; after any other error, continue with the next.
    #[inline(always)]
    pub fn put(&mut self, buffer: &mut [u8], choice: u32, update: &Update<'_>) -> Result<(), LogError> {
        match AppendedText::of(update) {
            Some(piece) if self.extend(buffer, choice, &piece) => Ok(()),
            _ => self.put_any(buffer, choice, update),
        }
    }

    /// Appends a text to the last record if it continues that record and fits, which it nearly always does. Otherwise
    /// returns `false`, with no effect. State that only the first piece of a text changes was changed when the record
    /// began.
    #[inline(always)]
    fn extend(&mut self, buffer: &mut [u8], choice: u32, piece: &AppendedText<'_>) -> bool {
        // The buffer and the limit both bound how much may be written.
        let LogState { fill, live, table, .. } = &mut self.state;
        let room = self.limit.saturating_sub(*live);
        let end = fill.len.saturating_add(room).min(buffer.len()).min(MAX_LEN);
        let Some(place) = table.place(choice).filter(|_| !self.is_cut) else { return false };
        let Some(len) = fill.extend(buffer, end, piece.key(place), piece.text) else { return false };
        *live = live.saturating_add(len);
        true
    }

    /// Does what [`put`](Self::put) does, for any update.
    #[inline(never)]
    fn put_any(&mut self, buffer: &mut [u8], choice: u32, update: &Update<'_>) -> Result<(), LogError> {
        match update {
            Update::Member(member) => return self.put_member(buffer, member),
            Update::Usage(usage) if usage.protocol() == Protocol::Anthropic => return self.merge_usage(buffer, usage),
            Update::Usage(usage) if self.state.table.top.usage.len > 0 && usage.is_of_details() => {
                return self.merge_usage(buffer, usage);
            }
            _ => {}
        }
        self.write(buffer, choice, call_of(update), appends(update), |mut log| log.put(choice, update))
    }

    /// Writes an update to the log with `write`, and undoes that if it does not fit. `write` may change only this
    /// choice and this call of it. If the update `appends` to a text or a list and does not fit, all further updates
    /// that append are left out.
    fn write(
        &mut self,
        buffer: &mut [u8],
        choice: u32,
        call: u32,
        appends: bool,
        write: impl FnOnce(LogWriter<'_, T>),
    ) -> Result<(), LogError> {
        if self.is_cut && appends {
            return Err(self.leave_out(LogError::TooLong));
        }
        let before = self.state.save(choice, call);
        write(LogWriter { state: &mut self.state, buffer });
        match self.fits(buffer, self.len(), self.state.live) {
            Ok(()) => self.state.settle(buffer).map_err(|error| self.leave_out(error)),
            Err(error) => {
                self.state.restore(before, buffer);
                self.is_cut |= appends && error == LogError::TooLong;
                Err(error)
            }
        }
    }

    /// Adds the members of a chunk, but not its deltas: ID, model and time, the members of its top level that other
    /// sinks get as updates of kind [`Meta`](crate::delta::Kind::Meta), and its
    /// [`other_members`](Chunk::other_members). The first value of a text that is not empty counts.
    ///
    /// # Errors
    ///
    /// The same as those of [`put`](Self::put). After [`NeedStorage`](LogError::NeedStorage) some members may be there
    /// already; a repeated call with the same chunk goes on behind them, and adds nothing twice.
    #[inline]
    pub fn chunk(&mut self, buffer: &mut [u8], chunk: &Chunk<'_>) -> Result<(), LogError> {
        if chunk.index().facts.is_foreign() {
            return Ok(());
        }
        let top = &mut self.state.table.top;
        top.is_native |= chunk.protocol() != Protocol::Chat;
        if top.created.is_none() {
            top.created = chunk.created().filter(|&created| created > 0);
        }
        let mut done = Ok(());
        let mut missing = self.state.table.missing();
        while missing != 0 {
            let kind = missing.trailing_zeros() as u8;
            missing &= missing.wrapping_sub(1);
            let text = match kind {
                kind::ID => chunk.id(),
                kind::MODEL => chunk.model(),
                _ => Meta::from_number(kind.into()).and_then(|meta| chunk.meta(meta)),
            };
            if let Some(text) = text {
                done = done.and(unless_full(self.put_first(buffer, kind, text))?);
            }
        }
        if chunk.index().facts.others {
            done = done.and(self.others(buffer, chunk));
        }
        done
    }

    /// Adds the members of providers one by one, from the one on for which there was no room.
    #[cold]
    #[inline(never)]
    fn others(&mut self, buffer: &mut [u8], chunk: &Chunk<'_>) -> Result<(), LogError> {
        let (from, start, done) = core::mem::replace(&mut self.members, FIRST);
        let own_start = chunk.wire_range().start as u32;
        // The caller may have given up the chunk before.
        let (from, mut done) = if start == own_start { (from, done) } else { (0, Ok(())) };
        for (place, member) in (0..).zip(chunk.other_members()).skip(from as usize) {
            match self.put_member(buffer, &member) {
                full @ Err(LogError::NeedStorage { .. }) => {
                    self.members = (place, own_start, done);
                    return full;
                }
                put => done = done.and(put),
            }
        }
        done
    }

    /// Adds a member.
    #[cold]
    #[inline(never)]
    fn put_member(&mut self, buffer: &mut [u8], member: &OtherMember<'_>) -> Result<(), LogError> {
        if member.owner == Owner::Function && member.name == "arguments" {
            // An empty string: the tracker reports no other arguments as a member.
            let place = self.state.table.place(member.choice);
            if let Some(call) = place.and_then(|place| self.state.table.call_mut(place, member.call)) {
                call.sent_empty = true;
            }
            Ok(())
        } else if member.owner == Owner::Call && member.name == "partialArgs" {
            self.write(buffer, member.choice, member.call, true, |mut log| log.partials(member))
        } else if is_details(member) {
            self.details(buffer, member)
        } else {
            self.other(buffer, member)
        }
    }

    /// Adds usage whose members replace those of the previous usage, if there is room for all of them. A whole usage of
    /// chat completions that comes later replaces these members, so they count as a part of the last one.
    #[cold]
    #[inline(never)]
    fn merge_usage(&mut self, buffer: &mut [u8], usage: &Usage<'_>) -> Result<(), LogError> {
        let (mut len, mut at) = (0usize, 0);
        while let Some((name, value)) = usage.value().member_at(&mut at) {
            len = len.saturating_add(self.len_of(name, value));
        }
        self.fits(buffer, self.len().saturating_add(len), self.state.live.saturating_add(len))?;
        let native = Some(usage.protocol()).filter(|protocol| *protocol != Protocol::Chat);
        // Prompt counts that add up to 0 replace none.
        let prompt = usage.sent().prompt().filter(|_| native.is_some());
        let is_void = prompt == Some(0) && self.state.table.top.is_prompted;
        self.state.table.top.is_prompted |= prompt > Some(0);
        self.state.table.top.protocol = native;
        let before = self.state.live;
        let (mut done, mut at) = (Ok(()), 0);
        while let Some((name, value)) = usage.value().member_at(&mut at) {
            // What is no number does not replace a count.
            let is_no_count = value.as_u64().is_none() && native.is_some_and(|of| place_of(of, &name).is_some());
            let is_known = |log: &Self| log.usage_members(buffer).any(|known| name.is_decoded(known.name));
            if !(value.is_null() || is_void && TokenCounts::is_of_prompt(&name) || is_no_count && is_known(self)) {
                let owner = Owner::Usage;
                let member = OtherMember { owner, choice: 0, call: 0, in_message: false, name, value };
                done = done.and(unless_full(self.other(buffer, &member))?);
            }
        }
        let last = &mut self.state.table.top.usage;
        last.len = last.len.saturating_add_signed(self.state.live.wrapping_sub(before) as i32);
        done
    }

    /// Adds `reasoning_details`. Those of a whole `message` count only if the choice has none yet.
    #[cold]
    #[inline(never)]
    fn details(&mut self, buffer: &mut [u8], member: &OtherMember<'_>) -> Result<(), LogError> {
        if self.is_cut && !(LogWriter { state: &mut self.state, buffer }).is_new_of_details(member) {
            return self.state.take_fault().map_err(|error| self.leave_out(error));
        }
        self.write(buffer, 0, 0, true, |mut log| log.details(member))
    }

    /// Returns the quirks that the log found since the last call: those of texts that no tracker reads.
    pub fn take_quirks(&mut self) -> QuirkSet {
        core::mem::take(&mut self.state.quirks)
    }

    /// Notes that a tracker left out a delta.
    ///
    /// # Errors
    ///
    /// Returns an error unless `error` is not a limit.
    pub fn limit(&mut self, error: &Error) -> Result<(), LogError> {
        LogError::of(error).map_or(Ok(()), |error| Err(self.leave_out(error)))
    }

    /// Adds the first text of its kind.
    #[inline(never)]
    fn put_first(&mut self, buffer: &mut [u8], kind: u8, text: Text<'_>) -> Result<(), LogError> {
        self.write(buffer, 0, 0, false, |mut log| log.first(kind, text))
    }

    /// Checks that the log may be `need` bytes long, with `live` bytes of texts and raw JSON that were not replaced.
    pub(super) fn fits(&mut self, buffer: &[u8], need: usize, live: usize) -> Result<(), LogError> {
        if live <= self.limit && need <= buffer.len().min(MAX_LEN) {
            return Ok(());
        }
        if live > self.limit || need > self.max_len() {
            return Err(self.leave_out(LogError::TooLong));
        }
        Err(need_storage(need, buffer, self.max_len()))
    }

    /// Returns the most bytes that the log may take.
    fn max_len(&self) -> usize {
        self.limit.saturating_mul(4).saturating_add(64 << 10).min(MAX_LEN)
    }

    /// Notes that an update was left out. The first error stays.
    #[inline(never)]
    pub(super) fn leave_out(&mut self, error: LogError) -> LogError {
        self.left_out.get_or_insert(error);
        error
    }
}

/// Splits the result of a write. The outer error says that the buffer is full, and nothing more must be written.
fn unless_full(put: Result<(), LogError>) -> Result<Result<(), LogError>, LogError> {
    match put {
        Err(full @ LogError::NeedStorage { .. }) => Err(full),
        put => Ok(put),
    }
}

/// Returns the error for a buffer that needs `need` bytes. Asks for more than that, up to `max_len`, so that the buffer
/// seldom moves.
fn need_storage(need: usize, buffer: &[u8], max_len: usize) -> LogError {
    LogError::NeedStorage { need: need.max(buffer.len().saturating_add(buffer.len() / 2).min(max_len)) }
}
