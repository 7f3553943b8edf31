//! Prints the stream that an input of the target `memo` stands for.
fn main() {
    let data = std::fs::read(std::env::args().nth(1).expect("an input")).expect("it can be read");
    let (_, bytes, _) = deltawire_fuzz::memo::decode(&data);
    println!("{}", deltawire_fuzz::log::escaped(&bytes));
}
