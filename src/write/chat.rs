//! Writes chat completions.

use super::calls::{Call, CLOSED, CUSTOM, HAS_ARGUMENTS, OPEN};
use super::out::{put, Frame, To, Written};
use super::parts::Part;
use super::state::{bit, error_message, State, Write, ASSISTANT};
use super::WriteError;
use crate::chat::{ApiError, FinishReason, NamePiece, OtherMember, Owner, Update};
use crate::hash::fnv;
use crate::json::{Text, Value, ValueKind};

/// What closes a delta.
const NEXT: &str = "},\"finish_reason\":null";
/// The members of a delta that the writer writes.
const OF_DELTA: &str =
    "role content reasoning_content refusal reasoning_details tool_calls function_call annotations audio";

impl State {
    /// Writes a chunk of one choice, and before it the beginning of the choice, if it did not begin. `write` writes the
    /// members of its delta, closes the delta, and writes the finish reason.
    fn chunk(&mut self, to: &mut To<'_, '_>, choice: u32, write: Write<'_>) -> Written {
        self.chat_begin(to, choice, ASSISTANT)?;
        self.frame(to, &mut |state, frame| {
            put!(frame, state.chunk, "{\"index\":", choice, ",\"delta\":{");
            write(state, frame);
            put!(frame, state.chunk_end());
        })
    }

    /// Returns what a chunk ends with.
    fn chunk_end(&self) -> &'static str {
        if self.has_usage {
            "}],\"usage\":null}\n\n"
        } else {
            "}]}\n\n"
        }
    }

    /// Writes what is before and behind a text, from the choice on.
    pub(super) fn chat_envelope(&self, before: &mut Frame<'_>, after: &mut Frame<'_>, of: (u32, Part)) {
        put!(before, "{\"index\":", of.0, ",\"delta\":{\"");
        let end = match of.1 {
            Part::FunctionName | Part::FunctionArguments => "\"}",
            Part::Call(_) => "\"}}]",
            _ => "\"",
        };
        match of.1 {
            Part::Reasoning => put!(before, "reasoning_content\":\""),
            Part::Refusal => put!(before, "refusal\":\""),
            Part::FunctionName => put!(before, "function_call\":{\"name\":\""),
            Part::FunctionArguments => put!(before, "function_call\":{\"arguments\":\""),
            Part::Call(place) => {
                let call = self.calls.get(place);
                let input = if call.has(CUSTOM) { "custom\":{\"input" } else { "function\":{\"arguments" };
                put!(before, "tool_calls\":[{\"index\":", call.index, ",\"", input, "\":\"");
            }
            _ => put!(before, "content\":\""),
        }
        put!(after, end, NEXT, self.chunk_end());
    }

    /// Begins the choice, if it did not begin.
    pub(super) fn chat_begin(&mut self, to: &mut To<'_, '_>, choice: u32, role: &str) -> Written {
        if self.begun & bit(choice) != 0 {
            return Ok(());
        }
        self.begun |= bit(choice);
        let result = self.chunk(to, choice, &mut |_, frame| put!(frame, "\"role\":\"", role, "\"", NEXT));
        if result.is_err() {
            self.begun &= !bit(choice);
        }
        result
    }

    /// Begins a choice with this role, if it is one of chat completions. Gemini's `model` is none, and OpenAI's clients take
    /// no message of it.
    pub(super) fn chat_role(&mut self, to: &mut To<'_, '_>, choice: u32, role: Text<'_>) -> Written {
        const ROLES: [&str; 6] = [ASSISTANT, "developer", "function", "system", "tool", "user"];
        self.chat_begin(to, choice, role.as_str().filter(|role| ROLES.contains(role)).unwrap_or(ASSISTANT))
    }

    pub(super) fn chat_open_call(&mut self, to: &mut To<'_, '_>, place: usize) -> Written {
        self.calls.number(place);
        let call = self.calls.get(place);
        let (kind, input) = if call.has(CUSTOM) { ("custom", "input") } else { ("function", "arguments") };
        self.chunk(to, call.choice, &mut |state, frame| {
            put!(frame, "\"tool_calls\":[{\"index\":", call.index, ",\"id\":\"");
            state.call_id(frame, "call_", place);
            put!(frame, "\",\"type\":\"", kind, "\",\"", kind, "\":{\"name\":\"");
            call.name(frame);
            put!(frame, "\",\"", input, "\":\"\"}}]", NEXT);
        })?;
        self.calls.flag(place, OPEN);
        Ok(())
    }

    /// Arguments that never came are an empty object.
    pub(super) fn chat_close_call(&mut self, to: &mut To<'_, '_>, place: usize) -> Written {
        let call = self.calls.get(place);
        if !call.has(HAS_ARGUMENTS | CUSTOM) {
            self.piece(to, (call.choice, Part::Call(place)), Some(Text::verbatim(b"{}")))?;
        }
        self.calls.flag(place, CLOSED);
        Ok(())
    }

    /// Writes an update that has no text that may be long.
    pub(super) fn chat_part(&mut self, to: &mut To<'_, '_>, choice: u32, update: &Update<'_>) -> Written {
        let mut raw = |of: &mut Self, before: &str, value: Value<'_>, after: &str| {
            of.chunk(to, choice, &mut |_, frame| put!(frame, before, value, after))
        };
        match update {
            Update::Annotations(list) if list.kind() == ValueKind::Array => raw(self, "\"annotations\":", *list, NEXT),
            Update::Annotations(one) => {
                let is_object = one.kind() == ValueKind::Object;
                self.chunk(to, choice, &mut |state, frame| {
                    put!(frame, "\"annotations\":[");
                    // OpenAI's clients join the elements of a list by their indexes.
                    if is_object && one.get("index").ok().flatten().is_none() {
                        put!(frame, "{\"index\":", state.annotations);
                        frame.members(*one, "");
                        put!(frame, "}]", NEXT);
                    } else {
                        put!(frame, *one, "]", NEXT);
                    }
                })?;
                self.annotations = self.annotations.saturating_add(1);
                Ok(())
            }
            Update::Audio(audio) => raw(self, "\"audio\":", *audio, NEXT),
            Update::Logprobs(list) if list.kind() == ValueKind::Array => {
                raw(self, "},\"logprobs\":{\"content\":", *list, ",\"refusal\":null},\"finish_reason\":null")
            }
            Update::Logprobs(list) => raw(self, "},\"logprobs\":", *list, ",\"finish_reason\":null"),
            Update::ChoiceError(error) => {
                let Some(value) = error.value() else {
                    return self.chat_begin(to, choice, ASSISTANT).and(Err(WriteError::NoPlace));
                };
                raw(self, "},\"error\":", value, ",\"finish_reason\":\"error\"")?;
                self.finished |= bit(choice);
                Ok(())
            }
            Update::FunctionName { piece: NamePiece::Replaces, .. } if self.functions & bit(choice) != 0 => {
                Err(WriteError::Late)
            }
            Update::FunctionName { text, .. } => {
                self.chat_begin(to, choice, ASSISTANT)?;
                self.pieces(to, (choice, Part::FunctionName), *text)?;
                self.functions |= bit(choice);
                Ok(())
            }
            Update::FunctionArguments(text) => {
                self.chat_begin(to, choice, ASSISTANT)?;
                self.pieces(to, (choice, Part::FunctionArguments), *text)
            }
            Update::Meta(_, word) => self.chunk(to, choice, &mut |_, frame| {
                put!(frame, "},\"native_finish_reason\":", *word, ",\"finish_reason\":null");
            }),
            Update::Member(member) => self.chat_member(to, choice, member),
            _ => Err(WriteError::NoPlace),
        }
    }

    /// Writes a member of a call, a delta or a choice as it came, unless the writer writes one of that name itself.
    fn chat_member(&mut self, to: &mut To<'_, '_>, choice: u32, member: &OtherMember<'_>) -> Written {
        let OtherMember { owner, call, name, value, .. } = *member;
        let (own, before, after) = match owner {
            Owner::Call => ("index id type function custom", "", NEXT),
            Owner::Delta => (OF_DELTA, "", NEXT),
            Owner::Choice => ("index delta finish_reason", "},", ",\"finish_reason\":null"),
            _ => return Err(WriteError::NoPlace),
        };
        if name.is_one_of(own) {
            return Err(WriteError::NoPlace);
        }
        if owner != Owner::Call {
            return self.chunk(to, choice, &mut |_, frame| put!(frame, before, name, ":", value, after));
        }
        let is_it = |row: &&Call| (row.choice, row.call) == (choice, call) && row.has(OPEN);
        let row = *self.calls.rows().iter().find(is_it).ok_or(WriteError::NoPlace)?;
        // Clients expect the kind of the call in each of its elements.
        let kind = if row.has(CUSTOM) { "custom\":{\"input" } else { "function\":{\"arguments" };
        // The signature of a call of Gemini, which comes once more, as Google writes it in chat completions.
        let signature = value.as_text().filter(|_| name == "thoughtSignature");
        self.chunk(to, choice, &mut |_, frame| {
            put!(frame, "\"tool_calls\":[{\"index\":", row.index, ",\"", kind, "\":\"\"},");
            match signature {
                Some(text) => put!(frame, "\"extra_content\":{\"google\":{\"thought_signature\":", text, "}}}]", NEXT),
                None => put!(frame, name, ":", value, "}]", NEXT),
            }
        })?;
        self.call_signature = signature.map_or(self.call_signature, |text| fnv(text.raw()));
        Ok(())
    }

    /// Writes an entry of `reasoning_details`.
    pub(super) fn chat_detail(&mut self, to: &mut To<'_, '_>, choice: u32, write: Write<'_>) -> Written {
        self.chunk(to, choice, &mut |state, frame| {
            put!(frame, "\"reasoning_details\":[");
            write(state, frame);
            put!(frame, "]", NEXT);
        })
    }

    pub(super) fn chat_finish(&mut self, to: &mut To<'_, '_>, choice: u32, reason: &FinishReason<'_>) -> Written {
        self.chunk(to, choice, &mut |_, frame| put!(frame, "},\"finish_reason\":", reason.in_message()))
    }

    /// Writes the usage, if the request asked for it and it is known, and the end.
    pub(super) fn chat_end(&mut self, to: &mut To<'_, '_>) -> Written {
        self.chat_usage(to)?;
        self.frame(to, &mut |_, frame| put!(frame, "data: [DONE]\n\n"))?;
        self.ended = true;
        Ok(())
    }

    /// Writes token counts. The counts that the protocol demands are 0 if nobody knows them.
    fn chat_usage(&mut self, to: &mut To<'_, '_>) -> Written {
        let Some(counts) = self.usage.filter(|_| self.has_usage && self.step == 0) else { return Ok(()) };
        let (prompt, completion) = (counts.prompt_tokens().unwrap_or(0), counts.completion_tokens().unwrap_or(0));
        let all = [
            ("prompt_tokens", Some(prompt)),
            ("completion_tokens", Some(completion)),
            ("total_tokens", Some(counts.total_tokens().unwrap_or(prompt.saturating_add(completion)))),
        ];
        let of_prompt = [
            ("cached_tokens", counts.cached_tokens()),
            ("cache_write_tokens", counts.cache_write_tokens()),
            ("audio_tokens", counts.prompt_audio_tokens()),
        ];
        let of_completion = [
            ("reasoning_tokens", counts.reasoning_tokens()),
            ("audio_tokens", counts.completion_audio_tokens()),
            ("accepted_prediction_tokens", counts.accepted_prediction_tokens()),
            ("rejected_prediction_tokens", counts.rejected_prediction_tokens()),
        ];
        self.frame(to, &mut |state, frame| {
            put!(frame, state.chunk, "],\"usage\":");
            frame.counts(("{", ""), &all);
            frame.counts((",\"prompt_tokens_details\":{", "}"), &of_prompt);
            frame.counts((",\"completion_tokens_details\":{", "}"), &of_completion);
            put!(frame, "}}\n\n");
        })?;
        self.step = 1;
        Ok(())
    }

    /// Ends the stream with an error: no `[DONE]`.
    pub(super) fn chat_error(&mut self, to: &mut To<'_, '_>, error: &ApiError<'_>) -> Written {
        self.chat_usage(to)?;
        let or_null = |frame: &mut Frame<'_>, text: Option<Text<'_>>| match text {
            Some(text) => put!(frame, text),
            None => put!(frame, "null"),
        };
        self.frame(to, &mut |_, frame| {
            let kind = error.kind().unwrap_or(Text::verbatim(b"server_error"));
            put!(frame, "data: {\"error\":{\"message\":", error_message(error), ",\"type\":", kind, ",\"param\":");
            or_null(frame, error.param());
            put!(frame, ",\"code\":");
            or_null(frame, error.code());
            put!(frame, "}}\n\n");
        })?;
        self.ended = true;
        Ok(())
    }
}
