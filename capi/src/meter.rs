//! The meter of a parser in mode USAGE: what it notes, and how C reads it.

use crate::block::{look, ReadBlock};
use crate::convert::{check_size, fill, str_of, usage_of, NO_STR};
use crate::types::*;
use core::mem::size_of;
use deltawire::chat::Update;
use deltawire::delta::Delta;
use deltawire::stream::{Context, Flow, Handler, Meter, Token};

/// Lets the meter note a delta.
#[inline(never)]
pub(crate) fn note(meter: &mut Meter, context: &Context<'_>, delta: &Delta) {
    // A meter never stops.
    let _ = match (Update::of(delta, context.payload()), context.event()) {
        (Some(update), _) => meter.update(delta.choice, update),
        (None, Some(event)) => meter.event(&event),
        (None, None) => Flow::Continue(()),
    };
}

fn token_of(token: Option<Token>) -> deltawire_token {
    token.map_or_else(deltawire_token::default, |token| deltawire_token {
        event: token.event,
        offset: token.offset,
        kind: token.kind as u32,
        reserved: 0,
    })
}

/// Writes what the parser keeps of its stream in `DELTAWIRE_MODE_USAGE`, at any time, also after a
/// stream was cut. Answers OK, E_NULL, E_ALIGN, E_STATE (also in another mode), E_REENTRANT,
/// E_CONFIG (`size`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_meter_of(p: *const deltawire_parser, out: *mut deltawire_meter) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let ReadBlock { meter, .. } = ok!(look(p));
        ok!(check_size(out));
        let Some(meter) = meter else { return DELTAWIRE_E_STATE };
        let amount = |amount: deltawire::stream::Amount| deltawire_amount { bytes: amount.bytes, chars: amount.chars };
        let text = |text: &str| str_of(text.as_bytes());
        let usage = |counts| usage_of(size_of::<deltawire_usage>() as u32, counts);
        let mut call_names = [NO_STR; DELTAWIRE_METER_NAMES];
        let named = call_names.iter_mut().zip(meter.call_names());
        let names = named.map(|(to, name)| *to = text(name.as_str())).count() as u32;
        fill(out, |size| deltawire_meter {
            size,
            finish: meter.finish(0).map_or(0, |finish| finish.number()),
            first: token_of(meter.first),
            last: token_of(meter.last),
            events: meter.events,
            token_events: meter.token_events,
            content: amount(meter.content),
            reasoning: amount(meter.reasoning),
            refusal: amount(meter.refusal),
            arguments: amount(meter.arguments),
            calls: meter.calls,
            names,
            call_names,
            model: text(meter.model.as_str()),
            id: text(meter.id.as_str()),
            finish_reason: text(meter.finish_reason.as_str()),
            error: text(meter.error.as_str()),
            usage: usage(meter.usage),
            iterations: usage(meter.iterations),
            other_iterations: usage(meter.other_iterations),
            tool_usage: text(meter.tool_usage.as_str()),
        })
    }
}
