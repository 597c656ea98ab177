//! Whether two accesses may touch the same memory.
//!
//! Different objects have no memory in common. Within one, paths are compared step by step: other fields are other memory, and indices are polynomials
//! (`affine`), of which one that surely differs is enough. Who asks says which numbers are surely not 0: wherever in the kernel
//! ([`Affine::is_nonzero`]) or where both accesses run ([`Affine::is_nonzero_given`]). Once paths have become pointers, the bytes behind one pointer are
//! compared.

use super::affine::{Affine, Atom, Polynomial};
use crate::collections::HashMap;
use crate::ir::{Access, Address, Kernel, Object, Step, Value};

/// What an access touches: some scalars one after the other, from where its path leads on.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryLocation {
    /// In which object.
    pub object: Object,
    /// The way to the first scalar.
    pub path: Vec<PathStep>,
    /// How many scalars.
    pub scalars: i64,
}

/// A step of the way.
#[derive(Clone, Debug, PartialEq)]
pub enum PathStep {
    /// A struct's field.
    Field(u32),
    /// An array's element.
    Index(Polynomial),
}

impl MemoryLocation {
    /// Of an access to so many scalars.
    pub fn of(kernel: &Kernel, affine: &mut Affine, access: &Access, scalars: usize) -> MemoryLocation {
        let in_row = scalars == 1 || access.is_row(kernel, scalars);
        // Parts of an element that are no row count as all of it.
        let whole = if in_row { None } else { access.enclosing(kernel) };
        let path = access.path.iter().take(whole.map_or(access.path.len(), |whole| whole.steps)).map(|step| match step {
            Step::Field(field) => PathStep::Field(*field),
            Step::Index(index) => PathStep::Index(affine.polynomial(kernel, *index)),
        });
        MemoryLocation { object: access.object, path: path.collect(), scalars: if in_row { scalars as i64 } else { 1 } }
    }

    /// Whether the two surely have no scalar in common.
    pub fn is_apart(&self, other: &MemoryLocation, is_nonzero: &dyn Fn(&Polynomial) -> bool) -> bool {
        let last = self.path.len().max(other.path.len()).saturating_sub(1);
        let differs = |(n, pair): (usize, (&PathStep, &PathStep))| match pair {
            (PathStep::Field(a), PathStep::Field(b)) => a != b,
            (PathStep::Index(a), PathStep::Index(b)) => {
                let difference = a.minus(b);
                let (own, others) = if n == last { (self.scalars, other.scalars) } else { (1, 1) };
                // Elements a … a + own − 1 and b … b + others − 1 have none in common.
                ((1 - own)..others).all(|k| is_nonzero(&difference.minus(&Polynomial::constant(difference.bits(), k))))
            }
            _ => false,
        };
        self.object != other.object || self.path.iter().zip(&other.path).enumerate().any(differs)
    }

    /// The same with other indices; `None` where one of them is none.
    pub fn with_indices(&self, mut change: impl FnMut(&Polynomial) -> Option<Polynomial>) -> Option<MemoryLocation> {
        let step = |step: &PathStep| match step {
            PathStep::Field(field) => Some(PathStep::Field(*field)),
            PathStep::Index(index) => change(index).map(PathStep::Index),
        };
        Some(MemoryLocation { path: self.path.iter().map(step).collect::<Option<_>>()?, ..*self })
    }

    /// The same at another time, when what `names` has is another number.
    #[must_use]
    pub(crate) fn renamed(&self, names: &HashMap<Atom, Atom>) -> MemoryLocation {
        self.with_indices(|index| Some(index.renamed(names))).unwrap_or_else(|| self.clone())
    }

    /// Another number for each that the indices are made of and that varies.
    pub(crate) fn varying(&self, affine: &mut Affine, varies: &dyn Fn(&Affine, Atom) -> bool) -> HashMap<Atom, Atom> {
        let mut others = HashMap::default();
        for atom in self.indices().flat_map(Polynomial::atoms) {
            if varies(affine, atom) && !others.contains_key(&atom) {
                others.insert(atom, affine.fresh(atom));
            }
        }
        others
    }

    /// The indices of the path.
    pub fn indices(&self) -> impl Iterator<Item = &Polynomial> {
        self.path.iter().filter_map(PathStep::index)
    }

    /// The last index, if the path ends in one.
    pub fn last_index(&self) -> Option<&Polynomial> {
        self.path.last().and_then(PathStep::index)
    }
}

impl PathStep {
    /// The index that it is.
    pub fn index(&self) -> Option<&Polynomial> {
        match self {
            PathStep::Index(index) => Some(index),
            PathStep::Field(_) => None,
        }
    }
}

/// Bytes behind a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointedBytes {
    ptr: Value,
    from: i64,
    to: i64,
}

impl PointedBytes {
    /// So many bytes at an address, if that has become a pointer.
    pub fn of(at: &Address, bytes: u32) -> Option<PointedBytes> {
        match at {
            Address::Pointer { ptr, offset, .. } => {
                let from = i64::from(*offset);
                Some(PointedBytes { ptr: *ptr, from, to: from + i64::from(bytes) })
            }
            Address::Path(_) => None,
        }
    }

    /// Whether the two may have a byte in common: behind different pointers there may be the same memory.
    pub fn may_overlap(&self, other: &PointedBytes) -> bool {
        self.ptr != other.ptr || (self.from < other.to && other.from < self.to)
    }
}
