//! Where in its object an access with constant indices is, and what the address of any is surely a multiple of.

use crate::ir::{Access, Kernel, MemoryType, Step};

/// Bytes of one access, at most (PTX ISA, "Vectors": 128 bits), and what every buffer begins at a multiple of.
pub const MOST_BYTES: u64 = 16;

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

/// What the address of a place is surely a multiple of, in bytes, up to [`MOST_BYTES`]: whatever its indices are that are no constants.
pub fn alignment(kernel: &Kernel, place: &Access) -> u64 {
    let data = &kernel.objects[place.object];
    // Buffers begin at multiples of 256 bytes (CUDA) or 128 (OpenCL); arrays at what `backend` declares: their size, if that is less than 16.
    let begin = if matches!(data.ty, MemoryType::Slice(_)) {
        MOST_BYTES
    } else {
        data.ty.size(&kernel.structs).min(MOST_BYTES).next_power_of_two()
    };
    let mut align = begin.min(MOST_BYTES);
    let mut ty = &data.ty;
    for step in &place.path {
        let bytes = match (step, ty) {
            (Step::Field(field), MemoryType::Struct(id)) => {
                let field = &kernel.structs[*id].fields[*field as usize];
                ty = &field.ty;
                field.offset
            }
            (Step::Index(index), MemoryType::Array(element, _) | MemoryType::Padded(element, ..) | MemoryType::Slice(element)) => {
                ty = element;
                element.size(&kernel.structs).saturating_mul(kernel.constant(*index).map_or(1, |index| index.bits))
            }
            _ => return 1,
        };
        if bytes > 0 {
            align = align.min(1 << bytes.trailing_zeros());
        }
    }
    align
}
