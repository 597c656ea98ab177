//! What the types of the stages promise.

use super::{Addressed, Built, Legal, Scheduled, compile_text, lower};
use crate::ir::{Kernel, Stage};
use crate::syntax::{Instance, Program, Unit};
use crate::target::Target;
use crate::text::parse_kernel;

const SOURCE: &str = "#[kernel(block = 32)] fn k(y: &mut Global<f32>) {
    #[unroll]
    for n in 0..4 { y[4 * global_id().x + n] = 1.0; }
}";

fn parsed(text: &str) -> Kernel {
    parse_kernel(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn each_stage_is_made_of_the_one_before() {
    let lowered = compile_text("k.rs", SOURCE, "k", &Instance::default()).expect("it compiles");
    let scheduled = &lowered.kernel;
    assert!(scheduled.annotations.is_empty());
    let mut timings = Vec::new();
    scheduled.make(Stage::Legal, &mut timings);
    let legal = scheduled.legal().clone();
    assert_eq!(timings.first().map(|(pass, _)| *pass), Some("fold"));
    let stages = [scheduled.stage(), legal.stage(), legal.addressed().stage()];
    assert_eq!(stages, [Stage::Scheduled, Stage::Legal, Stage::Addressed]);
    // Clones share what was made: nothing runs again.
    let before = timings.len();
    scheduled.make(Stage::Addressed, &mut timings);
    assert_eq!(timings.len(), before);
}

#[test]
fn a_pass_can_be_looked_behind() {
    let lowered = compile_text("k.rs", SOURCE, "k", &Instance::default()).expect("it compiles");
    let behind = |pass| {
        let mut timings = Vec::new();
        let kernel = lowered.kernel.after(pass, &mut timings).expect("there is such a pass");
        (kernel.stage(), timings.last().map(|(pass, _)| *pass))
    };
    assert_eq!(behind("cse.2"), (Stage::Scheduled, Some("cse")));
    assert_eq!(behind("math"), (Stage::Legal, Some("math")));
    assert_eq!(behind("address"), (Stage::Addressed, Some("address")));
}

#[test]
fn a_kernel_from_elsewhere_keeps_the_law_of_its_stage() {
    let lowered = compile_text("k.rs", SOURCE, "k", &Instance::default()).expect("it compiles");
    let text = |kernel: &Kernel| parsed(&kernel.to_string());
    let addressed = text(lowered.kernel.legal().addressed());
    assert!(Legal::verified(text(lowered.kernel.legal())).is_ok());
    assert!(Addressed::verified(addressed.clone()).is_ok());
    let violations = Legal::verified(addressed).expect_err("it has pointers");
    assert!(violations.iter().any(|violation| violation.message.contains("a pointer before addresses are made")), "{violations:?}");
    let mut program = Program::default();
    let unit = program.add(Unit::parse("k.rs", 1, 1, SOURCE).expect("it is Rust"));
    let built = lower(&program, unit, "k", &Instance::default()).expect("it compiles").kernel;
    assert!(Built::verified(text(&built)).is_ok());
    let violations = Scheduled::verified(text(&built)).expect_err("it has annotations");
    assert!(violations.iter().any(|violation| violation.message.contains("is still annotated")), "{violations:?}");
}

#[test]
fn a_kernel_is_compiled_for_a_variant_where_it_needs_one() {
    let lowered = compile_text("k.rs", SOURCE, "k", &Instance::default()).expect("it compiles");
    for name in ["sm_80", "sm_90", "sm_100"] {
        let device = Target::find(name).expect(name);
        assert_eq!(lowered.kernel.target_on(device).name, name);
    }
}
