//! `layer FILE`: serves a file as a stream, and meters every response by a layer of tower, whatever service makes it.
//! Prints its own address first, and then a line for each response.

use axum::body::{Body, Bytes};
use axum::response::Response;
use axum::Router;
use deltawire::adapters::DeltaBodyExt;
use futures_util::stream;
use std::convert::Infallible;
use tower::util::MapResponseLayer;

/// The layer's work: the body becomes one that is metered as the client reads it.
fn metered(response: Response) -> Response {
    response.map(|body| {
        Body::new(body.metered(|meter, end| {
            println!("{:?} {} {:?}", meter.model, end, meter.usage.and_then(|usage| usage.completion_tokens()));
        }))
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = Bytes::from(std::fs::read(std::env::args().nth(1).ok_or("layer FILE")?)?);
    let serve = move || {
        let pieces: Vec<_> = file.chunks(100).map(|piece| Ok::<_, Infallible>(file.slice_ref(piece))).collect();
        async { Body::from_stream(stream::iter(pieces)) }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    axum::serve(listener, Router::new().fallback(serve).layer(MapResponseLayer::new(metered))).await?;
    Ok(())
}
