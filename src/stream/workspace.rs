//! The memory that parsers need only during a call: a workspace is lent to one parser after the other.
//!
//! A [`Workspace`] is a machine without a stream. During a call it has a copy of the [state](StreamState) of one parser,
//! whose own machine has no templates, so the machine works as if its index and templates were not shared, with two
//! exceptions. It compares a template only if the template was learned on the parser's terms ([`Memo::lend`]). After a
//! run it adds the facts of the templates that recognized events ([`Machine::note_template_facts`]), because these may
//! have been learned from another stream.

use super::machine::Machine;
use super::memo::{Memo, Terms};
use super::state::StreamState;
use super::Config;
use crate::chat::Index;

/// The memory that the parsers of a thread share: templates, and the index of the current event.
///
/// A parser that shares it has no templates of its own ([`Parser::with_slots`](super::Parser::with_slots) with `SLOTS` =
/// 0), so it is small. With many streams from a few upstreams, the shared templates stay in the first-level cache. Each
/// call of such a parser gets a workspace as an argument, not necessarily the same each time. Sharing changes the cost,
/// never the result. `SLOTS` is the number of templates; more than 8 do not compile.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use deltawire::{track::Tracker, Config, Growing, Parser, Update, Workspace};
///
/// let mut workspace: Workspace = Workspace::new();
/// let mut parsers: Vec<Parser<Growing, 0>> =
///     (0..3).map(|_| Parser::with_slots(Growing::new(), Config::new(), Tracker::new())).collect();
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
/// A workspace keeps bytes of the streams that were read with it. A template has an event without its texts, so these
/// bytes include names of tools and models, and unknown members. No parser reports them, but they stay in memory until
/// the template is replaced, or until [`clear`](Workspace::clear). Also, an event that matches a template takes less
/// time, so whoever writes one stream and measures the time can learn about the shapes of the events of others. Streams
/// that must not learn this about each other need a workspace each.
#[derive(Clone)]
pub struct Workspace<const SLOTS: usize = 8> {
    machine: Machine<SLOTS>,
}

/// Prints no bytes of the streams.
impl<const SLOTS: usize> core::fmt::Debug for Workspace<SLOTS> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Workspace").field("slots", &SLOTS).finish_non_exhaustive()
    }
}

impl Workspace {
    /// A workspace without templates.
    pub const fn new() -> Self {
        Workspace::with_slots()
    }
}

impl<const SLOTS: usize> Workspace<SLOTS> {
    /// A workspace with room for `SLOTS` templates.
    ///
    /// ```compile_fail
    /// deltawire::Workspace::<9>::with_slots();
    /// ```
    pub const fn with_slots() -> Self {
        const { assert!(SLOTS <= 8, "SLOTS is 0 to 8") };
        let state = StreamState::new(Config::DEFAULT);
        Workspace { machine: Machine { state, index: Index::new(), memo: Memo::SHARED } }
    }

    /// Overwrites all bytes of the streams.
    pub fn clear(&mut self) {
        *self = Workspace::with_slots();
    }

    /// The index of the event that was found last.
    pub(super) fn index(&self) -> &Index {
        self.machine.index()
    }

    /// Lends the workspace to a parser with this machine that is about to read this window. Until the loan ends, the
    /// machine of the workspace has the state of the stream.
    #[doc(hidden)]
    #[inline]
    pub fn lend<'l>(&'l mut self, own: &'l mut Machine<0>, window: &[u8]) -> Loan<'l, SLOTS> {
        let Workspace { machine } = self;
        let protocol = own.dialect.protocol.filter(|_| own.facts.own_event && !own.dialect.is_odd);
        machine.memo.lend(Terms::shared(&own.config), protocol, &own.memo);
        if machine.memo.may_recognize(window.len()) {
            machine.memo.prepare(&mut machine.index);
        }
        (machine.index.frame, machine.index.snapshots) = (own.index.frame, own.config.snapshots);
        machine.state = own.state.clone();
        Loan { machine, own }
    }
}

impl<const SLOTS: usize> Default for Workspace<SLOTS> {
    fn default() -> Self {
        Workspace::with_slots()
    }
}

/// The machine of a workspace with the state of a parser. Dropping it gives the state back, so this happens even if a
/// handler panics.
#[doc(hidden)]
pub struct Loan<'l, const SLOTS: usize> {
    pub(super) machine: &'l mut Machine<SLOTS>,
    own: &'l mut Machine<0>,
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

    /// Goes on with an event that an earlier call left pending: it [kept](Self::keep_index) the index of that event.
    #[doc(hidden)]
    pub fn resume(&mut self) {
        self.machine.index.clone_from(&self.own.index);
        // The index may have the shape of no template, or of one that was replaced since.
        self.machine.memo.forget_current();
    }

    /// Keeps the index of the last event in the parser's own machine.
    #[doc(hidden)]
    pub fn keep_index(&mut self) {
        self.own.index.clone_from(&self.machine.index);
    }
}

impl<const SLOTS: usize> Drop for Loan<'_, SLOTS> {
    #[inline]
    fn drop(&mut self) {
        let Loan { machine, own } = self;
        own.index.frame = machine.index.frame;
        own.memo.follow(&machine.memo);
        own.state = machine.state.clone();
    }
}

#[cfg(test)]
mod tests;
