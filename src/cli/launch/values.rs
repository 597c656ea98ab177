//! What stands behind `NAME=`: a value, a list, or how to fill a buffer. It is read as a Rust expression.

use super::arithmetic::Arithmetic;
use super::literal::{Literal, Number, count, example, number};
use quote::ToTokens;
use syn::{Expr, ExprCall, ExprRange};
use warpwright_codegen::ir::{EntityMap, MemoryType, Scalar, StructId, StructType, Type};
use warpwright_codegen::syntax::parse_written;
use warpwright_runtime::dynamic::DynamicParameter;

/// The structs of a kernel.
pub(super) type Structs = EntityMap<StructId, StructType>;

/// What was written.
pub(super) enum Written {
    /// `2.5`, `[1, 2, 3]`, `((1, 2), 3)`, `Params { width: 64 }`.
    Literal(Literal),
    /// `random(LEN, LOW..HIGH)`.
    Random { len: Option<usize>, range: Option<(f64, f64)> },
    /// `zeros(LEN)`.
    Zeros { len: Option<usize> },
    /// `iota(LEN)`: 0, 1, 2, ….
    Iota { len: Option<usize> },
}

/// Numbers of random buffers that say nothing else: small enough for sums and indices, large enough to tell elements apart.
const INTEGERS: (f64, f64) = (0.0, 100.0);
const FLOATS: (f64, f64) = (-1.0, 1.0);

impl Written {
    /// `random`.
    pub(super) fn random() -> Written {
        Written::Random { len: None, range: None }
    }

    /// Reads it.
    ///
    /// # Errors
    /// What is wrong, to go on after the parameter's name.
    pub(super) fn parse(text: &str) -> Result<Written, String> {
        let unknown = || {
            format!(
                "is `{text}`, which is neither a number, nor a list `[1, 2, 3]`, nor a struct `Params {{ width: 64, gain: 0.5 }}`, nor `random(LEN)`, `random(LEN, LOW..HIGH)`, `zeros(LEN)` or `iota(LEN)`; write one of these"
            )
        };
        let expr: Expr = parse_written(text).ok_or_else(unknown)?;
        let (name, arguments): (String, Vec<Expr>) = match &expr {
            Expr::Call(ExprCall { func, args, .. }) => (func.to_token_stream().to_string(), args.iter().cloned().collect()),
            Expr::Path(path) => (path.to_token_stream().to_string(), Vec::new()),
            other => return Literal::of(other).map(Written::Literal).ok_or_else(|| Literal::bad_part(other).unwrap_or_else(unknown)),
        };
        let len = arguments.first().map(|len| {
            length(len).ok_or_else(|| format!("is `{text}`, and `{}` is no length; write one like `4096`", len.to_token_stream()))
        });
        let len = len.transpose()?;
        match (name.as_str(), arguments.len()) {
            ("random", 0..=1) => Ok(Written::Random { len, range: None }),
            ("random", 2) => match range(&arguments[1]) {
                Some(range) => Ok(Written::Random { len, range: Some(range) }),
                None => Err(format!("is `{text}`, and `{}` is no range; write one like `0..256`", arguments[1].to_token_stream())),
            },
            ("zeros", 0..=1) => Ok(Written::Zeros { len }),
            ("iota", 0..=1) => Ok(Written::Iota { len }),
            _ => Err(unknown()),
        }
    }

    /// A parameter by value.
    pub(super) fn value(&self, parameter: &DynamicParameter, structs: &Structs) -> Result<Vec<u8>, String> {
        let form = || form(parameter, structs);
        let Written::Literal(literal) = self else { return Err(format!("is passed by value: write `--args {}`", form())) };
        let numbers = literal.numbers(&parameter.ty, structs)?;
        let mut bytes = vec![0; parameter.bytes];
        let leaves = leaves(&parameter.ty, structs);
        if leaves.len() != numbers.len() {
            return Err(format!("has {}, and its type {}: write `--args {}`", count(numbers.len()), leaves.len(), form()));
        }
        let is_one = leaves.len() == 1;
        for (at, ((offset, ty), number)) in leaves.into_iter().zip(numbers).enumerate() {
            let place = if is_one { String::new() } else { format!(" as its part {at}, counted from 0") };
            put(&mut bytes, offset, number.scalar(ty, &place)?);
        }
        Ok(bytes)
    }

    /// An array in constant memory: as much as it holds.
    pub(super) fn whole(&self, parameter: &DynamicParameter, structs: &Structs, seed: u64) -> Result<Vec<u8>, String> {
        if let Written::Literal(_) = self { self.value(parameter, structs) } else { self.elements(parameter, structs, 1, seed) }
    }

    /// A buffer; `covered` is how long it is if nothing else is said, or else how the advice to say it ends.
    pub(super) fn buffer(
        &self,
        parameter: &DynamicParameter,
        structs: &Structs,
        covered: &Result<usize, String>,
        seed: u64,
    ) -> Result<Vec<u8>, String> {
        let unsaid = |more: &String| format!("has no length: write `--args {}=random(4096)`{more}", parameter.name);
        let len = self.len(parameter, structs)?.map_or_else(|| covered.as_ref().copied().map_err(unsaid), Ok)?;
        self.elements(parameter, structs, len, seed)
    }

    /// How many elements a buffer has by it.
    pub(super) fn len(&self, parameter: &DynamicParameter, structs: &Structs) -> Result<Option<usize>, String> {
        Ok(match self {
            Written::Literal(literal) => {
                let numbers = literal.numbers(&parameter.ty, structs)?;
                let of_element = leaves(&parameter.ty, structs).len().max(1);
                if numbers.len() % of_element != 0 {
                    let (found, example) = (count(numbers.len()), example(&parameter.ty, structs));
                    return Err(format!(
                        "has {found}, and each of its elements {of_element}: write `--args '{}=[{example}]'`",
                        parameter.name
                    ));
                }
                Some(numbers.len() / of_element)
            }
            Written::Random { len, .. } | Written::Zeros { len } | Written::Iota { len } => *len,
        })
    }

    fn elements(&self, parameter: &DynamicParameter, structs: &Structs, len: usize, seed: u64) -> Result<Vec<u8>, String> {
        let too_long =
            || format!("would have {len} elements of {} bytes: more than there is memory for; ask for fewer elements", parameter.bytes);
        let total = parameter.bytes.checked_mul(len).filter(|total| isize::try_from(*total).is_ok()).ok_or_else(too_long)?;
        if let Some(free) = free_memory().filter(|free| total > free / 2) {
            let (total, free) = (total as f64 / 1e9, free as f64 / 1e9);
            return Err(format!(
                "would have {len} elements of {} bytes, {total:.1} GB: {free:.1} GB of memory are free, and each buffer is there twice; ask for fewer elements",
                parameter.bytes
            ));
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(total).map_err(|_| too_long())?;
        bytes.resize(total, 0);
        let leaves = leaves(&parameter.ty, structs);
        if let Written::Random { range: Some(range), .. } = self {
            leaves.iter().try_for_each(|(_, ty)| check_range(*range, *ty))?;
        }
        let numbers = match self {
            Written::Literal(literal) => literal.numbers(&parameter.ty, structs)?,
            _ => Vec::new(),
        };
        let mut random = fastrand::Rng::with_seed(seed);
        let mut at = 0usize;
        for element in 0..len {
            for (part, (offset, ty)) in leaves.iter().enumerate() {
                let place = || match leaves.len() {
                    1 => format!(" as its element {element}, counted from 0"),
                    _ => format!(" as part {part} of its element {element}, both counted from 0"),
                };
                let scalar = match self {
                    Written::Literal(_) => numbers[at].scalar(*ty, &place())?,
                    Written::Zeros { .. } => break,
                    Written::Iota { .. } => Number::Int(at as i128).as_is(*ty),
                    Written::Random { range, .. } => drawn(&mut random, *ty, *range),
                };
                put(&mut bytes, element * parameter.bytes + offset, scalar);
                at += 1;
            }
        }
        Ok(bytes)
    }
}

/// All numbers of a type, in words.
fn all_of(ty: Type) -> String {
    match ty {
        Type::Bool => "`true` or `false`".to_owned(),
        _ if ty.is_int() => {
            let bits = ty.bits();
            let (low, high) =
                if ty.is_signed_int() { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
            format!("{low} to {high}")
        }
        _ => "a number".to_owned(),
    }
}

impl Number {
    /// As a scalar of a type that it fits. `place`: which part of the argument it is.
    fn scalar(self, ty: Type, place: &str) -> Result<Scalar, String> {
        let verb = if place.is_empty() { "is" } else { "has" };
        let misfit = |text: String| Err(format!("{verb} {text}{place}, which is no `{ty}`; write {}", all_of(ty)));
        if ty.is_any_float() && self.as_is(ty).as_f64().is_infinite() {
            let value = self.as_is(Type::F64).as_f64();
            return Err(format!("{verb} {value:?}{place}, which is more than `{ty}` has; write a number nearer to zero"));
        }
        match self {
            Number::Bool(value) if ty == Type::Bool => Ok(Scalar::bool(value)),
            Number::Int(value) if ty.is_int() && Scalar::int(ty, value).as_int() == value => Ok(Scalar::int(ty, value)),
            Number::Int(value) if ty.is_any_float() => Ok(Scalar::float(ty, value as f64)),
            Number::Float(value) if ty.is_any_float() => Ok(Scalar::float(ty, value)),
            Number::Bool(value) => misfit(value.to_string()),
            Number::Int(value) => misfit(value.to_string()),
            Number::Float(value) => misfit(format!("{value:?}")),
        }
    }

    /// As a scalar of a type, wrapped round to it.
    fn as_is(self, ty: Type) -> Scalar {
        match self {
            Number::Int(value) if ty.is_any_float() => Scalar::float(ty, value as f64),
            Number::Int(value) if ty == Type::Bool => Scalar::bool(value % 2 != 0),
            Number::Int(value) => Scalar::int(ty, value),
            Number::Bool(value) => Scalar::bool(value),
            Number::Float(value) => Scalar::float(ty, value),
        }
    }
}

/// How a parameter is given: `a=1`, `'p=Params { width: 1, gain: 1.0 }'`, with the quotes that a shell wants.
pub(super) fn form(parameter: &DynamicParameter, structs: &Structs) -> String {
    let text = format!("{}={}", parameter.name, example(&parameter.ty, structs));
    if text.contains([' ', '(', '[', '{']) { format!("'{text}'") } else { text }
}

/// Bytes that can be had without taking them from other programs, where the system says: one that promises more than it has ends programs
/// later instead.
fn free_memory() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

/// That a type has all numbers of a range.
fn check_range((low, high): (f64, f64), ty: Type) -> Result<(), String> {
    let is_within = if ty.is_any_float() {
        [low, high].iter().all(|end| !Scalar::float(ty, *end).as_f64().is_infinite())
    } else if ty.is_int() {
        let (first, last) = (low.floor() as i128, high.ceil() as i128 - 1);
        [first, last].iter().all(|number| Scalar::int(ty, *number).as_int() == *number)
    } else {
        true
    };
    if is_within {
        return Ok(());
    }
    let all = if ty.is_int() { all_of(ty) } else { "no numbers so far from zero".to_owned() };
    Err(format!("is drawn from {low:?} to {high:?}, and `{ty}` has {all}; write a range within that"))
}

fn drawn(random: &mut fastrand::Rng, ty: Type, range: Option<(f64, f64)>) -> Scalar {
    if ty == Type::Bool {
        return Scalar::bool(random.bool());
    }
    let (low, high) = range.unwrap_or(if ty.is_any_float() { FLOATS } else { INTEGERS });
    let number = low + random.f64() * (high - low);
    if ty.is_any_float() { Scalar::float(ty, number) } else { Scalar::int(ty, number.floor() as i128) }
}

/// The scalars of a type, in order, each with its offset.
pub(super) fn leaves(ty: &MemoryType, structs: &Structs) -> Vec<(usize, Type)> {
    fn walk(ty: &MemoryType, at: u64, structs: &Structs, into: &mut Vec<(usize, Type)>) {
        match ty {
            MemoryType::Scalar(ty) => into.push((at as usize, *ty)),
            MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) => {
                let size = element.size(structs);
                (0..*n).for_each(|k| walk(element, at + k * size, structs, into));
            }
            MemoryType::Slice(_) => {}
            MemoryType::Struct(id) => structs[*id].fields.iter().for_each(|field| walk(&field.ty, at + field.offset, structs, into)),
        }
    }
    let mut into = Vec::new();
    walk(ty, 0, structs, &mut into);
    into
}

/// A scalar of bytes.
pub(super) fn scalar(bytes: &[u8], at: usize, ty: Type) -> Scalar {
    let size = ty.bytes() as usize;
    let mut word = [0; 8];
    word[..size].copy_from_slice(&bytes[at..at + size]);
    Scalar::new(ty, u64::from_le_bytes(word))
}

fn put(bytes: &mut [u8], at: usize, scalar: Scalar) {
    let n = scalar.ty.bytes() as usize;
    bytes[at..at + n].copy_from_slice(&scalar.bits.to_le_bytes()[..n]);
}

/// `4096`, `1024 * 1024`, `1 << 20`.
pub(super) fn length(expr: &Expr) -> Option<usize> {
    let value = Arithmetic::of(expr).ok()?.value(&|name| Err(name.to_owned())).ok()?;
    usize::try_from(value).ok()
}

fn range(expr: &Expr) -> Option<(f64, f64)> {
    let Expr::Range(ExprRange { start: Some(start), end: Some(end), .. }) = expr else { return None };
    let as_f64 = |expr: &Expr| match number(expr)? {
        Number::Int(value) => Some(value as f64),
        Number::Float(value) => Some(value),
        Number::Bool(_) => None,
    };
    let (low, high) = (as_f64(start)?, as_f64(end)?);
    (low < high).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(ty: MemoryType) -> DynamicParameter {
        let bytes = ty.size(&Structs::default()) as usize;
        DynamicParameter { name: "x".into(), kind: warpwright_runtime::definition::ParameterKind::Global, ty, bytes }
    }

    fn floats(text: &str, covered: Option<usize>) -> Result<Vec<f32>, String> {
        let parameter = parameter(MemoryType::Scalar(Type::F32));
        let bytes = Written::parse(text)?.buffer(
            &parameter,
            &Structs::default(),
            &covered.ok_or_else(|| ", or say what to `--cover`".to_owned()),
            7,
        )?;
        Ok(bytes.chunks(4).map(|word| f32::from_le_bytes(word.try_into().expect("four bytes"))).collect())
    }

    #[test]
    fn what_a_type_does_not_have_is_refused() {
        let of = |ty: Type, text: &str| {
            Written::parse(text).and_then(|written| {
                written.buffer(&parameter(MemoryType::Scalar(ty)), &Structs::default(), &Err(String::new()), 7).map(|bytes| bytes.len())
            })
        };
        for (ty, text, why) in [
            (Type::U8, "random(3, 0..257)", "is drawn from 0.0 to 257.0, and `u8` has 0 to 255; write a range within that"),
            (Type::U8, "random(3, -1..5)", "is drawn from -1.0 to 5.0, and `u8` has 0 to 255; write a range within that"),
            (
                Type::F32,
                "random(3, 0..1e40)",
                "is drawn from 0.0 to 1e40, and `f32` has no numbers so far from zero; write a range within that",
            ),
            (
                Type::F32,
                "[1, 1e40]",
                "has 1e40 as its element 1, counted from 0, which is more than `f32` has; write a number nearer to zero",
            ),
            (
                Type::F16,
                "[70000]",
                "has 70000.0 as its element 0, counted from 0, which is more than `f16` has; write a number nearer to zero",
            ),
        ] {
            assert_eq!(of(ty, text).unwrap_err(), why, "{text}");
        }
        for (ty, text) in
            [(Type::U8, "random(3, 0..256)"), (Type::I8, "random(3, -128..128)"), (Type::F32, "[3e38]"), (Type::Bool, "random(3, 0..9)")]
        {
            assert_eq!(of(ty, text), Ok(if text.starts_with('[') { 4 } else { 3 }), "{text}");
        }
    }

    #[test]
    fn buffers_are_filled_as_written() {
        assert_eq!(floats("[1, -2.5, 3]", None).unwrap(), [1.0, -2.5, 3.0]);
        assert_eq!(floats("zeros(2 * 2)", None).unwrap(), [0.0; 4]);
        assert_eq!(floats("iota", Some(3)).unwrap(), [0.0, 1.0, 2.0]);
        let random = floats("random(1 << 10, 2..4)", None).unwrap();
        assert!(random.len() == 1024 && random.iter().all(|x| (2.0..4.0).contains(x)) && random[0] != random[1]);
        assert_eq!(random, floats("random(1024, 2..4)", None).unwrap());
    }

    #[test]
    fn what_does_not_fit_is_said() {
        for (text, part) in [
            ("random", "has no length: write `--args x=random(4096)`"),
            ("randm(3)", "neither a number"),
            ("random(3, 9..2)", "is no range; write one like `0..256`"),
            ("random(x)", "`x` is no length; write one like `4096`"),
            ("[true]", "has true as its element 0, counted from 0, which is no `f32`; write a number"),
            ("[1, 2, x]", "has `x` as its element 2, counted from 0, which is no value; write a number, `true` or `false`"),
            ("[(1, 2), (3, y)]", "has `y` as its element 1 of element 1, counted from 0, which is no value"),
            ("1 +", "neither a number"),
        ] {
            let error = floats(text, None).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn values_have_as_many_numbers_as_their_type() {
        let parameter = parameter(MemoryType::Array(Box::new(MemoryType::Scalar(Type::U16)), 3));
        let value = |text: &str| Written::parse(text).and_then(|w| w.value(&parameter, &Structs::default()));
        assert_eq!(value("[1, 2, 65535]").unwrap(), [1, 0, 2, 0, 255, 255]);
        assert_eq!(value("[1, 2]").unwrap_err(), "has 2 numbers, and its type 3: write `--args 'x=[1, 1, 1]'`");
        assert_eq!(value("[7; 3]").unwrap(), [7, 0, 7, 0, 7, 0]);
        assert_eq!(value("iota(3)").unwrap_err(), "is passed by value: write `--args 'x=[1, 1, 1]'`");
        assert_eq!(value("[1, 2, 65536]").unwrap_err(), "has 65536 as its part 2, counted from 0, which is no `u16`; write 0 to 65535");
    }
}
