//! Parsers in turn on one workspace.

use super::event_log::Reader;
use super::random::Random;
use deltawire::chat::TokenCounts;
use deltawire::stream::{Fed, Track};
use deltawire::track::Tracker;
use deltawire::{Config, End, Error, Growing, Handler, Parser, Pulled, Quirk, Stop, Storage, Workspace};
use std::ops::Range;

/// A workspace, and the streams that others read with it in between.
pub struct Turns<'b, const SLOTS: usize> {
    workspace: Workspace<SLOTS>,
    others: Vec<Other<'b>>,
    random: Random,
}

/// A parser that reads a stream over and over.
struct Other<'b> {
    parser: Parser<Growing, 0>,
    bytes: &'b [u8],
    at: usize,
}

/// A handler that needs nothing.
struct Quiet;

impl Handler for Quiet {}

impl<'b, const SLOTS: usize> Turns<'b, SLOTS> {
    /// `others` are the streams and how each is read.
    pub fn new(others: &[(Config, &'b [u8])], seed: u64) -> Self {
        let other = |&(config, bytes): &(Config, &'b [u8])| Other {
            parser: Parser::with_slots(Growing::new(), config, Tracker::new()),
            bytes,
            at: 0,
        };
        let others = others.iter().map(other).collect();
        Turns { workspace: Workspace::with_slots(), others, random: Random::new(seed) }
    }

    /// Lets others read a little, or end or begin anew in the middle. Returns the workspace.
    fn pass(&mut self) -> &mut Workspace<SLOTS> {
        for _ in 0..self.random.below(3) {
            let (which, how) = (self.random.below(self.others.len()), self.random.below(20));
            let Some(other) = self.others.get_mut(which) else { continue };
            match how {
                0 => self.workspace.clear(),
                1 => other.end(&mut self.workspace),
                2 => other.begin_anew(),
                how => other.read(&mut self.workspace, [1, 40, 400, 4000][how % 4]),
            }
        }
        &mut self.workspace
    }
}

impl Other<'_> {
    fn read<const SLOTS: usize>(&mut self, workspace: &mut Workspace<SLOTS>, len: usize) {
        let piece = &self.bytes[self.at..(self.at + len).min(self.bytes.len())];
        let Fed { consumed, .. } = self.parser.feed_with(workspace, piece, &mut Quiet);
        self.at += consumed;
        if self.at == self.bytes.len() {
            self.end(workspace);
        }
    }

    fn end<const SLOTS: usize>(&mut self, workspace: &mut Workspace<SLOTS>) {
        while self.parser.finish_into_with(workspace, &mut Quiet).is_err() {}
        self.begin_anew();
    }

    fn begin_anew(&mut self) {
        self.parser.reset();
        self.at = 0;
    }
}

/// A parser with the workspace that it shares; before each of its calls others use that.
pub struct Sharing<'t, 'b, S, T, const SLOTS: usize> {
    pub parser: Parser<S, 0, T>,
    pub turns: &'t mut Turns<'b, SLOTS>,
}

impl<S: Storage, T, const SLOTS: usize> Reader for Sharing<'_, '_, S, T, SLOTS> {
    fn offset(&self) -> u64 {
        self.parser.offset()
    }
    fn config(&self) -> &Config {
        self.parser.config()
    }
    fn last_event_id(&self) -> &[u8] {
        self.parser.last_event_id()
    }
    fn end(&self) -> End {
        self.parser.end()
    }
    fn quirk_count(&self, quirk: Quirk) -> u16 {
        self.parser.quirk_count(quirk)
    }
    fn wire_range(&self) -> Range<u64> {
        self.parser.wire_range()
    }
    fn usage(&self) -> Option<TokenCounts> {
        self.parser.usage()
    }
}

impl<S: Storage, T: Track, const SLOTS: usize> super::drive::Pulls for Sharing<'_, '_, S, T, SLOTS> {
    type Tracker = T;

    fn next<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Pulled<'a, T>>, Error> {
        self.parser.next_with(self.turns.pass(), input)
    }
    fn finish(&mut self) -> Result<Option<Pulled<'_, T>>, Error> {
        self.parser.finish_with(self.turns.pass())
    }
}

impl<S: Storage, T: Track, const SLOTS: usize> super::drive::Pushes for Sharing<'_, '_, S, T, SLOTS> {
    fn feed(&mut self, input: &[u8], handler: &mut dyn Handler) -> Fed {
        self.parser.feed_with(self.turns.pass(), input, handler)
    }
    fn finish_into(&mut self, handler: &mut dyn Handler) -> Result<(), Stop> {
        self.parser.finish_into_with(self.turns.pass(), handler)
    }
}
