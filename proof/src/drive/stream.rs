//! `deltawire::stream` and `deltawire::track`: the parser, pulled and pushed.

use super::{chat, Hash};
use deltawire::stream::{Config, Framing, Validate};
use deltawire::{End, Event, Flow, Handler, Parser, Quirk, QuirkSet, Stop, Update};

/// Most samples fit, not all.
const STORAGE: usize = 1024;

fn configs() -> [Config; 2] {
    let strict = Config::new().with_framing(Framing::Spec).with_validate(Validate::Strict);
    [Config::default(), strict.with_errors(QuirkSet::from(Quirk::BareDone))]
}

/// `Parser::next`; what a clone says of the end; the same again after a reset.
pub fn pull(bytes: &[u8], cut: usize) -> u64 {
    let mut hash = Hash::new();
    for config in configs() {
        let mut storage = [0; STORAGE];
        let mut parser: Parser<_, 0> = Parser::with_slots(&mut storage[..], config, Default::default());
        for _ in 0..2 {
            for mut slice in bytes.chunks(cut.max(1)) {
                loop {
                    match parser.next(&mut slice) {
                        Ok(None) => break,
                        Ok(Some(event)) => {
                            seen(&mut hash, &event);
                            hash.number(event.deltas().count() as u64);
                        }
                        Err(error) => hash.number(error.offset()),
                    }
                }
            }
            loop {
                match parser.finish() {
                    Ok(None) => break,
                    Ok(Some(event)) => {
                        seen(&mut hash, &event);
                        hash.number(event.deltas().count() as u64);
                    }
                    Err(error) => hash.number(error.offset()),
                }
            }
            hash.bytes(parser.last_event_id());
            hash.number(parser.wire_range().start);
            hash.number(parser.offset());
            hash.quirks(parser.quirks());
            ended(&mut hash, parser.end());
            parser.reset();
        }
    }
    hash.0
}

fn seen(hash: &mut Hash, event: &Event<'_>) {
    match event {
        Event::Chunk(chunk) => chat::whole(hash, chunk),
        Event::Comment(bytes) | Event::KeepAlive(bytes) | Event::LastEventId(bytes) => hash.bytes(bytes),
        Event::Retry(number) | Event::TooLong { offset: number } => hash.number(*number),
        Event::Malformed(malformed) => {
            hash.bytes(malformed.payload());
            hash.bytes(malformed.event_name());
            hash.number(malformed.fault().offset as u64);
        }
        _ => hash.byte(0),
    }
}

fn ended(hash: &mut Hash, end: End) {
    hash.byte(end.verdict as u8);
    hash.byte(end.pending as u8);
    for flag in [end.done, end.api_error, end.body] {
        hash.byte(flag.into());
    }
    hash.number(end.choices_seen.into());
    hash.number(end.choices_finished.into());
    hash.number(end.offset);
    hash.bytes(end.first_bytes());
    end.put(true, &mut |text| hash.bytes(text.as_bytes()));
}

/// `Parser::feed`, with a pause after each event.
pub fn push(bytes: &[u8], cut: usize) -> u64 {
    let mut sum = Sum(Hash::new());
    for config in configs() {
        let mut parser = Parser::with_config([0; STORAGE], config);
        for mut slice in bytes.chunks(cut.max(1)) {
            loop {
                let fed = parser.feed(slice, &mut sum);
                slice = slice.get(fed.consumed..).unwrap_or_default();
                if sum.stopped(fed.stop).is_none() {
                    break;
                }
            }
        }
        loop {
            let stop = parser.finish_into(&mut sum).err();
            if sum.stopped(stop).is_none() {
                break;
            }
        }
        ended(&mut sum.0, parser.end());
    }
    sum.0 .0
}

struct Sum(Hash);

impl Sum {
    fn stopped(&mut self, stop: Option<Stop>) -> Option<Stop> {
        if let Some(Stop::Error(error)) = stop {
            self.0.number(error.offset());
        }
        stop
    }

    fn number(&mut self, number: u64) -> Flow {
        self.0.number(number);
        Flow::Continue(())
    }
}

impl Handler for Sum {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        seen(&mut self.0, event);
        Flow::Break(Stop::Pause)
    }
    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        chat::updated(&mut self.0, &update);
        self.number(choice.into())
    }
    fn quirk(&mut self, quirk: Quirk, offset: u64) -> Flow {
        self.0.byte(quirk as u8);
        self.number(offset)
    }
}
