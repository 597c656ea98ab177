//! Methods of numbers: one row for each, as a template of source.
//!
//! `{s}` is an expression of the receiver's type, `{a}` another one of it, `{n}` one that is not zero, `{p}` a literal of 1 to 9, `{k}` a `u32`, `{h}` a literal below the
//! type's width, `{1}` one, `{lo}` and `{hi}` bounds in order. What no device fixes (bits of NaN, the sign of a zero that `min` takes) is made one within the template.

use super::kernel::Call;
use super::types::Scalar;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Which receivers a row is for.
#[derive(Clone, Copy, Debug)]
enum On {
    Integers,
    Signed,
    Unsigned,
    Floats,
    Words,
    Only(Scalar),
}

/// What it gives.
#[derive(Clone, Copy, Debug)]
enum Gives {
    Same,
    U32,
    Bool,
    Unsigned,
    Only(Scalar),
}

/// A method.
#[derive(Clone, Copy, Debug)]
pub(super) struct Method {
    /// Its name in the table of features.
    pub(super) feature: &'static str,
    on: On,
    gives: Gives,
    /// The text.
    pub(super) template: &'static str,
    /// Whether the host twin and OpenCL devices round it otherwise: only the simulator and PTX are held to each other.
    pub(super) is_approximate: bool,
}

const fn row(feature: &'static str, on: On, gives: Gives, template: &'static str) -> Method {
    Method { feature, on, gives, template, is_approximate: false }
}

const fn math(feature: &'static str, template: &'static str) -> Method {
    Method { feature, on: Floats, gives: Same, template, is_approximate: true }
}

use Gives::{Bool as GivesBool, Same, U32, Unsigned as GivesUnsigned};
use On::{Floats, Integers, Only, Signed, Unsigned, Words};

/// The rows.
pub(super) static METHODS: &[Method] = &[
    row("wrapping_add", Integers, Same, "{s}.wrapping_add({a})"),
    row("wrapping_sub", Integers, Same, "{s}.wrapping_sub({a})"),
    row("wrapping_mul", Integers, Same, "{s}.wrapping_mul({a})"),
    row("wrapping_div", Integers, Same, "{s}.wrapping_div({n})"),
    row("wrapping_rem", Integers, Same, "{s}.wrapping_rem({n})"),
    row("wrapping_neg", Integers, Same, "{s}.wrapping_neg()"),
    row("wrapping_shl", Integers, Same, "{s}.wrapping_shl({k})"),
    row("wrapping_shr", Integers, Same, "{s}.wrapping_shr({k})"),
    row("wrapping_pow", Integers, Same, "{s}.wrapping_pow({k} % 9)"),
    row("wrapping_abs", Signed, Same, "{s}.wrapping_abs()"),
    row("saturating_add", Integers, Same, "{s}.saturating_add({a})"),
    row("saturating_sub", Integers, Same, "{s}.saturating_sub({a})"),
    row("saturating_mul", Integers, Same, "{s}.saturating_mul({a})"),
    row("int.min", Integers, Same, "{s}.min({a})"),
    row("int.max", Integers, Same, "{s}.max({a})"),
    row("int.clamp", Integers, Same, "{s}.clamp({lo}, {hi})"),
    row("int.pow", Integers, Same, "{s}.pow({k} % 7)"),
    row("int.abs", Signed, Same, "{s}.abs()"),
    row("int.signum", Signed, Same, "{s}.signum()"),
    row("is_negative", Signed, GivesBool, "{s}.is_negative()"),
    row("is_positive", Signed, GivesBool, "{s}.is_positive()"),
    row("abs_diff", Integers, GivesUnsigned, "{s}.abs_diff({a})"),
    row("unsigned_abs", Signed, GivesUnsigned, "{s}.unsigned_abs()"),
    row("isqrt", Unsigned, Same, "{s}.isqrt()"),
    row("isqrt.signed", Signed, Same, "({s} & {max}).isqrt()"),
    row("ilog2", Unsigned, U32, "({s} | 1).ilog2()"),
    row("ilog2.signed", Signed, U32, "({s} & {max} | 1).ilog2()"),
    row("count_ones", Integers, U32, "{s}.count_ones()"),
    row("count_zeros", Integers, U32, "{s}.count_zeros()"),
    row("leading_zeros", Integers, U32, "{s}.leading_zeros()"),
    row("trailing_zeros", Integers, U32, "{s}.trailing_zeros()"),
    row("leading_ones", Integers, U32, "{s}.leading_ones()"),
    row("trailing_ones", Integers, U32, "{s}.trailing_ones()"),
    row("rotate_left", Integers, Same, "{s}.rotate_left({k})"),
    row("rotate_right", Integers, Same, "{s}.rotate_right({k})"),
    row("reverse_bits", Integers, Same, "{s}.reverse_bits()"),
    row("swap_bytes", Integers, Same, "{s}.swap_bytes()"),
    row("int.rem_euclid", Integers, Same, "{s}.rem_euclid({p})"),
    row("int.div_euclid", Integers, Same, "{s}.div_euclid({p})"),
    row("div_ceil", Unsigned, Same, "{s}.div_ceil({n})"),
    row("next_multiple_of", Unsigned, Same, "{s}.next_multiple_of({p})"),
    row("is_multiple_of", Unsigned, GivesBool, "{s}.is_multiple_of({a})"),
    row("is_power_of_two", Unsigned, GivesBool, "{s}.is_power_of_two()"),
    row("next_power_of_two", Unsigned, Same, "{s}.next_power_of_two()"),
    row("mul_hi", Integers, Same, "{s}.mul_hi({a})"),
    row("mul24", Words, Same, "{s}.mul24({a})"),
    row("sad4", Only(Scalar::U32), Same, "{s}.sad4({a}, {a})"),
    row("float.abs", Floats, Same, "{s}.abs()"),
    row("float.min", Floats, Same, "({s}.min({a}) + {0})"),
    row("float.max", Floats, Same, "({s}.max({a}) + {0})"),
    row("float.clamp", Floats, Same, "{s}.clamp({lo}, {hi})"),
    row("mul_add", Floats, Same, "{s}.mul_add({a}, {a})"),
    row("floor", Floats, Same, "{s}.floor()"),
    row("ceil", Floats, Same, "{s}.ceil()"),
    row("trunc", Floats, Same, "{s}.trunc()"),
    row("round", Floats, Same, "{s}.round()"),
    row("round_ties_even", Floats, Same, "{s}.round_ties_even()"),
    row("fract", Floats, Same, "{s}.fract()"),
    row("float.sqrt", Floats, Same, "{s}.sqrt()"),
    row("recip", Floats, Same, "{s}.recip()"),
    row("copysign", Floats, Same, "{s}.copysign({ let s_ = {a}; if s_.is_nan() { {1} } else { s_ } })"),
    row("float.signum", Floats, Same, "{s}.signum()"),
    row("float.rem_euclid", Floats, Same, "{s}.rem_euclid({p})"),
    row("float.div_euclid", Floats, Same, "{s}.div_euclid({p})"),
    row("to_radians", Floats, Same, "{s}.to_radians()"),
    row("to_degrees", Floats, Same, "{s}.to_degrees()"),
    row("is_nan", Floats, GivesBool, "{s}.is_nan()"),
    row("is_finite", Floats, GivesBool, "{s}.is_finite()"),
    row("is_infinite", Floats, GivesBool, "{s}.is_infinite()"),
    row("is_sign_negative", Floats, GivesBool, "{ let n_ = {s}; !n_.is_nan() && n_.is_sign_negative() }"),
    row("is_sign_positive", Floats, GivesBool, "{ let n_ = {s}; n_.is_nan() || n_.is_sign_positive() }"),
    row("to_bits", Floats, GivesUnsigned, "{ let b_ = {s}; if b_.is_nan() { 7 } else { b_.to_bits() } }"),
    row("from_bits.f32", Only(Scalar::U32), Gives::Only(Scalar::F32), "f32::from_bits({s})"),
    row("from_bits.f64", Only(Scalar::U64), Gives::Only(Scalar::F64), "f64::from_bits({s})"),
    row("from_bits.f16", Only(Scalar::U16), Gives::Only(Scalar::F16), "f16::from_bits({s})"),
    row("from_bits.bf16", Only(Scalar::U16), Gives::Only(Scalar::Bf16), "bf16::from_bits({s})"),
    row("f16.to_f32", Only(Scalar::F16), Gives::Only(Scalar::F32), "{s}.to_f32()"),
    row("bf16.to_f32", Only(Scalar::Bf16), Gives::Only(Scalar::F32), "{s}.to_f32()"),
    row("f16.to_f64", Only(Scalar::F16), Gives::Only(Scalar::F64), "{s}.to_f64()"),
    row("bf16.to_f64", Only(Scalar::Bf16), Gives::Only(Scalar::F64), "{s}.to_f64()"),
    row("f16::from_f32", Only(Scalar::F32), Gives::Only(Scalar::F16), "f16::from_f32({s})"),
    row("bf16::from_f32", Only(Scalar::F32), Gives::Only(Scalar::Bf16), "bf16::from_f32({s})"),
    row("f16::from_f64", Only(Scalar::F64), Gives::Only(Scalar::F16), "f16::from_f64({s})"),
    row("bf16::from_f64", Only(Scalar::F64), Gives::Only(Scalar::Bf16), "bf16::from_f64({s})"),
    row("e4m3.of_f32", Only(Scalar::F32), Gives::Only(Scalar::F32), "({s} as e4m3 as f32)"),
    row("e5m2.of_f32", Only(Scalar::F32), Gives::Only(Scalar::F32), "(({s} as e5m2) as f32)"),
    row("e4m3.of_f64", Only(Scalar::F64), Gives::Only(Scalar::F64), "({s} as e4m3 as f64)"),
    row("e5m2.of_f16", Only(Scalar::F16), Gives::Only(Scalar::Bf16), "({s} as e5m2 as bf16)"),
    row("e4m3.of_bf16", Only(Scalar::Bf16), Gives::Only(Scalar::F16), "({s} as e4m3 as f16)"),
    row("e4m3::from_bits", Only(Scalar::U8), Gives::Only(Scalar::F32), "e4m3::from_bits({s}).to_f32()"),
    row("e5m2::from_bits", Only(Scalar::U8), Gives::Only(Scalar::F64), "e5m2::from_bits({s}).to_f64()"),
    row("e4m3.to_f64", Only(Scalar::U16), Gives::Only(Scalar::F64), "e4m3::from_bits({s} as u8).to_f64()"),
    row("e5m2.to_f32", Only(Scalar::U16), Gives::Only(Scalar::F32), "e5m2::from_bits({s} as u8).to_f32()"),
    row("e4m3.black_box", Only(Scalar::U8), Gives::Only(Scalar::F32), "black_box(e4m3::from_bits({s})).to_f32()"),
    row("e5m2.black_box", Only(Scalar::U8), Gives::Only(Scalar::F32), "black_box(e5m2::from_bits({s})).to_f32()"),
    row(
        "e4m3::from_f32",
        Only(Scalar::F32),
        Gives::Only(Scalar::U8),
        "{ let q_ = {s}; if q_.is_nan() { 3 } else { e4m3::from_f32(q_).to_bits() } }",
    ),
    row(
        "e4m3::from_f64",
        Only(Scalar::F64),
        Gives::Only(Scalar::U8),
        "{ let q_ = {s}; if q_.is_nan() { 3 } else { e4m3::from_f64(q_).to_bits() } }",
    ),
    row(
        "e5m2::from_f32",
        Only(Scalar::F32),
        Gives::Only(Scalar::U8),
        "{ let q_ = {s}; if q_.is_nan() { 3 } else { e5m2::from_f32(q_).to_bits() } }",
    ),
    row(
        "e5m2::from_f64",
        Only(Scalar::F64),
        Gives::Only(Scalar::U8),
        "{ let q_ = {s}; if q_.is_nan() { 3 } else { e5m2::from_f64(q_).to_bits() } }",
    ),
    // Two short floats in a word, of small numbers, so that none is NaN: assemblers make one instruction of two such.
    row(
        "halves.sums",
        Integers,
        U32,
        "{ let h_ = {s} as i8 as f16; let g_ = {a} as i8 as f16; let k_ = if {s} > {a} { h_ } else { -h_ }; (g_ + h_).to_bits() as u32 | ((k_ + {a} as i8 as f16).to_bits() as u32) << 16 }",
    ),
    row(
        "halves.products",
        Integers,
        U32,
        "{ let h_ = {s} as i8 as bf16; let g_ = {a} as i8 as bf16; (g_ * h_).to_bits() as u32 | ((h_.signum() * {a} as i8 as bf16).to_bits() as u32) << 16 }",
    ),
    row(
        "halves.masked",
        Integers,
        U32,
        "{ let h_ = ({s} as i16 as f32 * 0.75) as f16; h_.abs().to_bits() as u32 | ({a} as u16 as u32) << 16 }",
    ),
    row(
        "halves.bits",
        Integers,
        U32,
        "{ let h_ = ({s} as i16 as f32 * 0.75) as bf16; (h_.to_bits() & 0x7ff0) as u32 | ({a} as u16 as u32) << 16 }",
    ),
    row("black_box", Integers, Same, "black_box({s})"),
    row("black_box.float", Floats, Same, "black_box({s})"),
    row("black_box.bool", Only(Scalar::Bool), Same, "black_box({s})"),
    math("sin", "{s}.sin()"),
    math("cos", "{s}.cos()"),
    math("tan", "{s}.tan()"),
    math("asin", "{s}.asin()"),
    math("acos", "{s}.acos()"),
    math("atan", "{s}.atan()"),
    math("atan2", "{s}.atan2({a})"),
    math("sinh", "{s}.sinh()"),
    math("cosh", "{s}.cosh()"),
    math("tanh", "{s}.tanh()"),
    math("exp", "{s}.exp()"),
    math("exp2", "{s}.exp2()"),
    math("exp_m1", "{s}.exp_m1()"),
    math("ln", "{s}.ln()"),
    math("log2", "{s}.log2()"),
    math("log10", "{s}.log10()"),
    math("ln_1p", "{s}.ln_1p()"),
    math("powf", "{s}.powf({a})"),
    math("cbrt", "{s}.cbrt()"),
    math("hypot", "{s}.hypot({a})"),
    math("erf", "{s}.erf()"),
    math("erfc", "{s}.erfc()"),
    math("sin_cos", "{s}.sin_cos().1"),
    math("powi", "{s}.powi(3)"),
    math("powi.any", "{s}.powi(({k} & 15) as i32 - 7)"),
    Method { on: Only(Scalar::F64), ..math("rsqrt.f64", "{s}.rsqrt()") },
    // The instruction for `f32` may give any of the floats next to 1/√x.
    Method {
        on: Only(Scalar::F32),
        gives: GivesBool,
        ..math("rsqrt", "{ let q_ = {s}; let r_ = q_.rsqrt(); (r_ * (r_ * q_) - 1.0).abs() < 0.0001 }")
    },
];

impl Method {
    /// The intrinsic that it calls, and for which type: the feature's name says it. Casts and what is made of several have none of their own.
    pub(super) fn call(&self, receiver: Scalar) -> Option<Call> {
        if let Some((ty, name)) = self.feature.split_once("::") {
            return Some((name, ty));
        }
        let Some((first, last)) = self.feature.split_once('.') else { return Some((self.feature, receiver.name())) };
        match first {
            "halves" => None,
            "int" | "float" => Some((last, receiver.name())),
            "from_bits" => Some((first, last)),
            "e4m3" | "e5m2" => (!last.starts_with("of_")).then_some((last, first)),
            "f16" | "bf16" => Some((last, first)),
            _ => Some((first, receiver.name())),
        }
    }

    fn is_on(&self, receiver: Scalar) -> bool {
        match self.on {
            Integers => receiver.is_integer(),
            Signed => receiver.is_signed(),
            Unsigned => receiver.is_integer() && !receiver.is_signed(),
            Floats => receiver.is_float(),
            Words => matches!(receiver, Scalar::U32 | Scalar::I32),
            Only(one) => receiver == one,
        }
    }

    fn result(&self, receiver: Scalar) -> Scalar {
        match self.gives {
            Same => receiver,
            U32 => Scalar::U32,
            GivesBool => Scalar::Bool,
            GivesUnsigned => receiver.unsigned(),
            Gives::Only(one) => one,
        }
    }
}

/// The methods that give this type, each with its receiver.
pub(super) fn giving(ty: Scalar) -> &'static [(&'static Method, Scalar)] {
    type Table = BTreeMap<Scalar, Vec<(&'static Method, Scalar)>>;
    static TABLE: OnceLock<Table> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut table = Table::new();
        for method in METHODS {
            for receiver in Scalar::ALL.into_iter().filter(|receiver| method.is_on(*receiver)) {
                table.entry(method.result(receiver)).or_default().push((method, receiver));
            }
        }
        table
    });
    table.get(&ty).map_or(&[], Vec::as_slice)
}
