//! Generates events for tests.

/// Returns an event with this content.
pub fn event(text: &str) -> String {
    format!("data: {}\n\n", payload(text))
}

pub fn payload(text: &str) -> String {
    format!("{{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}")
}

/// Bytes of a payload besides its content.
pub const FRAME: usize = 38;

pub fn choices(from: usize, to: usize) -> String {
    let choices = (from..to).map(|index| format!("{{\"index\":{index},\"delta\":{{\"content\":\"c{index}\"}}}}"));
    format!("data: {{\"choices\":[{}]}}\n\n", choices.collect::<Vec<_>>().join(","))
}

pub fn call(index: u64) -> String {
    format!("{{\"index\":{index},\"id\":\"c{index}\"}}")
}

pub fn calls(choice: usize, from: usize, to: usize) -> String {
    let calls = (from..to).map(|index| call(index as u64)).collect::<Vec<_>>().join(",");
    format!("data: {{\"choices\":[{{\"index\":{choice},\"delta\":{{\"tool_calls\":[{calls}]}}}}]}}\n\n")
}

pub fn call_event(index: u64) -> String {
    format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{}]}}}}]}}\n\n", call(index))
}
