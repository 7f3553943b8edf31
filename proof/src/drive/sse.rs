//! `deltawire::sse`.

use super::Hash;
use deltawire::sse::{Decoder, Event, Item, Lines, Piece};

/// `Lines`: what each line is, and its bytes.
pub fn lines(bytes: &[u8], cut: usize) -> u64 {
    fn see(hash: &mut Hash, piece: &Piece<'_>) {
        if piece.first {
            hash.byte(piece.field as u8);
        }
        piece.held.as_slice().iter().chain(piece.value).for_each(|&byte| hash.byte(byte));
        if piece.last {
            hash.byte(b'\n');
        }
    }
    let mut hash = Hash::new();
    let mut lines = Lines::new();
    for mut slice in bytes.chunks(cut.max(1)) {
        while let Some(piece) = lines.next(&mut slice) {
            see(&mut hash, &piece);
        }
    }
    hash.byte(u8::from(lines.in_line()));
    if let Some(piece) = lines.finish() {
        see(&mut hash, &piece);
    }
    hash.0
}

/// `Decoder`: each item, those that the end of the stream cut too.
pub fn decoder(bytes: &[u8], cut: usize) -> u64 {
    let mut hash = Hash::new();
    let end = each_item(bytes, cut, |item| match item {
        Item::Event(event) => {
            hash.bytes(event.event_type());
            hash.bytes(event.data());
            hash.bytes(event.last_event_id());
        }
        Item::Comment(text) => hash.bytes(text),
        Item::Retry(time) => hash.number(*time),
        Item::TooLong { offset } => hash.number(*offset),
        _ => hash.byte(0),
    });
    hash.number(end);
    hash.0
}

/// Gives each event of a stream to `see`.
pub(super) fn each_event(bytes: &[u8], cut: usize, mut see: impl FnMut(&Event<'_>)) {
    each_item(bytes, cut, |item| {
        if let Item::Event(event) = item {
            see(event);
        }
    });
}

/// Gives each item to `see`; answers with the bytes taken. The storage is small, so that some samples do not fit.
fn each_item(bytes: &[u8], cut: usize, mut see: impl FnMut(&Item<'_>)) -> u64 {
    let mut storage = [0; 512];
    let mut decoder = Decoder::new(&mut storage[..]);
    for mut slice in bytes.chunks(cut.max(1)) {
        while let Some(item) = decoder.next(&mut slice) {
            see(&item);
        }
    }
    while let Some(item) = decoder.finish() {
        see(&item);
    }
    let end = decoder.offset();
    decoder.reset();
    end
}
