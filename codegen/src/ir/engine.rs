//! What the copy engine of a multiprocessor is told: copies that it makes by itself, and barriers that count their bytes (`mbarrier`, from sm_90 on).
//!
//! A **barrier** is an element of a shared array of `u64` that nothing else touches. Its phases follow one another; a phase is over when one thread
//! has arrived, and as many bytes as that thread announced. Who waits for a phase reads what was copied in it. Only `pipeline` makes these, in the form
//! of a kernel for targets that have the engine ([`crate::pipeline::Scheduled::for_target`]).

use super::{Access, Completion, Effects, Kernel, MemoryType, Object, PitchedMatrix, Scope, Swizzle, Type, Value};
use std::collections::BTreeMap;

/// One instruction to or about the engine. Each thread that comes to it does it.
#[derive(Clone, Debug, PartialEq)]
pub enum Engine {
    /// Makes barriers of all elements of an array, in phase 0. Other threads see that behind the block's next barrier.
    Init(Object),
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

/// How far a store of the engine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreStage {
    /// It has read: its array may be written again.
    Read,
    /// It has written: who asks sees it in the matrix, and others behind a barrier.
    Done,
}

impl StoreStage {
    /// Each with its word in the text form.
    pub const ALL: [(StoreStage, &'static str); 2] = [(StoreStage::Read, "read"), (StoreStage::Done, "done")];

    /// Its word in the text form.
    pub fn word(self) -> &'static str {
        StoreStage::ALL.into_iter().find(|(stage, _)| *stage == self).map_or("", |(_, word)| word)
    }
}

impl Engine {
    /// Its word in the text form.
    pub fn word(&self) -> &'static str {
        match self {
            Engine::Init(_) => "barrier_init",
            Engine::Expect { .. } => "barrier_expect",
            Engine::Wait { .. } => "barrier_wait",
            Engine::CopyRun { .. } => "copy_run",
            Engine::CopyTile { .. } => "copy_tile",
            Engine::StoreTile { .. } => "put_tile",
            Engine::CommitStores => "commit_stores",
            Engine::AwaitStores { .. } => "await_stores",
            Engine::Fence => "engine_fence",
            Engine::Turn(_) => "barrier_turn",
            Engine::KeepTurn { .. } => "barrier_keep_turn",
        }
    }

    /// The barriers that it is about.
    pub fn barriers(&self) -> Option<Object> {
        match self {
            Engine::Init(object) | Engine::Turn(object) | Engine::KeepTurn { barriers: object, .. } => Some(*object),
            Engine::Expect { barrier, .. }
            | Engine::Wait { barrier, .. }
            | Engine::CopyRun { barrier, .. }
            | Engine::CopyTile { barrier, .. } => Some(barrier.object),
            Engine::StoreTile { .. } | Engine::CommitStores | Engine::AwaitStores { .. } | Engine::Fence => None,
        }
    }

    /// The shared array and the buffer that it copies between.
    pub fn copied(&self) -> Option<(&Access, Object)> {
        match self {
            Engine::CopyRun { to, from, .. } => Some((to, *from)),
            Engine::CopyTile { to: array, from: matrix, .. } | Engine::StoreTile { from: array, to: matrix, .. } => {
                Some((array, matrix.data))
            }
            Engine::Init(_)
            | Engine::Expect { .. }
            | Engine::Wait { .. }
            | Engine::CommitStores
            | Engine::AwaitStores { .. }
            | Engine::Fence
            | Engine::Turn(_)
            | Engine::KeepTurn { .. } => None,
        }
    }

    /// What it may do.
    pub fn effects(&self) -> Effects {
        let on = |object: Object| Effects { reads: Some(object), writes: Some(object), can_fault: true, ..Effects::PURE };
        match self {
            Engine::Init(object) => Effects { orders: Some(Scope::Block), ..on(*object) },
            Engine::Expect { barrier, .. } => on(barrier.object),
            Engine::Wait { barrier, .. } => Effects { orders: Some(Scope::Block), completes: Completion::Awaits, ..on(barrier.object) },
            Engine::CopyRun { to, from, .. } | Engine::CopyTile { to, from: PitchedMatrix { data: from, .. }, .. } => {
                Effects { reads: Some(*from), writes: Some(to.object), completes: Completion::Later, can_fault: true, ..Effects::PURE }
            }
            Engine::StoreTile { from, to, .. } => {
                Effects { reads: Some(from.object), writes: Some(to.data), completes: Completion::Later, can_fault: true, ..Effects::PURE }
            }
            Engine::AwaitStores { .. } => Effects { completes: Completion::Awaits, ..Effects::fence(Scope::Block) },
            Engine::CommitStores | Engine::Fence => Effects::fence(Scope::Block),
            // The turn stands beside the barriers, and is written and read in order like them.
            Engine::Turn(object) => Effects { reads: Some(*object), ..Effects::PURE },
            Engine::KeepTurn { barriers, .. } => Effects { writes: Some(*barriers), ..Effects::PURE },
        }
    }
}

impl Kernel {
    /// Bytes of the array that an access leads to.
    pub fn bytes_of(&self, access: &Access) -> u64 {
        access.leads_to(self).map_or(0, |ty| ty.size(&self.structs))
    }

    /// The numbers of the parameters that a matrix is made of: its elements, rows, columns and pitch. `None`: one of them is no parameter.
    pub fn parameters_of(&self, matrix: &PitchedMatrix) -> Option<[usize; 4]> {
        let number = |object: Object| self.params.iter().position(|param| *param == object);
        let of_value = |value: Value| match self.def(value) {
            Some((_, super::Op::Memory(memory))) => number(memory.at.object()),
            _ => None,
        };
        Some([number(matrix.data)?, of_value(matrix.rows)?, of_value(matrix.columns)?, of_value(matrix.pitch)?])
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
            if let super::Op::Engine(Engine::CopyTile { to: array, .. } | Engine::StoreTile { from: array, .. }) = &kernel.insts[inst].op {
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
