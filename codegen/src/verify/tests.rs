//! Each invariant, broken once.

use super::*;
use crate::ir::{Block, Compute, MemoryType, Object, Region, Scalar, Terminator, Type, Value, ValueDef};
use crate::text::parse_kernel;

/// Objects that the bodies below use.
const OBJECTS: &str = r#"struct s0 "Pair" { "a": f32, "b": [u32; 2] }
param m0 "a": value f32
param m1 "x": global [f32]
param m2 "y": global mut [f32]
param m3 "p": global mut [s0]
param m4 "c": constant [f64; 8]
object m5 "tile": shared [[f32; 17]; 16]
object m6 "tmp": local [i32; 4]
object m7 "counts": shared [u32; 4]
object m8 "halves": shared [u16; 4]
object m9 "lut": table [f32; 2] = 1.0, 2.0
"#;

/// Values that the bodies below use.
const VALUES: &str = "  v0: u32 = thread_idx.x
  v1: f32 = const 1.5
  v2: i32 = const -1
  v3: bool = const true
  v4: f64 = const 0.5
  v5: u64 = const 9
  v6: u16 = const 1
";

fn kernel(stage: &str, body: &str) -> Kernel {
    let text = format!("kernel \"k\" {stage}\n{OBJECTS}{{\n{VALUES}{body}\n}}\n");
    parse_kernel(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

fn complaints(kernel: &Kernel) -> Vec<String> {
    verify(kernel).err().unwrap_or_default().into_iter().map(|violation| violation.message).collect()
}

/// The body, and a return, at `stage` breaks exactly one rule.
fn check_at(stage: &str, body: &str, expected: &str) {
    let found = complaints(&kernel(stage, &format!("{body}\n  return")));
    assert_eq!(found, [expected], "{body}");
}

fn check(body: &str, expected: &str) {
    check_at("legal", body, expected);
}

#[track_caller]
fn check_good(stage: &str, body: &str) {
    let kernel = kernel(stage, body);
    assert_eq!(complaints(&kernel), Vec::<String>::new(), "{kernel}");
}

#[test]
fn lawful_kernels_pass() {
    check_good(
        "legal",
        "  v7: f32 = load m1[v0]
  v8: u32 = load m3[v0].1[v0]
  v9: f32, v10: f32 = load m5[v0][v0]
  store m2[v0], v7, v7, v7, v7
  v11: u32 = atomic add m7[v0], v0
  v12: u32 = atomic cas m7[v0], v0, v0
  v13: u32 = len m1
  v14: u32 = shl v0, v13
  v15: i64 = cast v3
  v16: bool = eq v3, v3
  v17: f32 = bitcast v0
  v18: bool = xor v3, v16
  v19: f32 = load m9[v0]
  assert v3, \"{} {:.3}\", v1, v4
  v20: f32 = if v3 {
    yield v1
  } else {
    return
  }
  v21: f32 = for i1 (v22: u32 in v0..v13 step v8; v23: f32 = v20) {
    if v3 {
      continue i1 v23
    } else {
      break i1 v1
    }
    yield v7
  }
  v24: f64 = loop i2 (v25: u32 = v0) {
    region i3 {
      if v3 {
        break i3
      }
      break i2 v4
    }
    yield v25
  }
  trap \"end\"",
    );
    check_good(
        "addressed",
        "  v7: ptr.global = address m2
  v8: ptr.global = offset v7, v5
  v9: f32, v10: f32 = load_at m2, v8 + 16
  store_at m2, v8, v9
  v11: ptr.shared = address m7
  v12: ptr.shared = offset v11, v0
  v13: u32 = atomic_at max m7, v12 + 4, v0
  v14: ptr.shared = select v3, v11, v12
  return",
    );
}

#[test]
fn operands_are_defined_where_they_are_used() {
    check("  v7: u32 = neg v8\n  v8: u32 = neg v0", "v8 is not defined here");
    check("  region i1 {\n    v7: u32 = add v0, v0\n    yield\n  }\n  v8: u32 = neg v7", "v7 is not defined here");
    check("  if v3 {\n    v7: u32 = neg v0\n    yield\n  } else {\n    v8: u32 = neg v7\n    yield\n  }", "v7 is not defined here");
    check("  v7: u32 = region i1 {\n    v8: u32 = neg v7\n    yield v8\n  }", "v7 is not defined here");
    check("  for i1 (v7: u32 in v0..v0 step v0) {\n    yield\n  }\n  v8: u32 = neg v7", "v7 is not defined here");
}

#[test]
fn blocks_end_in_their_one_terminator() {
    assert_eq!(complaints(&kernel("legal", "")), ["b0 does not end in a terminator"]);
    check("  region i1 {\n    v7: u32 = neg v0\n  }", "b1 does not end in a terminator");
    check("  region i1 {\n    yield\n    yield\n  }", "a terminator in the middle of b1");
    check("  if v3 {\n  }", "b1 does not end in a terminator");
    check("  region i1 {\n    v7: u32 = trap \"x\"\n  }", "a terminator has results");
    assert_eq!(complaints(&kernel("legal", "  yield")), ["the body yields"]);
}

#[test]
fn exits_leave_what_is_around_them() {
    check("  region i1 {\n    yield\n  }\n  region i2 {\n    break i1\n  }", "i7 is no loop or region around this");
    check("  region i1 {\n    continue i1\n  }", "i7 is no loop around this");
    check("  loop i1 () {\n    break i1\n  }\n  loop i2 () {\n    continue i1\n  }", "i7 is no loop around this");
    let mut broken = kernel("legal", "  region i1 {\n    if v3 {\n      break i1\n    }\n    yield\n  }\n  return");
    let target = broken.insts.iter().find(|(_, data)| matches!(data.op, Op::Region(Region::If { .. }))).unwrap().0;
    let exit = broken.insts.iter().find(|(_, data)| matches!(data.op, Op::Terminator(Terminator::Break(..)))).unwrap().0;
    broken.insts[exit].op = Op::Terminator(Terminator::Break(target, Vec::new()));
    assert_eq!(complaints(&broken), [format!("{target} is no loop or region around this")]);
}

#[test]
fn blocks_are_given_and_give_what_they_must() {
    check("  v7: u32 = region i1 {\n    yield v1\n  }", "values yielded: (u32) expected, found (f32)");
    check("  region i1 {\n    yield v1\n  }", "values yielded: () expected, found (f32)");
    check("  v7: u32 = region i1 {\n    break i1\n  }", "results: (u32) expected, found ()");
    check("  v7: u32 = if v3 {\n    yield v0\n  }", "values yielded: (u32) expected, found ()");
    check("  v7: u32 = for i1 (v8: u32 in v0..v0 step v0; v9: f32 = v1) {\n    return\n  }", "results: (f32) expected, found (u32)");
    check(
        "  v7: f32 = for i1 (v8: u32 in v0..v0 step v0; v9: f32 = v1) {\n    yield v8\n  }",
        "values yielded: (f32) expected, found (u32)",
    );
    check("  for i1 (v7: i32 in v0..v0 step v0) {\n    yield\n  }", "parameters of the body: (u32) expected, found (i32)");
    check("  for i1 ( in v0..v0 step v0) {\n    yield\n  }", "parameters of the body: (u32) expected, found ()");
    check("  for i1 (v7: f32 in v1..v1 step v1) {\n    yield\n  }", "a `for` over `f32`");
    check("  for i1 (v7: u32 in v0..v2 step v0) {\n    yield\n  }", "the end v2 is `i32`, not `u32`");
    check("  for i1 (v7: u32 in v0..v0 step v5) {\n    yield\n  }", "the step v5 is `u64`, not `u32`");
    check("  loop i1 (v7: u32 = v1) {\n    return\n  }", "parameters of the body: (f32) expected, found (u32)");
    check("  loop i1 (= v1) {\n    return\n  }", "parameters of the body: (f32) expected, found ()");
    check("  loop i1 (v7: u32) {\n    return\n  }", "parameters of the body: () expected, found (u32)");
    check("  loop i1 (v7: u32 = v0) {\n    continue i1\n  }", "carried values: (u32) expected, found ()");
    check("  loop i1 () {\n    break i1 v0\n  }", "results: () expected, found (u32)");
    check("  if v0 {\n    yield\n  }", "the condition v0 is `u32`, not `bool`");
    let mut broken = kernel("legal", "  region i1 {\n    yield\n  }\n  return");
    broken.add_param(Block(1), Type::U32);
    assert_eq!(complaints(&broken), ["b1 has parameters"]);
    let mut broken = kernel("legal", "  return");
    broken.add_param(Block(0), Type::U32);
    assert_eq!(complaints(&broken), ["the body has parameters"]);
}

#[test]
fn operations_have_their_types() {
    check("  v7: u32 = add v0, v2", "operand v2 is `i32`, not `u32`");
    check("  v7: f32 = add v0, v0", "results: (u32) expected, found (f32)");
    check("  add v0, v0", "results: (u32) expected, found ()");
    check("  v7: bool = add v3, v3", "not for `bool`");
    check("  v7: f32 = not v1", "not for `f32`");
    check("  v7: bool = neg v3", "not for `bool`");
    check("  v7: f32 = and v1, v1", "not for `f32`");
    check("  v7: f32 = shl v1, v0", "not for `f32`");
    check("  v7: i32 = shl v2, v2", "the count v2 is `i32`, not `u32`");
    check("  v7: f32 = mul_add v1, v1, v4", "operand v4 is `f64`, not `f32`");
    check("  v7: u32 = eq v0, v0", "results: (bool) expected, found (u32)");
    check("  v7: bool = lt v0, v1", "operand v1 is `f32`, not `u32`");
    check("  v7: u32 = select v0, v0, v0", "the condition v0 is `u32`, not `bool`");
    check("  v7: u32 = select v3, v0, v1", "the second value v1 is `f32`, not `u32`");
    check("  v7: bool = cast v0", "not from `u32` to `bool`");
    check("  v7: f32 = cast v3", "not from `bool` to `f32`");
    check("  cast v0", "one result expected");
    check("  v7: f64 = bitcast v0", "not from `u32` to `f64`");
    check("  v7: i32 = thread_idx.x", "results: (u32) expected, found (i32)");
    check("  v7: u32 = lane_id.y", "`lane_id` has no axes");
    check("  print \"{}\"", "1 places for 0 values");
    check("  assert v0, \"\"", "the condition v0 is `u32`, not `bool`");
    check("  v7: u32 = print \"\"", "results: () expected, found (u32)");
    let mut broken = kernel("legal", "  return");
    let first = broken.values.iter().find(|(_, data)| data.ty == Type::U16).unwrap().0;
    let Some((inst, _)) = broken.def(first) else { panic!("a constant") };
    broken.insts[inst].op = Op::Compute(Compute::Const(Scalar { ty: Type::U16, bits: 0x1_0000 }));
    assert_eq!(complaints(&broken), ["bits beyond the width of `u16`"]);
}

#[test]
fn accesses_lead_to_scalars() {
    check("  v7: f32 = load m5[v0]", "the path does not lead to a scalar");
    check("  v7: f32 = load m0[v0]", "the path does not lead to a scalar");
    check("  v7: f32 = load m3[v0].2", "the path does not lead to a scalar");
    check("  v7: f32 = load m1[v0].0", "the path does not lead to a scalar");
    check("  v7: u32 = load m1[v0]", "`f32` is there, not (u32)");
    check("  v7: f32 = load m1[v2]", "index v2 is `i32`");
    check("  v7: f32 = load m1[v5]", "index v5 is `u64`");
    check("  store m2[v0], v0", "`f32` is there, not (u32)");
    check("  v7: f32, v8: f32 = load m3[v0].0", "(f32, u32) are there, not (f32, f32)");
    check("  v7: f32, v8: f32, v9: f32 = load m1[v0]", "3 scalars at once");
    check("  load m1[v0]", "0 scalars at once");
    check("  v7: u64 = len m1", "results: (u32) expected, found (u64)");
    check("  v7: u32 = len m5", "m5 is no slice");
    let mut wide = kernel("legal", "  v7: f32 = load m1[v5]\n  return");
    wide.options.index = crate::ir::IndexWidth::Bits64;
    assert_eq!(complaints(&wide), Vec::<String>::new());
}

#[test]
fn read_only_memory_is_not_written() {
    for place in ["m0", "m1[v0]", "m9[v0]"] {
        check(&format!("  store {place}, v1"), &format!("{} is read-only", &place[..2]));
    }
    check("  store m4[v0], v4", "m4 is read-only");
    check("  v7: f32 = atomic add m1[v0], v1", "m1 has no atomics");
    check("  v7: i32 = atomic add m6[v0], v2", "m6 has no atomics");
}

#[test]
fn atomics_have_their_operands() {
    check("  v7: u32 = atomic cas m7[v0], v0", "2 operands expected, found 1");
    check("  v7: u32 = atomic add m7[v0], v0, v0", "1 operands expected, found 2");
    check("  v7: u32 = atomic cas m7[v0], v0, v1", "several types at once: (u32, f32)");
    check("  v7: f32 = atomic and m2[v0], v1", "not for `f32`");
    check("  v7: u16 = atomic add m8[v0], v6", "not for `u16`");
    check("  v7: f32 = atomic add m7[v0], v0", "results: (u32) expected, found (f32)");
}

#[test]
fn addresses_are_for_the_last_stage() {
    for body in ["  v7: f32 = load_at m1, v0", "  store_at m2, v0, v1", "  v7: u32 = atomic_at add m7, v0, v0", "  v7: u32 = offset v0, v0"]
    {
        let found = complaints(&kernel("legal", &format!("{body}\n  return")));
        assert_eq!(found[0], "addresses before they are made", "{body}");
    }
}

#[test]
fn accesses_are_for_the_stages_before() {
    check_at("addressed", "  v7: f32 = load m1[v0]", "an access after addresses were made");
    check_at("addressed", "  store m2[v0], v1", "an access after addresses were made");
    check_at("addressed", "  v7: u32 = atomic add m7[v0], v0", "an access after addresses were made");
}

#[test]
fn addresses_have_their_types() {
    let with_pointer = |body: &str| format!("  v7: ptr.global = address m2\n  v8: ptr.shared = address m7\n{body}");
    let check = |body: &str, expected: &str| check_at("addressed", &with_pointer(body), expected);
    check("  v9: ptr.global = address m7", "results: (ptr.shared) expected, found (ptr.global)");
    check("  v9: ptr.global = offset v7, v0", "an offset of type `u32` to `ptr.global`");
    check("  v9: ptr.shared = offset v8, v5", "an offset of type `u64` to `ptr.shared`");
    check("  v9: u32 = offset v0, v0", "v0 is no pointer");
    check("  v9: f32 = load_at m2, v8", "the pointer v8 is `ptr.shared`, not `ptr.global`");
    check("  v9: f32, v10: f64 = load_at m2, v7", "several types at once: (f32, f64)");
    check("  store_at m1, v7, v1", "m1 is read-only");
    check("  v9: u32 = atomic_at add m7, v8, v0, v0", "1 operands expected, found 2");
    check("  v9: u32 = atomic_at add m1, v7, v0", "m1 has no atomics");
    check("  v9: ptr.global = add v7, v7", "not for `ptr.global`");
}

#[test]
fn pointers_are_for_the_last_stage() {
    let found = complaints(&kernel("legal", "  v7: ptr.global = address m2\n  return"));
    assert_eq!(found, ["addresses before they are made", "a pointer before addresses are made"]);
}

#[test]
fn objects_are_well_formed() {
    let with = |objects: &str| {
        let text = format!("kernel \"k\" built\n{objects}\n{{\n  return\n}}\n");
        complaints(&parse_kernel(&text).unwrap())
    };
    assert_eq!(with("object m0 \"x\": global [f32]"), ["m0 is 0 times among the parameters"]);
    assert_eq!(with("param m0 \"x\": shared [f32; 2]"), ["m0 is 1 times among the parameters"]);
    assert_eq!(with("param m0 \"x\": global [f32; 2]"), ["m0 is a buffer and no slice"]);
    assert_eq!(with("object m0 \"x\": local [f32]"), ["m0 is a slice"]);
    assert_eq!(with("param m0 \"x\": global [[f32]]"), ["m0 has a slice or a pointer in it"]);
    assert_eq!(with("param m0 \"x\": global [ptr.global]"), ["m0 has a slice or a pointer in it"]);
    assert_eq!(with("struct s0 \"S\" { \"x\": [f32] }"), ["s0 has a slice or a pointer in it"]);
    assert_eq!(with("object m0 \"x\": table [f32; 2] = 1.0"), ["the scalars of table m0 do not fit its type"]);
    let mut twice = kernel("legal", "  return");
    twice.params.push(Object(0));
    assert_eq!(complaints(&twice), ["m0 is 2 times among the parameters"]);
}

#[test]
fn names_are_of_something_and_in_one_place() {
    let good = || kernel("legal", "  region i1 {\n    yield\n  }\n  return");
    let complaints_of = |change: fn(&mut Kernel)| {
        let mut broken = good();
        change(&mut broken);
        complaints(&broken)
    };
    assert_eq!(complaints_of(|k| k.blocks[k.body].insts.insert(0, Inst(0))), ["i0 stands in two places"]);
    assert_eq!(complaints_of(|k| k.blocks[k.body].insts.insert(0, Inst(99))), ["i99 does not exist"]);
    assert_eq!(complaints_of(|k| k.insts[Inst(7)].op = Op::Region(Region::Block { body: Block(0) })), ["b0 has two owners"]);
    assert_eq!(complaints_of(|k| k.insts[Inst(7)].op = Op::Region(Region::Block { body: Block(9) })), ["b9 does not exist"]);
    assert_eq!(complaints_of(|k| k.insts[Inst(8)].op = Op::Terminator(Terminator::Yield(vec![Value(99)]))), ["v99 does not exist"]);
    assert_eq!(complaints_of(|k| k.insts[Inst(8)].op = Op::Terminator(Terminator::Break(Inst(99), Vec::new()))), ["i99 does not exist"]);
    assert_eq!(complaints_of(|k| k.insts[Inst(8)].op = Op::Compute(Compute::Len(Object(99)))), ["m99 does not exist"]);
    assert_eq!(complaints_of(|k| k.insts[Inst(8)].loc = crate::ir::Loc(9)), ["l9 does not exist"]);
    assert_eq!(complaints_of(|k| k.params.push(Object(99))), ["parameter m99 does not exist"]);
    assert_eq!(complaints_of(|k| k.objects[Object(0)].ty = MemoryType::Struct(crate::ir::StructId(1))), ["s1 does not exist"]);
    assert_eq!(
        complaints_of(|k| k.values[Value(0)].def = ValueDef::Param(Block(0), 0)),
        ["v0 is listed here, but says that it is defined by Param(b0, 0)"]
    );
}

#[test]
fn violations_are_collected_and_say_where() {
    let kernel = kernel("legal", "  v7: bool = add v3, v3 @12:5\n  store m1[v0], v1\n  return");
    let violations = verify(&kernel).unwrap_err();
    let texts: Vec<_> = violations.iter().map(Violation::to_string).collect();
    assert_eq!(texts, ["i7 (line 12:5) `add v3, v3`: not for `bool`", "i8 `store m1[v0], v1`: m1 is read-only"]);
}

/// What is wrong with this object beside a shared array `m0` of a kernel with clusters of 2.
fn of_peers(object: &str) -> Vec<String> {
    let objects = "object m0 \"t\": shared [u32; 4]\nobject m1 \"d\": shared [u32]\nobject m2 \"r\": shared ring [[u32; 4]; 2]\nobject m3 \"l\": local [u32; 4]";
    let text = format!("kernel \"k\" legal\ncluster = 2, 1, 1\n{objects}\nobject m4 \"t\": {object}\n{{\n  return\n}}\n");
    complaints(&parse_kernel(&text).unwrap_or_else(|error| panic!("{error} in\n{text}")))
}

#[test]
fn arrays_of_a_cluster_s_blocks_are_one_for_each() {
    assert_eq!(of_peers("peers m0 [[u32; 4]; 2]"), Vec::<String>::new());
    assert_eq!(of_peers("peers m0 [[u32; 4]; 3]"), ["m4 is not 2 arrays like m0"]);
    assert_eq!(of_peers("peers m0 [[u32; 5]; 2]"), ["m4 is not 2 arrays like m0"]);
    assert_eq!(of_peers("peers m2 [[[u32; 4]; 2]; 2]"), ["m4 is of m2, which is a ring"]);
    assert_eq!(of_peers("peers m3 [[u32; 4]; 2]"), ["m4 is of m3, which is no shared array of a fixed length"]);
    assert!(of_peers("peers m1 [[u32; 4]; 2]").contains(&"m4 is of m1, which is no shared array of a fixed length".to_owned()));
}
