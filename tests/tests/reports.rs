//! `.report(target)`: what is known of an instance before it runs, through the macro; and what knowing it costs.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use warpwright::prelude::*;
use warpwright_codegen::hir::declared_instances;
use warpwright_codegen::pipeline::compile;
use warpwright_codegen::syntax::{Program, Unit};
use warpwright_codegen::target::{DEFAULT_TARGETS, Targets};
use warpwright_review::{ReviewScope, review};
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
    for line in ["reversed (N = 10240) on sm_90, estimated\n", "memory       shared 40960 B", "\nrequirement  `shared <= 4096`"] {
        assert!(text.contains(line), "`{line}` is not in\n{text}");
    }
    // What is about the launch is found where it has a grid: two blocks of 100,000 bytes to a multiprocessor.
    let wide = |blocks: Option<usize>, y: &mut Buffer<f32>| {
        let launch = reversed::<25_000>(2.0, y);
        let launch = if let Some(blocks) = blocks { launch.grid(blocks) } else { launch };
        launch.report("sm_90").unwrap()
    };
    let tail = wide(Some(300), &mut y);
    let says = "wave_tail: 300 blocks on 132 multiprocessors, 2 a multiprocessor: 2 waves, the last 14 % full on sm_90 (estimated); give each block 1.14 times the work";
    assert!(tail.found.len() == 1 && tail.found[0].starts_with(says), "{:?}", tail.found);
    assert!(tail.to_string().contains("\nfinding      wave_tail: 300 blocks"), "{tail}");
    assert_eq!([wide(None, &mut y), wide(Some(264), &mut y)].map(|report| report.found.len()), [0, 0]);
    let opencl = reversed::<128>(2.0, &mut y).report("opencl").unwrap_err().to_string();
    assert!(opencl.contains("nothing is estimated for OpenCL devices; name an NVIDIA target, for example `sm_90`"), "{opencl}");
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

/// How long something takes: runs for long enough for the clock's steps of a few milliseconds.
fn time(work: &dyn Fn()) -> Duration {
    let (start, mut runs) = (clock(), 0);
    while runs == 0 || clock() - start < Duration::from_millis(60) {
        work();
        runs += 1;
    }
    (clock() - start) / runs
}

/// What knowing a variant may take: a time for every kernel, and more of it for what is unrolled to thousands of instructions.
struct Limit {
    /// Of a kernel with up to `SMALL` instructions.
    each: Duration,
    /// Of every instruction beyond.
    instruction: Duration,
}

/// Instructions of a kernel's IR after its annotations are carried out, in all forms that machines get.
const SMALL: u32 = 200;

impl Limit {
    /// Macros are not optimised by default. A factor of six is what optimising them gives.
    const OPTIMISED: Limit = Limit { each: Duration::from_millis(5), instruction: Duration::from_micros(25) };
    const PLAIN: Limit = Limit { each: Duration::from_millis(30), instruction: Duration::from_micros(150) };

    fn of(&self, instructions: u32) -> Duration {
        self.each + self.instruction * instructions.saturating_sub(SMALL)
    }
}

/// All of it for one variant and three targets takes at most 30 ms where nothing is optimised, as in a macro by default, and 5 ms where it is;
/// what is larger may take as much longer as it is larger, so that nothing that grows faster than the kernel stays unseen.
#[test]
fn knowing_it_is_cheap() {
    let targets = Targets::named(DEFAULT_TARGETS);
    let limit = if cfg!(debug_assertions) { Limit::PLAIN } else { Limit::OPTIMISED };
    let (mut judged, mut over) = (0, Vec::new());
    for file in corpus::library() {
        let text = std::fs::read_to_string(&file).expect("a source");
        let mut program = Program::default();
        let unit = program.add(Unit::parse("kernels", 1, 1, &text).unwrap_or_else(|found| panic!("{found:?}")));
        for (path, _) in program.units[unit.0].kernels() {
            // One kernel names items of another file.
            let Ok(mut instances) = declared_instances(&program, unit, &path) else { continue };
            // The time is that of one variant: a few of dozens tell it.
            instances.truncate(3);
            let known = || {
                let mut seen = 0;
                review(
                    &program,
                    unit,
                    &path,
                    &instances,
                    ReviewScope { targets: &targets, findings: None, most: usize::MAX },
                    Some(&mut |_| {
                        seen += 1;
                        Vec::new()
                    }),
                );
                seen
            };
            // The limit is for these targets, not for those that a kernel names itself.
            if known() == 0 || !corpus::own_targets(&program.units[unit.0], &path).is_empty() {
                continue;
            }
            let instructions = Cell::new(0);
            let once_each = || {
                instructions.set(0);
                for instance in &instances {
                    let lowered = compile(&program, unit, &path, instance).unwrap_or_else(|found| panic!("{found:?}"));
                    for form in std::iter::once(&lowered.kernel).chain(lowered.kernel.forms()) {
                        form.for_each_inst(|_, _, _| instructions.set(instructions.get() + 1));
                    }
                }
            };
            // What is asked for whether anything is to be known or not is not counted.
            let once = || {
                let (all, without) = (time(&|| assert_eq!(known(), instances.len())), time(&once_each));
                all.saturating_sub(without) / u32::try_from(instances.len()).unwrap()
            };
            // A machine that has other things to do is slow for a while: the quickest of up to six tries counts.
            let mut each = once();
            let limit = limit.of(instructions.get() / u32::try_from(instances.len()).unwrap());
            for _ in 0..5 {
                each = if each > limit { each.min(once()) } else { each };
            }
            let gpus = targets.gpus.len();
            println!("{path}: {:.2} ms a variant on {gpus} targets, of {:.2} ms", each.as_secs_f64() * 1e3, limit.as_secs_f64() * 1e3);
            judged += 1;
            if each > limit {
                over.push(format!("{path}: {each:?} a variant, and the limit is {limit:?}"));
            }
        }
    }
    assert!(judged >= 15, "{judged} kernels");
    assert!(over.is_empty(), "{over:#?}");
}
