//! OpenAI Responses.

use super::expect::{has_unknown_text, is_audio, is_piece, is_unknown_event};
use super::finish::Reason;
use super::identity::{Address, CallId, Class, Id};
use super::items::{
    content_kind, end_item, end_text, end_whole, find_whole, has_empty_id, has_text, judge_part, kind_in, piece, Item,
};
use super::known::{each_element, members, Fault, Known, Member};
use super::reported::{Earlier, ItemPart, Reported, ARGUMENTS, BEGAN_WHOLE, CALL, LOGPROBS, NAME};
use super::state::{DialectState, Plan, ReadEvent, What};
use super::text_event::{ends_text, event_text, known_text, part_begun, row, slot, words, EventText, PartKind};
use super::value::{arguments, array, has_elements, index_number, is, number, object, text};
use super::walk::{value_at, whole_at, CallParts, Container, Walk};
use crate::delta::{Delta, Kind, Part};
use crate::json::{members_of, Balance, Text, Value, LONGEST_WORD};
use crate::Quirk;

/// Returns the status with which an event of this type ends a response, or `None` if it ends none.
pub(crate) fn ends(kind: &[u8]) -> Option<&'static str> {
    let own = kind.strip_prefix(b"response.")?;
    // `done` (OpenRouter) leaves the status to the response.
    ["completed", "incomplete", "failed", "cancelled", "done"].into_iter().find(|word| own == word.as_bytes())
}

static EVENT: [Member; 6] = members![
    "output_index" Index, "item" Object, "response" Object, "delta" Text, "status" Any, "output" Any,
];
const OF_ITEM: u32 = 0b11;
const OF_RESPONSE: u32 = 0b100;
const OF_AUDIO: u32 = 0b1000;

static RESPONSE: [Member; 12] = members![
    "id" Text, "created_at" Any, "status" Text, "completed_at" Any, "error" Object, "incomplete_details" Object,
    "model" Text, "moderation" Any, "output" List, "service_tier" Text, "tool_usage" Any, "usage" Object,
];

/// Returns which [members](EVENT) of an event of this type are judged, unless it has a text.
fn judged_members(kind: &[u8]) -> u32 {
    match kind.strip_prefix(b"response.").unwrap_or_default() {
        b"output_item.added" | b"output_item.done" => OF_ITEM,
        b"created" | b"queued" | b"in_progress" | b"completed" | b"incomplete" | b"failed" | b"cancelled" | b"done" => {
            OF_RESPONSE
        }
        _ if is_audio(Text::verbatim(kind)) => OF_AUDIO,
        _ => 0,
    }
}

/// Reads an event: see [`super::read::read`].
pub(super) fn read<'a>(
    state: &mut DialectState,
    payload: &'a [u8],
    kind: Text<'_>,
    choice: &mut dyn FnMut(u32, bool),
    seen: &mut ReadEvent<'a>,
) -> Result<(), Fault<'a>> {
    let event = Value::of_payload(payload);
    let (mut buffer, own_kind) = ([0; LONGEST_WORD], kind);
    let kind = kind.word(&mut buffer);
    let (mut of_text, mut whole_item, mut is_of_response) = (None, None, false);
    seen.plan.row = row(kind);
    let [index, _, own, piece_here, status, output] = if let Some((name, known)) = known_text(seen.plan.row, event) {
        let values = known.judged(&mut seen.quirks)?;
        let [.., part, _, _] = values;
        object(part).map_or(Ok(()), |part| judge_part(part, &mut seen.quirks))?;
        of_text = Some((name, values));
        [None; 6]
    } else {
        let places = judged_members(kind);
        let values = Known::of(event, &EVENT).judged_at(places, &mut seen.quirks)?;
        let [_, item, ..] = values;
        if let Some(item) = object(item).filter(|_| places == OF_ITEM) {
            whole_item = Some(Item::judged(item, &mut seen.quirks)?);
        }
        is_of_response = places == OF_RESPONSE;
        values
    };
    let text_here = of_text.and_then(|(_, values)| event_text(seen.plan.row, event, &values));
    let is_bare = || {
        let [object_name] = members_of(event, ["object"]);
        output.is_none_or(|output| output.is_null()) && is(object_name, "response")
    };
    let is_body = !kind.starts_with(b"response.") && status.is_some() && (array(output).is_some() || is_bare());
    if !is_body && !kind.starts_with(b"response.") {
        // An event of another type says nothing of the response, whatever members it has.
        return Ok(());
    }
    let ended = ends(kind);
    let response = if is_body { Some(event) } else { object(own).or(ended.is_some().then_some(event)) };
    let is_judged = if is_body {
        array(output).is_some()
    } else {
        is_of_response && (object(own).is_some() || own.is_none() && status.is_some())
    };
    let own = object(own);
    seen.plan.inside = own.or(status.map(|_| event)).map_or(u32::MAX, |inside| Part::raw(payload, inside).start);
    let known = Known::inside(response.or(is_judged.then_some(event)), &RESPONSE);
    let [id, created, status, completed, error, details, model, moderation, output, tier, tools, usage] =
        if is_judged { known.judged(&mut seen.quirks)? } else { known.values };
    if is_judged && !state.output.reported().has_any() {
        each_element(output, &mut |item| Item::judged(item, &mut seen.quirks).map(|_| ()))?;
    }
    let is_under_way = kind == b"response.queued" || kind == b"response.in_progress";
    if kind == b"response.created" || is_under_way && state.ended {
        // A gateway that runs tools itself sends the next response in the same stream.
        state.begin_response(id.filter(|_| own.is_some()), seen);
    }
    seen.plan.reported = *state.output.reported();
    if response.is_some() {
        (seen.id, seen.model, seen.created) = (id, model, created);
        if is_body && (is(status, "queued") || is(status, "in_progress")) {
            // The response has no output yet.
            return Ok(());
        }
        choice(0, false);
        if !is_body && ended.is_none() {
            return Ok(());
        }
        let is_status = |word| text(status).map_or(ended == Some(word), |status| status == *word);
        let is_failure = is_status("failed") || is_status("cancelled");
        (seen.service_tier, seen.usage) = (tier, object(usage));
        seen.others = [details, tools, moderation, completed].into_iter().any(|other| other.is_some());
        seen.is_body = is_body;
        seen.fails = is_failure || object(error).is_some();
        if !state.failed {
            seen.error = object(error);
        }
        // Once a response has ended, no event repeats its deltas.
        if !state.ended {
            seen.plan.what = What::Response;
        }
        if let Some(output) = array(output) {
            let (mut list, mut index) = (Container::of(output.raw(), Some(output)), 0u32);
            let mut copy = if seen.plan.reported.has_any() { list } else { Container::NOTHING };
            while let Some(item) = copy.next(output.raw()) {
                let item = Item::of(item);
                let has_text = || item.class == Class::Message && has_text(item.content);
                seen.plan.reported.claim(item.identity(), &has_text, &mut seen.plan.claims);
            }
            let mut taken = 0;
            while let Some(item) = list.next(output.raw()) {
                let item = Item::of(item);
                let (class, id, call) = item.identity();
                let number = find_whole(index, &item, &seen.plan, &mut taken);
                state.called |= u64::from(class == Class::Call);
                let is_odd = !seen.plan.reported.has(number, ARGUMENTS) && item.is_odd_call();
                seen.flag(is_odd, Quirk::ArgumentsNotText);
                seen.forgets |= state.output.reported().replaces(number);
                if !state.ended {
                    end_item(state, seen, number, &item);
                }
                // Another event may end the response again, and must not report the item twice.
                state.output.items().add_all(number);
                state.output.items().describe(number, &Address { call, ..Address::of(class, None, id) });
                index = index.saturating_add(1);
            }
        }
        let is_over = ["completed", "incomplete", "requires_action", "done"].into_iter().any(is_status);
        if is_over && !state.ended {
            let reported = state.output.reported();
            // A program would run a call without the arguments that came before it.
            let lacks_arguments = reported.lacks_arguments();
            seen.changes |= lacks_arguments;
            // Arguments of a call that never came are not reported, because nobody could answer the call.
            seen.flag(lacks_arguments || reported.lacks_call(), Quirk::ChangedText);
        }
        state.ended |= is_over;
        choice(0, is_over);
        return Ok(());
    }
    if kind.starts_with(b"response.") {
        choice(0, false);
    }
    if let (Some(event_text), Some((_, [id, index, .., call]))) = (&text_here, of_text) {
        let class = Class::of_text(event_text.kind);
        let mut address = Address {
            call: CallId::of(call),
            ends: event_text.name != "delta",
            text: Some(event_text.ends),
            ..Address::of(class, index_of(index), Id::of([id]))
        };
        if event_text.name != "delta" && state.output.reported().is_gone(&address) {
            // Its deltas were reported, and what differs is not known.
            seen.quirks.insert(Quirk::OddItemIndex);
            return Ok(());
        }
        let item = find(state, seen, &address, false);
        seen.plan.part = event_text.of.part();
        // If no event opened the call, the stream was resumed after that event. The arguments then come with the whole
        // item.
        let is_call = event_text.kind == Kind::ToolArguments;
        let words = event_text.words;
        let has_words = piece(class, words).is_some();
        let is_begun = state.output.reported().has(item, CALL);
        if is_call && !is_begun && has_words {
            state.output.items().add_annotation(item);
        }
        // Arguments that came before their call was opened could not be reported, so the end of the arguments has all.
        let is_whole = is_begun && event_text.name != "delta" && state.output.reported().came_early(item);
        let is_open = !is_call || state.takes_arguments(item) || is_whole;
        let repeats = is_call && event_text.name == "delta" && state.output.reported().began_whole(item);
        seen.flag(repeats, Quirk::ArgumentsAfterEnd);
        let has_text = is_open && has_words;
        let is_done = state.texts.is_done(item, event_text.of) || !is_call && state.output.reported().is_done(item);
        let is_late = event_text.name == "delta" && has_text && is_done;
        seen.flag(is_late, Quirk::DeltaAfterDone);
        if is_late && is_call {
            // The arguments are whole already.
        } else if event_text.name == "delta" && has_text {
            seen.plan.what = What::More;
            if let Some(words) = piece(class, words) {
                state.texts.reopen(item, event_text.of);
                state.texts.add(item, event_text.of, words, state.output.reported());
            }
            state.output.items().add(item, event_text.of);
        } else if has_text {
            let items = state.output.items();
            let earlier = match event_text.of {
                ItemPart::Content(part) if !is_call => {
                    items.add_end(item, part, event_text.ends, event_text.kind == Kind::Refusal)
                }
                of if items.add(item, of) => Earlier::Reported,
                _ => Earlier::New,
            };
            seen.flag(earlier == Earlier::Elsewhere, Quirk::OddItemIndex);
            match (earlier, piece(class, words)) {
                (Earlier::New, Some(words)) => {
                    seen.plan.what = What::More;
                    state.texts.add(item, event_text.of, words, &Reported::NOTHING);
                }
                (Earlier::Reported, words) => {
                    end_text(state, seen, item, (event_text.kind, event_text.of, event_text.of), words);
                    if seen.plan.cuts.get(item, event_text.of).is_some() {
                        seen.plan.what = What::More;
                    }
                }
                _ => state.texts.pass_contents(item),
            }
        }
        if event_text.name != "delta" {
            state.texts.end(item, event_text.of, None);
            if is_call {
                state.output.items().end_arguments(item);
            }
            if ends_text(seen.plan.row) && seen.plan.what == What::Nothing {
                seen.plan.what = What::EndOfText;
            }
        }
        if logprobs(event_text, item, &seen.plan).is_some() {
            state.output.items().add(item, LOGPROBS);
            if matches!(seen.plan.what, What::Nothing | What::EndOfText) {
                seen.plan.what = What::Logprobs;
            }
        }
        let is_odd = class == Class::Call && seen.plan.what == What::More && text(words).is_none();
        seen.flag(is_odd, Quirk::ArgumentsNotText);
        if !seen.quirks.contains(Quirk::OddItemIndex) {
            // Both readers must leave the same state, and `read_known` does not look at the ID of a usual event.
            (address.id, address.call) = (Id::UNKNOWN, CallId::of(None));
        }
        state.output.items().describe(item, &address);
    } else if kind == b"response.output_item.added" || kind == b"response.output_item.done" {
        let Some(item) = whole_item else { return Ok(()) };
        let is_done = kind == b"response.output_item.done";
        let (class, id, call) = item.identity();
        let index = index_of(index);
        // A call without any ID may be another one than that which is open, and so may an item of another type.
        let is_text = matches!(class, Class::Message | Class::Reasoning);
        let ends = is_done && (is_text || has_empty_id(item.value));
        let address = Address { call, ends, ..Address::of(class, index, id) };
        if is_done && state.output.reported().is_gone(&address) {
            seen.quirks.insert(Quirk::OddItemIndex);
            return Ok(());
        }
        let number = find(state, seen, &address, !is_done);
        state.called |= u64::from(class == Class::Call);
        seen.plan.inside = Part::raw(payload, item.value).start;
        if is_done {
            seen.plan.what = What::WholeItem;
            let is_odd = !state.output.reported().has(number, ARGUMENTS) && item.is_odd_call();
            seen.flag(is_odd, Quirk::ArgumentsNotText);
            end_item(state, seen, number, &item);
            end_whole(state, number, &item);
        } else {
            seen.plan.what = What::Item;
            if class != Class::Call {
                state.texts.reopen_item(number);
                let has_text = has_text(item.content) || has_text(item.summary);
                seen.flag(is_text && has_text, Quirk::UnknownText);
            }
            if class == Class::Call {
                state.output.items().add(number, CALL);
                if text(item.name).is_some() {
                    state.output.items().add(number, NAME);
                }
                if let Some(input) = item.begun_input() {
                    let is_more = state.output.items().add(number, ARGUMENTS);
                    if !is_more {
                        state.texts.add(number, ARGUMENTS, input, &Reported::NOTHING);
                    }
                    // The input of a custom tool may be any text, so nothing shows that it is whole.
                    if !is_more && !item.is_custom && is_whole_object(input) {
                        state.output.items().add(number, BEGAN_WHOLE);
                    }
                }
            }
        }
        state.output.items().describe(number, &address);
    } else if let Some(own) = part_begun(kind) {
        let [index, id, content, summary] =
            members_of(event, ["output_index", "item_id", "content_index", "summary_index"]);
        let class = if matches!(own, PartKind::Summary) { Class::Reasoning } else { Class::Unknown };
        let (item, _) = state.item(&Address::of(class, index_of(index), Id::of([id])), false);
        // A call has no parts: this one belongs to an item that is not known yet.
        if !state.output.reported().is_a(item, Class::Call) {
            state.texts.reopen(item, own.part(content, summary));
        }
        // The text of a part comes after the event that begins the part.
        seen.note_unknown(["text", "refusal"].into_iter().any(|name| text(words(event, name)).is_some()));
    } else if kind == b"response.output_text.annotation.added" {
        let [index, id] = members_of(event, ["output_index", "item_id"]);
        let address = Address::of(Class::Unknown, index_of(index), Id::of([id]));
        let item = find(state, seen, &address, false);
        state.output.items().add_annotation(item);
        state.output.items().describe(item, &address);
        seen.plan.what = What::Annotation;
    } else if is_audio(own_kind) {
        if text(piece_here).is_some() {
            seen.plan.what = What::Audio;
        }
    } else if of_text.is_none() {
        let is_piece = is_piece(own_kind);
        seen.note_unknown(!is_piece && is_unknown_event(event, kind));
        if is_piece {
            seen.plan.what = What::Piece;
        }
    }
    if !matches!(seen.plan.what, What::Nothing | What::EndOfText) {
        return Ok(());
    }
    if let Some((name, _)) = of_text {
        // The part of an event that ends one may name its text otherwise.
        let (name, words) = text_here.map_or_else(|| (name, words(event, name)), |text| (text.name, text.words));
        let has_own = words.is_some_and(|words| words.raw() != b"\"\"");
        seen.note_unknown(!has_own && has_unknown_text(event, name));
    }
    Ok(())
}

/// Returns the log probabilities of the content in an event. Those of a whole text count only if no earlier event had
/// any of its item.
fn logprobs<'a>(text: &EventText<'a>, item: u32, plan: &Plan) -> Option<Value<'a>> {
    let is_content = text.kind == Kind::Content && !plan.reported.is_a(item, Class::Reasoning);
    let is_new = text.name == "delta" || !plan.reported.has(item, LOGPROBS);
    text.logprobs.filter(|list| is_content && is_new && has_elements(Some(*list)))
}

/// The members of a response that are reported, although no delta is made of them. All others repeat the request or
/// earlier events. [`read`] takes the same four from the table of a [`RESPONSE`].
pub(super) const OTHERS: &str = "incomplete_details tool_usage moderation completed_at";

/// Whether a text is a complete JSON object with members.
fn is_whole_object(text: Text<'_>) -> bool {
    let (mut balance, mut buffer, mut has_colon) = (Balance::NOTHING, [0; 4], false);
    text.fragments().for_each(|fragment| {
        let bytes = fragment.encode(&mut buffer).as_bytes();
        has_colon |= bytes.contains(&b':');
        let _ = balance.feed(bytes);
    });
    has_colon && balance.is_closed()
}

/// Returns the index of an event's output item, if it is a number, maybe in a string.
fn index_of(index: Option<Value<'_>>) -> Option<u32> {
    let index = index?;
    match index.as_text() {
        Some(_) => index_number(index),
        None => u32::try_from(index.as_u64()?).ok(),
    }
}

/// Returns the number of the item that the event belongs to or, if it `begins` one, of the item that it begins. Stores
/// the number in the plan.
fn find(state: &mut DialectState, seen: &mut ReadEvent<'_>, address: &Address, begins: bool) -> u32 {
    let (number, is_usual) = state.item(address, begins);
    seen.plan.number = number;
    // Templates would still recognize events of the item whose place this item takes.
    seen.forgets |= state.output.reported().replaces(number);
    if !is_usual {
        seen.quirks.insert(Quirk::OddItemIndex);
        seen.forgets |= !core::mem::replace(&mut state.is_odd, true);
    }
    number
}

/// Takes one step of [`super::read::next`], which need not have a delta.
pub(super) fn step(walk: &mut Walk, payload: &[u8], plan: &Plan) -> Option<Delta> {
    let event = || Value::of_payload(payload);
    match (plan.what, walk.phase) {
        (What::More, 0) => {
            walk.phase = if ends_text(plan.row) { ENDED } else { Walk::OVER };
            more(walk, payload, plan)
        }
        (What::Logprobs, 0) => {
            walk.phase = if ends_text(plan.row) { ENDED } else { Walk::OVER };
            let logprobs = text_of(payload, plan).and_then(|text| logprobs(&text, plan.number, plan));
            walk.member = logprobs.map_or(Part::NONE, |logprobs| Part::raw(payload, logprobs));
            None
        }
        (What::EndOfText, 0) | (_, ENDED) => {
            walk.phase = Walk::OVER;
            Some(walk.text_end(slot(plan.number, plan.part)))
        }
        (What::Audio, 0) => {
            walk.phase = Walk::OVER;
            walk.raw(payload, Kind::Audio, whole(payload), 0).map(|delta| Delta { flags: 0, ..delta })
        }
        (What::Annotation, 0) => {
            walk.phase = Walk::OVER;
            let [annotation, part] = members_of(event(), ["annotation", "content_index"]);
            walk.raw(payload, Kind::Annotation, annotation, slot(plan.number, number(part)))
        }
        (What::Piece, 0) => {
            walk.phase = Walk::OVER;
            let [index] = members_of(event(), ["output_index"]);
            walk.raw(payload, Kind::Native, whole(payload), slot(number(index), 0))
        }
        (What::Item | What::WholeItem, 0) => {
            (walk.element, walk.phase, walk.sub) = (plan.inside, 2, 0);
            None
        }
        (What::Response, 0) => {
            let [output] = members_of(value_at(payload, plan.inside), ["output"]);
            (walk.phase, walk.outer) = (1, Container::of(payload, array(output)));
            // The step to an item adds one, so the position of the first item is 0.
            walk.count = u32::MAX;
            None
        }
        (What::Response, 1) => {
            let Some(item) = walk.outer.next(payload) else {
                walk.phase = Walk::OVER;
                return finish(payload, plan);
            };
            walk.count = walk.count.wrapping_add(1);
            let number = find_whole(walk.count, &Item::of(item), plan, &mut walk.taken);
            walk.number = u16::try_from(number).unwrap_or(u16::MAX);
            (walk.element, walk.phase, walk.sub) = (Part::raw(payload, item).start, 2, 0);
            None
        }
        (_, 2) => item(walk, payload, plan),
        // The item is a call of the client, and over.
        (_, 3) => {
            walk.phase = if plan.what == What::Response { 1 } else { Walk::OVER };
            Some(walk.call_end(index_in(walk, plan)))
        }
        _ => walk.end(),
    }
}

/// Returns all of an event.
fn whole(payload: &[u8]) -> Option<Value<'_>> {
    whole_at(payload, payload.len().saturating_sub(payload.trim_ascii_start().len()) as u32)
}

/// Returns the delta of the finish reason: the response's status or, if it has none, the last word of the event's type.
fn finish(payload: &[u8], plan: &Plan) -> Option<Delta> {
    let [status, details] = members_of(value_at(payload, plan.inside), ["status", "incomplete_details"]);
    let detail = details.and_then(|details| text(members_of(details, ["reason"])[0]));
    let by_type = || {
        let [kind] = members_of(Value::of_payload(payload), ["type"]);
        let kind = kind?.as_text()?;
        // The text of a delta lies in the payload, still escaped. So the prefix is cut off the raw type, and a type
        // whose prefix has escapes gives no status.
        kind.raw().starts_with(b"response.").then(|| kind.behind(b"response.".len()))
    };
    Walk::START.finish(payload, text(status).or_else(by_type), Reason::Status(detail), plan)
}

/// Describes the text of an event.
fn text_of<'a>(payload: &'a [u8], plan: &Plan) -> Option<EventText<'a>> {
    let event = Value::of_payload(payload);
    let (_, known) = known_text(plan.row, event)?;
    event_text(plan.row, event, &known.values)
}

/// Returns the delta of an event with a text or arguments.
fn more(walk: &mut Walk, payload: &[u8], plan: &Plan) -> Option<Delta> {
    let text = text_of(payload, plan)?;
    let EventText { kind, of, is_custom, name, words, .. } = text;
    walk.member = logprobs(&text, plan.number, plan).map_or(Part::NONE, |list| Part::raw(payload, list));
    let cut = plan.cuts.get(plan.number, of).filter(|_| name != "delta");
    if kind == Kind::ToolArguments {
        let arguments = rest(arguments(words), cut);
        return Some(walk.call(payload, plan.number, CallParts { arguments, is_custom, ..CallParts::default() }, plan));
    }
    let kind = kind_in(plan.reported.is_a(plan.number, Class::Reasoning), kind);
    let delta = walk.text(payload, kind, words, slot(plan.number, of.part()))?;
    Some(Delta { code: of.code(), text: rest_of(payload, delta.text, cut), ..delta })
}

/// Returns a text without its beginning, which deltas reported.
fn rest<'a>(text: Option<Text<'a>>, cut: Option<(u32, u32)>) -> Option<Text<'a>> {
    let mut text = text?;
    if let Some((_, len)) = cut {
        text.take_first(len, |_| {});
    }
    Some(text)
}

fn rest_of(payload: &[u8], text: Part, cut: Option<(u32, u32)>) -> Part {
    rest(Some(text.text(payload)), cut).map_or(text, |rest| Part::of(payload, rest))
}

/// Enters the parts of an item, if there are more than the `reported` parts that were reported, or if the event
/// continues one (`is_longer`). The position of a part need not be the index under which it was reported, so only their
/// number shows that all were.
fn enter(walk: &mut Walk, payload: &[u8], parts: Option<Value<'_>>, reported: u32, is_longer: bool) {
    let list = Container::of(payload, array(parts));
    let mut copy = list;
    walk.has_more = (0..=reported).all(|_| copy.next(payload).is_some());
    walk.inner = if walk.has_more || is_longer { list } else { Container::NOTHING };
    walk.part = u32::MAX;
}

/// Returns the number of the current item.
fn index_in(walk: &Walk, plan: &Plan) -> u32 {
    if plan.what == What::Response {
        u32::from(walk.number)
    } else {
        plan.number
    }
}

/// The phase of a walk that has only the end of its text left.
const ENDED: u8 = 4;

/// The step within an item whose deltas have all been returned.
const DONE: u8 = u8::MAX;

/// Takes one step in the current item, and leaves an item that has no more deltas. Returns only deltas that were not
/// reported before. The steps look up the members of the item a fixed number of times, however many parts the item has.
fn item(walk: &mut Walk, payload: &[u8], plan: &Plan) -> Option<Delta> {
    let value = value_at(payload, walk.element);
    let is_in_response = plan.what == What::Response;
    let index = index_in(walk, plan);
    // A value that is no object reports nothing.
    if walk.sub == DONE || value.kind() != crate::json::ValueKind::Object {
        walk.phase = if is_in_response { 1 } else { Walk::OVER };
        return None;
    }
    let is_whole = plan.what != What::Item;
    let reported = |of| plan.reported.has(index, of);
    // The deltas come in this order: role, summaries, contents, annotations of the contents, and encrypted reasoning.
    match walk.sub {
        0 => {
            let item = Item::of(value);
            if item.class == Class::Call {
                let (is_custom, name, id) = (item.is_custom, item.name, item.call_id());
                (walk.sub, walk.phase) = (DONE, if is_whole { 3 } else { walk.phase });
                let arguments = if is_whole { arguments(item.input) } else { item.begun_input() };
                let cut = plan.cuts.get(index, ARGUMENTS).filter(|_| is_whole);
                let arguments = rest(arguments.filter(|_| cut.is_some() || !reported(ARGUMENTS)), cut);
                if reported(CALL) {
                    let name = name.filter(|name| text(Some(*name)).is_some() && !reported(NAME));
                    let call = CallParts { id: None, name, arguments, is_custom, is_open: true };
                    let has_more = name.is_some() || arguments.is_some();
                    return has_more.then(|| walk.call(payload, index, call, plan));
                }
                let call = CallParts { id, name, arguments, is_custom, is_open: false };
                return Some(walk.call(payload, index, call, plan));
            }
            if !matches!(item.class, Class::Message | Class::Reasoning) {
                walk.sub = DONE;
                let whole = whole_at(payload, walk.element).filter(|_| is_whole && !reported(ARGUMENTS));
                return walk.raw(payload, Kind::Native, whole, u64::from(index) << 32);
            }
            (walk.sub, walk.is_reasoning) = (if is_whole { 1 } else { DONE }, item.class == Class::Reasoning);
            let count = plan.reported.count(index, CALL);
            enter(walk, payload, item.summary, count, plan.cuts.has(index, CALL));
            walk.role(payload, item.role)
        }
        1 | 2 => match walk.inner.next(payload) {
            Some(part) => {
                walk.part = walk.part.wrapping_add(1);
                let of = if walk.sub == 1 { ItemPart::Summary(walk.part) } else { ItemPart::Content(walk.part) };
                let names = ["type", "text", "refusal", "annotations", "logprobs"];
                let [kind, words, refusal, annotations, logprobs] = members_of(part, names);
                walk.is_annotated |= has_elements(annotations);
                let (kind, _) = content_kind(kind)?;
                let words = if kind == Kind::Refusal { refusal } else { words };
                let is_new = !walk.is_reasoning && kind == Kind::Content && !reported(LOGPROBS);
                let logprobs = logprobs.filter(|list| is_new && has_elements(Some(*list)));
                walk.member = logprobs.map_or(Part::NONE, |list| Part::raw(payload, list));
                let kind = kind_in(walk.is_reasoning, kind);
                let cut = plan.cuts.get(index, of);
                let is_new = cut.is_some() || walk.has_more && !reported(of);
                let words = words.filter(|_| is_new);
                let slot = slot(index, cut.map_or(walk.part, |(part, _)| part));
                let delta = walk.text(payload, kind, words, slot)?;
                Some(Delta { code: of.code(), text: rest_of(payload, delta.text, cut), ..delta })
            }
            None => {
                // After the summaries come the contents. They are walked once more for their annotations, if they have
                // any. If no annotation event came, the annotations of contents that were reported are included.
                let is_for_texts = walk.sub == 1;
                let has_none = walk.part != u32::MAX && !walk.is_annotated;
                let is_over = !is_for_texts && has_none;
                let names = ["content", "summary"];
                let [content, summary] = if is_over { [None; 2] } else { members_of(value, names) };
                walk.sub = if is_for_texts { 2 } else { 5 };
                // LiteLLM sends a text that came as a summary again as content.
                let is_summary = walk.is_reasoning && plan.reported.count(index, CALL) > 0 && !has_elements(summary);
                let content = content.filter(|_| !(is_for_texts && is_summary));
                let is_reported = is_for_texts || plan.reported.has_annotations(index);
                let count = if is_reported { plan.reported.count(index, ARGUMENTS) } else { 0 };
                walk.is_annotated = false;
                enter(walk, payload, content, count, is_for_texts && plan.cuts.has(index, ARGUMENTS));
                None
            }
        },
        5 => match walk.inner.next(payload) {
            Some(part) => {
                walk.part = walk.part.wrapping_add(1);
                let [annotations, words] = members_of(part, ["annotations", "text"]);
                let annotations = annotations.filter(|list| has_elements(Some(*list)));
                // A part without a text is never reported by one.
                let was_reported = text(words).is_none() || reported(ItemPart::Content(walk.part));
                let is_reported = plan.reported.has_annotations(index) && was_reported;
                let annotations = annotations.filter(|_| !is_reported);
                walk.raw(payload, Kind::Annotation, annotations, slot(index, walk.part))
            }
            None => {
                walk.sub = 3;
                None
            }
        },
        _ => {
            walk.sub = DONE;
            let is_new = is_whole && !plan.reported.has_all(index);
            let [secret] = if is_new { members_of(value, ["encrypted_content"]) } else { [None] };
            walk.text(payload, Kind::Signature, secret, slot(index, 0))
        }
    }
}
