//! What shells and `man` know of the command, made from the options themselves.

use crate::options::Cli;
use crate::output::Output;
use crate::report::Failure;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
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
    let mut whole = Cli::command().disable_help_subcommand(true);
    whole.build();
    let write = |command: &Command| {
        // The generator's own synopsis has the options without their values.
        let usage = command.clone().render_usage().to_string();
        let command = command.clone().override_usage(usage.trim_start_matches("Usage: ").to_owned());
        let man = Man::new(command).source(concat!("deltawire ", env!("CARGO_PKG_VERSION")));
        let mut page = Vec::new();
        man.render(&mut page)?;
        // What follows the options has another name there.
        let page = String::from_utf8_lossy(&page).replace(".SH EXTRA\nExit status:\n", ".SH EXTRA\n");
        std::fs::write(folder.join(man.get_filename()), page.replace(".SH EXTRA\n", ".SH EXIT STATUS\n"))
    };
    let written = std::iter::once(&whole).chain(whole.get_subcommands()).try_for_each(write);
    written.map(|()| 0).map_err(|error| Failure::Read(folder.display().to_string(), error))
}
