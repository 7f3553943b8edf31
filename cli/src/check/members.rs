//! What the rules ask of payloads.

use super::findings::Findings;
use super::rules::Rule;
use deltawire::chat::Chunk;
use deltawire::json::{Value, ValueKind};

/// Returns a member that is there and not null.
pub(super) fn member<'a>(object: &Value<'a>, name: &str) -> Option<Value<'a>> {
    object.get(name).ok().flatten().filter(|value| !value.is_null())
}

/// Returns a text that is not empty.
pub(super) fn text(object: &Value<'_>, name: &str) -> Option<String> {
    let text = member(object, name)?.as_text()?.to_cow().into_owned();
    (!text.is_empty()).then_some(text)
}

pub(super) fn number(object: &Value<'_>, name: &str) -> Option<u64> {
    member(object, name)?.as_number()?.to_u64()
}

/// Returns the elements of an array; nothing of anything else.
pub(super) fn elements<'a>(array: Option<Value<'a>>) -> impl Iterator<Item = Value<'a>> {
    let array = array.filter(|value| value.kind() == ValueKind::Array);
    array.into_iter().flat_map(|array| array.elements().map_while(Result::ok))
}

/// Adds a finding for each of these members that an object does not have.
pub(super) fn demand(object: &Value<'_>, what: &str, names: &[&str], rule: &'static Rule, findings: &mut Findings) {
    for name in names.iter().filter(|name| member(object, name).is_none()) {
        findings.add(rule, format_args!("{what} has no `{name}`"));
    }
}

/// Returns the row of a table with this name.
pub(super) fn row<'t, T>(table: &'t [(&str, T)], name: &str) -> Option<&'t T> {
    table.iter().find(|(of, _)| *of == name).map(|(_, row)| row)
}

/// Adds a finding if the text is another one than the first time. Keeps the first one.
pub(super) fn same(first: &mut Option<String>, now: String, what: &str, rule: &'static Rule, findings: &mut Findings) {
    match first {
        None => *first = Some(now),
        Some(first) if *first == now => {}
        Some(first) => findings.add(rule, format_args!("{what} is {now:?}, and was {first:?}")),
    }
}

/// Adds a finding for each of these counts that is less than before. Keeps the last of each.
pub(super) fn growing(
    usage: &Value<'_>,
    names: &[&str],
    before: &mut [u64],
    rule: &'static Rule,
    findings: &mut Findings,
) {
    for (name, before) in names.iter().zip(before) {
        let Some(now) = number(usage, name) else { continue };
        if now < *before {
            findings.add(rule, format_args!("`{name}` is {now}, and was {before}"));
        }
        *before = now;
    }
}

/// Compares the name of an event with its type, by the rule for a name that is missing, and that for another name.
pub(super) fn name(chunk: &Chunk<'_>, kind: &str, rules: [&'static Rule; 2], findings: &mut Findings) {
    let name = String::from_utf8_lossy(chunk.event_name());
    let [missing, differs] = rules;
    if name.is_empty() {
        findings.add(missing, format_args!("the event of type {kind:?} has no name"));
    } else if name != kind {
        findings.add(differs, format_args!("the event of type {kind:?} has the name {name:?}"));
    }
}
