//! Compares the fixed parts of similar events with the bytes of an event.

/// Whether both slices are equal, compared by words, 16 bytes at a time.
#[inline(always)]
pub(super) fn same_by_words(a: &[u8], b: &[u8]) -> bool {
    let (mut front, mut other, mut alike) = (a, b, a.len() == b.len());
    while let (Some((x, rest)), Some((y, others))) = (front.split_first_chunk::<16>(), other.split_first_chunk::<16>())
    {
        alike &= same_of_row(x, y);
        (front, other) = (rest, others);
    }
    // The last 16 bytes, some of which may have been compared already.
    match (a.last_chunk::<16>(), b.last_chunk::<16>()) {
        (Some(x), Some(y)) => alike & same_of_row(x, y),
        _ => alike && same_of_row(a, b),
    }
}

/// Does what [`same_by_words`] does, not inlined.
#[inline(never)]
pub(super) fn same_aside(a: &[u8], b: &[u8]) -> bool {
    same_by_words(a, b)
}

/// Whether both slices, of at most 16 bytes, are equal: compares a word from the front and a word from the end, which
/// may overlap.
#[inline(always)]
fn same_of_row(a: &[u8], b: &[u8]) -> bool {
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
    if a.len() != b.len() {
        return false;
    }
    ends!(u64, 8);
    ends!(u32, 4);
    ends!(u16, 2);
    a.first() == b.first()
}
