//! How thorough the tests that try everything are.

extern crate std;

/// `DELTAWIRE_THIN=n`: of what is tried one by one (cuts, made-up streams), every `n`th. For processors that are emulated;
/// every test still runs. 1 where it is not set.
pub fn thin() -> usize {
    let Some(given) = std::env::var_os("DELTAWIRE_THIN") else { return 1 };
    let thin = given.to_str().and_then(|given| given.parse().ok()).filter(|thin| *thin > 0);
    thin.unwrap_or_else(|| panic!("DELTAWIRE_THIN={given:?} is not a positive number"))
}
