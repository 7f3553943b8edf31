#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
use super::super::{Held, LineKind};
use super::*;
use crate::Movable;

const TEXT: &[u8] = b"abcdefghijklmnopqrstuvwxyz";

fn piece(field: LineKind, first: bool, last: bool, value: &[u8]) -> Piece<'_> {
    Piece { field, first, last, value, held: Held::EMPTY }
}

fn id(buffer: &mut EventBuffer, storage: &mut [u8; 200], value: &[u8]) {
    assert_eq!(buffer.identify(storage, &piece(LineKind::Id, true, true, value)), Ok(()));
}

/// A later step may have grown the ID slots and moved everything after them; undoing that step restores the layout.
#[test]
fn undo_restores_the_layout() {
    // Slots grow to double their size, or to the limit.
    for (max_id_len, before, since, len) in (0..2000usize).map(|n| ([7, 30][n % 2], n / 2 % 5, n / 10 % 8, n / 80)) {
        let (mut buffer, mut storage) = (EventBuffer::new(Limits { max_id_len, ..Limits::DEFAULT }), [0; 200]);
        // With the ID in the second slot, then in the first.
        for commits in 1..=2 {
            id(&mut buffer, &mut storage, &TEXT[..before]);
            buffer.end();
            let (name, data) = (b"name", &TEXT[..len]);
            buffer.name(&mut storage, &piece(LineKind::Event, true, true, name), 0).unwrap();
            buffer.save(&mut storage, name).unwrap();
            buffer.data(&mut storage, data, data, true, 0).unwrap();
            buffer.save(&mut storage, data).unwrap();
            let earlier = buffer.clone();
            id(&mut buffer, &mut storage, &b"0123456789"[..since]);
            buffer.undo(&earlier, &mut storage);
            let case = (max_id_len, before, since, len, commits);
            assert_eq!(earlier.id(&storage), &TEXT[..before], "{case:?}");
            assert_eq!(earlier.data_span().of(&[], &storage), data, "{case:?}");
            assert_eq!(earlier.name_span().of(&[], &storage), name, "{case:?}");
            buffer = earlier;
            buffer.end();
        }
    }
}

#[test]
fn retained_bytes_exclude_those_in_the_input() {
    let (mut buffer, mut storage) = (EventBuffer::new(Limits::DEFAULT), [0; 200]);
    assert!(buffer.is_empty());
    buffer.name(&mut storage, &piece(LineKind::Event, true, true, b"name"), 0).unwrap();
    assert!(!buffer.is_empty());
    buffer.clear();
    // The data is empty.
    buffer.data(&mut storage, b"", b"", true, 0).unwrap();
    assert!(!buffer.is_empty());
    buffer.clear();
    buffer.comment(&mut storage, &piece(LineKind::Comment, true, false, b"cut"), 0).unwrap();
    assert!(!buffer.is_empty() && buffer.is_staged());
    buffer.unstage();
    assert!(buffer.is_empty() && !buffer.is_staged());
    // The data is borrowed from the input.
    buffer.data(&mut storage, TEXT, TEXT, true, 0).unwrap();
    buffer.name(&mut storage, &piece(LineKind::Event, true, true, b"name"), 0).unwrap();
    assert_eq!((buffer.retained(), buffer.is_staged()), (0, false));
    buffer.clear();
    // A cut ID is in use until its line ends or a NUL makes it void.
    for (end, committed) in [(&b"34"[..], 4), (b"3\0", 0)] {
        buffer.reset();
        assert_eq!(buffer.identify(&mut storage, &piece(LineKind::Id, true, false, b"12")), Ok(()));
        assert_eq!((buffer.retained(), buffer.is_staged()), (2, true));
        assert_eq!(buffer.identify(&mut storage, &piece(LineKind::Id, false, committed > 0, end)), Ok(()));
        assert_eq!((buffer.retained(), buffer.is_staged()), (2 * committed, false));
        buffer.end();
        assert_eq!(buffer.id(&storage), &b"1234"[..committed]);
    }
}

#[test]
fn stored_data_grows_in_place() {
    let (mut buffer, mut storage) = (EventBuffer::new(Limits { max_event_len: 8, ..Limits::DEFAULT }), [0; 200]);
    // The buffer has no data, or its data lies in the input.
    assert_eq!((buffer.appendable(&storage), buffer.append(&mut storage, b"x")), (0, false));
    buffer.data(&mut storage, b"ab", b"ab", true, 0).unwrap();
    assert_eq!((buffer.appendable(&storage), buffer.append(&mut storage, b"x")), (0, false));
    buffer.save(&mut storage, b"ab").unwrap();
    assert_eq!(buffer.appendable(&storage), 6);
    assert!(buffer.append(&mut storage, b"c") && buffer.append(&mut storage, b"def"));
    assert_eq!(buffer.appendable(&storage), 2);
    // A name counts towards the limit, and its bytes lie at the far end; a staged line lies where the data would grow.
    let kept = buffer.clone();
    buffer.name(&mut storage, &piece(LineKind::Event, true, true, b"n"), 0).unwrap();
    assert_eq!(buffer.appendable(&storage), 1);
    buffer = kept;
    buffer.comment(&mut storage, &piece(LineKind::Comment, true, false, b"c"), 0).unwrap();
    assert_eq!(buffer.appendable(&storage), 0);
    buffer.unstage();
    assert!(buffer.append(&mut storage, b"gh"));
    assert_eq!(buffer.appendable(&storage), 0);
    assert_eq!(buffer.data_span().of(&[], &storage), b"abcdefgh");
    let mut small = [0; 4];
    buffer.clear();
    buffer.data(&mut small, b"ab", b"ab", true, 0).unwrap();
    buffer.save(&mut small, b"ab").unwrap();
    assert_eq!(buffer.appendable(&small), 2);
    assert!(!buffer.append(&mut small, b"cde") && buffer.append(&mut small, b"cd"));
    assert_eq!(buffer.data_span().of(&[], &small), b"abcd");
    buffer.clear();
    buffer.name(&mut small, &piece(LineKind::Event, true, true, b"n"), 0).unwrap();
    buffer.data(&mut small, b"a", b"a", true, 0).unwrap();
    buffer.save(&mut small, b"n").unwrap();
    assert_eq!(buffer.appendable(&small), 2, "the name is at the far end");
}

/// ID slots grow only for a longer ID, and an ID that just fits is accepted.
#[test]
fn ids_of_equal_length_reuse_their_slots() {
    let (mut buffer, mut storage) = (EventBuffer::new(Limits::DEFAULT), [0u8; 12]);
    for text in [b"abcd", b"efgh", b"ijkl"] {
        assert_eq!(buffer.identify(&mut storage, &piece(LineKind::Id, true, true, text)), Ok(()));
        buffer.end();
        assert_eq!((buffer.id(&storage), buffer.lasting()), (&text[..], 8));
    }
    let longer = piece(LineKind::Id, true, true, b"abcde");
    assert_eq!(buffer.identify(&mut storage, &longer), Err(NoRoom::Limit));
    let (mut buffer, first) = (EventBuffer::new(Limits::DEFAULT), piece(LineKind::Id, true, true, b"abcd"));
    assert_eq!(buffer.identify(&mut [0u8; 11], &first), Err(NoRoom::Limit));
    assert_eq!(buffer.identify(&mut Movable::new(&mut [0; 7], true), &first), Err(NoRoom::Storage));
}

/// The name from a line after a whole JSON value replaces that of the event only when the buffer adopts it. A pending ID
/// is committed when the block ends, not when a value does.
#[test]
fn a_name_after_a_value_is_kept_apart() {
    const VALUES: [&[u8]; 3] = [b"", b"ab", b"vwxyz"];
    // Two lines that each set the name.
    for (first, second, name, cut) in (0..54usize).map(|n| (n % 3, n / 3 % 3, n / 9 % 3, [1, 9][n / 27])) {
        let (mut buffer, mut storage) = (EventBuffer::new(Limits::DEFAULT), [0; 200]);
        id(&mut buffer, &mut storage, b"123");
        buffer.end();
        buffer.name(&mut storage, &piece(LineKind::Event, true, true, VALUES[name]), 0).unwrap();
        buffer.save(&mut storage, VALUES[name]).unwrap();
        buffer.data(&mut storage, TEXT, TEXT, true, 0).unwrap();
        buffer.save(&mut storage, TEXT).unwrap();
        for value in [VALUES[first], VALUES[second]] {
            let (begin, rest) = value.split_at(cut.min(value.len()));
            buffer.next_name(&mut storage, &piece(LineKind::Event, true, rest.is_empty(), begin)).unwrap();
            if !rest.is_empty() {
                buffer.next_name(&mut storage, &piece(LineKind::Event, false, true, rest)).unwrap();
            }
            // Moving the bytes keeps the name.
            let mut other = [0; 200];
            assert!(buffer.relocate(&storage, &mut other));
            storage = other;
        }
        id(&mut buffer, &mut storage, b"4567");
        let case = (first, second, name, cut);
        assert_eq!(buffer.name_span().of(&[], &storage), VALUES[name], "{case:?}");
        assert_eq!((buffer.data_span().of(&[], &storage), buffer.id(&storage)), (TEXT, &b"123"[..]), "{case:?}");
        // The name belongs to this event.
        let (mut one, mut bytes) = (buffer.clone(), storage);
        one.adopt(&mut bytes);
        let (data, own) = one.end().unwrap();
        assert_eq!((data.of(&[], &bytes), own.of(&[], &bytes)), (TEXT, VALUES[second]), "{case:?}");
        assert_eq!(one.id(&bytes), b"4567", "{case:?}");
        // The name belongs to the next value.
        let (_, own) = buffer.end_value().unwrap();
        assert_eq!((own.of(&[], &storage), buffer.id(&storage)), (VALUES[name], &b"123"[..]), "{case:?}");
        let mut other = [0; 64];
        assert!(buffer.has_next() && buffer.relocate(&storage, &mut other));
        buffer.adopt(&mut other);
        assert_eq!(buffer.name_span().of(&[], &other), VALUES[second], "{case:?}");
        buffer.end();
        assert_eq!(buffer.id(&other), b"4567", "{case:?}");
    }
}
