//! `gateway UPSTREAM [plain]`: forwards each request to `UPSTREAM` and the answer back, unchanged, and prints a line for
//! each response, with the tokens that it used. With axum and reqwest. Prints its own address first. With `plain` it only
//! forwards: `load.py` measures what the difference costs.
//!
//! To keep it short it sends each request as a GET without headers and body. A real request is a POST: forward its
//! method, its headers (but not `Host` and `Accept-Encoding`) and its body.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::Router;
use deltawire::adapters::DeltaStreamExt;
use deltawire::stream::Meter;
use deltawire::End;

#[derive(Clone)]
struct Gateway {
    upstream: String,
    client: reqwest::Client,
    is_plain: bool,
}

async fn forward(State(gateway): State<Gateway>, request: Request) -> Response {
    let path = request.uri().to_string();
    // Forwards only the path of the request. Do not forward `Accept-Encoding`: the parser cannot read compressed bytes.
    let answer = match gateway.client.get(format!("{}{path}", gateway.upstream)).send().await {
        Ok(answer) => answer,
        Err(error) => return (axum::http::StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    };
    let mut response = Response::builder().status(answer.status().as_u16());
    if let Some(kind) = answer.headers().get("content-type") {
        response = response.header("content-type", kind.as_bytes());
    }
    if gateway.is_plain {
        return response.body(Body::from_stream(answer.bytes_stream())).unwrap_or_default();
    }
    // Called when the answer has ended or failed, or when the client has hung up, which also ends the request.
    let report = move |meter: &Meter, end: &End| {
        let usage = meter.usage.unwrap_or_default();
        println!(
            "{path} {:?} complete={} prompt={:?} completion={:?}",
            end.verdict,
            end.is_complete(),
            usage.prompt_tokens(),
            usage.completion_tokens()
        );
    };
    response.body(Body::from_stream(answer.bytes_stream().metered(report))).unwrap_or_default()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let upstream = std::env::args().nth(1).ok_or("gateway UPSTREAM")?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let is_plain = std::env::args().nth(2).is_some_and(|word| word == "plain");
    let gateway = Gateway { upstream, client: reqwest::Client::new(), is_plain };
    axum::serve(listener, Router::new().fallback(forward).with_state(gateway)).await?;
    Ok(())
}
