use super::*;

type Run = fn(&mut Resident, usize, &mut Go<'_>) -> warpwright::Result<()>;

const FORMS: [(&str, Run); 7] = [
    ("by columns", Resident::run_by_columns),
    ("plain", Resident::run::<1, false>),
    ("four cells a thread", Resident::run::<4, true>),
    ("fused", Resident::run_fused::<2, true>),
    ("tiled, 1 step", Resident::run_tiled::<1>),
    ("tiled, 2 steps", Resident::run_tiled::<2>),
    ("tiled, 4 steps", Resident::run_tiled::<4>),
];

fn after(device: &Device, input: &Input, run: Run, steps: usize) -> Result<Fields<f32>> {
    let mut resident = Resident::new(device, input)?;
    run(&mut resident, steps, &mut |launch| launch.launch(device))?;
    resident.result()
}

fn bits(fields: &Fields<f32>) -> Vec<u32> {
    [&fields.ez, &fields.hx, &fields.hy].into_iter().flatten().map(|value| value.to_bits()).collect()
}

/// A box with waves all over it from the start.
fn full(seed: u64, width: usize, height: usize) -> Input {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut input = Input::new(seed, width, height);
    input.ez.fill_with(|| 2.0 * random.f32() - 1.0);
    if width < 3 || height < 3 {
        input.samples.clear();
    }
    input
}

#[test]
fn every_form_gives_the_bits_of_one_core() {
    for (width, height) in [(1, 1), (1, 5), (2, 2), (3, 3), (61, 31), (70, 9)] {
        let input = full(3, width, height);
        let expected = bits(&input.one_core(5));
        for (name, run) in FORMS {
            let found = after(&Device::simulator(), &input, run, 5).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(bits(&found) == expected, "{name}, {width} × {height}");
        }
    }
    let input = full(4, 20, 20);
    for (name, run) in FORMS {
        let found = after(&Device::host(), &input, run, 5).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(bits(&found) == bits(&input.one_core(5)), "{name} on the host twin");
    }
}

#[test]
fn one_core_is_as_close_to_the_reference_as_roundings_allow() {
    let (input, steps) = (full(5, 40, 30), 200);
    let (expected, found) = (input.reference(steps), input.one_core(steps));
    let difference = |a: &[f64], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - f64::from(*b)).powi(2)).sum::<f64>();
    let error = difference(&expected.ez, &found.ez) + difference(&expected.hx, &found.hx) + difference(&expected.hy, &found.hy);
    let bound = input.error_bound(steps, &expected);
    assert!(error.sqrt() <= bound, "{} > {bound}", error.sqrt());
}

/// Yee's numerical dispersion relation: sin²(ωΔt/2) = (cΔt/Δx)²·(sin²(k₁Δx/2) + sin²(k₂Δx/2)).
#[test]
fn a_mode_of_the_empty_box_swings_with_its_published_frequency() {
    let (width, height, modes, steps) = (33, 21, (3.0, 2.0), 60);
    let mut input = Input::new(1, width, height);
    input.samples.clear();
    input.permittivity.fill(1.0);
    let (k1, k2) = (modes.0 * std::f64::consts::PI / (width - 1) as f64, modes.1 * std::f64::consts::PI / (height - 1) as f64);
    let shape = |i: usize| (k1 * (i % width) as f64).sin() * (k2 * (i / width) as f64).sin();
    input.ez = (0..width * height).map(|i| shape(i) as f32).collect();
    let half = (0.5 * ((k1 / 2.0).sin().powi(2) + (k2 / 2.0).sin().powi(2)).sqrt()).asin();
    // H is 0 half a step before the start, so E is at its greatest there.
    let swing = ((2 * steps + 1) as f64 * half).cos() / half.cos();
    // One core speaks for all forms, which give its bits.
    let found = input.one_core(steps);
    let error = found.ez.iter().enumerate().fold(0.0f64, |most, (i, e)| most.max((f64::from(*e) - swing * shape(i)).abs()));
    assert!(swing.abs() > 0.1 && error < 1e-5, "{error} of {swing}");
}

#[test]
fn running_goes_on_where_it_stopped_and_the_source_with_it() {
    let device = Device::simulator();
    let input = Input::new(2, 45, 40);
    let mut resident = Resident::new(&device, &input).expect("it is right");
    resident.run_tiled::<4>(7, &mut |launch| launch.launch(&device)).expect("it runs");
    resident.run_fused::<1, false>(0, &mut |_| panic!("no step, no launch")).expect("it runs");
    resident.run::<1, false>(3, &mut |launch| launch.launch(&device)).expect("it runs");
    let found = resident.result().expect("it is there");
    assert!(bits(&found) == bits(&input.one_core(10)) && found.ez.iter().any(|e| *e != 0.0));
}

#[test]
fn a_pulse_spreads_by_a_cell_a_step_and_no_further() {
    let mut input = Input::new(2, 20, 20);
    (input.rate, input.samples) = (0.4, vec![1.0]);
    for (name, run) in FORMS {
        let found = after(&Device::simulator(), &input, run, 4).unwrap_or_else(|error| panic!("{name}: {error}"));
        let touched = |i: usize| (i % 20).abs_diff(10) + (i / 20).abs_diff(10) <= 3;
        assert!(found.ez.iter().enumerate().all(|(i, e)| (*e != 0.0) == touched(i)), "{name}");
    }
}

#[test]
fn every_declared_variant_gives_the_bits_of_one_core() {
    let (input, steps) = (full(6, 70, 33), 5);
    let expected = bits(&input.one_core(steps));
    for device in crate::apps::devices() {
        for declared in declared(steps) {
            let mut resident = Resident::new(&device, &input).expect("it is right");
            let run = declared.run(&mut resident, &mut |launch| launch.launch(&device));
            run.unwrap_or_else(|error| panic!("{declared} on {device}: {error}"));
            assert!(bits(&resident.result().expect("it is read")) == expected, "{declared} on {device}");
        }
    }
}

fn refused(change: impl Fn(&mut Input)) -> String {
    let mut input = Input::new(2, 8, 6);
    change(&mut input);
    Resident::new(&Device::simulator(), &input).err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn what_is_no_box_is_refused() {
    assert_eq!(refused(|input| *input = Input::new(1, 0, 6)), "the box has 0 × 6 cells: it needs one at least");
    assert!(refused(|input| input.ez.truncate(47)).starts_with("`ez` has 47 elements, the box 8 × 6 cells"));
    assert!(refused(|input| input.permittivity.push(1.0)).starts_with("`permittivity` has 49 elements"));
    assert!(refused(|input| input.source = (8, 2)).contains("(8, 2)"));
    assert!(refused(|input| input.source = (7, 2)).contains("in the walls"));
    assert_eq!(refused(|_| ()), "");
}

#[test]
fn what_is_no_wave_is_refused() {
    let rate = |rate: f32| refused(|input| input.rate = rate);
    for wrong in [0.0, -0.5, FASTEST.next_up(), f32::NAN, f32::INFINITY] {
        let expected = format!("`rate` is {wrong}: it must be above 0 and at most 0.70710677, beyond which waves grow without end");
        assert_eq!(rate(wrong), expected);
    }
    assert_eq!(rate(FASTEST), "");
    // Cell 0 is a corner of the walls, cell 10 is inside.
    for cell in [0, 10] {
        for wrong in [0.0, -2.0, 0.5, f32::NAN, f32::INFINITY] {
            let expected = format!("the permittivity of cell {cell} is {wrong}: it must be finite and at least 1, a vacuum's");
            assert_eq!(refused(|input| input.permittivity[cell] = wrong), expected);
        }
        for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(refused(|input| input.ez[cell] = wrong), format!("`ez` of cell {cell} is {wrong}: it must be finite"));
        }
    }
    assert_eq!(refused(|input| input.samples[3] = f32::NAN), "sample 3 of the source is NaN: it must be finite");
    assert_eq!(refused(|input| input.samples[3] = f32::INFINITY), "sample 3 of the source is inf: it must be finite");
}

#[test]
fn what_may_overflow_is_refused_and_the_largest_fields_beside_a_wall_leave_it_alone() {
    let one = |value: f32| {
        let mut input = Input::new(2, 9, 8);
        input.permittivity.fill(1.0);
        input.samples.clear();
        input.ez[9 + 1] = value;
        input
    };
    let refusal = Resident::new(&Device::simulator(), &one(f32::MAX)).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refusal.starts_with("fields may become as large as 8.2"), "{refusal}");
    let mut fed = one(0.0);
    fed.samples = vec![f32::MAX / 16.0; 2];
    assert!(Resident::new(&Device::simulator(), &fed).is_err(), "what the source adds counts");
    // The fields may become 2.41 times as large; an eighth of the greatest number is allowed.
    let input = one(f32::MAX / 8.0 / 2.42);
    let expected = bits(&input.one_core(20));
    for (name, run) in FORMS {
        let found = after(&Device::simulator(), &input, run, 20).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(bits(&found) == expected && found.ez.iter().all(|e| e.is_finite()), "{name}");
        assert!((0..72).all(|i| !input.is_wall(i % 9, i / 9) || found.ez[i] == 0.0), "{name}: walls");
    }
}
