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

/// Registers are worth moving here: two warpgroups work, alone on their multiprocessor.
const PRODUCED: &str = "#[kernel(block = 256, min_blocks = 1)] fn k(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let mut sum = 0.0;
    #[pipeline(stages = 2, producer)]
    for i in 0..8 {
        load_run(&mut run, x, i * 256);
        sync_threads();
        sum += run[255 - thread_idx().x];
        sync_threads();
    }
    y[thread_idx().x] = sum;
}";

#[test]
fn a_kernel_is_compiled_for_a_variant_where_it_needs_one() {
    let on = |source: &str, name: &str| {
        let lowered = compile_text("k.rs", source, "k", &Instance::default()).expect("it compiles");
        lowered.kernel.target_on(Target::find(name).expect(name)).name
    };
    for name in ["sm_80", "sm_90", "sm_100"] {
        assert_eq!(on(SOURCE, name), name);
    }
    assert_eq!(["sm_80", "sm_90", "sm_100"].map(|name| on(PRODUCED, name)), ["sm_80", "sm_90a", "sm_100"]);
    // Where several blocks may be resident, and where the source says how many registers there are, none move.
    for argument in [", min_blocks = 2", ", max_registers = 64", ""] {
        let source = PRODUCED.replace(", min_blocks = 1", argument);
        assert_eq!(on(&source, "sm_90"), "sm_90", "{argument}");
    }
    // One warpgroup has all registers that a thread can have.
    assert_eq!(on(&PRODUCED.replace("block = 256", "block = 128"), "sm_90"), "sm_90");
}
