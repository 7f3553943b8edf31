//! Pull and push.

use crate::input::pieces;
use crate::told::{self, Seen, Told};
use deltawire::stream::{Event, Fed, Track};
use deltawire::track::Tracker;
use deltawire::{Error, Flow, Handler, Parser, Quirk, QuirkSet, Stop, Storage, Update};

/// More events than any input can bring: each takes a byte of it, or an end.
pub fn most_events(input: &[u8], cuts: &[usize]) -> usize {
    8 * input.len() + cuts.len() + 64
}

/// Reads something, perhaps in the middle of it, and is reset.
pub fn begin_anew<S: Storage, const SLOTS: usize, T: Default>(parser: &mut Parser<S, SLOTS, T>, mut bytes: &[u8]) {
    if !bytes.is_empty() {
        while !matches!(parser.next(&mut bytes), Ok(None)) {}
        parser.reset();
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Pull

struct Pull {
    told: Told,
    tracker: Tracker,
    /// Quirks that the tracker met, each as often.
    met: Vec<Quirk>,
    events: usize,
    /// What the parser says of itself is noted after each call.
    states: bool,
}

type Brought = (Seen, QuirkSet, Option<Error>);

/// Pulls all of `input`, and the end; `between` is called between calls.
pub fn pull<S: Storage, const SLOTS: usize>(
    parser: &mut Parser<S, SLOTS, ()>,
    input: &[u8],
    cuts: &[usize],
    states: bool,
    mut between: impl FnMut(&mut Parser<S, SLOTS, ()>),
) -> Told {
    let mut reader = Pull { told: Told::default(), tracker: Tracker::new(), met: Vec::new(), events: 0, states };
    let most = most_events(input, cuts);
    for mut piece in pieces(input, cuts) {
        loop {
            let before = piece.len();
            let event = parser.next(&mut piece).map(|event| event.map(|event| reader.take(&event)));
            assert!(piece.len() <= before, "bytes were given back");
            let more = reader.settle(event, parser);
            between(parser);
            assert!(reader.events <= most, "events without end");
            if !more {
                break;
            }
        }
        assert!(piece.is_empty(), "next said None and left bytes");
    }
    assert_eq!(parser.offset(), input.len() as u64, "all is consumed");
    loop {
        let event = parser.finish().map(|event| event.map(|event| reader.take(&event)));
        let more = reader.settle(event, parser);
        assert!(reader.events <= most, "finish without end");
        if !more {
            break;
        }
    }
    let Pull { mut told, mut tracker, mut met, .. } = reader;
    let mut quirks = QuirkSet::EMPTY;
    while let Some(delta) = tracker.flush(None, &mut quirks) {
        let update = Update::of(&delta, b"").expect("an update");
        told::update(&mut told.events, delta.choice, &update);
    }
    met.extend(quirks.iter());
    stop(&mut told, quirks, parser.config().errors, parser.offset());
    let own = |quirk| met.iter().filter(|met| **met == quirk).count() as u16;
    told::close(&mut told.end, parser.last_event_id(), parser.end(), |quirk| {
        parser.quirk_count(quirk).saturating_add(own(quirk))
    });
    told
}

impl Pull {
    /// Notes the event and its updates, while they can be looked at.
    fn take(&mut self, event: &Event<'_>) -> Brought {
        let Pull { told, tracker, met, .. } = self;
        let seen = told::event(&mut told.events, event);
        let Some(chunk) = event.chunk() else { return (seen, QuirkSet::EMPTY, None) };
        let mut updates = tracker.updates(&chunk);
        for (choice, update) in &mut updates {
            told::update(&mut told.events, choice, &update);
        }
        // By pull alone: the others tell them together with the tracker's.
        told.states.line("chunk");
        told.states.show("quirks", chunk.quirks());
        met.extend(updates.quirks().iter());
        (seen, updates.quirks(), updates.error())
    }

    /// Notes what is known after a call. Says whether there may be more.
    fn settle<S: Storage, const SLOTS: usize>(
        &mut self,
        event: Result<Option<Brought>, Error>,
        parser: &Parser<S, SLOTS, ()>,
    ) -> bool {
        let more = match event {
            Ok(None) => false,
            Ok(Some((seen, quirks, error))) => {
                seen.placed(&mut self.told.ranges, parser.wire_range());
                if let Some(error) = error {
                    told::error(&mut self.told.events, &error);
                }
                stop(&mut self.told, quirks, parser.config().errors, parser.wire_range().start);
                true
            }
            Err(error) => {
                told::error(&mut self.told.events, &error);
                true
            }
        };
        self.events += usize::from(more);
        if self.states {
            told::state(&mut self.told.states, parser);
        }
        more
    }
}

/// Does with a tracker's quirks what `feed` does.
fn stop(told: &mut Told, quirks: QuirkSet, errors: QuirkSet, offset: u64) {
    if let Some(quirk) = quirks.and(errors).iter().next() {
        told::error(&mut told.events, &Error::Quirk { quirk, offset });
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Push

struct Logger {
    told: Told,
    /// A pause is asked for at every so many calls; 0: never.
    pause: usize,
    calls: usize,
}

impl Logger {
    fn flow(&mut self) -> Flow {
        self.calls += 1;
        if self.pause > 0 && self.calls % self.pause == 0 {
            Flow::Break(Stop::Pause)
        } else {
            Flow::Continue(())
        }
    }
}

impl Handler for Logger {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        told::event(&mut self.told.events, event);
        self.flow()
    }

    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        told::update(&mut self.told.events, choice, &update);
        self.flow()
    }

    fn limit(&mut self, error: &Error) -> Flow {
        told::error(&mut self.told.events, error);
        self.flow()
    }

    fn quirk(&mut self, quirk: Quirk, _offset: u64) -> Flow {
        told::quirks(&mut self.told.quirks, QuirkSet::from(quirk));
        self.flow()
    }
}

/// Feeds all of `input`, and the end.
pub fn push<S: Storage, const SLOTS: usize, T: Track>(
    parser: &mut Parser<S, SLOTS, T>,
    input: &[u8],
    cuts: &[usize],
    pause: usize,
    states: bool,
) -> Told {
    let mut logger = Logger { told: Told::default(), pause, calls: 0 };
    let most = most_events(input, cuts);
    let mut stops = 0;
    let mut stopped = |logger: &mut Logger, stop: Stop| {
        stops += 1;
        assert!(stops <= most, "stops without end");
        match stop {
            Stop::Pause => assert!(pause > 0, "a pause that nobody asked for"),
            Stop::Error(error @ Error::Quirk { .. }) => told::error(&mut logger.told.events, &error),
            // The handler was told.
            Stop::Error(_) => {}
            stop => panic!("{stop:?}"),
        }
    };
    for mut piece in pieces(input, cuts) {
        loop {
            let Fed { consumed, stop } = parser.feed(piece, &mut logger);
            assert!(consumed <= piece.len(), "more was consumed than given");
            piece = &piece[consumed..];
            if states {
                told::state(&mut logger.told.states, parser);
            }
            match stop {
                Some(stop) => stopped(&mut logger, stop),
                None => break,
            }
        }
        assert!(piece.is_empty(), "feed left bytes without a stop");
    }
    assert_eq!(parser.offset(), input.len() as u64, "all is consumed");
    while let Some(stop) = parser.finish_into(&mut logger) {
        stopped(&mut logger, stop);
    }
    let Logger { mut told, .. } = logger;
    told::close(&mut told.end, parser.last_event_id(), parser.end(), |quirk| parser.quirk_count(quirk));
    told
}
