//! Reads the contents of a container: a member by name, iterators, and the element or member at an offset.

use super::cursor::Cursor;
use super::error::JsonError;
use super::steps::{Before, Skipped, Steps};
use super::text::Text;
use super::value::Value;
use core::iter::FusedIterator;

impl<'a> Value<'a> {
    /// Iterates over the members, in order, or over nothing if this is not an object. Error offsets count from the
    /// first byte of this value. The iterator ends after an error.
    #[inline]
    pub fn members(&self) -> Members<'a> {
        let mut cursor = self.inner();
        let open = cursor.begin_object().is_ok();
        Members { cursor, open }
    }

    /// Iterates over the elements, in order, or over nothing if this is not an array. Error offsets count from the
    /// first byte of this value. The iterator ends after an error.
    #[inline]
    pub fn elements(&self) -> Elements<'a> {
        let mut cursor = self.inner();
        let open = cursor.begin_array().is_ok();
        Elements { cursor, open }
    }

    /// Returns the value of the member named `name`, or `None` if there is no such member or this is not an object. If
    /// several members have the name, the last one counts, so this reads all members. Names are unescaped before they
    /// are compared.
    ///
    /// # Errors
    /// The first error in any member.
    pub fn get(&self, name: &str) -> Result<Option<Value<'a>>, JsonError> {
        let mut found = None;
        self.each_member(|own, value| {
            if own.is_word(name) {
                found = Some(self.inside(value));
            }
        })?;
        Ok(found)
    }

    /// Passes the name of each member and where its value is, or nothing if this is not an object. It is faster than an
    /// iterator, which keeps a cursor in memory.
    ///
    /// # Errors
    /// The first error in any member. The members before it were passed.
    #[inline(always)]
    pub(crate) fn each_member(&self, mut each: impl FnMut(Text<'a>, Skipped)) -> Result<(), JsonError> {
        let bytes = self.raw();
        let (mut steps, mut before) = (Steps::new(bytes, 0, u32::MAX), Before::Bracket);
        if steps.descend(b'{').is_err() {
            return Ok(());
        }
        while steps.more_after(before)? {
            before = Before::Comma;
            let (name, flags) = steps.name()?;
            steps.peek();
            let value = steps.value()?;
            each(Text::from_raw(name, flags), value);
        }
        Ok(())
    }

    /// Returns a value inside this one.
    #[inline(always)]
    pub(crate) fn inside(&self, value: Skipped) -> Value<'a> {
        Value::from_span(self.raw().get(value.start..value.end).unwrap_or_default(), value.flags)
    }

    /// Returns the next element of an array. `at` must be 0 for the first call and is updated to the offset of the next
    /// element. Being plain data, it can be stored where an iterator cannot. Returns `None` at the end, at malformed
    /// bytes, and if this is not an array.
    #[inline]
    pub fn element_at(&self, at: &mut usize) -> Option<Value<'a>> {
        let mut cursor = self.cursor_at(b'[', at)?;
        if !cursor.next_element().ok()? {
            return None;
        }
        let value = cursor.value().ok()?;
        *at = cursor.offset();
        Some(value)
    }

    /// Returns the next member of an object, as name and value. `at` is used as in [`element_at`](Value::element_at).
    #[inline]
    pub fn member_at(&self, at: &mut usize) -> Option<(Text<'a>, Value<'a>)> {
        let mut cursor = self.cursor_at(b'{', at)?;
        let name = cursor.next_member().ok()??;
        let value = cursor.value().ok()?;
        *at = cursor.offset();
        Some((name, value))
    }

    /// Returns a cursor inside this container. Sets `at` to the end; the caller sets it anew if there is another member
    /// or element.
    fn cursor_at(&self, bracket: u8, at: &mut usize) -> Option<Cursor<'a>> {
        let offset = core::mem::replace(at, usize::MAX);
        if offset > 0 {
            return (self.raw().first() == Some(&bracket)).then(|| Cursor::again(self.raw(), offset));
        }
        let mut cursor = self.inner();
        cursor.begin(bracket).is_ok().then_some(cursor)
    }

    /// Returns a cursor without a depth limit: the creator of the value checked its depth.
    #[inline]
    fn inner(&self) -> Cursor<'a> {
        Cursor::with_max_depth(self.raw(), u32::MAX)
    }
}

/// Returns the members with these names that are not null, in one walk of a small object. If several members have a
/// name, the last one counts, as in [`Value::get`].
#[inline]
pub(crate) fn members_of<'a, const N: usize>(object: Value<'a>, names: [&str; N]) -> [Option<Value<'a>>; N] {
    let mut found = [None; N];
    find_members(object, &names, &mut found);
    found
}

/// Does what [`members_of`] does, compiled once for any number of members.
#[inline(never)]
fn find_members<'a>(object: Value<'a>, names: &[&str], found: &mut [Option<Value<'a>>]) {
    // What comes before a fault was found.
    let _ = object.each_member(|name, value| {
        let place = names.iter().position(|wanted| name.is_word(wanted)).and_then(|place| found.get_mut(place));
        if let Some(place) = place {
            *place = Some(object.inside(value)).filter(|value| !value.is_null());
        }
    });
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
        let cursor = &mut self.cursor;
        let member = match cursor.next_member() {
            Ok(name) => name.map(|name| cursor.value().map(|value| (name, value))),
            Err(error) => Some(Err(error)),
        };
        self.open = matches!(member, Some(Ok(_)));
        member
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
            Ok(comes) => comes.then(|| self.cursor.value()),
            Err(error) => Some(Err(error)),
        };
        self.open = matches!(element, Some(Ok(_)));
        element
    }
}

impl FusedIterator for Elements<'_> {}
