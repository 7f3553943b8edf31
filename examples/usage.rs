//! Copies a response from standard input to standard output, and prints on standard error its token counts and how it
//! ended: `curl -N … | usage > response.sse`. For chat completions, Responses, Anthropic Messages and Gemini.

use deltawire::stream::Meter;
use deltawire::{Config, Growing, Limits, Parser};
use std::io::{Read, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A body that is not streamed, or an image, is one event, so the limit of an event must have room for it.
    let config = Config::new().with_limits(Limits::new().with_max_event_len(32 << 20));
    let mut parser = Parser::with_config(Growing::new(), config);
    let mut meter = Meter::new();
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
            let fed = parser.feed(rest, &mut meter);
            rest = rest.get(fed.consumed..).unwrap_or_default();
            if let Err(stop) = fed.into_result() {
                eprintln!("{stop}");
            }
        }
    }
    while let Err(stop) = parser.finish_into(&mut meter) {
        eprintln!("{stop}");
    }
    let (end, counts) = (parser.end(), meter.usage.unwrap_or_default());
    eprintln!(
        "end: {end}; protocol: {}; finish reason: {}; error: {}",
        end.protocol.map_or("none", |protocol| protocol.text()),
        shown(meter.finish_reason.as_str()),
        shown(meter.error.as_str())
    );
    eprintln!("usage: {} and {} tokens", count(counts.prompt_tokens()), count(counts.completion_tokens()));
    eprintln!(
        "came: {} characters of content, {} of reasoning, {} of the arguments of {} calls",
        meter.content.chars, meter.reasoning.chars, meter.arguments.chars, meter.calls
    );
    Ok(())
}

/// A text from the stream may contain anything, so a terminal gets it escaped.
fn shown(text: &str) -> String {
    if text.is_empty() {
        "none".into()
    } else {
        text.escape_debug().to_string()
    }
}

fn count(tokens: Option<u64>) -> String {
    tokens.map_or("?".into(), |tokens| tokens.to_string())
}
