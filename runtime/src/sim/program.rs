//! The pre-decoded form of a kernel: a flat list of steps over register slots and lane masks.
//!
//! Control flow is masks. A warp has an active mask and, for each construct of the kernel, a mask slot that holds lanes waiting for the
//! construct to end: those of the other branch, those that left a loop. Steps jump only where no lane is active. So a warp is
//! at one place at a time, can stop at a barrier and go on later, and lanes meet again at the end of the construct they parted in.

use super::counters::InstructionClass;
use super::engine::EngineStep;
use super::order::Reach;
use super::registers::{Check, Operands, Pure, Reg};
use super::tensor::{MatrixLoad, MatrixRows, Product, WarpgroupProduct};
use super::texture::TextureRead;
use super::{AccessKind, SimOptions};
use std::sync::Arc;
use warpwright_codegen::ir::intrinsic::{Call as CallKind, CopyStep, Eval};
use warpwright_codegen::ir::{AtomicOp, Atomicity, Axis, Inst, Kernel, Location, MemoryOrder, PrintPart, Space, Special, Type};

/// A step.
#[derive(Clone, Copy, Debug)]
pub(super) enum SimStep {
    /// Begins a stretch of code with one mask: counts its instructions ([`Program::segments`]).
    Count(u32),
    /// Computes.
    Pure(Pure, Operands),
    /// Faults where an active lane fails a check ([`Program::checks`]).
    Check(Check, Operands, u32),
    /// `d = a` in the active lanes; `d` says which file.
    Move(Reg, u16),
    /// Loads, stores, atomics ([`Program::accesses`]).
    Access(u32),
    /// A row of the intrinsics' table ([`Program::calls`]).
    Call(u32),
    /// A read of a texture ([`Program::textures`]).
    Texture(u32),
    /// A barrier ([`Program::barriers`]).
    Barrier(u32),
    /// What threads do about their copies that are on their way; the slot of an argument.
    Copies(CopyStep, Option<Reg>),
    /// A load of matrices ([`Program::matrix_loads`]).
    LoadMatrix(u32),
    /// The elements of the row of a matrix that each lane names, out of the words that lanes have ([`Program::matrix_rows`]).
    MatrixRows(u32),
    /// A product of tensor cores ([`Program::products`]).
    Mma(u32),
    /// Waits for products of the warpgroup ([`Program::awaited_sums`]).
    AwaitProducts(u32),
    /// A product of a warpgroup ([`Program::warpgroup_products`]).
    WarpgroupMma(u32),
    /// What is told to the copy engine ([`Program::engines`]).
    Engine(u32),
    /// Orders the accesses of a warp's lanes.
    SyncWarp,
    /// A fence, in kernels with [`Program::orders`].
    Fence(Reach, MemoryOrder),
    /// Prints ([`Program::messages`]).
    Print(u32),
    /// Faults with a message where the `bool` does not hold.
    Assert(u16, u32),
    /// Faults with a message if any lane is active.
    Trap(u32),

    /// Parts the warp by a `bool`: lanes where it does not hold wait in a mask slot; if none is left, jumps.
    If {
        /// The `bool`.
        condition: u16,
        /// Where the others wait.
        mask: u16,
        /// The `Else`.
        otherwise: u32,
        /// Index into [`Program::branches`].
        branch: u32,
    },
    /// Swaps the active lanes and the waiting ones; if none is active then, jumps.
    Else {
        /// The slot.
        mask: u16,
        /// The `Join`.
        end: u32,
    },
    /// Takes the waiting lanes back, and empties the slot.
    Join(u16),
    /// Active lanes go to wait in the slot: a `break` or `continue`.
    Exit(u16),
    /// Active threads are done.
    Return,
    /// The active lanes have come to the end of the kernel.
    End,
    /// Jumps if no lane is active.
    SkipIfEmpty(u32),
    /// Lanes where the `bool` does not hold go to wait in the slot; if none is left, jumps. The start of a `for`.
    Enter {
        /// The `bool`.
        condition: u16,
        /// Where lanes that have left the loop wait.
        mask: u16,
        /// The `Join` after the loop.
        end: u32,
        /// Index into [`Program::branches`].
        branch: u32,
    },
    /// The same at the end of an iteration, but jumps if some lane is left.
    Again {
        /// The `bool`.
        condition: u16,
        /// Where lanes that have left the loop wait.
        mask: u16,
        /// The first step of the body.
        head: u32,
        /// Index into [`Program::branches`].
        branch: u32,
    },
    /// Jumps back if some lane is active. The end of a `loop`.
    Repeat(u32),
    /// The end of the kernel.
    Done,
}

/// A stretch of code with one mask: how many instructions of a class each place in it has.
#[derive(Clone, Debug, Default)]
pub(super) struct Segment {
    /// Place, class, number.
    pub(super) items: Vec<(Location, InstructionClass, u32)>,
}

/// What a [`SimStep::Check`] finds.
#[derive(Clone, Debug)]
pub(super) enum CheckFailure {
    /// The divisor is zero.
    DivisionByZero,
    /// The result does not fit.
    Overflow {
        /// The operation's word.
        operation: &'static str,
        /// Its type.
        ty: Type,
        /// The operands' slots.
        operands: Vec<Reg>,
    },
    /// The step of a `for` is not positive.
    Step {
        /// Its type.
        ty: Type,
        /// Its slot.
        reg: Reg,
    },
}

/// How long a dimension is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// Always this long.
    Fixed(u64),
    /// As long as the access's object, a slice.
    Slice,
}

/// An index of an access path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Index {
    /// A value.
    Reg(Reg),
    /// A constant.
    Fixed(u64),
}

/// A step into an array.
#[derive(Clone, Debug)]
pub(super) struct Dimension {
    /// The index.
    pub(super) index: Index,
    /// Elements.
    pub(super) length: Length,
    /// Bytes of an element.
    pub(super) stride: u64,
    /// Consecutive elements accessed: more than one only in the last dimension of a vector access.
    pub(super) width: u32,
    /// The path up to here, for messages: `tile[_]`.
    pub(super) name: String,
}

/// Where an access goes.
#[derive(Clone, Debug)]
pub(super) enum Path {
    /// Constant bytes plus indices.
    Indexed {
        /// Bytes.
        base: u64,
        /// The dimensions, outermost first.
        dimensions: Vec<Dimension>,
    },
    /// A virtual address plus constant bytes.
    Pointer {
        /// The address.
        ptr: Reg,
        /// Bytes added.
        offset: i32,
    },
}

/// A load, store or atomic.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// What it accesses.
    pub(super) object: usize,
    /// What it does.
    pub(super) kind: AccessKind,
    /// What an atomic does.
    pub(super) atomic: Option<(AtomicOp, Atomicity)>,
    /// The scalars' type.
    pub(super) ty: Type,
    /// Where.
    pub(super) path: Path,
    /// Results of a load; operands of the others.
    pub(super) values: Vec<Reg>,
    /// The old value, of an atomic.
    pub(super) result: Option<Reg>,
    /// Whether it is a place that the copy engine is told, and never run by itself.
    pub(super) is_of_engine: bool,
    /// Place in the source.
    pub(super) location: Location,
}

impl Access {
    /// Whether it is part of a collective that threads make.
    pub(super) fn is_of_block(&self) -> bool {
        !self.is_of_engine && self.location.call.is_some_and(|call| call.row().call == CallKind::Collective)
    }
}

/// A row of the intrinsics' table, called.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The name of what the source calls.
    pub(super) name: &'static str,
    /// Its meaning.
    pub(super) eval: CallEval,
    /// The row's `T`.
    pub(super) ty: Type,
    /// Arguments.
    pub(super) args: Vec<Reg>,
    /// The result.
    pub(super) result: Option<Reg>,
}

/// The meanings that a warp can compute by itself.
#[derive(Clone, Copy, Debug)]
pub(super) enum CallEval {
    /// Lane by lane.
    Lane(fn(Type, &[u64]) -> u64),
    /// All lanes together.
    Warp(fn(Type, &[[u64; 32]], u32) -> [u64; 32]),
    /// A shuffle: from which lane each gets its first argument, by its number and second argument.
    Shuffle(fn(usize, usize) -> usize),
}

impl CallEval {
    /// The meaning, if it is one of these.
    pub(super) fn new(eval: Eval) -> Option<CallEval> {
        match eval {
            Eval::Lane(f) => Some(CallEval::Lane(f)),
            Eval::Warp(f) => Some(CallEval::Warp(f)),
            Eval::Shuffle(f) => Some(CallEval::Shuffle(f)),
            Eval::Barrier(_) | Eval::Fence(_) | Eval::Copies(_) => None,
        }
    }
}

/// A barrier.
#[derive(Clone, Debug)]
pub(super) struct Barrier {
    /// Makes the result of the number of threads whose argument holds, and of all.
    pub(super) eval: fn(u32, u32) -> u64,
    /// Its `bool`.
    pub(super) argument: Option<Reg>,
    /// Its result.
    pub(super) result: Option<Reg>,
    /// Whether it is one of the work's threads, to which a producer's do not come.
    pub(super) is_of_work: bool,
    /// Whether the threads of all blocks of the cluster come to it.
    pub(super) is_of_cluster: bool,
    /// Place in the source.
    pub(super) location: Location,
}

/// A text with values in it.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// Its parts.
    pub(super) parts: Vec<PrintPart>,
    /// The values' slots and types.
    pub(super) values: Vec<(Reg, Type)>,
}

/// What a slot holds from the start, so that no step computes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Preset {
    /// These bits.
    Constant(Type, u64),
    /// A special register.
    Special(Special, Axis),
    /// The number of elements of a slice.
    Len(usize),
    /// Texels of a texture along an axis.
    Extent(usize, Axis),
    /// Scalar of this many bytes at an offset of a by-value parameter.
    Parameter {
        /// The object.
        object: usize,
        /// Bytes from its start.
        offset: u64,
        /// Bytes of the scalar.
        bytes: u32,
    },
}

/// A memory object, as laid out for the simulator.
#[derive(Clone, Debug)]
pub(super) struct ObjectInfo {
    /// Its name in the source.
    pub(super) name: String,
    /// Where it lives.
    pub(super) space: Space,
    /// Whether it is a slice.
    pub(super) is_slice: bool,
    /// Bytes of a slice's element, or of the whole.
    pub(super) unit: u64,
    /// Bytes that shadow memory tells apart: the smallest scalar in it.
    pub(super) granule: u64,
    /// Bytes from the start of shared or local memory.
    pub(super) base: u64,
    /// Contents of a constant table.
    pub(super) table: Vec<u8>,
    /// Whether it is a texture.
    pub(super) is_texture: bool,
    /// Whether the kernel declares that it may write it.
    pub(super) is_writable: bool,
    /// Whether the kernel does write it: only then can there be races.
    pub(super) is_written: bool,
    /// Whether stores to it are copies that arrive later.
    pub(super) is_ring: bool,
    /// Whether the copy engine writes it.
    pub(super) is_engines: bool,
    /// The shared array that it is in all blocks of the cluster, one behind another.
    pub(super) peers_of: Option<usize>,
}

impl ObjectInfo {
    /// The virtual address of its first byte, `Addressed` stage: the object's number above the offset's bits.
    pub(super) fn address(&self, object: usize) -> u64 {
        (object as u64 + 1) << self.offset_bits()
    }

    /// Bits of a virtual address that are the offset.
    pub(super) fn offset_bits(&self) -> u32 {
        match self.space {
            Space::Global => 40,
            // Of several blocks.
            Space::Cluster => 22,
            Space::Param | Space::Constant | Space::Shared | Space::Local => 20,
        }
    }

    /// Bits of a virtual address.
    pub(super) fn pointer_bits(&self) -> u32 {
        if self.space == Space::Global { 64 } else { 32 }
    }
}

/// A compiled kernel.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// Its name.
    pub(super) kernel: Arc<Kernel>,
    /// What was asked for.
    pub(super) options: SimOptions,
    /// The block that the kernel fixes.
    pub(super) block: Option<[u32; 3]>,
    /// The block that a launch starts, if it adds a producer's threads.
    pub(super) started: Option<[u32; 3]>,
    /// Whether `usize` has 64 bits.
    pub(super) is_index_wide: bool,
    /// Whether a launch starts fewer blocks than the grid has, and each goes on with others.
    pub(super) is_persistent: bool,
    /// Blocks of a cluster of those that are started, by axis.
    pub(super) cluster: [u32; 3],
    /// The same of the grid that is asked for.
    pub(super) asked_cluster: [u32; 3],
    /// Whether the blocks of a cluster wait for each other or reach each other's memory: else it does not matter that there are clusters.
    pub(super) is_clustered: bool,
    /// The steps.
    pub(super) steps: Vec<SimStep>,
    /// The instructions that they are of.
    pub(super) insts: Vec<Option<Inst>>,
    /// Slots of each register file.
    pub(super) registers: [usize; 3],
    /// Mask slots.
    pub(super) masks: usize,
    /// Slots filled from the start.
    pub(super) presets: Vec<(Reg, Preset)>,
    /// Stretches of code.
    pub(super) segments: Vec<Segment>,
    /// What checks find.
    pub(super) checks: Vec<CheckFailure>,
    /// Loads, stores, atomics.
    pub(super) accesses: Vec<Access>,
    /// Intrinsics.
    pub(super) calls: Vec<Call>,
    /// Barriers.
    pub(super) barriers: Vec<Barrier>,
    /// Loads of matrices.
    pub(super) matrix_loads: Vec<MatrixLoad>,
    /// What stores of matrices write.
    pub(super) matrix_rows: Vec<MatrixRows>,
    /// Products of tensor cores.
    pub(super) products: Vec<Product>,
    /// Sums that are waited for: where they are, and where they go.
    pub(super) awaited_sums: Vec<Vec<(Reg, Reg)>>,
    /// Products of warpgroups.
    pub(super) warpgroup_products: Vec<WarpgroupProduct>,
    /// What is told to the copy engine.
    pub(super) engines: Vec<EngineStep>,
    /// Texts.
    pub(super) messages: Vec<Text>,
    /// Reads of textures.
    pub(super) textures: Vec<TextureRead>,
    /// Places of branches.
    pub(super) branches: Vec<Location>,
    /// Memory objects.
    pub(super) objects: Vec<ObjectInfo>,
    /// Parameters of the kernel: which object each is.
    pub(super) params: Vec<usize>,
    /// Static shared memory in bytes; dynamic arrays begin here.
    pub(super) shared_bytes: u64,
    /// Local memory of a thread in bytes.
    pub(super) local_bytes: u64,
    /// Whether blocks may run in any order with the same results, races apart: no prints, and no global atomics but integer ones
    /// whose order does not show.
    pub(super) is_order_free: bool,
    /// Whether a thread may wait for another: an atomic's result is used.
    pub(super) waits: bool,
    /// Whether there are fences.
    pub(super) has_fences: bool,
    /// Whether an array has atomics that release and others that write, or atomics that acquire and others that read: release and acquire patterns of several atomics.
    pub(super) has_patterns: bool,
    /// Whether fences and atomics may order threads, or blocks take turns.
    pub(super) orders: bool,
}

impl Program {
    /// The place of a step in the source.
    pub(super) fn location(&self, step: usize) -> Location {
        self.insts.get(step).copied().flatten().map_or_else(Location::default, |inst| self.kernel.location(inst))
    }

    /// The source file of a place; empty if unknown.
    pub(super) fn file(&self, number: u16) -> String {
        self.kernel.files.get(usize::from(number)).cloned().unwrap_or_default()
    }

    /// The objects of a space.
    pub(super) fn objects_in(&self, space: Space) -> impl Iterator<Item = (usize, &ObjectInfo)> {
        self.objects.iter().enumerate().filter(move |(_, o)| o.space == space)
    }
}
