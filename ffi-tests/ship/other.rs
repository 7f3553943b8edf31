//! Another library made with Rust, with all of `std` in it.

/// Returns how many letters the words of a generated text have.
#[no_mangle]
pub extern "C" fn other_letters(words: u32) -> u64 {
    let text: Vec<String> = (0..words).map(|n| format!("word{n}")).collect();
    std::panic::catch_unwind(|| text.join(" ").chars().filter(|c| c.is_alphabetic()).count() as u64).unwrap_or(0)
}
