//! A handler for token counts and finish reasons alone, such as a gateway needs that forwards a stream without reading
//! it otherwise.

use super::handler::{Flow, Handler};
use crate::chat::{FinishReason, TokenCounts, Usage};
use crate::delta::FinishKind;
use crate::dialect::{Counts, Protocol};

/// How many choices can have their finish reasons kept.
const CHOICES: usize = 8;

/// A handler that calls a function with each usage. It keeps the token counts so far, merged if the protocol reports
/// them over several events, and the finish reasons of the first eight choices. [`Parser::end`](super::Parser::end) has
/// the verdict and the protocol. Of a stream that was cut, all of this covers the part that came.
///
/// With [`Payload::Usage`](super::Payload::Usage) the parser skips the events that an observer does not need.
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
/// // The stream is cut after its first event.
/// let event = br#"data: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}"#;
/// parser.feed(&[event, &b"\n\n"[..]].concat(), &mut observer).into_result()?;
/// parser.finish_into(&mut observer)?;
/// assert_eq!(observer.counts().and_then(|usage| usage.prompt_tokens()), Some(9));
/// assert_eq!((observer.finish_reason(0), parser.end().verdict), (None, Verdict::Truncated));
/// # }
/// # Ok::<(), deltawire::Stop>(())
/// ```
#[derive(Clone, Copy)]
pub struct Observer<F> {
    on_usage: F,
    /// The counts so far of a protocol other than chat completions.
    native: Counts,
    counts: Option<TokenCounts>,
    finish: [Option<FinishKind>; CHOICES],
}

impl<F> core::fmt::Debug for Observer<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Observer").field("counts", &self.counts).field("finish", &self.finish).finish_non_exhaustive()
    }
}

impl<F: FnMut(Usage<'_>, &TokenCounts) -> Flow> Observer<F> {
    /// An observer that calls `usage` with each usage as it came, and with the counts so far in the form of chat
    /// completions.
    pub const fn new(usage: F) -> Self {
        Observer { on_usage: usage, native: Counts::NOTHING, counts: None, finish: [None; CHOICES] }
    }

    /// The token counts so far in the form of chat completions. `None` if no usage came.
    pub fn counts(&self) -> Option<&TokenCounts> {
        self.counts.as_ref()
    }

    /// Why a choice finished. `None` if it has not finished, or if its index is 8 or higher.
    pub fn finish_reason(&self, choice: u32) -> Option<FinishKind> {
        *self.finish.get(choice as usize)?
    }
}

impl<F: FnMut(Usage<'_>, &TokenCounts) -> Flow> Handler for Observer<F> {
    fn usage(&mut self, usage: Usage<'_>) -> Flow {
        let counts = match usage.protocol() {
            Protocol::Chat => usage.counts(),
            protocol => {
                self.native.add(protocol, usage.value());
                TokenCounts::of(self.native.canonical(protocol).unwrap_or_default())
            }
        };
        (self.on_usage)(usage, self.counts.insert(counts))
    }

    fn finish_reason(&mut self, choice: u32, reason: FinishReason<'_>) -> Flow {
        if let Some(finish) = self.finish.get_mut(choice as usize) {
            *finish = Some(reason.kind());
        }
        Flow::Continue(())
    }
}
