//! The walk that the cursor uses: [`Steps`], and the state between them.
//!
//! The first error is kept and ends the walk: from then on every member, element and value is `None`. Callers check for
//! the error once, at the end.

use super::error::JsonError;
use super::steps::Steps;
use super::text::TextFlags;

/// See the module.
#[derive(Clone)]
pub(crate) struct Walk<'a> {
    steps: Steps<'a>,
    max_depth: u32,
    /// Whether a container was just entered, so that no comma precedes its first member or element. There is no stack,
    /// because the caller knows which containers it entered.
    fresh: bool,
    /// What the string read last may contain.
    flags: TextFlags,
    fault: Option<JsonError>,
}

impl<'a> Walk<'a> {
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], max_depth: u32) -> Self {
        let steps = Steps::new(bytes, 0, max_depth);
        Walk { steps, max_depth, fresh: false, flags: TextFlags::PLAIN, fault: None }
    }

    /// Continues a walk of the same bytes at `offset`, right after a member or element of the same container.
    #[inline]
    pub(crate) fn again(bytes: &'a [u8], offset: usize) -> Self {
        Walk { steps: Steps::new(bytes, offset, u32::MAX), ..Walk::new(bytes, u32::MAX) }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.steps.bytes()
    }

    #[inline]
    pub(crate) fn offset(&self) -> usize {
        self.steps.offset()
    }

    /// Returns the number of open containers.
    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.max_depth.saturating_sub(self.steps.levels())
    }

    /// Returns what the bytes of the string read last, a value or a name, may contain.
    #[inline]
    pub(crate) fn flags(&self) -> TextFlags {
        self.flags
    }

    /// Returns the error, if there was one.
    #[inline]
    pub(crate) fn fault(&self) -> Option<JsonError> {
        self.fault
    }

    /// Skips whitespace and returns the next byte, or 0 at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        self.steps.peek()
    }

    /// Enters the container that begins with `bracket`. Returns `false` on an error.
    #[inline]
    pub(crate) fn begin(&mut self, bracket: u8) -> bool {
        let entered = self.steps.enter(bracket);
        self.fresh = self.keep_error(entered).is_some();
        self.fresh
    }

    /// Consumes a comma, if one is expected, and returns `true`, or consumes the closing bracket and returns `false`.
    #[inline(always)]
    fn next(&mut self, close: u8) -> bool {
        if core::mem::take(&mut self.fresh) {
            return self.steps.first(close);
        }
        let more = self.steps.more(close);
        self.keep_error(more) == Some(true)
    }

    /// Returns the name of the next member, still escaped; its value follows. Returns `None` at the end of the object.
    #[inline(never)]
    pub(crate) fn member(&mut self) -> Option<&'a [u8]> {
        if !self.next(b'}') {
            return None;
        }
        let name = self.steps.name();
        let (name, flags) = self.keep_error(name)?;
        self.flags = flags;
        Some(name)
    }

    /// Whether another element follows. Consumes the closing bracket if not.
    #[inline(never)]
    pub(crate) fn element(&mut self) -> bool {
        if !self.next(b']') {
            return false;
        }
        let comes = self.steps.expect_value();
        self.keep_error(comes).is_some()
    }

    /// Skips the next value. Returns its start and end.
    #[inline(never)]
    pub(crate) fn value(&mut self) -> Option<(usize, usize)> {
        let read = self.steps.value();
        let read = self.keep_error(read)?;
        self.flags = read.flags;
        Some((read.start, read.end))
    }

    /// Returns the result of a step, or keeps its error and ends the walk.
    #[inline(always)]
    fn keep_error<T>(&mut self, read: Result<T, JsonError>) -> Option<T> {
        match read {
            Ok(read) => Some(read),
            Err(fault) => {
                self.fault = self.fault.or(Some(fault));
                self.steps.stop();
                None
            }
        }
    }
}
