//! Frames: the stream on the wire, cut where events end.
//!
//! Each byte lies in exactly one frame, in order, so that a gateway can forward, drop or replace the bytes of an event. A frame begins where the one before ended, and ends where a block does, or a comment that stands
//! outside of one.

use super::found::Found;
use super::machine::Machine;
use crate::delta::Kind;

/// The bytes of one event on the wire, complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Stream offset of its first byte.
    pub start: u64,
    /// One past its last byte.
    pub end: u64,
    /// How many choices its chunk has; 0 if there is none.
    pub choices: u32,
    /// What was in it: [`Kind::bit`]s.
    pub kinds: u64,
}

/// Where the next frame begins, and what is in it so far: [`before`](Frames::before), [`add`](Frames::add) and
/// [`after`](Frames::after) for each thing that a step finds, [`rest`](Frames::rest) at the end of the stream.
///
/// ```
/// use deltawire::delta::Kind;
/// use deltawire::stream::{Frame, Frames, Machine};
/// use deltawire::Config;
///
/// let (mut machine, mut frames, mut store) = (Machine::new(Config::default()), Frames::START, [0; 512]);
/// let step = machine.step(&mut store, b"data: [DONE]\n\n: bye\n");
/// assert_eq!(frames.before(&machine), None);
/// frames.add(Kind::Done);
/// let frame = frames.after(&machine, step.found);
/// assert_eq!(frame, Some(Frame { start: 0, end: 14, choices: 0, kinds: Kind::Done.bit() }));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Frames {
    start: u64,
    kinds: u64,
}

impl Frames {
    /// At the start of a stream.
    pub const START: Frames = Frames { start: 0, kinds: 0 };

    /// Notes that something of this kind is in the frame.
    #[inline]
    pub fn add(&mut self, kind: Kind) {
        self.kinds |= kind.bit();
    }

    /// Before a step's result is emitted: the frame of an earlier block that produced no event.
    #[inline]
    pub fn before<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>) -> Option<Frame> {
        self.upto(machine.silent(), 0)
    }

    /// After a step's result was emitted: its frame, if that is over.
    #[inline]
    pub fn after<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>, found: Found) -> Option<Frame> {
        if !machine.closed() {
            return None;
        }
        let choices = if matches!(found, Found::Chunk(_)) { machine.index().choices } else { 0 };
        self.upto(machine.index().frame.1, choices)
    }

    /// At the end of the stream: the frame of the bytes that are left.
    pub fn rest<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>) -> Option<Frame> {
        self.upto(machine.offset(), 0)
    }

    fn upto(&mut self, end: u64, choices: u32) -> Option<Frame> {
        if end <= self.start {
            return None;
        }
        // Members that describe the response are looked at only where they are asked for.
        let kinds = self.kinds & !Kind::Meta.bit();
        let frame = Frame { start: self.start, end, choices, kinds };
        *self = Frames { start: end, kinds: 0 };
        Some(frame)
    }
}
