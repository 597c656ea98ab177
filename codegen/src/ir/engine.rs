//! What the copy engine of a multiprocessor is told: copies that it makes by itself, and barriers that count their bytes (`mbarrier`, from sm_90 on).
//!
//! A **barrier** is an element of a shared array of `u64` that nothing else touches. Its phases follow one another; a phase is over when one thread
//! has arrived, and as many bytes as that thread announced. Who waits for a phase reads what was copied in it. Only `pipeline` makes these, in the form
//! of a kernel for targets that have the engine ([`crate::pipeline::Scheduled::for_target`]).

use super::{Access, Completion, Effects, Kernel, MemoryType, Object, PitchedMatrix, Scope, Type, Value};

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
        /// An array `[[T; C]; R]` of scalars at a multiple of 128 bytes.
        to: Access,
        /// A matrix of `T`, whose parts are parameters of the kernel.
        from: PitchedMatrix,
        /// The matrix's row that is the first of the array; less than it has.
        row: Value,
        /// The same of columns.
        column: Value,
        /// Where its bytes are counted.
        barrier: Access,
    },
    /// The engine may write where this thread has written before.
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

impl Engine {
    /// Its word in the text form.
    pub fn word(&self) -> &'static str {
        match self {
            Engine::Init(_) => "barrier_init",
            Engine::Expect { .. } => "barrier_expect",
            Engine::Wait { .. } => "barrier_wait",
            Engine::CopyRun { .. } => "copy_run",
            Engine::CopyTile { .. } => "copy_tile",
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
            Engine::Fence => None,
        }
    }

    /// What it copies to and from.
    pub fn copied(&self) -> Option<(&Access, Object)> {
        match self {
            Engine::CopyRun { to, from, .. } => Some((to, *from)),
            Engine::CopyTile { to, from, .. } => Some((to, from.data)),
            Engine::Init(_) | Engine::Expect { .. } | Engine::Wait { .. } | Engine::Fence | Engine::Turn(_) | Engine::KeepTurn { .. } => {
                None
            }
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
            Engine::Fence => Effects::fence(Scope::Block),
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

    /// Rows, columns and elements of a tile that lies in order: an array of rows of scalars, without room behind them.
    pub fn tile_of(&self, access: &Access) -> Option<(u64, u64, Type)> {
        let MemoryType::Array(row, rows) = access.leads_to(self)? else { return None };
        let MemoryType::Array(element, columns) = &**row else { return None };
        let MemoryType::Scalar(element) = **element else { return None };
        Some((*rows, *columns, element))
    }

    /// In how many copies of as many rows each a tile of so many rows of so many bytes is brought: as few as maps allow, each beginning at a multiple of
    /// [`TILE_ALIGN`]. `None`: there is no such number.
    pub fn tile_parts(rows: u64, row_bytes: u64) -> Option<u64> {
        let fits = |parts: &u64| rows.is_multiple_of(*parts) && (*parts == 1 || (rows / parts * row_bytes).is_multiple_of(TILE_ALIGN));
        (rows.div_ceil(MOST_TILE_ROWS).max(1)..=rows).find(fits)
    }

    /// Arrays that the copy engine fills with tiles, which lie at multiples of [`TILE_ALIGN`].
    pub fn filled_with_tiles(&self) -> Vec<Object> {
        let mut found = Vec::new();
        self.for_each_inst(|kernel, _, inst| {
            if let super::Op::Engine(Engine::CopyTile { to, .. }) = &kernel.insts[inst].op
                && !found.contains(&to.object)
            {
                found.push(to.object);
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
