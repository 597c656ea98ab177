//! The wait stands before all that needs it and no earlier, on every way through a kernel; the next is admitted behind the last load, once, or before the rounds of a persistent kernel.

use crate::intrinsics::called::{ADMIT_NEXT, AWAIT_EARLIER};
use crate::ir::{Block, Engine, Inst, Kernel, Memory, MemoryOp, Message, ObjectKind, Op, Region, Terminator, TextureOp};
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

/// Where the two stand in the body, each once, and how many instructions that has. They are where they are to be.
fn places(kernel: &Kernel) -> (usize, usize, usize) {
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
    assert!(body[admit..].iter().all(|inst| !loads(kernel, *inst)), "a load is behind:\n{kernel:#}");
    assert!(admit == wait + 1 || loads(kernel, body[admit - 1]), "the next is admitted too late:\n{kernel:#}");
    (wait, admit, body.len())
}

/// How a block was left.
enum Exit {
    Yield,
    Break(Inst),
    Continue(Inst),
    End,
}

/// A thread on some way through a kernel.
struct Walk<'k> {
    kernel: &'k Kernel,
    random: u64,
    has_waited: bool,
    left: usize,
}

impl Walk<'_> {
    fn below(&mut self, n: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % n
    }

    fn block(&mut self, block: Block) -> Exit {
        for inst in self.kernel.blocks[block].insts.clone() {
            let kernel = self.kernel;
            self.left = self.left.saturating_sub(1);
            self.has_waited |= is_call(kernel, inst, AWAIT_EARLIER);
            let exit = match &kernel.insts[inst].op {
                Op::Region(Region::If { then_block, else_block, .. }) => {
                    let block = [*then_block, *else_block][self.below(2) as usize];
                    self.block(block)
                }
                Op::Region(Region::Block { body }) => self.block(*body),
                Op::Region(Region::For { body, .. }) => {
                    let turns = self.below(3);
                    self.turns(*body, inst, turns)
                }
                Op::Region(Region::Loop { body, .. }) => self.turns(*body, inst, u64::MAX),
                Op::Terminator(Terminator::Yield(_)) => return Exit::Yield,
                Op::Terminator(Terminator::Break(from, _)) => return Exit::Break(*from),
                Op::Terminator(Terminator::Continue(from, _)) => return Exit::Continue(*from),
                Op::Terminator(Terminator::Trap(_)) => return Exit::End,
                _ => {
                    assert!(
                        self.has_waited || !needs_wait(kernel, inst),
                        "this has not been waited for:\n{:?}\n{kernel:#}",
                        kernel.insts[inst].op
                    );
                    if matches!(kernel.insts[inst].op, Op::Terminator(Terminator::Return)) {
                        return Exit::End;
                    }
                    continue;
                }
            };
            match exit {
                Exit::Yield => {}
                Exit::Break(from) if from == inst => {}
                other => return other,
            }
        }
        panic!("a block without an end:\n{:#}", self.kernel)
    }

    /// So many turns of a loop, or until it is left.
    fn turns(&mut self, body: Block, inst: Inst, turns: u64) -> Exit {
        for _ in 0..turns {
            if self.left == 0 {
                return Exit::End;
            }
            match self.block(body) {
                Exit::Yield => {}
                Exit::Continue(from) if from == inst => {}
                other => return other,
            }
        }
        Exit::Yield
    }
}

/// Walks through a kernel by 200 ways, none of which comes to an access or to the kernel's end before it has waited.
fn walks(kernel: &Kernel) {
    (0..200).for_each(|random| {
        Walk { kernel, random, has_waited: false, left: 2000 }.block(kernel.body);
    });
}

/// A wait is no earlier than it has to be: what stands behind it needs it, or it is the last of its block. No loop has one but that over the rounds.
fn waits_late(kernel: &Kernel, loops: usize) {
    let is_wait = |inst: &Inst| is_call(kernel, *inst, AWAIT_EARLIER);
    let all: Vec<Inst> = kernel.insts_in(kernel.body).collect();
    let blocks = std::iter::once(kernel.body).chain(all.iter().flat_map(|inst| kernel.insts[*inst].op.blocks()));
    for block in blocks {
        let insts = &kernel.blocks[block].insts;
        for at in (0..insts.len()).filter(|at| is_wait(&insts[*at])) {
            let behind_rounds = at > 0 && kernel.insts[insts[at - 1]].op.is_loop();
            let next = insts[at + 1..].iter().find(|inst| !is_call(kernel, **inst, ADMIT_NEXT)).expect("an end");
            let is_end = matches!(kernel.insts[*next].op, Op::Terminator(_));
            assert!(behind_rounds || is_end || needs_wait(kernel, *next), "the wait is too early:\n{kernel:#}");
        }
    }
    let with_wait = |inst: &&Inst| {
        kernel.insts[**inst].op.is_loop()
            && kernel.insts[**inst].op.blocks().into_iter().any(|block| kernel.insts_in(block).any(|inst| is_wait(&inst)))
    };
    assert_eq!(all.iter().filter(with_wait).count(), loops, "{kernel:#}");
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
    "(n: usize, y: &mut Global<u32>) { let i = global_id().x; 'a: { for k in 0..n { if k * k == i { break 'a; } } y[i] = 1; } y[i + 1] = 2; }",
];

#[test]
fn the_wait_is_before_all_accesses_and_the_next_behind_all_loads() {
    for rest in KERNELS {
        for arguments in ["", ", raster(rows = 4)"] {
            let kernel = placed(arguments, rest);
            places(&kernel);
            walks(&kernel);
            waits_late(&kernel, 0);
        }
    }
}

#[test]
fn persistent_kernels_wait_in_their_rounds_and_behind_them() {
    for rest in KERNELS.iter().filter(|rest| !rest.contains("load_run")) {
        let kernel = placed(", persistent", rest);
        walks(&kernel);
        let body = &kernel.blocks[kernel.body].insts;
        let rounds = body.iter().position(|inst| kernel.insts[*inst].op.is_loop()).expect("the rounds");
        let is = |at: usize, name: &str| is_call(&kernel, body[at], name);
        let needs_it = needs_wait(&kernel, body[rounds]);
        waits_late(&kernel, usize::from(needs_it));
        // Rounds that access nothing have no `return` left, and both stand behind them.
        assert!(
            if needs_it {
                is(rounds - 1, ADMIT_NEXT) && is(rounds + 1, AWAIT_EARLIER)
            } else {
                is(rounds + 1, ADMIT_NEXT) && is(rounds + 2, AWAIT_EARLIER)
            },
            "{kernel:#}"
        );
    }
}

/// A producer, and what the others do.
const ROLES: &str = "(n: usize, x: &Global<f32>, y: &mut Global<f32>) { #[shared] let mut s: [f32; 256]; let t = thread_idx().x; let mut sum = 0.0; \
     #[pipeline(stages = 3, by = tma, producer = true)] for c in 0..n { load_run(&mut s, x, c * 256); sync_threads(); sum += s[255 - t]; sync_threads(); } \
     y[t + 64 * block_idx().x] = sum; }";

#[test]
fn each_role_waits_by_itself() {
    for (arguments, loops) in [("", 0), (", persistent", 2)] {
        let kernel = placed(arguments, ROLES);
        walks(&kernel);
        waits_late(&kernel, loops);
        let body = &kernel.blocks[kernel.body].insts;
        let parting = body.iter().position(|inst| kernel.roles_at(*inst).is_some()).expect("roles");
        let roles = kernel.roles_at(body[parting]).expect("roles");
        let waits_in = |block: Block| kernel.insts_in(block).filter(|inst| is_call(&kernel, *inst, AWAIT_EARLIER)).count();
        let of_each = if loops == 0 { 1 } else { 2 };
        assert_eq!([roles.producer, roles.work].map(waits_in), [of_each; 2], "{kernel:#}");
        assert_eq!(waits_in(kernel.body), 2 * of_each, "{kernel:#}");
        let admits = body.iter().position(|inst| is_call(&kernel, *inst, ADMIT_NEXT)).expect("it admits");
        assert_eq!(admits < parting, loops > 0, "{kernel:#}");
    }
}

#[test]
fn what_needs_no_earlier_kernel_is_before_the_wait() {
    let body = |kernel: &Kernel, range: std::ops::Range<usize>| -> Vec<Op> {
        kernel.blocks[kernel.body].insts[range].iter().map(|inst| kernel.insts[*inst].op.clone()).collect()
    };
    // A shared array is filled, and all threads have come to the barrier.
    let filled = placed("", KERNELS[13]);
    let (wait, admit, all) = places(&filled);
    let before = body(&filled, 0..wait);
    assert!(before.iter().any(|op| matches!(op, Op::Memory(Memory { op: MemoryOp::Store(_), .. }))), "{filled:#}");
    assert!(before.iter().any(|op| matches!(op, Op::Intrinsic(..))), "{filled:#}");
    assert!(body(&filled, admit..all).iter().any(|op| matches!(op, Op::Memory(Memory { op: MemoryOp::Store(_), .. }))), "{filled:#}");
    // The engine's barriers are made.
    let ring = placed("", KERNELS[14]);
    let (wait, ..) = places(&ring);
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
        places(&placed_on(&source(", overlap"), name).expect("it has the wait"));
    }
    for arguments in ["", ", overlap = false", ", overlap = 1 > 2"] {
        assert!(placed_on(&source(arguments), "sm_90").is_none(), "{arguments}");
    }
    let lowered = compile_text("kernel.rs", &source(", overlap"), "k", &Instance::default()).unwrap_or_else(|_| panic!("it compiles"));
    let overlaps = |name| overlaps_on(lowered.kernel.legal(), target(name));
    assert!(overlaps("sm_90") && overlaps("sm_103") && !overlaps("sm_89"));
}
