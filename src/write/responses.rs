//! Writes OpenAI Responses.
//!
//! Each item ends with its whole text, and the stream with all items. So the log has the items as the JSON that the end
//! of the stream repeats, and the events that repeat a part of them are copied from there, in as many calls as the room
//! needs.

use super::calls::{CUSTOM, HAS_ARGUMENTS};
use super::log::{Chain, Mark, Tag};
use super::out::{put, Frame, To, Written};
use super::parts::{Items, Part, Range, Task};
use super::state::{error_message, State, Write};
use super::thoughts::Thought;
use super::WriteError;
use crate::chat::{ApiError, FinishKind};
use crate::json::{Text, Value};

/// The words for an item: how its ID begins, its type, its list of parts, how the events of its text and of its part are
/// called, the type of the part, and the member with the text.
struct Words {
    id: &'static str,
    item: &'static str,
    list: &'static str,
    event: &'static str,
    part_event: &'static str,
    part: &'static str,
    text: &'static str,
}

/// The tail of the last event, which has the usage.
const LAST: &str = "";

impl State {
    /// Returns the words for the item that is open.
    fn words(&self) -> Words {
        const MESSAGE: &str = "message\",\"role\":\"assistant";
        let (id, item, list, event, text) = match self.serial.open {
            Part::Reasoning | Part::Redacted => ("rs_", "reasoning", "summary", "reasoning_summary_text", "text"),
            Part::Refusal => ("msg_", MESSAGE, "content", "refusal", "refusal"),
            open if self.is_custom(open) => ("ctc_", "custom_tool_call", "", "custom_tool_call_input", "input"),
            Part::Call(_) => ("fc_", "function_call", "", "function_call_arguments", "arguments"),
            _ => ("msg_", MESSAGE, "content", "output_text", "text"),
        };
        match list {
            "summary" => {
                Words { id, item, list, event, part_event: "reasoning_summary_part", part: "summary_text", text }
            }
            _ => Words { id, item, list, event, part_event: "content_part", part: event, text },
        }
    }

    /// Writes the members that tell where an event of the open item belongs.
    fn address(&self, frame: &mut Frame<'_>) {
        let (words, index) = (self.words(), self.serial.index);
        put!(frame, ",\"item_id\":\"", words.id, self.id, "_", index, "\",\"output_index\":", index);
        if !words.list.is_empty() {
            put!(frame, ",\"", words.list, "_index\":0");
        }
    }

    /// Writes what is before and behind a text of the open item. Returns where the number of the event ends.
    pub(super) fn responses_envelope(&self, before: &mut Frame<'_>, after: &mut Frame<'_>) -> usize {
        let event = self.words().event;
        put!(before, "event: response.", event, ".delta\ndata: {\"type\":\"response.", event, ".delta\"");
        put!(before, ",\"sequence_number\":", self.sequence);
        let number = before.len();
        self.address(before);
        put!(before, ",\"delta\":\"");
        put!(after, self.text_end());
        number
    }

    /// Returns what is behind a text of the open item.
    fn text_end(&self) -> &'static str {
        if self.serial.open == Part::Content {
            "\",\"logprobs\":[]}\n\n"
        } else {
            "\"}\n\n"
        }
    }

    /// Writes the members of the open item that are known when it begins, without the closing brace.
    fn item(&self, frame: &mut Frame<'_>) {
        let words = self.words();
        put!(frame, "{\"id\":\"", words.id, self.id, "_", self.serial.index, "\",\"type\":\"", words.item, "\"");
        if let Part::Call(place) = self.serial.open {
            put!(frame, ",\"call_id\":\"");
            self.call_id(frame, "call_", place);
            put!(frame, "\",\"name\":\"");
            self.calls.get(place).name(frame);
            put!(frame, "\"");
        }
    }

    /// Writes the next event of a task, or a step between two. Returns whether it was the last one.
    pub(super) fn responses_step(&mut self, to: &mut To<'_, '_>, task: Task) -> Written<bool> {
        let (words, items, step) = (self.words(), self.serial.items, self.step);
        let has_part = !words.list.is_empty();
        match (task, step) {
            (Task::Begin, _) => {
                let name = if step == 0 { "created" } else { "in_progress" };
                self.event(to, ["response.", name, ""], &mut |state, frame| {
                    state.response(frame, "in_progress", None);
                    put!(frame, "],\"usage\":null}}\n\n");
                })?;
                return Ok(step > 0);
            }
            (Task::Open, 0) => self.event(to, ["response.", "output_item", ".added"], &mut |state, frame| {
                put!(frame, ",\"output_index\":", state.serial.index, ",\"item\":");
                state.item(frame);
                let (list, empty) = if has_part { (words.list, "[]") } else { (words.text, "\"\"") };
                put!(frame, ",\"status\":\"in_progress\",\"", list, "\":", empty, "}}\n\n");
            })?,
            (Task::Open, 1) if has_part => {
                self.event(to, ["response.", words.part_event, ".added"], &mut |state, frame| {
                    state.address(frame);
                    put!(frame, ",\"part\":{\"type\":\"", words.part, "\",\"", words.text, "\":\"\"");
                    let is_text = state.serial.open == Part::Content;
                    put!(frame, if is_text { ",\"annotations\":[],\"logprobs\":[]}}\n\n" } else { "}}\n\n" });
                })?;
            }
            (Task::Open, _) => return self.log_beginning(to.memory).map(|()| true),
            (Task::Close, 0) => self.log_end(to.memory)?,
            (Task::Close, 1) => self.done(to, (words.event, words.text, "\""), (items.text, self.text_end()))?,
            (Task::Close, 2) if has_part => self.done(to, (words.part_event, "part", ""), (items.part, "}\n\n"))?,
            // Arguments are no part of an item.
            (Task::Close, 2) => {}
            (Task::Close, 3) => self.done(to, ("output_item", "item", ""), (items.item, "}\n\n"))?,
            (Task::Close, _) => {
                self.serial.items.closed = items.len;
                return Ok(true);
            }
            (Task::End, 0) => self.last_event(to, if self.is_cut() { "incomplete" } else { "completed" }, None)?,
            (Task::End, _) => return Ok(true),
        }
        Ok(false)
    }

    /// Writes the beginning of an event that repeats a range of the output as this member, which
    /// [`write_body`](Self::write_body) then goes on with.
    fn done(
        &mut self,
        to: &mut To<'_, '_>,
        (name, member, quote): (&str, &str, &str),
        body: (Range, &'static str),
    ) -> Written {
        self.event(to, ["response.", name, ".done"], &mut |state, frame| {
            if member == "item" {
                put!(frame, ",\"output_index\":", state.serial.index);
            } else {
                state.address(frame);
            }
            put!(frame, ",\"", member, "\":", quote);
        })?;
        self.serial.items.body = Some(body);
        Ok(())
    }

    /// Whether the response finished before its proper end.
    fn is_cut(&self) -> bool {
        matches!(self.serial.reason, Some(FinishKind::Length | FinishKind::ContentFilter))
    }

    /// Writes the members of a response up to its output.
    fn response(&self, frame: &mut Frame<'_>, status: &str, error: Option<&ApiError<'_>>) {
        put!(frame, ",\"response\":{\"id\":\"", self.id, "\",\"object\":\"response\",\"created_at\":", self.created);
        put!(frame, ",\"status\":\"", status, "\",\"error\":");
        match error {
            None => put!(frame, "null"),
            Some(error) => {
                let code = error.code().or(error.kind()).unwrap_or(Text::verbatim(b"server_error"));
                put!(frame, "{\"code\":", code, ",\"message\":", error_message(error), "}");
            }
        }
        let details = match (status, self.serial.reason) {
            ("incomplete", Some(FinishKind::Length)) => "{\"reason\":\"max_output_tokens\"}",
            ("incomplete", _) => "{\"reason\":\"content_filter\"}",
            _ => "null",
        };
        put!(frame, ",\"incomplete_details\":", details, ",\"model\":\"", self.model, "\"", self.members);
        put!(frame, ",\"output\":[");
    }

    /// Appends to the output in the log. Returns how many bytes.
    pub(super) fn log_output(&mut self, memory: &mut [u8], write: Write<'_>) -> Written<u64> {
        let (mut log, mut output) = (self.log, self.serial.items.output);
        let len = log.append(memory, &mut output, Tag::Joined, |frame| write(self, frame))? as u64;
        (self.log, self.serial.items.output) = (log, output);
        self.serial.items.len = self.serial.items.len.saturating_add(len);
        Ok(len)
    }

    fn log_beginning(&mut self, memory: &mut [u8]) -> Written {
        let (mut item, mut part) = (0, 0);
        let len = self.log_output(memory, &mut |state, frame| {
            put!(frame, if state.serial.items.len == 0 { "" } else { "," });
            item = frame.len() as u64;
            state.item(frame);
            let words = state.words();
            if words.list.is_empty() {
                put!(frame, ",\"", words.text, "\":\"");
            } else {
                put!(frame, ",\"", words.list, "\":[");
                part = frame.len() as u64;
                put!(frame, "{\"type\":\"", words.part, "\",\"", words.text, "\":\"");
            }
        })?;
        let items = &mut self.serial.items;
        let end = items.output.end(memory);
        let [item, part, text] = [item, part, len].map(|at| {
            let back = len.saturating_sub(at);
            Range { from: end.back(back), len: items.len.saturating_sub(back) }
        });
        *items = Items { item, part, text, notes: Chain::default(), note_count: 0, ..*items };
        Ok(())
    }

    /// Appends the end of the open item to the log. From here on, the length of each range is its length.
    fn log_end(&mut self, memory: &mut [u8]) -> Written {
        let (before, is_signed) = (self.serial.items.len, self.serial.is_signed);
        let (mut text, mut part) = (before, before);
        self.log_output(memory, &mut |state, frame| {
            let (open, status) = (state.serial.open, if state.is_cut() { "incomplete" } else { "completed" });
            // Arguments that never came are an empty object.
            if matches!(open, Part::Call(place) if !state.calls.get(place).has(HAS_ARGUMENTS | CUSTOM)) {
                put!(frame, "{}");
            }
            text = before.saturating_add(frame.len() as u64);
            put!(frame, "\"");
            if open == Part::Content {
                put!(frame, ",\"annotations\":[");
                state.serial.items.notes.records(frame.memory).for_each(|(_, bytes)| frame.bytes(bytes));
                put!(frame, "],\"logprobs\":[]");
            }
            // A signature closed the text, its part and the list of parts.
            if !is_signed && !state.words().list.is_empty() {
                put!(frame, "}");
                part = before.saturating_add(frame.len() as u64);
                put!(frame, "]");
            }
            put!(frame, ",\"status\":\"", status, "\"}");
        })?;
        let items = &mut self.serial.items;
        if !is_signed {
            items.text.end(text);
            items.part.end(part);
        }
        items.item.end(items.len);
        Ok(())
    }

    /// Keeps the encrypted reasoning behind this word, which the end of the item has.
    pub(super) fn responses_signature(&mut self, memory: &mut [u8], word: &str, thought: Thought<'_>) -> Written {
        let before = self.serial.items.len;
        self.log_output(memory, &mut |state, frame| {
            put!(frame, "\"}],\"encrypted_content\":\"", word);
            thought.put(state, frame);
        })?;
        self.serial.items.text.end(before);
        self.serial.items.part.end(before.saturating_add(2));
        Ok(())
    }

    pub(super) fn responses_annotation(&mut self, to: &mut To<'_, '_>, one: Value<'_>) -> Written {
        let (before, count) = (to.out.len(), self.serial.items.note_count);
        self.event(to, ["response.", "output_text.annotation", ".added"], &mut |state, frame| {
            state.address(frame);
            put!(frame, ",\"annotation_index\":", count, ",\"annotation\":", one, "}\n\n");
        })?;
        let (mut log, mut notes) = (self.log, self.serial.items.notes);
        let kept = log.append(to.memory, &mut notes, Tag::Joined, |frame| {
            put!(frame, if count > 0 { "," } else { "" }, one);
        });
        self.or_take_back(to, before, kept)?;
        (self.log, self.serial.items.notes, self.serial.items.note_count) = (log, notes, count.saturating_add(1));
        Ok(())
    }

    /// Takes back the last event, if what belongs to it was not kept.
    pub(super) fn or_take_back<T>(&mut self, to: &mut To<'_, '_>, before: usize, kept: Written<T>) -> Written<T> {
        if kept.is_err() {
            to.out.cut(before);
            self.sequence = self.sequence.wrapping_sub(1);
        }
        kept
    }

    /// Writes the beginning of the last event, which has the items that were closed.
    pub(super) fn last_event(&mut self, to: &mut To<'_, '_>, status: &str, error: Option<&ApiError<'_>>) -> Written {
        self.event(to, ["response.", status, ""], &mut |state, frame| state.response(frame, status, error))?;
        self.serial.items.body = Some((Range { from: Mark::default(), len: self.serial.items.closed }, LAST));
        Ok(())
    }

    /// Writes what is left of an event that repeats a range of the output, as much as there is room for.
    pub(super) fn write_body(&mut self, to: &mut To<'_, '_>) -> Written {
        let Some((mut range, tail)) = self.serial.items.body else { return Ok(()) };
        while range.len > 0 {
            let mut mark = range.from;
            let bytes = self.serial.items.output.next(to.memory, &mut mark, range.len);
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
        to.out.frame(to.memory, |frame| {
            if tail == LAST {
                put!(frame, "],\"usage\":");
                self.responses_usage(frame);
                put!(frame, "}}\n\n");
            }
            put!(frame, tail);
        })?;
        self.serial.items.body = None;
        Ok(())
    }

    /// Writes the token counts. Those that the protocol demands are 0 if nobody knows them.
    fn responses_usage(&self, frame: &mut Frame<'_>) {
        let Some(counts) = self.usage else { return put!(frame, "null") };
        let (input, output) = (counts.prompt_tokens().unwrap_or(0), counts.completion_tokens().unwrap_or(0));
        let cached = ("cached_tokens", Some(counts.cached_tokens().unwrap_or(0)));
        let reasoning = ("reasoning_tokens", Some(counts.reasoning_tokens().unwrap_or(0)));
        put!(frame, "{\"input_tokens\":", input);
        let details = [cached, ("cache_write_tokens", counts.cache_write_tokens())];
        frame.counts((",\"input_tokens_details\":{", "}"), &details);
        put!(frame, ",\"output_tokens\":", output);
        frame.counts((",\"output_tokens_details\":{", "}"), &[reasoning]);
        put!(frame, ",\"total_tokens\":", counts.total_tokens().unwrap_or(input.saturating_add(output)), "}");
    }
}
