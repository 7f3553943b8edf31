//! Events as data: a text for each, with letters for what varies.

use super::log::Tag;
use super::out::{Arg, Frame};
use super::parts::{Event, Of, Part};
use super::state::State;
use crate::json::{Text, Value};
use crate::message::put_paths;
use crate::stream::Protocol;

impl State {
    /// Writes an event without the blank line behind it.
    pub(super) fn event_of(&self, frame: &mut Frame<'_>, of: Of, [name, data]: Event, args: &[Arg<'_>]) {
        match self.protocol {
            Protocol::Chat => self.fill(frame, of, name, &[]),
            _ => {
                for (before, behind) in [("event: ", "\ndata: {\"type\":\""), ("", "\"")] {
                    frame.put(Arg::Word(before));
                    self.fill(frame, of, name, &[]);
                    frame.put(Arg::Word(behind));
                }
            }
        }
        if self.protocol == Protocol::Responses {
            self.fill(frame, of, ",\"sequence_number\":$s", &[]);
        }
        self.fill(frame, of, data, args);
    }

    /// Writes a text in which a `$` and a letter stand for what varies:
    ///
    /// - `v` the next argument, `T` the text (nothing; the frame notes where);
    /// - `i` the ID of the response, `m` its model, `M` its further members, `t` its time, `u` the token counts, `s` the
    ///   number of the event;
    /// - `h` the choice, `x` the number of the call or the part, `c` the ID of the call, `l` its place among all calls, `n` its
    ///   name, `f` its kind, `a` what its arguments are called, `p` those that came by path;
    /// - of chat completions, `k` the beginning of a chunk, `e` its end behind a finish reason, `z` its end behind the
    ///   contents of a delta;
    /// - of Responses, digits for the [words](Self::words) of an item, `A` where an event belongs, `I` the beginning of an
    ///   item, `N` its annotations, `S` its status;
    /// - of Anthropic, `q` the stop reason, `Q` the stop sequence.
    pub(super) fn fill(&self, frame: &mut Frame<'_>, of: Of, text: &str, args: &[Arg<'_>]) {
        let mut args = args.iter();
        let mut parts = text.as_bytes().split(|byte| *byte == b'$');
        frame.bytes(parts.next().unwrap_or_default());
        for part in parts {
            let Some((letter, rest)) = part.split_first() else { return };
            match letter {
                b'v' => args.next().into_iter().for_each(|arg| frame.put(*arg)),
                b'T' => frame.hole = frame.len(),
                letter => self.letter(frame, of, *letter),
            }
            frame.bytes(rest);
        }
    }

    fn letter(&self, frame: &mut Frame<'_>, of: Of, letter: u8) {
        let place = match of.1 {
            Part::Call(place) => place,
            _ => usize::MAX,
        };
        let (memory, call, head) = (frame.memory, self.calls.get(place), &self.head);
        let kept = |from, tag, place| self.log.bytes(memory, from, (tag, place));
        let text = |bytes| Arg::Inner(Text::verbatim(bytes));
        let word = match letter {
            b'i' => return frame.bytes(self.id.of(memory)),
            b'm' => return frame.bytes(self.model.of(memory)),
            b'M' => return frame.bytes(self.members.of(memory)),
            b'k' => return frame.bytes(self.chunk.of(memory)),
            b't' => return frame.number(head.created),
            b'h' => return frame.number(of.0.into()),
            b'l' => return frame.number(place as u64),
            b'x' if self.protocol == Protocol::Chat => return frame.number(call.index.into()),
            b'x' => return frame.number(self.row.index.into()),
            b's' => {
                frame.number(head.sequence);
                return frame.number_end = frame.len();
            }
            b'u' => match self.protocol {
                Protocol::Chat => return self.chat_usage(frame),
                Protocol::Responses => return self.responses_usage(frame),
                _ => return self.anthropic_usage(frame),
            },
            b'c' if call.has_id => return kept(call.waiting.at, Tag::Id, place).for_each(|id| frame.put(text(id))),
            // One that never came.
            b'c' if self.protocol == Protocol::Anthropic => "toolu_$i_$l",
            b'c' => "call_$i_$l",
            b'n' => return kept(call.name, Tag::Name, place).for_each(|name| frame.put(text(name))),
            b'Q' => return kept(self.stop.at, Tag::Stop, 0).for_each(|stop| frame.put(text(stop))),
            b'N' => return kept(self.row.item, Tag::Note, 0).for_each(|note| frame.bytes(note)),
            b'p' => {
                let lists = kept(call.waiting.at, Tag::Paths, place).map(Value::from_raw);
                let pieces = lists.flat_map(|list| list.elements().flatten());
                return put_paths(pieces, &mut |bytes| frame.bytes(bytes));
            }
            b'A' if self.words(of.1)[2].is_empty() => ",\"item_id\":\"$0$i_$x\",\"output_index\":$x",
            b'A' => ",\"item_id\":\"$0$i_$x\",\"output_index\":$x,\"$2_index\":0",
            b'I' if place == usize::MAX => "\"id\":\"$0$i_$x\",\"type\":\"$1\"",
            b'I' => "\"id\":\"$0$i_$x\",\"type\":\"$1\",\"call_id\":\"$c\",\"name\":\"$n\"",
            b'S' if self.is_cut() => "incomplete",
            b'S' => "completed",
            b'q' => self.row.stop,
            b'f' if call.is_custom => "custom",
            b'f' => "function",
            b'a' if call.is_custom => "input",
            b'a' => "arguments",
            b'z' => "},\"finish_reason\":null$e",
            b'e' if head.usage => "}],\"usage\":null}",
            b'e' => "}]}",
            digit => self.words(of.1).get(usize::from(digit.wrapping_sub(b'0'))).copied().unwrap_or_default(),
        };
        self.fill(frame, of, word, &[]);
    }
}
