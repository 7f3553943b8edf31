//! Prints the size of an idle parser and compares it with `docs/memory.md`.

use deltawire::message::MessageLog;
use deltawire::stream::Machine;
use deltawire::track::Tracker;
use deltawire::{chat, sse, Parser, Workspace};
use std::mem::size_of;

/// Bytes of storage for an ordinary event (nine of ten are at most 367 bytes long).
const ORDINARY: usize = 512;

#[test]
fn an_idle_parser_is_small() {
    #[cfg(feature = "alloc")]
    let assembler = Some(size_of::<deltawire::message::Assembler>());
    #[cfg(not(feature = "alloc"))]
    let assembler = None;
    let rows = [
        ("Parser<[u8; 512], 0>", size_of::<Parser<[u8; ORDINARY], 0>>()),
        ("Parser<[u8; 512], 1>", size_of::<Parser<[u8; ORDINARY], 1>>()),
        ("Parser<[u8; 512], 4>", size_of::<Parser<[u8; ORDINARY], 4>>()),
        ("Parser<[u8; 512]>", size_of::<Parser<[u8; ORDINARY]>>()),
        ("Workspace<8>", size_of::<Workspace<8>>()),
        ("Machine<0>", size_of::<Machine<0>>()),
        ("Machine<1>", size_of::<Machine<1>>()),
        ("Machine<2>", size_of::<Machine<2>>()),
        ("Machine<4>", size_of::<Machine<4>>()),
        ("chat::Index", size_of::<chat::Index>()),
        ("Tracker<8, 32>", size_of::<Tracker<8, 32>>()),
        ("Tracker<128, 256>", size_of::<Tracker<128, 256>>()),
        ("message::MessageLog<8, 32>", size_of::<MessageLog<8, 32>>()),
        ("message::MessageLog<128, 256>", size_of::<MessageLog<128, 256>>()),
        ("sse::Lines", size_of::<sse::Lines>()),
        ("sse::Decoder<[u8; 512]>", size_of::<sse::Decoder<[u8; ORDINARY]>>()),
    ];
    let rows: Vec<_> = rows.into_iter().chain(assembler.map(|size| ("message::Assembler", size))).collect();
    for (name, size) in &rows {
        println!("{name}: {size} bytes");
    }
    let size = |wanted: &str| rows.iter().find(|(name, _)| *name == wanted).map(|(_, size)| *size);
    let parser = size("Parser<[u8; 512], 0>").unwrap();
    let state = parser - ORDINARY - size("Tracker<8, 32>").unwrap();
    assert!(state <= 1900, "a parser that shares a workspace takes {parser} bytes");
    let slots = [0, 1, 2, 4].map(|slots| size(&format!("Machine<{slots}>")).unwrap());
    assert!(slots.windows(2).all(|pair| pair[0] < pair[1]), "a slot takes no memory: {slots:?}");
    if cfg!(target_pointer_width = "64") {
        let stated = stated(include_str!("../docs/memory.md"));
        for name in rows
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| ["Parser", "Shared", "Workspace", "message::"].iter().any(|front| name.starts_with(front)))
        {
            assert!(stated.iter().any(|(row, _)| row == name), "docs/memory.md does not state the size of {name}");
        }
        for (name, stated) in stated {
            if name == "message::Assembler" && assembler.is_none() {
                continue;
            }
            let found =
                size(&name).unwrap_or_else(|| panic!("docs/memory.md states the size of {name}, which is not known"));
            assert_eq!(stated, found, "docs/memory.md states {stated} bytes for {name}");
        }
    }
}

/// Returns the rows of the table of sizes: name and number of bytes.
fn stated(page: &str) -> Vec<(String, usize)> {
    let table = page.lines().skip_while(|line| *line != "| | bytes |").skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let name = line.split('`').nth(1)?.to_string();
        let number = line.trim_end_matches('|').rsplit('|').next()?.trim().replace(',', "");
        Some((name, number.parse().ok()?))
    };
    table
        .map(|line| row(line).unwrap_or_else(|| panic!("docs/memory.md has a row without a name and a number: {line}")))
        .collect()
}
