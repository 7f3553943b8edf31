//! Writes event streams: the updates of a response go in, the bytes of a stream come out, in chat completions, OpenAI
//! Responses or Anthropic Messages. No allocation; what has to be remembered lies in memory that the caller lends.
//!
//! A [`Writer`] takes the same [`Update`]s that a parser returns, and cannot write an invalid stream: it opens and closes
//! what the protocol wants opened and closed, numbers it, and ends the stream only once. `docs/writing.md` tells what
//! each update becomes. A [`Translator`] is a writer that a parser feeds: bytes of one protocol go in, those of another
//! come out.
//!
//! ```
//! use deltawire::chat::{FinishKind, FinishReason};
//! use deltawire::json::Text;
//! use deltawire::stream::Protocol;
//! use deltawire::write::{Head, Out, WriteError, Writer};
//! use deltawire::Update;
//!
//! let head = Head::new("chatcmpl-1", "some-model", 1_700_000_000);
//! let mut writer = Writer::new(Protocol::Chat, &head, [0; 1024])?;
//! let (mut buffer, mut sent) = ([0; 512], Vec::new());
//! let mut out = Out::new(&mut buffer);
//! let updates = [
//!     Update::Content(Text::verbatim("Hello".as_bytes())),
//!     Update::Finish(FinishReason::new(FinishKind::Stop)),
//! ];
//! for update in &updates {
//!     out.send(|out| writer.put(out, 0, update), |bytes| sent.extend_from_slice(bytes))?;
//! }
//! out.send(|out| writer.finish(out), |bytes| sent.extend_from_slice(bytes))?;
//! assert!(sent.ends_with(b"\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"));
//! # Ok::<(), WriteError>(())
//! ```

mod anthropic;
mod calls;
mod chat;
mod error;
mod event;
mod head;
mod log;
mod out;
mod parts;
mod responses;
mod serial;
mod settle;
mod state;
mod text;
mod thoughts;
mod translate;

pub use error::WriteError;
pub use head::Head;
pub use out::Out;
pub use translate::{TranslateSink, Translator};

use crate::chat::{ApiError, Update};
use crate::stream::Protocol;
use out::To;
use state::State;

/// Writes one stream.
///
/// `M` is the memory that the caller lends: an array, a `&mut [u8]` or a `Vec<u8>`, whose length stays. It keeps what
/// every event repeats, and what has to be written later ([`WriteError::NeedMemory`]). All else is plain data of fixed
/// size, about 1.5 KB.
#[derive(Clone, Debug)]
pub struct Writer<M> {
    memory: M,
    state: State,
}

impl<M: AsMut<[u8]>> Writer<M> {
    /// Creates a writer of chat completions, Responses or Anthropic Messages. Writes nothing yet.
    ///
    /// # Errors
    ///
    /// [`NoPlace`](WriteError::NoPlace) for any other protocol, [`NeedMemory`](WriteError::NeedMemory) if the head does
    /// not fit, and [`Json`](WriteError::Json) if its members are no JSON object.
    pub fn new(protocol: Protocol, head: &Head<'_>, mut memory: M) -> Result<Self, WriteError> {
        let state = State::new(protocol, head, memory.as_mut())?;
        Ok(Writer { memory, state })
    }

    /// Writes an update of a choice.
    ///
    /// Updates come in the order of the response. A call's ID and name come before its arguments; its end
    /// ([`Update::CallEnd`]) lets the next call follow at once in the protocols that write one at a time.
    ///
    /// # Errors
    ///
    /// After [`NeedRoom`](WriteError::NeedRoom), `out` has whole events, and the rest of the update is still to be
    /// written: make room, and pass the same update again. After [`NeedMemory`](WriteError::NeedMemory), too, if there is
    /// [longer memory](Self::memory_mut). After any other error the update is left out; no more of it may be written than
    /// the beginning of its choice or its part. The stream goes on with the next update, or ends with
    /// [`finish`](Self::finish) or [`fail`](Self::fail).
    #[inline]
    pub fn put(&mut self, out: &mut Out<'_>, choice: u32, update: &Update<'_>) -> Result<(), WriteError> {
        self.state.put(self.memory.as_mut(), out, choice, update)
    }

    /// Ends the stream after every choice has a finish reason: closes what is open, and writes the usage and the end.
    ///
    /// # Errors
    ///
    /// [`Unfinished`](WriteError::Unfinished) if a choice has no finish reason, or none began: call
    /// [`fail`](Self::fail), so that nobody takes the stream for whole. [`NeedRoom`](WriteError::NeedRoom) as with
    /// [`put`](Self::put).
    pub fn finish(&mut self, out: &mut Out<'_>) -> Result<(), WriteError> {
        self.state.finish(&mut To { memory: self.memory.as_mut(), out })
    }

    /// Ends the stream with an error, as an [`Update::Error`] does: with the counts of tokens so far where the protocol
    /// has a place for them, and without the end that a whole stream has.
    ///
    /// # Errors
    ///
    /// [`NeedRoom`](WriteError::NeedRoom) as with [`put`](Self::put).
    pub fn fail(&mut self, out: &mut Out<'_>, error: &ApiError<'_>) -> Result<(), WriteError> {
        self.put(out, 0, &Update::Error(*error))
    }

    /// Writes what only keeps the connection alive: a `ping` in Anthropic Messages once the message began, else a
    /// comment.
    ///
    /// # Errors
    ///
    /// [`NeedRoom`](WriteError::NeedRoom) as with [`put`](Self::put), and [`Ended`](WriteError::Ended).
    pub fn keep_alive(&mut self, out: &mut Out<'_>) -> Result<(), WriteError> {
        self.state.keep_alive(&mut To { memory: self.memory.as_mut(), out })
    }

    /// Returns the lent memory, to replace it after [`NeedMemory`](WriteError::NeedMemory): the first
    /// [`memory_len`](Self::memory_len) bytes must stay as they are.
    ///
    /// ```
    /// # use deltawire::{stream::Protocol, write::{Head, WriteError, Writer}};
    /// # let mut writer = Writer::new(Protocol::Responses, &Head::new("r", "m", 0), vec![0; 4096])?;
    /// writer.memory_mut().resize(8192, 0);
    /// # Ok::<(), WriteError>(())
    /// ```
    pub fn memory_mut(&mut self) -> &mut M {
        &mut self.memory
    }

    /// Returns how many bytes of the lent memory are in use.
    pub fn memory_len(&self) -> usize {
        self.state.log.len()
    }
}
