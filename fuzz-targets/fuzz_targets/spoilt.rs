//! Inputs that are made of the repository's own by a seed, as the program `front-end-fuzz` makes them; the fuzzer draws the seed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::OnceLock;
use warpwright_tests::front_end::Spoilt;
use warpwright_tests::front_end::corpus::Corpus;
use warpwright_tests::front_end::exercise::{Reached, exercise};

fuzz_target!(|seed: u64| {
    static CORPUS: OnceLock<Corpus> = OnceLock::new();
    let corpus = CORPUS.get_or_init(|| Corpus::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")));
    let cost = exercise(&Spoilt::of(seed, corpus), true, &mut Reached::default());
    assert!(cost.panic.is_none(), "{:?}", cost.panic);
});
