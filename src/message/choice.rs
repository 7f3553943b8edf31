//! What an update does to a choice.

use super::budget::Budget;
use super::completion::{Audio, Choice, FunctionCall, Logprobs, Repeat, ToolCall};
use super::{AssembleError, RawList};
use crate::chat::{self, CallUpdate, Message, Update, LISTS};
use crate::delta::Meta;
use crate::json::Text;
use alloc::string::String;
use alloc::vec::Vec;

/// Tool calls of one choice that are kept.
pub(crate) const MAX_CALLS: usize = 256;

impl Choice {
    /// Takes in what is said of this choice.
    pub(crate) fn update(&mut self, update: &Update<'_>, drop_repeats: bool, budget: &mut Budget) {
        match update {
            // None of these is what a message says too.
            Update::Role(text) => return budget.replace(&mut self.role, *text),
            Update::Finish(reason) => return budget.replace(&mut self.finish_reason, reason.text()),
            Update::ChoiceError(error) => return budget.failure(&mut self.error, error),
            Update::Logprobs(logprobs) => return self.logprobs(logprobs, budget),
            Update::Message(message) => return self.message(message, budget),
            Update::Meta(Meta::NativeFinishReason, reason) => {
                return budget.replace(&mut self.native_finish_reason, *reason);
            }
            Update::Annotations(items) => return budget.append_raw(&mut self.annotations, *items),
            _ => {}
        }
        self.drop_message(budget);
        match update {
            Update::Content(text) => budget.append(&mut self.content, *text),
            Update::Reasoning(text) => budget.append(&mut self.reasoning, *text),
            Update::Refusal(text) => budget.append(&mut self.refusal, *text),
            Update::FunctionName { text, replaces } => {
                name(&mut self.function_call.get_or_insert_with(FunctionCall::default).name, *text, *replaces, budget);
            }
            Update::FunctionArguments(text) => {
                let call = self.function_call.get_or_insert_with(FunctionCall::default);
                arguments(&mut call.arguments, &mut call.repeat, *text, drop_repeats, budget);
            }
            Update::Call(CallUpdate { call, index, opens, reuses, id, kind, custom }) => {
                if *opens && !self.open_call(*call, index.unwrap_or(0), *reuses, budget) {
                    return;
                }
                let Some(call) = self.call(*call) else { return };
                call.custom |= custom;
                budget.first(&mut call.id, || *id);
                budget.first(&mut call.kind, || *kind);
            }
            Update::CallName { call, text, replaces } => {
                let Some(call) = self.call(*call) else { return };
                name(&mut call.name, *text, *replaces, budget);
            }
            Update::CallArguments { call, text } => {
                let Some(call) = self.call(*call) else { return };
                arguments(&mut call.arguments, &mut call.repeat, *text, drop_repeats && !call.custom, budget);
            }
            Update::Audio(audio) => self.audio.get_or_insert_with(Audio::default).update(audio, budget),
            _ => {}
        }
    }

    fn call(&mut self, number: u32) -> Option<&mut ToolCall> {
        // Nearly always the last one.
        self.tool_calls.iter_mut().rfind(|call| call.number == number)
    }

    /// Puts a new call where it is to be listed.
    fn open_call(&mut self, number: u32, index: u32, reuses: bool, budget: &mut Budget) -> bool {
        if self.tool_calls.len() >= MAX_CALLS {
            budget.fail(AssembleError::TooManyCalls);
            return false;
        }
        if !budget.room(&mut self.tool_calls) {
            return false;
        }
        if reuses && !self.reused {
            self.reused = true;
            self.tool_calls.sort_unstable_by_key(|call| call.number);
        }
        let place = match self.reused {
            true => self.tool_calls.len(),
            false => self.tool_calls.partition_point(|call| call.index <= index),
        };
        self.tool_calls.insert(place, ToolCall { index, number, ..ToolCall::default() });
        true
    }

    fn logprobs(&mut self, logprobs: &chat::Logprobs<'_>, budget: &mut Budget) {
        let given = logprobs.lists();
        if !given.any {
            return;
        }
        let kept = self.logprobs.get_or_insert_with(Logprobs::default);
        for (list, array) in kept.lists().into_iter().zip(given.known) {
            if let Some(array) = array {
                budget.append_raw(list.get_or_insert_with(RawList::default), array);
            }
        }
    }

    /// The whole message so far, in the place of an earlier one. If it does not fit, the earlier one stays.
    fn message(&mut self, message: &Message<'_>, budget: &mut Budget) {
        let old = self.message_cost();
        budget.refund(old);
        let mut new = Choice::default();
        let fits = budget.attempt(|budget| new.read_message(message, budget));
        if !fits {
            budget.refund_text(&mut new.role);
            budget.refund(new.message_cost().saturating_add(new.annotations.cost()));
            budget.take(old);
            return;
        }
        self.content = new.content;
        self.refusal = new.refusal;
        self.reasoning = new.reasoning;
        self.function_call = new.function_call;
        self.tool_calls = new.tool_calls;
        self.audio = new.audio;
        self.reused = new.reused;
        self.whole = true;
        // These two stay if only deltas say them, even if they say nothing else.
        match self.role {
            None => self.role = new.role,
            Some(_) => budget.refund_text(&mut new.role),
        }
        if !new.annotations.is_empty() {
            budget.refund(self.annotations.cost());
            self.annotations = new.annotations;
        }
    }

    fn read_message(&mut self, message: &Message<'_>, budget: &mut Budget) {
        for update in message.deltas() {
            match update {
                Update::Role(text) => budget.append(&mut self.role, text),
                Update::Content(text) => budget.append(&mut self.content, text),
                Update::Reasoning(text) => budget.append(&mut self.reasoning, text),
                Update::Refusal(text) => budget.append(&mut self.refusal, text),
                Update::FunctionName { text, .. } => {
                    let own = self.function_call.get_or_insert_with(FunctionCall::default);
                    budget.first(&mut own.name, || Some(text));
                }
                Update::FunctionArguments(text) => {
                    let own = self.function_call.get_or_insert_with(FunctionCall::default);
                    budget.first(&mut own.arguments, || Some(text));
                }
                // A call of a whole message is listed where it stands.
                Update::Call(CallUpdate { call, index, id, kind, custom, .. }) => {
                    if self.open_call(call, index.unwrap_or(call), true, budget) {
                        if let Some(own) = self.call(call) {
                            own.custom = custom;
                            budget.first(&mut own.id, || id);
                            budget.first(&mut own.kind, || kind);
                        }
                    }
                }
                Update::CallName { call, text, .. } => {
                    if let Some(own) = self.call(call) {
                        budget.first(&mut own.name, || Some(text));
                    }
                }
                Update::CallArguments { call, text } => {
                    if let Some(own) = self.call(call) {
                        budget.first(&mut own.arguments, || Some(text));
                    }
                }
                Update::Audio(audio) => self.audio.get_or_insert_with(Audio::default).update(&audio, budget),
                _ => {}
            }
        }
        if let Ok(Some(items)) = message.value().get("annotations") {
            budget.append_raw(&mut self.annotations, items);
        }
    }

    /// Deltas came after all: what messages said no longer counts.
    fn drop_message(&mut self, budget: &mut Budget) {
        if !core::mem::take(&mut self.whole) {
            return;
        }
        budget.refund(self.message_cost());
        self.content = None;
        self.refusal = None;
        self.reasoning = None;
        self.function_call = None;
        self.tool_calls = Vec::new();
        self.audio = None;
        self.reused = false;
    }

    /// What the parts that a message says have been charged for.
    fn message_cost(&self) -> usize {
        let len = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let mut cost = [&self.content, &self.refusal, &self.reasoning].into_iter().map(len).sum::<usize>();
        if let Some(call) = &self.function_call {
            cost += len(&call.name) + len(&call.arguments);
        }
        for call in &self.tool_calls {
            cost += [&call.id, &call.kind, &call.name, &call.arguments].into_iter().map(len).sum::<usize>();
        }
        if let Some(audio) = &self.audio {
            cost += len(&audio.id) + len(&audio.data) + len(&audio.transcript);
        }
        cost
    }
}

fn name(to: &mut Option<String>, text: Text<'_>, replaces: bool, budget: &mut Budget) {
    if replaces {
        budget.replace(to, text);
    } else {
        budget.append(to, text);
    }
}

/// Puts a fragment behind the arguments. If repeats are to be dropped and the whole came twice, once is enough.
fn arguments(to: &mut Option<String>, repeat: &mut Repeat, text: Text<'_>, drop_repeats: bool, budget: &mut Budget) {
    let before = to.as_ref().map_or(0, String::len);
    budget.append(to, text);
    let Some(all) = to.as_mut().filter(|_| drop_repeats) else { return };
    if repeat.end.is_none() {
        let fresh = all.as_bytes().get(before..).unwrap_or_default();
        repeat.end = repeat.balance.feed(fresh).map(|end| before.saturating_add(end));
    }
    let Some(end) = repeat.end else { return };
    let Some((first, rest)) = all.split_at_checked(end) else { return };
    let (first, again) = (first.trim(), rest.trim());
    if first.len() == again.len() && first == again {
        let dropped = rest.len();
        all.truncate(end);
        budget.refund(dropped);
    }
}

impl Audio {
    fn update(&mut self, audio: &chat::Audio<'_>, budget: &mut Budget) {
        budget.first(&mut self.id, || audio.id());
        if let Some(text) = audio.data() {
            budget.append(&mut self.data, text);
        }
        if let Some(text) = audio.transcript() {
            budget.append(&mut self.transcript, text);
        }
        self.expires_at = audio.expires_at().or(self.expires_at);
    }
}

impl Logprobs {
    /// The lists in the order of [`LISTS`].
    fn lists(&mut self) -> [&mut Option<RawList>; LISTS.len()] {
        let Logprobs { content, refusal, tokens, token_logprobs, top_logprobs, text_offset } = self;
        [content, refusal, tokens, token_logprobs, top_logprobs, text_offset]
    }
}
