//! What a case of the table runs with, and what it leaves behind to be compared.

use warpwright::DeviceKind;
use warpwright::prelude::*;

/// A kernel or a few, and their launches.
pub(crate) struct Case {
    /// The name in complaints.
    pub(crate) name: &'static str,
    /// Launches on a bench.
    pub(crate) run: fn(&mut Bench<'_>) -> warpwright::Result<()>,
}

/// The table's rows are functions, named after themselves.
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        /// The cases of this file.
        pub(crate) const CASES: &[crate::bench::Case] =
            &[$(crate::bench::Case { name: stringify!($name), run: $name }),*];
    };
}
pub(crate) use cases;

/// A scalar whose bits can be compared. All NaNs are one.
pub(crate) trait Bits: Element {
    fn word(self) -> u64;
    fn wide(self) -> f64;
}

macro_rules! bits {
    ($($t:ty)*) => {$(impl Bits for $t {
        fn word(self) -> u64 { self as u64 }
        fn wide(self) -> f64 { self as u8 as f64 }
    })*};
}
bits!(u8 u16 u32 u64 usize i8 i16 i32 i64 bool);

macro_rules! float_bits {
    ($($t:ty, $wide:expr;)*) => {$(impl Bits for $t {
        fn word(self) -> u64 { if self.is_nan() { u64::MAX } else { u64::from(self.to_bits()) } }
        fn wide(self) -> f64 { $wide(self) }
    })*};
}
float_bits!(f16, f64::from; bf16, f64::from; f32, f64::from; f64, f64::from;);

/// Results, to be the same on every device.
pub(crate) enum Kept {
    /// Bit for bit.
    Exact(Vec<u64>),
    /// Within this much of the largest of the two, or absolutely if that is below 1.
    Close(Vec<f64>, f64),
}

impl Kept {
    /// How `found` differs from what the host found.
    pub(crate) fn differs(&self, found: &Kept) -> Option<String> {
        match (self, found) {
            (Kept::Exact(expected), Kept::Exact(found)) => {
                let wrong: Vec<usize> = (0..expected.len()).filter(|&at| found.get(at) != Some(&expected[at])).collect();
                let at = *wrong.first()?;
                let count = wrong.len();
                Some(format!("{count} of {} differ; first word {at}: {:#x}, expected {:#x}", expected.len(), found[at], expected[at]))
            }
            (Kept::Close(expected, bound), Kept::Close(found, _)) => {
                let far = |e: f64, f: f64| !(e.is_nan() && f.is_nan() || e == f || (e - f).abs() <= bound * e.abs().max(f.abs()).max(1.0));
                let at = (0..expected.len()).find(|&at| far(expected[at], found[at]))?;
                Some(format!("number {at}: {}, expected {} within {bound:e}", found[at], expected[at]))
            }
            _ => Some("another kind of result".to_owned()),
        }
    }
}

/// A device, and what came of it.
pub(crate) struct Bench<'a> {
    pub(crate) device: &'a Device,
    inspect: &'a mut dyn FnMut(&Launch<'_>),
    kept: Vec<Kept>,
    complaints: Vec<String>,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(device: &'a Device, inspect: &'a mut dyn FnMut(&Launch<'_>)) -> Bench<'a> {
        Bench { device, inspect, kept: Vec::new(), complaints: Vec::new() }
    }

    /// Runs a launch.
    pub(crate) fn go(&mut self, launch: Launch<'_>) -> warpwright::Result<()> {
        (self.inspect)(&launch);
        let text = format!("{launch:?}");
        let result = launch.launch(self.device);
        if let Err(error) = &result {
            self.complaints.push(format!("{text}: {error}"));
        }
        result
    }

    /// The buffer is to hold the same bits on every device.
    pub(crate) fn keep<T: Bits>(&mut self, buffer: &Buffer<T>) -> warpwright::Result<Vec<T>> {
        let values = buffer.download()?;
        self.kept.push(Kept::Exact(values.iter().map(|value| value.word()).collect()));
        Ok(values)
    }

    /// The buffer is to hold about the same numbers on every device.
    pub(crate) fn keep_close<T: Bits>(&mut self, buffer: &Buffer<T>, bound: f64) -> warpwright::Result<Vec<T>> {
        let values = buffer.download()?;
        self.kept.push(Kept::Close(values.iter().map(|value| value.wide()).collect(), bound));
        Ok(values)
    }

    /// What a device found is to be what plain Rust made, bit for bit.
    pub(crate) fn expect<T: Bits>(&mut self, what: &str, found: &[T], expected: impl IntoIterator<Item = T>) {
        let expected: Vec<u64> = expected.into_iter().map(Bits::word).collect();
        let found = Kept::Exact(found.iter().map(|value| value.word()).collect());
        self.complaints.extend(Kept::Exact(expected).differs(&found).map(|text| format!("{what}: {text}")));
    }

    /// Complains unless it holds.
    pub(crate) fn check(&mut self, what: &str, holds: bool) {
        if !holds {
            self.complaints.push(what.to_owned());
        }
    }

    /// Launches what an assertion stops, and complains unless it fails saying `wanted`. Not on CUDA, where a failed assertion takes the context,
    /// and the cases after this one, with it.
    pub(crate) fn stops(&mut self, launch: Launch<'_>, wanted: &str) {
        if self.device.kind() == DeviceKind::Cuda {
            return;
        }
        let failed = launch.launch(self.device).and_then(|()| self.device.synchronize());
        let text = failed.err().map(|error| error.to_string()).unwrap_or_default();
        self.check(&format!("`{wanted}` stops it: {text}"), text.contains(wanted));
    }

    /// `kernel` over `xs`, a thread for each, into `per_thread` results each.
    pub(crate) fn map<T: Element, U: Bits>(
        &mut self,
        kernel: impl for<'l> FnOnce(&'l Buffer<T>, &'l mut Buffer<U>) -> Launch<'l>,
        xs: &[T],
        per_thread: usize,
    ) -> warpwright::Result<Vec<U>> {
        let x = self.device.upload(xs)?;
        let mut y = self.device.zeros::<U>(xs.len() * per_thread)?;
        self.go(kernel(&x, &mut y).cover(xs.len()))?;
        self.keep(&y)
    }

    /// What was kept, or what is wrong already.
    pub(crate) fn finish(self) -> Result<Vec<Kept>, String> {
        if self.complaints.is_empty() { Ok(self.kept) } else { Err(self.complaints.join("; ")) }
    }
}

/// Words that look random and hold small numbers, large ones and edges.
pub(crate) fn words(count: usize) -> Vec<u32> {
    let edges = [0, 1, 2, 31, 32, 33, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_fffe, 255, 256, 65535, 65536];
    let mixed = |i: usize| {
        let h = (i as u32).wrapping_mul(0x9E37_79B9) ^ 0x55AA_1234;
        let h = (h ^ h >> 15).wrapping_mul(0x85EB_CA6B);
        let h = h ^ h >> 13;
        if i % 3 == 0 { h % 100 } else { h }
    };
    (0..count).map(|i| edges.get(i).copied().unwrap_or_else(|| mixed(i))).collect()
}

/// How many numbers a case takes of a type that has more: `WARPWRIGHT_NUMBERS`, or 1,024. A multiple of a block's size, since not all kernels look where the buffer ends.
fn numbers() -> usize {
    std::env::var("WARPWRIGHT_NUMBERS").ok().and_then(|count| count.parse().ok()).unwrap_or(1024usize).next_multiple_of(64)
}

/// Bit patterns of a type of `width` bits, of which a float's significand has `significand`: all of them if they are no more than [`numbers`]; or what lies at every edge (powers of two
/// and their neighbours and complements; zeros, subnormals, the least and the greatest exponents, infinities, NaN), and random ones up to that. In no order.
pub(crate) fn patterns(width: u32, significand: u32) -> Vec<u64> {
    let all = u64::MAX >> (64 - width);
    let mix = |n: u64| {
        let n = (n.wrapping_add(0x9E37_79B9_7F4A_7C15) ^ n >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let n = (n ^ n >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        n ^ n >> 31
    };
    let mut found: Vec<u64> = if width < usize::BITS && 1usize << width <= numbers() {
        (0..=all).collect()
    } else {
        let powers = (0..width).flat_map(|k| [1 << k, (1u64 << k) - 1, (1u64 << k) + 1]).flat_map(|bits| [bits, all & !bits]);
        let greatest = all >> (significand + 1);
        let exponents =
            [0, 1, greatest / 2 - 1, greatest / 2, greatest / 2 + 1, greatest / 2 + u64::from(significand), greatest - 1, greatest];
        let whole = (1u64 << significand) - 1;
        let floats = exponents
            .into_iter()
            .flat_map(|exponent| [0, 1, whole / 2, whole / 2 + 1, whole - 1, whole].map(|part| exponent << significand | part));
        let floats = floats.filter(|_| significand > 0).flat_map(|bits| [bits, bits | 1 << (width - 1)]);
        let edges: Vec<u64> = powers.chain(floats).collect();
        // Random ones of every magnitude.
        let random =
            (0..).map(|n| mix(n) & all).enumerate().map(|(n, bits)| if significand == 0 { bits >> (n as u32 % width) } else { bits });
        let rest = numbers().saturating_sub(edges.len());
        edges.into_iter().chain(random.take(rest)).collect()
    };
    found.sort_by_key(|bits| mix(*bits));
    found
}

/// Small numbers, 0 to 15.
pub(crate) fn small(count: usize) -> Vec<u32> {
    words(count).into_iter().map(|word| (word ^ word >> 16) % 16).collect()
}

/// Floats of many magnitudes and signs, and edges.
pub(crate) fn floats(count: usize) -> Vec<f32> {
    let edges = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 1e-40, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 3.0e9, -5.0e9];
    let mixed = |word: u32| (word as i32 as f32) / (1u64 << (word % 48)) as f32;
    (0..count).zip(words(count)).map(|(i, word)| edges.get(i).copied().unwrap_or_else(|| mixed(word))).collect()
}

/// Finite floats in −100 … 100.
pub(crate) fn tame(count: usize) -> Vec<f32> {
    words(count).iter().map(|&word| word as i32 as f32 / 2.15e7).collect()
}
