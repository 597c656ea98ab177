//! What a multiprocessor computes: W warps of I chains each, for each kind of instruction.

use crate::kernels::{
    ROWS, WORDS, barriers as barriers_kernel, dispatch as dispatch_kernel, fma, integer, integer_mad, shared_chase, shuffles, special,
};
use crate::{Case, Outcome, Run};
use warpwright::prelude::Element;
use warpwright::{Buffer, Launch};

/// Operations of a chain in one round: so many that the loop's own instructions are few.
const ROUND: usize = 64;

/// Warps of a block, one block on each multiprocessor.
const WARPS: [u32; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 32];

/// Chains with `I` beside each other and `ROUND` operations in a round.
macro_rules! chains {
    ($launch:ident $($ty:ident)?) => {
        [
            (1, $launch::<$($ty,)? 1, 64> as _),
            (2, $launch::<$($ty,)? 2, 32> as _),
            (3, $launch::<$($ty,)? 3, 21> as _),
            (4, $launch::<$($ty,)? 4, 16> as _),
            (8, $launch::<$($ty,)? 8, 8> as _),
        ]
    };
}

/// Operations of a thread in a round, for `I` chains.
fn per_round(ilp: u32) -> f64 {
    f64::from(ilp * (ROUND as u32 / ilp))
}

fn case(run: &Run, kernel: &'static str, warps: u32, ilp: u32, rounds: u32, per_round: f64) -> Case {
    let grid = u64::from(run.multiprocessors);
    let operations = f64::from(rounds) * per_round;
    Case { kernel, block: 32 * warps, resident: Some(1), grid, ilp, vector: 1, steps: rounds, operations, ..Case::default() }
}

/// Times chains on blocks of several numbers of warps: `each` operations a step.
fn time_chains<L: Copy, T: Element>(
    run: &mut Run,
    (kernel, each, rounds): (&'static str, f64, u32),
    instances: [(u32, L); 5],
    launch: impl for<'m> Fn(L, usize, &'m mut Buffer<T>) -> Launch<'m>,
) -> Outcome<()> {
    let mut out = run.device.zeros::<T>((run.multiprocessors * 1024) as usize)?;
    for (ilp, instance) in instances {
        for &warps in warps_of(run) {
            let case = case(run, kernel, warps, ilp, rounds, each * per_round(ilp));
            run.time(case, || launch(instance, rounds as usize, &mut out).block(32 * warps))?;
        }
    }
    Ok(())
}

/// Numbers of warps of a block.
fn warps_of(run: &Run) -> &'static [u32] {
    if run.tiny { &[1, 2] } else { &WARPS }
}

pub(crate) fn run(run: &mut Run) -> Outcome<()> {
    type Fused<T> = for<'m> fn(usize, T, T, &'m mut Buffer<T>) -> Launch<'m>;
    type Special = for<'m> fn(usize, f32, &'m mut Buffer<f32>) -> Launch<'m>;
    type Integer = for<'m> fn(usize, u32, u32, &'m mut Buffer<u32>) -> Launch<'m>;
    type Shuffle = for<'m> fn(usize, u32, &'m mut Buffer<u32>) -> Launch<'m>;
    let rounds: u32 = if run.tiny { 3 } else { 1 << 12 };
    let singles: [(u32, Fused<f32>); 5] = chains!(fma f32);
    let doubles: [(u32, Fused<f64>); 5] = chains!(fma f64);
    let specials: [(u32, Special); 5] = chains!(special);
    let integers: [(u32, Integer); 5] = chains!(integer);
    let products: [(u32, Integer); 5] = chains!(integer_mad);
    let exchanges: [(u32, Shuffle); 5] = chains!(shuffles);
    time_chains(run, ("fma", 1.0, rounds), singles, |launch, rounds, out| launch(rounds, 0.5, 0.25, out))?;
    time_chains(run, ("special", 1.0, rounds), specials, |launch, rounds, out| launch(rounds, 0.5, out))?;
    time_chains(run, ("fma_double", 1.0, rounds), doubles, |launch, rounds, out| launch(rounds, 0.5, 0.25, out))?;
    // An addition and an exclusive or: two operations a step.
    time_chains(run, ("integer", 2.0, rounds), integers, |launch, rounds, out| launch(rounds, 3, 5, out))?;
    time_chains(run, ("integer_mad", 1.0, rounds), products, |launch, rounds, out| launch(rounds, 3, 5, out))?;
    time_chains(run, ("shuffle", 1.0, rounds), exchanges, |launch, rounds, out| launch(rounds, 3, out))
}

pub(crate) fn shared(run: &mut Run) -> Outcome<()> {
    type Shared = for<'m> fn(usize, &'m Buffer<u32>, &'m mut Buffer<u32>) -> Launch<'m>;
    let rounds: u32 = if run.tiny { 3 } else { 1 << 11 };
    // Seven rows further, in the same bank.
    let next: Vec<u32> = (0..WORDS as u32).map(|i| (i + 7 * 32) % WORDS as u32).collect();
    let next = run.device.upload(&next)?;
    let mut out = run.device.zeros::<u32>((run.multiprocessors * 1024) as usize)?;
    let instances: [(u32, Shared); 5] = chains!(shared_chase);
    for (ilp, launch) in instances {
        for &warps in warps_of(run) {
            // The table is in the way of a second block's shared memory anyway: the rest is not taken.
            let case = Case { resident: None, ..case(run, "shared", warps, ilp, rounds, per_round(ilp)) };
            run.time(case, || launch(rounds as usize, &next, &mut out).block(32 * warps))?;
        }
    }
    Ok(())
}

pub(crate) fn barriers(run: &mut Run) -> Outcome<()> {
    let rounds: u32 = if run.tiny { 3 } else { 1 << 12 };
    let mut out = run.device.zeros::<u32>((run.multiprocessors * 1024) as usize)?;
    for &warps in warps_of(run) {
        let case = case(run, "barriers", warps, 1, rounds, 4.0);
        run.time(case, || barriers_kernel(rounds as usize, &mut out).block(32 * warps))?;
    }
    // Many blocks at once: theirs are passed one after the other, too.
    let (multiprocessors, blocks) = (run.multiprocessors, if run.tiny { 2 } else { 8 });
    let mut out = run.device.zeros::<u32>((multiprocessors * blocks * 256) as usize)?;
    for resident in [blocks / 4, blocks / 2, blocks].into_iter().filter(|resident| *resident > 0) {
        let case =
            Case { grid: u64::from(multiprocessors * resident), resident: Some(resident), ..case(run, "barriers", 8, 1, rounds, 4.0) };
        run.time(case, || barriers_kernel(rounds as usize, &mut out).block(256))?;
    }
    Ok(())
}

/// What loads from shared memory and special functions keep the dispatcher from issuing, all the warps there that can be.
pub(crate) fn dispatch(run: &mut Run) -> Outcome<()> {
    type Dispatch = for<'m> fn(usize, f32, f32, &'m mut Buffer<f32>) -> Launch<'m>;
    macro_rules! all {
        ($($n:literal),*) => { [$(
            ("sums", $n, 0, 0, dispatch_kernel::<$n, false, 0, 0> as Dispatch), ("sums", $n, 0, 1, dispatch_kernel::<$n, false, 0, 1> as _),
            ("sums", $n, 0, 2, dispatch_kernel::<$n, false, 0, 2> as _), ("sums", $n, 1, 0, dispatch_kernel::<$n, false, 1, 0> as _),
            ("sums", $n, 4, 0, dispatch_kernel::<$n, false, 4, 0> as _), ("sums", $n, 4, 1, dispatch_kernel::<$n, false, 4, 1> as _),
            ("fused", $n, 0, 0, dispatch_kernel::<$n, true, 0, 0> as _), ("fused", $n, 1, 0, dispatch_kernel::<$n, true, 1, 0> as _),
            ("fused", $n, 4, 0, dispatch_kernel::<$n, true, 4, 0> as _), ("fused", $n, 4, 1, dispatch_kernel::<$n, true, 4, 1> as _),
        )*] };
    }
    let (rounds, blocks) = if run.tiny { (1, 1) } else { (64, 8) };
    let mut out = run.device.zeros::<f32>(run.multiprocessors as usize * blocks as usize * ROWS)?;
    let all = all!(16, 24, 32);
    for &(kernel, n, words, specials, launch) in &all[..if run.tiny { 2 } else { all.len() }] {
        let steps = rounds * ROWS as u32;
        // The load, and a loop's end every eight steps.
        let each = f64::from(n + specials) + if words > 0 { 1.0 } else { 0.0 } + 3.0 / 8.0;
        let grid = u64::from(run.multiprocessors * blocks);
        let operations = each * f64::from(steps);
        let case = Case { kernel, block: ROWS as u32, grid, ilp: specials, vector: words, steps, operations, ..Case::default() };
        run.time(case, || launch(rounds as usize, 0.5, 0.25, &mut out))?;
    }
    Ok(())
}
