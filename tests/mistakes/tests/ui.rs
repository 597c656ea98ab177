//! What `rustc` shows for kernels that are wrong: one file of `ui/` for each class of mistake, the expected output beside it.
//!
//! `TRYBUILD=overwrite cargo test -p warpwright-mistakes` writes the expectations anew; read what it wrote.

#[test]
fn mistakes_are_reported_as_expected() {
    let blesses = std::env::var("TRYBUILD").is_ok_and(|mode| mode == "overwrite");
    assert!(!(blesses && std::env::var_os("CI").is_some()), "expectations are not written under CI");
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}
