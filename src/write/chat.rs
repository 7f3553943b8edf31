//! Writes chat completions.

use super::calls::{Call, CLOSED, CUSTOM, HAS_ARGUMENTS, OPEN};
use super::out::{Frame, Out, To, Written};
use super::parts::{error_message, Part, Source};
use super::state::{bit, State, ASSISTANT};
use super::WriteError;
use crate::chat::{ApiError, FinishReason, NamePiece, OtherMember, Owner, TokenCounts, Update};
use crate::json::{Text, Value, ValueKind};

impl State {
    /// Writes a chunk of one choice. `write` writes the members of its delta, closes the delta, and writes the finish
    /// reason.
    #[inline(always)]
    fn chunk<R>(
        &mut self,
        (memory, out): (&[u8], &mut Out<'_>),
        choice: u32,
        write: impl FnOnce(&mut Frame<'_>) -> Written<R>,
    ) -> Written<R> {
        let (envelope, has_usage) = (self.envelope, self.has_usage);
        self.frame(out, |frame| {
            frame.bytes(envelope.of(memory));
            frame.bytes(b"{\"index\":");
            frame.number(choice.into());
            frame.bytes(b",\"delta\":{");
            let result = write(frame)?;
            frame.bytes(if has_usage { b"}],\"usage\":null}\n\n" } else { b"}]}\n\n" });
            Ok(result)
        })
    }

    /// Writes an event with the beginning of a text. Returns how many raw bytes are left.
    #[inline(always)]
    pub(super) fn chat_piece(
        &mut self,
        to: &mut To<'_, '_>,
        (choice, part): (u32, Part),
        source: Source<'_>,
        taken: usize,
    ) -> Written<usize> {
        let (text, limit) = (source.rest(to.memory, &self.calls, taken), self.text_len);
        let (before, after): (&[u8], &[u8]) = match part {
            Part::Content | Part::Annotations => (b"\"content\":\"", NEXT),
            Part::Reasoning => (b"\"reasoning_content\":\"", NEXT),
            Part::Refusal => (b"\"refusal\":\"", NEXT),
            Part::FunctionName => (b"\"function_call\":{\"name\":\"", NEXT_IN_OBJECT),
            Part::FunctionArguments => (b"\"function_call\":{\"arguments\":\"", NEXT_IN_OBJECT),
            Part::Arguments(place) => {
                let call = self.calls.get(place);
                let custom: &[u8] = b",\"custom\":{\"input\":\"";
                return self.chunk((to.memory, to.out), choice, |frame| {
                    frame.bytes(b"\"tool_calls\":[{\"index\":");
                    frame.number(call.index.into());
                    frame.bytes(if call.has(CUSTOM) { custom } else { b",\"function\":{\"arguments\":\"" });
                    let rest = frame.text(text, limit);
                    frame.bytes(b"\"}}]},\"finish_reason\":null");
                    Ok(rest.raw().len())
                });
            }
        };
        self.chunk((to.memory, to.out), choice, |frame| {
            frame.bytes(before);
            let rest = frame.text(text, limit);
            frame.bytes(after);
            Ok(rest.raw().len())
        })
    }

    /// Begins the choice, if it did not begin.
    #[inline(always)]
    pub(super) fn chat_begin(&mut self, to: &mut To<'_, '_>, choice: u32, role: &str) -> Written {
        if self.begun & bit(choice) == 0 {
            self.chat_member((to.memory, to.out), choice, (b"\"role\":\"", NEXT), &|frame| {
                frame.text(Text::verbatim(role.as_bytes()), u32::MAX);
                Ok(())
            })?;
            self.begun |= bit(choice);
            self.is_quick |= choice == 0 && !self.event_ids;
        }
        Ok(())
    }

    /// Writes a chunk with a value between these bytes. Out of line, for what comes seldom.
    #[inline(never)]
    fn chat_member(
        &mut self,
        to: (&[u8], &mut Out<'_>),
        choice: u32,
        (before, after): (&[u8], &[u8]),
        value: &dyn Fn(&mut Frame<'_>) -> Written,
    ) -> Written {
        self.chunk(to, choice, |frame| {
            frame.bytes(before);
            value(frame)?;
            frame.bytes(after);
            Ok(())
        })
    }

    pub(super) fn chat_open_call(&mut self, to: &mut To<'_, '_>, place: usize) -> Written {
        let mut call = self.calls.get(place);
        self.chat_begin(to, call.choice, ASSISTANT)?;
        call.index = self.calls.opened(call.choice);
        let response = self.id;
        let (kind, input): (&[u8], &[u8]) = if call.has(CUSTOM) {
            (b"\",\"type\":\"custom\",\"custom\":{\"name\":\"", b"\",\"input\":\"\"}}]},\"finish_reason\":null")
        } else {
            (b"\",\"type\":\"function\",\"function\":{\"name\":\"", b"\",\"arguments\":\"\"}}]},\"finish_reason\":null")
        };
        self.chat_member((to.memory, to.out), call.choice, (b"\"tool_calls\":[{\"index\":", input), &|frame| {
            frame.number(call.index.into());
            frame.bytes(b",\"id\":\"");
            call.id(frame, to.memory, ("call_", response.of(to.memory), place));
            frame.bytes(kind);
            call.name(frame, to.memory);
            Ok(())
        })?;
        call.set(OPEN);
        self.calls.set(place, call);
        Ok(())
    }

    /// Arguments that never came are an empty object.
    pub(super) fn chat_close_call(&mut self, to: &mut To<'_, '_>, place: usize) -> Written {
        let mut call = self.calls.get(place);
        if !call.has(HAS_ARGUMENTS | CUSTOM) {
            let source = Source::Text(Text::verbatim(b"{}"));
            self.chat_piece(to, (call.choice, Part::Arguments(place)), source, 0)?;
        }
        call.set(CLOSED);
        self.calls.set(place, call);
        Ok(())
    }

    /// Writes an update that has no text that may be long.
    pub(super) fn chat_part(&mut self, to: &mut To<'_, '_>, choice: u32, update: &Update<'_>) -> Written {
        match update {
            Update::FunctionName { piece: NamePiece::Replaces, .. } if self.functions & bit(choice) != 0 => {
                return Err(WriteError::Late);
            }
            Update::Annotations(_)
            | Update::Audio(_)
            | Update::ChoiceError(_)
            | Update::FunctionArguments(_)
            | Update::FunctionName { .. }
            | Update::Logprobs(_)
            | Update::Signature(_) => self.chat_begin(to, choice, ASSISTANT)?,
            _ => {}
        }
        let mut raw = |of: &mut Self, before: &[u8], value: Value<'_>, after: &[u8]| {
            of.chat_member((to.memory, to.out), choice, (before, after), &|frame| frame.json(value))
        };
        match update {
            Update::Annotations(list) if list.kind() == ValueKind::Array => {
                raw(self, b"\"annotations\":", *list, b"},\"finish_reason\":null")
            }
            Update::Annotations(one) => {
                let (index, around) =
                    (self.annotations, (b"\"annotations\":[".as_slice(), b"]},\"finish_reason\":null".as_slice()));
                self.chat_member((to.memory, to.out), choice, around, &|frame| with_index(frame, *one, index))?;
                self.annotations = index.saturating_add(1);
                Ok(())
            }
            Update::Audio(audio) => raw(self, b"\"audio\":", *audio, b"},\"finish_reason\":null"),
            Update::Logprobs(list) if list.kind() == ValueKind::Array => {
                raw(self, b"},\"logprobs\":{\"content\":", *list, b",\"refusal\":null},\"finish_reason\":null")
            }
            Update::Logprobs(list) => raw(self, b"},\"logprobs\":", *list, b",\"finish_reason\":null"),
            Update::ChoiceError(error) => {
                raw(self, b"},\"error\":", error.value().ok_or(WriteError::NoPlace)?, b",\"finish_reason\":\"error\"")?;
                self.finished |= bit(choice);
                self.is_quick &= choice != 0;
                Ok(())
            }
            Update::FunctionName { text, .. } => {
                self.pieces(to, (choice, Part::FunctionName), Source::Text(*text))?;
                self.functions |= bit(choice);
                Ok(())
            }
            Update::FunctionArguments(text) => self.pieces(to, (choice, Part::FunctionArguments), Source::Text(*text)),
            Update::Signature(text) => {
                let (before, index) = (b"\"reasoning_details\":[{\"type\":\"reasoning.text\",\"index\":", self.details);
                self.chat_member((to.memory, to.out), choice, (before, b"}]},\"finish_reason\":null"), &|frame| {
                    frame.number(index.into());
                    frame.bytes(b",\"signature\":");
                    frame.string(*text);
                    Ok(())
                })?;
                self.details = index.saturating_add(1);
                Ok(())
            }
            Update::Member(OtherMember { owner: Owner::Call, call, name, value, .. }) => {
                let is_it = |row: &&Call| row.choice == choice && row.call == *call && row.has(OPEN);
                let row = *self.calls.rows().iter().find(is_it).ok_or(WriteError::NoPlace)?;
                // Clients expect the kind of the call in each of its elements.
                let kind: &[u8] = if row.has(CUSTOM) {
                    b",\"custom\":{\"input\":\"\"},"
                } else {
                    b",\"function\":{\"arguments\":\"\"},"
                };
                if name.is_one_of("index id type function custom") {
                    return Err(WriteError::NoPlace);
                }
                let around: (&[u8], &[u8]) = (b"\"tool_calls\":[{\"index\":", b"}]},\"finish_reason\":null");
                self.chat_member((to.memory, to.out), choice, around, &|frame| {
                    frame.number(row.index.into());
                    frame.bytes(kind);
                    frame.string(*name);
                    frame.bytes(b":");
                    frame.json(*value)
                })
            }
            _ => Err(WriteError::NoPlace),
        }
    }

    pub(super) fn chat_finish(&mut self, to: &mut To<'_, '_>, choice: u32, reason: &FinishReason<'_>) -> Written {
        self.chat_begin(to, choice, ASSISTANT)?;
        self.chat_member((to.memory, to.out), choice, (b"},\"finish_reason\":", b""), &|frame| {
            frame.string(reason.in_message());
            Ok(())
        })
    }

    /// Writes the usage, if the request asked for it and it is known, and the end.
    pub(super) fn chat_end(&mut self, to: &mut To<'_, '_>) -> Written {
        self.chat_usage(to)?;
        self.frame(to.out, |frame| {
            frame.bytes(b"data: [DONE]\n\n");
            Ok(())
        })?;
        (self.ended, self.is_quick) = (true, false);
        Ok(())
    }

    fn chat_usage(&mut self, to: &mut To<'_, '_>) -> Written {
        let Some(counts) = self.counts().filter(|_| self.has_usage && self.step == 0) else { return Ok(()) };
        let envelope = self.envelope;
        self.frame(to.out, |frame| {
            frame.bytes(envelope.of(to.memory));
            frame.bytes(b"],\"usage\":");
            usage(frame, &counts);
            frame.bytes(b"}\n\n");
            Ok(())
        })?;
        self.step = 1;
        Ok(())
    }

    /// Ends the stream with an error: no `[DONE]`.
    pub(super) fn chat_error(&mut self, to: &mut To<'_, '_>, error: &ApiError<'_>) -> Written {
        self.chat_usage(to)?;
        let part = |frame: &mut Frame<'_>, name: &[u8], text: Option<Text<'_>>| {
            frame.bytes(name);
            match text {
                Some(text) => frame.string(text),
                None => frame.bytes(b"null"),
            }
        };
        self.frame(to.out, |frame| {
            let kind = error.kind().unwrap_or(Text::verbatim(b"server_error"));
            part(frame, b"data: {\"error\":{\"message\":", Some(error_message(error)));
            part(frame, b",\"type\":", Some(kind));
            part(frame, b",\"param\":", error.param());
            part(frame, b",\"code\":", error.code());
            frame.bytes(b"}}\n\n");
            Ok(())
        })?;
        (self.ended, self.is_quick) = (true, false);
        Ok(())
    }
}

/// Closes a text and its delta.
const NEXT: &[u8] = b"\"},\"finish_reason\":null";
/// Closes a text, its object and the delta.
const NEXT_IN_OBJECT: &[u8] = b"\"}},\"finish_reason\":null";

/// Writes an object with its place in the list, unless it has an index: OpenAI's clients join the elements of a list by
/// their indexes.
fn with_index(frame: &mut Frame<'_>, object: Value<'_>, index: u32) -> Written {
    let (has_index, mut at) = (object.get("index").ok().flatten().is_some(), 0);
    if has_index || object.kind() != ValueKind::Object {
        return frame.json(object);
    }
    // Checks all of it before its members are taken apart.
    Frame::new(&mut []).json(object)?;
    frame.bytes(b"{\"index\":");
    frame.number(index.into());
    while let Some((name, value)) = object.member_at(&mut at) {
        frame.bytes(b",");
        frame.string(name);
        frame.bytes(b":");
        frame.json(value)?;
    }
    frame.bytes(b"}");
    Ok(())
}

/// Writes token counts. The counts that the protocol demands are 0 if nobody knows them.
fn usage(frame: &mut Frame<'_>, counts: &TokenCounts) {
    let (prompt, completion) = (counts.prompt_tokens().unwrap_or(0), counts.completion_tokens().unwrap_or(0));
    let total = counts.total_tokens().unwrap_or(prompt.saturating_add(completion));
    frame.bytes(b"{\"prompt_tokens\":");
    frame.number(prompt);
    frame.bytes(b",\"completion_tokens\":");
    frame.number(completion);
    frame.bytes(b",\"total_tokens\":");
    frame.number(total);
    let prompt = [
        ("cached_tokens", counts.cached_tokens()),
        ("cache_write_tokens", counts.cache_write_tokens()),
        ("audio_tokens", counts.prompt_audio_tokens()),
    ];
    let completion = [
        ("reasoning_tokens", counts.reasoning_tokens()),
        ("audio_tokens", counts.completion_audio_tokens()),
        ("accepted_prediction_tokens", counts.accepted_prediction_tokens()),
        ("rejected_prediction_tokens", counts.rejected_prediction_tokens()),
    ];
    details(frame, "prompt_tokens_details", &prompt);
    details(frame, "completion_tokens_details", &completion);
    frame.bytes(b"}");
}

/// Writes the counts that are known, if any is, as an object with this name.
fn details(frame: &mut Frame<'_>, name: &str, counts: &[(&str, Option<u64>)]) {
    let mut is_first = true;
    for (count, number) in counts {
        let Some(number) = number else { continue };
        let before = if is_first { [",\"", name, "\":{\""] } else { ["", ",", "\""] };
        before.iter().for_each(|part| frame.bytes(part.as_bytes()));
        frame.bytes(count.as_bytes());
        frame.bytes(b"\":");
        frame.number(*number);
        is_first = false;
    }
    if !is_first {
        frame.bytes(b"}");
    }
}
