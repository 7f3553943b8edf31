//! What a client sends back with its next request and cannot read: signatures of reasoning, and redacted reasoning.

use super::log::{Mark, Tag};
use super::out::{Arg, To, Written};
use super::parts::Part;
use super::state::State;
use super::WriteError;
use crate::chat::scalar::{is_type, member_of, string_of};
use crate::chat::{detail_text, OtherMember, Owner, Update};
use crate::hash::fnv;
use crate::json::{Text, Value};
use crate::stream::Protocol;

/// A signature of the reasoning before it, or reasoning that is redacted.
#[derive(Clone, Copy)]
pub(super) struct Thought<'a> {
    is_redacted: bool,
    /// The signature or the data, of which the log keeps those of calls.
    text: Arg<'a>,
}

/// An entry of `reasoning_details`.
const DETAIL: &str = r#""reasoning_details":[$v]$z"#;

/// What `encrypted_content` begins with in an item that is redacted reasoning of Anthropic.
const REDACTED: &str = "redacted_thinking:";

/// Returns a member that is a text and not empty.
pub(super) fn text_of<'a>(object: Value<'a>, name: &str) -> Option<Text<'a>> {
    member_of(object, name).and_then(string_of)
}

/// Whether a value is an entry of `reasoning_details`.
fn is_detail(value: Value<'_>) -> bool {
    text_of(value, "type").is_some_and(|kind| kind.raw().starts_with(b"reasoning."))
}

impl<'a> Thought<'a> {
    /// Returns what an update has, if it is a signature, a redacted block of Anthropic, or an entry of
    /// `reasoning_details` with either. What is encrypted there is redacted reasoning if it is of Anthropic.
    pub(super) fn of(update: &Update<'a>) -> Option<Self> {
        let (is_redacted, text) = match *update {
            Update::Signature(text) if text.raw().starts_with(REDACTED.as_bytes()) => {
                (true, text.behind(REDACTED.len()))
            }
            Update::Signature(text) => (false, text),
            Update::Native(value) if is_type(value, "redacted_thinking") => (true, text_of(value, "data")?),
            Update::Native(value) if is_detail(value) => match text_of(value, "data") {
                Some(data) => {
                    let format = text_of(value, "format");
                    (format.is_none_or(|format| format.raw().starts_with(b"anthropic")), data)
                }
                None => (false, text_of(value, "signature")?),
            },
            _ => return None,
        };
        Some(Thought { is_redacted, text: Arg::Inner(text) })
    }
}

impl State {
    /// Writes what a client has to send back. Returns `None` for any other update.
    pub(super) fn secret(&mut self, to: &mut To<'_, '_>, choice: u32, update: &Update<'_>) -> Option<Written> {
        match update {
            Update::Native(value) if self.protocol == Protocol::Chat && is_detail(*value) => {
                Some(self.chunk(to, (choice, Part::Nothing), DETAIL, &[Arg::Json(*value)]))
            }
            Update::Member(member) if member.owner == Owner::Delta && member.name == "reasoning_details" => {
                Some(self.details(to, choice, member.value))
            }
            Update::Signature(text) if self.call_signature == fnv(text.raw()) => Some(Ok(())),
            _ => Thought::of(update).map(|thought| self.thought(to, choice, thought)),
        }
    }

    /// Writes what the entries of `reasoning_details` have beside a text.
    fn details(&mut self, to: &mut To<'_, '_>, choice: u32, list: Value<'_>) -> Written {
        self.each(to, (choice, Part::Redacted), list, |state, to, entry| {
            let Some(thought) = Thought::of(&Update::Native(entry)) else { return Ok(()) };
            if state.protocol == Protocol::Chat && detail_text(entry).is_none() {
                return state.chunk(to, (choice, Part::Nothing), DETAIL, &[Arg::Json(entry)]);
            }
            state.thought(to, choice, thought)
        })
    }

    /// Writes a signature or redacted reasoning.
    fn thought(&mut self, to: &mut To<'_, '_>, choice: u32, thought: Thought<'_>) -> Written {
        let Thought { is_redacted, text } = thought;
        match self.protocol {
            Protocol::Chat => {
                let data = match is_redacted {
                    true => {
                        r#""reasoning_details":[{"type":"reasoning.encrypted","index":$v,"format":"anthropic-claude-v1","data":"$v"}]$z"#
                    }
                    false => r#""reasoning_details":[{"type":"reasoning.text","index":$v,"signature":"$v"}]$z"#,
                };
                self.chunk(to, (choice, Part::Nothing), data, &[Arg::Number(self.details.into()), text])?;
                self.details = self.details.saturating_add(1);
            }
            Protocol::Responses => {
                let (part, word) = if is_redacted { (Part::Redacted, REDACTED) } else { (Part::Reasoning, "") };
                self.want(to, part)?;
                // It is a member of the item, behind the list of its parts.
                let log = self.log;
                self.keep(to.memory, Tag::PartEnd, (0, part), r#""}"#, &[])?;
                let data = r#"],"encrypted_content":"$v$v"#;
                let kept = self.keep(to.memory, Tag::ItemEnd, (0, part), data, &[Arg::Word(word), text]);
                self.or_forget(log, kept.map(drop))?;
            }
            _ if is_redacted => {
                self.begin(to)?;
                self.close(to)?;
                let data = r#","index":$x,"content_block":{"type":"redacted_thinking","data":"$v"}}"#;
                self.event(to, (0, Part::Redacted), ["content_block_start", data], &[text])?;
                self.row.open = Part::Redacted;
            }
            _ => {
                self.want(to, Part::Reasoning)?;
                // Clients take the last signature of a block for the whole one, so it is one event.
                let data = r#","index":$x,"delta":{"type":"signature_delta","signature":"$v"}}"#;
                self.event(to, (0, Part::Reasoning), ["content_block_delta", data], &[text])?;
            }
        }
        self.row.is_signed = true;
        Ok(())
    }

    /// Keeps the signature of a call, if this member has it: a call has no place for it, so it follows the call.
    pub(super) fn call_signature(&mut self, to: &mut To<'_, '_>, member: &OtherMember<'_>) -> Written {
        // A `Signature` with the same text follows.
        if member.name == "thoughtSignature" {
            return Ok(());
        }
        let google = member_of(member.value, "google").filter(|_| member.name == "extra_content");
        let text = google.and_then(|google| text_of(google, "thought_signature")).ok_or(WriteError::NoPlace)?;
        // Some servers send it with each fragment of the call.
        if self.call_signature == fnv(text.raw()) {
            return Ok(());
        }
        let at = self.keep(to.memory, Tag::Signature, (0, Part::Nothing), "$v", &[Arg::Decoded(text)])?;
        self.later.begin(at);
        self.call_signature = fnv(text.raw());
        Ok(())
    }

    /// Writes the signatures of calls, if the part that this update opens ends the call that is open.
    pub(super) fn write_later(&mut self, to: &mut To<'_, '_>, choice: u32, update: &Update<'_>) -> Written {
        let is_text = matches!(update, Update::Content(_) | Update::Reasoning(_) | Update::Refusal(_));
        match choice == 0 && self.later.at > 0 && (is_text || Thought::of(update).is_some()) {
            true => self.sign_call(to),
            false => Ok(()),
        }
    }

    /// Writes the signatures of calls, if a call is open. Another part ends it.
    pub(super) fn sign_call(&mut self, to: &mut To<'_, '_>) -> Written {
        match self.later.at > 0 && matches!(self.row.open, Part::Call(_)) {
            true => self.write_signatures(to),
            false => Ok(()),
        }
    }

    /// Writes the signatures of calls.
    pub(super) fn write_signatures(&mut self, to: &mut To<'_, '_>) -> Written {
        self.signs = true;
        while let Some(text) = self.log.next(to.memory, &mut self.later, |record| record.is(Tag::Signature)) {
            self.thought(to, 0, Thought { is_redacted: false, text: Arg::Kept(text) })?;
            self.later.take(text.len);
        }
        (self.later, self.signs) = (Mark::default(), false);
        Ok(())
    }
}
