//! The driver, and the whole pipeline on kernels from source. Debug builds verify the kernel after every pass.

use super::{check, pass_names, up_to};
use crate::ir::{Address, BinaryOp, Compute, Kernel, Memory, MemoryOp, ObjectKind, Op, Region, Space};
use crate::pipeline::{Scheduled, compile_text};
use crate::syntax::Instance;

/// The kernel `name` of a source.
fn scheduled(source: &str, name: &str) -> Scheduled {
    match compile_text("kernel.rs", source, name, &Instance::default()) {
        Ok(lowered) => lowered.kernel,
        Err(found) => panic!("{:?}", found.iter().map(|found| &found.message).collect::<Vec<_>>()),
    }
}

/// The same with addresses.
fn addressed(source: &str, name: &str) -> Kernel {
    Kernel::clone(scheduled(source, name).legal().addressed())
}

/// How many reachable instructions are so.
fn count(kernel: &Kernel, is: impl Fn(&Kernel, &Op) -> bool) -> usize {
    let mut n = 0;
    kernel.for_each_inst(|kernel, _, inst| n += usize::from(is(kernel, &kernel.insts[inst].op)));
    n
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    let error = |name| up_to(name).err().map(|error| error.to_string());
    assert_eq!(error("flod").as_deref(), Some("no pass is called `flod`; did you mean `fold`?"));
    assert!(error("mem2reg").is_some_and(|error| error.contains("choose one of fold, ")));
    assert!(error("fold.9").is_some());
    assert!(error("fold.0").is_some());
    assert_eq!(error("fold"), None);
    assert_eq!(pass_names().first(), Some(&"fold"));
}

#[test]
fn the_second_run_of_a_pass_can_be_named() {
    let (optimize, address) = up_to("cse.2").expect("there is a second one");
    assert_eq!(optimize.iter().filter(|pass| pass.name == "cse").count(), 2);
    assert_eq!(optimize.last().map(|pass| pass.name), Some("cse"));
    assert!(address.is_empty());
    let (optimize, address) = up_to("induction").expect("it is for PTX");
    assert_eq!((optimize.len(), address.last().map(|pass| pass.name)), (super::OPTIMIZE.len(), Some("induction")));
}

const SAXPY: &str = "#[kernel(block = 256)] fn saxpy(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() { y[i] = a * x[i] + y[i]; }
}";

#[test]
fn saxpy_is_as_short_as_by_hand() {
    let kernel = addressed(SAXPY, "saxpy");
    let body = check::body(&kernel);
    let expected = "  v0: ptr.param = address m0
  v1: f32 \"a\" = load_at m0, v0
  v2: u32 = block_idx.x
  v3: u32 = const 256
  v4: u32 = thread_idx.x
  v5: u32 = mul v2, v3
  v6: u32 \"i\" = add v5, v4
  v7: u32 = len m2
  v8: bool = lt v6, v7
  if v8 {
    v9: ptr.global = address m1
    v10: u64 = cast v6
    v11: u64 = const 4
    v12: u64 = mul v10, v11
    v13: ptr.global = offset v9, v12
    v14: f32 = load_at m1, v13
    v15: ptr.global = address m2
    v16: ptr.global = offset v15, v12
    v17: f32 = load_at m2, v16
    v18: f32 = mul_add v1, v14, v17
    store_at m2, v16, v18
    yield
  }
  return
";
    assert!(body == expected, "{body}");
}

const MATMUL: &str = "#[kernel(block = (16, 16))] fn matmul(a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>, n: usize) {
    #[shared] let mut s: [[f32; 16]; 16];
    #[shared] let mut t: [[f32; 16]; 16];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (row, col) = (block_idx().y * 16 + ty, block_idx().x * 16 + tx);
    let mut acc = 0.0;
    for m in 0..n / 16 {
        s[ty][tx] = a[row * n + m * 16 + tx];
        t[ty][tx] = b[(m * 16 + ty) * n + col];
        sync_threads();
        for k in 0..16 { acc += s[ty][k] * t[k][tx]; }
        sync_threads();
    }
    c[row * n + col] = acc;
}";

#[test]
fn a_tiled_matmul_computes_in_its_inner_loop_what_varies_there() {
    let kernel = addressed(MATMUL, "matmul");
    let mut inner = None;
    kernel.for_each_inst(|kernel, _, inst| {
        if let Op::Region(Region::For { body, .. }) = kernel.insts[inst].op {
            inner = Some(body);
        }
    });
    let ops: Vec<&Op> = kernel.blocks[inner.unwrap()].insts.iter().map(|inst| &kernel.insts[*inst].op).collect();
    // Two loads, one fused multiply-add, the next two pointers, the yield.
    assert_eq!(ops.len(), 6, "{ops:?}");
    assert_eq!(ops.iter().filter(|op| matches!(op, Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { .. } }))).count(), 2);
    assert_eq!(ops.iter().filter(|op| matches!(op, Op::Compute(Compute::MulAdd(..)))).count(), 1);
}

const STENCIL: &str = "#[kernel(block = (32, 8))] fn stencil(x: &Global<f32>, y: &mut Global<f32>, w: usize, h: usize) {
    let g = global_id();
    if g.x == 0 || g.y == 0 || g.x + 1 >= w || g.y + 1 >= h { return; }
    let i = g.y * w + g.x;
    let mut near = [0.0f32; 4];
    near[0] = x[i - 1];
    near[1] = x[i + 1];
    near[2] = x[i - w];
    near[3] = x[i + w];
    y[i] = x[i] + 0.25 * (near[0] + near[1] + near[2] + near[3] - 4.0 * x[i]) + (i % 7) as f32;
}";

#[test]
fn a_stencil_has_neither_local_memory_nor_division_and_shares_its_row() {
    let kernel = addressed(STENCIL, "stencil");
    let is_local = |kernel: &Kernel, op: &Op| match op {
        Op::Memory(Memory { op: MemoryOp::Load | MemoryOp::Store(_), at: Address::Pointer { object, .. } }) => {
            kernel.objects[*object].space() == Space::Local
        }
        _ => false,
    };
    assert_eq!(count(&kernel, is_local), 0);
    assert!(kernel.objects.values().all(|object| object.kind != ObjectKind::Local));
    assert_eq!(count(&kernel, |_, op| matches!(op, Op::Compute(Compute::Binary(BinaryOp::Div | BinaryOp::Rem, ..)))), 0);
    // One for the row of x, two for the rows above and below, one for y.
    let pointers = count(&kernel, |kernel, op| matches!(op, Op::Compute(Compute::Offset(ptr, _)) if kernel.ty(*ptr).bits() == 64));
    assert_eq!(pointers, 4, "{kernel}");
    assert_eq!(
        count(&kernel, |_, op| matches!(op, Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { offset: 4 | -4, .. } }))),
        2
    );
}

#[test]
fn a_match_on_an_enum_leaves_no_branch() {
    let source = "#[derive(Clone, Copy)] enum Kind { A, B = 5, C }
        #[device] fn pick(k: Kind, x: i32) -> i32 { match (k, x) { (Kind::A, 0..=3) => 1, (Kind::C, 1 | 2) => 7, _ => -1 } }
        #[kernel] fn shapes(y: &mut Global<i32>) {
            let i = global_id().x;
            let k = if i > 3 { Kind::A } else { Kind::C };
            y[i] = pick(k, i as i32) + matches!(k, Kind::B) as i32;
        }";
    let scheduled = scheduled(source, "shapes");
    let kernel = scheduled.legal();
    assert_eq!(count(kernel, |_, op| matches!(op, Op::Region(Region::If { .. } | Region::Block { .. }))), 0, "{kernel}");
}

#[test]
fn annotated_and_empty_kernels_pass_through() {
    let kernel = addressed("#[kernel] fn nothing(y: &mut Global<i32>) { let x = y.len(); }", "nothing");
    assert_eq!(count(&kernel, |_, _| true), 1);
    assert!(kernel.objects.values().all(|object| object.kind != ObjectKind::Local));
}

#[test]
fn passes_stay_linear_in_long_straight_code() {
    let lines: String = (0..2000).map(|n| format!("s += x[i + {n}] * {n}.5; ")).collect();
    let source =
        format!("#[kernel] fn long(x: &Global<f32>, y: &mut Global<f32>) {{ let i = global_id().x; let mut s = 0.0; {lines} y[i] = s; }}");
    let kernel = addressed(&source, "long");
    assert_eq!(count(&kernel, |_, op| matches!(op, Op::Compute(Compute::MulAdd(..)))), 2000);
    // All loads are through one pointer but the first.
    assert!(count(&kernel, |_, op| matches!(op, Op::Compute(Compute::Offset(..)))) <= 3);
}
