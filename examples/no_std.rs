//! Reads a stream without a heap, without `std`, and in little memory. [`device`] is the code of a microcontroller;
//! `main` uses standard input as its serial line. Built with `--no-default-features`, the library has no allocator to
//! call.

/// Code without `std`.
mod device {
    use core::fmt::Write;
    use deltawire::{End, Event, Flow, Handler, Parser, Stop, Update};

    /// The longest event that the parser can read: 2 KiB. It skips a longer event, and the answer is not complete
    /// (`Event::TooLong`, `End::too_long`).
    const LONGEST: usize = 2048;

    pub(super) type Reader = Parser<[u8; LONGEST]>;

    /// A `const fn`, so that a `static` can be initialized with it, inside whatever lock the platform has.
    pub(super) const READER: Reader = Parser::new([0; LONGEST]);

    /// Writes the content to a display.
    struct Show<W>(W);

    impl<W: Write> Handler for Show<W> {
        fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
            match update {
                Update::Content(text) if choice == 0 && write!(self.0, "{text}").is_err() => {
                    Flow::Break(Stop::Abort) // the display failed
                }
                _ => Flow::Continue(()),
            }
        }
        fn event(&mut self, event: &Event<'_>) -> Flow {
            if let Event::TooLong { .. } = event {
                let _ = self.0.write_str("[…]");
            }
            Flow::Continue(())
        }
    }

    /// Reads until `receive` returns no more bytes.
    pub(super) fn run(
        parser: &mut Reader,
        mut receive: impl FnMut(&mut [u8]) -> usize,
        display: impl Write,
    ) -> Result<End, Stop> {
        let (mut show, mut buffer) = (Show(display), [0; 256]);
        loop {
            let len = receive(&mut buffer);
            if len == 0 {
                parser.finish_into(&mut show)?;
                return Ok(parser.end());
            }
            parser.feed(buffer.get(..len).unwrap_or_default(), &mut show).into_result()?;
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::io::{Read, Write};

    struct Screen;

    impl core::fmt::Write for Screen {
        fn write_str(&mut self, text: &str) -> core::fmt::Result {
            std::io::stdout().write_all(text.as_bytes()).map_err(|_| core::fmt::Error)
        }
    }

    let mut line = std::io::stdin().lock();
    let mut reader = device::READER;
    let end = device::run(&mut reader, |buffer| line.read(buffer).unwrap_or(0), Screen)?;
    if !end.is_complete() {
        return Err(end.to_string().into());
    }
    Ok(())
}
