//! Prints the content of a stream on standard input: `curl -sN … | cargo run --example blocking`. The source may be
//! anything that implements `Read`: a pipe, a socket, the body of a blocking HTTP client.

use deltawire::{End, Growing, Parser, Update};
use std::io::{Read, Write};

/// Reads to the end, and returns how the stream ended.
fn read(mut source: impl Read, mut print: impl FnMut(u32, &Update)) -> Result<End, Box<dyn std::error::Error>> {
    let mut parser = Parser::new(Growing::new());
    let mut buffer = [0; 16 * 1024];
    loop {
        let len = match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => len,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        let mut bytes = buffer.get(..len).unwrap_or_default();
        while let Some(event) = parser.next(&mut bytes)? {
            event.deltas().for_each(|(choice, update)| print(choice, &update));
        }
    }
    while let Some(event) = parser.finish()? {
        event.deltas().for_each(|(choice, update)| print(choice, &update));
    }
    Ok(parser.end())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    let mut failed = Ok(());
    let end = read(std::io::stdin().lock(), |choice, update| match update {
        Update::Content(text) if choice == 0 && failed.is_ok() => {
            failed = write!(out, "{text}").and_then(|()| out.flush())
        }
        Update::Error(error) | Update::ChoiceError(error) => eprintln!("{error}"),
        _ => {}
    })?;
    failed?;
    if !end.is_complete() {
        return Err(end.to_string().into()); // cut, failed, or parts of it were lost
    }
    Ok(())
}
