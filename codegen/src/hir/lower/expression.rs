//! Expressions without control flow.

use super::Lowerer;
use super::environment::{Tree, Var};
use super::place::Place;
use crate::analysis::place::alignment;
use crate::diagnostic::Diagnostic;
use crate::hir::check::array_len;
use crate::hir::tree::{Block, Expr, ExprKind, Geometry, Statement};
use crate::hir::types::{Const, Ty};
use crate::intrinsics;
use crate::ir::intrinsic::IntrinsicId;
use crate::ir::{
    Access, Address, AtomicOp, Atomicity, Axis, BinaryOp, CompareOp, Compute, Memory, MemoryOp, Message, ObjectKind, Op, Scalar, Special,
    Step, Swizzle, Terminator, Type, Value,
};
use crate::syntax::ConstValue;
use proc_macro2::Span;

impl Lowerer<'_, '_> {
    /// Lowers an expression to its value.
    pub(super) fn expression(&mut self, expr: &Expr) -> Tree {
        self.depth += 1;
        let value = self.of_kind(expr);
        self.depth -= 1;
        value
    }

    fn of_kind(&mut self, expr: &Expr) -> Tree {
        self.at(expr.span);
        match &expr.kind {
            ExprKind::Int(value) => self.integer(*value, expr),
            ExprKind::Float(value) => {
                let ty = self.resolve(&expr.ty);
                match self.scalar(&ty) {
                    Some(scalar) => Tree::Leaf(self.builder().float(scalar, *value)),
                    None => self.unit(),
                }
            }
            ExprKind::Const(value) => {
                let ty = self.resolve(&expr.ty);
                self.constant(value, &ty, expr.span)
            }
            ExprKind::Local(_) | ExprKind::Index(..) | ExprKind::SharedOf(..) => {
                let place = self.place(expr);
                self.at(expr.span);
                self.read(&place)
            }
            ExprKind::Field(base, index) => self.field(expr, base, *index),
            ExprKind::Unary(op, a) => {
                let a = self.value(a);
                self.at(expr.span);
                Tree::Leaf(self.builder().unary(*op, a))
            }
            ExprKind::Binary(op, a, b) => {
                self.check_shift(*op, a, b, expr.span);
                let a = self.value(a);
                let b = self.operand(*op, b);
                self.at(expr.span);
                Tree::Leaf(self.builder().binary(*op, a, b))
            }
            ExprKind::Compare(op, a, b) => {
                let a = self.whole(a);
                let b = self.whole(b);
                self.at(expr.span);
                Tree::Leaf(self.compare(*op, &a, &b))
            }
            ExprKind::And(a, b) => self.short_circuit(a, b, true),
            ExprKind::Or(a, b) => self.short_circuit(a, b, false),
            ExprKind::Cast(a) => {
                let a = self.value(a);
                let ty = self.resolve(&expr.ty);
                self.at(expr.span);
                match self.scalar(&ty) {
                    Some(scalar) => {
                        // `f32::from(bool)`; `as` has no such cast.
                        let is_truth = self.kernel.ty(a) == Type::Bool && scalar.is_float();
                        let mut b = self.builder();
                        let a = if is_truth { intrinsics::convert(&mut b, a, Type::U32) } else { a };
                        Tree::Leaf(intrinsics::convert(&mut b, a, scalar))
                    }
                    None => self.unit(),
                }
            }
            ExprKind::Assign(place, value) => {
                let value = self.expression(value);
                self.assign(place, value);
                self.unit()
            }
            ExprKind::AssignOp(op, place, value) => {
                self.check_shift(*op, place, value, expr.span);
                let value = self.operand(*op, value);
                let place = self.place(place);
                self.at(expr.span);
                match place {
                    Place::Guarded { access, is_inside, ty } => {
                        self.only_if(is_inside, |lowerer| lowerer.change(*op, &Place::Memory { access, ty }, value));
                    }
                    place => self.change(*op, &place, value),
                }
                self.unit()
            }
            ExprKind::Aggregate(fields, base) => self.aggregate(expr, fields, base.as_deref()),
            ExprKind::Array(items) => {
                let items: Vec<Tree> = items.iter().map(|item| self.expression(item)).collect();
                self.materialized(Tree::Node(items))
            }
            ExprKind::Repeat(item, len) => {
                let element = self.resolve(&item.ty);
                let value = self.expression(item);
                let len = array_len(self.frame().body.infer.resolve_const(*len)).unwrap_or(0);
                self.repeated(&value, &element, len)
            }
            ExprKind::Block(block) => self.block(block),
            ExprKind::Labelled(..)
            | ExprKind::If(..)
            | ExprKind::Match(..)
            | ExprKind::Let(..)
            | ExprKind::Break(..)
            | ExprKind::Continue(_)
            | ExprKind::Return(_) => self.control(expr),
            ExprKind::While(scope, condition, body) => self.while_loop(*scope, condition, body),
            ExprKind::Loop(scope, body) => self.endless_loop(*scope, body, expr),
            ExprKind::For(walk) => self.for_loop(walk),
            ExprKind::Call(function, args, values) => self.call(*function, args, values, expr),
            ExprKind::Intrinsic(row, ty, args) => self.intrinsic(*row, ty, args, expr),
            ExprKind::Collective(row, args) => self.collective(*row, args, expr),
            ExprKind::NoSums => self.no_sums(expr),
            ExprKind::MultiplyAdd(factors, sums) => self.multiply_add(factors, sums, expr.span),
            ExprKind::Position(sums, element) => self.position(sums, element, expr.span),
            ExprKind::StoreSums(sums, to, from) => self.store_sums(sums, (to, from.as_deref()), expr.span),
            ExprKind::SplatRows(value) => self.splat_rows(value, expr),
            ExprKind::RowOf(sums, element) => self.row_of(sums, element, expr.span),
            ExprKind::ReduceRows(reduction, sums) => self.reduce_rows(*reduction, sums, expr.span),
            ExprKind::Geometry(geometry) => self.geometry(*geometry),
            ExprKind::Len(base) => self.len(base, expr),
            ExprKind::Texture(op, base, coordinates) => self.texture(*op, base, coordinates, expr.span),
            ExprKind::VectorLoad(base, index, lanes) => self.vector_load(base, index, *lanes, expr),
            ExprKind::VectorStore(base, index, value) => self.vector_store(base, index, value, expr),
            ExprKind::Atomic(op, atomicity, base, index, operands) => self.atomic((*op, *atomicity), base, index, operands, expr),
            ExprKind::Print(parts, values) => {
                let values = values.iter().map(|value| self.value(value)).collect();
                self.at(expr.span);
                self.builder().push(Op::Message(Message::Print(parts.clone(), values)), &[]);
                self.unit()
            }
            ExprKind::Assert(condition, parts, values) => {
                let condition = self.value(condition);
                let values = values.iter().map(|value| self.value(value)).collect();
                self.at(expr.span);
                self.builder().push(Op::Message(Message::Assert(condition, parts.clone(), values)), &[]);
                self.unit()
            }
            ExprKind::Trap(message) => {
                self.terminate(Op::Terminator(Terminator::Trap(message.clone())));
                let ty = self.resolve(&expr.ty);
                self.zero(&ty)
            }
        }
    }

    /// Reads, computes and writes.
    fn change(&mut self, op: BinaryOp, place: &Place, value: Value) {
        let old = self.read(place);
        let old = self.leaf(&old);
        let new = self.builder().binary(op, old, value);
        self.write(place, Tree::Leaf(new));
    }

    /// Lowers a scalar expression.
    pub(super) fn value(&mut self, expr: &Expr) -> Value {
        let tree = self.expression(expr);
        if let Tree::Leaf(value) = tree {
            return value;
        }
        // Only in code after an error or after an exit. What comes behind expects a number of this type all the same.
        let ty = self.resolve(&expr.ty);
        let scalar = self.scalar(&ty).unwrap_or(Type::Bool);
        self.builder().constant(Scalar::new(scalar, 0))
    }

    /// Lowers an expression to all its scalars.
    pub(super) fn whole(&mut self, expr: &Expr) -> Tree {
        let tree = self.expression(expr);
        self.materialized(tree)
    }

    /// A comparison. Structs, tuples and arrays have `==` and `!=` only, as `PartialEq` derives them: they are equal if all their scalars are.
    fn compare(&mut self, op: CompareOp, a: &Tree, b: &Tree) -> Value {
        let join = if op == CompareOp::Ne { BinaryOp::Or } else { BinaryOp::And };
        let mut builder = self.builder();
        let mut joined = None;
        for (a, b) in a.leaves().into_iter().zip(b.leaves()) {
            let one = builder.compare(op, a, b);
            joined = Some(joined.map_or(one, |before| builder.binary(join, before, one)));
        }
        joined.unwrap_or_else(|| builder.bool(op != CompareOp::Ne))
    }

    pub(super) fn leaf(&mut self, tree: &Tree) -> Value {
        match tree {
            Tree::Leaf(value) => *value,
            // Only in code after an error or after an exit.
            _ => self.builder().bool(false),
        }
    }

    /// The right operand: a shift's count is a `u32`, whatever integer it was.
    fn operand(&mut self, op: BinaryOp, expr: &Expr) -> Value {
        let value = self.value(expr);
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) { self.builder().cast(value, Type::U32) } else { value }
    }

    /// Refuses to shift an index by a literal that is not below its width here. `rustc` and the front end's check know it with the host's 64 bits, and
    /// leave generic functions alone, as this does: what they shift by may hang on the generics.
    fn check_shift(&self, op: BinaryOp, shifted: &Expr, count: &Expr, span: Span) {
        let (BinaryOp::Shl | BinaryOp::Shr, ExprKind::Int(count)) = (op, &count.kind) else { return };
        let ty = self.resolve(&shifted.ty);
        let Some(bits) = self.scalar(&ty).filter(|_| matches!(ty, Ty::Usize | Ty::Isize)).map(Type::bits) else { return };
        let is_generic = self.stack.last().is_some_and(|function| {
            let item = &self.context.items.functions[function.0];
            let all = item.parent.map(|(generics, _)| generics).into_iter().chain([&item.signature.generics]);
            all.flat_map(|generics| &generics.params).any(|param| crate::syntax::generic_name(param).is_some())
        });
        if !is_generic && *count >= i128::from(bits) {
            let error = Diagnostic::error(span, format!("`{ty}` has {bits} bits here, and this shifts one by {count}"));
            self.report(error.help(format!("shift by 0 to {}, or write `#[kernel(index = 64)]`", bits - 1)));
        }
    }

    fn integer(&mut self, value: i128, expr: &Expr) -> Tree {
        let ty = self.resolve(&expr.ty);
        let Some(scalar) = self.scalar(&ty) else { return self.unit() };
        if scalar.is_float() {
            return Tree::Leaf(self.builder().float(scalar, value as f64));
        }
        self.check_range(value, scalar, &ty, expr.span);
        Tree::Leaf(self.builder().int(scalar, value))
    }

    fn check_range(&self, value: i128, scalar: Type, ty: &Ty, span: Span) {
        if Scalar::int(scalar, value).as_int() == value {
            return;
        }
        let message = format!("`{value}` does not fit `{ty}`, which has {} bits here", scalar.bits());
        let diagnostic = Diagnostic::error(span, message);
        // rustc knows `usize` as 64 bits wide, so this one it does not see.
        let index = matches!(ty, Ty::Usize | Ty::Isize);
        self.report(if index { diagnostic.help("write `#[kernel(index = 64)]`") } else { diagnostic.by_rustc() });
    }

    fn constant(&mut self, value: &ConstValue, ty: &Ty, span: Span) -> Tree {
        match (value, ty) {
            (ConstValue::Scalar(scalar), _) => Tree::Leaf(self.builder().constant(*scalar)),
            (ConstValue::Index(value, _), _) => match self.scalar(ty) {
                Some(scalar) => {
                    self.check_range(*value, scalar, ty, span);
                    Tree::Leaf(self.builder().int(scalar, *value))
                }
                None => self.unit(),
            },
            (ConstValue::Array(items), Ty::Array(element, _)) => {
                Tree::Node(items.iter().map(|item| self.constant(item, element, span)).collect())
            }
            (ConstValue::Array(items) | ConstValue::Tuple(items), _) => {
                let parts = self.parts(ty).unwrap_or_default();
                Tree::Node(items.iter().zip(&parts).map(|(item, ty)| self.constant(item, ty, span)).collect())
            }
        }
    }

    fn field(&mut self, expr: &Expr, base: &Expr, index: u32) -> Tree {
        if let ExprKind::Geometry(geometry) = base.kind {
            let axis = [Axis::X, Axis::Y, Axis::Z][index as usize % 3];
            return Tree::Leaf(self.geometry_axis(geometry, axis));
        }
        if is_place(base) {
            let place = self.place(expr);
            self.at(expr.span);
            return self.read(&place);
        }
        match self.expression(base) {
            Tree::Node(mut children) if (index as usize) < children.len() => children.swap_remove(index as usize),
            _ => self.unit(),
        }
    }

    fn aggregate(&mut self, expr: &Expr, fields: &[(u32, Expr)], base: Option<&Expr>) -> Tree {
        let ty = self.resolve(&expr.ty);
        let count = self.parts(&ty).map_or(0, |parts| parts.len());
        let mut children: Vec<Option<Tree>> = vec![None; count];
        for (index, field) in fields {
            let value = self.whole(field);
            if let Some(slot) = children.get_mut(*index as usize) {
                *slot = Some(value);
            }
        }
        if let Some(base) = base
            && let Tree::Node(rest) = self.expression(base)
        {
            for (slot, value) in children.iter_mut().zip(rest) {
                slot.get_or_insert(value);
            }
        }
        Tree::Node(children.into_iter().map(|child| child.unwrap_or(Tree::Node(Vec::new()))).collect())
    }

    /// Assigns to a place, or part by part to a tuple of places.
    pub(super) fn assign(&mut self, target: &Expr, value: Tree) {
        if let ExprKind::Aggregate(targets, None) = &target.kind {
            let Tree::Node(values) = self.materialized(value) else { return };
            for (index, target) in targets {
                if let Some(value) = values.get(*index as usize) {
                    self.assign(target, value.clone());
                }
            }
            return;
        }
        let place = self.place(target);
        self.at(target.span);
        self.write(&place, value);
    }

    pub(super) fn block(&mut self, block: &Block) -> Tree {
        let outer = self.statement;
        for statement in &block.statements {
            self.next_statement();
            if !self.has_room() {
                break;
            }
            match statement {
                Statement::Expr(expr) => {
                    self.expression(expr);
                }
                Statement::Shared(local) => self.declare_shared(*local),
                Statement::Let(pattern, Some(init)) => {
                    let ty = self.resolve(&pattern.ty);
                    let value = self.expression(init);
                    self.at(pattern.span);
                    self.bind(pattern, &ty, value);
                }
                Statement::Let(pattern, None) => self.declare(pattern),
            }
        }
        self.next_statement();
        let value = match &block.tail {
            Some(tail) => self.expression(tail),
            None => self.unit(),
        };
        self.statement = outer;
        value
    }

    /// What is built from here on belongs to a statement of its own.
    fn next_statement(&mut self) {
        self.last_statement += 1;
        self.statement = self.last_statement;
    }

    pub(super) fn set_var(&mut self, local: crate::hir::tree::LocalId, tree: Tree) {
        let var = self.var(local);
        self.vars[var] = Var::Value(tree);
    }

    fn geometry(&mut self, geometry: Geometry) -> Tree {
        match geometry {
            Geometry::Special(special @ (Special::LaneId | Special::WarpId)) => {
                let index = self.kernel.index_type();
                let mut b = self.builder();
                let number = b.special(special, Axis::X);
                Tree::Leaf(b.cast(number, index))
            }
            _ => Tree::Node([Axis::X, Axis::Y, Axis::Z].map(|axis| Tree::Leaf(self.geometry_axis(geometry, axis))).into()),
        }
    }

    fn geometry_axis(&mut self, geometry: Geometry, axis: Axis) -> Value {
        let index = self.kernel.index_type();
        let (block, extent) = (self.kernel.options.block, self.kernel.options.cluster[axis as usize]);
        let mut b = self.builder();
        let mut special = |special: Special| match (special, block) {
            (Special::BlockDim, Some(block)) => b.int(index, i128::from(block[axis as usize])),
            _ => {
                let value = b.special(special, axis);
                b.cast(value, index)
            }
        };
        match geometry {
            Geometry::Special(which) => {
                let value = special(which);
                match (which, axis) {
                    (Special::BlockIdx, Axis::X) => self.note_position(value, "block_idx().x"),
                    (Special::GridDim, Axis::X) => self.note_position(value, "grid_dim().x"),
                    _ => {}
                }
                value
            }
            Geometry::ClusterDim => b.int(index, extent.into()),
            Geometry::ClusterIdx => {
                let place = b.special(Special::BlockIdx, axis);
                let extent = b.int(Type::U32, extent.into());
                let cluster = b.binary(BinaryOp::Div, place, extent);
                b.cast(cluster, index)
            }
            Geometry::GlobalId => {
                let parts = [Special::BlockIdx, Special::BlockDim, Special::ThreadIdx].map(special);
                self.global_id(parts, axis)
            }
        }
    }

    /// An intrinsic: expanded here, or left to the devices.
    fn intrinsic(&mut self, row: IntrinsicId, ty: &Ty, args: &[Expr], expr: &Expr) -> Tree {
        let values: Vec<Value> = args.iter().map(|arg| self.value(arg)).collect();
        // What exchanges or waits is one thing to who wrote it, whatever it is made of.
        self.at_call(expr.span, Some(row).filter(|row| row.row().device().is_none() && !row.row().effects.is_pure()));
        let ty = self.resolve(ty);
        let receiver = self.scalar(&ty);
        let first = self.kernel.insts.len();
        let mut b = self.builder();
        let results = intrinsics::emit(&mut b, row, receiver.unwrap_or(Type::U32), &values);
        self.block = b.block;
        self.note_meeting(first, row.row().name, expr.span);
        Tree::of(&results)
    }

    fn len(&mut self, base: &Expr, expr: &Expr) -> Tree {
        let mut ty = self.resolve(&base.ty);
        if let Ty::Constant(inner) = ty {
            ty = *inner;
        }
        let index = self.kernel.index_type();
        if let Ty::Array(_, len) = &ty {
            let len = array_len(*len).unwrap_or(0);
            return Tree::Leaf(self.builder().int(index, i128::from(len)));
        }
        match self.place(base) {
            Place::Memory { access, .. } => {
                self.at(expr.span);
                let object = access.object;
                // A fixed array behind a `[T]` parameter knows its length.
                if let crate::ir::MemoryType::Array(_, len) = self.kernel.objects[object].ty {
                    return Tree::Leaf(self.builder().int(index, i128::from(len)));
                }
                Tree::Leaf(self.builder().push1(Op::Compute(Compute::Len(object)), index))
            }
            _ => self.unit(),
        }
    }

    fn vector_load(&mut self, base: &Expr, index: &Expr, lanes: Const, expr: &Expr) -> Tree {
        let lanes = array_len(self.frame().body.infer.resolve_const(lanes)).and_then(|lanes| usize::try_from(lanes).ok()).unwrap_or(1);
        let place = self.place(base);
        let index = self.value(index);
        self.at(expr.span);
        let place = self.vector_place(place, index, lanes, expr.span);
        let Some((access, ty)) = self.plain_memory(place, "vector accesses", expr.span) else { return self.unit() };
        let Some(scalar) = self.scalar(&ty) else { return self.unit() };
        let types = vec![scalar; lanes];
        self.check_vector(&access, scalar, types.len(), expr.span);
        let inst = self.builder().push(Op::load(access), &types);
        Tree::Node(self.kernel.insts[inst].results.iter().map(|value| Tree::Leaf(*value)).collect())
    }

    fn vector_store(&mut self, base: &Expr, index: &Expr, value: &Expr, expr: &Expr) -> Tree {
        let place = self.place(base);
        let index = self.value(index);
        let values = self.whole(value).leaves();
        self.at(expr.span);
        let place = self.vector_place(place, index, values.len(), expr.span);
        if let Some((access, ty)) = self.plain_memory(place, "vector accesses", expr.span) {
            if let Some(scalar) = self.scalar(&ty) {
                self.check_vector(&access, scalar, values.len(), expr.span);
            }
            self.builder().push(Op::store(access, values), &[]);
        }
        self.unit()
    }

    /// Refuses a vector access whose rows do not all begin where vectors may.
    fn check_vector(&mut self, access: &Access, scalar: Type, count: usize, span: Span) {
        // Another block's array lies as this one's does.
        if let ObjectKind::Peers(object) = self.kernel.objects[access.object].kind {
            let path = access.path.get(1..).unwrap_or_default().to_vec();
            return self.check_vector(&Access { object, path }, scalar, count, span);
        }
        let data = &self.kernel.objects[access.object];
        let name = data.name.clone();
        let error = if !matches!(data.kind, ObjectKind::Global { .. } | ObjectKind::Constant | ObjectKind::Shared) {
            let message = format!("`{name}` is passed by value: there are no vector accesses of it");
            Diagnostic::error(span, message).help("use its elements, or take it as `&Constant<…>`")
        } else if let Some(Swizzle::Columns) = self.kernel.swizzled.get(&access.object)
            && count > 1
        {
            let message = format!("`{name}` is swizzled: neighbouring elements of a row are not side by side");
            let dynamic = if matches!(data.ty, crate::ir::MemoryType::Slice(_)) { "dynamic, " } else { "" };
            let help = format!("pad its rows by a multiple of the vector instead, `#[shared({dynamic}pad = …)]`");
            Diagnostic::error(span, message).help(help)
        } else if let Some(swizzle) = self.kernel.swizzled.get(&access.object)
            && u64::from(scalar.bytes()) * count as u64 > swizzle.whole()
        {
            let (bytes, whole) = (u64::from(scalar.bytes()) * count as u64, swizzle.whole());
            let message = format!("{count} elements of `{name}` are {bytes} bytes, and its swizzle keeps {whole} side by side");
            Diagnostic::error(span, message).help(format!("move {} elements at once", whole / u64::from(scalar.bytes())))
        } else {
            let row = Access { object: access.object, path: access.path[..access.path.len().saturating_sub(1)].to_vec() };
            let (align, bytes) = (alignment(&self.kernel, &row), u64::from(scalar.bytes()) * count as u64);
            if align >= bytes {
                return;
            }
            let message = format!("{count} elements of `{name}` are {bytes} bytes, and its rows begin at multiples of {align} bytes only");
            let help = match align / u64::from(scalar.bytes()) {
                0 | 1 => format!("make each row, with what `pad` adds, a multiple of {count} elements long"),
                fits => {
                    format!("move {fits} elements at once, or make each row, with what `pad` adds, a multiple of {count} elements long")
                }
            };
            Diagnostic::error(span, message).help(help)
        };
        self.report(error);
    }

    fn atomic(&mut self, (op, atomicity): (AtomicOp, Atomicity), base: &Expr, index: &Expr, operands: &[Expr], expr: &Expr) -> Tree {
        let place = self.place(base);
        let index = self.value(index);
        let operands: Vec<Value> = operands.iter().map(|operand| self.value(operand)).collect();
        self.at(expr.span);
        let place = self.index_place(place, index, expr.span);
        let Some((access, ty)) = self.plain_memory(place, "atomics", expr.span) else { return self.unit() };
        if self.kernel.objects[access.object].is_read_only() {
            let name = self.kernel.objects[access.object].name.clone();
            let message = format!("`{name}` is read-only");
            self.report(Diagnostic::error(base.span, message).help(format!("take it as `{name}: &mut Global<…>`")).by_rustc());
        }
        let Some(scalar) = self.scalar(&ty) else { return self.unit() };
        debug_assert!(access.path.iter().any(|step| matches!(step, Step::Index(_))));
        let atomic = Op::Memory(Memory { op: MemoryOp::Atomic(op, atomicity, operands), at: Address::Path(access) });
        if op == AtomicOp::Store {
            self.builder().push(atomic, &[]);
            return self.unit();
        }
        Tree::Leaf(self.builder().push1(atomic, scalar))
    }
}

/// Whether an expression names a place (see `Checker::is_place`).
fn is_place(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Local(_) | ExprKind::SharedOf(..) => true,
        ExprKind::Const(value) => matches!(value, ConstValue::Array(_) | ConstValue::Tuple(_)),
        ExprKind::Field(base, _) | ExprKind::Index(base, _) => is_place(base),
        _ => false,
    }
}
