//! The `.const` variables of a module: filled from constant buffers, in the order of streams, where they hold something else.

#![expect(unsafe_code, reason = "calls the CUDA driver")]

use super::sys;
use super::{Context, Owned};
use crate::arguments::ArgumentKind;
use crate::definition::KernelDefinition;
use crate::driver::{LaunchPlan, c_string};
use crate::error::Result;
use crate::order::Uses;
use crate::stream::StreamCore;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use warpwright_codegen::backend::AbiArgument;

/// The variables of one module.
pub(super) struct Constants {
    symbols: Vec<Symbol>,
    /// For each variable the serial number of the constant buffer last copied into it; 0: none. Locked from the copy to the launch.
    holds: Mutex<Vec<u64>>,
}

/// A `.const` variable.
struct Symbol {
    param: usize,
    address: sys::CUdeviceptr,
    bytes: usize,
    /// The variable is memory like any other: a launch reads it, filling it writes it.
    uses: Uses,
}

/// A copy that fills a variable.
pub(super) struct Fill {
    pub(super) to: sys::CUdeviceptr,
    pub(super) from: sys::CUdeviceptr,
    pub(super) bytes: usize,
}

impl Constants {
    /// Those that a kernel's calling convention names.
    pub(super) fn of(module: &Owned<sys::CUmodule>, definition: &'static KernelDefinition, abi: &[AbiArgument]) -> Result<Constants> {
        let symbols = abi.iter().filter_map(|argument| match argument {
            AbiArgument::ConstantSymbol { param, symbol: name, bytes } => Some(symbol(module, definition, *param, name, *bytes)),
            _ => None,
        });
        let symbols = symbols.collect::<Result<Vec<_>>>()?;
        let holds = Mutex::new(vec![0; symbols.len()]);
        Ok(Constants { symbols, holds })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    /// Fills those that hold something else. What it returns keeps other launches from filling them until this one is in its stream.
    pub(super) fn fill(
        &self,
        context: &Context,
        plan: &LaunchPlan<'_>,
        stream: &Arc<StreamCore>,
    ) -> Result<Option<MutexGuard<'_, Vec<u64>>>> {
        if self.symbols.is_empty() {
            return Ok(None);
        }
        let mut holds = self.holds.lock().unwrap_or_else(PoisonError::into_inner);
        for (symbol, holds) in self.symbols.iter().zip(holds.iter_mut()) {
            let Some(ArgumentKind::Constant { allocation }) = plan.arguments.get(symbol.param).map(|argument| argument.kind) else {
                return Err(super::module::mismatch(plan, symbol.param));
            };
            if *holds != allocation.serial() {
                // Runs of other streams that still read the old contents go first.
                symbol.uses.write_on(stream)?;
                *holds = 0;
                let (from, queue) = (allocation.handle(), sys::Handle::of(stream.handle()));
                // SAFETY: both are this context's and have this many bytes; the launch has ordered the stream after who writes `from`.
                let code = unsafe { context.driver.cuMemcpyDtoDAsync(symbol.address, from, symbol.bytes, queue) };
                context.check(code, "cuMemcpyDtoDAsync")?;
                *holds = allocation.serial();
            }
            symbol.uses.read_on(stream)?;
        }
        Ok(Some(holds))
    }

    /// The copies that fill all of them for a launch.
    pub(super) fn fills(&self, plan: &LaunchPlan<'_>) -> Result<Vec<Fill>> {
        let fill = |symbol: &Symbol| match plan.arguments.get(symbol.param).map(|argument| argument.kind) {
            Some(ArgumentKind::Constant { allocation }) => Ok(Fill { to: symbol.address, from: allocation.handle(), bytes: symbol.bytes }),
            _ => Err(super::module::mismatch(plan, symbol.param)),
        };
        self.symbols.iter().map(fill).collect()
    }

    /// Lets a stream write them: nobody knows afterwards what they hold. What it returns keeps launches from filling them until the stream has what writes them.
    pub(super) fn claim(&self, stream: &Arc<StreamCore>) -> Result<MutexGuard<'_, Vec<u64>>> {
        let mut holds = self.holds.lock().unwrap_or_else(PoisonError::into_inner);
        for (symbol, holds) in self.symbols.iter().zip(holds.iter_mut()) {
            symbol.uses.write_on(stream)?;
            *holds = 0;
        }
        Ok(holds)
    }
}

/// A `.const` variable of a module.
fn symbol(module: &Owned<sys::CUmodule>, definition: &'static KernelDefinition, param: usize, name: &str, bytes: u64) -> Result<Symbol> {
    let (mut address, mut size) = (0, 0);
    let name = c_string(definition.name, name)?;
    // SAFETY: writes an address and a size; the module is loaded, the name ends with a zero byte.
    let code = unsafe { module.context.driver.cuModuleGetGlobal(&mut address, &mut size, module.handle, name.as_ptr()) };
    module.context.check(code, "cuModuleGetGlobal")?;
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(size);
    Ok(Symbol { param, address, bytes, uses: Uses::NONE })
}
