//! `deltawire sse`: the events of any event stream, one JSON object a line.

use crate::input::Input;
use crate::opening::Opening;
use crate::options;
use crate::output::{complain, Output};
use crate::report::{too_long_items, Failure, NO_STREAM, TRUNCATED};
use deltawire::sse::{Decoder, Item, Lossy};
use deltawire::Growing;
use serde_json::{json, Value as Json};
use std::io::Write;

/// What came.
#[derive(Default)]
struct Seen {
    opening: Opening,
    items: u64,
    too_long: u64,
    /// The last block was dropped.
    dropped: bool,
}

pub fn run(options: &options::Sse) -> Result<u8, Failure> {
    let mut seen = Seen::default();
    match print(options, &mut seen) {
        Err(failure) if failure.is_broken_pipe() => return Ok(if seen.too_long > 0 { TRUNCATED } else { 0 }),
        printed => printed?,
    }
    if seen.dropped {
        complain("the last block has no blank line after it, and was dropped (--flush prints it)");
    }
    too_long_items(seen.too_long);
    seen.opening.name_http();
    Ok(match seen.items {
        _ if seen.dropped || seen.too_long > 0 => TRUNCATED,
        0 => {
            complain("no event stream: nothing came that one has");
            seen.opening.name_foreign();
            NO_STREAM
        }
        _ => 0,
    })
}

fn print(options: &options::Sse, seen: &mut Seen) -> Result<(), Failure> {
    let mut input = Input::open(&options.reading)?;
    let mut out = Output::new();
    let mut decoder = Decoder::with_limits(Growing::new(), options.reading.limits());
    while let Some(mut slice) = input.next()? {
        seen.opening.add(slice);
        while let Some(item) = decoder.next(&mut slice) {
            seen.items += 1;
            seen.too_long += u64::from(matches!(item, Item::TooLong { .. }));
            writeln!(out, "{}", line(&item)).map_err(Failure::Write)?;
        }
        // What one slice brought is seen before the next is waited for.
        out.flush().map_err(Failure::Write)?;
    }
    while let Some(item) = decoder.finish() {
        seen.too_long += u64::from(matches!(item, Item::TooLong { .. }));
        if options.flush {
            seen.items += 1;
            writeln!(out, "{}", line(&item)).map_err(Failure::Write)?;
        }
        seen.dropped |= !options.flush && matches!(item, Item::Event(_));
    }
    out.flush().map_err(Failure::Write)
}

fn line(item: &Item<'_>) -> Json {
    match item {
        Item::Event(event) => json!({
            "event": event.event_type_text().to_string(),
            "data": event.data_text().to_string(),
            "id": event.last_event_id_text().to_string(),
        }),
        Item::Comment(text) => json!({"comment": Lossy::new(text).to_string()}),
        Item::Retry(ms) => json!({"retry": ms}),
        Item::TooLong { offset } => json!({"too_long": offset}),
        other => json!({"unknown": format!("{other:?}")}),
    }
}
