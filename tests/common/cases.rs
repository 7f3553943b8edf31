//! How many streams a property test generates, and which.

use proptest::test_runner::{Config, RngSeed};

/// `PROPTEST_CASES` sets the number of streams instead of `default`; a `step` above 1 takes that part of them, and no less than
/// `least`. They are the same in every run, unless `PROPTEST_RNG_SEED` is set.
pub(crate) fn cases(default: u64, step: usize, least: u64) -> Config {
    let number = |name| std::env::var(name).ok().and_then(|number: String| number.parse::<u64>().ok());
    let cases = (number("PROPTEST_CASES").unwrap_or(default) / step as u64).max(least) as u32;
    let rng_seed = RngSeed::Fixed(number("PROPTEST_RNG_SEED").unwrap_or(1));
    Config { cases, failure_persistence: None, rng_seed, ..Config::default() }
}
