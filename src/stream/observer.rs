//! Token counts and finish reasons alone: of a stream that is passed through, and that nobody else reads.

use super::handler::{Flow, Handler};
use crate::chat::{FinishReason, TokenCounts, Usage};
use crate::delta::FinishKind;
use crate::dialect::{Counts, Protocol};

/// Choices whose finish reasons are kept.
const CHOICES: usize = 8;

/// A handler that calls `usage` with each usage, and keeps what it came to: the token counts so far, merged where the protocol
/// reports them bit by bit, and why the first choices finished. How the stream ended, and of which protocol it was, is
/// [`Parser::end`](super::Parser::end). All of it is known of a stream that was cut, too, as far as it came.
///
/// With [`Payload::Usage`](super::Payload::Usage) the parser skips the events that it does not need.
///
/// ```
/// # #[cfg(all(feature = "alloc", feature = "anthropic"))] {
/// use deltawire::stream::{Observer, Payload};
/// use deltawire::{Config, Flow, Growing, Parser, Verdict};
/// let mut parser = Parser::with_config(Growing::new(), Config::new().with_payload(Payload::Usage));
/// let mut observer = Observer::new(|raw, so_far| {
///     println!("{:?}: {} tokens so far", raw.value(), so_far.total_tokens().unwrap_or(0));
///     Flow::Continue(())
/// });
/// // It was cut behind this.
/// let event = br#"data: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}"#;
/// parser.feed(&[event, &b"\n\n"[..]].concat(), &mut observer).into_result()?;
/// parser.finish_into(&mut observer)?;
/// assert_eq!(observer.usage().and_then(|usage| usage.prompt_tokens()), Some(9));
/// assert_eq!((observer.finish_reason(0), parser.end().verdict), (None, Verdict::Truncated));
/// # }
/// # Ok::<(), deltawire::Stop>(())
/// ```
#[derive(Clone, Copy)]
pub struct Observer<F> {
    on_usage: F,
    /// Of another protocol than chat completions.
    counts: Counts,
    usage: Option<TokenCounts>,
    finish: [Option<FinishKind>; CHOICES],
}

impl<F> core::fmt::Debug for Observer<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Observer").field("usage", &self.usage).field("finish", &self.finish).finish_non_exhaustive()
    }
}

impl<F: FnMut(Usage<'_>, &TokenCounts) -> Flow> Observer<F> {
    /// Calls `usage` with each usage as it came, and the counts so far as chat completions have them.
    pub const fn new(usage: F) -> Self {
        Observer { on_usage: usage, counts: Counts::NOTHING, usage: None, finish: [None; CHOICES] }
    }

    /// The token counts so far, as chat completions have them; none if none came.
    pub fn usage(&self) -> Option<&TokenCounts> {
        self.usage.as_ref()
    }

    /// Why a choice finished; none if it did not, or is not one of the first eight.
    pub fn finish_reason(&self, choice: u32) -> Option<FinishKind> {
        *self.finish.get(choice as usize)?
    }
}

impl<F: FnMut(Usage<'_>, &TokenCounts) -> Flow> Handler for Observer<F> {
    fn usage(&mut self, usage: Usage<'_>) -> Flow {
        let counts = match usage.protocol() {
            Protocol::Chat => usage.counts(),
            protocol => {
                self.counts.add(protocol, usage.value());
                TokenCounts::of(self.counts.canonical(protocol).unwrap_or_default())
            }
        };
        (self.on_usage)(usage, self.usage.insert(counts))
    }

    fn finish_reason(&mut self, choice: u32, reason: FinishReason<'_>) -> Flow {
        if let Some(finish) = self.finish.get_mut(choice as usize) {
            *finish = Some(reason.kind());
        }
        Flow::Continue(())
    }
}
