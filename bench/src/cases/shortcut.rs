//! The shortcut kernel of "Programming Parallel Computers" with its 8 × 8 register tile. An addition and a minimum are two operations.

use crate::contest::{Arena, Case};
use crate::memory::{Number, random};
use crate::report::Unit;
use crate::twins::{Twins, at};
use crate::{Outcome, Runner};
use warpwright::Buffer;
use warpwright_kernels::shortcut::{REACH, SIDE, shortcut};

/// What stands for d transposed, and for d: rows of `padded` random numbers each. The kernel takes any two matrices.
type Distances = Arena<f32, (Buffer<f32>, Buffer<f32>)>;

const ROWS: u32 = 13;
const COLUMNS: u32 = 14;

pub(super) fn run(runner: &mut Runner) -> Outcome<()> {
    let n: usize = runner.size.pick(4096, 512, 50);
    let padded = n.next_multiple_of(REACH);
    let rows = random::<f32>(&runner.device, ROWS, padded * padded)?;
    let columns = random::<f32>(&runner.device, COLUMNS, padded * padded)?;
    let mut arena = Arena::new(runner, (rows, columns), n * n)?;
    let case = Case {
        variant: "8x8 in registers".to_owned(),
        threads: SIDE * SIDE,
        shared: 0,
        work: 2.0 * (n as f64).powi(3),
        unit: Unit::Operations,
        ours: &|arena: &mut Distances| {
            shortcut(n, padded, &arena.inputs.0, &arena.inputs.1, &mut arena.ours).grid((padded / REACH, padded / REACH))
        },
        theirs: &|twins: &Twins, arena: &Distances| {
            twins.shortcut(n as u32, padded as u32, at(&arena.inputs.0), at(&arena.inputs.1), at(arena.theirs()))
        },
        // The same additions: the same bits.
        expected: &|i| {
            let way = |k: usize| f32::input(ROWS, k * padded + i / n) + f32::input(COLUMNS, k * padded + i % n);
            f64::from((0..n).map(way).fold(f32::INFINITY, f32::min))
        },
        bound: 0.0,
    };
    runner.contest("shortcut", &mut arena, &case);
    Ok(())
}
