//! The functions of the header that the target calls.

use deltawire_capi::types::*;
use std::ffi::{c_char, c_void};

#[allow(improper_ctypes)] // Parsers, chunks and messages are opaque.
extern "C" {
    pub fn deltawire_block_size(cfg: *const deltawire_config, event_bytes: usize) -> usize;
    pub fn deltawire_init(
        mem: *mut c_void,
        len: usize,
        cfg: *const deltawire_config,
        out: *mut *mut deltawire_parser,
    ) -> i32;
    pub fn deltawire_reset(p: *mut deltawire_parser) -> i32;
    pub fn deltawire_move(
        mem: *mut c_void,
        len: usize,
        src: *const deltawire_parser,
        out: *mut *mut deltawire_parser,
    ) -> i32;
    pub fn deltawire_resize(p: *mut deltawire_parser, len: usize) -> i32;
    pub fn deltawire_need(p: *const deltawire_parser) -> usize;
    pub fn deltawire_feed(
        p: *mut deltawire_parser,
        data: *const c_void,
        len: usize,
        cbs: *const deltawire_callbacks,
        user: *mut c_void,
        consumed: *mut usize,
    ) -> i32;
    pub fn deltawire_finish(p: *mut deltawire_parser, cbs: *const deltawire_callbacks, user: *mut c_void) -> i32;
    pub fn deltawire_batch(
        p: *mut deltawire_parser,
        data: *const c_void,
        len: usize,
        events: *mut deltawire_event,
        cap: usize,
        scratch: *mut c_void,
        scratch_len: usize,
        out: *mut deltawire_batch_result,
    ) -> i32;
    pub fn deltawire_batch_finish(
        p: *mut deltawire_parser,
        events: *mut deltawire_event,
        cap: usize,
        scratch: *mut c_void,
        scratch_len: usize,
        out: *mut deltawire_batch_result,
    ) -> i32;
    pub fn deltawire_workspace_init(mem: *mut c_void, len: usize, out: *mut *mut deltawire_workspace) -> i32;
    pub fn deltawire_feed_with(
        p: *mut deltawire_parser,
        w: *mut deltawire_workspace,
        data: *const c_void,
        len: usize,
        cbs: *const deltawire_callbacks,
        user: *mut c_void,
        consumed: *mut usize,
    ) -> i32;
    pub fn deltawire_finish_with(
        p: *mut deltawire_parser,
        w: *mut deltawire_workspace,
        cbs: *const deltawire_callbacks,
        user: *mut c_void,
    ) -> i32;
    pub fn deltawire_batch_with(
        p: *mut deltawire_parser,
        w: *mut deltawire_workspace,
        data: *const c_void,
        len: usize,
        events: *mut deltawire_event,
        cap: usize,
        scratch: *mut c_void,
        scratch_len: usize,
        out: *mut deltawire_batch_result,
    ) -> i32;
    pub fn deltawire_batch_finish_with(
        p: *mut deltawire_parser,
        w: *mut deltawire_workspace,
        events: *mut deltawire_event,
        cap: usize,
        scratch: *mut c_void,
        scratch_len: usize,
        out: *mut deltawire_batch_result,
    ) -> i32;
    pub fn deltawire_reserve(p: *mut deltawire_parser, off: *mut usize, len: *mut usize) -> i32;
    pub fn deltawire_commit(p: *mut deltawire_parser, n: usize) -> i32;
    pub fn deltawire_end_of(p: *const deltawire_parser, out: *mut deltawire_end) -> i32;
    pub fn deltawire_last_usage(p: *const deltawire_parser, out: *mut deltawire_usage) -> i32;
    pub fn deltawire_last_event_id(p: *const deltawire_parser, out: *mut deltawire_str) -> i32;
    pub fn deltawire_error_quirk(p: *const deltawire_parser) -> u32;
    pub fn deltawire_error_offset(p: *const deltawire_parser) -> u64;
    pub fn deltawire_user_code(p: *const deltawire_parser) -> i32;
    pub fn deltawire_quirk_count(p: *const deltawire_parser, quirk: u32) -> u64;
    pub fn deltawire_chunk_field(c: *const deltawire_chunk, field: u32, out: *mut deltawire_value) -> i32;
    pub fn deltawire_chunk_usage(c: *const deltawire_chunk, out: *mut deltawire_usage) -> i32;
    pub fn deltawire_value_next(
        v: *const deltawire_value,
        cursor: *mut usize,
        key: *mut deltawire_value,
        out: *mut deltawire_value,
    ) -> i32;
    pub fn deltawire_value_text(v: *const deltawire_value, buf: *mut c_char, cap: usize, need: *mut usize) -> i32;
    pub fn deltawire_message_size(cfg: *const deltawire_config, log_bytes: usize) -> usize;
    pub fn deltawire_message_init(
        mem: *mut c_void,
        len: usize,
        cfg: *const deltawire_config,
        out: *mut *mut deltawire_message,
    ) -> i32;
    pub fn deltawire_message_move(
        mem: *mut c_void,
        len: usize,
        src: *const deltawire_message,
        out: *mut *mut deltawire_message,
    ) -> i32;
    pub fn deltawire_message_need(m: *const deltawire_message) -> usize;
    pub fn deltawire_message_is_full(m: *const deltawire_message) -> u32;
    pub fn deltawire_message_callbacks() -> *const deltawire_callbacks;
    pub fn deltawire_message_add(
        m: *mut deltawire_message,
        events: *const deltawire_event,
        n: usize,
        data: *const c_void,
        scratch: *const c_void,
        taken: *mut usize,
    ) -> i32;
    pub fn deltawire_message_json(
        m: *const deltawire_message,
        flags: u32,
        buf: *mut c_char,
        cap: usize,
        need: *mut usize,
    ) -> i32;
}
