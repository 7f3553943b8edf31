//! What parsers need only while they read, lent to each in turn.
//!
//! A [`Workspace`] is a machine without a stream: for the time of a call it has a copy of the [state](StreamState) of one parser. So
//! the machine does not know that its index and its templates are shared, but for two things: a template is compared only if
//! it was learned on the parser's terms ([`Memo::lend`]), and the first of a run that it recognises notes what its event says
//! of the stream ([`Machine::join`]), because it may have been learned from another.

use super::machine::Machine;
use super::memo::{Hints, Memo, Terms};
use super::state::StreamState;
use super::Config;
use crate::chat::Index;
use crate::shown::shown;
use core::ops::{Deref, DerefMut};

/// What the parsers of a thread share: templates of the events that were read, and the index of the event at hand.
///
/// A parser that shares it ([`Parser::sharing`](super::Parser::sharing)) is small, and has no templates of its own: streams
/// of a few upstreams, however many, keep theirs in the first-level cache. Each call of such a parser is given a workspace,
/// which need not be the same each time. Sharing changes the cost, never the result. `SLOTS` is how many shapes of events it
/// remembers, 8 at most; more do not compile.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use deltawire::{Config, Growing, Parser, SharedParser, Update, Workspace};
///
/// let mut workspace: Workspace = Workspace::new();
/// let mut parsers: Vec<SharedParser<Growing, ()>> =
///     (0..3).map(|_| Parser::sharing(Growing::new(), Config::new(), ())).collect();
/// let mut text = String::new();
/// for parser in &mut parsers {
///     let mut read = &b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n"[..];
///     while let Some(event) = parser.next_with(&mut workspace, &mut read)? {
///         for (_choice, update) in event.deltas() {
///             if let Update::Content(content) = update {
///                 text += &content.to_string();
///             }
///         }
///     }
/// }
/// assert_eq!(text, "HiHiHi");
/// # }
/// # Ok::<(), deltawire::Error>(())
/// ```
///
/// # One workspace per trust domain
///
/// A workspace keeps bytes of the streams that were read with it: a template has all of an event but for its texts, so names
/// of tools, models and members that nobody knows are among them. No parser hands them out, but they stay in memory until
/// they are replaced, or until [`clear`](Workspace::clear). And an event that is like one before takes less time, so that who
/// writes one stream and measures can learn something of the shapes of the others. Streams that may not learn that of each
/// other take a workspace each.
#[derive(Clone)]
pub struct Workspace<const SLOTS: usize = 8> {
    machine: Machine<SLOTS>,
}

/// Prints nothing that it keeps.
impl<const SLOTS: usize> core::fmt::Debug for Workspace<SLOTS> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Workspace").field("slots", &SLOTS).finish_non_exhaustive()
    }
}

/// What a parser that shares a [`Workspace`] keeps of its machine between two calls.
#[derive(Clone)]
#[repr(C)]
pub struct Parked {
    state: StreamState,
    /// Where the last event lies in the stream.
    pub(super) frame: (u64, u64),
    hints: Hints,
}

shown!("Parked": Parked, this => state: this.state);

impl Parked {
    /// At the start of a stream.
    #[doc(hidden)]
    pub const fn new(config: Config) -> Self {
        Parked { state: StreamState::new(config), frame: (0, 0), hints: Hints::NOTHING }
    }
}

impl Deref for Parked {
    type Target = StreamState;

    #[inline(always)]
    fn deref(&self) -> &StreamState {
        &self.state
    }
}

impl DerefMut for Parked {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut StreamState {
        &mut self.state
    }
}

impl Workspace {
    /// An empty one.
    pub const fn new() -> Self {
        Workspace::with_slots()
    }
}

impl<const SLOTS: usize> Workspace<SLOTS> {
    /// An empty one that remembers `SLOTS` shapes of events.
    ///
    /// ```compile_fail
    /// deltawire::Workspace::<9>::with_slots();
    /// ```
    pub const fn with_slots() -> Self {
        const { assert!(SLOTS <= 8, "SLOTS is 0 to 8") };
        let state = StreamState::new(Config::DEFAULT);
        Workspace { machine: Machine { state, index: Index::new(), memo: Memo::SHARED } }
    }

    /// Overwrites all that it keeps of the streams.
    pub fn clear(&mut self) {
        *self = Workspace::with_slots();
    }

    /// The index of the event found last.
    pub(super) fn index(&self) -> &Index {
        self.machine.index()
    }

    /// The machine, with the state of a parser that is about to read this window.
    #[doc(hidden)]
    #[inline]
    pub fn lend<'l>(&'l mut self, parked: &'l mut Parked, window: &[u8]) -> Loan<'l, SLOTS> {
        let Workspace { machine } = self;
        let protocol = parked.dialect.protocol.filter(|_| parked.facts.chat && !parked.dialect.is_odd);
        machine.memo.lend(Terms::shared(&parked.config), protocol, parked.hints);
        if machine.memo.may_know(window.len()) {
            machine.memo.prepare(&mut machine.index);
        }
        machine.index.frame = parked.frame;
        machine.state = parked.state.clone();
        Loan { machine, parked }
    }
}

impl<const SLOTS: usize> Default for Workspace<SLOTS> {
    fn default() -> Self {
        Workspace::with_slots()
    }
}

/// A machine with the state of a parser, which has it back when this is dropped, also if a handler panics.
#[doc(hidden)]
pub struct Loan<'l, const SLOTS: usize> {
    pub(super) machine: &'l mut Machine<SLOTS>,
    parked: &'l mut Parked,
}

impl<const SLOTS: usize> core::fmt::Debug for Loan<'_, SLOTS> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Loan").field("machine", &self.machine).finish_non_exhaustive()
    }
}

impl<const SLOTS: usize> Loan<'_, SLOTS> {
    /// The machine.
    #[doc(hidden)]
    pub fn machine(&mut self) -> &mut Machine<SLOTS> {
        self.machine
    }

    /// Goes on with the event that an earlier call left pending: this was its index.
    #[doc(hidden)]
    pub fn resume(&mut self, index: &Index) {
        self.machine.index.clone_from(index);
        // It need not be that of a template.
        self.machine.memo.forget_shown();
    }
}

impl<const SLOTS: usize> Drop for Loan<'_, SLOTS> {
    #[inline]
    fn drop(&mut self) {
        let Loan { machine, parked } = self;
        (parked.frame, parked.hints) = (machine.index.frame, machine.memo.hints());
        parked.state = machine.state.clone();
    }
}

#[cfg(test)]
mod tests;
