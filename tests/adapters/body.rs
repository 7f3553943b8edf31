//! HTTP bodies pass unaltered, and are metered once, however they end.

use super::sources::waker;
use super::{DONE, HELLO};
use deltawire::adapters::DeltaBodyExt;
use deltawire::Verdict;
use http::{HeaderMap, HeaderValue};
use http_body::{Body, Frame, SizeHint};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::pin::{pin, Pin};
use std::task::{Context, Poll};

/// A body of these frames, which may know which one is its last.
struct Frames {
    frames: VecDeque<Result<Frame<bytes::Bytes>, &'static str>>,
    knows_its_end: bool,
}

impl Body for Frames {
    type Data = bytes::Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<bytes::Bytes>, &'static str>>> {
        Poll::Ready(self.frames.pop_front())
    }

    fn is_end_stream(&self) -> bool {
        self.knows_its_end && self.frames.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.frames.len() as u64)
    }
}

fn trailers() -> HeaderMap {
    let mut trailers = HeaderMap::new();
    trailers.insert("x-cost", HeaderValue::from_static("3"));
    trailers
}

/// The bytes, the trailers, the error, and the characters and the verdict of each report.
type Read = (Vec<u8>, Option<HeaderMap>, Option<&'static str>, Vec<(u64, Verdict)>);

/// Reads at most `polls` frames, as a server does: not after the end that the body knows of.
fn read(frames: Vec<Result<Frame<bytes::Bytes>, &'static str>>, knows_its_end: bool, polls: usize) -> Read {
    let reports = RefCell::new(Vec::new());
    let (mut passed, mut trailers, mut error) = (Vec::new(), None, None);
    {
        let body = Frames { frames: frames.into(), knows_its_end };
        let len = body.frames.len() as u64;
        let body = body.metered(|meter, end| reports.borrow_mut().push((meter.content.chars, end.verdict)));
        let mut body = pin!(body);
        assert_eq!(body.size_hint().exact(), Some(len));
        for _ in 0..polls {
            if body.is_end_stream() {
                break;
            }
            match body.as_mut().poll_frame(&mut Context::from_waker(waker())) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => passed.extend_from_slice(&data),
                    Err(frame) => trailers = frame.into_trailers().ok(),
                },
                Poll::Ready(Some(Err(failure))) => error = Some(failure),
                Poll::Ready(None) => break,
                Poll::Pending => panic!("the body is ready"),
            }
        }
    }
    (passed, trailers, error, reports.into_inner())
}

fn data(bytes: &'static [u8]) -> Result<Frame<bytes::Bytes>, &'static str> {
    Ok(Frame::data(bytes::Bytes::from_static(bytes)))
}

#[test]
fn a_body_passes_and_is_metered_once() {
    let whole = [HELLO, DONE].concat();
    for knows_its_end in [false, true] {
        let cut = |at: usize| vec![data(&HELLO[..at]), data(&HELLO[at..]), data(DONE)];
        for at in 0..HELLO.len() {
            assert_eq!(
                read(cut(at), knows_its_end, usize::MAX),
                (whole.clone(), None, None, vec![(5, Verdict::Done)]),
                "{knows_its_end} {at}"
            );
        }
        let mut frames = cut(9);
        frames.push(Ok(Frame::trailers(trailers())));
        // Nobody polls a body behind its trailers.
        let read_on = read(frames, knows_its_end, 4);
        assert_eq!(read_on, (whole.clone(), Some(trailers()), None, vec![(5, Verdict::Done)]));
        let failed = read(vec![data(HELLO), Err("reset")], knows_its_end, usize::MAX);
        assert_eq!(failed, (HELLO.to_vec(), None, Some("reset"), vec![(5, Verdict::Finished)]));
        // The client hung up.
        let dropped = read(vec![data(&HELLO[..70]), data(&HELLO[70..])], knows_its_end, 1);
        assert_eq!(dropped.3, [(3, Verdict::Aborted)]);
    }
    assert_eq!(read(vec![], true, usize::MAX).3, [(0, Verdict::Empty)]);
}
