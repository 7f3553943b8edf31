//! Lists of a delta that the library does not know, such as `images`: the lists of several chunks become one.
//!
//! Some servers send the elements one by one, others all elements so far, and others an element again, with more members
//! and under its index. A list in the log has room behind it, a half of its length, so that appending to it takes time
//! linear in what is appended.

use crate::chat::scalar::member_of;
use crate::chat::{OtherMember, Owner};
use crate::dialect::whole_number;
use crate::json::{Text, Value, ValueKind};

/// How many members an element may have that adds them to an element before it. One with more replaces that element.
const NAMES: usize = 16;

/// How many elements a list may have whose elements add to those before them. The elements of a longer one are appended.
const MERGED: usize = 64;

/// Whether the lists of this member become one. The last list of `citations` counts, because servers send all of them
/// each time.
pub(super) fn is_list(member: &OtherMember<'_>) -> bool {
    member.owner == Owner::Delta && is_array(member.value.raw()) && member.name != "citations"
}

fn is_array(raw: &[u8]) -> bool {
    matches!(raw, [b'[', .., b']'])
}

/// What a list adds to the one that is kept.
#[derive(Clone, Copy)]
pub(super) enum Added<'a> {
    /// The kept one is no list, or has no element, so the list replaces it.
    All,
    /// Nothing.
    Nothing,
    /// These bytes, with the closing bracket, replace the bracket of the kept list. A comma comes before them if the
    /// first part is one.
    End(&'static [u8], &'a [u8]),
    /// Some of its elements belong to elements of the kept list.
    Merged,
}

impl<'a> Added<'a> {
    /// Compares a list with the `kept` one, whose indexes are less than `top`.
    pub(super) fn to(kept: &[u8], top: u32, list: Value<'a>) -> Self {
        let raw = list.raw();
        if !is_array(kept) || is_blank(kept) {
            return Added::All;
        }
        if is_blank(raw) {
            return Added::Nothing;
        }
        let open = kept.strip_suffix(b"]").unwrap_or_default();
        match raw.strip_prefix(open) {
            Some(b"]") => Added::Nothing,
            Some(end) if matches!(end.trim_ascii_start(), [b',' | b']', ..]) => Added::End(b"", end),
            // Pieces that were joined may have other blanks between them. A list that is much shorter than the kept one does
            // not begin with it, and is not compared: the work stays linear.
            _ if kept.len() / 2 <= raw.len() && begins(list, Value::from_raw(kept)) => Added::All,
            _ if elements(list).take(MERGED.saturating_add(1)).count() <= MERGED
                && indexes(list).any(|index| index < top) =>
            {
                Added::Merged
            }
            _ => Added::End(b",", raw.get(1..).unwrap_or_default()),
        }
    }
}

/// Whether a list has no element.
fn is_blank(list: &[u8]) -> bool {
    matches!(list.get(1..).unwrap_or_default().trim_ascii_start(), [] | [b']', ..])
}

fn elements<'a>(list: Value<'a>) -> impl Iterator<Item = Value<'a>> {
    let mut at = 0;
    core::iter::from_fn(move || list.element_at(&mut at))
}

/// Whether a list begins with all elements of another one, as they were sent.
fn begins(list: Value<'_>, with: Value<'_>) -> bool {
    let mut own = elements(list);
    elements(with).all(|element| own.next().is_some_and(|own| own.raw() == element.raw()))
}

fn index_of(element: Value<'_>) -> Option<u32> {
    let index = Some(element).filter(|element| element.kind() == ValueKind::Object)?;
    u32::try_from(whole_number(member_of(index, "index")?)?).ok()
}

fn indexes<'a>(list: Value<'a>) -> impl Iterator<Item = u32> + use<'a> {
    elements(list).filter_map(index_of)
}

/// Returns a number that is higher than each index in a list, and at least `top`.
pub(super) fn top_of(list: Value<'_>, top: u32) -> u32 {
    indexes(list).fold(top, |top, index| top.max(index.saturating_add(1)))
}

/// Returns about how many bytes [`put_merged`] reads, for each byte of the kept list.
pub(super) fn merging(list: Value<'_>) -> usize {
    elements(list).count().saturating_add(NAMES)
}

/// Puts the kept list with another one, whose elements add their members to the elements with their index.
pub(super) fn put_merged(kept: &[u8], top: u32, list: Value<'_>, put: &mut dyn FnMut(&[u8])) {
    let mut open: &[u8] = b"[";
    let mut begin = |put: &mut dyn FnMut(&[u8])| put(core::mem::replace(&mut open, b","));
    for old in elements(Value::from_raw(kept)) {
        begin(put);
        let index = index_of(old);
        put_element(old, elements(list).filter(|new| index.is_some() && index_of(*new) == index), put);
    }
    let is_known = |index: u32| index < top && indexes(Value::from_raw(kept)).any(|known| known == index);
    for (place, new) in elements(list).enumerate() {
        let index = index_of(new);
        let is_same = |other: &Value<'_>| index.is_some() && index_of(*other) == index;
        if index.is_some_and(is_known) || elements(list).take(place).any(|other| is_same(&other)) {
            continue;
        }
        begin(put);
        put_element(new, elements(list).skip(place.saturating_add(1)).filter(is_same), put);
    }
    put(b"]");
}

/// Puts an element with the members of `later` ones of its index. The last value of a member that is not null counts.
fn put_element<'a>(old: Value<'a>, later: impl Iterator<Item = Value<'a>>, put: &mut dyn FnMut(&[u8])) {
    let mut added: [Option<(Text<'a>, Value<'a>)>; NAMES] = [None; NAMES];
    let mut is_alone = true;
    for new in later {
        is_alone = false;
        let mut at = 0;
        while let Some((name, value)) = new.member_at(&mut at) {
            let is_place = |place: &&mut Option<(Text<'a>, Value<'a>)>| {
                place.as_ref().is_none_or(|(own, _)| own.raw() == name.raw())
            };
            let Some(to) = added.iter_mut().find(is_place) else { return put(new.raw()) };
            if to.is_none() || !value.is_null() {
                *to = Some((name, value));
            }
        }
    }
    if is_alone {
        return put(old.raw());
    }
    let mut open: &[u8] = b"{\"";
    let mut member = |name: Text<'_>, value: Value<'_>| {
        put(core::mem::replace(&mut open, b",\""));
        put(name.raw());
        put(b"\":");
        put(value.raw());
    };
    let mut at = 0;
    while let Some((name, value)) = old.member_at(&mut at) {
        let mut later = None;
        for place in added.iter_mut() {
            if place.is_some_and(|(own, _): (Text<'_>, Value<'_>)| own.raw() == name.raw()) {
                later = place.take().map(|(_, value)| value).filter(|value| !value.is_null()).or(later);
            }
        }
        member(name, later.unwrap_or(value));
    }
    added.into_iter().flatten().for_each(|(name, value)| member(name, value));
    put(b"}");
}
