//! Which content blocks of an Anthropic message are tool calls of the client: calls of tools that the client runs, not
//! the server; and which may be calls of tools of the server.

/// How many blocks are tracked at a time.
const BLOCKS: u32 = 256;
/// The number of bits of a word.
const WORD: u32 = 32;
const WORDS: usize = (BLOCKS / WORD) as usize;

/// The blocks that are tool calls of the client, and those that are neither that nor text, by index. The set covers at
/// least the block that began last and the 224 before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    /// The index of the first tracked block, a multiple of [`WORD`].
    first: u32,
    /// Two bits for each tracked block: in the lower half of a word whether it is a tool call of the client, in the upper
    /// half whether it is another one that may have an input.
    words: [u64; WORDS],
    /// How many blocks began.
    count: u32,
}

impl Blocks {
    pub(super) const NOTHING: Blocks = Blocks { first: 0, words: [0; WORDS], count: 0 };

    /// Returns the word of a block and the bit in it, or `None` if the block is not tracked.
    fn place(&self, index: u32) -> Option<(usize, u64)> {
        let at = index.checked_sub(self.first).filter(|at| *at < BLOCKS)?;
        Some(((at / WORD) as usize, 1u64.wrapping_shl(at % WORD)))
    }

    /// Whether this block is a tool call of the client.
    pub(super) fn has(&self, index: u32) -> bool {
        self.place(index).is_some_and(|(word, bit)| self.words.get(word).is_some_and(|word| word & bit != 0))
    }

    /// Whether this block is another one that may have an input, or began too long ago to know.
    pub(super) fn has_other(&self, index: u32) -> bool {
        let other = |(word, bit): (usize, u64)| self.words.get(word).is_some_and(|word| word & bit << WORD != 0);
        self.place(index).map_or(index < self.first, other)
    }

    /// Whether any block began.
    pub(super) fn has_any(&self) -> bool {
        self.count > 0
    }

    /// Whether as many blocks began, and as many of them are tool calls of the client.
    pub(super) fn are(&self, count: u32, calls: u32) -> bool {
        let own = |word: &u64| (word & u64::from(u32::MAX)).count_ones();
        self.count == count && self.words.iter().map(own).sum::<u32>() == calls
    }

    /// Notes that a block begins. Returns whether a block that was known as a tool call of the client no longer is.
    pub(super) fn begin(&mut self, index: u32, is_client: bool, is_other: bool) -> bool {
        let mut forgets = false;
        self.count = self.count.saturating_add(1);
        while self.place(index).is_none() {
            // Blocks come in order, so dropping the first word usually makes room, and keeps the others. All words are
            // dropped only if the index is far away.
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
            *word &= !(bit | bit << WORD);
            if is_client {
                *word |= bit;
            } else if is_other {
                *word |= bit << WORD;
            }
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
        assert!(!blocks.has(0) && !blocks.begin(1, true, false));
        for index in [0, 2, 65, 129, 257, 1 + (1 << 31), u32::MAX] {
            assert!(!blocks.has(index), "{index}");
        }
        assert!(blocks.has(1) && !blocks.begin(65, false, false) && blocks.has(1));
        // The same block begins again, now as a tool call of the server.
        assert!(blocks.begin(1, false, true) && !blocks.has(1) && blocks.has_other(1));
    }

    #[test]
    fn the_last_block_and_224_before_it_are_known() {
        let mut blocks = Blocks::NOTHING;
        let mut clients = BTreeSet::new();
        // The indexes come one after the other, and then jump up and down.
        let all = (0..900).chain([5000, 4999, 5, 6, u32::MAX, u32::MAX - 1, 0]);
        let mut jumped = false;
        for index in all {
            let is_client = index % 3 != 0;
            let before = clients.clone();
            clients.remove(&index);
            if is_client {
                clients.insert(index);
            }
            let forgot = blocks.begin(index, is_client, !is_client);
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
