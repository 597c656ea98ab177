//! What the copy engine of a multiprocessor is told: copies that it makes by itself, and barriers that count their bytes (`mbarrier`, from sm_90 on).
//!
//! A **barrier** is an element of a shared array of `u64` that nothing else touches. Its phases follow one another; a phase is over when as many threads
//! have arrived as the barrier counts, and as many bytes as they announced. Who waits for a phase reads what was copied in it, or writes what others have
//! read before they arrived. Only `pipeline` makes these, in the form of a kernel for targets that have the engine
//! ([`crate::pipeline::Scheduled::for_target`]).
//!
//! A kernel may have a **producer**: threads that a launch adds to the declared block ([`Kernel::started_block`]), and of which one, the **issuer**, tells
//! the engine what to copy. Which threads are meant by a part of the kernel, [`Engine::Is`] asks; all that is under the condition that a thread is not of the
//! producer is the **work**, and a barrier of the block there is one of the declared block's threads.

use super::{Access, Block, Completion, Effects, Inst, Kernel, MemoryType, Object, Op, PitchedMatrix, Region, Scope, Swizzle, Type, Value};
use crate::target::limits::{BLOCK_THREADS, LANES};
use std::collections::BTreeMap;

/// One instruction to or about the engine. Each thread that comes to it does it.
#[derive(Clone, Debug, PartialEq)]
pub enum Engine {
    /// Makes barriers of all elements of an array, in phase 0. Other threads see that behind the block's next barrier.
    Init {
        /// The array.
        barriers: Object,
        /// How many threads arrive in each phase.
        arrivals: u32,
    },
    /// Arrives.
    Arrive {
        /// One barrier.
        barrier: Access,
        /// At that of the cluster's block of this rank, if not at the block's own; `u32`.
        of_block: Option<Value>,
    },
    /// Arrives, and announces so many bytes.
    Expect {
        /// One barrier.
        barrier: Access,
        /// How many bytes the phase has; `u32`.
        bytes: Value,
    },
    /// Waits until a phase of this parity (its number modulo 2) is over: the one that runs, or the one before.
    Wait {
        /// One barrier.
        barrier: Access,
        /// 0 or 1; `u32`.
        parity: Value,
    },
    /// Copies neighbouring elements: as [`super::Collective::LoadRun`], but all are there. Arrives at any time up to the end of the barrier's phase.
    CopyRun {
        /// An array `[T; N]` at a multiple of 16 bytes, its size one, too.
        to: Access,
        /// A buffer of `T`.
        from: Object,
        /// The first element, at a multiple of 16 bytes; the kernel's index type.
        start: Value,
        /// Where its bytes are counted.
        barrier: Access,
    },
    /// Copies a tile of a matrix, zeros outside of it (a tensor copy, which knows the matrix by a map of it). Arrives as [`Engine::CopyRun`] does.
    CopyTile {
        /// An array `[[T; C]; R]` of scalars at a multiple of 128 bytes; of an array that is swizzled over bytes, from `Scheduled` on, a slab.
        to: Access,
        /// A matrix of `T`, whose parts are parameters of the kernel.
        from: PitchedMatrix,
        /// The matrix's row that is the first of the array.
        row: Value,
        /// The same of columns.
        column: Value,
        /// Where its bytes are counted.
        barrier: Access,
        /// If blocks of the cluster have the tile in common: which rows of it this block copies, and to whom.
        share: Option<Share>,
    },
    /// Copies a tile to a matrix, but for what is outside of it. Reads at any time up to an [`Engine::AwaitStores`] of the same thread that covers its group, and
    /// writes up to one for what is done.
    StoreTile {
        /// As [`Engine::CopyTile`]'s.
        from: Access,
        /// A matrix of its elements, whose parts are parameters of the kernel.
        to: PitchedMatrix,
        /// The matrix's row that the first of the array is written to.
        row: Value,
        /// The same of columns.
        column: Value,
    },
    /// Makes a group of the thread's stores since the last one; of none, too.
    CommitStores,
    /// Waits for the thread's groups of stores but the last ones.
    AwaitStores {
        /// How many of the last.
        but: u32,
        /// For what.
        until: StoreStage,
    },
    /// The engine may access what this thread has written before.
    Fence,
    /// The threads of a warpgroup wait for each other, and see what the others of it wrote before.
    Meet {
        /// Which of the block's the thread is of: its number divided by [`super::WARPGROUP`]; `u32`.
        warpgroup: Value,
    },
    /// Whether the thread has this role.
    Is(Role),
    /// Where a ring stands: the slot that is read next, and the parity of the phase that is waited for there, both `u32`. They are what the last
    /// [`Engine::KeepTurn`] of these barriers left, which may be that of the block before in a `persistent` kernel. The same in all threads of a block.
    Turn(Object),
    /// Leaves a ring there. Each thread keeps it for itself, in registers.
    KeepTurn {
        /// The barriers of the ring's slots.
        barriers: Object,
        /// The slot that is read next; `u32`.
        slot: Value,
        /// The parity of its phase; `u32`.
        parity: Value,
    },
}

/// The parameters of a kernel that a matrix is made of, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixParameters {
    /// The buffer.
    pub data: usize,
    /// How many rows the matrix has.
    pub rows: usize,
    /// Elements of a row.
    pub columns: usize,
    /// Elements from row to row.
    pub pitch: usize,
    /// Of a batch of matrices: how many there are, and the elements from one to the next.
    pub batch: Option<[usize; 2]>,
}

/// What a block of a cluster copies of a tile that it has in common with others (multicast): the same place of each one's array gets it, and each
/// one's barrier counts it. Blocks do so once their slots are free in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// In how many parts of as many rows the tile is copied.
    pub parts: u32,
    /// Which of them this block copies; `u32`.
    pub part: Value,
    /// The blocks that get it, a bit for each rank in the cluster; `u32`.
    pub blocks: Value,
}

/// A role of threads in a kernel with a producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// One of those that the launch adds to the block.
    Producer,
    /// The first of these.
    Issuer,
}

/// How far a store of the engine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreStage {
    /// It has read: its array may be written again.
    Read,
    /// It has read, and the block ends: with that it has written. A block of a `persistent` kernel that goes on to another round need not ask before the last one is over.
    Exit,
    /// It has written: who asks sees it in the matrix, and others behind a barrier.
    Done,
}

impl StoreStage {
    /// Each with its word in the text form.
    pub const ALL: [(StoreStage, &'static str); 3] = [(StoreStage::Read, "read"), (StoreStage::Exit, "exit"), (StoreStage::Done, "done")];

    /// Its word in the text form.
    pub fn word(self) -> &'static str {
        StoreStage::ALL.into_iter().find(|(stage, _)| *stage == self).map_or("", |(_, word)| word)
    }
}

impl Engine {
    /// Its word in the text form.
    pub fn word(&self) -> &'static str {
        match self {
            Engine::Init { .. } => "barrier_init",
            Engine::Arrive { .. } => "barrier_arrive",
            Engine::Expect { .. } => "barrier_expect",
            Engine::Wait { .. } => "barrier_wait",
            Engine::CopyRun { .. } => "copy_run",
            Engine::CopyTile { .. } => "copy_tile",
            Engine::StoreTile { .. } => "put_tile",
            Engine::CommitStores => "commit_stores",
            Engine::AwaitStores { .. } => "await_stores",
            Engine::Fence => "engine_fence",
            Engine::Meet { .. } => "warpgroup_sync",
            Engine::Is(Role::Producer) => "is_producer",
            Engine::Is(Role::Issuer) => "is_issuer",
            Engine::Turn(_) => "barrier_turn",
            Engine::KeepTurn { .. } => "barrier_keep_turn",
        }
    }

    /// The barriers that it is about.
    pub fn barriers(&self) -> Option<Object> {
        match self {
            Engine::Init { barriers: object, .. } | Engine::Turn(object) | Engine::KeepTurn { barriers: object, .. } => Some(*object),
            Engine::Arrive { barrier, .. }
            | Engine::Expect { barrier, .. }
            | Engine::Wait { barrier, .. }
            | Engine::CopyRun { barrier, .. }
            | Engine::CopyTile { barrier, .. } => Some(barrier.object),
            Engine::StoreTile { .. }
            | Engine::CommitStores
            | Engine::AwaitStores { .. }
            | Engine::Fence
            | Engine::Meet { .. }
            | Engine::Is(_) => None,
        }
    }

    /// The shared array and the buffer that it copies between.
    pub fn copied(&self) -> Option<(&Access, Object)> {
        match self {
            Engine::CopyRun { to, from, .. } => Some((to, *from)),
            Engine::CopyTile { to: array, from: matrix, .. } | Engine::StoreTile { from: array, to: matrix, .. } => {
                Some((array, matrix.data))
            }
            Engine::Init { .. }
            | Engine::Arrive { .. }
            | Engine::Expect { .. }
            | Engine::Wait { .. }
            | Engine::CommitStores
            | Engine::AwaitStores { .. }
            | Engine::Fence
            | Engine::Meet { .. }
            | Engine::Is(_)
            | Engine::Turn(_)
            | Engine::KeepTurn { .. } => None,
        }
    }

    /// What it may do.
    pub fn effects(&self) -> Effects {
        let on = |object: Object| Effects { reads: Some(object).into(), writes: Some(object), can_fault: true, ..Effects::PURE };
        match self {
            Engine::Init { barriers, .. } => Effects { orders: Some(Scope::Block), ..on(*barriers) },
            // What the thread has read may be written by who waits.
            Engine::Arrive { barrier, of_block } => {
                let scope = if of_block.is_some() { Scope::Cluster } else { Scope::Block };
                Effects { orders: Some(scope), ..on(barrier.object) }
            }
            Engine::Expect { barrier, .. } => on(barrier.object),
            Engine::Wait { barrier, .. } => Effects { orders: Some(Scope::Block), completes: Completion::Awaits, ..on(barrier.object) },
            Engine::CopyRun { to, from, .. } | Engine::CopyTile { to, from: PitchedMatrix { data: from, .. }, .. } => Effects {
                reads: Some(*from).into(),
                writes: Some(to.object),
                completes: Completion::Later,
                can_fault: true,
                ..Effects::PURE
            },
            Engine::StoreTile { from, to, .. } => Effects {
                reads: Some(from.object).into(),
                writes: Some(to.data),
                completes: Completion::Later,
                can_fault: true,
                ..Effects::PURE
            },
            Engine::AwaitStores { .. } => Effects { completes: Completion::Awaits, ..Effects::fence(Scope::Block) },
            Engine::CommitStores | Engine::Fence => Effects::fence(Scope::Block),
            // Whole warps come; it orders what a block shares.
            Engine::Meet { .. } => Effects { converges: Some(Scope::Warp), can_fault: true, ..Effects::fence(Scope::Block) },
            Engine::Is(_) => Effects::PURE,
            // The turn stands beside the barriers, and is written and read in order like them.
            Engine::Turn(object) => Effects { reads: Some(*object).into(), ..Effects::PURE },
            Engine::KeepTurn { barriers, .. } => Effects { writes: Some(*barriers), ..Effects::PURE },
        }
    }
}

impl Kernel {
    /// Bytes of the array that an access leads to.
    pub fn bytes_of(&self, access: &Access) -> u64 {
        access.leads_to(self).map_or(0, |ty| ty.size(&self.structs))
    }

    /// The numbers of the parameters that a matrix is made of. `None`: one of them is no parameter.
    pub fn parameters_of(&self, matrix: &PitchedMatrix) -> Option<MatrixParameters> {
        let number = |object: Object| self.params.iter().position(|param| *param == object);
        let of_value = |value: Value| match self.def(value) {
            Some((_, Op::Memory(memory))) => number(memory.at.object()),
            _ => None,
        };
        let batch = match matrix.batch {
            Some(batch) => Some([of_value(batch.count)?, of_value(batch.stride)?]),
            None => None,
        };
        let [rows, columns, pitch] = [matrix.rows, matrix.columns, matrix.pitch].map(of_value);
        Some(MatrixParameters { data: number(matrix.data)?, rows: rows?, columns: columns?, pitch: pitch?, batch })
    }

    /// Rows, columns and elements of a tile: an array of rows of scalars, without room behind them.
    pub fn tile_of(&self, access: &Access) -> Option<(u64, u64, Type)> {
        let MemoryType::Array(row, rows) = access.leads_to(self)? else { return None };
        let MemoryType::Array(element, columns) = &**row else { return None };
        let MemoryType::Scalar(element) = **element else { return None };
        Some((*rows, *columns, element))
    }

    /// In how many copies of as many rows each a tile of so many rows of so many bytes is moved: as few as maps allow, each beginning at a multiple of
    /// `align` bytes. `None`: there is no such number.
    pub fn tile_parts(rows: u64, row_bytes: u64, align: u64) -> Option<u64> {
        let fits = |parts: &u64| rows.is_multiple_of(*parts) && (*parts == 1 || (rows / parts * row_bytes).is_multiple_of(align));
        (rows.div_ceil(MOST_TILE_ROWS).max(1)..=rows).find(fits)
    }

    /// What a tile in this array begins at multiples of, bytes: what tensor copies and its swizzle need.
    pub fn tile_align(&self, array: Object) -> u64 {
        self.swizzled.get(&array).map_or(1, |swizzle| swizzle.align()).max(TILE_ALIGN)
    }

    /// Shared arrays that begin at multiples of more bytes than the widest access has, and of how many: those that are swizzled over bytes, and those that tensor
    /// copies move tiles of.
    pub fn far_aligned(&self) -> BTreeMap<Object, u64> {
        let is_aligned = |swizzle: &Swizzle| swizzle.bytes().is_some();
        let mut found: BTreeMap<Object, u64> =
            self.swizzled.iter().filter(|(_, swizzle)| is_aligned(swizzle)).map(|(array, swizzle)| (*array, swizzle.align())).collect();
        self.for_each_inst(|kernel, _, inst| {
            if let Op::Engine(Engine::CopyTile { to: array, .. } | Engine::StoreTile { from: array, .. }) = &kernel.insts[inst].op {
                found.insert(array.object, self.tile_align(array.object));
            }
        });
        found
    }
}

/// What tiles are filled in multiples of, and begin at multiples of, bytes (PTX ISA, "Tensors": shared memory of a bulk tensor copy).
pub const TILE_ALIGN: u64 = 128;

/// The most rows of one tensor copy, and the most elements of a row (PTX ISA, "Tensors": bounding box).
pub const MOST_TILE_ROWS: u64 = 256;

/// What a barrier is in memory.
pub const BARRIER: Type = Type::U64;

/// Planes of a block at most (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
const MOST_PLANES: u32 = 64;

/// Threads of a producer: a warpgroup, since registers are moved from and to those.
pub const PRODUCER_THREADS: u32 = 128;

/// A block with a producer's threads behind its own: whole rows, or planes, more. Nothing if there are none such, or its own threads are no whole warps.
pub fn with_producer(block: [u32; 3]) -> Option<[u32; 3]> {
    let axis = slow_axis(block);
    let before: u32 = block[..axis].iter().product();
    let threads = block.iter().product::<u32>();
    let mut with = block;
    with[axis] += PRODUCER_THREADS.checked_div(before)?;
    let is_whole = PRODUCER_THREADS.is_multiple_of(before) && threads.is_multiple_of(LANES as u32);
    let fits = threads + PRODUCER_THREADS <= BLOCK_THREADS && (axis < 2 || with[axis] <= MOST_PLANES);
    (is_whole && fits).then_some(with)
}

/// The axis along which a producer's threads lie behind those of a block: the last one that it has.
pub fn slow_axis(block: [u32; 3]) -> usize {
    (0..3).rev().find(|axis| block[*axis] > 1).unwrap_or(0)
}

/// What the two roles of a kernel with a producer do: the sides of an `if` of the kernel's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    /// The `if`.
    pub inst: Inst,
    /// What the producer's threads do.
    pub producer: Block,
    /// What all others do.
    pub work: Block,
}

impl Kernel {
    /// The roles, if it has a producer.
    pub fn roles(&self) -> Option<Roles> {
        self.blocks[self.body].insts.iter().find_map(|inst| self.roles_at(*inst))
    }

    /// The roles that part at an instruction.
    pub fn roles_at(&self, inst: Inst) -> Option<Roles> {
        let Op::Region(Region::If { condition, then_block, else_block }) = self.insts[inst].op else { return None };
        let is_role = matches!(self.def(condition), Some((_, Op::Engine(Engine::Is(Role::Producer)))));
        is_role.then_some(Roles { inst, producer: then_block, work: else_block })
    }

    /// Whether blocks of a cluster hand slots over to each other, which tells them apart from those that only stand side by side.
    pub fn shares_copies(&self) -> bool {
        let mut found = false;
        self.for_each_inst(|kernel, _, inst| {
            found |= matches!(
                kernel.insts[inst].op,
                Op::Engine(Engine::CopyTile { share: Some(_), .. } | Engine::Arrive { of_block: Some(_), .. })
            );
        });
        found
    }

    /// Whether a launch adds a producer's threads to the block.
    pub fn has_producer(&self) -> bool {
        self.roles().is_some()
    }

    /// The block that a launch starts, where the kernel fixes it: the declared one, with a producer's threads if there is one.
    pub fn started_block(&self) -> Option<[u32; 3]> {
        let block = self.options.block?;
        if self.has_producer() { with_producer(block) } else { Some(block) }
    }
}

#[cfg(test)]
mod tests {
    use super::with_producer;

    #[test]
    fn a_producer_is_whole_rows_or_planes() {
        assert_eq!(with_producer([128, 1, 1]), Some([256, 1, 1]));
        assert_eq!(with_producer([32, 1, 1]), Some([160, 1, 1]));
        assert_eq!(with_producer([32, 8, 1]), Some([32, 12, 1]));
        assert_eq!(with_producer([128, 2, 1]), Some([128, 3, 1]));
        assert_eq!(with_producer([8, 8, 4]), Some([8, 8, 6]));
        assert_eq!(with_producer([1, 1, 32]), None, "there are 64 planes at most");
        // No whole warps, no whole rows, too many threads.
        assert_eq!([[48, 1, 1], [256, 2, 1], [96, 2, 1], [1024, 1, 1]].map(with_producer), [None; 4]);
    }
}
