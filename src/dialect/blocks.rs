//! Which content blocks of a message of Anthropic are tool calls of the client.

/// How many blocks are looked after at a time.
const BLOCKS: u32 = 256;
/// Bits of a word.
const WORD: u32 = 32;
const WORDS: usize = (BLOCKS / WORD) as usize;

/// The blocks that are tool calls of the client, by their indexes: of the block that began last and 224 before it at least.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    /// The index of the first block that is looked after, a multiple of [`WORD`].
    first: u32,
    /// A bit for each.
    words: [u32; WORDS],
}

impl Blocks {
    pub(super) const NOTHING: Blocks = Blocks { first: 0, words: [0; WORDS] };

    /// The word of a block, and its bit there. `None`: it is not looked after.
    fn place(&self, index: u32) -> Option<(usize, u32)> {
        let at = index.checked_sub(self.first).filter(|at| *at < BLOCKS)?;
        Some(((at / WORD) as usize, 1u32.wrapping_shl(at % WORD)))
    }

    /// Whether this block is a tool call of the client.
    pub(super) fn has(&self, index: u32) -> bool {
        self.place(index).is_some_and(|(word, bit)| self.words.get(word).is_some_and(|word| word & bit != 0))
    }

    /// A block begins. Returns whether one that was a tool call of the client is known as one no more.
    pub(super) fn begin(&mut self, index: u32, is_client: bool) -> bool {
        let mut forgets = false;
        while self.place(index).is_none() {
            // Word by word as long as that leaves one: blocks come one after the other.
            let is_next = index.checked_sub(self.first).is_some_and(|at| at < BLOCKS.saturating_mul(2));
            let words = if is_next { 1 } else { WORDS };
            let gone = self.words.get(..words).unwrap_or_default();
            forgets |= gone.iter().any(|word| *word != 0);
            self.words.rotate_left(words);
            let from = WORDS.saturating_sub(words);
            self.words.iter_mut().skip(from).for_each(|word| *word = 0);
            self.first = if is_next { self.first.saturating_add(WORD) } else { index / WORD * WORD };
        }
        let Some((word, bit)) = self.place(index) else { return forgets };
        if let Some(word) = self.words.get_mut(word) {
            forgets |= !is_client && *word & bit != 0;
            *word = if is_client { *word | bit } else { *word & !bit };
        }
        forgets
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::Blocks;
    use std::collections::BTreeSet;

    #[test]
    fn blocks_are_distinguished() {
        let mut blocks = Blocks::NOTHING;
        assert!(!blocks.has(0) && !blocks.begin(1, true));
        for index in [0, 2, 65, 129, 257, 1 + (1 << 31), u32::MAX] {
            assert!(!blocks.has(index), "{index}");
        }
        assert!(blocks.has(1) && !blocks.begin(65, false) && blocks.has(1));
        // The same block again, as one of the server's.
        assert!(blocks.begin(1, false) && !blocks.has(1));
    }

    #[test]
    fn the_last_block_and_224_before_it_are_known() {
        let mut blocks = Blocks::NOTHING;
        let mut clients = BTreeSet::new();
        // One after the other; then somewhere else, up and down.
        let all = (0..900).chain([5000, 4999, 5, 6, u32::MAX, u32::MAX - 1, 0]);
        let mut jumped = false;
        for index in all {
            let is_client = index % 3 != 0;
            let before = clients.clone();
            clients.remove(&index);
            if is_client {
                clients.insert(index);
            }
            let forgot = blocks.begin(index, is_client);
            assert_eq!(blocks.has(index), is_client, "{index}");
            jumped |= index >= 900;
            for other in index.saturating_sub(300)..=index.saturating_add(300) {
                let is_near = other <= index && index - other <= 224 && !jumped;
                assert!(!blocks.has(other) || clients.contains(&other), "{other} at {index}");
                assert!(!is_near || blocks.has(other) == clients.contains(&other), "{other} at {index}");
            }
            clients.retain(|index| blocks.has(*index));
            assert_eq!(forgot, before.iter().any(|index| !clients.contains(index)), "{index}");
        }
    }
}
