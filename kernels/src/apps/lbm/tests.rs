use super::*;

type Run = fn(&Device, &Input, usize) -> Result<Vec<f32>>;

fn of_structures(device: &Device, input: &Input, steps: usize) -> Result<Vec<f32>> {
    let mut resident = Resident::new(device, input)?;
    resident.run_structures(steps, &mut |launch| launch.launch(device))?;
    resident.result()
}

fn of_arrays<const B: usize, const EAGER: bool>(device: &Device, input: &Input, steps: usize) -> Result<Vec<f32>> {
    let mut resident = Resident::new(device, input)?;
    resident.run::<B, EAGER>(steps, &mut |launch| launch.launch(device))?;
    resident.result()
}

fn staged_in<const B: usize>(device: &Device, input: &Input, steps: usize) -> Result<Vec<f32>> {
    let mut resident = Resident::new(device, input)?;
    resident.run_staged::<B>(steps, &mut |launch| launch.launch(device))?;
    resident.result()
}

fn on_one_core(_: &Device, input: &Input, steps: usize) -> Result<Vec<f32>> {
    Ok(input.one_core(steps))
}

const FORMS: [(&str, Run); 5] = [
    ("one core", on_one_core),
    ("structures", of_structures),
    ("arrays", of_arrays::<64, false>),
    ("arrays, eager", of_arrays::<128, true>),
    ("staged", staged_in::<64>),
];

fn close(input: &Input, steps: usize, found: &[f32]) -> bool {
    let (expected, bound) = (input.reference(steps), input.error_bound(steps));
    expected.len() == found.len() && expected.iter().zip(found).all(|(e, f)| (e - f64::from(*f)).abs() <= bound)
}

#[test]
fn every_form_is_close_to_the_reference_in_boxes_of_any_size() {
    for extents in [(1, 1, 1), (2, 1, 1), (1, 5, 2), (70, 4, 3), (129, 3, 1)] {
        let mut input = Input::new(3, extents.0, extents.1, extents.2);
        if extents == (1, 1, 1) {
            input.solid = vec![false];
        }
        for (name, run) in FORMS {
            let found = run(&Device::simulator(), &input, 3).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(close(&input, 3, &found), "{name}, {extents:?}");
        }
    }
    let input = Input::new(4, 9, 6, 5);
    for (name, run) in FORMS {
        let found = run(&Device::host(), &input, 2).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(close(&input, 2, &found), "{name} on the host twin");
    }
}

#[test]
fn a_run_of_another_layout_goes_on_where_the_last_one_stopped() {
    let (device, input) = (Device::simulator(), Input::new(4, 9, 6, 5));
    let go = &mut |launch: Launch<'_>| launch.launch(&device);
    let mut resident = Resident::new(&device, &input).expect("it is right");
    resident.run_structures(1, go).expect("it runs");
    resident.run::<64, false>(1, go).expect("it runs");
    resident.run_structures(1, go).expect("it runs");
    assert!(close(&input, 3, &resident.result().expect("it is read")));
}

#[test]
fn every_declared_variant_is_close_to_the_reference() {
    let (input, steps) = (Input::new(8, 70, 4, 2), 2);
    for device in crate::apps::devices() {
        for declared in declared(steps) {
            let mut resident = Resident::new(&device, &input).expect("it is right");
            let run = declared.run(&mut resident, &mut |launch| launch.launch(&device));
            run.unwrap_or_else(|error| panic!("{declared} on {device}: {error}"));
            assert!(close(&input, steps, &resident.result().expect("it is read")), "{declared} on {device}");
        }
    }
}

#[test]
fn obstacles_everywhere_leave_nothing_to_do_and_one_cell_between_them_keeps_what_it_has() {
    let mut input = Input::new(5, 5, 5, 5);
    input.solid.fill(true);
    for (name, run) in FORMS {
        let found = run(&Device::simulator(), &input, 2).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(found.iter().all(|f| *f == 0.0), "{name}");
    }
    input.solid[62] = false;
    for (name, run) in FORMS {
        let found = run(&Device::simulator(), &input, 2).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(close(&input, 2, &found) && found.iter().filter(|f| **f != 0.0).count() == Q, "{name}");
    }
}

#[test]
fn no_mass_is_lost_to_obstacles() {
    let (input, steps) = (Input::new(6, 20, 9, 4), 10);
    let mass = |f: &[f32]| f.iter().map(|f| f64::from(*f)).sum::<f64>();
    let cells = input.solid.iter().filter(|solid| !**solid).count() as f64;
    let before = mass(&input.start());
    assert!((before - cells).abs() < 1e-6 * cells);
    let exact: f64 = input.reference(steps).iter().sum();
    assert!((exact - before).abs() < 1e-12 * before, "{exact} of {before}");
    for (name, run) in FORMS {
        let after = mass(&run(&Device::simulator(), &input, steps).unwrap_or_else(|error| panic!("{name}: {error}")));
        // A cell's sum is off by 18 roundings a step at most, and its 19 numbers by a few of theirs.
        let bound = (18 + 10) as f64 * steps as f64 * f64::from(f32::EPSILON) / 2.0 * cells;
        assert!((after - before).abs() <= bound, "{name}: {after} of {before}");
    }
}

/// A fluid without obstacles along a line of `n` cells in y, whose velocity along x is what `u` says.
fn line(n: usize, tau: f32, u: impl Fn(usize) -> f64) -> Input {
    let velocity = (0..n).map(|y| [u(y) as f32, 0.0, 0.0]).collect();
    Input { nx: 1, ny: n, nz: 1, tau, force: [0.0; 3], solid: vec![false; n], velocity }
}

fn velocity_along_x<T: Copy + Into<f64>>(f: &[T], n: usize, cell: usize) -> f64 {
    let (density, momentum) = moments(std::array::from_fn(|i| f[i * n + cell].into()));
    momentum[0] / density
}

/// The viscosity of the model is (τ - ½)/3; with k = 2π/32 the lattice's own error is of the order of k²/12, a third of a per cent.
#[test]
fn a_shear_wave_dies_away_as_fast_as_the_viscosity_says() {
    let (n, tau, steps) = (32, 0.8f32, 100);
    let k = std::f64::consts::TAU / n as f64;
    let input = line(n, tau, |y| 0.01 * (k * y as f64).sin());
    let amplitude = |f: &[f32]| (0..n).map(|y| velocity_along_x(f, n, y) * (k * y as f64).sin()).sum::<f64>() * 2.0 / n as f64;
    let (before, after) = (amplitude(&input.start()), amplitude(&input.one_core(steps)));
    let viscosity = (before / after).ln() / (k * k * steps as f64);
    assert!((viscosity / ((f64::from(tau) - 0.5) / 3.0) - 1.0).abs() < 0.01, "{viscosity}");
}

/// Between plates a driven flow is a parabola. Obstacles that throw back are plates half-way between cells exactly where (τ - ½)² is 3/16 (He, Zou, Luo and
/// Dembo, Journal of Statistical Physics 87, 1997).
#[test]
fn a_driven_flow_between_plates_is_poiseuilles_parabola() {
    let (n, force, steps) = (12, 1e-5, 4_000);
    let tau = (0.5 + (3.0f64 / 16.0).sqrt()) as f32;
    let mut input = line(n, tau, |_| 0.0);
    input.force[0] = force as f32;
    (input.solid[0], input.solid[n - 1]) = (true, true);
    let f = input.reference(steps);
    let (viscosity, width) = ((f64::from(tau) - 0.5) / 3.0, (n - 2) as f64);
    for y in 1..n - 1 {
        let from_plate = y as f64 - 0.5;
        let expected = force / (2.0 * viscosity) * from_plate * (width - from_plate);
        // After a collision the force has pushed for half a step more.
        let found = velocity_along_x(&f, n, y) - force / 2.0;
        assert!((found / expected - 1.0).abs() < 1e-3, "row {y}: {found}, expected {expected}");
    }
}

#[test]
fn what_is_no_fluid_is_refused() {
    let refused = |change: fn(&mut Input)| {
        let mut input = Input::new(2, 4, 3, 2);
        change(&mut input);
        Resident::new(&Device::simulator(), &input).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(refused(|_| ()), "");
    assert_eq!(refused(|input| *input = Input::new(1, 4, 0, 2)), "the box has 4 × 0 × 2 cells: it needs one at least");
    assert_eq!(refused(|input| input.solid.truncate(23)), "`solid` has 23 elements, the box 4 × 3 × 2 cells: make them as many");
    assert!(refused(|input| input.velocity.truncate(1)).starts_with("`velocity` has 1 elements"));
    assert!(refused(|input| input.tau = 0.5).starts_with("`tau` is 0.5: it must be above 0.5"));
    assert!(refused(|input| input.tau = f32::NAN).starts_with("`tau` is NaN"));
    assert!(refused(|input| input.velocity[7][1] = f32::INFINITY).starts_with("the velocity of cell 7 is"));
    assert!(refused(|input| input.force[2] = f32::NAN).starts_with("the force is"));
}
