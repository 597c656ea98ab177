//! The precise functions, ours against those of the CUDA math library: arithmetic only.

use crate::contest::{Arena, Case};
use crate::memory::{Number, random};
use crate::report::Unit;
use crate::twins::{Twins, at};
use crate::{Outcome, Runner};
use warpwright::{Buffer, Launch};
use warpwright_kernels::functions::{NAMES, POINTS, reference, sums};

type Points<T> = Arena<T, Buffer<T>>;

/// Ours for a step, and what it computes.
type Variant<T> = (for<'m> fn(&'m mut Points<T>, T) -> Launch<'m>, fn(f64, f64) -> f64);

const X: u32 = 9;

fn launch<T: Number, const F: usize>(arena: &mut Points<T>, step: T) -> Launch<'_> {
    let n = arena.ours.len();
    sums::<T, F>(step, &arena.inputs, &mut arena.ours).cover(n)
}

macro_rules! variants {
    ($t:ty: $($f:literal)*) => {
        [$((launch::<$t, $f> as for<'m> fn(&'m mut Points<$t>, $t) -> Launch<'m>, reference::<$f> as fn(f64, f64) -> f64)),*]
    };
}

pub(super) fn run(runner: &mut Runner) -> Outcome<()> {
    let singles: [Variant<f32>; NAMES.len()] = variants!(f32: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21);
    let doubles: [Variant<f64>; NAMES.len()] = variants!(f64: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21);
    of_type("f32", f64::from(f32::EPSILON), runner, &singles, &|twins, function, step, arena| {
        twins.function_single(function, step, at(&arena.inputs), at(arena.theirs()), arena.ours.len() as u32)
    })?;
    of_type("f64", f64::EPSILON, runner, &doubles, &|twins, function, step, arena| {
        twins.function_double(function, step, at(&arena.inputs), at(arena.theirs()), arena.ours.len() as u32)
    })
}

/// Seconds of the twin of a function.
type Theirs<'c, T> = &'c dyn Fn(&Twins, u32, T, &Points<T>) -> Outcome<f64>;

fn of_type<T: Number>(name: &str, epsilon: f64, runner: &mut Runner, variants: &[Variant<T>], theirs: Theirs<'_, T>) -> Outcome<()> {
    let n = runner.size.pick(1 << 22, 1 << 16, 99);
    let mut inputs = random::<T>(&runner.device, X, n)?;
    // Points from 1.1 to 12.9; from 0 to 1 for arcs and the tangent. (Inputs of `f64` are a third as wide.)
    for (function, (launch, reference)) in variants.iter().enumerate() {
        // Near a pole the rounding of the point itself is what one would see.
        let is_short = matches!(NAMES[function], "asin" | "acos" | "tan");
        let (scale, offset, step) = if is_short { (0.25, 0.25, 0.5 / POINTS as f64) } else { (0.9, 2.0, 10.0 / POINTS as f64) };
        let place = |i: usize| T::narrow(scale * T::input(X, i).wide() + offset);
        inputs.write(&(0..n).map(place).collect::<Vec<T>>())?;
        let mut arena = Arena::new(runner, inputs, n)?;
        let step = T::narrow(step);
        // Of a sum whose terms change their sign, the largest is not at an end.
        let largest = (-8..=8).map(|n| reference(step.wide(), f64::from(n) / 8.0 * scale + offset).abs()).fold(1.0, f64::max);
        let case = Case {
            variant: format!("{} {name}", NAMES[function]),
            threads: 256,
            shared: 0,
            work: (n * POINTS) as f64,
            unit: Unit::Calls,
            ours: &|arena| launch(arena, step),
            theirs: &|twins: &Twins, arena: &Points<T>| theirs(twins, function as u32, step, arena),
            expected: &|i| reference(step.wide(), place(i).wide()),
            // A few units of a term, and half a unit of the sum for each.
            bound: largest * epsilon * POINTS as f64,
        };
        runner.contest("functions", &mut arena, &case);
        inputs = arena.inputs;
    }
    Ok(())
}
