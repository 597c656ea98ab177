//! Kernels in the IR's text form, run and compared with what Rust computes.

mod block;
mod cluster;
mod control;
mod copies;
mod engine;
mod memory;
mod multicast;
mod operations;
mod parallel;
mod roles;
mod speed;
mod stores;

use super::fault_text::PLACED;
use super::{Counters, Error, Fault, FaultKind, SimArgument, SimLaunch, SimOptions, SimProgram};
use warpwright_codegen::ir::Kernel;
use warpwright_codegen::text::parse_kernel;

/// A scalar as bytes.
pub(super) trait Bytes: Copy {
    fn put(self, out: &mut Vec<u8>);
    fn take(bytes: &[u8]) -> Self;
}

macro_rules! bytes {
    ($($t:ty)*) => {
        $(impl Bytes for $t {
            fn put(self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
            fn take(bytes: &[u8]) -> $t {
                <$t>::from_le_bytes(bytes.try_into().unwrap())
            }
        })*
    };
}

bytes!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

fn to_bytes<T: Bytes>(values: &[T]) -> Vec<u8> {
    let mut out = Vec::new();
    values.iter().for_each(|value| value.put(&mut out));
    out
}

fn from_bytes<T: Bytes>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks(size_of::<T>()).map(T::take).collect()
}

#[track_caller]
fn parse(text: &str) -> Kernel {
    parse_kernel(text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

#[track_caller]
fn program(text: &str, options: SimOptions) -> SimProgram {
    SimProgram::compile_with(&parse(text), options).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

fn launch(grid: u32, block: u32) -> SimLaunch {
    SimLaunch { grid: [grid, 1, 1], block: [block, 1, 1], shared_bytes: 0 }
}

/// Runs a kernel of one parameter `m0`, a `global mut` slice.
#[track_caller]
fn run<T: Bytes>(text: &str, grid: u32, block: u32, buffer: &mut Vec<T>) -> Result<Counters, Error> {
    let mut bytes = to_bytes(buffer);
    let result = program(text, SimOptions::default()).run(&launch(grid, block), &mut [SimArgument::Global { bytes: &mut bytes }]);
    *buffer = from_bytes(&bytes);
    result
}

#[track_caller]
fn fault(result: Result<Counters, Error>) -> Box<Fault> {
    match result {
        Err(Error::Fault(fault)) => fault,
        other => panic!("no fault but {other:?}"),
    }
}
