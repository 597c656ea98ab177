//! The copy engine: what arrives may be touched by who waited, and by others behind a barrier; barriers count exactly; every misuse is a fault. These are three rules, each with
//! errors and near misses (`reverses`): V1, a barrier's arrivals and bytes are those that it counts; V2, a slot is waited for before it is read, and by all who read it; V3, an
//! engine fence and a barrier stand between what threads write and the engine's copy to the same place.

use super::*;
use crate::sim::{AccessKind, Misuse};

/// A kernel over `m0`, `global mut [u32]`, `m1`, two slots that the engine fills, and `m2`, a barrier for each; the body is on lines from 10 on.
fn kernel(body: &str) -> String {
    let mut text = "kernel \"k\" legal
file \"k.rs\"
param m0 \"y\": global mut [u32]
object m1 \"t\": shared engine [[u32; 64]; 2]
object m2 \"arrived\": shared [u64; 2]
{
  v0: u32 = thread_idx.x
  v1: u32 = const 63
  v2: u32 = sub v1, v0
  v3: u32 = const 0
  v4: u32 = const 1
  v5: u32 = const 256
  v6: bool = eq v0, v3
"
    .to_string();
    for (n, line) in body.lines().enumerate() {
        let line = line.trim();
        text += &(if line.starts_with('}') { format!("  {line}\n") } else { format!("  {}\n", placed(line, 10 + n)) });
    }
    text + "  return\n}\n"
}

/// A line with its place, which stands before an opening brace.
fn placed(line: &str, number: usize) -> String {
    match line.strip_suffix('{') {
        Some(head) => format!("{head}@{number}:5 {{"),
        None => format!("{line} @{number}:5"),
    }
}

const INIT: &str = "if v6 {\nbarrier_init m2\nyield\n}\ncall sync_threads\n";
const COPY: &str = "if v6 {\nbarrier_expect m2[v3], v5\ncopy_run m1[v3], m0, m2[v3], v3\nyield\n}\n";
const REVERSE: &str = "v10: u32 = load m1[v3][v2]\ncall sync_threads\nstore m0[v0], v10";

#[track_caller]
fn run_bad(body: &str) -> Box<Fault> {
    fault(run(&kernel(body), 1, 64, &mut (0..64).collect::<Vec<u32>>()))
}

#[track_caller]
fn reverses(body: &str) {
    let mut y: Vec<u32> = (0..64).collect();
    run(&kernel(body), 1, 64, &mut y).unwrap();
    assert_eq!(y, (0..64).rev().collect::<Vec<u32>>());
}

/// V2: near misses.
#[test]
fn who_waited_reads_what_arrived() {
    reverses(&format!("{INIT}{COPY}barrier_wait m2[v3], v3\n{REVERSE}"));
    // The announcement may come behind the copy: bytes that are there are less than none.
    let late = COPY.replace(
        "barrier_expect m2[v3], v5\ncopy_run m1[v3], m0, m2[v3], v3",
        "copy_run m1[v3], m0, m2[v3], v3\nbarrier_expect m2[v3], v5",
    );
    reverses(&format!("{INIT}{late}barrier_wait m2[v3], v3\n{REVERSE}"));
    // One thread waits, and a barrier tells the others.
    reverses(&format!("{INIT}{COPY}if v6 {{\nbarrier_wait m2[v3], v3\nyield\n}}\ncall sync_threads\n{REVERSE}"));
    // The next phase of the same barrier has the other parity.
    reverses(&format!("{INIT}{COPY}barrier_wait m2[v3], v3\ncall sync_threads\n{COPY}barrier_wait m2[v3], v4\n{REVERSE}"));
}

/// V2.
#[test]
fn nobody_touches_what_is_on_its_way() {
    let body = format!("{INIT}{COPY}call sync_threads\n{REVERSE}");
    let found = run_bad(&body);
    assert!(matches!(found.kind, FaultKind::CopyInFlight { is_awaited: false, .. }), "{found}");
    let said = "reads scalar 63 of `t` (of 128), to which thread (0, 0, 0) copies on line 17; the copy may still be on its way, since that thread has not waited for it";
    assert_eq!(found.kind.to_string(), format!("{said}{PLACED}"));
    // A store, too; and a second copy to the same place.
    let found = run_bad(&format!("{INIT}{COPY}call sync_threads\nstore m1[v3][v0], v0"));
    assert!(matches!(found.kind, FaultKind::CopyInFlight { access: AccessKind::Write, .. }), "{found}");
    let found = run_bad(&format!("{INIT}{COPY}call sync_threads\n{}", COPY.replace("m2[v3]", "m2[v4]")));
    assert!(matches!(found.kind, FaultKind::CopyInFlight { access: AccessKind::Write, .. }), "{found}");
    // One thread has waited, and no barrier has told the others.
    let found = run_bad(&format!("{INIT}{COPY}if v6 {{\nbarrier_wait m2[v3], v3\nyield\n}}\n{REVERSE}"));
    assert!(matches!(found.kind, FaultKind::CopyInFlight { is_awaited: true, .. }), "{found}");
    // The wait was for the phase before: nothing has ended since, and its parity is that of a phase that is over.
    let found = run_bad(&format!("{INIT}{COPY}barrier_wait m2[v3], v3\ncall sync_threads\n{COPY}barrier_wait m2[v3], v3\n{REVERSE}"));
    assert!(matches!(found.kind, FaultKind::BarrierStuck { .. } | FaultKind::CopyInFlight { .. }), "{found}");
}

#[track_caller]
fn stuck(body: &str, expected: &str) {
    let found = run_bad(body);
    assert!(matches!(found.kind, FaultKind::BarrierStuck { .. }), "{found}");
    assert_eq!(found.kind.to_string(), format!("{expected}{PLACED}"));
}

/// V1.
#[test]
fn a_phase_that_nobody_ends_is_a_fault_with_its_counts() {
    // Nobody arrives.
    let silent = COPY.replace("barrier_expect m2[v3], v5\n", "");
    stuck(
        &format!("{INIT}{silent}barrier_wait m2[v3], v3\n{REVERSE}"),
        "waits for phase 0 of barrier 0 of `arrived`: 256 of 0 bytes arrived, 1 arrival missing; nobody is left who could end it",
    );
    // More is announced than copied.
    let more = "v7: u32 = const 512\n";
    stuck(
        &format!("{more}{INIT}{}barrier_wait m2[v3], v3\n{REVERSE}", COPY.replace("v5", "v7")),
        "waits for phase 0 of barrier 0 of `arrived`: 256 of 512 bytes arrived, 0 arrivals missing; nobody is left who could end it",
    );
    // The wrong slot; the wrong parity.
    stuck(
        &format!("{INIT}{COPY}barrier_wait m2[v4], v3\n{REVERSE}"),
        "waits for phase 0 of barrier 1 of `arrived`: 0 of 0 bytes arrived, 1 arrival missing; nobody is left who could end it",
    );
    stuck(
        &format!("{INIT}{COPY}barrier_wait m2[v3], v3\ncall sync_threads\nbarrier_wait m2[v3], v4\n{REVERSE}"),
        "waits for phase 1 of barrier 0 of `arrived`: 0 of 0 bytes arrived, 1 arrival missing; nobody is left who could end it",
    );
}

#[track_caller]
fn misused(body: &str, expected: Misuse, text: &str) {
    let found = run_bad(body);
    assert!(matches!(found.kind, FaultKind::BarrierMisused { misuse, .. } if misuse == expected), "{found}");
    assert_eq!(found.kind.to_string(), format!("{text}{PLACED}"));
}

/// V1.
const TOO_EARLY: &str =
    "barrier 0 of `arrived` is used by a thread that may come before the one that makes it: no barrier of the block is between the two";

#[test]
fn barriers_are_used_as_they_are_made() {
    misused(&format!("if v6 {{\nbarrier_init m2\nyield\n}}\n{COPY}barrier_wait m2[v3], v3\n{REVERSE}"), Misuse::NotMet, TOO_EARLY);
    misused(COPY, Misuse::NotMade, "barrier 0 of `arrived` is used before it is made");
    misused(&format!("{INIT}barrier_init m2"), Misuse::MadeAgain, "barrier 0 of `arrived` is made again");
    let twice = COPY.replace("if v6 {", "v8: u32 = const 2\nv9: bool = lt v0, v8\nif v9 {");
    let arrivals = twice.replace("copy_run m1[v3], m0, m2[v3], v3\n", "");
    misused(
        &format!("{INIT}{arrivals}"),
        Misuse::TooManyArrivals { counts: 1 },
        "barrier 0 of `arrived` has all arrivals of its phase, 1 of 1, and another thread arrives",
    );
    let less = "v7: u32 = const 128\n";
    misused(
        &format!("{less}{INIT}{}barrier_wait m2[v3], v3\n{REVERSE}", COPY.replace("v5", "v7")),
        Misuse::TooManyBytes,
        "barrier 0 of `arrived` gets more bytes in a phase than were announced",
    );
    misused(
        &format!("{INIT}{COPY}"),
        Misuse::NeverAwaited,
        "barrier 0 of `arrived` counted copies that nobody has waited for when the block ends",
    );
}

/// V3, and its near miss.
#[test]
fn the_engine_fills_what_threads_wrote_behind_a_fence_only() {
    let body = |fence: &str| format!("{INIT}store m1[v3][v0], v0\n{fence}call sync_threads\n{COPY}barrier_wait m2[v3], v3\n{REVERSE}");
    reverses(&body("engine_fence\n"));
    let found = run_bad(&body(""));
    assert!(matches!(found.kind, FaultKind::MissingEngineFence { .. }), "{found}");
    let said =
        "the copy engine fills scalar 0 of `t` (of 128), which thread (0, 0, 0) wrote; no engine fence of that thread is between the two";
    assert_eq!(found.kind.to_string(), format!("{said}{PLACED}"));
    // One thread's fence is not all others'.
    let found = run_bad(&body("if v6 {\nengine_fence\nyield\n}\n"));
    assert!(matches!(found.kind, FaultKind::MissingEngineFence { index: 1, .. }), "{found}");
}

#[test]
fn threads_wait_until_others_have_asked() {
    // The second warp asks, and the first waits meanwhile.
    let of_other = COPY.replace("if v6 {", "v8: u32 = const 40\nv9: bool = eq v0, v8\nif v9 {");
    reverses(&format!("{INIT}{of_other}barrier_wait m2[v3], v3\n{REVERSE}"));
}

/// Where a ring stands is what was left last, by each thread for itself.
#[test]
fn a_ring_stands_where_it_was_left() {
    let turn = "v10: u32, v11: u32 = barrier_turn m2\n";
    let body = |slot: &str| {
        format!(
            "barrier_keep_turn m2, {slot}, v3\n{INIT}{COPY}{turn}barrier_wait m2[v10], v11\nv12: u32 = load m1[v10][v2]\ncall sync_threads\nstore m0[v0], v12"
        )
    };
    reverses(&body("v3"));
    let found = run_bad(&body("v4"));
    assert!(matches!(found.kind, FaultKind::BarrierStuck { index: 1, .. }), "{found}");
}

#[test]
fn a_copy_beyond_the_buffer_is_out_of_bounds() {
    let body = format!("v7: u32 = const 4\n{INIT}{}barrier_wait m2[v3], v3\n{REVERSE}", COPY.replace("m2[v3], v3\n", "m2[v3], v7\n"));
    let found = run_bad(&body);
    assert!(matches!(found.kind, FaultKind::OutOfBounds { width: 64, index: 4, .. }), "{found}");
}
