//! `deltawire text`: the content, as it arrives.

use super::push::{print, Checked, Printer};
use crate::options;
use crate::output::complain;
use crate::report::Failure;
use deltawire::chat::{ApiError, Message};
use deltawire::json::Text;
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
    /// What the last whole message said, to be printed if no delta comes.
    whole: Vec<(Channel, String)>,
    ends_line: bool,
}

pub fn run(options: &options::Text) -> Result<u8, Failure> {
    let mut printing = Printing { options, out: Checked::new(), last: None, whole: Vec::new(), ends_line: true };
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
        if choice == self.options.choice {
            self.whole.clear();
        }
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

    fn message(&mut self, choice: u32, message: Message<'_>) -> Flow {
        if choice == self.options.choice {
            self.whole.clear();
            for update in message.deltas() {
                let (channel, text) = match update {
                    Update::Content(text) => (Channel::Content, text),
                    Update::Reasoning(text) => (Channel::Reasoning, text),
                    _ => continue,
                };
                if self.wants(choice, channel) {
                    self.whole.push((channel, text.to_cow().into_owned()));
                }
            }
        }
        Flow::Continue(())
    }
}

impl Printer for Printing<'_> {
    fn output(&mut self) -> &mut Checked {
        &mut self.out
    }

    fn end(&mut self) {
        for (channel, text) in std::mem::take(&mut self.whole) {
            let _ = self.put(channel, &text);
        }
        // Elsewhere than on a terminal the text is just what was sent.
        if !self.ends_line && self.out.is_terminal() {
            let _ = self.out.write(|out| out.write_all(b"\n"));
        }
    }
}
