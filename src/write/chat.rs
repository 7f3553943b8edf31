//! Writes chat completions.

use super::calls::Call;
use super::out::{Arg, Frame, To, Written};
use super::parts::{Event, Of, Part};
use super::state::{bit, State, NO_PART};
use super::WriteError;
use crate::chat::{ApiError, FinishReason, NamePiece, OtherMember, Owner, Update};
use crate::hash::fnv;
use crate::json::{Text, ValueKind};

/// What a chunk of a choice begins with.
const CHUNK: &str = r#"$k{"index":$h,"delta":{"#;
/// The role of a choice that was sent without one, or with another than those of chat completions.
const ASSISTANT: &str = "assistant";
/// The members of a delta that the writer writes.
const OF_DELTA: &str =
    "role content reasoning_content refusal reasoning_details tool_calls function_call annotations audio";

impl State {
    /// Writes a chunk of one choice, and before it the beginning of the choice, if it did not begin.
    pub(super) fn chunk(&mut self, to: &mut To<'_, '_>, of: Of, data: &'static str, args: &[Arg<'_>]) -> Written {
        self.chat_begin(to, of.0, ASSISTANT)?;
        self.event(to, of, [CHUNK, data], args)
    }

    /// Returns the event of a text, whose envelope begins behind the beginning of each chunk.
    pub(super) fn chat_text(part: Part) -> Event {
        let data = match part {
            Part::Reasoning => r#""reasoning_content":"$T"$z"#,
            Part::Refusal => r#""refusal":"$T"$z"#,
            Part::FunctionName => r#""function_call":{"name":"$T"}$z"#,
            Part::FunctionArguments => r#""function_call":{"arguments":"$T"}$z"#,
            Part::Call(_) => r#""tool_calls":[{"index":$x,"$f":{"$a":"$T"}}]$z"#,
            _ => r#""content":"$T"$z"#,
        };
        [r#"{"index":$h,"delta":{"#, data]
    }

    /// Begins the choice, if it did not begin, with this role, if it is one of chat completions. Gemini's `model` is none,
    /// and OpenAI's clients take no message of it.
    pub(super) fn chat_begin(&mut self, to: &mut To<'_, '_>, choice: u32, role: &str) -> Written {
        const ROLES: [&str; 6] = [ASSISTANT, "developer", "function", "system", "tool", "user"];
        if self.begun & bit(choice) == 0 {
            let role = if ROLES.contains(&role) { role } else { ASSISTANT };
            self.event(to, (choice, Part::Nothing), [CHUNK, r#""role":"$v"$z"#], &[Arg::Word(role)])?;
            self.begun |= bit(choice);
        }
        Ok(())
    }

    pub(super) fn chat_open_call(&mut self, to: &mut To<'_, '_>, place: usize) -> Written {
        let call = self.calls.get(place);
        let is_before = |other: &&Call| other.choice == call.choice && other.is_open;
        let index = self.calls.rows().iter().filter(is_before).count() as u8;
        self.calls.set(place, Call { index, ..call });
        let data = r#""tool_calls":[{"index":$x,"id":"$c","type":"$f","$f":{"name":"$n","$a":""}}]$z"#;
        self.chunk(to, (call.choice, Part::Call(place)), data, &[])?;
        self.calls.set(place, Call { index, is_open: true, ..call });
        Ok(())
    }

    /// Arguments that never came are an empty object.
    pub(super) fn chat_close_call(&mut self, to: &mut To<'_, '_>, place: usize) -> Written {
        let call = self.calls.get(place);
        if call.is_missing_arguments() {
            self.piece(to, (call.choice, Part::Call(place)), Arg::Inner(Text::verbatim(b"{}")))?;
        }
        self.calls.set(place, Call { is_closed: true, ..call });
        Ok(())
    }

    /// Writes an update that has no text that may be long.
    pub(super) fn chat_part(&mut self, to: &mut To<'_, '_>, choice: u32, update: &Update<'_>) -> Written {
        let of = (choice, Part::Nothing);
        match update {
            Update::Annotations(list) if list.kind() == ValueKind::Array => {
                self.chunk(to, of, r#""annotations":$v$z"#, &[Arg::Json(*list)])
            }
            Update::Annotations(one) => {
                // OpenAI's clients join the elements of a list by their indexes.
                let is_new = one.kind() == ValueKind::Object && one.get("index").ok().flatten().is_none();
                let args = [Arg::Number(self.annotations.into()), Arg::Members(*one)];
                match is_new {
                    true => self.chunk(to, of, r#""annotations":[{"index":$v$v}]$z"#, &args)?,
                    false => self.chunk(to, of, r#""annotations":[$v]$z"#, &[Arg::Json(*one)])?,
                }
                self.annotations = self.annotations.saturating_add(1);
                Ok(())
            }
            Update::Audio(audio) => self.chunk(to, of, r#""audio":$v$z"#, &[Arg::Json(*audio)]),
            Update::Logprobs(value) => {
                let data = match value.kind() {
                    ValueKind::Array => r#"},"logprobs":{"content":$v,"refusal":null},"finish_reason":null$e"#,
                    _ => r#"},"logprobs":$v,"finish_reason":null$e"#,
                };
                self.chunk(to, of, data, &[Arg::Json(*value)])
            }
            Update::ChoiceError(error) => {
                let Some(value) = error.value() else {
                    return self.chat_begin(to, choice, ASSISTANT).and(Err(WriteError::NoPlace));
                };
                self.chunk(to, of, r#"},"error":$v,"finish_reason":"error"$e"#, &[Arg::Json(value)])?;
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
            Update::Meta(_, word) => {
                self.chunk(to, of, r#"},"native_finish_reason":$v,"finish_reason":null$e"#, &[Arg::Text(*word)])
            }
            Update::Member(member) => self.chat_member(to, choice, member),
            _ => Err(WriteError::NoPlace),
        }
    }

    /// Writes a member of a call, a delta or a choice as it came, unless the writer writes one of that name itself.
    fn chat_member(&mut self, to: &mut To<'_, '_>, choice: u32, member: &OtherMember<'_>) -> Written {
        let OtherMember { owner, call, name, value, .. } = *member;
        let own = match owner {
            Owner::Call => "index id type function custom",
            Owner::Delta => OF_DELTA,
            Owner::Choice => "index delta finish_reason",
            _ => return Err(WriteError::NoPlace),
        };
        if name.is_one_of(own) {
            return Err(WriteError::NoPlace);
        }
        let (of, args) = ((choice, Part::Nothing), [Arg::Text(name), Arg::Json(value)]);
        match owner {
            Owner::Delta => return self.chunk(to, of, "$v:$v$z", &args),
            Owner::Choice => return self.chunk(to, of, "},$v:$v,\"finish_reason\":null$e", &args),
            _ => {}
        }
        let is_it = |row: &Call| (row.choice, row.call) == (choice, call) && row.is_open;
        let place = self.calls.rows().iter().position(is_it).ok_or(WriteError::NoPlace)?;
        let of = (choice, Part::Call(place));
        // Clients expect the kind of the call in each of its elements.
        let Some(signature) = value.as_text().filter(|_| name == "thoughtSignature") else {
            return self.chunk(to, of, r#""tool_calls":[{"index":$x,"$f":{"$a":""},$v:$v}]$z"#, &args);
        };
        // The signature of a call of Gemini, which comes once more, as Google writes it in chat completions.
        let data =
            r#""tool_calls":[{"index":$x,"$f":{"$a":""},"extra_content":{"google":{"thought_signature":$v}}}]$z"#;
        self.chunk(to, of, data, &[Arg::Text(signature)])?;
        self.call_signature = fnv(signature.raw());
        Ok(())
    }

    pub(super) fn chat_finish(&mut self, to: &mut To<'_, '_>, choice: u32, reason: &FinishReason<'_>) -> Written {
        self.chunk(to, (choice, Part::Nothing), r#"},"finish_reason":$v$e"#, &[Arg::Text(reason.in_message())])
    }

    /// Ends the stream with an error: no `[DONE]`.
    pub(super) fn chat_error(&mut self, to: &mut To<'_, '_>, error: &ApiError<'_>, message: Arg<'_>) -> Written {
        let kind = error.kind().unwrap_or(Text::verbatim(b"server_error"));
        let [param, code] = [error.param(), error.code()].map(|text| text.map_or(Arg::Word("null"), Arg::Text));
        let args = [message, Arg::Text(kind), param, code];
        self.chat_last(to, r#"data: {"error":{"message":$v,"type":$v,"param":$v,"code":$v}}"#, &args)
    }

    /// Writes the usage, if the request asked for it and it is known, and the last event.
    pub(super) fn chat_last(&mut self, to: &mut To<'_, '_>, data: &'static str, args: &[Arg<'_>]) -> Written {
        if self.head.usage && self.usage.is_some() && !self.wrote_usage {
            self.event(to, NO_PART, ["$k", r#"],"usage":$u}"#], &[])?;
            self.wrote_usage = true;
        }
        self.event(to, NO_PART, ["", data], args)?;
        self.ended = true;
        Ok(())
    }

    /// Writes token counts. The counts that the protocol demands are 0 if nobody knows them.
    pub(super) fn chat_usage(&self, frame: &mut Frame<'_>) {
        let counts = self.usage.unwrap_or_default();
        let (prompt, completion) = (counts.prompt_tokens().unwrap_or(0), counts.completion_tokens().unwrap_or(0));
        let (of_prompt, of_completion) = ("prompt_tokens_details", "completion_tokens_details");
        frame.counts(&[
            ("", "prompt_tokens", Some(prompt)),
            ("", "completion_tokens", Some(completion)),
            ("", "total_tokens", Some(counts.total_tokens().unwrap_or(prompt.saturating_add(completion)))),
            (of_prompt, "cached_tokens", counts.cached_tokens()),
            (of_prompt, "cache_write_tokens", counts.cache_write_tokens()),
            (of_prompt, "audio_tokens", counts.prompt_audio_tokens()),
            (of_completion, "reasoning_tokens", counts.reasoning_tokens()),
            (of_completion, "audio_tokens", counts.completion_audio_tokens()),
            (of_completion, "accepted_prediction_tokens", counts.accepted_prediction_tokens()),
            (of_completion, "rejected_prediction_tokens", counts.rejected_prediction_tokens()),
        ]);
    }
}
