//! Aggregates between memory and values.

use super::Lowerer;
use super::environment::Tree;
use crate::diagnostic::Diagnostic;
use crate::hir::check::array_len;
use crate::hir::definitions::MOST_SCALARS;
use crate::hir::types::Ty;
use crate::ir::{Access, ObjectKind, Op, Region, Step, Terminator, Type, Value};

/// Arrays of more scalars than this are filled and copied in memory, by a loop, instead of through values: no register file has room for more,
/// and an array that is filled by a loop stays in memory.
const MOST_ARRAY_VALUES: u64 = 256;

/// Arrays of more scalars than this are not passed or joined as values.
const MOST_JOINED_VALUES: u64 = 1024;

/// Name of an array that was just filled and that no variable has taken yet; not a name that source can have.
const FILLED: &str = "[filled]";

impl Lowerer<'_, '_> {
    /// How many scalars a value of this type has. An element of an array without any counts as one: it takes as long to go through.
    pub(super) fn scalar_count(&self, ty: &Ty) -> u64 {
        match ty {
            Ty::Array(element, len) => self.scalar_count(element).max(1).saturating_mul(array_len(*len).unwrap_or(0)),
            _ => match self.parts(ty) {
                Some(parts) => parts.iter().map(|part| self.scalar_count(part)).fold(0, u64::saturating_add),
                None => 1,
            },
        }
    }

    fn step(&mut self, access: &Access, step: Step) -> Access {
        let mut path = access.path.clone();
        path.push(step);
        Access { object: access.object, path }
    }

    fn element(&mut self, access: &Access, index: u64) -> Access {
        let ty = self.kernel.index_type();
        let index = self.builder().int(ty, i128::from(index));
        self.step(access, Step::Index(index))
    }

    /// Reads a value.
    pub(super) fn load_tree(&mut self, access: &Access, ty: &Ty) -> Tree {
        if let Ty::Constant(inner) = ty {
            return self.load_tree(access, inner);
        }
        if matches!(ty, Ty::Array(..)) && self.scalar_count(ty) > MOST_ARRAY_VALUES {
            return Tree::Memory(access.clone(), ty.clone());
        }
        if self.is_too_large(ty) { self.unit() } else { self.load_values(access, ty) }
    }

    /// Whether a struct has more scalars than a thread can hold as one value, its arrays counted whole, as they are where it is moved; says so.
    pub(super) fn is_too_large(&mut self, ty: &Ty) -> bool {
        !matches!(ty, Ty::Array(..)) && !self.fits_a_value(ty)
    }

    /// Whether a type has no more scalars than a thread can hold as one value; says so where it has.
    pub(super) fn fits_a_value(&mut self, ty: &Ty) -> bool {
        let count = self.scalar_count(ty);
        if count <= MOST_SCALARS {
            return true;
        }
        let message = format!("a `{}` of {count} scalars is moved as a value; at most {MOST_SCALARS} can be", self.context.show(ty));
        self.report(
            Diagnostic::error(self.spans[self.loc.0 as usize], message)
                .help("read and write its fields, and the elements of its arrays, where they are"),
        );
        false
    }

    /// Whether it is an array, or has one among its fields.
    pub(super) fn has_array(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Array(..)) || self.parts(ty).is_some_and(|parts| parts.iter().any(|part| self.has_array(part)))
    }

    fn load_values(&mut self, access: &Access, ty: &Ty) -> Tree {
        if let Some(scalar) = self.scalar(ty) {
            let access = access.clone();
            return Tree::Leaf(self.builder().push1(Op::load(access), scalar));
        }
        if let Some(parts) = self.parts(ty) {
            let mut fields = Vec::new();
            for (index, part) in (0..).zip(&parts) {
                let access = self.step(access, Step::Field(index));
                fields.push(self.load_values(&access, part));
            }
            return Tree::Node(fields);
        }
        if let Ty::Array(element, len) = ty {
            let len = array_len(*len).unwrap_or(0);
            let mut elements = Vec::new();
            for index in 0..len {
                let access = self.element(access, index);
                elements.push(self.load_values(&access, element));
            }
            return Tree::Node(elements);
        }
        self.unit()
    }

    /// A value with all its scalars at hand.
    pub(super) fn materialized(&mut self, tree: Tree) -> Tree {
        match tree {
            Tree::Memory(access, ty) => {
                let count = self.scalar_count(&ty);
                if count > MOST_JOINED_VALUES {
                    let span = self.spans[self.loc.0 as usize];
                    let message = format!("an array of {count} scalars is moved as a value; at most {MOST_JOINED_VALUES} can be");
                    self.report(Diagnostic::error(span, message).help("index it where it is"));
                    return self.unit();
                }
                self.load_values(&access, &ty)
            }
            Tree::Node(children) => Tree::Node(children.into_iter().map(|child| self.materialized(child)).collect()),
            other => other,
        }
    }

    /// Writes a value.
    pub(super) fn store_tree(&mut self, access: &Access, ty: &Ty, value: Tree) {
        match value {
            Tree::Leaf(value) => {
                let access = access.clone();
                self.builder().push(Op::store(access, vec![value]), &[]);
            }
            Tree::Node(children) => {
                if let Ty::Array(element, _) = ty {
                    for (index, child) in (0..).zip(children) {
                        let access = self.element(access, index);
                        self.store_tree(&access, element, child);
                    }
                    return;
                }
                let parts = self.parts(ty).unwrap_or_default();
                for ((index, part), child) in (0..).zip(&parts).zip(children) {
                    let access = self.step(access, Step::Field(index));
                    self.store_tree(&access, part, child);
                }
            }
            Tree::Array(object) => {
                let value = self.load_tree(&Access { object, path: Vec::new() }, ty);
                self.store_tree(access, ty, value);
            }
            Tree::Memory(from, ty) => {
                let Ty::Array(element, len) = &ty else { return };
                let (element, access) = ((**element).clone(), access.clone());
                self.for_each_index(array_len(*len).unwrap_or(0), |lowerer, index| {
                    let from = lowerer.step(&from, Step::Index(index));
                    let to = lowerer.step(&access, Step::Index(index));
                    let value = lowerer.load_tree(&from, &element);
                    lowerer.store_tree(&to, &element, value);
                });
            }
        }
    }

    /// A loop over `0..len` in which nothing but memory changes.
    fn for_each_index(&mut self, len: u64, body: impl FnOnce(&mut Self, Value)) {
        let ty = self.kernel.index_type();
        let inner = self.kernel.new_block(&[ty]);
        let mut b = self.builder();
        let (start, end, step) = (b.int(ty, 0), b.int(ty, i128::from(len)), b.int(ty, 1));
        b.push(Op::Region(Region::For { start, end, step, init: Vec::new(), body: inner, keep_rolled: false }), &[]);
        let outer = std::mem::replace(&mut self.block, inner);
        let index = self.kernel.blocks[inner].params[0];
        body(self, index);
        self.builder().push(Op::Terminator(Terminator::Yield(Vec::new())), &[]);
        self.block = outer;
    }

    /// A value as a variable keeps it: arrays get memory of their own.
    pub(super) fn bound(&mut self, name: &str, ty: &Ty, value: Tree) -> Tree {
        match (ty, value) {
            (Ty::Array(..), Tree::Memory(access, _)) if access.path.is_empty() && self.kernel.objects[access.object].name == FILLED => {
                self.kernel.objects[access.object].name = name.to_owned();
                Tree::Array(access.object)
            }
            (Ty::Array(..), value) => {
                let Some(memory) = self.memory_type(ty) else { return value };
                let object = self.new_object(name, ObjectKind::Local, memory);
                self.store_tree(&Access { object, path: Vec::new() }, ty, value);
                Tree::Array(object)
            }
            (_, Tree::Leaf(value)) => {
                if self.kernel.constant(value).is_none() {
                    self.name(value, name);
                }
                Tree::Leaf(value)
            }
            (_, Tree::Node(children)) => {
                let fields = self.context.field_types(ty);
                let parts = self.parts(ty).unwrap_or_default();
                let one = |(index, (child, part)): (usize, (Tree, &Ty))| {
                    let field = fields.as_ref().and_then(|f| f.get(index)).map_or_else(|| index.to_string(), |(name, _)| name.clone());
                    self.bound(&format!("{name}_{field}"), part, child)
                };
                Tree::Node(children.into_iter().zip(&parts).enumerate().map(one).collect())
            }
            (_, other) => other,
        }
    }

    /// A variable of this type that holds nothing yet.
    pub(super) fn unset(&mut self, name: &str, ty: &Ty) -> Tree {
        if let Ty::Array(..) = ty
            && let Some(memory) = self.memory_type(ty)
        {
            return Tree::Array(self.new_object(name, ObjectKind::Local, memory));
        }
        if self.scalar(ty).is_none()
            && let Some(parts) = self.parts(ty)
        {
            return Tree::Node(parts.iter().map(|part| self.unset(name, part)).collect());
        }
        self.zero(ty)
    }

    /// `[value; n]` with more scalars than travel as values: memory filled by a loop.
    pub(super) fn repeated(&mut self, value: &Tree, element: &Ty, len: u64) -> Tree {
        let value = self.materialized(value.clone());
        if self.scalar_count(element).max(1).saturating_mul(len) <= MOST_ARRAY_VALUES {
            return Tree::Node(vec![value; usize::try_from(len).unwrap_or(0)]);
        }
        let ty = Ty::Array(Box::new(element.clone()), crate::hir::types::Const::Value(i128::from(len)));
        let Some(memory) = self.memory_type(&ty) else { return self.unit() };
        let object = self.new_object(FILLED, ObjectKind::Local, memory);
        let access = Access { object, path: Vec::new() };
        let target = access.clone();
        self.for_each_index(len, |lowerer, index| {
            let to = lowerer.step(&target, Step::Index(index));
            lowerer.store_tree(&to, element, value);
        });
        Tree::Memory(access, ty)
    }

    /// The type of a value's scalars.
    pub(super) fn leaf_types(&self, ty: &Ty) -> Vec<Type> {
        if let Some(scalar) = self.scalar(ty) {
            return vec![scalar];
        }
        if let Some(parts) = self.parts(ty) {
            return parts.iter().flat_map(|part| self.leaf_types(part)).collect();
        }
        match ty {
            Ty::Array(element, len) if self.scalar_count(ty) <= MOST_JOINED_VALUES => {
                let one = self.leaf_types(element);
                (0..array_len(*len).unwrap_or(0)).flat_map(|_| one.clone()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A value of this type made of these scalars.
    pub(super) fn tree_of(&mut self, ty: &Ty, values: &[Value]) -> Tree {
        let mut values = values.iter().copied();
        self.shaped(ty, &mut |lowerer, scalar| {
            values.next().unwrap_or_else(|| lowerer.builder().constant(crate::ir::Scalar::new(scalar, 0)))
        })
    }
}
