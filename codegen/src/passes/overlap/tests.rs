//! The wait stands before all that needs it and no earlier, on every way through a kernel; the next is admitted behind the last load, once.

use crate::intrinsics::called::{ADMIT_NEXT, AWAIT_EARLIER};
use crate::ir::{Engine, Inst, Kernel, Memory, MemoryOp, Message, ObjectKind, Op, Terminator, TextureOp};
use crate::passes::{overlaps_on, place_on};
use crate::pipeline::compile_text;
use crate::syntax::Instance;
use crate::target::Target;

fn target(name: &str) -> &'static Target {
    Target::find(name).unwrap_or_else(|error| panic!("{error}"))
}

/// A kernel as its PTX is made of it, if a pass has something to do for the target.
fn placed_on(source: &str, name: &str) -> Option<Kernel> {
    let lowered = compile_text("kernel.rs", source, "k", &Instance::default());
    let lowered = lowered.unwrap_or_else(|found| panic!("{source}: {:?}", found.iter().map(|found| &found.message).collect::<Vec<_>>()));
    place_on(lowered.kernel.legal().for_target(target(name)).addressed(), target(name))
}

fn placed(arguments: &str, rest: &str) -> Kernel {
    placed_on(&format!("#[kernel(block = 64, overlap{arguments})] fn k{rest}"), "sm_90").expect("there is something to place")
}

fn is_buffer(kernel: &Kernel, memory: &Memory) -> bool {
    matches!(kernel.objects[memory.at.object()].kind, ObjectKind::Global { .. })
}

/// An instruction with all that its blocks have.
fn all_of(kernel: &Kernel, inst: Inst) -> Vec<Op> {
    let inside = kernel.insts[inst].op.blocks().into_iter().flat_map(|block| kernel.insts_in(block));
    std::iter::once(inst).chain(inside).map(|inst| kernel.insts[inst].op.clone()).collect()
}

fn loads(kernel: &Kernel, inst: Inst) -> bool {
    all_of(kernel, inst).iter().any(|op| match op {
        Op::Memory(memory) => is_buffer(kernel, memory) && !matches!(memory.op, MemoryOp::Store(_)),
        Op::Engine(engine) => engine.copied().is_some(),
        Op::Texture(op, ..) => matches!(op, TextureOp::Fetch | TextureOp::Sample),
        _ => false,
    })
}

fn needs_wait(kernel: &Kernel, inst: Inst) -> bool {
    let needs = |op: &Op| match op {
        Op::Memory(memory) => is_buffer(kernel, memory),
        Op::Message(message) => matches!(message, Message::Print(..)),
        Op::Terminator(terminator) => matches!(terminator, Terminator::Return),
        _ => false,
    };
    loads(kernel, inst) || all_of(kernel, inst).iter().any(needs)
}

fn is_call(kernel: &Kernel, inst: Inst, name: &str) -> bool {
    matches!(&kernel.insts[inst].op, Op::Intrinsic(row, _) if row.row().name == name)
}

/// Where the two stand in the body, each once, and how many instructions that has. They are where they are to be: of a persistent kernel both before its rounds.
fn places(kernel: &Kernel, is_persistent: bool) -> (usize, usize, usize) {
    let body = &kernel.blocks[kernel.body].insts;
    let only = |name: &str| {
        let everywhere = kernel.insts_in(kernel.body).filter(|inst| is_call(kernel, *inst, name)).count();
        assert_eq!(everywhere, 1, "{name}:\n{kernel:#}");
        body.iter().position(|inst| is_call(kernel, *inst, name)).unwrap_or_else(|| panic!("{name} stands in a region:\n{kernel:#}"))
    };
    let (wait, admit) = (only(AWAIT_EARLIER), only(ADMIT_NEXT));
    assert!(wait < admit && admit + 1 < body.len(), "{kernel:#}");
    assert!(body[..wait].iter().all(|inst| !needs_wait(kernel, *inst)), "an access or a return is not behind the wait:\n{kernel:#}");
    let first = body[wait + 1..].iter().find(|inst| !is_call(kernel, **inst, ADMIT_NEXT));
    assert!(first.is_some_and(|inst| needs_wait(kernel, *inst)), "the wait is too early:\n{kernel:#}");
    if is_persistent {
        assert_eq!(admit, wait + 1, "the next is admitted too late:\n{kernel:#}");
        return (wait, admit, body.len());
    }
    assert!(body[admit..].iter().all(|inst| !loads(kernel, *inst)), "a load is behind:\n{kernel:#}");
    assert!(admit == wait + 1 || loads(kernel, body[admit - 1]), "the next is admitted too late:\n{kernel:#}");
    (wait, admit, body.len())
}

/// Every way to need the kernels before, and every shape round it.
const KERNELS: &[&str] = &[
    "(x: &Global<f32>, y: &mut Global<f32>) { let i = global_id().x; y[i] = 2.0 * x[i]; }",
    "(x: &Global<f32>, y: &mut Global<f32>) { let i = global_id().x; if i < y.len() { y[i] = x[i]; } }",
    "(n: usize, x: &Global<f32>, y: &mut Global<f32>) { let i = global_id().x; if i >= n { return; } y[i] = x[i]; }",
    "(n: usize, y: &mut Global<f32>) { if n == 3 { return; } let mut i = n; loop { i += 7; if i > 900 { return; } if i % 5 == 0 { break; } } y[i] = 1.0; }",
    "(n: usize, x: &Global<f32>, y: &mut Global<f32>) { let mut s = 0.0; for i in 0..n { s += x[i]; } y[global_id().x] = s; }",
    "(n: usize, x: &Global<f32>, y: &mut Global<f32>) { let mut i = 0; while i < n { y[i] = x[i]; if x[i] < 0.0 { break; } i += 1; } }",
    "(y: &mut Global<u32>) { y[global_id().x] = 7; }",
    "(y: &mut Global<u32>) { y.atomic_add(0, 1); }",
    "(y: &mut Global<u32>) { let a = y.atomic_add(0, 1); y[a as usize + 1] = 3; }",
    "(n: usize, y: &mut Global<u32>) { if n > 3 { y[0] = 1; } else { y[1] = 2; } }",
    "(n: usize) { let _ = n; }",
    "(n: usize) { if n == 4 { println!(\"four\"); } }",
    "(n: f32, t: &Texture2d<f32>, y: &mut Global<f32>) { let i = global_id().x; if i < t.width() { y[i] = n * t.fetch(i as i32, 0); } }",
    "(n: usize, x: &Global<f32>, y: &mut Global<f32>) { #[shared] let mut s: [f32; 64]; let t = thread_idx().x; s[t] = 0.0; sync_threads(); \
     for i in 0..n { s[t] += x[i * 64 + t]; } sync_threads(); y[t] = s[63 - t]; }",
    "(n: usize, x: &Global<f32>, y: &mut Global<f32>) { #[shared] let mut s: [f32; 256]; let t = thread_idx().x; let mut sum = 0.0; \
     #[pipeline(stages = 3)] for c in 0..n { load_run(&mut s, x, c * 256); sync_threads(); sum += s[255 - t]; sync_threads(); } y[t] = sum; }",
    "(n: usize, x: &Global<f32>, y: &mut Global<f32>) { #[shared] let mut s: [f32; 64]; let t = thread_idx().x; let mut sum = 0.0; \
     #[pipeline(stages = 2)] for c in 0..n { s[t] = x[c * 64 + t]; sync_threads(); sum += s[63 - t]; sync_threads(); } y[t] = sum; }",
];

#[test]
fn the_wait_is_before_all_accesses_and_the_next_behind_all_loads() {
    for rest in KERNELS {
        places(&placed("", rest), false);
        places(&placed(", raster(rows = 4)", rest), false);
    }
}

#[test]
fn persistent_kernels_wait_once() {
    for rest in KERNELS.iter().filter(|rest| !rest.contains("load_run")) {
        let kernel = placed(", persistent", rest);
        let (wait, ..) = places(&kernel, true);
        // Rounds that access nothing have no `return` left, and both stand behind them.
        let body = &kernel.blocks[kernel.body].insts;
        let rounds = body.iter().position(|inst| kernel.insts[*inst].op.is_loop()).expect("the rounds");
        assert_eq!(wait < rounds, needs_wait(&kernel, body[rounds]), "{kernel:#}");
    }
}

#[test]
fn what_needs_no_earlier_kernel_is_before_the_wait() {
    let body = |kernel: &Kernel, range: std::ops::Range<usize>| -> Vec<Op> {
        kernel.blocks[kernel.body].insts[range].iter().map(|inst| kernel.insts[*inst].op.clone()).collect()
    };
    // A shared array is filled, and all threads have come to the barrier.
    let filled = placed("", KERNELS[13]);
    let (wait, admit, all) = places(&filled, false);
    let before = body(&filled, 0..wait);
    assert!(before.iter().any(|op| matches!(op, Op::Memory(Memory { op: MemoryOp::Store(_), .. }))), "{filled:#}");
    assert!(before.iter().any(|op| matches!(op, Op::Intrinsic(..))), "{filled:#}");
    assert!(body(&filled, admit..all).iter().any(|op| matches!(op, Op::Memory(Memory { op: MemoryOp::Store(_), .. }))), "{filled:#}");
    // The engine's barriers are made.
    let ring = placed("", KERNELS[14]);
    let (wait, ..) = places(&ring, false);
    let makes = |inst: &Inst| all_of(&ring, *inst).iter().any(|op| matches!(op, Op::Engine(Engine::Init { .. })));
    assert!(ring.blocks[ring.body].insts[..wait].iter().any(makes), "{ring:#}");
}

#[test]
fn other_targets_and_other_kernels_have_nothing_of_it() {
    let source = |arguments: &str| format!("#[kernel(block = 64{arguments})] fn k{}", KERNELS[0]);
    for name in ["sm_50", "sm_75", "sm_80", "sm_89"] {
        assert!(placed_on(&source(", overlap"), name).is_none(), "{name}");
    }
    for name in ["sm_90", "sm_100", "sm_120"] {
        places(&placed_on(&source(", overlap"), name).expect("it has the wait"), false);
    }
    for arguments in ["", ", overlap = false", ", overlap = 1 > 2"] {
        assert!(placed_on(&source(arguments), "sm_90").is_none(), "{arguments}");
    }
    let lowered = compile_text("kernel.rs", &source(", overlap"), "k", &Instance::default()).unwrap_or_else(|_| panic!("it compiles"));
    let overlaps = |name| overlaps_on(lowered.kernel.legal(), target(name));
    assert!(overlaps("sm_90") && overlaps("sm_103") && !overlaps("sm_89"));
}
