//! SAXPY, `y ← a·x + y`: the suite's smallest program. The kernels are those of [`crate::saxpy`]; here they are an application.
//!
//! Two loads, one store and one multiply-add an element, 12 bytes for 2 operations: nothing but the memory's bandwidth matters. The document gives
//! 19.4 times one core, 7 registers, global bandwidth as the bottleneck.

use super::{Declared, Error, Go, Result};
use crate::saxpy::{saxpy_grouped, saxpy_grouped_variants};
use warpwright::{Buffer, Device, Launch};

/// Two vectors and a factor.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// The factor.
    pub a: f32,
    /// The vector that is scaled.
    pub x: Vec<f32>,
    /// The vector that is added to; as long as `x`.
    pub y: Vec<f32>,
}

impl Input {
    /// `n` numbers in -1 to 1 each.
    pub fn new(seed: u64, n: usize) -> Input {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut vector = || (0..n).map(|_| 2.0 * random.f32() - 1.0).collect();
        Input { x: vector(), y: vector(), a: 0.75 }
    }

    /// `a·x + y` in double precision.
    pub fn reference(&self) -> Vec<f64> {
        let a = f64::from(self.a);
        self.x.iter().zip(&self.y).map(|(x, y)| a * f64::from(*x) + f64::from(*y)).collect()
    }

    /// What one core does: adds to `y`, which is the input's at first.
    pub fn one_core(&self, y: &mut [f32]) {
        for (y, x) in y.iter_mut().zip(&self.x) {
            *y += self.a * x;
        }
    }
}

/// A variant of [`saxpy_grouped`].
type Saxpy = for<'l> fn(f32, &'l Buffer<f32>, &'l mut Buffer<f32>) -> Launch<'l>;

/// An input on a device.
pub struct Resident {
    a: f32,
    x: Buffer<f32>,
    y: Buffer<f32>,
}

impl Resident {
    /// Uploads an input. An `Err` where its vectors differ in length.
    pub fn new(device: &Device, input: &Input) -> Result<Resident> {
        if input.x.len() != input.y.len() {
            return Err(Error::Input(format!(
                "`x` has {} elements, `y` has {}: make them as long as each other",
                input.x.len(),
                input.y.len()
            )));
        }
        Ok(Resident { a: input.a, x: device.upload(&input.x)?, y: device.upload(&input.y)? })
    }

    /// Adds `a·x` to `y`: one launch, none where the vectors are empty.
    pub fn run<const B: usize, const ILP: usize, const BATCH: bool, const V: usize>(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.run_of(saxpy_grouped::<B, ILP, BATCH, V>, go)
    }

    fn run_of(&mut self, saxpy: Saxpy, go: &mut Go<'_>) -> warpwright::Result<()> {
        match self.y.len() {
            0 => Ok(()),
            n => go(saxpy(self.a, &self.x, &mut self.y).cover(n)),
        }
    }

    /// `y` as it is by now.
    pub fn result(&self) -> Result<Vec<f32>> {
        Ok(self.y.download()?)
    }
}

/// The declared variants of [`saxpy_grouped`].
pub fn declared() -> Vec<Declared<Resident>> {
    Declared::each(saxpy_grouped_variants(), |_| (), |r: &mut Resident, variant, go| r.run_of(variant.kernel(), go)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(input: &Input) -> Result<Vec<f32>> {
        let device = Device::simulator();
        let mut resident = Resident::new(&device, input)?;
        resident.run::<128, 4, true, 4>(&mut |launch| launch.launch(&device))?;
        resident.result()
    }

    /// At most two roundings: of a product of magnitude at most 0.75, and of a sum of at most 1.75.
    fn is_right(input: &Input, found: &[f32]) -> bool {
        let expected = input.reference();
        expected.len() == found.len() && expected.iter().zip(found).all(|(e, f)| (e - f64::from(*f)).abs() <= f64::from(f32::EPSILON))
    }

    #[test]
    fn every_length_is_right_from_nothing_on() {
        for n in [0, 1, 127, 128, 2_049] {
            let input = Input::new(7, n);
            let found = run(&input).unwrap_or_else(|error| panic!("{n} elements: {error}"));
            assert!(is_right(&input, &found), "{n} elements");
        }
    }

    #[test]
    fn every_declared_variant_is_right() {
        let input = Input::new(8, 2_049);
        for device in crate::apps::devices() {
            for declared in declared() {
                let mut resident = Resident::new(&device, &input).expect("it is right");
                let run = declared.run(&mut resident, &mut |launch| launch.launch(&device));
                run.unwrap_or_else(|error| panic!("{declared} on {device}: {error}"));
                assert!(is_right(&input, &resident.result().expect("it is read")), "{declared} on {device}");
            }
        }
    }

    #[test]
    fn what_is_no_number_comes_through() {
        let input = Input { a: 2.0, x: vec![f32::NAN, f32::INFINITY, 1.0, f32::MAX], y: vec![1.0, f32::NEG_INFINITY, f32::INFINITY, 0.0] };
        let found = run(&input).expect("it runs");
        assert!(found[0].is_nan() && found[1].is_nan());
        assert_eq!(found[2..], [f32::INFINITY; 2]);
    }

    #[test]
    fn vectors_of_two_lengths_are_refused() {
        let input = Input { a: 1.0, x: vec![1.0; 3], y: vec![1.0; 4] };
        assert_eq!(run(&input), Err(Error::Input("`x` has 3 elements, `y` has 4: make them as long as each other".into())));
    }
}
