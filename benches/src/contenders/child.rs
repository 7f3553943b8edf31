//! Contenders that are separate programs: Go, and this library built without a vector unit. They stay alive and take
//! their turn like the others; each measures its own time.
//!
//! A program gets the command `read`, a file and the size of a slice, separated by tabs. It answers
//! `NANOSECONDS EVENTS CHOICES CALLS USAGE TEXT HASH`, as in [`Sums`], and may add how often it allocated. With `check`
//! instead of `read` it also hashes the texts. Go also takes `turns`, a file and a number of streams: in every turn
//! each of them reads the next event of one of the responses.

use super::contender::{Contender, Kind};
use crate::{Input, Sink, Sums};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// See the module.
pub struct Program {
    name: &'static str,
    kind: Kind,
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// The folder of the input files.
    folder: PathBuf,
    allocations: Option<u64>,
}

impl Program {
    /// Starts a program.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start(
        name: &'static str,
        kind: Kind,
        command: &[String],
        folder: &std::path::Path,
    ) -> std::io::Result<Self> {
        let mut child =
            Command::new(&command[0]).args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (to, from) = (child.stdin.take().expect("it is piped"), child.stdout.take().expect("it is piped"));
        Ok(Program { name, kind, child, to, from: BufReader::new(from), folder: folder.into(), allocations: None })
    }

    fn ask(&mut self, what: &str, input: &Input, slice: usize) -> (f64, Sums) {
        let file = self.folder.join(format!("{}.sse", input.name));
        if !file.exists() {
            std::fs::write(&file, input.to_file()).expect("the input can be written");
        }
        writeln!(self.to, "{what}\t{}\t{slice}", file.display()).expect("the program listens");
        let mut line = String::new();
        self.from.read_line(&mut line).expect("the program answers");
        let numbers: Vec<u64> = line.split_whitespace().map(|number| number.parse().expect("a number")).collect();
        let [nanoseconds, events, choices, calls, usage, text, hash, ref more @ ..] = numbers[..] else {
            panic!("{} answers {line:?}", self.name)
        };
        self.allocations = more.first().copied();
        (nanoseconds as f64 / 1e9, Sums { events, choices, calls, usage, text, hash, bytes: 0 })
    }
}

impl Program {
    /// Returns the nanoseconds an event of so many streams in turn.
    pub fn in_turn(&mut self, input: &Input, streams: usize) -> f64 {
        let (seconds, sums) = self.ask("turns", input, streams);
        assert!(sums.events > 0 && sums.events % streams as u64 == 0, "an event of each stream in every turn");
        seconds * 1e9 / streams as f64
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The program ends with its input. If it does not, kill it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Contender for Program {
    fn name(&self) -> &'static str {
        self.name
    }
    fn kind(&self) -> Kind {
        self.kind
    }
    fn read(&mut self, _response: &[u8], _slice: usize, _sink: &mut Sink) {
        unreachable!("it reads whole inputs");
    }
    fn run(&mut self, input: &Input, slice: usize, sink: &mut Sink) {
        let what = if sink.is_checking() { "check" } else { "read" };
        sink.sums = self.ask(what, input, slice).1;
    }
    fn allocations(&self, _counted: u64) -> Option<u64> {
        self.allocations
    }
    fn time(&mut self, input: &Input, slice: usize, _sink: &mut Sink) -> f64 {
        self.ask("read", input, slice).0
    }
}

/// The other side, for this library: executes commands until there are no more.
pub fn serve(contender: &mut dyn Contender) {
    let mut inputs: Vec<(String, Input)> = Vec::new();
    for line in std::io::stdin().lines() {
        let line = line.expect("commands are text");
        let [what, file, slice] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("no command: {line:?}") };
        if !inputs.iter().any(|(name, _)| name == file) {
            inputs.push((file.into(), Input::from_file(&std::fs::read(file).expect("the input is there"))));
        }
        let (_, input) = inputs.iter().find(|(name, _)| name == file).expect("it was read");
        let mut sink = if what == "check" { Sink::checking() } else { Sink::default() };
        let time = contender.time(input, slice.parse().expect("a size"), &mut sink);
        let Sums { events, choices, calls, usage, text, hash, .. } = sink.sums;
        println!("{} {events} {choices} {calls} {usage} {text} {hash}", (time * 1e9) as u64);
    }
}
