//! `client URL [SECONDS]`: prints the content of a streamed answer as it comes, and the names of the tools that it calls.
//! With tokio and reqwest. After so many seconds (60) it gives up, which ends the request.

use deltawire::adapters::{DeltaStreamExt, StreamDeltas};
use deltawire::Update;
use futures_util::TryStreamExt;
use std::io::Write;
use std::time::Duration;

/// Prints the deltas. A `next` that waits may be dropped, so this may be a branch of a `select!`.
async fn print<S: DeltaStreamExt + Unpin>(deltas: &mut StreamDeltas<S>) -> Result<(), S::Error> {
    while let Some(item) = deltas.try_next().await? {
        match item.as_update() {
            Some((0, Update::Content(text))) => print!("{text}"),
            Some((_, Update::Error(error) | Update::ChoiceError(error))) => eprintln!("{error}"),
            _ => continue,
        }
        let _ = std::io::stdout().flush();
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("client URL [SECONDS]")?;
    let seconds = std::env::args().nth(2).map_or(Ok(60), |seconds| seconds.parse())?;
    // A real request is a POST with a body that has `"stream": true`; an error's body is read like a stream. The timeout
    // is that of a silence; the deadline below is that of the whole answer.
    let client = reqwest::Client::builder().read_timeout(Duration::from_secs(30)).build()?;
    let response = client.get(url).send().await?;
    let is_success = response.status().is_success();
    let mut deltas = response.bytes_stream().deltas().assembled();
    // If the transport fails after `[DONE]`, it does not matter: `into_message` knows.
    let printed = tokio::time::timeout(Duration::from_secs(seconds), print(&mut deltas)).await;
    let end = deltas.parser().end();
    match printed {
        Err(_) => return Err(format!("gave up after {seconds} seconds: {end}").into()),
        Ok(Err(failure)) if !end.done => return Err(format!("{end}: {failure}").into()),
        Ok(_) => {}
    }
    let answer = deltas.into_message().await?;
    if !is_success {
        return Err(answer.end.to_string().into());
    }
    // If it is cut, failed, or parts of it were lost, its calls must not run.
    for choice in answer.finished()?.choices {
        for call in choice.tool_calls {
            // A call without arguments: {}. Text from a stream reaches a terminal escaped.
            let (name, arguments) = (call.name.unwrap_or_default(), call.arguments.unwrap_or("{}".into()));
            eprintln!("{}({})", name.escape_debug(), arguments.escape_debug());
        }
    }
    Ok(())
}
