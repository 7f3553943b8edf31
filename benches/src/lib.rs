//! The common parts of the benchmarks: generated streams, the work that is timed, and the contenders.
//!
//! The work, for every event: the choice's index; content, reasoning and tool arguments unescaped and appended to a
//! reused buffer; a tool call's index, ID and name; the finish reason; usage; events counted; stop at `[DONE]`. All
//! contenders must come to the same [`Sums`] before any is timed.

pub mod allocations;
pub mod clock;
pub mod contenders;
pub mod input;
#[cfg(feature = "peers")]
pub mod real;
pub mod work;

pub use contenders::{all, all_large, Contender, Kind};
pub use input::{Input, COUNTED, EVEN_LEN, METERED, PROTOCOLS, SHAPES};
pub use work::{Sink, Sums};

/// A slice that holds any response.
pub const WHOLE: usize = 1 << 30;

/// The sizes of the slices in which a stream comes: a read of a busy socket, one TCP segment, and the extremes.
pub const SLICES: [usize; 5] = [16 * 1024, 1448, WHOLE, 64, 1];

/// Makes every contender read `input`, checks that they agree on its contents, and returns the contents.
///
/// # Panics
///
/// If they do not agree, or do not find what the generator put in.
pub fn agree(contenders: &mut [Box<dyn Contender>], input: &Input, slice: usize) -> Sums {
    for contender in contenders {
        let mut sink = Sink::checking();
        contender.run(input, slice, &mut sink);
        match contender.kind() {
            Kind::Bound => assert_eq!(sink.sums.bytes, input.bytes() as u64, "{}", contender.name()),
            Kind::Own | Kind::Peer => {
                assert_eq!(
                    sink.sums,
                    contender.expected(input),
                    "{} on {}, slices of {slice}",
                    contender.name(),
                    input.name
                );
            }
        }
    }
    input.expected
}
