//! `deltawire text`: prints the content as it arrives.

use super::push::{print, Checked, Printer};
use crate::options;
use crate::output::complain;
use crate::report::Failure;
use deltawire::chat::FinishKind;
use deltawire::json::Text;
use deltawire::{Event, Flow, Handler, Update};
use std::collections::BTreeMap;

/// What a printed text belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Channel {
    Content,
    Reasoning,
}

/// Prints the texts of one choice.
struct Printing<'o> {
    options: &'o options::Text,
    out: Checked,
    last: Option<Channel>,
    ends_line: bool,
    /// The answers by choice. The tracker limits how many choices there are.
    answers: BTreeMap<u32, Answer>,
}

/// What a choice has, to report the parts that are not printed.
#[derive(Default)]
struct Answer {
    text: bool,
    reasoning: bool,
    audio: bool,
    calls: bool,
    refusal: bool,
    /// The finish reason, if it means that the answer was cut.
    cut: Option<&'static str>,
}

pub fn run(options: &options::Text) -> Result<u8, Failure> {
    let (out, answers) = (Checked::new(), BTreeMap::new());
    let mut printing = Printing { options, out, last: None, ends_line: true, answers };
    let status = print(&options.reading, &options.meaning, &mut printing)?;
    printing.report();
    Ok(status)
}

impl Answer {
    fn note(&mut self, update: &Update<'_>) {
        match update {
            Update::Call(_) | Update::CallName { .. } | Update::FunctionName { .. } | Update::FunctionArguments(_) => {
                self.calls = true;
            }
            Update::Content(_) => self.text = true,
            Update::Reasoning(_) => self.reasoning = true,
            Update::Audio(_) => self.audio = true,
            Update::Refusal(_) => self.refusal = true,
            Update::Finish(reason) => {
                self.cut = match reason.kind() {
                    FinishKind::Length => Some("length"),
                    FinishKind::ContentFilter => Some("content_filter"),
                    _ => None,
                };
            }
            _ => {}
        }
    }
}

impl Printing<'_> {
    fn wants(&self, choice: u32, channel: Channel) -> bool {
        choice == self.options.choice && (channel == Channel::Content || self.options.reasoning)
    }

    fn delta(&mut self, choice: u32, channel: Channel, text: Text<'_>) -> Flow {
        if !self.wants(choice, channel) {
            return Flow::Continue(());
        }
        let text = text.to_cow();
        let parted = self.last.is_some_and(|last| last != channel);
        self.last = Some(channel);
        self.ends_line = text.ends_with('\n');
        self.out.write(|out| {
            if parted {
                out.write_all(b"\n\n")?;
            }
            out.write_all(text.as_bytes())?;
            out.flush()
        })
    }

    /// Reports what was not printed, to explain an empty or a short output: first of the printed choice, then of the
    /// others. It reports each kind of thing once.
    fn report(&self) {
        let printed = self.options.choice;
        let is_printed = |choice: u32| choice == printed;
        let is_other = |choice: u32| choice != printed;
        self.report_of(is_printed);
        let has_text = |answer: &Answer| answer.text;
        if let Some((other, _, more)) = self.first(is_other, has_text) {
            match self.answers.get(&printed).filter(|answer| answer.text) {
                Some(_) => complain(format_args!("choice {other} has text, too (--choice {other} prints it){more}")),
                None => complain(format_args!(
                    "choice {printed} has no text; choice {other} has (--choice {other} prints it){more}"
                )),
            }
        }
        self.report_of(is_other);
    }

    /// Reports what these choices have other than text.
    fn report_of(&self, of: impl Fn(u32) -> bool + Copy) {
        let only_reasons = |answer: &Answer| answer.reasoning && !answer.text;
        if let Some((choice, _, more)) =
            self.first(of, only_reasons).filter(|(choice, ..)| !self.wants(*choice, Channel::Reasoning))
        {
            let option = if choice == self.options.choice { String::new() } else { format!("--choice {choice} ") };
            complain(format_args!("choice {choice} has reasoning but no text ({option}--reasoning prints it){more}"));
        }
        if let Some((choice, _, more)) = self.first(of, |answer| answer.audio) {
            complain(format_args!("choice {choice} has audio (deltawire message prints it){more}"));
        }
        if let Some((choice, _, more)) = self.first(of, |answer| answer.calls) {
            complain(format_args!("choice {choice} calls tools (deltawire message prints the calls){more}"));
        }
        if let Some((choice, _, more)) = self.first(of, |answer| answer.refusal) {
            complain(format_args!("choice {choice} is a refusal (deltawire message prints it){more}"));
        }
        if let Some((choice, answer, more)) = self.first(of, |answer| answer.cut.is_some()) {
            let reason = answer.cut.unwrap_or_default();
            complain(format_args!("choice {choice} was cut: its finish reason is {reason}{more}"));
        }
    }

    /// Returns the first of these choices for which `holds` is true, and in words how many more there are.
    fn first(&self, of: impl Fn(u32) -> bool, holds: impl Fn(&Answer) -> bool) -> Option<(u32, &Answer, String)> {
        let mut found = self.answers.iter().filter(|(choice, answer)| of(**choice) && holds(answer));
        let (choice, answer) = found.next()?;
        let more = match found.count() {
            0 => String::new(),
            1 => "; 1 more choice likewise".into(),
            many => format!("; {many} more choices likewise"),
        };
        Some((*choice, answer, more))
    }
}

impl Handler for Printing<'_> {
    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        let answer = self.answers.entry(choice).or_default();
        answer.note(&update);
        match update {
            Update::Content(text) => self.delta(choice, Channel::Content, text),
            Update::Reasoning(text) => self.delta(choice, Channel::Reasoning, text),
            Update::Error(error) | Update::ChoiceError(error) => {
                self.end_line();
                complain(format_args!("error: {error}"));
                Flow::Continue(())
            }
            _ => Flow::Continue(()),
        }
    }

    fn event(&mut self, event: &Event<'_>) -> Flow {
        if let Event::Malformed(malformed) = event {
            self.out.note(malformed.fault());
        }
        Flow::Continue(())
    }
}

impl Printer for Printing<'_> {
    fn output(&mut self) -> &mut Checked {
        &mut self.out
    }

    fn end_line(&mut self) {
        // A file or a pipe gets exactly the text that was sent.
        if !self.ends_line && self.out.is_terminal() {
            self.ends_line = true;
            let _ = self.out.write(|out| {
                out.write_all(b"\n")?;
                out.flush()
            });
        }
    }
}
