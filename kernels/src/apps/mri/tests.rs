//! Both sums against their references, at sizes that fit no block.

use super::*;

fn simulated(input: &Input, run: impl Fn(&mut Resident, &mut Go<'_>) -> warpwright::Result<()>) -> Result<Vec<[f32; 2]>> {
    let device = Device::simulator();
    let mut resident = Resident::new(&device, input)?;
    run(&mut resident, &mut |launch| launch.launch(&device))?;
    resident.result()
}

fn assert_close(name: &str, found: &[[f32; 2]], expected: &[[f64; 2]], bounds: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{name}");
    for (v, ((found, expected), bound)) in found.iter().zip(expected).zip(bounds).enumerate() {
        let off = |part: usize| (f64::from(found[part]) - expected[part]).abs();
        assert!(off(0) <= *bound && off(1) <= *bound, "{name}, voxel {v}: {found:?}, expected {expected:?} within {bound:e}");
    }
}

fn assert_right(samples: usize, grid: [usize; 3]) {
    let input = Input::new(5, samples, grid);
    let name = |what| format!("{what} of {samples} samples, {grid:?} voxels");
    let (expected, bounds) = (input.reference_q(), input.error_bound_q(FAST_NEAR));
    let found = simulated(&input, Resident::run_q_direct).expect("it runs");
    assert_close(&name("plain Q"), &found, &expected, &input.error_bound_q(PRECISE));
    let found = simulated(&input, Resident::run_q::<4, 4, true, true>).expect("it runs");
    assert_close(&name("Q"), &found, &expected, &bounds);
    let found = simulated(&input, Resident::run_q_cached::<4, 4, true, true>).expect("it runs");
    assert_close(&name("Q through the cache"), &found, &expected, &bounds);
    assert_close(&name("one core's Q"), &input.one_core_q(0..input.voxels.len()), &expected, &bounds);
    let (expected, bounds) = (input.reference_fhd(), input.error_bound_fhd(FAST_NEAR));
    let found = simulated(&input, Resident::run_fhd_direct).expect("it runs");
    assert_close(&name("plain FHd"), &found, &expected, &input.error_bound_fhd(PRECISE));
    let found = simulated(&input, Resident::run_fhd::<1, 4, true, true>).expect("it runs");
    assert_close(&name("FHd"), &found, &expected, &bounds);
    let found = simulated(&input, Resident::run_fhd_cached::<2, 4, true, true>).expect("it runs");
    assert_close(&name("FHd through the cache"), &found, &expected, &bounds);
    assert_close(&name("one core's FHd"), &input.one_core_fhd(0..input.voxels.len()), &expected, &bounds);
}

#[test]
fn every_size_is_right_from_nothing_on() {
    for (samples, grid) in [(0, [2, 1, 1]), (1, [1, 1, 1]), (7, [5, 3, 2]), (33, [257, 1, 1]), (5, [3, 0, 2])] {
        assert_right(samples, grid);
    }
}

#[test]
fn more_samples_than_a_chunk_has_are_added() {
    assert_right(Q_CHUNK + 1, [2, 1, 1]);
}

#[test]
fn a_run_begins_anew() {
    let input = Input::new(6, 9, [3, 2, 1]);
    let once = simulated(&input, Resident::run_fhd::<1, 1, false, true>).expect("it runs");
    let after = |resident: &mut Resident, go: &mut Go<'_>| {
        resident.run_q::<1, 1, false, true>(go)?;
        resident.run_fhd::<1, 1, false, true>(go)
    };
    assert_eq!(simulated(&input, after), Ok(once));
}

/// Runs each on every device, and compares what it gives with `expected`, within the bounds of its sines.
fn every_variant(
    declared: Vec<Declared<Resident, f64>>,
    expected: impl Fn(&Input) -> Vec<[f64; 2]>,
    bounds: impl Fn(&Input, f64) -> Vec<f64>,
) {
    // A block is 1,024 voxels wide at most, the last of a thread's four 256; samples are no multiple of `U`.
    let input = Input::new(9, 6, [801, 1, 1]);
    let expected = expected(&input);
    for device in crate::apps::devices() {
        let mut resident = Resident::new(&device, &input).expect("it is right");
        for declared in &declared {
            let run = declared.run(&mut resident, &mut |launch| launch.launch(&device));
            run.unwrap_or_else(|error| panic!("{declared} on {device}: {error}"));
            let found = resident.result().expect("it is there");
            assert_close(&format!("{declared} on {device}"), &found, &expected, &bounds(&input, declared.form));
            // What one variant wrote is not to be seen by the next.
            resident.scan.re.clear().and_then(|()| resident.scan.im.clear()).expect("they clear");
        }
    }
}

#[test]
fn every_declared_variant_of_q_is_right_on_voxels_that_fit_no_block() {
    every_variant(declared_q(), Input::reference_q, Input::error_bound_q);
}

#[test]
fn every_declared_variant_of_fhd_is_right_on_voxels_that_fit_no_block() {
    every_variant(declared_fhd(), Input::reference_fhd, Input::error_bound_fhd);
}

#[test]
fn one_sample_is_one_wave() {
    // k·x is ¼, ½, 2 turns; |φ|² is 25, conj(φ)·d is (3 - 4i)(1 + i) = 7 - i.
    let voxels = vec![[0.25, 0.0, 0.0], [0.0, 0.25, 0.0], [0.0, 0.0, 0.5]];
    let input = Input { k: vec![[1.0, 2.0, 4.0]], phi: vec![[3.0, 4.0]], data: vec![[1.0, 1.0]], voxels };
    let (q, fhd) = ([[0.0, 25.0], [-25.0, 0.0], [25.0, 0.0]], [[1.0, 7.0], [-7.0, 1.0], [7.0, -1.0]]);
    assert_close("the reference", &input.reference_q().iter().map(|q| q.map(|v| v as f32)).collect::<Vec<_>>(), &q, &[1e-12; 3]);
    assert_close("the reference", &input.reference_fhd().iter().map(|q| q.map(|v| v as f32)).collect::<Vec<_>>(), &fhd, &[1e-12; 3]);
    let found = simulated(&input, Resident::run_q::<1, 1, false, false>).expect("it runs");
    assert_close("Q", &found, &q, &input.error_bound_q(PRECISE));
    let found = simulated(&input, Resident::run_fhd::<1, 1, true, true>).expect("it runs");
    assert_close("FHd", &found, &fhd, &input.error_bound_fhd(FAST_NEAR));
}

#[test]
fn a_bright_point_is_seen_where_it_is() {
    let mut input = Input::new(2, 480, [6, 6, 4]);
    let bright = 77;
    let at = input.voxels[bright];
    for ((k, phi), data) in input.k.iter().zip(&input.phi).zip(&mut input.data) {
        let (sin, cos) = (-std::f32::consts::TAU * (k[0] * at[0] + k[1] * at[1] + k[2] * at[2])).sin_cos();
        *data = [phi[0] * cos - phi[1] * sin, phi[0] * sin + phi[1] * cos];
    }
    let found = simulated(&input, Resident::run_fhd::<4, 1, true, true>).expect("it runs");
    let weight: f32 = input.phi.iter().map(|phi| phi[0] * phi[0] + phi[1] * phi[1]).sum();
    assert!((found[bright][0] / weight - 1.0).abs() < 1e-4, "{:?} of {weight}", found[bright]);
    assert!(found.iter().enumerate().all(|(v, value)| v == bright || value[0] < 0.9 * weight));
}

#[test]
fn turns_taken_before_2_pi_are_closer_on_the_hardware() {
    let input = Input::new(4, 10, [4, 4, 4]);
    let (near, far) = (input.error_bound_q(FAST_NEAR), input.error_bound_q(FAST_FAR));
    assert!(near.iter().zip(&far).all(|(near, far)| near * 3.0 < *far), "{near:?} {far:?}");
}

#[test]
fn bad_inputs_are_refused() {
    let input = Input::new(1, 4, [2, 2, 2]);
    let message = |input: &Input| simulated(input, Resident::run_q_direct).expect_err("it is refused").to_string();
    let mut broken = input.clone();
    broken.phi.pop();
    assert_eq!(message(&broken), "there are 4 samples, 3 of their φ and 4 data: make them as many as each other");
    let mut broken = input.clone();
    broken.data[2][1] = f32::INFINITY;
    assert!(message(&broken).starts_with("sample 2 is not finite: k is ["), "{}", message(&broken));
    let mut broken = input.clone();
    broken.voxels[3] = [0.0, f32::NAN, 1.0];
    assert_eq!(message(&broken), "voxel 3 is at [0.0, NaN, 1.0]: give it a finite place");
    let mut broken = input;
    (broken.k[0], broken.voxels[0]) = ([0.0, 0.0, -100.0], [0.0, 0.0, 1.0]);
    assert!(message(&broken).starts_with("phases may have 10") && message(&broken).contains("good for 50"), "{}", message(&broken));
}
