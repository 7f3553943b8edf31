//! Finds texts that are sent again: all of a text so far in each delta, or all of it once more.
//!
//! Nothing is changed by such a guess, because a model may repeat itself, unless the caller says that the deltas are
//! [snapshots](crate::Config::snapshots). The tracker keeps no text, so a delta is compared with
//! what came before by lengths and hashes. Nearly every delta has at most half of the bytes before it. Such a delta is
//! not compared: it does not repeat all of them, and does not end a row that began with the first delta.

use crate::delta::Part;
use crate::hash;
use crate::json::Text;
use crate::visits::visit;

/// How many bytes at the front of a text are hashed.
const FRONT: u32 = 32;

/// The fewest bytes of a text that counts as sent once more.
const LEAST: u32 = 16;

/// The fewest bytes of a delta that the next one may begin with. They must not be all equal: `--`, `---` and `----` are
/// often a ruler.
const FEWEST: usize = 3;

/// How many bytes at each end of a long delta are hashed.
const MOST: usize = 1024;

/// What is known of the texts of one channel: the content or the reasoning of a choice, or the arguments of a call.
/// Lengths are in raw bytes, as sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeats {
    /// The length of all deltas once it is at least [`FRONT`], and 0 before that.
    len: u32,
    /// The length of all deltas until it is at least [`FRONT`], and the hash of their first [`FRONT`] bytes.
    early: u8,
    front: u32,
    /// The length of the last delta that was compared, and its hash, in which the length of the text at its end shows
    /// whether it is the delta before. Of snapshots, the length and the hash of all of the text.
    last: u32,
    last_hash: u32,
    rule: Rule,
}

/// How a delta is compared with the text before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// With all of the text, and with the delta before.
    Apart,
    /// In the same way, and the delta before began with the one before it, and was longer.
    Grew,
    /// What a delta repeats is cut off. `len` and `early` stay 0.
    Snapshots,
}

/// What [`Repeats`] would be after a delta, and whether the delta repeats what came before.
type Judged = (Repeats, bool);

impl Repeats {
    const NOTHING: Repeats =
        Repeats { len: 0, early: 0, front: hash::EMPTY, last: 0, last_hash: hash::EMPTY, rule: Rule::Apart };

    /// Returns the state before the first delta.
    pub(crate) const fn new(are_snapshots: bool) -> Self {
        Repeats { rule: if are_snapshots { Rule::Snapshots } else { Rule::Apart }, ..Repeats::NOTHING }
    }

    /// Takes in a text that repeats nothing. Returns `false`, with no effect, for any other text.
    #[inline(always)]
    pub(crate) fn pass(&mut self, text: Part, payload: &[u8]) -> bool {
        self.pass_short(text.len) || self.pass_compared(text.text(payload))
    }

    /// Takes in a text that has at most half of the bytes before it. Returns `false`, with no effect, for any other text.
    #[inline(always)]
    fn pass_short(&mut self, len: u32) -> bool {
        let is_short = len <= self.len / 2;
        if is_short {
            // After 4 GiB the text counts as a new one.
            self.len = self.len.wrapping_add(len);
        }
        is_short
    }

    #[cold]
    #[inline(never)]
    fn pass_compared(&mut self, text: Text<'_>) -> bool {
        if self.rule == Rule::Snapshots {
            return false;
        }
        let (after, repeats) = self.judge(text);
        if !repeats {
            *self = after;
        }
        !repeats
    }

    /// Takes in any text. Returns whether it repeats what came before. Of a snapshot, cuts off what it repeats.
    pub(crate) fn repeats(&mut self, text: &mut Part, payload: &[u8]) -> bool {
        if self.rule == Rule::Snapshots {
            return self.cut(text, payload);
        }
        if self.pass_short(text.len) {
            return false;
        }
        let (after, repeats) = self.judge(text.text(payload));
        *self = after;
        repeats
    }

    /// Cuts the text so far off the front of a text that begins with it. Returns whether it did. Any other text follows
    /// the text so far.
    #[inline(never)]
    fn cut(&mut self, text: &mut Part, payload: &[u8]) -> bool {
        let bytes = text.bytes(payload);
        visit!(bytes.len());
        let so_far = bytes.split_at_checked(self.last as usize);
        let again = so_far.filter(|(again, _)| self.last > 0 && hash::fnv(again) == self.last_hash);
        let rest = again.map_or(bytes, |(_, rest)| rest);
        if again.is_some() {
            *text = text.behind(self.last as usize);
        }
        (self.last, self.last_hash) =
            (self.last.saturating_add(rest.len() as u32), hash::fnv_after(self.last_hash, rest));
        again.is_some()
    }

    #[inline(never)]
    fn judge(&self, words: Text<'_>) -> Judged {
        let text = words.raw();
        let Repeats { len, early, front, last, last_hash, rule } = *self;
        let len = len.max(early.into());
        let grew = rule == Rule::Grew;
        let new_len = text.len() as u32;
        // A delta that was all of the text so far has its length.
        let is_several = last != len;
        let begins_again = || text.get(..FRONT.min(len) as usize).map(hash::fnv) == Some(front);
        let is_again =
            is_several && new_len == len && len >= LEAST && begins_again() && words.decoded_len() >= LEAST as usize;
        let before =
            text.get(..last as usize).filter(|before| new_len > last && last > 0 && digest(before) ^ len == last_hash);
        let may_grow = |before| is_text(Text::from_raw(before, words.parts().0));
        let grows = before.is_some_and(|before| grew || before.len() >= FEWEST && may_grow(before));
        let room = FRONT.saturating_sub(len) as usize;
        let front = if room == 0 { front } else { hash::fnv_after(front, text.get(..room).unwrap_or(text)) };
        let rule = if grows { Rule::Grew } else { Rule::Apart };
        let all = len.saturating_add(new_len);
        let (len, early) = if all < FRONT { (0, all as u8) } else { (all, 0) };
        let after = Repeats { len, early, front, last: new_len, last_hash: digest(text) ^ all, rule };
        (after, is_again || grows && grew)
    }
}

/// Returns a hash of a text, of a long one of its first and last bytes.
fn digest(text: &[u8]) -> u32 {
    let (first, rest) = text.split_at_checked(MOST).unwrap_or((text, &[]));
    let last = rest.get(rest.len().saturating_sub(MOST)..).unwrap_or_default();
    visit!(first.len().saturating_add(last.len()));
    hash::fnv_after(hash::fnv(first), last)
}

/// Whether a text has at least [`FEWEST`] decoded bytes that are not all equal.
fn is_text(mut text: Text<'_>) -> bool {
    let (mut first, mut differs) = (None, false);
    let len = text.take_first(u32::MAX, |bytes| {
        let first = *first.get_or_insert(bytes.first().copied());
        differs |= bytes.iter().any(|byte| Some(*byte) != first);
    });
    differs && len as usize >= FEWEST
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    extern crate std;
    use super::Repeats;
    use crate::delta::Part;
    use crate::json::TextFlags;
    use std::string::{String, ToString};
    use std::vec::Vec;

    /// Returns for each text whether it repeats those before it, by the whole way, and by the short way first.
    fn found(texts: &[&str]) -> Vec<bool> {
        let ways = [false, true].map(|is_short| {
            let mut repeats = Repeats::NOTHING;
            let read = |text: &&str| {
                let payload = std::format!("{{\"content\":\"{text}\"}}");
                let flags = if text.contains('\\') { TextFlags::ESCAPED } else { TextFlags::PLAIN };
                let part = Part { start: 12, len: text.len() as u32, flags, ..Part::NONE };
                let payload = payload.as_bytes();
                !(is_short && repeats.pass(part, payload)) && repeats.repeats(&mut { part }, payload)
            };
            texts.iter().map(read).collect::<Vec<_>>()
        });
        assert_eq!(ways[0], ways[1], "{texts:?}");
        ways[0].clone()
    }

    #[test]
    fn texts_so_far_are_found_from_the_third_on() {
        assert_eq!(found(&["Sure! ", "Sure! The ", "Sure! The a"]), [false, false, true]);
        let long = "A text of more bytes than any hash of the front covers. ";
        let so_far: Vec<String> = (0..4).map(|n| long.to_string() + &"x".repeat(n)).collect();
        let so_far: Vec<&str> = so_far.iter().map(String::as_str).collect();
        // The fourth has less than half of the bytes before it.
        assert_eq!(found(&so_far), [false, false, true, false]);
        let mut other = so_far.clone();
        other.insert(2, "b");
        assert_eq!(found(&other), [false, false, false, false, false]);
    }

    #[test]
    fn a_text_once_more_is_found_behind_several_deltas() {
        assert_eq!(found(&["The capital", " is Paris", "The capital is Paris"]), [false, false, true]);
        let (front, rest) = ("The capital of the country in", " question is Paris, which is a town");
        assert_eq!(found(&[front, rest, &(front.to_string() + rest)]), [false, false, true]);
        assert_eq!(found(&[front, rest, &("Not".to_string() + &front[3..] + rest)]), [false, false, false]);
    }

    #[test]
    fn snapshots_lose_what_they_repeat() {
        for (texts, rests) in [
            (&["He", "Hello", "Hello", "Hello, you"][..], &["He", "llo", "", ", you"][..]),
            (&["He", "llo", "Hello, you", "!", "Hello, you!"], &["He", "llo", ", you", "!", ""]),
            (&["a", "b", "ab", "abc"], &["a", "b", "", "c"]),
        ] {
            let mut repeats = Repeats::new(true);
            for (text, rest) in texts.iter().zip(rests) {
                let mut part = Part { len: text.len() as u32, ..Part::NONE };
                assert!(!repeats.pass(part, text.as_bytes()));
                assert_eq!(repeats.repeats(&mut part, text.as_bytes()), text != rest, "{texts:?}");
                assert_eq!(part.bytes(text.as_bytes()), rest.as_bytes(), "{texts:?}");
            }
        }
    }

    #[test]
    fn a_model_may_repeat_itself() {
        for texts in [
            // Too short, or a ruler.
            &["ab", "abc", "abcd", "abcde"][..2],
            &["----", "-----", "------"],
            &[r"\t\t", r"\t\t\t", r"\t\t\t\t"],
            &[r"\u003d", r"\u003d\u003d", r"\u003d\u003d\u003d"],
            // One delta, sent twice.
            &["The capital is Paris", "The capital is Paris"],
            // Each word once more, but no longer than before.
            &["abc", "abc", "abc", "abc"],
            &["word ", "word by ", "word", "word by word"],
            &["ten bytes ", "short", "ten bytes short"][..2],
        ] {
            assert!(found(texts).iter().all(|found| !found), "{texts:?}");
        }
    }
}
