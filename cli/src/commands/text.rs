//! `deltawire text`: the content, as it arrives.

use super::push::{print, Output, Printer};
use crate::options;
use crate::report::{complain, Failure};
use deltawire::chat::ApiError;
use deltawire::json::Text;
use deltawire::{Flow, Handler};
use std::io::IsTerminal;

/// What was printed last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Channel {
    Content,
    Reasoning,
}

/// Prints the texts of one choice.
struct Printing<'o> {
    options: &'o options::Text,
    out: Output,
    last: Option<Channel>,
    ends_line: bool,
}

pub fn run(options: &options::Text) -> Result<u8, Failure> {
    let mut printing = Printing { options, out: Output::new(), last: None, ends_line: true };
    print(&options.reading, &options.meaning, &mut printing)
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
        if !self.wants(choice, channel) {
            return Flow::Continue(());
        }
        self.put(channel, &text.to_cow())
    }
}

impl Handler for Printing<'_> {
    fn content(&mut self, choice: u32, text: Text<'_>) -> Flow {
        self.delta(choice, Channel::Content, text)
    }

    fn reasoning(&mut self, choice: u32, text: Text<'_>) -> Flow {
        self.delta(choice, Channel::Reasoning, text)
    }

    fn error(&mut self, error: ApiError<'_>) -> Flow {
        if let Some(message) = error.message() {
            complain(format_args!("error: {message}"));
        }
        Flow::Continue(())
    }

    fn choice_error(&mut self, _choice: u32, error: ApiError<'_>) -> Flow {
        self.error(error)
    }
}

impl Printer for Printing<'_> {
    fn output(&mut self) -> &mut Output {
        &mut self.out
    }

    fn end(&mut self) {
        // Elsewhere than on a terminal the text is just what was sent.
        if !self.ends_line && std::io::stdout().is_terminal() {
            let _ = self.out.write(|out| out.write_all(b"\n"));
        }
    }
}
