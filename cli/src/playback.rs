//! Plays a recording, or a plain file, at its pace and with the faults that are wanted.

use crate::input::{Input, Timed};
use crate::options::Replay;
use crate::report::Failure;
use std::io;
use std::time::{Duration, Instant};

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As it was recorded.
    Whole,
    /// After the bytes that `--cut` allows.
    Cut,
    /// After the bytes that `--reset-at` allows.
    Reset,
}

/// What became of a stream that was played.
pub struct Played {
    pub ending: Ending,
    pub bytes: u64,
}

/// Plays a stream: gives `send` the bytes of each read when they are due.
pub fn play(options: &Replay, mut send: impl FnMut(&[u8]) -> io::Result<()>) -> Result<Played, Failure> {
    let began = Instant::now();
    let mut input = Input::open(Some(&options.file), None)?;
    let mut pace = Pace { began, speed: options.speed, stalled: Duration::ZERO };
    let (mut sent, mut stall) = (0, options.stall.map(Duration::from_millis));
    let limit = options.cut.unwrap_or(u64::MAX).min(options.reset_at.unwrap_or(u64::MAX));
    loop {
        let next = input.next_timed()?;
        // Before the wait for what comes next, which is later by as much.
        if let Some(wait) = stall.filter(|_| sent >= options.stall_at) {
            pace.stall(wait);
            stall = None;
        }
        let Some(Timed { at, bytes }) = next else { break };
        pace.wait(at);
        let mut rest = bytes;
        while !rest.is_empty() && sent < limit {
            let until = if stall.is_some() { limit.min(options.stall_at) } else { limit };
            let len = usize::try_from(until.saturating_sub(sent)).unwrap_or(usize::MAX).min(rest.len());
            let (now, later) = rest.split_at_checked(len).unwrap_or((rest, &[]));
            send(now).map_err(Failure::Write)?;
            sent += now.len() as u64;
            rest = later;
            if let Some(wait) = stall.filter(|_| sent >= options.stall_at && sent < limit && !rest.is_empty()) {
                pace.stall(wait);
                stall = None;
            }
        }
        if sent >= limit {
            let is_reset = options.reset_at.is_some_and(|at| at == limit);
            return Ok(Played { ending: if is_reset { Ending::Reset } else { Ending::Cut }, bytes: sent });
        }
    }
    pace.wait(input.at());
    Ok(Played { ending: Ending::Whole, bytes: sent })
}

/// When bytes are due.
struct Pace {
    began: Instant,
    speed: f64,
    /// How much later than recorded everything is.
    stalled: Duration,
}

impl Pace {
    /// Waits for the time that was recorded. Without a time, or at speed 0, it does not wait.
    fn wait(&self, at: Option<Duration>) {
        let Some(at) = at.filter(|_| self.speed > 0.0) else { return };
        let due = Duration::try_from_secs_f64(at.as_secs_f64() / self.speed).unwrap_or(Duration::MAX);
        std::thread::sleep(due.saturating_add(self.stalled).saturating_sub(self.began.elapsed()));
    }

    fn stall(&mut self, wait: Duration) {
        std::thread::sleep(wait);
        self.stalled = self.stalled.saturating_add(wait);
    }
}
