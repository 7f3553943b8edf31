//! The timeline of a stream as SVG: how much text had come at each time, a tick for each read with tokens, and the longest
//! gap.

use super::times::Times;
use deltawire::stream::{Meter, TokenKind};
use std::fmt::Write as _;
use std::time::Duration;

/// How many reads are drawn. Of more, every second one is left out, again and again.
const POINTS: usize = 4096;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 360.0;
/// Where the axes are: left, right, top, bottom.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 940.0;
const TOP: f64 = 60.0;
const BOTTOM: f64 = 290.0;
/// The ticks of the reads are below the axis of time.
const TICKS: f64 = 325.0;

/// The colors of the first token and of the longest gap.
const FIRST: &str = "#2a7";
const GAP: &str = "#fbe3d6";

/// A read: when it came, how much text had come with it, and what its last token is.
struct Point {
    at: Duration,
    text: u64,
    kind: Option<TokenKind>,
}

#[derive(Default)]
pub struct Points {
    points: Vec<Point>,
    /// One of so many reads is kept, as a power of two.
    thinned: u32,
    seen: u64,
    /// The beginning and the end of the longest gap between reads with tokens.
    longest: Option<(Duration, Duration)>,
    last: Option<Duration>,
}

impl Points {
    pub fn add(&mut self, at: Duration, text: u64, kind: Option<TokenKind>) {
        if kind.is_some() {
            if let Some(last) = self.last.replace(at) {
                if self.longest.is_none_or(|(from, to)| to.saturating_sub(from) < at.saturating_sub(last)) {
                    self.longest = Some((last, at));
                }
            }
        }
        self.seen += 1;
        if self.seen.trailing_zeros() < self.thinned {
            return;
        }
        if self.points.len() == POINTS {
            let mut is_kept = false;
            self.points.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.thinned += 1;
        }
        self.points.push(Point { at, text, kind });
    }

    pub(super) fn draw(&self, times: &Times, meter: &Meter) -> String {
        let scale = Scale::new(times.ended, self.points.last().map_or(0, |point| point.text));
        let mut svg = String::new();
        let mut put = |line: std::fmt::Arguments<'_>| {
            // Writing to a string never fails.
            let _ = writeln!(svg, "{line}");
        };
        put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">"
        ));
        put(format_args!("<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>"));
        let title = |y, size, text: &str| {
            format!("<text x=\"{LEFT}\" y=\"{y}\" font-size=\"{size}\" fill=\"#222\">{}</text>", escaped(text))
        };
        let model = if meter.model.is_empty() { "A stream" } else { meter.model.as_str() };
        put(format_args!("{}", title(24, 16, model)));
        put(format_args!("{}", title(42, 12, &subtitle(times))));
        if let Some((from, to)) = self.longest {
            let (x, to) = (scale.x(from), scale.x(to));
            let width = (to - x).max(0.5);
            put(format_args!(
                "<rect x=\"{x:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{GAP}\"><title>the longest gap</title></rect>",
                BOTTOM - TOP
            ));
        }
        scale.axes(&mut put);
        if let Some(first) = times.first_token {
            let x = scale.x(first);
            put(format_args!("<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{BOTTOM}\" stroke=\"{FIRST}\" stroke-dasharray=\"4 3\"><title>the first token</title></line>"));
        }
        put(format_args!(
            "<path d=\"{}\" fill=\"none\" stroke=\"#246\" stroke-width=\"1.5\"/>",
            self.path(&scale, times.ended)
        ));
        for Point { at, kind, .. } in &self.points {
            let Some((color, name)) = kind.map(color) else { continue };
            let (x, y) = (scale.x(*at), TICKS - 10.0);
            put(format_args!("<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{y}\" y2=\"{TICKS}\" stroke=\"{color}\"><title>{name}</title></line>"));
        }
        self.legend(&mut put);
        put(format_args!("</svg>"));
        svg
    }

    /// The text that had come, as steps.
    fn path(&self, scale: &Scale, end: Duration) -> String {
        let mut path = format!("M{:.1} {BOTTOM:.1}", LEFT);
        for Point { at, text, .. } in &self.points {
            let _ = write!(path, "H{:.1}V{:.1}", scale.x(*at), scale.y(*text));
        }
        let _ = write!(path, "H{:.1}", scale.x(end));
        path
    }

    fn legend(&self, put: &mut impl FnMut(std::fmt::Arguments<'_>)) {
        let mut x = LEFT;
        let came = TokenKind::ALL.iter().filter(|kind| self.points.iter().any(|point| point.kind == Some(**kind)));
        for (color, name) in came.map(|kind| color(*kind)).chain([(FIRST, "first token"), (GAP, "longest gap")]) {
            put(format_args!("<rect x=\"{x}\" y=\"338\" width=\"10\" height=\"10\" fill=\"{color}\"/>"));
            put(format_args!("<text x=\"{}\" y=\"347\" fill=\"#444\">{name}</text>", x + 14.0));
            x += 110.0;
        }
    }
}

/// The times that the plot shows, in words.
fn subtitle(times: &Times) -> String {
    let seconds = |time: Option<Duration>| time.map_or("never".into(), |time| format!("{:.3} s", time.as_secs_f64()));
    let gap = |part| times.gap(part).as_secs_f64() * 1e3;
    format!(
        "first token {}, end {}; gaps p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms",
        seconds(times.first_token),
        seconds(Some(times.ended)),
        gap(0.5),
        gap(0.99),
        gap(1.0)
    )
}

fn color(kind: TokenKind) -> (&'static str, &'static str) {
    match kind {
        TokenKind::Content => ("#246", "content"),
        TokenKind::Reasoning => ("#963", "reasoning"),
        TokenKind::Refusal => ("#b22", "refusal"),
        TokenKind::Call => ("#717", "tool calls"),
        _ => ("#888", "other"),
    }
}

/// From times and amounts to places.
struct Scale {
    seconds: f64,
    text: f64,
}

impl Scale {
    fn new(end: Duration, text: u64) -> Self {
        Scale { seconds: end.as_secs_f64().max(1e-6), text: (text as f64).max(1.0) }
    }

    fn x(&self, at: Duration) -> f64 {
        LEFT + (RIGHT - LEFT) * (at.as_secs_f64() / self.seconds).min(1.0)
    }

    fn y(&self, text: u64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * (text as f64 / self.text)
    }

    fn axes(&self, put: &mut impl FnMut(std::fmt::Arguments<'_>)) {
        put(format_args!("<path d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" fill=\"none\" stroke=\"#888\"/>"));
        for (value, label) in steps(self.seconds) {
            let x = LEFT + (RIGHT - LEFT) * value / self.seconds;
            put(format_args!(
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{BOTTOM}\" y2=\"{}\" stroke=\"#888\"/>",
                BOTTOM + 4.0
            ));
            put(format_args!("<text x=\"{x:.1}\" y=\"306\" text-anchor=\"middle\" fill=\"#444\">{label} s</text>"));
        }
        for (value, label) in steps(self.text) {
            let y = BOTTOM - (BOTTOM - TOP) * value / self.text;
            put(format_args!("<line x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#eee\"/>"));
            put(format_args!("<text x=\"64\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#444\">{label}</text>", y + 4.0));
        }
        put(format_args!("<text x=\"8\" y=\"{}\" fill=\"#444\">text, bytes</text>", TOP - 6.0));
    }
}

/// Round values from 0 to `most`, at most six of them, with their labels.
fn steps(most: f64) -> Vec<(f64, String)> {
    let rough = most / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|by| by * power).into_iter().find(|step| *step >= rough).unwrap_or(most);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let count = (most / step) as usize;
    (0..=count).map(|at| at as f64 * step).map(|value| (value, format!("{value:.digits$}"))).collect()
}

/// A text of the stream as text of XML, which has no control characters.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe += "&lt;",
            '&' => safe += "&amp;",
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::{escaped, steps, Points, POINTS};
    use std::time::Duration;

    #[test]
    fn axes_have_round_steps() {
        let labels = |most| steps(most).into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ");
        assert_eq!(labels(1.0), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(labels(2345.0), "0 500 1000 1500 2000");
        assert_eq!(labels(0.034), "0.00 0.01 0.02 0.03");
        assert_eq!(labels(7.0), "0 2 4 6");
    }

    #[test]
    fn many_reads_are_thinned() {
        let mut points = Points::default();
        for read in 0..100_000 {
            points.add(Duration::from_millis(read), read, None);
        }
        assert!((POINTS / 4..=POINTS).contains(&points.points.len()), "{}", points.points.len());
        assert!(points.points.is_sorted_by_key(|point| point.at));
    }

    #[test]
    fn a_model_cannot_leave_its_text() {
        assert_eq!(escaped("a</text>&\u{0}\u{1b}"), "a&lt;/text>&amp;\u{fffd}\u{fffd}");
    }
}
