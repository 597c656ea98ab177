//! The back ends: a kernel in, text and its calling convention out. [`BACKENDS`] is the list that the runtime, the command and its page go over.

pub mod opencl;
pub mod ptx;
pub mod rust;
mod structured;

use crate::diagnostic::Diagnostics;
use crate::hir::Lowered;
use crate::ir::{Axis, Loc, MatrixParameters, Stage, Swizzle, TextureOp};
use crate::pipeline::Scheduled;
use crate::target::{Family, Target, Targets};
use proc_macro2::Span;

/// What a back end prints.
pub struct Language {
    /// The format's name: `ptx`.
    pub name: &'static str,
    /// The language's name: `PTX`.
    pub title: &'static str,
    /// What the text is for, in a line of the command's help.
    pub purpose: &'static str,
    /// The stage that is printed.
    pub stage: Stage,
    /// Whether there is a text for each compute capability. If not, one text is for all devices.
    pub is_per_target: bool,
    /// Whether a device takes the text. If not, it is for people.
    pub is_for_devices: bool,
    /// The devices that take the text, if they are a target together.
    pub family: Option<&'static Family>,
}

/// What prints kernels in one language.
pub trait Backend: Sync {
    /// What it prints.
    fn language(&self) -> &'static Language;

    /// What keeps a kernel from those of these targets that take the text, each thing at its place. `span` gives the source span behind a location.
    fn refusals(&self, _kernel: &Scheduled, _targets: &Targets, _span: &dyn Fn(Loc) -> Span) -> Diagnostics {
        Diagnostics::new()
    }

    /// Prints a kernel for a compute capability, or for any device that takes the text.
    ///
    /// # Errors
    /// What the language has no words for, each thing at its place.
    fn emit(&self, kernel: &Scheduled, target: Option<&Target>, span: &dyn Fn(Loc) -> Span) -> Result<Emitted, Diagnostics>;

    /// The same for people: its lines, and where each comes from, if the language names places.
    ///
    /// # Errors
    /// As [`Backend::emit`].
    fn lines(&self, kernel: &Scheduled, target: Option<&Target>) -> Result<Vec<Line>, Diagnostics> {
        let emitted = self.emit(kernel, target, &|_| Span::call_site())?;
        Ok(emitted.text.lines().map(|text| Line { text: text.to_owned(), origin: None }).collect())
    }
}

/// A line of a text.
pub struct Line {
    /// Without its end.
    pub text: String,
    /// The source file, and the line in it, that it comes from.
    pub origin: Option<(String, u32)>,
}

/// Every back end.
pub const BACKENDS: &[&dyn Backend] = &[&rust::Rust, &ptx::Ptx, &opencl::OpenCl];

/// The back ends whose family is among these targets.
pub fn of_targets(targets: &Targets) -> impl Iterator<Item = &'static dyn Backend> {
    BACKENDS.iter().copied().filter(|backend| backend.language().family.is_some_and(|family| targets.families.contains(&family)))
}

impl Lowered<Scheduled> {
    /// The kernel as a back end prints it.
    ///
    /// # Errors
    /// As [`Backend::emit`].
    pub fn emit(&self, backend: &dyn Backend, target: Option<&Target>) -> Result<Emitted, Diagnostics> {
        backend.emit(&self.kernel, target, &|loc| self.span(loc))
    }
}

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

/// A map of a matrix: what a launch makes of parameters of the kernel (indices into them), by which the copy engine finds tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TensorMap {
    /// The matrix, or the batch of them, which is a map of one dimension more.
    pub matrix: MatrixParameters,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub element: u64,
    /// Rows and columns that one copy moves: 256 at most.
    pub tile: [u32; 2],
    /// How the tile lies in shared memory, if it is not in order.
    pub swizzle: Option<Swizzle>,
    /// Whether tiles are stored by it: then rows are whole pieces of 16 bytes.
    pub is_stored: bool,
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
    /// PTX only: a map of a matrix for tensor copies, 128 bytes at a multiple of 64.
    TensorMap(TensorMap),
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
    /// Blocks of the grid that was asked for, along an axis, a `u32`: of a `persistent` kernel, of which the launch starts fewer, along x alone.
    AskedGrid {
        #[doc = "Along which axis."]
        axis: Axis,
    },
    /// OpenCL only: a `__global uint*` of four words, zeroed before the launch: non-zero first word = a fault, `message index + 1`
    /// into `faults`, then line, then the linear global thread (low, high).
    Fault,
}

/// A kernel as a back end printed it.
#[derive(Clone, Debug, Default)]
pub struct Emitted {
    /// The text.
    pub text: String,
    /// Name of the entry point in it; empty if no device takes the text.
    pub entry: String,
    /// Its arguments.
    pub abi: Vec<AbiArgument>,
    /// Shared arrays of fixed length, bytes.
    pub shared_bytes: u64,
    /// PTX: whether they are dynamic shared memory, for which a launch asks beside its own: a block has more of that.
    pub asks_for_shared: bool,
    /// PTX: whether the kernel waits by itself for those before it in the stream, so that a launch may begin before they have ended (`overlap`).
    pub overlaps: bool,
    /// PTX: whether a launch adds a producer's threads to the block ([`crate::ir::with_producer`]).
    pub has_producer: bool,
    /// PTX: blocks of a cluster of those that a launch starts, by axis, if there are clusters. The grid that is started is whole clusters.
    pub cluster: Option<[u32; 3]>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::FAMILIES;

    #[test]
    fn languages_have_names_of_their_own_and_families_a_language() {
        let names: std::collections::BTreeSet<&str> = BACKENDS.iter().map(|backend| backend.language().name).collect();
        assert_eq!(names.len(), BACKENDS.len());
        let has_backend = |family: &&&Family| BACKENDS.iter().any(|backend| backend.language().family == Some(**family));
        assert_eq!(FAMILIES.iter().filter(has_backend).count(), FAMILIES.len());
    }
}
