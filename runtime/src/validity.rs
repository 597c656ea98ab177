//! Bytes that are no value: a `bool` of 7, an enum's integer that no variant has, zeroed memory of an enum without a variant 0.

#![expect(unsafe_code, reason = "looks at values as plain bytes")]

use crate::element::{Element, ElementType, EnumType, StructType};
use crate::error::{Error, Result};
use std::mem::MaybeUninit;
use std::slice;

impl ElementType {
    /// Whether some bytes are no value of it: it is or holds a `bool` or an enum.
    pub(crate) fn has_invalid_values(&self) -> bool {
        match self {
            ElementType::Scalar(name) => *name == "bool",
            ElementType::Enum(_) => true,
            ElementType::Array(element, length) => *length != 0 && element.has_invalid_values(),
            ElementType::Struct(StructType { fields, .. }) | ElementType::Tuple(fields) => {
                fields.list.iter().any(|field| field.ty.has_invalid_values())
            }
        }
    }

    /// Whether it has bytes that belong to no field.
    pub(crate) fn has_padding(&self) -> bool {
        match self {
            ElementType::Scalar(_) | ElementType::Enum(_) | ElementType::Array(_, 0) => false,
            ElementType::Array(element, _) => element.has_padding(),
            ElementType::Struct(StructType { fields, .. }) | ElementType::Tuple(fields) => {
                let used: usize = fields.list.iter().map(|field| field.ty.size()).sum();
                used != fields.size || fields.list.iter().any(|field| field.ty.has_padding())
            }
        }
    }

    /// The enum within it that has no variant 0, if there is one: then zero bytes are no value.
    pub(crate) fn enum_without_zero(&self) -> Option<&'static EnumType> {
        match self {
            ElementType::Scalar(_) | ElementType::Array(_, 0) => None,
            ElementType::Enum(ty) => (!ty.discriminants.contains(&0)).then_some(ty),
            ElementType::Array(element, _) => element.enum_without_zero(),
            ElementType::Struct(StructType { fields, .. }) | ElementType::Tuple(fields) => {
                fields.list.iter().find_map(|field| field.ty.enum_without_zero())
            }
        }
    }

    /// An error if zero bytes are no value of it.
    pub(crate) fn check_zero(&self) -> Result<()> {
        match self.enum_without_zero() {
            None => Ok(()),
            Some(within) => Err(Error::NoZero { element: self.to_string(), within: within.id.name }),
        }
    }
}

/// Makes values of what are none, in `count` elements one after the other. A kernel that wrote out of bounds may have left such bytes:
/// any but 0 then counts as `true`, and what is no variant becomes the first one.
///
/// # Safety
/// The elements at `address` can be written and are initialised, but for padding.
pub(crate) unsafe fn make_valid(ty: &ElementType, address: *mut u8, count: usize) {
    // SAFETY: the caller's promise.
    unsafe { mend(ty, address, count, ty.size()) };
}

/// A value of zero bytes; of an enum without a variant 0 the first one.
pub(crate) fn zero<T: Element>() -> T {
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: one element, initialised, then made a value.
    unsafe {
        make_valid(&T::TYPE, value.as_mut_ptr().cast(), 1);
        value.assume_init()
    }
}

/// The same for elements whose starts are `stride` bytes apart: the type is looked at once for all of them.
///
/// # Safety
/// As of [`make_valid`].
unsafe fn mend(ty: &ElementType, address: *mut u8, count: usize, stride: usize) {
    if count == 0 || !ty.has_invalid_values() {
        return;
    }
    // SAFETY: within the elements that the caller vouches for.
    let at = |offset: usize| unsafe { address.add(offset) };
    match ty {
        ElementType::Scalar(_) => (0..count).for_each(|i| {
            // SAFETY: a byte of those elements.
            let byte = unsafe { &mut *at(i * stride) };
            *byte = u8::from(*byte != 0);
        }),
        ElementType::Enum(enumeration) => (0..count).for_each(|i| {
            // SAFETY: an integer of those elements, which has no padding.
            mend_enum(enumeration, unsafe { slice::from_raw_parts_mut(at(i * stride), ty.size()) });
        }),
        // SAFETY: the same elements, counted otherwise.
        ElementType::Array(element, length) if count == 1 || stride == ty.size() => unsafe {
            mend(element, address, count * length, element.size());
        },
        ElementType::Array(element, length) => {
            // SAFETY: of each array the `i`-th element.
            (0..*length).for_each(|i| unsafe { mend(element, at(i * element.size()), count, stride) });
        }
        ElementType::Struct(StructType { fields, .. }) | ElementType::Tuple(fields) => {
            // SAFETY: of each struct this field.
            fields.list.iter().for_each(|field| unsafe { mend(&field.ty, at(field.offset), count, stride) });
        }
    }
}

/// The bytes of one value of an enum, little-endian.
fn mend_enum(ty: &EnumType, bytes: &mut [u8]) {
    let has_value = |value: &i128| value.to_le_bytes()[..bytes.len()] == *bytes;
    if let (false, Some(first)) = (ty.discriminants.iter().any(has_value), ty.discriminants.first()) {
        bytes.copy_from_slice(&first.to_le_bytes()[..bytes.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{Element, Field, Fields};
    use crate::tests::type_name;

    const MODE: ElementType = ElementType::Enum(&EnumType { id: type_name("Mode"), repr: "i16", discriminants: &[-2, 3] });

    fn mended(ty: &ElementType, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        // SAFETY: whole elements.
        unsafe { make_valid(ty, bytes.as_mut_ptr(), bytes.len() / ty.size()) };
        bytes
    }

    #[test]
    fn bytes_that_are_no_bool_or_variant_become_one() {
        assert_eq!(mended(&bool::TYPE, &[0, 1, 2, 255]), [0, 1, 1, 1]);
        assert_eq!(mended(&u8::TYPE, &[0, 1, 2, 255]), [0, 1, 2, 255]);
        // -2 and 3 are variants; -2 stands in for 0 and 259.
        assert_eq!(mended(&MODE, &[0xfe, 0xff, 3, 0, 0, 0, 3, 1]), [0xfe, 0xff, 3, 0, 0xfe, 0xff, 0xfe, 0xff]);
    }

    #[test]
    fn they_are_found_within_arrays_and_structs() {
        const FLAGS: ElementType = ElementType::Array(&bool::TYPE, 2);
        const STRUCT: ElementType = ElementType::Struct(&StructType {
            id: type_name("S"),
            fields: &Fields {
                size: 6,
                align: 2,
                least_align: 1,
                list: &[
                    Field { name: "count", ty: u8::TYPE, offset: 0 },
                    Field { name: "flags", ty: FLAGS, offset: 1 },
                    Field { name: "mode", ty: MODE, offset: 4 },
                ],
            },
        });
        let broken = [9, 9, 0, 9, 3, 0, 8, 0, 8, 8, 9, 9];
        let whole = [9, 1, 0, 9, 3, 0, 8, 0, 1, 8, 0xfe, 0xff];
        assert_eq!(mended(&STRUCT, &broken), whole);
        assert_eq!(mended(&ElementType::Array(&STRUCT, 2), &broken), whole);
        assert_eq!(mended(&FLAGS, &[5, 0, 0, 5]), [1, 0, 0, 1]);
    }

    #[test]
    fn zero_is_refused_where_an_enum_has_none() {
        const WITH_ZERO: ElementType = ElementType::Enum(&EnumType { id: type_name("Zero"), repr: "u8", discriminants: &[1, 0] });
        WITH_ZERO.check_zero().unwrap();
        <[(u32, bool); 3]>::TYPE.check_zero().unwrap();
        ElementType::Array(&MODE, 0).check_zero().unwrap();
        let error = ElementType::Array(&MODE, 4).check_zero().unwrap_err().to_string();
        assert_eq!(error, "zero bytes are no `[Mode; 4]`: the enum `Mode` has no variant of value 0; add one, or upload elements");
    }
}
