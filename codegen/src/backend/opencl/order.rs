//! Which objects must be accessed in the order of the text because a compiler of OpenCL C is known to get it wrong otherwise.
//!
//! PoCL runs the threads of a block as a loop and tells LLVM that its iterations are independent. LLVM up to 16 (llvm-project issue
//! 63602) then makes interleaved groups of strided accesses without looking at what stands between them *within* one iteration: the
//! group's loads move up before an earlier store to the same place, its stores down behind a later one. A thread reads back
//! what it had overwritten:
//!
//! ```c
//! __kernel __attribute__((reqd_work_group_size(32, 1, 1))) void k(__global int *s, __global int *y) {
//!     const uint i = get_local_id(0);
//!     s[3 * i + 1] += 1;
//!     s[3 * i] = s[3 * i] % 5;
//!     y[i] = 1;
//!     y[i] += s[3 * i];    // what `s[3 * i]` held before
//! }
//! ```
//!
//! An object with such a store, and after it (before a barrier, which ends the loop) an access that may be to the same place, is
//! declared `ww_in_order`: `volatile` on PoCL, which keeps such loops from being vectorised at all, and nothing on any other device.
//! (The language case `compound` is a kernel that PoCL 3.1 runs wrongly otherwise.)

use crate::analysis::affine::{Affine, Polynomial};
use crate::analysis::alias::MemoryLocation;
use crate::ir::{Address, Block, Inst, Kernel, Memory, MemoryOp, Object, Op, Region, Terminator};
use std::collections::HashMap;
use std::rc::Rc;

/// The qualifier of such objects, with a blank.
pub(super) const IN_ORDER: &str = "ww_in_order ";

/// What the qualifier means. PoCL passes the macro to every program.
pub(super) const DEFINITION: &str = "\
// PoCL's vectoriser may move an access over a store to the same place.
#ifdef POCL_DEVICE_ADDRESS_BITS
#define ww_in_order volatile
#else
#define ww_in_order
#endif

";

/// Stores that are kept in mind at a time. Of more, all to the object of the next one are taken to meet: what is compared stays bounded.
const MOST_STORES: usize = 128;

/// The objects of `kernel` that are accessed again, with no barrier between, where they may have been stored to.
pub(super) fn objects(kernel: &Kernel) -> Vec<Object> {
    let mut order = Order::new(kernel);
    loop {
        order.changed = false;
        order.block(kernel.body, State::default());
        if !order.changed {
            return order.found;
        }
    }
}

/// A store that no barrier has ended yet, and whether it was made in an earlier iteration: indices that are the same value may have been
/// another number then.
type Stored = (Inst, bool);

/// What has been stored on the ways to one place, in order.
#[derive(Clone, Default, PartialEq)]
struct State(Vec<Stored>);

impl State {
    fn add(&mut self, stored: Stored) {
        if let Err(place) = self.0.binary_search(&stored) {
            self.0.insert(place, stored);
        }
    }

    /// Adds what has been stored on another way.
    fn include(&mut self, other: &State) {
        other.0.iter().for_each(|stored| self.add(*stored));
    }

    /// The same, an iteration later.
    fn earlier(self) -> State {
        let mut all: Vec<Stored> = self.0.into_iter().map(|(store, _)| (store, true)).collect();
        all.dedup();
        State(all)
    }
}

struct Order<'k> {
    kernel: &'k Kernel,
    found: Vec<Object>,
    breaks: HashMap<Inst, State>,
    continues: HashMap<Inst, State>,
    /// By loop: what an iteration leaves to the next, as far as it is known. Whoever goes through the kernel until that stays the same has
    /// seen every loop come round, and each pass goes through each block once however deep it is nested.
    carried: HashMap<Inst, State>,
    changed: bool,
    affine: Affine,
    /// By access, and whether it is of an earlier iteration: what it touches.
    locations: HashMap<(Inst, bool), Rc<MemoryLocation>>,
}

impl<'k> Order<'k> {
    fn new(kernel: &'k Kernel) -> Order<'k> {
        let (breaks, continues, carried) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (affine, locations) = (Affine::of(kernel), HashMap::new());
        Order { kernel, found: Vec::new(), breaks, continues, carried, changed: false, affine, locations }
    }

    /// Goes through a block, and gives what has been stored at its end.
    fn block(&mut self, block: Block, mut state: State) -> State {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            let data = &kernel.insts[*inst];
            match &data.op {
                Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) => self.touch(*inst, access.object, &state),
                Op::Memory(Memory { op: MemoryOp::Store(_), at: Address::Path(access) }) => {
                    self.touch(*inst, access.object, &state);
                    if state.0.len() >= MOST_STORES {
                        self.find(access.object);
                    }
                    if !self.found.contains(&access.object) {
                        state.add((*inst, false));
                    }
                }
                Op::Intrinsic(row, _) if row.row().effects.is_barrier() => state.0.clear(),
                Op::Region(Region::If { then_block, else_block, .. }) => {
                    let other = self.block(*else_block, state.clone());
                    state = self.block(*then_block, state);
                    state.include(&other);
                }
                Op::Region(Region::Block { body }) => {
                    state = self.block(*body, state);
                    state.include(&self.breaks.remove(inst).unwrap_or_default());
                }
                Op::Region(Region::For { body, .. } | Region::Loop { body, .. }) => state = self.repeated(*inst, *body, state),
                Op::Terminator(Terminator::Break(target, _)) => self.breaks.entry(*target).or_default().include(&state),
                Op::Terminator(Terminator::Continue(target, _)) => self.continues.entry(*target).or_default().include(&state),
                Op::Compute(_)
                | Op::Memory(_)
                | Op::Texture(..)
                | Op::Intrinsic(..)
                | Op::Collective(_)
                | Op::Tensor(_)
                | Op::Engine(_)
                | Op::Message(_)
                | Op::Terminator(_) => {}
            }
        }
        state
    }

    /// A loop: no times, or after what an earlier iteration stored.
    fn repeated(&mut self, inst: Inst, body: Block, mut state: State) -> State {
        if let Some(carried) = self.carried.get(&inst) {
            state.include(carried);
        }
        let mut end = self.block(body, state.clone());
        end.include(&self.continues.remove(&inst).unwrap_or_default());
        let end = end.earlier();
        if self.carried.get(&inst) != Some(&end) {
            self.carried.insert(inst, end.clone());
            self.changed = true;
        }
        state.include(&end);
        state.include(&self.breaks.remove(&inst).unwrap_or_default());
        state.earlier()
    }

    fn find(&mut self, object: Object) {
        if !self.found.contains(&object) {
            self.found.push(object);
        }
    }

    /// Whether an access may be to a place that was stored to.
    fn touch(&mut self, inst: Inst, object: Object, state: &State) {
        let Some(own) = self.location(inst, false).filter(|_| !self.found.contains(&object)) else { return };
        for (store, is_earlier) in &state.0 {
            let stored = self.location(*store, *is_earlier);
            if stored.is_some_and(|stored| !stored.is_apart(&own, &is_known_distance)) {
                return self.found.push(object);
            }
        }
    }

    /// What an access touches; of an earlier iteration, with other numbers in the place of all that are not constants.
    fn location(&mut self, inst: Inst, is_earlier: bool) -> Option<Rc<MemoryLocation>> {
        if let Some(known) = self.locations.get(&(inst, is_earlier)) {
            return Some(Rc::clone(known));
        }
        let data = &self.kernel.insts[inst];
        let Op::Memory(Memory { op, at: Address::Path(access) }) = &data.op else { return None };
        let scalars = if let MemoryOp::Store(values) = op { values.len() } else { data.results.len() };
        let mut found = MemoryLocation::of(self.kernel, &mut self.affine, access, scalars);
        if is_earlier {
            found = found.renamed(&found.varying(&mut self.affine, &|_, _| true));
        }
        let found = Rc::new(found);
        self.locations.insert((inst, is_earlier), Rc::clone(&found));
        Some(found)
    }
}

/// Whether two indices are a fixed distance apart, as a compiler sees it that knows nothing of the launch.
fn is_known_distance(difference: &Polynomial) -> bool {
    difference.as_constant().is_some_and(|distance| distance != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::compile_text;
    use crate::syntax::Instance;

    /// The names of the objects of a kernel with this body that are to be accessed in order.
    fn in_order(body: &str) -> Vec<String> {
        let source = format!(
            "#[kernel(block = 32)] fn k(n: usize, x: &Global<f32>, y: &mut Global<f32>) {{
                 #[shared] let mut s: [f32; 64];
                 let i = global_id().x;
                 let t = thread_idx().x;
                 {body}
             }}"
        );
        let lowered = compile_text("kernel.rs", &source, "k", &Instance::default()).expect("the source has no errors");
        let kernel = lowered.kernel.legal();
        objects(kernel).into_iter().map(|object| kernel.objects[object].name.clone()).collect()
    }

    #[test]
    fn finds_what_is_accessed_again_where_it_may_have_been_stored() {
        let none: [&str; 0] = [];
        assert_eq!(in_order("y[i] = 2.0 * x[i] + y[i];"), none, "a load before a store");
        assert_eq!(in_order("y[2 * i] = x[i]; y[2 * i + 1] = x[i + 1];"), none, "neighbours");
        assert_eq!(in_order("y[2 * i] = x[i]; y[n] = x[i + 1];"), ["y"], "a store behind a store");
        assert_eq!(in_order("y[2 * i] = x[i]; let v = y[n]; y[2 * i + 1] = v;"), ["y"], "a load behind a store");
        assert_eq!(in_order("s[t] = x[i]; sync_threads(); y[i] = s[n];"), none, "a barrier between");
        assert_eq!(in_order("s[t] = x[i]; if n > 3 { sync_threads(); } y[i] = s[n];"), ["s"], "a barrier on one way only");
        assert_eq!(in_order("s[t] = x[i]; y[i] = s[n]; y[i + 32] = 1.0;"), ["s"], "another place");
    }

    #[test]
    fn knows_that_loops_come_round() {
        let none: [&str; 0] = [];
        assert_eq!(in_order("for k in 0..n { y[i + k] = x[k]; }"), ["y"], "the same value is another number next time");
        assert_eq!(in_order("for k in 0..n { y[i] = s[t + k]; s[t] = x[k]; }").len(), 2, "the end of one iteration comes before the next");
        assert_eq!(in_order("for k in 0..n { s[t] = x[k]; sync_threads(); y[i] += s[k]; sync_threads(); }"), none, "barriers in a loop");
        assert_eq!(in_order("for k in 0..n { s[t] = x[k]; if k == i { break; } sync_threads(); } y[i] = s[n];"), ["s"], "a way out");
        assert_eq!(in_order("for k in 0..n { let v = s[k]; sync_threads(); s[t] = v; sync_threads(); } y[i] = s[n];"), none, "all ended");
    }
}
