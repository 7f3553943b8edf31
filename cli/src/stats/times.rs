//! When reads came, and the gaps between them.

use hdrhistogram::Histogram;
use std::time::Duration;

/// The times of a stream, from the beginning of the command or of the recording.
pub struct Times {
    pub first_byte: Duration,
    /// When the first read with a token came.
    pub first_token: Option<Duration>,
    pub last_token: Option<Duration>,
    /// When the last read came; after the end, when that came.
    pub ended: Duration,
    /// The times between two reads with tokens, in microseconds, to three digits. Without memory for it there are none.
    gaps: Option<Histogram<u64>>,
    /// The longest of them, to the microsecond.
    longest: u64,
}

impl Times {
    pub fn new(first_byte: Duration) -> Self {
        let gaps = Histogram::new(3).ok();
        Times { first_byte, first_token: None, last_token: None, ended: first_byte, gaps, longest: 0 }
    }

    pub fn read(&mut self, at: Duration, has_token: bool) {
        self.ended = at;
        if !has_token {
            return;
        }
        if let (Some(last), Some(gaps)) = (self.last_token, &mut self.gaps) {
            // It grows as it must, so only a time beyond all of them, or no memory, is an error.
            let gap = micros(at.saturating_sub(last));
            let _ = gaps.record(gap);
            self.longest = self.longest.max(gap);
        }
        self.first_token.get_or_insert(at);
        self.last_token = Some(at);
    }

    /// How many gaps there are.
    pub fn gaps(&self) -> u64 {
        self.gaps.as_ref().map_or(0, Histogram::len)
    }

    /// The gap that this part of them is not longer than.
    pub fn gap(&self, part: f64) -> Duration {
        // The histogram rounds up.
        let gap = self.gaps.as_ref().map_or(0, |gaps| gaps.value_at_quantile(part).min(self.longest));
        Duration::from_micros(gap)
    }

    /// The time from the first token to the last one.
    pub fn streaming(&self) -> Option<Duration> {
        let time = self.last_token?.saturating_sub(self.first_token?);
        (!time.is_zero()).then_some(time)
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
