//! Places: what can be read, assigned and indexed.

use super::Lowerer;
use super::environment::{Tree, Var};
use crate::diagnostic::Diagnostic;
use crate::hir::check::array_len;
use crate::hir::tree::{Expr, ExprKind};
use crate::hir::types::Ty;
use crate::ir::BoundsCheck;
use crate::ir::{Access, BinaryOp, CompareOp, Compute, MemoryType, Message, ObjectData, ObjectKind, Op, PrintPart, Scalar, Step, Value};
use crate::syntax::ConstValue;
use proc_macro2::Span;

/// Where a value is.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// Part of a variable: fields, outermost first.
    Register { var: usize, path: Vec<u32>, ty: Ty },
    /// In memory.
    Memory { access: Access, ty: Ty },
    /// In memory, an element of a matrix or a part of one: where it is not inside, reading gives zeros and writing does nothing.
    Guarded { access: Access, is_inside: Value, ty: Ty },
    /// A group of parameters, or a matrix: a place for each field.
    Group { parts: Vec<Place>, ty: Ty },
}

impl Place {
    pub(super) fn ty(&self) -> &Ty {
        match self {
            Place::Register { ty, .. } | Place::Memory { ty, .. } | Place::Guarded { ty, .. } | Place::Group { ty, .. } => ty,
        }
    }

    /// Whether it stands for a parameter that was refused, of which there is nothing more to say.
    fn is_refused(&self) -> bool {
        matches!(self, Place::Group { parts, .. } if parts.is_empty())
    }
}

const WHOLE_GROUP: &str = "a group of parameters stays whole";
const USE_ITS_FIELDS: &str = "use its fields where they are needed, `p.x[i]`, or pass it on as it is";

/// The part of a tree at a path.
fn part<'t>(tree: &'t Tree, path: &[u32]) -> &'t Tree {
    path.iter().fold(tree, |tree, index| match tree {
        Tree::Node(children) => children.get(*index as usize).unwrap_or(tree),
        other => other,
    })
}

fn part_mut<'t>(tree: &'t mut Tree, path: &[u32]) -> Option<&'t mut Tree> {
    path.iter().try_fold(tree, |tree, index| match tree {
        Tree::Node(children) => children.get_mut(*index as usize),
        _ => None,
    })
}

impl Lowerer<'_, '_> {
    /// The place an expression names. What is no place is put into one.
    pub(super) fn place(&mut self, expr: &Expr) -> Place {
        match &expr.kind {
            ExprKind::Local(local) => {
                let var = self.var(*local);
                match &self.vars[var] {
                    Var::Place(place) => place.clone(),
                    _ => Place::Register { var, path: Vec::new(), ty: self.resolve(&expr.ty) },
                }
            }
            ExprKind::Field(base, index) => {
                let place = self.place(base);
                self.field_place(place, *index)
            }
            ExprKind::Index(base, index) => {
                let place = self.place(base);
                if let Place::Group { parts, ty: Ty::Matrix(element) } = &place {
                    let position = self.whole(index).leaves();
                    self.at(expr.span);
                    return self.matrix_element(parts, &position, element).unwrap_or(place);
                }
                let value = self.value(index);
                self.at(expr.span);
                if let Place::Group { parts, ty: Ty::MatrixBatch(element) } = place {
                    return self.matrix_of_batch(parts, value, *element);
                }
                self.index_place(place, value, index.span)
            }
            ExprKind::SharedOf(array, rank, _) => self.peer_place(array, rank, expr.span),
            ExprKind::Const(value @ (ConstValue::Array(_) | ConstValue::Tuple(_))) => {
                let ty = self.resolve(&expr.ty);
                match self.table(value, &ty) {
                    Some(place) => place,
                    None => self.temporary(expr),
                }
            }
            _ => self.temporary(expr),
        }
    }

    fn temporary(&mut self, expr: &Expr) -> Place {
        let ty = self.resolve(&expr.ty);
        let value = self.expression(expr);
        let tree = self.bound("temporary", &ty, value);
        self.vars.push(Var::Value(tree));
        Place::Register { var: self.vars.len() - 1, path: Vec::new(), ty }
    }

    fn field_place(&mut self, place: Place, index: u32) -> Place {
        if let Place::Group { parts, .. } = &place
            && let Some(part) = parts.get(index as usize)
        {
            return part.clone();
        }
        let inner = |ty: &Ty| if let Ty::Constant(inner) = ty { (**inner).clone() } else { ty.clone() };
        let parts = self.parts(&inner(place.ty())).unwrap_or_default();
        let ty = parts.get(index as usize).cloned().unwrap_or_else(Ty::unit);
        match place {
            Place::Register { var, mut path, .. } => {
                path.push(index);
                Place::Register { var, path, ty }
            }
            Place::Memory { mut access, .. } => {
                access.path.push(Step::Field(index));
                Place::Memory { access, ty }
            }
            Place::Guarded { mut access, is_inside, .. } => {
                access.path.push(Step::Field(index));
                Place::Guarded { access, is_inside, ty }
            }
            group @ Place::Group { .. } => group,
        }
    }

    /// The element of an array, slice or buffer.
    pub(super) fn index_place(&mut self, place: Place, index: Value, span: Span) -> Place {
        self.vector_place(place, index, 1, span)
    }

    /// The first of so many elements of one.
    pub(super) fn vector_place(&mut self, place: Place, index: Value, elements: usize, span: Span) -> Place {
        let mut ty = place.ty().clone();
        if let Ty::Constant(inner) = ty {
            ty = *inner;
        }
        let (element, len) = match ty {
            Ty::Array(element, len) => (*element, array_len(len)),
            Ty::Slice(element) | Ty::Global(element) => (*element, None),
            other => (other, None),
        };
        let mut guard = None;
        let mut access = match place {
            Place::Memory { access, .. } => access,
            Place::Guarded { access, is_inside, .. } => {
                guard = Some(is_inside);
                access
            }
            Place::Register { var, path, .. } => match self.register_array(var, &path) {
                Some(object) => Access { object, path: Vec::new() },
                None => {
                    // Of what was refused already there is nothing more to say.
                    if !self.context.diagnostics.borrow().has_errors() {
                        let help = "index the parameter or the array by its own name";
                        self.report(Diagnostic::error(span, "this cannot be indexed").help(help));
                    }
                    return Place::Register { var, path, ty: element };
                }
            },
            group @ Place::Group { .. } => {
                if !group.is_refused() {
                    let error = Diagnostic::error(span, "this cannot be indexed");
                    self.report(error.help("index one of its buffers: `.x[i]`").by_rustc());
                }
                return group;
            }
        };
        if self.kernel.options.bounds == BoundsCheck::Trap {
            self.check_bounds(&access, (index, elements), len);
        }
        access.path.push(Step::Index(index));
        match guard {
            Some(is_inside) => Place::Guarded { access, is_inside, ty: element },
            None => Place::Memory { access, ty: element },
        }
    }

    fn register_array(&self, var: usize, path: &[u32]) -> Option<crate::ir::Object> {
        let Var::Value(tree) = &self.vars[var] else { return None };
        match part(tree, path) {
            Tree::Array(object) => Some(*object),
            _ => None,
        }
    }

    /// `bounds = trap`: stops the kernel, naming the place, where the index is out of range, or that of the last of several elements.
    fn check_bounds(&mut self, access: &Access, (index, elements): (Value, usize), len: Option<u64>) {
        let ty = self.kernel.ty(index);
        let object = access.object;
        let array = match &self.kernel.objects[object] {
            // What a constant array is made of has no name in the source.
            ObjectData { kind: ObjectKind::Table(_), .. } => "a constant array".to_owned(),
            ObjectData { name, .. } => format!("`{name}`"),
        };
        let mut b = self.builder();
        let len = match len {
            Some(len) => b.int(ty, i128::from(len)),
            None => b.push1(Op::Compute(Compute::Len(object)), ty),
        };
        let last = if elements > 1 {
            // The first is a multiple of their number, a power of two; nothing wraps where it is not.
            let rest = b.int(ty, elements as i128 - 1);
            b.binary(BinaryOp::Or, index, rest)
        } else {
            index
        };
        let fits = b.compare(CompareOp::Lt, last, len);
        let what = if elements > 1 { format!("a vector of {elements} elements at index ") } else { "index ".to_owned() };
        let parts = vec![
            PrintPart::Text(what),
            PrintPart::Argument(None),
            PrintPart::Text(format!(" is out of range for {array} of length ")),
            PrintPart::Argument(None),
        ];
        b.push(Op::Message(Message::Assert(fits, parts, vec![index, len])), &[]);
    }

    /// The value at a place.
    pub(super) fn read(&mut self, place: &Place) -> Tree {
        match place {
            Place::Memory { ty: Ty::Global(_), .. } => {
                self.refuse_as_value("a buffer stays where it is", "use it where it is needed, `x[i]`, or pass it on to a function");
                self.unit()
            }
            Place::Memory { ty: Ty::Texture(_), .. } => {
                self.refuse_as_value("a texture stays where it is", "read it, `t.fetch(x, y)`, or pass it on to a function");
                self.unit()
            }
            Place::Memory { ty: Ty::Slice(_), .. } => {
                self.refuse_as_value(
                    "an array of the launch's length stays where it is",
                    "use it where it is needed, `tile[i]`, `tile.len()`",
                );
                self.unit()
            }
            Place::Memory { access, ty } => self.load_tree(access, ty),
            Place::Guarded { ty, .. } if self.is_too_large(ty) => self.unit(),
            Place::Guarded { access, is_inside, ty } => {
                self.branch(*is_inside, ty, |lowerer| lowerer.load_tree(access, ty), |lowerer| lowerer.zero(ty))
            }
            place if place.is_refused() => self.unit(),
            Place::Group { ty: ty @ (Ty::Matrix(_) | Ty::MatrixBatch(_)), .. } => {
                let what = format!("a `{}` stays where it is", self.context.show(ty));
                let place = if matches!(ty, Ty::Matrix(_)) { "a[(row, column)]" } else { "a[i][(row, column)]" };
                self.refuse_as_value(&what, &format!("use it where it is needed, `{place}`, or pass it on to a function"));
                self.unit()
            }
            Place::Register { var, path, ty } => match &self.vars[*var] {
                Var::Value(tree) => {
                    let tree = part(tree, path).clone();
                    self.detached(tree, ty)
                }
                Var::Place(inner) => {
                    let inner = inner.clone();
                    self.read(&inner)
                }
                Var::Undeclared => self.zero(&ty.clone()),
            },
            Place::Group { .. } => {
                self.refuse_as_value(WHOLE_GROUP, USE_ITS_FIELDS);
                self.unit()
            }
        }
    }

    /// What lies in memory of its own is no value.
    fn refuse_as_value(&self, what: &str, help: &str) {
        let span = self.spans.get(self.loc.0 as usize).copied().unwrap_or_else(Span::call_site);
        self.report(Diagnostic::error(span, format!("{what}: a variable cannot hold it")).help(help));
    }

    /// A variable's value as it is now: arrays are read out of their memory.
    fn detached(&mut self, tree: Tree, ty: &Ty) -> Tree {
        match tree {
            Tree::Array(object) => self.load_tree(&Access { object, path: Vec::new() }, ty),
            Tree::Node(children) => {
                let parts = self.parts(ty).unwrap_or_default();
                Tree::Node(children.into_iter().zip(&parts).map(|(child, ty)| self.detached(child, ty)).collect())
            }
            other => other,
        }
    }

    /// Assigns.
    pub(super) fn write(&mut self, place: &Place, value: Tree) {
        match place {
            place if place.is_refused() => {}
            Place::Group { .. } => self.refuse_as_value(WHOLE_GROUP, USE_ITS_FIELDS),
            Place::Memory { access, ty } => self.store_tree(access, ty, value),
            Place::Guarded { access, is_inside, ty } => self.only_if(*is_inside, |lowerer| lowerer.store_tree(access, ty, value)),
            Place::Register { var, path, ty } => {
                let Var::Value(mut tree) = self.vars[*var].clone() else {
                    // The first assignment of `let x;`.
                    let name = self.variable_name(*var);
                    let tree = self.bound(&name, ty, value);
                    self.vars[*var] = Var::Value(tree);
                    return;
                };
                if let Some(slot) = part_mut(&mut tree, path) {
                    let old = slot.clone();
                    *slot = self.replaced(old, ty, value);
                }
                self.vars[*var] = Var::Value(tree);
            }
        }
    }

    /// What a variable's part becomes: arrays keep their memory, scalars keep their names.
    fn replaced(&mut self, old: Tree, ty: &Ty, new: Tree) -> Tree {
        match (old, new) {
            (Tree::Array(object), new) => {
                self.store_tree(&Access { object, path: Vec::new() }, ty, new);
                Tree::Array(object)
            }
            (Tree::Node(old), Tree::Node(new)) => {
                let parts = self.parts(ty).unwrap_or_default();
                let pairs = old.into_iter().zip(new).zip(&parts);
                Tree::Node(pairs.map(|((old, new), ty)| self.replaced(old, ty, new)).collect())
            }
            (Tree::Leaf(old), Tree::Leaf(new)) => {
                if let Some(name) = self.kernel.values[old].name.clone()
                    && self.kernel.constant(new).is_none()
                {
                    self.name(new, &name);
                }
                Tree::Leaf(new)
            }
            (_, new) => new,
        }
    }

    fn variable_name(&self, var: usize) -> String {
        self.local_name(var).unwrap_or_else(|| "temporary".to_owned())
    }

    /// The source's name for a variable of the present function.
    pub(super) fn local_name(&self, var: usize) -> Option<String> {
        let frame = self.frame();
        let local = var.checked_sub(frame.base).and_then(|index| frame.body.locals.get(index));
        local.map(|local| local.name.clone())
    }

    /// A constant array as a table in constant memory, made once; only where all its scalars are of one type.
    fn table(&mut self, value: &ConstValue, ty: &Ty) -> Option<Place> {
        if !matches!(ty, Ty::Array(..)) {
            return None;
        }
        let memory = self.memory_type(ty)?;
        let mut scalars = Vec::new();
        self.flatten(value, ty, &mut scalars)?;
        let first = scalars.first()?.ty;
        if !scalars.iter().all(|scalar| scalar.ty == first) || !matches!(innermost(&memory), MemoryType::Scalar(_)) {
            return None;
        }
        let key = format!("{ty}{scalars:?}");
        let object = match self.tables.get(&key) {
            Some(object) => *object,
            None => {
                let name = format!("table{}", self.tables.len());
                let object = self.new_object(&name, ObjectKind::Table(scalars), memory);
                self.tables.insert(key, object);
                object
            }
        };
        Some(Place::Memory { access: Access { object, path: Vec::new() }, ty: ty.clone() })
    }

    fn flatten(&self, value: &ConstValue, ty: &Ty, scalars: &mut Vec<Scalar>) -> Option<()> {
        match (value, ty) {
            (ConstValue::Array(items), Ty::Array(element, _)) => items.iter().try_for_each(|item| self.flatten(item, element, scalars)),
            (ConstValue::Scalar(scalar), _) => {
                scalars.push(*scalar);
                Some(())
            }
            (ConstValue::Index(value, _), _) => {
                scalars.push(Scalar::int(self.scalar(ty)?, *value));
                Some(())
            }
            _ => None,
        }
    }
}

fn innermost(ty: &MemoryType) -> &MemoryType {
    match ty {
        MemoryType::Array(element, _) | MemoryType::Slice(element) => innermost(element),
        other => other,
    }
}
