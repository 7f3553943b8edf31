//! How thorough the exhaustive tests are.

extern crate std;

/// The default step: about a minute for all tests.
const THIN: usize = 13;

/// Returns the step of exhaustive tests: `DELTAWIRE_THIN=n` tries every `n`th cut or generated stream; every test still
/// runs. 1 tries all of them (`make test-full`); larger steps are for emulated processors.
pub fn thin() -> usize {
    let Some(given) = std::env::var_os("DELTAWIRE_THIN") else { return THIN };
    let thin = given.to_str().and_then(|given| given.parse().ok()).filter(|thin| *thin > 0);
    thin.unwrap_or_else(|| panic!("DELTAWIRE_THIN={given:?} is not a positive number"))
}
