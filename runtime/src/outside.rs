//! What generated code asks of the names that a kernel takes from outside: constants their value, types and functions their source.

use crate::definition::{DeviceItem, SourceText};
use crate::prelude::{e4m3, e5m2};
use half::{bf16, f16};
use warpwright_codegen::ir::{Scalar, Type};
use warpwright_codegen::syntax::ConstValue;

/// What `#[device]` and `#[warpwright::module]` make of an item: something whose source kernels of any crate can have.
///
/// A device function is represented by an empty enum of its name.
#[diagnostic::on_unimplemented(
    message = "the device does not know `{Self}`",
    label = "used by a kernel, and not marked `#[device]`",
    note = "write `#[device]` before its definition, or put both into a `#[warpwright::module]`"
)]
pub trait DeviceType {
    /// Its source.
    fn item() -> &'static DeviceItem;
}

/// The methods of a type without a `#[device] impl`: none. One with such an `impl` has an inherent function of the same name, which
/// Rust prefers to this trait's.
pub trait DeviceMethods {
    /// The unit that holds the methods.
    #[doc(hidden)]
    fn __warpwright_methods() -> &'static DeviceItem {
        const EMPTY: SourceText = SourceText { text: "", file: "", line: 1, column: 1 };
        &DeviceItem { name: "", source: EMPTY, externs: &[] }
    }
}

impl<T: ?Sized> DeviceMethods for T {}

/// A constant that a kernel may take from outside: scalars, arrays and tuples of them.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot take a constant of type `{Self}` from outside",
    label = "used by a kernel",
    note = "constants from outside are scalars, arrays and tuples of them"
)]
pub trait IntoConstValue {
    /// Its value.
    fn into_const(self) -> ConstValue;
}

macro_rules! scalars {
    ($($t:ident $variant:ident: $x:ident => $bits:expr;)*) => {$(
        impl IntoConstValue for $t {
            fn into_const(self) -> ConstValue {
                let $x = self;
                ConstValue::Scalar(Scalar::new(Type::$variant, $bits))
            }
        }
    )*};
}

scalars! {
    bool Bool: x => u64::from(x);
    i8 I8: x => x as u64;
    i16 I16: x => x as u64;
    i32 I32: x => x as u64;
    i64 I64: x => x as u64;
    u8 U8: x => u64::from(x);
    u16 U16: x => u64::from(x);
    u32 U32: x => u64::from(x);
    u64 U64: x => x;
    e4m3 E4M3: x => u64::from(x.to_bits());
    e5m2 E5M2: x => u64::from(x.to_bits());
    f16 F16: x => u64::from(x.to_bits());
    bf16 BF16: x => u64::from(x.to_bits());
    f32 F32: x => u64::from(x.to_bits());
    f64 F64: x => x.to_bits();
}

impl IntoConstValue for usize {
    fn into_const(self) -> ConstValue {
        ConstValue::Index(self as i128, false)
    }
}

impl IntoConstValue for isize {
    fn into_const(self) -> ConstValue {
        ConstValue::Index(self as i128, true)
    }
}

impl<T: IntoConstValue, const N: usize> IntoConstValue for [T; N] {
    fn into_const(self) -> ConstValue {
        ConstValue::Array(self.into_iter().map(T::into_const).collect())
    }
}

macro_rules! tuples {
    ($(($($t:ident $i:tt),*))*) => {$(
        impl<$($t: IntoConstValue),*> IntoConstValue for ($($t,)*) {
            fn into_const(self) -> ConstValue {
                ConstValue::Tuple(vec![$(self.$i.into_const()),*])
            }
        }
    )*};
}

tuples! { (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_keep_type_and_value() {
        let scalar = |ty, bits| ConstValue::Scalar(Scalar { ty, bits });
        assert_eq!((-1i8).into_const(), scalar(Type::I8, 0xff));
        assert_eq!((-2i64).into_const(), scalar(Type::I64, u64::MAX - 1));
        assert_eq!(1.5f32.into_const(), scalar(Type::F32, u64::from(1.5f32.to_bits())));
        assert_eq!(true.into_const(), scalar(Type::Bool, 1));
        assert_eq!(7usize.into_const(), ConstValue::Index(7, false));
        assert_eq!((-7isize).into_const(), ConstValue::Index(-7, true));
        let pair = ConstValue::Tuple(vec![ConstValue::Index(1, false), scalar(Type::U8, 2)]);
        assert_eq!([(1usize, 2u8); 2].into_const(), ConstValue::Array(vec![pair.clone(), pair]));
    }

    #[test]
    fn inherent_methods_come_before_the_empty_unit() {
        struct With;
        impl With {
            fn __warpwright_methods() -> &'static DeviceItem {
                &DeviceItem { name: "With", source: SourceText { text: "impl With {}", file: "", line: 1, column: 1 }, externs: &[] }
            }
        }
        struct Without;
        assert_eq!(With::__warpwright_methods().name, "With");
        assert_eq!(Without::__warpwright_methods().source.text, "");
    }
}
