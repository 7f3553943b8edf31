//! Frames: the stream as it came on the wire, cut where events end.
//!
//! Each byte of the stream is in exactly one frame, so that a gateway can forward, drop or replace the bytes of an
//! event. A frame begins where the one before ended. It ends where a block ends, or a comment outside of a block. The
//! frame of raw JSON ends with the line or, if more JSON follows on the line, before that JSON.
//!
//! A frame whose last byte is a CR waits for the next byte if the line before ended in CR LF: a LF that comes next
//! belongs to the frame, because a client of the gateway may wait for it. Otherwise the frame ends at the CR, so that
//! streams whose lines end in a CR alone are forwarded without delay. A comment or a line of raw JSON may be the first
//! line of the stream, so its frame waits at a CR unless the line before ended in a CR alone.

use super::machine::Machine;
use crate::delta::Kind;

/// All bytes of one event on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Stream offset of its first byte.
    pub start: u64,
    /// Stream offset after its last byte.
    pub end: u64,
    /// How many choices its chunk has, or 0 if it has no chunk.
    pub choices: u32,
    /// The kinds of the deltas in it, as [`Kind::bit`]s.
    pub kinds: u64,
}

/// The frame that has begun: where it begins, and the kinds in it so far.
///
/// Call [`waiting`](Frames::waiting) before each step, then [`before`](Frames::before), [`add`](Frames::add) and
/// [`after`](Frames::after) for the step's result, and [`rest`](Frames::rest) at the end of the stream.
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

/// A bit that is not a kind: the frame is over, except for a LF that may come next.
const WAITS: u64 = 1 << 63;

impl Frames {
    /// The state at the start of a stream.
    pub const START: Frames = Frames { start: 0, kinds: 0 };

    /// Whether a frame waits for the next byte.
    #[inline]
    pub fn waits(&self) -> bool {
        self.kinds & WAITS != 0
    }

    /// Whether the frame has a delta so far, or waits for the next byte.
    pub(super) fn has_begun(&self) -> bool {
        self.kinds != 0
    }

    /// Returns the frame that waited for the first of these bytes, if one did. Call it before a step on `bytes`; at the
    /// end of the stream `bytes` is empty.
    pub fn waiting<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>, bytes: &[u8]) -> Option<Frame> {
        if !self.waits() {
            return None;
        }
        let lf = u64::from(bytes.first() == Some(&b'\n'));
        self.upto(machine, machine.offset().saturating_add(lf))
    }

    /// Notes that a delta of this kind is in the frame.
    #[inline]
    pub fn add(&mut self, kind: Kind) {
        self.kinds |= kind.bit();
    }

    /// Returns the frame of an earlier block that produced no event, or of raw JSON whose line ended. Call it before a
    /// step's result is emitted.
    #[inline]
    pub fn before<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>) -> Option<Frame> {
        if !self.has_earlier_frame(machine) {
            return None;
        }
        self.close(machine, machine.empty_block_end)
    }

    /// Whether [`before`](Self::before) closes a frame.
    #[inline]
    pub(super) fn has_earlier_frame<const SLOTS: usize>(&self, machine: &Machine<SLOTS>) -> bool {
        machine.empty_block_end > self.start
    }

    /// Returns the frame of a step's result, if the frame is over. Call it after the result was emitted.
    #[inline]
    pub fn after<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>) -> Option<Frame> {
        if !machine.closed() {
            return None;
        }
        self.close(machine, machine.index().frame.1)
    }

    /// Returns the frame of the bytes that are left. Call it at the end of the stream.
    pub fn rest<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>) -> Option<Frame> {
        self.upto(machine, machine.offset())
    }

    /// Closes the frame at this stream offset, or makes it wait for a LF that may come next.
    #[inline(always)]
    pub(super) fn close<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>, end: u64) -> Option<Frame> {
        if machine.expects_lf(end) {
            self.kinds |= WAITS;
            return None;
        }
        self.upto(machine, end)
    }

    /// Does the same as [`close`](Self::close), without returning the frame. `waits` is whether a LF that comes next
    /// belongs to the frame.
    #[inline(always)]
    pub(super) fn pass(&mut self, end: u64, waits: bool) {
        if waits {
            self.kinds |= WAITS;
        } else {
            *self = Frames { start: end, kinds: 0 };
        }
    }

    /// Returns the frame up to this stream offset, and begins the next one. Returns `None` if the frame is empty.
    #[inline(always)]
    fn upto<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>, end: u64) -> Option<Frame> {
        if end <= self.start {
            return None;
        }
        // `Meta` is left out, because it depends on the sink: the members are read only if the sink wants them.
        let kinds = self.kinds & !(Kind::Meta.bit() | WAITS);
        let choices = if kinds & Kind::Chunk.bit() != 0 { machine.index().choices } else { 0 };
        let frame = Frame { start: self.start, end, choices, kinds };
        *self = Frames { start: end, kinds: 0 };
        Some(frame)
    }
}
