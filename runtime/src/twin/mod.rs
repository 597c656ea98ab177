//! The host twin: a kernel's own Rust code, run on this CPU.

use crate::error::Result;

/// The kernel's twin, with its arguments taken out of [`TwinArguments`].
pub type TwinEntry = fn(&TwinArguments<'_>);

/// One argument, as the runtime hands it over.
#[derive(Clone, Copy, Debug)]
pub enum TwinArgument {
    /// By value: where its bytes are.
    Value {
        #[doc = "Aligned for the type."]
        address: *const u8,
    },
    /// A buffer.
    Global {
        #[doc = "Of the first element."]
        address: *mut u8,
        #[doc = "Elements."]
        len: usize,
    },
    /// Constant memory.
    Constant {
        #[doc = "Of the array."]
        address: *const u8,
    },
}

/// The arguments of a launch.
#[derive(Debug)]
pub struct TwinArguments<'a> {
    list: &'a [TwinArgument],
}

impl<'a> TwinArguments<'a> {
    pub(crate) fn new(list: &'a [TwinArgument]) -> TwinArguments<'a> {
        TwinArguments { list }
    }
}

pub(crate) fn run_twin(
    entry: TwinEntry,
    arguments: &TwinArguments<'_>,
    _grid: [u32; 3],
    _block: [u32; 3],
    _shared_bytes: u32,
    _uses_barriers: bool,
) -> Result<()> {
    let _ = arguments.list;
    entry(arguments);
    Ok(())
}
