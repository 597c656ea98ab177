//! Accesses: bounds, alignment, initialisation, races, and what they cost.

use super::*;
use crate::sim::AccessKind;

/// A kernel over `m0`, a slice of `ty`, with more objects and a body.
fn kernel(ty: &str, objects: &str, body: &str) -> String {
    format!(
        "kernel \"k\" legal\nfile \"k.rs\"\nparam m0 \"y\": global mut [{ty}]\n{objects}\n{{
  v0: u32 = thread_idx.x
  v1: u32 = block_idx.x
  v2: u32 = block_dim.x
  v3: u32 = mul_add v1, v2, v0
  v4: u32 = const 32
  v5: u32 = const 1
  v6: u32 = const 2
  v7: u32 = const 0
  v8: bool = eq v0, v7
{body}
  return
}}
"
    )
}

#[test]
fn saxpy_computes_and_counts() {
    let text = "kernel \"saxpy\" legal
block = 64, 1, 1
file \"saxpy.rs\"
param m0 \"a\": value f32
param m1 \"x\": global [f32]
param m2 \"y\": global mut [f32]
{
  v0: u32 = thread_idx.x @4:1
  v1: u32 = block_idx.x @4:1
  v2: u32 = const 64
  v3: u32 = mul_add v1, v2, v0 @4:1
  v4: u32 = len m2 @5:1
  v5: bool = lt v3, v4 @5:1
  if v5 @5:1 {
    v6: f32 = load m0 @6:1
    v7: f32 = load m1[v3] @6:2
    v8: f32 = load m2[v3] @6:3
    v9: f32 = mul_add v6, v7, v8 @6:4
    store m2[v3], v9 @7:1
    yield
  }
  return @9:1
}
";
    let x: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let (xs, mut ys) = (to_bytes(&x), to_bytes(&[1.0f32; 100]));
    let mut arguments =
        [SimArgument::Value(&2.0f32.to_le_bytes()), SimArgument::GlobalReadOnly { bytes: &xs }, SimArgument::Global { bytes: &mut ys }];
    let counters = program(text, SimOptions::default()).run(&launch(2, 64), &mut arguments).unwrap();
    assert_eq!(from_bytes::<f32>(&ys), x.iter().map(|x| 2.0 * x + 1.0).collect::<Vec<_>>());
    let store = counters.line(7).unwrap();
    // 100 elements: three full warps of 4 sectors, one of 4 lanes with one.
    assert_eq!((store.global_requests, store.global_sectors, store.global_bytes), (4, 13, 400));
    assert_eq!(counters.total.divergent_branches, 1);
    assert_eq!(counters.line(6).unwrap().global_sectors, 26);
}

#[test]
fn launches_that_do_not_fit_are_errors() {
    let text = kernel("f32", "", "").replace("file", "block = 64, 1, 1\nfile");
    let program = program(&text, SimOptions::default());
    let mut bytes = vec![0; 8];
    let error = |launch: SimLaunch, arguments: &mut [SimArgument<'_>]| program.run(&launch, arguments).unwrap_err().to_string();
    assert!(error(launch(1, 64), &mut []).contains("0 arguments for 1 parameters"));
    assert!(error(launch(1, 32), &mut [SimArgument::Global { bytes: &mut bytes }]).contains("(64, 1, 1)"));
    assert!(error(launch(0, 64), &mut [SimArgument::Global { bytes: &mut bytes }]).contains("no threads"));
    assert!(error(launch(1, 64), &mut [SimArgument::Global { bytes: &mut bytes[..7] }]).contains("7 bytes"));
    assert!(error(launch(1, 64), &mut [SimArgument::GlobalReadOnly { bytes: &bytes }]).contains("read-only"));
    assert!(error(launch(1, 64), &mut [SimArgument::Value(&bytes)]).contains("global memory"));
}

#[test]
fn unaligned_buffers_work() {
    let text = kernel("u64", "", "  v10: u64 = cast v0\n  store m0[v0], v10");
    let mut bytes = [0xff; 8 * 4 + 9];
    let from = bytes.as_ptr().align_offset(8) + 1;
    program(&text, SimOptions::default()).run(&launch(1, 4), &mut [SimArgument::Global { bytes: &mut bytes[from..from + 32] }]).unwrap();
    assert_eq!(from_bytes::<u64>(&bytes[from..from + 32]), [0, 1, 2, 3]);
    assert!(bytes[..from].iter().all(|b| *b == 0xff));
}

#[test]
fn every_dimension_has_bounds() {
    let out = |objects: &str, body: &str| fault(run(&kernel("f32", objects, body), 1, 32, &mut vec![0f32; 20])).kind;
    let bounds = |object: &str, index, length| FaultKind::OutOfBounds { object: object.into(), index, length, width: 1 };
    assert_eq!(out("", "  v10: f32 = load m0[v0]"), bounds("y", 20, 20));
    let tile = "object m1 \"t\": shared [[f32; 5]; 8]";
    // Column 5 of row 0 is a place in the object, but not in the row.
    assert_eq!(out(tile, "  v10: f32 = const 1.0\n  store m1[v7][v0], v10"), bounds("t[_]", 5, 5));
    assert_eq!(out(tile, "  v10: f32 = const 1.0\n  store m1[v0][v7], v10"), bounds("t", 8, 8));
    assert_eq!(out(tile, "  v10: f32 = const 1.0\n  store m1[v7][v4], v10"), bounds("t[_]", 32, 5));
    let structs = "struct s0 \"P\" { \"a\": u8, \"b\": [f32; 3] }\nobject m1 \"p\": local [s0; 2]";
    assert_eq!(out(structs, "  v10: f32 = const 1.0\n  store m1[v5].1[v0], v10"), bounds("p[_].b", 3, 3));
}

#[test]
fn vectors_are_whole_and_aligned() {
    let text = kernel("f32", "", "  v10: u32 = mul v0, v6\n  v11: f32, v12: f32 = load m0[v10]\n  store m0[v10], v12, v11");
    let mut y: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let counters = run(&text, 1, 32, &mut y).unwrap();
    assert_eq!(y[..4], [1.0, 0.0, 3.0, 2.0]);
    assert_eq!((counters.total.global_requests, counters.total.global_sectors), (2, 16));
    let kind = fault(run(&text.replace("mul v0, v6", "add v0, v0"), 1, 32, &mut vec![0f32; 63])).kind;
    assert_eq!(kind, FaultKind::OutOfBounds { object: "y".into(), index: 62, length: 63, width: 2 });
    let odd = fault(run(&text.replace("mul v0, v6", "mul_add v0, v6, v5"), 1, 2, &mut y));
    assert_eq!(odd.kind, FaultKind::Misaligned { object: "y".into(), offset: 4, width: 8 });
}

#[test]
fn uninitialised_memory_is_found() {
    let tile = "object m1 \"t\": shared [u32; 32]";
    let read = "  v10: u32 = load m1[v0]\n  store m0[v3], v10";
    let fresh = fault(run(&kernel("u32", tile, read), 1, 32, &mut vec![0u32; 64]));
    assert_eq!(fresh.kind, FaultKind::Uninitialised { object: "t".into(), index: 0, length: 32, shared: true });
    assert!(fresh.to_string().ends_with("which nothing has written yet; write it, and pass `sync_threads()`, before"), "{fresh}");
    run(&kernel("u32", tile, &format!("  store m1[v0], v0\n{read}")), 2, 32, &mut vec![0u32; 64]).unwrap();
    // What the first block wrote is nothing to the second.
    let second = format!("  v11: bool = eq v1, v7\n  if v11 {{\n    store m1[v0], v0\n    yield\n  }}\n{read}");
    let fresh = fault(run(&kernel("u32", tile, &second), 2, 32, &mut vec![0u32; 64]));
    assert_eq!(fresh.block, [1, 0, 0]);
    let local = "object m1 \"a\": local [u16; 4]";
    let body = "  v10: u16 = cast v0\n  store m1[v5], v10\n  v12: u32 = and v0, v6\n  v13: u32 = shr v12, v5\n  v14: u16 = load m1[v13]";
    let fresh = fault(run(&kernel("u32", local, body), 1, 32, &mut vec![0u32; 1]));
    assert_eq!(fresh.kind, FaultKind::Uninitialised { object: "a".into(), index: 0, length: 4, shared: false });
    assert_eq!(fresh.thread, [0, 0, 0]);
}

#[test]
fn locals_are_each_threads_own() {
    let body = "  v10: u32 = mul v0, v0
  store m1[v7], v0
  store m1[v5], v10
  v11: u32 = and v0, v5
  v12: u32 = load m1[v11]
  store m0[v3], v12";
    let mut y = vec![0u32; 64];
    run(&kernel("u32", "object m1 \"a\": local [u32; 2]", body), 2, 32, &mut y).unwrap();
    let expected: Vec<u32> = (0..64u32).map(|i| i % 32).map(|t| if t % 2 == 0 { t } else { t * t }).collect();
    assert_eq!(y, expected);
}

#[test]
fn constants_tables_and_structs() {
    let text = "kernel \"k\" legal
struct s0 \"P\" { \"a\": u8, \"b\": [f32; 2] }
param m0 \"y\": global mut [f32]
param m1 \"p\": value s0
param m2 \"c\": constant [f32; 4]
object m3 \"lut\": table [f32; 2] = 10.0, 20.0
{
  v0: u32 = thread_idx.x
  v1: u32 = const 1
  v2: u32 = and v0, v1
  v3: f32 = load m2[v0]
  v4: f32 = load m3[v2]
  v5: f32 = add v3, v4
  v6: f32 = load m1.1[v1]
  v7: f32 = mul v5, v6
  v8: f32 = load m1.1[v2]
  v9: f32 = add v7, v8
  store m0[v0], v9
  return
}
";
    let mut value = vec![9, 0, 0, 0];
    value.extend(to_bytes(&[0.5f32, 2.0]));
    let (constants, mut y) = (to_bytes(&[1f32, 2.0, 3.0, 4.0]), vec![0; 16]);
    let mut arguments = [SimArgument::Global { bytes: &mut y }, SimArgument::Value(&value), SimArgument::Constant { bytes: &constants }];
    program(text, SimOptions::default()).run(&launch(1, 4), &mut arguments).unwrap();
    assert_eq!(from_bytes::<f32>(&y), [22.5, 46.0, 26.5, 50.0]);
}

#[test]
fn sectors_of_known_patterns() {
    let sectors = |index: &str| {
        let text = kernel("f32", "", &format!("{index}\n  v11: f32 = load m0[v10]"));
        run(&text, 1, 32, &mut vec![0f32; 2048]).unwrap().total.global_sectors
    };
    assert_eq!(sectors("  v10: u32 = add v0, v7"), 4);
    assert_eq!(sectors("  v10: u32 = add v0, v5"), 5);
    assert_eq!(sectors("  v10: u32 = mul v0, v6"), 8);
    assert_eq!(sectors("  v10: u32 = mul v0, v4"), 32);
    assert_eq!(sectors("  v10: u32 = mul v0, v7"), 1);
}

#[test]
fn replays_of_known_patterns() {
    let replays = |row: u32, access: &str| {
        let text = kernel(
            "f32",
            &format!("object m1 \"t\": shared [[f32; {row}]; 32]"),
            &format!("  v10: f32 = const 0.0\n  store {access}, v10"),
        );
        let total = run(&text, 1, 32, &mut vec![0f32; 1]).unwrap().total;
        assert_eq!(total.shared_requests, 1);
        total.shared_replays
    };
    assert_eq!(replays(32, "m1[v7][v0]"), 0);
    assert_eq!(replays(32, "m1[v0][v7]"), 31);
    assert_eq!(replays(33, "m1[v0][v7]"), 0);
    assert_eq!(replays(34, "m1[v0][v7]"), 1);
}

#[test]
fn atomics_add_up_and_give_old_values() {
    let body = "  v10: u32 = atomic add m0[v7], v0
  v11: u32 = add v3, v5
  store m0[v11], v10";
    let mut y = vec![5u32; 129];
    let counters = run(&kernel("u32", "", body), 2, 64, &mut y).unwrap();
    let old: Vec<u32> = (0..128u32).scan(5, |sum, i| Some(std::mem::replace(sum, *sum + i % 64))).collect();
    assert_eq!((y[0], &y[1..]), (5 + 2 * 2016, &old[..]));
    assert_eq!(counters.total.atomics, 128);
    let shared = "  if v8 {
    store m1[v7], v7
    yield
  }
  v12: u32 = atomic max m1[v7], v0";
    let race = fault(run(&kernel("u32", "object m1 \"m\": shared [u32; 1]", shared), 1, 32, &mut vec![0u32; 1]));
    assert!(matches!(race.kind, FaultKind::Race { access: AccessKind::Atomic, other_access: AccessKind::Write, .. }), "{race}");
}

/// A name, a body, and the race it has, if any: what this access and the other did, and whether across blocks.
type Case = (&'static str, String, Option<(AccessKind, AccessKind, bool)>);

/// Bodies over two blocks of 64 threads.
#[test]
fn global_races() {
    use AccessKind::{Atomic, Read, Write};
    let own = "  store m0[v3], v0";
    let cases: [Case; 10] = [
        ("own elements", own.into(), None),
        ("own elements twice", format!("{own}\n{own}\n  v10: u32 = load m0[v3]"), None),
        ("one element, same value", "  store m0[v7], v7".into(), Some((Write, Write, false))),
        ("one thread of each block", "  if v8 {\n    store m0[v7], v7\n    yield\n  }".into(), Some((Write, Write, true))),
        ("everyone reads", "  v10: u32 = load m0[v7]".into(), None),
        ("neighbour's", format!("{own}\n  v10: u32 = xor v3, v5\n  v11: u32 = load m0[v10]"), Some((Read, Write, false))),
        ("read, then another writes", format!("  v10: u32 = xor v3, v5\n  v11: u32 = load m0[v10]\n{own}"), Some((Write, Read, false))),
        ("atomics", "  v10: u32 = atomic add m0[v7], v5".into(), None),
        ("atomics and reads", "  v10: u32 = load m0[v7]\n  v11: u32 = atomic add m0[v7], v5".into(), Some((Atomic, Read, false))),
        (
            "other block's",
            format!(
                "  v10: u32 = sub v3, v2\n  v11: bool = eq v1, v5\n  if v11 {{\n    v12: u32 = load m0[v10]\n    yield\n  }} else {{\n  {own}\n    yield\n  }}"
            ),
            Some((Read, Write, true)),
        ),
    ];
    for (name, body, expected) in cases {
        let result = run(&kernel("u32", "", &body), 2, 64, &mut vec![0u32; 128]);
        let found = match result {
            Ok(_) => None,
            Err(Error::Fault(fault)) => match fault.kind {
                FaultKind::Race { access, other_access, across_blocks, .. } => Some((access, other_access, across_blocks)),
                kind => panic!("{name}: {kind}"),
            },
            Err(error) => panic!("{name}: {error}"),
        };
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn bytes_of_one_word_are_different_elements() {
    run(&kernel("u8", "", "  v10: u8 = cast v0\n  store m0[v3], v10"), 2, 64, &mut vec![0u8; 128]).unwrap();
    let fields = "struct s0 \"P\" { \"a\": u16, \"b\": u32 }\nobject m1 \"p\": shared [s0; 1]";
    let body = "  v10: u16 = const 1
  v11: bool = lt v0, v5
  if v8 {
    store m1[v7].0, v10
    yield
  } else {
    v12: bool = eq v0, v5
    if v12 {
      store m1[v7].1, v0
      yield
    }
    yield
  }";
    run(&kernel("u32", fields, body), 1, 64, &mut vec![0u32; 1]).unwrap();
}

#[test]
fn addresses_are_checked() {
    let text = "kernel \"k\" addressed
file \"k.rs\"
param m0 \"y\": global mut [u32]
object m1 \"t\": shared [u32; 32]
{
  v0: u32 = thread_idx.x
  v1: u32 = const 4
  v2: u32 = mul v0, v1
  v3: u64 = cast v2
  v4: ptr.global = address m0
  v5: ptr.global = offset v4, v3
  v6: ptr.shared = address m1
  v7: ptr.shared = offset v6, v2
  store_at m1, v7, v0
  v8: u32 = load_at m1, v7 + S
  store_at m0, v5 + G, v8 @8:1
  return
}
";
    let place = |shared: &str, global: &str| text.replace("+ S", shared).replace("+ G", global);
    let mut y = vec![99u32; 33];
    run(&place("", "+ 4"), 1, 32, &mut y).unwrap();
    assert_eq!(y[..3], [99, 0, 1]);
    let below = fault(run(&place("", "+ -4"), 1, 32, &mut y));
    assert_eq!(below.kind, FaultKind::OutOfBounds { object: "y".into(), index: -1, length: 33, width: 1 });
    let above = fault(run(&place("", "+ 8"), 1, 32, &mut y));
    assert_eq!((above.kind, above.thread[0]), (FaultKind::OutOfBounds { object: "y".into(), index: 33, length: 33, width: 1 }, 31));
    let odd = fault(run(&place("", "+ 2"), 1, 1, &mut y));
    assert_eq!(odd.kind, FaultKind::Misaligned { object: "y".into(), offset: 2, width: 4 });
    let race = fault(run(&place("+ -4", ""), 1, 32, &mut y));
    assert!(matches!(race.kind, FaultKind::OutOfBounds { index: -1, length: 32, .. }), "{race}");
}
