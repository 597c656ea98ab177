//! What an instruction may do beside giving its results. This is the only statement of it: passes, analyses and devices ask here.

use super::{BinaryOp, Compute, Fill, Inst, Kernel, Memory, MemoryOp, MemoryOrder, Message, Object, ObjectKind, Op, Region, Terminator};

/// Threads that something concerns, from few to many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The lanes of a warp.
    Warp,
    /// The threads of a block.
    Block,
    /// The threads of the blocks of a cluster.
    Cluster,
    /// All threads of a device.
    Device,
    /// Those, and the host's.
    System,
}

impl Scope {
    /// Those that fences and atomics are for, with their words in the text form.
    pub const OF_MEMORY: &'static [(Scope, &'static str)] =
        &[(Scope::Block, "block"), (Scope::Device, "device"), (Scope::System, "system")];
}

/// When what an instruction does to memory is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Before the next instruction.
    Now,
    /// At an instruction that awaits it.
    Later,
    /// Now, and so is what earlier instructions left for later.
    Awaits,
}

/// What runs after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// What stands behind it.
    GoesOn,
    /// It decides what: one block of several, a block several times, what stands behind a region.
    Steers,
    /// The same, and maybe nothing: the thread returns, traps, or goes round for ever.
    MayEnd,
}

/// Objects: two at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Objects([Option<Object>; 2]);

impl Objects {
    /// None.
    pub const NONE: Objects = Objects([None; 2]);

    /// Whether this is one of them.
    pub fn contains(self, object: Object) -> bool {
        self.0.contains(&Some(object))
    }

    /// Each.
    pub fn iter(self) -> impl Iterator<Item = Object> {
        self.0.into_iter().flatten()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self == Objects::NONE
    }

    /// Whether this holds for one of them.
    pub fn any(self, holds: impl FnMut(Object) -> bool) -> bool {
        self.iter().any(holds)
    }
}

impl From<Option<Object>> for Objects {
    fn from(object: Option<Object>) -> Objects {
        Objects([object, None])
    }
}

impl From<[Object; 2]> for Objects {
    fn from([a, b]: [Object; 2]) -> Objects {
        Objects([Some(a), (a != b).then_some(b)])
    }
}

/// What an instruction may do beside giving its results, itself: what the blocks of a region do is not counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects {
    /// The objects it reads.
    pub reads: Objects,
    /// What it writes. An atomic operation reads it, too.
    pub writes: Option<Object>,
    /// The threads that must come to it together.
    pub converges: Option<Scope>,
    /// The threads among which it orders accesses of memory.
    pub orders: Option<Scope>,
    /// When its accesses of memory are done.
    pub completes: Completion,
    /// Whether it may fault, or be undefined, where it was not meant to run: by its operands, or since not all threads come.
    pub can_fault: bool,
    /// Whether the user sees it: a message, a failed assertion.
    pub is_observed: bool,
    /// What runs next.
    pub control: Control,
}

impl Effects {
    /// None: it computes.
    pub const PURE: Effects = Effects {
        reads: Objects::NONE,
        writes: None,
        converges: None,
        orders: None,
        completes: Completion::Now,
        can_fault: false,
        is_observed: false,
        control: Control::GoesOn,
    };

    /// Gives a value of which nobody is to know what it is made of.
    pub const OPAQUE: Effects = Effects { is_observed: true, ..Effects::PURE };

    /// Exchanges values among the lanes of a warp, and orders nothing.
    pub const EXCHANGE: Effects = Effects { converges: Some(Scope::Warp), can_fault: true, ..Effects::PURE };

    /// Threads wait for each other, and see what the others wrote before.
    pub const fn barrier(scope: Scope) -> Effects {
        Effects { converges: Some(scope), orders: Some(scope), can_fault: true, ..Effects::PURE }
    }

    /// Orders accesses of memory.
    pub const fn fence(scope: Scope) -> Effects {
        Effects { orders: Some(scope), ..Effects::PURE }
    }

    /// Whether two equal ones with equal operands give equal results, whenever they run where they may.
    pub fn is_pure(&self) -> bool {
        Effects { can_fault: false, ..*self } == Effects::PURE
    }

    /// Whether it is there for its results alone: it computes, or it exchanges values among the lanes of a warp and orders nothing.
    pub fn is_for_its_results(&self) -> bool {
        self.is_pure() || *self == Effects::EXCHANGE
    }

    /// Whether it may also run where it was not meant to.
    pub fn is_speculatable(&self) -> bool {
        *self == Effects::PURE
    }

    /// Whether threads must come to it together: it is not moved across control flow, and not removed from it.
    pub fn is_convergent(&self) -> bool {
        self.converges.is_some()
    }

    /// Whether the lanes of a warp come together to it, and no other threads.
    pub fn is_of_warp(&self) -> bool {
        self.converges == Some(Scope::Warp)
    }

    /// Whether the threads of a block wait for each other.
    pub fn is_barrier(&self) -> bool {
        self.converges >= Some(Scope::Block) && self.orders_blocks()
    }

    /// Whether it orders accesses of a block's threads: a barrier, or a fence.
    pub fn orders_blocks(&self) -> bool {
        self.orders >= Some(Scope::Block)
    }
}

impl Op {
    /// What it may do.
    pub fn effects(&self, kernel: &Kernel) -> Effects {
        match self {
            Op::Compute(compute) => compute.effects(kernel),
            Op::Memory(memory) => memory.effects(kernel),
            // Nobody writes a texture while a kernel runs, and no coordinate is outside.
            Op::Texture(..) => Effects::PURE,
            Op::Intrinsic(row, _) => row.row().effects,
            Op::Collective(collective) => collective.effects(),
            Op::Tensor(tensor) => tensor.effects(),
            Op::Engine(engine) => engine.effects(),
            Op::Message(Message::Print(..)) => Effects { is_observed: true, ..Effects::PURE },
            Op::Message(Message::Assert(..)) => Effects { is_observed: true, can_fault: true, ..Effects::PURE },
            Op::Region(region) => Effects { control: region.control(), ..Effects::PURE },
            Op::Terminator(terminator) => Effects { control: terminator.control(), ..Effects::PURE },
        }
    }
}

impl Compute {
    fn effects(&self, kernel: &Kernel) -> Effects {
        match self {
            // By zero, it is undefined on a device.
            Compute::Binary(BinaryOp::Div | BinaryOp::Rem, dividend, _) => {
                Effects { can_fault: kernel.ty(*dividend).is_int(), ..Effects::PURE }
            }
            Compute::Const(_)
            | Compute::Special(..)
            | Compute::Unary(..)
            | Compute::Binary(..)
            | Compute::MulAdd(..)
            | Compute::Compare(..)
            | Compute::Select(..)
            | Compute::Cast(_)
            | Compute::Bitcast(_)
            | Compute::Len(_)
            | Compute::Address(_)
            | Compute::PeerAddress(..)
            | Compute::Offset(..) => Effects::PURE,
        }
    }
}

impl Region {
    fn control(&self) -> Control {
        match self {
            Region::If { .. } | Region::For { .. } | Region::Block { .. } => Control::Steers,
            Region::Loop { .. } => Control::MayEnd,
        }
    }
}

impl Terminator {
    fn control(&self) -> Control {
        match self {
            Terminator::Yield(_) | Terminator::Break(..) | Terminator::Continue(..) => Control::Steers,
            Terminator::Return | Terminator::Trap(_) => Control::MayEnd,
        }
    }
}

impl Memory {
    fn effects(&self, kernel: &Kernel) -> Effects {
        let object = Some(self.at.object());
        // Where it is another block's, it may be this one's, too, by another name: nothing passes it.
        // What is in no block any more may name an object that is gone.
        let is_of_peers = kernel.objects.get(self.at.object()).is_some_and(|data| matches!(data.kind, ObjectKind::Peers(_)));
        let access = Effects { can_fault: true, orders: is_of_peers.then_some(Scope::Block), ..Effects::PURE };
        match self.op {
            MemoryOp::Load => Effects { reads: object.into(), ..access },
            MemoryOp::LoadMatrix { .. } => Effects { reads: object.into(), converges: Some(Scope::Warp), ..access },
            MemoryOp::Store(_) => {
                let completes = if kernel.is_filled_by(self.at.object(), Fill::Groups) { Completion::Later } else { Completion::Now };
                Effects { writes: object, completes, ..access }
            }
            MemoryOp::StoreMatrix(_) => Effects { writes: object, converges: Some(Scope::Warp), ..access },
            // One that only reads is not repeated, moved or left out either: somebody else changes what is there.
            MemoryOp::Atomic(_, atomicity, _) => {
                let orders = (atomicity.order != MemoryOrder::Relaxed).then_some(atomicity.scope);
                Effects { reads: object.into(), writes: object, orders: orders.max(access.orders), ..access }
            }
        }
    }
}

impl Kernel {
    /// What an instruction may do.
    pub fn effects(&self, inst: Inst) -> Effects {
        self.insts[inst].op.effects(self)
    }
}
