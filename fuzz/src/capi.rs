//! Calls the C interface in any order, with any sizes and any return values of callbacks.
//!
//! The control part lists the calls; after that the stream is read to its end. Every call gets its bytes in an
//! allocation of exactly their size that is freed after the call, and the block moves, so that the sanitizer detects
//! retained pointers. Calls that return a misuse status (-1 to -99) must leave the block unchanged. A walk that loses
//! nothing must emit the same as one feed of the whole stream, and build the same message. A parser that shares a workspace
//! does so with one that read the stream before; the one feed is by a parser alone.

mod seen;

use self::seen::{callbacks, Block, Seen};
use crate::input::Source;
use crate::log::{escaped, same, Log};
use crate::memo::decode;
use crate::split::length_of_an_event;
use deltawire_capi::{types::*, *};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

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

/// The kinds whose text was written by a model or a server.
const TEXTS: &[u32] = &[
    DELTAWIRE_EV_ROLE,
    DELTAWIRE_EV_CONTENT,
    DELTAWIRE_EV_REASONING,
    DELTAWIRE_EV_REFUSAL,
    DELTAWIRE_EV_TOOL_NAME,
    DELTAWIRE_EV_TOOL_ARGUMENTS,
    DELTAWIRE_EV_FUNCTION_NAME,
    DELTAWIRE_EV_FUNCTION_ARGUMENTS,
    DELTAWIRE_EV_FINISH,
];

pub fn capi(data: &[u8]) {
    let (_, stream, mut ops) = decode(data);
    let lossless = ops.below(3) > 0;
    let config = config(&mut ops, &stream, lossless);
    let context = || format!("flags {}, stream b\"{}\"", config.flags, escaped(&stream));
    let mut walk = Walk::new(&mut ops, config, &stream, lossless);
    walk.run(&mut ops);
    if !lossless {
        return;
    }
    // The expected result: the same stream in one piece.
    let whole = Walk::whole(config, &stream);
    same("what came", &whole.seen.came, &walk.seen.came, context);
    same("the end", &whole.end(), &walk.end(), context);
    assert_eq!(escaped(&whole.seen.json()), escaped(&walk.seen.json()), "{}", context());
}

fn config(ops: &mut Source<'_>, stream: &[u8], lossless: bool) -> deltawire_config {
    let (mode, how) = (u32::from(ops.once_in(6)), ops.u8());
    let mut config = deltawire_config {
        size: size_of::<deltawire_config>() as u32,
        mode,
        flags: u32::from(how) & 15,
        max_depth: ops.pick(&[0, 0, 0, 1, 4, 1024]),
        events: ops.pick(&[u64::MAX, 0, 1, 0xFFFF]),
        errors: [0; 2],
        max_event_len: ops.pick(&[0, 0, 0, 1, 60, 500]),
        max_id_len: ops.pick(&[0, 0, 1, 9]),
        read_len: ops.pick(&[0, 0, 1, 40, 300]),
        max_choices: ops.pick(&[0, 0, 1, 20]),
        max_tool_calls: ops.pick(&[0, 0, 1, 40]),
        protocol: 0,
    };
    if ops.once_in(4) {
        config.errors[0] = ops.u64();
    }
    if how >= 192 {
        config.max_event_len = length_of_an_event(stream, ops).unwrap_or(0);
    }
    if lossless {
        config.flags |= DELTAWIRE_CFG_GROW;
        (config.events, config.errors) = (u64::MAX, [0; 2]);
    }
    config
}

/// A workspace with which another parser has read the stream.
fn taught(stream: &[u8], config: deltawire_config) -> Block {
    // SAFETY: the blocks have the stated sizes, and the bytes theirs.
    unsafe {
        let mut workspace = Block::new(DELTAWIRE_WORKSPACE_SIZE);
        let mut block = Block::new(deltawire_block_size(&config, stream.len() + 2048));
        assert_eq!(deltawire_workspace_init(workspace.at(), workspace.len(), null_mut()), DELTAWIRE_OK);
        assert_eq!(deltawire_init(block.at(), block.len(), &config, null_mut()), DELTAWIRE_OK);
        let (p, w) = (block.at().cast(), workspace.at().cast());
        let at = if stream.is_empty() { null() } else { stream.as_ptr().cast() };
        deltawire_feed_with(p, w, at, stream.len(), null(), null_mut(), null_mut());
        workspace
    }
}

struct Walk<'s> {
    block: Block,
    /// The block before the current call.
    before: Vec<u64>,
    /// That of a parser that shares one.
    workspace: Option<Block>,
    config: deltawire_config,
    stream: &'s [u8],
    fed: usize,
    seen: Box<Seen>,
    finished: bool,
    /// Whether the end of the stream was begun and must be continued.
    ending: bool,
    stuck: bool,
    /// Whether the block holds bytes that were not consumed.
    committed: bool,
}

impl<'s> Walk<'s> {
    fn new(ops: &mut Source<'_>, config: deltawire_config, stream: &'s [u8], lossless: bool) -> Self {
        let least = usize::from(config.flags & DELTAWIRE_CFG_GROW == 0);
        let event = ops.pick(&[least, 8, 64, 300, 2000]);
        let seed = ops.u64();
        Walk::with(config, stream, unsafe { deltawire_block_size(&config, event) }, Seen::new(false, lossless, seed))
    }

    fn with(config: deltawire_config, stream: &'s [u8], len: usize, seen: Seen) -> Self {
        let workspace = (config.flags & DELTAWIRE_CFG_SHARED != 0).then(|| taught(stream, config));
        let mut block = Block::new(len);
        // SAFETY: `block` has the stated size.
        let status = unsafe { deltawire_init(block.at(), block.len(), &config, null_mut()) };
        assert_eq!(status, DELTAWIRE_OK, "deltawire_init");
        let seen = Box::new(seen);
        Walk {
            block,
            before: Vec::new(),
            workspace,
            config,
            stream,
            fed: 0,
            seen,
            finished: false,
            ending: false,
            stuck: false,
            committed: false,
        }
    }

    /// Feeds everything at once, in a block with room for it.
    fn whole(config: deltawire_config, stream: &'s [u8]) -> Self {
        let flags = config.flags & !DELTAWIRE_CFG_SHARED;
        let config = deltawire_config { read_len: 0, flags, ..config };
        let mut walk = Walk::with(
            config,
            stream,
            unsafe { deltawire_block_size(&config, 2 * stream.len() + 2048) },
            Seen::new(true, true, 0),
        );
        // Only a message that grows stops it.
        while walk.fed < stream.len() {
            walk.feed(stream.len(), false);
        }
        while !walk.finished {
            walk.feed(0, true);
        }
        walk
    }

    fn p(&mut self) -> *mut deltawire_parser {
        self.block.at().cast()
    }

    /// The workspace, or NULL.
    fn w(&mut self) -> *mut deltawire_workspace {
        self.workspace.as_mut().map_or(null_mut(), |block| block.at().cast())
    }

    fn run(&mut self, ops: &mut Source<'_>) {
        let lossless = self.seen.lossless;
        let mut steps = 0;
        while !self.finished && !self.stuck {
            steps += 1;
            assert!(steps < 200_000, "a walk without end");
            let idle = ops.is_empty();
            // Without calls left: read on in large steps, to the end.
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
                38..=41 => self.relocate(ops.below(5), ops),
                42 if !lossless => self.feed(0, true),
                43 if !lossless => self.batch(0, true, ops),
                44 => {
                    // SAFETY: a valid parser.
                    assert_eq!(unsafe { deltawire_reset(self.p()) }, DELTAWIRE_OK);
                    (self.fed, self.ending, self.stuck, self.committed) = (0, false, false, false);
                    // From here on it must emit the same as a new parser.
                    *self.seen = Seen::new(false, lossless, self.seen.random.number());
                }
                45 => self.misuse(),
                _ => self.getters(),
            }
        }
        if self.stuck {
            self.sticks();
        }
    }

    /// Handles the result of a call that reads.
    fn concluded(&mut self, status: i32, consumed: usize, given: usize) {
        assert!(STATUSES.contains(&status), "a status that is not documented: {status}");
        assert!(consumed <= given, "more was consumed than given");
        if (-99..0).contains(&status) {
            assert_eq!(consumed, 0, "misuse consumes nothing");
            // Whether the bytes are given again is asked when the workspace is lent already, which may change a hint.
            let is_asked_late = status == DELTAWIRE_E_RESUME && self.workspace.is_some();
            assert!(is_asked_late || *self.before == *self.block.0, "misuse ({status}) changed the block");
        }
        self.stuck = status <= -100;
        // SAFETY: a valid message.
        let is_full = unsafe { deltawire_message_is_full(self.seen.m()) } != 0;
        match status {
            DELTAWIRE_NEED_STORAGE if is_full => self.seen.enlarge(),
            DELTAWIRE_NEED_STORAGE => self.grow(),
            status => assert!(!is_full, "a message is full: {status}"),
        }
        self.fed += consumed;
    }

    fn grow(&mut self) {
        // SAFETY: the blocks have the stated sizes.
        unsafe {
            let need = deltawire_need(self.p());
            assert!(need > self.block.len() && need % 8 == 0, "a parser wants {need} of {}", self.block.len());
            let mut larger = Block::new(need);
            assert_eq!(deltawire_move(larger.at(), larger.len(), self.p(), null_mut()), DELTAWIRE_OK);
            self.block = larger;
        }
    }

    /// The next bytes, none if the block holds some.
    fn next(&self, len: usize) -> &'s [u8] {
        let rest = &self.stream[self.fed..];
        &rest[..if self.committed { 0 } else { len.min(rest.len()) }]
    }

    /// Keeps what the block contains, without an allocation for each call.
    fn keep(&mut self) {
        self.before.clear();
        self.before.extend_from_slice(&self.block.0);
    }

    fn feed(&mut self, len: usize, end: bool) {
        let given = self.next(if end { 0 } else { len });
        let data = given.to_vec();
        let callbacks = callbacks();
        self.keep();
        let (p, w) = (self.p(), self.w());
        self.seen.p = p;
        let m = self.seen.m();
        let user: *mut Seen = &mut *self.seen;
        let mut consumed = usize::MAX;
        let at = if data.is_empty() { null() } else { data.as_ptr() };
        // SAFETY: a valid parser, bytes of that length, callbacks that follow the rules, and their user pointer.
        let status = unsafe {
            let (at, len, out) = (at.cast(), data.len(), &raw mut consumed);
            if end {
                consumed = 0;
            }
            match end {
                true => deltawire_message_finish(m, p, w, &callbacks, user.cast()),
                false => deltawire_message_feed(m, p, w, at, len, &callbacks, user.cast(), out),
            }
        };
        assert_eq!(data, given, "the input was written to");
        if status == DELTAWIRE_OK {
            assert_eq!(consumed, data.len(), "OK, and bytes are left");
            self.committed = false;
            self.finished = end;
        }
        self.ending |= end && status > 0;
        self.concluded(status, consumed, data.len());
    }

    fn batch(&mut self, len: usize, end: bool, ops: &mut Source<'_>) {
        let given = self.next(if end { 0 } else { len });
        let data = given.to_vec();
        // At the end use enough scratch for every unsplittable item: an ill-formed byte becomes three.
        let ample = ops.is_empty();
        let cap = if ample { 64 } else { 1 + ops.below(8) };
        let most = 4096 + 4 * self.stream.len();
        let room = if ample { most } else { ops.pick(&[64, 64, 100, most]) };
        let mut events = vec![deltawire_event::default(); cap].into_boxed_slice();
        let mut scratch = vec![0u8; room].into_boxed_slice();
        let mut result = deltawire_batch_result::default();
        self.keep();
        let (m, p, w) = (self.seen.m(), self.p(), self.w());
        let at = if data.is_empty() { null() } else { data.as_ptr() };
        // SAFETY: a valid parser, and memory of those lengths.
        let status = unsafe {
            let (events, scratch) = (events.as_mut_ptr(), scratch.as_mut_ptr().cast());
            let (at, len, out) = (at.cast(), data.len(), &raw mut result);
            match end {
                true => deltawire_message_batch_finish(m, p, w, events, cap, scratch, room, out),
                false => deltawire_message_batch(m, p, w, at, len, events, cap, scratch, room, out),
            }
        };
        assert_eq!(data, given, "the input was written to");
        let (count, used) = (result.events, result.scratch_used);
        assert!(count <= cap && used <= room);
        if status == DELTAWIRE_MORE {
            assert!(count > 0 || result.scratch_need > room, "MORE brings nothing");
        }
        let near: &[u8] = if self.committed {
            // SAFETY: the block's own bytes.
            unsafe { std::slice::from_raw_parts(self.block.0.as_ptr().cast(), self.block.len()) }
        } else {
            &data
        };
        let copied = std::cell::Cell::new(0);
        let text = |event: &deltawire_event, flag: u32, off: u32, len: u32| -> &[u8] {
            let in_scratch = u32::from(event.flags) & flag != 0;
            copied.set(copied.get() + if in_scratch { len as usize } else { 0 });
            let from = if in_scratch { &scratch[..used] } else { near };
            if len > 0 {
                &from[off as usize..][..len as usize]
            } else {
                &[]
            }
        };
        for event in &events[..count] {
            assert!(u32::from(event.kind) < DELTAWIRE_EV_COUNT && event.start <= event.end, "an event");
            let main = text(event, DELTAWIRE_EVF_TEXT_SCRATCH, event.text_off, event.text_len);
            text(event, DELTAWIRE_EVF_AUX_SCRATCH, event.aux_off, event.aux_len);
            text(event, DELTAWIRE_EVF_EXTRA_SCRATCH, event.extra_off, event.extra_len);
            assert!(!TEXTS.contains(&event.kind.into()) || std::str::from_utf8(main).is_ok(), "text is UTF-8");
            let [kind, choice, call, code] =
                [u32::from(event.kind), event.choice, event.call, event.code].map(u64::from);
            self.seen.note(
                [kind, choice, call, code, event.number, event.start, event.end],
                u32::from(event.flags),
                main,
            );
        }
        assert!(copied.get() <= used, "of {used} bytes of scratch {} were handed out", copied.get());
        let consumed = result.consumed;
        if status == DELTAWIRE_OK {
            assert_eq!(consumed, data.len(), "OK, and bytes are left");
            self.committed = false;
            self.finished = end;
        }
        self.ending |= end && status > 0;
        self.concluded(status, consumed, data.len());
        if status == DELTAWIRE_MORE && count == 0 && ample {
            panic!("a scratch of {room} bytes is too small: {}", result.scratch_need);
        }
    }

    fn direct(&mut self, ops: &mut Source<'_>) {
        let (mut off, mut len) = (usize::MAX, usize::MAX);
        let p = self.p();
        // SAFETY: a valid parser; writes only to its block, where it allows.
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
        // SAFETY: the blocks have the stated sizes and do not overlap.
        unsafe {
            let need = deltawire_need(self.p());
            assert!(need > 0 && need % 8 == 0, "deltawire_need");
            let len = match how {
                // A plain copy must work as well as the library's function.
                0 => {
                    self.block = Block(self.block.0.clone());
                    return;
                }
                1 => need,
                2 => need + 8 * ops.below(60),
                // As after realloc.
                3 => {
                    let len = need + 8 * ops.below(60);
                    let mut words = self.block.0.to_vec();
                    words.resize(words.len().max(len / 8), 0x5A5A_5A5A_5A5A_5A5A);
                    self.block = Block(words.into());
                    assert_eq!(deltawire_resize(self.p(), len), DELTAWIRE_OK);
                    self.block = Block(self.block.0[..len / 8].into());
                    return;
                }
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

    /// Makes calls that must be rejected and change nothing.
    fn misuse(&mut self) {
        let p = self.p();
        self.keep();
        let mut result = deltawire_batch_result::default();
        let mut event = deltawire_event::default();
        let mut scratch = [0u8; 64];
        let wrong = deltawire_callbacks { size: 12, ..callbacks() };
        // SAFETY: the library rejects the invalid arguments before it uses them.
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
        assert!(*self.before == *self.block.0, "misuse changed the block");
    }

    fn getters(&mut self) {
        self.keep();
        let p = self.p();
        // SAFETY: a valid parser, and places to write to.
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
        assert!(*self.before == *self.block.0, "a getter changed the block");
    }

    /// A sticky status is returned again, without any callback, until the reset.
    fn sticks(&mut self) {
        let (p, w) = (self.p(), self.w());
        let mut consumed = 1;
        // SAFETY: a valid parser.
        unsafe {
            let x = b"x".as_ptr().cast();
            let status = match w.is_null() {
                true => deltawire_feed(p, x, 1, null(), null_mut(), &mut consumed),
                false => deltawire_feed_with(p, w, x, 1, null(), null_mut(), &mut consumed),
            };
            assert!(status <= -100 && consumed == 0);
            let finished = match w.is_null() {
                true => deltawire_finish(p, null(), null_mut()),
                false => deltawire_finish_with(p, w, null(), null_mut()),
            };
            assert_eq!(finished, status);
            match status {
                DELTAWIRE_E_STRICT => assert!(deltawire_error_quirk(p) < DELTAWIRE_QUIRKS),
                DELTAWIRE_E_ABORTED => assert_eq!(deltawire_user_code(p), -5),
                _ => assert!(deltawire_user_code(p) > 0),
            }
            assert!(deltawire_error_offset(p) <= self.stream.len() as u64);
        }
    }

    fn end(&self) -> Log {
        // SAFETY: zeros are valid numbers.
        let mut end: deltawire_end = unsafe { core::mem::zeroed() };
        end.size = size_of::<deltawire_end>() as u32;
        // SAFETY: a valid parser.
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
