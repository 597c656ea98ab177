//! `.report(target)`: what is known of an instance before it runs, through the macro; and what knowing it costs.

use std::sync::OnceLock;
use std::time::{Duration, Instant};
use warpwright::prelude::*;
use warpwright_codegen::hir::{declared_instances, lower_kernel};
use warpwright_codegen::review::{Scope, review};
use warpwright_codegen::schedule::schedule;
use warpwright_codegen::syntax::{Program, Unit};
use warpwright_codegen::target::{DEFAULT_TARGETS, Targets};
use warpwright_tests::corpus;

// The contract does not hold where the shared array is large: the report says so, and the launch goes on. No variant is declared, so that nothing
// is known of the kernel while this crate compiles.
#[kernel(block = 128, require(shared <= 4096), allow(unchecked))]
fn reversed<const N: usize>(a: f32, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; N];
    let (t, i) = (thread_idx().x, global_id().x);
    tile[t] = y[i];
    sync_threads();
    y[i] = a * tile[127 - t];
}

#[test]
fn a_report_is_of_the_instance_and_needs_no_device() {
    let device = Device::simulator();
    let mut y = device.zeros::<f32>(1024).unwrap();
    let small = reversed::<128>(2.0, &mut y).report("sm_90").unwrap();
    assert_eq!((small.estimated.kernel.as_str(), small.estimated.variant.as_str()), ("reversed", "N = 128"));
    assert_eq!((small.estimated.memory.shared, small.broken.len()), (512, 0));
    assert_eq!(small.estimated.bank_conflicts().and_then(|range| range.exact()), Some(0));
    assert_eq!(small.estimated.sectors_per_request().and_then(|range| range.exact()), Some(4));
    assert_eq!(small.estimated.occupancy.map(|found| found.share()), Some(1.0));
    let large = reversed::<10240>(2.0, &mut y).report("9.0").unwrap();
    assert_eq!(large.broken, ["`shared <= 4096` does not hold: 40960 bytes of shared memory, 36864 too many"]);
    // 233,472 bytes of a multiprocessor hold five blocks of 40,960 and what the system takes of each.
    assert_eq!(large.estimated.occupancy.map(|found| (found.blocks, found.warps)), Some((5, 20)));
    let text = large.to_string();
    for line in ["reversed (N = 10240) on sm_90, estimated\n", "memory       shared 40960 B", "\ncontract     `shared <= 4096`"] {
        assert!(text.contains(line), "`{line}` is not in\n{text}");
    }
    let opencl = reversed::<128>(2.0, &mut y).report("opencl").unwrap_err().to_string();
    assert!(opencl.contains("nothing is estimated for OpenCL devices; name one of NVIDIA's, `sm_90`, say"), "{opencl}");
    let unknown = reversed::<128>(2.0, &mut y).report("sm_91").unwrap_err().to_string();
    assert!(unknown.contains("sm_91") && unknown.contains("sm_90"), "{unknown}");
}

/// How long this thread has run: where the system tells, without what others took of its processor meanwhile.
fn clock() -> Duration {
    let own = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = own.as_deref().and_then(|text| text.split_whitespace().next()?.parse().ok());
    static START: OnceLock<Instant> = OnceLock::new();
    nanoseconds.map_or_else(|| START.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}

/// How long something takes: the quickest of three rounds, each long enough for the clock's steps of a few milliseconds.
fn time(work: &dyn Fn()) -> Duration {
    let round = || {
        let (start, mut runs) = (clock(), 0);
        while runs == 0 || clock() - start < Duration::from_millis(60) {
            work();
            runs += 1;
        }
        (clock() - start) / runs
    };
    (0..3).map(|_| round()).min().unwrap_or_default()
}

/// Kernels that cost more, and why.
const COSTLY: &[(&str, &str)] = &[
    ("shortcut", "64 sums of a thread, unrolled: thousands of instructions"),
    ("q", "up to 16 precise sines and cosines, unrolled: thousands of instructions"),
    ("fhd", "the same"),
    ("encrypt_all", "78 steps and 12 rounds of a cipher, unrolled"),
    ("search", "the same, twice where a thread tries two keys at a time"),
    ("multiply", "16 sums of a thread in a loop of 16 rounds, unrolled: thousands of instructions"),
    ("sad_global", "16 sums of a thread, merged into 41: a thousand instructions"),
    ("sad_shared", "64 sums of a thread, merged into four times 41: thousands of instructions"),
];

/// All of it for one variant and three targets takes at most 30 ms where nothing is optimised, as in a macro by default, and 5 ms where it is.
#[test]
fn knowing_it_is_cheap() {
    let targets = Targets::named(DEFAULT_TARGETS);
    let limit = Duration::from_millis(if cfg!(debug_assertions) { 30 } else { 5 });
    let (mut judged, mut over) = (0, Vec::new());
    for file in corpus::library() {
        let text = std::fs::read_to_string(&file).expect("a source");
        let mut program = Program::default();
        let unit = program.add(Unit::parse("kernels", 1, 1, &text).unwrap_or_else(|found| panic!("{found:?}")));
        for (path, _) in program.units[unit.0].kernels() {
            // One kernel names items of another file.
            let Ok(instances) = declared_instances(&program, unit, &path) else { continue };
            let known = || {
                let mut seen = 0;
                review(
                    &program,
                    unit,
                    &path,
                    &instances,
                    Scope { targets: &targets, findings: None, most: usize::MAX },
                    Some(&mut |_| seen += 1),
                );
                seen
            };
            if known() == 0 {
                continue;
            }
            let compile = || {
                for instance in &instances {
                    let mut lowered = lower_kernel(&program, unit, &path, instance).unwrap_or_else(|found| panic!("{found:?}"));
                    schedule(&mut lowered).unwrap_or_else(|found| panic!("{found:?}"));
                }
            };
            // What is asked for whether anything is to be known or not is not counted.
            let once = || {
                let (all, without) = (time(&|| assert_eq!(known(), instances.len())), time(&compile));
                all.saturating_sub(without) / u32::try_from(instances.len()).unwrap()
            };
            // A machine that has other things to do is slow for a while: the quickest of up to five tries counts.
            let mut each = once();
            for _ in 0..4 {
                each = if each > limit { each.min(once()) } else { each };
            }
            println!("{path}: {:.2} ms a variant on {} targets", each.as_secs_f64() * 1e3, targets.gpus.len());
            judged += 1;
            let is_costly = COSTLY.iter().any(|(name, _)| path == *name);
            if each > limit && !is_costly {
                over.push(format!("{path}: {each:?} a variant"));
            }
        }
    }
    assert!(judged >= 15, "{judged} kernels");
    assert!(over.is_empty(), "{limit:?} are the limit: {over:?}");
}
