//! Blocks of a cluster: what reaches another's memory where that is not there yet or any more, and barriers that not all come to.

use super::*;
use crate::sim::AccessKind;

/// A kernel over `m0`, `global mut [u32]`, and `m1`, an array of 32 in each block of a cluster of 2; the body is on lines from 10 on.
fn kernel(body: &str) -> String {
    let mut text = "kernel \"k\" legal
block = 32, 1, 1
cluster = 2, 1, 1
file \"k.rs\"
param m0 \"y\": global mut [u32]
object m1 \"t\": shared [u32; 32]
object m2 \"t\": peers m1 [[u32; 32]; 2]
{
  v0: u32 = thread_idx.x
  v1: u32 = block_idx.x
  v2: u32 = const 0
  v3: u32 = const 1
  v4: u32 = const 32
  v5: bool = eq v1, v2
  v6: u32 = mul v1, v4
  v7: u32 = add v6, v0
  v8: u32 = sub v3, v1
"
    .to_string();
    for (n, line) in body.lines().enumerate() {
        let line = line.trim();
        text += &match (line.strip_suffix('{'), line.starts_with('}')) {
            (_, true) => format!("  {line}\n"),
            (Some(head), _) => format!("  {head}@{}:5 {{\n", 10 + n),
            _ => format!("  {line} @{}:5\n", 10 + n),
        };
    }
    text + "  return\n}\n"
}

fn run_on(body: &str) -> Result<Vec<u32>, Error> {
    let mut y = vec![0; 64];
    run(&kernel(body), 2, 32, &mut y).map(|_| y)
}

#[test]
fn blocks_that_meet_read_each_other_s_arrays() {
    let body = "store m1[v0], v7\ncall cluster_sync\nv9: u32 = load m2[v8][v0]\nstore m0[v7], v9\ncall cluster_sync";
    assert_eq!(run_on(body).unwrap(), (32..64).chain(0..32).collect::<Vec<u32>>());
}

#[test]
fn a_block_that_may_not_have_begun_is_not_reached() {
    let found = fault(run_on("store m1[v0], v7\nstore m2[v8][v0], v7").map(|_| Counters::default()));
    let kind = FaultKind::NoPeer { object: "t".to_owned(), access: AccessKind::Write, block: [1, 0, 0], has_returned: false };
    assert_eq!((found.line, found.block, &found.kind), (11, [0, 0, 0], &kind));
    let text = found.to_string();
    assert!(
        text.ends_with("writes `t` of block (1, 0, 0), which may not have begun; help: `cluster_sync();` before the first use"),
        "{text}"
    );
    // Its own array is there.
    assert_eq!(run_on("store m2[v1][v0], v7\nv9: u32 = load m1[v0]\nstore m0[v7], v9").unwrap(), (0..64).collect::<Vec<u32>>());
}

#[test]
fn a_block_that_has_ended_is_not_reached() {
    // The first block leaves behind the barrier.
    let body = "store m1[v0], v7\ncall cluster_sync\nif v5 {\nreturn\n} else {\nyield\n}\nv9: u32 = load m2[v8][v0]\nstore m0[v7], v9";
    let found = fault(run_on(body).map(|_| Counters::default()));
    let kind = FaultKind::NoPeer { object: "t".to_owned(), access: AccessKind::Read, block: [0, 0, 0], has_returned: true };
    assert_eq!((found.line, found.block, &found.kind), (17, [1, 0, 0], &kind));
    assert!(found.to_string().contains("which has ended, and its shared memory with it"), "{found}");
}

#[test]
fn what_nobody_wrote_in_another_block_is_not_read() {
    let found =
        fault(run_on("call cluster_sync\nv9: u32 = load m2[v8][v0]\nstore m0[v7], v9\ncall cluster_sync").map(|_| Counters::default()));
    assert_eq!(found.kind, FaultKind::Uninitialised { object: "t".to_owned(), index: 0, length: 32, shared: true });
}

#[test]
fn barriers_of_the_block_order_nothing_across_blocks() {
    // Each writes the other's, the block meets, and the other reads it.
    let body = "call cluster_sync\nstore m2[v8][v0], v7\ncall sync_threads\nv9: u32 = load m1[v0]\nstore m0[v7], v9\ncall cluster_sync";
    let found = fault(run_on(body).map(|_| Counters::default()));
    assert!(
        matches!(found.kind, FaultKind::Race { across_blocks: true, in_cluster: true, .. } | FaultKind::Uninitialised { .. }),
        "{found}"
    );
    let met = body.replace("call sync_threads", "call cluster_sync");
    assert_eq!(run_on(&met).unwrap(), (32..64).chain(0..32).collect::<Vec<u32>>());
}

#[test]
fn atomics_of_several_blocks_do_not_race() {
    let body = "store m1[v0], v2\ncall cluster_sync\nv9: u32 = atomic add m2[v2][v2], v3\nv10: u32 = atomic add m2[v2][v2], v3\ncall cluster_sync\n\
                v11: u32 = load m2[v2][v2]\nstore m0[v7], v11\ncall cluster_sync";
    assert_eq!(run_on(body).unwrap(), vec![128; 64]);
}

#[test]
fn blocks_that_wait_at_different_barriers_are_told_apart() {
    let body = "if v5 {\ncall cluster_sync\nyield\n} else {\ncall cluster_sync\nyield\n}";
    let found = fault(run_on(body).map(|_| Counters::default()));
    assert_eq!(found.kind, FaultKind::ClusterApart { waiting: 2, blocks: 2, other_block: [1, 0, 0], other_line: Some(14) });
    let body = "if v5 {\ncall cluster_sync\nyield\n} else {\nyield\n}";
    let found = fault(run_on(body).map(|_| Counters::default()));
    assert_eq!(found.kind, FaultKind::ClusterApart { waiting: 1, blocks: 2, other_block: [1, 0, 0], other_line: None });
}

#[test]
fn addresses_in_other_blocks_are_those_of_paths() {
    let addressed = |body: &str| kernel(body).replace("\"k\" legal", "\"k\" addressed");
    let body = "v9: ptr.shared = address m1\nv10: u32 = const 2\nv11: u32 = shl v0, v10\nv12: ptr.shared = offset v9, v11\nstore_at m1, v12, v7\ncall cluster_sync\n\
                v13: ptr.cluster = peer_address m2, v8\nv14: ptr.cluster = offset v13, v11\nv15: u32 = load_at m2, v14\nv16: ptr.global = address m0\nv17: u64 = cast v7\n\
                v18: u64 = const 4\nv19: u64 = mul v17, v18\nv20: ptr.global = offset v16, v19\nstore_at m0, v20, v15\ncall cluster_sync";
    let mut y: Vec<u32> = vec![0; 64];
    run(&addressed(body), 2, 32, &mut y).unwrap();
    assert_eq!(y, (32..64).chain(0..32).collect::<Vec<u32>>());
}

#[test]
fn a_grid_of_parts_of_clusters_is_refused() {
    let mut y: Vec<u32> = vec![0; 64];
    let error = run(&kernel("store m0[v7], v7"), 3, 32, &mut y).unwrap_err().to_string();
    assert!(error.contains("a grid of (3, 1, 1) blocks is not whole clusters of (2, 1, 1)"), "{error}");
}
