//! All contenders.

use super::contender::{Contender, C_CALLBACKS, PULL, PULL_GENERIC};
use super::{bounds, native, own, records};
#[cfg(feature = "peers")]
use super::{serde_cow, serde_structs, tape};

/// Room for an event of ordinary length that a slice cuts.
const ROOM: usize = 32 * 1024;
/// The same for events of up to 1 MB.
const LARGE_ROOM: usize = 2 << 20;

/// All of them that run in this process, this library first.
pub fn all() -> Vec<Box<dyn Contender>> {
    let mut all: Vec<Box<dyn Contender>> = vec![
        Box::new(own::Pull::<_, 2>::new(PULL, [0; ROOM])),
        Box::new(own::Pull::<_, 0>::new(PULL_GENERIC, [0; ROOM])),
        Box::new(own::Views::new([0; ROOM])),
        Box::new(own::Push::new([0; ROOM])),
        Box::new(records::Records::new(ROOM)),
    ];
    all.extend(native::all(ROOM));
    #[cfg(feature = "peers")]
    {
        let [_, sonic] = serde_cow::Structs::of("chat");
        all.extend::<[Box<dyn Contender>; 4]>([
            Box::<tape::Tape>::default(),
            Box::new(sonic),
            Box::new(serde_cow::SseStream),
            Box::new(serde_structs::SerdeStructs),
        ]);
    }
    all.extend::<[Box<dyn Contender>; 2]>([Box::new(bounds::Newlines), Box::<bounds::Copy>::default()]);
    all
}

/// Those who read streams of another protocol than chat completions: the one of the input with this name.
pub fn all_of_protocol(input: &str) -> Vec<Box<dyn Contender>> {
    let mut all: Vec<Box<dyn Contender>> = vec![
        Box::new(own::Pull::<_, 2>::new(PULL, [0; ROOM])),
        Box::new(own::Pull::<_, 0>::new(PULL_GENERIC, [0; ROOM])),
        Box::new(own::Push::new([0; ROOM])),
    ];
    all.extend(native::all(ROOM).into_iter().filter(|native| native.name() == C_CALLBACKS));
    all.extend(native::of_protocol(input));
    #[cfg(feature = "peers")]
    for structs in serde_cow::Structs::of(input).into_iter().rev() {
        all.push(Box::new(structs));
    }
    all.push(Box::new(bounds::Newlines));
    all
}

/// Who reads usage alone, beside those who read all of a stream.
pub fn all_observing() -> Vec<Box<dyn Contender>> {
    vec![
        Box::new(own::Pull::<_, 2>::new(PULL, [0; ROOM])),
        Box::new(own::Push::new([0; ROOM])),
        Box::new(own::Observe::new([0; ROOM])),
    ]
}

/// One of them, by its name.
///
/// # Panics
///
/// If it is not here.
pub fn named(mut all: Vec<Box<dyn Contender>>, name: &str) -> Box<dyn Contender> {
    let at = all.iter().position(|contender| contender.name() == name);
    all.swap_remove(at.unwrap_or_else(|| panic!("{name} is not here")))
}

/// Who puts a message together, in C, if that was built. It finds the texts of the stream and not in which parts they
/// came, so that it is compared with nobody.
pub fn messages() -> Vec<Box<dyn Contender>> {
    native::messages(ROOM)
}

/// Those who are compared on long events, with room for them.
pub fn all_large() -> Vec<Box<dyn Contender>> {
    let room = || vec![0; LARGE_ROOM].leak();
    let mut all: Vec<Box<dyn Contender>> = vec![
        Box::new(own::Pull::<_, 2>::new(PULL, room())),
        Box::new(own::Pull::<_, 0>::new(PULL_GENERIC, room())),
        Box::new(own::Push::new(room())),
        Box::new(records::Records::new(LARGE_ROOM)),
    ];
    all.extend(native::all(LARGE_ROOM));
    #[cfg(feature = "peers")]
    all.push(Box::<tape::Tape>::default());
    all.push(Box::new(bounds::Newlines));
    all
}
