//! Writes to standard output and standard error. A stream contains text that strangers wrote. On a terminal such text
//! could move the cursor, hide earlier output, or pass for a line of this command, so it is escaped.

use clap::ColorChoice;
use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The control characters that standard output keeps on a terminal.
const LAYOUT: &[char] = &['\n', '\t'];

/// Escapes each character that a terminal could obey as in JSON (`\u001b`): control characters, line separators, and
/// characters that override the direction of text. The characters in `kept` stay.
pub fn escape<'t>(text: &'t str, kept: &[char]) -> Cow<'t, str> {
    let obeyed = |c: char| {
        let turns = matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        (c.is_control() || turns) && !kept.contains(&c)
    };
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !obeyed(c) => safe.push(c),
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push_str("\\t"),
            // Writing to a string never fails.
            c => drop(write!(safe, "\\u{:04x}", u32::from(c))),
        }
    }
    Cow::Owned(safe)
}

/// Returns the line, cut after so many characters, with `…` for the rest.
pub fn cut(line: &str, most: usize) -> Cow<'_, str> {
    let end = line.char_indices().nth(most).and_then(|(end, _)| line.get(..end));
    end.map_or(Cow::Borrowed(line), |start| Cow::Owned(format!("{start}\u{2026}")))
}

/// Writes one line to standard error, with control characters escaped. Ignores errors, because standard error may be
/// closed.
pub fn complain(line: impl Display) {
    StatusLine::clear();
    let _ = writeln!(io::stderr(), "deltawire: {}", escape(&line.to_string(), &[]));
}

/// How many bytes are written at a time: as many as a read may have, so that what came at once is passed on at once.
const WRITE: usize = 64 * 1024;

/// Standard output without the buffer of the standard library, which writes the end of a text apart from its lines.
fn unbuffered() -> Box<dyn Write> {
    #[cfg(unix)]
    if let Ok(descriptor) = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned() {
        return Box::new(std::fs::File::from(descriptor));
    }
    Box::new(io::stdout().lock())
}

/// Standard output. A pipe or a file gets the text unchanged; a terminal gets it escaped, except for line ends and
/// tabs.
///
/// Each call of `write` must pass whole characters, as `write!` does.
pub struct Output {
    out: BufWriter<Box<dyn Write>>,
    is_terminal: bool,
    is_colored: bool,
}

/// How a text looks, as the parameters of the terminal's SGR sequence.
#[derive(Clone, Copy)]
pub enum Style {
    Error,
    Warning,
    Strong,
    Faint,
}

impl Style {
    fn parameters(self) -> &'static str {
        match self {
            Style::Error => "1;31",
            Style::Warning => "1;33",
            Style::Strong => "1",
            Style::Faint => "2",
        }
    }
}

impl Output {
    pub fn new() -> Self {
        Output {
            out: BufWriter::with_capacity(WRITE, unbuffered()),
            is_terminal: io::stdout().is_terminal(),
            is_colored: false,
        }
    }

    /// Standard output with colors: on a terminal, unless `NO_COLOR` is set or the terminal is a dumb one, or as the option
    /// says.
    pub fn with_color(choice: ColorChoice) -> Self {
        let out = Output::new();
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_colored = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => out.is_terminal && !is_set("NO_COLOR") && !is_dumb,
        };
        Output { is_colored, ..out }
    }

    /// Writes a text of one line in this style. All that the terminal could obey in it is escaped, also in a file.
    pub fn paint(&mut self, style: Style, text: &str) -> io::Result<()> {
        let text = escape(text, &[]);
        if !self.is_colored {
            return self.write_all(text.as_bytes());
        }
        StatusLine::clear();
        write!(self.out, "\u{1b}[{}m{text}\u{1b}[0m", style.parameters())
    }

    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.out.write(bytes);
        }
        StatusLine::clear();
        self.out.write_all(escape(&String::from_utf8_lossy(bytes), LAYOUT).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Whether a [`StatusLine`] is on the terminal.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// A line on standard error that is written over, again and again. Only a terminal gets it. Whatever is written to the
/// terminal next removes it.
pub struct StatusLine {
    is_wanted: bool,
    /// When the next line may be shown.
    next: Instant,
}

impl StatusLine {
    /// How long a line stays at least.
    const STAYS: Duration = Duration::from_millis(100);
    /// How many characters of a line are shown. With `…` it fits into 80 columns, because a longer one would leave rows behind.
    const SHOWN: usize = 78;

    /// A line that is shown only after this time.
    pub fn after(wait: Duration, is_wanted: bool) -> Self {
        StatusLine { is_wanted: is_wanted && io::stderr().is_terminal(), next: Instant::now() + wait }
    }

    /// Shows this line, unless another one was shown just now.
    pub fn show(&mut self, line: impl FnOnce() -> String) {
        if self.is_wanted && Instant::now() >= self.next {
            self.next = Instant::now() + Self::STAYS;
            IS_SHOWN.store(true, Ordering::Relaxed);
            let _ = write!(io::stderr(), "\r\u{1b}[K{}", cut(&escape(&line(), &[]), Self::SHOWN));
        }
    }

    /// Makes room for other lines.
    pub fn clear() {
        if IS_SHOWN.swap(false, Ordering::Relaxed) {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{escape, LAYOUT};
    use std::borrow::Cow;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        for code in (0..=0x1f).chain(0x7f..=0x9f).chain(0x2028..=0x202e).chain(0x2066..=0x2069) {
            let c = char::from_u32(code).unwrap();
            let text = format!("a{c}b");
            let safe = match c {
                '\n' => "a\\nb".into(),
                '\r' => "a\\rb".into(),
                '\t' => "a\\tb".into(),
                _ => format!("a\\u{code:04x}b"),
            };
            assert_eq!(escape(&text, &[]), safe);
            let on_screen = if matches!(c, '\n' | '\t') { text.clone() } else { safe };
            assert_eq!(escape(&text, LAYOUT), on_screen);
        }
        for text in ["", "a\\u001b \"é\" \u{a0}\u{2027}\u{202f}\u{2065}\u{206a}\u{1f600}"] {
            assert!(matches!(escape(text, &[]), Cow::Borrowed(same) if same == text));
        }
    }
}
