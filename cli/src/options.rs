//! The commands and options of the command line.

use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use deltawire::stream::Protocol;
use deltawire::{Config, Framing, Limits, Validate};
use std::path::PathBuf;

const EXIT: &str = "\
Exit status:
  0  the response is complete: the stream came to its end, or a whole answer came as one JSON body
  1  wrong usage, or the input cannot be read
  2  the API reported an error
  3  the stream was cut, or part of it was lost: a payload that could not be read, an event over the limit, more
     choices or tool calls than there is room for, a message that is too long
  4  the input is empty, not an event stream, or of another protocol
  130  Ctrl-C; `message` prints the response so far

If the reader of the output goes away early, the status is that of the first error so far, or 0.

Standard error has the verdict on the stream and its quirks. It also names what was lost, with the option that raises a
limit.";

const SSE_EXIT: &str = "\
Exit status:
  0  the stream ended with a blank line, and all of it was printed
  1  wrong usage, or the input cannot be read
  3  no event came, the stream ended inside a line or an event, or something over the limit was left out
  4  the input is empty, or not an event stream";

const CHECK_EXIT: &str = "\
Exit status (with several files: 1 if one cannot be read, else that of the first file with a finding):
  0  nothing was found
  1  wrong usage, or a file cannot be read
  2  the API reported an error
  3  the stream was cut, or part of it was lost
  4  the input is empty, not an event stream, or of another protocol
  5  the response is complete, and something else was found
  130  Ctrl-C";

const STATS_EXIT: &str = "\
Exit status (with several files: 1 if one cannot be read, else the first one that is not 0):
  0  the response is complete
  1  wrong usage, or a file cannot be read
  2  the API reported an error
  3  the stream was cut, or part of it was lost
  4  the input is empty, not an event stream, or of another protocol
  130  Ctrl-C; the statistics so far are printed";

const RECORD_EXIT: &str = "\
Exit status:
  0  the input came to its end, or the reader of the output went away
  1  wrong usage, or a file cannot be read or written
  130  Ctrl-C; the recording has what came so far";

const REPLAY_EXIT: &str = "\
Exit status:
  0  the stream was played, with its faults, or the reader of the output went away
  1  wrong usage, a file that cannot be read, or an address that cannot be served
  130  Ctrl-C, which is how a server ends";

/// Reads LLM token streams and whole answers: OpenAI chat completions and Responses, Anthropic Messages, Gemini
#[derive(Debug, Parser)]
#[command(name = "deltawire", version, after_help = EXIT, subcommand_required = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the content as it arrives
    #[command(after_help = EXIT)]
    Text(Text),
    /// Print the finished response as one JSON object, as if it had not been streamed
    #[command(after_help = EXIT)]
    Message(Message),
    /// Print every event and every delta, one JSON object a line
    #[command(after_help = EXIT)]
    Events(Events),
    /// Print the response as a stream of another protocol
    ///
    /// Standard error says how many updates the protocol has no place for. A response that is not complete ends with an
    /// error event.
    #[command(after_help = EXIT)]
    Convert(Convert),
    /// Judge streams by what the references of their protocols demand
    ///
    /// Each finding has its place (byte offset, event number), a code, what was found, and what the reference demands.
    #[command(after_help = CHECK_EXIT)]
    Check(Check),
    /// Count what streams have and, of a pipe, how fast they come
    ///
    /// Times run from the start of this command, so start the request with it: curl -sN … | deltawire stats
    #[command(after_help = STATS_EXIT)]
    Stats(Stats),
    /// Pass standard input on, and keep it with the times at which it came
    ///
    /// A recording is a plain file of JSON lines. Every command reads the bytes in it, stats also their times, and replay
    /// plays it.
    #[command(after_help = RECORD_EXIT)]
    Record(Record),
    /// Play a recording at its pace, to standard output or as an HTTP server for tests
    ///
    /// A plain file that is no recording is played at once.
    #[command(after_help = REPLAY_EXIT)]
    Replay(Replay),
    /// Print the events of any event stream, one JSON object a line
    ///
    /// The stream is read as WHATWG HTML 9.2 requires, whatever protocol it carries. A last block without its blank
    /// line is dropped, and standard error says so.
    #[command(after_help = SSE_EXIT)]
    Sse(Sse),
    /// Print what completes this command's words in a shell
    ///
    /// For bash: deltawire completions bash >~/.local/share/bash-completion/completions/deltawire
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages, one for each command, to a folder
    Man {
        /// The folder
        folder: PathBuf,
    },
}

#[derive(Args, Debug)]
pub struct Text {
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub meaning: Meaning,
    /// Print reasoning too, where it comes; an empty line separates it from the content
    #[arg(long)]
    pub reasoning: bool,
    /// Which choice to print, by its index
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub choice: u32,
}

#[derive(Args, Debug)]
pub struct Message {
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub meaning: Meaning,
    /// Drop the arguments of a tool call that are sent a second time, complete and identical
    #[arg(long)]
    pub drop_repeated_arguments: bool,
    /// Print also what only gateways and providers add: `provider`, `native_finish_reason`, `reasoning_details`, and
    /// any unknown member. The reasoning has the name under which it came, and `data` of audio is a list of its pieces
    #[arg(long)]
    pub extended: bool,
    /// How many bytes the texts and the raw JSON of the message may have in total
    #[arg(long, value_name = "BYTES", default_value_t = Limits::DEFAULT.max_message_len())]
    pub max_message_len: usize,
}

#[derive(Args, Debug)]
pub struct Events {
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub meaning: Meaning,
}

#[derive(Args, Debug)]
pub struct Convert {
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub meaning: Meaning,
    /// The protocol to write
    #[arg(long, value_enum)]
    pub to: Target,
}

/// A protocol that can be written.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Target {
    /// OpenAI chat completions
    Chat,
    /// Anthropic Messages
    Anthropic,
    /// OpenAI Responses
    Responses,
}

impl Target {
    pub fn protocol(self) -> Protocol {
        match self {
            Target::Chat => Protocol::Chat,
            Target::Anthropic => Protocol::Anthropic,
            Target::Responses => Protocol::Responses,
        }
    }
}

/// The streams of a command that reads any number of them, and how they are parsed.
#[derive(Args, Clone, Debug)]
pub struct Files {
    /// The files to read; standard input if there are none, and for -
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub sizes: Sizes,
    #[command(flatten)]
    pub meaning: Meaning,
}

#[derive(Args, Debug)]
pub struct Check {
    #[command(flatten)]
    pub files: Files,
    /// Print one JSON object for each finding, and one for each file
    #[arg(long)]
    pub json: bool,
    /// How many findings of each code to print of a file; all of them are counted
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub each: u64,
    /// Whether to print in color; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// Print the table of rules, and read nothing
    #[arg(long, conflicts_with = "files")]
    pub rules: bool,
}

#[derive(Args, Clone, Debug)]
pub struct Stats {
    #[command(flatten)]
    pub files: Files,
    /// Print one JSON object for each file
    #[arg(long)]
    pub json: bool,
    /// Draw the timeline: how much text had come at each time, and the gaps
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct Record {
    /// The recording to write, which must not be there yet (unless it is no plain file) [default: recording.jsonl]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
pub struct Replay {
    /// The recording to play; standard input if it is - (not with --serve)
    pub file: PathBuf,
    /// Play N times as fast as it was recorded; 0 does not wait at all
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = speed)]
    pub speed: f64,
    /// Answer each HTTP request with the stream, in the chunks that were recorded; port 0 is any free one. Standard error
    /// has the address
    #[arg(long, value_name = "HOST:PORT")]
    pub serve: Option<String>,
    /// End the stream after N bytes; the body that is served then has no last chunk
    #[arg(long, value_name = "N")]
    pub cut: Option<u64>,
    /// Wait so many milliseconds before the byte that --stall-at names; the rest comes later by as much
    #[arg(long, value_name = "MS")]
    pub stall: Option<u64>,
    /// After how many bytes to stall
    #[arg(long, value_name = "N", default_value_t = 0, requires = "stall")]
    pub stall_at: u64,
    /// Reset the connection after N bytes
    #[arg(long, value_name = "N", requires = "serve", conflicts_with = "cut")]
    pub reset_at: Option<u64>,
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse::<f64>().ok().filter(|speed| speed.is_finite() && *speed >= 0.0);
    speed.ok_or_else(|| "it must be a number, 0 or more".into())
}

#[derive(Args, Debug)]
pub struct Sse {
    #[command(flatten)]
    pub reading: Reading,
    /// Print a last block without its blank line as if it had one
    #[arg(long)]
    pub flush: bool,
}

/// The input, and the limits of an event.
#[derive(Args, Debug)]
pub struct Reading {
    /// The file to read; standard input if it is - or missing
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub sizes: Sizes,
}

/// How many bytes are read at a time, and how many an event may have.
#[derive(Args, Clone, Debug)]
pub struct Sizes {
    /// Read N bytes at a time [default: as many as a read returns, up to 64 KiB]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub read_size: Option<u64>,
    /// How many bytes an event may have
    #[arg(long, value_name = "BYTES", default_value_t = Limits::DEFAULT.max_event_len())]
    pub max_event_len: u32,
    /// How many bytes a last event ID may have; a longer ID is ignored
    #[arg(long, value_name = "BYTES", default_value_t = Limits::DEFAULT.max_id_len())]
    pub max_id_len: u32,
}

impl Sizes {
    pub fn limits(&self) -> Limits {
        Limits::new().with_max_event_len(self.max_event_len).with_max_id_len(self.max_id_len)
    }
}

/// How a stream of chunks is parsed.
#[derive(Args, Clone, Debug)]
pub struct Meaning {
    /// Accept only JSON as RFC 8259 defines it
    #[arg(long)]
    pub strict: bool,
    /// Frame events exactly as WHATWG HTML 9.2 requires: no JSON without `data:`, no last event without its blank line
    #[arg(long)]
    pub spec: bool,
    /// Print only what is new of texts that the server sends so far in each delta
    #[arg(long)]
    pub snapshots: bool,
    /// How deep JSON may nest; a deeper payload cannot be read
    #[arg(long, value_name = "LEVELS", default_value_t = Limits::DEFAULT.max_depth(),
          value_parser = clap::value_parser!(u32).range(1..=i64::from(Limits::MAX_DEPTH)))]
    pub max_depth: u32,
}

impl Meaning {
    pub fn config(&self, limits: Limits) -> Config {
        Config::new()
            // The option's parser refuses a depth out of range, so this never fails.
            .with_limits(limits.with_max_depth(self.max_depth).unwrap_or(limits))
            .with_framing(if self.spec { Framing::Spec } else { Framing::Lenient })
            .with_validate(if self.strict { Validate::Strict } else { Validate::Lazy })
            .with_snapshots(self.snapshots)
    }
}
