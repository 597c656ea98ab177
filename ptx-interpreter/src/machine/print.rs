//! `vprintf` and `__assertfail`, as CUDA's device has them.

use super::view::{View, number};
use super::{Machine, Who};
use crate::error::{FaultKind, Step, Stumble};
use crate::program::{AccessSpace, CallOp};
use std::fmt::Write;

/// Longest text.
const MOST: u64 = 1 << 16;

impl Machine<'_> {
    pub(super) fn call(&mut self, who: Who, call: &CallOp) -> Step {
        let (mut view, pc) = self.view(who);
        let passed = |view: &View<'_>, at: u32, bytes: u32| view.spaces.read(AccessSpace::Local, at.into(), bytes).map(number);
        match *call {
            CallOp::Print { format, arguments, status } => {
                let format = text(&view, passed(&view, format, 8)?)?;
                let at = passed(&view, arguments, 8)?;
                let (printed, values) = formatted(&view, &format, at)?;
                view.spaces.write(AccessSpace::Local, status.into(), 4)?.copy_from_slice(&values.to_le_bytes());
                *pc += 1;
                self.printed.push_str(&printed);
                Ok(())
            }
            CallOp::Assert { message, file, line, function } => {
                let [message, file, function] = [message, file, function].map(|at| passed(&view, at, 8).and_then(|at| text(&view, at)));
                let line = passed(&view, line, 4)?;
                Err(Stumble::new(FaultKind::Assert, format!("{}:{line}: {}: Assertion `{}` failed.", file?, function?, message?)))
            }
        }
    }
}

/// A text at a generic address.
fn text(view: &View<'_>, address: u64) -> Step<String> {
    let mut bytes = Vec::new();
    for n in 0..MOST {
        match view.spaces.read(AccessSpace::Generic, address + n, 1)? {
            [0] => break,
            read => bytes.extend_from_slice(read),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A format of C's with its arguments, and how many there are.
fn formatted(view: &View<'_>, format: &str, arguments: u64) -> Step<(String, u32)> {
    let (mut printed, mut values, mut at) = (String::new(), 0, arguments);
    let mut next = |bytes: u64| {
        at = at.next_multiple_of(bytes);
        let value = view.spaces.read(AccessSpace::Generic, at, bytes as u32).map(number);
        at += bytes;
        value
    };
    let mut rest = format;
    while let Some(percent) = rest.find('%') {
        printed.push_str(&rest[..percent]);
        rest = &rest[percent + 1..];
        let end = rest.find(|c: char| !matches!(c, '0'..='9' | '.' | 'l' | '-' | '+' | ' ' | '#')).unwrap_or(rest.len());
        let (flags, conversion) = (&rest[..end], rest[end..].chars().next());
        rest = rest[end..].get(conversion.map_or(0, char::len_utf8)..).unwrap_or_default();
        let is_long = flags.contains('l');
        let precision = flags.split_once('.').and_then(|(_, digits)| digits.parse::<usize>().ok());
        values += u32::from(conversion != Some('%'));
        let _ = match conversion {
            Some('%') => write!(printed, "%"),
            Some('d' | 'i') if is_long => write!(printed, "{}", next(8)? as i64),
            Some('d' | 'i') => write!(printed, "{}", next(4)? as i32),
            Some('u') if is_long => write!(printed, "{}", next(8)?),
            Some('u') => write!(printed, "{}", next(4)?),
            Some('x') if is_long => write!(printed, "{:x}", next(8)?),
            Some('x') => write!(printed, "{:x}", next(4)?),
            Some('f') => write!(printed, "{:.*}", precision.unwrap_or(6), f64::from_bits(next(8)?)),
            Some('g') => write!(printed, "{}", shortest(f64::from_bits(next(8)?), precision.unwrap_or(6))),
            Some('s') => write!(printed, "{}", text(view, next(8)?)?),
            _ => return Err(Stumble::undefined(format!("the format `{format}` has a conversion that is not known here"))),
        };
    }
    printed.push_str(rest);
    Ok((printed, values))
}

/// `%g`: so many significant digits, without zeros at the end.
fn shortest(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return format!("{value}").to_lowercase();
    }
    let digits = digits.max(1);
    let scientific = format!("{:.*e}", digits - 1, value);
    let exponent: i32 = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let trimmed =
        |text: &str| if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() };
    if exponent < -4 || exponent >= digits as i32 {
        let mantissa = scientific.split_once('e').map_or("", |(mantissa, _)| mantissa);
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs());
    }
    trimmed(&format!("{:.*}", (digits as i32 - 1 - exponent).max(0) as usize, value))
}

#[cfg(test)]
mod tests {
    use super::shortest;

    #[test]
    fn digits_as_c_prints_them() {
        let all = [(1.5, 6), (100000.0, 6), (1e6, 6), (0.0001, 6), (1e-5, 3), (0.1, 17), (0.0, 9), (-2.0, 9)];
        let printed = all.map(|(value, digits)| shortest(value, digits));
        assert_eq!(printed, ["1.5", "100000", "1e+06", "0.0001", "1e-05", "0.10000000000000001", "0", "-2"]);
    }
}
