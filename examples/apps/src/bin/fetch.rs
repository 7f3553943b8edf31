//! `fetch URL`: prints the content of a streamed answer as it comes, without async. With ureq.

use deltawire::adapters::{DeltaReadExt, Item};
use deltawire::Update;
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("fetch URL")?;
    // The body of an error is read like a stream.
    let config = ureq::Agent::config_builder().http_status_as_error(false).build();
    let response = ureq::Agent::new_with_config(config).get(url).call()?;
    for item in response.into_body().into_reader().deltas() {
        match item? {
            Item::End(end) if !end.is_complete() => return Err(end.to_string().into()),
            item => match item.as_update() {
                Some((0, Update::Content(text))) => print!("{text}"),
                Some((_, Update::Error(error) | Update::ChoiceError(error))) => eprintln!("{error}"),
                _ => {}
            },
        }
        std::io::stdout().flush()?;
    }
    Ok(())
}
