//! By-value parameters as the device has them: `repr(C)`, with `usize`s as wide as the kernel's.
//!
//! On the host a `usize` has 64 bits and rustc chooses the order of a tuple's fields. Where that makes no difference, a launch hands
//! over the host's bytes.

#![expect(unsafe_code, reason = "moves the parts of values as plain bytes")]

use crate::arguments::{ArgumentKind, Arguments};
use crate::check::parameter_name;
use crate::definition::KernelDefinition;
use crate::element::{DevicePlaces, ElementType, StructType};
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::ptr::copy_nonoverlapping;
use warpwright_codegen::ir::IndexWidth;

/// Bytes of a `usize` of this width.
pub(crate) fn index_bytes(index: IndexWidth) -> usize {
    index.unsigned().bytes() as usize
}

/// Whether an argument by value is laid out otherwise on the device.
pub(crate) fn needs_repacking(arguments: &Arguments<'_>, index: IndexWidth) -> bool {
    let index_bytes = index_bytes(index);
    arguments.iter().any(|argument| argument.is_value() && !argument.ty.is_same_on_device(index_bytes))
}

/// The arguments with by-value ones laid out as on the device. Allocates nothing while these take no more than [`Arguments`] keeps in
/// place.
///
/// # Errors
/// [`Error::IndexWidth`] for a `usize` or `isize` that the kernel's own cannot hold.
pub(crate) fn for_device<'p>(
    definition: &'static KernelDefinition,
    arguments: &'p Arguments<'p>,
    index: IndexWidth,
) -> Result<Cow<'p, Arguments<'p>>> {
    if !needs_repacking(arguments, index) {
        return Ok(Cow::Borrowed(arguments));
    }
    let index_bytes = index_bytes(index);
    let mut repacked = Arguments::new();
    for (parameter, argument) in arguments.iter().enumerate() {
        let ArgumentKind::Value { chunk, .. } = argument.kind else {
            repacked.push(*argument);
            continue;
        };
        let ty = argument.ty;
        let from = arguments.value_address(chunk);
        let to = repacked.push_room(ty, ty.device_layout(index_bytes).size);
        // SAFETY: `from` is a value of this type, `to` has room for the device's form of it.
        unsafe { repack(ty, index_bytes, from, to) }.map_err(|misfit| misfit.into_error(definition, parameter))?;
    }
    Ok(Cow::Owned(repacked))
}

/// A `usize` or `isize` that the device's cannot hold.
#[derive(Debug, PartialEq)]
struct Misfit {
    /// How it is reached from the value: `.sizes[1].0`.
    path: String,
    value: i128,
}

impl Misfit {
    #[cold]
    fn within(self, outer: String) -> Misfit {
        Misfit { path: outer + &self.path, ..self }
    }

    #[cold]
    fn into_error(self, definition: &'static KernelDefinition, parameter: usize) -> Error {
        let name = parameter_name(definition, parameter);
        let what =
            if self.path.is_empty() { format!("parameter `{name}` is") } else { format!("`{name}{}` of parameter `{name}` is", self.path) };
        Error::IndexWidth { kernel: definition.name, what, figure: self.value }
    }
}

/// Copies a value in the host's layout to one in the device's. Padding there stays as it is.
///
/// # Safety
/// At `from` is a value of type `ty`; at `to` are as many writable bytes as `ty.device_layout(index_bytes)` says, and nothing of `from`.
unsafe fn repack(ty: &ElementType, index_bytes: usize, from: *const u8, to: *mut u8) -> Result<(), Misfit> {
    if ty.is_same_on_device(index_bytes) {
        // SAFETY: the same size on both sides. Padding is copied as what it is, perhaps uninitialised.
        unsafe { copy_nonoverlapping(from, to, ty.size()) };
        return Ok(());
    }
    match ty {
        // Only an index differs: both sides are little-endian.
        ElementType::Scalar(name) => {
            // SAFETY: a `usize` or `isize`, whose bits are a `usize`'s.
            let bits = unsafe { from.cast::<usize>().read_unaligned() };
            let value = if *name == "isize" { bits as isize as i128 } else { bits as i128 };
            if !holds(*name == "isize", index_bytes, value) {
                return Err(Misfit { path: String::new(), value });
            }
            // SAFETY: room for an index of the device.
            unsafe { copy_nonoverlapping(from, to, index_bytes) };
        }
        ElementType::Enum(_) => {}
        ElementType::Array(element, length) => {
            let (host, device) = (element.size(), element.device_layout(index_bytes).size);
            for i in 0..*length {
                // SAFETY: the elements of either side lie one after the other.
                let done = unsafe { repack(element, index_bytes, from.add(i * host), to.add(i * device)) };
                done.map_err(|misfit| misfit.within(format!("[{i}]")))?;
            }
        }
        ElementType::Struct(StructType { fields, .. }) | ElementType::Tuple(fields) => {
            let mut places = DevicePlaces::new(index_bytes, fields);
            for field in fields.list {
                // SAFETY: rustc's place of the field, and the device's.
                let done = unsafe { repack(&field.ty, index_bytes, from.add(field.offset), to.add(places.next(&field.ty))) };
                done.map_err(|misfit| misfit.within(format!(".{}", field.name)))?;
            }
        }
    }
    Ok(())
}

/// Whether an index of this many bytes holds the value.
fn holds(is_signed: bool, index_bytes: usize, value: i128) -> bool {
    match (index_bytes, is_signed) {
        (4, true) => i32::try_from(value).is_ok(),
        (4, false) => u32::try_from(value).is_ok(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{Element, Field, Fields};
    use crate::tests::{definition, type_name};
    use std::mem::offset_of;

    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Params {
        flag: u8,
        width: usize,
        shift: (isize, u16),
        sizes: [usize; 2],
        scale: f32,
    }

    // SAFETY: all fields, where rustc put them.
    unsafe impl Element for Params {
        const TYPE: ElementType = ElementType::Struct(&StructType {
            id: type_name("Params"),
            fields: &Fields {
                size: size_of::<Params>(),
                align: align_of::<Params>(),
                least_align: 1,
                list: &[
                    Field { name: "flag", ty: u8::TYPE, offset: offset_of!(Params, flag) },
                    Field { name: "width", ty: usize::TYPE, offset: offset_of!(Params, width) },
                    Field { name: "shift", ty: <(isize, u16)>::TYPE, offset: offset_of!(Params, shift) },
                    Field { name: "sizes", ty: <[usize; 2]>::TYPE, offset: offset_of!(Params, sizes) },
                    Field { name: "scale", ty: f32::TYPE, offset: offset_of!(Params, scale) },
                ],
            },
        });
    }

    const PARAMS: Params = Params { flag: 1, width: 0xffff_ffff, shift: (-2, 3), sizes: [4, 5], scale: 1.0 };

    definition!(TAKES = "takes", "", ["a": Value, "p": Value], []);

    /// The second of two values as the device has it.
    fn second<T: Element>(value: T, index: IndexWidth) -> Result<Vec<u8>> {
        let mut arguments = Arguments::new();
        arguments = arguments.value(7u8);
        arguments = arguments.value(value);
        let repacked = for_device(&TAKES, &arguments, index)?;
        let Some(ArgumentKind::Value { chunk, bytes }) = repacked.get(1).map(|argument| argument.kind) else { panic!("no value") };
        // SAFETY: a value of that size; nobody asks for one with padding that is not initialised.
        Ok(unsafe { std::slice::from_raw_parts(repacked.value_address(chunk), bytes) }.to_vec())
    }

    #[test]
    fn indices_are_narrowed_wherever_they_are() {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
        assert_eq!(second([1usize, 2, 3], IndexWidth::Bits32).unwrap(), words(&[1, 2, 3]));
        assert_eq!(second((1usize, -1isize, [2usize; 2]), IndexWidth::Bits32).unwrap(), words(&[1, u32::MAX, 2, 2]));
        assert_eq!(second(5usize, IndexWidth::Bits32).unwrap(), words(&[5]));
        assert_eq!(second(PARAMS, IndexWidth::Bits32).unwrap(), words(&[1, u32::MAX, -2i32 as u32, 3, 4, 5, 1f32.to_bits()]));
    }

    #[test]
    fn wide_indices_keep_their_width() {
        assert_eq!(second([1usize << 40, 2], IndexWidth::Bits64).unwrap(), [1u64 << 40, 2].map(u64::to_le_bytes).concat());
        let mut arguments = Arguments::new();
        arguments = arguments.value(PARAMS);
        assert!(PARAMS_ARE_ALIKE == matches!(for_device(&TAKES, &arguments, IndexWidth::Bits64).unwrap(), Cow::Borrowed(_)));
    }

    /// rustc may put the two fields of `shift` into another order.
    const PARAMS_ARE_ALIKE: bool = offset_of!((isize, u16), 0) == 0;

    #[test]
    fn fields_that_rustc_reorders_come_back_into_order() {
        // rustc puts the largest field first, or not: offsets tell.
        let bytes = second((1u8, 0x0403_0201u32, 5u8), IndexWidth::Bits32).unwrap();
        assert_eq!((bytes.len(), bytes[0], &bytes[4..8], bytes[8]), (12, 1, &[1, 2, 3, 4][..], 5));
        let bytes = second([(1u8, 2u64); 2], IndexWidth::Bits32).unwrap();
        assert_eq!((bytes.len(), bytes[0], bytes[8], bytes[16], bytes[24]), (32, 1, 2, 1, 2));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let told = |result: Result<Vec<u8>>| result.unwrap_err().to_string();
        let text = told(second(Params { sizes: [4, 1 << 32], ..PARAMS }, IndexWidth::Bits32));
        let expected = "kernel `takes` counts with a 32-bit `usize`, but `p.sizes[1]` of parameter `p` is 4294967296; \
                        write `#[kernel(index = 64)]`";
        assert_eq!(text, expected);
        let text = told(second(Params { shift: (isize::MIN, 0), ..PARAMS }, IndexWidth::Bits32));
        assert!(text.contains("`p.shift.0` of parameter `p` is -9223372036854775808"), "{text}");
        let text = told(second(1usize << 33, IndexWidth::Bits32));
        assert!(text.contains("parameter `p` is 8589934592"), "{text}");
        second(i32::MIN as isize, IndexWidth::Bits32).unwrap();
        assert!(told(second(i32::MAX as isize + 1, IndexWidth::Bits32)).contains("2147483648"));
    }
}
