//! Translates the finish reasons of every protocol into those of chat completions.

use crate::delta::FinishKind;
use crate::json::Text;

/// Where a reason comes from, if that changes what the word means.
#[derive(Clone, Copy)]
pub(crate) enum Reason<'a> {
    /// A finish reason.
    Finish,
    /// Why a prompt was refused.
    Block,
    /// The status of a response, with the reason why the response is incomplete, if it has one.
    Status(Option<Text<'a>>),
}

/// The words for each kind, of all protocols.
static WORDS: [(FinishKind, &str); 5] = [
    (FinishKind::Stop, "stop end_turn stop_sequence pause_turn compaction steered STOP completed COMPLETE STOP_SEQUENCE"),
    (FinishKind::Length, "length max_tokens model_context_window_exceeded MAX_TOKENS LENGTH CONTINUATION max_output_tokens max_messages"),
    (FinishKind::ToolCalls, "tool_calls tool_use TOOL_CALL requires_action"),
    (FinishKind::ContentFilter, "content_filter refusal guardrail_intervened content_filtered SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII MODEL_ARMOR IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION ESCALATION PUP_LIMITED_DISABLED"),
    (FinishKind::Error, "error failed cancelled ERROR TIMEOUT MALFORMED_FUNCTION_CALL MALFORMED_RESPONSE MISSING_THOUGHT_SIGNATURE UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS"),
];

impl Reason<'_> {
    /// Returns the kind that `word` means. `called` is whether the choice has a tool call of the client, which makes a
    /// normal end one for tool calls.
    pub(crate) fn kind(self, word: Text<'_>, called: bool) -> FinishKind {
        let word = match self {
            Reason::Block => return FinishKind::ContentFilter,
            Reason::Status(Some(detail)) if word == "incomplete" => detail,
            Reason::Finish | Reason::Status(_) => word,
        };
        match known(word) {
            FinishKind::Stop if called && (word.is_one_of("STOP completed stop")) => FinishKind::ToolCalls,
            kind => kind,
        }
    }
}

/// Returns the meaning of a word without its context.
#[inline(never)]
fn known(word: Text<'_>) -> FinishKind {
    WORDS.iter().find(|(_, words)| word.is_one_of(words)).map_or(FinishKind::Other, |(kind, _)| *kind)
}

#[cfg(test)]
mod tests {
    use super::{FinishKind, Reason, Text};

    #[test]
    fn every_word_has_its_kind() {
        use FinishKind::{ContentFilter, Error, Length, Other, Stop, ToolCalls};
        let rows: [(&[&str], FinishKind, FinishKind); 8] = [
            (&["tool_use", "TOOL_CALL", "requires_action"], ToolCalls, ToolCalls),
            (&["completed", "STOP", "stop"], Stop, ToolCalls),
            (
                &["end_turn", "stop_sequence", "pause_turn", "compaction", "steered", "COMPLETE", "STOP_SEQUENCE"],
                Stop,
                Stop,
            ),
            (
                &[
                    "max_tokens",
                    "model_context_window_exceeded",
                    "MAX_TOKENS",
                    "LENGTH",
                    "CONTINUATION",
                    "max_messages",
                ],
                Length,
                Length,
            ),
            (
                &[
                    "refusal",
                    "guardrail_intervened",
                    "content_filtered",
                    "SAFETY",
                    "RECITATION",
                    "BLOCKLIST",
                    "PROHIBITED_CONTENT",
                    "SPII",
                    "MODEL_ARMOR",
                    "IMAGE_SAFETY",
                    "IMAGE_PROHIBITED_CONTENT",
                    "IMAGE_RECITATION",
                    "ESCALATION",
                    "PUP_LIMITED_DISABLED",
                ],
                ContentFilter,
                ContentFilter,
            ),
            (&["failed", "cancelled", "ERROR", "TIMEOUT", "MALFORMED_FUNCTION_CALL"], Error, Error),
            (
                &["MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"],
                Error,
                Error,
            ),
            (&["LANGUAGE", "NO_IMAGE", "incomplete", "", "Stop"], Other, Other),
        ];
        for (words, alone, called) in rows {
            for word in words {
                let text = Text::verbatim(word.as_bytes());
                assert_eq!(Reason::Finish.kind(text, false), alone, "{word}");
                assert_eq!(Reason::Finish.kind(text, true), called, "{word}");
                assert_eq!(Reason::Block.kind(text, true), ContentFilter, "{word}");
            }
        }
        let incomplete = |detail: Option<&'static str>| {
            let detail = detail.map(|detail| Text::verbatim(detail.as_bytes()));
            Reason::Status(detail).kind(Text::verbatim(b"incomplete"), true)
        };
        assert_eq!(incomplete(Some("max_output_tokens")), Length);
        assert_eq!(incomplete(Some("content_filter")), ContentFilter);
        assert_eq!((incomplete(Some("steered")), incomplete(Some("max_messages"))), (Stop, Length));
        assert_eq!((incomplete(Some("another")), incomplete(None)), (Other, Other));
    }
}
