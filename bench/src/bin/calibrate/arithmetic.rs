//! What a multiprocessor computes: W warps of I chains each, for each kind of instruction.

use crate::kernels::{
    ROWS, WORDS, barriers as barriers_kernel, dispatch as dispatch_kernel, fma, integer, integer_mad, shared_chase, shuffles, special,
};
use crate::{Case, Outcome, Run};
use warpwright::{Buffer, Launch};

type Single = for<'m> fn(usize, &'m mut Buffer<f32>) -> Launch<'m>;
type Double = for<'m> fn(usize, &'m mut Buffer<f64>) -> Launch<'m>;
type Integer = for<'m> fn(usize, &'m mut Buffer<u32>) -> Launch<'m>;

/// Operations of a chain in one round: so many that the loop's own instructions are few.
const ROUND: usize = 64;

/// Warps of a block, one block on each multiprocessor.
const WARPS: [u32; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 32];

/// Chains with `I` beside each other and `ROUND` operations in a round.
macro_rules! chains {
    ($launch:ident) => {
        [
            (1, $launch::<1, 64> as _),
            (2, $launch::<2, 32> as _),
            (3, $launch::<3, 21> as _),
            (4, $launch::<4, 16> as _),
            (8, $launch::<8, 8> as _),
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

pub(crate) fn run(run: &mut Run) -> Outcome<()> {
    fn single<const I: usize, const U: usize>(rounds: usize, out: &mut Buffer<f32>) -> Launch<'_> {
        fma::<f32, I, U>(rounds, 0.5, 0.25, out)
    }
    fn double<const I: usize, const U: usize>(rounds: usize, out: &mut Buffer<f64>) -> Launch<'_> {
        fma::<f64, I, U>(rounds, 0.5, 0.25, out)
    }
    fn special_<const I: usize, const U: usize>(rounds: usize, out: &mut Buffer<f32>) -> Launch<'_> {
        special::<I, U>(rounds, 0.5, out)
    }
    fn integer_<const I: usize, const U: usize>(rounds: usize, out: &mut Buffer<u32>) -> Launch<'_> {
        integer::<I, U>(rounds, 3, 5, out)
    }
    fn mad<const I: usize, const U: usize>(rounds: usize, out: &mut Buffer<u32>) -> Launch<'_> {
        integer_mad::<I, U>(rounds, 3, 5, out)
    }
    fn shuffle<const I: usize, const U: usize>(rounds: usize, out: &mut Buffer<u32>) -> Launch<'_> {
        shuffles::<I, U>(rounds, 3, out)
    }
    let rounds: u32 = if run.tiny { 3 } else { 1 << 12 };
    let warps: &[u32] = if run.tiny { &[1, 2] } else { &WARPS };
    let threads = (run.multiprocessors * 1024) as usize;
    let mut out = run.device.zeros::<f32>(threads)?;
    let singles: [(u32, Single); 5] = chains!(single);
    let specials: [(u32, Single); 5] = chains!(special_);
    for (kernel, instances) in [("fma", singles), ("special", specials)] {
        for (ilp, launch) in instances {
            for &warps in warps {
                let case = case(run, kernel, warps, ilp, rounds, per_round(ilp));
                run.time(case, || launch(rounds as usize, &mut out).block(32 * warps))?;
            }
        }
    }
    let mut out = run.device.zeros::<f64>(threads)?;
    let doubles: [(u32, Double); 5] = chains!(double);
    for (ilp, launch) in doubles {
        for &warps in warps {
            let case = case(run, "fma_double", warps, ilp, rounds, per_round(ilp));
            run.time(case, || launch(rounds as usize, &mut out).block(32 * warps))?;
        }
    }
    let mut out = run.device.zeros::<u32>(threads)?;
    let integers: [(u32, Integer); 5] = chains!(integer_);
    let mads: [(u32, Integer); 5] = chains!(mad);
    let shuffles: [(u32, Integer); 5] = chains!(shuffle);
    // An addition and an exclusive or: two operations a step.
    for (kernel, each, instances) in [("integer", 2.0, integers), ("integer_mad", 1.0, mads), ("shuffle", 1.0, shuffles)] {
        for (ilp, launch) in instances {
            for &warps in warps {
                let case = case(run, kernel, warps, ilp, rounds, each * per_round(ilp));
                run.time(case, || launch(rounds as usize, &mut out).block(32 * warps))?;
            }
        }
    }
    Ok(())
}

pub(crate) fn shared(run: &mut Run) -> Outcome<()> {
    type Shared = for<'m> fn(usize, &'m Buffer<u32>, &'m mut Buffer<u32>) -> Launch<'m>;
    fn launch<'m, const I: usize, const U: usize>(rounds: usize, next: &'m Buffer<u32>, out: &'m mut Buffer<u32>) -> Launch<'m> {
        shared_chase::<I, U>(rounds, next, out)
    }
    let rounds: u32 = if run.tiny { 3 } else { 1 << 11 };
    let warps: &[u32] = if run.tiny { &[1, 2] } else { &WARPS };
    // Seven rows further, in the same bank.
    let next: Vec<u32> = (0..WORDS as u32).map(|i| (i + 7 * 32) % WORDS as u32).collect();
    let next = run.device.upload(&next)?;
    let mut out = run.device.zeros::<u32>((run.multiprocessors * 1024) as usize)?;
    let instances: [(u32, Shared); 5] = chains!(launch);
    for (ilp, launch) in instances {
        for &warps in warps {
            // The table is in the way of a second block's shared memory anyway: the rest is not taken.
            let case = Case { resident: None, ..case(run, "shared", warps, ilp, rounds, per_round(ilp)) };
            run.time(case, || launch(rounds as usize, &next, &mut out).block(32 * warps))?;
        }
    }
    Ok(())
}

pub(crate) fn barriers(run: &mut Run) -> Outcome<()> {
    let rounds: u32 = if run.tiny { 3 } else { 1 << 12 };
    let warps: &[u32] = if run.tiny { &[1, 2] } else { &WARPS };
    let mut out = run.device.zeros::<u32>((run.multiprocessors * 1024) as usize)?;
    for &warps in warps {
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
    type Dispatch = for<'m> fn(usize, &'m mut Buffer<f32>) -> Launch<'m>;
    fn launch<const N: usize, const FUSED: bool, const W: usize, const S: usize>(rounds: usize, out: &mut Buffer<f32>) -> Launch<'_> {
        dispatch_kernel::<N, FUSED, W, S>(rounds, 0.5, 0.25, out)
    }
    macro_rules! all {
        ($($n:literal),*) => { [$(
            ("sums", $n, 0, 0, launch::<$n, false, 0, 0> as Dispatch), ("sums", $n, 0, 1, launch::<$n, false, 0, 1> as _),
            ("sums", $n, 0, 2, launch::<$n, false, 0, 2> as _), ("sums", $n, 1, 0, launch::<$n, false, 1, 0> as _),
            ("sums", $n, 4, 0, launch::<$n, false, 4, 0> as _), ("sums", $n, 4, 1, launch::<$n, false, 4, 1> as _),
            ("fused", $n, 0, 0, launch::<$n, true, 0, 0> as _), ("fused", $n, 1, 0, launch::<$n, true, 1, 0> as _),
            ("fused", $n, 4, 0, launch::<$n, true, 4, 0> as _), ("fused", $n, 4, 1, launch::<$n, true, 4, 1> as _),
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
        run.time(case, || launch(rounds as usize, &mut out))?;
    }
    Ok(())
}
