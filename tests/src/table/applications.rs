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
