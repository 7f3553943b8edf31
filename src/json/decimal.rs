//! Numbers as decimals: digits and a power of ten.

/// A number as `digits × 10^exp10`, negated if `negative`.
///
/// ```
/// use deltawire::json::Number;
/// let price = Number::new(b"-0.00250").unwrap().to_decimal();
/// assert_eq!((price.digits, price.exp10, price.negative, price.exact), (250, -5, true, true));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// The leading significant digits, at most 19; 0 for zero. Trailing zeros stay as written.
    pub digits: u64,
    /// The power of ten; 0 for zero.
    pub exp10: i32,
    /// Whether the number has a minus sign, including `-0`.
    pub negative: bool,
    /// Whether the decimal equals the number. If not, nonzero digits were cut off (nothing is rounded), or the power of
    /// ten exceeds `i32` and is the nearest one.
    pub exact: bool,
}

impl Decimal {
    /// Reads a number whose grammar was checked. Keeps its leading digits from the first nonzero digit on: at most
    /// `most` of them, and no more than fit.
    pub(super) fn of(raw: &[u8], most: u32) -> Decimal {
        let (negative, mut rest) = match raw {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, raw),
        };
        let (mut digits, mut room, mut exp10) = (0u64, most, 0i64);
        let (mut fraction, mut exact) = (false, true);
        while let [byte, after @ ..] = rest {
            rest = after;
            let digit = match byte {
                b'0'..=b'9' => u64::from(byte.wrapping_sub(b'0')),
                b'.' => {
                    fraction = true;
                    continue;
                }
                _ => {
                    let exponent = exponent_of(rest);
                    exact &= exponent.is_some();
                    exp10 = exp10.saturating_add(exponent.unwrap_or(0));
                    break;
                }
            };
            let longer = digits.checked_mul(10).and_then(|tens| tens.checked_add(digit));
            match longer.filter(|_| room > 0) {
                Some(longer) => {
                    digits = longer;
                    room = room.saturating_sub(u32::from(digits != 0));
                    exp10 = exp10.saturating_sub(i64::from(fraction));
                }
                None => {
                    room = 0;
                    exact &= digit == 0;
                    exp10 = exp10.saturating_add(i64::from(!fraction));
                }
            }
        }
        if digits == 0 {
            return Decimal { digits: 0, exp10: 0, negative, exact };
        }
        let held = exp10.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
        exact &= held == exp10;
        Decimal { digits, exp10: i32::try_from(held).unwrap_or(0), negative, exact }
    }

    /// Returns the magnitude, if it is an integer that fits. The decimal must have kept up to 20 digits, the most that
    /// can fit: an integer with more digits is too large, unless the others are zeros.
    pub(super) fn to_integer(self) -> Option<u64> {
        let power = 10u64.checked_pow(self.exp10.unsigned_abs()).filter(|_| self.exact)?;
        if self.exp10 >= 0 {
            return self.digits.checked_mul(power);
        }
        self.digits.checked_div(power).filter(|_| self.digits.checked_rem(power) == Some(0))
    }
}

/// Returns the exponent after its `e`, clamped to bounds so large that no number of digits in memory can balance them.
fn exponent_of(raw: &[u8]) -> Option<i64> {
    const BOUND: i64 = 1 << 56;
    let (negative, digits) = match raw {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, raw),
    };
    let mut value = 0i64;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = (value * 10 + i64::from(digit)).min(BOUND);
    }
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    extern crate std;
    use super::Decimal;
    use crate::json::Number;
    use crate::scan::tests::Random;
    use std::format;
    use std::string::{String, ToString};

    fn decimal(text: &str) -> Decimal {
        Number::new(text.as_bytes()).unwrap().to_decimal()
    }

    /// Returns sign, digits without zeros at either end, and the power of ten of the last digit, by string arithmetic.
    fn naive(text: &str) -> (bool, String, i64) {
        let (text, negative) = text.strip_prefix('-').map_or((text, false), |text| (text, true));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut exponent = exponent.parse::<i64>().unwrap() - fraction.len() as i64;
        let mut digits = (whole.to_string() + fraction).trim_start_matches('0').to_string();
        while digits.ends_with('0') {
            digits.pop();
            exponent += 1;
        }
        (negative, digits.clone(), if digits.is_empty() { 0 } else { exponent })
    }

    /// Checks the decimal. Returns whether it equals the number, and whether the number is an integer of about 128
    /// bits.
    fn check(text: &str) -> (bool, bool) {
        let got = decimal(text);
        let sign = if got.negative { "-" } else { "" };
        let (negative, digits, exponent) = naive(text);
        let zeros = usize::try_from(exponent).map(|count| "0".repeat(count)).ok();
        let integer = zeros.and_then(|zeros| format!("{sign}0{digits}{zeros}").parse::<i128>().ok());
        let number = Number::new(text.as_bytes()).unwrap();
        assert_eq!(number.to_u64(), integer.and_then(|value| value.try_into().ok()), "{text}");
        assert_eq!(number.to_i64(), integer.and_then(|value| value.try_into().ok()), "{text}");
        let again = naive(&format!("{sign}{}e{}", got.digits, got.exp10));
        assert!(got.digits < 10_000_000_000_000_000_000, "{text}");
        assert_eq!(got.exact, digits.len() <= 19, "{text}");
        if got.exact {
            assert_eq!(again, (negative, digits, exponent), "{text}");
            let written: f64 = format!("{sign}{}e{}", got.digits, got.exp10).parse().unwrap();
            assert_eq!(written.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        } else {
            // The digits kept are the first digits of the text, with the right power of ten.
            let kept = got.digits.to_string();
            assert_eq!((again.0, kept.len()), (negative, 19), "{text}");
            assert!(digits.starts_with(&kept), "{text}");
            let cut = digits.len() as i64 - 19;
            assert_eq!(i64::from(got.exp10), exponent + cut, "{text}");
        }
        (got.exact, integer.is_some())
    }

    #[test]
    fn decimals_equal_the_text() {
        let texts = "
            0 -0 0.000 -0.0e5 1 -1 10 100.00 1.50 0.00250 1e5 1E+5 1e-5 -7.62939453125e-6
            9999999999999999999 18446744073709551615 99999999999999999999 0.1234567890123456789
            0.12345678901234567890000 12345678901234567890000.000 0.00000000000000000001
            12345678901234567891e-3 5e-324 1.7976931348623157e308 9223372036854775807 9223372036854775808
            -9223372036854775808 -9223372036854775809 -9.223372036854775808e18 18446744073709551616
            1.8446744073709551615e19 1844674407370955161500e-2 1700000000001e-3
        ";
        for text in texts.split_ascii_whitespace() {
            check(text);
        }
        assert_eq!(Number::new(b"1e999999999999999999999").unwrap().to_u64(), None);
        assert_eq!(Number::new(b"0e999999999999999999999").unwrap().to_u64(), Some(0));
        let expected = |digits, exp10, negative, exact| Decimal { digits, exp10, negative, exact };
        assert_eq!(decimal("1.50"), expected(150, -2, false, true));
        assert_eq!(decimal("-0.0e5"), expected(0, 0, true, true));
        assert_eq!(decimal("0e99999999999999999999"), expected(0, 0, false, true));
        assert_eq!(decimal("99999999999999999999"), expected(9_999_999_999_999_999_999, 1, false, false));
        assert_eq!(decimal("20000000000000000000000"), expected(2_000_000_000_000_000_000, 4, false, true));
        assert_eq!(decimal("1e2147483647"), expected(1, i32::MAX, false, true));
        assert_eq!(decimal("1e2147483648"), expected(1, i32::MAX, false, false));
        assert_eq!(decimal("1.5e-2147483648"), expected(15, i32::MIN, false, false));
        assert_eq!(decimal("1e999999999999999999999999"), expected(1, i32::MAX, false, false));
        assert_eq!(decimal("1e-999999999999999999999999"), expected(1, i32::MIN, false, false));
        // The many zeros balance the exponent.
        let long = "0.".to_string() + &"0".repeat(100_000) + "5e100001";
        assert_eq!((decimal(&long), decimal(&long).to_integer()), (expected(5, 0, false, true), Some(5)));
        let long = "1".to_string() + &"0".repeat(100_000) + "e-100000";
        assert_eq!(decimal(&long), expected(1_000_000_000_000_000_000, -18, false, true));
    }

    #[test]
    fn decimals_against_string_arithmetic() {
        let mut random = Random(7);
        let (mut exact, mut integers) = (0, 0);
        for round in 0..100_000 {
            // Numbers of any length, and short numbers with many zeros, many of which are integers.
            let (whole, fraction, power) = [(30, 24, 400), (13, 9, 25)][round % 2];
            let mut text = String::from(["", "-"][random.below(2)]);
            let many = random.below(whole);
            let whole: String = (0..many).map(|_| ['0', '0', '1', '7', '9'][random.below(5)]).collect();
            text += match whole.trim_start_matches('0') {
                "" => "0",
                whole => whole,
            };
            if random.below(2) == 0 {
                text.push('.');
                (0..=random.below(fraction)).for_each(|_| text.push(['0', '0', '3', '9'][random.below(4)]));
            }
            if random.below(2) == 0 {
                text += ["e", "E", "e+", "e-"][random.below(4)];
                text += &random.below(power).to_string();
            }
            let (is_exact, is_integer) = check(&text);
            exact += u32::from(is_exact);
            integers += u32::from(is_integer);
        }
        assert!(exact > 50_000 && exact < 100_000 && integers > 20_000, "{exact} {integers}");
    }
}
