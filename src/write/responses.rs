//! Writes OpenAI Responses.
//!
//! Each item ends with its whole text, and the stream with all items. So the log has the items as the JSON that the end
//! of the stream repeats, and the events that repeat a part of them are copied from there, in as many calls as the room
//! needs.

use super::calls::{CUSTOM, HAS_ARGUMENTS};
use super::log::{Chain, Mark, Tag};
use super::out::{Frame, Out, To, Written};
use super::parts::{error_message, Open, Part, Range, Source, Task};
use super::state::State;
use super::WriteError;
use crate::chat::{ApiError, FinishKind, TokenCounts};
use crate::json::{Text, Value};

/// The tail of the last event, which has the usage.
const LAST: &str = "";

impl State {
    /// Writes an event. `write` writes the members behind its type and number.
    #[inline(always)]
    fn response_event<R>(
        &mut self,
        out: &mut Out<'_>,
        name: &str,
        write: impl FnOnce(&mut Frame<'_>) -> Written<R>,
    ) -> Written<R> {
        let number = self.sequence;
        self.frame(out, |frame| {
            frame.begin_typed(name);
            frame.bytes(b",\"sequence_number\":");
            frame.number(number);
            write(frame)
        })
    }

    /// Writes the members that tell where an event of the open item belongs.
    #[inline(always)]
    fn address(&self, frame: &mut Frame<'_>, memory: &[u8]) {
        frame.bytes(b",\"item_id\":\"");
        self.item_id(frame, memory, self.serial.open);
        frame.bytes(b"\",\"output_index\":");
        frame.number(self.serial.index.into());
        frame.bytes(match self.serial.open {
            Open::Thinking => b",\"summary_index\":0",
            Open::Text | Open::Refusal => b",\"content_index\":0",
            _ => b"",
        });
    }

    #[inline(always)]
    fn item_id(&self, frame: &mut Frame<'_>, memory: &[u8], open: Open) {
        frame.bytes(match open {
            Open::Thinking => b"rs_",
            Open::Call(place) if self.calls.get(place).has(CUSTOM) => b"ctc_",
            Open::Call(_) => b"fc_",
            _ => b"msg_",
        });
        frame.bytes(self.id.of(memory));
        frame.bytes(b"_");
        frame.number(self.serial.index.into());
    }

    /// Writes the members of an item that are known when it begins, without the closing brace.
    fn item(&self, frame: &mut Frame<'_>, memory: &[u8], open: Open) {
        frame.bytes(b"{\"id\":\"");
        self.item_id(frame, memory, open);
        let Open::Call(place) = open else {
            return frame.bytes(match open {
                Open::Thinking => b"\",\"type\":\"reasoning\"",
                _ => b"\",\"type\":\"message\",\"role\":\"assistant\"",
            });
        };
        let call = self.calls.get(place);
        let is_custom = call.has(CUSTOM);
        frame.bytes(if is_custom { b"\",\"type\":\"custom_tool_call\"" } else { b"\",\"type\":\"function_call\"" });
        frame.bytes(b",\"call_id\":\"");
        call.id(frame, memory, ("call_", self.id.of(memory), place));
        frame.bytes(b"\",\"name\":\"");
        call.name(frame, memory);
        frame.bytes(b"\"");
    }

    /// Writes the next event of a task, or a step between two. Returns whether it was the last one.
    pub(super) fn responses_step(&mut self, to: &mut To<'_, '_>, task: Task) -> Written<bool> {
        let is_call = matches!(task, Task::Open(Open::Call(_))) || matches!(self.serial.open, Open::Call(_));
        let step = self.step;
        match (task, step) {
            (Task::Begin, 0) => self.lifecycle(to, "response.created").map(|()| false),
            (Task::Begin, _) => self.lifecycle(to, "response.in_progress").map(|()| true),
            (Task::Open(open), 0) => self.item_added(to, open).map(|()| false),
            (Task::Open(open), 1) if !is_call => self.part_added(to, open).map(|()| false),
            (Task::Open(open), _) => self.log_beginning(to.memory, open).map(|()| true),
            (Task::Close, 0) => self.log_end(to.memory).map(|()| false),
            (Task::Close, 1) => self.text_done(to).map(|()| false),
            (Task::Close, 2) if !is_call => self.part_done(to).map(|()| false),
            (Task::Close, 3) => self.item_done(to).map(|()| false),
            // Arguments are no part of an item.
            (Task::Close, 2) => Ok(false),
            (Task::Close, _) => {
                self.serial.items.closed = self.serial.items.len;
                Ok(true)
            }
            (Task::End, 0) => {
                let name = match self.serial.reason {
                    FinishKind::Length | FinishKind::ContentFilter => "response.incomplete",
                    _ => "response.completed",
                };
                self.last_event(to, name, None).map(|()| false)
            }
            (Task::End, _) | (Task::Nothing, _) => Ok(true),
        }
    }

    /// Writes the members of a response up to its output.
    fn response(&self, frame: &mut Frame<'_>, memory: &[u8], status: &str, error: Option<&ApiError<'_>>) {
        frame.bytes(b",\"response\":{\"id\":\"");
        frame.bytes(self.id.of(memory));
        frame.bytes(b"\",\"object\":\"response\",\"created_at\":");
        frame.number(self.created);
        frame.bytes(b",\"status\":\"");
        frame.bytes(status.as_bytes());
        frame.bytes(b"\",\"error\":");
        match error {
            None => frame.bytes(b"null"),
            Some(error) => {
                let code = error.code().or(error.kind()).unwrap_or(Text::verbatim(b"server_error"));
                frame.bytes(b"{\"code\":");
                frame.string(code);
                frame.bytes(b",\"message\":");
                frame.string(error_message(error));
                frame.bytes(b"}");
            }
        }
        frame.bytes(match (status, self.serial.reason) {
            ("incomplete", FinishKind::Length) => b",\"incomplete_details\":{\"reason\":\"max_output_tokens\"}",
            ("incomplete", _) => b",\"incomplete_details\":{\"reason\":\"content_filter\"}",
            _ => b",\"incomplete_details\":null",
        });
        frame.bytes(b",\"model\":\"");
        frame.bytes(self.model.of(memory));
        frame.bytes(b"\"");
        frame.bytes(self.members.of(memory));
        frame.bytes(b",\"output\":[");
    }

    fn lifecycle(&mut self, to: &mut To<'_, '_>, name: &str) -> Written {
        let state = *self;
        self.response_event(to.out, name, |frame| {
            state.response(frame, to.memory, "in_progress", None);
            frame.bytes(b"],\"usage\":null}}\n\n");
            Ok(())
        })
    }

    fn item_added(&mut self, to: &mut To<'_, '_>, open: Open) -> Written {
        let state = *self;
        self.response_event(to.out, "response.output_item.added", |frame| {
            frame.bytes(b",\"output_index\":");
            frame.number(state.serial.index.into());
            frame.bytes(b",\"item\":");
            state.item(frame, to.memory, open);
            frame.bytes(b",\"status\":\"in_progress\"");
            frame.bytes(match open {
                Open::Thinking => b",\"summary\":[]}}\n\n",
                Open::Call(place) if state.calls.get(place).has(CUSTOM) => b",\"input\":\"\"}}\n\n",
                Open::Call(_) => b",\"arguments\":\"\"}}\n\n",
                _ => b",\"content\":[]}}\n\n",
            });
            Ok(())
        })
    }

    fn part_added(&mut self, to: &mut To<'_, '_>, open: Open) -> Written {
        let mut state = *self;
        state.serial.open = open;
        let (name, part): (&str, &[u8]) = match open {
            Open::Thinking => {
                ("response.reasoning_summary_part.added", b"{\"type\":\"summary_text\",\"text\":\"\"}}\n\n")
            }
            Open::Refusal => ("response.content_part.added", b"{\"type\":\"refusal\",\"refusal\":\"\"}}\n\n"),
            _ => (
                "response.content_part.added",
                b"{\"type\":\"output_text\",\"text\":\"\",\"annotations\":[],\"logprobs\":[]}}\n\n",
            ),
        };
        self.response_event(to.out, name, |frame| {
            state.address(frame, to.memory);
            frame.bytes(b",\"part\":");
            frame.bytes(part);
            Ok(())
        })
    }

    /// Appends to the output in the log. Returns how many bytes, and the place behind them.
    fn log_output(
        &mut self,
        memory: &mut [u8],
        write: impl FnOnce(&State, &mut Frame<'_>, &[u8]),
    ) -> Written<(u64, Mark)> {
        let (mut log, mut output, state) = (self.log, self.serial.items.output, *self);
        let len = log.append(memory, &mut output, Tag::Joined, |frame, used| {
            write(&state, frame, used);
            Ok(())
        })?;
        (self.log, self.serial.items.output) = (log, output);
        self.serial.items.len = self.serial.items.len.saturating_add(len as u64);
        Ok((len as u64, output.end(memory)))
    }

    fn log_beginning(&mut self, memory: &mut [u8], open: Open) -> Written {
        let is_first = self.serial.items.len == 0;
        let (mut item, mut part) = (0, 0);
        let (len, end) = self.log_output(memory, |state, frame, used| {
            frame.bytes(if is_first { b"" } else { b"," });
            item = frame.len();
            state.item(frame, used, open);
            frame.bytes(match open {
                Open::Thinking => b",\"summary\":[",
                Open::Call(_) => b"",
                _ => b",\"content\":[",
            });
            part = frame.len();
            frame.bytes(match open {
                Open::Thinking => b"{\"type\":\"summary_text\",\"text\":\"",
                Open::Refusal => b"{\"type\":\"refusal\",\"refusal\":\"",
                Open::Call(place) if state.calls.get(place).has(CUSTOM) => b",\"input\":\"",
                Open::Call(_) => b",\"arguments\":\"",
                _ => b"{\"type\":\"output_text\",\"text\":\"",
            });
        })?;
        let items = &mut self.serial.items;
        let place = |at: usize| {
            let back = len.saturating_sub(at as u64);
            Range { from: end.back(back), len: items.len.saturating_sub(back) }
        };
        (items.item, items.part, items.text) = (place(item), place(part), place(len as usize));
        (items.notes, items.note_count) = (Chain::NONE, 0);
        Ok(())
    }

    /// Appends the end of the open item to the log. From here on, the length of each range is its length.
    fn log_end(&mut self, memory: &mut [u8]) -> Written {
        let (open, is_signed) = (self.serial.open, self.serial.is_signed);
        let call = match open {
            Open::Call(place) => Some(self.calls.get(place)),
            _ => None,
        };
        // Arguments that never came are an empty object.
        let is_bare = call.is_some_and(|call| !call.has(HAS_ARGUMENTS | CUSTOM));
        let is_cut = matches!(self.serial.reason, FinishKind::Length | FinishKind::ContentFilter);
        let (mut text, mut part) = (0, 0);
        let before = self.serial.items.len;
        self.log_output(memory, |state, frame, used| {
            frame.bytes(if is_bare { b"{}" } else { b"" });
            text = frame.len();
            // The signature closed the text and its part.
            frame.bytes(match open {
                Open::Text => b"\",\"annotations\":[",
                Open::Call(_) => b"\"",
                _ if is_signed => b"\"",
                _ => b"\"}",
            });
            if open == Open::Text {
                state.serial.items.notes.each(used, |_, bytes| frame.bytes(bytes));
                frame.bytes(b"],\"logprobs\":[]}");
            }
            part = frame.len();
            frame.bytes(if call.is_some() || is_signed { b"" } else { b"]" });
            frame.bytes(if is_cut { b",\"status\":\"incomplete\"}" } else { b",\"status\":\"completed\"}" });
        })?;
        let items = &mut self.serial.items;
        if !is_signed {
            items.text.len = before.saturating_add(text as u64).saturating_sub(items.text.len);
            items.part.len = before.saturating_add(part as u64).saturating_sub(items.part.len);
        }
        items.item.len = items.len.saturating_sub(items.item.len);
        Ok(())
    }

    /// Keeps the encrypted reasoning, which the end of the item has.
    pub(super) fn responses_signature(&mut self, memory: &mut [u8], text: Text<'_>) -> Written {
        let before = self.serial.items.len;
        self.log_output(memory, |_, frame, _| {
            frame.bytes(b"\"}],\"encrypted_content\":\"");
            frame.text(text, u32::MAX);
        })?;
        let items = &mut self.serial.items;
        items.text.len = before.saturating_sub(items.text.len);
        items.part.len = before.saturating_add(2).saturating_sub(items.part.len);
        Ok(())
    }

    /// Writes an event with the beginning of a text, and keeps that in the log. Returns how many raw bytes are left.
    pub(super) fn responses_piece(
        &mut self,
        to: &mut To<'_, '_>,
        part: Part,
        source: Source<'_>,
        taken: usize,
    ) -> Written<usize> {
        let name = match part {
            Part::Reasoning => "response.reasoning_summary_text.delta",
            Part::Refusal => "response.refusal.delta",
            Part::Arguments(place) if self.calls.get(place).has(CUSTOM) => "response.custom_tool_call_input.delta",
            Part::Arguments(_) => "response.function_call_arguments.delta",
            _ => "response.output_text.delta",
        };
        let before = (to.out.len(), *self);
        let used = &*to.memory;
        let (text, limit) = (source.rest(used, &self.calls, taken), self.text_len);
        let (from, until, left) = self.response_event(to.out, name, |frame| {
            before.1.address(frame, used);
            frame.bytes(b",\"delta\":\"");
            let from = frame.len();
            let rest = frame.text(text, limit);
            let until = frame.len();
            frame.bytes(if part == Part::Content { b"\",\"logprobs\":[]}\n\n" } else { b"\"}\n\n" });
            Ok((from, until, rest.raw().len()))
        })?;
        let (from, until) = (before.0.saturating_add(from), before.0.saturating_add(until));
        let escaped = to.out.written().get(from..until).unwrap_or_default();
        let kept = self.log_output(to.memory, |_, frame, _| frame.bytes(escaped));
        if let Err(error) = kept {
            to.out.cut(before.0);
            *self = before.1;
            return Err(error);
        }
        Ok(left)
    }

    pub(super) fn responses_annotation(&mut self, to: &mut To<'_, '_>, one: Value<'_>) -> Written {
        let before = (to.out.len(), *self);
        let (count, mut notes) = (self.serial.items.note_count, self.serial.items.notes);
        let used = &*to.memory;
        let (from, until) = self.response_event(to.out, "response.output_text.annotation.added", |frame| {
            before.1.address(frame, used);
            frame.bytes(b",\"annotation_index\":");
            frame.number(count);
            frame.bytes(b",\"annotation\":");
            let from = frame.len();
            frame.json(one)?;
            let until = frame.len();
            frame.bytes(b"}\n\n");
            Ok((from, until))
        })?;
        let (from, until) = (before.0.saturating_add(from), before.0.saturating_add(until));
        let note = to.out.written().get(from..until).unwrap_or_default();
        let kept = self.log.append(to.memory, &mut notes, Tag::Joined, |frame, _| {
            frame.bytes(if count > 0 { b"," } else { b"" });
            frame.bytes(note);
            Ok(())
        });
        if let Err(error) = kept {
            to.out.cut(before.0);
            *self = before.1;
            return Err(error);
        }
        (self.serial.items.notes, self.serial.items.note_count) = (notes, count.saturating_add(1));
        Ok(())
    }

    /// Writes the beginning of an event that repeats a range of the output, which [`write_body`](Self::write_body) then
    /// goes on with.
    fn repeat(
        &mut self,
        out: &mut Out<'_>,
        name: &str,
        (range, tail): (Range, &'static str),
        write: impl FnOnce(&State, &mut Frame<'_>),
    ) -> Written {
        let state = *self;
        self.response_event(out, name, |frame| {
            write(&state, frame);
            Ok(())
        })?;
        self.serial.items.body = Some((range, tail));
        Ok(())
    }

    fn text_done(&mut self, to: &mut To<'_, '_>) -> Written {
        let (name, member, tail): (&str, &[u8], &str) = match self.serial.open {
            Open::Thinking => ("response.reasoning_summary_text.done", b",\"text\":\"", "\"}\n\n"),
            Open::Refusal => ("response.refusal.done", b",\"refusal\":\"", "\"}\n\n"),
            Open::Call(place) if self.calls.get(place).has(CUSTOM) => {
                ("response.custom_tool_call_input.done", b",\"input\":\"", "\"}\n\n")
            }
            Open::Call(_) => ("response.function_call_arguments.done", b",\"arguments\":\"", "\"}\n\n"),
            _ => ("response.output_text.done", b",\"text\":\"", "\",\"logprobs\":[]}\n\n"),
        };
        self.repeat(to.out, name, (self.serial.items.text, tail), |state, frame| {
            state.address(frame, to.memory);
            frame.bytes(member);
        })
    }

    fn part_done(&mut self, to: &mut To<'_, '_>) -> Written {
        let is_thinking = self.serial.open == Open::Thinking;
        let name = if is_thinking { "response.reasoning_summary_part.done" } else { "response.content_part.done" };
        self.repeat(to.out, name, (self.serial.items.part, "}\n\n"), |state, frame| {
            state.address(frame, to.memory);
            frame.bytes(b",\"part\":");
        })
    }

    fn item_done(&mut self, to: &mut To<'_, '_>) -> Written {
        self.repeat(to.out, "response.output_item.done", (self.serial.items.item, "}\n\n"), |state, frame| {
            frame.bytes(b",\"output_index\":");
            frame.number(state.serial.index.into());
            frame.bytes(b",\"item\":");
        })
    }

    fn last_event(&mut self, to: &mut To<'_, '_>, name: &str, error: Option<&ApiError<'_>>) -> Written {
        let status = name.strip_prefix("response.").unwrap_or(name);
        let output = Range { from: Mark::START, len: self.serial.items.closed };
        self.repeat(to.out, name, (output, LAST), |state, frame| state.response(frame, to.memory, status, error))
    }

    /// Ends the stream with a failed response, which has the items that were closed.
    pub(super) fn responses_error(&mut self, to: &mut To<'_, '_>, error: &ApiError<'_>) -> Written {
        self.last_event(to, "response.failed", Some(error))?;
        self.end_behind(to)
    }

    /// Writes what is left of an event that repeats a range of the output, as much as there is room for.
    pub(super) fn write_body(&mut self, to: &mut To<'_, '_>) -> Written {
        let Some((mut range, tail)) = self.serial.items.body else { return Ok(()) };
        let output = self.serial.items.output;
        while range.len > 0 {
            let mut mark = range.from;
            let bytes = output.next(to.memory, &mut mark, range.len);
            let wrote = to.out.fill(bytes);
            range.len = range.len.saturating_sub(wrote as u64);
            range.from = mark.back(bytes.len().saturating_sub(wrote) as u64);
            self.serial.items.body = Some((range, tail));
            if wrote == 0 {
                if bytes.is_empty() {
                    break;
                }
                return Err(WriteError::NeedRoom { need: 1 });
            }
        }
        let counts = self.counts();
        to.out.frame(|frame| {
            if tail.is_empty() {
                frame.bytes(b"],\"usage\":");
                usage(frame, counts);
                frame.bytes(b"}}\n\n");
            }
            frame.bytes(tail.as_bytes());
            Ok(())
        })?;
        self.serial.items.body = None;
        Ok(())
    }
}

/// Writes token counts. Those that the protocol demands are 0 if nobody knows them.
fn usage(frame: &mut Frame<'_>, counts: Option<TokenCounts>) {
    let Some(counts) = counts else { return frame.bytes(b"null") };
    let (input, output) = (counts.prompt_tokens().unwrap_or(0), counts.completion_tokens().unwrap_or(0));
    for (name, count) in [
        ("{\"input_tokens\":", Some(input)),
        (",\"input_tokens_details\":{\"cached_tokens\":", Some(counts.cached_tokens().unwrap_or(0))),
        (",\"cache_write_tokens\":", counts.cache_write_tokens()),
        ("},\"output_tokens\":", Some(output)),
        (",\"output_tokens_details\":{\"reasoning_tokens\":", Some(counts.reasoning_tokens().unwrap_or(0))),
        ("},\"total_tokens\":", Some(counts.total_tokens().unwrap_or(input.saturating_add(output)))),
    ] {
        if let Some(count) = count {
            frame.bytes(name.as_bytes());
            frame.number(count);
        }
    }
    frame.bytes(b"}");
}
