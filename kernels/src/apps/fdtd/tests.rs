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
    // A step keeps a quadratic form of the fields that is within a factor of 1 ± rate·√2 of the sum of their squares (here also times 2.25
    // in glass), so what a step's roundings add stays as large as it is: at most 8 roundings of each value a step.
    let square = |fields: &Fields<f64>| fields.ez.iter().chain(&fields.hx).chain(&fields.hy).map(|v| v * v).sum::<f64>();
    let difference = |a: &[f64], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - f64::from(*b)).powi(2)).sum::<f64>();
    let error = difference(&expected.ez, &found.ez) + difference(&expected.hx, &found.hx) + difference(&expected.hy, &found.hy);
    let spread = (2.25 * (1.0 + 0.5f64.sqrt()) / (1.0 - 0.5f64.sqrt())).sqrt();
    let bound = spread * steps as f64 * 8.0 * f64::from(f32::EPSILON) / 2.0 * square(&expected).sqrt();
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
fn what_is_no_number_spreads_by_a_cell_a_step_and_no_further() {
    let mut input = Input::new(2, 20, 20);
    input.samples = vec![f32::NAN];
    for (name, run) in FORMS {
        let found = after(&Device::simulator(), &input, run, 4).unwrap_or_else(|error| panic!("{name}: {error}"));
        let touched = |i: usize| (i % 20).abs_diff(10) + (i / 20).abs_diff(10) <= 3;
        assert!(found.ez.iter().enumerate().all(|(i, e)| e.is_nan() == touched(i)), "{name}");
    }
}

#[test]
fn what_is_no_box_is_refused() {
    let refused = |change: fn(&mut Input)| {
        let mut input = Input::new(2, 8, 6);
        change(&mut input);
        Resident::new(&Device::simulator(), &input).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(refused(|input| *input = Input::new(1, 0, 6)), "the box has 0 × 6 cells: it needs one at least");
    assert!(refused(|input| input.ez.truncate(47)).starts_with("`ez` has 47 elements, the box 8 × 6 cells"));
    assert!(refused(|input| input.permittivity.push(1.0)).starts_with("`permittivity` has 49 elements"));
    assert!(refused(|input| input.source = (8, 2)).contains("(8, 2)"));
    assert!(refused(|input| input.source = (7, 2)).contains("in the walls"));
    assert_eq!(refused(|_| ()), "");
}
