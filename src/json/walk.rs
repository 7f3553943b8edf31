//! The walk behind the cursor: its steps, and what it has to remember between them.
//!
//! A fault is kept, and from then on everything ends: a member, an element or a value is `None`. Who walks looks at the
//! fault once, at the end.

use super::error::JsonError;
use super::steps::Steps;
use super::text::TextFlags;

/// See the module.
#[derive(Clone)]
pub(crate) struct Walk<'a> {
    steps: Steps<'a>,
    max_depth: u32,
    /// A container was just entered: its first member or element has no comma before it. Nothing else needs a stack,
    /// because the caller knows what it entered.
    fresh: bool,
    /// What is known of the string read last.
    flags: TextFlags,
    fault: Option<JsonError>,
}

impl<'a> Walk<'a> {
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], max_depth: u32) -> Self {
        let steps = Steps::new(bytes, 0, max_depth);
        Walk { steps, max_depth, fresh: false, flags: TextFlags::PLAIN, fault: None }
    }

    /// A walk that begins at `offset`, of bytes that were walked before, right after a member or an element of the
    /// container in which it is.
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

    /// How many containers are open.
    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.max_depth.saturating_sub(self.steps.levels())
    }

    /// What is known of the string that was read last, as a value or as a name.
    #[inline]
    pub(crate) fn flags(&self) -> TextFlags {
        self.flags
    }

    /// What is wrong, if something is.
    #[inline]
    pub(crate) fn fault(&self) -> Option<JsonError> {
        self.fault
    }

    /// The first byte of what comes next, whitespace apart; 0 at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        self.steps.peek()
    }

    /// Enters the container that begins with `bracket`.
    #[inline]
    pub(crate) fn begin(&mut self, bracket: u8) -> bool {
        let entered = self.steps.enter(bracket);
        self.fresh = self.told(entered).is_some();
        self.fresh
    }

    /// Passes the comma, if one is expected, or the closing bracket: then `false`.
    #[inline(always)]
    fn next(&mut self, close: u8) -> bool {
        if core::mem::take(&mut self.fresh) {
            return self.steps.first(close);
        }
        let more = self.steps.more(close);
        self.told(more) == Some(true)
    }

    /// The name of the next member, still escaped. Its value comes next. `None`: the object closed.
    #[inline(never)]
    pub(crate) fn member(&mut self) -> Option<&'a [u8]> {
        if !self.next(b'}') {
            return None;
        }
        let name = self.steps.name();
        let (name, flags) = self.told(name)?;
        self.flags = flags;
        Some(name)
    }

    /// Whether another element comes. `false`: the array closed.
    #[inline(never)]
    pub(crate) fn element(&mut self) -> bool {
        if !self.next(b']') {
            return false;
        }
        let comes = self.steps.expect_value();
        self.told(comes).is_some()
    }

    /// Reads over the value that comes next: where it begins and ends.
    #[inline(never)]
    pub(crate) fn value(&mut self) -> Option<(usize, usize)> {
        let read = self.steps.value();
        let read = self.told(read)?;
        self.flags = read.flags;
        Some((read.start, read.end))
    }

    /// What was read, or nothing from now on.
    #[inline(always)]
    fn told<T>(&mut self, read: Result<T, JsonError>) -> Option<T> {
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
