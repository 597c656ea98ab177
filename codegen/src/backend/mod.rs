//! The printers: a `Legal` (OpenCL C) or `Addressed` (PTX) kernel in, text and its calling convention out.

pub mod opencl;
pub mod ptx;
pub mod rust;
mod structured;

use crate::ir::{Axis, TextureOp};

/// How a texture is read: each way has a texture object or a sampler of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextureReads {
    /// By columns and rows: coordinates are in texels, there is no filter.
    Fetch,
    /// By points: coordinates and filter are as the texture was made.
    Sample,
}

impl TextureReads {
    /// How an operation reads, if it does.
    pub fn of(op: TextureOp) -> Option<TextureReads> {
        match op {
            TextureOp::Fetch => Some(TextureReads::Fetch),
            TextureOp::Sample => Some(TextureReads::Sample),
            TextureOp::Width | TextureOp::Height => None,
        }
    }
}

/// One argument of the compiled kernel, in order: what the runtime must pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AbiArgument {
    /// A by-value parameter (index into the kernel's parameters): its `repr(C)` bytes.
    Value {
        #[doc = "Index into the parameters."]
        param: usize,
        #[doc = "Size in bytes."]
        bytes: u64,
        #[doc = "Alignment in bytes."]
        align: u64,
    },
    /// The address of a buffer (OpenCL: the buffer object, `__constant` ones too).
    Buffer {
        #[doc = "Index into the parameters."]
        param: usize,
    },
    /// The number of elements of a buffer, as wide as the index type.
    Length {
        #[doc = "Index into the parameters."]
        param: usize,
        #[doc = "4 or 8."]
        bytes: u64,
    },
    /// PTX only, takes no argument slot: the buffer's contents go into this `.const` variable of the module before the launch.
    ConstantSymbol {
        #[doc = "Index into the parameters."]
        param: usize,
        #[doc = "The variable."]
        symbol: String,
        #[doc = "Its size."]
        bytes: u64,
    },
    /// PTX only: a texture object of a texture, 8 bytes, for one way of reading it.
    Texture {
        #[doc = "Index into the parameters."]
        param: usize,
        #[doc = "How it is read."]
        reads: TextureReads,
    },
    /// PTX only: texels of a texture along an axis (`X` or `Y`), a `u32`. OpenCL asks the image.
    Extent {
        #[doc = "Index into the parameters."]
        param: usize,
        #[doc = "Along which axis."]
        axis: Axis,
    },
    /// OpenCL only: the image of a texture.
    Image {
        #[doc = "Index into the parameters."]
        param: usize,
    },
    /// OpenCL only: a sampler for a texture.
    Sampler {
        #[doc = "Index into the parameters."]
        param: usize,
        #[doc = "How it is read."]
        reads: TextureReads,
    },
    /// OpenCL only: `__local` memory of the launch's `.shared_bytes()`.
    DynamicShared,
    /// OpenCL only: `__local` memory of this many bytes per thread of the block, for warp intrinsics where no attribute fixes the block. The form
    /// for sub-groups takes it, too, and uses no more of it than what one thread has.
    Exchange {
        #[doc = "Bytes per thread."]
        bytes: u64,
    },
    /// Elements in the dynamic shared array (`shared_bytes / element`), as wide as the index type.
    DynamicLength {
        #[doc = "Bytes of an element."]
        element: u64,
        #[doc = "4 or 8."]
        bytes: u64,
    },
    /// OpenCL only: a `__global uint*` of four words, zeroed before the launch: non-zero first word = a fault, `message index + 1`
    /// into `faults`, then line, then the linear global thread (low, high).
    Fault,
}

/// A kernel as a back end printed it.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The text: PTX or OpenCL C.
    pub text: String,
    /// Name of the entry point in it.
    pub entry: String,
    /// Its arguments.
    pub abi: Vec<AbiArgument>,
    /// Static shared memory, bytes.
    pub shared_bytes: u64,
    /// OpenCL: messages of asserts and traps, by index (`Fault`).
    pub faults: Vec<String>,
    /// OpenCL: options for the device's compiler.
    pub build_options: String,
    /// OpenCL: whether the text has a form for devices whose sub-groups are the warps, chosen by a macro ([`opencl::SUB_GROUPS_MACRO`]).
    pub has_sub_groups: bool,
}

impl Emitted {
    /// OpenCL: options for the device's compiler that choose the form for sub-groups. `standard`: the language version that has them, as an option. The
    /// compiler must know the first two.
    pub fn sub_group_options(&self, standard: &str) -> Option<String> {
        // The portable form's standard comes first.
        let others: String = self.build_options.split_whitespace().skip(1).map(|option| format!(" {option}")).collect();
        self.has_sub_groups.then(|| format!("{standard} -D{}{others}", opencl::SUB_GROUPS_MACRO))
    }
}
