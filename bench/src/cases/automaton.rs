//! The game of life on bytes.

use crate::contest::Alone;
use crate::memory::{integer, random_integers, samples};
use crate::report::Unit;
use crate::{Outcome, Runner};
use warpwright_kernels::automaton::{generation, reference};

pub(super) fn run(runner: &mut Runner) -> Outcome<()> {
    let device = runner.device.clone();
    let (width, height) = runner.size.pick((16_384, 16_384), (1_024, 1_000), (70, 37));
    let n = width * height;
    let mut arena = (random_integers::<u8>(&device, 9, 2, n)?, device.zeros::<u8>(n)?);
    let case = Alone {
        variant: "bytes with remainders",
        threads: 256,
        work: 2.0 * n as f64,
        unit: Unit::Bytes,
        launch: &|(now, next): &mut (_, _)| generation(width, height, now, next).cover((width, height)),
        results: n,
        found: &|arena, places| Ok(samples(&device, places, &arena.1)?.into_iter().map(f64::from).collect()),
        expected: &|i| f64::from(reference(width, height, |i| integer(9, i as u32, 2) as u8, i % width, i / width)),
        bound: 0.0,
    };
    runner.alone("automaton", &mut arena, &case);
    Ok(())
}
