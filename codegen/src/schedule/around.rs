//! What is known of a kernel round its loops: found once for all loops that a pass looks at, since a kernel may have many of them.

use crate::analysis::affine::Affine;
use crate::analysis::bounds::Bounds;
use crate::analysis::conditions::Conditions;
use crate::ir::{Block, Inst, Kernel, Object, ObjectKind};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What a pass knows of the kernel, and a loop of it.
#[derive(Clone)]
pub(super) struct Around {
    /// The loop that is looked at.
    inst: Inst,
    places: Places,
}

/// What a pass knows of the kernel.
#[derive(Clone, Default)]
pub(super) struct Places {
    bounds: Rc<Bounds>,
    /// As they were when somebody asked first. What holds round a loop stays while that or those in it are changed.
    conditions: Rc<OnceCell<Conditions>>,
    homes: Rc<OnceCell<Homes>>,
}

impl Places {
    /// Of a kernel as it stands.
    pub(super) fn of(kernel: &Kernel) -> Places {
        Places { bounds: Rc::new(Bounds::of(kernel)), ..Places::default() }
    }

    /// Round a loop, in a kernel that the pass itself may have changed since.
    pub(super) fn around(&mut self, kernel: &Kernel, inst: Inst) -> Around {
        Rc::make_mut(&mut self.bounds).catch_up(kernel);
        Around { inst, places: self.clone() }
    }
}

impl Around {
    /// To compare indices in the loop.
    pub(super) fn affine(&self) -> Affine {
        Affine::inside(self.inst, Rc::clone(&self.places.bounds), Rc::clone(&self.places.conditions))
    }

    /// Arrays of a thread that only this block touches: they were declared in it, so every iteration has its own.
    pub(super) fn privates(&self, kernel: &Kernel, block: Block) -> BTreeSet<Object> {
        let homes = self.places.homes.get_or_init(|| Homes::of(kernel));
        let mut found = BTreeSet::new();
        kernel.walk_block(block, &mut |kernel, _, inst| {
            let local = kernel.insts[inst].op.object().filter(|object| kernel.objects[*object].kind == ObjectKind::Local);
            found.extend(local.filter(|object| homes.is_within(*object, block)));
        });
        found
    }
}

/// Where the arrays of a thread are at home: in the innermost block that has all accesses to them.
#[derive(Default)]
struct Homes {
    /// By block: the one it is in.
    outer: Vec<Option<Block>>,
    /// By object.
    homes: Vec<Option<Block>>,
}

impl Homes {
    fn of(kernel: &Kernel) -> Homes {
        let mut found = Homes { outer: vec![None; kernel.blocks.len()], homes: vec![None; kernel.objects.len()] };
        kernel.for_each_inst(|kernel, block, inst| {
            let op = &kernel.insts[inst].op;
            for child in op.blocks() {
                found.outer[usize::from(child)] = Some(block);
            }
            if let Some(object) = op.object().filter(|object| kernel.objects[*object].kind == ObjectKind::Local) {
                let home = found.homes[usize::from(object)].unwrap_or(block);
                found.homes[usize::from(object)] = found.common(home, block);
            }
        });
        found
    }

    /// The block, the one it is in, and so on.
    fn outwards(&self, block: Block) -> impl Iterator<Item = Block> {
        std::iter::successors(Some(block), |block| self.outer.get(usize::from(*block)).copied().flatten())
    }

    /// The innermost block that both are in.
    fn common(&self, a: Block, b: Block) -> Option<Block> {
        if a == b {
            return Some(a);
        }
        let (depth_a, depth_b) = (self.outwards(a).count(), self.outwards(b).count());
        let level = depth_a.min(depth_b);
        let pairs = self.outwards(a).skip(depth_a - level).zip(self.outwards(b).skip(depth_b - level));
        pairs.into_iter().find(|(a, b)| a == b).map(|(a, _)| a)
    }

    /// Whether the block is round all accesses to an array that it has one to. What the pass made since, it made for copies of what is in a loop, in
    /// the place of that loop.
    fn is_within(&self, object: Object, block: Block) -> bool {
        self.homes.get(usize::from(object)).is_none_or(|home| home.is_some_and(|home| self.outwards(home).any(|outer| outer == block)))
    }
}
