//! Command lines, byte by byte, one word a line: the command reads them, and never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warpwright_tests::front_end::Spoilt;
use warpwright_tests::front_end::exercise::{Reached, exercise};

fuzz_target!(|text: &str| {
    let cost = exercise(&Spoilt::Command(text.to_owned()), true, &mut Reached::default());
    assert!(cost.panic.is_none(), "{:?}", cost.panic);
});
