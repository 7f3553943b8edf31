//! Finish reasons of every protocol, in the words of chat completions.

use crate::delta::FinishKind;
use crate::json::Text;

/// Where a reason stands, if that matters to what it means.
#[derive(Clone, Copy)]
pub(crate) enum Reason<'a> {
    /// A finish reason.
    Finish,
    /// Why a prompt was refused.
    Block,
    /// The status of a response, and the reason why that is incomplete.
    Status(Option<Text<'a>>),
}

/// Words, and what each means by itself. One list: of nested ones the search would be repeated for each kind.
static WORDS: [(&str, FinishKind); 34] = [
    ("stop", FinishKind::Stop),
    ("end_turn", FinishKind::Stop),
    ("stop_sequence", FinishKind::Stop),
    ("pause_turn", FinishKind::Stop),
    ("STOP", FinishKind::Stop),
    ("completed", FinishKind::Stop),
    ("COMPLETE", FinishKind::Stop),
    ("STOP_SEQUENCE", FinishKind::Stop),
    ("length", FinishKind::Length),
    ("max_tokens", FinishKind::Length),
    ("model_context_window_exceeded", FinishKind::Length),
    ("MAX_TOKENS", FinishKind::Length),
    ("LENGTH", FinishKind::Length),
    ("max_output_tokens", FinishKind::Length),
    ("tool_calls", FinishKind::ToolCalls),
    ("tool_use", FinishKind::ToolCalls),
    ("TOOL_CALL", FinishKind::ToolCalls),
    ("requires_action", FinishKind::ToolCalls),
    ("content_filter", FinishKind::ContentFilter),
    ("refusal", FinishKind::ContentFilter),
    ("guardrail_intervened", FinishKind::ContentFilter),
    ("content_filtered", FinishKind::ContentFilter),
    ("SAFETY", FinishKind::ContentFilter),
    ("RECITATION", FinishKind::ContentFilter),
    ("BLOCKLIST", FinishKind::ContentFilter),
    ("PROHIBITED_CONTENT", FinishKind::ContentFilter),
    ("SPII", FinishKind::ContentFilter),
    ("IMAGE_SAFETY", FinishKind::ContentFilter),
    ("error", FinishKind::Error),
    ("failed", FinishKind::Error),
    ("cancelled", FinishKind::Error),
    ("ERROR", FinishKind::Error),
    ("TIMEOUT", FinishKind::Error),
    ("MALFORMED_FUNCTION_CALL", FinishKind::Error),
];

impl Reason<'_> {
    /// What `word` means. `called`: the choice has a tool call of the client.
    pub(crate) fn kind(self, word: Text<'_>, called: bool) -> FinishKind {
        let word = match self {
            Reason::Block => return FinishKind::ContentFilter,
            Reason::Status(Some(detail)) if word == "incomplete" => detail,
            Reason::Finish | Reason::Status(_) => word,
        };
        match known(word) {
            FinishKind::Stop if called && (word == "STOP" || word == "completed" || word == "stop") => {
                FinishKind::ToolCalls
            }
            kind => kind,
        }
    }
}

/// What a word means by itself.
#[inline(never)]
fn known(word: Text<'_>) -> FinishKind {
    WORDS.iter().find(|(known, _)| word.is_word(known)).map_or(FinishKind::Other, |(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::{FinishKind, Reason, Text};

    #[test]
    fn every_word_has_its_kind() {
        use FinishKind::{ContentFilter, Error, Length, Other, Stop, ToolCalls};
        let rows: [(&[&str], FinishKind, FinishKind); 7] = [
            (&["tool_use", "TOOL_CALL", "requires_action"], ToolCalls, ToolCalls),
            (&["completed", "STOP", "stop"], Stop, ToolCalls),
            (&["end_turn", "stop_sequence", "pause_turn", "COMPLETE", "STOP_SEQUENCE"], Stop, Stop),
            (&["max_tokens", "model_context_window_exceeded", "MAX_TOKENS", "LENGTH"], Length, Length),
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
                    "IMAGE_SAFETY",
                ],
                ContentFilter,
                ContentFilter,
            ),
            (&["failed", "cancelled", "ERROR", "TIMEOUT", "MALFORMED_FUNCTION_CALL"], Error, Error),
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
        assert_eq!((incomplete(Some("another")), incomplete(None)), (Other, Other));
    }
}
