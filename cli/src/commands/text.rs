//! `deltawire text`: the content, as it arrives.

use super::push::{print, Checked, Printer};
use crate::options;
use crate::output::complain;
use crate::report::Failure;
use deltawire::chat::ApiError;
use deltawire::json::Text;
use deltawire::stream::Malformed;
use deltawire::{Flow, Handler, Update};

/// What was printed last.
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
    answer: Answer,
}

/// What else the answer is than a text.
#[derive(Default)]
struct Answer {
    calls: bool,
    refusal: bool,
    /// Why it was cut.
    cut: Option<&'static str>,
    /// The first other choice that has a text.
    other: Option<u32>,
}

pub fn run(options: &options::Text) -> Result<u8, Failure> {
    let (out, answer) = (Checked::new(), Answer::default());
    let mut printing = Printing { options, out, last: None, ends_line: true, answer };
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
            Update::Refusal(_) => self.refusal = true,
            Update::Finish(reason) => {
                let cuts = ["length", "content_filter"];
                self.cut = cuts.into_iter().find(|cut| reason.text() == *cut);
            }
            _ => {}
        }
    }
}

impl Printing<'_> {
    fn wants(&self, choice: u32, channel: Channel) -> bool {
        choice == self.options.choice && (channel == Channel::Content || self.options.reasoning)
    }

    fn put(&mut self, channel: Channel, text: &str) -> Flow {
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

    fn delta(&mut self, choice: u32, channel: Channel, text: Text<'_>) -> Flow {
        if choice != self.options.choice && channel == Channel::Content {
            self.answer.other = self.answer.other.or(Some(choice));
        }
        if !self.wants(choice, channel) {
            return Flow::Continue(());
        }
        self.put(channel, &text.to_cow())
    }
}

impl Printing<'_> {
    /// Says what else there was, that an empty or a short output is no riddle.
    fn report(&self) {
        let choice = self.options.choice;
        if self.answer.calls {
            complain(format_args!("choice {choice} calls tools (deltawire message prints the calls)"));
        }
        if self.answer.refusal {
            complain(format_args!("choice {choice} is a refusal (deltawire message prints it)"));
        }
        if let Some(reason) = self.answer.cut {
            complain(format_args!("choice {choice} was cut: its finish reason is {reason}"));
        }
        match self.answer.other {
            Some(other) if self.last.is_none() => {
                complain(format_args!("choice {choice} has no text; choice {other} has (--choice {other} prints it)"));
            }
            _ => {}
        }
    }
}

impl Handler for Printing<'_> {
    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        if choice == self.options.choice {
            self.answer.note(&update);
        }
        match update {
            Update::Content(text) => self.delta(choice, Channel::Content, text),
            Update::Reasoning(text) => self.delta(choice, Channel::Reasoning, text),
            Update::Error(error) | Update::ChoiceError(error) => self.error(error),
            _ => Flow::Continue(()),
        }
    }

    fn error(&mut self, error: ApiError<'_>) -> Flow {
        if let Some(message) = error.message() {
            complain(format_args!("error: {message}"));
        }
        Flow::Continue(())
    }

    fn malformed(&mut self, malformed: &Malformed<'_>) -> Flow {
        self.out.note(malformed.fault());
        Flow::Continue(())
    }
}

impl Printer for Printing<'_> {
    fn output(&mut self) -> &mut Checked {
        &mut self.out
    }

    fn end(&mut self) {
        // Elsewhere than on a terminal the text is just what was sent.
        if !self.ends_line && self.out.is_terminal() {
            let _ = self.out.write(|out| out.write_all(b"\n"));
        }
    }
}
