use super::reference::Generator;
use super::*;

/// How a run is made.
type Form<const N: usize> = fn(&mut Resident<N>, &mut Go<'_>) -> warpwright::Result<()>;

fn forms<const N: usize>() -> [(&'static str, Form<N>); 4] {
    [
        ("a net's numbers together", Resident::run::<64, false>),
        ("all nets' numbers together", Resident::run::<128, true>),
        ("in registers", Resident::run_in_registers::<128, 1>),
        ("in registers, 4 ahead", Resident::run_in_registers::<64, 4>),
    ]
}

fn run_on<const N: usize>(device: &Device, input: &Input<N>, form: Form<N>) -> Result<(Vec<u32>, Statistics)> {
    let mut resident = Resident::new(device, input)?;
    form(&mut resident, &mut |launch| launch.launch(device))?;
    Ok((resident.fired()?, resident.result()?))
}

/// Every form on the simulator gives what the reference gives, and so does one core.
fn all_are_right<const N: usize>(input: &Input<N>) -> Statistics {
    let expected = input.reference();
    for (name, form) in forms() {
        let found = run_on(&Device::simulator(), input, form).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(found, expected, "{name}");
    }
    assert_eq!(input.one_core(0..input.nets), expected.1);
    expected.1
}

/// The published beginning of the stream of seed 5489, and its 10,000th number, which the C++ standard asks for.
const PUBLISHED: [u32; 5] = [3_499_211_612, 581_869_302, 3_890_346_734, 3_586_334_585, 545_404_204];
const TEN_THOUSANDTH: u32 = 4_123_659_995;

#[test]
fn the_kernels_functions_give_the_published_stream() {
    let mut words = [5489u32; WORDS];
    for k in 1..WORDS {
        words[k] = seeded(words[k - 1], k as u32);
    }
    let mut k = 0;
    let mut next = || {
        words[k] = twisted(words[k], words[wrapped(k + 1)], words[wrapped(k + MIDDLE)]);
        let number = tempered(words[k]);
        k = wrapped(k + 1);
        number
    };
    let stream: Vec<u32> = (0..10_000).map(|_| next()).collect();
    assert_eq!((&stream[..5], stream[9_999]), (&PUBLISHED[..], TEN_THOUSANDTH));
}

#[test]
fn the_reference_gives_the_published_stream() {
    let mut generator = Generator::new(5489);
    let stream: Vec<u32> = (0..10_000).map(|_| generator.next()).collect();
    assert_eq!((&stream[..5], stream[9_999]), (&PUBLISHED[..], TEN_THOUSANDTH));
}

#[test]
fn launches_give_the_published_stream() {
    let device = Device::simulator();
    let (nets, count) = (3, 1_400);
    let mut state = device.zeros(WORDS * nets).expect("memory");
    let mut out = device.zeros(nets * count).expect("memory");
    seed_nets::<128, true>(nets, 5488, &mut state).cover(nets).launch(&device).expect("it seeds");
    draw(nets, count, &mut state, &mut out).cover(nets).launch(&device).expect("it draws");
    let out: Vec<u32> = out.download().expect("it is read");
    for net in 0..nets {
        let mut generator = Generator::new(5488 + net as u32);
        assert!((0..count).all(|i| out[i * nets + net] == generator.next()), "net {net}");
    }
    assert_eq!((0..5).map(|i| out[i * nets + 1]).collect::<Vec<_>>(), PUBLISHED);
}

#[test]
fn every_form_gives_what_the_reference_gives() {
    for (nets, steps) in [(1, 1), (35, 21)] {
        let counted = all_are_right(&Input::<8>::new(1, nets, steps));
        assert_eq!(counted.stuck, 0);
    }
}

#[test]
fn every_declared_variant_gives_what_the_reference_gives() {
    let input = Input::new(17, 35, 9);
    let expected = input.reference();
    for device in crate::apps::devices() {
        for declared in declared() {
            let mut resident = Resident::new(&device, &input).expect("it is right");
            let run = declared.run(&mut resident, &mut |launch| launch.launch(&device));
            run.unwrap_or_else(|error| panic!("{declared} on {device}: {error}"));
            let found = (resident.fired().expect("it is read"), resident.result().expect("it is read"));
            assert_eq!(found, expected, "{declared} on {device}");
        }
    }
}

#[test]
fn renewed_words_are_renewed_again() {
    let input = Input::<2> { nets: 2, steps: 650, seats: 1, seed: u32::MAX };
    all_are_right(&input);
}

#[test]
fn rings_of_every_size() {
    all_are_right(&Input::<1> { nets: 5, steps: 9, seats: 1, seed: 3 });
    all_are_right(&Input::<3>::new(3, 9, 15));
    all_are_right(&Input::<10>::new(5, 9, 15));
}

#[test]
fn nothing_is_lost_in_a_ring() {
    const N: usize = 5;
    let input = Input::<N>::new(7, 64, 61);
    let counted = run_on(&Device::host(), &input, Resident::run_in_registers::<64, 4>).expect("it runs").1;
    assert_eq!(counted, input.reference().1);
    let sums = &counted.sums;
    for i in 0..N {
        let left = (i + N - 1) % N;
        assert_eq!(sums[i] + sums[N + i] + sums[2 * N + i], 64, "philosopher {i} does one thing");
        assert_eq!(sums[3 * N + i] + sums[N + i] + sums[2 * N + i] + sums[2 * N + left], 64, "fork {i} is somewhere");
    }
    assert_eq!(sums[4 * N] + sums[N..3 * N].iter().sum::<u64>(), 64 * (N as u64 - 1), "each has a seat");
    // A meal takes three transitions. 61 are 20 meals and a fork, or 19 and four forks, of which two or four may be with those who eat.
    let meals = counted.mean(4 * N + 1);
    assert!(
        (19.0..=20.0).contains(&meals) && (0.01..0.26).contains(&counted.variance(4 * N + 1)),
        "{meals}, {}",
        counted.variance(4 * N + 1)
    );
}

#[test]
fn means_are_those_of_the_chain() {
    // Two philosophers on two seats: after the first fork, the other one's or the second, each as probable; the former leaves nothing enabled.
    let input = Input::<2> { nets: 1_000, steps: 3, seats: 2, seed: 99 };
    let counted = run_on(&Device::simulator(), &input, Resident::run_in_registers::<128, 1>).expect("it runs").1;
    // 500 ± 4 standard deviations of 15.8.
    assert!(counted.stuck.abs_diff(500) < 64, "{}", counted.stuck);
    assert_eq!(counted.sums[2] + counted.sums[3], 2 * counted.stuck, "both hold one");
    // The others put back what they ate with: nothing else was enabled.
    assert_eq!(counted.sums[9], 1_000 - counted.stuck);
    let share = counted.mean(9);
    assert!((counted.variance(9) - share * (1.0 - share)).abs() < 1e-9);
}

#[test]
fn what_is_stuck_stays_and_is_counted() {
    let input = Input::<8> { nets: 12, steps: 150, seats: 8, seed: 11 };
    let counted = all_are_right(&input);
    assert!(counted.stuck > 8, "{}", counted.stuck);
    let alone = all_are_right(&Input::<1> { nets: 7, steps: 50, seats: 1, seed: 1 });
    assert_eq!((alone.stuck, &alone.sums[..]), (7, &[0, 7, 0, 0, 0, 0][..]), "one fork is not enough");
    let standing = all_are_right(&Input::<4> { nets: 3, steps: 5, seats: 0, seed: 1 });
    assert_eq!((standing.stuck, standing.sums[0]), (3, 3), "nobody sits");
}

#[test]
fn no_nets_and_no_steps() {
    let nothing = all_are_right(&Input::<8>::new(1, 0, 10));
    assert!(nothing.mean(0).is_nan() && nothing.variance(0).is_nan());
    let still = all_are_right(&Input::<8>::new(1, 3, 0));
    assert_eq!((still.stuck, still.sums[0], still.sums[8]), (0, 3, 0));
}

#[test]
fn a_second_run_begins_anew() {
    let device = Device::simulator();
    let input = Input::<4>::new(13, 40, 30);
    let mut resident = Resident::new(&device, &input).expect("it is right");
    for _ in 0..2 {
        resident.run::<64, true>(&mut |launch| launch.launch(&device)).expect("it runs");
        assert_eq!(resident.result().expect("it is read"), input.reference().1);
    }
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    fn refusal<const N: usize>(input: Input<N>) -> String {
        match Resident::new(&Device::simulator(), &input) {
            Err(Error::Input(why)) => why,
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("taken"),
        }
    }
    let bits = "philosophers: there must be 1 to 10, whose transitions have a bit each in 32";
    assert_eq!(refusal(Input::<0>::new(1, 1, 1)), format!("rings of 0 {bits}"));
    assert_eq!(refusal(Input::<11>::new(1, 1, 1)), format!("rings of 11 {bits}"));
    assert_eq!(refusal(Input::<8>::new(1, 1 << 23, 1)), "8388608 nets: there may be 6882960, whose 624 words each have numbers of 32 bits");
    assert_eq!(refusal(Input::<8>::new(1, 1, 1 << 32)), "4294967296 steps: there may be 4294967279");
    let seats = Input::<8> { seats: 1 << 17, ..Input::new(1, 1, 1) };
    assert_eq!(refusal(seats), "131072 seats: there may be 65536");
}
