//! How thorough the tests that try everything are.

extern crate std;

/// Of what is tried one by one where nothing is said: a minute for all tests.
const THIN: usize = 13;

/// `DELTAWIRE_THIN=n`: of what is tried one by one (cuts, made-up streams), every `n`th; every test still runs. 1 is all of
/// it (`make test-full`), more is for processors that are emulated.
pub fn thin() -> usize {
    let Some(given) = std::env::var_os("DELTAWIRE_THIN") else { return THIN };
    let thin = given.to_str().and_then(|given| given.parse().ok()).filter(|thin| *thin > 0);
    thin.unwrap_or_else(|| panic!("DELTAWIRE_THIN={given:?} is not a positive number"))
}
