//! Pull: an event that the parser returns, and its deltas.

use super::{Event, Protocol, Track};
use crate::chat::{TokenCounts, Update};
use crate::shown::Bytes;
use crate::track::{Findings, OffPage, Tracker, Walk};
#[cfg(feature = "alloc")]
use crate::Error;
use core::ops::Deref;

/// An event that was pulled, and its [deltas](Pulled::deltas). It borrows from the input and from the parser, so it is
/// valid until the parser is used again.
///
/// It is an [`Event`] in all else: match on `*event`, or ask for its [chunk](Event::chunk). Events, chunks and texts may
/// be copied out of it, and stay valid as long.
pub struct Pulled<'a, T: Track = Tracker> {
    event: Event<'a>,
    /// `None` once the deltas were taken.
    tracked: Option<&'a mut Tracked<T>>,
}

/// A tracker, and what it found in the deltas of the event that was pulled last.
#[derive(Clone)]
pub(super) struct Tracked<T> {
    pub(super) tracker: T,
    pub(super) found: Findings,
    /// The token counts of the last usage of chat completions.
    pub(super) usage: Option<TokenCounts>,
}

impl<T> Tracked<T> {
    pub(super) const fn new(tracker: T) -> Self {
        Tracked { tracker, found: Findings::NOTHING, usage: None }
    }
}

/// Prints the event.
impl<T: Track> core::fmt::Debug for Pulled<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(&self.event, f)
    }
}

impl<'a, T: Track> Deref for Pulled<'a, T> {
    type Target = Event<'a>;

    #[inline(always)]
    fn deref(&self) -> &Event<'a> {
        &self.event
    }
}

impl<'a, T: Track> Pulled<'a, T> {
    #[inline(always)]
    pub(super) fn new(event: Event<'a>, tracked: &'a mut Tracked<T>) -> Self {
        Pulled { event, tracked: Some(tracked) }
    }

    /// The deltas of the event, each with the index of its choice (0 for usage and errors of the chunk as a whole):
    /// choice by choice, texts before the finish reason, usage and errors last. Only a chunk has any, and
    /// [`Event::Rest`].
    ///
    /// They are those that [`Parser::feed`](super::Parser::feed) gives to a handler: each thing is reported once, a tool
    /// call has its number among the calls of its choice, and a text never ends in half a character. The parser takes in
    /// all of them, also those that the caller does not take.
    #[inline(always)]
    pub fn deltas(mut self) -> Deltas<'a, T> {
        Deltas { walk: walk(self.event), off_page: None, tracked: self.tracked.take() }
    }
}

impl<T: Track> Drop for Pulled<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(tracked) = self.tracked.take() {
            pass(walk(self.event), &mut None, tracked);
        }
    }
}

/// The way through the deltas of an event.
#[inline(always)]
fn walk<'a>(event: Event<'a>) -> Walk<'a> {
    match event {
        Event::Chunk(chunk) => Walk::of(chunk),
        Event::Rest => Walk::END_OF_STREAM,
        _ => Walk::NOTHING,
    }
}

/// Takes in the deltas that the caller did not take.
#[cold]
#[inline(never)]
fn pass<T: Track>(mut walk: Walk<'_>, off_page: &mut OffPage, tracked: &mut Tracked<T>) {
    let Tracked { tracker, found, usage } = tracked;
    while let Some((_, update)) = walk.next(tracker, found, off_page) {
        note_usage(&update, usage);
    }
}

/// Notes the token counts of a usage. Those of other protocols are in the machine.
#[inline(always)]
fn note_usage(update: &Update<'_>, usage: &mut Option<TokenCounts>) {
    match update {
        Update::Usage(of) if of.protocol() == Protocol::Chat => {
            *usage = Some(of.counts().after(usage.as_ref()));
        }
        _ => {}
    }
}

/// Iterates over the deltas of an event. Created by [`Pulled::deltas`].
///
/// When it is dropped, the parser takes in the deltas that were not taken. If a delta was left out because of a limit,
/// or has a quirk that [`Config::errors`](super::Config::errors) names, the parser's next call returns the error.
pub struct Deltas<'a, T: Track = Tracker> {
    walk: Walk<'a>,
    off_page: OffPage,
    tracked: Option<&'a mut Tracked<T>>,
}

#[cfg(feature = "alloc")]
impl<T: Track> Deltas<'_, T> {
    /// Why a delta was left out so far.
    pub(crate) fn limit(&self) -> Option<Error> {
        self.tracked.as_ref()?.found.limit
    }
}

/// Prints the payload of the event.
impl<T: Track> core::fmt::Debug for Deltas<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Deltas").field("payload", &Bytes(self.walk.payload)).finish()
    }
}

impl<'a, T: Track> Iterator for Deltas<'a, T> {
    type Item = (u32, Update<'a>);

    #[inline(always)]
    fn next(&mut self) -> Option<(u32, Update<'a>)> {
        let Tracked { tracker, found, usage } = self.tracked.as_deref_mut()?;
        let next = self.walk.next(tracker, found, &mut self.off_page);
        if let Some((_, update)) = &next {
            note_usage(update, usage);
        }
        next
    }
}

impl<T: Track> Drop for Deltas<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.walk.is_over() {
            if let Some(tracked) = self.tracked.take() {
                pass(self.walk, &mut self.off_page, tracked);
            }
        }
    }
}
