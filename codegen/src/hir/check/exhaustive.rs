//! Whether the arms of a `match` cover every value.
//!
//! rustc says so about the host twin; the command line has no rustc beside it. The usual way (Maranget, Warnings for pattern
//! matching, 2007): a row of patterns is useful behind others if some value fits it and none of them; a `match` is exhaustive if a
//! wildcard behind its arms is not. Integers are split where a pattern's bounds split them.

use super::super::items::AdtKind;
use super::super::tree::{Arm, Pattern, PatternKind};
use super::super::types::{Const, Ty};
use super::Checker;
use crate::diagnostic::Diagnostic;
use crate::ir::Type;
use proc_macro2::Span;

/// Most rows that are looked at for one `match`: patterns that need more are taken for exhaustive.
const MOST_ROWS: usize = 1_000_000;

/// A pattern as far as this question goes.
#[derive(Clone)]
enum Shape {
    Any,
    /// Integers from … to …, both included; `bool` and enums by number.
    Range(i128, i128),
    Parts(Vec<Shape>),
    Or(Vec<Shape>),
    /// Fits some values, nobody knows which: covers none.
    Unknown,
}

/// What a column's values are.
#[derive(Clone)]
enum Domain {
    Parts(Vec<Domain>),
    /// The ranges of numbers that there are.
    Numbers(Vec<(i128, i128)>),
    /// Only a wildcard covers it.
    Open,
}

impl Checker<'_, '_> {
    /// Reports a `match` whose arms leave values out. Types are known by now.
    pub(super) fn check_exhaustive(&self, place: PatternSite, ty: &Ty, arms: &[ArmShape], span: Span) {
        let domain = self.domain(ty, 0);
        let rows: Vec<Vec<Shape>> = arms.iter().map(|arm| vec![arm.0.clone()]).collect();
        if let Some(missing) = uncovered(&rows, std::slice::from_ref(&domain), &mut 0) {
            let shown = self.show_value(ty, &missing[0]);
            let error = match place {
                PatternSite::Match => {
                    Diagnostic::error(span, format!("this `match` has no arm for `{shown}`")).help("add one, or `_ => …` as the last")
                }
                PatternSite::Let => Diagnostic::error(span, format!("this pattern does not fit `{shown}`")).help("use `match` or `if let`"),
            };
            self.report(error.by_rustc());
        }
    }

    fn domain(&self, ty: &Ty, depth: u32) -> Domain {
        match self.infer.resolve(ty) {
            Ty::Scalar(Type::Bool) => Domain::Numbers(vec![(0, 1)]),
            Ty::Scalar(ty) if ty.is_int() => Domain::Numbers(vec![ty.numbers().into_inner()]),
            // As wide as the host's: narrower ones would need no arm for what they cannot hold.
            Ty::Usize => Domain::Numbers(vec![Type::U64.numbers().into_inner()]),
            Ty::Isize => Domain::Numbers(vec![Type::I64.numbers().into_inner()]),
            Ty::Tuple(fields) if depth < 8 => Domain::Parts(fields.iter().map(|field| self.domain(field, depth + 1)).collect()),
            Ty::Array(element, Const::Value(len)) if len <= 16 && depth < 8 => {
                Domain::Parts((0..len).map(|_| self.domain(&element, depth + 1)).collect())
            }
            ty @ Ty::Adt(..) => self.adt_domain(&ty, depth),
            _ => Domain::Open,
        }
    }

    fn adt_domain(&self, ty: &Ty, depth: u32) -> Domain {
        let Ty::Adt(id, _) = ty else { return Domain::Open };
        if let AdtKind::Enum(variants, _) = &self.context.items.adts[id.0].kind {
            return Domain::Numbers(variants.iter().map(|(_, value)| (*value, *value)).collect());
        }
        match self.known_field_types(ty) {
            Some(fields) if depth < 8 => Domain::Parts(fields.iter().map(|(_, field)| self.domain(field, depth + 1)).collect()),
            _ => Domain::Open,
        }
    }

    /// A value as a pattern would name it.
    fn show_value(&self, ty: &Ty, value: &Shape) -> String {
        let ty = self.infer.resolve(ty);
        match (value, &ty) {
            (Shape::Range(0, _), &Ty::BOOL) => "false".to_owned(),
            (Shape::Range(..), &Ty::BOOL) => "true".to_owned(),
            (Shape::Range(a, _), Ty::Adt(id, _)) => match &self.context.items.adts[id.0].kind {
                AdtKind::Enum(variants, _) => {
                    let name = variants.iter().find(|(_, value)| value == a).map_or("_", |(name, _)| name.as_str());
                    format!("{}::{name}", self.context.items.adts[id.0].name)
                }
                AdtKind::Struct(_) => "_".to_owned(),
            },
            (Shape::Range(a, b), Ty::Scalar(ty)) if (*a, *b) == ty.numbers().into_inner() => "_".to_owned(),
            (Shape::Range(a, b), _) if a == b => a.to_string(),
            (Shape::Range(a, b), _) => format!("{a}..={b}"),
            (Shape::Parts(parts), Ty::Tuple(fields)) => {
                let shown: Vec<String> = parts.iter().zip(fields).map(|(part, field)| self.show_value(field, part)).collect();
                format!("({})", shown.join(", "))
            }
            _ => "_".to_owned(),
        }
    }

    /// An arm's pattern. One with a guard covers nothing.
    pub(super) fn shape_of_arm(&self, arm: &Arm) -> ArmShape {
        ArmShape(if arm.guard.is_some() { Shape::Unknown } else { self.shape(&arm.pattern) })
    }

    /// The pattern of a `let`.
    pub(super) fn shape_of_let(&self, pattern: &Pattern) -> ArmShape {
        ArmShape(self.shape(pattern))
    }

    fn shape(&self, pattern: &Pattern) -> Shape {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Bind(_, None) | PatternKind::Rest(_) => Shape::Any,
            PatternKind::Bind(_, Some(inner)) => self.shape(inner),
            PatternKind::Value(value) => value.known_int().map_or(Shape::Unknown, |n| Shape::Range(n, n)),
            PatternKind::Range(start, end, closed) => {
                let low = start.as_ref().map_or(Some(i128::MIN), |value| value.known_int());
                let high = end.as_ref().map_or(Some(i128::MAX), |value| Some(value.known_int()? - i128::from(!closed)));
                low.zip(high).map_or(Shape::Unknown, |(low, high)| Shape::Range(low, high))
            }
            PatternKind::Fields(fields) => {
                // What is too wide to look into is taken to fit.
                let Domain::Parts(parts) = self.domain(&pattern.ty, 0) else { return Shape::Any };
                let mut shapes = vec![Shape::Any; parts.len()];
                for (index, field) in fields {
                    if let Some(slot) = shapes.get_mut(*index as usize) {
                        *slot = self.shape(field);
                    }
                }
                Shape::Parts(shapes)
            }
            PatternKind::Or(alternatives) => Shape::Or(alternatives.iter().map(|alternative| self.shape(alternative)).collect()),
        }
    }
}

/// Where the patterns stand.
#[derive(Clone, Copy)]
pub(super) enum PatternSite {
    Match,
    Let,
}

/// An arm's pattern.
pub(super) struct ArmShape(Shape);

/// A value of each column that no row fits; `None` if there is none (or it takes too long to tell).
fn uncovered(rows: &[Vec<Shape>], domains: &[Domain], looked_at: &mut usize) -> Option<Vec<Shape>> {
    *looked_at += rows.len() + 1;
    if *looked_at > MOST_ROWS || rows.iter().any(|row| row.iter().all(|shape| matches!(shape, Shape::Any))) {
        return None;
    }
    let Some((domain, rest)) = domains.split_first() else {
        return rows.is_empty().then(Vec::new);
    };
    // Alternatives are rows of their own.
    let mut rows: Vec<Vec<Shape>> = rows.iter().flat_map(|row| alternatives(row)).collect();
    match domain {
        Domain::Open => {
            let rows: Vec<_> = rows.iter().filter(|row| matches!(row[0], Shape::Any)).map(|row| row[1..].to_vec()).collect();
            uncovered(&rows, rest, looked_at).map(|found| std::iter::once(Shape::Any).chain(found).collect())
        }
        Domain::Parts(parts) => {
            let spread = |row: &Vec<Shape>| match &row[0] {
                Shape::Any => Some(std::iter::repeat_n(Shape::Any, parts.len()).chain(row[1..].iter().cloned()).collect()),
                Shape::Parts(shapes) if shapes.len() == parts.len() => Some(shapes.iter().chain(&row[1..]).cloned().collect()),
                _ => None,
            };
            let rows: Vec<Vec<Shape>> = rows.iter().filter_map(spread).collect();
            let domains: Vec<Domain> = parts.iter().chain(rest).cloned().collect();
            let mut found = uncovered(&rows, &domains, looked_at)?;
            let behind = found.split_off(parts.len());
            Some(std::iter::once(Shape::Parts(found)).chain(behind).collect())
        }
        Domain::Numbers(ranges) => {
            // From the least value up, with the rows that begin there or before, and do not end before.
            rows.sort_by_key(|row| first_value(&row[0]));
            let mut begun = 0;
            let mut here: Vec<&Vec<Shape>> = Vec::new();
            pieces(ranges, &rows).into_iter().find_map(|(low, high)| {
                here.retain(|row| !matches!(row[0], Shape::Range(_, last) if last < low));
                while let Some(row) = rows.get(begun).filter(|row| first_value(&row[0]) <= low) {
                    let fits = match row[0] {
                        Shape::Any => true,
                        Shape::Range(_, last) => low <= last,
                        _ => false,
                    };
                    here.extend(fits.then_some(row));
                    begun += 1;
                }
                let inner: Vec<_> = here.iter().map(|row| row[1..].to_vec()).collect();
                uncovered(&inner, rest, looked_at).map(|found| std::iter::once(Shape::Range(low, high)).chain(found).collect())
            })
        }
    }
}

/// Where a pattern of numbers begins.
fn first_value(shape: &Shape) -> i128 {
    match shape {
        Shape::Range(first, _) => *first,
        _ => i128::MIN,
    }
}

/// The rows that a row with alternatives in front stands for.
fn alternatives(row: &[Shape]) -> Vec<Vec<Shape>> {
    match &row[0] {
        Shape::Or(all) => {
            let one = |shape: &Shape| std::iter::once(shape.clone()).chain(row[1..].iter().cloned()).collect::<Vec<_>>();
            all.iter().flat_map(|shape| alternatives(&one(shape))).collect()
        }
        _ => vec![row.to_vec()],
    }
}

/// Ranges, in order, cut at the bounds of the rows' patterns: within a piece all values fit the same rows.
fn pieces(ranges: &[(i128, i128)], rows: &[Vec<Shape>]) -> Vec<(i128, i128)> {
    let mut cuts: Vec<i128> = Vec::new();
    for row in rows {
        if let Shape::Range(first, last) = row[0] {
            cuts.extend([first, last.saturating_add(1)]);
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    let mut ranges = ranges.to_vec();
    ranges.sort_unstable();
    let mut pieces = Vec::new();
    for (low, high) in ranges {
        let mut first = low;
        let from = cuts.partition_point(|cut| *cut <= low);
        for cut in cuts[from..].iter().take_while(|cut| **cut <= high) {
            pieces.push((first, cut - 1));
            first = *cut;
        }
        pieces.push((first, high));
    }
    pieces
}
