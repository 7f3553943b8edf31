//! The options of the command.

use deltawire_benches::WHOLE;
use std::path::PathBuf;

/// The options of the command.
pub struct Options {
    pub rounds: usize,
    pub bytes: usize,
    pub input: Option<String>,
    pub slice: Option<usize>,
    pub only: Option<String>,
    /// Streams of other protocols instead of chat completions.
    pub protocols: bool,
    /// Streams that are read only for their usage, beside a full reading.
    pub meter: bool,
    /// The adapter that yields owned deltas, beside pull.
    pub adapters: bool,
    /// Many streams at once, in as many turns as there are rounds.
    pub gateway: bool,
    /// Deltas that are written.
    pub writing: bool,
    pub go: Option<String>,
    pub go_version: Option<String>,
    pub portable: Option<String>,
    /// The vendors' SDKs: name and command. If there are any, all are compared on the streams that these read.
    pub sdks: Vec<(String, String)>,
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
            meter: false,
            adapters: false,
            gateway: false,
            writing: false,
            go: None,
            go_version: None,
            portable: None,
            sdks: Vec::new(),
            write: None,
        };
        let mut args = std::env::args().skip(1);
        while let Some(name) = args.next() {
            match name.as_str() {
                "--protocols" => options.protocols = true,
                "--meter" => options.meter = true,
                "--adapters" => options.adapters = true,
                "--gateway" => options.gateway = true,
                "--writing" => options.writing = true,
                _ => options.take(&name, args.next()),
            }
        }
        assert!(options.rounds > 0 && options.slice != Some(0), "nothing to do");
        options
    }

    fn take(&mut self, name: &str, value: Option<String>) {
        let value = value.unwrap_or_else(|| panic!("{name} needs a value"));
        let number = || value.parse().unwrap_or_else(|_| panic!("{name} needs a number"));
        match name {
            "--rounds" => self.rounds = number(),
            "--bytes" => self.bytes = number(),
            "--slice" => self.slice = Some(if value == "whole" { WHOLE } else { number() }),
            "--input" => self.input = Some(value),
            "--only" => self.only = Some(value),
            "--go" => self.go = Some(value),
            "--go-version" => self.go_version = Some(value),
            "--portable" => self.portable = Some(value),
            "--sdk" => {
                let (name, command) = value.split_once('=').expect("--sdk needs NAME=COMMAND");
                self.sdks.push((name.into(), command.into()));
            }
            "--write" => self.write = Some(value.into()),
            _ => panic!("unknown option {name}"),
        }
    }

    /// Whether everything runs, and not a part for a profiler or a first look.
    pub fn is_whole(&self) -> bool {
        !self.protocols
            && !self.meter
            && !self.adapters
            && self.sdks.is_empty()
            && self.input.is_none()
            && self.slice.is_none()
            && self.only.is_none()
    }
}
