//! `gateway UPSTREAM`: forwards each request to `UPSTREAM` and the answer back, unchanged, and prints a line for each
//! response, with the tokens that it used. With axum and reqwest. Prints its own address first.
//!
//! To keep it short it sends each request as a GET without headers and body. A real request is a POST: forward its
//! method, its headers (but not `Host` and `Accept-Encoding`) and its body.

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::Router;
use deltawire::chat::TokenCounts;
use deltawire::stream::Meter;
use deltawire::{End, Error, Growing, Handler, Parser};
use tokio::sync::mpsc;

/// The result of a response when it has ended.
struct Metered {
    path: String,
    usage: Option<TokenCounts>,
    end: End,
}

#[derive(Clone)]
struct Gateway {
    upstream: String,
    client: reqwest::Client,
    metered: mpsc::UnboundedSender<Metered>,
}

async fn forward(State(gateway): State<Gateway>, request: Request) -> Response {
    let path = request.uri().to_string();
    // Forwards only the path of the request. Do not forward `Accept-Encoding`: the parser cannot read compressed bytes.
    match gateway.client.get(format!("{}{path}", gateway.upstream)).send().await {
        Err(error) => (axum::http::StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
        Ok(answer) => {
            let mut response = Response::builder().status(answer.status().as_u16());
            if let Some(kind) = answer.headers().get("content-type") {
                response = response.header("content-type", kind.as_bytes());
            }
            let (send, receive) = mpsc::channel(16);
            tokio::spawn(pass(answer, send, path, gateway.metered));
            let body = futures_util::stream::unfold(receive, |mut receive: mpsc::Receiver<_>| async {
                Some((receive.recv().await?, receive))
            });
            response.body(Body::from_stream(body)).unwrap_or_default()
        }
    }
}

/// Sends first and reads afterwards, so that counting does not delay a token.
async fn pass(
    mut answer: reqwest::Response,
    send: mpsc::Sender<Result<Bytes, reqwest::Error>>,
    path: String,
    metered: mpsc::UnboundedSender<Metered>,
) {
    let mut meter = Meter::new();
    let (mut parser, mut left_out) = (Parser::new(Growing::new()), None);
    loop {
        // If the client hangs up, the request ends at once, even while the upstream sends nothing.
        let received = tokio::select! {
            () = send.closed() => break,
            received = answer.chunk() => received,
        };
        let bytes = match received {
            Ok(Some(bytes)) => bytes,
            Ok(None) => break,
            Err(error) => {
                // The client must see that the answer is cut, too.
                let _ = send.send(Err(error)).await;
                break;
            }
        };
        if send.send(Ok(bytes.clone())).await.is_err() {
            break; // the client hung up
        }
        left_out = left_out.or(read(&mut parser, &bytes, &mut meter));
    }
    let _ = parser.finish_into(&mut meter);
    if let Some(error) = left_out {
        eprintln!("{path}: {error}");
    }
    let _ = metered.send(Metered { path, usage: meter.usage, end: parser.end() });
}

/// Reads all of the bytes. An error is a limit, whose event is consumed, so the loop reads on.
fn read(parser: &mut Parser<Growing>, mut bytes: &[u8], meter: &mut impl Handler) -> Option<Error> {
    let mut first = None;
    loop {
        let fed = parser.feed(bytes, meter);
        bytes = bytes.get(fed.consumed..).unwrap_or_default();
        match fed.stop {
            None => return first,
            Some(deltawire::Stop::Error(error)) => first = first.or(Some(error)),
            Some(_) => {}
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let upstream = std::env::args().nth(1).ok_or("gateway UPSTREAM")?;
    let (metered, mut receive) = mpsc::unbounded_channel::<Metered>();
    let gateway = Gateway { upstream, client: reqwest::Client::new(), metered };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    tokio::spawn(async move {
        while let Some(Metered { path, usage, end }) = receive.recv().await {
            let count = |of: fn(&TokenCounts) -> Option<u64>| usage.as_ref().and_then(of);
            let (prompt, completion) = (count(TokenCounts::prompt_tokens), count(TokenCounts::completion_tokens));
            println!(
                "{path} {:?} complete={} prompt={prompt:?} completion={completion:?}",
                end.verdict,
                end.is_complete()
            );
        }
    });
    axum::serve(listener, Router::new().fallback(forward).with_state(gateway)).await?;
    Ok(())
}
