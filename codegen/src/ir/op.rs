//! The instruction kinds that passes must understand. Everything else is [`Op::Intrinsic`], a row of the table.

use super::intrinsic::IntrinsicId;
use super::{Access, Block, Collective, Engine, Inst, Object, Scalar, Scope, Tensor, Type, Value};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),* }

        impl $name {
            /// Every one, with its word in the text form.
            pub const ALL: &'static [($name, &'static str)] = &[$(($name::$variant, $word)),*];

            /// Its word in the text form.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }
        }
    };
}

words! {
    /// An axis of the geometry.
    #[expect(missing_docs, reason = "axes by their names")]
    Axis { X = "x", Y = "y", Z = "z" }
}

words! {
    /// Where a thread stands; every one is a `u32`.
    Special {
        /// Thread within its block. In `0..block_dim`.
        ThreadIdx = "thread_idx",
        /// Block within the grid. In `0..grid_dim`.
        BlockIdx = "block_idx",
        /// Threads of a block. A constant where the kernel fixes its block.
        BlockDim = "block_dim",
        /// Blocks of the grid. Behind the pass `blocks`, of the grid that the device runs.
        GridDim = "grid_dim",
        /// Blocks of the grid that was asked for, where the device runs fewer (`persistent`). The pass `blocks` places it, and the runtime passes it.
        AskedGrid = "asked_grid",
        /// Lane within the warp; `Axis::X` always. Threads are numbered x fastest, then y, then z.
        LaneId = "lane_id",
        /// Warp within the block, `linear thread / 32`; `Axis::X` always.
        WarpId = "warp_id",
    }
}

impl Special {
    /// Whether it has a value for each axis. If not, the axis is `Axis::X`.
    pub fn has_axes(self) -> bool {
        !matches!(self, Special::LaneId | Special::WarpId)
    }
}

words! {
    /// Operations on one value, result of the same type.
    UnaryOp {
        /// `-a`: wrapping for integers, sign flip for floats.
        Neg = "neg",
        /// `!a`: bitwise for integers, logical for `bool`.
        Not = "not",
        /// `|a|`: wrapping for integers, sign bit cleared for floats.
        Abs = "abs",
    }
}

words! {
    /// Operations on two values of one type (shifts: the count is a `u32`), result of that type.
    BinaryOp {
        /// Wrapping; correctly rounded for floats, as the next three.
        Add = "add",
        /// Wrapping.
        Sub = "sub",
        /// Wrapping.
        Mul = "mul",
        /// Integers: towards zero, by zero a fault, `MIN / -1` wraps.
        Div = "div",
        /// Sign of the dividend; floats: `fmod`, exact.
        Rem = "rem",
        /// Bitwise; logical for `bool`, as the next two.
        And = "and",
        /// Bitwise.
        Or = "or",
        /// Bitwise.
        Xor = "xor",
        /// Count modulo the width.
        Shl = "shl",
        /// Count modulo the width; arithmetic for signed types.
        Shr = "shr",
        /// Floats: the number if one side is NaN.
        Min = "min",
        /// Floats: the number if one side is NaN.
        Max = "max",
    }
}

impl BinaryOp {
    /// The sign of the second operand in a sum or a difference.
    pub fn sign(self) -> Option<i128> {
        match self {
            BinaryOp::Add => Some(1),
            BinaryOp::Sub => Some(-1),
            _ => None,
        }
    }
}

words! {
    /// Comparisons, result `bool`. Floats: ordered (false with a NaN), except `Ne`, which is true with one.
    #[expect(missing_docs, reason = "comparisons by their names")]
    CompareOp { Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge" }
}

impl CompareOp {
    /// The comparison that holds where this one does not; of floats only for `Eq` and `Ne`, since a NaN makes both of the others false.
    #[must_use]
    pub fn negated(self) -> CompareOp {
        match self {
            CompareOp::Eq => CompareOp::Ne,
            CompareOp::Ne => CompareOp::Eq,
            CompareOp::Lt => CompareOp::Ge,
            CompareOp::Le => CompareOp::Gt,
            CompareOp::Gt => CompareOp::Le,
            CompareOp::Ge => CompareOp::Lt,
        }
    }

    /// The same comparison with its operands swapped: `a < b` is `b > a`.
    #[must_use]
    pub fn swapped(self) -> CompareOp {
        match self {
            CompareOp::Lt => CompareOp::Gt,
            CompareOp::Le => CompareOp::Ge,
            CompareOp::Gt => CompareOp::Lt,
            CompareOp::Ge => CompareOp::Le,
            CompareOp::Eq | CompareOp::Ne => self,
        }
    }
}

words! {
    /// What an atomic operation orders beside itself, as C++ and Rust name it.
    MemoryOrder {
        /// Nothing.
        Relaxed = "relaxed",
        /// What the writer of the value read had done before it released it comes before what follows.
        Acquire = "acquire",
        /// What came before is known to whom acquires the value.
        Release = "release",
        /// Both.
        AcqRel = "acq_rel",
        /// Both, and all such operations and fences have one order.
        SeqCst = "seq_cst",
    }
}

impl MemoryOrder {
    /// Whether it acquires.
    pub fn acquires(self) -> bool {
        matches!(self, MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst)
    }

    /// Whether it releases.
    pub fn releases(self) -> bool {
        matches!(self, MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst)
    }
}

/// What an atomic operation orders, and for whom it is atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Atomicity {
    /// What it orders.
    pub order: MemoryOrder,
    /// The threads for which it is atomic and orders: block, device or system. In shared memory the block whatever this says.
    pub scope: Scope,
}

impl Atomicity {
    /// Relaxed, for the device: what the text form leaves out.
    pub const RELAXED: Atomicity = Atomicity { order: MemoryOrder::Relaxed, scope: Scope::Device };
}

impl MemoryOrder {
    /// Whether an operation can have it: a load has nothing to release, a store nothing to acquire.
    pub fn is_for(self, op: AtomicOp) -> bool {
        let is_both = self == MemoryOrder::AcqRel;
        !(op == AtomicOp::Load && (is_both || self == MemoryOrder::Release)
            || op == AtomicOp::Store && (is_both || self == MemoryOrder::Acquire))
    }
}

words! {
    /// Atomic operations. The result is the old value; a store has none.
    AtomicOp {
        /// Integers and floats.
        Add = "add",
        /// Integers and floats.
        Sub = "sub",
        /// Integers and floats.
        Min = "min",
        /// Integers and floats.
        Max = "max",
        /// Integers.
        And = "and",
        /// Integers.
        Or = "or",
        /// Integers.
        Xor = "xor",
        /// Any scalar of 4 or 8 bytes.
        Exchange = "exchange",
        /// Operands: expected, new. Compares bits.
        CompareExchange = "cas",
        /// Reads: any scalar of 4 or 8 bytes, no operand.
        Load = "load",
        /// Writes: any scalar of 4 or 8 bytes, no result.
        Store = "store",
    }
}

impl AtomicOp {
    /// Whether there is one for values of this type. Sums and extremes of floats are for all widths, everything else for 4 and 8 bytes.
    pub fn takes(self, ty: Type) -> bool {
        let is_word = matches!(ty.bytes(), 4 | 8);
        match self {
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::Min | AtomicOp::Max => ty.is_float() || ty.is_int() && is_word,
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => ty.is_int() && is_word,
            AtomicOp::Exchange | AtomicOp::CompareExchange | AtomicOp::Load | AtomicOp::Store => is_word && !matches!(ty, Type::Ptr(_)),
        }
    }

    /// How many operands it has.
    pub fn operands(self) -> usize {
        match self {
            AtomicOp::Load => 0,
            AtomicOp::CompareExchange => 2,
            AtomicOp::Add
            | AtomicOp::Sub
            | AtomicOp::Min
            | AtomicOp::Max
            | AtomicOp::And
            | AtomicOp::Or
            | AtomicOp::Xor
            | AtomicOp::Exchange
            | AtomicOp::Store => 1,
        }
    }
}

words! {
    /// How a buffer is used, for the caches: advice, which changes no result.
    CacheHint {
        /// Once: it is the first to be evicted.
        Streaming = "streaming",
        /// Read for the last time: not written back.
        LastUse = "last_use",
        /// Evicted before others, from L1 and L2.
        EvictFirst = "evict_first",
        /// Evicted after others, from L1 and L2.
        EvictLast = "evict_last",
        /// Not kept in L1.
        NoAllocate = "no_allocate",
    }
}

words! {
    /// What is asked of a texture.
    TextureOp {
        /// The texel at a column and a row, both `i32`, no filter. Outside, the texel that is nearest, or zeros: as the texture was made.
        Fetch = "fetch",
        /// The texture at a point, two `f32`, filtered as the texture was made. Float texels.
        Sample = "sample",
        /// Texels of a row. No operands; the kernel's index type.
        Width = "width",
        /// Rows. No operands; the kernel's index type.
        Height = "height",
    }
}

impl TextureOp {
    /// The type of the two coordinates, if it reads texels.
    pub fn coordinates(self) -> Option<Type> {
        match self {
            TextureOp::Fetch => Some(Type::I32),
            TextureOp::Sample => Some(Type::F32),
            TextureOp::Width | TextureOp::Height => None,
        }
    }

    /// Whether it reads texels; the others ask how many there are.
    pub fn reads(self) -> bool {
        self.coordinates().is_some()
    }
}

/// A part of a `print!` or an assertion's message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PrintPart {
    /// Text as it is.
    Text(String),
    /// The next argument, by `{}`, with the digits after the point of `{:.N}` if asked for.
    Argument(Option<u8>),
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Computes from its operands alone.
    Compute(Compute),
    /// Reads or writes memory.
    Memory(Memory),
    /// Reads a texture or asks for its extent; operands as [`TextureOp`] says. Results: the components of a texel, or one extent.
    Texture(TextureOp, Object, Vec<Value>),
    /// A row of the table of intrinsics.
    Intrinsic(IntrinsicId, Vec<Value>),
    /// Copies with all threads of the block. Up to the `Built` stage.
    Collective(Collective),
    /// Multiplies matrices, or says where their sums are.
    Tensor(Tensor),
    /// Tells the copy engine something. From the `Scheduled` stage on, in the form of a kernel for targets that have one.
    Engine(Engine),
    /// Says something to the user.
    Message(Message),
    /// Runs blocks.
    Region(Region),
    /// Ends a block.
    Terminator(Terminator),
}

/// Two equal ones with equal operands give equal results, whenever they run: no memory, no other threads, no trap.
/// Integer division is one of them; by zero it is undefined on a device ([`Effects::can_fault`](super::Effects::can_fault)).
#[derive(Clone, Debug, PartialEq)]
pub enum Compute {
    /// A constant. No operands, one result.
    Const(Scalar),
    /// A special register. One result, `u32`.
    Special(Special, Axis),
    /// One operand, one result of its type.
    Unary(UnaryOp, Value),
    /// Two operands of one type (shifts: the second is `u32`), one result of that type.
    Binary(BinaryOp, Value, Value),
    /// `a * b + c`, one rounding for floats (fused), wrapping for integers.
    MulAdd(Value, Value, Value),
    /// Two operands of one type, result `bool`.
    Compare(CompareOp, Value, Value),
    /// `if c { a } else { b }` without branching; both are evaluated.
    Select(Value, Value, Value),
    /// Rust's `as` to the result's type: saturating float → int, wrapping int → int, rounding to nearest even otherwise.
    Cast(Value),
    /// The same bits as another type of the same width.
    Bitcast(Value),
    /// Elements of a slice object (buffer or dynamic shared array). Result: the kernel's index type.
    Len(Object),
    /// The address of an object's first byte. Result `Ptr`. `Addressed` stage only, like the next.
    Address(Object),
    /// The address of a shared array's first byte in another block of the cluster: an object of [`ObjectKind::Peers`](super::ObjectKind::Peers) and the block's rank, a
    /// `u32`. Result `Ptr`.
    PeerAddress(Object, Value),
    /// Pointer plus bytes: the second operand is `u32` or `u64`, as wide as the pointer. Result: the pointer's type.
    Offset(Value, Value),
}

/// An access of memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// What is done there.
    pub op: MemoryOp,
    /// Where.
    pub at: Address,
}

impl Memory {
    /// The scalars that it reads or writes, where `results` are the instruction's: of an atomic operation the old value.
    pub fn scalars<'a>(&'a self, results: &'a [Value]) -> &'a [Value] {
        match &self.op {
            MemoryOp::Atomic(AtomicOp::Store, _, values) | MemoryOp::Store(values) | MemoryOp::StoreMatrix(values) => values,
            MemoryOp::Load | MemoryOp::LoadMatrix { .. } | MemoryOp::Atomic(..) => results,
        }
    }
}

/// What an access does.
#[derive(Clone, Debug, PartialEq)]
pub enum MemoryOp {
    /// Reads `results.len()` consecutive scalars (1, 2, 4, 8, 16), as [`Access::scalars`] counts them; more than one is one vector access, and begins at
    /// a multiple of its bytes.
    Load,
    /// Writes consecutive scalars, as `Load` reads them.
    Store(Vec<Value>),
    /// Reads 8 × 8 matrices of 16-bit elements with all lanes of a warp (`ldmatrix`): lane 8 · n + i names row i of matrix n, 16 bytes at a multiple of
    /// 16. Results: a `u32` for each matrix, 1, 2 or 4, in which lane l has row l / 4 and the columns 2 · (l % 4) and one more.
    LoadMatrix {
        /// Whether columns come as rows.
        is_transposed: bool,
    },
    /// Writes four 8 × 8 matrices of 16-bit elements with all lanes of a warp (`stmatrix`): rows are named, and words are, as `LoadMatrix` has them.
    StoreMatrix(Vec<Value>),
    /// Atomic on the scalar there; operands as [`AtomicOp`] says; result: the old value, but of a store.
    Atomic(AtomicOp, Atomicity, Vec<Value>),
}

/// Where an access goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Address {
    /// An element of an object. Up to the `Legal` stage.
    Path(Access),
    /// A pointer plus constant bytes. `Addressed` stage only.
    Pointer {
        /// The object the pointer points into: for aliasing, read-only caching and messages.
        object: Object,
        /// The pointer.
        ptr: Value,
        /// Bytes added to it.
        offset: i32,
    },
}

impl Address {
    /// The path, where there is one.
    pub fn path(&self) -> Option<&Access> {
        match self {
            Address::Path(access) => Some(access),
            Address::Pointer { .. } => None,
        }
    }

    /// The object.
    pub fn object(&self) -> Object {
        match self {
            Address::Path(access) => access.object,
            Address::Pointer { object, .. } => *object,
        }
    }
}

/// What the user is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// `print!`: parts and the scalars they show.
    Print(Vec<PrintPart>, Vec<Value>),
    /// `assert!`: traps with the message and the instruction's location unless the first operand is true.
    Assert(Value, Vec<PrintPart>, Vec<Value>),
}

/// An instruction that owns blocks.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// Runs one of two blocks (without parameters). Results: what the block yields; a block that leaves by another exit yields none.
    If {
        /// `bool`.
        condition: Value,
        /// Run where it holds.
        then_block: Block,
        /// Run where it does not.
        else_block: Block,
    },
    /// `for iv in (start..end).step_by(step)`: runs `body` ⌈(end − start) / step⌉ times, computed without wrapping.
    /// Body parameters: the induction variable (of `start`'s integer type), then the carried values, first bound to `init`. `Yield` and
    /// `Continue` give their next values. Results: the carried values after the last iteration or at a `Break`.
    For {
        /// First value.
        start: Value,
        /// The bound, not reached.
        end: Value,
        /// More than zero; same type.
        step: Value,
        /// First carried values.
        init: Vec<Value>,
        /// The body.
        body: Block,
        /// Whether the assembler must leave it rolled (`#[unroll(1)]`).
        keep_rolled: bool,
    },
    /// Runs `body` until a `Break`. Body parameters: the carried values. `Yield` and `Continue` give their next values. Results:
    /// those of the `Break`, whose types may differ from the carried ones.
    Loop {
        /// First carried values.
        init: Vec<Value>,
        /// The body.
        body: Block,
        /// As of a `For`.
        keep_rolled: bool,
    },
    /// Runs `body` (without parameters) once; a `Break` to it, or its `Yield`, gives the results. Inlined functions, labelled blocks.
    Block {
        /// The body.
        body: Block,
    },
}

impl Region {
    /// The blocks it owns, in order.
    pub fn blocks(&self) -> Vec<Block> {
        match self {
            Region::If { then_block, else_block, .. } => vec![*then_block, *else_block],
            Region::For { body, .. } | Region::Loop { body, .. } | Region::Block { body } => vec![*body],
        }
    }
}

/// What ends a block.
#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    /// Gives values to the instruction that owns the block. The kernel's body ends in `Return`.
    Yield(Vec<Value>),
    /// Leaves the enclosing `For`, `Loop` or `Block`, with its results.
    Break(Inst, Vec<Value>),
    /// Starts the next iteration of the enclosing `For` or `Loop`, with the carried values.
    Continue(Inst, Vec<Value>),
    /// The thread is done.
    Return,
    /// The thread cannot get here (an out-of-range access under `bounds = trap`, say); traps with the message.
    Trap(String),
}

impl Op {
    /// Reads scalars.
    pub fn load(access: Access) -> Op {
        Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) })
    }

    /// Writes scalars.
    pub fn store(access: Access, values: Vec<Value>) -> Op {
        Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(access) })
    }

    /// Whether it is a loop.
    pub fn is_loop(&self) -> bool {
        matches!(self, Op::Region(Region::For { .. } | Region::Loop { .. }))
    }

    /// Whether it ends a block.
    pub fn is_terminator(&self) -> bool {
        matches!(self, Op::Terminator(_))
    }

    /// The blocks it owns, in order.
    pub fn blocks(&self) -> Vec<Block> {
        match self {
            Op::Region(region) => region.blocks(),
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Terminator(_) => Vec::new(),
        }
    }

    /// Whether it owns blocks: most do not, and need not be asked which.
    pub fn owns_blocks(&self) -> bool {
        matches!(self, Op::Region(_))
    }
}
