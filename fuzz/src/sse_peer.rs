//! Compares event streams with the crate sse-stream, where both claim the same.
//!
//! The crate does not keep the last event ID but returns the ID of each block: this target keeps it. It returns blocks
//! without data: this target drops them. It stops at ill-formed UTF-8: the comparison ends there. It does not report a
//! reconnection time or a comment alone, and drops a block without its blank line, as the standard does.

use crate::input;
use crate::log::{escaped, same, Log};
use deltawire::sse::{Decoder, Item};
use deltawire::{Growing, Limits};
use futures::StreamExt;
use sse_stream::SseByteStream;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Events that the peer returned too.
pub static COMPARED: AtomicU64 = AtomicU64::new(0);

pub fn sse_peer(data: &[u8]) {
    let (mut control, bytes) = input::split(data);
    let ours_cut = input::cuts(&mut control, bytes.len());
    let peers_cut = input::cuts(&mut control, bytes.len());
    let (wanted, events, whole) = peer(bytes, &peers_cut);
    COMPARED.fetch_add(events as u64, Relaxed);
    let got = ours(bytes, &ours_cut, if whole { usize::MAX } else { events });
    same("sse-stream and ours", &wanted, &got, || {
        format!("cuts {peers_cut:?} and {ours_cut:?}, stream b\"{}\"", escaped(bytes))
    });
}

fn put(log: &mut Log, kind: &[u8], data: &[u8], id: &[u8]) {
    log.line("event");
    log.put("type", if kind.is_empty() { b"message" } else { kind });
    log.put("data", data);
    log.put("id", id);
}

/// Returns its events, their number, and whether it reached the end.
fn peer(bytes: &[u8], cuts: &[usize]) -> (Log, usize, bool) {
    let pieces: Vec<Result<Vec<u8>, Infallible>> =
        input::pieces(bytes, cuts).filter(|piece| !piece.is_empty()).map(|piece| Ok(piece.to_vec())).collect();
    let pieces = futures::stream::iter(pieces).map(|piece| piece.map(std::io::Cursor::new));
    let mut stream = SseByteStream::new(Box::pin(pieces));
    let (mut log, mut events, mut id) = (Log::default(), 0, String::new());
    futures::executor::block_on(async {
        while let Some(event) = stream.next().await {
            let Ok(event) = event else { return (log, events, false) };
            if let Some(new) = event.id {
                id = new;
            }
            if let Some(data) = event.data {
                put(&mut log, event.event.unwrap_or_default().as_bytes(), data.as_bytes(), id.as_bytes());
                events += 1;
            }
        }
        (log, events, true)
    })
}

fn ours(bytes: &[u8], cuts: &[usize], most: usize) -> Log {
    let limits = Limits::new().with_max_event_len(1 << 30).with_max_id_len(1 << 30);
    let mut decoder = Decoder::with_limits(Growing::new(), limits);
    let (mut log, mut events) = (Log::default(), 0);
    for mut piece in input::pieces(bytes, cuts) {
        while let Some(item) = decoder.next(&mut piece) {
            if let Item::Event(event) = item {
                events += 1;
                if events <= most {
                    put(&mut log, event.name(), event.data(), event.last_event_id());
                }
            }
        }
    }
    log
}
