//! `client URL`: prints the content of a streamed answer as it comes, and the names of the tools that it calls. With
//! tokio and reqwest.
//!
//! A task reads the response and sends its updates through a channel, so the receiver is free to wait or to select. To
//! end the task, and with it the request, drop the receiver. When the response has ended, the task returns the whole
//! message.

use deltawire::chat::Chunk;
use deltawire::message::Assembler;
use deltawire::{End, Error, Flow, Growing, Handler, OwnedUpdate, Parser, Update, Verdict};
use std::io::Write;
use tokio::sync::mpsc;

/// Keeps the message so far, and the updates of one read, because a handler cannot wait for room in the channel.
#[derive(Default)]
struct Reader {
    ready: Vec<(u32, OwnedUpdate)>,
    message: Assembler,
}

impl Handler for Reader {
    fn chunk(&mut self, chunk: &Chunk<'_>) -> Flow {
        self.message.chunk(chunk)
    }

    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        self.ready.push((choice, update.clone().into_owned()));
        self.message.update(choice, update)
    }

    /// Called if the parser has no room, such as for a ninth choice. It continues to read, and the message has
    /// `left_out`.
    fn limit(&mut self, error: &Error) -> Flow {
        self.message.limit(error)
    }
}

/// The result of an answer when it has ended.
struct Answer {
    message: Assembler,
    end: End,
    failure: Option<reqwest::Error>,
}

impl Answer {
    /// Whether all of it came. After `[DONE]` it does not matter how the connection ended.
    fn is_complete(&self) -> bool {
        self.end.is_complete() && (self.failure.is_none() || self.end.verdict == Verdict::Done)
    }
}

/// Sends each update with the index of its choice, and returns the rest.
async fn read(mut response: reqwest::Response, updates: mpsc::Sender<(u32, OwnedUpdate)>) -> Answer {
    let (mut parser, mut reader) = (Parser::new(Growing::new()), Reader::default());
    let failure = loop {
        // If the receiver leaves, the request ends at once, even while the server sends nothing.
        let received = tokio::select! {
            () = updates.closed() => break None,
            received = response.chunk() => received,
        };
        match received {
            Ok(Some(bytes)) => feed(&mut parser, &bytes, &mut reader),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
        send(&mut reader.ready, &updates).await;
    };
    // Do this for a stream that was cut, too: its last event may lack only its blank line.
    while parser.finish_into(&mut reader).is_err() {}
    send(&mut reader.ready, &updates).await;
    Answer { message: reader.message, end: parser.end(), failure }
}

/// Reads all of the bytes. Only a limit stops the parser, and it told the handler about the limit.
fn feed(parser: &mut Parser<Growing>, mut bytes: &[u8], reader: &mut Reader) {
    loop {
        let fed = parser.feed(bytes, reader);
        bytes = bytes.get(fed.consumed..).unwrap_or_default();
        if fed.stop.is_none() {
            return;
        }
    }
}

/// Fails if the receiver is gone, which the loop notices too.
async fn send(ready: &mut Vec<(u32, OwnedUpdate)>, updates: &mpsc::Sender<(u32, OwnedUpdate)>) {
    for update in ready.drain(..) {
        let _ = updates.send(update).await;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("client URL")?;
    // A real request is a POST with a body that has `"stream": true`; an error's body is read like a stream.
    let response = reqwest::Client::new().get(url).send().await?;
    let is_success = response.status().is_success();
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
    let answer = reader.await?;
    if !is_success || !answer.is_complete() {
        // Cut, failed, or parts of it were lost: do not run its calls.
        return Err(match (answer.failure, answer.message.error()) {
            (Some(failure), _) => format!("{}: {failure}", answer.end).into(),
            (None, Some(left_out)) => format!("{}: {left_out}", answer.end).into(),
            (None, None) => format!("{}", answer.end).into(),
        });
    }
    for choice in answer.message.into_message()?.choices {
        for call in choice.tool_calls {
            // A call without arguments: {}. Text from a stream reaches a terminal escaped.
            let (name, arguments) = (call.name.unwrap_or_default(), call.arguments.unwrap_or("{}".into()));
            eprintln!("{}({})", name.escape_debug(), arguments.escape_debug());
        }
    }
    Ok(())
}
