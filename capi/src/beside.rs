//! What takes the deltas of a call beside its callbacks or its array: a meter, and a message.

use crate::meter::note;
use deltawire::delta::{Delta, Kind};
use deltawire::stream::{Context, Meter, Put, Sink};

/// A message that a call fills. Called through a table, so that only a program that fills one links it.
pub(crate) trait Keeper {
    /// Whether the message needs deltas of this kind.
    fn wants(&self, kind: Kind) -> bool;

    /// Adds a delta, and returns whether there was room for it.
    fn take(&mut self, context: &Context<'_>, delta: &Delta) -> bool;
}

/// Gives each delta to the message, to `target`, and then to the meter. The target is called through a table, so that the
/// emitter is compiled only once more, for both kinds of targets.
pub(crate) struct Beside<'s, 'k> {
    pub(crate) meter: Option<&'s mut Meter>,
    pub(crate) keeper: Option<&'k mut dyn Keeper>,
    /// Whether the message has the next delta already, for which the target had no room.
    pub(crate) is_kept: &'s mut bool,
    pub(crate) target: &'s mut dyn Sink,
}

/// The kinds that a meter needs no delta of, and whose context has no event of its own.
const UNMETERED: u64 =
    Kind::Frame.bit() | Kind::Payload.bit() | Kind::Meta.bit() | Kind::Quirk.bit() | Kind::Limit.bit();

impl Sink for Beside<'_, '_> {
    fn is_of_one_call(&self) -> bool {
        self.target.is_of_one_call()
    }

    fn stops_at_limit(&self) -> bool {
        self.target.stops_at_limit()
    }

    fn is_full(&self) -> bool {
        self.target.is_full()
    }

    fn uses_places(&self) -> bool {
        self.target.uses_places()
    }

    fn wants(&self, kind: Kind) -> bool {
        self.meter.is_some() && UNMETERED & kind.bit() == 0
            || self.keeper.as_ref().is_some_and(|keeper| keeper.wants(kind))
            || self.target.wants(kind)
    }

    fn put(&mut self, context: &Context<'_>, delta: &Delta, taken: &mut usize) -> Put {
        if let Some(keeper) = &mut self.keeper {
            if !*self.is_kept && is_new(context, delta) && !keeper.take(context, delta) {
                return Put::Full;
            }
        }
        let put = self.target.put(context, delta, taken);
        // A delta that found no room comes again.
        let again = matches!(put, Put::Full);
        *self.is_kept = again && self.keeper.is_some();
        match &mut self.meter {
            Some(meter) if !again && UNMETERED & delta.kind.bit() == 0 => note(meter, context, delta),
            _ => {}
        }
        put
    }
}

/// Whether a message may need the delta: not a chunk like the one before, which has nothing new for it.
#[inline(always)]
fn is_new(context: &Context<'_>, delta: &Delta) -> bool {
    delta.kind != Kind::Chunk || !context.repeats() || context.chunk().is_some_and(|chunk| chunk.may_have_others())
}
