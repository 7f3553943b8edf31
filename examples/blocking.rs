//! Prints the content of a stream on standard input: `curl -sN … | cargo run --features std --example blocking`. The source
//! may be anything that implements `Read`: a pipe, a socket, the body of a blocking HTTP client.

use deltawire::adapters::{DeltaReadExt, Item};
use deltawire::Update;
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    for item in std::io::stdin().lock().deltas() {
        match item? {
            // Cut, failed, or parts of it were lost.
            Item::End(end) if !end.is_complete() => return Err(end.to_string().into()),
            item => match item.as_update() {
                Some((0, Update::Content(text))) => write!(out, "{text}").and_then(|()| out.flush())?,
                Some((_, Update::Error(error) | Update::ChoiceError(error))) => eprintln!("{error}"),
                _ => {}
            },
        }
    }
    Ok(())
}
