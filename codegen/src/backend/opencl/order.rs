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

use crate::ir::{
    Access, Address, BinaryOp, Block, Compute, Inst, Kernel, Memory, MemoryOp, Object, Op, Region, Step, Terminator, Type, Value,
};
use std::collections::HashMap;

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

/// Terms of a sum; a longer one is a term itself.
const MOST_TERMS: usize = 16;

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
    sums: HashMap<Value, Sum>,
}

impl<'k> Order<'k> {
    fn new(kernel: &'k Kernel) -> Order<'k> {
        let (breaks, continues) = (HashMap::new(), HashMap::new());
        Order { kernel, found: Vec::new(), breaks, continues, carried: HashMap::new(), changed: false, sums: HashMap::new() }
    }

    /// Goes through a block, and gives what has been stored at its end.
    fn block(&mut self, block: Block, mut state: State) -> State {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            let data = &kernel.insts[*inst];
            match &data.op {
                Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) => self.touch(access, data.results.len(), &state),
                Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(access) }) => {
                    self.touch(access, values.len(), &state);
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
                _ => {}
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

    fn touch(&mut self, access: &Access, scalars: usize, state: &State) {
        if !self.found.contains(&access.object) && state.0.iter().any(|stored| self.may_meet(*stored, access, scalars)) {
            self.found.push(access.object);
        }
    }

    /// Whether an access may be to a place that was stored to: not if somewhere on the way they part for certain.
    fn may_meet(&mut self, (store, is_earlier): Stored, access: &Access, scalars: usize) -> bool {
        let Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(stored) }) = &self.kernel.insts[store].op else {
            return false;
        };
        let width = values.len().max(scalars) as u64;
        let last = access.path.len().saturating_sub(1);
        let mut steps = stored.path.iter().zip(&access.path).enumerate();
        let mut parts = |(n, (a, b)): (usize, (&Step, &Step))| match (a, b) {
            (Step::Field(a), Step::Field(b)) => a != b,
            (Step::Index(a), Step::Index(b)) => {
                let distance = self.distance(*a, *b, is_earlier);
                distance.is_some_and(|distance| distance >= if n == last { width } else { 1 })
            }
            _ => false,
        };
        stored.object == access.object && !steps.any(&mut parts)
    }

    /// How far two indices are from each other, if that is a constant.
    fn distance(&mut self, a: Value, b: Value, only_constants: bool) -> Option<u64> {
        self.find_sum(a);
        self.find_sum(b);
        let ty = self.kernel.ty(a);
        let (a, b) = (self.sums.get(&a)?, self.sums.get(&b)?);
        if a.terms != b.terms || (only_constants && !a.terms.is_empty()) {
            return None;
        }
        let wrap = |n: u64| if ty == Type::U32 { u64::from(n as u32) } else { n };
        Some(wrap(a.constant.wrapping_sub(b.constant)).min(wrap(b.constant.wrapping_sub(a.constant))))
    }

    fn find_sum(&mut self, value: Value) {
        if self.sums.contains_key(&value) {
            return;
        }
        let kernel = self.kernel;
        for part in kernel.operands_first(value, |value| !self.sums.contains_key(&value)) {
            let of = |value: &Value| self.sums.get(value).cloned().unwrap_or_default();
            let sum = match kernel.def(part).map(|(_, op)| op) {
                Some(Op::Compute(Compute::Const(scalar))) => Sum { terms: Vec::new(), constant: scalar.bits },
                Some(Op::Compute(Compute::Binary(BinaryOp::Add, a, b))) => of(a).plus(of(b)),
                Some(Op::Compute(Compute::MulAdd(a, b, c))) => of(c).plus(Sum::term(*a, Some(*b))),
                Some(Op::Compute(Compute::Binary(BinaryOp::Mul, a, b))) => Sum::term(*a, Some(*b)),
                _ => Sum::term(part, None),
            };
            self.sums.insert(part, if sum.terms.len() > MOST_TERMS { Sum::term(part, None) } else { sum });
        }
    }
}

/// An index as values and products of two, in order, and a constant, wrapping.
#[derive(Clone, Default)]
struct Sum {
    terms: Vec<(Value, Option<Value>)>,
    constant: u64,
}

impl Sum {
    fn term(a: Value, b: Option<Value>) -> Sum {
        Sum { terms: vec![(a, b)], constant: 0 }
    }

    fn plus(mut self, other: Sum) -> Sum {
        self.terms.extend(other.terms);
        self.terms.sort_unstable();
        self.constant = self.constant.wrapping_add(other.constant);
        self
    }
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
