//! Which variants are best at something: at one figure, or such that no other is at least as good at all of them.

use super::columns::{Better, COLUMNS, Cell, Column};
use super::variant::Variant;

/// The variants that no other beats, on one target, by the columns that count: as good at each and better at one.
pub(super) fn front(variants: &[Variant], target: usize) -> Vec<bool> {
    let counted: Vec<&Column> = COLUMNS.iter().filter(|column| column.counts).collect();
    let figures: Vec<Option<Vec<Option<f64>>>> = variants
        .iter()
        .map(|variant| variant.compiled().map(|compiled| counted.iter().map(|column| gain(column, Cell { compiled, target })).collect()))
        .collect();
    let mut front = Vec::new();
    for own in &figures {
        let is_beaten = |own: &[Option<f64>]| figures.iter().flatten().any(|other| beats(other, own));
        front.push(own.as_deref().is_some_and(|own| !is_beaten(own)));
    }
    front
}

/// The figure such that more is better.
fn gain(column: &Column, cell: Cell<'_>) -> Option<f64> {
    let figure = column.compared(cell)?;
    Some(if column.better == Better::Less { -figure } else { figure })
}

/// What one of the two does not know, they are not compared by.
fn beats(a: &[Option<f64>], b: &[Option<f64>]) -> bool {
    let both = || a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
    both().all(|(a, b)| a >= b) && both().any(|(a, b)| a > b)
}

/// The variants that are best at a column, on one target; none if all are alike.
pub(super) fn best(column: &Column, variants: &[Variant], target: usize) -> Vec<bool> {
    let figures: Vec<Option<f64>> = variants.iter().map(|variant| gain(column, Cell { compiled: variant.compiled()?, target })).collect();
    let known = || figures.iter().flatten().copied();
    let (least, most) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let tells = column.better != Better::Neither && least < most;
    figures.iter().map(|figure| tells && *figure == Some(most)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_beats_another_if_it_is_nowhere_worse() {
        assert!(beats(&[Some(2.0), Some(1.0)], &[Some(1.0), Some(1.0)]));
        assert!(!beats(&[Some(2.0), Some(0.0)], &[Some(1.0), Some(1.0)]));
        assert!(!beats(&[Some(1.0)], &[Some(1.0)]));
        assert!(beats(&[Some(2.0), None], &[Some(1.0), Some(9.0)]));
    }
}
