//! Contenders that are not written in Rust: the C and C++ interfaces of this library, and simdjson On-Demand.
//!
//! They write to the sink's own buffers, which have room for it, so that no text is copied on the way back.
// A build may lack some of them.
#![cfg_attr(not(all(has_capi, has_simdjson)), allow(dead_code, unused_imports, unused_mut, unused_variables))]

use super::contender::{Contender, Kind, MakeStreams, Streams, CPP, C_BATCH, C_CALLBACKS, C_MESSAGE, C_MESSAGE_BATCH};
use crate::input::PADDING;
use crate::{Input, Sink, Sums};
use std::ffi::c_void;

/// `struct text` of `native/sink.h`.
#[repr(C)]
struct RawText {
    ptr: *mut u8,
    len: usize,
    cap: usize,
}

/// `struct sink` of `native/sink.h`.
#[repr(C)]
struct RawSink {
    texts: [RawText; 4],
    events: u64,
    choices: u64,
    calls: u64,
    usage: u64,
}

type Read = unsafe extern "C" fn(*mut c_void, *const u8, usize, usize, *mut RawSink);
/// The function for one of many streams, by its number.
type ReadOne = unsafe extern "C" fn(*mut c_void, usize, *const u8, usize, *mut RawSink);

#[cfg(has_capi)]
extern "C" {
    fn bench_capi_new(room: usize) -> *mut c_void;
    fn bench_capi_feed(reader: *mut c_void, bytes: *const u8, len: usize, slice: usize, sink: *mut RawSink);
    fn bench_capi_batch(reader: *mut c_void, bytes: *const u8, len: usize, slice: usize, sink: *mut RawSink);
    fn bench_capi_streams(count: usize) -> *mut c_void;
    fn bench_capi_batch_streams(count: usize) -> *mut c_void;
    fn bench_capi_stream_feed(streams: *mut c_void, nth: usize, bytes: *const u8, len: usize, sink: *mut RawSink);
    fn bench_capi_stream_batch(streams: *mut c_void, nth: usize, bytes: *const u8, len: usize, sink: *mut RawSink);
    fn bench_capi_message_new(room: usize) -> *mut c_void;
    fn bench_capi_message(reader: *mut c_void, bytes: *const u8, len: usize, slice: usize, sink: *mut RawSink);
    fn bench_capi_message_batch(reader: *mut c_void, bytes: *const u8, len: usize, slice: usize, sink: *mut RawSink);
}

#[cfg(all(has_capi, has_simdjson))]
extern "C" {
    fn bench_cpp_new(room: usize) -> *mut c_void;
    fn bench_cpp_feed(reader: *mut c_void, bytes: *const u8, len: usize, slice: usize, sink: *mut RawSink);
    fn bench_cpp_streams(count: usize) -> *mut c_void;
    fn bench_cpp_stream_feed(streams: *mut c_void, nth: usize, bytes: *const u8, len: usize, sink: *mut RawSink);
}

#[cfg(has_simdjson)]
extern "C" {
    fn bench_simdjson_new() -> *mut c_void;
    fn bench_simdjson_about() -> *const std::ffi::c_char;
    fn bench_simdjson_read(reader: *mut c_void, bytes: *const u8, len: usize, slice: usize, sink: *mut RawSink);
    fn bench_simdjson_responses(reader: *mut c_void, bytes: *const u8, len: usize, slice: usize, sink: *mut RawSink);
    fn bench_simdjson_anthropic(reader: *mut c_void, bytes: *const u8, len: usize, slice: usize, sink: *mut RawSink);
    fn bench_simdjson_gemini(reader: *mut c_void, bytes: *const u8, len: usize, slice: usize, sink: *mut RawSink);
}

/// Returns the contenders that read the protocol of the input with this name.
pub(super) fn of_protocol(input: &str) -> Option<Box<dyn Contender>> {
    let _ = input;
    #[cfg(has_simdjson)]
    {
        let read: Read = match input.split('-').next() {
            Some("responses") => bench_simdjson_responses,
            Some("anthropic") => bench_simdjson_anthropic,
            _ => bench_simdjson_gemini,
        };
        // SAFETY: the function has no arguments, and its result lives as long as the program.
        let reader = unsafe { bench_simdjson_new() };
        Some(Box::new(Native { name: super::contender::SIMDJSON, kind: Kind::Peer, reader, read }))
    }
    #[cfg(not(has_simdjson))]
    None
}

/// Returns the version of simdjson and the instruction set that it was compiled for, if this build has it.
pub fn simdjson_version() -> Option<String> {
    #[cfg(has_simdjson)]
    {
        // SAFETY: the function returns a string that ends in NUL and lives as long as the program.
        let about = unsafe { std::ffi::CStr::from_ptr(bench_simdjson_about()) };
        Some(about.to_string_lossy().into_owned())
    }
    #[cfg(not(has_simdjson))]
    None
}

/// Returns the contenders that this build has. `room` is for an event that a slice cuts.
pub(super) fn all(room: usize) -> Vec<Box<dyn Contender>> {
    let mut all: Vec<Box<dyn Contender>> = Vec::new();
    let mut add = |name, kind, reader, read: Read| all.push(Box::new(Native { name, kind, reader, read }));
    // SAFETY of all calls: the functions take any size. Their results are never freed and live as long as the program.
    #[cfg(has_capi)]
    add(C_CALLBACKS, Kind::Own, unsafe { bench_capi_new(room) }, bench_capi_feed);
    #[cfg(has_capi)]
    add(C_BATCH, Kind::Own, unsafe { bench_capi_new(room) }, bench_capi_batch);
    #[cfg(all(has_capi, has_simdjson))]
    add(CPP, Kind::Own, unsafe { bench_cpp_new(room) }, bench_cpp_feed);
    #[cfg(has_simdjson)]
    add(super::contender::SIMDJSON, Kind::Peer, unsafe { bench_simdjson_new() }, bench_simdjson_read);
    all
}

/// Returns the contenders for many streams that this build has.
pub(super) fn streams() -> Vec<MakeStreams> {
    fn of(name: &'static str, streams: *mut c_void, read: ReadOne) -> Streams {
        Streams::new(name, move |events, sink| {
            // Makes room for the texts of all the events.
            with_raw(sink, 1 << 24, |raw| {
                for (nth, event) in events {
                    // SAFETY: the stream with this number exists, and the bytes are those of the event.
                    unsafe { read(streams, nth, event.as_ptr(), event.len(), raw) };
                }
            });
        })
    }
    // SAFETY of all calls: as in [`all`].
    vec![
        #[cfg(has_capi)]
        |count| of(C_CALLBACKS, unsafe { bench_capi_streams(count) }, bench_capi_stream_feed),
        #[cfg(has_capi)]
        |count| of(C_BATCH, unsafe { bench_capi_batch_streams(count) }, bench_capi_stream_batch),
        #[cfg(all(has_capi, has_simdjson))]
        |count| of(CPP, unsafe { bench_cpp_streams(count) }, bench_cpp_stream_feed),
    ]
}

/// Returns the contenders of [`super::messages`].
pub(super) fn messages(room: usize) -> Vec<Box<dyn Contender>> {
    let _ = room;
    #[cfg(has_capi)]
    {
        let own = |name, read| -> Box<dyn Contender> {
            // SAFETY: as in [`all`].
            let reader = unsafe { bench_capi_message_new(room) };
            Box::new(Native { name, kind: Kind::Own, reader, read })
        };
        vec![own(C_MESSAGE, bench_capi_message), own(C_MESSAGE_BATCH, bench_capi_message_batch)]
    }
    #[cfg(not(has_capi))]
    Vec::new()
}

/// Lets `write` append to the buffers of the sink, each of which has room for so many bytes more.
fn with_raw(sink: &mut Sink, room: usize, write: impl FnOnce(&mut RawSink)) {
    let mut buffers = [&mut sink.content, &mut sink.reasoning, &mut sink.arguments, &mut sink.names];
    let texts = buffers.each_mut().map(|text| {
        text.reserve(room);
        RawText { ptr: text.as_mut_ptr(), len: text.len(), cap: text.capacity() }
    });
    let mut raw = RawSink { texts, events: 0, choices: 0, calls: 0, usage: 0 };
    write(&mut raw);
    for (text, buffer) in raw.texts.iter().zip(buffers) {
        // SAFETY: so many bytes were written, within the capacity of the buffer, and whole characters. A check before
        // the timing compares the bytes.
        unsafe { buffer.as_mut_vec().set_len(text.len) };
    }
    let sums = &mut sink.sums;
    sums.events += raw.events;
    sums.choices += raw.choices;
    sums.calls += raw.calls;
    sums.usage = sums.usage.wrapping_add(raw.usage);
}

/// A contender that is not written in Rust.
struct Native {
    name: &'static str,
    kind: Kind,
    reader: *mut c_void,
    read: Read,
}

impl Native {
    /// The bytes are those of a vector of an [`Input`], which has [`PADDING`] more bytes.
    fn read_padded(&mut self, response: &Vec<u8>, slice: usize, sink: &mut Sink) {
        assert!(response.capacity() - response.len() >= PADDING, "the input has padding");
        // No text becomes longer by decoding; simdjson writes a whole vector at the end.
        with_raw(sink, response.len() + PADDING, |raw| {
            // SAFETY: the reader was made for this function. The pointer comes from the vector, whose whole capacity
            // may be read, and its padding was written when the input was made.
            unsafe { (self.read)(self.reader, response.as_ptr(), response.len(), slice, raw) };
        });
    }
}

impl Contender for Native {
    fn name(&self) -> &'static str {
        self.name
    }
    fn kind(&self) -> Kind {
        self.kind
    }
    fn expected(&self, input: &Input) -> Sums {
        match self.name {
            // A message has its texts, not the parts in which they came.
            C_MESSAGE | C_MESSAGE_BATCH => {
                Sums { text: input.expected.text, hash: input.expected.hash, ..Sums::default() }
            }
            _ => input.expected,
        }
    }
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink) {
        self.read_padded(&crate::input::padded(response.to_vec()), slice, sink);
    }
    fn run(&mut self, input: &Input, slice: usize, sink: &mut Sink) {
        for response in &input.responses {
            self.read_padded(response, slice, sink);
            sink.end();
        }
    }
}
