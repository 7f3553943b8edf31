//! Writes OpenAI Responses.
//!
//! Each item ends with its whole text, and the stream with all items. So the log has the items as the JSON that the end
//! of the stream repeats, and the events that repeat a part of them are copied from there, in as many calls as the room
//! needs.

use super::log::Tag;
use super::out::{Arg, Frame, To, Written};
use super::parts::{Event, Part, Step, Task};
use super::state::State;
use crate::chat::{ApiError, FinishKind};
use crate::json::Text;

/// The data of an event with the response, up to its output.
macro_rules! response {
    ($status:literal, $error:literal, $details:literal) => {
        concat!(
            r#","response":{"id":"$i","object":"response","created_at":$t,"status":""#,
            $status,
            r#"","error":"#,
            $error,
            r#","incomplete_details":"#,
            $details,
            r#","model":"$m"$M,"output":["#
        )
    };
}

/// The data of the first two events.
const BEGINNING: &str = concat!(response!("in_progress", "null", "null"), r#"],"usage":null}}"#);
/// The end of the last event.
const LAST: &str = r#"],"usage":$u}}"#;
const ALL: (Tag, Tag) = (Tag::Comma, Tag::ItemEnd);
pub(super) const NOTE: Event =
    ["response.output_text.annotation.added", r#"$A,"annotation_index":$v,"annotation":$v}"#];

impl State {
    /// Returns the words for an item: how its ID begins, its type, its list of parts, how the events of its text and of its
    /// part are called, the type of the part, and the member with the text.
    pub(super) fn words(&self, part: Part) -> &'static [&'static str; 7] {
        const MESSAGE: &str = r#"message","role":"assistant"#;
        match part {
            Part::Reasoning | Part::Redacted => &[
                "rs_",
                "reasoning",
                "summary",
                "reasoning_summary_text",
                "reasoning_summary_part",
                "summary_text",
                "text",
            ],
            Part::Refusal => &["msg_", MESSAGE, "content", "refusal", "content_part", "refusal", "refusal"],
            _ if self.is_custom(part) => &["ctc_", "custom_tool_call", "", "custom_tool_call_input", "", "", "input"],
            Part::Call(_) => &["fc_", "function_call", "", "function_call_arguments", "", "", "arguments"],
            _ => &["msg_", MESSAGE, "content", "output_text", "content_part", "output_text", "text"],
        }
    }

    /// Returns the event of a text.
    pub(super) fn responses_text(part: Part) -> Event {
        match part {
            Part::Content => ["response.$3.delta", r#"$A,"delta":"$T","logprobs":[]}"#],
            _ => ["response.$3.delta", r#"$A,"delta":"$T"}"#],
        }
    }

    /// Returns a step of a task.
    pub(super) fn responses_step(&self, task: Task, step: u8) -> Step {
        use Step::{Done, Event, Keep, Repeat, Skip};
        let (open, is_signed) = (self.row.open, self.row.is_signed);
        let (is_call, is_text) = (matches!(open, Part::Call(_)), open == Part::Content);
        match (task, step) {
            (Task::Begin, 0) => Event(["response.created", BEGINNING]),
            (Task::Begin, 1) => Event(["response.in_progress", BEGINNING]),
            (Task::Open, 0) => Event([
                "response.output_item.added",
                match is_call {
                    true => r#","output_index":$x,"item":{$I,"status":"in_progress","$6":""}}"#,
                    false => r#","output_index":$x,"item":{$I,"status":"in_progress","$2":[]}}"#,
                },
            ]),
            // Arguments are no part of an item.
            (Task::Open, 1 | 4) | (Task::Close, 1 | 4) if is_call => Skip,
            (Task::Open, 1) => Event([
                "response.$4.added",
                match is_text {
                    true => r#"$A,"part":{"type":"$5","$6":"","annotations":[],"logprobs":[]}}"#,
                    false => r#"$A,"part":{"type":"$5","$6":""}}"#,
                },
            ]),
            (Task::Open, 2) if self.row.index == 0 => Skip,
            (Task::Open, 2) => Keep(Tag::Comma, ","),
            (Task::Open, 3) => Keep(Tag::Item, if is_call { r#"{$I,"$6":""# } else { r#"{$I,"$2":["# }),
            (Task::Open, 4) => Keep(Tag::Part, r#"{"type":"$5","$6":""#),
            // Arguments that never came are an empty object.
            (Task::Close, 0) => match open {
                Part::Call(place) if self.calls.get(place).is_missing_arguments() => Keep(Tag::Text, "{}"),
                _ => Skip,
            },
            // A signature closed the text, its part and the list of parts.
            (Task::Close, 1) if is_signed => Skip,
            (Task::Close, 1) if is_text => Keep(Tag::PartEnd, r#"","annotations":[$N],"logprobs":[]}"#),
            (Task::Close, 1) => Keep(Tag::PartEnd, r#""}"#),
            (Task::Close, 2) if is_call || is_signed => Keep(Tag::ItemEnd, r#"","status":"$S"}"#),
            (Task::Close, 2) => Keep(Tag::ItemEnd, r#"],"status":"$S"}"#),
            (Task::Close, 3) => {
                let tail = if is_text { r#"","logprobs":[]}"# } else { r#""}"# };
                Repeat(["response.$3.done", r#"$A,"$6":""#], (Tag::Text, Tag::Text), tail)
            }
            (Task::Close, 4) => Repeat(["response.$4.done", r#"$A,"part":"#], (Tag::Part, Tag::PartEnd), "}"),
            (Task::Close, 5) => {
                let event = ["response.output_item.done", r#","output_index":$x,"item":"#];
                Repeat(event, (Tag::Item, Tag::ItemEnd), "}")
            }
            (Task::End, 0) => {
                const LENGTH: &str = response!("incomplete", "null", r#"{"reason":"max_output_tokens"}"#);
                const FILTER: &str = response!("incomplete", "null", r#"{"reason":"content_filter"}"#);
                let event = match self.row.reason {
                    Some(FinishKind::Length) => ["response.incomplete", LENGTH],
                    Some(FinishKind::ContentFilter) => ["response.incomplete", FILTER],
                    _ => ["response.completed", response!("completed", "null", "null")],
                };
                Repeat(event, ALL, LAST)
            }
            _ => Done,
        }
    }

    /// Whether the response finished before its proper end.
    pub(super) fn is_cut(&self) -> bool {
        matches!(self.row.reason, Some(FinishKind::Length | FinishKind::ContentFilter))
    }

    /// Ends the stream with an error.
    pub(super) fn responses_error(&mut self, to: &mut To<'_, '_>, error: &ApiError<'_>, message: Arg<'_>) -> Written {
        self.begin(to)?;
        const FAILED: Event = ["response.failed", response!("failed", r#"{"code":$v,"message":$v}"#, "null")];
        let code = error.code().or(error.kind()).unwrap_or(Text::verbatim(b"server_error"));
        self.repeat(to, FAILED, &[Arg::Text(code), message], (ALL, LAST))?;
        // The stream ends behind the event that is being written.
        self.start_task(to, Task::End, 1)
    }

    /// Writes the token counts. Those that the protocol demands are 0 if nobody knows them.
    #[inline(never)] // else the compiler may test counts that were never set, before it ignores them: valgrind reports that
    pub(super) fn responses_usage(&self, frame: &mut Frame<'_>) {
        let Some(counts) = self.usage else { return frame.bytes(b"null") };
        let (input, output) = (counts.prompt_tokens().unwrap_or(0), counts.completion_tokens().unwrap_or(0));
        frame.counts(&[
            ("", "input_tokens", Some(input)),
            ("input_tokens_details", "cached_tokens", Some(counts.cached_tokens().unwrap_or(0))),
            ("input_tokens_details", "cache_write_tokens", counts.cache_write_tokens()),
            ("", "output_tokens", Some(output)),
            ("output_tokens_details", "reasoning_tokens", Some(counts.reasoning_tokens().unwrap_or(0))),
            ("", "total_tokens", Some(counts.total_tokens().unwrap_or(input.saturating_add(output)))),
        ]);
    }
}
