//! Kernels with a producer: threads that a launch adds, barriers of the work alone, slots that are handed over and back; every misuse is a fault with its counts.

use super::*;
use crate::sim::Misuse;

/// What the issuer does: four copies into two slots, each once the work has handed the slot back.
const PRODUCE: &str = "v23: u32, v24: u32 = for i90 (v25: u32 in v3..v7 step v4; v26: u32 = v3, v27: u32 = v3) {
v28: u32 = xor v27, v4
barrier_wait m3[v26], v28
barrier_expect m2[v26], v5
v29: u32 = mul v25, v8
copy_run m1[v26], m0, m2[v26], v29
v30: u32 = xor v26, v4
v31: u32 = xor v27, v26
yield v30, v31
}";

/// What the work does: sums of what others would have copied.
const WORK: &str = "v32: u32, v33: u32, v34: u32 = for i91 (v35: u32 in v3..v7 step v4; v36: u32 = v3, v37: u32 = v3, v38: u32 = v3) {
barrier_wait m2[v36], v37
v39: u32 = load m1[v36][v2]
v40: u32 = add v38, v39
call sync_warp
v41: u32 = lane_id.x
v42: bool = eq v41, v3
if v42 {
barrier_arrive m3[v36]
yield
}
v43: u32 = xor v36, v4
v44: u32 = xor v37, v36
yield v43, v44, v40
}
call sync_threads
store m0[v0], v34";

/// 64 threads work, behind which the launch adds 128. The body of the roles is on lines from 10 on.
fn kernel(produce: &str, work: &str) -> String {
    let mut text = "kernel \"k\" legal
block = 64, 1, 1
file \"k.rs\"
param m0 \"y\": global mut [u32]
object m1 \"t\": shared engine [[u32; 64]; 2]
object m2 \"arrived\": shared [u64; 2]
object m3 \"free\": shared [u64; 2]
{
  v0: u32 = thread_idx.x
  v1: u32 = const 63
  v2: u32 = sub v1, v0
  v3: u32 = const 0
  v4: u32 = const 1
  v5: u32 = const 256
  v6: bool = eq v0, v3
  v7: u32 = const 4
  v8: u32 = const 64
  if v6 {
    barrier_init m2
    barrier_init m3, 2
    yield
  }
  call sync_threads
  v20: bool = is_producer
"
    .to_string();
    let body = format!("if v20 {{\nv21: bool = is_issuer\nif v21 {{\n{produce}\nyield\n}}\nyield\n}} else {{\n{work}\nyield\n}}");
    for (n, line) in body.lines().enumerate() {
        let place = format!(" @{}:5", 10 + n);
        text += &match line.strip_suffix('{') {
            _ if line.starts_with('}') => format!("  {line}\n"),
            Some(head) => format!("  {}{place} {{\n", head.trim_end()),
            None => format!("  {line}{place}\n"),
        };
    }
    text + "  return\n}\n"
}

#[track_caller]
fn run_bad(produce: &str, work: &str) -> Box<Fault> {
    fault(run(&kernel(produce, work), 1, 64, &mut (0..256).collect::<Vec<u32>>()))
}

#[test]
fn slots_are_handed_over_and_back() {
    let mut y: Vec<u32> = (0..256).collect();
    let counters = run(&kernel(PRODUCE, WORK), 1, 64, &mut y).unwrap();
    let expected: Vec<u32> = (0..64).map(|t| (0..4).map(|k| k * 64 + 63 - t).sum()).collect();
    assert_eq!(y[..64], expected);
    // One barrier of all, one of the work.
    assert_eq!(counters.total.barriers, 2);
}

#[test]
fn a_slot_that_is_handed_back_too_early_is_a_race() {
    // One lane arrives before the others of its warp are known to have read.
    let found = run_bad(PRODUCE, &WORK.replace("call sync_warp\n", ""));
    assert!(matches!(found.kind, FaultKind::Race { .. }), "{found}");
    assert!(found.to_string().contains("`t`"), "{found}");
    // Who does not wait for the slot overwrites what is still read.
    let found = run_bad(&PRODUCE.replace("barrier_wait m3[v26], v28\n", ""), WORK);
    assert!(matches!(found.kind, FaultKind::CopyInFlight { .. } | FaultKind::Race { .. }), "{found}");
}

#[test]
fn a_slot_that_is_not_handed_back_is_waited_for_with_counts() {
    // The second warp arrives in no phase.
    let work = WORK.replace("v42: bool = eq v41, v3", "v42: bool = eq v0, v3");
    let found = run_bad(PRODUCE, &work);
    let said = "waits for phase 0 of barrier 0 of `free`: 0 of 0 bytes arrived, 1 arrival missing; nobody is left who could end it";
    assert_eq!(found.kind.to_string(), format!("{said}{PLACED}"));
    // Two lanes of a warp arrive, which end a phase that the other warp is part of.
    let found = run_bad(PRODUCE, &WORK.replace("v42: bool = eq v41, v3", "v42: bool = le v41, v4"));
    assert!(matches!(found.kind, FaultKind::BarrierStuck { .. } | FaultKind::Race { .. } | FaultKind::CopyInFlight { .. }), "{found}");
    let words = Misuse::TooManyArrivals { counts: 2 }.words();
    assert_eq!(words, "has all arrivals of its phase, 2 of 2, and another thread arrives");
}

#[test]
fn barriers_of_the_work_count_its_threads() {
    // A warp that has returned is waited for.
    let work = format!(
        "v50: u32 = const 32\nv51: bool = lt v0, v50\n{}",
        WORK.replace("call sync_threads", "if v51 {\nreturn\n}\ncall sync_threads")
    );
    let found = run_bad(PRODUCE, &work);
    assert!(matches!(found.kind, FaultKind::DivergentBarrier { waiting: 32, living: 64, .. }), "{found}");
}

/// What the issuer does in turn: a tile of 8 rows of 16 into two slots, four times.
const BRING: &str = "v23: u32, v24: u32 = for i90 (v25: u32 in v3..v7 step v4; v26: u32 = v3, v27: u32 = v3) {
v28: u32 = xor v27, v4
barrier_wait m3[v26], v28
barrier_expect m2[v26], v5
copy_tile m1[v26], m0, m2[v26], v9, v10, v10, v3, v3
v30: u32 = xor v26, v4
v31: u32 = xor v27, v26
yield v30, v31
}";

/// And the work: stores it behind the matrix, from the slot, and hands that back once it is read.
const TAKE: &str = "v32: u32, v33: u32 = for i91 (v35: u32 in v3..v7 step v4; v36: u32 = v3, v37: u32 = v3) {
barrier_wait m2[v36], v37
if v6 {
put_tile m1[v36], m0, v11, v10, v10, v9, v3
commit_stores
await_stores 0 read
yield
}
call sync_warp
v41: u32 = lane_id.x
v42: bool = eq v41, v3
if v42 {
barrier_arrive m3[v36]
yield
}
v43: u32 = xor v36, v4
v44: u32 = xor v37, v36
yield v43, v44
}
if v6 {
await_stores 0 done
yield
}";

/// The kernel of these: slots are tiles, and `y` is a matrix of 16 rows.
fn moved(work: &str) -> String {
    let text = kernel(BRING, work).replace("[[u32; 64]; 2]", "[[[u32; 16]; 8]; 2]").replace("const 256", "const 512");
    text.replace("  v8: u32 = const 64\n", "  v8: u32 = const 64\n  v9: u32 = const 8\n  v10: u32 = const 16\n  v11: u32 = const 16\n")
}

#[test]
fn a_slot_that_is_stored_is_handed_back_once_it_is_read() {
    let mut y: Vec<u32> = (0..128).chain([0; 128]).collect();
    run(&moved(TAKE), 1, 64, &mut y).unwrap();
    assert_eq!(y[128..], (0..128).collect::<Vec<u32>>());
    // The thread that stores does not wait before it hands the slot back; or waits for all groups but the last, and so for this one an iteration later.
    for early in [TAKE.replacen("await_stores 0 read\n", "", 1), TAKE.replacen("await_stores 0 read", "await_stores 1 read", 1)] {
        let found = fault(run(&moved(&early), 1, 64, &mut (0..256u32).collect::<Vec<u32>>()));
        assert!(matches!(found.kind, FaultKind::StoreInFlight { .. }), "{found}");
    }
    // It waits behind its arrival: nobody is told.
    let late = TAKE.replacen("await_stores 0 read\n", "", 1).replacen(
        "v43: u32 = xor",
        "if v6 {\nawait_stores 0 read\nyield\n}\nv43: u32 = xor",
        1,
    );
    let found = fault(run(&moved(&late), 1, 64, &mut (0..256u32).collect::<Vec<u32>>()));
    assert!(matches!(found.kind, FaultKind::StoreInFlight { .. }), "{found}");
}

/// 256 threads work, two warpgroups, behind which the launch adds 128. The body of the work is on lines from 10 on.
fn warpgroups(work: &str) -> String {
    let mut text = "kernel \"k\" legal
block = 256, 1, 1
file \"k.rs\"
param m0 \"y\": global mut [u32]
object m1 \"t\": shared [u32; 256]
{
  v0: u32 = thread_idx.x
  v1: u32 = const 128
  v2: u32 = const 0
  v3: u32 = const 1
  v4: u32 = div v0, v1
  v5: u32 = const 127
  v6: u32 = const 255
  v7: u32 = const 3
  v8: u32 = const 32
  v9: bool = is_producer
  if v9 {
    yield
  } else {
"
    .to_string();
    for (n, line) in work.lines().enumerate() {
        let placed = match line.trim().strip_suffix('{') {
            Some(head) => format!("{head}@{}:5 {{", 10 + n),
            None => format!("{} @{}:5", line.trim(), 10 + n),
        };
        text += &(if line.trim().starts_with('}') { format!("    {}\n", line.trim()) } else { format!("    {placed}\n") });
    }
    text + "    yield\n  }\n  return\n}\n"
}

#[test]
fn a_warpgroup_meets_without_the_others() {
    let mirrored = |within: &str| {
        let written = "store m1[v0], v2\ncall sync_threads\nstore m1[v0], v0\nwarpgroup_sync v4\n";
        format!("{written}v20: u32 = xor v0, {within}\nv21: u32 = load m1[v20]\nstore m0[v0], v21\n")
    };
    let run_with = |work: &str| {
        let mut y = vec![0u32; 256];
        run(&warpgroups(work), 1, 256, &mut y).map(|_| y)
    };
    let fault_of = |work: &str| fault(run(&warpgroups(work), 1, 256, &mut vec![0u32; 256]));
    assert_eq!(run_with(&mirrored("v5")).unwrap(), (0..256).map(|t| t ^ 127).collect::<Vec<u32>>());
    // What the other one wrote it does not see.
    let found = fault_of(&mirrored("v6"));
    assert!(matches!(found.kind, FaultKind::Race { .. }), "{found}");
    // Nor what its own threads wrote since.
    let found = fault_of(&mirrored("v5").replace("warpgroup_sync v4\n", ""));
    assert!(matches!(found.kind, FaultKind::Race { .. }), "{found}");
    // Meeting after meeting, one warp slower than the others.
    let turns = "v30: u32 = for i90 (v31: u32 in v2..v7 step v3; v32: u32 = v0) {
        v33: bool = lt v0, v8
        if v33 {
        v34: u32 = for i91 (v35: u32 in v2..v6 step v3; v36: u32 = v2) {
        v37: u32 = add v36, v35
        yield v37
        }
        yield
        }
        store m1[v0], v32
        warpgroup_sync v4
        v38: u32 = xor v0, v5
        v39: u32 = load m1[v38]
        warpgroup_sync v4
        v40: u32 = add v39, v3
        yield v40
        }
        store m0[v0], v30\n";
    assert_eq!(run_with(turns).unwrap(), (0..256).map(|t| (t ^ 127) + 3).collect::<Vec<u32>>());
    // Without the second meeting, who is fast overwrites what others read.
    let found = fault_of(&turns.replacen("        warpgroup_sync v4\n        v40", "        v40", 1));
    assert!(matches!(found.kind, FaultKind::Race { .. }), "{found}");
}

#[test]
fn a_warp_that_does_not_come_is_waited_for_in_vain() {
    let work = "v20: bool = lt v0, v8\nif v20 {\nyield\n} else {\nwarpgroup_sync v4\nyield\n}\nstore m0[v0], v0\n";
    let found = fault(run(&warpgroups(work), 1, 256, &mut vec![0u32; 256]));
    assert!(matches!(found.kind, FaultKind::Deadlock { .. }), "{found}");
}
