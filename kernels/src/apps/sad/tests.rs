//! Motion estimation against its reference, on frames of every size.

use super::*;

const FORMS: [Form; 6] = [Form::Global, Form::Shared(64), Form::Shared(160), Form::Shared(320), Form::Texture(64), Form::Texture(128)];

fn run<const R: usize>(device: &Device, form: Form, input: &Input) -> Result<Vec<u32>> {
    let mut resident = Resident::new(device, input)?;
    resident.run::<R>(form, &mut |launch| launch.launch(device))?;
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
    // One pixel; less than a macroblock; less than the window; no multiple of 16 or of 4; whole macroblocks.
    for (width, height) in [(1, 1), (3, 16), (18, 5)] {
        let input = Input::new(3, width, height);
        let expected = input.reference(4);
        assert_eq!(input.one_core(4, 0..expected.len() / BLOCKS), expected, "one core, {width} × {height}");
        for form in [Form::Global, Form::Shared(64), Form::Texture(128)] {
            let found = run::<4>(&Device::simulator(), form, &input);
            assert_eq!(found, Ok(expected.clone()), "{form:?}, {width} × {height}");
        }
        assert_eq!(run::<4>(&Device::host(), Form::Shared(64), &input), Ok(expected), "host twin, {width} × {height}");
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
            let keys = run::<16>(&Device::simulator(), Form::Shared(160), &input).expect("it runs");
            assert_eq!(keys[..BLOCKS], expected);
        }
    }
}

#[test]
fn of_equal_places_the_first_counts() {
    let grey = Frame { width: 16, height: 16, luma: vec![90; 256] };
    let input = Input { current: grey.clone(), previous: grey };
    for form in FORMS {
        let keys = run::<4>(&Device::simulator(), form, &input).expect("it runs");
        assert_eq!(keys, [0; BLOCKS], "{form:?}");
    }
    assert_eq!(Motion::of(0, 4), Motion { dx: -4, dy: -4, sad: 0 });
}

#[test]
fn the_greatest_difference_fits_a_key() {
    let of = |value| Frame { width: 16, height: 16, luma: vec![value; 256] };
    let input = Input { current: of(255), previous: of(0) };
    let keys = run::<4>(&Device::simulator(), Form::Shared(64), &input).expect("it runs");
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
