//! y ← a·x + y, plain and in groups of vectors.

use crate::contest::{Arena, Case};
use crate::memory::{Number, random};
use crate::report::Unit;
use crate::twins::{Twins, at};
use crate::{Outcome, Runner};
use warpwright::{Buffer, Launch};
use warpwright_kernels::saxpy::{saxpy, saxpy_grouped};

type Vectors = Arena<f32, Buffer<f32>>;
type Launcher = for<'m> fn(&'m mut Vectors) -> Launch<'m>;

/// Block, ILP, vector, and ours.
type Variant = (u32, u32, u32, Launcher);

const A: f32 = 0.75;
const X: u32 = 2;
const Y: u32 = 3;

fn plain(arena: &mut Vectors) -> Launch<'_> {
    let n = arena.ours.len();
    saxpy(A, &arena.inputs, &mut arena.ours).cover(n)
}

fn grouped<const B: usize, const ILP: usize, const V: usize>(arena: &mut Vectors) -> Launch<'_> {
    let n = arena.ours.len();
    saxpy_grouped::<B, ILP, true, V>(A, &arena.inputs, &mut arena.ours).cover(n)
}

fn of_block<const B: usize>() -> [Variant; 7] {
    let b = B as u32;
    [
        (b, 1, 1, grouped::<B, 1, 1> as Launcher),
        (b, 2, 1, grouped::<B, 2, 1>),
        (b, 4, 1, grouped::<B, 4, 1>),
        (b, 8, 1, grouped::<B, 8, 1>),
        (b, 1, 4, grouped::<B, 1, 4>),
        (b, 2, 4, grouped::<B, 2, 4>),
        (b, 4, 4, grouped::<B, 4, 4>),
    ]
}

pub(super) fn run(runner: &mut Runner) -> Outcome<()> {
    let n = runner.size.pick(1 << 28, 1 << 20, 4_999);
    let mut arena = Arena::new(runner, random::<f32>(&runner.device, X, n)?, n)?.updated_from(Y);
    let variants = [[(256, 1, 1, plain as Launcher)].as_slice(), &of_block::<128>(), &of_block::<256>(), &of_block::<512>()].concat();
    for (at_index, (threads, ilp, vector, launch)) in variants.into_iter().enumerate() {
        let name = match (at_index, vector) {
            (0, _) => "plain".to_owned(),
            (_, 1) => format!("ilp {ilp} batched"),
            _ => format!("vectors ilp {ilp} batched"),
        };
        let case = Case {
            variant: name,
            threads: threads as usize,
            shared: 0,
            work: 12.0 * n as f64,
            unit: Unit::Bytes,
            ours: &|arena| launch(arena),
            theirs: &|twins: &Twins, arena: &Vectors| twins.saxpy(threads, ilp, vector, A, at(&arena.inputs), at(arena.theirs()), n as u32),
            // Two launches: two fused multiply-adds.
            expected: &|i| f64::from(A.mul_add(f32::input(X, i), A.mul_add(f32::input(X, i), f32::input(Y, i)))),
            bound: 0.0,
        };
        runner.contest("saxpy", &mut arena, &case);
    }
    Ok(())
}
