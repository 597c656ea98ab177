//! C = A·B of NVIDIA's OpenCL best practices guide 1.0: an A of 16 columns, a B of 16 rows. Bandwidth counts A, B and C once.

use super::{inner_product, sum_bound};
use crate::contest::{Arena, Case};
use crate::memory::random;
use crate::report::Unit;
use crate::twins::{Twins, at};
use crate::{Outcome, Runner};
use warpwright::{Buffer, Launch};
use warpwright_kernels::ab::{T, ab};

type Product = Arena<f32, (usize, Buffer<f32>, Buffer<f32>)>;
type Launcher = for<'m> fn(&'m mut Product) -> Launch<'m>;

const A: u32 = 9;
const B: u32 = 10;

fn launch<const A_SHARED: bool, const B_SHARED: bool>(arena: &mut Product) -> Launch<'_> {
    let (n, a, b) = &arena.inputs;
    ab::<A_SHARED, B_SHARED>(*n, a, b, &mut arena.ours).cover((*n, *n))
}

pub(super) fn run(runner: &mut Runner) -> Outcome<()> {
    let n = runner.size.pick(16_384, 1_024, 32);
    let (a, b) = (random::<f32>(&runner.device, A, n * T)?, random::<f32>(&runner.device, B, T * n)?);
    let mut arena = Arena::new(runner, (n, a, b), n * n)?;
    let variants: [(&str, u32, Launcher); 3] = [
        ("from global memory", 0, launch::<false, false>),
        ("A shared", 1, launch::<true, false>),
        ("A and B shared", 2, launch::<true, true>),
    ];
    for (name, operands, launch) in variants {
        let case = Case {
            variant: name.to_owned(),
            threads: T * T,
            shared: 0,
            work: 4.0 * (2 * n * T + n * n) as f64,
            unit: Unit::Bytes,
            ours: &|arena| launch(arena),
            theirs: &|twins: &Twins, arena: &Product| {
                let (_, a, b) = &arena.inputs;
                twins.ab(operands, n as u32, n as u32, at(a), at(b), at(arena.theirs()))
            },
            expected: &|i| inner_product(T, |k| (A, i / n * T + k), |k| (B, k * n + i % n)),
            bound: sum_bound(T),
        };
        runner.contest("ab", &mut arena, &case);
    }
    Ok(())
}
