//! The results of the work: buffers and sums.

/// What is counted. `bytes` is only for the bounds, which read no event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub events: u64,
    /// Index of the choice plus one, once for every text, part of a call, or finish reason.
    pub choices: u64,
    /// Index of the tool call plus one, once for its ID, its name and each fragment.
    pub calls: u64,
    /// Prompt, completion and total tokens.
    pub usage: u64,
    /// Bytes of all texts.
    pub text: u64,
    /// Hash of all texts, in their order. Only a sink that checks keeps it.
    pub hash: u64,
    pub bytes: u64,
}

/// Takes the contents of a stream into buffers that are reused for each stream.
#[derive(Debug, Default)]
pub struct Sink {
    pub content: String,
    pub reasoning: String,
    pub arguments: String,
    /// IDs and names of calls, finish reasons.
    pub names: String,
    pub sums: Sums,
    check: bool,
}

impl Sink {
    /// Makes a sink that also hashes the texts.
    pub fn checking() -> Self {
        Sink { check: true, ..Sink::default() }
    }

    pub fn is_checking(&self) -> bool {
        self.check
    }

    /// Notes a text or a finish reason of this choice.
    #[inline]
    pub fn choice(&mut self, index: u32) {
        self.sums.choices += u64::from(index) + 1;
    }

    /// Notes the ID, the name or a fragment of this tool call.
    #[inline]
    pub fn call(&mut self, choice: u32, index: u32) {
        self.choice(choice);
        self.sums.calls += u64::from(index) + 1;
    }

    #[inline]
    pub fn usage(&mut self, prompt: u64, completion: u64, total: u64) {
        self.sums.usage = self.sums.usage.wrapping_add(prompt).wrapping_add(completion).wrapping_add(total);
    }

    /// Notes the end of a stream.
    pub fn end(&mut self) {
        for text in [&mut self.content, &mut self.reasoning, &mut self.arguments, &mut self.names] {
            self.sums.text += text.len() as u64;
            if self.check {
                // FNV-1a, with the length at the end.
                let hash = text.bytes().fold(self.sums.hash ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
                    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
                });
                self.sums.hash = hash ^ text.len() as u64;
            }
            text.clear();
        }
    }
}
