//! How many bytes a message may still take, and memory that is asked for before it is used.

use super::completion::Failure;
use super::{AssembleError, RawJson, RawList};
use crate::chat::ApiError;
use crate::json::{Text, Value};
use crate::QuirkSet;
use alloc::string::String;
use alloc::vec::Vec;

/// What is left of [`Limits::max_message_len`](crate::Limits::max_message_len).
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    left: usize,
    /// A piece of a text did not fit: what follows it must not close the gap.
    cut: bool,
    /// Met in the texts read so far.
    pub(crate) quirks: QuirkSet,
    /// The first thing that went wrong with the event at hand.
    pub(crate) error: Option<AssembleError>,
}

impl Budget {
    pub(crate) fn new(left: usize) -> Self {
        Budget { left, cut: false, quirks: QuirkSet::EMPTY, error: None }
    }

    #[cfg(test)]
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    pub(crate) fn fail(&mut self, error: AssembleError) {
        self.error.get_or_insert(error);
    }

    /// Takes `bytes` off what is left, if there are as many.
    fn charge(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                true
            }
            None => {
                self.fail(AssembleError::TooLong);
                false
            }
        }
    }

    /// Gives back what no longer is there.
    pub(crate) fn refund(&mut self, bytes: usize) {
        self.left = self.left.saturating_add(bytes);
    }

    /// Takes back what a refund gave.
    pub(crate) fn take(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }

    /// Whether all that `f` wants to keep fits. If not, `f` alone has a gap, to be thrown away.
    pub(crate) fn attempt(&mut self, f: impl FnOnce(&mut Budget)) -> bool {
        let error = self.error.take();
        let cut = core::mem::take(&mut self.cut);
        f(self);
        let fits = self.error.is_none();
        self.cut = cut;
        self.error = error.or(self.error);
        fits
    }

    pub(crate) fn refund_text(&mut self, text: &mut Option<String>) {
        self.refund(text.take().map_or(0, |text| text.len()));
    }

    /// Puts `text` behind what is there. It fits whole or is left out, and so is every piece after it.
    pub(crate) fn append(&mut self, to: &mut Option<String>, text: Text<'_>) {
        if self.cut {
            self.fail(AssembleError::TooLong);
            return;
        }
        self.cut = !self.push(to, text);
    }

    /// Puts `text` in the place of what is there; if it does not fit nothing is there.
    pub(crate) fn replace(&mut self, to: &mut Option<String>, text: Text<'_>) {
        self.refund_text(to);
        self.push(to, text);
    }

    /// Keeps a text if nothing is there yet.
    pub(crate) fn first<'t>(&mut self, to: &mut Option<String>, text: impl FnOnce() -> Option<Text<'t>>) {
        if to.is_none() {
            if let Some(text) = text() {
                self.push(to, text);
            }
        }
    }

    fn push(&mut self, to: &mut Option<String>, text: Text<'_>) -> bool {
        let plain = text.as_str();
        let len = plain.map_or_else(|| text.decoded_len(), str::len);
        if len == 0 {
            return true;
        }
        if !self.charge(len) {
            return false;
        }
        let mut fresh = String::new();
        let target = to.as_mut().unwrap_or(&mut fresh);
        // Decoding asks for as many bytes as the text has escaped.
        if target.try_reserve(len.max(text.raw().len())).is_err() {
            self.refund(len);
            self.fail(AssembleError::OutOfMemory);
            return false;
        }
        match plain {
            Some(plain) => target.push_str(plain),
            None => self.quirks |= text.push_to(target),
        }
        if to.is_none() {
            *to = Some(fresh);
        }
        true
    }

    /// Keeps a value as it came.
    pub(crate) fn raw(&mut self, value: Value<'_>) -> Option<RawJson> {
        if !self.charge(value.raw().len()) {
            return None;
        }
        let raw = RawJson::of(value);
        if raw.is_none() {
            self.refund(value.raw().len());
            self.fail(AssembleError::OutOfMemory);
        }
        raw
    }

    /// Puts the elements of `array` behind the others.
    pub(crate) fn append_raw(&mut self, list: &mut RawList, array: Value<'_>) {
        for item in array.elements().flatten() {
            let cost = item.raw().len().saturating_add(RawList::PER_ITEM);
            if self.cut {
                self.fail(AssembleError::TooLong);
                return;
            }
            if !self.charge(cost) {
                self.cut = true;
                return;
            }
            if !list.push(item) {
                self.refund(cost);
                self.cut = true;
                self.fail(AssembleError::OutOfMemory);
                return;
            }
        }
    }

    /// Keeps the first error.
    pub(crate) fn failure(&mut self, to: &mut Option<Failure>, error: &ApiError<'_>) {
        if to.is_some() {
            return;
        }
        *to = match error.value() {
            Some(value) => self.raw(value).map(Failure::Json),
            None => {
                let mut text = None;
                if let Some(message) = error.message() {
                    self.push(&mut text, message);
                }
                Some(Failure::Text(text.unwrap_or_default()))
            }
        };
    }

    /// Makes room for one more item.
    pub(crate) fn room<T>(&mut self, list: &mut Vec<T>) -> bool {
        let room = list.try_reserve(1).is_ok();
        if !room {
            self.fail(AssembleError::OutOfMemory);
        }
        room
    }
}
