//! Streams of events, as servers write them.

use super::*;

/// Events with their type for their name.
pub(super) fn named(events: &[Value]) -> Vec<u8> {
    let block = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(block).collect::<String>().into_bytes()
}

pub(super) fn unnamed(events: &[Value]) -> Vec<u8> {
    events.iter().map(|event| format!("data: {event}\r\n\r\n")).collect::<String>().into_bytes()
}

/// Events without a name, whose type is their first member, as servers write them.
pub(super) fn type_first(events: &[Value]) -> Vec<u8> {
    let block = |event: &Value| {
        let mut members = event.as_object().unwrap().clone();
        let kind = members.remove("type").unwrap();
        format!("data: {{\"type\":{kind},{}\r\n\r\n", &Value::Object(members).to_string()[1..])
    };
    events.iter().map(block).collect::<String>().into_bytes()
}

/// Events with a name, and without a type in their JSON.
pub(super) fn by_name(events: &[Value]) -> Vec<u8> {
    let block = |event: &Value| {
        let mut members = event.as_object().unwrap().clone();
        let kind = members.remove("type").unwrap();
        format!("event: {}\ndata: {}\n\n", kind.as_str().unwrap(), Value::Object(members))
    };
    events.iter().map(block).collect::<String>().into_bytes()
}
