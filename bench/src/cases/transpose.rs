//! Transposes: without a tile, through one, padded, swizzled.

use crate::contest::{Arena, Case};
use crate::memory::{Number, random};
use crate::report::Unit;
use crate::twins::{Twins, at};
use crate::{Outcome, Runner};
use warpwright::{Buffer, Launch};
use warpwright_kernels::transpose::{ROWS, SIDE, transpose_direct, transpose_tiled};

type Matrix = Arena<f32, (usize, usize, Buffer<f32>)>;
type Launcher = for<'m> fn(&'m mut Matrix) -> Launch<'m>;

const INP: u32 = 12;

fn direct(arena: &mut Matrix) -> Launch<'_> {
    let (width, height, inp) = &arena.inputs;
    transpose_direct(*width, *height, inp, &mut arena.ours).cover((*width, *height))
}

fn tiled<const PAD: usize, const SWIZZLE: bool>(arena: &mut Matrix) -> Launch<'_> {
    let (width, height, inp) = &arena.inputs;
    let tiles = (width.div_ceil(SIDE), height.div_ceil(SIDE));
    transpose_tiled::<PAD, SWIZZLE>(*width, *height, inp, &mut arena.ours).grid(tiles)
}

pub(super) fn run(runner: &mut Runner) -> Outcome<()> {
    let (width, height) = runner.size.pick((16_384, 16_384), (1_024, 2_048), (70, 37));
    let inp = random::<f32>(&runner.device, INP, width * height)?;
    let mut arena = Arena::new(runner, (width, height, inp), width * height)?;
    let variants: [(&str, Launcher); 4] = [
        ("direct", direct),
        ("tiled", tiled::<0, false>),
        ("tiled and padded", tiled::<1, false>),
        ("tiled and swizzled", tiled::<0, true>),
    ];
    for (index, (name, launch)) in variants.into_iter().enumerate() {
        let case = Case {
            variant: name.to_owned(),
            threads: SIDE * ROWS,
            shared: 0,
            work: 8.0 * (width * height) as f64,
            unit: Unit::Bytes,
            ours: &|arena| launch(arena),
            theirs: &|twins: &Twins, arena: &Matrix| {
                twins.transpose(index as u32, width as u32, height as u32, at(&arena.inputs.2), at(arena.theirs()))
            },
            expected: &|i| f64::from(f32::input(INP, i % height * width + i / height)),
            bound: 0.0,
        };
        runner.contest("transpose", &mut arena, &case);
    }
    Ok(())
}
