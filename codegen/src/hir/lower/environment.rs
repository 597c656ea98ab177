//! What variables hold, and how they are carried through control flow.

use super::Lowerer;
use super::place::Place;
use crate::hir::types::Ty;
use crate::ir::{Access, Object, Scalar, Type, Value};

/// A value of the language: scalars in the shape of its type.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    Leaf(Value),
    /// Fields of a struct or tuple, elements of an array.
    Node(Vec<Tree>),
    /// In a variable: an array, in memory of its own.
    Array(Object),
    /// On the way: an array too large for values, to be copied from where it lies before anything else runs.
    Memory(Access, Ty),
}

/// A variable.
#[derive(Clone, Debug)]
pub(super) enum Var {
    Undeclared,
    Value(Tree),
    /// Another name for a place.
    Place(Place),
}

impl Tree {
    /// A value of one or several scalars.
    pub(super) fn of(values: &[Value]) -> Tree {
        match values {
            [one] => Tree::Leaf(*one),
            many => Tree::Node(many.iter().map(|value| Tree::Leaf(*value)).collect()),
        }
    }

    /// The scalars, in order.
    pub(super) fn leaves(&self) -> Vec<Value> {
        match self {
            Tree::Leaf(value) => vec![*value],
            Tree::Node(children) => children.iter().flat_map(Tree::leaves).collect(),
            Tree::Array(_) | Tree::Memory(..) => Vec::new(),
        }
    }

    /// Replaces the scalars, in order.
    pub(super) fn replace_leaves(&mut self, values: &mut impl Iterator<Item = Value>) {
        match self {
            Tree::Leaf(value) => {
                if let Some(new) = values.next() {
                    *value = new;
                }
            }
            Tree::Node(children) => children.iter_mut().for_each(|child| child.replace_leaves(values)),
            Tree::Array(_) | Tree::Memory(..) => {}
        }
    }
}

impl Var {
    pub(super) fn leaves(&self) -> Vec<Value> {
        if let Var::Value(tree) = self { tree.leaves() } else { Vec::new() }
    }

    pub(super) fn replace_leaves(&mut self, values: &mut impl Iterator<Item = Value>) {
        if let Var::Value(tree) = self {
            tree.replace_leaves(values);
        }
    }
}

impl Lowerer<'_, '_> {
    /// The scalars that these variables hold now.
    pub(super) fn leaves_of(&self, vars: &[usize]) -> Vec<Value> {
        vars.iter().flat_map(|var| self.vars[*var].leaves()).collect()
    }

    /// Gives these variables new scalars, with the source's names on them.
    pub(super) fn set_leaves(&mut self, vars: &[usize], values: &[Value]) {
        let mut next = values.iter();
        for var in vars {
            for (old, new) in self.leaves_of(&[*var]).into_iter().zip(&mut next) {
                self.name_joined(*var, old, *new);
            }
        }
        let mut values = values.iter().copied();
        for var in vars {
            self.vars[*var].replace_leaves(&mut values);
        }
    }

    /// Names the value that a variable has behind or in a construct that changes it: by the variable, or by the part of it that
    /// the value before was. A constant has no name of its own, but the variable that begins with it has.
    pub(super) fn name_joined(&mut self, var: usize, before: Value, now: Value) {
        let name = match &self.vars[var] {
            Var::Value(Tree::Leaf(_)) => self.local_name(var),
            _ => None,
        };
        if let Some(name) = name.or_else(|| self.kernel.values[before].name.as_deref().map(str::to_owned)) {
            self.name(now, &name);
        }
    }

    pub(super) fn types_of(&self, values: &[Value]) -> Vec<Type> {
        values.iter().map(|value| self.kernel.ty(*value)).collect()
    }

    /// A value of this type whose scalars are what `leaf` makes for each scalar type.
    pub(super) fn shaped(&mut self, ty: &Ty, leaf: &mut impl FnMut(&mut Self, Type) -> Value) -> Tree {
        if self.fits_a_value(ty) { self.shaped_whole(ty, leaf) } else { self.unit() }
    }

    fn shaped_whole(&mut self, ty: &Ty, leaf: &mut impl FnMut(&mut Self, Type) -> Value) -> Tree {
        if let Some(scalar) = self.scalar(ty) {
            return Tree::Leaf(leaf(self, scalar));
        }
        if let Some(parts) = self.parts(ty) {
            return Tree::Node(parts.iter().map(|part| self.shaped_whole(part, leaf)).collect());
        }
        if let Ty::Array(element, len) = ty
            && let Some(len) = crate::hir::check::array_len(*len)
        {
            return Tree::Node((0..len).map(|_| self.shaped_whole(element, leaf)).collect());
        }
        Tree::Node(Vec::new())
    }

    /// Zeros: what a variable that was not initialised holds where control joins.
    pub(super) fn zero(&mut self, ty: &Ty) -> Tree {
        self.shaped(ty, &mut |lowerer, scalar| lowerer.builder().constant(Scalar::new(scalar, 0)))
    }
}
