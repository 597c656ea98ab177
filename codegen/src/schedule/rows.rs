//! Accesses of a loop's body that lie at known distances from each other: `z[4 * j]`, `z[4 * j + 1]`, … are a *row*. Which of them touch one element,
//! and in which iterations, is looked up, so that a body of many updates is not compared pair by pair.
//!
//! A place in a row is the constants of an access's indices, and its fields. An iteration later, an access is a fixed stride further on.

use super::dependence::MemoryAccess;
use crate::analysis::access::AccessKind;
use crate::analysis::affine::{Affine, Atom, Polynomial, wrapped};
use crate::analysis::alias::PathStep;
use crate::collections::{HashMap, HashSet};
use crate::ir::{Object, Value};

/// The accesses of a body, in its order, by number.
pub(super) struct Rows {
    /// By access: its row, and where in it; `None` for one whose index moves on by what is no number, or has other things in it that differ from
    /// iteration to iteration.
    places: Vec<Option<(usize, Vec<i64>)>>,
    rows: Vec<Row>,
    /// By object.
    objects: HashMap<Object, Members>,
}

#[derive(Default)]
struct Row {
    /// How much further on an access is an iteration later, by step of its path.
    strides: Vec<i64>,
    /// The arithmetic of each step.
    bits: Vec<u32>,
    /// By place: whoever touches it, and who of them does not only read.
    touches: HashMap<Vec<i64>, Vec<usize>>,
    changes: HashMap<Vec<i64>, Vec<usize>>,
}

/// Accesses to one object.
#[derive(Default)]
struct Members {
    all: Vec<usize>,
    changes: Vec<usize>,
    /// Whether they are one row.
    are_one: bool,
}

/// What accesses of a row have in common: the object, and the path without its fields and constants.
type Shape = (Object, Vec<Option<Polynomial>>);

impl Rows {
    /// `counter` is the loop's, `step` what it goes on by, `inside` what differs from iteration to iteration.
    pub(super) fn of(affine: &Affine, all: &[MemoryAccess], counter: Atom, step: &Polynomial, inside: &HashSet<Value>) -> Rows {
        let mut shapes: HashMap<Shape, usize> = HashMap::default();
        let mut found = Rows { places: Vec::new(), rows: Vec::new(), objects: HashMap::default() };
        for (n, access) in all.iter().enumerate() {
            let place = place(affine, access, counter, step, inside).map(|RowAccess { shape, strides, bits, at }| {
                let row = *shapes.entry((access.at.object, shape)).or_insert(found.rows.len());
                if row == found.rows.len() {
                    found.rows.push(Row { strides, bits, ..Row::default() });
                }
                found.rows[row].add(n, access, &at);
                (row, at)
            });
            let row = place.as_ref().map(|(row, _)| *row);
            let members = found.objects.entry(access.at.object).or_default();
            let first = members.all.first().map(|first| found.places[*first].as_ref().map(|(row, _)| *row));
            members.are_one = row.is_some() && first.is_none_or(|first| members.are_one && first == row);
            members.all.push(n);
            members.changes.extend((access.kind != AccessKind::Load).then_some(n));
            found.places.push(place);
        }
        found
    }

    /// The accesses, with how many iterations later, that may touch the element of the k-th, in less than `n` iterations, and be ordered with it: in
    /// their order. Of its own row those that do.
    pub(super) fn partners(&self, k: usize, all: &[MemoryAccess], n: u32) -> Vec<(usize, u32)> {
        let access = &all[k];
        let own = self.places[k].as_ref().map(|(row, _)| *row);
        let mut found = Vec::new();
        if let Some((row, at)) = &self.places[k] {
            found.extend(self.rows[*row].partners(access, at, n));
        }
        let members = self.objects.get(&access.at.object).filter(|members| !members.are_one);
        let others = members.map_or(&[][..], |members| if access.kind == AccessKind::Load { &members.changes } else { &members.all });
        let is_other = |l: &usize| own.is_none() || self.places[*l].as_ref().map(|(row, _)| *row) != own;
        found.extend(others.iter().copied().filter(is_other).flat_map(|l| (1..n).map(move |distance| (l, distance))));
        found.retain(|(l, _)| access.is_ordered_with(&all[*l]));
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Row {
    fn add(&mut self, n: usize, access: &MemoryAccess, at: &[i64]) {
        for place in self.elements(access, at) {
            if access.kind != AccessKind::Load {
                self.changes.entry(place.clone()).or_default().push(n);
            }
            self.touches.entry(place).or_default().push(n);
        }
    }

    /// The places that an access at one touches.
    fn elements(&self, access: &MemoryAccess, at: &[i64]) -> Vec<Vec<i64>> {
        let width = if access.at.last_index().is_some() { access.at.scalars } else { 1 };
        let beside = |k: i64| {
            let mut place = at.to_vec();
            if let (Some(last), Some(bits)) = (place.last_mut(), self.bits.last()) {
                *last = wrapped(*bits, last.wrapping_add(k));
            }
            place
        };
        (0..width).map(beside).collect()
    }

    fn partners(&self, access: &MemoryAccess, at: &[i64], n: u32) -> Vec<(usize, u32)> {
        let partners = if access.kind == AccessKind::Load { &self.changes } else { &self.touches };
        let mut found = Vec::new();
        if partners.is_empty() {
            return found;
        }
        for element in self.elements(access, at) {
            for distance in 1..n {
                let before = |(place, (stride, bits)): (&i64, (&i64, &u32))| {
                    wrapped(*bits, place.wrapping_sub(stride.wrapping_mul(i64::from(distance))))
                };
                let place: Vec<i64> = element.iter().zip(self.strides.iter().zip(&self.bits)).map(before).collect();
                found.extend(partners.get(&place).into_iter().flatten().map(|l| (*l, distance)));
            }
        }
        found
    }
}

struct RowAccess {
    shape: Vec<Option<Polynomial>>,
    strides: Vec<i64>,
    bits: Vec<u32>,
    at: Vec<i64>,
}

fn place(affine: &Affine, access: &MemoryAccess, counter: Atom, step: &Polynomial, inside: &HashSet<Value>) -> Option<RowAccess> {
    let mut place = RowAccess { shape: Vec::new(), strides: Vec::new(), bits: Vec::new(), at: Vec::new() };
    for part in &access.at.path {
        let (shape, stride, bits, at) = match part {
            PathStep::Field(field) => (None, 0, i64::BITS, i64::from(*field)),
            PathStep::Index(index) => {
                let differs = |atom: Atom| atom != counter && affine.depends(atom, &|value| inside.contains(&value));
                if index.atoms().any(differs) {
                    return None;
                }
                let stride = index.split(counter)?.0.times(step)?.as_constant()?;
                let (shape, at) = index.without_constant();
                (Some(shape), stride, index.bits(), at)
            }
        };
        place.shape.push(shape);
        place.strides.push(stride);
        place.bits.push(bits);
        place.at.push(at);
    }
    Some(place)
}
