//! Copies a response from standard input to standard output, and prints on standard error its token counts and how it
//! ended: `curl -N … | usage > response.sse`. For chat completions, Responses, Anthropic Messages and Gemini.

use deltawire::stream::{Observer, Payload};
use deltawire::{Config, Flow, Growing, Limits, Parser};
use std::io::{Read, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A body that is not streamed, or an image, is one event, so the limit of an event must have room for it.
    let config = Config::new().with_payload(Payload::Usage).with_limits(Limits::new().with_max_event_len(32 << 20));
    let mut parser = Parser::with_config(Growing::new(), config);
    let mut observer = Observer::new(|raw, so_far| {
        let raw = String::from_utf8_lossy(raw.value().raw());
        eprintln!(
            "usage: {} and {} tokens, of {raw}",
            count(so_far.prompt_tokens()),
            count(so_far.completion_tokens())
        );
        Flow::Continue(())
    });
    let (mut source, mut to, mut buffer) = (std::io::stdin().lock(), std::io::stdout().lock(), [0; 16384]);
    loop {
        let len = source.read(&mut buffer)?;
        let bytes = buffer.get(..len).unwrap_or_default();
        // Send first and read afterwards, so that nobody waits for the parser.
        to.write_all(bytes)?;
        to.flush()?;
        if len == 0 {
            break;
        }
        // The loop continues after what the parser has no room for, such as a ninth choice.
        let mut rest = bytes;
        while !rest.is_empty() {
            let fed = parser.feed(rest, &mut observer);
            rest = rest.get(fed.consumed..).unwrap_or_default();
            if let Err(stop) = fed.into_result() {
                eprintln!("{stop}");
            }
        }
    }
    while let Err(stop) = parser.finish_into(&mut observer) {
        eprintln!("{stop}");
    }
    let finish = observer.finish_reason(0).map_or("none".into(), |reason| format!("{reason:?}"));
    let end = parser.end();
    eprintln!(
        "end: {end}; protocol: {}; finish reason: {finish}",
        end.protocol.map_or("none", |protocol| protocol.text())
    );
    Ok(())
}

fn count(tokens: Option<u64>) -> String {
    tokens.map_or("?".into(), |tokens| tokens.to_string())
}
