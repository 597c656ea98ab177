//! The simulator: the compiled kernel, warp by warp.

#![expect(unsafe_code, reason = "lends the buffers' bytes to the simulator")]

use super::{Run, WithinCall, address};
use crate::arguments::{Argument, ArgumentKind, Arguments};
use crate::driver::{Executable, LaunchPlan};
use crate::error::{Error, Result};
use crate::instance::LoweredKernel;
use crate::sim::{self, Counters, SimArgument, SimLaunch, SimOptions, SimProgram};
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// Compiles an instance, in its form for machines with a copy engine where it has one: what that asks for is checked, too.
pub(super) fn compile(kernel: &LoweredKernel<'_>, options: SimOptions) -> Result<Box<dyn Executable>> {
    let program = SimProgram::compile_with(kernel.legal().forms().next().unwrap_or(kernel.legal()), options);
    Ok(Box::new(WithinCall(program.map_err(|error| from_simulator(kernel.definition.name, error))?)))
}

fn from_simulator(kernel: &'static str, error: sim::Error) -> Error {
    match error {
        sim::Error::Fault(fault) => Error::Simulated(fault),
        other => Error::Argument { kernel, reason: other.to_string() },
    }
}

fn sim_argument<'p>(argument: &Argument<'p>, all: &'p Arguments<'p>) -> SimArgument<'p> {
    let (address, length) = (address(argument, all), argument.bytes());
    if argument.writable().is_some() {
        // SAFETY: the launch borrows the buffer as `&mut` while this runs, so nobody else reaches its memory.
        return SimArgument::Global { bytes: unsafe { from_raw_parts_mut(address, length) } };
    }
    // SAFETY: the launch borrows what it names while this runs, so nobody writes its memory. Padding holds whatever, and no kernel reads it.
    let bytes = unsafe { from_raw_parts(address.cast_const(), length) };
    match argument.kind {
        ArgumentKind::Value { .. } => SimArgument::Value(bytes),
        ArgumentKind::Global { .. } => SimArgument::GlobalReadOnly { bytes },
        ArgumentKind::Texture { picture, .. } => SimArgument::Texture { texels: bytes, picture: *picture },
        ArgumentKind::Constant { .. } => SimArgument::Constant { bytes },
    }
}

impl Run for SimProgram {
    fn run(&self, plan: &LaunchPlan<'_>) -> Result<Option<Counters>> {
        let launch = SimLaunch { grid: plan.grid, block: plan.block, shared_bytes: plan.shared_bytes };
        let mut arguments: Vec<_> = plan.arguments.iter().map(|argument| sim_argument(argument, &plan.arguments)).collect();
        // The program's own, which is not of this trait.
        let counters = SimProgram::run(self, &launch, &mut arguments);
        counters.map(Some).map_err(|error| from_simulator(plan.definition.name, error))
    }
}
