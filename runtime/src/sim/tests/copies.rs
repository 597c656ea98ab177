//! Copies on their way: nobody touches what they go to before they have been waited for, and others only behind a barrier.

use super::*;

/// A kernel over `m0`, `global mut [u32]`, and `m1`, a ring of two slots, with a body on lines from 10 on.
fn kernel(body: &str) -> String {
    let mut text = "kernel \"k\" legal
file \"k.rs\"
param m0 \"y\": global mut [u32]
object m1 \"t\": shared ring [[u32; 64]; 2]
{
  v0: u32 = thread_idx.x
  v1: u32 = const 63
  v2: u32 = sub v1, v0
  v3: u32 = const 0
  v4: u32 = const 1
"
    .to_string();
    for (n, line) in body.lines().enumerate() {
        text += &format!("  {} @{}:5\n", line.trim(), 10 + n);
    }
    text + "  return\n}\n"
}

#[track_caller]
fn run_bad(body: &str) -> (u32, String) {
    let fault = fault(run(&kernel(body), 1, 64, &mut vec![0u32; 64]));
    assert!(matches!(fault.kind, FaultKind::CopyInFlight { .. }), "{fault}");
    (fault.line, fault.kind.to_string())
}

const COPY: &str = "store m1[v3][v0], v0
call commit_copies";

#[test]
fn a_copy_that_was_waited_for_is_there_behind_the_barrier() {
    let body = format!("{COPY}\ncall await_copies v3\ncall sync_threads\nv10: u32 = load m1[v3][v2]\nstore m0[v0], v10");
    let mut y = vec![7777; 64];
    run(&kernel(&body), 1, 64, &mut y).unwrap();
    assert_eq!(y, (0..64).map(|i| 63 - i).collect::<Vec<u32>>());
    // A second group may be on its way meanwhile.
    let body = format!(
        "{COPY}\nstore m1[v4][v0], v2\ncall commit_copies\ncall await_copies v4\ncall sync_threads\nv10: u32 = load m1[v3][v2]\nstore m0[v0], v10"
    );
    run(&kernel(&body), 1, 64, &mut y).unwrap();
    assert_eq!(y, (0..64).map(|i| 63 - i).collect::<Vec<u32>>());
}

#[test]
fn nobody_reads_a_copy_that_was_not_waited_for() {
    // Not even who copies.
    let (line, text) = run_bad(&format!("{COPY}\nv10: u32 = load m1[v3][v0]\nstore m0[v0], v10"));
    assert_eq!(line, 12);
    let said = "reads scalar 0 of `t` (of 128), to which thread (0, 0, 0) copies on line 10; the copy may still be on its way, since that thread has not waited for it";
    assert_eq!(text, format!("{said}{PLACED}"));
    // One group too many may be on its way.
    assert_eq!(run_bad(&format!("{COPY}\ncall await_copies v4\ncall sync_threads\nv10: u32 = load m1[v3][v2]")).0, 14);
    // What was not made a group is in none.
    assert_eq!(run_bad("store m1[v3][v0], v0\ncall await_copies v3\nv10: u32 = load m1[v3][v0]").0, 12);
}

#[test]
fn a_barrier_before_the_wait_tells_others_nothing() {
    let (line, text) = run_bad(&format!("{COPY}\ncall sync_threads\ncall await_copies v3\nv10: u32 = load m1[v3][v2]"));
    assert_eq!(line, 14);
    // The first warp reads what the second copies, which has not waited yet.
    assert!(text.contains("thread (63, 0, 0) copies on line 10"), "{text}");
    let (_, text) =
        run_bad(&format!("{COPY}\ncall await_copies v3\nv10: u32 = const 31\nv11: u32 = xor v0, v10\nv12: u32 = load m1[v3][v11]"));
    assert!(text.contains("that thread has waited for the copy, and no barrier is between its wait and this line; help: "), "{text}");
}

#[test]
fn nobody_writes_where_a_copy_goes() {
    let (line, text) = run_bad(&format!("{COPY}\nstore m1[v3][v0], v2"));
    assert_eq!(line, 12);
    assert!(text.starts_with("writes scalar 0 of `t`"), "{text}");
}

#[test]
fn each_block_begins_without_copies() {
    let body = format!("{COPY}\ncall await_copies v3\ncall sync_threads\nv10: u32 = load m1[v3][v2]\nstore m0[v0], v10");
    let open = body.replace("store m0", "store m1[v4][v0], v2\ncall commit_copies\nstore m0");
    // What is on its way when a block ends does not concern the next one.
    run(&kernel(&open).replace("store m0[v0], v10", "v20: u32 = atomic add m0[v0], v10"), 3, 64, &mut vec![0u32; 64]).unwrap();
}
