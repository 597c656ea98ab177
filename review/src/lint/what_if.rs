//! What a kernel would be without one of its annotations: lowered once, scheduled and estimated again.

use super::Subject;
use crate::estimate::{Known, Launched, estimate_races, registers};
use proc_macro2::Span;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use warpwright_codegen::analysis::access::Races;
use warpwright_codegen::annotations::Annotation;
use warpwright_codegen::ir::{Annotations, Kernel, Loc};
use warpwright_codegen::parallel;
use warpwright_codegen::pipeline::{Built, Legal};
use warpwright_codegen::target::Target;

/// An annotation, and where it stands.
pub(super) type At = (&'static Annotation, Loc);

/// The annotations of a kernel, which make more of it: each once, though several loops of the IR may come from one of the source.
pub(super) fn asked(kernel: &Kernel) -> Vec<At> {
    let mut all: Vec<At> = Vec::new();
    for asked in kernel.annotations.values().flat_map(Annotations::iter) {
        if !all.contains(&(asked.annotation, asked.place)) {
            all.push((asked.annotation, asked.place));
        }
    }
    all.sort_by_key(|(_, loc)| *loc);
    all
}

/// Most instructions of all the variants that are tried at once. Each is made and estimated like the kernel itself: beyond this, a kernel that annotations
/// have made large would be reviewed for seconds. `sad`, the largest that ships, is some 8,000 lines of PTX.
const MOST_INSTRUCTIONS: usize = 100_000;

/// Whether so many variants of the kernel are too much work to be tried.
fn is_too_large(subject: &Subject<'_>, variants: usize) -> bool {
    let kernel: &Kernel = &subject.known.legal;
    let mut instructions = 0usize;
    kernel.walk_block(kernel.body, &mut |_, _, _| instructions += 1);
    instructions.saturating_mul(variants) > MOST_INSTRUCTIONS
}

/// What was tried out of a variant, for all lints together: each costs as much as the variant itself.
#[derive(Default)]
pub struct Tried(RefCell<Vec<Rc<Without>>>);

/// The variant without one of its annotations.
pub(super) struct Without {
    pub(super) asked: At,
    /// `None` if what is left of the others could not be kept.
    legal: Option<Legal>,
    /// Registers that it needs, and all that is known of it: each found when somebody asks.
    needed: Cell<Option<u32>>,
    known: OnceCell<Option<Known>>,
}

impl Without {
    /// What would be known of the variant, but for races.
    pub(super) fn known(&self, targets: &[&'static Target]) -> Option<&Known> {
        let known = || Some(estimate_races(self.legal.as_ref()?, targets, &Launched::default(), Races::Left));
        self.known.get_or_init(known).as_ref()
    }
}

/// The variant without each of some annotations; none of them if that is too much work.
pub(super) fn without(subject: &Subject<'_>, asked: &[At]) -> Vec<Rc<Without>> {
    if is_too_large(subject, asked.len()) {
        return Vec::new();
    }
    let mut tried = subject.tried.0.borrow_mut();
    let is_new = |asked: &&At| tried.iter().all(|known| known.asked != **asked);
    let new: Vec<At> = asked.iter().filter(is_new).copied().collect();
    let (built, statements) = (subject.built, &subject.lowered.statements[..]);
    let legal = parallel::map(&new, |asked| legal_without(built?, statements, *asked));
    let make = |(asked, legal)| Rc::new(Without { asked, legal, needed: Cell::default(), known: OnceCell::new() });
    tried.extend(new.into_iter().zip(legal).map(make));
    tried.iter().filter(|known| asked.contains(&known.asked)).cloned().collect()
}

fn legal_without(built: &Built, statements: &[u32], (annotation, loc): At) -> Option<Legal> {
    let without = built.annotated(|asked| (asked.annotation, asked.place) != (annotation, loc));
    let legal = without.schedule(statements).0?.legal().clone();
    // Here, where several variants are worked on at once.
    legal.addressed();
    Some(legal)
}

/// Where the source asks for what takes registers: a limit of its own; else the annotation without which the fewest would be needed; else,
/// and where trying them is too much work, the block.
pub(super) fn growth(subject: &Subject<'_>) -> Span {
    let sites = subject.sites;
    if sites.arguments.iter().any(|(name, _)| *name == "max_registers") {
        return sites.argument(&["max_registers"]);
    }
    let now = subject.known.targets.iter().map(|on| on.registers.needed).max().unwrap_or(0);
    let asked = subject.built.map(|built| asked(built)).unwrap_or_default();
    let tried = without(subject, &asked);
    let targets = subject.targets();
    let open =
        tried.iter().filter_map(|without| Some((without.legal.as_ref()?, &without.needed))).filter(|(_, needed)| needed.get().is_none());
    let (open, places): (Vec<&Legal>, Vec<&Cell<Option<u32>>>) = open.unzip();
    let found = parallel::map(&open, |legal| registers::needed_on_any(legal.addressed(), &targets));
    places.into_iter().zip(found).for_each(|(place, needed)| place.set(Some(needed)));
    let each: Vec<(u32, Loc)> = tried.iter().filter_map(|without| Some((without.needed.get()?, without.asked.1))).collect();
    let fewest = each.iter().map(|(needed, _)| *needed).min().unwrap_or(now);
    // Of several that do about as much, the first of the source.
    let much = fewest + now.saturating_sub(fewest) / 4;
    let blamed = each.iter().find(|(needed, _)| *needed < now && *needed <= much);
    blamed.map_or_else(|| sites.argument(&["block"]), |(_, loc)| subject.span(*loc))
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::found_at;

    /// Where a walk along a list with a state of 60 numbers is told that it has too few warps.
    fn blamed(arguments: &str, before: &str, inside: &str) -> Vec<String> {
        let source = format!(
            "#[kernel(block = 256, targets = [sm_90]{arguments})] fn walk(next: &Global<u32>, y: &mut Global<f32>) {{
                let i = global_id().x;
                let mut sum = 0.0f32;
                {before} for n in 0..4 {{ sum += next[i * 4 + n] as f32; }}
                let mut state = [1.0f32; 60];
                let mut at = i as u32;
                for _ in 0..1000 {{
                    at = next[at as usize];
                    {inside} for n in 0..60 {{ state[n] = state[n] * at as f32 + n as f32; }}
                }}
                #[unroll] for n in 0..60 {{ sum = sum * 2.0 + state[n]; }}
                y[i] = sum;
            }}"
        );
        found_at("low_occupancy", &source).into_iter().map(|(at, ..)| at).collect()
    }

    #[test]
    fn kernels_too_large_to_be_tried_are_told_at_the_block() {
        let sums = |count: u32, others: &str| {
            let source = format!(
                "#[kernel(block = 64)] fn k(n: usize, x: &Global<f32>, y: &mut Global<f32>) {{
                    let mut sums = [0.0f32; 256];
                    for j in 0..n {{ #[unroll] for k in 0..{count} {{ sums[k % 256] = sums[k % 256] * 0.5 + x[j * {count} + k]; }} }}
                    {others}
                    #[unroll] for k in 0..256 {{ y[global_id().x * 256 + k] = sums[k]; }}
                }}"
            );
            found_at("register_spill", &source).into_iter().map(|(at, ..)| at).collect::<Vec<_>>()
        };
        assert_eq!(sums(256, ""), ["unroll"]);
        // Some 7,000 instructions, which two annotations make, and twelve more that make next to nothing.
        let others = "#[unroll] for k in 0..2 { sums[k] += 1.0; }".repeat(12);
        assert_eq!(sums(256, &others), ["unroll"]);
        assert_eq!(sums(2048, &others), ["block"]);
    }

    #[test]
    fn what_takes_the_registers_is_blamed_and_not_what_stands_before_it() {
        assert_eq!(blamed("", "", "#[unroll]"), ["unroll"]);
        assert_eq!(blamed("", "#[ilp(2)]", "#[unroll]"), ["unroll"]);
        assert_eq!(blamed("", "#[batch_loads]", "#[unroll]"), ["unroll"]);
        // Nor is it what the whole kernel is asked for, which multiplies what the loop makes.
        assert_eq!(blamed(", ilp = 2", "", "#[unroll]"), ["unroll"]);
        assert_eq!(blamed(", ilp = 2", "#[unroll]", "#[unroll]"), ["unroll"]);
        assert_eq!(blamed(", ilp = 2", "#[ilp(2)]", "#[unroll]"), ["unroll"]);
        // Unless it makes most of them: without four elements a thread, little more is needed than without the loop's copies.
        assert_eq!(blamed(", ilp = 4", "#[batch_loads]", "#[unroll]"), ["ilp"]);
        // A limit of its own is one.
        assert!(blamed(", max_registers = 72", "#[ilp(2)]", "#[unroll]").iter().all(|at| at == "max_registers"));
    }
}
