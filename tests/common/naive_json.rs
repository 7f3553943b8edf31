//! Naive readers of JSON strings and numbers, and of JSON that serde_json rejects on purpose.

/// Decodes the contents of a string as RFC 8259 defines it, and invalid contents as `Text` documents it: ill-formed
/// UTF-8 is replaced as by `String::from_utf8_lossy`, unpaired surrogates as by `String::from_utf16_lossy`, and an
/// unknown escape stands for itself.
pub fn unescaped(inside: &[u8]) -> String {
    let mut out = String::new();
    let (mut run, mut units) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < inside.len() {
        if let Some(unit) = unit(inside, at) {
            out += &String::from_utf8_lossy(&std::mem::take(&mut run));
            units.push(unit);
            at += 6;
            continue;
        }
        out += &String::from_utf16_lossy(&std::mem::take(&mut units));
        let escaped = if inside[at] == b'\\' { inside.get(at + 1).copied().and_then(simple) } else { None };
        match escaped {
            Some(byte) => {
                out += &String::from_utf8_lossy(&std::mem::take(&mut run));
                out.push(char::from(byte));
                at += 2;
            }
            None => {
                run.push(inside[at]);
                at += 1;
            }
        }
    }
    out += &String::from_utf8_lossy(&run);
    out + &String::from_utf16_lossy(&units)
}

/// Returns the UTF-16 code unit of an escape at `at`.
fn unit(inside: &[u8], at: usize) -> Option<u16> {
    let digits = inside[at..].strip_prefix(b"\\u")?.get(..4)?;
    let digits = digits.iter().all(u8::is_ascii_hexdigit).then_some(digits)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn simple(kind: u8) -> Option<u8> {
    Some(match kind {
        b'"' | b'\\' | b'/' => kind,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        _ => return None,
    })
}

/// The bytes are not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotJson;

/// Whether bytes are JSON, according to serde_json. It rejects two things that RFC 8259 allows: unpaired surrogates in
/// a string, and numbers beyond a double. Those are replaced and the bytes checked again.
pub fn is_json(bytes: &[u8]) -> Result<Option<serde_json::Value>, NotJson> {
    let fault = match serde_json::from_slice(bytes) {
        Ok(value) => return Ok(Some(value)),
        Err(fault) => fault,
    };
    let marks = bytes.windows(2).any(|pair| pair == b"\\u") || bytes.iter().any(|byte| matches!(byte, b'e' | b'E'));
    let text = if marks { fault.to_string() } else { return Err(NotJson) };
    if text.contains("number out of range") {
        // Replacing the exponent keeps the grammar and makes the number small.
        let tamed: Vec<u8> = tame_exponents(bytes);
        return serde_json::from_slice::<serde_json::Value>(&tamed).map(|_| None).map_err(|_| NotJson);
    }
    if text.contains("surrogate") || text.contains("unexpected end of hex escape") {
        return serde_json::from_slice::<serde_json::Value>(&hide_halves(bytes)).map(|_| None).map_err(|_| NotJson);
    }
    Err(NotJson)
}

/// Replaces the digits of exponents with zeros.
fn tame_exponents(bytes: &[u8]) -> Vec<u8> {
    let mut exponent = false;
    bytes
        .iter()
        .map(|byte| {
            exponent = matches!(byte, b'e' | b'E') || exponent && matches!(byte, b'0'..=b'9' | b'+' | b'-');
            if exponent && byte.is_ascii_digit() {
                b'0'
            } else {
                *byte
            }
        })
        .collect()
}

/// Replaces escapes of surrogates with `\u0020`.
fn hide_halves(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], unit(bytes, at)) {
            (_, Some(0xD800..=0xDFFF)) => {
                out[at..at + 6].copy_from_slice(b"\\u0020");
                at += 6;
            }
            (b'\\', _) => at += 2,
            _ => at += 1,
        }
    }
    out
}

/// Returns the integer that a number denotes, if it has at most 38 digits.
pub fn integer(text: &str) -> Option<i128> {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let kept = digits.trim_start_matches('0').trim_end_matches('0');
    if kept.is_empty() {
        return Some(0);
    }
    let zeros = digits.len() - digits.trim_end_matches('0').len();
    // An exponent that long exceeds any number of digits here.
    let (sign, size) = match exponent.strip_prefix('-') {
        Some(size) => (-1, size),
        None => (1, exponent.strip_prefix('+').unwrap_or(exponent)),
    };
    let size = size.trim_start_matches('0');
    let exponent: i64 = if size.len() > 12 { 1 << 50 } else { format!("0{size}").parse().ok()? };
    let power = sign * exponent - fraction.len() as i64 + zeros as i64;
    if power < 0 || kept.len() as i64 + power > 38 {
        return None;
    }
    let number: i128 = format!("{kept}{}", "0".repeat(power as usize)).parse().ok()?;
    Some(if negative { -number } else { number })
}
