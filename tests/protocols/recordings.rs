//! Recordings against their golden results.

use super::*;

#[test]
fn recordings_equal_their_goldens() {
    let Some(corpus) = corpus::folder("recordings of other protocols") else { return };
    let folder = corpus.join("protocols");
    let manifest = std::fs::read_to_string(folder.join("MANIFEST.tsv")).unwrap();
    let (mut read_all, mut expected, mut by_their_names, mut naively) = (0, 0, 0, 0);
    for row in manifest.lines().skip(1) {
        let mut columns = row.split('\t');
        let (name, protocol) = (columns.next().unwrap(), columns.next().unwrap());
        let protocol = match protocol {
            "anthropic" => Protocol::Anthropic,
            "gemini" => Protocol::Gemini,
            "responses" => Protocol::Responses,
            _ => continue,
        };
        expected += 1;
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let stem = name.rsplit_once('.').unwrap().0;
        let golden = std::fs::read(folder.join(format!("{stem}.expected.json"))).unwrap();
        let golden: Value = serde_json::from_slice(&golden).unwrap();
        let Read { message, end, .. } = read(&bytes, name);
        if let Some(untyped) = untyped(&bytes).filter(|_| protocol == Protocol::Responses) {
            let of_name = pull(&untyped, &[untyped.len()], None).message;
            assert_eq!(facts_of_message(&of_name), facts_of_message(&message), "{name}, read by its names");
            assert_eq!((&of_name["id"], &of_name["choices"]), (&message["id"], &message["choices"]), "{name}");
            by_their_names += 1;
        }
        let (facts, golden_facts) = (facts_of_message(&message), facts_of_golden(&golden));
        assert_eq!(facts, golden_facts, "{name}: {message:#}");
        let is_body = row.contains("error-body");
        if !is_body {
            assert_eq!(message.get("id"), golden.get("id").filter(|id| !id.is_null()), "{name}");
            assert_eq!(message.get("model"), golden.get("model").filter(|id| !id.is_null()), "{name}");
        }
        let verdict = match protocol {
            _ if !golden["error"].is_null() => Verdict::ApiError,
            Protocol::Gemini => Verdict::Finished,
            _ => Verdict::Done,
        };
        let dialect = (!is_body).then_some(protocol);
        assert_eq!((end.verdict, end.protocol), (verdict, dialect), "{name}");
        assert_eq!(end.is_complete(), golden["error"].is_null(), "{name}");
        // An object of the golden need not be written as it came.
        let is_simple = !name.ends_with(".json") && !stem.contains("partial-args") && !stem.contains("error");
        if let Some(lines) = Naive::read(&bytes).filter(|_| is_simple) {
            let facts = facts_of_lines(&lines, protocol == Protocol::Anthropic);
            assert_eq!(facts, golden_facts, "{name}: the naive reader");
            naively += 1;
        }
        read_all += 1;
    }
    assert_eq!((read_all, expected, by_their_names, naively), (64, 64, 18, 30));
}

/// A recording whose events have names, without the types in their JSON. `None`: they have none.
pub(super) fn untyped(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).unwrap();
    let mut has_names = false;
    let lines = text.split_inclusive('\n').map(|line| {
        has_names |= line.starts_with("event:");
        let Some(json) = line.strip_prefix("data: {\"type\":\"") else { return line.to_string() };
        format!("data: {{{}", json.split_once("\",").map_or("}\n", |(_, rest)| rest))
    });
    let untyped = lines.collect::<String>().into_bytes();
    (has_names && untyped != bytes).then_some(untyped)
}
