//! The multiplications of Ryoo et al. (PPoPP 2008): 4096², not tiled and in tiles of 4, 8, 12, 16, unrolled and prefetched.

use super::{inner_product, sum_bound};
use crate::contest::{Arena, Case};
use crate::memory::random;
use crate::report::Unit;
use crate::twins::{Twins, at};
use crate::{Outcome, Runner};
use warpwright::{Buffer, Launch};
use warpwright_kernels::matmul::{SIDE, matmul_direct, matmul_tiled};

type Square = Arena<f32, (usize, Buffer<f32>, Buffer<f32>)>;
type Launcher = for<'m> fn(&'m mut Square) -> Launch<'m>;

const A: u32 = 7;
const B: u32 = 8;

fn direct<const UNROLL: usize>(arena: &mut Square) -> Launch<'_> {
    let (n, a, b) = &arena.inputs;
    matmul_direct::<UNROLL>(*n, a, b, &mut arena.ours).cover((*n, *n))
}

fn tiled<const T: usize, const UNROLL: usize, const PREFETCH: bool>(arena: &mut Square) -> Launch<'_> {
    let (n, a, b) = &arena.inputs;
    matmul_tiled::<T, UNROLL, PREFETCH>(*n, a, b, &mut arena.ours).cover((*n, *n))
}

/// Unrolled, prefetched, ours.
fn of_tile<const T: usize>() -> [(bool, bool, Launcher); 4] {
    [
        (false, false, tiled::<T, 1, false> as Launcher),
        (true, false, tiled::<T, T, false>),
        (false, true, tiled::<T, 1, true>),
        (true, true, tiled::<T, T, true>),
    ]
}

fn square(runner: &Runner, n: usize) -> Outcome<Square> {
    let (a, b) = (random::<f32>(&runner.device, A, n * n)?, random::<f32>(&runner.device, B, n * n)?);
    Arena::new(runner, (n, a, b), n * n)
}

fn expected(n: usize, i: usize) -> f64 {
    inner_product(n, |k| (A, i / n * n + k), |k| (B, k * n + i % n))
}

pub(super) fn run(runner: &mut Runner) -> Outcome<()> {
    let n = runner.size.pick(4096, 256, 19);
    let mut arena = square(runner, n)?;
    for (unroll, launch) in [(1, direct::<1> as Launcher), (4, direct::<4>)] {
        let case = Case {
            variant: format!("not tiled{}", if unroll == 1 { "" } else { " unrolled by 4" }),
            threads: SIDE * SIDE,
            shared: 0,
            work: 2.0 * (n as f64).powi(3),
            unit: Unit::Operations,
            ours: &|arena| launch(arena),
            theirs: &|twins: &Twins, arena: &Square| {
                twins.matmul_direct(unroll, n as u32, at(&arena.inputs.1), at(&arena.inputs.2), at(arena.theirs()))
            },
            expected: &|i| expected(n, i),
            bound: sum_bound(n),
        };
        runner.contest("matmul", &mut arena, &case);
    }
    for (tile, variants) in [(4, of_tile::<4>()), (8, of_tile::<8>()), (12, of_tile::<12>()), (16, of_tile::<16>())] {
        // Whole tiles: 4092 for those of 12.
        let n = runner.size.pick(4096, 256, 2 * tile) / tile * tile;
        let mut arena = square(runner, n)?;
        for (unrolled, prefetched, launch) in variants {
            let case = Case {
                variant: format!("{tile}x{tile}{}{}", if unrolled { " unrolled" } else { "" }, if prefetched { " prefetched" } else { "" }),
                threads: tile * tile,
                shared: 0,
                work: 2.0 * (n as f64).powi(3),
                unit: Unit::Operations,
                ours: &|arena| launch(arena),
                theirs: &|twins: &Twins, arena: &Square| {
                    let (_, a, b) = &arena.inputs;
                    twins.matmul_tiled(tile as u32, u32::from(unrolled), u32::from(prefetched), n as u32, at(a), at(b), at(arena.theirs()))
                },
                expected: &|i| expected(n, i),
                bound: sum_bound(n),
            };
            runner.contest("matmul", &mut arena, &case);
        }
    }
    Ok(())
}
