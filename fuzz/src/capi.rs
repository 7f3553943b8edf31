//! The C interface, called in any order, with any sizes and any answers of the callbacks.
//!
//! The control part lists the calls; when it is used up the stream is read to its end. What is given to a call is an
//! allocation of just its size that is gone after the call, and the block is moved about, so that a pointer that was kept
//! is found by the sanitizer. Calls that answer misuse (-1 to -99) must leave the block as it was. A walk that loses
//! nothing must bring what one feed of the whole brings, and the same message.

use crate::input::Source;
use crate::log::{escaped, same, Log};
use crate::memo::decode;
use deltawire_capi::types::*;
use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

#[allow(improper_ctypes)] // Parsers, chunks and messages are opaque.
extern "C" {
    fn deltawire_block_size(event_bytes: usize) -> usize;
    fn deltawire_init(
        mem: *mut c_void,
        len: usize,
        cfg: *const deltawire_config,
        out: *mut *mut deltawire_parser,
    ) -> i32;
    fn deltawire_reset(p: *mut deltawire_parser) -> i32;
    fn deltawire_move(
        mem: *mut c_void,
        len: usize,
        src: *const deltawire_parser,
        out: *mut *mut deltawire_parser,
    ) -> i32;
    fn deltawire_need(p: *const deltawire_parser) -> usize;
    fn deltawire_feed(
        p: *mut deltawire_parser,
        data: *const c_void,
        len: usize,
        cbs: *const deltawire_callbacks,
        user: *mut c_void,
        consumed: *mut usize,
    ) -> i32;
    fn deltawire_finish(p: *mut deltawire_parser, cbs: *const deltawire_callbacks, user: *mut c_void) -> i32;
    fn deltawire_batch(
        p: *mut deltawire_parser,
        data: *const c_void,
        len: usize,
        events: *mut deltawire_event,
        cap: usize,
        scratch: *mut c_void,
        scratch_len: usize,
        out: *mut deltawire_batch_result,
    ) -> i32;
    fn deltawire_batch_finish(
        p: *mut deltawire_parser,
        events: *mut deltawire_event,
        cap: usize,
        scratch: *mut c_void,
        scratch_len: usize,
        out: *mut deltawire_batch_result,
    ) -> i32;
    fn deltawire_reserve(p: *mut deltawire_parser, off: *mut usize, len: *mut usize) -> i32;
    fn deltawire_commit(p: *mut deltawire_parser, n: usize) -> i32;
    fn deltawire_end_of(p: *const deltawire_parser, out: *mut deltawire_end) -> i32;
    fn deltawire_last_usage(p: *const deltawire_parser, out: *mut deltawire_usage) -> i32;
    fn deltawire_last_event_id(p: *const deltawire_parser, out: *mut deltawire_str) -> i32;
    fn deltawire_error_quirk(p: *const deltawire_parser) -> u32;
    fn deltawire_error_offset(p: *const deltawire_parser) -> u64;
    fn deltawire_user_code(p: *const deltawire_parser) -> i32;
    fn deltawire_quirk_count(p: *const deltawire_parser, quirk: u32) -> u64;
    fn deltawire_chunk_field(c: *const deltawire_chunk, field: u32, out: *mut deltawire_value) -> i32;
    fn deltawire_chunk_usage(c: *const deltawire_chunk, out: *mut deltawire_usage) -> i32;
    fn deltawire_value_next(
        v: *const deltawire_value,
        cursor: *mut usize,
        key: *mut deltawire_value,
        out: *mut deltawire_value,
    ) -> i32;
    fn deltawire_value_text(v: *const deltawire_value, buf: *mut c_char, cap: usize, need: *mut usize) -> i32;
    fn deltawire_message_size(log_bytes: usize) -> usize;
    fn deltawire_message_init(mem: *mut c_void, len: usize, out: *mut *mut deltawire_message) -> i32;
    fn deltawire_message_move(
        mem: *mut c_void,
        len: usize,
        src: *const deltawire_message,
        out: *mut *mut deltawire_message,
    ) -> i32;
    fn deltawire_message_need(m: *const deltawire_message) -> usize;
    fn deltawire_message_add_chunk(m: *mut deltawire_message, c: *const deltawire_chunk) -> i32;
    fn deltawire_message_add(
        m: *mut deltawire_message,
        events: *const deltawire_event,
        n: usize,
        data: *const c_void,
        scratch: *const c_void,
        taken: *mut usize,
    ) -> i32;
    fn deltawire_message_finish(m: *mut deltawire_message) -> i32;
    fn deltawire_message_json(
        m: *const deltawire_message,
        flags: u32,
        buf: *mut c_char,
        cap: usize,
        need: *mut usize,
    ) -> i32;
}

const STATUSES: &[i32] = &[
    DELTAWIRE_OK,
    DELTAWIRE_PAUSED,
    DELTAWIRE_MORE,
    DELTAWIRE_NEED_STORAGE,
    DELTAWIRE_E_NULL,
    DELTAWIRE_E_CONFIG,
    DELTAWIRE_E_SMALL,
    DELTAWIRE_E_ALIGN,
    DELTAWIRE_E_STATE,
    DELTAWIRE_E_REENTRANT,
    DELTAWIRE_E_RANGE,
    DELTAWIRE_E_RESUME,
    DELTAWIRE_E_ABORTED,
    DELTAWIRE_E_CALLBACK,
    DELTAWIRE_E_STRICT,
];

pub fn capi(data: &[u8]) {
    let (_, stream, mut ops) = decode(data);
    let lossless = ops.below(3) > 0;
    let config = config(&mut ops, lossless);
    let context = || format!("flags {}, stream b\"{}\"", config.flags, escaped(&stream));
    let mut walk = Walk::new(&mut ops, config, &stream, lossless);
    walk.run(&mut ops);
    if !lossless {
        return;
    }
    // The same stream in one piece: what should come.
    let whole = Walk::whole(config, &stream);
    same("what came", &whole.seen.came, &walk.seen.came, context);
    same("the end", &whole.end(), &walk.end(), context);
    assert_eq!(escaped(&whole.seen.json()), escaped(&walk.seen.json()), "{}", context());
}

fn config(ops: &mut Source<'_>, lossless: bool) -> deltawire_config {
    let mut config = deltawire_config {
        size: size_of::<deltawire_config>() as u32,
        mode: u32::from(ops.once_in(6)),
        flags: u32::from(ops.u8()) & 7,
        max_depth: ops.pick(&[0, 0, 0, 1, 4, 1024]),
        events: ops.pick(&[u64::MAX, 0, 1, 0xFFFF]),
        errors: [0; 2],
        max_event_len: ops.pick(&[0, 0, 0, 1, 60, 500]),
        max_id_len: ops.pick(&[0, 0, 1, 9]),
        read_len: ops.pick(&[0, 0, 1, 40, 300]),
    };
    if ops.once_in(4) {
        config.errors[0] = ops.u64();
    }
    if lossless {
        config.flags |= DELTAWIRE_CFG_GROW;
        (config.events, config.errors) = (u64::MAX, [0; 2]);
    }
    config
}

/// Aligned memory of just its size.
struct Block(Box<[u64]>);

impl Block {
    fn new(len: usize) -> Self {
        Block(vec![0x5A5A_5A5A_5A5A_5A5A; len / 8].into())
    }

    fn at(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }

    fn len(&self) -> usize {
        self.0.len() * 8
    }
}

/// What callbacks and batches share.
struct Seen {
    came: Log,
    /// The text of the event at hand, which comes in pieces, and its head.
    open: Option<(Log, Vec<u8>)>,
    /// For the answers of callbacks.
    state: u64,
    /// Answers are all "go on".
    calm: bool,
    lossless: bool,
    p: *mut deltawire_parser,
    message: Block,
    added: bool,
    sum: u64,
}

impl Seen {
    fn new(calm: bool, lossless: bool, state: u64) -> Self {
        // SAFETY: the block is as large as it says.
        let message = unsafe {
            let mut message = Block::new(deltawire_message_size(0));
            let status = deltawire_message_init(message.at(), message.len(), null_mut());
            assert_eq!(status, DELTAWIRE_OK);
            message
        };
        Seen {
            came: Log::default(),
            open: None,
            state: state | 1,
            calm,
            lossless,
            p: null_mut(),
            message,
            added: false,
            sum: 0,
        }
    }

    fn chance(&mut self, of: u64) -> bool {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        !self.calm && self.state % of == 0
    }

    fn answer(&mut self, may_again: bool) -> i32 {
        if !self.lossless && self.chance(150) {
            return -5;
        }
        if !self.lossless && self.chance(150) {
            return 3;
        }
        if may_again && self.chance(8) {
            return DELTAWIRE_AGAIN;
        }
        if self.chance(12) {
            return DELTAWIRE_PAUSE;
        }
        DELTAWIRE_GO_ON
    }

    /// Reads all of it.
    unsafe fn touch(&mut self, at: *const c_char, len: usize) -> &'static [u8] {
        if len == 0 {
            return &[];
        }
        // SAFETY: as the caller of this says; used before the callback returns.
        let bytes = unsafe { std::slice::from_raw_parts(at.cast::<u8>(), len) };
        self.sum = bytes.iter().fold(self.sum, |sum, byte| sum.wrapping_mul(31) + u64::from(*byte));
        bytes
    }

    #[allow(clippy::too_many_arguments)]
    fn note(&mut self, head: [u64; 7], flags: u32, text: &[u8]) {
        let kind = head[0] as u32;
        if kind == DELTAWIRE_EV_PAYLOAD {
            return;
        }
        let (head, mut whole) = self.open.take().unwrap_or_else(|| {
            let mut log = Log::default();
            log.line("event");
            head.iter().for_each(|number| log.number("", *number));
            (log, Vec::new())
        });
        whole.extend_from_slice(text);
        if flags & DELTAWIRE_EVF_MORE != 0 {
            self.open = Some((head, whole));
            return;
        }
        self.came.append(&head);
        // Those that a callback is not given, or not decoded.
        if kind != DELTAWIRE_EV_CHUNK && kind != DELTAWIRE_EV_TOOL_CALL {
            self.came.put("text", &whole);
        }
    }

    /// A callback's thing; gives its answer.
    fn told(&mut self, at: &deltawire_at, text: &[u8], may_again: bool) -> i32 {
        assert!(at.size as usize == size_of::<deltawire_at>() && at.kind < DELTAWIRE_EV_COUNT && at.start <= at.end);
        // SAFETY: valid while the callback runs.
        unsafe { self.touch(at.event_name.ptr, at.event_name.len) };
        if self.chance(40) {
            // SAFETY: calls that are to be refused.
            unsafe {
                assert_eq!(deltawire_reset(self.p), DELTAWIRE_E_REENTRANT);
                assert_eq!(deltawire_feed(self.p, null(), 0, null(), null_mut(), null_mut()), DELTAWIRE_E_REENTRANT);
                assert_eq!(deltawire_commit(self.p, 0), DELTAWIRE_E_REENTRANT);
                assert_eq!(deltawire_quirk_count(self.p, 0), 0);
            }
        }
        let answer = self.answer(may_again);
        if answer != DELTAWIRE_AGAIN {
            let numbers = [at.kind, at.choice, at.call, at.code].map(u64::from);
            let [kind, choice, call, code] = numbers;
            self.note([kind, choice, call, code, at.number, at.start, at.end], at.flags, text);
        }
        answer
    }

    /// Moves the message to where there is room.
    fn enlarge(&mut self) {
        // SAFETY: the blocks are as large as they say.
        unsafe {
            let need = deltawire_message_need(self.message.at().cast());
            assert!(need > self.message.len() && need % 8 == 0, "a message wants {need} bytes");
            let mut larger = Block::new(need);
            let status = deltawire_message_move(larger.at(), larger.len(), self.message.at().cast(), null_mut());
            assert_eq!(status, DELTAWIRE_OK);
            self.message = larger;
        }
    }

    fn add_chunk(&mut self, chunk: *const deltawire_chunk) {
        // SAFETY: the chunk is a callback's.
        while unsafe { deltawire_message_add_chunk(self.message.at().cast(), chunk) } == DELTAWIRE_NEED_STORAGE {
            self.enlarge();
        }
    }

    fn add_events(&mut self, mut events: &[deltawire_event], data: *const c_void, scratch: *const c_void) {
        loop {
            let mut taken = usize::MAX;
            // SAFETY: the events are of the batch that these bytes were given to.
            let status = unsafe {
                deltawire_message_add(
                    self.message.at().cast(),
                    events.as_ptr(),
                    events.len(),
                    data,
                    scratch,
                    &mut taken,
                )
            };
            events = &events[taken..];
            match status {
                DELTAWIRE_OK => break,
                DELTAWIRE_NEED_STORAGE => self.enlarge(),
                status => panic!("a message answered {status}"),
            }
        }
        assert!(events.is_empty());
    }

    fn json(&self) -> Vec<u8> {
        let m: *const deltawire_message = self.message.0.as_ptr().cast();
        let mut need = 0;
        // SAFETY: a message; the buffer is as large as it says.
        unsafe {
            assert_eq!(deltawire_message_json(m, 1, null_mut(), 0, &mut need), DELTAWIRE_E_SMALL);
            let mut json = vec![0u8; need];
            assert_eq!(deltawire_message_json(m, 1, json.as_mut_ptr().cast(), need, &mut need), DELTAWIRE_OK);
            deltawire::json::validate(&json, 1024).expect("sound JSON");
            json
        }
    }
}

// SAFETY, of all callbacks: `user` is the `Seen` of the walk, and the rest what the library promises.
unsafe fn seen<'a>(user: *mut c_void) -> &'a mut Seen {
    unsafe { &mut *user.cast::<Seen>() }
}

unsafe extern "C" fn on_sse(
    user: *mut c_void,
    at: *const deltawire_at,
    kind: deltawire_str,
    data: deltawire_str,
    id: deltawire_str,
) -> i32 {
    unsafe {
        seen(user).touch(kind.ptr, kind.len);
        seen(user).touch(id.ptr, id.len);
        let data = seen(user).touch(data.ptr, data.len);
        seen(user).told(&*at, data, true)
    }
}

unsafe extern "C" fn on_bytes(user: *mut c_void, at: *const deltawire_at, text: *const c_char, len: usize) -> i32 {
    unsafe {
        let text = seen(user).touch(text, len);
        seen(user).told(&*at, text, false)
    }
}

unsafe extern "C" fn on_text(user: *mut c_void, at: *const deltawire_at, text: *const c_char, len: usize) -> i32 {
    unsafe {
        let text = seen(user).touch(text, len);
        assert!(!text.is_empty() && std::str::from_utf8(text).is_ok(), "a text: {}", escaped(text));
        seen(user).told(&*at, text, false)
    }
}

unsafe extern "C" fn on_at(user: *mut c_void, at: *const deltawire_at) -> i32 {
    unsafe { seen(user).told(&*at, &[], false) }
}

unsafe extern "C" fn on_chunk(user: *mut c_void, at: *const deltawire_at) -> i32 {
    unsafe {
        let chunk = (*at).chunk;
        let mut value = std::mem::zeroed();
        for field in 0..=DELTAWIRE_F_ERROR + 1 {
            if deltawire_chunk_field(chunk, field, &mut value) == DELTAWIRE_OK {
                seen(user).touch(value.ptr, value.len);
            }
        }
        let mut usage = deltawire_usage { size: size_of::<deltawire_usage>() as u32, ..Default::default() };
        deltawire_chunk_usage(chunk, &mut usage);
        let answer = seen(user).told(&*at, &[], true);
        if answer != DELTAWIRE_AGAIN {
            seen(user).add_chunk(chunk);
        }
        answer
    }
}

unsafe extern "C" fn on_value(user: *mut c_void, at: *const deltawire_at, value: *const deltawire_value) -> i32 {
    unsafe {
        let (mut key, mut inner): (deltawire_value, deltawire_value) = (std::mem::zeroed(), std::mem::zeroed());
        let (mut cursor, mut need) = (0, 0);
        let mut buffer = [0; 20];
        while deltawire_value_next(value, &mut cursor, &mut key, &mut inner) == DELTAWIRE_OK {
            seen(user).touch(key.ptr, key.len);
            seen(user).touch(inner.ptr, inner.len);
            deltawire_value_text(&inner, buffer.as_mut_ptr(), buffer.len(), &mut need);
            let mut within = 0;
            while deltawire_value_next(&inner, &mut within, null_mut(), &mut key) == DELTAWIRE_OK {
                seen(user).touch(key.ptr, key.len);
            }
        }
        let text = seen(user).touch((*value).ptr, (*value).len);
        seen(user).told(&*at, text, false)
    }
}

unsafe extern "C" fn on_call(
    user: *mut c_void,
    at: *const deltawire_at,
    id: *const deltawire_value,
    kind: *const deltawire_value,
) -> i32 {
    unsafe {
        seen(user).touch((*id).ptr, (*id).len);
        seen(user).touch((*kind).ptr, (*kind).len);
        seen(user).told(&*at, &[], false)
    }
}

fn callbacks() -> deltawire_callbacks {
    deltawire_callbacks {
        size: size_of::<deltawire_callbacks>(),
        on_sse: Some(on_sse),
        on_comment: Some(on_bytes),
        on_keep_alive: Some(on_bytes),
        on_retry: Some(on_at),
        on_last_event_id: Some(on_bytes),
        on_chunk: Some(on_chunk),
        on_role: Some(on_text),
        on_content: Some(on_text),
        on_reasoning: Some(on_text),
        on_refusal: Some(on_text),
        on_tool_call: Some(on_call),
        on_tool_name: Some(on_text),
        on_tool_arguments: Some(on_text),
        on_function_name: Some(on_text),
        on_function_arguments: Some(on_text),
        on_audio: Some(on_value),
        on_logprobs: Some(on_value),
        on_message: Some(on_value),
        on_finish: Some(on_text),
        on_choice_error: Some(on_value),
        on_usage: Some(on_value),
        on_error: Some(on_value),
        on_malformed: Some(on_bytes),
        on_too_long: Some(on_at),
        on_comment_too_long: Some(on_at),
        on_limit: Some(on_at),
        on_quirk: Some(on_at),
        on_done: Some(on_at),
        on_frame: Some(on_at),
    }
}

struct Walk<'s> {
    block: Block,
    config: deltawire_config,
    stream: &'s [u8],
    fed: usize,
    seen: Box<Seen>,
    finished: bool,
    /// An end that was begun is to be gone on with.
    ending: bool,
    stuck: bool,
    /// Bytes lie in the block that are not spent.
    committed: bool,
}

impl<'s> Walk<'s> {
    fn new(ops: &mut Source<'_>, config: deltawire_config, stream: &'s [u8], lossless: bool) -> Self {
        let room = (config.read_len as usize).next_multiple_of(8);
        let event = ops.pick(&[0, 8, 64, 300, 2000]);
        let seed = ops.u64();
        Walk::with(config, stream, unsafe { deltawire_block_size(event) } + room, Seen::new(false, lossless, seed))
    }

    fn with(config: deltawire_config, stream: &'s [u8], len: usize, seen: Seen) -> Self {
        let mut block = Block::new(len);
        // SAFETY: the block is as large as it says.
        let status = unsafe { deltawire_init(block.at(), block.len(), &config, null_mut()) };
        assert_eq!(status, DELTAWIRE_OK, "deltawire_init");
        let seen = Box::new(seen);
        Walk { block, config, stream, fed: 0, seen, finished: false, ending: false, stuck: false, committed: false }
    }

    /// One feed of everything, in a block with room for it.
    fn whole(config: deltawire_config, stream: &'s [u8]) -> Self {
        let config = deltawire_config { read_len: 0, ..config };
        let mut walk = Walk::with(config, stream, 65536, Seen::new(true, true, 0));
        walk.feed(stream.len(), false);
        assert_eq!(walk.fed, stream.len(), "the whole stream");
        walk.feed(0, true);
        assert!(walk.finished);
        walk.close();
        walk
    }

    fn p(&mut self) -> *mut deltawire_parser {
        self.block.at().cast()
    }

    fn run(&mut self, ops: &mut Source<'_>) {
        let lossless = self.seen.lossless;
        let mut steps = 0;
        while !self.finished && !self.stuck {
            steps += 1;
            assert!(steps < 200_000, "a walk without end");
            let idle = ops.is_empty();
            // Without a call to make: on, in large steps, and to the end.
            let op = if idle { (steps % 3 * 16) as u8 } else { ops.u8() };
            let len = if idle { usize::MAX } else { ops.pick(&[usize::MAX, 0, 1, 2, 7, 30, 120, 400]) };
            let over = self.ending || self.fed == self.stream.len();
            match op % 48 {
                0..=15 if over && (lossless || idle) && !self.committed => self.feed(0, op % 2 == 0),
                16..=31 if over && (lossless || idle) && !self.committed => self.batch(0, op % 2 == 0, ops),
                0..=15 => self.feed(len, false),
                16..=31 => self.batch(len, false, ops),
                32 if idle => self.relocate(0, ops),
                32..=37 => self.direct(ops),
                38..=41 => self.relocate(ops.below(4), ops),
                42 if !lossless => self.feed(0, true),
                43 if !lossless => self.batch(0, true, ops),
                44 if !lossless => {
                    // SAFETY: a parser.
                    assert_eq!(unsafe { deltawire_reset(self.p()) }, DELTAWIRE_OK);
                    (self.fed, self.ending, self.stuck, self.committed) = (0, false, false, false);
                }
                45 => self.misuse(),
                _ => self.getters(),
            }
        }
        if self.stuck {
            self.sticks();
        }
        self.close();
    }

    fn close(&mut self) {
        if !std::mem::replace(&mut self.seen.added, true) {
            // SAFETY: a message.
            while unsafe { deltawire_message_finish(self.seen.message.at().cast()) } == DELTAWIRE_NEED_STORAGE {
                self.seen.enlarge();
            }
        }
    }

    /// What a call that read something came to.
    fn concluded(&mut self, status: i32, before: &[u64], consumed: usize, given: usize) {
        assert!(STATUSES.contains(&status), "a status that is not documented: {status}");
        assert!(consumed <= given, "more was consumed than given");
        if (-99..0).contains(&status) {
            assert_eq!(consumed, 0, "misuse consumes nothing");
            assert!(*before == *self.block.0, "misuse ({status}) changed the block");
        }
        self.stuck = status <= -100;
        if status == DELTAWIRE_NEED_STORAGE {
            self.grow();
        }
        self.fed += consumed;
    }

    fn grow(&mut self) {
        // SAFETY: the blocks are as large as they say.
        unsafe {
            let need = deltawire_need(self.p());
            assert!(need > self.block.len() && need % 8 == 0, "a parser wants {need} of {}", self.block.len());
            let mut larger = Block::new(need);
            assert_eq!(deltawire_move(larger.at(), larger.len(), self.p(), null_mut()), DELTAWIRE_OK);
            self.block = larger;
        }
    }

    fn take(&self, len: usize) -> Vec<u8> {
        let rest = &self.stream[self.fed..];
        if self.committed {
            return Vec::new();
        }
        rest[..len.min(rest.len())].to_vec()
    }

    fn feed(&mut self, len: usize, end: bool) {
        let data = self.take(if end { 0 } else { len });
        let copy = data.clone();
        let callbacks = callbacks();
        let before = self.block.0.clone();
        let p = self.p();
        self.seen.p = p;
        let user: *mut Seen = &mut *self.seen;
        let mut consumed = usize::MAX;
        let at = if data.is_empty() { null() } else { data.as_ptr() };
        // SAFETY: a parser, bytes of that length, callbacks that keep to the rules, and their user.
        let status = unsafe {
            if end {
                consumed = 0;
                deltawire_finish(p, &callbacks, user.cast())
            } else {
                deltawire_feed(p, at.cast(), data.len(), &callbacks, user.cast(), &mut consumed)
            }
        };
        assert_eq!(data, copy, "the input was written to");
        if status == DELTAWIRE_OK {
            assert_eq!(consumed, data.len(), "OK, and bytes are left");
            self.committed = false;
            self.finished = end;
        }
        self.ending |= end && status > 0;
        self.concluded(status, &before, consumed, data.len());
    }

    fn batch(&mut self, len: usize, end: bool, ops: &mut Source<'_>) {
        let data = self.take(if end { 0 } else { len });
        let copy = data.clone();
        let cap = if ops.is_empty() { 64 } else { 1 + ops.below(8) };
        // So much that nothing which is never split is too long.
        let room = if ops.is_empty() { 65536 } else { ops.pick(&[64, 64, 100, 65536]) };
        let mut events = vec![deltawire_event::default(); cap].into_boxed_slice();
        let mut scratch = vec![0u8; room].into_boxed_slice();
        let mut result = deltawire_batch_result { reserved: 77, ..Default::default() };
        let before = self.block.0.clone();
        let p = self.p();
        let at = if data.is_empty() { null() } else { data.as_ptr() };
        // SAFETY: a parser, and memory of those lengths.
        let status = unsafe {
            let (events, scratch) = (events.as_mut_ptr(), scratch.as_mut_ptr().cast());
            if end {
                deltawire_batch_finish(p, events, cap, scratch, room, &mut result)
            } else {
                deltawire_batch(p, at.cast(), data.len(), events, cap, scratch, room, &mut result)
            }
        };
        assert_eq!(data, copy, "the input was written to");
        let (count, used) = (result.events as usize, result.scratch_used as usize);
        assert!(count <= cap && used <= room && result.reserved == 0);
        if status == DELTAWIRE_MORE {
            assert!(count > 0 || result.scratch_need as usize > room, "MORE brings nothing");
        }
        let near: &[u8] = if self.committed {
            // SAFETY: the block, as bytes.
            unsafe { std::slice::from_raw_parts(self.block.0.as_ptr().cast(), self.block.len()) }
        } else {
            &data
        };
        let text = |event: &deltawire_event, flag: u32, off: u32, len: u32| -> Vec<u8> {
            let from = if u32::from(event.flags) & flag != 0 { &scratch[..used] } else { near };
            if len > 0 {
                from[off as usize..][..len as usize].to_vec()
            } else {
                Vec::new()
            }
        };
        for event in &events[..count] {
            assert!(u32::from(event.kind) < DELTAWIRE_EV_COUNT && event.start <= event.end, "an event");
            let main = text(event, DELTAWIRE_EVF_TEXT_SCRATCH, event.text_off, event.text_len);
            text(event, DELTAWIRE_EVF_AUX_SCRATCH, event.aux_off, event.aux_len);
            text(event, DELTAWIRE_EVF_EXTRA_SCRATCH, event.extra_off, event.extra_len);
            let [kind, choice, call, code] =
                [u32::from(event.kind), event.choice, event.call, event.code].map(u64::from);
            self.seen.note(
                [kind, choice, call, code, event.number, event.start, event.end],
                u32::from(event.flags),
                &main,
            );
        }
        if self.seen.lossless {
            self.seen.add_events(&events[..count], near.as_ptr().cast(), scratch.as_ptr().cast());
        }
        let consumed = result.consumed as usize;
        if status == DELTAWIRE_OK {
            assert_eq!(consumed, data.len(), "OK, and bytes are left");
            self.committed = false;
            self.finished = end;
        }
        self.ending |= end && status > 0;
        self.concluded(status, &before, consumed, data.len());
        if status == DELTAWIRE_MORE && count == 0 && ops.is_empty() {
            panic!("a scratch of {room} bytes is too small: {}", result.scratch_need);
        }
    }

    fn direct(&mut self, ops: &mut Source<'_>) {
        let (mut off, mut len) = (usize::MAX, usize::MAX);
        let p = self.p();
        // SAFETY: a parser; what is written lies in its block, where it says.
        unsafe {
            let status = deltawire_reserve(p, &mut off, &mut len);
            if status != DELTAWIRE_OK {
                assert!((-99..0).contains(&status) && off == usize::MAX && len == usize::MAX);
                if !self.committed {
                    assert!(deltawire_commit(p, ops.below(50)) < 0, "there is nothing to commit");
                }
                return;
            }
            assert!(len >= self.config.read_len as usize && off <= self.block.len() && len <= self.block.len() - off);
            let rest = &self.stream[self.fed..];
            let n = ops.below(len.min(rest.len()).min(65535) + 1);
            std::ptr::copy_nonoverlapping(rest.as_ptr(), p.cast::<u8>().add(off), n);
            assert_eq!(deltawire_commit(p, len + 1), DELTAWIRE_E_RANGE);
            assert_eq!(deltawire_commit(p, n), DELTAWIRE_OK);
            self.fed += n;
            self.committed = n > 0;
        }
    }

    fn relocate(&mut self, how: usize, ops: &mut Source<'_>) {
        // SAFETY: the blocks are as large as they say, and do not overlap.
        unsafe {
            let need = deltawire_need(self.p());
            assert!(need > 0 && need % 8 == 0, "deltawire_need");
            let len = match how {
                // A copy moves as well as the library does.
                0 => {
                    self.block = Block(self.block.0.clone());
                    return;
                }
                1 => need,
                2 => need + 8 * ops.below(60),
                _ => ops.below(need + 80) / 8 * 8,
            };
            let mut block = Block::new(len);
            let mut out = null_mut();
            let status = deltawire_move(block.at(), block.len(), self.p(), &mut out);
            if status == DELTAWIRE_OK {
                assert_eq!(out.cast(), block.at());
                self.block = block;
            } else {
                assert!(status == DELTAWIRE_E_SMALL && len < need, "{status}: a move to {len} bytes of {need}");
                assert!(out.is_null() && block.0.iter().all(|word| *word == 0x5A5A_5A5A_5A5A_5A5A));
            }
        }
    }

    /// Calls that are to be refused, and change nothing.
    fn misuse(&mut self) {
        let p = self.p();
        let before = self.block.0.clone();
        let mut result = deltawire_batch_result::default();
        let mut event = deltawire_event::default();
        let mut scratch = [0u8; 64];
        let wrong = deltawire_callbacks { size: 12, ..callbacks() };
        // SAFETY: what is wrong is refused before it is used.
        unsafe {
            let scratch = scratch.as_mut_ptr().cast::<c_void>();
            let odd = p.cast::<u8>().add(1).cast::<deltawire_parser>();
            for status in [
                deltawire_feed(null_mut(), null(), 0, null(), null_mut(), null_mut()),
                deltawire_feed(odd, null(), 0, null(), null_mut(), null_mut()),
                deltawire_feed(p, null(), 1, null(), null_mut(), null_mut()),
                deltawire_feed(p, scratch, usize::MAX, null(), null_mut(), null_mut()),
                deltawire_feed(p, null(), 0, &wrong, null_mut(), null_mut()),
                deltawire_batch(p, null(), 0, &mut event, 0, scratch, 64, &mut result),
                deltawire_batch(p, null(), 0, &mut event, 1, scratch, 63, &mut result),
                deltawire_batch(p, null(), 0, null_mut(), 1, scratch, 64, &mut result),
                deltawire_batch(p, null(), 0, &mut event, 1, scratch, 64, null_mut()),
                deltawire_batch(p, scratch, usize::MAX, &mut event, 1, scratch, 64, &mut result),
                deltawire_move(scratch, 0, p, null_mut()),
                deltawire_move(null_mut(), 65536, p, null_mut()),
                deltawire_init(scratch, 8, null(), null_mut()),
                deltawire_reserve(p, null_mut(), null_mut()),
            ] {
                assert!((-99..0).contains(&status), "{status} for misuse");
            }
        }
        assert!(before == self.block.0, "misuse changed the block");
    }

    fn getters(&mut self) {
        let before = self.block.0.clone();
        let p = self.p();
        // SAFETY: a parser, and places to write to.
        unsafe {
            let mut usage = deltawire_usage { size: size_of::<deltawire_usage>() as u32, ..Default::default() };
            assert!([DELTAWIRE_OK, DELTAWIRE_ABSENT].contains(&deltawire_last_usage(p, &mut usage)));
            let mut id = std::mem::zeroed::<deltawire_str>();
            if deltawire_last_event_id(p, &mut id) == DELTAWIRE_OK {
                self.seen.touch(id.ptr, id.len);
            }
            assert_eq!(deltawire_error_quirk(p), DELTAWIRE_QUIRKS);
            assert_eq!((deltawire_error_offset(p), deltawire_user_code(p)), (0, 0));
            for quirk in 0..DELTAWIRE_QUIRKS + 1 {
                deltawire_quirk_count(p, quirk);
            }
        }
        self.end();
        assert!(before == self.block.0, "a getter changed the block");
    }

    /// What sticks answers the same, and calls nothing, until the reset.
    fn sticks(&mut self) {
        let p = self.p();
        let mut consumed = 1;
        // SAFETY: a parser.
        unsafe {
            let status = deltawire_feed(p, b"x".as_ptr().cast(), 1, null(), null_mut(), &mut consumed);
            assert!(status <= -100 && consumed == 0);
            assert_eq!(deltawire_finish(p, null(), null_mut()), status);
            match status {
                DELTAWIRE_E_STRICT => assert!(deltawire_error_quirk(p) < DELTAWIRE_QUIRKS),
                DELTAWIRE_E_ABORTED => assert_eq!(deltawire_user_code(p), -5),
                _ => assert!(deltawire_user_code(p) > 0),
            }
            assert!(deltawire_error_offset(p) <= self.stream.len() as u64);
        }
    }

    fn end(&self) -> Log {
        let mut end = deltawire_end { size: size_of::<deltawire_end>() as u32, ..Default::default() };
        // SAFETY: a parser.
        let status = unsafe { deltawire_end_of(self.block.0.as_ptr().cast(), &mut end) };
        assert_eq!(status, DELTAWIRE_OK);
        assert!(end.offset <= self.stream.len() as u64);
        let mut log = Log::default();
        log.line("end");
        let facts = [end.verdict, end.pending, end.choices_seen, end.choices_finished, end.malformed, end.too_long];
        facts.iter().for_each(|fact| log.number("", u64::from(*fact)));
        let flags = [end.done, end.api_error, end.body, end.finished];
        flags.iter().for_each(|flag| log.number("", u64::from(*flag)));
        log.number("offset", end.offset);
        log.number("left out", u64::from(end.left_out));
        log.number("complete", u64::from(end.complete));
        log
    }
}
