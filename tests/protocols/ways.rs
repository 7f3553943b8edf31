//! Ways to read a stream, which must come to the same.

use super::*;
use crate::common::completion_json;
use crate::common::logged::{emitted, pushed};

pub(super) struct Read {
    pub(super) message: Value,
    pub(super) end: End,
    /// Of the parser and of the assembler.
    pub(super) quirks: Vec<Quirk>,
}

pub(super) fn pull(bytes: &[u8], sizes: &[usize], protocol: Option<Protocol>) -> Read {
    pull_with(bytes, sizes, Config::new().with_protocol(protocol))
}

pub(super) fn pull_with(bytes: &[u8], sizes: &[usize], config: Config) -> Read {
    let mut parser: Parser<Growing> = Parser::with_config(Growing::new(), config);
    let mut assembler = Assembler::new();
    for mut piece in pieces(bytes, sizes) {
        while let Some(event) = parser.next(&mut piece).unwrap() {
            assembler.add(event).unwrap();
        }
    }
    while let Some(event) = parser.finish().unwrap() {
        assembler.add(event).unwrap();
    }
    let all = Quirk::ALL.iter().copied();
    let quirks = all.filter(|quirk| parser.quirk_count(*quirk) > 0 || assembler.quirk_count(*quirk) > 0).collect();
    let message: Value = serde_json::from_slice(assembler.json(Detail::Standard).unwrap().as_bytes()).unwrap();
    let serialized = completion_json::of(&assembler.message().unwrap(), false);
    assert_eq!(serialized, message, "Completion and Assembler::json");
    Read { message, end: parser.end(), quirks }
}

pub(super) fn pieces<'b>(bytes: &'b [u8], sizes: &[usize]) -> Vec<&'b [u8]> {
    let (mut rest, mut pieces) = (bytes, Vec::new());
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, behind) = rest.split_at((*size).min(rest.len()));
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

pub(super) fn push(bytes: &[u8], size: usize, config: Config) -> Value {
    serde_json::from_slice(pushed(bytes, size, config).json(Detail::Standard).unwrap().as_bytes()).unwrap()
}

pub(super) fn emit(bytes: &[u8], config: Config) -> Value {
    serde_json::from_str(&emitted(bytes, config).json(Detail::Standard)).unwrap()
}

/// Reads in every way; each must report the same.
pub(super) fn read(bytes: &[u8], name: &str) -> Read {
    read_with(bytes, Config::default(), name)
}

pub(super) fn read_with(bytes: &[u8], config: Config, name: &str) -> Read {
    let whole = pull_with(bytes, &[bytes.len().max(1)], config);
    for size in [1, 7, 1448] {
        let cut = pull_with(bytes, &[size], config);
        assert_eq!(cut.message, whole.message, "{name} in reads of {size}");
        assert_eq!((cut.end, &cut.quirks), (whole.end, &whole.quirks), "{name} in reads of {size}");
    }
    for size in [31, 1448, bytes.len().max(1)] {
        assert_eq!(push(bytes, size, config), whole.message, "{name}, pushed in reads of {size}");
    }
    assert_eq!(emit(bytes, config), whole.message, "{name}, from an emitter");
    whole
}
