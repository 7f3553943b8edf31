//! The assembler without a heap: it appends updates to a log in a block of memory that the caller gives.

use super::error::LogError;
use super::record::{kind, Source};
use super::table::{CallSlot, Rows, Slot, Table};
use super::write::{appends, weight, AppendedText, LogState, LogWriter};
use crate::chat::{CallUpdate, Chunk, OtherMember, Owner, Update, Usage};
use crate::delta::Meta;
use crate::dialect::Protocol;
use crate::json::Text;
use crate::tables::Arrays;
use crate::track::Tracker;
use crate::Error;

/// Assembles the message of one stream without a heap, from at most `CHOICES` choices with `CALLS` tool calls in all.
///
/// The decoded texts lie in a buffer, in a log to which each update is appended. This type is the state beside that buffer:
/// plain data of fixed size (1.4 KB) without pointers. The caller passes the buffer to each call, and may move it at any
/// time, as long as it keeps its first [`len`](Self::len) bytes.
///
/// The updates are those of a [`Tracker`]: [`add_chunk`](Self::add_chunk) tracks the deltas of a chunk with one, and
/// [`LogSink`](super::LogSink) takes the deltas that an [`Emitter`](crate::stream::Emitter) tracked.
///
/// ```
/// use deltawire::message::{Detail, Field, LogError, MessageLog};
/// use deltawire::{track::Tracker, Event, Parser};
///
/// let stream = br#"data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}
///
/// data: {"id":"c1","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}
///
/// data: [DONE]
///
/// "#;
/// // An event longer than this is skipped: Event::TooLong, and the answer is not complete.
/// let mut parser = Parser::new([0; 4096]);
/// let mut tracker: Tracker = Tracker::new();
/// let mut log: MessageLog = MessageLog::new();
/// let mut buffer = vec![0; 16];
/// let mut input = &stream[..];
/// while let Some(event) = parser.next(&mut input)? {
///     let Event::Chunk(chunk) = event else { continue };
///     while let Err(LogError::NeedStorage { need }) = log.add_chunk(&mut buffer, &mut tracker, &chunk) {
///         buffer.resize(need, 0);
///     }
/// }
/// // Half a surrogate pair may still wait for its other half.
/// for (choice, update) in tracker.finish() {
///     while let Err(LogError::NeedStorage { need }) = log.put(&mut buffer, choice, &update) {
///         buffer.resize(need, 0);
///     }
/// }
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
/// A piece that continues the text before it takes its own bytes, any other piece 12 bytes more. Records that were replaced
/// (usage that comes with each chunk, a message that comes anew) are removed once the log is longer than twice its length
/// after the last removal plus 1 KiB.
pub type MessageLog<const CHOICES: usize = 8, const CALLS: usize = 32> =
    MessageLogOf<Arrays<Slot, CallSlot, CHOICES, CALLS>>;

/// A [`MessageLog`] whose tables of choices and calls may lie elsewhere.
#[derive(Clone)]
pub struct MessageLogOf<T: Rows + ?Sized> {
    /// How many bytes of texts and raw JSON may be kept.
    limit: usize,
    /// Whether an update that appends was left out.
    is_cut: bool,
    /// The first thing that was left out.
    left_out: Option<LogError>,
    pub(super) state: LogState<T>,
}

/// Prints the length, the limit, and the first thing that was left out.
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

/// Positions are kept in 32 bits.
const MAX_LEN: usize = u32::MAX as usize;

/// Returns an upper limit to the bytes that an update adds to the log if it takes in `weight` bytes of its payload. A byte
/// that is not UTF-8 becomes three, a control character in raw JSON six, and a header takes no more than the name of the
/// member that it stands for.
#[inline]
fn bound(weight: usize) -> usize {
    weight.saturating_mul(8).saturating_add(256)
}

/// Whether a member is `reasoning_details`, whose entries are joined.
fn is_details(member: &OtherMember<'_>) -> bool {
    member.owner == Owner::Delta && member.name == "reasoning_details"
}

/// Returns the number of the call that an update belongs to.
fn call_of(update: &Update<'_>) -> u32 {
    match update {
        Update::Call(CallUpdate { call, .. }) | Update::CallName { call, .. } | Update::CallArguments { call, .. } => {
            *call
        }
        _ => 0,
    }
}

impl<const CHOICES: usize, const CALLS: usize> MessageLog<CHOICES, CALLS> {
    /// Creates a log at the start of a stream, bounded by its buffer alone.
    pub const fn new() -> Self {
        MessageLog::with_limit(usize::MAX)
    }

    /// Creates a log that keeps at most `limit` bytes of texts and raw JSON. It asks for a buffer of at most four times that
    /// plus 64 KiB.
    pub const fn with_limit(limit: usize) -> Self {
        MessageLogOf::with_tables(Arrays { choices: [Slot::EMPTY; CHOICES], calls: [CallSlot::EMPTY; CALLS] }, limit)
    }
}

impl<T: Rows> MessageLogOf<T> {
    /// Creates a log with these tables, which keeps at most `limit` bytes of texts and raw JSON.
    #[doc(hidden)]
    pub const fn with_tables(tables: T, limit: usize) -> Self {
        MessageLogOf { limit, is_cut: false, left_out: None, state: LogState::new(Table::new(tables)) }
    }
}

impl<T: Rows + ?Sized> MessageLogOf<T> {
    /// Takes in no more updates that append to a text, because one was left out.
    #[cfg(feature = "alloc")]
    pub(super) fn cut(&mut self) {
        self.is_cut = true;
    }

    /// Returns to the start of a stream. The buffer may then hold anything.
    pub fn reset(&mut self) {
        (self.is_cut, self.left_out) = (false, None);
        self.state.reset();
    }

    /// Returns how many bytes of the buffer are in use, from its beginning. Copy these when the buffer moves.
    pub fn len(&self) -> usize {
        self.state.fill.len
    }

    /// Whether no byte of the buffer is in use.
    pub fn is_empty(&self) -> bool {
        self.state.fill.len == 0
    }

    /// Returns the first thing that was left out of the message.
    pub fn left_out(&self) -> Option<LogError> {
        self.left_out
    }

    /// Takes in a tracked update. The time is linear in its length, apart from the occasional removal of replaced records.
    ///
    /// # Errors
    ///
    /// If an error is returned, nothing of the update was taken in; see [`LogError`]. After
    /// [`NeedStorage`](LogError::NeedStorage), pass the update once more; after any other error, go on with the next.
    #[inline(always)]
    pub fn put(&mut self, buffer: &mut [u8], choice: u32, update: &Update<'_>) -> Result<(), LogError> {
        match AppendedText::of(update) {
            Some(piece) if self.extend(buffer, choice, &piece) => Ok(()),
            _ => self.put_any(buffer, choice, update),
        }
    }

    /// Appends a text to the last record if it continues that record and fits, which it nearly always does. Returns `false`,
    /// with nothing written, if not. Whatever else a first piece changes was changed when the record began.
    #[inline(always)]
    fn extend(&mut self, buffer: &mut [u8], choice: u32, piece: &AppendedText<'_>) -> bool {
        // The buffer and the limit bound how much may still be written.
        let LogState { fill, live, table, .. } = &mut self.state;
        let room = self.limit.saturating_sub(*live);
        let end = fill.len.saturating_add(room).min(buffer.len()).min(MAX_LEN);
        let Some(place) = table.place(choice).filter(|_| !self.is_cut) else { return false };
        let Some(len) = fill.extend(buffer, end, piece.key(place), piece.text) else { return false };
        *live = live.saturating_add(len);
        true
    }

    /// Does what [`extend`](Self::extend) does, with decoded bytes of a source that was noted (`note_source`).
    #[inline(always)]
    pub(super) fn extend_verbatim(&mut self, buffer: &mut [u8], source: Source, bytes: &[u8]) -> bool {
        let LogState { fill, live, .. } = &mut self.state;
        let buffer = buffer.get_mut(..buffer.len().min(MAX_LEN)).unwrap_or_default();
        let room = self.limit.saturating_sub(*live);
        if self.is_cut || bytes.len() > room || fill.extend_verbatim(buffer, source, bytes).is_none() {
            return false;
        }
        *live = live.wrapping_add(bytes.len());
        true
    }

    /// Does what [`extend_verbatim`](Self::extend_verbatim) does, in a new record: the last one is of something else, such as log
    /// probabilities, which come with each token.
    #[inline(never)]
    pub(super) fn resume_verbatim(&mut self, buffer: &mut [u8], source: Source, bytes: &[u8]) -> bool {
        let LogState { fill, live, .. } = &mut self.state;
        let fits = !bytes.is_empty() && bytes.len() <= self.limit.saturating_sub(*live);
        let buffer = buffer.get_mut(..buffer.len().min(MAX_LEN)).unwrap_or_default();
        if self.is_cut || !fits || fill.resume_verbatim(buffer, source, bytes).is_none() {
            return false;
        }
        *live = live.wrapping_add(bytes.len());
        true
    }

    /// Whether [`head`](Self::head) would take in nothing.
    #[inline]
    pub fn has_head(&self) -> bool {
        let table = &self.state.table;
        table.top.created.is_some() && table.missing() & (1 << kind::ID | 1 << kind::MODEL) == 0
    }

    /// Does what [`put`](Self::put) does, for any update.
    #[inline(never)]
    pub(super) fn put_any(&mut self, buffer: &mut [u8], choice: u32, update: &Update<'_>) -> Result<(), LogError> {
        match update {
            Update::Member(member) => return self.put_member(buffer, member),
            Update::Usage(usage) if usage.protocol() == Protocol::Anthropic => return self.merge_usage(buffer, usage),
            _ => {}
        }
        let bound = bound(weight(update));
        if self.has_room(buffer, bound) && !self.is_cut {
            LogWriter { state: &mut self.state, buffer }.put(choice, update);
            return self.state.settle(buffer).map_err(|error| self.leave_out(error));
        }
        self.put_near_the_end(buffer, choice, update)
    }

    /// Does what [`put`](Self::put) does, for an update that may not fit.
    #[inline(never)]
    fn put_near_the_end(&mut self, buffer: &mut [u8], choice: u32, update: &Update<'_>) -> Result<(), LogError> {
        let (call, appends) = (call_of(update), appends(update));
        self.write(buffer, choice, call, appends, |mut log| log.put(choice, update))
    }

    /// Writes to the log by `write`, and undoes that if it does not fit. `write` may change only this choice and this call of
    /// it. If it `appends` to a text or a list and does not fit, everything that appends is left out from here on.
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
        let done = match self.fits(buffer, self.len(), self.state.live) {
            Ok(()) => self.state.settle(buffer).map_err(|error| self.leave_out(error)),
            Err(error) => {
                self.state.restore(before, buffer);
                Err(error)
            }
        };
        self.is_cut |= appends && done == Err(LogError::TooLong);
        done
    }

    /// Takes in those members of a chunk's top level that are the same in each chunk. The first that is not empty counts.
    ///
    /// # Errors
    ///
    /// The same as those of [`put`](Self::put). A repeated call takes in nothing twice.
    #[inline]
    pub fn head(
        &mut self,
        buffer: &mut [u8],
        id: Option<Text<'_>>,
        model: Option<Text<'_>>,
        created: Option<u64>,
    ) -> Result<(), LogError> {
        self.set_created(created);
        let put = |log: &mut Self, buffer: &mut [u8], kind, text| match text {
            Some(text) if !log.state.table.knows(kind) => log.put_first(buffer, kind, text),
            _ => Ok(()),
        };
        let id = unless_full(put(self, buffer, kind::ID, id))?;
        id.and(put(self, buffer, kind::MODEL, model))
    }

    /// Takes in the members of a chunk, but not its deltas: [`head`](Self::head), the members of its top level that are
    /// updates of kind [`Meta`](crate::delta::Kind::Meta) elsewhere, and its [`other_members`](Chunk::other_members).
    ///
    /// # Errors
    ///
    /// The same as those of [`head`](Self::head).
    #[inline]
    pub fn chunk(&mut self, buffer: &mut [u8], chunk: &Chunk<'_>) -> Result<(), LogError> {
        self.set_native(chunk.protocol() != Protocol::Chat);
        if self.state.table.top.created.is_none() {
            self.set_created(chunk.created());
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
            done = done.and(unless_full(self.others(buffer, chunk))?);
        }
        done
    }

    /// Takes in the members of providers one by one, which may be done twice without harm, and then `reasoning_details`.
    #[cold]
    #[inline(never)]
    fn others(&mut self, buffer: &mut [u8], chunk: &Chunk<'_>) -> Result<(), LogError> {
        let mut done = Ok(());
        for member in chunk.other_members().filter(|member| !is_details(member)) {
            done = done.and(unless_full(self.other(buffer, &member))?);
        }
        done.and(unless_full(self.details_of_all(buffer, chunk.other_members().filter(is_details)))?)
    }

    /// Takes in a member that came as an update of its own.
    #[cold]
    #[inline(never)]
    fn put_member(&mut self, buffer: &mut [u8], member: &OtherMember<'_>) -> Result<(), LogError> {
        if member.owner == Owner::Call && member.name == "partialArgs" {
            self.write(buffer, member.choice, member.call, true, |mut log| log.partials(member))
        } else if is_details(member) {
            self.details_of_all(buffer, [*member].into_iter())
        } else {
            self.other(buffer, member)
        }
    }

    /// Takes in usage whose members replace those of the usage before, if there is room for all of them.
    #[cold]
    #[inline(never)]
    fn merge_usage(&mut self, buffer: &mut [u8], usage: &Usage<'_>) -> Result<(), LogError> {
        let (mut len, mut at) = (0usize, 0);
        while let Some((name, value)) = usage.value().member_at(&mut at) {
            len = len.saturating_add(self.len_of(name, value));
        }
        self.fits(buffer, self.len().saturating_add(len), self.state.live.saturating_add(len))?;
        self.state.table.top.protocol = Some(usage.protocol());
        let (mut done, mut at) = (Ok(()), 0);
        while let Some((name, value)) = usage.value().member_at(&mut at) {
            if !value.is_null() {
                let owner = Owner::Usage;
                let member = OtherMember { owner, choice: 0, call: 0, in_message: false, name, value };
                done = done.and(unless_full(self.other(buffer, &member))?);
            }
        }
        done
    }

    /// Takes in the `reasoning_details` of a chunk, all or none. Those of a whole `message` count only if the choice has
    /// none yet.
    #[cold]
    #[inline(never)]
    fn details_of_all<'a>(
        &mut self,
        buffer: &mut [u8],
        mut members: impl Iterator<Item = OtherMember<'a>>,
    ) -> Result<(), LogError> {
        if self.is_cut {
            let mut log = LogWriter { state: &mut self.state, buffer };
            if !members.any(|member| log.is_new_of_details(&member)) {
                return Ok(());
            }
        }
        self.write(buffer, 0, 0, true, |mut log| {
            for member in members {
                if log.is_new_of_details(&member) {
                    log.details(&member);
                }
            }
        })
    }

    /// Takes in a chunk that was pulled, with its deltas, which it tracks with `tracker`.
    ///
    /// # Errors
    ///
    /// Returns [`NeedStorage`](LogError::NeedStorage) if nothing was taken in, because the buffer might be too small: it
    /// asks for more than any chunk of this length takes. Any other error is that of the first thing that was left out;
    /// everything else of the chunk was taken in.
    pub fn add_chunk<const TRACKED: usize, const TRACKED_CALLS: usize>(
        &mut self,
        buffer: &mut [u8],
        tracker: &mut Tracker<TRACKED, TRACKED_CALLS>,
        chunk: &Chunk<'_>,
    ) -> Result<(), LogError> {
        // Half a surrogate pair may be pending in each channel and call, and be emitted now.
        let halves = TRACKED.saturating_mul(4).saturating_add(TRACKED_CALLS).saturating_mul(16);
        let need = self.len().saturating_add(bound(chunk.payload().len())).saturating_add(halves);
        if need > buffer.len() && need <= MAX_LEN {
            return Err(need_storage(need, buffer, MAX_LEN));
        }
        let mut done = self.chunk(buffer, chunk);
        let mut updates = tracker.updates(chunk);
        for (choice, update) in updates.by_ref() {
            done = done.and(self.put(buffer, choice, &update));
        }
        match updates.error() {
            Some(error) => done.and(self.limit(&error)),
            None => done,
        }
    }

    /// Notes what a tracker left out.
    ///
    /// # Errors
    ///
    /// Always returns one, unless `error` is no limit.
    pub fn limit(&mut self, error: &Error) -> Result<(), LogError> {
        LogError::of(error).map_or(Ok(()), |error| Err(self.leave_out(error)))
    }

    fn set_created(&mut self, created: Option<u64>) {
        let top = &mut self.state.table.top;
        top.created = top.created.or(created.filter(|&created| created > 0));
    }

    /// Takes in the first text of its kind.
    #[inline(never)]
    fn put_first(&mut self, buffer: &mut [u8], kind: u8, text: Text<'_>) -> Result<(), LogError> {
        self.write(buffer, 0, 0, false, |mut log| log.first(kind, text))
    }

    /// Whether `bound` more bytes certainly fit.
    #[inline]
    fn has_room(&self, buffer: &[u8], bound: usize) -> bool {
        self.state.fill.len.saturating_add(bound) <= buffer.len().min(MAX_LEN)
            && self.state.live.saturating_add(bound) <= self.limit
    }

    /// Checks that the log may be `need` bytes long, of which `live` bytes are texts and raw JSON that were not replaced.
    pub(super) fn fits(&mut self, buffer: &[u8], need: usize, live: usize) -> Result<(), LogError> {
        if live <= self.limit && need <= buffer.len().min(MAX_LEN) {
            return Ok(());
        }
        let max_len = self.limit.saturating_mul(4).saturating_add(64 << 10).min(MAX_LEN);
        if live > self.limit || need > max_len {
            return Err(self.leave_out(LogError::TooLong));
        }
        Err(need_storage(need, buffer, max_len))
    }

    /// Notes that something was left out. The first error stays.
    #[inline(never)]
    pub(super) fn leave_out(&mut self, error: LogError) -> LogError {
        self.left_out.get_or_insert(error);
        error
    }
}

/// Returns the outcome of a write. The outer error is that the buffer is full: then nothing more must be written.
fn unless_full(put: Result<(), LogError>) -> Result<Result<(), LogError>, LogError> {
    match put {
        Err(full @ LogError::NeedStorage { .. }) => Err(full),
        put => Ok(put),
    }
}

/// Asks for at least `need` bytes. Asks for more, up to `max_len`, so that the buffer seldom moves.
fn need_storage(need: usize, buffer: &[u8], max_len: usize) -> LogError {
    LogError::NeedStorage { need: need.max(buffer.len().saturating_add(buffer.len() / 2).min(max_len)) }
}
