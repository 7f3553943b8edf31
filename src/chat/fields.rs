//! Spans that a chunk's index holds, or that a view walked for itself.

use super::index::{Index, Span, Spans};
use crate::json::{TextFlags, Value};

/// The spans of a choice or a delta.
#[derive(Clone)]
pub(crate) enum Fields<'a, T> {
    /// The spans of the first choice, counted from the bases of the index's segments.
    Indexed(&'a Index, &'a T),
    /// Spans that were walked on request: offsets into the payload.
    Own(T),
}

impl<T> core::ops::Deref for Fields<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        match self {
            Fields::Indexed(_, fields) => fields,
            Fields::Own(fields) => fields,
        }
    }
}

impl<T> Fields<'_, T> {
    /// Returns the value of a member, if it is there.
    #[inline]
    pub(crate) fn value<'p, const N: usize>(
        &self,
        payload: &'p [u8],
        spans: impl FnOnce(&T) -> &Spans<N>,
        member: usize,
    ) -> Option<Value<'p>> {
        match self {
            Fields::Indexed(index, fields) => spans(fields).get(member).map(|span| index.value(payload, span)),
            Fields::Own(fields) => spans(fields).get(member).map(|span| own_value(payload, span)),
        }
    }
}

/// Returns the value at a span whose offsets count from the beginning of the payload.
pub(crate) fn own_value(payload: &[u8], span: Span) -> Value<'_> {
    let raw = payload.get(span.start as usize..span.end as usize).unwrap_or(b"null");
    Value::from_span(raw, TextFlags::from_bits(u16::from(span.flags)))
}
