//! What a load may not be moved over: ways out, barriers, stores. Found once for a list of instructions, and sorted by whom they are in the way
//! of, so that a load of what nobody writes looks at no store.

use super::Refusal;
use super::dependence::MemoryAccess;
use super::loads::{Asking, is_barrier, visit};
use super::refusal::written;
use crate::analysis::affine::Affine;
use crate::collections::{HashMap, HashSet};
use crate::ir::{Inst, Kernel, Object, Op, Space, Terminator};

/// Pairs of a load and a store of one object that are compared for one annotation; of more nothing is known.
const MOST_PAIRS: u32 = 50_000;

/// Something in the way of loads.
pub(super) struct Obstacle {
    /// Which of the list's instructions it is, or is in.
    pub(super) at: usize,
    inst: Inst,
    kind: Kind,
}

enum Kind {
    /// Control may leave here.
    Exit,
    Barrier,
    Write(MemoryAccess),
}

/// What is in the way in a list of instructions.
pub(super) struct Obstacles {
    all: Vec<Obstacle>,
    /// Those in the way of any load: the ways out.
    of_any: Vec<usize>,
    /// Those in the way of loads of what may be written: ways out and barriers, and the stores to this object.
    of_object: HashMap<Object, Vec<usize>>,
    /// The same of an object that is not stored to.
    of_others: Vec<usize>,
}

impl Obstacles {
    /// Those of these instructions and of all in them.
    pub(super) fn of(kernel: &Kernel, affine: &mut Affine, insts: &[Inst]) -> Obstacles {
        let mut all = Vec::new();
        for (at, outer) in insts.iter().enumerate() {
            let is_simple = kernel.effects(*outer).is_pure() && kernel.insts[*outer].op.blocks().is_empty();
            if is_simple {
                continue;
            }
            let mut inside = Vec::new();
            visit(kernel, *outer, &mut |inst| inside.push(inst));
            let within: HashSet<Inst> = inside.iter().copied().collect();
            for inst in inside {
                // Who leaves an inner loop comes out before the load all the same.
                let op = &kernel.insts[inst].op;
                let is_exit = matches!(op, Op::Terminator(Terminator::Return))
                    || matches!(op, Op::Terminator(Terminator::Break(target, _) | Terminator::Continue(target, _)) if !within.contains(target));
                let kind = if is_exit {
                    Kind::Exit
                } else if is_barrier(kernel, inst) {
                    Kind::Barrier
                } else if let Some(write) = MemoryAccess::of(kernel, affine, inst).filter(MemoryAccess::writes) {
                    Kind::Write(write)
                } else {
                    continue;
                };
                all.push(Obstacle { at, inst, kind });
            }
        }
        let written: HashSet<Object> = all.iter().filter_map(Obstacle::object).collect();
        let which = |is_asked: &dyn Fn(&Obstacle) -> bool| -> Vec<usize> {
            all.iter().enumerate().filter(|(_, obstacle)| is_asked(obstacle)).map(|(n, _)| n).collect()
        };
        let of_any = which(&|obstacle| matches!(obstacle.kind, Kind::Exit));
        let of_others = which(&|obstacle| obstacle.object().is_none());
        let mut of_object: HashMap<Object, Vec<usize>> = written.into_iter().map(|object| (object, Vec::new())).collect();
        for (n, obstacle) in all.iter().enumerate() {
            match obstacle.object() {
                Some(object) => of_object.entry(object).or_default().push(n),
                None => of_object.values_mut().for_each(|list| list.push(n)),
            }
        }
        Obstacles { all, of_any, of_object, of_others }
    }

    /// Those in the way of a load of this object, in the order of the list.
    pub(super) fn in_the_way(&self, kernel: &Kernel, object: Object, asking: Asking<'_>) -> impl Iterator<Item = &Obstacle> {
        let list = match self.of_object.get(&object) {
            _ if kernel.objects[object].is_read_only() || asking.assume_disjoint => &self.of_any,
            Some(list) => list,
            None => &self.of_others,
        };
        list.iter().map(|n| &self.all[*n])
    }

    /// Why a load has to stay where it is although nobody writes what it reads: control may leave the list.
    pub(super) fn way_out(&self, kernel: &Kernel, load: Inst, asking: Asking<'_>) -> Option<Refusal> {
        self.of_any.first().map(|n| self.all[*n].left_before(kernel, load, asking))
    }

    /// Whether a store to this object is among them: the first.
    pub(super) fn first_write(&self, object: Object) -> Option<Inst> {
        let list = self.of_object.get(&object)?;
        list.iter().map(|n| &self.all[*n]).find(|obstacle| obstacle.object().is_some()).map(|obstacle| obstacle.inst)
    }
}

impl Obstacle {
    /// Why a load is not issued before this way out.
    fn left_before(&self, kernel: &Kernel, load: Inst, asking: Asking<'_>) -> Refusal {
        let message = format!("`{}` cannot issue a load before it is known that the loop goes on to it", asking.name);
        let refusal = Refusal::new(message, "put an `if` around the code that must not run");
        refusal.label(kernel.insts[load].loc, "this load").label(kernel.insts[self.inst].loc, "control may leave here")
    }

    /// What it writes.
    fn object(&self) -> Option<Object> {
        if let Kind::Write(write) = &self.kind { Some(write.at.object) } else { None }
    }

    /// Why a load has to stay behind it, if it has to.
    pub(super) fn keeps_behind(
        &self,
        kernel: &Kernel,
        affine: &mut Affine,
        access: &MemoryAccess,
        asking: Asking<'_>,
        pairs: &mut u32,
    ) -> Option<Refusal> {
        let (name, object) = (asking.name, &kernel.objects[access.at.object]);
        let promise = written(name, "assume_disjoint", asking.of_kernel);
        let loc = kernel.insts[access.inst].loc;
        let here = kernel.insts[self.inst].loc;
        match &self.kind {
            Kind::Exit => Some(self.left_before(kernel, access.inst, asking)),
            Kind::Barrier => {
                let message =
                    format!("`{name}` cannot move a load of `{}` before a barrier: other threads may have written it", object.name);
                let help = if object.space() == Space::Shared {
                    format!("leave `{name}` out of loops with barriers that read shared arrays only")
                } else {
                    format!("take `{0}` as `&Global` if nothing writes it, or promise {promise}", object.name)
                };
                Some(Refusal::new(message, help).label(loc, "this load").label(here, "the barrier"))
            }
            Kind::Write(write) => {
                let copies = [self.inst, access.inst].map(|inst| asking.elements.get(&inst));
                let is_free = matches!(copies, [Some(a), Some(b)] if a.is_free_of(*b, asking.within_iteration));
                if (object.space() == Space::Global && is_free) || !write.is_ordered_with(access) {
                    return None;
                }
                *pairs += 1;
                if *pairs > MOST_PAIRS {
                    let message = format!(
                        "`{name}` would have to tell more than {MOST_PAIRS} pairs of a load of `{0}` and a store to `{0}` apart",
                        object.name
                    );
                    return Some(
                        Refusal::new(message, format!("if they never are the same element, write {promise}")).label(loc, "this load"),
                    );
                }
                if write.is_apart(access, kernel, affine) {
                    return None;
                }
                let message = format!("`{name}` cannot move a load of `{}` before a store that may be to the same element", object.name);
                let help = format!("if they never are the same element, write {promise}");
                Some(Refusal::new(message, help).label(loc, "this load").label(here, "the store before it"))
            }
        }
    }
}
