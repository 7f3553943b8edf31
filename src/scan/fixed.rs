//! Compares the fixed parts of similar events: bytes stored in rows of 16, which a kernel compares row by row.

use crate::visits::visit;

/// 16 bytes of a part. Bytes after the end of the part are ignored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row(pub(super) [u8; 16]);

impl Row {
    /// Bytes in a row.
    pub(crate) const LEN: usize = 16;
    pub(crate) const ZERO: Row = Row([0; Row::LEN]);

    /// Returns the number of rows that hold `len` bytes.
    pub(crate) const fn count(len: usize) -> usize {
        len.div_ceil(16)
    }

    /// Stores bytes in the rows, starting at offset `from`. Returns the offset of their end, or `None` if they do not
    /// fit.
    pub(crate) fn put(rows: &mut [Row], from: usize, bytes: &[u8]) -> Option<usize> {
        let end = from.checked_add(bytes.len())?;
        let first = rows.get_mut(from / Row::LEN..end.div_ceil(Row::LEN))?;
        let (mut skip, mut bytes) = (from % Row::LEN, bytes);
        for Row(row) in first {
            let room = row.get_mut(core::mem::take(&mut skip)..).unwrap_or_default();
            let (here, rest) = bytes.split_at_checked(room.len()).unwrap_or((bytes, &[]));
            if let Some(room) = room.get_mut(..here.len()).filter(|room| room.len() == here.len()) {
                room.copy_from_slice(here);
            }
            bytes = rest;
        }
        Some(end)
    }

    /// Whether the bytes of the rows, after the first `skip`, begin with `bytes`.
    pub(crate) fn are(rows: &[Row], skip: usize, bytes: &[u8]) -> bool {
        visit!(bytes.len());
        let (mut bytes, mut skip) = (bytes, skip);
        for Row(row) in rows {
            let row = row.get(core::mem::take(&mut skip)..).unwrap_or_default();
            let (here, rest) = bytes.split_at_checked(row.len()).unwrap_or((bytes, &[]));
            if !row.get(..here.len()).is_some_and(|row| same(row, here)) {
                return false;
            }
            bytes = rest;
        }
        bytes.is_empty()
    }
}

/// Whether `bytes` begins with the `len` bytes in `rows`, compared by words, 16 bytes at a time. `rows` has exactly as
/// many rows as `len` needs.
#[inline(always)]
pub(super) fn begins_by_words(rows: &[Row], bytes: &[u8], len: usize) -> bool {
    let Some((Row(last), front)) = rows.split_last() else { return len == 0 };
    let mut rest = bytes;
    let mut alike = true;
    for Row(row) in front {
        let Some((here, more)) = rest.split_first_chunk::<{ Row::LEN }>() else { return false };
        alike &= same(row, here);
        rest = more;
    }
    let left = len.wrapping_sub(front.len().wrapping_mul(Row::LEN));
    match (last.get(..left), rest.get(..left)) {
        (Some(last), Some(here)) => alike & same(last, here),
        _ => false,
    }
}

/// [`begins_by_words`] for `bytes` shorter than the rows.
#[inline(never)]
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(super) fn begins_near_end(rows: &[Row], bytes: &[u8], len: usize) -> bool {
    begins_by_words(rows, bytes, len)
}

/// Whether both slices, of at most 16 bytes, are equal: compares a word from the front and a word from the end, which
/// may overlap.
#[inline(always)]
fn same(a: &[u8], b: &[u8]) -> bool {
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
