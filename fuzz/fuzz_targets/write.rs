#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| deltawire_fuzz::write::write(data));
