//! Iterators over the contents of a container.

use super::cursor::Cursor;
use super::error::JsonError;
use super::steps::{Before, Steps};
use super::text::{Text, TextFlags};
use super::value::Value;
use core::iter::FusedIterator;

impl<'a> Value<'a> {
    /// Iterates over the members, in order, or over nothing if this is not an object. Error offsets count from the first
    /// byte of this value. The iterator ends after an error.
    #[inline]
    pub fn members(&self) -> Members<'a> {
        let mut cursor = self.inner();
        let open = cursor.begin_object().is_ok();
        Members { cursor, open }
    }

    /// Iterates over the elements, in order, or over nothing if this is not an array. Error offsets count from the first
    /// byte of this value. The iterator ends after an error.
    #[inline]
    pub fn elements(&self) -> Elements<'a> {
        let mut cursor = self.inner();
        let open = cursor.begin_array().is_ok();
        Elements { cursor, open }
    }

    /// Returns the value of the member named `name`, or `None` if there is no such member or this is not an object. If it is
    /// there several times, the last one counts, so this reads all members. Names are unescaped before they are compared.
    ///
    /// # Errors
    /// The first error in any member.
    pub fn get(&self, name: &str) -> Result<Option<Value<'a>>, JsonError> {
        if let Some(found) = self.get_sound(name) {
            return Ok(found);
        }
        let mut found = None;
        for member in self.members() {
            let (key, value) = member?;
            if key == name {
                found = Some(value);
            }
        }
        Ok(found)
    }

    /// Does what [`get`](Value::get) does, in one loop without calls between its steps. Returns `None` if the value is no
    /// object, or malformed.
    fn get_sound(&self, name: &str) -> Option<Option<Value<'a>>> {
        let bytes = self.raw();
        let (mut steps, mut before, mut found) = (Steps::new(bytes, 0, u32::MAX), Before::Bracket, None);
        steps.descend(b'{').ok()?;
        while steps.more_after(before).ok()? {
            before = Before::Comma;
            let (raw, flags) = steps.name().ok()?;
            steps.peek();
            let read = steps.value().ok()?;
            let is_wanted =
                if flags == TextFlags::PLAIN { raw == name.as_bytes() } else { Text::from_raw(raw, flags) == name };
            if is_wanted {
                found = Some(Value::from_span(bytes.get(read.start..read.end)?, read.flags));
            }
        }
        Some(found)
    }

    /// Returns a cursor without a depth limit: the creator of the value checked its depth.
    #[inline]
    fn inner(&self) -> Cursor<'a> {
        Cursor::with_max_depth(self.raw(), u32::MAX)
    }
}

/// Returns the members with these names that are not null, in one walk of a small object. If a name is there twice, the last
/// one counts, as in [`Value::get`].
#[inline]
pub(crate) fn members_of<'a, const N: usize>(object: Value<'a>, names: [&str; N]) -> [Option<Value<'a>>; N] {
    let mut found = [None; N];
    find_members(object, &names, &mut found);
    found
}

/// Does what [`members_of`] does, compiled once for any number of members.
#[inline(never)]
fn find_members<'a>(object: Value<'a>, names: &[&str], found: &mut [Option<Value<'a>>]) {
    let mut at = 0;
    while let Some((name, value)) = object.member_at(&mut at) {
        let place = names.iter().position(|wanted| name.is_word(wanted)).and_then(|place| found.get_mut(place));
        if let Some(place) = place {
            *place = Some(value).filter(|value| !value.is_null());
        }
    }
}

/// Iterates over the members of an object. Created by [`Value::members`].
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

/// Iterates over the elements of an array. Created by [`Value::elements`].
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
