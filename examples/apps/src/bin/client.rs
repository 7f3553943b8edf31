//! `client URL`: prints the content of a streamed answer as it comes. With tokio and reqwest.
//!
//! A task reads the response and sends what is new through a channel; whoever has the other end is free to wait, to select,
//! or to drop it, which ends the task.

use deltawire::{End, Growing, OwnedUpdate, Parser, Update};
use std::io::Write;
use tokio::sync::mpsc;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Sends each update with the index of its choice, and returns how the stream ended.
async fn read(mut response: reqwest::Response, updates: mpsc::Sender<(u32, OwnedUpdate)>) -> Result<End, Failure> {
    let mut parser = Parser::new(Growing::new());
    // Push: the parser's tracker gives each fragment of a tool call its number, and joins halves of characters. A handler
    // cannot wait for room in the channel, so it keeps what one read brought.
    let mut ready = Vec::new();
    while let Some(bytes) = response.chunk().await? {
        parser.feed(&bytes, &mut keep(&mut ready)).into_result()?;
        for update in ready.drain(..) {
            if updates.send(update).await.is_err() {
                return Ok(parser.end()); // nobody listens any more
            }
        }
    }
    parser.finish_into(&mut keep(&mut ready))?;
    for update in ready {
        if updates.send(update).await.is_err() {
            break;
        }
    }
    Ok(parser.end())
}

fn keep(ready: &mut Vec<(u32, OwnedUpdate)>) -> impl deltawire::Handler + '_ {
    deltawire::handler::from_fn(|choice, update| {
        ready.push((choice, update.into_owned()));
        deltawire::Flow::Continue(())
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let url = std::env::args().nth(1).ok_or("client URL")?;
    // A real request is a POST with a body that has `"stream": true`; an error's body is read like a stream.
    let response = reqwest::Client::new().get(url).send().await?;
    let (send, mut receive) = mpsc::channel(64);
    let reader = tokio::spawn(read(response, send));
    while let Some((choice, update)) = receive.recv().await {
        match update.as_update() {
            Update::Content(text) if choice == 0 => print!("{text}"),
            Update::Error(error) | Update::ChoiceError(error) => eprintln!("{error}"),
            _ => {}
        }
        std::io::stdout().flush()?;
    }
    let end = reader.await??;
    if !end.is_complete() {
        return Err(format!("{end}").into()); // cut, failed, or parts of it were lost
    }
    Ok(())
}
