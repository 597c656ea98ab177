//! W warps × ILP I: how many additions a multiprocessor does with W warps of I dependent chains each, as in "Programming Parallel
//! Computers", part 5B. One block on each multiprocessor: shared memory leaves no room for a second.

use crate::contest::{Arena, Case};
use crate::report::Unit;
use crate::twins::{Twins, at};
use crate::{Outcome, Runner};
use warpwright::Launch;
use warpwright_kernels::throughput::additions;

type Chains = Arena<f32, ()>;
/// How many steps, blocks, threads of a block.
type Launcher = for<'m> fn(&'m mut Chains, usize, u32, u32) -> Launch<'m>;

/// Exact in every sum.
const X: f32 = 1.0;

fn launch<const I: usize, const U: usize>(arena: &mut Chains, steps: usize, grid: u32, threads: u32) -> Launch<'_> {
    additions::<I, U>(steps, X, &mut arena.ours).grid(grid).block(threads)
}

pub(super) fn run(runner: &mut Runner) -> Outcome<()> {
    let steps = runner.size.pick(1 << 17, 1 << 12, 99);
    let grid = runner.twins.as_ref().map_or(Ok(2), Twins::multiprocessors)?;
    let shared = runner.most_shared_memory()?;
    // 32 additions in a round of the loop.
    let chains: [(u32, Launcher); 4] = [(1, launch::<1, 32>), (2, launch::<2, 16>), (4, launch::<4, 8>), (8, launch::<8, 4>)];
    for warps in [1, 2, 4, 8, 16, 32] {
        let threads = 32 * warps;
        let n = (grid * threads) as usize;
        let mut arena = Arena::new(runner, (), n)?;
        for (ilp, launch) in chains {
            let case = Case {
                variant: format!("{warps} warps, ilp {ilp}"),
                threads: threads as usize,
                shared,
                work: n as f64 * steps as f64,
                unit: Unit::Operations,
                ours: &|arena| launch(arena, steps, grid, threads).shared_bytes(shared),
                theirs: &|twins: &Twins, arena: &Chains| {
                    twins.additions(ilp, warps, grid, shared, steps as u32, X, at(arena.theirs()), n as u32)
                },
                expected: &|_| steps as f64,
                bound: 0.0,
            };
            runner.contest("additions", &mut arena, &case);
        }
    }
    Ok(())
}
