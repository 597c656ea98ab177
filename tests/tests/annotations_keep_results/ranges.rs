//! Ranges that loops walk: constant and not, empty and short, forwards and backwards, at the ends of their types.

use super::expression::Counter;
use super::generate::{Generator, MOST};

/// A range as text, and the counter that walks it.
pub(crate) fn range(g: &mut Generator<'_>, is_uniform: bool) -> (String, Counter) {
    let name = g.counter_name();
    // Text of the first and last bound, whether the last is included, the least and the greatest value, and the count if it is known.
    let (ty, start, end, inclusive, min, max, mut trips) = match g.below(if is_uniform { 6 } else { 14 }) {
        0 | 1 => {
            let n = g.pick(&[0i64, 1, 2, 3, 4, 4, 5, 7, 8, 8, 9, 12, 16]);
            ("usize", "0".to_owned(), n.to_string(), false, 0, n - 1, Some(n))
        }
        2 => {
            let (a, n) = (g.below(9) as i64, g.pick(&[1i64, 2, 3, 4, 6, 8, 11]));
            ("u32", format!("{a}u32"), (a + n).to_string(), false, a, a + n - 1, Some(n))
        }
        3 | 4 => ("usize", "0".to_owned(), "n as usize".to_owned(), false, 0, MOST - 1, None),
        5 => ("u32", "0".to_owned(), "n".to_owned(), false, 0, MOST - 1, None),
        6 => ("usize", "(m & 4) as usize".to_owned(), "n as usize".to_owned(), false, 0, MOST - 1, None),
        7 => ("usize", "1".to_owned(), "m as usize".to_owned(), true, 1, MOST, None),
        8 => ("i32", "o".to_owned(), "n as i32".to_owned(), g.chance(30), -3, MOST, None),
        9 => {
            let n = g.pick(&[1i64, 4, 5, 8]);
            ("i32", "-3".to_owned(), (n - 3).to_string(), false, -3, n - 4, Some(n))
        }
        10 => match g.below(4) {
            0 => ("u8", "0".to_owned(), "n as u8".to_owned(), false, 0, MOST - 1, None),
            1 => ("u8", "250u8".to_owned(), "255".to_owned(), true, 250, 255, Some(6)),
            2 => ("u8", "(255 - n as u8)".to_owned(), "255".to_owned(), g.chance(50), 255 - MOST, 255, None),
            _ => ("i8", "(n as i8 + i8::MIN)".to_owned(), "(m as i8 - 120)".to_owned(), false, -128, MOST - 120, None),
        },
        11 => match g.below(3) {
            0 => {
                let inclusive = g.chance(50);
                let n = 7 + i64::from(inclusive);
                let greatest = i64::from(u32::MAX);
                ("u32", format!("{}u32", greatest - 7), greatest.to_string(), inclusive, greatest - 7, greatest, Some(n))
            }
            1 => (
                "u32",
                "u32::MAX - n".to_owned(),
                "u32::MAX".to_owned(),
                g.chance(50),
                i64::from(u32::MAX) - MOST,
                i64::from(u32::MAX),
                None,
            ),
            _ => {
                let greatest = i64::from(i32::MAX);
                ("i32", "i32::MAX - n as i32".to_owned(), "i32::MAX".to_owned(), g.chance(50), greatest - MOST, greatest, None)
            }
        },
        12 => ("i64", "o as i64".to_owned(), "m as i64".to_owned(), false, -3, MOST - 1, None),
        _ => ("usize", "t & 3".to_owned(), "n as usize + (t & 1)".to_owned(), false, 0, MOST, None),
    };
    let is_plain = !inclusive && min == 0;
    let mut text = format!("{start}{}{end}", if inclusive { "..=" } else { ".." });
    let step = g.pick(&[2i64, 3, 4, 5]);
    match g.below(12) {
        0 => text = format!("({text}).rev()"),
        1 => {
            text = format!("({text}).step_by({step})");
            trips = trips.map(|n| (n + step - 1) / step);
        }
        // The standard library counts no more of them.
        2 if ty != "i64" && (!inclusive || ty.ends_with('8')) && g.chance(40) => {
            text = format!("({text}).step_by({step}).rev()");
            trips = trips.map(|n| (n + step - 1) / step);
        }
        3 if g.chance(40) => {
            text = format!("({text}).rev().step_by({step})");
            trips = trips.map(|n| (n + step - 1) / step);
        }
        4 if is_plain && ty == "usize" => text = format!("({text}).step_by((m as usize & 3) + 1)"),
        _ => {}
    }
    let trips = if text.contains("m as usize & 3") { None } else { trips };
    (text, Counter { name, ty, min, max: max.max(min), trips: trips.map(|n| n as u32) })
}
