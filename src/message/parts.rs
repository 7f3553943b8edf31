//! The parts of another protocol: reading them joins the pieces that came after a block.

use super::log::MessageLogOf;
use super::record::{kind, RecordKey};
use super::table::Rows;
use crate::chat::scalar::{is_type, member_of};
use crate::json::{self, Checker, Text, Value};

/// The types of the pieces that join a member of their block: the type of a piece, the piece's member, the block's
/// member, and the type of the block, or an empty one for any.
static JOINED: [(&str, &str, &str, &str); 2] =
    [("input_json_delta", "partial_json", "input", ""), ("compaction_delta", "content", "content", "compaction")];

impl<T: Rows + ?Sized> MessageLogOf<T> {
    /// Puts the parts of a choice with commas between them. Pieces that follow their block join one member of it, and a
    /// null piece adds nothing.
    pub(super) fn put_parts(&self, buffer: &[u8], place: u16, put: &mut dyn FnMut(&[u8])) {
        let mut parts = self.listed(buffer, RecordKey::new(kind::PARTS, place, 0));
        let mut is_first = true;
        while let Some(block) = parts.next() {
            if !core::mem::take(&mut is_first) {
                put(b",");
            }
            let next = parts.clone().next();
            let of_block = |row: &&(&str, &str, &str, &str)| {
                let (piece, _, name, kind) = **row;
                // Some gateways leave the empty input of a tool out.
                let is_block = match kind.is_empty() {
                    true => matches!(block.get(name), Ok(Some(_))) || is_tool(block),
                    false => is_type(block, kind),
                };
                is_block && next.is_some_and(|next| is_type(next, piece))
            };
            let Some((piece, from, name, _)) = JOINED.iter().find(of_block) else {
                json::rewrite(block.raw(), put);
                continue;
            };
            let pieces = parts.clone().take_while(|part| is_type(*part, piece));
            let texts = pieces.clone().filter_map(|part| member_of(part, from)?.as_text());
            put_joined(block, name, texts, put);
            for _ in pieces {
                parts.next();
            }
        }
    }
}

/// Whether a block calls a tool, by its type.
fn is_tool(block: Value<'_>) -> bool {
    member_of(block, "type").and_then(|kind| kind.as_text()).is_some_and(|kind| kind.raw().ends_with(b"tool_use"))
}

/// Puts a block whose member `name` is made of `texts`: their JSON value if they join to one, otherwise their text. If
/// there is no text, the block is put as it is.
fn put_joined<'b>(
    block: Value<'b>,
    name: &str,
    texts: impl Iterator<Item = Text<'b>> + Clone,
    put: &mut dyn FnMut(&[u8]),
) {
    let (mut checker, mut is_any) = (Checker::START, false);
    let decoded = |each: &mut dyn FnMut(&[u8])| {
        let fragments = texts.clone().flat_map(|text| text.fragments());
        fragments.for_each(|fragment| each(fragment.encode(&mut [0; 4]).as_bytes()));
    };
    decoded(&mut |bytes| {
        is_any = true;
        checker.feed(bytes);
    });
    if !is_any {
        return json::rewrite(block.raw(), put);
    }
    // Only arguments are JSON; a summary may look like it.
    let is_json = name == "input" && checker.is_whole();
    let (mut open, mut at): (&[u8], usize) = (b"{\"", 0);
    while let Some((own, value)) = block.member_at(&mut at) {
        if own != *name {
            put(open);
            open = b",\"";
            json::escape_text(own, &mut *put);
            put(b"\":");
            json::rewrite(value.raw(), put);
        }
    }
    for bytes in [open, name.as_bytes(), b"\":"] {
        put(bytes);
    }
    if is_json {
        decoded(put);
    } else {
        put(b"\"");
        decoded(&mut |bytes| json::escape(bytes, &mut *put));
        put(b"\"");
    }
    put(b"}");
}
