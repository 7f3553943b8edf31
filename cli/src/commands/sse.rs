//! `deltawire sse`: prints the events of any event stream, one JSON object a line.

use crate::input::Input;
use crate::opening::Opening;
use crate::options;
use crate::output::{complain, Output};
use crate::report::{pending, quirks, too_long_items, Failure, NO_STREAM, TRUNCATED};
use deltawire::sse::{Decoder, Item};
use deltawire::stream::{Payload, Pending};
use deltawire::{Config, Framing, Growing, Parser, Quirk, Verdict};
use serde_json::{json, Value as Json};
use std::io::Write;

/// What was read so far.
struct Seen {
    opening: Opening,
    events: u64,
    too_long: u64,
    /// Whether the last block was dropped.
    dropped: bool,
    /// Whether the block that the stream ended inside of was printed.
    flushed: bool,
    /// Reads the same bytes as the decoder, to know how the stream ended.
    parser: Parser<Growing, 0>,
}

pub fn run(options: &options::Sse) -> Result<u8, Failure> {
    let limits = options.reading.sizes.limits();
    let config = Config::new().with_framing(Framing::Spec).with_payload(Payload::Opaque).with_limits(limits);
    let mut seen = Seen {
        opening: Opening::default(),
        events: 0,
        too_long: 0,
        dropped: false,
        flushed: false,
        parser: Parser::with_slots(Growing::new(), config, deltawire::track::Tracker::new()),
    };
    match print(options, &mut seen) {
        Err(failure) if failure.is_broken_pipe() => return Ok(if seen.too_long > 0 { TRUNCATED } else { 0 }),
        printed => printed?,
    }
    let end = seen.parser.end();
    let is_cut = end.pending != Pending::Nothing && !seen.flushed;
    if seen.dropped {
        complain("the last block has no blank line after it, and was dropped (--flush prints it)");
    } else if is_cut {
        pending(&end);
    }
    too_long_items(seen.too_long);
    quirks(|quirk| seen.parser.quirk_count(quirk).into());
    seen.opening.name_http();
    let is_lost = seen.too_long > 0 || seen.parser.quirk_count(Quirk::LongId) > 0;
    Ok(match end.verdict {
        _ if is_cut || is_lost => TRUNCATED,
        _ if seen.events > 0 => 0,
        Verdict::Empty | Verdict::NotAStream => {
            complain("this is not an event stream");
            seen.opening.name_foreign();
            NO_STREAM
        }
        // As with the other commands, a stream of only comments, IDs and times counts as cut.
        _ => {
            complain("no event came");
            TRUNCATED
        }
    })
}

fn print(options: &options::Sse, seen: &mut Seen) -> Result<(), Failure> {
    let mut input = Input::open(options.reading.file.as_deref(), options.reading.sizes.read_size)?;
    let mut out = Output::new();
    let mut decoder = Decoder::with_limits(Growing::new(), options.reading.sizes.limits());
    while let Some(mut slice) = input.next()? {
        seen.opening.add(slice);
        let mut same = slice;
        while let Ok(Some(_)) = seen.parser.next(&mut same) {}
        while let Some(item) = decoder.next(&mut slice) {
            seen.events += u64::from(matches!(item, Item::Event(_)));
            seen.too_long += u64::from(matches!(item, Item::TooLong { .. }));
            writeln!(out, "{}", line(&item)).map_err(Failure::Write)?;
        }
        // Shows the output of this slice before waiting for the next one.
        out.flush().map_err(Failure::Write)?;
    }
    while let Ok(Some(_)) = seen.parser.finish() {}
    while let Some(item) = decoder.finish() {
        seen.too_long += u64::from(matches!(item, Item::TooLong { .. }));
        if options.flush {
            seen.events += u64::from(matches!(item, Item::Event(_)));
            seen.flushed = true;
            writeln!(out, "{}", line(&item)).map_err(Failure::Write)?;
        }
        seen.dropped |= !options.flush && matches!(item, Item::Event(_));
    }
    out.flush().map_err(Failure::Write)
}

fn line(item: &Item<'_>) -> Json {
    match item {
        Item::Event(event) => json!({
            "event": String::from_utf8_lossy(event.event_type()),
            "data": String::from_utf8_lossy(event.data()),
            "id": String::from_utf8_lossy(event.last_event_id()),
        }),
        Item::Comment(text) => json!({"comment": String::from_utf8_lossy(text)}),
        Item::Retry(ms) => json!({"retry": ms}),
        Item::TooLong { offset } => json!({"too_long": offset}),
        other => json!({"unknown": format!("{other:?}")}),
    }
}
