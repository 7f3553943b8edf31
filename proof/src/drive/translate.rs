//! `deltawire::write::Translator`: the stream, translated to each protocol with the names of the response.

use super::write::{all, MEMORY};
use super::Hash;
use deltawire::stream::Protocol;
use deltawire::write::{Head, Translator};
use deltawire::Parser;

/// Translates with as much room as the slices have, until the memory or the room is too small.
pub fn translate(bytes: &[u8], cut: usize) -> u64 {
    let mut hash = Hash::new();
    for protocol in [Protocol::Chat, Protocol::Anthropic, Protocol::Responses] {
        let (mut storage, mut memory) = ([0; 1024], [0; MEMORY]);
        let mut parser: Parser<_, 0> = Parser::with_slots(&mut storage[..], Default::default(), Default::default());
        let head = Head::new("", "", 0);
        let Ok(mut translator) = Translator::new(protocol, &head, &mut memory[..]) else { continue };
        // The end is one more slice.
        let mut slices = bytes.chunks(cut.max(1)).map(Some).chain([None]);
        let enough = slices.all(|slice| {
            let mut rest = slice.unwrap_or_default();
            all(&mut hash, cut, |out| match slice {
                Some(_) => translator.feed(&mut parser, &mut rest, out),
                None => translator.finish(&mut parser, out),
            })
        });
        let (without_place, lost) = translator.left_out();
        if enough {
            hash.number(without_place);
            hash.number(lost);
        }
    }
    hash.0
}
