//! The host twin: the kernel's own Rust code, as rustc compiled it.

#![expect(unsafe_code, reason = "hands buffers' addresses to the kernel's code")]

use super::{Run, WithinCall, address};
use crate::arguments::ArgumentKind;
use crate::driver::{Executable, LaunchPlan};
use crate::error::Result;
use crate::instance::LoweredKernel;
use crate::sim::{Counters, SimOptions};
use crate::twin::{self, TwinArgument, TwinArguments, run_twin};

/// How to run an instance: rustc compiled it.
pub(super) fn compile(kernel: &LoweredKernel<'_>, options: SimOptions) -> Result<Box<dyn Executable>> {
    let facts = kernel.facts();
    let twin =
        Twin { elements: facts.elements, cluster: facts.cluster, is_cooperative: facts.is_cooperative, loop_limit: options.loop_limit };
    Ok(Box::new(WithinCall(twin)))
}

struct Twin {
    /// `ilp` and `vectorize`.
    elements: [u32; 2],
    /// Blocks of a cluster.
    cluster: [u32; 3],
    is_cooperative: bool,
    loop_limit: u64,
}

impl Run for Twin {
    fn run(&self, plan: &LaunchPlan<'_>) -> Result<Option<Counters>> {
        let arguments = plan.arguments.iter().map(|argument| {
            let address = address(argument, &plan.arguments);
            match argument.kind {
                ArgumentKind::Value { .. } => TwinArgument::Value { address },
                ArgumentKind::Global { len, .. } => TwinArgument::Global { address, len },
                ArgumentKind::Texture { picture, .. } => TwinArgument::Texture { address, picture: *picture },
                ArgumentKind::Constant { .. } => TwinArgument::Constant { address },
            }
        });
        let arguments: Vec<_> = arguments.collect();
        // SAFETY: the launch has checked that the arguments are those of the kernel's parameters; it borrows their memory until it
        // is done, which is before this returns.
        let arguments = unsafe { TwinArguments::new(&arguments) };
        let run = twin::Run {
            elements: self.elements,
            cluster: self.cluster,
            shared_bytes: plan.extents.shared_bytes,
            uses_barriers: self.is_cooperative,
            loop_limit: self.loop_limit,
        };
        run_twin(plan.twin, &arguments, plan.extents.grid, plan.extents.block, run)
            .map_err(|error| error.of_kernel(plan.definition.name))?;
        Ok(None)
    }
}
