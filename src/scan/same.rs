//! Whether two runs of bytes are the same: the fixed parts of events that are alike.
//!
//! One comparison of 64 bytes, then of 16; a tail is compared once more with what stands before it.

use super::block64::{Kernel, Native};

/// Whether `a` and `b` are the same bytes.
#[inline(always)]
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    same_with::<Native>(a, b)
}

/// [`same`] with a given kernel.
#[inline(always)]
pub(super) fn same_with<K: Kernel>(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let (mut left, mut right) = (a, b);
    // Where they differ they mostly do so soon, in an ID.
    while let (Some((x, more)), Some((y, others))) = (left.split_first_chunk::<64>(), right.split_first_chunk::<64>()) {
        if !K::same_64(x, y) {
            return false;
        }
        (left, right) = (more, others);
    }
    if left.is_empty() {
        return true;
    }
    // The tail once more with what is before it.
    if let (Some(x), Some(y)) = (a.last_chunk::<64>(), b.last_chunk::<64>()) {
        return K::same_64(x, y);
    }
    let mut alike = true;
    while let (Some((x, more)), Some((y, others))) = (left.split_first_chunk::<16>(), right.split_first_chunk::<16>()) {
        alike &= K::same_16(x, y);
        (left, right) = (more, others);
    }
    match (a.last_chunk::<16>(), b.last_chunk::<16>()) {
        (Some(x), Some(y)) => alike & K::same_16(x, y),
        _ => same_short(a, b),
    }
}

/// Up to 15 bytes.
#[inline(always)]
fn same_short(a: &[u8], b: &[u8]) -> bool {
    macro_rules! ends {
        ($word:ty, $len:literal) => {
            if let (Some(x), Some(y), Some(v), Some(w)) =
                (a.first_chunk::<$len>(), b.first_chunk::<$len>(), a.last_chunk::<$len>(), b.last_chunk::<$len>())
            {
                let first = <$word>::from_ne_bytes(*x) ^ <$word>::from_ne_bytes(*y);
                let last = <$word>::from_ne_bytes(*v) ^ <$word>::from_ne_bytes(*w);
                return first | last == 0;
            }
        };
    }
    ends!(u64, 8);
    ends!(u32, 4);
    ends!(u16, 2);
    a.first() == b.first()
}

/// Whether arrays are the same, word by word; `N` is a multiple of 8.
#[inline(always)]
pub(super) fn same_words<const N: usize>(a: &[u8; N], b: &[u8; N]) -> bool {
    let words = |bytes: &[u8; N], at: usize| match bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(word) => u64::from_ne_bytes(*word),
        None => 0,
    };
    let mut unlike = 0;
    let mut at = 0;
    while at < N {
        unlike |= words(a, at) ^ words(b, at);
        at += 8;
    }
    unlike == 0
}
