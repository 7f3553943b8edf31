//! Reads streams by pull and push.

use super::event_log::{Detail, Logs, Reader, Seen};
use super::input::pieces;
use deltawire::stream::{Event, Fed, Track};
use deltawire::{Error, Flow, Handler, Parser, Pulled, Quirk, QuirkSet, Stop, Storage, Update};

/// Returns more events than any input can produce: each takes a byte of it, or an end.
pub fn most_events(input: &[u8], cuts: &[usize]) -> usize {
    8 * input.len() + cuts.len() + 64
}

/// A parser that pulls.
pub trait Pulls: Reader {
    type Tracker: Track;

    fn next<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Pulled<'a, Self::Tracker>>, Error>;
    fn finish(&mut self) -> Result<Option<Pulled<'_, Self::Tracker>>, Error>;
}

impl<S: Storage, const SLOTS: usize, T: Track> Pulls for Parser<S, SLOTS, T> {
    type Tracker = T;

    fn next<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Pulled<'a, T>>, Error> {
        self.next(input)
    }
    fn finish(&mut self) -> Result<Option<Pulled<'_, T>>, Error> {
        self.finish()
    }
}

/// A parser that pushes.
pub trait Pushes: Reader {
    fn feed(&mut self, input: &[u8], handler: &mut dyn Handler) -> Fed;
    fn finish_into(&mut self, handler: &mut dyn Handler) -> Result<(), Stop>;
}

impl<S: Storage, const SLOTS: usize, T: Track> Pushes for Parser<S, SLOTS, T> {
    fn feed(&mut self, input: &[u8], handler: &mut dyn Handler) -> Fed {
        self.feed(input, handler)
    }
    fn finish_into(&mut self, handler: &mut dyn Handler) -> Result<(), Stop> {
        self.finish_into(handler)
    }
}

/// Reads some bytes, possibly ending inside an event, and resets the parser.
pub fn begin_anew<S: Storage, const SLOTS: usize, T: Track + Default>(
    parser: &mut Parser<S, SLOTS, T>,
    mut bytes: &[u8],
) {
    if !bytes.is_empty() {
        while !matches!(parser.next(&mut bytes), Ok(None)) {}
        parser.reset();
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Pull

struct Pull {
    logs: Logs,
    events: usize,
}

/// Pulls all of `input`, and the end. Calls `between` between calls.
pub fn pull<P: Pulls>(
    parser: &mut P,
    input: &[u8],
    cuts: &[usize],
    detail: Detail,
    mut between: impl FnMut(&mut P),
) -> Logs {
    let mut reader = Pull { logs: Logs::new(detail), events: 0 };
    let most = most_events(input, cuts);
    for mut piece in pieces(input, cuts) {
        loop {
            let before = piece.len();
            let event = parser.next(&mut piece).map(|event| event.map(|event| reader.take(event)));
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
        let event = parser.finish().map(|event| event.map(|event| reader.take(event)));
        let more = reader.settle(event, parser);
        assert!(reader.events <= most, "finish without end");
        if !more {
            break;
        }
    }
    let mut logs = reader.logs;
    logs.close(parser.last_event_id(), parser.end(), |quirk| parser.quirk_count(quirk));
    logs
}

impl Pull {
    /// Logs the event and its deltas while they are borrowed. Push has the deltas of the end without an event.
    fn take<T: Track>(&mut self, event: Pulled<'_, T>) -> Option<Seen> {
        let Pull { logs, .. } = self;
        let seen = (!matches!(*event, Event::Rest)).then(|| logs.event(&event));
        if let Some(chunk) = event.chunk() {
            // Only with pull: the others report them together with the tracker's.
            logs.states.line("chunk");
            logs.states.word(format_args!("{:?}", chunk.quirks()));
        }
        for (choice, update) in event.deltas() {
            #[cfg(feature = "alloc")]
            let owned = owned(&update);
            #[cfg(feature = "alloc")]
            let update = owned.as_update();
            logs.update(choice, &update);
        }
        seen
    }

    /// Logs the parser's state after a call. Returns whether more may follow.
    fn settle(&mut self, event: Result<Option<Option<Seen>>, Error>, parser: &dyn Reader) -> bool {
        let more = match event {
            Ok(None) => false,
            Ok(Some(seen)) => {
                if let Some(seen) = seen {
                    self.logs.place(seen, parser.wire_range());
                }
                true
            }
            Err(error) => {
                self.logs.error(&error);
                true
            }
        };
        self.events += usize::from(more);
        self.logs.state(parser);
        more
    }
}

/// Returns the update with texts of its own, which must be the same update.
#[cfg(feature = "alloc")]
fn owned(update: &Update<'_>) -> deltawire::OwnedUpdate {
    let owned = update.clone().into_owned();
    // Push logs borrowed updates, to which the log of this one is compared. These are facts that no log has.
    assert_eq!(format!("{owned:?}"), format!("{update:?}"));
    if let (Update::Finish(owned), Update::Finish(reason)) = (owned.as_update(), update) {
        assert_eq!(owned.is_of_prompt(), reason.is_of_prompt());
    }
    owned
}

// ---------------------------------------------------------------------------------------------------------------------
// Push

struct Logger {
    logs: Logs,
    /// The event of the current call.
    seen: Option<Seen>,
    /// How often each quirk was reported.
    reported: [u16; Quirk::ALL.len()],
    /// Requests a pause at every `pause`th call; 0: never.
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
        self.seen = Some(self.logs.event(event));
        self.flow()
    }

    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        self.logs.update(choice, &update);
        self.flow()
    }

    fn limit(&mut self, error: &Error) -> Flow {
        self.logs.error(error);
        self.flow()
    }

    fn quirk(&mut self, quirk: Quirk, _offset: u64) -> Flow {
        self.logs.quirks(QuirkSet::from(quirk));
        self.reported[quirk as usize] = self.reported[quirk as usize].saturating_add(1);
        self.flow()
    }
}

/// Feeds all of `input`, and the end.
pub fn push(parser: &mut impl Pushes, input: &[u8], cuts: &[usize], pause: usize, detail: Detail) -> Logs {
    let mut logger = Logger { logs: Logs::new(detail), seen: None, reported: [0; Quirk::ALL.len()], pause, calls: 0 };
    let most = most_events(input, cuts);
    let mut stops = 0;
    let mut stopped = |logger: &mut Logger, stop: Stop| {
        stops += 1;
        assert!(stops <= most, "stops without end");
        match stop {
            Stop::Pause => assert!(pause > 0, "a pause that nobody asked for"),
            Stop::Error(error @ Error::Quirk { .. }) => logger.logs.error(&error),
            // The handler already received it.
            Stop::Error(_) => {}
            stop => panic!("{stop:?}"),
        }
    };
    for mut piece in pieces(input, cuts) {
        loop {
            let Fed { consumed, stop, .. } = parser.feed(piece, &mut logger);
            assert!(consumed <= piece.len(), "more was consumed than given");
            piece = &piece[consumed..];
            logger.logs.state(parser);
            place(&mut logger, parser);
            match stop {
                Some(stop) => stopped(&mut logger, stop),
                None => break,
            }
        }
        assert!(piece.is_empty(), "feed left bytes without a stop");
    }
    assert_eq!(parser.offset(), input.len() as u64, "all is consumed");
    while let Err(stop) = parser.finish_into(&mut logger) {
        place(&mut logger, parser);
        stopped(&mut logger, stop);
    }
    for (quirk, reported) in Quirk::ALL.iter().zip(logger.reported) {
        assert!(reported <= parser.quirk_count(*quirk), "{quirk:?} was reported more often than it was counted");
    }
    let mut logs = logger.logs;
    logs.close(parser.last_event_id(), parser.end(), |quirk| parser.quirk_count(quirk));
    logs
}

/// Logs the range of an event. The parser knows it if it stops at each event.
fn place(logger: &mut Logger, parser: &dyn Reader) {
    if let (Some(seen), 1) = (logger.seen.take(), logger.pause) {
        logger.logs.place(seen, parser.wire_range());
    }
}
