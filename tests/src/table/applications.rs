//! Cases of the application suite: small inputs of sizes that fit no block, each against the application's reference.

use super::{Bench, EPSILON, Output, wide};
use warpwright::Result;
use warpwright_kernels::apps::{self, Error};

/// What the device said, if it was the device.
fn device<T>(result: apps::Result<T>) -> Result<T> {
    result.map_err(|error| match error {
        Error::Device(error) => error,
        Error::Input(why) => panic!("the table's inputs are right: {why}"),
    })
}

pub(super) fn saxpy(bench: &mut Bench<'_>) -> Result<Output> {
    use apps::saxpy::{Input, Resident};
    let input = Input::new(bench.random.next(), bench.random.length(5_000));
    let mut resident = device(Resident::new(bench.device, &input))?;
    resident.run::<128, 4, true, 4>(&mut |launch| bench.go(launch))?;
    // Two roundings, one where a device contracts.
    Ok(Output::Close(input.reference(), wide(&device(resident.result())?), 2.0 * EPSILON))
}

/// Results of which each has a bound of its own, as multiples of their bounds.
fn within(bounds: &[f64], expected: &[f64], found: &[f32]) -> Output {
    let in_bounds = |values: &[f64]| -> Vec<f64> { values.iter().zip(bounds).map(|(v, bound)| v / bound.max(f64::MIN_POSITIVE)).collect() };
    let expected = in_bounds(expected);
    let largest = expected.iter().fold(0.0f64, |most, e| most.max(e.abs()));
    Output::Close(expected, in_bounds(&wide(found)), 1.0 / largest.max(1.0))
}

fn potential_of(bench: &mut Bench<'_>) -> apps::coulomb::Input {
    let (atoms, width, height) = (bench.random.length(40), bench.random.length(150), bench.random.length(9));
    apps::coulomb::Input::new(bench.random.next(), atoms, width, height)
}

pub(super) fn coulomb_direct(bench: &mut Bench<'_>) -> Result<Output> {
    let input = potential_of(bench);
    let mut resident = device(apps::coulomb::Resident::new(bench.device, &input))?;
    resident.run_direct(&mut |launch| bench.go(launch))?;
    Ok(within(&input.tolerance(), &input.reference(), &device(resident.result())?))
}

pub(super) fn coulomb<const BX: usize, const P: usize, const U: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    let input = potential_of(bench);
    let mut resident = device(apps::coulomb::Resident::new(bench.device, &input))?;
    resident.run::<BX, P, U>(&mut |launch| bench.go(launch))?;
    Ok(within(&input.tolerance(), &input.reference(), &device(resident.result())?))
}
