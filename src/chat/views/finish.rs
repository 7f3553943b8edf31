//! The finish reason of a choice.

use crate::delta::FinishKind;
use crate::json::Text;

/// Why a choice finished, as it was sent.
#[derive(Clone, Copy)]
pub struct FinishReason<'a> {
    text: Text<'a>,
    /// The meaning of the text, if it is in the words of another protocol.
    native: Option<FinishKind>,
    is_of_prompt: bool,
}

impl<'a> FinishReason<'a> {
    pub(crate) fn of(text: Text<'a>) -> Self {
        FinishReason { text, native: None, is_of_prompt: false }
    }

    /// Returns a reason in the word of chat completions for this kind, to write it. [`Other`](FinishKind::Other) has no
    /// word: it becomes `other`.
    ///
    /// ```
    /// use deltawire::chat::{FinishKind, FinishReason};
    /// assert_eq!(FinishReason::new(FinishKind::ToolCalls).text(), "tool_calls");
    /// ```
    pub fn new(kind: FinishKind) -> Self {
        FinishReason::of(Text::verbatim(kind.word().unwrap_or("other").as_bytes()))
    }

    /// Returns a reason in the words of another protocol. `code` is the number of its [`FinishKind`].
    pub(crate) fn native(text: Text<'a>, code: u32, is_of_prompt: bool) -> Self {
        FinishReason { text, native: Some(FinishKind::from_number(code)), is_of_prompt }
    }

    /// Whether this is the reason why the prompt was refused (Gemini).
    pub fn is_of_prompt(&self) -> bool {
        self.is_of_prompt
    }

    /// Whether the reason is in the words of another protocol than chat completions.
    pub fn is_native(&self) -> bool {
        self.native.is_some()
    }

    /// Returns the reason as it was sent.
    pub fn text(&self) -> Text<'a> {
        self.text
    }

    /// Returns the reason as a message has it: in the word of chat completions, if there is one for a reason of another
    /// protocol, else as it was sent.
    pub(crate) fn in_message(&self) -> Text<'a> {
        let word = self.native.and_then(FinishKind::word);
        word.map_or(self.text, |word| Text::verbatim(word.as_bytes()))
    }

    /// Returns the meaning of the reason.
    pub fn kind(&self) -> FinishKind {
        self.native.unwrap_or_else(|| FinishKind::of(self.text))
    }
}

/// Prints the reason as it was sent, decoded.
impl core::fmt::Display for FinishReason<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(&self.text, f)
    }
}

impl core::fmt::Debug for FinishReason<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(&self.text, f)
    }
}
