//! Counts what a stream has, and how fast it came.

mod counts;
mod plot;
mod print;
mod times;

pub use counts::Stats;
pub use print::{as_json, as_text, live_line};
