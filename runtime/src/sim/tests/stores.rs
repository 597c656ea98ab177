//! Tiles that the copy engine stores: it reads and writes as late as it may, behind fences, and what does not let it is a fault.

use super::*;
use crate::sim::AccessKind;

/// A kernel over `m0`, `global mut [u32]`, a matrix of 8 rows of 16, and `m1`, a tile of it; 64 threads, each with one element of the upper half.
fn kernel(body: &str) -> String {
    let mut text = "kernel \"k\" legal
file \"k.rs\"
param m0 \"y\": global mut [u32]
object m1 \"t\": shared [[u32; 16]; 4]
{
  v0: u32 = thread_idx.x
  v1: u32 = const 16
  v2: u32 = const 8
  v3: u32 = const 0
  v4: u32 = const 4
  v5: bool = eq v0, v3
  v6: u32 = div v0, v1
  v7: u32 = rem v0, v1
  v8: u32 = const 100
  v9: u32 = add v0, v8
"
    .to_string();
    for (n, line) in body.lines().enumerate() {
        let line = line.trim();
        let placed = match line.strip_suffix('{') {
            Some(head) => format!("{head}@{}:5 {{", 10 + n),
            None => format!("{line} @{}:5", 10 + n),
        };
        text += &(if line.starts_with('}') { format!("  {line}\n") } else { format!("  {placed}\n") });
    }
    text + "  return\n}\n"
}

const WRITE: &str = "store m1[v6][v7], v0\n";
const PUT: &str = "if v5 {\nput_tile m1, m0, v2, v1, v1, v4, v3\ncommit_stores\nyield\n}\n";
const READ: &str = "if v5 {\nawait_stores 0 read\nyield\n}\n";
const DONE: &str = "if v5 {\nawait_stores 0 done\nyield\n}\n";
const SYNC: &str = "call sync_threads\n";
const FENCE: &str = "engine_fence\n";

#[track_caller]
fn run_bad(body: &str) -> Box<Fault> {
    fault(run(&kernel(body), 1, 64, &mut vec![0u32; 128]))
}

#[track_caller]
fn stores(body: &str) -> Vec<u32> {
    let mut y = vec![7u32; 128];
    run(&kernel(body), 1, 64, &mut y).unwrap();
    assert_eq!(y[..64], [7; 64]);
    y[64..].to_vec()
}

#[test]
fn a_tile_arrives_when_it_is_waited_for() {
    let numbers: Vec<u32> = (0..64).collect();
    assert_eq!(stores(&format!("{WRITE}{FENCE}{SYNC}{PUT}{DONE}")), numbers);
    // Once it is read, the array may be written again.
    assert_eq!(stores(&format!("{WRITE}{FENCE}{SYNC}{PUT}{READ}{SYNC}store m1[v6][v7], v9\n{DONE}")), numbers);
    // What is there of the matrix is as it was until then.
    let early = format!(
        "{WRITE}{FENCE}{SYNC}{PUT}{SYNC}v20: u32 = const 64\nv21: u32 = add v0, v20\nv22: u32 = load m0[v21]\n{SYNC}{DONE}{SYNC}store m0[v21], v22\n"
    );
    assert_eq!(stores(&early), vec![7; 64]);
    // A second tile of the thread, while the first may be on its way.
    let twice = format!("{WRITE}{FENCE}{SYNC}{PUT}{READ}{SYNC}store m1[v6][v7], v9\n{FENCE}{SYNC}{PUT}{DONE}");
    assert_eq!(stores(&twice), (100..164).collect::<Vec<u32>>());
    // Beyond the matrix nothing is written.
    let beyond = PUT.replace("v1, v1, v4, v3", "v1, v1, v2, v3");
    assert_eq!(stores(&format!("{WRITE}{FENCE}{SYNC}{beyond}{DONE}")), vec![7; 64]);
}

#[test]
fn nobody_writes_what_may_not_be_read_yet() {
    let found = run_bad(&format!("{WRITE}{FENCE}{SYNC}{PUT}{SYNC}store m1[v6][v7], v9\n{DONE}"));
    let said = "writes scalar 0 of `t` (of 64), which the copy engine stores for thread (0, 0, 0) on line 14; \
                it may not be read yet, since that thread has not waited for that";
    assert_eq!(found.kind.to_string(), format!("{said}{PLACED}"));
    // One thread has waited, and no barrier has told the others.
    let found = run_bad(&format!("{WRITE}{FENCE}{SYNC}{PUT}{SYNC}{READ}store m1[v6][v7], v9\n{DONE}"));
    assert!(matches!(found.kind, FaultKind::StoreInFlight { is_awaited: true, .. }), "{found}");
    // The wait leaves out the last group.
    let but_one = READ.replace("0 read", "1 read");
    let found = run_bad(&format!("{WRITE}{FENCE}{SYNC}{PUT}{but_one}{SYNC}store m1[v6][v7], v9\n{DONE}"));
    assert!(matches!(found.kind, FaultKind::StoreInFlight { is_awaited: false, .. }), "{found}");
    // Nor does anybody read the matrix while it arrives.
    let beside = "v20: u32 = const 64\nv21: u32 = add v0, v20\nv22: u32 = load m0[v21]\nstore m0[v0], v22\n";
    let found = run_bad(&format!("{WRITE}{FENCE}{SYNC}{PUT}{SYNC}{DONE}{beside}"));
    assert!(matches!(found.kind, FaultKind::Race { .. }), "{found}");
    // Without a barrier behind the store it is a race.
    let found = run_bad(&format!("{WRITE}{FENCE}{SYNC}{PUT}store m1[v6][v7], v9\n{DONE}"));
    assert!(matches!(found.kind, FaultKind::Race { .. } | FaultKind::StoreInFlight { .. }), "{found}");
}

#[test]
fn the_engine_stores_what_threads_wrote_behind_a_fence_and_a_barrier() {
    let found = run_bad(&format!("{WRITE}{SYNC}{PUT}{DONE}"));
    assert!(matches!(found.kind, FaultKind::MissingEngineFence { access: AccessKind::Read, .. }), "{found}");
    let said =
        "the copy engine stores scalar 0 of `t` (of 64), which thread (0, 0, 0) wrote; no engine fence of that thread is between the two";
    assert_eq!(found.kind.to_string(), format!("{said}{PLACED}"));
    // One thread's fence is not all others'.
    let found = run_bad(&format!("{WRITE}if v5 {{\nengine_fence\nyield\n}}\n{SYNC}{PUT}{DONE}"));
    assert!(matches!(found.kind, FaultKind::MissingEngineFence { index: 1, .. }), "{found}");
    let found = run_bad(&format!("{WRITE}{FENCE}{PUT}{DONE}"));
    assert!(matches!(found.kind, FaultKind::Race { .. }), "{found}");
}

#[test]
fn a_block_does_not_end_before_its_stores_are_done() {
    let left = format!("the block ends, and nobody has waited for a tile that the copy engine stores to `y`{PLACED}");
    for wait in ["", READ] {
        let found = run_bad(&format!("{WRITE}{FENCE}{SYNC}{PUT}{wait}"));
        assert_eq!(found.kind.to_string(), left);
    }
    // A store in no group is in none that can be waited for.
    let found = run_bad(&format!("{WRITE}{FENCE}{SYNC}{}{DONE}", PUT.replace("commit_stores\n", "")));
    assert_eq!(found.kind.to_string(), left);
}
