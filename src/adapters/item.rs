//! What an adapter yields: a delta with its choice, the head of a chunk, a quirk, a loss, or the end.

use crate::chat::{Chunk, OwnedUpdate, Update};
use crate::json::{JsonError, Text};
use crate::stream::{End, Protocol};
use crate::{Error, Quirk};
use alloc::boxed::Box;
use alloc::string::String;
use core::ops::Range;

/// What an adapter yields. It owns its texts, so it can be sent to another task or thread: `Send + Sync + 'static`, at most
/// 104 bytes.
///
/// Comments, payloads that only keep the connection alive, reconnection times and IDs without an event are not reported.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Item {
    /// What the chunks say about the response as a whole. Comes before the deltas of the first chunk with an ID or a model,
    /// and again before those of a chunk with another one.
    Head(Box<Head>),
    /// A delta.
    Update {
        /// The index of its choice; 0 for usage and errors of the response as a whole.
        choice: u32,
        /// The delta. Texts of up to 32 bytes are inside it, longer ones on the heap.
        update: OwnedUpdate,
    },
    /// A quirk of the event whose deltas came before.
    Quirk {
        /// The quirk.
        quirk: Quirk,
        /// Stream offset, in bytes, where the event began.
        offset: u64,
    },
    /// Deltas of an event were left out, because of a limit or of a quirk that [`Config::errors`](crate::Config::errors)
    /// names. The stream goes on.
    LeftOut(Error),
    /// A payload could not be read. The stream goes on.
    Malformed {
        /// The range of its event, in bytes from the beginning of the stream.
        wire_range: Range<u64>,
        /// What is wrong with the payload, and at which offset in it.
        fault: JsonError,
    },
    /// An event or a comment over the limit was discarded. The stream goes on.
    TooLong {
        /// Stream offset, in bytes, where it began.
        offset: u64,
    },
    /// How the stream ended: always the last item, also after an error of the source. Always check
    /// [`End::is_complete`], because the deltas of a cut stream look like those of a complete one.
    End(Box<End>),
}

impl Item {
    /// The delta with its texts borrowed, and the index of its choice. `None` for any other item.
    #[inline]
    pub fn as_update(&self) -> Option<(u32, Update<'_>)> {
        match self {
            Item::Update { choice, update } => Some((*choice, update.as_update())),
            _ => None,
        }
    }

    /// The end, if the item is it.
    pub fn as_end(&self) -> Option<&End> {
        match self {
            Item::End(end) => Some(end),
            _ => None,
        }
    }
}

/// What the chunks so far say about the response as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Head {
    /// The last `id`.
    pub id: Option<String>,
    /// The last `model`.
    pub model: Option<String>,
    /// The `created` of the chunk that this head came with, or of one before it, in seconds since 1970.
    pub created: Option<u64>,
    /// The protocol, if an event showed one.
    pub protocol: Option<Protocol>,
}

impl Head {
    /// Takes in a chunk. Returns whether its ID or its model is another one than before.
    pub(super) fn learns(&mut self, chunk: &Chunk<'_>) -> bool {
        let is_news = becomes(&mut self.id, chunk.id()) | becomes(&mut self.model, chunk.model());
        if is_news {
            self.created = chunk.created().or(self.created);
            self.protocol = Some(chunk.protocol());
        }
        is_news
    }
}

/// Replaces a text by one that was sent and differs.
fn becomes(kept: &mut Option<String>, sent: Option<Text<'_>>) -> bool {
    match sent {
        Some(sent) if kept.as_ref().is_none_or(|kept| sent != kept.as_str()) => {
            let kept = kept.get_or_insert_with(String::new);
            kept.clear();
            sent.push_to(kept);
            true
        }
        _ => false,
    }
}
