//! Frames: the stream on the wire, cut where events end.
//!
//! Each byte lies in exactly one frame, in order, so that a gateway can forward, drop or replace the bytes of an event. A frame
//! begins where the one before ended, and ends where a block does, or a comment that stands outside of one. JSON without a
//! field ends with its line; where more JSON follows on the line, before that.
//!
//! A frame that ends in a CR waits for the next byte if the line before ended in CR LF: a LF there belongs to it, and who
//! forwards frames is not to keep that back from a client that waits for it. Elsewhere the frame ends at the CR, at once, so
//! that streams whose lines end in CR are forwarded without delay. A comment or a line of JSON has no line before it to go by
//! if it is the first: its frame waits at a CR unless the line before ended in a CR alone.

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

/// Where the next frame begins, and what is in it so far: [`waiting`](Frames::waiting) before a step,
/// [`before`](Frames::before), [`add`](Frames::add) and [`after`](Frames::after) for each thing that it finds,
/// [`rest`](Frames::rest) at the end of the stream.
///
/// ```
/// use deltawire::delta::Kind;
/// use deltawire::stream::{Frame, Frames, Machine};
/// use deltawire::Config;
///
/// let (mut machine, mut frames, mut storage) = (Machine::new(Config::default()), Frames::START, [0; 512]);
/// let _ = machine.step(&mut storage, b"data: [DONE]\r\n\r");
/// assert_eq!(frames.before(&machine), None);
/// frames.add(Kind::Done);
/// assert_eq!(frames.after(&machine), None);
/// let frame = frames.waiting(&machine, b"\n: bye\r\n");
/// assert_eq!(frame, Some(Frame { start: 0, end: 16, choices: 0, kinds: Kind::Done.bit() }));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Frames {
    start: u64,
    /// The kinds in the frame so far, and [`WAITS`].
    kinds: u64,
}

/// A bit that is no kind: the frame is over but for a LF that may come next.
const WAITS: u64 = 1 << 63;

impl Frames {
    /// At the start of a stream.
    pub const START: Frames = Frames { start: 0, kinds: 0 };

    /// Whether a frame waits for the next byte.
    #[inline]
    pub fn waits(&self) -> bool {
        self.kinds & WAITS != 0
    }

    /// Whether something is in the frame, which is not over.
    pub(super) fn has_begun(&self) -> bool {
        self.kinds != 0
    }

    /// Before a step on these bytes: the frame that waited for them. At the end of the stream `bytes` is empty.
    pub fn waiting<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>, bytes: &[u8]) -> Option<Frame> {
        if !self.waits() {
            return None;
        }
        let lf = u64::from(bytes.first() == Some(&b'\n'));
        self.upto(machine, machine.offset().saturating_add(lf))
    }

    /// Notes that something of this kind is in the frame.
    #[inline]
    pub fn add(&mut self, kind: Kind) {
        self.kinds |= kind.bit();
    }

    /// Before a step's result is emitted: the frame of an earlier block that produced no event, or of JSON whose line ended.
    #[inline]
    pub fn before<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>) -> Option<Frame> {
        if !self.is_behind(machine) {
            return None;
        }
        self.close(machine, machine.silent)
    }

    /// Whether [`before`](Self::before) closes a frame.
    #[inline]
    pub(super) fn is_behind<const SLOTS: usize>(&self, machine: &Machine<SLOTS>) -> bool {
        machine.silent > self.start
    }

    /// After a step's result was emitted: its frame, if that is over.
    #[inline]
    pub fn after<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>) -> Option<Frame> {
        if !machine.closed() {
            return None;
        }
        self.close(machine, machine.index().frame.1)
    }

    /// At the end of the stream: the frame of the bytes that are left.
    pub fn rest<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>) -> Option<Frame> {
        self.upto(machine, machine.offset())
    }

    /// The frame is over at this stream offset, or one byte later.
    #[inline(always)]
    pub(super) fn close<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>, end: u64) -> Option<Frame> {
        if machine.expects_lf(end) {
            self.kinds |= WAITS;
            return None;
        }
        self.upto(machine, end)
    }

    /// As [`close`](Self::close), where the frame is not asked for. `waits`: a LF that comes next belongs to it.
    #[inline(always)]
    pub(super) fn pass(&mut self, end: u64, waits: bool) {
        if waits {
            self.kinds |= WAITS;
        } else {
            *self = Frames { start: end, kinds: 0 };
        }
    }

    /// Returns the frame up to this stream offset and begins the next one, or `None` if the frame is empty.
    #[inline(always)]
    fn upto<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>, end: u64) -> Option<Frame> {
        if end <= self.start {
            return None;
        }
        // Members that describe the response are looked at only where they are asked for.
        let kinds = self.kinds & !(Kind::Meta.bit() | WAITS);
        let choices = if kinds & Kind::Chunk.bit() != 0 { machine.index().choices } else { 0 };
        let frame = Frame { start: self.start, end, choices, kinds };
        *self = Frames { start: end, kinds: 0 };
        Some(frame)
    }
}
