//! Steps that can be undone: if the storage is too small, the step has no effect, and can be repeated with a larger
//! storage.

use super::found::Step;
use super::machine::Machine;
use super::state::{After, StreamState};
use crate::scan::find;
use crate::Storage;

/// The storage is too small for the event that a slice cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedStorage {
    /// The length that the storage should have, in bytes: what the event needs now or, if that is more, twice the
    /// present length, up to the most that an event within the limits can need.
    pub len: usize,
}

impl<const SLOTS: usize> Machine<SLOTS> {
    /// A [`step`](Machine::step) that compares the event at the front of the window with no template, because a run
    /// did. If the storage is too small, it fails without effect.
    ///
    /// # Errors
    ///
    /// [`NeedStorage`]: move to a larger storage ([`relocate`](StreamState::relocate)), then step again on the same
    /// window.
    #[inline(never)]
    pub(super) fn try_read_on<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
    ) -> Result<Step, NeedStorage> {
        if let Some(step) = self.quick(storage, window) {
            return Ok(step);
        }
        // While the last result was in use, the storage may have become larger.
        self.buffer.settle(storage.bytes_mut());
        if !storage.can_move() {
            return Ok(self.read_lines(storage, window));
        }
        // More than twice as many bytes as one step can copy. In a storage of that size no step needs a checkpoint.
        let most = window.len().saturating_mul(5).saturating_add(self.buffer.retained().saturating_mul(5));
        if most.saturating_add(64) <= storage.bytes().len() {
            return Ok(self.read_lines(storage, window));
        }
        // When a cut line ends, its staged bytes are moved, which no checkpoint restores. So the step ends at that line
        // end.
        let line = if self.buffer.is_staged() { find::line_end(window) } else { None };
        let window = line.and_then(|end| window.get(..=end)).unwrap_or(window);
        let checkpoint = self.state.clone();
        let step = self.read_lines(storage, window);
        let Some(wanted) = storage.take_wanted() else { return Ok(step) };
        // Go back to the checkpoint.
        self.buffer.undo(&checkpoint.buffer, storage.bytes_mut());
        // The index needs no checkpoint: the next step fills it anew.
        self.state = checkpoint;
        self.memo.forget_undone_step();
        (self.between_events, self.appendable) = (false, 0);
        // Doubling keeps the copying linear. An event within the limits needs no more than `most`.
        let limits = self.config.limits;
        let most = (limits.max_id_len as usize).saturating_mul(3).saturating_add(limits.max_event_len as usize);
        let twice = storage.bytes().len().saturating_mul(2).min(most);
        Err(NeedStorage { len: wanted.max(twice) })
    }
}

impl StreamState {
    /// How many bytes of the storage are in use between two steps. `looked_at` means that the last result is still in
    /// use: then all of the storage may be.
    #[doc(hidden)]
    pub fn retained(&self, storage: &[u8], looked_at: bool) -> usize {
        if self.is_fixed(looked_at) {
            storage.len()
        } else {
            self.buffer.retained()
        }
    }

    /// Moves the bytes in use from one storage to another. Returns `false`, without effect, if they do not fit.
    #[doc(hidden)]
    pub fn relocate(&mut self, from: &[u8], to: &mut [u8], looked_at: bool) -> bool {
        if self.is_fixed(looked_at) {
            let to = to.get_mut(..from.len());
            return to.map(|to| to.copy_from_slice(from)).is_some();
        }
        self.appendable = 0;
        self.buffer.relocate(from, to)
    }

    /// Changes the length of the storage from `from` to `len`; `storage` has the greater of both lengths. Returns
    /// `false`, without effect, if the bytes in use do not fit.
    #[doc(hidden)]
    pub fn resize(&mut self, storage: &mut [u8], from: usize, len: usize, looked_at: bool) -> bool {
        if self.is_fixed(looked_at) {
            return from <= len;
        }
        self.appendable = 0;
        self.buffer.resize(storage, len)
    }

    /// Whether spans of the storage are still in use, so that no byte may move.
    fn is_fixed(&self, looked_at: bool) -> bool {
        looked_at || matches!(self.after, After::Trailing(_) | After::Glued { .. })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    extern crate std;
    use super::*;
    use crate::scan::tests::Random;
    use crate::stream::found::{Found, Span};
    use crate::stream::Config;
    use crate::{Limits, Movable};
    use std::string::String;
    use std::vec::Vec;
    use std::{format, vec};

    /// Lines of events, most of them of events about a response, which are reduced over the limit.
    const LINES: [&str; 22] = [
        "event: response.created",
        "event: response.completed",
        "event: chunk",
        "event:",
        "id: 1",
        "id: 123456789",
        ": a comment",
        "data: {\"type\":\"response.completed\",",
        "data: {\"response\":{\"id\":\"r\",",
        "data:  {  \"response\" : { \"id\" : \"r\",",
        "data: \"instructions\":\"0123456789\",",
        "data:  \"status\" : \"completed\",",
        "data: \"output\":[{\"type\":\"message\"},",
        "data: {\"type\":\"function_call\"}],",
        "data: \"model\":\"m\"}}",
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}",
        "data",
        "data: [DONE]",
        "{\"a\":",
        "1}",
        "",
        "",
    ];

    fn stream(random: &mut Random) -> Vec<u8> {
        let end = ["\n", "\r\n", "\r"][random.below(3)];
        (0..random.below(24)).flat_map(|_| [LINES[random.below(LINES.len())], end].concat().into_bytes()).collect()
    }

    /// The bytes that a step may look at, by what they are.
    fn in_use<const SLOTS: usize>(machine: &Machine<SLOTS>, storage: &[u8]) -> String {
        let StreamState { buffer, after, .. } = &machine.state;
        let text = |span: Span| String::from_utf8_lossy(span.of(&[], storage)).into_owned();
        // A name that comes before the data is not looked at before the data, and may be replaced until then. Of a
        // comment that was reported nothing is looked at.
        let name = buffer.has_data().then(|| text(buffer.name_span()));
        let staged =
            if *after == After::Unstage { "" } else { &*String::from_utf8_lossy(buffer.staged_bytes(storage)) };
        format!("{:?} {:?} {name:?} {staged:?}", buffer.id(storage), text(buffer.data_span()))
    }

    /// Reads a stream in a storage that is moved where it is too small. Returns how many steps were undone.
    fn undone_steps(random: &mut Random) -> usize {
        let bytes = stream(random);
        let limits = Limits { max_event_len: random.below(120) as u32, max_id_len: 8, ..Limits::DEFAULT };
        let mut machine = Machine::<0>::with_slots(Config { limits, ..Config::default() });
        let (mut memory, mut undone, mut rest) = (vec![0; random.below(40)], 0, &bytes[..]);
        while !rest.is_empty() {
            let mut window = &rest[..1 + random.below(rest.len().min(60))];
            while !window.is_empty() {
                let before = in_use(&machine, &memory);
                match machine.try_read_on(&mut Movable::new(&mut memory, true), window) {
                    Ok(step) => {
                        window = &window[step.consumed..];
                        rest = &rest[step.consumed..];
                    }
                    Err(NeedStorage { len }) => {
                        let context =
                            || (String::from_utf8_lossy(&bytes), bytes.len() - rest.len(), limits.max_event_len);
                        assert_eq!(in_use(&machine, &memory), before, "{:?}", context());
                        let mut larger = vec![0xAA; len];
                        assert!(machine.state.relocate(&memory, &mut larger, false));
                        (memory, undone) = (larger, undone + 1);
                    }
                }
            }
        }
        undone
    }

    /// While a result is in use, no byte moves when the storage becomes larger, so the name of the event is not at the
    /// far end any more. The next step must not overwrite it.
    #[test]
    fn a_name_outlives_a_storage_that_becomes_larger_while_a_comment_is_in_use() {
        let pieces =
            ["event: error\ndata: quota exceeded\n: keep-", "alive\n: a second comm", "ent, which is longer\n", "\n"];
        for (larger, can_move) in (33..100).map(|len| (len, true)).chain([(100, false)]) {
            let mut machine = Machine::<0>::with_slots(Config::default());
            let (mut memory, mut found) = (vec![0; 32], Vec::new());
            for mut window in pieces.map(str::as_bytes) {
                while !window.is_empty() {
                    let step = machine.try_read_on(&mut Movable::new(&mut memory, can_move), window);
                    let Ok(step) = step else {
                        let mut more = vec![0xAA; 100];
                        assert!(machine.state.relocate(&memory, &mut more, false));
                        memory = more;
                        continue;
                    };
                    let text = |span: Span| String::from_utf8_lossy(span.of(window, &memory[..])).into_owned();
                    found.extend(step.found.payload().map(|payload| (text(machine.name), text(payload))));
                    window = &window[step.consumed..];
                    if step.found != Found::NeedMore && memory.len() < larger {
                        let mut more = vec![0xAA; larger];
                        assert!(machine.state.relocate(&memory, &mut more, true));
                        memory = more;
                    }
                }
            }
            let texts = [("", "keep-alive"), ("", "a second comment, which is longer"), ("error", "quota exceeded")];
            assert_eq!(found, texts.map(|(name, text)| (name.into(), text.into())), "{larger}");
        }
    }

    #[test]
    fn an_undone_step_leaves_the_bytes_in_use_as_they_were() {
        let mut random = Random(5);
        let undone: usize = (0..60_000).map(|_| undone_steps(&mut random)).sum();
        assert!(undone > 50_000, "{undone}");
    }
}
