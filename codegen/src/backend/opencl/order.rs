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

use crate::intrinsics::Effect;
use crate::ir::{Access, BinaryOp, Block, Inst, Kernel, Object, Op, Step, Type, Value};
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

/// The objects of `kernel` that are accessed again, with no barrier between, where they may have been stored to.
pub(super) fn objects(kernel: &Kernel) -> Vec<Object> {
    let mut order = Order { kernel, found: Vec::new(), breaks: HashMap::new(), continues: HashMap::new() };
    order.block(kernel.body, Vec::new());
    order.found
}

/// A store that no barrier has ended yet.
#[derive(Clone, PartialEq)]
struct Stored {
    access: Access,
    scalars: usize,
    /// Whether it was made in an earlier iteration: indices that are the same value may have been another number then.
    is_earlier: bool,
}

/// What has been stored on the ways to one place.
type State = Vec<Stored>;

struct Order<'k> {
    kernel: &'k Kernel,
    found: Vec<Object>,
    breaks: HashMap<Inst, State>,
    continues: HashMap<Inst, State>,
}

impl Order<'_> {
    /// Goes through a block, and gives what has been stored at its end.
    fn block(&mut self, block: Block, mut state: State) -> State {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            let data = &kernel.insts[*inst];
            match &data.op {
                Op::Load(access) => self.touch(access, data.results.len(), &state),
                Op::Store(access, values) => {
                    self.touch(access, values.len(), &state);
                    let stored = Stored { access: access.clone(), scalars: values.len(), is_earlier: false };
                    include(&mut state, vec![stored]);
                }
                Op::Intrinsic(row, _) if matches!(row.row().effect, Effect::Barrier) => state.clear(),
                Op::If { then_block, else_block, .. } => {
                    let other = self.block(*else_block, state.clone());
                    state = self.block(*then_block, state);
                    include(&mut state, other);
                }
                Op::Region { body } => {
                    state = self.block(*body, state);
                    include(&mut state, self.breaks.remove(inst).unwrap_or_default());
                }
                Op::For { body, .. } | Op::Loop { body, .. } => state = self.repeated(*inst, *body, state),
                Op::Break(target, _) => include(self.breaks.entry(*target).or_default(), state.clone()),
                Op::Continue(target, _) => include(self.continues.entry(*target).or_default(), state.clone()),
                _ => {}
            }
        }
        state
    }

    /// A loop: no times, once, and again after what an iteration stored.
    fn repeated(&mut self, inst: Inst, body: Block, before: State) -> State {
        let mut state = before;
        for _ in 0..2 {
            let mut end = self.block(body, state.clone());
            include(&mut end, self.continues.remove(&inst).unwrap_or_default());
            end.iter_mut().for_each(|stored| stored.is_earlier = true);
            include(&mut state, end);
        }
        include(&mut state, self.breaks.remove(&inst).unwrap_or_default());
        state.iter_mut().for_each(|stored| stored.is_earlier = true);
        state
    }

    fn touch(&mut self, access: &Access, scalars: usize, state: &State) {
        if !self.found.contains(&access.object) && state.iter().any(|stored| self.may_meet(stored, access, scalars)) {
            self.found.push(access.object);
        }
    }

    /// Whether an access may be to a place that was stored to: not if somewhere on the way they part for certain.
    fn may_meet(&self, stored: &Stored, access: &Access, scalars: usize) -> bool {
        let width = stored.scalars.max(scalars) as u64;
        let steps = stored.access.path.iter().zip(&access.path).enumerate();
        let last = access.path.len().saturating_sub(1);
        let parts = |(n, (a, b)): (usize, (&Step, &Step))| match (a, b) {
            (Step::Field(a), Step::Field(b)) => a != b,
            (Step::Index(a), Step::Index(b)) => {
                let distance = self.distance(*a, *b, stored.is_earlier);
                distance.is_some_and(|distance| distance >= if n == last { width } else { 1 })
            }
            _ => false,
        };
        stored.access.object == access.object && !{ steps }.any(parts)
    }

    /// How far two indices are from each other, if that is a constant.
    fn distance(&self, a: Value, b: Value, only_constants: bool) -> Option<u64> {
        let (a, b, ty) = (self.sum(a), self.sum(b), self.kernel.ty(a));
        if a.terms != b.terms || (only_constants && !a.terms.is_empty()) {
            return None;
        }
        let wrap = |n: u64| if ty == Type::U32 { u64::from(n as u32) } else { n };
        Some(wrap(a.constant.wrapping_sub(b.constant)).min(wrap(b.constant.wrapping_sub(a.constant))))
    }

    fn sum(&self, value: Value) -> Sum {
        let mut sum = Sum::default();
        self.add_terms(value, &mut sum);
        sum.terms.sort_unstable();
        sum
    }

    fn add_terms(&self, value: Value, sum: &mut Sum) {
        match self.kernel.def(value).map(|(_, op)| op) {
            Some(Op::Const(scalar)) => sum.constant = sum.constant.wrapping_add(scalar.bits),
            Some(Op::Binary(BinaryOp::Add, a, b)) => {
                self.add_terms(*a, sum);
                self.add_terms(*b, sum);
            }
            Some(Op::MulAdd(a, b, c)) => {
                sum.terms.push((*a, Some(*b)));
                self.add_terms(*c, sum);
            }
            Some(Op::Binary(BinaryOp::Mul, a, b)) => sum.terms.push((*a, Some(*b))),
            _ => sum.terms.push((value, None)),
        }
    }
}

/// An index as values and products of two, and a constant, wrapping.
#[derive(Default)]
struct Sum {
    terms: Vec<(Value, Option<Value>)>,
    constant: u64,
}

/// Adds what has been stored on another way.
fn include(state: &mut State, other: State) {
    for stored in other {
        if !state.contains(&stored) {
            state.push(stored);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hir::lower_kernel;
    use crate::passes;
    use crate::syntax::{Instance, Program, Unit};

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
        let mut program = Program::default();
        let unit = program.add(Unit::parse("kernel.rs", 1, 1, &source).expect("the source parses"));
        let mut kernel = lower_kernel(&program, unit, "k", &Instance::default()).expect("the source has no errors").kernel;
        passes::optimize(&mut kernel);
        objects(&kernel).into_iter().map(|object| kernel.objects[object].name.clone()).collect()
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
