//! `deltawire convert`: writes the response as a stream of another protocol, as it arrives.

use super::push::{print, Checked, Printer};
use crate::options;
use crate::output::complain;
use crate::report::{count, Failure, TRUNCATED};
use deltawire::write::{Head, Out, Translator, WriteError};
use deltawire::{Event, Flow, Handler, Update};

/// How many bytes the output is written in, and how many the translator keeps at first. Both grow.
const ROOM: usize = 16 * 1024;

struct Converting {
    out: Checked,
    room: Vec<u8>,
    translator: Translator<Vec<u8>>,
}

pub fn run(options: &options::Convert) -> Result<u8, Failure> {
    let to = options.to.protocol();
    let translator = Translator::new(to, &Head::new("", "", 0).with_usage(), vec![0; ROOM]);
    let translator = translator.map_err(|error| Failure::Write(std::io::Error::other(error)))?;
    let mut converting = Converting { out: Checked::new(), room: vec![0; ROOM], translator };
    let status = print(&options.reading, &options.meaning, &mut converting)?;
    let _ = converting.write(|translator, out| translator.end(out, status == 0));
    let _ = converting.out.flush();
    converting.out.check()?;
    converting.out.report_lost();
    let (without_place, lost) = converting.translator.left_out();
    if without_place > 0 {
        complain(format_args!("{} left out, for which {to} has no place", count(without_place, "update")));
    }
    Ok(if status == 0 && lost > 0 { TRUNCATED } else { status })
}

impl Converting {
    /// Calls the translator until all that it writes is in the output.
    fn write(&mut self, write: impl Fn(&mut Translator<Vec<u8>>, &mut Out<'_>) -> Result<(), WriteError>) -> Flow {
        loop {
            let (mut out, mut flow) = (Out::new(&mut self.room), Flow::Continue(()));
            let translator = &mut self.translator;
            let result =
                out.send(|out| write(translator, out), |bytes| flow = self.out.write(|out| out.write_all(bytes)));
            flow?;
            match result {
                Err(WriteError::NeedRoom { need }) => self.room.resize(need, 0),
                Err(WriteError::NeedMemory { need }) => {
                    self.translator.writer_mut().memory_mut().resize(need.saturating_mul(2), 0);
                }
                Ok(()) | Err(WriteError::NoPlace) => return Flow::Continue(()),
                Err(error) => {
                    self.out.lose(format_args!("left out: {error}"), "");
                    return Flow::Continue(());
                }
            }
        }
    }
}

impl Handler for Converting {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        match event {
            Event::Chunk(chunk) => self.write(|translator, out| translator.chunk(out, chunk)),
            Event::Malformed(malformed) => {
                self.out.note(malformed.fault());
                Flow::Continue(())
            }
            _ => Flow::Continue(()),
        }
    }

    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        self.write(|translator, out| translator.put(out, choice, &update))
    }
}

impl Printer for Converting {
    fn output(&mut self) -> &mut Checked {
        &mut self.out
    }
}
