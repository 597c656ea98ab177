//! Arithmetic on tiles: the multiplication by 64 × 64 with 4 × 4 in registers, forces between all bodies.

use crate::contest::Alone;
use crate::memory::{Number, random, samples};
use crate::report::Unit;
use crate::{Outcome, Runner};
use warpwright_kernels::tiles::{ACROSS, BODIES, SIDE, forces, multiply};

pub(super) fn run(runner: &mut Runner) -> Outcome<()> {
    let device = runner.device.clone();
    let n = runner.size.pick(8_192, 512, 128);
    let (left, right) = (random::<f32>(&device, 1, n * n)?, random::<f32>(&device, 2, n * n)?);
    let mut arena = (left, right, device.zeros::<f32>(n * n)?);
    let case = Alone {
        variant: "multiplication of 64x64",
        threads: ACROSS * ACROSS,
        work: 2.0 * (n as f64).powi(3),
        unit: Unit::Operations,
        launch: &|(a, b, c): &mut (_, _, _)| multiply(n, a, b, c).grid((n / SIDE, n / SIDE)),
        results: n * n,
        found: &|arena, places| Ok(samples(&device, places, &arena.2)?.into_iter().map(f64::from).collect()),
        expected: &|i| super::inner_product(n, |k| (1, i / n * n + k), |k| (2, k * n + i % n)),
        bound: super::sum_bound(n),
    };
    runner.alone("tiles", &mut arena, &case);
    let n = runner.size.pick(1 << 17, 1 << 12, 512);
    let mut arena = (random::<f32>(&device, 6, 4 * n)?, device.zeros::<f32>(4 * n)?);
    let number = |i: usize, k: usize| f64::from(f32::input(6, 4 * i + k));
    let case = Alone {
        variant: "forces",
        threads: BODIES,
        // Three differences, a square of the distance (6), the root, three products, six for the force, two for the potential.
        work: 21.0 * (n as f64).powi(2),
        unit: Unit::Operations,
        launch: &|(bodies, out): &mut (_, _)| forces(n, bodies, out).cover(n),
        results: 4 * n,
        found: &|arena, places| Ok(samples(&device, places, &arena.1)?.into_iter().map(f64::from).collect()),
        expected: &|i| {
            let (i, axis) = (i / 4, i % 4);
            (0..n)
                .map(|j| {
                    let apart: [f64; 3] = std::array::from_fn(|k| number(j, k) - number(i, k));
                    let near = (apart.iter().map(|d| d * d).sum::<f64>() + 0.01).sqrt().recip();
                    if axis == 3 { number(j, 3) * near } else { apart[axis] * number(j, 3) * near.powi(3) }
                })
                .sum()
        },
        // n terms of at most 2 · 10³, as those of near neighbours are, and n roundings of their sum.
        bound: 1.0,
    };
    runner.alone("tiles", &mut arena, &case);
    Ok(())
}
