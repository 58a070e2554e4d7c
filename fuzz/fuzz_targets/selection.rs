#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bsonrow_fuzz::selection::check(data));
