//! A kernel, decoded: what the machine goes through.

use crate::evaluate::convert::Conversion;
use crate::evaluate::float::FloatOp;
use crate::ty::Ty;
use std::cmp::Ordering;

/// A register of a thread, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reg(pub(crate) u32);

/// What an instruction reads: a register or a constant of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Src(pub(crate) u32);

impl Src {
    /// Set where the number is a constant's.
    pub(crate) const CONSTANT: u32 = 1 << 31;

    pub(crate) fn constant(self) -> Option<usize> {
        (self.0 & Src::CONSTANT != 0).then_some((self.0 & !Src::CONSTANT) as usize)
    }
}

impl From<Reg> for Src {
    fn from(reg: Reg) -> Src {
        Src(reg.0)
    }
}

/// A kernel.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) code: Vec<Instruction>,
    /// Registers of a thread.
    pub(crate) registers: u32,
    pub(crate) constants: Vec<u64>,
    /// Constants that are addresses of the module's `.global` variables: which, of which, and where in it.
    pub(crate) addresses: Vec<(usize, usize, i64)>,
    /// Bytes of local memory of a thread.
    pub(crate) local_bytes: u32,
    /// Bytes of shared memory without the dynamic part; and what the dynamic part begins at.
    pub(crate) shared_bytes: u32,
}

/// An instruction.
#[derive(Debug)]
pub(crate) struct Instruction {
    /// The predicate that it is under, and what that must be.
    pub(crate) guard: Option<(Reg, bool)>,
    pub(crate) op: Op,
    /// Its line in the text.
    pub(crate) line: u32,
}

/// What an instruction does, by what it needs.
#[derive(Debug)]
pub(crate) enum Op {
    /// Registers alone.
    Compute(Compute),
    Branch(u32),
    /// The next instruction for this thread is none.
    Exit,
    Trap,
    /// Nothing: hints to caches and to the scheduler, and fences, since memory here is sequentially consistent.
    Nothing,
    /// Ends a thread's slice.
    Sleep,
    Memory(MemoryOp),
    /// Threads of a warp together.
    Warp(WarpOp),
    /// Threads of a block.
    Barrier(BarrierOp),
    /// Blocks of a cluster.
    ClusterArrive,
    ClusterWait,
    Mbarrier(MbarrierOp),
    Copy(CopyOp),
    Call(CallOp),
    Special(Reg, Special),
}

/// A comparison of two values; `None`: they have no order.
pub(crate) type Compare = fn(u64, u64) -> Option<Ordering>;

/// What needs registers alone.
#[derive(Debug)]
pub(crate) enum Compute {
    Move(Reg, Src),
    Unary(fn(u64) -> u64, Reg, Src),
    Binary(fn(u64, u64) -> u64, Reg, [Src; 2]),
    Ternary(fn(u64, u64, u64) -> u64, Reg, [Src; 3]),
    Float(FloatOp, Reg, [Src; 3]),
    Convert(Conversion, Reg, [Src; 2]),
    Setp(Box<Setp>),
    /// `d = c ? a : b`.
    Select(Reg, [Src; 2], Src),
    /// Parts of so many bits each to one value, the first lowest.
    Pack(Reg, Vec<Src>, u32),
    /// The opposite; parts that nobody wants have no register.
    Unpack(Vec<Option<Reg>>, Src, u32),
    /// `bfi`, of so many bits.
    Insert(Reg, [Src; 4], u32),
    /// `lop3`, with its table.
    Logic3(Reg, [Src; 3], u8),
}

/// `setp`.
#[derive(Debug)]
pub(crate) struct Setp {
    pub(crate) compare: Compare,
    pub(crate) relation: Relation,
    /// Where the result goes, and its opposite.
    pub(crate) results: [Option<Reg>; 2],
    pub(crate) operands: [Src; 2],
    /// What both are combined with: a predicate, and whether it is negated.
    pub(crate) combined: Option<(BoolOp, Src, bool)>,
}

/// What `setp` asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

/// How predicates are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoolOp {
    And,
    Or,
    Xor,
}

/// A place in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) base: Src,
    pub(crate) offset: i64,
    /// Whether addresses of the space have 32 bits, and wrap there.
    pub(crate) is_narrow: bool,
}

/// A state space, as an access names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessSpace {
    Generic,
    Global,
    Const,
    Shared,
    SharedCluster,
    Local,
    Param,
}

/// Accesses.
#[derive(Debug)]
pub(crate) enum MemoryOp {
    Load(Access, Vec<Load>),
    Store(Access, Vec<Src>),
    Atomic(Box<Atomic>),
    Tex(Box<Tex>),
    /// An address of one space as one of all, or the other way round.
    ToGeneric(AccessSpace, Reg, Src),
    FromGeneric(AccessSpace, Reg, Src),
    /// The address of the same place in another block of the cluster; whether it is to be generic.
    Mapa(Reg, [Src; 2], bool),
}

/// Where elements of so many bytes are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) space: AccessSpace,
    pub(crate) at: Address,
    pub(crate) bytes: u32,
}

/// A register that is loaded, with the bits that a sign is extended to, if one is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) reg: Option<Reg>,
    pub(crate) extended: Option<u32>,
}

/// An atomic: `f(old, operands)` is the new value.
#[derive(Debug)]
pub(crate) struct Atomic {
    pub(crate) access: Access,
    pub(crate) f: fn(u64, u64, u64) -> u64,
    pub(crate) old: Option<Reg>,
    pub(crate) operands: [Src; 2],
}

/// A texture read of two dimensions.
#[derive(Debug)]
pub(crate) struct Tex {
    pub(crate) results: [Option<Reg>; 4],
    pub(crate) ty: Ty,
    pub(crate) handle: Src,
    pub(crate) at: [Src; 2],
    /// Whether coordinates are whole numbers.
    pub(crate) is_fetch: bool,
}

/// What threads of a warp do together. The mask says which.
#[derive(Debug)]
pub(crate) struct WarpOp {
    pub(crate) mask: Src,
    pub(crate) kind: WarpKind,
}

/// Which of these.
#[derive(Debug)]
pub(crate) enum WarpKind {
    Sync,
    Shuffle {
        mode: ShuffleMode,
        d: Reg,
        in_range: Option<Reg>,
        a: Src,
        b: Src,
        c: Src,
    },
    Vote {
        mode: VoteMode,
        d: Reg,
        a: Src,
        is_negated: bool,
    },
    /// Lanes with the same value; with a register for whether all have it, `match.all`.
    Match {
        d: Reg,
        a: Src,
        all: Option<Option<Reg>>,
        bits: u32,
    },
    Redux {
        f: fn(u64, u64) -> u64,
        d: Reg,
        a: Src,
    },
    LoadMatrix {
        d: Vec<Reg>,
        at: Address,
        is_transposed: bool,
    },
    StoreMatrix {
        words: Vec<Src>,
        at: Address,
        is_transposed: bool,
    },
    Mma(Box<Mma>),
    /// A product of a warpgroup: asynchronous, each warp its own rows.
    Wgmma(Box<Wgmma>),
    WgmmaFence,
    WgmmaCommit,
    WgmmaWait(u32),
    Activemask(Reg),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Bfly,
    Idx,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}

/// A product of a warp.
#[derive(Debug)]
pub(crate) struct Mma {
    pub(crate) shape: [usize; 3],
    pub(crate) a_type: Ty,
    pub(crate) b_type: Ty,
    pub(crate) sum: Ty,
    pub(crate) d: Vec<Reg>,
    pub(crate) a: Vec<Src>,
    pub(crate) b: Vec<Src>,
    pub(crate) c: Vec<Src>,
    /// Whether sums of whole numbers saturate.
    pub(crate) saturates: bool,
}

/// A product of a warpgroup.
#[derive(Debug)]
pub(crate) struct Wgmma {
    pub(crate) columns: usize,
    pub(crate) steps: usize,
    pub(crate) a_type: Ty,
    pub(crate) b_type: Ty,
    pub(crate) sum: Ty,
    pub(crate) d: Vec<Reg>,
    /// A descriptor, or words of registers.
    pub(crate) a: WgmmaFactor,
    pub(crate) b: Src,
    /// Whether what is there is added to.
    pub(crate) accumulates: Src,
    /// Whether factors are negated.
    pub(crate) is_negated: [bool; 2],
    /// Whether tiles are transposed: rows run across the sum.
    pub(crate) is_transposed: [bool; 2],
}

#[derive(Debug)]
pub(crate) enum WgmmaFactor {
    Descriptor(Src),
    Words(Vec<Src>),
}

/// What threads of a block do together.
#[derive(Debug)]
pub(crate) struct BarrierOp {
    pub(crate) number: Src,
    /// How many threads come; if it is not said, all.
    pub(crate) threads: Option<Src>,
    pub(crate) kind: BarrierKind,
    /// Whether all threads of a warp must stand at the same instruction.
    pub(crate) is_aligned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierKind {
    Sync,
    Arrive,
    /// How many pass true, whether all do, or one: the result, the predicate, whether it is negated.
    Popc(Reg, Src, bool),
    And(Reg, Src, bool),
    Or(Reg, Src, bool),
}

/// Barriers in shared memory.
#[derive(Debug)]
pub(crate) enum MbarrierOp {
    Init(Access, Src),
    Inval(Access),
    /// The state before goes to a register; how many arrive; how many bytes are expected beforehand.
    Arrive {
        at: Access,
        state: Option<Reg>,
        count: Option<Src>,
        expects: Option<Src>,
    },
    ExpectTx(Access, Src),
    /// Whether a phase is over: by parity, or by state. It may wait.
    Test {
        at: Access,
        d: Reg,
        phase: Src,
        is_parity: bool,
        waits: bool,
    },
}

/// Copies that go on by themselves.
#[derive(Debug)]
pub(crate) enum CopyOp {
    /// `cp.async`: to shared, from global, bytes; how many of them are read, the others are zero.
    Async {
        to: Address,
        from: Address,
        bytes: u32,
        read: Option<Src>,
    },
    Commit,
    /// All groups but for so many of the last; `None`: also what is in no group.
    Wait(Option<u32>),
    /// An arrival at a barrier when this thread's copies have come; whether it counts beyond what the barrier waits for.
    MbarrierArrive(Access, bool),
    /// Bytes from global memory to shared, counted at a barrier.
    BulkLoad {
        to: Address,
        from: Address,
        bytes: Src,
        barrier: Address,
        blocks: Option<Src>,
    },
    /// Bytes from shared to global memory.
    BulkStore {
        to: Address,
        from: Address,
        bytes: Src,
    },
    /// A tile of a matrix.
    TensorLoad {
        to: Address,
        map: Src,
        at: Vec<Src>,
        barrier: Address,
        blocks: Option<Src>,
    },
    TensorStore {
        map: Src,
        at: Vec<Src>,
        from: Address,
    },
    BulkCommit,
    /// All groups but for so many of the last: also where it is enough that they have been read.
    BulkWait(u32),
}

/// Functions of the driver.
#[derive(Debug)]
pub(crate) enum CallOp {
    /// Where in local memory the arguments are: the format, and what the values are at; the result.
    Print { format: u32, arguments: u32, status: u32 },
    /// The message, the file, the line, the function.
    Assert { message: u32, file: u32, line: u32, function: u32 },
}

/// Special registers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Special {
    Tid(usize),
    Ntid(usize),
    Ctaid(usize),
    Nctaid(usize),
    LaneId,
    WarpId,
    NwarpId,
    SmId,
    NsmId,
    GridId,
    /// Lanes that are equal to this one, below, above.
    LaneMask(fn(u32) -> u32),
    Clock,
    ClockHi,
    Clock64,
    GlobalTimer,
    ClusterId(usize),
    NclusterId(usize),
    ClusterCtaid(usize),
    ClusterNctaid(usize),
    ClusterCtarank,
    ClusterNctarank,
    IsExplicitCluster,
    DynamicSharedBytes,
    TotalSharedBytes,
}
