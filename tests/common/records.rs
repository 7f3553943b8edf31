//! Reads streams by batches, record by record.

use deltawire::stream::{
    Emitter, Machine, Outcome, Record, Records, Track, FLAG_AUX_SCRATCH, FLAG_EXTRA_SCRATCH, FLAG_TEXT_SCRATCH,
};
use deltawire::{Config, Movable};

/// What a batch has room for. The scratch grows where a record needs more.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub records: usize,
    pub scratch: usize,
}

/// Reads the pieces of a stream, and its end, with a storage that limits no event and a machine that remembers `SLOTS` shapes.
/// Passes on each record of these kinds with its text, its second and its third text, and how many bytes had come until then, one
/// more at the end of the stream.
pub fn each_record<'p, const SLOTS: usize>(
    config: Config,
    tracker: &mut impl Track,
    pieces: impl Iterator<Item = &'p [u8]>,
    kinds: u64,
    room: Room,
    mut see: impl FnMut(&Record, [&[u8]; 3], usize),
) {
    let pieces: Vec<&[u8]> = pieces.collect();
    let len: usize = pieces.iter().map(|piece| piece.len()).sum();
    let (mut machine, mut emitter) = (Machine::<SLOTS>::with_slots(config), Emitter::new());
    // Beside an event lie up to three IDs.
    let (mut memory, mut came) = (vec![0; 4 * len + 4096], 0);
    let (mut array, mut scratch) = (vec![Record::default(); room.records], vec![0; room.scratch]);
    for piece in pieces.into_iter().map(Some).chain([None]) {
        came += piece.map_or(1, <[u8]>::len);
        let mut given = piece.unwrap_or_default();
        loop {
            let mut records = Records::new(&mut array, &mut scratch, kinds);
            let mut store = Movable::new(&mut memory, false);
            let (spent, outcome) = match piece {
                Some(_) => emitter.run(&mut machine, &mut store, tracker, given, 0, &mut records),
                None => (0, emitter.finish(&mut machine, &mut store, tracker, &mut records)),
            };
            let (written, need) = (records.written(), records.need());
            for record in &array[..written] {
                let bytes = |flag: u16, off: u32, len: u32| match len {
                    0 => &[][..],
                    _ if record.flags & flag != 0 => &scratch[off as usize..][..len as usize],
                    _ => &given[off as usize..][..len as usize],
                };
                let text = bytes(FLAG_TEXT_SCRATCH, record.text_off, record.text_len);
                let aux = bytes(FLAG_AUX_SCRATCH, record.aux_off, record.aux_len);
                let extra = bytes(FLAG_EXTRA_SCRATCH, record.extra_off, record.extra_len);
                see(record, [text, aux, extra], came);
            }
            given = &given[spent..];
            let is_short = need > scratch.len();
            scratch.resize(need.max(scratch.len()), 0);
            match outcome {
                Outcome::Done => break,
                Outcome::Full => assert!(written > 0 || spent > 0 || is_short, "no progress"),
                // A choice or a call that the tracker has no room for stops the call, once.
                Outcome::Stopped(_) => {}
                outcome => panic!("{outcome:?}"),
            }
        }
        assert!(given.is_empty(), "done, and bytes are left");
    }
}
