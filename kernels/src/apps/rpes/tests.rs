use super::host::boys_of_order;
use super::*;

/// How a run is made.
type Form = fn(&mut Resident, &mut Go<'_>) -> warpwright::Result<()>;

const FORMS: [(&str, Form); 4] = [
    ("direct", Resident::run_direct::<64>),
    ("pairs", Resident::run::<64, 1, false>),
    ("pairs, by table", Resident::run::<128, 1, true>),
    ("pairs, 4 kets, by table", Resident::run::<64, 4, true>),
];

fn run_on(device: &Device, input: &Input, form: Form) -> Result<Vec<f32>> {
    let mut resident = Resident::new(device, input)?;
    form(&mut resident, &mut |launch| launch.launch(device))?;
    resident.result()
}

/// Every form's integrals are within the bound of the reference's.
fn all_are_right(device: &Device, input: &Input) -> Vec<f64> {
    let expected = input.reference();
    for (name, form) in FORMS {
        let found = run_on(device, input, form).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_right(name, input, &found, &expected);
    }
    expected
}

fn assert_right(name: &str, input: &Input, found: &[f32], expected: &[f64]) {
    let bound = input.error_bound() * expected.iter().fold(0.0f64, |most, e| most.max(*e));
    assert_eq!(found.len(), expected.len(), "{name}");
    for (at, (expected, found)) in expected.iter().zip(found).enumerate() {
        let off = (expected - f64::from(*found)).abs();
        assert!(off <= bound, "{name}, {at}: {found} for {expected}, off by {off:e} of {bound:e}");
    }
}

#[test]
fn every_declared_variant_is_right_on_clusters_that_fit_no_block() {
    // 10 pairs: blocks have 64 threads or more, and not all kets of the last thread along y are there.
    let input = Input::new(8, 4);
    let expected = input.reference();
    for device in crate::apps::devices() {
        let mut resident = Resident::new(&device, &input).expect("it is right");
        let go = &mut |launch: Launch<'_>| launch.launch(&device);
        for declared in declared() {
            declared.run(&mut resident, go).unwrap_or_else(|error| panic!("{declared} on {device}: {error}"));
            assert_right(&format!("{declared} on {device}"), &input, &resident.result().expect("it is there"), &expected);
            resident.out.clear().expect("it clears");
        }
    }
}

/// Two atoms of hydrogen.
fn hydrogen(apart: f32) -> Input {
    Input { functions: [0.0, apart].map(|x| Function::sto_3g(1.24, [x, 0.0, 0.0])).to_vec() }
}

#[test]
fn the_molecule_of_hydrogen_has_the_published_integrals() {
    // Szabo and Ostlund, equation 3.235: R = 1.4, in pairs 11, 21, 22.
    let published = [((0, 0), 0.7746), ((2, 2), 0.7746), ((2, 0), 0.5697), ((1, 0), 0.4441), ((2, 1), 0.4441), ((1, 1), 0.2970)];
    let input = hydrogen(1.4);
    let expected = all_are_right(&Device::simulator(), &input);
    for ((bra, ket), value) in published {
        assert!((expected[ket * 3 + bra] - value).abs() < 1e-4, "({bra}|{ket}): {} for {value}", expected[ket * 3 + bra]);
        for (name, form) in FORMS {
            let found = run_on(&Device::simulator(), &input, form).expect("it runs")[ket * 3 + bra];
            assert!((f64::from(found) - value).abs() < 1e-4, "{name}, ({bra}|{ket}): {found} for {value}");
        }
    }
}

#[test]
fn the_boys_function_is_the_integral_that_it_is_defined_by() {
    // ∫₀¹ u^2m · exp(-t·u²) du by Simpson's rule.
    let integral = |m: i32, t: f64| {
        let at = |k: usize| (k as f64 / 2_000.0).powi(2);
        let f = |k: usize| at(k).powi(m) * (-t * at(k)).exp();
        let inner: f64 = (1..2_000).map(|k| f(k) * if k % 2 == 1 { 4.0 } else { 2.0 }).sum();
        (f(0) + inner + f(2_000)) / 6_000.0
    };
    let mut cells: [[f32; 4]; CELLS] = cells().try_into().expect("as many cells");
    for t in [0.0, 1e-12, 1e-6, 1e-5, 1e-3, 0.06, 0.125, 1.0, 7.3, 15.99, 16.0, 16.01, 34.9, 35.1, 80.0, 1e3] {
        let expected = integral(0, t);
        for (name, found) in [("erf", boys(t as f32)), ("table", boys_of_cells(t as f32, &mut cells))] {
            assert!((f64::from(found) / expected - 1.0).abs() < 1e-6, "{name}, {t}: {found} for {expected}");
        }
    }
    for t in [0.0, 1e-6, 0.06, 1.0, 7.3, 15.99] {
        for m in 0..4 {
            assert!((boys_of_order(m, t) - integral(m as i32, t)).abs() < 1e-9, "series of order {m}, {t}");
        }
    }
}

#[test]
fn a_function_has_the_length_one() {
    // ∫ φ² = Σ of its products' (π / p)^1.5, of factors that are divided by p.
    let product = Input { functions: vec![Function::sto_3g(1.24, [3.0; 3])] }.products();
    let length: f64 =
        product.iter().map(|p| f64::from(p.factor * p.place[3]) * (std::f64::consts::PI / f64::from(p.place[3])).powf(1.5)).sum();
    assert!((length - 1.0).abs() < 1e-5, "{length}");
}

#[test]
fn far_away_charges_repel_as_points_do() {
    let input = hydrogen(100.0);
    let found = all_are_right(&Device::simulator(), &input);
    assert!((found[2] - 0.01).abs() < 1e-7, "(22|11) is 1 / R: {}", found[2]);
    assert!(found[1].abs() < 1e-12, "no overlap, no charge: {}", found[1]);
}

#[test]
fn every_form_is_right_on_clusters_that_fit_no_block() {
    for atoms in [1, 4] {
        all_are_right(&Device::simulator(), &Input::new(atoms as u64, atoms));
    }
    all_are_right(&Device::host(), &Input::new(5, 12));
}

#[test]
fn kets_of_a_second_launch_are_others() {
    // 276 pairs are a chunk and 20.
    let input = Input::new(6, 23);
    let found = run_on(&Device::host(), &input, Resident::run::<64, 4, true>).expect("it runs");
    let products = input.products();
    let (pairs, last) = (276, 250..276);
    assert_eq!(found.len(), pairs * pairs);
    let one_core = input.one_core(&products, &cells(), last.clone());
    let ours = last.flat_map(|ket| (ket..pairs).map(move |bra| ket * pairs + bra)).map(|at| found[at]);
    let bound = 2.0 * input.error_bound() as f32 * one_core.iter().fold(0.0f32, |most, v| most.max(*v));
    assert!(ours.zip(&one_core).all(|(ours, theirs)| (ours - theirs).abs() <= bound));
}

#[test]
fn one_core_is_right() {
    let input = Input::new(7, 5);
    let (expected, found) = (input.reference(), input.one_core(&input.products(), &cells(), 3..7));
    let expected: Vec<f64> = (3..7).flat_map(|ket| (ket..15).map(move |bra| ket * 15 + bra)).map(|at| expected[at]).collect();
    let bound = input.error_bound() * expected.iter().fold(0.0f64, |most, e| most.max(*e));
    assert_eq!(found.len(), expected.len());
    assert!(expected.iter().zip(&found).all(|(e, f)| (e - f64::from(*f)).abs() <= bound));
}

#[test]
fn functions_in_one_place_are_no_exception() {
    let one = Function::sto_3g(2.0, [0.5, -0.25, 1.0]);
    let found = all_are_right(&Device::simulator(), &Input { functions: vec![one; 2] });
    assert!((1..3).all(|bra| (found[bra] / found[0] - 1.0).abs() < 1e-9), "they are the same function");
}

#[test]
fn no_functions_no_integrals() {
    for (name, form) in FORMS {
        assert_eq!(run_on(&Device::simulator(), &Input::new(1, 0), form), Ok(vec![]), "{name}");
    }
}

#[test]
fn what_is_no_function_is_refused() {
    let refusal = |change: fn(&mut Input)| {
        let mut input = hydrogen(1.4);
        change(&mut input);
        match Resident::new(&Device::simulator(), &input) {
            Err(Error::Input(why)) => why,
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("taken"),
        }
    };
    let exponent = |value| format!("function 1 has the exponent {value}: it must be a number above 0");
    assert_eq!(refusal(|i| i.functions[1].exponents[2] = 0.0), exponent("0"));
    assert_eq!(refusal(|i| i.functions[1].exponents[0] = f32::NAN), exponent("NaN"));
    assert_eq!(refusal(|i| i.functions[1].exponents[0] = f32::INFINITY), exponent("inf"));
    let number = |value| format!("function 0 has {value} in its centre or its weights: there must be numbers");
    assert_eq!(refusal(|i| i.functions[0].centre[1] = f32::NAN), number("NaN"));
    assert_eq!(refusal(|i| i.functions[0].weights[1] = f32::NEG_INFINITY), number("-inf"));
    assert_eq!(
        refusal(|i| i.functions.resize(301, Function::sto_3g(1.0, [0.0; 3]))),
        "301 functions: there may be 300, whose integrals have numbers of 32 bits"
    );
}
