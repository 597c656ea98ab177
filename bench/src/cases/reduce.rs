//! The reductions of VSCSE 2009, lecture 5: interleaved and contiguous addressing.

use crate::contest::{Arena, Case};
use crate::memory::{Number, random};
use crate::report::Unit;
use crate::twins::{Twins, at};
use crate::{Outcome, Runner};
use warpwright::{Buffer, Launch};
use warpwright_kernels::reduce::{reduce_contiguous, reduce_interleaved};

type Sums = Arena<f32, Buffer<f32>>;
type Launcher = for<'m> fn(&'m mut Sums) -> Launch<'m>;

fn interleaved<const B: usize>(arena: &mut Sums) -> Launch<'_> {
    reduce_interleaved::<B>(&arena.inputs, &mut arena.ours).cover(arena.inputs.len())
}

fn contiguous<const B: usize>(arena: &mut Sums) -> Launch<'_> {
    reduce_contiguous::<B>(&arena.inputs, &mut arena.ours).cover(arena.inputs.len())
}

const SEED: u32 = 6;

pub(super) fn run(runner: &mut Runner) -> Outcome<()> {
    let n = runner.size.pick(1 << 28, 1 << 20, 3_999);
    let variants: [(usize, &str, Launcher); 6] = [
        (128, "interleaved", interleaved::<128>),
        (128, "contiguous", contiguous::<128>),
        (256, "interleaved", interleaved::<256>),
        (256, "contiguous", contiguous::<256>),
        (512, "interleaved", interleaved::<512>),
        (512, "contiguous", contiguous::<512>),
    ];
    let x = random::<f32>(&runner.device, SEED, n)?;
    let mut inputs = Some(x);
    for (threads, name, launch) in variants {
        let Some(x) = inputs.take() else { continue };
        let mut arena = Arena::new(runner, x, n.div_ceil(threads))?;
        let case = Case {
            variant: name.to_owned(),
            threads,
            shared: 0,
            work: 4.0 * n as f64,
            unit: Unit::Bytes,
            ours: &|arena| launch(arena),
            theirs: &|twins: &Twins, arena: &Sums| {
                twins.reduce(threads as u32, u32::from(name == "contiguous"), at(&arena.inputs), at(arena.theirs()), n as u32)
            },
            expected: &|block| (block * threads..((block + 1) * threads).min(n)).map(|i| f64::from(f32::input(SEED, i))).sum(),
            // Both sides add in a tree: log₂(block) roundings of partial sums of at most `threads`.
            bound: f64::from(threads.ilog2()) * threads as f64 * f64::from(f32::EPSILON) / 2.0,
        };
        runner.contest("reduce", &mut arena, &case);
        inputs = Some(arena.inputs);
    }
    Ok(())
}
