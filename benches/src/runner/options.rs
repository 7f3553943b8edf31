//! What the command asks for.

use deltawire_benches::WHOLE;
use std::path::PathBuf;

/// What the command asks for.
pub struct Options {
    pub rounds: usize,
    pub bytes: usize,
    pub input: Option<String>,
    pub slice: Option<usize>,
    pub only: Option<String>,
    /// Streams of other protocols instead of chat completions.
    pub protocols: bool,
    pub go: Option<String>,
    pub go_version: Option<String>,
    pub portable: Option<String>,
    pub write: Option<PathBuf>,
}

impl Options {
    pub fn from_args() -> Self {
        let mut options = Options {
            rounds: 15,
            bytes: 4_000_000,
            input: None,
            slice: None,
            only: None,
            protocols: false,
            go: None,
            go_version: None,
            portable: None,
            write: None,
        };
        let mut args = std::env::args().skip(1);
        while let Some(name) = args.next() {
            if name == "--protocols" {
                options.protocols = true;
                continue;
            }
            let value = args.next().unwrap_or_else(|| panic!("{name} needs a value"));
            let number = || value.parse().unwrap_or_else(|_| panic!("{name} needs a number"));
            match name.as_str() {
                "--rounds" => options.rounds = number(),
                "--bytes" => options.bytes = number(),
                "--slice" => options.slice = Some(if value == "whole" { WHOLE } else { number() }),
                "--input" => options.input = Some(value),
                "--only" => options.only = Some(value),
                "--go" => options.go = Some(value),
                "--go-version" => options.go_version = Some(value),
                "--portable" => options.portable = Some(value),
                "--write" => options.write = Some(value.into()),
                _ => panic!("unknown option {name}"),
            }
        }
        assert!(options.rounds > 0 && options.slice != Some(0), "nothing to do");
        options
    }

    /// Whether all is to be run, and not a part for a profiler or a first look.
    pub fn is_whole(&self) -> bool {
        !self.protocols && self.input.is_none() && self.slice.is_none() && self.only.is_none()
    }
}
