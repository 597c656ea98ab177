//! Cases of the application suite: small inputs of sizes that fit no block, each against the application's reference.

use super::{Bench, EPSILON, Output, bits, wide};
use warpwright::Result;
use warpwright_kernels::apps::{self, Error};

/// What the device said, if it was the device.
fn device<T>(result: apps::Result<T>) -> Result<T> {
    result.map_err(|error| match error {
        Error::Device(error) => error,
        Error::Input(why) => panic!("the table's inputs are right: {why}"),
    })
}

/// Motions between two frames, in one of the kernel's forms.
fn sad(bench: &mut Bench<'_>, run: fn(&mut apps::sad::Resident, &mut apps::Go<'_>) -> Result<()>) -> Result<Output> {
    use apps::sad::{Input, Resident};
    let (width, height) = (bench.random.length(32), bench.random.length(20));
    let input = Input::new(bench.random.next(), width, height);
    let mut resident = device(Resident::new(bench.device, &input))?;
    run(&mut resident, &mut |launch| bench.go(launch))?;
    let widen = |keys: Vec<u32>| keys.into_iter().map(u64::from).collect();
    Ok(Output::Exact(widen(input.reference(4)), widen(device(resident.result())?)))
}

pub(super) fn sad_global(bench: &mut Bench<'_>) -> Result<Output> {
    sad(bench, apps::sad::Resident::run_global::<4>)
}

pub(super) fn sad_shared<const B: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    sad(bench, apps::sad::Resident::run_shared::<4, B>)
}

pub(super) fn sad_texture<const B: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    sad(bench, apps::sad::Resident::run_texture::<4, B>)
}

pub(super) fn saxpy(bench: &mut Bench<'_>) -> Result<Output> {
    use apps::saxpy::{Input, Resident};
    let input = Input::new(bench.random.next(), bench.random.length(5_000));
    let mut resident = device(Resident::new(bench.device, &input))?;
    resident.run::<128, 4, true, 4>(&mut |launch| bench.go(launch))?;
    // Two roundings, one where a device contracts.
    Ok(Output::Close(input.reference(), wide(&device(resident.result())?), 2.0 * EPSILON))
}

/// Integrals of a cluster of atoms, in one of the kernel's forms.
fn rpes(bench: &mut Bench<'_>, run: fn(&mut apps::rpes::Resident, &mut apps::Go<'_>) -> Result<()>) -> Result<Output> {
    use apps::rpes::{Input, Resident};
    let atoms = 1 + bench.random.length(3);
    let input = Input::new(bench.random.next(), atoms);
    let mut resident = device(Resident::new(bench.device, &input))?;
    run(&mut resident, &mut |launch| bench.go(launch))?;
    Ok(Output::Close(input.reference(), wide(&device(resident.result())?), input.error_bound()))
}

pub(super) fn rpes_direct(bench: &mut Bench<'_>) -> Result<Output> {
    rpes(bench, apps::rpes::Resident::run_direct::<64>)
}

pub(super) fn rpes_of_pairs<const KETS: usize, const TABLE: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    rpes(bench, apps::rpes::Resident::run::<64, KETS, TABLE>)
}

/// Rings of 8 philosophers, in one of the kernel's forms: what each net fires, what is counted.
fn pns(bench: &mut Bench<'_>, seats: u32, run: fn(&mut apps::pns::Resident<8>, &mut apps::Go<'_>) -> Result<()>) -> Result<Output> {
    use apps::pns::{Input, Resident, Statistics};
    let (nets, steps) = (bench.random.length(70), bench.random.length(25));
    let input = Input::<8> { seats, ..Input::new(bench.random.next(), nets, steps) };
    let mut resident = device(Resident::new(bench.device, &input))?;
    run(&mut resident, &mut |launch| bench.go(launch))?;
    let flat = |fired: &[u32], counted: &Statistics| -> Vec<u64> {
        let fired = fired.iter().map(|fired| u64::from(*fired));
        fired.chain(counted.sums.iter().copied()).chain(counted.squares.iter().copied()).chain([counted.stuck]).collect()
    };
    let (fired, counted) = input.reference();
    Ok(Output::Exact(flat(&fired, &counted), flat(&device(resident.fired())?, &device(resident.result())?)))
}

pub(super) fn pns_in_memory<const INTERLEAVED: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    pns(bench, 7, apps::pns::Resident::run::<64, INTERLEAVED>)
}

pub(super) fn pns_in_registers<const AHEAD: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    pns(bench, 8, apps::pns::Resident::run_in_registers::<128, AHEAD>)
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
    Ok(within(&input.error_bound(), &input.reference(), &device(resident.result())?))
}

pub(super) fn coulomb<const BX: usize, const P: usize, const U: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    let input = potential_of(bench);
    let mut resident = device(apps::coulomb::Resident::new(bench.device, &input))?;
    resident.run::<BX, P, U>(&mut |launch| bench.go(launch))?;
    Ok(within(&input.error_bound(), &input.reference(), &device(resident.result())?))
}

pub(super) fn coulomb_cached<const BX: usize, const P: usize, const U: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    let input = potential_of(bench);
    let mut resident = device(apps::coulomb::Resident::new(bench.device, &input))?;
    resident.run_cached::<BX, P, U>(&mut |launch| bench.go(launch))?;
    Ok(within(&input.error_bound(), &input.reference(), &device(resident.result())?))
}

fn samples_of(bench: &mut Bench<'_>) -> apps::mri::Input {
    let (samples, width, height) = (bench.random.length(30), bench.random.length(40), bench.random.length(5));
    apps::mri::Input::new(bench.random.next(), samples, [width, height, 3])
}

/// The two parts of each voxel, within a bound that they share.
fn within_of_parts(bounds: &[f64], expected: &[[f64; 2]], found: &[[f32; 2]]) -> Output {
    let both: Vec<f64> = bounds.iter().flat_map(|bound| [*bound; 2]).collect();
    within(&both, expected.as_flattened(), found.as_flattened())
}

pub(super) fn q_direct(bench: &mut Bench<'_>) -> Result<Output> {
    let input = samples_of(bench);
    let mut resident = device(apps::mri::Resident::new(bench.device, &input))?;
    resident.run_q_direct(&mut |launch| bench.go(launch))?;
    Ok(within_of_parts(&input.error_bound_q(apps::mri::PRECISE), &input.reference_q(), &device(resident.result())?))
}

pub(super) fn fhd_direct(bench: &mut Bench<'_>) -> Result<Output> {
    let input = samples_of(bench);
    let mut resident = device(apps::mri::Resident::new(bench.device, &input))?;
    resident.run_fhd_direct(&mut |launch| bench.go(launch))?;
    Ok(within_of_parts(&input.error_bound_fhd(apps::mri::PRECISE), &input.reference_fhd(), &device(resident.result())?))
}

pub(super) fn q<const P: usize, const U: usize, const FAST: bool, const TURNS: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    let input = samples_of(bench);
    let mut resident = device(apps::mri::Resident::new(bench.device, &input))?;
    resident.run_q::<P, U, FAST, TURNS>(&mut |launch| bench.go(launch))?;
    Ok(within_of_parts(&input.error_bound_q(apps::mri::error_of_sine(FAST, TURNS)), &input.reference_q(), &device(resident.result())?))
}

pub(super) fn fhd<const P: usize, const U: usize, const FAST: bool, const TURNS: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    let input = samples_of(bench);
    let mut resident = device(apps::mri::Resident::new(bench.device, &input))?;
    resident.run_fhd::<P, U, FAST, TURNS>(&mut |launch| bench.go(launch))?;
    Ok(within_of_parts(&input.error_bound_fhd(apps::mri::error_of_sine(FAST, TURNS)), &input.reference_fhd(), &device(resident.result())?))
}

pub(super) fn q_cached<const P: usize, const U: usize, const FAST: bool, const TURNS: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    let input = samples_of(bench);
    let mut resident = device(apps::mri::Resident::new(bench.device, &input))?;
    resident.run_q_cached::<P, U, FAST, TURNS>(&mut |launch| bench.go(launch))?;
    Ok(within_of_parts(&input.error_bound_q(apps::mri::error_of_sine(FAST, TURNS)), &input.reference_q(), &device(resident.result())?))
}

pub(super) fn fhd_cached<const P: usize, const U: usize, const FAST: bool, const TURNS: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    let input = samples_of(bench);
    let mut resident = device(apps::mri::Resident::new(bench.device, &input))?;
    resident.run_fhd_cached::<P, U, FAST, TURNS>(&mut |launch| bench.go(launch))?;
    Ok(within_of_parts(&input.error_bound_fhd(apps::mri::error_of_sine(FAST, TURNS)), &input.reference_fhd(), &device(resident.result())?))
}

pub(super) fn rc5_encrypt_all<const WORDS: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    let n = bench.random.length(100);
    let mut word = || bench.random.next() as u32;
    let keys: Vec<[u32; WORDS]> = (0..n).map(|_| std::array::from_fn(|_| word())).collect();
    let plain: Vec<[u32; 2]> = (0..n).map(|_| [word(), word()]).collect();
    let resident = bench.device.upload(&keys)?;
    let mut blocks = bench.device.upload(&plain)?;
    bench.go(apps::rc5::encrypt_all::<WORDS, true>(&resident, &mut blocks).cover(n))?;
    let bytes = |key: &[u32; WORDS]| key.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let expected: Vec<[u32; 2]> = keys.iter().zip(&plain).map(|(key, plain)| apps::rc5::encrypt(&bytes(key), *plain)).collect();
    let widen = |blocks: &[[u32; 2]]| blocks.as_flattened().iter().map(|word| u64::from(*word)).collect();
    Ok(Output::Exact(widen(&expected), widen(&blocks.download()?)))
}

fn rc5(bench: &mut Bench<'_>, run: fn(&mut apps::rc5::Resident, &mut apps::Go<'_>) -> Result<()>) -> Result<Output> {
    let count = bench.random.length(400);
    // One of four windows has not the key.
    let planted = bench.random.next() % (count as u64 * 4 / 3 + 1);
    let input = apps::rc5::Input::new(bench.random.next(), count, planted);
    let mut resident = device(apps::rc5::Resident::new(bench.device, &input))?;
    run(&mut resident, &mut |launch| bench.go(launch))?;
    let number = |found: Option<usize>| vec![found.map_or(u64::MAX, |number| number as u64)];
    Ok(Output::Exact(number(input.reference()), number(device(resident.result())?)))
}

pub(super) fn rc5_direct(bench: &mut Bench<'_>) -> Result<Output> {
    rc5(bench, apps::rc5::Resident::run_direct)
}

pub(super) fn rc5_search<const KEYS: usize, const P: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    rc5(bench, apps::rc5::Resident::run::<KEYS, P>)
}

/// A wave in a box of a size that fits no tile: every form must leave the bits that one core computes.
fn fdtd(bench: &mut Bench<'_>, steps: usize, run: fn(&mut apps::fdtd::Resident, usize, &mut apps::Go<'_>) -> Result<()>) -> Result<Output> {
    use apps::fdtd::{Fields, Input, Resident};
    let mut input = Input::new(bench.random.next(), 2 + bench.random.length(90), 2 + bench.random.length(40));
    // Waves everywhere from the start.
    input.ez = bench.random.floats(input.ez.len());
    let mut resident = device(Resident::new(bench.device, &input))?;
    run(&mut resident, steps, &mut |launch| bench.go(launch))?;
    let all = |fields: Fields<f32>| bits(&[fields.ez, fields.hx, fields.hy].concat());
    Ok(Output::Exact(all(input.one_core(steps)), all(device(resident.result())?)))
}

pub(super) fn fdtd_by_columns(bench: &mut Bench<'_>) -> Result<Output> {
    fdtd(bench, 2, apps::fdtd::Resident::run_by_columns)
}

pub(super) fn fdtd_plain<const ILP: usize, const BATCH: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    fdtd(bench, 2, apps::fdtd::Resident::run::<ILP, BATCH>)
}

pub(super) fn fdtd_fused<const ILP: usize, const BATCH: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    fdtd(bench, 2, apps::fdtd::Resident::run_fused::<ILP, BATCH>)
}

pub(super) fn fdtd_tiled<const STEPS: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    fdtd(bench, STEPS + 1, apps::fdtd::Resident::run_tiled::<STEPS>)
}

/// Steps of Jacobi on a mesh, in one of the kernel's forms.
fn fem(bench: &mut Bench<'_>, run: fn(&mut apps::fem::Resident, &mut apps::Go<'_>) -> Result<()>) -> Result<Output> {
    use apps::fem::{Input, Resident};
    let (width, height) = (2 + bench.random.length(12), 2 + bench.random.length(12));
    let input = Input::new(bench.random.next(), width, height, 2);
    let mut resident = device(Resident::new(bench.device, &input))?;
    run(&mut resident, &mut |launch| bench.go(launch))?;
    let expected = input.reference();
    // The application bounds the error of each row; the greatest holds for all.
    let scale = expected.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let bound = input.error_bound().into_iter().fold(0.0, f64::max) / scale;
    Ok(Output::Close(expected, wide(&device(resident.result())?), bound))
}

pub(super) fn fem_by_thread(bench: &mut Bench<'_>) -> Result<Output> {
    fem(bench, apps::fem::Resident::run_by_thread::<128>)
}

pub(super) fn fem_by_lanes<const LANES: usize, const B: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    fem(bench, apps::fem::Resident::run_by_lanes::<LANES, B>)
}

pub(super) fn fem_sliced<const B: usize, const AHEAD: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    fem(bench, apps::fem::Resident::run_sliced::<B, AHEAD>)
}

/// Galaxies and random points of a number that fits no tile.
fn tpacf(bench: &mut Bench<'_>, run: fn(&mut apps::tpacf::Resident, &mut apps::Go<'_>) -> Result<()>) -> Result<Output> {
    use apps::tpacf::{Counts, Input, Resident};
    let input = Input::new(bench.random.next(), bench.random.length(150), bench.random.length(200));
    let mut resident = device(Resident::new(bench.device, &input))?;
    run(&mut resident, &mut |launch| bench.go(launch))?;
    let all = |counts: Counts| [counts.galaxies, counts.mixed, counts.random].concat();
    Ok(Output::Exact(all(input.reference()), all(device(resident.result())?)))
}

pub(super) fn tpacf_direct(bench: &mut Bench<'_>) -> Result<Output> {
    tpacf(bench, apps::tpacf::Resident::run_direct)
}

pub(super) fn tpacf_tiled<const B: usize, const OWN: usize, const SETS: usize, const LANES: usize>(
    bench: &mut Bench<'_>,
) -> Result<Output> {
    tpacf(bench, apps::tpacf::Resident::run::<B, OWN, SETS, LANES>)
}

/// A fluid among balls in a box of a size that fits no block.
fn fluid(bench: &mut Bench<'_>) -> apps::lbm::Input {
    apps::lbm::Input::new(bench.random.next(), bench.random.length(80), bench.random.length(6), bench.random.length(4))
}

/// A fluid's distributions after so many steps, which have one bound.
fn flown(input: &apps::lbm::Input, steps: usize, found: apps::Result<Vec<f32>>) -> Result<Output> {
    let expected = input.reference(steps);
    Ok(within(&vec![input.error_bound(steps); expected.len()], &expected, &device(found)?))
}

pub(super) fn lbm_structures(bench: &mut Bench<'_>) -> Result<Output> {
    let input = fluid(bench);
    let mut fluid = device(apps::lbm::Resident::new(bench.device, &input))?;
    fluid.run_structures(2, &mut |launch| bench.go(launch))?;
    flown(&input, 2, fluid.result())
}

pub(super) fn lbm_arrays<const B: usize, const EAGER: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    let input = fluid(bench);
    let mut fluid = device(apps::lbm::Resident::new(bench.device, &input))?;
    fluid.run::<B, EAGER>(2, &mut |launch| bench.go(launch))?;
    flown(&input, 2, fluid.result())
}

pub(super) fn lbm_staged<const B: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    let input = fluid(bench);
    let mut fluid = device(apps::lbm::Resident::new(bench.device, &input))?;
    fluid.run_staged::<B>(2, &mut |launch| bench.go(launch))?;
    flown(&input, 2, fluid.result())
}
