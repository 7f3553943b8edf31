//! What is inside a container, as iterators.

use super::cursor::Cursor;
use super::error::JsonError;
use super::text::Text;
use super::value::Value;
use core::iter::FusedIterator;

impl<'a> Value<'a> {
    /// The members, in order; none if it is no object. Offsets of errors count from the first byte of this value. The
    /// iterator ends after an error.
    #[inline]
    pub fn members(&self) -> Members<'a> {
        let mut cursor = self.inner();
        let open = cursor.begin_object().is_ok();
        Members { cursor, open }
    }

    /// The elements, in order; none if it is no array. Offsets of errors count from the first byte of this value. The
    /// iterator ends after an error.
    #[inline]
    pub fn elements(&self) -> Elements<'a> {
        let mut cursor = self.inner();
        let open = cursor.begin_array().is_ok();
        Elements { cursor, open }
    }

    /// The value of the member with this name, `None` if there is none or this is no object. Of several the last one
    /// counts, so all members are walked. Names are compared after unescaping.
    ///
    /// # Errors
    /// The first fault among the members, wherever it is.
    pub fn get(&self, name: &str) -> Result<Option<Value<'a>>, JsonError> {
        let mut found = None;
        for member in self.members() {
            let (key, value) = member?;
            if key == name {
                found = Some(value);
            }
        }
        Ok(found)
    }

    /// Who made the value saw to its depth.
    #[inline]
    fn inner(&self) -> Cursor<'a> {
        Cursor::with_max_depth(self.raw(), u32::MAX)
    }
}

/// The members of an object. Made by [`Value::members`].
#[derive(Clone, Debug)]
pub struct Members<'a> {
    cursor: Cursor<'a>,
    open: bool,
}

impl<'a> Iterator for Members<'a> {
    type Item = Result<(Text<'a>, Value<'a>), JsonError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if !self.open {
            return None;
        }
        let member = match self.cursor.next_member() {
            Ok(Some(name)) => self.cursor.value().map(|value| (name, value)),
            Ok(None) => {
                self.open = false;
                return None;
            }
            Err(error) => Err(error),
        };
        self.open = member.is_ok();
        Some(member)
    }
}

impl FusedIterator for Members<'_> {}

/// The elements of an array. Made by [`Value::elements`].
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    cursor: Cursor<'a>,
    open: bool,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<Value<'a>, JsonError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if !self.open {
            return None;
        }
        let element = match self.cursor.next_element() {
            Ok(true) => self.cursor.value(),
            Ok(false) => {
                self.open = false;
                return None;
            }
            Err(error) => Err(error),
        };
        self.open = element.is_ok();
        Some(element)
    }
}

impl FusedIterator for Elements<'_> {}
