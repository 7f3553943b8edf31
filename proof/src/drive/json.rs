//! `deltawire::json`, but for `Number::to_f64`, which no core path reaches.

use super::{sse::each_event, Hash};
use deltawire::json::{parse_lazy, validate, Cursor, JsonError, Value, ValueKind};

/// Every payload of the stream, and the stream itself as if it were one: checked, walked, looked up.
pub fn json(bytes: &[u8], cut: usize) -> u64 {
    let mut hash = Hash::new();
    each_event(bytes, cut, |event| all(&mut hash, event.data()));
    all(&mut hash, bytes);
    hash.0
}

fn all(hash: &mut Hash, bytes: &[u8]) {
    outcome(hash, validate(bytes, 6));
    let walked = walk(hash, bytes);
    outcome(hash, walked);
    match parse_lazy(bytes) {
        Ok(value) => {
            hash.raw(value.get("choices").ok().flatten());
            value.members().flatten().for_each(|(_, member)| {
                member.elements().flatten().for_each(|element| hash.raw(Some(element)));
            });
        }
        Err(error) => outcome(hash, Err(error)),
    }
}

fn outcome(hash: &mut Hash, outcome: Result<(), JsonError>) {
    if let Err(error) = outcome {
        hash.bytes(error.kind.text().as_bytes());
        hash.number(error.offset as u64);
    }
}

/// Enters everything.
fn walk(hash: &mut Hash, bytes: &[u8]) -> Result<(), JsonError> {
    let mut cursor = Cursor::new(bytes);
    // One bit for each level entered: whether it is an object. As many as the cursor enters.
    let mut objects = 0u128;
    let mut depth = 0u32;
    loop {
        match cursor.peek()? {
            ValueKind::Object => {
                cursor.begin_object()?;
                objects = objects << 1 | 1;
                depth += 1;
            }
            ValueKind::Array => {
                cursor.begin_array()?;
                objects <<= 1;
                depth += 1;
            }
            _ => scalar(hash, &cursor.value()?),
        }
        loop {
            if depth == 0 {
                return cursor.end();
            }
            let more = if objects & 1 == 1 {
                let name = cursor.next_member()?;
                hash.maybe(name);
                name.is_some()
            } else {
                cursor.next_element()?
            };
            if more {
                break;
            }
            objects >>= 1;
            depth -= 1;
        }
    }
}

fn scalar(hash: &mut Hash, value: &Value<'_>) {
    hash.byte(value.kind() as u8);
    hash.byte(u8::from(value.as_bool() == Some(true)));
    hash.maybe(value.as_text());
    if let Some(number) = value.as_number() {
        hash.bytes(number.as_str().as_bytes());
        hash.byte(u8::from(number.is_integer()));
        hash.count(number.to_u64());
        hash.count(number.to_i64().map(i64::unsigned_abs));
        let decimal = number.to_decimal();
        hash.number(decimal.digits);
        hash.number(u64::from(decimal.exp10.unsigned_abs()));
        hash.byte(u8::from(decimal.exact) << 1 | u8::from(decimal.negative));
    }
}
