//! All contenders.

use super::contender::{Contender, C_CALLBACKS, PULL, PULL_GENERIC};
#[cfg(feature = "peers")]
use super::{adapted, serde_cow, serde_structs, tape};
use super::{bounds, native, own, records};

/// Room for an event of ordinary length that a slice cuts.
const ROOM: usize = 32 * 1024;
/// Room for events of up to 1 MB.
const LARGE_ROOM: usize = 2 << 20;

/// Returns all contenders that run in this process, this library first.
pub fn all() -> Vec<Box<dyn Contender>> {
    let mut all: Vec<Box<dyn Contender>> = vec![
        Box::new(own::Pull::<_, 2>::new(PULL, [0; ROOM])),
        Box::new(own::Pull::<_, 0>::new(PULL_GENERIC, [0; ROOM])),
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

/// Returns the contenders for the protocol, other than chat completions, of the input with this name.
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

/// Returns the contender that reads only usage, and those that read all of a stream.
pub fn all_observing() -> Vec<Box<dyn Contender>> {
    vec![
        Box::new(own::Pull::<_, 2>::new(PULL, [0; ROOM])),
        Box::new(own::Push::new([0; ROOM])),
        Box::new(own::Metered::new([0; ROOM])),
    ]
}

/// Returns the adapter, and what it is compared with.
#[cfg(feature = "peers")]
pub fn all_adapting() -> Vec<Box<dyn Contender>> {
    vec![
        Box::new(own::Pull::<_, 2>::new(PULL, [0; ROOM])),
        Box::new(adapted::Adapted),
        Box::new(serde_structs::SerdeStructs),
    ]
}

/// Returns a contender by its name.
///
/// # Panics
///
/// If this build does not have it.
pub fn named(mut all: Vec<Box<dyn Contender>>, name: &str) -> Box<dyn Contender> {
    let at = all.iter().position(|contender| contender.name() == name);
    all.swap_remove(at.unwrap_or_else(|| panic!("{name} is not here")))
}

/// Returns the contender that assembles a message in C, if it was built. It finds the texts of the stream, but not the
/// parts in which they came, so it is not compared with the others.
pub fn messages() -> Vec<Box<dyn Contender>> {
    native::messages(ROOM)
}

/// Returns the contenders for long events, with room for these.
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
