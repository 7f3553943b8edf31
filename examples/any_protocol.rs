//! Reads an event stream of any protocol from standard input, and prints the type of each event and one member of its
//! JSON: `any_protocol delta text` prints `.delta.text`. It uses only the modules `sse` and `json`.

use deltawire::json::{self, JsonError, Text};
use deltawire::sse::{Decoder, Item};
use deltawire::Growing;
use std::io::Read;

/// Returns the text at this path of members, if there is one.
fn text_at<'a>(payload: &'a [u8], path: &[String]) -> Result<Option<Text<'a>>, JsonError> {
    let mut value = json::parse_lazy(payload)?;
    for name in path {
        match value.get(name)? {
            Some(member) => value = member,
            None => return Ok(None),
        }
    }
    Ok(value.as_text())
}

fn main() -> std::io::Result<()> {
    let path: Vec<String> = std::env::args().skip(1).collect();
    let mut decoder = Decoder::new(Growing::new());
    let (mut source, mut buffer) = (std::io::stdin().lock(), [0; 4096]);
    loop {
        let len = source.read(&mut buffer)?;
        let mut bytes = buffer.get(..len).unwrap_or_default();
        while let Some(item) = decoder.next(&mut bytes) {
            match item {
                Item::Event(event) => {
                    let kind = String::from_utf8_lossy(event.event_type());
                    match text_at(event.data(), &path) {
                        Ok(Some(text)) => println!("{kind}: {text}"),
                        Ok(None) => println!("{kind}"),
                        Err(error) => println!("{kind}: no JSON: {error}"),
                    }
                }
                Item::TooLong { offset } => println!("an event of more than 1 MiB at byte {offset} was skipped"),
                _ => {} // a comment, a reconnection time
            }
        }
        if len == 0 {
            // The standard requires that an event without its blank line is dropped. To reconnect, send this ID.
            println!("last event ID: {}", String::from_utf8_lossy(decoder.last_event_id()));
            return Ok(());
        }
    }
}
