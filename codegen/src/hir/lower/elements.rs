//! Several elements per thread: `#[kernel(ilp = N, vectorize = V, batch_loads)]`.
//!
//! The body is lowered once, inside loops over the elements of a thread: `for g in 0..N`, annotated `ilp(N)`, and in it `for j in 0..V`,
//! annotated `vectorize(V)`. `batch_loads` goes to the outermost, a loop of one iteration if need be. So what the arguments mean is what the
//! annotations mean on loops, and a kernel whose annotations are ignored is right all the same.
//!
//! Within, `global_id().x` is `((block_idx.x * N + g) * block_dim.x + thread_idx.x) * V + j`, and `return` ends the element: it
//! continues the innermost loop. Parameters are loaded before the loops; what is shared is shared by all elements.

use super::{Lowerer, Returns};
use crate::annotations::{Elements, Modifier};
use crate::diagnostic::Diagnostic;
use crate::hir::tree;
use crate::ir::{Annotations, Axis, BinaryOp, Block, Op, Region, Terminator, Value};
use proc_macro2::Span;

/// What lowering knows and learns of the elements of a thread.
#[derive(Default)]
pub(super) struct ElementLoops {
    /// `ilp`, where it is more than one.
    groups: Option<(u32, Value)>,
    /// `vectorize`, where it is more than one.
    lanes: Option<(u32, Value)>,
    /// Each `global_id().x`.
    ids: Vec<Value>,
    /// Each `block_idx().x` and `grid_dim().x`.
    positions: Vec<(Value, &'static str, Span)>,
    /// The first call for which threads meet.
    meeting: Option<(&'static str, Span)>,
}

impl Lowerer<'_, '_> {
    /// Runs `body`, the kernel's, for each element of a thread.
    pub(super) fn for_each_element(&mut self, asked: &tree::Annotations, body: impl FnOnce(&mut Self)) {
        let all = self.annotations(asked);
        let mut open = Vec::new();
        for asked in all.iter() {
            let Some(elements) = asked.annotation.elements else { continue };
            let is_outermost = open.is_empty();
            let own = all.filter(|other| other == asked || is_outermost && other.annotation.elements.is_none());
            let place = self.open_elements(asked.count(), own, &mut open);
            match elements {
                Elements::Groups => self.elements.groups = Some((asked.count(), place)),
                Elements::Lanes => self.elements.lanes = Some((asked.count(), place)),
            }
        }
        if open.is_empty() && !all.is_empty() {
            self.open_elements(1, all, &mut open);
        }
        body(self);
        for outer in open.into_iter().rev() {
            if !self.dead {
                self.builder().push(Op::Terminator(Terminator::Yield(Vec::new())), &[]);
            }
            self.block = outer;
            self.dead = false;
        }
    }

    /// Opens a loop of `count` iterations; what is built next is its body. Notes the block round it, and gives its induction variable.
    fn open_elements(&mut self, count: u32, annotations: Annotations, open: &mut Vec<Block>) -> Value {
        self.loc = annotations.iter().next().map_or(self.loc, |asked| asked.place);
        let index = self.kernel.index_type();
        let inner = self.kernel.new_block(&[index]);
        let mut b = self.builder();
        let (start, end, step) = (b.int(index, 0), b.int(index, i128::from(count)), b.int(index, 1));
        let inst = b.push(Op::Region(Region::For { start, end, step, init: Vec::new(), body: inner, keep_rolled: false }), &[]);
        self.kernel.annotations.insert(inst, annotations);
        open.push(self.block);
        self.block = inner;
        self.frame_mut().returns = Returns::Element(inst);
        self.kernel.blocks[inner].params[0]
    }

    /// `global_id()` along an axis.
    pub(super) fn global_id(&mut self, [block, size, thread]: [Value; 3], axis: Axis) -> Value {
        let ty = self.kernel.ty(block);
        let (groups, lanes) = if axis == Axis::X { (self.elements.groups, self.elements.lanes) } else { (None, None) };
        let mut b = self.builder();
        let scaled = |b: &mut crate::ir::Builder<'_>, value: Value, (count, place): (u32, Value)| {
            let count = b.int(ty, i128::from(count));
            let first = b.binary(BinaryOp::Mul, value, count);
            b.binary(BinaryOp::Add, first, place)
        };
        let block = groups.map_or(block, |groups| scaled(&mut b, block, groups));
        let first = b.binary(BinaryOp::Mul, block, size);
        let thread = b.binary(BinaryOp::Add, first, thread);
        let id = lanes.map_or(thread, |lanes| scaled(&mut b, thread, lanes));
        if axis == Axis::X {
            self.elements.ids.push(id);
        }
        id
    }

    /// Notes that the body asks where the block is.
    pub(super) fn note_position(&mut self, value: Value, name: &'static str) {
        let span = self.spans[self.loc.0 as usize];
        self.elements.positions.push((value, name, span));
    }

    /// Notes what instructions since `first` wait for other threads.
    pub(super) fn note_meeting(&mut self, first: usize, name: &'static str, span: Span) {
        let mut new = self.kernel.insts.values().skip(first);
        let is_meeting = |op: &Op| match op {
            Op::Intrinsic(row, _) => row.row().effects.is_convergent(),
            op => matches!(op, Op::Collective(_)),
        };
        if self.elements.meeting.is_none() && new.any(|inst| is_meeting(&inst.op)) {
            self.elements.meeting = Some((name, span));
        }
    }

    /// Why the body cannot run for several elements of a thread, if so. A warning if the arguments say `best_effort`.
    pub(super) fn refuse_elements(&self, asked: &tree::Annotations) -> Option<Diagnostic> {
        let several = || asked.iter().filter(|asked| asked.annotation.elements.is_some());
        let first = several().next()?;
        let (name, count) = (first.annotation.name, first.count());
        let error = |message: String| Diagnostic::error(first.place, message);
        let uses = self.kernel.use_counts();
        let is_used = |value: &Value| uses.get(usize::from(*value)).is_some_and(|count| *count > 0);
        let refused = if let Some((what, span)) = &self.elements.meeting {
            let message =
                format!("`{name} = {count}` runs the body for {count} elements of a thread, and `{what}` waits for other threads");
            error(message)
                .label(*span, format!("`{what}` is called here"))
                .help(format!("remove `{name}`, or put `#[{name}({count})]` on a loop of the body"))
        } else if let Some((_, what, span)) = self.elements.positions.iter().find(|(value, ..)| is_used(value)) {
            let message = format!("with `{name} = {count}` a block has more elements than threads, and the body uses `{what}`");
            error(message).label(*span, format!("`{what}` is asked for here")).help("use `global_id().x`, which is the element's number")
        } else if !self.elements.ids.iter().any(is_used) {
            let message = format!(
                "`{name} = {count}` runs the body for {count} elements of a thread, and the body never uses `global_id().x`: it would do the same work {count} times"
            );
            error(message).help(format!("index with `global_id().x`, or remove `{name}`"))
        } else {
            return None;
        };
        let is_soft = several().all(|asked| asked.says(Modifier::BestEffort));
        Some(if is_soft { refused.best_effort() } else { refused })
    }
}
