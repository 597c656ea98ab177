//! A place in memory, as the source names it: an object and the steps into it.

use super::{Kernel, MemoryType, Object, Type, Value};

/// One step into an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Into an array or slice, by an integer value (`u32`, or `u64` with `index = 64`).
    Index(Value),
    /// Into a struct, by field number.
    Field(u32),
}

/// A place: `m0[v3].1[v5]`. Kept whole until addresses are made, so that analyses and readable back ends see the indices.
///
/// Invariant: the path leads from the object's type to a scalar.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The object.
    pub object: Object,
    /// The steps, outermost first.
    pub path: Vec<Step>,
}

impl Access {
    /// The values that index it, outermost first.
    pub fn indices(&self) -> impl Iterator<Item = Value> + '_ {
        self.path.iter().filter_map(|step| match step {
            Step::Index(value) => Some(*value),
            Step::Field(_) => None,
        })
    }

    /// What the path leads to; `None` if the object's type has no such path.
    pub fn leads_to<'k>(&self, kernel: &'k Kernel) -> Option<&'k MemoryType> {
        self.types(kernel).map(|types| types[self.path.len()])
    }

    /// The place taken apart where its constant end begins: what the last index leads to that is no constant, and where in that the place is.
    /// The index of a slice counts as no constant, since its length is the launch's.
    pub fn enclosing<'k>(&self, kernel: &'k Kernel) -> Option<Enclosing<'k>> {
        let types = self.types(kernel)?;
        let is_open = |(n, step): (usize, &Step)| match step {
            Step::Index(index) => matches!(types[n], MemoryType::Slice(_)) || kernel.constant(*index).is_none(),
            Step::Field(_) => false,
        };
        let steps = (0..self.path.len()).rev().find(|n| is_open((*n, &self.path[*n]))).map_or(0, |n| n + 1);
        let mut offset = 0u64;
        for (step, ty) in self.path.iter().zip(&types).skip(steps) {
            offset = offset.checked_add(match (step, ty) {
                (Step::Field(field), MemoryType::Struct(id)) => kernel.structs[*id].fields[*field as usize].offset,
                (Step::Index(index), _) => ty.element()?.size(&kernel.structs).checked_mul(kernel.constant(*index)?.bits)?,
                (Step::Field(_), _) => return None,
            })?;
        }
        Some(Enclosing { steps, ty: types[steps], offset })
    }

    /// The types of so many scalars from here on, side by side; padding counts as scalars of the first one's type. `None` if they are no vector's: more than
    /// the element has, or of different widths. A row's scalars are counted on whatever its length: bounds are not asked here.
    pub fn scalars(&self, kernel: &Kernel, count: usize) -> Option<Vec<Type>> {
        let MemoryType::Scalar(first) = *self.leads_to(kernel)? else { return None };
        if let Some(all) = self.beyond_row(kernel, count) {
            return Some(all);
        }
        (count == 1 || self.ends_in_index()).then(|| vec![first; count])
    }

    /// Whether so many scalars from here on are neighbours in the innermost array, and not parts of the element round it.
    pub fn is_row(&self, kernel: &Kernel, count: usize) -> bool {
        self.ends_in_index() && self.beyond_row(kernel, count).is_none()
    }

    fn ends_in_index(&self) -> bool {
        matches!(self.path.last(), Some(Step::Index(_)))
    }

    /// The types of several scalars that an innermost array, if there is one, does not have all, and the element round it does.
    fn beyond_row(&self, kernel: &Kernel, count: usize) -> Option<Vec<Type>> {
        let types = self.types(kernel)?;
        let row = self.path.len().checked_sub(1)?;
        if let (Step::Index(index), ty) = (self.path[row], types[row]) {
            let (MemoryType::Array(_, len) | MemoryType::Padded(_, len, _)) = ty else { return None };
            if u128::from(kernel.constant(index)?.bits) + count as u128 <= u128::from(*len) {
                return None;
            }
        }
        let Enclosing { ty, offset, .. } = self.enclosing(kernel)?;
        let MemoryType::Scalar(first) = types[row + 1] else { return None };
        let width = u64::from(first.bytes());
        let has_all = offset + count as u64 * width <= ty.size(&kernel.structs);
        // What is between fields is no field's: it is moved as if it were more of the first.
        let at = |n: u64| ty.scalar_at(offset + n * width, &kernel.structs).unwrap_or(*first);
        let all: Vec<Type> = (0..count as u64).map(at).collect();
        (count > 1 && has_all && all.iter().all(|ty| ty.bytes() == first.bytes())).then_some(all)
    }

    /// The types on the way: the object's, then what each step leads to.
    fn types<'k>(&self, kernel: &'k Kernel) -> Option<Vec<&'k MemoryType>> {
        let mut types = vec![&kernel.objects[self.object].ty];
        for step in &self.path {
            let ty = types[types.len() - 1];
            types.push(match (step, ty) {
                (Step::Field(field), MemoryType::Struct(id)) => &kernel.structs.get(*id)?.fields.get(*field as usize)?.ty,
                (Step::Index(_), ty) => ty.element()?,
                (Step::Field(_), _) => return None,
            });
        }
        Some(types)
    }
}

/// A place, as bytes from the start of what its last index leads to that is no constant.
#[derive(Clone, Copy, Debug)]
pub struct Enclosing<'k> {
    /// Steps up to and with that index.
    pub steps: usize,
    /// What they lead to.
    pub ty: &'k MemoryType,
    /// Bytes from its start.
    pub offset: u64,
}
