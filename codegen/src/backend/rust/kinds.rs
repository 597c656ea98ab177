//! Which values are `usize`: the IR has one type for it and for `u32` (or `u64`), the source has two.
//!
//! What geometry and lengths give is `usize`, what indexes is, and what memory holds is `u32`. Everything computed is what most of its
//! neighbours want: operands and results of an operation are one class, and a class that touches an index is `usize`. Where a class
//! meets a value of the other type the printer writes the cast that the source had there.

use crate::ir::{
    Address, BinaryOp, Compute, Inst, Kernel, Memory, MemoryOp, MemoryType, Object, ObjectKind, Op, Region, Terminator, TextureOp, Type,
    Value,
};
use std::collections::HashSet;

/// Which of two types of one width a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `usize`.
    Index,
    /// What the IR says.
    Plain,
}

/// The kind of every value.
pub(super) struct Kinds {
    by_value: Vec<Kind>,
    by_object: Vec<Kind>,
}

impl Kinds {
    pub(super) fn of(kernel: &Kernel) -> Kinds {
        let mut classes =
            Classes { kernel, parent: (0..kernel.values.len() + kernel.objects.len()).collect(), fixed: Vec::new(), index: Vec::new() };
        classes.fixed = vec![None; kernel.values.len()];
        kernel.for_each_inst(|_, _, inst| classes.fix(&kernel.insts[inst].op, &kernel.insts[inst].results));
        kernel.for_each_inst(|_, _, inst| {
            let params = kernel.insts[inst].op.blocks().first().map(|block| kernel.blocks[*block].params.clone()).unwrap_or_default();
            classes.visit(inst, &params);
        });
        let wanted: Vec<usize> = std::mem::take(&mut classes.index);
        let roots: HashSet<usize> = wanted.into_iter().map(|n| classes.root(n)).collect();
        let mut kind_of = |n: usize| if roots.contains(&classes.root(n)) { Kind::Index } else { Kind::Plain };
        let free: Vec<Kind> = (0..kernel.values.len() + kernel.objects.len()).map(&mut kind_of).collect();
        let kind = |value: Value| match classes.fixed[value.0 as usize] {
            _ if kernel.ty(value) != kernel.index_type() => Kind::Plain,
            Some(kind) => kind,
            None => free[value.0 as usize],
        };
        let by_value = kernel.values.keys().map(kind).collect();
        let by_object = free[kernel.values.len()..].to_vec();
        Kinds { by_value, by_object }
    }

    pub(super) fn value(&self, value: Value) -> Kind {
        self.by_value[value.0 as usize]
    }

    /// Of a scalar parameter.
    pub(super) fn object(&self, object: Object) -> Kind {
        self.by_object[object.0 as usize]
    }
}

struct Classes<'k> {
    kernel: &'k Kernel,
    /// Values, then objects.
    parent: Vec<usize>,
    fixed: Vec<Option<Kind>>,
    /// Members of classes that touch an index.
    index: Vec<usize>,
}

impl Classes<'_> {
    fn object(&self, object: Object) -> usize {
        self.kernel.values.len() + object.0 as usize
    }

    fn root(&mut self, mut n: usize) -> usize {
        while self.parent[n] != n {
            self.parent[n] = self.parent[self.parent[n]];
            n = self.parent[n];
        }
        n
    }

    fn is_free(&self, value: Value) -> bool {
        self.kernel.ty(value) == self.kernel.index_type() && self.fixed[value.0 as usize].is_none() && self.kernel.constant(value).is_none()
    }

    /// These are of one type: what is fixed only casts a vote.
    fn join(&mut self, values: &[Value]) {
        let free: Vec<usize> = values.iter().filter(|v| self.is_free(**v)).map(|v| v.0 as usize).collect();
        for pair in free.windows(2) {
            let (a, b) = (self.root(pair[0]), self.root(pair[1]));
            self.parent[a] = b;
        }
        if let Some(first) = free.first()
            && values.iter().any(|v| self.fixed[v.0 as usize] == Some(Kind::Index))
        {
            self.index.push(*first);
        }
    }

    /// Values whose type is known where they are made.
    fn fix(&mut self, op: &Op, results: &[Value]) {
        let kind = match op {
            Op::Compute(Compute::Special(..) | Compute::Len(_)) | Op::Texture(TextureOp::Width | TextureOp::Height, ..) => Kind::Index,
            Op::Texture(..) => Kind::Plain,
            Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) })
                if access.path.is_empty() && self.is_scalar_parameter(access.object) =>
            {
                return;
            }
            Op::Memory(Memory { op: MemoryOp::Load | MemoryOp::Atomic(..), at: Address::Path(_) })
            | Op::Intrinsic(..)
            | Op::Engine(_)
            | Op::Compute(Compute::Bitcast(_)) => Kind::Plain,
            Op::Compute(_) | Op::Memory(_) | Op::Collective(_) | Op::Message(_) | Op::Region(_) | Op::Terminator(_) => return,
        };
        results.iter().for_each(|result| self.fixed[result.0 as usize] = Some(kind));
    }

    fn is_scalar_parameter(&self, object: Object) -> bool {
        let data = &self.kernel.objects[object];
        data.kind == ObjectKind::Value && data.ty == MemoryType::Scalar(self.kernel.index_type())
    }

    fn compute(&mut self, compute: &Compute, result: Value) {
        use Compute::*;
        match *compute {
            Binary(BinaryOp::Shl | BinaryOp::Shr, a, _) | Unary(_, a) => self.join(&[a, result]),
            Binary(_, a, b) | Select(_, a, b) => self.join(&[a, b, result]),
            MulAdd(a, b, c) => self.join(&[a, b, c, result]),
            Compare(_, a, b) => self.join(&[a, b]),
            Const(_) | Special(..) | Cast(_) | Bitcast(_) | Len(_) | Address(_) | PeerAddress(..) | Offset(..) => {}
        }
    }

    fn visit(&mut self, inst: Inst, params: &[Value]) {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        if let Op::Memory(Memory { at: Address::Path(access), .. }) = &data.op {
            let indices: Vec<Value> = access.indices().filter(|v| self.is_free(*v)).collect();
            self.index.extend(indices.iter().map(|v| v.0 as usize));
        }
        match &data.op {
            Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) })
                if access.path.is_empty() && self.is_scalar_parameter(access.object) =>
            {
                let (a, b) = (self.root(data.results[0].0 as usize), self.object(access.object));
                let b = self.root(b);
                self.parent[a] = b;
            }
            Op::Compute(compute) => self.compute(compute, data.results[0]),
            Op::Region(Region::If { .. } | Region::Block { .. }) => {}
            Op::Region(Region::For { start, end, step, init, .. }) => {
                self.join(&[params[0], *start, *end, *step]);
                for (k, value) in init.iter().enumerate() {
                    self.join(&[*value, params[k + 1], data.results[k]]);
                }
            }
            Op::Region(Region::Loop { init, .. }) => {
                for (value, param) in init.iter().zip(params) {
                    self.join(&[*value, *param]);
                }
            }
            Op::Terminator(Terminator::Break(target, values)) => {
                for (value, result) in values.iter().zip(&kernel.insts[*target].results) {
                    self.join(&[*value, *result]);
                }
            }
            Op::Terminator(Terminator::Continue(target, values)) => self.join_carried(*target, values),
            Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Terminator(_) => {}
        }
        for block in data.op.blocks() {
            let Some(values) = kernel.yielded(block) else { continue };
            if matches!(data.op, Op::Region(Region::If { .. } | Region::Block { .. })) {
                for (value, result) in values.iter().zip(&data.results) {
                    self.join(&[*value, *result]);
                }
            } else {
                self.join_carried(inst, values);
            }
        }
    }

    fn join_carried(&mut self, target: Inst, values: &[Value]) {
        let op = &self.kernel.insts[target].op;
        let first = usize::from(matches!(op, Op::Region(Region::For { .. })));
        let Some(body) = op.blocks().first().copied() else { return };
        let params = &self.kernel.blocks[body].params;
        for (value, param) in values.iter().zip(params.iter().skip(first)) {
            self.join(&[*value, *param]);
        }
    }
}

/// The text of a type.
pub(super) fn type_text(ty: Type, kind: Kind) -> String {
    if kind == Kind::Index { "usize".into() } else { ty.to_string() }
}
