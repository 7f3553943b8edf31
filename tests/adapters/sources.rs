//! A source of bytes that answers as a network does: in pieces of any size, or not yet.

use crate::common::random::Random;
use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, ErrorKind, Read};
use std::pin::{pin, Pin};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use tokio::io::{AsyncRead, ReadBuf};

/// What a poll of the source answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Bytes(Vec<u8>),
    NotYet,
    Failure(ErrorKind),
}

/// The answers of a source, in order; then its end. It panics if it is asked again after a failure or the end, unless it is
/// patient.
#[derive(Clone, Debug, Default)]
pub struct Source {
    pub answers: VecDeque<Answer>,
    /// How often it was asked.
    pub asked: usize,
    pub is_patient: bool,
    pub is_over: bool,
}

impl Source {
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Source { answers: answers.into_iter().collect(), ..Source::default() }
    }

    /// The bytes, cut at random, with pauses.
    pub fn cut(bytes: &[u8], random: &mut Random) -> Self {
        let most = random.pick(&[1, 3, 40, 1448, 16 * 1024, usize::MAX]);
        let (mut rest, mut answers) = (bytes, Vec::new());
        while !rest.is_empty() {
            let len = (1 + random.below(most.min(rest.len()))).min(rest.len());
            answers.push(Answer::Bytes(rest[..len].to_vec()));
            rest = &rest[len..];
            if random.below(4) == 0 {
                answers.push(Answer::NotYet);
            }
        }
        Source::new(answers)
    }

    fn next(&mut self) -> Option<Answer> {
        assert!(!self.is_over || self.is_patient, "asked again after the end");
        self.asked += 1;
        let answer = self.answers.pop_front();
        self.is_over = matches!(answer, None | Some(Answer::Failure(_)));
        answer
    }
}

impl futures_core::Stream for Source {
    type Item = io::Result<Vec<u8>>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.next() {
            None => Poll::Ready(None),
            Some(Answer::Bytes(bytes)) => Poll::Ready(Some(Ok(bytes))),
            Some(Answer::NotYet) => Poll::Pending,
            Some(Answer::Failure(kind)) => Poll::Ready(Some(Err(kind.into()))),
        }
    }
}

impl AsyncRead for Source {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        match self.next() {
            None => Poll::Ready(Ok(())),
            Some(Answer::NotYet) => Poll::Pending,
            Some(Answer::Failure(kind)) => Poll::Ready(Err(kind.into())),
            Some(Answer::Bytes(mut bytes)) => {
                let rest = bytes.split_off(bytes.len().min(buffer.remaining()));
                buffer.put_slice(&bytes);
                if !rest.is_empty() {
                    self.answers.push_front(Answer::Bytes(rest));
                }
                Poll::Ready(Ok(()))
            }
        }
    }
}

/// A read that has nothing yet was interrupted.
impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        match self.next() {
            None => Ok(0),
            Some(Answer::NotYet) => Err(ErrorKind::Interrupted.into()),
            Some(Answer::Failure(kind)) => {
                self.is_over = kind != ErrorKind::WouldBlock;
                Err(kind.into())
            }
            Some(Answer::Bytes(mut bytes)) => {
                let rest = bytes.split_off(bytes.len().min(buffer.len()));
                buffer[..bytes.len()].copy_from_slice(&bytes);
                if !rest.is_empty() {
                    self.answers.push_front(Answer::Bytes(rest));
                }
                Ok(bytes.len())
            }
        }
    }
}

/// A source whose last owner can tell that it was dropped.
pub struct Owned(pub Source, pub Rc<()>);

impl futures_core::Stream for Owned {
    type Item = io::Result<Vec<u8>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.0).poll_next(cx)
    }
}

struct Idle;

impl Wake for Idle {
    fn wake(self: Arc<Self>) {}
}

/// Made once, because to make one allocates.
pub fn waker() -> &'static Waker {
    static WAKER: OnceLock<Waker> = OnceLock::new();
    WAKER.get_or_init(|| Waker::from(Arc::new(Idle)))
}

/// Polls until it is ready: a source that has nothing yet has something the next time.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(waker())) {
            return output;
        }
    }
}

/// Polls once.
pub fn poll_once<S: futures_core::Stream + Unpin>(stream: &mut S) -> Poll<Option<S::Item>> {
    Pin::new(stream).poll_next(&mut Context::from_waker(waker()))
}

/// Polls a future once.
pub fn poll_future<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker()))
}

/// A stream as an iterator.
pub struct Blocking<S>(pub S);

impl<S: futures_core::Stream + Unpin> Iterator for Blocking<S> {
    type Item = S::Item;

    fn next(&mut self) -> Option<S::Item> {
        loop {
            if let Poll::Ready(item) = poll_once(&mut self.0) {
                return item;
            }
        }
    }
}
