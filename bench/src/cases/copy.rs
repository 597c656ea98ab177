//! The experiment of "Thread- and Instruction-Level Parallelism in CUDA Fortran": 6 block sizes × 6 kernels × shared memory free or 0.9
//! taken. And the best of them against `cudaMemcpy`.

use crate::contest::{Arena, Case};
use crate::memory::{Number, random};
use crate::report::Unit;
use crate::twins::{Twins, at};
use crate::{Outcome, Runner};
use warpwright::{Buffer, Launch};
use warpwright_kernels::copy::copy;

type Copies = Arena<f64, Buffer<f64>>;
type Launcher = for<'m> fn(&'m mut Copies) -> Launch<'m>;

/// A kernel of the experiment at one block size.
struct Variant {
    name: &'static str,
    threads: u32,
    ilp: u32,
    batched: bool,
    vector: u32,
    launch: Launcher,
}

fn launch<const B: usize, const ILP: usize, const BATCH: bool, const V: usize>(arena: &mut Copies) -> Launch<'_> {
    let n = arena.ours.len();
    copy::<f64, B, ILP, BATCH, V>(&mut arena.ours, &arena.inputs).cover(n)
}

fn of_block<const B: usize>() -> [Variant; 6] {
    let variant = |name, ilp, batched, vector, launch| Variant { name, threads: B as u32, ilp, batched, vector, launch };
    [
        variant("plain", 1, false, 1, launch::<B, 1, false, 1> as Launcher),
        variant("ilp 4", 4, false, 1, launch::<B, 4, false, 1>),
        variant("ilp 4 batched", 4, true, 1, launch::<B, 4, true, 1>),
        variant("ilp 8 batched", 8, true, 1, launch::<B, 8, true, 1>),
        variant("vectors", 1, false, 2, launch::<B, 1, false, 2>),
        variant("vectors ilp 4 batched", 4, true, 2, launch::<B, 4, true, 2>),
    ]
}

const SEED: u32 = 1;

pub(super) fn run(runner: &mut Runner) -> Outcome<()> {
    // Tiny: a length that fits no group. The twins of vectors want whole ones.
    let n = runner.size.pick(1 << 28, 1 << 20, 2_999);
    let mut arena = Arena::new(runner, random::<f64>(&runner.device, SEED, n)?, n)?;
    let blocks = [of_block::<32>(), of_block::<64>(), of_block::<128>(), of_block::<256>(), of_block::<512>(), of_block::<1024>()];
    for shared in [0, runner.most_shared_memory()?] {
        for variant in blocks.iter().flatten() {
            let launch = variant.launch;
            let case = Case {
                variant: variant.name.to_owned(),
                threads: variant.threads as usize,
                shared,
                work: 16.0 * n as f64,
                unit: Unit::Bytes,
                ours: &|arena| launch(arena).shared_bytes(shared),
                theirs: &|twins: &Twins, arena: &Copies| {
                    let Variant { threads, ilp, batched, vector, .. } = variant;
                    twins.copy(*threads, *ilp, u32::from(*batched), *vector, shared, at(arena.theirs()), at(&arena.inputs), n as u32)
                },
                expected: &|i| f64::input(SEED, i),
                bound: 0.0,
            };
            runner.contest("copy", &mut arena, &case);
        }
    }
    // The table's fastest, and the library's.
    let fastest: [(&str, usize, Launcher); 4] = [
        ("ilp 4 batched against cudaMemcpy", 64, launch::<64, 4, true, 1>),
        ("ilp 8 batched against cudaMemcpy", 32, launch::<32, 8, true, 1>),
        ("vectors against cudaMemcpy", 128, launch::<128, 1, false, 2>),
        ("vectors against cudaMemcpy", 256, launch::<256, 1, false, 2>),
    ];
    for (name, threads, launch) in fastest {
        let case = Case {
            variant: name.to_owned(),
            threads,
            shared: 0,
            work: 16.0 * n as f64,
            unit: Unit::Bytes,
            ours: &|arena| launch(arena),
            theirs: &|twins: &Twins, arena: &Copies| twins.memcpy(at(arena.theirs()), at(&arena.inputs), n as u32),
            expected: &|i| f64::input(SEED, i),
            bound: 0.0,
        };
        runner.contest("copy", &mut arena, &case);
    }
    Ok(())
}
