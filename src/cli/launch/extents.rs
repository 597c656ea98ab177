//! `--cover` and `--grid`: one to three extents, numbers or arithmetic that depends on the variant.

use super::arithmetic::{Arithmetic, Fault};
use std::fmt;
use warpwright::Dim3;

/// Extents as written. What cannot be evaluated without a variant is kept as text, too: a record of results names it.
#[derive(Clone, Debug)]
pub(super) enum Extents {
    /// `1024x768`.
    Numbers(Dim3),
    /// `1024/T, 768`: an axis each, and the whole text.
    Arithmetic { axes: Vec<Arithmetic>, text: String },
}

/// `4096`, `64x32`, `8x8x4`: of the grid, of what it covers, or of a block.
pub(super) fn numbers(text: &str) -> Result<Dim3, String> {
    let parts: Result<Vec<usize>, _> = text.split('x').map(|part| part.trim().replace('_', "").parse::<usize>()).collect();
    match parts.as_deref() {
        Ok([x]) => Ok(Dim3::new(*x, 1, 1)),
        Ok([x, y]) => Ok(Dim3::new(*x, *y, 1)),
        Ok([x, y, z]) => Ok(Dim3::new(*x, *y, *z)),
        Err(error) if matches!(error.kind(), std::num::IntErrorKind::PosOverflow) => {
            Err(format!("the most is {}; write that or less", usize::MAX))
        }
        _ => Err("write one to three numbers: `4096`, `1024x768`, `64x64x64`".to_owned()),
    }
}

impl Extents {
    /// Reads numbers with `x` between them, or arithmetic with commas.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub(super) fn parse(text: &str) -> Result<Extents, String> {
        if text.chars().all(|c| c.is_ascii_digit() || c == '_' || c == 'x' || c.is_whitespace()) {
            return numbers(text).map(Extents::Numbers);
        }
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() > 3 {
            return Err(format!("{} extents, and the most is 3; leave {} out", parts.len(), parts.len() - 3));
        }
        let of_several = |axis: usize, why: String| match parts.len() {
            1 => why,
            _ => format!("in {}, {why}", ["x", "y", "z"][axis]),
        };
        let one = |(axis, part): (usize, &&str)| Arithmetic::parse(part.trim()).map_err(|why| of_several(axis, why));
        let axes: Vec<Arithmetic> = parts.iter().enumerate().map(one).collect::<Result<_, _>>().map_err(|why| {
            // `64x1024/T`: the letter joins numbers only.
            let is_joined = parts.iter().any(|part| part.as_bytes().windows(2).any(|pair| pair[0].is_ascii_digit() && pair[1] == b'x'));
            if is_joined { format!("{why}; extents that are computed have commas between them: `1024/T,768`") } else { why }
        })?;
        let all = |axes: &[Arithmetic]| -> Option<Dim3> {
            let number = |axis: usize| match axes.get(axis) {
                Some(Arithmetic::Number(number)) => usize::try_from(*number).ok(),
                Some(_) => None,
                None => Some(1),
            };
            Some(Dim3::new(number(0)?, number(1)?, number(2)?))
        };
        // `64,32` is `64x32`.
        Ok(all(&axes).map_or_else(|| Extents::Arithmetic { axes, text: text.trim().to_owned() }, Extents::Numbers))
    }

    /// The names in it.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        if let Extents::Arithmetic { axes, .. } = self {
            axes.iter().for_each(|axis| axis.names(&mut names));
        }
        names
    }

    /// Its numbers, where names have these values.
    ///
    /// # Errors
    /// What is wrong, with the option, the expression, and what its names stand for.
    pub(super) fn value(&self, option: &str, names: &impl Fn(&str) -> Result<i128, String>) -> Result<Dim3, String> {
        let (axes, text) = match self {
            Extents::Numbers(numbers) => return Ok(*numbers),
            Extents::Arithmetic { axes, text } => (axes, text),
        };
        let mut values = [1; 3];
        for (value, axis) in values.iter_mut().zip(axes) {
            let found = axis.value(names).map_err(|fault| match fault {
                Fault::DividesByZero(by) => {
                    format!("`{option} {text}` divides by zero: `{by}` is 0{}; divide by 1 or more", given(axis, names))
                }
                Fault::Overflows(part) => {
                    format!("`{option} {text}` overflows: `{part}` does not fit 128 bits{}; write a smaller one", given(axis, names))
                }
                Fault::Name(why) => format!("`{option} {text}`: {why}"),
            })?;
            if found < 1 {
                let given = given(axis, names);
                return Err(format!(
                    "`{option} {text}`: every extent must be at least 1, and `{axis}` is {found}{given}; write one that is"
                ));
            }
            *value = usize::try_from(found).map_err(|_| {
                format!("`{option} {text}`: `{axis}` is {found}{}, and the most is {}; write a smaller one", given(axis, names), usize::MAX)
            })?;
        }
        Ok(Dim3::new(values[0], values[1], values[2]))
    }
}

/// ` where T = 8, block = 64`.
fn given(axis: &Arithmetic, names: &impl Fn(&str) -> Result<i128, String>) -> String {
    let mut used = Vec::new();
    axis.names(&mut used);
    let values: Vec<String> = used.into_iter().filter_map(|name| Some(format!("{name} = {}", names(name).ok()?))).collect();
    if values.is_empty() { String::new() } else { format!(" where {}", values.join(", ")) }
}

/// As a record of results has it.
impl fmt::Display for Extents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extents::Numbers(Dim3 { x, y, z }) => write!(f, "{x}x{y}x{z}"),
            Extents::Arithmetic { text, .. } => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<Dim3, String> {
        let names = |name: &str| if name == "T" { Ok(8) } else { Err(format!("no `{name}`")) };
        Extents::parse(text)?.value("--grid", &names)
    }

    #[test]
    fn axes_are_numbers_or_arithmetic() {
        for (text, extents) in [
            ("4096", [4096, 1, 1]),
            ("1_024x768", [1024, 768, 1]),
            ("64,32", [64, 32, 1]),
            ("1024/T", [128, 1, 1]),
            ("1025/T, 768, T", [129, 768, 8]),
        ] {
            assert_eq!(value(text).map(|extents| extents.to_array()), Ok(extents), "{text}");
        }
    }

    #[test]
    fn what_has_no_value_is_said() {
        for (text, said) in [
            ("1,2,3,4", "4 extents, and the most is 3"),
            ("64x", "write one to three numbers"),
            ("64x1024/T", "computed have commas between them: `1024/T,768`"),
            ("T,", "in y, it is empty"),
            ("8/(T - 8)", "`--grid 8/(T - 8)` divides by zero: `(T - 8)` is 0 where T = 8"),
            ("8-T", "`--grid 8-T`: every extent must be at least 1, and `8 - T` is 0 where T = 8"),
            ("8 - T*2", "and `8 - T * 2` is -8 where T = 8"),
            (
                "18446744073709551615*T",
                "`18446744073709551615 * T` is 147573952589676412920 where T = 8, and the most is 18446744073709551615",
            ),
            ("1,U", "`--grid 1,U`: no `U`"),
        ] {
            let error = value(text).expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
        }
        assert_eq!(Extents::parse(" 1024/T,  2").expect("arithmetic").to_string(), "1024/T,  2", "what a record names");
    }
}
