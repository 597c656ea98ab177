//! Products: random extents, pitches, layouts and ends, all types, against sums in double precision; and what is refused.

use super::{Bench, benches};
use warpwright::prelude::{bf16, e4m3, e5m2, f16};
use warpwright::{BufferMatrixBatchMut, DeviceKind, Element};
use warpwright_kernels::staples::product::{Activation, DOUBLE_SHAPES, MultipliesInto, Product, SHAPES, multiply};
use warpwright_tests::random::Random;

/// 2⁻ⁿ.
const fn two_to_minus(n: u64) -> f64 {
    f64::from_bits((1023 - n) << 52)
}

/// A type of factors or results.
trait Number: Element {
    /// Some value of a few bits: 16-bit and shorter types hold all of it.
    fn some(random: &mut Random) -> Self;
    fn wide(self) -> f64;
    /// Half the distance from 1 to the next number above; 0 of integers.
    const ROUNDING: f64;
}

macro_rules! numbers {
    ($($T:ty, $rounding:expr, |$random:ident| $some:expr, |$v:ident| $wide:expr;)*) => {$(
        impl Number for $T {
            const ROUNDING: f64 = $rounding;

            fn some($random: &mut Random) -> $T {
                $some
            }

            fn wide(self) -> f64 {
                let $v = self;
                $wide
            }
        }
    )*};
}

numbers! {
    e4m3, two_to_minus(4), |random| e4m3::from_f32(random.float() * 2.0 - 1.0), |v| v.to_f64();
    e5m2, two_to_minus(3), |random| e5m2::from_f32(random.float() * 2.0 - 1.0), |v| v.to_f64();
    bf16, two_to_minus(8), |random| bf16::from_f32(random.float() * 2.0 - 1.0), |v| v.to_f64();
    f16, two_to_minus(11), |random| f16::from_f32(random.float() * 2.0 - 1.0), |v| v.to_f64();
    f32, two_to_minus(24), |random| random.float() * 2.0 - 1.0, |v| f64::from(v);
    f64, two_to_minus(53), |random| f64::from(random.float()) * 2.0 - 1.0, |v| v;
    i8, 0.0, |random| random.next() as i8, |v| f64::from(v);
    u8, 0.0, |random| random.next() as u8, |v| f64::from(v);
    i32, 0.0, |random| random.next() as i32 % 1000, |v| f64::from(v);
}

/// A sum's type: α and β of it.
trait Scale: Copy {
    fn of(v: i32) -> Self;
    /// What an addition of tensor cores or of a thread loses of the sum at most.
    const LOSS: f64;
}

macro_rules! scales {
    ($($T:ty, $loss:expr;)*) => {$(
        impl Scale for $T {
            const LOSS: f64 = $loss;

            fn of(v: i32) -> $T {
                v as $T
            }
        }
    )*};
}

scales! {
    f32, two_to_minus(23);
    f64, two_to_minus(52);
    i32, 0.0;
}

/// Matrices as they lie in their buffer.
struct Matrices<T> {
    elements: Vec<T>,
    count: usize,
    rows: usize,
    columns: usize,
    pitch: usize,
    stride: usize,
}

impl<T: Number> Matrices<T> {
    /// `are_read`: then all of a batch may be the same one.
    fn some(random: &mut Random, count: usize, (rows, columns): (usize, usize), are_read: bool) -> Matrices<T> {
        // Rows one behind the other, with room behind them, and at multiples of 16 bytes.
        let pitch = match random.below(3) {
            0 => columns,
            1 => columns + random.below(20),
            _ => columns.next_multiple_of(16),
        };
        // One behind the other, with room between, beside each other, and all the same.
        let (pitch, stride) = match random.below(4) {
            _ if count == 1 => (pitch, 0),
            0 => (pitch, rows * pitch + random.pick(&[1, 8, 16])),
            1 => (pitch * count, pitch),
            2 if are_read => (pitch, 0),
            _ => (pitch, rows * pitch),
        };
        let len = (count - 1) * stride + rows * pitch;
        Matrices { elements: (0..len).map(|_| T::some(random)).collect(), count, rows, columns, pitch, stride }
    }

    fn place(&self, which: usize, row: usize, column: usize) -> usize {
        which * self.stride + row * self.pitch + column
    }

    fn at(&self, which: usize, row: usize, column: usize) -> f64 {
        self.elements[self.place(which, row, column)].wide()
    }
}

/// What a case is of.
#[derive(Clone, Copy, Debug)]
struct Case {
    count: usize,
    extent: (usize, usize, usize),
    transposed: [bool; 2],
    scales: (i32, i32),
    has_bias: bool,
    activation: Activation,
    is_tf32: bool,
}

fn activated(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Identity => x,
        Activation::Relu => x.max(0.0),
        Activation::Gelu => 0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x)).tanh()),
        Activation::Silu => x / (1.0 + (-x).exp()),
    }
}

fn agrees<T, U>(b: &mut Bench, case: Case)
where
    T: Number + MultipliesInto<U>,
    U: Number,
    T::Sum: Scale,
{
    let Case { count, extent: (m, n, k), transposed, scales, has_bias, activation, is_tf32 } = case;
    let turn = |turned: bool, (rows, columns): (usize, usize)| if turned { (columns, rows) } else { (rows, columns) };
    let x = Matrices::<T>::some(&mut b.random, count, turn(transposed[0], (m, k)), true);
    let y = Matrices::<T>::some(&mut b.random, count, turn(transposed[1], (k, n)), true);
    let z = Matrices::<U>::some(&mut b.random, count, (m, n), false);
    let bias: Vec<U> = (0..n).map(|_| U::some(&mut b.random)).collect();
    let (on_x, on_y, mut on_z, on_bias) = (b.upload(&x.elements), b.upload(&y.elements), b.upload(&z.elements), b.upload(&bias));
    let view = |m: &Matrices<T>, on| {
        let first = b.device.matrix(on, m.rows, m.columns).and_then(|view| view.pitch(m.pitch)).expect("fits");
        if m.count == 1 { first.into() } else { first.batch(m.count, m.stride).expect("fits") }
    };
    let mut product = Product::new(view(&x, &on_x), view(&y, &on_y))
        .transposed(transposed[0], transposed[1])
        .scaled(Scale::of(scales.0), Scale::of(scales.1))
        .activation(activation);
    if has_bias {
        product = product.bias(&on_bias);
    }
    if is_tf32 {
        product = product.tf32();
    }
    let first = b.device.matrix_mut(&mut on_z, m, n).and_then(|view| view.pitch(z.pitch)).expect("fits");
    let c: BufferMatrixBatchMut<'_, U> = if count == 1 { first.into() } else { first.batch(count, z.stride).expect("fits") };
    multiply(&b.stream, &product, c, &mut b.workspace).unwrap_or_else(|error| panic!("{case:?}: {error}"));
    let found = on_z.download().expect("downloads");
    let [alpha, beta] = [scales.0, scales.1].map(f64::from);
    // What an addition loses of the sum at most: of products of 8-bit floats, tensor cores of `sm_89` and `sm_90` keep 13 bits behind the point.
    let loss = if size_of::<T>() == 1 { <T::Sum as Scale>::LOSS * two_to_minus(10).recip() } else { <T::Sum as Scale>::LOSS };
    // `tf32` cuts a factor below its 10th bit behind the point: at most 2⁻¹⁰ of it.
    let of_factors = if is_tf32 { 2.0 * two_to_minus(10) } else { 0.0 };
    let mut is_result = vec![false; found.len()];
    for (which, row) in (0..count).flat_map(|which| (0..m).map(move |row| (which, row))) {
        for column in 0..n {
            is_result[z.place(which, row, column)] = true;
            let (mut sum, mut magnitude) = (0.0, 0.0);
            for step in 0..k {
                let a = if transposed[0] { x.at(which, step, row) } else { x.at(which, row, step) };
                let b = if transposed[1] { y.at(which, column, step) } else { y.at(which, step, column) };
                sum += a * b;
                magnitude += (a * b).abs();
            }
            let before = if beta == 0.0 { 0.0 } else { beta * z.at(which, row, column) };
            let with = if has_bias { bias[column].wide() } else { 0.0 };
            let inner = alpha * sum + before + with;
            let expected = activated(activation, inner);
            // The sum; the three operations behind it and the activation, in f32 (whose slope is below 1.2); and the rounding to the result's type.
            let sums = (((k + 1) as f64) * loss + of_factors) * alpha.abs() * magnitude;
            let rest = 16.0 * <T::Sum as Scale>::LOSS * (inner.abs() + before.abs() + with.abs());
            let bound = 1.2 * (sums + rest) + U::ROUNDING * expected.abs() + if U::ROUNDING > 0.0 { 1e-6 * U::ROUNDING } else { 0.0 };
            let one = found[z.place(which, row, column)].wide();
            assert!(
                (one - expected).abs() <= bound,
                "{} × {} into {} on {}, {case:?}: element ({row}, {column}) of product {which} is {one}, {expected} within {bound}",
                std::any::type_name::<T>(),
                std::any::type_name::<T>(),
                std::any::type_name::<U>(),
                b.device
            );
        }
    }
    // What is behind rows and between matrices is left alone.
    for (place, (now, before)) in found.iter().zip(&z.elements).enumerate() {
        assert!(is_result[place] || now.wide() == before.wide(), "element {place} of the buffer, {case:?} on {}", b.device);
    }
}

/// One of the types.
fn of_type(b: &mut Bench, kind: usize, case: Case) {
    let plain = Case { activation: Activation::Identity, ..case };
    match kind {
        0 => agrees::<bf16, bf16>(b, case),
        1 => agrees::<bf16, f32>(b, case),
        2 => agrees::<f16, f16>(b, case),
        3 => agrees::<f16, f32>(b, case),
        4 => agrees::<f32, f32>(b, case),
        5 => agrees::<f32, f32>(b, Case { is_tf32: true, ..case }),
        6 => agrees::<f64, f64>(b, Case { activation: [Activation::Identity, Activation::Relu][case.extent.0 % 2], ..case }),
        7 => agrees::<i8, i32>(b, plain),
        8 => agrees::<u8, i32>(b, plain),
        9 => agrees::<e4m3, f32>(b, case),
        10 => agrees::<e4m3, bf16>(b, case),
        11 => agrees::<e5m2, f16>(b, case),
        _ => agrees::<e5m2, f32>(b, case),
    }
}

const KINDS: usize = 13;

fn some_case(random: &mut Random, most: usize) -> Case {
    let length = |random: &mut Random| match random.below(4) {
        0 => 1 + random.below(8),
        1 => random.pick(&[16, 32, 64, 128, 200, 256].map(|n: usize| n.min(most))),
        _ => 1 + random.below(most),
    };
    Case {
        count: random.pick(&[1, 1, 1, 2, 3, 5]),
        extent: (length(random), length(random), length(random)),
        transposed: [random.chance(50), random.chance(50)],
        scales: (random.pick(&[1, 1, 2, -3]), random.pick(&[0, 0, 1, -2])),
        has_bias: random.chance(30),
        activation: random.pick(&[Activation::Identity, Activation::Identity, Activation::Relu, Activation::Gelu, Activation::Silu]),
        is_tf32: false,
    }
}

#[test]
fn random_products_are_those_of_double_precision() {
    for mut b in benches() {
        // PoCL takes seconds to compile a kernel, and the host twin runs threads one by one.
        let (cases, most) = match b.device.kind() {
            DeviceKind::Cuda => (200, 700),
            DeviceKind::Simulator => (36, 140),
            DeviceKind::OpenCl => (5, 100),
            _ => (KINDS, 70),
        };
        for number in 0..cases {
            let mut random = Random::new(number as u64 + 1);
            let case = some_case(&mut random, most);
            of_type(&mut b, number % KINDS, case);
        }
        println!("ran: products ({cases} on {})", b.device.name());
    }
}

#[test]
fn the_least_products_are_right() {
    for mut b in benches().into_iter().filter(|b| b.device.kind() != DeviceKind::OpenCl) {
        let least = Case {
            count: 1,
            extent: (1, 1, 1),
            transposed: [false; 2],
            scales: (1, 0),
            has_bias: false,
            activation: Activation::Identity,
            is_tf32: false,
        };
        (0..KINDS).for_each(|kind| of_type(&mut b, kind, least));
        // Nothing to sum, and no results.
        (0..KINDS).for_each(|kind| of_type(&mut b, kind, Case { extent: (3, 5, 0), scales: (1, 2), ..least }));
        (0..KINDS).for_each(|kind| of_type(&mut b, kind, Case { extent: (0, 5, 2), ..least }));
        (0..KINDS).for_each(|kind| of_type(&mut b, kind, Case { count: 2, ..least }));
        println!("ran: the least products ({} on {})", 4 * KINDS, b.device.name());
    }
}

/// Every tile that the library has, chosen by number.
#[test]
fn every_tile_gives_the_same_products() {
    for mut b in benches().into_iter().filter(|b| matches!(b.device.kind(), DeviceKind::Cuda | DeviceKind::Simulator)) {
        by_every_tile::<bf16, bf16>(&mut b, SHAPES.len());
        by_every_tile::<e4m3, bf16>(&mut b, SHAPES.len());
        by_every_tile::<f64, f64>(&mut b, DOUBLE_SHAPES.len());
        println!("ran: tiles of products (2 · {} and {} on {})", SHAPES.len(), DOUBLE_SHAPES.len(), b.device.name());
    }
}

fn by_every_tile<T, U>(b: &mut Bench, tiles: usize)
where
    T: Number + MultipliesInto<U>,
    U: Number,
    T::Sum: Scale,
{
    for shape in 0..tiles {
        b.workspace.force(Some(shape));
        let layouts = [[false, false], [false, true], [true, false], [true, true]].into_iter().enumerate();
        // The simulator takes seconds for all.
        let is_wanted = |number: usize| b.device.kind() == DeviceKind::Cuda || number == shape % 4;
        for (number, transposed) in layouts.filter(|(number, _)| is_wanted(*number)).collect::<Vec<_>>() {
            let case = Case {
                // One tile of each is at an edge; of several products the last rounds of persistent blocks are in another layer.
                count: 1 + shape % 2,
                extent: (130, 264, 72),
                transposed,
                scales: (1, (number % 2) as i32),
                has_bias: false,
                activation: Activation::Identity,
                is_tf32: false,
            };
            agrees::<T, U>(b, case);
        }
    }
    b.workspace.force(None);
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_written() {
    let mut benches = benches();
    let [b, ..] = &mut benches[..] else { panic!("the simulator is always there") };
    let (x, y) = (b.upload(&[bf16::ONE; 12]), b.upload(&[bf16::ONE; 20]));
    let mut z = b.upload(&[7.0f32; 15]);
    let short = b.upload(&[0.0f32; 2]);
    let mut refused = |product: &Product<'_, bf16, f32>, (rows, columns), text: &str| {
        let c = b.device.matrix_mut(&mut z, rows, columns).expect("fits");
        let error = multiply(&b.stream, product, c, &mut b.workspace).expect_err(text);
        assert_eq!(error.to_string(), text);
    };
    let (a, w) = (b.device.matrix(&x, 3, 4).expect("fits"), b.device.matrix(&y, 5, 4).expect("fits"));
    let inner = "`product::multiply`: `b` is a matrix with an inner extent of 5, and that of `a` is 4; give both the same, or say by `transposed` which is given by its columns";
    refused(&Product::new(a, w), (3, 5), inner);
    let right = Product::new(a, w).transposed(false, true);
    refused(
        &right,
        (3, 4),
        "`product::multiply`: `c` is a matrix of 3 × 4, and the product is one of 3 × 5; give it the product's extents",
    );
    let two = Product::new(a.batch(2, 0).expect("fits"), w).transposed(false, true);
    let of_batch = "`product::multiply`: `a` is a batch of 2 matrices, and `c` is one matrix; give all as many; `.batch(n, 0)` is the same matrix `n` times";
    refused(&two, (3, 5), of_batch);
    refused(&right.bias(&short), (3, 5), "`product::multiply`: `bias` has 2 elements, and 5 are needed; make it longer");
    assert_eq!(z.download().expect("downloads"), [7.0; 15]);
}
