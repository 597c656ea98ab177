//! The text form of the IR, byte by byte: what the command, the macro and the runtime do with it never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warpwright_tests::front_end::Spoilt;
use warpwright_tests::front_end::exercise::{Reached, exercise};

fuzz_target!(|text: &str| {
    let cost = exercise(&Spoilt::Ir(text.to_owned()), true, &mut Reached::default());
    assert!(cost.panic.is_none(), "{:?}", cost.panic);
});
