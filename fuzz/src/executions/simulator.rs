//! The simulator, on a kernel of any stage.

use super::Output;
use super::compiled::index_bytes;
use super::pictures::picture;
use crate::source::{Kernel, Passed};
use warpwright_codegen::ir;
use warpwright_runtime::sim::{SimArgument, SimLaunch, SimOptions, SimProgram};
use warpwright_runtime::texture::Picture;

/// How often a warp may go round a loop: far more than any generated one.
const LOOP_LIMIT: u64 = 1 << 16;

/// An argument's bytes, and whether the kernel writes them.
pub(super) struct Bytes {
    pub(super) bytes: Vec<u8>,
    pub(super) kind: Kind,
    /// What it is without its texels, if it is a texture.
    pub(super) picture: Option<Picture>,
}

/// What an argument is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Value,
    Read,
    Written,
    Constant,
}

/// The arguments, in the order of the kernel's parameters in the IR.
pub(super) fn arguments(kernel: &Kernel, wide: usize) -> Vec<Bytes> {
    let mut all = Vec::new();
    for parameter in kernel.in_order() {
        let kind = match parameter.passed {
            _ if parameter.is_value() => Kind::Value,
            Passed::Constant(_) | Passed::Constants { .. } => Kind::Constant,
            _ if parameter.is_written() => Kind::Written,
            _ => Kind::Read,
        };
        all.push(Bytes { bytes: parameter.bytes(wide), kind, picture: picture(parameter) });
        let extent = |extent: usize| Bytes { bytes: (extent as u64).to_le_bytes()[..wide].to_vec(), kind: Kind::Value, picture: None };
        all.extend(parameter.extents().into_iter().map(extent));
    }
    all
}

/// Runs it once: `ir` is any stage of `kernel`.
///
/// # Errors
/// A fault, or why it cannot be launched.
pub fn run(kernel: &Kernel, ir: &ir::Kernel) -> Result<Output, String> {
    run_with(kernel, ir, None)
}

/// The same on a weak memory, with this seed: what generated kernels exchange is ordered, so nothing may be different.
///
/// # Errors
/// As [`run`].
pub fn run_weakly(kernel: &Kernel, ir: &ir::Kernel, seed: u64) -> Result<Output, String> {
    run_with(kernel, ir, Some(seed))
}

fn run_with(kernel: &Kernel, ir: &ir::Kernel, weak_memory: Option<u64>) -> Result<Output, String> {
    let options = SimOptions { loop_limit: LOOP_LIMIT, workers: 1, weak_memory, ..SimOptions::default() };
    let program = SimProgram::compile_with(ir, options).map_err(|error| error.to_string())?;
    let mut bytes = arguments(kernel, index_bytes(ir));
    let mut list: Vec<SimArgument<'_>> = Vec::new();
    for Bytes { bytes, kind, picture } in &mut bytes {
        if let Some(picture) = picture {
            list.push(SimArgument::Texture { texels: bytes, picture: *picture });
            continue;
        }
        list.push(match kind {
            Kind::Value => SimArgument::Value(bytes),
            Kind::Read => SimArgument::GlobalReadOnly { bytes },
            Kind::Written => SimArgument::Global { bytes },
            Kind::Constant => SimArgument::Constant { bytes },
        });
    }
    let [x, y, z] = kernel.grid;
    let each = ir.options.ilp.max(1) * ir.options.vectorize.max(1);
    let launch = SimLaunch { grid: [x.div_ceil(each), y, z], block: kernel.block, shared_bytes: kernel.shared_bytes };
    // What is printed is nobody's result.
    program.run_with(&launch, &mut list, &mut std::io::sink()).map_err(|error| error.to_string())?;
    Ok(bytes.into_iter().filter(|bytes| bytes.kind == Kind::Written).map(|bytes| bytes.bytes).collect())
}
