//! C = A·Aᵀ of NVIDIA's OpenCL best practices guide 1.0: an A of 16 columns. Bandwidth counts A once and C once.

use super::{inner_product, sum_bound};
use crate::contest::{Arena, Case};
use crate::memory::random;
use crate::report::Unit;
use crate::twins::{Twins, at};
use crate::{Outcome, Runner};
use warpwright::{Buffer, Launch};
use warpwright_kernels::aat::{T, aat, aat_direct};

type Product = Arena<f32, (usize, Buffer<f32>)>;
type Launcher = for<'m> fn(&'m mut Product) -> Launch<'m>;

const A: u32 = 11;

fn direct(arena: &mut Product) -> Launch<'_> {
    let (n, a) = &arena.inputs;
    aat_direct(*n, a, &mut arena.ours).cover((*n, *n))
}

fn tiled<const PAD: usize, const SWIZZLE: bool>(arena: &mut Product) -> Launch<'_> {
    let (n, a) = &arena.inputs;
    aat::<PAD, SWIZZLE>(*n, a, &mut arena.ours).cover((*n, *n))
}

pub(super) fn run(runner: &mut Runner) -> Outcome<()> {
    let n = runner.size.pick(16_384, 1_024, 48);
    let a = random::<f32>(&runner.device, A, n * T)?;
    let mut arena = Arena::new(runner, (n, a), n * n)?;
    let variants: [(&str, Launcher); 4] = [
        ("from global memory", direct),
        ("shared", tiled::<0, false>),
        ("shared and padded", tiled::<1, false>),
        ("shared and swizzled", tiled::<0, true>),
    ];
    for (index, (name, launch)) in variants.into_iter().enumerate() {
        let case = Case {
            variant: name.to_owned(),
            threads: T * T,
            shared: 0,
            work: 4.0 * (n * T + n * n) as f64,
            unit: Unit::Bytes,
            ours: &|arena| launch(arena),
            theirs: &|twins: &Twins, arena: &Product| twins.aat(index as u32, n as u32, at(&arena.inputs.1), at(arena.theirs())),
            expected: &|i| inner_product(T, |k| (A, i / n * T + k), |k| (A, i % n * T + k)),
            bound: sum_bound(T),
        };
        runner.contest("aat", &mut arena, &case);
    }
    Ok(())
}
