//! Streams of other protocols than chat completions: recordings against their goldens, and generated streams and fixtures against
//! a naive reader on serde_json.

#![cfg(all(feature = "serde", feature = "dialects"))]

use crate::common::corpus::{self, Stream};
use crate::common::naive_native::Naive;
use crate::common::records::{each_record, Room};
use deltawire::chat::{TokenCounts, Usage};
use deltawire::delta::{FinishKind, Kind};
use deltawire::message::{Assembler, Detail};
use deltawire::stream::{Amount, Meter, Protocol, ShortText, TokenKind};
use deltawire::track::Tracker;
use deltawire::{Config, End, Event, Flow, Growing, Limits, Parser, Quirk, Update, Verdict};
use serde_json::{json, Map, Value};

mod events;
mod fixtures;
mod generated;
mod golden;
mod limits;
mod meaning;
mod meter;
mod recordings;
mod responses;
mod vendors;
mod ways;

use fixtures::*;
use golden::*;
use limits::limited;
use ways::*;
