//! Those who are not written in Rust: the C and C++ interfaces of this library, and simdjson On-Demand.
//!
//! They write to the sink's own buffers, in which room is made before, so that no text is copied on the way back.
// Not all may be here.
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
/// Of many streams, the one with this number.
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

/// Who reads streams of the protocol of the input with this name.
pub(super) fn of_protocol(input: &str) -> Option<Box<dyn Contender>> {
    let _ = input;
    #[cfg(has_simdjson)]
    {
        let read: Read = match input.split('-').next() {
            Some("responses") => bench_simdjson_responses,
            Some("anthropic") => bench_simdjson_anthropic,
            _ => bench_simdjson_gemini,
        };
        // SAFETY: it takes nothing, and what it gives is used as long as the program runs.
        let reader = unsafe { bench_simdjson_new() };
        Some(Box::new(Native { name: super::contender::SIMDJSON, kind: Kind::Peer, reader, read }))
    }
    #[cfg(not(has_simdjson))]
    None
}

/// The version of simdjson and the instruction set that it was compiled for, if it is here.
pub fn simdjson_version() -> Option<String> {
    #[cfg(has_simdjson)]
    {
        // SAFETY: it gives a string that ends in NUL and lives as long as the program.
        let about = unsafe { std::ffi::CStr::from_ptr(bench_simdjson_about()) };
        Some(about.to_string_lossy().into_owned())
    }
    #[cfg(not(has_simdjson))]
    None
}

/// Which of them there are. `room`: for an event that a slice cuts.
pub(super) fn all(room: usize) -> Vec<Box<dyn Contender>> {
    let mut all: Vec<Box<dyn Contender>> = Vec::new();
    let mut add = |name, kind, reader, read: Read| all.push(Box::new(Native { name, kind, reader, read }));
    // SAFETY, of all: the functions take any size. What they give is never freed: it is used as long as the program runs.
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

/// Which of them there are for many streams.
pub(super) fn streams() -> Vec<MakeStreams> {
    fn of(name: &'static str, streams: *mut c_void, read: ReadOne) -> Streams {
        Streams::new(name, move |events, sink| {
            // For the texts of all the events.
            with_raw(sink, 1 << 24, |raw| {
                for (nth, event) in events {
                    // SAFETY: there is such a stream, and the bytes are those of the event.
                    unsafe { read(streams, nth, event.as_ptr(), event.len(), raw) };
                }
            });
        })
    }
    // SAFETY, of all: as above.
    vec![
        #[cfg(has_capi)]
        |count| of(C_CALLBACKS, unsafe { bench_capi_streams(count) }, bench_capi_stream_feed),
        #[cfg(has_capi)]
        |count| of(C_BATCH, unsafe { bench_capi_batch_streams(count) }, bench_capi_stream_batch),
        #[cfg(all(has_capi, has_simdjson))]
        |count| of(CPP, unsafe { bench_cpp_streams(count) }, bench_cpp_stream_feed),
    ]
}

/// As [`super::messages`].
pub(super) fn messages(room: usize) -> Vec<Box<dyn Contender>> {
    let _ = room;
    #[cfg(has_capi)]
    {
        let own = |name, read| -> Box<dyn Contender> {
            // SAFETY: as above.
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
        // SAFETY: that many bytes were written, within the capacity that they were given, and whole characters: that
        // they are the right ones is checked before anyone is timed.
        unsafe { buffer.as_mut_vec().set_len(text.len) };
    }
    let sums = &mut sink.sums;
    sums.events += raw.events;
    sums.choices += raw.choices;
    sums.calls += raw.calls;
    sums.usage = sums.usage.wrapping_add(raw.usage);
}

/// One of them.
struct Native {
    name: &'static str,
    kind: Kind,
    reader: *mut c_void,
    read: Read,
}

impl Native {
    /// The bytes are those of a vector of an [`Input`], which has [`PADDING`] more of them.
    fn read_padded(&mut self, response: &Vec<u8>, slice: usize, sink: &mut Sink) {
        assert!(response.capacity() - response.len() >= PADDING, "the input has padding");
        // Nothing decodes to more than it was; simdjson writes a whole vector at the end.
        with_raw(sink, response.len() + PADDING, |raw| {
            // SAFETY: the reader is one that the function takes. The pointer comes from the vector, all of whose capacity may
            // be read, and its padding was written when the input was made.
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
            // Whoever has a message has its texts, not the parts in which they came.
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
