//! What a buffer's element or a by-value parameter may be, and how each type is named and laid out.

#![expect(unsafe_code, reason = "states which types are plain bytes")]

use crate::definition::DeviceItem;
use crate::prelude::{e4m3, e5m2};
use half::{bf16, f16};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem::{align_of, offset_of, size_of};

/// A type that kernels may hold in memory: an element of a buffer, a parameter by value, a shared array's element.
///
/// Implemented by this library for scalars, arrays and tuples, and by `#[device]` and `#[warpwright::module]` for structs and
/// enums, also in crates that forbid `unsafe_code`: rustc does not apply that lint to what a macro of another crate writes.
///
/// # Safety
/// Values move to and from devices as plain bytes, and new ones are made of bytes. So [`Element::TYPE`] is the whole truth of the type:
///
/// * Size, alignment and the offset and type of each field are those that rustc chose. Every byte belongs to a field or is padding,
///   which is never read as a value.
/// * Any bytes are a value, once each `bool` in it is 0 or 1, and each enum one of the `discriminants` stated. It holds no
///   reference and no pointer.
///
/// The attributes write it so, and rustc checks what they write: that the struct has exactly these fields, of these types, and the enum
/// exactly these variants, in an integer of this size.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// Its name and layout.
    const TYPE: ElementType;
}

/// Name and layout of an [`Element`].
///
/// Sizes, alignments and offsets written here are those of the host, as rustc chose them. What the device makes of the type, `repr(C)`
/// with the kernel's own width of `usize`, follows from the fields: see [`ElementType::device_layout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// A scalar, by Rust's name: `bool`, `u32`, `usize`, `f16`.
    Scalar(&'static str),
    /// An array and its length.
    Array(&'static ElementType, usize),
    /// A `#[repr(C)]` struct.
    Struct(&'static StructType),
    /// A C-like enum with the integer that holds it.
    Enum(&'static EnumType),
    /// A tuple. rustc chooses the order of its fields; devices keep the order written.
    Tuple(&'static Fields),
}

/// What tells a struct or enum from all others.
#[derive(Clone, Copy, Debug)]
pub struct TypeName {
    /// Its name in its own source.
    pub name: &'static str,
    /// Where it is defined, module path and place in the file: types of one name differ in it.
    pub place: &'static str,
    /// Its source.
    pub item: fn() -> &'static DeviceItem,
}

impl PartialEq for TypeName {
    /// By name and place: one function may have several addresses.
    fn eq(&self, other: &TypeName) -> bool {
        (self.name, self.place) == (other.name, other.place)
    }
}

impl Eq for TypeName {}

impl Hash for TypeName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.name, self.place).hash(state);
    }
}

/// A struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StructType {
    /// Its name and source.
    pub id: TypeName,
    /// What it holds.
    pub fields: &'static Fields,
}

/// A C-like enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EnumType {
    /// Its name and source.
    pub id: TypeName,
    /// The integer type of its `#[repr(…)]`: `u32`.
    pub repr: &'static str,
    /// The value of each variant, at least one: other values of the integer are none of the enum.
    pub discriminants: &'static [i128],
}

/// The fields of a struct or tuple, and the room they take on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fields {
    /// Size in bytes, padding included.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// What `#[repr(align(…))]` asks for, in bytes; 1 without, and of a tuple. The device's alignment is not below it.
    pub least_align: usize,
    /// The fields in the order written.
    pub list: &'static [Field],
}

/// A field of a struct or tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Its name, `width`; of a tuple its number, `0`.
    pub name: &'static str,
    /// Its type.
    pub ty: ElementType,
    /// Where rustc put it, in bytes.
    pub offset: usize,
}

/// Size and alignment in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Size, padding included.
    pub size: usize,
    /// Alignment.
    pub align: usize,
}

impl Layout {
    const fn of_scalar(bytes: usize) -> Layout {
        Layout { size: bytes, align: bytes }
    }
}

impl ElementType {
    /// Size in bytes on the host.
    pub fn size(&self) -> usize {
        match self {
            ElementType::Scalar(name) => scalar_size(name),
            ElementType::Enum(ty) => scalar_size(ty.repr),
            ElementType::Array(element, length) => element.size() * length,
            ElementType::Struct(StructType { fields, .. }) | ElementType::Tuple(fields) => fields.size,
        }
    }

    /// Alignment in bytes on the host.
    pub fn align(&self) -> usize {
        match self {
            ElementType::Scalar(name) => scalar_size(name),
            ElementType::Enum(ty) => scalar_size(ty.repr),
            ElementType::Array(element, _) => element.align(),
            ElementType::Struct(StructType { fields, .. }) | ElementType::Tuple(fields) => fields.align,
        }
    }

    /// Size and alignment by the rules of `repr(C)`, with `usize`s of this many bytes.
    pub fn device_layout(&self, index_bytes: usize) -> Layout {
        match self {
            ElementType::Scalar(_) if self.is_index() => Layout::of_scalar(index_bytes),
            ElementType::Scalar(name) => Layout::of_scalar(scalar_size(name)),
            ElementType::Enum(ty) => Layout::of_scalar(scalar_size(ty.repr)),
            ElementType::Array(element, length) => {
                let element = element.device_layout(index_bytes);
                Layout { size: element.size * length, ..element }
            }
            ElementType::Struct(StructType { fields, .. }) | ElementType::Tuple(fields) => {
                let mut place = DevicePlaces::new(index_bytes, fields);
                for field in fields.list {
                    place.next(&field.ty);
                }
                place.end()
            }
        }
    }

    /// Whether host and device, whose `usize` has this many bytes, lay it out alike: then its bytes are moved as they are.
    pub fn is_same_on_device(&self, index_bytes: usize) -> bool {
        match self {
            ElementType::Scalar(_) => !self.is_index() || index_bytes == size_of::<usize>(),
            ElementType::Enum(_) => true,
            ElementType::Array(element, _) => element.is_same_on_device(index_bytes),
            ElementType::Struct(StructType { fields, .. }) | ElementType::Tuple(fields) => {
                let mut place = DevicePlaces::new(index_bytes, fields);
                let mut fields_agree =
                    fields.list.iter().map(|field| place.next(&field.ty) == field.offset && field.ty.is_same_on_device(index_bytes));
                fields_agree.all(|agrees| agrees) && place.end().size == fields.size
            }
        }
    }

    /// Whether it is `usize` or `isize` itself.
    pub fn is_index(&self) -> bool {
        matches!(self, ElementType::Scalar("usize" | "isize"))
    }

    /// Whether it is or holds a `usize` or `isize`, whose width the kernel's index type decides.
    pub fn has_index(&self) -> bool {
        match self {
            ElementType::Scalar(_) => self.is_index(),
            ElementType::Enum(_) => false,
            ElementType::Array(element, _) => element.has_index(),
            ElementType::Struct(StructType { fields, .. }) | ElementType::Tuple(fields) => {
                fields.list.iter().any(|field| field.ty.has_index())
            }
        }
    }
}

/// Where `repr(C)` puts fields, one after the other.
pub(crate) struct DevicePlaces {
    index_bytes: usize,
    /// Of what has been placed so far.
    end: usize,
    align: usize,
}

impl DevicePlaces {
    /// Nothing placed yet of these; `usize`s have this many bytes.
    pub(crate) fn new(index_bytes: usize, fields: &Fields) -> DevicePlaces {
        DevicePlaces { index_bytes, end: 0, align: fields.least_align }
    }

    /// The offset of the next field, of this type.
    pub(crate) fn next(&mut self, ty: &ElementType) -> usize {
        let layout = ty.device_layout(self.index_bytes);
        let offset = self.end.next_multiple_of(layout.align);
        self.end = offset + layout.size;
        self.align = self.align.max(layout.align);
        offset
    }

    /// The layout of all that has been placed.
    fn end(self) -> Layout {
        Layout { size: self.end.next_multiple_of(self.align), align: self.align }
    }
}

/// Size of the scalar of this name; its alignment is the same on every target we serve.
fn scalar_size(name: &str) -> usize {
    match name {
        "bool" | "i8" | "u8" | "e4m3" | "e5m2" => 1,
        "i16" | "u16" | "f16" | "bf16" => 2,
        "i32" | "u32" | "f32" => 4,
        "i64" | "u64" | "f64" => 8,
        _ => size_of::<usize>(),
    }
}

impl ElementType {
    /// Rust text, with what `name` says for each struct and enum that it names.
    pub(crate) fn text<E>(&self, name: &mut impl FnMut(&TypeName) -> Result<String, E>) -> Result<String, E> {
        match self {
            ElementType::Scalar(scalar) => Ok((*scalar).to_owned()),
            ElementType::Struct(StructType { id, .. }) | ElementType::Enum(EnumType { id, .. }) => name(id),
            ElementType::Array(element, length) => Ok(format!("[{}; {length}]", element.text(name)?)),
            ElementType::Tuple(fields) => {
                let fields = fields.list.iter().map(|field| field.ty.text(name)).collect::<Result<Vec<_>, E>>()?;
                Ok(format!("({})", fields.join(", ")))
            }
        }
    }
}

impl fmt::Display for ElementType {
    /// Rust text: `f32`, `[f16; 4]`, `(u32, f32)`, `Particle`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&mut |id| Ok::<_, fmt::Error>(id.name.to_owned()))?)
    }
}

macro_rules! scalars {
    ($($t:ident)*) => {$(
        // SAFETY: a scalar of this name. Of `bool`, `TYPE` says that not all bytes are one.
        unsafe impl Element for $t {
            const TYPE: ElementType = {
                assert!(align_of::<$t>() == size_of::<$t>(), "hosts whose scalars are not aligned to their size are not served");
                ElementType::Scalar(stringify!($t))
            };
        }
    )*};
}

scalars!(bool i8 i16 i32 i64 u8 u16 u32 u64 isize usize e4m3 e5m2 f16 bf16 f32 f64);

// SAFETY: the elements of an array follow each other without gaps.
unsafe impl<T: Element, const N: usize> Element for [T; N] {
    const TYPE: ElementType = ElementType::Array(&T::TYPE, N);
}

macro_rules! tuples {
    ($(($($t:ident $i:tt),*))*) => {$(
        // SAFETY: all fields, where rustc put them.
        unsafe impl<$($t: Element),*> Element for ($($t,)*) {
            const TYPE: ElementType = ElementType::Tuple(
                const {
                    &Fields {
                        size: size_of::<Self>(),
                        align: align_of::<Self>(),
                        least_align: 1,
                        list: &[$(Field { name: stringify!($i), ty: $t::TYPE, offset: offset_of!(Self, $i) }),*],
                    }
                },
            );
        }
    )*};
}

tuples! {
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::type_name;
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

    #[test]
    fn names_are_rust_text() {
        assert_eq!(<[[f16; 4]; 2]>::TYPE.to_string(), "[[f16; 4]; 2]");
        assert_eq!(<(u32, [f32; 3], bf16)>::TYPE.to_string(), "(u32, [f32; 3], bf16)");
    }

    #[test]
    fn sizes_are_rustc_s() {
        fn check<T: Element>() {
            assert_eq!((T::TYPE.size(), T::TYPE.align()), (size_of::<T>(), align_of::<T>()), "{}", T::TYPE);
        }
        check::<[[f16; 4]; 3]>();
        check::<(u64, u32)>();
        check::<(u8, u32, u8)>();
        check::<[(u8, u32, u8); 5]>();
    }

    const fn fields(size: usize, list: &'static [Field]) -> Fields {
        Fields { size, align: 8, least_align: 1, list }
    }

    #[test]
    fn devices_keep_fields_in_order_whatever_rustc_does() {
        const IN_ORDER: ElementType = ElementType::Tuple(
            const { &fields(16, &[Field { name: "0", ty: u8::TYPE, offset: 0 }, Field { name: "1", ty: u64::TYPE, offset: 8 }]) },
        );
        const REORDERED: ElementType = ElementType::Tuple(
            const { &fields(16, &[Field { name: "0", ty: u8::TYPE, offset: 8 }, Field { name: "1", ty: u64::TYPE, offset: 0 }]) },
        );
        assert!(IN_ORDER.is_same_on_device(4));
        assert!(!REORDERED.is_same_on_device(4));
        assert!(!ElementType::Array(&REORDERED, 2).is_same_on_device(4));
        assert!(<(f32, f32)>::TYPE.is_same_on_device(4));
        assert_eq!(<(u8, u32, u8)>::TYPE.device_layout(4), Layout { size: 12, align: 4 });
    }

    #[test]
    fn the_width_of_usize_decides_what_the_device_has() {
        let ty = <(u32, [usize; 3], u64)>::TYPE;
        assert_eq!(ty.device_layout(4), Layout { size: 24, align: 8 });
        assert_eq!(ty.device_layout(8), Layout { size: 40, align: 8 });
        assert!(!<[usize; 2]>::TYPE.is_same_on_device(4));
        assert!(<[usize; 2]>::TYPE.is_same_on_device(size_of::<usize>()));
        assert!(<u64>::TYPE.is_same_on_device(4));
    }

    #[test]
    fn index_types_are_found_within() {
        const PARAMS: StructType = StructType {
            id: type_name("Params"),
            fields: const {
                &fields(16, &[Field { name: "scale", ty: f32::TYPE, offset: 0 }, Field { name: "width", ty: isize::TYPE, offset: 8 }])
            },
        };
        assert!(ElementType::Struct(&PARAMS).has_index());
        assert!(<[(u32, usize); 2]>::TYPE.has_index());
        assert!(!<[u64; 2]>::TYPE.has_index());
    }

    #[test]
    fn structs_of_one_name_are_told_apart() {
        const HERE: StructType = StructType { id: type_name("P"), fields: const { &fields(0, &[]) } };
        const THERE: StructType = StructType { id: TypeName { place: "there::P", ..HERE.id }, ..HERE };
        let hash = |ty: &StructType| BuildHasherDefault::<DefaultHasher>::new().hash_one(ElementType::Struct(Box::leak(Box::new(*ty))));
        assert_ne!(HERE, THERE);
        assert_ne!(hash(&HERE), hash(&THERE));
        assert_eq!(hash(&HERE), hash(&StructType { ..HERE }));
        assert_eq!(ElementType::Struct(&HERE).to_string(), ElementType::Struct(&THERE).to_string());
    }
}
