//! The `deltawire` command: prints the contents of an LLM stream.

mod check;
mod commands;
mod input;
mod interrupt;
mod opening;
mod options;
mod output;
mod playback;
mod recording;
mod report;
mod serve;
mod stats;
mod unsent;

use clap::Parser;
use options::{Cli, Command};
use output::complain;
use report::Failure;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are not errors. Wrong usage exits with 1, not with clap's 2, which means an error of the
            // API.
            let wrong = error.use_stderr();
            let printed = error.print();
            return if wrong || printed.is_err_and(|error| error.kind() != ErrorKind::BrokenPipe) {
                ExitCode::from(report::UNREADABLE)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let done = match &cli.command {
        Command::Text(options) => commands::text::run(options),
        Command::Message(options) => commands::message::run(options),
        Command::Events(options) => commands::events::run(options),
        Command::Convert(options) => commands::convert::run(options),
        Command::Check(options) => commands::check::run(options, options.color),
        Command::Stats(options) => commands::stats::run(options),
        Command::Record(options) => commands::record::run(options),
        Command::Replay(options) => commands::replay::run(options),
        Command::Completions { shell } => commands::about::completions(*shell),
        Command::Man { folder } => commands::about::man(folder),
        Command::Sse(options) => commands::sse::run(options),
    };
    let flushed = std::io::stdout().flush().map_err(Failure::Write);
    match done.and_then(|code| match flushed {
        // If the reader of the output is gone, the status that the command returned counts.
        Err(failure) if !failure.is_broken_pipe() => Err(failure),
        _ => Ok(code),
    }) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            complain(failure);
            ExitCode::from(report::UNREADABLE)
        }
    }
}
