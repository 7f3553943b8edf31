//! Writes Anthropic Messages.

use super::calls::{CUSTOM, OPEN};
use super::out::{Frame, Out, To, Written};
use super::parts::{error_message, Open, Part, Source, Task};
use super::state::State;
use crate::chat::{ApiError, FinishKind, FinishReason, TokenCounts};
use crate::json::{Text, Value};

impl State {
    /// Returns the word for a finish reason. What was sent decides between the end of a turn, a tool call and a refusal.
    pub(super) fn anthropic_reason(&self, reason: &FinishReason<'_>) -> &'static str {
        const OWN: [&str; 3] = ["stop_sequence", "pause_turn", "model_context_window_exceeded"];
        if let Some(own) = OWN.into_iter().find(|own| reason.text().is_word(own)) {
            return own;
        }
        match reason.kind() {
            FinishKind::Length => "max_tokens",
            FinishKind::ContentFilter => "refusal",
            _ if self.calls.rows().iter().any(|call| call.has(OPEN)) => "tool_use",
            _ if self.serial.refused => "refusal",
            _ => "end_turn",
        }
    }

    /// Writes an event. `write` writes the members behind its type.
    #[inline(always)]
    fn event<R>(
        &mut self,
        out: &mut Out<'_>,
        name: &str,
        write: impl FnOnce(&mut Frame<'_>) -> Written<R>,
    ) -> Written<R> {
        self.frame(out, |frame| {
            frame.begin_typed(name);
            let result = write(frame)?;
            frame.bytes(b"}\n\n");
            Ok(result)
        })
    }

    /// Writes an event of the open block. `write` writes its delta.
    #[inline(always)]
    fn block_delta<R>(&mut self, out: &mut Out<'_>, write: impl FnOnce(&mut Frame<'_>) -> Written<R>) -> Written<R> {
        let index = self.serial.index;
        self.event(out, "content_block_delta", |frame| {
            frame.bytes(b",\"index\":");
            frame.number(index.into());
            frame.bytes(b",\"delta\":{\"type\":\"");
            let result = write(frame)?;
            frame.bytes(b"}");
            Ok(result)
        })
    }

    #[inline(always)]
    pub(super) fn anthropic_piece(
        &mut self,
        to: &mut To<'_, '_>,
        part: Part,
        source: Source<'_>,
        taken: usize,
    ) -> Written<usize> {
        let (text, limit) = (source.rest(to.memory, &self.calls, taken), self.text_len);
        let is_custom = matches!(part, Part::Arguments(place) if self.calls.get(place).has(CUSTOM));
        let before: &[u8] = match part {
            Part::Arguments(_) => b"input_json_delta\",\"partial_json\":\"",
            Part::Reasoning => b"thinking_delta\",\"thinking\":\"",
            _ => b"text_delta\",\"text\":\"",
        };
        self.block_delta(to.out, |frame| {
            frame.bytes(before);
            let rest = if is_custom { frame.text_twice(text, limit) } else { frame.text(text, limit) };
            frame.bytes(b"\"");
            Ok(rest.raw().len())
        })
    }

    /// Writes the next event of a task. Returns whether it was the last one.
    pub(super) fn anthropic_step(&mut self, to: &mut To<'_, '_>, task: Task) -> Written<bool> {
        let is_custom = |state: &State, open| matches!(open, Open::Call(place) if state.calls.get(place).has(CUSTOM));
        match (task, self.step) {
            (Task::Begin, _) => self.message_start(to)?,
            // The input of a custom tool is a text, and that of a tool here is an object: its member `input` is the text.
            (Task::Open(open), 0) => {
                self.block_start(to, open)?;
                return Ok(!is_custom(self, open));
            }
            (Task::Open(_), _) => self.input(to.out, "{\\\"input\\\":\\\"")?,
            (Task::Close, 0) if is_custom(self, self.serial.open) => {
                self.input(to.out, "\\\"}")?;
                return Ok(false);
            }
            (Task::Close, _) => {
                let index = self.serial.index;
                self.event(to.out, "content_block_stop", |frame| {
                    frame.bytes(b",\"index\":");
                    frame.number(index.into());
                    Ok(())
                })?;
            }
            (Task::End, 0) => {
                self.message_delta(to.out)?;
                return Ok(false);
            }
            (Task::End, _) => self.event(to.out, "message_stop", |_| Ok(()))?,
            (Task::Nothing, _) => {}
        }
        Ok(true)
    }

    /// Writes a piece of a call's input, which is escaped.
    fn input(&mut self, out: &mut Out<'_>, escaped: &str) -> Written {
        self.block_delta(out, |frame| {
            frame.bytes(b"input_json_delta\",\"partial_json\":\"");
            frame.bytes(escaped.as_bytes());
            frame.bytes(b"\"");
            Ok(())
        })
    }

    fn message_start(&mut self, to: &mut To<'_, '_>) -> Written {
        let (id, model, members) = (self.id, self.model, self.members);
        let counts = self.counts().unwrap_or_default();
        self.event(to.out, "message_start", |frame| {
            frame.bytes(b",\"message\":{\"id\":\"");
            frame.bytes(id.of(to.memory));
            frame.bytes(b"\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"");
            frame.bytes(model.of(to.memory));
            frame.bytes(b"\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null");
            frame.bytes(members.of(to.memory));
            frame.bytes(b",\"usage\":");
            usage(frame, &counts, true);
            frame.bytes(b"}");
            Ok(())
        })
    }

    fn block_start(&mut self, to: &mut To<'_, '_>, open: Open) -> Written {
        let (index, response) = (self.serial.index, self.id);
        let call = match open {
            Open::Call(place) => Some((self.calls.get(place), place)),
            _ => None,
        };
        self.event(to.out, "content_block_start", |frame| {
            frame.bytes(b",\"index\":");
            frame.number(index.into());
            frame.bytes(b",\"content_block\":{\"type\":\"");
            match (call, open) {
                (Some((call, place)), _) => {
                    frame.bytes(b"tool_use\",\"id\":\"");
                    call.id(frame, to.memory, ("toolu_", response.of(to.memory), place));
                    frame.bytes(b"\",\"name\":\"");
                    call.name(frame, to.memory);
                    frame.bytes(b"\",\"input\":{}}");
                }
                (None, Open::Thinking) => frame.bytes(b"thinking\",\"thinking\":\"\",\"signature\":\"\"}"),
                (None, _) => frame.bytes(b"text\",\"text\":\"\"}"),
            }
            Ok(())
        })
    }

    /// Clients take the last signature of a block for the whole one, so it is one event.
    pub(super) fn anthropic_signature(&mut self, out: &mut Out<'_>, text: Text<'_>) -> Written {
        self.block_delta(out, |frame| {
            frame.bytes(b"signature_delta\",\"signature\":");
            frame.string(text);
            Ok(())
        })
    }

    pub(super) fn anthropic_annotation(&mut self, out: &mut Out<'_>, one: Value<'_>) -> Written {
        self.block_delta(out, |frame| {
            frame.bytes(b"citations_delta\",\"citation\":");
            frame.json(one)
        })
    }

    fn message_delta(&mut self, out: &mut Out<'_>) -> Written {
        let (stop, counts) = (self.serial.stop, self.counts().unwrap_or_default());
        self.event(out, "message_delta", |frame| {
            frame.bytes(b",\"delta\":{\"stop_reason\":\"");
            frame.bytes(stop.as_bytes());
            frame.bytes(b"\",\"stop_sequence\":null},\"usage\":");
            usage(frame, &counts, false);
            Ok(())
        })
    }

    /// Ends the stream with an error: no `message_stop`.
    pub(super) fn anthropic_error(&mut self, out: &mut Out<'_>, error: &ApiError<'_>) -> Written {
        let known = error.kind().filter(|kind| kind.is_one_of(ERRORS));
        let by_code = || match error.code() {
            Some(code) if code == "429" => "rate_limit_error",
            Some(code) if code == "529" || code == "503" => "overloaded_error",
            _ => "api_error",
        };
        self.event(out, "error", |frame| {
            frame.bytes(b",\"error\":{\"type\":");
            frame.string(known.unwrap_or_else(|| Text::verbatim(by_code().as_bytes())));
            frame.bytes(b",\"message\":");
            frame.string(error_message(error));
            frame.bytes(b"}");
            Ok(())
        })?;
        self.ended = true;
        Ok(())
    }
}

/// The types of errors.
const ERRORS: &str = "invalid_request_error authentication_error billing_error permission_error not_found_error \
    request_too_large rate_limit_error timeout_error api_error overloaded_error";

/// Writes token counts, those of the cache apart from the input. At the start, the counts that the protocol demands are 0
/// if nobody knows them; at the end, unknown counts are left out, because each count replaces the one before.
fn usage(frame: &mut Frame<'_>, counts: &TokenCounts, is_start: bool) {
    let cache = [counts.cached_tokens(), counts.cache_write_tokens()];
    let cached = cache.iter().flatten().fold(0u64, |sum, count| sum.saturating_add(*count));
    let input = counts.prompt_tokens().map(|prompt| prompt.saturating_sub(cached)).or(is_start.then_some(0));
    frame.bytes(b"{");
    let [read, written] = cache;
    for (name, count) in [
        ("\"input_tokens\":", input),
        ("\"cache_creation_input_tokens\":", written),
        ("\"cache_read_input_tokens\":", read),
    ] {
        if let Some(count) = count {
            frame.bytes(name.as_bytes());
            frame.number(count);
            frame.bytes(b",");
        }
    }
    frame.bytes(b"\"output_tokens\":");
    frame.number(counts.completion_tokens().unwrap_or(0));
    if let Some(reasoning) = counts.reasoning_tokens().filter(|_| !is_start) {
        frame.bytes(b",\"output_tokens_details\":{\"thinking_tokens\":");
        frame.number(reasoning);
        frame.bytes(b"}");
    }
    frame.bytes(b"}");
}
