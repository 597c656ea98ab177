use super::*;
use warpwright::DeviceKind;

type Run = fn(&mut Resident, &mut Go<'_>) -> warpwright::Result<()>;

const FORMS: [(&str, Run); 4] = [
    ("direct", Resident::run_direct),
    ("one histogram a block", Resident::run::<128, 1, 1, 1>),
    ("one a warp", Resident::run::<128, 2, 4, 1>),
    ("one a lane", Resident::run::<256, 4, 1, 32>),
];

fn run(device: &Device, input: &Input, run: Run) -> Result<Counts> {
    let mut resident = Resident::new(device, input)?;
    run(&mut resident, &mut |launch| launch.launch(device))?;
    resident.result()
}

#[test]
fn every_form_counts_every_pair_of_any_number_of_points() {
    for (galaxies, random) in [(0, 0), (1, 0), (0, 2), (1, 1), (33, 130), (260, 7)] {
        let input = Input::new(5, galaxies, random);
        let expected = input.reference();
        assert_eq!(expected.galaxies.iter().sum::<u64>() as usize, galaxies * galaxies.saturating_sub(1) / 2);
        assert_eq!(expected.mixed.iter().sum::<u64>() as usize, galaxies * random);
        assert_eq!(input.one_core(0..galaxies + random), expected);
        for (name, form) in FORMS {
            let found = run(&Device::simulator(), &input, form).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(found, expected, "{name}, {galaxies} and {random}");
        }
    }
    let input = Input::new(6, 20, 140);
    for (name, form) in FORMS {
        assert_eq!(run(&Device::host(), &input, form), Ok(input.reference()), "{name} on the host twin");
    }
}

#[test]
fn every_declared_variant_counts_every_pair_of_points_that_fit_no_block() {
    let input = Input::new(10, 17, 60);
    let expected = input.reference();
    // Mixed pairs alone, since the others are too many: more points of the first set than a block has, and more of the second than a tile.
    let mixed = [(1_100, 3), (7, 270)].map(|(galaxies, random)| {
        let input = Input::new(11, galaxies, random);
        let expected = input.one_core(0..galaxies).mixed;
        (input, expected)
    });
    // The simulator has no time for the tiles, of which every thread goes through all.
    for device in crate::apps::devices() {
        let mixed = if device.kind() == DeviceKind::Simulator { &mixed[..1] } else { &mixed[..] };
        for variant in declared() {
            let mut resident = Resident::new(&device, &input).expect("it is right");
            variant.run(&mut resident, &mut |launch| launch.launch(&device)).expect("it runs");
            assert_eq!(resident.result().as_ref(), Ok(&expected), "{device}, {variant}");
            for (input, expected) in mixed {
                let mut resident = Resident::new(&device, input).expect("it is right");
                let mut number = 0;
                let second_launch = &mut |launch: Launch<'_>| {
                    number += 1;
                    if number == 2 { launch.launch(&device) } else { Ok(()) }
                };
                variant.run(&mut resident, second_launch).expect("it runs");
                assert_eq!(&resident.result().expect("it is there").mixed, expected, "{device}, {variant}");
            }
        }
    }
}

#[test]
fn pairs_beyond_a_span_are_another_blocks() {
    let mut input = Input::new(7, 3, SPAN + 300);
    input.random.x.truncate(SPAN + 300);
    let mut resident = Resident::new(&Device::host(), &input).expect("it is right");
    let expected = input.one_core(0..SPAN + 303);
    // The mixed pairs only, whose second set has two spans.
    resident
        .each(&mut |Pairing { same, first, second, edges, counts }| match same {
            true => Ok(()),
            false => pairs::<128, 1, 1, 1>(same, first.points(), second.points(), edges, counts).grid((1, 2)).launch(&Device::host()),
        })
        .expect("it runs");
    assert_eq!(resident.result().expect("it is there").mixed, expected.mixed);
}

/// Random points have sin θ dθ / 2 of their pairs at the angle θ; counts differ from that as chance makes them.
#[test]
fn random_points_are_as_far_apart_as_chance_has_them_and_galaxies_crowd() {
    let input = Input::new(8, 480, 1_500);
    let counts = input.one_core(0..1_980);
    let pairs = 1_500.0 * 1_499.0 / 2.0;
    for (k, count) in counts.random.iter().enumerate() {
        let upper = if k == 0 { 1.0 } else { f64::from(input.edges[k - 1]) };
        let lower = input.edges.get(k).map_or(-1.0, |edge| f64::from(*edge));
        let expected = pairs * (upper - lower) / 2.0;
        // Pairs of independent points are independent in pairs, so the variance is that of a count of as many throws; six times its root.
        assert!((*count as f64 - expected).abs() <= 6.0 * expected.sqrt() + 6.0, "bin {k}: {count}, expected {expected}");
    }
    let correlation = counts.correlation(480, 1_500);
    // Clusters of two degrees: far above chance at one degree (bins 4 to 6), little beyond 46 (bins 17 and 18), where pairs of 20 clusters are as
    // chance has them: a hundred or so in a bin.
    assert!(correlation[4..7].iter().all(|w| *w > 10.0) && correlation[17..19].iter().all(|w| w.abs() < 0.3), "{correlation:?}");
}

#[test]
fn a_cosine_at_an_edge_belongs_to_the_closer_bin() {
    let point = |x: &[f32], y: &[f32]| Sphere { x: x.to_vec(), y: y.to_vec(), z: vec![0.0; x.len()] };
    let input =
        Input { galaxies: point(&[1.0], &[0.0]), random: point(&[1.0, 0.6, 0.0, -1.0], &[0.0, 0.8, 1.0, 0.0]), edges: vec![1.0, 0.6, 0.0] };
    for (name, form) in FORMS {
        let found = run(&Device::simulator(), &input, form).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(found.mixed, [1, 1, 1, 1], "{name}");
    }
}

#[test]
fn runs_add_up_until_they_are_cleared() {
    let (device, input) = (Device::simulator(), Input::new(9, 10, 10));
    let mut resident = Resident::new(&device, &input).expect("it is right");
    let expected = input.reference();
    for times in [1, 2] {
        resident.run::<128, 1, 1, 1>(&mut |launch| launch.launch(&device)).expect("it runs");
        let doubled: Vec<u64> = expected.mixed.iter().map(|count| count * times).collect();
        assert_eq!(resident.result().expect("it is there").mixed, doubled);
    }
    resident.clear().expect("it clears");
    assert_eq!(resident.result().expect("it is there").mixed, vec![0; 20]);
}

#[test]
fn what_is_no_point_and_what_is_no_edge_is_refused() {
    let refused = |change: fn(&mut Input)| {
        let mut input = Input::new(2, 8, 6);
        change(&mut input);
        Resident::new(&Device::simulator(), &input).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(refused(|_| ()), "");
    assert_eq!(refused(|input| input.galaxies.y.truncate(7)), "`galaxies` has 8, 7 and 8 coordinates: make them as many");
    assert_eq!(refused(|input| input.random.x[5] = f32::NAN), "point 5 of `random` is NaN from the centre: it must be 1 to a thousandth");
    assert!(refused(|input| input.random.x[0] = 3.0).starts_with("point 0 of `random` is 3"));
    assert_eq!(refused(|input| input.edges[3] = input.edges[2]).split(':').next(), Some("edge 3 is 0.9999804"));
    assert!(refused(|input| input.edges[0] = f32::NAN).starts_with("edge 0 is NaN"));
    assert_eq!(refused(|input| input.edges = vec![0.5; 32]), "`edges` has 32 elements: at most 31 are possible");
    assert_eq!(refused(|input| input.edges.clear()), "");
}
