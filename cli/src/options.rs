//! The commands and options of the command line.

use clap::{Args, Parser, Subcommand};
use deltawire::{Config, Framing, Limits, Validate};
use std::path::PathBuf;

const EXIT: &str = "\
The verdict on the stream and the quirks that were met go to standard error.

Exit status:
  0  the response is complete: the stream came to its end, or a whole answer came as one JSON body
  1  wrong use, or the input cannot be read
  2  the API reported an error
  3  the stream was cut, or something was lost on the way: a payload that could not be read, an event over the
     limit, more choices or tool calls than there is room for, a message that is too long
  4  nothing came, no event stream, or one of another protocol
  130  Ctrl-C; `message` prints what came until then

What was lost goes to standard error, too, with the option that raises a limit. If the output is closed early, the status is
that of an error that was met until then, else 0.";

const SSE_EXIT: &str = "\
Exit status:
  0  the stream ended with a blank line, and all of it was printed
  1  wrong use, or the input cannot be read
  3  a last block without its blank line was dropped, or something over the limit left out
  4  nothing came that is an event stream";

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
    /// Print the events of any event stream, one JSON object a line
    ///
    /// The stream is read as WHATWG HTML 9.2 has it, whatever protocol it carries. A last block without its blank line
    /// is dropped, and standard error says so.
    #[command(after_help = SSE_EXIT)]
    Sse(Sse),
}

#[derive(Args, Debug)]
pub struct Text {
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub meaning: Meaning,
    /// Print reasoning too, where it comes; an empty line parts it from the content
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
    /// Drop the arguments of a tool call that are sent a second time, whole and alike
    #[arg(long)]
    pub drop_repeated_arguments: bool,
    /// Print also what only gateways and providers add: `provider`, `native_finish_reason`, `reasoning_details`, and any
    /// member that is not known; the reasoning is under the name that it came by, and `data` of audio in its
    /// pieces
    #[arg(long)]
    pub extended: bool,
    /// The most bytes of all texts and all raw JSON that the message may have
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
pub struct Sse {
    #[command(flatten)]
    pub reading: Reading,
    /// Print a last block without its blank line as if it had one
    #[arg(long)]
    pub flush: bool,
}

/// Where the bytes come from, and the limits of what is read.
#[derive(Args, Debug)]
pub struct Reading {
    /// The file to read; standard input if it is - or missing
    pub file: Option<PathBuf>,
    /// Read in slices of N bytes [default: whatever a read gives, up to 64 KiB]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub read_size: Option<u64>,
    /// The most bytes that one event may have
    #[arg(long, value_name = "BYTES", default_value_t = Limits::DEFAULT.max_event_len())]
    pub max_event_len: u32,
    /// The most bytes that a last event ID may have; a longer one is ignored
    #[arg(long, value_name = "BYTES", default_value_t = Limits::DEFAULT.max_id_len())]
    pub max_id_len: u32,
}

impl Reading {
    pub fn limits(&self) -> Limits {
        Limits::new().with_max_event_len(self.max_event_len).with_max_id_len(self.max_id_len)
    }
}

/// How a stream of chunks is parsed.
#[derive(Args, Debug)]
pub struct Meaning {
    /// Take nothing for JSON but what RFC 8259 allows
    #[arg(long)]
    pub strict: bool,
    /// Frame events exactly as WHATWG HTML 9.2 has it: no JSON without `data:`, no last event without its blank line
    #[arg(long)]
    pub spec: bool,
    /// How deep JSON may nest; a deeper payload cannot be read
    #[arg(long, value_name = "LEVELS", default_value_t = Limits::DEFAULT.max_depth(),
          value_parser = clap::value_parser!(u32).range(1..=i64::from(Limits::MAX_DEPTH)))]
    pub max_depth: u32,
}

impl Meaning {
    pub fn config(&self, limits: Limits) -> Config {
        Config::new()
            // The option's parser already refused a depth out of range.
            .with_limits(limits.with_max_depth(self.max_depth).unwrap_or(limits))
            .with_framing(if self.spec { Framing::Spec } else { Framing::Lenient })
            .with_validate(if self.strict { Validate::Strict } else { Validate::Lazy })
    }
}
