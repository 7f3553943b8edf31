//! Ways to read a stream, which must come to the same.

use super::*;

pub(super) struct Read {
    pub(super) message: Value,
    pub(super) end: End,
    /// Of the parser and of the assembler.
    pub(super) quirks: Vec<Quirk>,
}

pub(super) fn config(dialect: Option<Protocol>) -> Config {
    Config::new().with_dialect(dialect)
}

pub(super) fn pull(bytes: &[u8], sizes: &[usize], dialect: Option<Protocol>) -> Read {
    pull_with(bytes, sizes, config(dialect))
}

pub(super) fn pull_with(bytes: &[u8], sizes: &[usize], config: Config) -> Read {
    let mut parser: Parser<Growing, 2, ()> = Parser::with_tracker(Growing::new(), config, ());
    let mut assembler = Assembler::new();
    for mut piece in pieces(bytes, sizes) {
        while let Some(event) = parser.next(&mut piece).unwrap() {
            assembler.add(&event).unwrap();
        }
    }
    while let Some(event) = parser.finish().unwrap() {
        assembler.add(&event).unwrap();
    }
    assembler.finish().unwrap();
    let all = Quirk::ALL.iter().copied();
    let quirks = all.filter(|quirk| parser.quirk_count(*quirk) > 0 || assembler.quirk_count(*quirk) > 0).collect();
    let message: Value = serde_json::from_slice(&assembler.json(Detail::Standard).unwrap()).unwrap();
    let serialized = serde_json::to_value(assembler.message().unwrap()).unwrap();
    assert_eq!(serialized, message, "Serialize and Assembler::json");
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

pub(super) fn push(bytes: &[u8], size: usize) -> Value {
    push_with(bytes, size, Config::default())
}

pub(super) fn push_with(bytes: &[u8], size: usize, config: Config) -> Value {
    let mut parser: Parser<Growing, 2, Tracker<64, 64>> = Parser::with_tracker(Growing::new(), config, Tracker::new());
    let mut assembler = Assembler::new();
    for piece in bytes.chunks(size) {
        let fed = parser.feed(piece, &mut assembler);
        assert_eq!((fed.consumed, fed.stop), (piece.len(), None));
    }
    while parser.finish_into(&mut assembler).is_err() {}
    serde_json::from_slice(&assembler.json(Detail::Standard).unwrap()).unwrap()
}

/// Records of a batch, `room` at a time, put in a log.
pub(super) fn batch(bytes: &[u8], size: usize, room: usize) -> Value {
    batch_with(bytes, size, room, Config::default())
}

pub(super) fn batch_with(bytes: &[u8], size: usize, room: usize, config: Config) -> Value {
    let (mut machine, mut emitter) = (Machine::new(config), Emitter::new());
    let mut tracker = Tracker::<64, 64>::new();
    let (mut log, mut buffer): (MessageLog<64, 64>, _) = (MessageLog::new(), Vec::new());
    let mut memory = vec![0; bytes.len() + 4096];
    let mut joined: Vec<u8> = Vec::new();
    let (mut array, mut scratch) = (vec![Record::default(); room], vec![0; 256 + 48 * room]);
    let mut take = |records: &[Record], input: &[u8], scratch: &[u8]| {
        for record in records {
            let of = |off: u32, len: u32, flag: u16| {
                let from = if record.flags & flag != 0 { scratch } else { input };
                from[off as usize..][..len as usize].to_vec()
            };
            let text = of(record.text_off, record.text_len, FLAG_TEXT_SCRATCH);
            let aux = of(record.aux_off, record.aux_len, FLAG_AUX_SCRATCH);
            let kind = Kind::from_number(record.kind.into()).unwrap();
            let mut text = text;
            if !deltawire::message::appends_pieces(kind) {
                joined.extend(&text);
                if record.flags & FLAG_MORE != 0 {
                    continue;
                }
                text = std::mem::take(&mut joined);
            }
            loop {
                match log.put_record(&mut buffer, record, &text, &aux) {
                    Err(LogError::NeedStorage { need }) => buffer.resize(need, 0),
                    done => break done.unwrap(),
                }
            }
        }
    };
    for piece in bytes.chunks(size) {
        let mut rest = piece;
        loop {
            let mut records = Records::new(&mut array, &mut scratch, Kind::MESSAGE);
            let (spent, outcome) = emitter.run(&mut machine, &mut &mut memory[..], &mut tracker, rest, 0, &mut records);
            let (written, need) = (records.written(), records.need());
            take(&array[..written], rest, &scratch);
            rest = &rest[spent..];
            if need > scratch.len() {
                scratch.resize(need, 0);
            }
            match outcome {
                Outcome::Done if rest.is_empty() => break,
                Outcome::Done | Outcome::Full => {}
                other => panic!("{other:?}"),
            }
        }
    }
    loop {
        let mut records = Records::new(&mut array, &mut scratch, Kind::MESSAGE);
        let outcome = emitter.finish(&mut machine, &mut &mut memory[..], &mut tracker, &mut records);
        let written = records.written();
        take(&array[..written], b"", &scratch);
        if outcome == Outcome::Done {
            break;
        }
    }
    let mut json = vec![0; log.json(&buffer, Detail::Standard, &mut [])];
    log.json(&buffer, Detail::Standard, &mut json);
    serde_json::from_slice(&json).unwrap()
}

/// Reads in every way; each must report the same.
pub(super) fn read(bytes: &[u8], name: &str) -> Read {
    let whole = pull(bytes, &[bytes.len().max(1)], None);
    for size in [1, 7, 1448] {
        let cut = pull(bytes, &[size], None);
        assert_eq!(cut.message, whole.message, "{name} in reads of {size}");
        assert_eq!((cut.end, &cut.quirks), (whole.end, &whole.quirks), "{name} in reads of {size}");
    }
    for size in [31, 1448, bytes.len().max(1)] {
        assert_eq!(push(bytes, size), whole.message, "{name}, pushed in reads of {size}");
        assert_eq!(batch(bytes, size, 64), whole.message, "{name}, batch in reads of {size}");
        assert_eq!(batch(bytes, size, 1), whole.message, "{name}, batch of one in reads of {size}");
    }
    whole
}
