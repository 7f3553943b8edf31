//! Events as data: a text for each, with letters for what varies.

use super::log::Tag;
use super::out::{Arg, Frame};
use super::parts::{Event, Of, Part};
use super::state::State;
use crate::json::Value;
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
    /// - `h` the choice, `x` the number of the call or the part, `c` the ID of the call, `n` its name, `f` its kind, `a` what
    ///   its arguments are called, `p` those that came by path;
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
        let (memory, is_chat) = (frame.memory, self.protocol == Protocol::Chat);
        let word = match letter {
            b'i' => return frame.bytes(self.id.of(memory)),
            b'm' => return frame.bytes(self.model.of(memory)),
            b'M' => return frame.bytes(self.members.of(memory)),
            b'k' => return frame.bytes(self.chunk.of(memory)),
            b't' => return frame.put(Arg::Number(self.head.created)),
            b'h' => return frame.put(Arg::Number(of.0.into())),
            b'x' => {
                return frame
                    .put(Arg::Number(if is_chat { self.calls.get(place).index } else { self.row.index }.into()))
            }
            b's' => {
                frame.put(Arg::Number(self.head.sequence));
                return frame.number = frame.len();
            }
            b'u' => match self.protocol {
                Protocol::Chat => return self.chat_usage(frame),
                Protocol::Responses => return self.responses_usage(frame),
                _ => return self.anthropic_usage(frame),
            },
            b'c' => return self.call_id(frame, place),
            b'n' => return self.call_word(frame, place, (Tag::Name, Tag::NewName)),
            b'p' => {
                let lists = self
                    .log
                    .records(memory, self.calls.get(place).waiting.at)
                    .filter(|record| record.place == place && record.is(Tag::Paths));
                let pieces = lists.flat_map(|list| {
                    let mut at = 0;
                    core::iter::from_fn(move || Value::from_raw(list.bytes).element_at(&mut at))
                });
                return put_paths(pieces, &mut |bytes| frame.bytes(bytes));
            }
            b'N' => {
                for note in self.log.records(memory, self.row.item).filter(|record| record.is(Tag::Note)) {
                    frame.bytes(note.bytes);
                }
                return;
            }
            b'A' if self.words(of.1)[2].is_empty() => ",\"item_id\":\"$0$i_$x\",\"output_index\":$x",
            b'A' => ",\"item_id\":\"$0$i_$x\",\"output_index\":$x,\"$2_index\":0",
            b'I' if place == usize::MAX => "\"id\":\"$0$i_$x\",\"type\":\"$1\"",
            b'I' => "\"id\":\"$0$i_$x\",\"type\":\"$1\",\"call_id\":\"$c\",\"name\":\"$n\"",
            b'S' if self.is_cut() => "incomplete",
            b'S' => "completed",
            b'q' => self.row.stop,
            b'Q' => {
                let stop = self.log.next(memory, &mut self.stop.clone(), |record| record.is(Tag::Stop));
                return stop.into_iter().for_each(|word| frame.put(Arg::Kept(word)));
            }
            b'f' if self.is_custom(of.1) => "custom",
            b'f' => "function",
            b'a' if self.is_custom(of.1) => "input",
            b'a' => "arguments",
            b'z' if self.head.usage => "},\"finish_reason\":null}],\"usage\":null}",
            b'z' => "},\"finish_reason\":null}]}",
            b'e' if self.head.usage => "}],\"usage\":null}",
            b'e' => "}]}",
            digit => self.words(of.1).get(usize::from(digit.wrapping_sub(b'0'))).copied().unwrap_or_default(),
        };
        self.fill(frame, of, word, &[]);
    }
}
