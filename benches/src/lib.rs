//! What the benchmarks share: seeded streams, the work that is timed, and those who do it.
//!
//! The work, for every event: the choice's index; content, reasoning and tool arguments unescaped and appended to a
//! reused buffer; a tool call's index, ID and name; the finish reason; usage; events counted; stop at `[DONE]`. Everyone
//! must come to the same [`Sums`] before anyone is timed.

pub mod allocations;
pub mod clock;
pub mod contenders;
pub mod input;
#[cfg(feature = "peers")]
pub mod real;
pub mod work;

pub use contenders::{all, all_large, Contender, Kind};
pub use input::{Input, COUNTED, OBSERVED, PROTOCOLS, SHAPES};
pub use work::{Sink, Sums};

/// A slice that holds any response.
pub const WHOLE: usize = 1 << 30;

/// The sizes of the slices in which a stream comes: a read of a busy socket, one TCP segment, and the extremes.
pub const SLICES: [usize; 5] = [16 * 1024, 1448, WHOLE, 64, 1];

/// Makes every contender read `input` and checks that they agree on what is in it; gives that.
///
/// # Panics
///
/// If they do not agree, or if one of them left out what the generator put in.
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
