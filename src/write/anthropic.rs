//! Writes Anthropic Messages.

use super::calls::OPEN;
use super::out::{put, Frame, To, Written};
use super::parts::{Part, Task};
use super::state::{error_message, State, Write};
use crate::chat::{ApiError, FinishKind, FinishReason};
use crate::json::Text;

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
            _ if !self.stop.is_empty() => "stop_sequence",
            _ => "end_turn",
        }
    }

    /// Writes an event of the open block. `write` writes the value of its delta.
    pub(super) fn block_delta(&mut self, to: &mut To<'_, '_>, kind: &str, write: Write<'_>) -> Written {
        self.event(to, ["content_block_delta", "", ""], &mut |state, frame| {
            put!(frame, ",\"index\":", state.serial.index, ",\"delta\":{\"type\":\"", kind);
            write(state, frame);
            put!(frame, "}}\n\n");
        })
    }

    /// Writes what is before and behind a text of the open block.
    pub(super) fn anthropic_envelope(&self, before: &mut Frame<'_>, after: &mut Frame<'_>) {
        put!(
            before,
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":",
            self.serial.index
        );
        let kind = match self.serial.open {
            Part::Call(_) => INPUT,
            Part::Reasoning => "thinking_delta\",\"thinking\":\"",
            _ => "text_delta\",\"text\":\"",
        };
        put!(before, ",\"delta\":{\"type\":\"", kind);
        put!(after, "\"}}\n\n");
    }

    /// Writes the next event of a task. Returns whether it was the last one.
    pub(super) fn anthropic_step(&mut self, to: &mut To<'_, '_>, task: Task) -> Written<bool> {
        let is_custom = self.is_custom(self.serial.open);
        match (task, self.step) {
            (Task::Begin, _) => self.event(to, ["message_start", "", ""], &mut |state, frame| {
                put!(frame, ",\"message\":{\"id\":\"", state.id, "\",\"type\":\"message\",\"role\":\"assistant\"");
                put!(frame, ",\"model\":\"", state.model, "\",\"content\":[],\"stop_reason\":null");
                put!(frame, ",\"stop_sequence\":null", state.members, ",\"usage\":");
                state.anthropic_usage(frame, true);
                put!(frame, "}}\n\n");
            })?,
            (Task::Open, 0) => {
                self.block_start(to)?;
                return Ok(!is_custom);
            }
            // The input of a custom tool is a text, and that of a tool here is an object: its member `input` is the text.
            (Task::Open, _) => self.block_delta(to, INPUT, &mut |_, frame| put!(frame, "{\\\"input\\\":\\\"\""))?,
            (Task::Close, 0) if is_custom => {
                self.block_delta(to, INPUT, &mut |_, frame| put!(frame, "\\\"}\""))?;
                return Ok(false);
            }
            (Task::Close, _) => self.event(to, ["content_block_stop", "", ""], &mut |state, frame| {
                put!(frame, ",\"index\":", state.serial.index, "}\n\n");
            })?,
            (Task::End, 0) => {
                self.event(to, ["message_delta", "", ""], &mut |state, frame| {
                    put!(frame, ",\"delta\":{\"stop_reason\":\"", state.serial.stop);
                    let is_stop = state.serial.stop == "stop_sequence";
                    match state.stop.records(frame.memory).next().filter(|_| is_stop) {
                        Some((_, word)) => put!(frame, "\",\"stop_sequence\":", Text::verbatim(word), "},\"usage\":"),
                        None => put!(frame, "\",\"stop_sequence\":null},\"usage\":"),
                    }
                    state.anthropic_usage(frame, false);
                    put!(frame, "}\n\n");
                })?;
                return Ok(false);
            }
            (Task::End, _) => self.event(to, ["message_stop", "", ""], &mut |_, frame| put!(frame, "}\n\n"))?,
        }
        Ok(true)
    }

    fn block_start(&mut self, to: &mut To<'_, '_>) -> Written {
        self.event(to, ["content_block_start", "", ""], &mut |state, frame| {
            put!(frame, ",\"index\":", state.serial.index, ",\"content_block\":{\"type\":\"");
            match state.serial.open {
                Part::Call(place) => {
                    put!(frame, "tool_use\",\"id\":\"");
                    state.call_id(frame, "toolu_", place);
                    put!(frame, "\",\"name\":\"");
                    state.calls.get(place).name(frame);
                    put!(frame, "\",\"input\":{}}}\n\n");
                }
                Part::Reasoning => put!(frame, "thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n"),
                _ => put!(frame, "text\",\"text\":\"\"}}\n\n"),
            }
        })
    }

    /// Ends the stream with an error: no `message_stop`.
    pub(super) fn anthropic_error(&mut self, to: &mut To<'_, '_>, error: &ApiError<'_>) -> Written {
        let by_code = match error.code() {
            Some(code) if code == "429" => "rate_limit_error",
            Some(code) if code == "529" || code == "503" => "overloaded_error",
            _ => "api_error",
        };
        let known = error.kind().filter(|kind| kind.is_one_of(ERRORS));
        let kind = known.unwrap_or(Text::verbatim(by_code.as_bytes()));
        self.event(to, ["error", "", ""], &mut |_, frame| {
            put!(frame, ",\"error\":{\"type\":", kind, ",\"message\":", error_message(error), "}}\n\n");
        })?;
        self.ended = true;
        Ok(())
    }

    /// Writes the token counts, those of the cache apart from the input. At the start, the counts that the protocol demands
    /// are 0 if nobody knows them; at the end, unknown counts are left out, because each count replaces the one before.
    fn anthropic_usage(&self, frame: &mut Frame<'_>, is_start: bool) {
        let counts = self.usage.unwrap_or_default();
        let [read, written] = [counts.cached_tokens(), counts.cache_write_tokens()];
        let cached = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
        let input = counts.prompt_tokens().map(|prompt| prompt.saturating_sub(cached)).or(is_start.then_some(0));
        let all = [
            ("input_tokens", input),
            ("cache_creation_input_tokens", written),
            ("cache_read_input_tokens", read),
            ("output_tokens", Some(counts.completion_tokens().unwrap_or(0))),
        ];
        frame.counts(("{", ""), &all);
        let thinking = [("thinking_tokens", counts.reasoning_tokens().filter(|_| !is_start))];
        frame.counts((",\"output_tokens_details\":{", "}"), &thinking);
        put!(frame, "}");
    }
}

/// What precedes a piece of a call's input.
const INPUT: &str = "input_json_delta\",\"partial_json\":\"";

/// The types of errors.
const ERRORS: &str = "invalid_request_error authentication_error billing_error permission_error not_found_error \
    request_too_large rate_limit_error timeout_error api_error overloaded_error";
