//! Arrays of structures: a thread to a body, a thread to a group of bodies.

use crate::contest::Alone;
use crate::memory::{integer, samples};
use crate::report::Unit;
use crate::{Outcome, Runner};
use warpwright_kernels::structures::bodies::{Body, advance, energies};

/// A body, whose numbers are sixteenths, so that sums of few are exact.
fn body(i: usize) -> Body {
    let number = |k: usize| integer(7, (8 * i + k) as u32, 256) as f32 / 16.0 - 8.0;
    Body {
        place: [number(0), number(1), number(2)],
        mass: 1.0 + number(3).abs(),
        speed: [number(4), number(5), number(6)],
        charge: number(7),
    }
}

pub(super) fn run(runner: &mut Runner) -> Outcome<()> {
    let device = runner.device.clone();
    let n = runner.size.pick(1 << 25, 1 << 16, 777);
    let made: Vec<Body> = (0..n.min(1 << 18)).map(body).collect();
    let bodies = |n: usize| made.iter().copied().cycle().take(n).collect::<Vec<Body>>();
    let of = |i: usize| made[i % made.len()];
    let mut arena = device.upload(&bodies(n))?;
    let dt = 0.125f32;
    let case = Alone {
        variant: "a thread to a body",
        threads: 256,
        // What it uses: all is read, speed and place are written.
        work: 56.0 * n as f64,
        unit: Unit::Bytes,
        launch: &|bodies: &mut _| advance(dt, bodies).cover(n),
        results: n,
        found: &|bodies, places| Ok(samples(&device, places, bodies)?.into_iter().map(|body: Body| f64::from(body.place[1])).collect()),
        expected: &|i| {
            let body = of(i);
            let drag = 1.0 - dt * body.charge / body.mass;
            f64::from(body.place[1] + dt * (body.speed[1] * drag))
        },
        bound: 1e-4,
    };
    runner.alone("structures", &mut arena, &case);
    let (length, groups) = (16, n.div_ceil(32));
    let mut arena = (device.upload(&bodies(groups * length))?, device.zeros::<f32>(groups)?);
    let energy = |body: Body| {
        let square: f64 = body.speed.iter().map(|v| f64::from(v * v)).sum();
        f64::from(body.mass) * square
    };
    let case = Alone {
        variant: "a thread to a group",
        threads: 256,
        work: 16.0 * (groups * length) as f64,
        unit: Unit::Bytes,
        launch: &|(bodies, sums): &mut (_, _)| energies(length, bodies, sums).cover(groups),
        results: groups,
        found: &|arena, places| Ok(samples(&device, places, &arena.1)?.into_iter().map(f64::from).collect()),
        expected: &|group| (0..length).map(|k| energy(of(group * length + k))).sum(),
        // 16 bodies of at most 17 · 192, some 4 roundings each.
        bound: 1.0,
    };
    runner.alone("structures", &mut arena, &case);
    Ok(())
}
