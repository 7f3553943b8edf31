//! `deltawire::write`: the updates of the stream, written in each protocol.

use super::Hash;
use deltawire::chat::{ApiError, FinishKind, FinishReason};
use deltawire::stream::Protocol;
use deltawire::write::{Head, Out, WriteError, Writer};
use deltawire::{Parser, Update};

/// What the writer is lent, and the most room for an event. Some streams need more.
pub(super) const MEMORY: usize = 3072;
const ROOM: usize = 2048;

/// Writes with as much room as the slices have, or as much as an event needs.
pub fn write(bytes: &[u8], cut: usize) -> u64 {
    let mut hash = Hash::new();
    let members = b"{\"service_tier\": \"auto\",\n\"metadata\":{}}";
    let head = Head::new("id", "model", 7).with_members(members).with_event_ids().with_retry(9).with_text_len(32);
    for protocol in [Protocol::Chat, Protocol::Anthropic, Protocol::Responses, Protocol::Gemini] {
        let mut storage = [0; 1024];
        let mut parser: Parser<_, 0> = Parser::with_slots(&mut storage[..], Default::default(), Default::default());
        let Ok(mut writer) = Writer::new(protocol, &head, [0; MEMORY]) else {
            hash.byte(1);
            continue;
        };
        let mut rest = bytes;
        loop {
            match parser.next(&mut rest) {
                Ok(None) => break,
                Ok(Some(event)) => {
                    for (choice, update) in event.deltas() {
                        all(&mut hash, cut, |out| writer.put(out, choice, &update));
                    }
                }
                Err(error) => hash.number(error.offset()),
            }
        }
        all(&mut hash, cut, |out| writer.keep_alive(out));
        if parser.end().is_complete() {
            let stop = Update::Finish(FinishReason::new(FinishKind::Stop));
            all(&mut hash, cut, |out| writer.put(out, 0, &stop));
            all(&mut hash, cut, |out| writer.finish(out));
        }
        all(&mut hash, cut, |out| writer.fail(out, &ApiError::plain(b"cut")));
        hash.number(writer.memory_len() as u64);
    }
    hash.0
}

/// Calls the writer until it is done. Returns whether it had enough memory and room.
pub(super) fn all(hash: &mut Hash, cut: usize, mut write: impl FnMut(&mut Out<'_>) -> Result<(), WriteError>) -> bool {
    let mut buffer = [0; ROOM];
    let mut room = cut.min(ROOM);
    loop {
        let mut out = Out::new(buffer.get_mut(..room).unwrap_or_default());
        let sent = out.send(&mut write, |bytes| bytes.iter().for_each(|byte| hash.byte(*byte)));
        match sent {
            Ok(()) => return true,
            Err(WriteError::NeedRoom { need }) if room < ROOM && need > room => room = need.min(ROOM),
            Err(WriteError::NeedRoom { need } | WriteError::NeedMemory { need }) => {
                hash.number(need as u64);
                return false;
            }
            Err(_) => {
                hash.byte(0);
                return true;
            }
        }
    }
}
