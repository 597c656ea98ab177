//! The simulator: the compiled kernel, warp by warp.

#![expect(unsafe_code, reason = "lends the buffers' bytes to the simulator")]

use super::{Run, WithinCall, address};
use crate::arguments::{Argument, ArgumentKind, Arguments};
use crate::driver::{Executable, LaunchPlan};
use crate::error::{Error, Result};
use crate::instance::LoweredKernel;
use crate::sim::{self, Counters, SimArgument, SimLaunch, SimOptions, SimProgram};
use crate::tensor::Matrix;
use std::slice::{from_raw_parts, from_raw_parts_mut};
use warpwright_codegen::ir::{Engine, Kernel, MatrixParameters, Op};

/// Compiles an instance, in its form for machines with a copy engine where it has one: what that asks for is checked, too.
pub(super) fn compile(kernel: &LoweredKernel<'_>, options: SimOptions) -> Result<Box<dyn Executable>> {
    compile_form(kernel.definition.name, kernel.form(), options)
}

/// The same of any form of a kernel.
pub(crate) fn compile_form(name: &'static str, form: &Kernel, options: SimOptions) -> Result<Box<dyn Executable>> {
    let program = SimProgram::compile_with(form, options).map_err(|error| from_simulator(name, error))?;
    Ok(Box::new(WithinCall(Simulated { program, copied: copied(form) })))
}

/// A program, and the matrices that it makes tensor copies of.
struct Simulated {
    program: SimProgram,
    copied: Vec<CopiedMatrix>,
}

/// The parameters that a matrix is made of, and the bytes of an element.
#[derive(PartialEq)]
struct CopiedMatrix {
    parameters: MatrixParameters,
    element: u64,
    is_stored: bool,
}

/// The matrices that a kernel makes tensor copies of.
fn copied(kernel: &Kernel) -> Vec<CopiedMatrix> {
    let mut found = Vec::new();
    kernel.for_each_inst(|kernel, _, inst| {
        let (array, matrix, is_stored) = match &kernel.insts[inst].op {
            Op::Engine(Engine::CopyTile { to, from, .. }) => (to, from, false),
            Op::Engine(Engine::StoreTile { from, to, .. }) => (from, to, true),
            _ => return,
        };
        let element = kernel.tile_of(array).map_or(1, |(_, _, element)| u64::from(element.bytes()));
        let one = kernel.parameters_of(matrix).map(|parameters| CopiedMatrix { parameters, element, is_stored });
        found.extend(one.filter(|one| !found.contains(one)));
    });
    found
}

impl CopiedMatrix {
    /// Whether what a launch passes can be copied so, as on a GPU.
    fn check(&self, plan: &LaunchPlan<'_>) -> Result<()> {
        let number = |parameter: usize| {
            let Some(Argument { kind: ArgumentKind::Value { chunk, .. }, .. }) = plan.arguments.get(parameter) else { return Ok(0) };
            let bytes = plan.arguments.get(parameter).map_or(0, |argument| argument.bytes());
            let address = plan.arguments.value_address(*chunk);
            // SAFETY: a value of so many bytes is there.
            let bytes = unsafe { from_raw_parts(address, bytes.min(8)) };
            Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
        };
        let matrix = Matrix::of(self.parameters, 0, number)?;
        let name = plan.definition.passed_name(self.parameters.data).trim_end_matches(".data");
        if matrix.has_elements() { matrix.check((plan.definition.name, name), self.element, self.is_stored) } else { Ok(()) }
    }
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

impl Run for Simulated {
    fn run(&self, plan: &LaunchPlan<'_>) -> Result<Option<Counters>> {
        self.copied.iter().try_for_each(|matrix| matrix.check(plan))?;
        let launch = SimLaunch { grid: plan.extents.grid, block: plan.extents.block, shared_bytes: plan.extents.shared_bytes };
        let mut arguments: Vec<_> = plan.arguments.iter().map(|argument| sim_argument(argument, &plan.arguments)).collect();
        let counters = self.program.run(&launch, &mut arguments);
        counters.map(Some).map_err(|error| from_simulator(plan.definition.name, error))
    }
}
