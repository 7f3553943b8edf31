#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
use super::super::{Field, Held};
use super::*;

const TEXT: &[u8] = b"abcdefghijklmnopqrstuvwxyz";

fn piece(field: Field, first: bool, last: bool, value: &[u8]) -> Piece<'_> {
    Piece { field, first, last, value, held: Held::EMPTY }
}

fn id(block: &mut Block, store: &mut [u8; 200], value: &[u8]) {
    assert_eq!(block.identify(store, &piece(Field::Id, true, true, value)), Ok(()));
}

/// A later step may have grown the ID slots and moved everything behind them; undoing that step restores the layout.
#[test]
fn undo_restores_the_layout() {
    // Slots grow to double their size, or to the limit.
    for (max_id_len, before, since, len) in (0..2000usize).map(|n| ([7, 30][n % 2], n / 2 % 5, n / 10 % 8, n / 80)) {
        let (mut block, mut store) = (Block::new(Limits { max_id_len, ..Limits::DEFAULT }), [0; 200]);
        // With the ID in the second slot, then in the first.
        for commits in 1..=2 {
            id(&mut block, &mut store, &TEXT[..before]);
            block.end();
            let (name, data) = (b"name", &TEXT[..len]);
            block.name(&mut store, &piece(Field::Event, true, true, name), 0).unwrap();
            block.save(&mut store, name).unwrap();
            block.data(&mut store, data, &piece(Field::Data, true, false, data), 0).unwrap();
            block.save(&mut store, data).unwrap();
            let earlier = block.clone();
            id(&mut block, &mut store, &b"0123456789"[..since]);
            block.undo(&earlier, &mut store);
            let case = (max_id_len, before, since, len, commits);
            assert_eq!(earlier.id(&store), &TEXT[..before], "{case:?}");
            assert_eq!(earlier.data_span().of(&[], &store), data, "{case:?}");
            assert_eq!(earlier.name_span().of(&[], &store), name, "{case:?}");
            block = earlier;
            block.end();
        }
    }
}

#[test]
fn retained_bytes_exclude_those_in_the_input() {
    let (mut block, mut store) = (Block::new(Limits::DEFAULT), [0; 200]);
    assert!(block.is_empty());
    block.name(&mut store, &piece(Field::Event, true, true, b"name"), 0).unwrap();
    assert!(!block.is_empty());
    block.clear();
    // Empty data.
    block.data(&mut store, b"", &piece(Field::Data, true, true, b""), 0).unwrap();
    assert!(!block.is_empty());
    block.clear();
    block.comment(&mut store, &piece(Field::Comment, true, false, b"cut"), 0).unwrap();
    assert!(!block.is_empty() && block.is_staged());
    block.unstage();
    assert!(block.is_empty() && !block.is_staged());
    // Data borrowed from the input.
    block.data(&mut store, TEXT, &piece(Field::Data, true, true, TEXT), 0).unwrap();
    block.name(&mut store, &piece(Field::Event, true, true, b"name"), 0).unwrap();
    assert_eq!((block.retained(), block.is_staged()), (0, false));
    block.clear();
    // A cut ID is in use until its line ends or a NUL makes it void.
    for (end, committed) in [(&b"34"[..], 4), (b"3\0", 0)] {
        block.reset();
        assert_eq!(block.identify(&mut store, &piece(Field::Id, true, false, b"12")), Ok(()));
        assert_eq!((block.retained(), block.is_staged()), (2, true));
        assert_eq!(block.identify(&mut store, &piece(Field::Id, false, committed > 0, end)), Ok(()));
        assert_eq!((block.retained(), block.is_staged()), (2 * committed, false));
        block.end();
        assert_eq!(block.id(&store), &b"1234"[..committed]);
    }
}

#[test]
fn stored_data_grows_in_place() {
    let (mut block, mut store) = (Block::new(Limits { max_event_len: 8, ..Limits::DEFAULT }), [0; 200]);
    // No data, or data in the input.
    assert!(!block.append_payload(&mut store, b"x"));
    block.data(&mut store, b"ab", &piece(Field::Data, true, false, b"ab"), 0).unwrap();
    assert!(!block.append_payload(&mut store, b"x"));
    block.save(&mut store, b"ab").unwrap();
    assert!(block.append_payload(&mut store, b"c") && block.append_payload(&mut store, b"def"));
    // Fails beside a name or a staged line, and beyond the limit.
    let kept = block.clone();
    block.name(&mut store, &piece(Field::Event, true, true, b"n"), 0).unwrap();
    assert!(!block.append_payload(&mut store, b"x"));
    block = kept;
    block.comment(&mut store, &piece(Field::Comment, true, false, b"c"), 0).unwrap();
    assert!(!block.append_payload(&mut store, b"x"));
    block.unstage();
    assert!(!block.append_payload(&mut store, b"ghi"));
    assert!(block.append_payload(&mut store, b"gh"));
    assert!(!block.append_payload(&mut store, b"i"));
    assert_eq!(block.data_span().of(&[], &store), b"abcdefgh");
    let mut small = [0; 4];
    block.clear();
    block.data(&mut small, b"ab", &piece(Field::Data, true, false, b"ab"), 0).unwrap();
    block.save(&mut small, b"ab").unwrap();
    assert!(!block.append_payload(&mut small, b"cde") && block.append_payload(&mut small, b"cd"));
    assert_eq!(block.data_span().of(&[], &small), b"abcd");
}

/// ID slots grow only for a longer ID, and an ID that just fits is accepted.
#[test]
fn ids_of_equal_length_reuse_their_slots() {
    let (mut block, mut store) = (Block::new(Limits::DEFAULT), [0u8; 12]);
    for text in [b"abcd", b"efgh", b"ijkl"] {
        assert_eq!(block.identify(&mut store, &piece(Field::Id, true, true, text)), Ok(()));
        block.end();
        assert_eq!((block.id(&store), block.lasting()), (&text[..], 8));
    }
    let longer = piece(Field::Id, true, true, b"abcde");
    assert!(block.identify(&mut store, &longer).is_err());
    assert!(Block::new(Limits::DEFAULT).identify(&mut [0u8; 11], &piece(Field::Id, true, true, b"abcd")).is_err());
}
