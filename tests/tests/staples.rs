//! The library of staples against plain Rust, on every device: all sizes, all element types, NaNs and infinities, and what is refused.

#[path = "staples/assembled.rs"]
mod assembled;
#[path = "staples/attention.rs"]
mod attention;
#[path = "staples/long.rs"]
mod long;
#[path = "staples/moves.rs"]
mod moves;
#[path = "staples/operator.rs"]
mod operator;
#[path = "staples/products.rs"]
mod products;
#[path = "staples/reduce.rs"]
mod reduce;
#[path = "staples/rows.rs"]
mod rows;
#[path = "staples/scan.rs"]
mod scan;
#[path = "staples/search.rs"]
mod search;
#[path = "staples/select.rs"]
mod select;
#[path = "staples/sort.rs"]
mod sort;

use warpwright::prelude::{bf16, f16};
use warpwright::{Device, DeviceKind, Element};
use warpwright_kernels::staples::Workspace;
use warpwright_tests::devices;
use warpwright_tests::random::Random;

/// Lengths at which something ends: nothing, one, a warp, a block, primes, a few that are drawn; up to 10⁵ where that is fast.
fn lengths(device: &Device, random: &mut Random) -> Vec<usize> {
    let mut all = vec![0, 1, 31, 32, 33, 255, 256, 257, 1009, 4099];
    match device.kind() {
        DeviceKind::Cuda => {
            all.extend([65_536, 99_991]);
            all.extend((0..4).map(|_| random.length(100_000)));
        }
        DeviceKind::OpenCl => all.extend([65_536, random.length(30_000)]),
        _ => all.push(random.length(3_000)),
    }
    all
}

/// A type with its conversions, and half the distance from 1 to the next number below.
trait Short: Element {
    const ROUNDING: f64;
    fn of(v: f32) -> Self;
    fn wide(self) -> f64;
}

impl Short for f32 {
    const ROUNDING: f64 = 6e-8;
    fn of(v: f32) -> f32 {
        v
    }
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Short for f16 {
    const ROUNDING: f64 = 1.0 / 2048.0;
    fn of(v: f32) -> f16 {
        f16::from_f32(v)
    }
    fn wide(self) -> f64 {
        self.to_f64()
    }
}

impl Short for bf16 {
    const ROUNDING: f64 = 1.0 / 256.0;
    fn of(v: f32) -> bf16 {
        bf16::from_f32(v)
    }
    fn wide(self) -> f64 {
        self.to_f64()
    }
}

/// What a test runs with.
struct Bench {
    device: Device,
    stream: warpwright::Stream,
    workspace: Workspace,
    random: Random,
}

/// Every device there is, each with a workspace of its own.
fn benches() -> Vec<Bench> {
    devices::all()
        .into_iter()
        .map(|device| Bench {
            stream: device.default_stream(),
            workspace: Workspace::new(&device).expect("a few bytes"),
            random: Random::new(7),
            device,
        })
        .collect()
}

impl Bench {
    fn lengths(&mut self) -> Vec<usize> {
        lengths(&self.device, &mut self.random)
    }

    fn values<T>(&mut self, n: usize, f: impl Fn(u64) -> T) -> Vec<T> {
        (0..n).map(|_| f(self.random.next())).collect()
    }

    fn upload<T: Element>(&self, values: &[T]) -> warpwright::Buffer<T> {
        self.device.upload(values).expect("memory")
    }

    fn zeros<T: Element>(&self, n: usize) -> warpwright::Buffer<T> {
        self.device.zeros(n).expect("memory")
    }
}

/// The devices that compile a kernel at once: a test that launches many instances has a bench on these. (PoCL takes seconds for each.)
fn quick_benches() -> Vec<Bench> {
    benches().into_iter().filter(|b| b.device.kind() != DeviceKind::OpenCl).collect()
}

/// A float in -1 … 1.
fn unit(bits: u64) -> f32 {
    (bits >> 40) as f32 / 8_388_608.0 - 1.0
}
