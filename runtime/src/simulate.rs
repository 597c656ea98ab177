//! Running on the simulator with buffers of any device.

use crate::arguments::Arguments;
use crate::buffer::{Allocation, contents_of, copy_between};
use crate::device::Device;
use crate::error::Result;
use crate::sim::Counters;
use std::fmt;

/// What [`Launch::simulate`](crate::Launch::simulate) found. The results are in the buffers.
#[derive(Clone, Debug)]
pub struct Simulation {
    counters: Counters,
}

impl Simulation {
    pub(crate) fn new(counters: Counters) -> Simulation {
        Simulation { counters }
    }

    /// What the kernel did, per source line and in total. All figures are *simulated*.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

impl fmt::Display for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.counters, f)
    }
}

/// The memory of every argument, copied to `device`; `None` for those by value.
pub(crate) fn copy_in(arguments: &Arguments<'_>, device: &Device) -> Result<Vec<Option<Allocation>>> {
    let copy = |argument: &crate::arguments::Argument<'_>| {
        let Some(from) = argument.allocation() else { return Ok(None) };
        let bytes = argument.bytes();
        let to = device.allocate(bytes, device.own_stream())?;
        copy_between(from, &to, bytes)?;
        Ok(Some(to))
    };
    arguments.iter().map(copy).collect()
}

/// The memory of every writable argument, copied back.
pub(crate) fn copy_out(arguments: &Arguments<'_>, copies: &[Option<Allocation>]) -> Result<()> {
    for (argument, copy) in arguments.iter().zip(copies) {
        if let (Some(to), Some(from)) = (argument.writable(), copy) {
            copy_between(from, to, argument.bytes())?;
        }
    }
    Ok(())
}

/// What the copies hold.
pub(crate) fn contents(arguments: &Arguments<'_>, copies: &[Option<Allocation>]) -> Result<Vec<Vec<u8>>> {
    let of = |(argument, copy): (&crate::arguments::Argument<'_>, &Option<Allocation>)| {
        copy.as_ref().map_or(Ok(Vec::new()), |copy| contents_of(copy, argument.bytes()))
    };
    arguments.iter().zip(copies).map(of).collect()
}
