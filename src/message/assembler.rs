//! The assembler: events in, a completion out.

use super::budget::Budget;
use super::completion::{Choice, Completion};
use crate::chat::{Chunk, Update};
use crate::stream::Event;
use crate::track::Tracker;
use crate::{Error, Limits, Quirk, QuirkSet};
use alloc::vec::Vec;
use core::fmt;

/// Choices that a message can have.
const CHOICES: usize = 128;
/// Tool calls that a stream can have, of all choices together.
const CALLS: usize = 256;

/// What of an event could not be kept. The rest of it was, and the message is what came before, with no gap in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssembleError {
    /// The message would be longer than [`Limits::max_message_len`]. Texts that grow take nothing more from here on.
    TooLong,
    /// More than 128 choices.
    TooManyChoices,
    /// More than 256 tool calls.
    TooManyCalls,
    /// The index of a choice or a tool call is none.
    BadIndex,
    /// Memory could not be had.
    OutOfMemory,
}

impl fmt::Display for AssembleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AssembleError::TooLong => "the message is too long",
            AssembleError::TooManyChoices => "too many choices",
            AssembleError::TooManyCalls => "too many tool calls",
            AssembleError::BadIndex => "an index that is none",
            AssembleError::OutOfMemory => "out of memory",
        })
    }
}

impl core::error::Error for AssembleError {}

/// Puts the deltas of one stream together.
///
/// ```
/// use deltawire::{message::Assembler, Parser};
///
/// let stream = br#"data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}
///
/// data: {"id":"c1","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}
///
/// data: [DONE]
///
/// "#;
/// let mut parser = Parser::new([0; 4096]);
/// let mut assembler = Assembler::new();
/// for mut slice in stream.chunks(7) {
///     while let Some(event) = parser.next(&mut slice)? {
///         assembler.add(&event)?;
///     }
/// }
/// while let Some(event) = parser.finish()? {
///     assembler.add(&event)?;
/// }
/// assembler.finish()?;
///
/// let message = assembler.into_message();
/// assert_eq!(message.id.as_deref(), Some("c1"));
/// let choice = &message.choices[0];
/// assert_eq!(choice.content.as_deref(), Some("Hello"));
/// assert_eq!(choice.finish_reason.as_deref(), Some("stop"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Memory
///
/// It is some 400 bytes itself. Nothing is taken from the heap before the first choice comes. Then it is the state of the
/// choices (at most 24 KiB, of fixed size) and what the message itself comes to, bounded by
/// [`Limits::max_message_len`]: all texts and all raw JSON count, in bytes. If memory cannot be had, an error says so;
/// nothing aborts.
#[derive(Clone, Debug)]
pub struct Assembler {
    /// One, or none yet.
    pub(super) tracker: Vec<Tracker<CHOICES, CALLS>>,
    pub(super) kept: Kept,
    pub(super) limits: Limits,
    quirks: [u32; Quirk::ALL.len()],
}

/// What is kept, apart from the tracker whose updates change it.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    message: Completion,
    pub(super) budget: Budget,
    drop_repeats: bool,
}

impl Default for Assembler {
    fn default() -> Self {
        Assembler::new()
    }
}

impl Assembler {
    /// An assembler with the default limits.
    pub fn new() -> Self {
        Assembler::with_limits(Limits::DEFAULT)
    }

    /// An assembler with its own limits: [`Limits::max_message_len`] matters to it.
    pub fn with_limits(limits: Limits) -> Self {
        Assembler {
            tracker: Vec::new(),
            kept: Kept {
                message: Completion::default(),
                budget: Budget::new(limits.max_message_len),
                drop_repeats: false,
            },
            limits,
            quirks: [0; Quirk::ALL.len()],
        }
    }

    /// Whether arguments of a call that come a second time, whole and alike, are dropped. They are kept unless this
    /// says so: the text is what was sent. Set it before the first event.
    pub fn drop_repeated_arguments(mut self, drop: bool) -> Self {
        self.kept.drop_repeats = drop;
        self
    }

    /// Takes in an event. Only chunks bring something.
    ///
    /// # Errors
    ///
    /// The first thing that could not be kept. All else of the event was, and the next one can be added.
    pub fn add(&mut self, event: &Event<'_>) -> Result<(), AssembleError> {
        match event {
            Event::Chunk(chunk) => self.add_chunk(chunk),
            _ => Ok(()),
        }
    }

    /// Says that the stream ended: half a character that still waits for its other half becomes U+FFFD.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add).
    pub fn finish(&mut self) -> Result<(), AssembleError> {
        if let Some(tracker) = self.tracker.first_mut() {
            let kept = &mut self.kept;
            let mut quirks = QuirkSet::EMPTY;
            while let Some(delta) = tracker.flush(None, &mut quirks) {
                if let Some(update) = Update::of(&delta, b"") {
                    kept.update(delta.choice, &update);
                }
            }
            self.count(quirks);
        }
        self.settle()
    }

    /// The message so far.
    pub fn message(&self) -> &Completion {
        &self.kept.message
    }

    /// The message.
    pub fn into_message(self) -> Completion {
        self.kept.message
    }

    /// How many deltas had `quirk`, in a text or given what came before. What is odd about framing and shape is
    /// counted by the [`Parser`](crate::Parser), these quirks are not.
    pub fn quirk_count(&self, quirk: Quirk) -> u32 {
        self.quirks.get(quirk as usize).copied().unwrap_or(0)
    }

    /// The quirks met so far.
    pub fn quirks(&self) -> QuirkSet {
        Quirk::ALL.iter().copied().filter(|quirk| self.quirk_count(*quirk) > 0).collect()
    }

    /// A new stream.
    pub fn reset(&mut self) {
        // Its memory stays.
        self.tracker.clear();
        self.kept.message = Completion::default();
        self.kept.budget = Budget::new(self.limits.max_message_len);
        self.quirks = [0; Quirk::ALL.len()];
    }

    /// Takes the memory for the state of the choices. It is copied from a constant: 22 KiB that were made on the stack would
    /// be in the frame of each call of who calls this.
    #[cold]
    #[inline(never)]
    fn track(&mut self) -> bool {
        let has_room = self.tracker.try_reserve_exact(1).is_ok();
        if has_room {
            self.tracker.extend_from_slice(const { &[Tracker::new()] });
        }
        has_room
    }

    fn add_chunk(&mut self, chunk: &Chunk<'_>) -> Result<(), AssembleError> {
        self.kept.head(chunk);
        if chunk.deltas().next().is_some() && self.tracker.is_empty() && !self.track() {
            self.kept.budget.fail(AssembleError::OutOfMemory);
            return self.settle();
        }
        if let Some(tracker) = self.tracker.first_mut() {
            let kept = &mut self.kept;
            let mut updates = tracker.updates(chunk);
            while let Some((choice, update)) = updates.next() {
                kept.update(choice, &update);
            }
            match updates.error() {
                Some(Error::TooManyChoices { .. }) => kept.budget.fail(AssembleError::TooManyChoices),
                Some(Error::BadIndex { .. }) => kept.budget.fail(AssembleError::BadIndex),
                Some(Error::TooManyCalls { .. }) => kept.budget.fail(AssembleError::TooManyCalls),
                _ => {}
            }
            let quirks = updates.quirks();
            drop(updates);
            self.count(quirks);
        }
        self.settle()
    }

    /// Counts what texts brought to light, and gives the error of the event.
    fn settle(&mut self) -> Result<(), AssembleError> {
        let quirks = core::mem::take(&mut self.kept.budget.quirks);
        self.count(quirks);
        match self.kept.budget.error.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn count(&mut self, quirks: QuirkSet) {
        for quirk in quirks.iter() {
            if let Some(count) = self.quirks.get_mut(quirk as usize) {
                *count = count.saturating_add(1);
            }
        }
    }
}

impl Kept {
    /// The members of the top level: the first that says something.
    fn head(&mut self, chunk: &Chunk<'_>) {
        let Kept { message, budget, .. } = self;
        budget.first(&mut message.id, || chunk.id());
        budget.first(&mut message.object, || chunk.object());
        budget.first(&mut message.model, || chunk.model());
        budget.first(&mut message.system_fingerprint, || chunk.system_fingerprint());
        budget.first(&mut message.service_tier, || chunk.service_tier());
        budget.first(&mut message.provider, || chunk.provider());
        if message.created.is_none() {
            message.created = chunk.created().filter(|&created| created > 0);
        }
    }

    fn update(&mut self, choice: u32, update: &Update<'_>) {
        let Kept { message, budget, drop_repeats } = self;
        let quirks = budget.quirks;
        match update {
            Update::Usage(usage) => {
                let old = message.usage.take();
                let cost = old.as_ref().map_or(0, |old| old.as_bytes().len());
                budget.refund(cost);
                message.usage = budget.raw(usage.value());
                if message.usage.is_none() {
                    // The last one that could be kept.
                    budget.take(cost);
                    message.usage = old;
                }
            }
            Update::Error(error) => budget.failure(&mut message.error, error),
            _ => {
                if let Some(choice) = choice_mut(&mut message.choices, choice, budget) {
                    choice.update(update, *drop_repeats, budget);
                }
            }
        }
        if !matches!(update, Update::Message(_) | Update::Audio(_)) {
            // The tracker read these texts too, and told of their quirks.
            budget.quirks = quirks;
        }
    }
}

/// The choice with this index, a new one if there is none.
fn choice_mut<'m>(choices: &'m mut Vec<Choice>, index: u32, budget: &mut Budget) -> Option<&'m mut Choice> {
    let place = match choices.binary_search_by_key(&index, |choice| choice.index) {
        Ok(place) => place,
        Err(_) if choices.len() >= CHOICES => {
            budget.fail(AssembleError::TooManyChoices);
            return None;
        }
        Err(place) => {
            if !budget.room(choices) {
                return None;
            }
            choices.insert(place, Choice { index, ..Choice::default() });
            place
        }
    };
    choices.get_mut(place)
}
