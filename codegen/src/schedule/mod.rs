//! Annotations: promises about the emitted code, kept here. From `Built` to `Scheduled`.
//!
//! One annotation, one file, consumed by exactly one pass of the list below; the file's essay says what the annotation means in the
//! IR, when it is legal and what it refuses. A promise that cannot be kept is an error at the annotation that names the access, the
//! other access or the variable that is in the way, and what would help; with `best_effort` it is a warning, and the loop stays as
//! it is. Nothing here changes what a kernel computes, but for the sums that `ilp` splits.

// A new instruction is to make the compiler list what must know it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

mod around;
mod batch_loads;
mod budget;
mod collectives;
pub(crate) mod copy;
mod covers;
mod dependence;
mod extremum;
mod groups;
mod ilp;
mod in_turn;
mod interleave;
mod loads;
mod obstacles;
mod pipeline;
mod prefetch;
mod prepare;
mod products;
mod reduction;
mod refusal;
mod roles;
mod rows;
mod shared;
mod unroll;
mod varying;
mod vectorize;
mod versions;

use crate::annotations::{Annotation, BATCH_LOADS, ILP, Modifier, PIPELINE, PREFETCH, UNROLL, VECTORIZE};
use crate::collections::HashMap;
use crate::intrinsics::{ENGINE, TENSOR_CORES, WARPGROUPS};
use crate::ir::{Asked, Inst, Kernel, Object, Stage, Swizzle};
use crate::ir::{FIRST_TENSOR_CORES, FLOAT8_TENSOR_CORES};
use crate::passes::simplify;
use crate::target::Requirement;
use crate::verify::{AFTER_EACH_PASS, verify};
use products::Products;
pub use refusal::Refusal;

/// What consumes one annotation, or makes things simpler for those that do.
pub struct AnnotationPass {
    /// The annotation, if it is not `simplify`, or another pass once more for loops that had to wait.
    annotation: Option<&'static Annotation>,
    run: fn(&mut Schedule<'_>),
}

impl AnnotationPass {
    const SIMPLIFY: AnnotationPass = AnnotationPass { annotation: None, run: |schedule| simplify(schedule.kernel) };

    const fn of(annotation: &'static Annotation, run: fn(&mut Schedule<'_>)) -> AnnotationPass {
        AnnotationPass { annotation: Some(annotation), run }
    }

    /// The annotation's name and the file's.
    pub fn name(&self) -> &'static str {
        self.annotation.map_or("simplify, unroll or collectives", |annotation| annotation.name)
    }
}

/// The passes, in the order they run.
pub static PASSES: &[AnnotationPass] = &[
    // All others see loads and stores.
    AnnotationPass { annotation: None, run: collectives::outside_pipelines },
    // What is unrolled fully is straight code to all others, and arrays indexed by its counter are values.
    AnnotationPass::of(&UNROLL, unroll::run),
    AnnotationPass::SIMPLIFY,
    AnnotationPass::of(&VECTORIZE, vectorize::run),
    // A group of all of a thread's elements is no loop.
    AnnotationPass::SIMPLIFY,
    AnnotationPass::of(&ILP, ilp::run),
    // Groups.
    AnnotationPass::of(&UNROLL, unroll::run),
    AnnotationPass::SIMPLIFY,
    // What is left are bodies as they will run.
    AnnotationPass::of(&PIPELINE, pipeline::run),
    // What `pipeline` took for copies.
    AnnotationPass { annotation: None, run: collectives::run },
    AnnotationPass::of(&PREFETCH, prefetch::run),
    // Loops whose tiles were prefetched one by one.
    AnnotationPass { annotation: None, run: unroll::run },
    AnnotationPass::SIMPLIFY,
    AnnotationPass::of(&BATCH_LOADS, batch_loads::run),
];

/// A kernel being scheduled.
struct Schedule<'k> {
    kernel: &'k mut Kernel,
    /// By location: the statement of the source. Beyond the end, every instruction is a statement of its own.
    statements: &'k [u32],
    refusals: Vec<Refusal>,
    /// Which copy of an interleaved body an access belongs to, where copies are known to be free of each other in global memory.
    elements: Elements,
    budget: budget::Budget,
    /// What stands for the results of loops that are no more.
    names: groups::Names,
    /// What the pass that runs knows, for whom [`Schedule::around`] asks.
    places: around::Places,
    form: Form,
    /// What would make another form of it.
    wanted: Wanted,
}

/// The machines that a kernel is scheduled for: by default all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    /// Those with a copy engine.
    pub(crate) engine: bool,
    /// What multiplies matrices.
    pub(crate) products: Products,
}

impl Form {
    /// That of all machines.
    pub(crate) const PORTABLE: Form = Form { engine: false, products: Products::Scalar };

    /// What a target needs for it.
    pub(crate) fn needs(self) -> Requirement {
        match (self.engine, self.products) {
            (_, Products::Warpgroup) => WARPGROUPS,
            (true, Products::Scalar | Products::FirstOfWarp | Products::Warp | Products::WarpOfFloat8) => ENGINE,
            (false, Products::WarpOfFloat8) => FLOAT8_TENSOR_CORES,
            (false, Products::Warp) => TENSOR_CORES,
            (false, Products::FirstOfWarp) => FIRST_TENSOR_CORES,
            (false, Products::Scalar) => Requirement::since(0, 0),
        }
    }

    /// The forms that differ from that of all machines, where a kernel has something for these: those that need more come first.
    pub(crate) fn several(wanted: &Wanted) -> Vec<Form> {
        let engine = wanted.engine;
        let (by_warpgroups, mut by_warps): (Vec<Products>, Vec<Products>) =
            wanted.products.iter().partition(|products| **products == Products::Warpgroup);
        by_warps.sort();
        let most = by_warps.last().copied().unwrap_or_default();
        let mut forms: Vec<Form> = by_warpgroups.into_iter().chain([most]).map(|products| Form { engine, products }).collect();
        forms.extend(by_warps.into_iter().rev().map(|products| Form { engine: false, products }));
        forms.dedup();
        forms.retain(|form| *form != Form::PORTABLE);
        forms
    }
}

/// What would make other forms of a kernel than that of all machines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// It has something for the copy engine.
    engine: bool,
    /// What multiplies in its products: of each all that there is.
    products: Vec<Products>,
}

/// By instruction: the copy of an interleaved body it belongs to.
type Elements = HashMap<Inst, Element>;

/// A copy of an interleaved body. Accesses of two copies of one group touch different elements of global memory, or may be taken to: as
/// elements of a thread (`ilp` of a kernel) they are as free of each other as threads, and for iterations of a loop it was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Element {
    /// The loop that was interleaved.
    group: Inst,
    /// Which copy.
    copy: usize,
    /// Whether it is an element of a thread: then that is so at any time, else only while the group's own loop does not go on.
    of_kernel: bool,
}

impl Element {
    /// Whether the two are free of each other, within an iteration or at any time.
    fn is_free_of(self, other: Element, within_iteration: bool) -> bool {
        self.group == other.group && self.copy != other.copy && (self.of_kernel || within_iteration)
    }
}

impl Schedule<'_> {
    /// What is known round a loop.
    fn around(&mut self, inst: Inst) -> around::Around {
        self.places.around(self.kernel, inst)
    }

    /// Reports that an annotation cannot be kept.
    fn refuse(&mut self, asked: &Asked, mut refusal: Refusal) {
        refusal.loc = asked.place;
        refusal.is_warning = asked.says(Modifier::BestEffort);
        self.refusals.push(refusal);
    }
}

/// Keeps every annotation of a kernel, in one of its forms. Gives the promises that cannot be kept: if one is no warning, the kernel is of no use. And
/// which other form there is.
pub(crate) fn schedule_kernel(kernel: &mut Kernel, statements: &[u32], form: Form) -> (Vec<Refusal>, Wanted) {
    let mut schedule = Schedule {
        kernel,
        statements,
        refusals: Vec::new(),
        elements: Elements::default(),
        budget: budget::Budget::default(),
        names: groups::Names::default(),
        places: around::Places::default(),
        form,
        wanted: Wanted::default(),
    };
    collectives::check(&mut schedule);
    products::check(&mut schedule);
    schedule.wanted.products = products::wanted(schedule.kernel);
    if !schedule.kernel.annotations.is_empty() {
        prepare::run(&mut schedule);
        schedule.budget = budget::Budget::of(schedule.kernel);
        for pass in PASSES {
            schedule.places = around::Places::of(schedule.kernel);
            (pass.run)(&mut schedule);
            if AFTER_EACH_PASS && schedule.refusals.iter().all(|refusal| refusal.is_warning) {
                check(schedule.kernel, pass.name());
            }
        }
    }
    // Of a kernel without annotations.
    collectives::run(&mut schedule);
    products::run(&mut schedule);
    // Last: all others see the indices of the source.
    shared::run(&mut schedule);
    let wanted = schedule.wanted;
    let mut refusals = schedule.refusals;
    // Passes see inner loops first; people read from the top.
    refusals.sort_by_key(|refusal| refusal.loc.0);
    kernel.annotations.clear();
    kernel.stage = Stage::Scheduled;
    (refusals, wanted)
}

/// Swizzles one shared array of a kernel, as `#[shared(swizzle)]` or `#[shared(swizzle = S)]` would: to see what that does to its bank conflicts.
pub fn swizzle(kernel: &mut Kernel, array: Object, swizzle: Swizzle) {
    shared::swizzle_array(kernel, array, swizzle);
}

fn check(kernel: &Kernel, pass: &str) {
    if let Err(violations) = verify(kernel) {
        let list: Vec<String> = violations.iter().map(ToString::to_string).collect();
        panic!("`{pass}` broke kernel `{}`:\n{}\n{kernel:#}", kernel.name, list.join("\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::PASSES;
    use crate::annotations::{Annotation, On};

    #[test]
    fn the_manual_has_the_order_on_one_loop() {
        let mut order: Vec<String> = Vec::new();
        for pass in PASSES.iter().rev().filter(|pass| pass.annotation.is_some()) {
            let name = format!("`{}`", pass.name());
            if !order.contains(&name) {
                order.insert(0, name);
            }
        }
        let said = format!("they apply in this order: {}.", order.join(", "));
        assert!(include_str!("../../../docs/language.md").contains(&said), "{said}");
    }

    #[test]
    fn every_annotation_of_loops_has_a_pass() {
        for annotation in Annotation::all_on(On::Loop) {
            assert!(PASSES.iter().any(|pass| pass.annotation == Some(annotation)), "{}", annotation.name);
        }
    }
}
