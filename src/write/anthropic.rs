//! Writes Anthropic Messages.

use super::out::{Arg, Frame, To, Written};
use super::parts::{Event, Part, Step, Task};
use super::state::{State, NO_PART};
use crate::chat::{ApiError, FinishKind, FinishReason};
use crate::json::Text;

pub(super) const NOTE: Event =
    ["content_block_delta", r#","index":$x,"delta":{"type":"citations_delta","citation":$v}}"#];

/// The types of errors.
const ERRORS: &str = "invalid_request_error authentication_error billing_error permission_error not_found_error \
    request_too_large rate_limit_error timeout_error api_error overloaded_error";

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
            _ if self.calls.rows().iter().any(|call| call.is_open) => "tool_use",
            _ if self.row.refused => "refusal",
            _ if self.stop.at > 0 => "stop_sequence",
            _ => "end_turn",
        }
    }

    /// Returns the event of a text.
    pub(super) fn anthropic_text(part: Part) -> Event {
        let data = match part {
            Part::Call(_) => r#","index":$x,"delta":{"type":"input_json_delta","partial_json":"$T"}}"#,
            Part::Reasoning => r#","index":$x,"delta":{"type":"thinking_delta","thinking":"$T"}}"#,
            _ => r#","index":$x,"delta":{"type":"text_delta","text":"$T"}}"#,
        };
        ["content_block_delta", data]
    }

    /// Returns a step of a task.
    pub(super) fn anthropic_step(&self, task: Task, step: u8) -> Step {
        let is_custom = self.is_custom(self.row.open);
        Step::Event(match (task, step) {
            (Task::Begin, 0) => [
                "message_start",
                r#","message":{"id":"$i","type":"message","role":"assistant","model":"$m","content":[],"stop_reason":null,"stop_sequence":null$M,"usage":$u}}"#,
            ],
            (Task::Open, 0) => [
                "content_block_start",
                match self.row.open {
                    Part::Call(_) => {
                        r#","index":$x,"content_block":{"type":"tool_use","id":"$c","name":"$n","input":{}}}"#
                    }
                    Part::Reasoning => {
                        r#","index":$x,"content_block":{"type":"thinking","thinking":"","signature":""}}"#
                    }
                    _ => r#","index":$x,"content_block":{"type":"text","text":""}}"#,
                },
            ],
            // The input of a custom tool is a text, and that of a tool here is an object: its member `input` is the text.
            (Task::Open, 1) if is_custom => [
                "content_block_delta",
                r#","index":$x,"delta":{"type":"input_json_delta","partial_json":"{\"input\":\""}}"#,
            ],
            (Task::Close, 0) if is_custom => {
                ["content_block_delta", r#","index":$x,"delta":{"type":"input_json_delta","partial_json":"\"}"}}"#]
            }
            (Task::Close, 0) => return Step::Skip,
            (Task::Close, 1) => ["content_block_stop", r#","index":$x}"#],
            (Task::End, 0) if self.row.stop == "stop_sequence" && self.stop.at > 0 => {
                ["message_delta", r#","delta":{"stop_reason":"$q","stop_sequence":"$Q"},"usage":$u}"#]
            }
            (Task::End, 0) => ["message_delta", r#","delta":{"stop_reason":"$q","stop_sequence":null},"usage":$u}"#],
            (Task::End, 1) => ["message_stop", "}"],
            _ => return Step::Done,
        })
    }

    /// Ends the stream with an error: no `message_stop`.
    pub(super) fn anthropic_error(&mut self, to: &mut To<'_, '_>, error: &ApiError<'_>, message: Arg<'_>) -> Written {
        let by_code = match error.code() {
            Some(code) if code == "429" => "rate_limit_error",
            Some(code) if code == "529" || code == "503" => "overloaded_error",
            _ => "api_error",
        };
        let known = error.kind().filter(|kind| kind.is_one_of(ERRORS));
        let kind = known.unwrap_or(Text::verbatim(by_code.as_bytes()));
        self.event(to, NO_PART, ["error", r#","error":{"type":$v,"message":$v}}"#], &[Arg::Text(kind), message])?;
        self.ended = true;
        Ok(())
    }

    /// Writes the token counts, those of the cache apart from the input. At the start, the counts that the protocol demands
    /// are 0 if nobody knows them; at the end, unknown counts are left out, because each count replaces the one before.
    pub(super) fn anthropic_usage(&self, frame: &mut Frame<'_>) {
        let (counts, is_start) = (self.usage.unwrap_or_default(), self.begun == 0);
        let [read, written] = [counts.cached_tokens(), counts.cache_write_tokens()];
        let cached = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
        let input = counts.prompt_tokens().map(|prompt| prompt.saturating_sub(cached)).or(is_start.then_some(0));
        frame.counts(&[
            ("", "input_tokens", input),
            ("", "cache_creation_input_tokens", written),
            ("", "cache_read_input_tokens", read),
            ("", "output_tokens", Some(counts.completion_tokens().unwrap_or(0))),
            ("output_tokens_details", "thinking_tokens", counts.reasoning_tokens().filter(|_| !is_start)),
        ]);
    }
}
