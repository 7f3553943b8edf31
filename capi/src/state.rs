//! What a parser knows of its stream: how it ended, token counts, last event ID, failure and quirks.

use crate::block::{look, Phase, ReadBlock};
use crate::convert::{answer, buffer, check_size, fill, give_usage, sized, str_of};
use crate::names::quirk_of;
use crate::types::*;
use core::ffi::c_char;
use deltawire::stream::{End, Media, Pending, Protocol};
use deltawire::Verdict;

/// Writes how the stream ended, or how it would end now. Answers OK, E_NULL, E_ALIGN, E_STATE,
/// E_REENTRANT, E_CONFIG (`size`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_end_of(p: *const deltawire_parser, out: *mut deltawire_end) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let ReadBlock { core, stream, .. } = ok!(look(p));
        let end = stream.end();
        fill(out, |size| deltawire_end {
            size,
            verdict: end.verdict as u32,
            pending: end.pending as u32,
            choices_seen: end.choices_seen,
            choices_finished: end.choices_finished,
            malformed: end.malformed,
            too_long: end.too_long,
            done: u8::from(end.done),
            api_error: u8::from(end.api_error),
            body: u8::from(end.body),
            finished: u8::from(core.phase == Phase::Ended),
            offset: end.offset,
            left_out: end.left_out,
            complete: u32::from(end.is_complete() && core.sticky == DELTAWIRE_OK),
            media: end.media.map_or(DELTAWIRE_MEDIA_NONE, |media| media as u32),
            protocol: end.protocol.map_or(DELTAWIRE_PROTOCOL_NONE, |protocol| protocol as u32),
            replaced: end.replaced,
            broken_calls: end.broken_calls,
            limits: end.limits().into(),
            first_len: end.first_bytes().len() as u32,
            first_bytes: {
                let mut bytes = [0; DELTAWIRE_FIRST_BYTES];
                bytes.iter_mut().zip(end.first_bytes()).for_each(|(to, byte)| *to = *byte);
                bytes
            },
        })
    }
}

/// Writes in words how a stream ended, on one line: the verdict, what came instead of a stream with
/// its first bytes, the protocol that is not read, what was lost, and the limits to raise, by their
/// names in `deltawire_config`. Characters that a terminal could obey are escaped. As snprintf, it
/// writes at most `cap` bytes to `buf`, of which the last is NUL, and returns the length of the
/// whole text without the NUL; a text that does not fit is cut at a character. 1024 bytes hold every
/// text. `buf` may be NULL if `cap` is 0. Returns 0, and writes nothing, if `end` or `buf` is NULL
/// or the size of `end` is unknown.
#[no_mangle]
pub unsafe extern "C" fn deltawire_end_text(end: *const deltawire_end, buf: *mut c_char, cap: usize) -> usize {
    // SAFETY: the caller promises valid pointers.
    let given = unsafe {
        let Ok(size) = check_size(end.cast_mut()) else { return 0 };
        let Ok(given) = sized(end, size as usize) else { return 0 };
        given
    };
    // SAFETY: as above.
    let Ok(room) = (unsafe { buffer(buf.cast(), cap) }) else { return 0 };
    let (mut len, mut written, mut splits) = (0usize, 0usize, false);
    restored(&given).put(true, &mut |text| {
        for byte in text.bytes() {
            // The last byte of the buffer is for the NUL.
            match room.get_mut(len).filter(|_| len.saturating_add(1) < cap) {
                Some(to) => (*to, written) = (byte, len.saturating_add(1)),
                None => splits |= len == written && byte & 0xC0 == 0x80,
            }
            len = len.saturating_add(1);
        }
    });
    if splits {
        written = room.iter().take(written).rposition(|byte| byte & 0xC0 != 0x80).unwrap_or(0);
    }
    if let Some(nul) = room.get_mut(written) {
        *nul = 0;
    }
    len
}

/// The end that the struct describes, as far as its text needs it.
fn restored(given: &deltawire_end) -> End {
    let verdict = Verdict::from_number(given.verdict).unwrap_or(Verdict::Empty);
    let first = given.first_bytes.get(..given.first_len as usize).unwrap_or_default();
    let mut end = End::restored(verdict, given.complete != 0, given.limits as u8, first);
    end.media = Media::from_number(given.media);
    end.protocol = Protocol::from_number(given.protocol);
    end.pending = Pending::from_number(given.pending).unwrap_or(Pending::Nothing);
    (end.done, end.body) = (given.done != 0, given.body != 0);
    (end.malformed, end.too_long, end.left_out) = (given.malformed, given.too_long, given.left_out);
    (end.replaced, end.broken_calls) = (given.replaced, given.broken_calls);
    end.offset = given.offset;
    end
}

/// The token counts so far: those of the last usage, to which a usage of chat completions without
/// prompt, completion and total adds its details, or, for Anthropic, which spreads the counts over
/// several events, all of them merged. Do not bill by the counts of an incomplete stream: a cut
/// Anthropic stream has the completion count of its beginning. Answers OK, ABSENT (the stream has
/// none yet), E_NULL, E_ALIGN, E_STATE, E_REENTRANT, E_CONFIG (`size`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_last_usage(
    p: *const deltawire_parser,
    out: *mut deltawire_usage,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let look = ok!(look(p));
        give_usage(out, look.core.emitter.usage().copied())
    }
}

/// The last event ID: send it as `Last-Event-ID` to reconnect. Bytes, valid until the next call on
/// the parser. Answers OK, ABSENT, E_NULL, E_ALIGN, E_STATE, E_REENTRANT.
#[no_mangle]
pub unsafe extern "C" fn deltawire_last_event_id(
    p: *const deltawire_parser,
    out: *mut deltawire_str,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let ReadBlock { stream, storage, .. } = ok!(look(p));
        let id = Some(stream.last_event_id(storage)).filter(|id| !id.is_empty());
        answer(out, || id.map(str_of).ok_or(DELTAWIRE_ABSENT))
    }
}

/// After E_STRICT: the number of the quirk; otherwise, and from a callback, `DELTAWIRE_QUIRKS`.
#[no_mangle]
pub unsafe extern "C" fn deltawire_error_quirk(p: *const deltawire_parser) -> u32 {
    // SAFETY: a block, as the caller promises.
    unsafe { look(p) }.map_or(DELTAWIRE_QUIRKS, |look| look.core.error_quirk)
}

/// After a status of -100 or below: the stream offset of the event that failed; otherwise 0.
#[no_mangle]
pub unsafe extern "C" fn deltawire_error_offset(p: *const deltawire_parser) -> u64 {
    // SAFETY: a block, as the caller promises.
    unsafe { look(p) }.map_or(0, |look| look.core.error_offset)
}

/// After E_ABORTED and E_CALLBACK: the number that the callback returned; otherwise 0.
#[no_mangle]
pub unsafe extern "C" fn deltawire_user_code(p: *const deltawire_parser) -> i32 {
    // SAFETY: a block, as the caller promises.
    unsafe { look(p) }.map_or(0, |look| look.core.user_code)
}

/// How often the stream has the quirk; counting stops at 65,535. Returns 0 for unknown numbers, and
/// from a callback.
#[no_mangle]
pub unsafe extern "C" fn deltawire_quirk_count(p: *const deltawire_parser, quirk: u32) -> u64 {
    // SAFETY: a block, as the caller promises.
    let Ok(look) = (unsafe { look(p) }) else { return 0 };
    quirk_of(quirk).map_or(0, |quirk| u64::from(look.stream.quirk_count(quirk)))
}
