//! Barriers, warps and shared memory between threads.

use super::*;
use crate::sim::AccessKind;

/// A kernel over `m0`, `global mut [u32]`, and `m1`, `shared [u32; 64]`, with a body on lines from 10 on.
fn kernel(body: &str) -> String {
    let mut text = "kernel \"k\" legal
file \"k.rs\"
param m0 \"y\": global mut [u32]
object m1 \"t\": shared [u32; 64]
{
  v0: u32 = thread_idx.x
  v1: u32 = const 63
  v2: u32 = sub v1, v0
  v3: u32 = const 32
  v4: bool = lt v0, v3
  v5: u32 = const 0
  v6: u32 = const 1
  v7: u32 = xor v0, v6
  v8: u32 = const 10
  v9: bool = lt v0, v8
"
    .to_string();
    for (n, line) in body.lines().enumerate() {
        let has_place = line.trim_end().ends_with(['}', '{']);
        text += &if has_place { format!("{line}\n") } else { format!("{line} @{}:5\n", 10 + n) };
    }
    text + "  return\n}\n"
}

#[track_caller]
fn run_good(body: &str, expected: impl Fn(u32) -> u32) -> Counters {
    let mut y = vec![7777; 64];
    let counters = run(&kernel(body), 1, 64, &mut y).unwrap_or_else(|error| panic!("{error} in\n{}", kernel(body)));
    assert_eq!(y, (0..64).map(expected).collect::<Vec<u32>>(), "{}", kernel(body));
    counters
}

#[track_caller]
fn run_bad(body: &str) -> Box<Fault> {
    fault(run(&kernel(body), 1, 64, &mut vec![0; 64]))
}

#[test]
fn a_barrier_orders_the_block() {
    let body = "  store m1[v0], v0\nBARRIER\n  v10: u32 = load m1[v2]\n  store m0[v0], v10";
    let counters = run_good(&body.replace("BARRIER", "  call sync_threads"), |i| 63 - i);
    assert_eq!(counters.total.barriers, 1);
    assert_eq!(counters.line(11).unwrap().barriers, 1);
    // Without it the first warp reads what the second has not written.
    let kind = run_bad(&body.replace("BARRIER\n", "")).kind;
    assert!(matches!(kind, FaultKind::Uninitialised { index: 63, .. }), "{kind}");
}

#[test]
fn shared_races() {
    let setup = "  store m1[v0], v0\n  call sync_threads\n";
    let race = |body: &str| run_bad(&format!("{setup}{body}"));
    let kind = |access, other_access, index, other_thread: u32, other_line| FaultKind::Race {
        in_cluster: false,
        object: "t".into(),
        index,
        length: 64,
        access,
        other_access,
        other_thread: Some([other_thread, 0, 0]),
        other_line: Some(other_line),
        across_blocks: false,
        other_block: None,
        missing_fence: None,
        atomic_line: None,
    };
    let read_write = race("  v10: u32 = load m1[v7]\n  store m1[v0], v10");
    assert_eq!(read_write.kind, kind(AccessKind::Write, AccessKind::Read, 0, 1, 12));
    assert_eq!((read_write.line, read_write.thread), (13, [0, 0, 0]));
    let write_read = race("  store m1[v0], v5\n  v10: u32 = load m1[v7]");
    assert_eq!(write_read.kind, kind(AccessKind::Read, AccessKind::Write, 1, 1, 12));
    let write_write = race("  v10: u32 = and v0, v6\n  store m1[v10], v5");
    assert_eq!(write_write.kind, kind(AccessKind::Write, AccessKind::Write, 0, 0, 13));
    // The barrier that a loop needs at its end, too.
    let body = |end: &str| {
        format!(
            "{setup}  v20: u32 = for i1 (v21: u32 in v5..v3 step v6; v22: u32 = v0) {{
    v23: u32 = load m1[v2]
    call sync_threads
    v24: u32 = add v23, v6
    store m1[v0], v24
{end}    yield v24
  }}
  store m0[v0], v20"
        )
    };
    assert!(matches!(race(&body("")[setup.len()..]).kind, FaultKind::Race { .. }));
    let counters = run_good(&body("    call sync_threads\n"), |i| i + 32);
    assert_eq!(counters.total.barriers, 65);
}

#[test]
fn barriers_that_some_threads_miss() {
    let some = run_bad("  if v9 {\n    call sync_threads\n    yield\n  }");
    assert_eq!(some.kind, FaultKind::DivergentBarrier { waiting: 10, living: 32, within_warp: true, other_line: None });
    assert_eq!((some.line, some.thread), (11, [0, 0, 0]));
    let other = run_bad("  if v4 {\n    call sync_threads\n    yield\n  } else {\n    call sync_threads\n    yield\n  }");
    assert_eq!(other.kind, FaultKind::DivergentBarrier { waiting: 32, living: 64, within_warp: false, other_line: Some(14) });
    let gone = run_good(
        "  if v9 {\n    return\n  }\n  store m1[v0], v0\n  call sync_threads\n  v10: u32 = min v2, v1\n  v11: u32 = max v10, v8\n  v12: u32 = load m1[v11]\n  store m0[v0], v12",
        |i| if i < 10 { 7777 } else { (63 - i).max(10) },
    );
    assert_eq!(gone.total.barriers, 1);
    run_good("  store m0[v0], v0\n  if v4 {\n    return\n  }\n  call sync_threads", |i| i);
}

#[test]
fn barriers_count() {
    run_good("  v10: u32 = call sync_threads_count v9\n  store m0[v0], v10", |_| 10);
    run_good(
        "  v10: bool = call sync_threads_and v9\n  v11: bool = call sync_threads_or v9\n  v12: bool = lt v10, v11\n  v13: u32 = cast v12\n  store m0[v0], v13",
        |_| 1,
    );
}

#[test]
fn lanes_exchange_values() {
    run_good("  v10: u32 = call shuffle_xor v2, v6\n  v11: u32 = call ballot v9\n  v12: u32 = add v10, v11\n  store m0[v0], v12", |i| {
        63 - (i ^ 1) + if i < 32 { 0x3ff } else { 0 }
    });
    let parted = run_bad("  if v9 {\n    v10: u32 = call shuffle v0, v5\n    yield\n  }");
    assert_eq!(parted.kind, FaultKind::DivergentWarp { name: "shuffle", active: 10, living: 32 });
}

#[test]
fn sync_warp_orders_a_warp_but_no_more() {
    let body = "  store m1[v0], v0\n  call sync_warp\n  v10: u32 = load m1[v7]\n  call sync_warp\n  store m1[v0], v10\n  store m0[v0], v10";
    run_good(body, |i| i ^ 1);
    let race = run_bad(&body.replacen("  call sync_warp\n", "", 1));
    assert!(matches!(race.kind, FaultKind::Race { access: AccessKind::Read, .. } | FaultKind::Uninitialised { .. }), "{race}");
    let race = run_bad("  v10: u32 = rem v0, v3\n  store m1[v10], v0\n  call sync_warp");
    assert!(matches!(race.kind, FaultKind::Race { access: AccessKind::Write, other_thread: Some([0, 0, 0]), .. }), "{race}");
}

#[test]
fn dynamic_shared_memory_has_the_launchs_length() {
    let text =
        kernel("  v10: u32 = len m1\n  store m1[v0], v10\n  v11: u32 = load m1[v0]\n  store m0[v0], v11").replace("[u32; 64]", "[u32]");
    let program = program(&text, SimOptions::default());
    let run = |shared_bytes| {
        let mut y = vec![0; 256];
        let launch = SimLaunch { shared_bytes, ..launch(1, 64) };
        program.run(&launch, &mut [SimArgument::Global { bytes: &mut y }]).map(|_| from_bytes::<u32>(&y))
    };
    assert_eq!(run(400).unwrap(), [100; 64]);
    let short = run(252).unwrap_err().to_string();
    assert!(short.contains("index 63 is out of bounds of `t`, which has 63 elements"), "{short}");
    assert!(run(1 << 20).unwrap_err().to_string().contains("the limit is 232448"));
}
