//! The facts that the machine notes about a stream, and the verdict ([`End`]) that follows from them.

use super::end::{End, Pending, Verdict};
use super::media::{FirstBytes, Media, Sniff};
use crate::chat::index::ChoiceSet;
use crate::dialect::Protocol;
use crate::Error;

/// Which lines of an event stream came. If several variants apply, the last counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Evidence {
    /// No field and no comment came.
    Unknown,
    Comments,
    Fields,
}

/// What the raw JSON values are, by their members. If several variants apply, the last counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RawKind {
    Unknown,
    /// A value is a whole response.
    Body,
    /// A value is a chunk, by its `object`.
    Chunk,
}

/// Whether the API reported an error, and where. If several variants apply, the last counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Failed {
    No,
    /// In JSON without a field.
    Raw,
    /// In a field of an event stream.
    Field,
}

/// The facts about a stream so far.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) sniff: Sniff,
    pub(crate) first: FirstBytes,
    pub(crate) evidence: Evidence,
    /// An unknown line has something besides JSON objects and arrays of them.
    pub(crate) has_text: bool,
    /// A raw JSON array without values came.
    pub(crate) empty_array: bool,
    /// How many raw JSON objects came.
    pub(crate) raw_values: u8,
    /// How many raw JSON values came, where an array counts as one.
    pub(crate) whole_values: u8,
    /// `[DONE]` came.
    pub(crate) done: bool,
    pub(crate) failed: Failed,
    /// An event came that is read as one of the stream's own protocol.
    pub(crate) own_event: bool,
    /// Whether a chunk of chat completions came as an event with a name.
    pub(crate) own_named: bool,
    /// In a stream of another protocol than chat completions: whether the event that ends its response came. Such a
    /// stream does not end with `[DONE]`.
    pub(crate) ended: Option<bool>,
    pub(crate) raw_kind: RawKind,
    /// An event came that is not a chunk: other JSON, a malformed payload with an event name, or a payload that is not
    /// read.
    pub(crate) foreign: bool,
    /// The protocol of the first event that shows one.
    pub(crate) protocol: Option<Protocol>,
    /// The choices that came.
    pub(crate) seen: ChoiceSet,
    /// The choices that finished.
    pub(crate) finished: ChoiceSet,
    pub(crate) pending: Pending,
    pub(crate) malformed: u32,
    pub(crate) too_long: u32,
    pub(crate) left_out: u32,
    /// Why: a bit for each [`Error::number`](crate::Error).
    pub(crate) limits: u8,
    /// How many events had a text that is not the one that its deltas were.
    pub(crate) changed: u32,
    /// Deltas of an event were not emitted, because a handler stopped inside the event, or the event has a quirk that
    /// is configured as an error.
    pub(crate) broke_off: bool,
    /// A handler did so.
    pub(crate) aborted: bool,
}

impl Facts {
    /// The facts at the start of a stream.
    pub(crate) const NEW: Facts = Facts {
        sniff: Sniff::Blank,
        first: FirstBytes::NONE,
        evidence: Evidence::Unknown,
        has_text: false,
        empty_array: false,
        raw_values: 0,
        whole_values: 0,
        done: false,
        failed: Failed::No,
        own_event: false,
        own_named: false,
        raw_kind: RawKind::Unknown,
        foreign: false,
        protocol: None,
        ended: None,
        seen: ChoiceSet::EMPTY,
        finished: ChoiceSet::EMPTY,
        pending: Pending::Nothing,
        malformed: 0,
        too_long: 0,
        left_out: 0,
        limits: 0,
        changed: 0,
        broke_off: false,
        aborted: false,
    };

    /// Takes in a window that begins at this stream offset.
    pub(super) fn begin(&mut self, offset: u64, window: &[u8]) {
        self.sniff.begin(window);
        if self.evidence != Evidence::Fields {
            self.first.keep(offset, window);
        }
    }

    /// Notes that a field begins at this stream offset.
    pub(super) fn note_field(&mut self, offset: u64) {
        if self.evidence != Evidence::Fields {
            self.evidence = Evidence::Fields;
            self.first.end_at(offset);
        }
    }

    /// Notes that deltas of an event were left out because of this limit.
    pub(super) fn note_limit(&mut self, limit: Option<Error>) {
        if let Some(limit) = limit {
            self.left_out = self.left_out.saturating_add(1);
            self.limits |= limit.bit();
        }
    }

    /// Whether only blanks and comments came.
    pub(super) fn is_bodiless(&self) -> bool {
        self.evidence != Evidence::Fields && self.whole_values == 0 && !self.has_text && !self.done
    }

    /// Returns what came instead of an event stream, or `None` if an event stream may have come.
    fn media(&self) -> Option<Media> {
        let is_text = self.has_text && self.evidence != Evidence::Fields;
        let media = self.sniff.media().or(is_text.then_some(Media::Text))?;
        let has_event = match media {
            // No event stream begins with these bytes, whatever lines follow.
            Media::Gzip | Media::Zstd | Media::Html => false,
            Media::Binary => self.foreign && self.evidence == Evidence::Fields,
            Media::Text => self.foreign || self.failed != Failed::No,
        };
        (!self.own_event && self.failed != Failed::Field && !has_event).then_some(media)
    }

    /// Returns the verdict on a stream that ends at this offset. `opaque` means that its payloads are not read. The
    /// caller adds to `replaced`, and sets `protocol` if an event was read.
    pub(crate) fn end(&self, offset: u64, opaque: bool) -> End {
        let lost = self.malformed > 0 || self.too_long > 0 || self.left_out > 0;
        let between = self.pending == Pending::Nothing;
        let media = self.media();
        // What was read of the window only.
        let mut first = self.first;
        first.end_at(offset);
        let body = self.is_body();
        // The unknown lines of an event stream are ignored, except for JSON.
        let came = self.own_event || self.foreign || self.failed != Failed::No || self.whole_values > 0;
        let is_blank = self.sniff == Sniff::Blank && !self.aborted;
        let verdict = if is_blank || self.done && !came && media.is_none() && between && !lost {
            Verdict::Empty
        } else if media.is_some() {
            Verdict::NotAStream
        } else if self.failed != Failed::No {
            Verdict::ApiError
        } else if self.is_done() {
            Verdict::Done
        } else if self.has_finished() {
            Verdict::Finished
        } else if body {
            Verdict::Body
        } else if self.is_json_answer() && self.pending != Pending::Json && !lost {
            Verdict::JsonAnswer
        } else if self.foreign && !self.own_event && !(opaque && (lost || !between || self.aborted)) {
            Verdict::OtherProtocol
        } else if self.aborted {
            Verdict::Aborted
        } else if between && lost {
            Verdict::Lost
        } else {
            Verdict::Truncated
        };
        End {
            verdict,
            media: media.filter(|_| verdict == Verdict::NotAStream),
            protocol: (self.foreign && !opaque).then(|| self.protocol.unwrap_or(Protocol::Other)),
            done: self.done,
            choices_seen: self.seen.len(),
            choices_finished: self.finished.len(),
            api_error: self.failed != Failed::No,
            body,
            pending: if verdict == Verdict::NotAStream { Pending::Nothing } else { self.pending },
            malformed: self.malformed,
            too_long: self.too_long,
            replaced: self.changed,
            broken_calls: 0,
            left_out: self.left_out,
            limits: self.limits,
            first,
            offset,
            opaque,
            broke_off: self.broke_off,
        }
    }

    /// Whether the event came that ends the response.
    pub(super) fn is_done(&self) -> bool {
        self.ended.unwrap_or(self.done && self.own_event)
    }

    /// Whether each choice has a finish reason.
    pub(super) fn has_finished(&self) -> bool {
        !self.seen.is_empty() && self.seen == self.finished
    }

    /// Whether one body came, and besides it only comments.
    pub(super) fn is_body(&self) -> bool {
        self.is_alone() && self.raw_kind == RawKind::Body
    }

    /// Whether one JSON value came, and besides it only comments.
    fn is_alone(&self) -> bool {
        self.whole_values == 1 && !self.has_text && self.evidence != Evidence::Fields && !self.done
    }

    /// Whether one JSON value came alone and is not a completion: its protocol is unknown and it has no choices. A
    /// whole response of Responses or Gemini counts too, if that protocol is read, and if the response is not completed
    /// or has no candidates.
    fn is_json_answer(&self) -> bool {
        let is_chunk = self.raw_kind == RawKind::Chunk || !self.seen.is_empty();
        let came = self.empty_array || self.foreign || self.own_event;
        let is_answer = match self.protocol {
            None | Some(Protocol::Other) => true,
            Some(Protocol::Responses | Protocol::Gemini) => self.ended.is_some() && self.raw_values == 1,
            Some(_) => false,
        };
        self.is_alone() && came && !is_chunk && is_answer
    }
}

#[cfg(test)]
mod tests {
    use super::{ChoiceSet, End, Error, Evidence, Facts, Failed, Media, Pending, Protocol, RawKind, Sniff, Verdict};

    type Note = fn(&mut Facts);

    /// The verdict on an event stream of which only `note` is known.
    fn end(opaque: bool, note: impl FnOnce(&mut Facts)) -> End {
        let mut facts = Facts { sniff: Sniff::Other, evidence: Evidence::Fields, ..Facts::NEW };
        note(&mut facts);
        facts.end(0, opaque)
    }

    fn one() -> ChoiceSet {
        let mut set = ChoiceSet::EMPTY;
        set.insert(0);
        set
    }

    /// The verdicts in their order, each with facts that lead to it, and whether it is complete if nothing was lost.
    const VERDICTS: [(Note, Verdict, bool); 11] = [
        (|facts| facts.sniff = Sniff::Blank, Verdict::Empty, false),
        (|facts| facts.sniff = Sniff::Html, Verdict::NotAStream, false),
        (|facts| facts.failed = Failed::Raw, Verdict::ApiError, false),
        (|facts| (facts.done, facts.own_event) = (true, true), Verdict::Done, true),
        (|facts| (facts.seen, facts.finished) = (one(), one()), Verdict::Finished, true),
        (
            |facts| (facts.evidence, facts.whole_values, facts.raw_kind) = (Evidence::Unknown, 1, RawKind::Body),
            Verdict::Body,
            true,
        ),
        (
            |facts| (facts.evidence, facts.whole_values, facts.foreign) = (Evidence::Unknown, 1, true),
            Verdict::JsonAnswer,
            false,
        ),
        (|facts| facts.foreign = true, Verdict::OtherProtocol, false),
        (|facts| facts.aborted = true, Verdict::Aborted, false),
        (|facts| facts.malformed = 1, Verdict::Lost, false),
        (|facts| (facts.own_event, facts.seen) = (true, one()), Verdict::Truncated, false),
    ];

    #[test]
    fn the_first_verdict_that_applies_counts() {
        for (at, (note, verdict, complete)) in VERDICTS.into_iter().enumerate() {
            let alone = end(false, note);
            assert_eq!((alone.verdict, alone.is_complete()), (verdict, complete));
            for (other, later, _) in VERDICTS.into_iter().skip(at + 1) {
                let both = end(false, |facts| {
                    other(facts);
                    note(facts);
                });
                // A stream with a chunk is not a page, of another protocol or another value, and a malformed value is
                // not whole.
                let excludes = match verdict {
                    Verdict::NotAStream | Verdict::JsonAnswer | Verdict::OtherProtocol => {
                        matches!(later, Verdict::Done | Verdict::Truncated)
                    }
                    _ => false,
                };
                let lost = verdict == Verdict::JsonAnswer && later == Verdict::Lost;
                let expected = match (verdict, later) {
                    _ if lost => Verdict::OtherProtocol,
                    // The caller broke off before anything came.
                    (Verdict::Empty, Verdict::Aborted) => later,
                    _ if excludes => later,
                    _ => verdict,
                };
                assert_eq!(both.verdict, expected, "{verdict:?} and {later:?}");
            }
        }
    }

    #[test]
    fn done_alone_is_empty() {
        let notes: [(Note, Verdict); 6] = [
            (|_| (), Verdict::Empty),
            (|facts| facts.own_event = true, Verdict::Done),
            (|facts| facts.foreign = true, Verdict::OtherProtocol),
            (|facts| facts.malformed = 1, Verdict::Lost),
            (|facts| facts.pending = Pending::Line, Verdict::Truncated),
            (|facts| facts.failed = Failed::Field, Verdict::ApiError),
        ];
        for (note, verdict) in notes {
            let end = end(false, |facts| {
                facts.done = true;
                note(facts);
            });
            assert_eq!((end.verdict, end.is_complete()), (verdict, verdict == Verdict::Done));
        }
    }

    #[test]
    fn a_stream_with_a_loss_is_not_complete() {
        let losses: [Note; 3] = [|facts| facts.malformed = 1, |facts| facts.too_long = 1, |facts| facts.left_out = 1];
        let cuts: [Note; 3] = [
            |facts| facts.pending = Pending::Event,
            |facts| facts.pending = Pending::Json,
            |facts| facts.pending = Pending::Line,
        ];
        for (note, verdict, _) in VERDICTS.into_iter().filter(|(.., complete)| *complete) {
            for (at, lose) in losses.into_iter().chain(cuts).enumerate() {
                let end = end(false, |facts| {
                    note(facts);
                    lose(facts);
                });
                // An event, value or line that begins after `[DONE]` may be cut.
                let complete = verdict == Verdict::Done && at >= losses.len();
                assert_eq!((end.verdict, end.is_complete()), (verdict, complete));
            }
        }
        for pending in [Pending::Nothing, Pending::Event] {
            let expected = if pending == Pending::Nothing { Verdict::Lost } else { Verdict::Truncated };
            for lose in losses {
                let end = end(false, |facts| {
                    lose(facts);
                    facts.pending = pending;
                });
                assert_eq!(end.verdict, expected);
            }
            let added = end(false, |facts| facts.pending = pending)
                .with_left_out(Some(Error::TooManyChoices { choice: 9, offset: 0 }));
            assert_eq!((added.verdict, added.left_out), (expected, 1));
        }
        assert_eq!(end(false, |_| ()).with_left_out(None).verdict, Verdict::Truncated);
    }

    /// The text of an end that is not complete must not be "done" alone.
    #[test]
    fn the_text_of_an_end_names_the_losses() {
        extern crate std;
        use std::string::ToString;
        let of = |note: Note| end(false, note).to_string();
        assert_eq!(of(|facts| (facts.own_event, facts.done) = (true, true)), "done");
        assert_eq!(
            of(|facts| (facts.own_event, facts.done, facts.too_long) = (true, true, 1)),
            "done, incomplete: 1 too long (raise max_event_len, or give more storage)"
        );
        let finished = |facts: &mut Facts| (facts.own_event, facts.seen, facts.finished) = (true, one(), one());
        assert_eq!(end(false, finished).to_string(), "finished, without [DONE]");
        let cut = |facts: &mut Facts| {
            finished(facts);
            facts.pending = Pending::Event;
        };
        assert_eq!(end(false, cut).to_string(), "finished, without [DONE], incomplete: it ended inside an event");
        let left = end(false, |facts| {
            (facts.own_event, facts.done, facts.malformed) = (true, true, 2);
            facts.note_limit(Some(Error::TooManyCalls { choice: 0, offset: 0 }));
            facts.note_limit(None);
        });
        let left = left.with_left_out(Some(Error::TooManyChoices { choice: 9, offset: 0 })).with_left_out(None);
        assert_eq!(
            left.to_string(),
            "done, incomplete: 2 malformed, 2 left out (raise max_choices, raise max_tool_calls)"
        );
        let mut brief = std::string::String::new();
        left.put(false, &mut |text| brief += text);
        assert_eq!(brief, "done, incomplete: 2 malformed, 2 left out");
        assert_eq!(of(|facts| facts.malformed = 1), "lost: parts of the stream could not be read: 1 malformed");
        let index = |facts: &mut Facts| facts.note_limit(Some(Error::BadIndex { choice: 0, offset: 0 }));
        assert_eq!(of(index), "lost: parts of the stream could not be read: 1 left out (an index out of range)");
        assert_eq!(
            of(|facts| (facts.own_event, facts.pending) = (true, Pending::Line)),
            "truncated: the stream was cut: it ended inside a line"
        );
        assert_eq!(of(|facts| facts.aborted = true), "aborted: the caller broke off");
        assert_eq!(of(|facts| facts.sniff = Sniff::Zstd), "not an event stream: zstd (decompress the body first)");
        assert_eq!(end(true, |facts| facts.foreign = true).to_string(), "an event stream whose payloads were not read");
    }

    #[test]
    fn an_opaque_stream_is_complete_with_any_events() {
        let events = end(true, |facts| facts.foreign = true);
        assert_eq!((events.verdict, events.is_complete()), (Verdict::OtherProtocol, true));
        let cut = end(true, |facts| (facts.foreign, facts.pending) = (true, Pending::Line));
        assert_eq!((cut.verdict, cut.is_complete()), (Verdict::Truncated, false));
        let lost = end(true, |facts| (facts.foreign, facts.too_long) = (true, 1));
        assert_eq!((lost.verdict, lost.is_complete()), (Verdict::Lost, false));
        let comments = end(true, |facts| facts.evidence = Evidence::Comments);
        assert_eq!((comments.verdict, comments.is_complete()), (Verdict::Truncated, false));
    }

    #[test]
    fn a_chunk_or_an_error_in_a_field_shows_an_event_stream() {
        for sniff in [Sniff::Gzip, Sniff::Zstd, Sniff::Html, Sniff::Binary] {
            let notes: [(Note, bool); 5] = [
                (|_| (), true),
                (|facts| facts.failed = Failed::Raw, true),
                (|facts| facts.evidence = Evidence::Comments, true),
                (|facts| facts.failed = Failed::Field, false),
                (|facts| facts.own_event = true, false),
            ];
            for (note, expected) in notes {
                let end = end(false, |facts| {
                    facts.sniff = sniff;
                    note(facts);
                });
                assert_eq!(
                    (end.verdict == Verdict::NotAStream, end.media),
                    (expected, sniff.media().filter(|_| expected))
                );
            }
        }
        for pending in [Pending::Event, Pending::Json, Pending::Line] {
            let left = |sniff| end(false, |facts| (facts.sniff, facts.pending) = (sniff, pending)).pending;
            assert_eq!((left(Sniff::Gzip), left(Sniff::Blank)), (Pending::Nothing, pending));
        }
        for (evidence, text) in [(Evidence::Unknown, true), (Evidence::Comments, true), (Evidence::Fields, false)] {
            let end = end(false, |facts| (facts.evidence, facts.has_text) = (evidence, true));
            assert_eq!(end.media, text.then_some(Media::Text));
        }
    }

    #[test]
    fn variants_are_numbered_in_order() {
        assert!(Media::ALL.iter().enumerate().all(|(at, media)| *media as usize == at + 1));
        assert!(Protocol::ALL.iter().enumerate().all(|(at, protocol)| *protocol as usize == at + 1));
        assert!(Verdict::ALL.iter().enumerate().all(|(at, verdict)| *verdict as usize == at + 1));
        assert!(Pending::ALL.iter().enumerate().all(|(at, pending)| *pending as usize == at));
    }
}
