//! Motion estimation against its reference, on frames of every size.

use super::*;

type Run = fn(&mut Resident, &mut Go<'_>) -> warpwright::Result<()>;

/// A form of each kernel, for displacements of up to ± `R`.
const fn forms<const R: usize>() -> [(&'static str, Run); 3] {
    [("global", Resident::run_global::<R>), ("shared", Resident::run_shared::<R, 64>), ("texture", Resident::run_texture::<R, 128>)]
}

fn run_on(device: &Device, input: &Input, run: Run) -> Result<Vec<u32>> {
    let mut resident = Resident::new(device, input)?;
    run(&mut resident, &mut |launch| launch.launch(device))?;
    resident.result()
}

#[test]
fn blocks_cut_a_macroblock_seven_times() {
    let mut covered = [0; SIDE * SIDE];
    for p in 0..BLOCKS {
        let [x, y, w, h] = block_of(p);
        (0..w * h).for_each(|i| covered[(y + i / w) * SIDE + x + i % w] += 1);
    }
    assert_eq!(covered, [7; SIDE * SIDE]);
    assert_eq!(block_of(WHOLE), [0, 0, SIDE, SIDE]);
}

#[test]
fn frames_of_every_size_are_right() {
    // One pixel; less than a macroblock in one direction; in both; no multiple of 16 or of 4; whole macroblocks.
    for (width, height) in [(1, 1), (3, 16), (12, 14), (18, 5), (32, 16)] {
        let input = Input::new(3, width, height);
        let expected = input.reference(4);
        assert_eq!(input.one_core(4, 0..expected.len() / BLOCKS), expected, "one core, {width} × {height}");
        for (name, form) in forms::<4>() {
            assert_eq!(run_on(&Device::simulator(), &input, form), Ok(expected.clone()), "{name}, {width} × {height}");
        }
        assert_eq!(run_on(&Device::host(), &input, Resident::run_shared::<4, 64>), Ok(expected), "host twin, {width} × {height}");
    }
}

#[test]
fn every_declared_variant_is_right_on_a_frame_that_is_smaller_than_its_window() {
    let input = Input::new(4, 12, 14);
    let expected = input.reference(16);
    // One is timed and not declared.
    let mut all = declared();
    all.push(Declared::new("sad_shared, 320 threads", (), Resident::run_shared::<16, 320>));
    for device in crate::apps::devices() {
        let mut resident = Resident::new(&device, &input).expect("it is right");
        for declared in &all {
            resident.best.clear().expect("it clears");
            let run = declared.run(&mut resident, &mut |launch| launch.launch(&device));
            run.unwrap_or_else(|error| panic!("{declared} on {device}: {error}"));
            assert_eq!(resident.result().as_ref(), Ok(&expected), "{declared} on {device}");
        }
    }
}

#[test]
fn a_planted_motion_is_found() {
    let pattern = Pattern::new(&mut fastrand::Rng::with_seed(11));
    let frame = |dx: i32, dy: i32| Frame {
        width: 32,
        height: 32,
        luma: (0..32 * 32).map(|i| pattern.at(i % 32 + dx, i / 32 + dy) as u8).collect(),
    };
    // What the upper left macroblock shows lies 13 columns and 7 rows further in the previous frame, of which all that is needed is there; for the others, likewise.
    for (dx, dy, macroblock) in [(13, 7, 0), (-16, 16, 1), (15, -16, 2), (-1, -2, 3)] {
        let input = Input { current: frame(dx, dy), previous: frame(0, 0) };
        let expected = input.one_core(16, macroblock..macroblock + 1);
        assert_eq!(Motion::of(expected[WHOLE], 16), Motion { dx, dy, sad: 0 });
        if macroblock == 0 {
            let keys = run_on(&Device::simulator(), &input, Resident::run_shared::<16, 160>).expect("it runs");
            assert_eq!(keys[..BLOCKS], expected);
        }
    }
}

#[test]
fn of_equal_places_the_first_counts() {
    let grey = Frame { width: 16, height: 16, luma: vec![90; 256] };
    let input = Input { current: grey.clone(), previous: grey };
    for (name, form) in forms::<4>() {
        let keys = run_on(&Device::simulator(), &input, form).expect("it runs");
        assert_eq!(keys, [0; BLOCKS], "{name}");
    }
    assert_eq!(Motion::of(0, 4), Motion { dx: -4, dy: -4, sad: 0 });
}

#[test]
fn the_greatest_difference_fits_a_key() {
    let of = |value| Frame { width: 16, height: 16, luma: vec![value; 256] };
    let input = Input { current: of(255), previous: of(0) };
    let keys = run_on(&Device::simulator(), &input, Resident::run_shared::<4, 64>).expect("it runs");
    assert_eq!(Motion::of(keys[WHOLE], 4).sad, 255 * 256);
}

#[test]
fn frames_that_are_none_are_refused() {
    let of = |width, height, n| Frame { width, height, luma: vec![0; n] };
    let refused = |current: Frame, previous: Frame| {
        Resident::new(&Device::simulator(), &Input { current, previous }).err().map(|error| error.to_string())
    };
    let cases = [
        (of(0, 4, 0), of(0, 4, 0), "the current frame has 0 × 4 pixels: it needs at least one"),
        (of(4, 4, 15), of(4, 4, 16), "the current frame has 4 × 4 pixels, but `luma` has 15"),
        (of(4, 4, 16), of(4, 5, 20), "the current frame has 4 × 4 pixels, the previous one 4 × 5: make them as large as each other"),
    ];
    for (current, previous, why) in cases {
        assert_eq!(refused(current, previous).as_deref(), Some(why));
    }
}
