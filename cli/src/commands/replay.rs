//! `deltawire replay`: plays a recording to standard output, or as a server.

use crate::interrupt;
use crate::options::Replay;
use crate::output::{complain, Output};
use crate::playback::play;
use crate::report::Failure;
use crate::serve::serve;
use std::io::Write;

pub fn run(options: &Replay) -> Result<u8, Failure> {
    interrupt::conclude_by(&Default::default(), || {
        complain("interrupted");
        Ok(())
    })?;
    if let Some(address) = &options.serve {
        return serve(options, address);
    }
    let mut out = Output::new();
    match play(options, |bytes| out.write_all(bytes).and_then(|()| out.flush())) {
        Ok(_) => Ok(0),
        Err(failure) if failure.is_broken_pipe() => Ok(0),
        Err(failure) => Err(failure),
    }
}
