//! What callbacks and batches emit, and what the callbacks return.

use crate::log::{escaped, Log};
use crate::random::Random;
use deltawire_capi::{types::*, *};
use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

/// Aligned memory of exactly the requested size.
pub struct Block(pub Box<[u64]>);

impl Block {
    pub fn new(len: usize) -> Self {
        Block(vec![0x5A5A_5A5A_5A5A_5A5A; len / 8].into())
    }

    pub fn at(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }

    pub fn len(&self) -> usize {
        self.0.len() * 8
    }
}

/// State shared by callbacks and batches.
pub struct Seen {
    pub came: Log,
    /// The text of the current event, which comes in pieces.
    pub open: Option<Vec<u8>>,
    /// For the return values of callbacks.
    pub random: Random,
    /// Whether callbacks always return "go on".
    pub calm: bool,
    pub lossless: bool,
    pub p: *mut deltawire_parser,
    pub message: Block,
    pub sum: u64,
}

impl Seen {
    pub fn new(calm: bool, lossless: bool, seed: u64) -> Self {
        // SAFETY: the block has the stated size.
        let message = unsafe {
            let mut message = Block::new(deltawire_message_size(null(), 0));
            let status = deltawire_message_init(message.at(), message.len(), null(), null_mut());
            assert_eq!(status, DELTAWIRE_OK);
            message
        };
        Seen {
            came: Log::default(),
            open: None,
            random: Random::new(seed),
            calm,
            lossless,
            p: null_mut(),
            message,
            sum: 0,
        }
    }

    pub fn chance(&mut self, of: usize) -> bool {
        !self.calm && self.random.below(of) == 0
    }

    pub fn answer(&mut self) -> i32 {
        if !self.lossless && self.chance(150) {
            return -5;
        }
        if !self.lossless && self.chance(150) {
            return 3;
        }
        if self.chance(8) {
            return DELTAWIRE_AGAIN;
        }
        if self.chance(12) {
            return DELTAWIRE_PAUSE;
        }
        DELTAWIRE_GO_ON
    }

    /// Reads all of the bytes.
    pub unsafe fn touch(&mut self, at: *const c_char, len: usize) -> &'static [u8] {
        if len == 0 {
            return &[];
        }
        // SAFETY: the caller's contract; the bytes are used before the callback returns.
        let bytes = unsafe { std::slice::from_raw_parts(at.cast::<u8>(), len) };
        self.sum = bytes.iter().fold(self.sum, |sum, byte| sum.wrapping_mul(31) + u64::from(*byte));
        bytes
    }

    #[allow(clippy::too_many_arguments)]
    pub fn note(&mut self, head: [u64; 7], flags: u32, text: &[u8]) {
        let kind = head[0] as u32;
        if kind == DELTAWIRE_EV_PAYLOAD {
            return;
        }
        let mut whole = self.open.take().unwrap_or_else(|| {
            self.came.line("event");
            head.iter().for_each(|number| self.came.number("", *number));
            Vec::new()
        });
        whole.extend_from_slice(text);
        if flags & DELTAWIRE_EVF_MORE != 0 {
            self.open = Some(whole);
            return;
        }
        // Skip those that a callback does not receive, or not decoded.
        if kind != DELTAWIRE_EV_CHUNK && kind != DELTAWIRE_EV_TOOL_CALL {
            self.came.put("text", &whole);
        }
    }

    /// Handles the contents of a callback. Returns the callback's answer.
    pub fn handle(&mut self, at: &deltawire_at, text: &[u8]) -> i32 {
        assert!(at.size as usize == size_of::<deltawire_at>() && at.kind < DELTAWIRE_EV_COUNT && at.start <= at.end);
        // SAFETY: valid while the callback runs.
        unsafe { self.touch(at.event_name.ptr, at.event_name.len) };
        if self.chance(40) {
            // SAFETY: the library must reject these calls.
            unsafe {
                assert_eq!(deltawire_reset(self.p), DELTAWIRE_E_REENTRANT);
                assert_eq!(deltawire_feed(self.p, null(), 0, null(), null_mut(), null_mut()), DELTAWIRE_E_REENTRANT);
                assert_eq!(deltawire_commit(self.p, 0), DELTAWIRE_E_REENTRANT);
                assert_eq!(deltawire_quirk_count(self.p, 0), 0);
            }
        }
        let answer = self.answer();
        if answer != DELTAWIRE_AGAIN {
            let numbers = [at.kind, at.choice, at.call, at.code].map(u64::from);
            let [kind, choice, call, code] = numbers;
            self.note([kind, choice, call, code, at.number, at.start, at.end], at.flags, text);
        }
        answer
    }

    pub fn m(&mut self) -> *mut deltawire_message {
        self.message.at().cast()
    }

    /// Moves the message to a larger block.
    pub fn enlarge(&mut self) {
        // SAFETY: the blocks have the stated sizes.
        unsafe {
            let need = deltawire_message_need(self.message.at().cast());
            assert!(need > self.message.len() && need % 8 == 0, "a message wants {need} bytes");
            let mut larger = Block::new(need);
            let status = deltawire_message_move(larger.at(), larger.len(), self.message.at().cast(), null_mut());
            assert_eq!(status, DELTAWIRE_OK);
            self.message = larger;
        }
    }

    pub fn json(&self) -> Vec<u8> {
        let m: *const deltawire_message = self.message.0.as_ptr().cast();
        let mut need = 0;
        // SAFETY: a valid message; the buffer has the stated size.
        unsafe {
            assert_eq!(deltawire_message_json(m, 1, null_mut(), 0, &mut need), DELTAWIRE_E_SMALL);
            let mut json = vec![0u8; need];
            assert_eq!(deltawire_message_json(m, 1, json.as_mut_ptr().cast(), need, &mut need), DELTAWIRE_OK);
            deltawire::json::validate(&json, 1024).expect("sound JSON");
            json
        }
    }
}

// SAFETY, for all callbacks: `user` is the `Seen` of the walk, and the library guarantees the rest.
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
        seen(user).handle(&*at, data)
    }
}

unsafe extern "C" fn on_bytes(user: *mut c_void, at: *const deltawire_at, text: *const c_char, len: usize) -> i32 {
    unsafe {
        let bytes = seen(user).touch(text, len);
        seen(user).handle(&*at, bytes)
    }
}

unsafe extern "C" fn on_text(user: *mut c_void, at: *const deltawire_at, text: *const c_char, len: usize) -> i32 {
    unsafe {
        let bytes = seen(user).touch(text, len);
        // A provider member is raw JSON: the bytes as sent, cut anywhere.
        let is_member = (*at).code >= DELTAWIRE_META_MEMBER && (*at).code != DELTAWIRE_META_REASONING_NAME;
        let is_raw = (*at).kind == DELTAWIRE_EV_META && is_member;
        assert!(!bytes.is_empty() && (is_raw || std::str::from_utf8(bytes).is_ok()), "a text: {}", escaped(bytes));
        seen(user).handle(&*at, bytes)
    }
}

unsafe extern "C" fn on_at(user: *mut c_void, at: *const deltawire_at) -> i32 {
    unsafe { seen(user).handle(&*at, &[]) }
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
        seen(user).handle(&*at, &[])
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
        seen(user).handle(&*at, text)
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
        seen(user).handle(&*at, &[])
    }
}

pub fn callbacks() -> deltawire_callbacks {
    deltawire_callbacks {
        size: size_of::<deltawire_callbacks>() as u32,
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
        on_meta: Some(on_text),
        on_annotations: Some(on_value),
        on_signature: Some(on_text),
        on_media: Some(on_value),
        on_native: Some(on_value),
        on_tool_call_end: Some(on_at),
    }
}
