//! Tiles that the blocks of a cluster share: each copies half of the rows to both, slots are handed back to both, and every misuse is a fault.

use super::*;

/// What the issuer does: four copies of the same tile, half of it, into two slots of both blocks, each once both have handed the slot back.
const PRODUCE: &str = "v23: u32, v24: u32 = for i90 (v25: u32 in v2..v8 step v3; v26: u32 = v2, v27: u32 = v2) {
v28: u32 = xor v27, v3
barrier_wait m3[v26], v28
barrier_expect m2[v26], v7
copy_tile shared 2 m1[v26], m0, m2[v26], v5, v4, v4, v2, v2, v1, v9
v30: u32 = xor v26, v3
v31: u32 = xor v27, v26
yield v30, v31
}";

/// What the work does: four times the sum of a column's element of the upper and of the lower half.
const WORK: &str = "v32: u32, v33: u32, v34: u32 = for i91 (v35: u32 in v2..v8 step v3; v36: u32 = v2, v37: u32 = v2, v38: u32 = v2) {
barrier_wait m2[v36], v37
v39: u32 = load m1[v36][v13][v14]
v40: u32 = load m1[v36][v15][v14]
v41: u32 = add v39, v40
v42: u32 = add v38, v41
call sync_warp
v43: u32 = lane_id.x
v44: bool = lt v43, v12
if v44 {
barrier_arrive m3[v36] of v43
yield
}
v45: u32 = xor v36, v3
v46: u32 = xor v37, v36
yield v45, v46, v42
}
store m0[v19], v34";

const LEAVE: &str = "call cluster_sync";

/// A cluster of two blocks of 32 threads, behind which the launch adds 128. The first 128 elements of `y` are a matrix of 8 rows, the 64 behind get the results.
fn kernel(produce: &str, work: &str, leave: &str) -> String {
    let mut text = "kernel \"k\" legal
block = 32, 1, 1
cluster = 2, 1, 1
file \"k.rs\"
param m0 \"y\": global mut [u32]
object m1 \"t\": shared engine [[[u32; 16]; 8]; 2]
object m2 \"arrived\": shared [u64; 2]
object m3 \"free\": shared [u64; 2]
{
  v0: u32 = thread_idx.x
  v1: u32 = block_idx.x
  v2: u32 = const 0
  v3: u32 = const 1
  v4: u32 = const 16
  v5: u32 = const 8
  v6: bool = eq v0, v2
  v7: u32 = const 512
  v8: u32 = const 4
  v9: u32 = const 3
  v12: u32 = const 2
  v13: u32 = div v0, v4
  v14: u32 = rem v0, v4
  v15: u32 = add v13, v8
  v16: u32 = const 128
  v17: u32 = const 32
  v18: u32 = mul v1, v17
  v10: u32 = add v18, v16
  v19: u32 = add v10, v0
  if v6 {
    barrier_init m2
    barrier_init m3, 2
    yield
  }
  call cluster_sync
  v20: bool = is_producer
"
    .to_string();
    let body = format!("if v20 {{\nv21: bool = is_issuer\nif v21 {{\n{produce}\nyield\n}}\nyield\n}} else {{\n{work}\nyield\n}}\n{leave}");
    for (n, line) in body.lines().enumerate() {
        let place = format!(" @{}:5", 10 + n);
        text += &match line.strip_suffix('{') {
            _ if line.starts_with('}') || line.is_empty() => format!("  {line}\n"),
            Some(head) => format!("  {}{place} {{\n", head.trim_end()),
            None => format!("  {line}{place}\n"),
        };
    }
    text + "  return\n}\n"
}

fn run_on(produce: &str, work: &str, leave: &str) -> Result<Vec<u32>, Error> {
    let mut y: Vec<u32> = (0..192).collect();
    run(&kernel(produce, work, leave), 2, 32, &mut y).map(|_| y)
}

#[track_caller]
fn run_bad(produce: &str, work: &str, leave: &str) -> Box<Fault> {
    fault(run_on(produce, work, leave).map(|_| Counters::default()))
}

#[test]
fn each_block_gets_what_both_have_copied() {
    let y = run_on(PRODUCE, WORK, LEAVE).unwrap();
    // Rows 0 and 1, and rows 4 and 5.
    let of = |i: u32| 4 * (i + (i + 64));
    assert_eq!(y[128..], (0..32).map(of).chain((0..32).map(of)).collect::<Vec<u32>>());
}

#[test]
fn a_slot_is_filled_once_all_blocks_have_handed_it_back() {
    // Each hands back to itself alone, and waits for nobody else.
    let own = WORK.replace("v44: bool = lt v43, v12", "v44: bool = lt v43, v3").replace(" of v43", "");
    let text = kernel(PRODUCE, &own, LEAVE).replace("barrier_init m3, 2", "barrier_init m3, 1");
    let found = fault(run(&text, 2, 32, &mut (0..192u32).collect::<Vec<u32>>()));
    let is_early = matches!(found.kind, FaultKind::CopyInFlight { .. } | FaultKind::Race { .. } | FaultKind::BarrierMisused { .. });
    assert!(is_early, "{found}");
    // One that hands back to the other alone.
    let other = WORK.replace(" of v43", " of v1");
    let found = run_bad(PRODUCE, &other, LEAVE);
    assert!(matches!(found.kind, FaultKind::CopyInFlight { .. } | FaultKind::Race { .. } | FaultKind::BarrierMisused { .. }), "{found}");
}

#[test]
fn a_block_waits_for_all_parts() {
    // Each copies to itself alone: half of the bytes.
    let own = PRODUCE.replace("v1, v9", "v1, v11").replace("v28: u32", "v11: u32 = shl v3, v1\nv28: u32");
    let found = run_bad(&own, WORK, LEAVE);
    assert!(matches!(found.kind, FaultKind::BarrierStuck { .. }), "{found}");
    // Both copy the same half: the other one is not there.
    let found = run_bad(&PRODUCE.replace("v1, v9", "v2, v9"), WORK, LEAVE);
    assert!(matches!(found.kind, FaultKind::CopyInFlight { .. } | FaultKind::Uninitialised { .. }), "{found}");
}

#[test]
fn tiles_begin_at_multiples_of_sixteen_bytes() {
    let found = run_bad(&PRODUCE.replace("v2, v2, v1", "v2, v3, v1"), WORK, LEAVE);
    assert!(matches!(found.kind, FaultKind::TensorColumn { column: 1, bytes: 4, .. }), "{found}");
    let said = found.to_string();
    for part in ["a tensor copy of `y` from column 1 on, which is 4 bytes", "a multiple of 16, and GPUs trap", "help: "] {
        assert!(said.contains(part), "`{part}` is not in `{said}`");
    }
    // Rows begin anywhere, also where none is.
    assert_eq!(run_on(&PRODUCE.replace("v2, v2, v1", "v4, v2, v1"), WORK, LEAVE).unwrap()[128..], [0; 64]);
}

/// Rule V5 is the verifier's: nothing is run that breaks it.
#[test]
fn blocks_are_reached_between_their_meetings() {
    let refused = |text: &str| SimProgram::compile_with(&parse(text), SimOptions::default()).map(|_| ()).unwrap_err().to_string();
    let late = refused(&kernel(PRODUCE, WORK, ""));
    assert!(late.contains("a block may end while others of its cluster reach its slots"), "{late}");
    let early = refused(&kernel(PRODUCE, WORK, LEAVE).replacen("call cluster_sync\n", "call sync_threads\n", 1));
    assert!(early.contains("blocks of a cluster reach each other's slots before they have met"), "{early}");
    let alone = refused(&kernel(PRODUCE, WORK, LEAVE).replace("cluster = 2, 1, 1\n", ""));
    assert!(alone.contains("2 blocks share a tile, and a cluster has fewer"), "{alone}");
    let odd = refused(&kernel(&PRODUCE.replace("shared 2", "shared 3"), WORK, LEAVE));
    assert!(odd.contains("8 rows in 3 parts"), "{odd}");
    let few = refused(&kernel(PRODUCE, WORK, LEAVE).replace("barrier_init m3, 2", "barrier_init m3, 1"));
    assert!(few.contains("m3 counts 1 arrivals in a phase, and there are 2"), "{few}");
}
