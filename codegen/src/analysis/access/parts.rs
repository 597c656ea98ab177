//! Which accesses to an object go to neighbouring places, and which to parts of it that have nothing to do with each other: a stencil's loads, and planes
//! that lie one behind the other in one buffer.
//!
//! Neighbours are apart by a few bytes, or by a step that the address makes from block to block or from round to round: a row, where blocks go on by
//! rows. `i * n` elements between planes of `n = width * height * depth` are no step of anything.

use super::lanes::{Atom, AtomSource, Atoms, Product, Sum};
use crate::collections::{HashMap, HashSet};
use crate::ir::Object;

/// Places that are further apart, in bytes, are not neighbours': what is read there is gone from the L2 cache before it is read again, or might be.
const FAR: u64 = 1 << 20;

/// The accesses of a kernel.
#[derive(Debug, Default)]
pub(super) struct Places(Vec<AccessBase>);

/// Where an access goes, but for what moves.
#[derive(Debug)]
struct AccessBase {
    object: Object,
    /// Terms that are the same in all blocks and rounds: product and coefficient of the first lane.
    fixed: Vec<(Product, i64)>,
    /// What moving terms are multiples of.
    steps: Vec<Product>,
    offset: i64,
    is_known: bool,
}

impl Places {
    /// The next access, with the first of its addresses.
    pub(super) fn add(&mut self, atoms: &Atoms, object: Object, address: Option<&Sum>) {
        let mut place = AccessBase { object, fixed: Vec::new(), steps: Vec::new(), offset: 0, is_known: address.is_some() };
        for (product, lanes) in address.into_iter().flat_map(|address| address.unknown()) {
            let still: Product = product.iter().copied().filter(|atom| !moves(atoms, *atom)).collect();
            if still.len() == product.len() {
                place.fixed.push((still, lanes.of(0)));
            } else if !still.is_empty() {
                place.steps.push(still);
            }
        }
        place.offset = address.map_or(0, |address| address.constant_term().of(0));
        self.0.push(place);
    }

    /// By access: the number of its part, and whether it goes further than the first access to that part.
    pub(super) fn parts(self) -> Vec<(u32, bool)> {
        let steps: HashSet<(Object, &Product)> =
            self.0.iter().flat_map(|place| place.steps.iter().map(|step| (place.object, step))).collect();
        // By what two places must have in common: the parts there are, each with its first place.
        let mut known: HashMap<_, Vec<usize>> = HashMap::default();
        let mut parts = Vec::with_capacity(self.0.len());
        for (n, place) in self.0.iter().enumerate() {
            let is_step = |product: &Product| steps.contains(&(place.object, product));
            let fixed: Vec<&(Product, i64)> = place.fixed.iter().filter(|(product, _)| !is_step(product)).collect();
            let near = known.entry((place.object, place.is_known, fixed)).or_default();
            let first = near.iter().copied().find(|first| self.0[*first].offset.abs_diff(place.offset) < FAR);
            let first = first.unwrap_or_else(|| {
                near.push(n);
                n
            });
            // By steps before bytes: a row below is further than any column.
            let rows = |place: &AccessBase| place.fixed.iter().map(|(_, rows)| *rows).sum::<i64>();
            let far = |place: &AccessBase| (rows(place), place.offset);
            parts.push((first as u32, far(place) > far(&self.0[first])));
        }
        parts
    }
}

/// Whether an atom is another number in another block, round or warp, or may be.
fn moves(atoms: &Atoms, atom: Atom) -> bool {
    atoms.reasons(atom) != 0 || *atoms.source(atom) == AtomSource::Warp || matches!(atoms.source(atom), AtomSource::Other(_))
}
