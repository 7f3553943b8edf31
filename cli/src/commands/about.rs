//! What shells and `man` know of the command, made from the options themselves.

use crate::options::Cli;
use crate::output::Output;
use crate::report::Failure;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::Write;
use std::path::Path;

/// Prints what completes the command's words in this shell.
pub fn completions(shell: Shell) -> Result<u8, Failure> {
    // The generator expects that it can write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "deltawire", &mut script);
    let mut out = Output::new();
    match out.write_all(&script).and_then(|()| out.flush()).map_err(Failure::Write) {
        Err(failure) if !failure.is_broken_pipe() => Err(failure),
        _ => Ok(0),
    }
}

/// Writes a manual page for the command and for each of its commands.
pub fn man(folder: &Path) -> Result<u8, Failure> {
    let written = clap_mangen::generate_to(Cli::command(), folder);
    written.map(|()| 0).map_err(|error| Failure::Read(folder.display().to_string(), error))
}
