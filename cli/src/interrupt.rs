//! Ctrl-C: a command that knows something so far prints it, and ends with the status of an interruption.

use crate::output::complain;
use crate::report::{Failure, INTERRUPTED, UNREADABLE};
use signal_hook::consts::SIGINT;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Calls `conclude` at Ctrl-C, in another thread, and ends the process. A second Ctrl-C, or one after the end of the input
/// (`over`), ends the process at once.
pub fn conclude_by(
    over: &Arc<AtomicBool>,
    conclude: impl FnOnce() -> Result<(), Failure> + Send + 'static,
) -> Result<(), Failure> {
    let failed = |error| Failure::Read("signals".into(), error);
    signal_hook::flag::register_conditional_default(SIGINT, over.clone()).map_err(failed)?;
    let mut signals = signal_hook::iterator::Signals::new([SIGINT]).map_err(failed)?;
    let over = over.clone();
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            over.store(true, Ordering::SeqCst);
            let status = conclude().map_or_else(
                |failure| {
                    complain(failure);
                    UNREADABLE
                },
                |()| INTERRUPTED,
            );
            std::process::exit(status.into());
        }
    });
    Ok(())
}
