//! How much annotations may make of a kernel, all of them together.
//!
//! What counts is what will be written out: a constant is an operand, a library function its own instructions, and what is known is folded before
//! anything is refused. Factors multiply, those of inner loops first; each is noted, so that the one that is too much can name the others.

use super::copy::size;
use super::{Refusal, Schedule};
use crate::collections::{HashMap, HashSet};
use crate::ir::{Asked, Block, Inst, Kernel, Loc};

/// Most instructions that annotations may add to a kernel: some 320 KB of machine code, where the instruction caches of a multiprocessor hold 128 KB.
/// As many are reviewed within a second.
pub(super) const MOST_INSTRUCTIONS: usize = 20_000;

/// What an annotation has made of a loop.
#[derive(Clone, Debug)]
struct Factor {
    loc: Loc,
    name: &'static str,
    copies: u64,
    body: usize,
}

/// What all annotations have made of a kernel.
#[derive(Debug, Default)]
pub(super) struct Budget {
    /// Instructions before any of them.
    begun: usize,
    /// Instructions by now: counted when a pass begins, and kept up with what it makes.
    now: usize,
    /// One for each annotation.
    factors: Vec<Factor>,
    /// By annotation: the iterations of a loop that is unrolled part by part.
    whole: HashMap<Loc, u64>,
    /// Annotations that stand inside a loop, or on it: that loop's, and theirs.
    inside: HashSet<(Loc, Loc)>,
    /// Annotations for which there was no room. A loop that was copied is annotated in each copy.
    refused: HashSet<Loc>,
}

/// What an annotation asks for.
pub(super) struct Copies<'a> {
    /// The annotation's name.
    pub(super) name: &'static str,
    /// Of what.
    pub(super) body: Block,
    /// How many.
    pub(super) n: u64,
    /// In how many versions of the loop.
    pub(super) versions: u64,
    /// What may be written instead, given the largest factor that fits.
    pub(super) instead: &'a dyn Fn(u64) -> String,
}

impl Budget {
    /// For a kernel none of whose annotations has been kept yet.
    pub(super) fn of(kernel: &Kernel) -> Budget {
        let mut inside = HashSet::default();
        let places = |inst: Inst| -> Vec<Loc> {
            kernel.annotations.get(&inst).map(|all| all.iter().map(|asked| asked.place).collect()).unwrap_or_default()
        };
        for outer in kernel.annotations.keys().copied() {
            let mut inner = places(outer);
            for block in kernel.insts[outer].op.blocks() {
                kernel.walk_block(block, &mut |_, _, inst| inner.extend(places(inst)));
            }
            inside.extend(places(outer).into_iter().flat_map(|outer| inner.iter().map(move |inner| (outer, *inner))));
        }
        let begun = size(kernel, kernel.body);
        Budget { begun, now: begun, inside, ..Budget::default() }
    }

    /// The iterations of a loop that is unrolled part by part, if it is.
    pub(super) fn whole(&self, loc: Loc) -> Option<u64> {
        self.whole.get(&loc).copied()
    }

    /// Notes that a loop of so many iterations is unrolled part by part.
    pub(super) fn begin_whole(&mut self, loc: Loc, iterations: u64) {
        self.whole.insert(loc, iterations);
    }

    /// Instructions that annotations have made elsewhere than in a body of this size.
    fn elsewhere(&self, body: usize) -> usize {
        // What they made in the body is counted with the body.
        self.now.saturating_sub(body).saturating_sub(self.begun)
    }

    fn note(&mut self, factor: Factor) {
        match self.factors.iter_mut().find(|known| known.loc == factor.loc) {
            Some(known) => known.copies = known.copies.max(factor.copies),
            None => self.factors.push(factor),
        }
    }
}

impl Schedule<'_> {
    /// Counts what there is.
    pub(super) fn begin(&mut self) {
        self.budget.now = size(self.kernel, self.kernel.body);
    }

    /// Whether so many copies are not too many.
    pub(super) fn fits_budget(&self, copies: &Copies<'_>) -> bool {
        let body = size(self.kernel, copies.body);
        let total = copies.n.saturating_mul(copies.versions).saturating_mul(body as u64).saturating_add(self.budget.elsewhere(body) as u64);
        total <= MOST_INSTRUCTIONS as u64
    }

    /// Whether there was no room for this annotation before, in another copy of its loop.
    pub(super) fn is_refused(&self, asked: &Asked) -> bool {
        self.budget.refused.contains(&asked.place)
    }

    /// Notes that an annotation makes so many copies, or says why it may not.
    pub(super) fn take_from_budget(&mut self, asked: &Asked, copies: &Copies<'_>) -> bool {
        let body = size(self.kernel, copies.body);
        let n = self.budget.whole(asked.place).unwrap_or(copies.n);
        if self.is_refused(asked) {
            return false;
        }
        if !self.fits_budget(copies) {
            let refusal = self.over_budget(asked.place, copies, n, body);
            self.refuse(asked, refusal);
            self.budget.refused.insert(asked.place);
            return false;
        }
        let made = copies.n * copies.versions * body as u64;
        self.budget.now = (self.budget.now + made as usize).saturating_sub(body);
        self.budget.note(Factor { loc: asked.place, name: copies.name, copies: n, body });
        true
    }

    fn over_budget(&self, loc: Loc, copies: &Copies<'_>, n: u64, body: usize) -> Refusal {
        let budget = &self.budget;
        let versions = copies.versions;
        let related =
            |is: &dyn Fn(Loc) -> bool| budget.factors.iter().filter(|factor| factor.loc != loc && is(factor.loc)).collect::<Vec<_>>();
        let inner = related(&|other| budget.inside.contains(&(loc, other)));
        // Each copy of an outer loop asks anew.
        let outer = related(&|other| budget.inside.contains(&(other, loc)) && !budget.inside.contains(&(loc, other)));
        let of = |times: u64| u128::from(n) * u128::from(times) * body as u128;
        let under = outer.iter().fold(1u64, |times, factor| times.saturating_mul(factor.copies)).saturating_mul(versions).max(1);
        let is_too_much = of(under) > MOST_INSTRUCTIONS as u128;
        // Of a loop that was begun, what its own first iterations came to is nobody else's; what outer factors make of it is not elsewhere, unless it is
        // what they made of others that leaves no room.
        let others = if is_too_much && (budget.whole.contains_key(&loc) || !outer.is_empty()) { 0 } else { budget.elsewhere(body) };
        let outer = if is_too_much { outer } else { Vec::new() };
        let times = if is_too_much { under } else { versions.max(1) };
        let total = of(times);
        let list = |factors: &[&Factor]| {
            factors.iter().map(|factor| format!("`{}` by {}", factor.name, factor.copies)).collect::<Vec<_>>().join(" and ")
        };
        let with = if inner.is_empty() { String::new() } else { format!(" (with {} inside)", list(&inner)) };
        let of_outer = if outer.is_empty() { String::new() } else { format!(", under {},", list(&outer)) };
        let of_versions = if versions > 1 { format!(", in {versions} versions,") } else { String::new() };
        let beside = if others > 0 { format!(", beside {others} that annotations made elsewhere") } else { String::new() };
        let message = format!(
            "{n} copies of a body of {body} instructions{with}{of_versions}{of_outer} are {total}{beside}; all annotations of a kernel may make {MOST_INSTRUCTIONS}"
        );
        let fits = (MOST_INSTRUCTIONS.saturating_sub(others) as u64 / times) / body.max(1) as u64;
        let help = match (fits > 1, inner.is_empty() && outer.is_empty()) {
            (true, true) => (copies.instead)(fits),
            (true, false) => format!("{}, or a smaller factor there", (copies.instead)(fits)),
            (false, true) => format!("leave `{}` out", copies.name),
            (false, false) => format!("leave `{}` out, or write a smaller factor there", copies.name),
        };
        let label = |factor: &Factor| format!("`{}` makes {} copies of {} instructions", factor.name, factor.copies, factor.body);
        inner.iter().chain(&outer).fold(Refusal::new(message, help), |refusal, factor| refusal.label(factor.loc, label(factor)))
    }
}
