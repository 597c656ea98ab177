//! When accesses may share a pointer, and when a constant may leave a 32-bit index before it is widened.
//!
//! The question is about a global object with `u32` indices: the place of `x[t + c]` is `x + widen(t + c)·s`, the sum being modulo 2³². May it be
//! written `(x + widen(t)·s) + c·s`? It is the same number where 0 ≤ t + c < 2³² (as integers), and where not, it need not be, *if the
//! access cannot be in range*. A buffer has at most 2³² − [`WINDOW`] elements where indices have 32 bits (the launch refuses
//! longer ones, see [`IndexWidth::max_elements`]). So, for |c| ≤ `WINDOW`:
//!
//! 1. **c < 0, t + c < 0**: the index wraps to 2³² + t + c ≥ 2³² − `WINDOW`, beyond every buffer: out of range, undefined. A small
//!    negative constant may always be split off.
//! 2. **c > 0**: t + c may wrap to a small index that is in range: `x[j + 1]` with j = i − 1 and i = 0. So it may be split off only
//!    where the upper bound of t says that it does not wrap, or
//! 3. **next to an access that happens in any case before**, `x[t + d]` with |c − d| ≤ `WINDOW`: that access is in range, so its index k = (t + d) mod 2³²
//!    is below 2³² − `WINDOW`, and k + (c − d) does not reach 2³²; if it is negative, rule 1 holds for it. Hence `x[t + c]` is
//!    (c − d)·s bytes from the place of `x[t + d]`, wherever that is, and what pointer that was computed from does not matter.
//!
//! Rule 3 is what makes `x[i]`, `x[i + 1]`, `x[i + 2]` one pointer and three immediates. *Before, in any case*: the table of pointers is
//! scoped by the structure, as that of `cse`, so that what it offers dominates.
//!
//! A predicated access may not happen: its pointer serves others by rules 1 and 2 only.
//!
//! Under `bounds = trap` the test of the whole index stands before the access and leaves nothing that is out of range. The same holds for
//! the inner indices of a path: an array within an element is shorter than 2³² − `WINDOW`, or rule 1 and 3 refuse nothing
//! that could be in range anyway. Where index and pointer have the same width, everything is modulo that width and always exact.
//!
//! [`IndexWidth::max_elements`]: crate::ir::IndexWidth::max_elements

use crate::collections::HashMap;
use crate::ir::INDEX_WINDOW;
use crate::ir::{Object, Value};

/// Elements between 2³² and the longest buffer.
const WINDOW: i64 = INDEX_WINDOW as i64;

/// An index, without its constant, and its stride.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub(super) base: Value,
    pub(super) stride: u64,
    /// Whether index and pointer have the same width.
    pub(super) exact: bool,
    /// The greatest value of `base`.
    pub(super) upper: u64,
}

impl Term {
    /// Whether the constant of `base + constant` may be split off by rules 1 and 2.
    pub(super) fn may_split(&self, constant: i64) -> bool {
        let does_not_wrap = || u64::try_from(constant).is_ok_and(|c| self.upper.saturating_add(c) <= u64::from(u32::MAX));
        self.exact || constant == 0 || (-WINDOW..0).contains(&constant) || does_not_wrap()
    }
}

/// What accesses that may share a pointer have in common.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) object: Object,
    /// Whose it is, of an array of another block.
    pub(super) rank: Option<Value>,
    pub(super) terms: Vec<Term>,
}

type Key = (Object, Option<Value>, Vec<(Value, u64)>);

/// An access that was made: its constants, and those that its pointer includes.
struct Made {
    ptr: Value,
    bases: Vec<i64>,
    constants: Vec<i64>,
    /// Whether the access happens in any case where its pointer is available: rule 3 asks for that.
    happens: bool,
}

/// The pointers available here.
#[derive(Default)]
pub(super) struct Pointers {
    table: HashMap<Key, Vec<Made>>,
    scope: Vec<Key>,
}

impl Pointers {
    /// Where the scope of a block begins.
    pub(super) fn mark(&self) -> usize {
        self.scope.len()
    }

    /// Takes back what was added since.
    pub(super) fn release(&mut self, mark: usize) {
        for key in self.scope.drain(mark..) {
            if let Some(list) = self.table.get_mut(&key) {
                list.pop();
            }
        }
    }

    /// A pointer for `shape`, and the bytes that an access with these constants is away from it.
    pub(super) fn find(&self, shape: &Shape, constants: &[i64]) -> Option<(Value, i64)> {
        let made = self.table.get(&key(shape))?;
        made.iter().rev().take(8).find_map(|made| {
            let mut bytes = 0i64;
            for (n, term) in shape.terms.iter().enumerate() {
                let is_near = made.happens && (constants[n] - made.constants[n]).abs() <= WINDOW;
                let is_free = term.may_split(constants[n]) && made.bases[n] == 0;
                if !(term.exact || is_near || is_free) {
                    return None;
                }
                bytes = bytes.checked_add((constants[n] - made.bases[n]).checked_mul(i64::try_from(term.stride).ok()?)?)?;
            }
            Some((made.ptr, bytes))
        })
    }

    /// Notes an access with these constants, through a pointer that includes `bases` of them; `None`: those of the access that last used
    /// the pointer.
    pub(super) fn add(&mut self, shape: Shape, ptr: Value, bases: Option<Vec<i64>>, constants: Vec<i64>, happens: bool) {
        let key = key(&shape);
        let list = self.table.entry(key.clone()).or_default();
        let known = || list.iter().rev().find(|made| made.ptr == ptr).map(|made| made.bases.clone());
        if let Some(bases) = bases.or_else(known) {
            list.push(Made { ptr, bases, constants, happens });
            self.scope.push(key);
        }
    }
}

fn key(shape: &Shape) -> Key {
    (shape.object, shape.rank, shape.terms.iter().map(|term| (term.base, term.stride)).collect())
}
