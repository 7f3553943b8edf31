//! Reads the case files in `tests/quirks/`. Their README describes the format.

use super::log::escaped;
use super::read::Store;
use deltawire::stream::Protocol;
use deltawire::{Config, Framing, Validate};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// The row of the table, which is the name of the file.
    pub row: String,
    pub name: String,
    /// The protocol whose reader it needs.
    pub reads: Option<Protocol>,
    pub config: Config,
    /// The size of the storage.
    pub storage: Option<usize>,
    pub input: Vec<u8>,
    /// The expected log.
    pub log: Vec<String>,
    /// Where strict mode stops, or `None` if it does not.
    pub strict: Option<String>,
}

impl Case {
    /// Returns the storages to run the case on.
    pub fn stores(&self) -> Vec<Store> {
        match self.storage {
            Some(len) => vec![Store::Fixed(len)],
            None => vec![
                Store::Fixed(8192),
                #[cfg(feature = "alloc")]
                Store::Growing,
            ],
        }
    }

    pub fn title(&self) -> String {
        format!("{} \"{}\" {}", self.row, self.name, escaped(&self.input[..self.input.len().min(300)]))
    }
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/quirks")
}

/// Returns the rows that have a file of cases.
pub fn rows() -> BTreeSet<String> {
    let paths = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let cases = paths.filter(|path| path.extension().is_some_and(|extension| extension == "case"));
    cases.map(|path| path.file_stem().unwrap().to_str().unwrap().to_string()).collect()
}

/// Returns all cases of all files, by row, but for those of protocols whose reader is not compiled in.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for row in rows() {
        let path = folder().join(format!("{row}.case"));
        let text = std::fs::read_to_string(&path).unwrap();
        let found = parse(&row, &text).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
        assert!(!found.is_empty(), "{}: no case in it", path.display());
        cases.extend(found.into_iter().filter(|case| case.reads.is_none_or(Protocol::is_read)));
    }
    cases
}

pub fn parse(row: &str, text: &str) -> Result<Vec<Case>, String> {
    let mut cases: Vec<Case> = Vec::new();
    let mut strict_told = true;
    for (at, line) in text.lines().enumerate() {
        let fault = |what: &str| format!("line {}: {what}", at + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word == "case" {
            if !strict_told {
                return Err(fault("the case before has no `strict` line"));
            }
            strict_told = false;
            cases.push(Case {
                row: row.to_string(),
                name: rest.to_string(),
                reads: None,
                config: Config::default(),
                storage: None,
                input: Vec::new(),
                log: Vec::new(),
                strict: None,
            });
            continue;
        }
        let case = cases.last_mut().ok_or_else(|| fault("`case` is expected"))?;
        match word {
            "option" => {
                for option in rest.split(' ') {
                    set(case, option).ok_or_else(|| fault("an option that is not known"))?;
                }
            }
            "reads" => {
                let protocol = match rest {
                    "anthropic" => Protocol::Anthropic,
                    "gemini" => Protocol::Gemini,
                    "responses" => Protocol::Responses,
                    _ => return Err(fault("a protocol that is not known")),
                };
                case.reads = Some(protocol);
            }
            "in" => case.input.extend(unescape(rest).ok_or_else(|| fault("a bad escape"))?),
            "repeat" => {
                let (times, bytes) = rest.split_once(' ').ok_or_else(|| fault("`repeat TIMES BYTES`"))?;
                let times: usize = times.parse().map_err(|_| fault("`repeat TIMES BYTES`"))?;
                case.input.extend(unescape(bytes).ok_or_else(|| fault("a bad escape"))?.repeat(times));
            }
            "log" => case.log.push(rest.to_string()),
            "strict" => {
                strict_told = true;
                case.strict = (rest != "passes").then(|| format!("stop {rest}"));
            }
            _ => return Err(fault("a word that is not known")),
        }
    }
    if !strict_told {
        return Err("the last case has no `strict` line".to_string());
    }
    Ok(cases)
}

fn set(case: &mut Case, option: &str) -> Option<()> {
    let (name, value) = option.split_once('=')?;
    let limits = case.config.limits;
    match (name, value) {
        ("framing", "spec") => case.config.framing = Framing::Spec,
        ("snapshots", "on") => case.config.snapshots = true,
        ("validate", "strict") => case.config.validate = Validate::Strict,
        ("max_event_len", value) => case.config.limits = limits.with_max_event_len(value.parse().ok()?),
        ("max_id_len", value) => case.config.limits = limits.with_max_id_len(value.parse().ok()?),
        ("max_depth", value) => case.config.limits = limits.with_max_depth(value.parse().ok()?)?,
        ("storage", value) => case.storage = Some(value.parse().ok()?),
        _ => return None,
    }
    Some(())
}

/// Decodes `\n \r \t \0 \\ \" \xHH`; everything else stands for itself.
pub fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next()? {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'0' => 0,
            b'\\' => b'\\',
            b'"' => b'"',
            b'x' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            _ => return None,
        });
    }
    Some(bytes)
}
