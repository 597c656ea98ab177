//! `for` over a range: which values its pattern is bound to, and in which order.
//!
//! A range that counts up to an end that is not reached is a `For` as it stands. Every other one is counted: a counter runs over how many
//! values there are, or how many steps, and the index is made from it. Nothing here wraps: the counter holds the number of all values of the
//! index's type where there is a wider type, and for 64 bits the distance between first and last, which fits, takes its place.

use super::Lowerer;
use super::environment::Tree;
use crate::hir::tree::{Direction, ForLoop};
use crate::ir::{BinaryOp, CompareOp, Type, Value};

/// A range with its values.
struct Range {
    start: Value,
    end: Value,
    /// Of the index type, `usize`.
    step: Option<Value>,
    inclusive: bool,
    direction: Direction,
}

/// How a counted range is gone through.
struct Counted {
    /// The counter's end and step.
    count: Value,
    stride: Value,
    /// What the counter is multiplied by, where it counts steps instead of values.
    scale: Option<Value>,
}

impl Lowerer<'_, '_> {
    pub(super) fn for_loop(&mut self, walk: &ForLoop) -> Tree {
        let start = self.value(&walk.start);
        let end = self.value(&walk.end);
        let ty = self.kernel.ty(start);
        let step = walk.step.as_ref().map(|step| self.value(step));
        self.at(walk.start.span);
        let mut carried = self.assigned_in_block(&walk.body);
        carried.sort_unstable();
        carried.dedup();
        // `a..=b` with a known `b` is `a..b + 1`.
        let (end, inclusive) = match (walk.inclusive, self.number(end)) {
            (true, Some(last)) if last < greatest(ty) => (self.builder().int(ty, last + 1), false),
            (inclusive, _) => (end, inclusive),
        };
        let range = Range { start, end, step, inclusive, direction: walk.direction };
        let plain = walk.direction == Direction::Up && !inclusive;
        match if plain { self.step_of(&range, ty) } else { None } {
            Some(step) => self.counted(walk, &carried, [start, end, step], |lowerer, index| lowerer.loop_body(walk, index)),
            None => self.by_count(walk, &carried, &range),
        }
        self.unit()
    }

    /// The step of a range in its own type, if that can hold it: one that is greater than all numbers of the type passes every end.
    fn step_of(&mut self, range: &Range, ty: Type) -> Option<Value> {
        let Some(step) = range.step else { return Some(self.builder().int(ty, 1)) };
        let (from, number) = (self.number(range.start), self.number(step));
        let fits = match number {
            Some(step) => step <= greatest(ty),
            None => greatest(self.kernel.ty(step)) <= greatest(ty),
        };
        // From a negative number on, two such steps may still be below the end.
        let passes = ty.is_unsigned_int() || from.is_some_and(|from| from >= 0);
        (fits || passes).then(|| self.at_most(step, ty))
    }

    /// An unsigned value in another type, whose greatest number stands for all that are greater.
    fn at_most(&mut self, value: Value, ty: Type) -> Value {
        let from = self.kernel.ty(value);
        let number = self.number(value);
        let mut b = self.builder();
        match number {
            Some(value) if value > greatest(ty) => b.int(ty, greatest(ty)),
            None if greatest(from) > greatest(ty) => {
                let most = b.int(from, greatest(ty));
                let value = b.binary(BinaryOp::Min, value, most);
                b.cast(value, ty)
            }
            _ => b.cast(value, ty),
        }
    }

    fn loop_body(&mut self, walk: &ForLoop, index: Value) {
        let ty = self.resolve(&walk.start.ty);
        self.bind(&walk.pattern, &ty, Tree::Leaf(index));
        self.block(&walk.body);
    }

    /// Ranges that do not simply count up from `start` to an end that is not reached.
    fn by_count(&mut self, walk: &ForLoop, carried: &[usize], range: &Range) {
        let ty = self.kernel.ty(range.start);
        let loc = self.loc;
        let Counted { count, stride, scale } = self.count(range);
        let zero = self.int_like(count, 0);
        self.loc = loc;
        self.counted(walk, carried, [zero, count, stride], |lowerer, passed| {
            let backwards = range.direction == Direction::StepsDown;
            let passed = if backwards {
                let one = lowerer.int_like(count, 1);
                let mut b = lowerer.builder();
                let last = b.binary(BinaryOp::Sub, count, one);
                b.binary(BinaryOp::Sub, last, passed)
            } else {
                passed
            };
            let mut b = lowerer.builder();
            let away = scale.map_or(passed, |scale| b.binary(BinaryOp::Mul, passed, scale));
            let away = b.cast(away, ty);
            let index = match range.direction {
                Direction::Up | Direction::StepsDown => b.binary(BinaryOp::Add, range.start, away),
                Direction::Down if range.inclusive => b.binary(BinaryOp::Sub, range.end, away),
                Direction::Down => {
                    let beyond = b.binary(BinaryOp::Sub, range.end, away);
                    let one = b.int(ty, 1);
                    b.binary(BinaryOp::Sub, beyond, one)
                }
            };
            lowerer.loop_body(walk, index);
        });
    }

    /// How many values there are, or how many steps: by steps backwards, and where the number of values may not fit 64 bits.
    fn count(&mut self, range: &Range) -> Counted {
        let Range { start, end, step, inclusive, direction } = *range;
        let ty = self.kernel.ty(start);
        let unsigned = ty.to_unsigned();
        // The values from `start` to `end`, both of them, may be one more than the type has numbers.
        let counter = match ty.bits() {
            32 if inclusive => Type::U64,
            32.. => unsigned,
            _ => Type::U32,
        };
        let may_be_too_many = inclusive && counter == unsigned;
        let step = step.map(|step| self.at_most(step, counter));
        let mut b = self.builder();
        let empty = b.compare(if inclusive { CompareOp::Gt } else { CompareOp::Ge }, start, end);
        let distance = b.binary(BinaryOp::Sub, end, start);
        let distance = b.cast(distance, unsigned);
        let distance = b.cast(distance, counter);
        let (zero, one) = (b.int(counter, 0), b.int(counter, 1));
        if may_be_too_many {
            let last = step.map_or(distance, |step| b.binary(BinaryOp::Div, distance, step));
            // All 2⁶⁴ numbers, one by one, count as one less: no thread lives to see the last.
            let most = b.int(counter, greatest(counter));
            let more = b.compare(CompareOp::Ne, last, most);
            let more = b.cast(more, counter);
            let count = b.binary(BinaryOp::Add, last, more);
            return Counted { count: b.select(empty, zero, count), stride: one, scale: step };
        }
        let count = if inclusive { b.binary(BinaryOp::Add, distance, one) } else { distance };
        let count = b.select(empty, zero, count);
        match step {
            Some(step) if direction == Direction::StepsDown => {
                let whole = b.binary(BinaryOp::Div, count, step);
                let rest = b.binary(BinaryOp::Rem, count, step);
                let partial = b.compare(CompareOp::Ne, rest, zero);
                let partial = b.cast(partial, counter);
                Counted { count: b.binary(BinaryOp::Add, whole, partial), stride: one, scale: Some(step) }
            }
            step => Counted { count, stride: step.unwrap_or(one), scale: None },
        }
    }

    /// An integer made of constants.
    fn number(&self, value: Value) -> Option<i128> {
        self.kernel.known(value).map(|scalar| scalar.as_int())
    }

    fn int_like(&mut self, like: Value, value: i128) -> Value {
        let ty = self.kernel.ty(like);
        self.builder().int(ty, value)
    }
}

/// The greatest number of an integer type.
fn greatest(ty: Type) -> i128 {
    *ty.numbers().end()
}
