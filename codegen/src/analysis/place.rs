//! Where in its object an access with constant indices is.

use crate::ir::{Access, Kernel, MemoryType, Step};

/// How many scalars a type has.
pub fn scalars_of(kernel: &Kernel, ty: &MemoryType) -> usize {
    match ty {
        MemoryType::Scalar(_) => 1,
        MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) => {
            scalars_of(kernel, element).saturating_mul(usize::try_from(*n).unwrap_or(usize::MAX))
        }
        MemoryType::Slice(_) => usize::MAX / 2,
        MemoryType::Struct(id) => kernel.structs[*id].fields.iter().fold(0, |sum, field| sum.saturating_add(scalars_of(kernel, &field.ty))),
    }
}

/// The number, within its object, of the first scalar of an access: if all indices are constants within range.
pub fn constant_place(kernel: &Kernel, access: &Access, scalars: usize) -> Option<usize> {
    let mut ty = &kernel.objects[access.object].ty;
    let mut place = 0;
    for (n, step) in access.path.iter().enumerate() {
        match (step, ty) {
            (Step::Field(field), MemoryType::Struct(id)) => {
                let (before, rest) = kernel.structs[*id].fields.split_at_checked(*field as usize)?;
                place += before.iter().map(|field| scalars_of(kernel, &field.ty)).sum::<usize>();
                ty = &rest.first()?.ty;
            }
            (Step::Index(index), MemoryType::Array(element, len) | MemoryType::Padded(element, len, _)) => {
                let index = usize::try_from(kernel.constant(*index)?.bits).ok()?;
                let touched = if n + 1 == access.path.len() { scalars } else { 1 };
                if index.checked_add(touched)? as u64 > *len {
                    return None;
                }
                place += index * scalars_of(kernel, element);
                ty = element;
            }
            _ => return None,
        }
    }
    matches!(ty, MemoryType::Scalar(_)).then_some(place)
}
