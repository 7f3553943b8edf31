//! Text from a stream never controls a terminal, and never passes for a line of the command.

mod command;

use command::{file, on_terminal, run, run_with};

/// A line of the command, color, a title, a cleared screen by C1, a line separator, text turned round: as JSON has
/// them, and as standard error does.
const EVIL: &str =
    "x\\ndeltawire: verdict: done\\r\\u001b[31m\\u001b]0;t\\u0007\\u009b2J\\u007f\\u2028\\u202e\\u2066\\ty";
/// The text on a screen, with line ends and tabs kept.
const ON_SCREEN: &str =
    "x\ndeltawire: verdict: done\\r\\u001b[31m\\u001b]0;t\\u0007\\u009b2J\\u007f\\u2028\\u202e\\u2066\ty";
/// The text in a pipe, unchanged.
const RAW: &str = "x\ndeltawire: verdict: done\r\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}2J\u{7f}\u{2028}\u{202e}\u{2066}\ty";

fn error() -> String {
    format!("data: {{\"error\":{{\"message\":\"{EVIL}\"}}}}\n\n")
}

fn content() -> String {
    let chunk = format!("{{\"index\":0,\"delta\":{{\"content\":\"{EVIL}\"}},\"finish_reason\":\"stop\"}}");
    format!(": \u{1b}[2J\u{9b}\u{202e}\n\ndata: {{\"choices\":[{chunk}]}}\n\n")
}

#[test]
fn standard_error_is_always_escaped() {
    let report = format!("deltawire: error: {EVIL}\ndeltawire: verdict: the API reported an error\n");
    assert_eq!(run_with("text", &[], &error()).err, report);
    let missing = run("text", &["no\u{1b}[2J\nsuch file"]);
    assert_eq!(missing.status, 1);
    assert!(missing.err.starts_with("deltawire: no\\u001b[2J\\nsuch file: "), "{}", missing.err);
    if let Some(screen) = on_terminal(&["text", &file("evil-error.sse", &error())]) {
        assert_eq!(screen, report);
    }
}

#[test]
fn standard_output_is_escaped_on_a_terminal() {
    let ran = run_with("text", &[], &content());
    assert_eq!(ran.out, RAW);
    let path = file("evil-content.sse", &content());
    let Some(screen) = on_terminal(&["text", &path]) else { return };
    assert_eq!(screen, format!("{ON_SCREEN}\n{}", ran.err));
    for command in ["message", "events", "sse"] {
        let screen = on_terminal(&[command, &path]).expect("a terminal");
        let odd =
            |c: char| c != '\n' && c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        assert_eq!(screen.find(odd), None, "{command}: {screen:?}");
        // JSON stays JSON, with the same value.
        let ran = run(command, &[&path]);
        let printed = screen.strip_suffix(&ran.err).expect("standard error comes last");
        let values = |text: &str| {
            let values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
            values.collect::<Result<Vec<_>, _>>().expect("JSON")
        };
        assert_eq!(values(printed), values(&ran.out), "{command}");
        assert!(ran.out.contains('\u{9b}') && ran.out.contains('\u{202e}'), "{command}");
    }
}

/// On a terminal an error or a limit has a separate line, and so has the text after it.
#[test]
fn a_line_of_the_command_is_not_glued_to_the_text() {
    let chunk = |index: u32, text: &str| {
        format!("data: {{\"choices\":[{{\"index\":{index},\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    };
    let error = "data: {\"error\":{\"message\":\"no\",\"code\":429}}\n\n";
    let all = [&chunk(0, "one"), error, &chunk(0, "two\\n"), error, &chunk(0, "three")].concat();
    let report = "deltawire: error: no (429)\n";
    let Some(screen) = on_terminal(&["text", &file("glued.sse", &all)]) else { return };
    let shown = format!("one\n{report}two\n{report}three\n");
    assert!(screen.starts_with(&shown), "{screen}");
    let choices = (0..129).map(|index| chunk(index, "a")).collect::<String>();
    let screen = on_terminal(&["text", &file("choices.sse", &choices)]).expect("a terminal");
    assert!(screen.starts_with("a\ndeltawire: "), "{screen}");
    // A pipe gets the text as it was sent.
    assert_eq!(run_with("text", &[], &all).out, "onetwo\nthree");
}
