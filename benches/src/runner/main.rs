//! Runs all contenders in turn, round after round, and computes medians, and ratios within the run. Prints Markdown, or
//! writes it to `docs/benchmarks.md`, with its pictures beside it. `scripts/bench.sh` builds the other programs and
//! says where they are.
//!
//! - `--rounds N` (15); `--bytes N` of each input (4,000,000)
//! - `--input NAME`, `--slice BYTES` (or `whole`), `--only PART-OF-NAME`: run only these
//! - `--protocols`: protocols other than chat completions
//! - `--meter`: a meter, beside a full reading
//! - `--adapters`: owned deltas of a `Stream`, beside pull
//! - `--gateway`: many streams in turn
//! - `--writing`: deltas that are written, beside serde_json
//! - `--sdk NAME=COMMAND`: a vendor's SDK, beside this library
//! - `--go PROGRAM`, `--portable PROGRAM`: contenders that are separate programs
//! - `--write FOLDER`: writes the document and its pictures

mod gateway;
mod measure;
mod options;
mod plot;
mod report;
mod targets;
mod writing;

use deltawire_benches::contenders;
use deltawire_benches::contenders::child::Program;
use deltawire_benches::contenders::{BATCH, C_BATCH, C_CALLBACKS, GO, GO_JSON, NEWLINES, PORTABLE};
use deltawire_benches::contenders::{PULL, PULL_GENERIC, PUSH, SIMDJSON};
use deltawire_benches::{agree, all, all_large, real, Contender, Input, Kind, METERED, PROTOCOLS, SHAPES, SLICES};
use measure::{Counting, Results, Run, Sizes};
use options::Options;
use std::path::{Path, PathBuf};

#[global_allocator]
static COUNTING: Counting = Counting;

/// Starts a separate program, which finds its inputs in the folder.
fn program(name: &'static str, kind: Kind, command: &[&str], folder: &Path) -> Program {
    let command: Vec<String> = command.iter().map(|word| (*word).to_string()).collect();
    let program = Program::start(name, kind, &command, folder);
    program.unwrap_or_else(|error| panic!("{}: {error}", command[0]))
}

fn start(name: &'static str, kind: Kind, command: &[&str], folder: &Path) -> Box<dyn Contender> {
    Box::new(program(name, kind, command, folder))
}

/// Returns the contenders of this process, and the programs.
fn everyone(options: &Options, folder: &Path) -> Vec<Box<dyn Contender>> {
    let mut all = all();
    if let Some(program) = &options.portable {
        all.push(start(PORTABLE, Kind::Own, &[program, "serve"], folder));
    }
    if let Some(program) = &options.go {
        all.push(start(GO, Kind::Own, &[program, "deltawire"], folder));
        all.push(start(GO_JSON, Kind::Peer, &[program, "json"], folder));
    }
    all.retain(|contender| options.only.as_deref().is_none_or(|part| contender.name().contains(part)));
    all
}

fn inputs(options: &Options) -> (Vec<Input>, Option<usize>) {
    let wanted = |shape: &str| options.input.as_deref().is_none_or(|name| name == shape);
    let mut inputs: Vec<Input> =
        SHAPES.iter().filter(|shape| wanted(shape)).map(|shape| Input::new(shape, options.bytes)).collect();
    let mut left_out = None;
    if wanted("real") {
        if let Some(corpus) = std::env::var_os("DELTAWIRE_CORPUS") {
            let (real, others) = real::real(Path::new(&corpus)).expect("DELTAWIRE_CORPUS names recorded streams");
            inputs.push(real);
            left_out = Some(others);
        }
    }
    assert!(!inputs.is_empty(), "no such input; there are {SHAPES:?}, and real with DELTAWIRE_CORPUS");
    (inputs, left_out)
}

/// Measures streams of other protocols, each by the contenders that read it; or streams that are read only for their
/// usage; or streams that the vendors' SDKs read.
fn protocols(options: &Options) {
    let wanted = |shape: &&str| options.input.as_deref().is_none_or(|name| name == *shape);
    let shapes = match options {
        Options { meter: true, .. } => METERED.to_vec(),
        Options { adapters: true, .. } => vec!["content", "tools"],
        Options { sdks, .. } if sdks.is_empty() => PROTOCOLS.to_vec(),
        _ => ["content", "tools"].into_iter().chain(PROTOCOLS).collect(),
    };
    let inputs: Vec<Input> = shapes.into_iter().filter(wanted).map(|shape| Input::new(shape, options.bytes)).collect();
    let folder = Folder::new();
    let sizes = options.slice.map_or(vec![16384, 1448], |slice| vec![slice]);
    let mut results = Results::default();
    for &slice in &sizes {
        for input in &inputs {
            eprintln!("{}, slices of {}", input.name, measure::slice(slice));
            let mut all = match options {
                Options { meter: true, .. } => contenders::all_observing(),
                Options { adapters: true, .. } => contenders::all_adapting(),
                _ if PROTOCOLS.contains(&&*input.name) => contenders::all_of_protocol(&input.name),
                _ => all(),
            };
            if !options.sdks.is_empty() {
                all.retain(|contender| [PULL, PUSH, C_CALLBACKS, SIMDJSON].contains(&contender.name()));
            }
            if !options.meter && !options.adapters {
                all.extend(options.go.iter().map(|program| start(GO, Kind::Own, &[program, "deltawire"], &folder.0)));
            }
            all.extend(options.sdks.iter().map(|(name, command)| {
                let words: Vec<&str> = command.split(' ').collect();
                start(name.clone().leak(), Kind::Peer, &words, &folder.0)
            }));
            all.retain(|contender| options.only.as_deref().is_none_or(|part| contender.name().contains(part)));
            agree(&mut all, input, slice);
            results.runs.push(Run::new(&mut all, input, slice, options.rounds));
        }
    }
    println!("{}", report::about(options, &inputs, None));
    let tables = if options.sdks.is_empty() { report::slices } else { report::sdks };
    sizes.into_iter().for_each(|slice| println!("{}", tables(&results, slice)));
}

/// Prints the tables of many streams at once; with some interfaces only, the table of the interfaces.
fn many(options: &Options, turns: usize, folder: &Path) -> (Vec<gateway::Row>, String) {
    eprintln!("a gateway");
    let input = gateway::input();
    let part = options.only.as_deref().unwrap_or_default();
    let rows = if part.is_empty() { gateway::rows(&input, turns) } else { Vec::new() };
    let mut go = options.go.as_ref().map(|go| program(GO, Kind::Own, &[go, "deltawire"], folder));
    let ways = gateway::ways(&input, turns, part, go.as_mut());
    let tables = report::gateway(&rows) + &report::ways(&ways);
    (rows, tables)
}

/// The folder of the programs' inputs, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("deltawire-benches-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("there is room for the inputs");
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Writes the text between the marks of a file.
fn replace(path: &Path, text: &str) {
    const MARKS: [&str; 2] = ["<!-- measured: begin -->\n", "<!-- measured: end -->"];
    let old = std::fs::read_to_string(path).expect("the page is there");
    let [begin, end] = MARKS.map(|mark| old.find(mark).unwrap_or_else(|| panic!("{} has no {mark}", path.display())));
    let new = format!("{}{}\n{text}\n{}", &old[..begin], MARKS[0].trim_end(), &old[end..]);
    std::fs::write(path, new).expect("the page can be written");
}

fn main() {
    let options = Options::from_args();
    if options.protocols || options.meter || options.adapters || !options.sdks.is_empty() {
        return protocols(&options);
    }
    if options.writing {
        return println!("{}", writing::table(options.rounds));
    }
    let folder = Folder::new();
    if options.gateway {
        return println!("{}", many(&options, options.rounds, &folder.0).1);
    }
    let (inputs, left_out) = inputs(&options);
    let mut everyone = everyone(&options, &folder.0);
    // In very small slices most of the others would take most of the time, and tell little.
    let few = [PULL, PULL_GENERIC, PUSH, BATCH, C_CALLBACKS, C_BATCH, SIMDJSON, NEWLINES];
    let mut results = Results::default();
    let sizes = options.slice.map_or(SLICES.to_vec(), |slice| vec![slice]);
    for &slice in &sizes {
        let some = !matches!(slice, 16384 | 1448) && options.is_whole();
        let rounds = if some { options.rounds.div_ceil(3) } else { options.rounds };
        let mut resting = Vec::new();
        if some {
            (everyone, resting) = everyone.into_iter().partition(|one| few.contains(&one.name()));
        }
        for input in &inputs {
            eprintln!("{}, slices of {}", input.name, measure::slice(slice));
            agree(&mut everyone, input, slice);
            results.runs.push(Run::new(&mut everyone, input, slice, rounds));
        }
        everyone.append(&mut resting);
    }
    let mut out = report::about(&options, &inputs, left_out);
    if !options.is_whole() {
        for slice in sizes {
            out.push_str(&report::slices(&results, slice));
        }
        println!("{out}");
        return;
    }
    let mut pull = contenders::named(all(), PULL);
    for input in &inputs {
        eprintln!("{}, slices of all sizes", input.name);
        results.sizes.push(Sizes::new(&mut *pull, input, &SLICES, options.rounds));
    }
    let mut large = all_large();
    for slice in targets::LARGE_SLICES {
        for len in targets::LARGE {
            let input = Input::large(len, options.bytes);
            eprintln!("{}, slices of {}", input.name, measure::slice(slice));
            agree(&mut large, &input, slice);
            results.runs.push(Run::new(&mut large, &input, slice, options.rounds.div_ceil(3)));
        }
    }
    drop((everyone, large));
    let (gateway, many_tables) = many(&options, gateway::TURNS, &folder.0);

    let rows = targets::rows(&results, &gateway);
    out.push_str(
        "\n### Targets\n\nB is simdjson On-Demand on lines by memchr. Ratios are of speed unless the row says time. The input in brackets is the worst one.\n",
    );
    out.push_str(&report::targets(&rows));
    out.push_str(&report::extremes(&results));
    let pictures = [
        ("throughput.svg", plot::throughput(&results), "Throughput of all contenders"),
        ("slices.svg", plot::by_slice(&results), "Cost of an event by the size of the slices"),
        ("lengths.svg", plot::by_length(&results), "Throughput by the length of a chunk"),
    ];
    for (name, picture, what) in pictures {
        let (Some(picture), Some(docs)) = (picture, &options.write) else { continue };
        std::fs::write(docs.join(name), picture).expect("the picture can be written");
        out.push_str(&format!("\n![{what}]({name})\n"));
    }
    for slice in SLICES {
        out.push_str(&report::slices(&results, slice));
    }
    out.push_str("\n### Long content\n");
    out.push_str(&report::long(&results));
    out.push_str("\n### Many streams\n\nA parser with 512 bytes for a cut event. In turn: one event each, in an order that no prefetcher guesses.\n");
    out.push_str(&many_tables);
    match &options.write {
        Some(docs) => replace(&docs.join("benchmarks.md"), &out),
        None => println!("{out}"),
    }
    let reached = rows.iter().filter(|row| row.reached == Some(true)).count();
    println!("{reached} of {} rows are reached", rows.len());
}
