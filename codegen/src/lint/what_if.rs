//! What a kernel would be without one of its annotations: lowered once, scheduled and estimated again.

use super::Subject;
use crate::estimate::{Known, estimate};
use crate::ir::{Inst, Kernel, Loc, LoopAnnotations};
use crate::schedule::schedule_kernel;
use crate::target::Target;
use proc_macro2::Span;
use std::cell::RefCell;
use std::rc::Rc;

/// An annotation that makes more of a body than there is in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grows {
    Unroll,
    Ilp,
    Vectorize,
    BatchLoads,
    Prefetch,
}

impl Grows {
    const ALL: [Grows; 5] = [Grows::Unroll, Grows::Ilp, Grows::Vectorize, Grows::BatchLoads, Grows::Prefetch];

    /// Where a loop asks for it.
    fn place(self, annotations: &LoopAnnotations) -> Option<Loc> {
        match self {
            Grows::Unroll => annotations.unroll.map(|asked| asked.loc),
            Grows::Ilp => annotations.ilp.map(|asked| asked.loc),
            Grows::Vectorize => annotations.vectorize.map(|asked| asked.loc),
            Grows::BatchLoads => annotations.batch_loads.map(|asked| asked.loc),
            Grows::Prefetch => annotations.prefetch.map(|asked| asked.loc),
        }
    }

    fn leave_out(self, annotations: &mut LoopAnnotations) {
        match self {
            Grows::Unroll => annotations.unroll = None,
            Grows::Ilp => annotations.ilp = None,
            Grows::Vectorize => annotations.vectorize = None,
            Grows::BatchLoads => annotations.batch_loads = None,
            Grows::Prefetch => annotations.prefetch = None,
        }
    }
}

/// The places where a kernel asks for something that makes more of it: each once, though several loops of the IR may come from one of the source.
pub(super) fn asked(kernel: &Kernel) -> Vec<(Grows, Loc)> {
    let mut all: Vec<(Grows, Loc)> = Vec::new();
    for annotations in kernel.annotations.values() {
        for grows in Grows::ALL {
            if let Some(loc) = grows.place(annotations)
                && !all.contains(&(grows, loc))
            {
                all.push((grows, loc));
            }
        }
    }
    all.sort_by_key(|(_, loc)| *loc);
    all
}

/// What was tried out of a variant, for all lints together: each costs as much as the variant itself.
#[derive(Default)]
pub struct Tried(RefCell<Vec<Without>>);

/// The variant without one of its annotations.
struct Without {
    asked: (Grows, Loc),
    known: Option<Rc<Known>>,
}

/// What would be known of the variant without an annotation; `None` if what is left of the others could not be kept.
pub(super) fn without(subject: &Subject<'_>, asked: (Grows, Loc)) -> Option<Rc<Known>> {
    let tried = &subject.tried.0;
    if let Some(known) = tried.borrow().iter().find(|known| known.asked == asked) {
        return known.known.clone();
    }
    let known = try_without(subject, asked).map(Rc::new);
    tried.borrow_mut().push(Without { asked, known: known.clone() });
    known
}

fn try_without(subject: &Subject<'_>, (grows, loc): (Grows, Loc)) -> Option<Known> {
    let mut kernel = subject.built?.clone();
    let at: Vec<Inst> = kernel.annotations.iter().filter(|(_, asked)| grows.place(asked) == Some(loc)).map(|(inst, _)| *inst).collect();
    for inst in at {
        if let Some(annotations) = kernel.annotations.get_mut(&inst) {
            grows.leave_out(annotations);
            if annotations.is_empty() {
                kernel.annotations.remove(&inst);
            }
        }
    }
    let refused = schedule_kernel(&mut kernel, &subject.lowered.statements);
    let targets: Vec<&'static Target> = subject.known.targets.iter().map(|on| on.target).collect();
    refused.iter().all(|finding| finding.is_warning).then(|| estimate(&kernel, &targets))
}

/// Where the source asks for what takes registers: a limit of its own; else the annotation without which the fewest would be needed; else
/// the block.
pub(super) fn growth(subject: &Subject<'_>) -> Span {
    let sites = subject.sites;
    if sites.arguments.iter().any(|(name, _)| *name == "max_registers") {
        return sites.argument(&["max_registers"]);
    }
    let needed = |known: &Known| known.targets.iter().map(|on| on.registers.needed).max().unwrap_or(0);
    let now = needed(subject.known);
    let each = subject.built.map(asked).unwrap_or_default().into_iter();
    let each: Vec<(u32, Loc)> = each.filter_map(|asked| Some((needed(without(subject, asked)?.as_ref()), asked.1))).collect();
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
