//! A kernel reviewed: all its variants lowered and scheduled, estimated on all targets, and looked at by the lints.
//!
//! The macro does this while a crate compiles, the command-line tool for a file: one path, so that both say the same. Errors come first: of a
//! kernel that does not compile, nothing else is said. What several variants have in common is said once, with the figures of the first.

use crate::estimate::{Known, Launched, estimate_launched};
use crate::lint::{self, Sites, Subject, Tried};
use crate::require;
use std::collections::HashMap;
use warpwright_codegen::backend::BACKENDS;
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics, Level};
use warpwright_codegen::hir::Lowered;
use warpwright_codegen::ir::Kernel;
use warpwright_codegen::parallel;
use warpwright_codegen::pipeline::{Scheduled, compile_each};
use warpwright_codegen::syntax::{ConstValue, GenericValue, Instance, KernelAttributes, Program, Setting, UnitId};
use warpwright_codegen::target::{Family, Targets};

/// What a kernel is reviewed for.
#[derive(Clone, Copy, Debug)]
pub struct ReviewScope<'s> {
    /// The targets.
    pub targets: &'s Targets,
    /// What findings are of which the kernel says nothing, if the crate says so.
    pub findings: Option<Setting>,
    /// Most instructions that are estimated, those of all variants and targets together (`size`): of more, a sample of the variants is taken, at least
    /// one, and said to be one. All variants are lowered all the same.
    pub most: usize,
}

/// One variant, with what is known of it.
pub struct ReviewedVariant<'v> {
    /// What tells it from its siblings: `B = 64, ILP = 4`; empty if it has none.
    pub words: &'v str,
    /// The values of its generics.
    pub instance: &'v Instance,
    /// The kernel.
    pub lowered: &'v Lowered<Scheduled>,
    /// What is known.
    pub known: &'v Known,
}

/// What looks at each variant that is estimated. Gives what it finds, at the level of a warning.
pub type Look<'l> = dyn FnMut(&ReviewedVariant<'_>) -> Vec<Diagnostic> + 'l;

/// What is known of the launch of an instance.
pub type OfLaunch<'l> = dyn FnMut(&Instance, &Kernel) -> Launched + 'l;

/// Reviews a kernel (its path within the unit), of which these instances are known. `look` sees each variant that is
/// estimated, and may find something itself; without it, a kernel that is asked for no figures is lowered only.
pub fn review(
    program: &Program,
    unit: UnitId,
    path: &str,
    instances: &[Instance],
    scope: ReviewScope<'_>,
    look: Option<&mut Look<'_>>,
) -> Diagnostics {
    review_launched(program, unit, path, instances, scope, (&mut |_, _| Launched::default(), look))
}

/// The same of launches: `launch` says what is known of that of an instance, whose kernel it is given.
pub fn review_launched(
    program: &Program,
    unit: UnitId,
    path: &str,
    instances: &[Instance],
    scope: ReviewScope<'_>,
    (launch, mut look): (&mut OfLaunch<'_>, Option<&mut Look<'_>>),
) -> Diagnostics {
    let item = match program.units[unit.0].kernel(path) {
        Ok(item) => item,
        Err(found) => return found,
    };
    let mut attributes = KernelAttributes::find(&item.attrs, &mut Diagnostics::new()).unwrap_or_default();
    attributes.levels = attributes.levels.within(scope.findings);
    let is_estimated = look.is_some() || attributes.levels.are_any() || !attributes.required.is_empty();
    let sites = Sites::of(item, &attributes);
    let (mut rules, mut lints) = (OfVariants::default(), OfVariants::default());
    // Instructions that are estimated, and that would be.
    let (mut done, mut all, mut left_out) = (0, 0, 0);
    // As many variants at once as there are threads for.
    for some in order(instances.len(), scope.most).chunks(parallel::width()) {
        let mut estimated = Vec::new();
        for (index, compiled) in some.iter().zip(compile_each(program, unit, path, some.iter().map(|index| &instances[*index]))) {
            let words = words(&item.sig.generics, &instances[*index]);
            let (mut lowered, built) = match compiled {
                Ok(compiled) => compiled,
                Err(found) => {
                    rules.add(*index, found, &words);
                    continue;
                }
            };
            let mut found = std::mem::take(&mut lowered.warnings);
            for backend in BACKENDS {
                found.append(backend.refusals(&lowered.kernel, scope.targets, &|loc| lowered.span(loc)));
            }
            rules.add(*index, found, &words);
            if !is_estimated || rules.has_errors {
                continue;
            }
            let size = size(&lowered.kernel) * scope.targets.gpus.len().max(1);
            all += size;
            if done > 0 && done + size > scope.most {
                left_out += 1;
                continue;
            }
            done += size;
            estimated.push((*index, words, lowered, built));
        }
        let launches: Vec<(&Scheduled, Launched)> =
            estimated.iter().map(|(index, _, lowered, _)| (&lowered.kernel, launch(&instances[*index], lowered.kernel.legal()))).collect();
        let known = parallel::map(&launches, |(kernel, launched)| estimate_launched(kernel.legal(), &scope.targets.gpus, launched));
        for ((index, words, lowered, built), known) in estimated.iter().zip(&known) {
            let built = (!built.annotations.is_empty()).then_some(built);
            let subject = Subject { lowered, built, known, sites: &sites, tried: Tried::default() };
            let mut found = require::judge(&lowered.required, known, |loc| lowered.span(loc));
            found = found.filter_map(|finding| attributes.levels.apply(finding));
            found.extend(lint::check(&subject, |name| attributes.levels.of(name)));
            if let Some(look) = &mut look {
                let seen = look(&ReviewedVariant { words, instance: &instances[*index], lowered, known });
                found.extend(seen.into_iter().filter_map(|finding| attributes.levels.apply(finding)));
            }
            lints.add(*index, found, words);
        }
    }
    let mut found = rules.join().filter_map(|finding| attributes.levels.apply(finding));
    if !found.iter().any(|finding| finding.level == Level::Error && finding.lint.is_none()) {
        found.append(lints.join());
        if let ([], [family, ..]) = (&scope.targets.gpus[..], &scope.targets.families[..]) {
            let Family { name, devices } = family;
            let help = format!("add a compute capability, for example `targets = [{name}, sm_90]`");
            let reason = format!("the kernel's only target is `{name}`, and nothing is estimated for {devices}");
            found.extend(required_is_open(item, &reason, &help, scope.findings));
        }
        let open = (left_out > 0).then(|| left_out_finding(&sites, instances.len(), left_out, all, scope));
        found.extend(open.and_then(|finding| attributes.levels.apply(finding)));
    }
    found
}

/// What each variant costs, however small it is, in instructions.
const OF_A_VARIANT: usize = 300;

/// How much there is to estimate of a variant on a target: its instructions, and what each variant takes.
fn size(kernel: &Kernel) -> usize {
    let mut count = OF_A_VARIANT;
    kernel.for_each_inst(|_, _, _| count += 1);
    count
}

/// The order in which `count` variants are looked at. If perhaps not all of them can be estimated, the first ones are spread over all of them without
/// a period, since neighbours in the list share the values of their first generics, and every n-th those of the last.
fn order(count: usize, most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    if most < usize::MAX {
        // Multiples of 2⁶⁴ divided by the golden ratio lie spread out.
        order.sort_by_key(|index| (*index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    order
}

fn left_out_finding(sites: &Sites, count: usize, left_out: usize, all: usize, scope: ReviewScope<'_>) -> Diagnostic {
    let targets = scope.targets.gpus.len();
    let message = format!(
        "{left_out} of {count} variants are not looked at by the lints: on {targets} target{}, all are {all} instructions ({OF_A_VARIANT} of them for \
         each variant itself), and {} are looked at while a crate compiles",
        if targets == 1 { "" } else { "s" },
        scope.most,
    );
    let help =
        "list fewer values or fewer `targets`, or write `allow(unchecked)` and run `warpwright check` on this file, which looks at all";
    Diagnostic::warning(sites.argument(&["variants"]), message).help(help).of_lint("unchecked")
}

/// A finding that requirements are not checked, since for this reason no instance of the kernel is known. `None` if there are no requirements.
pub fn required_is_open(item: &syn::ItemFn, reason: &str, help: &str, of_crate: Option<Setting>) -> Option<Diagnostic> {
    let attributes = KernelAttributes::find(&item.attrs, &mut Diagnostics::new())?;
    let first = attributes.required.first()?;
    let finding = Diagnostic::warning(first.span, format!("the requirements are not checked: {reason}")).help(help).of_lint("unchecked");
    attributes.levels.within(of_crate).apply(finding)
}

/// What tells a variant from its siblings: `B = 64, ILP = 4`.
fn words(generics: &syn::Generics, instance: &Instance) -> String {
    let names = generics.params.iter().filter_map(|param| match param {
        syn::GenericParam::Type(param) => Some(&param.ident),
        syn::GenericParam::Const(param) => Some(&param.ident),
        syn::GenericParam::Lifetime(_) => None,
    });
    let words = names.zip(&instance.generics).map(|(name, value)| match value {
        GenericValue::Type(text) => format!("{name} = {text}"),
        GenericValue::Const(ConstValue::Scalar(value)) => format!("{name} = {value}"),
        GenericValue::Const(ConstValue::Index(value, _)) => format!("{name} = {value}"),
        GenericValue::Const(ConstValue::Array(_) | ConstValue::Tuple(_)) => format!("{name} = …"),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The findings of a kernel's variants: what several have in common is said once.
#[derive(Default)]
struct OfVariants {
    /// Variants that were added.
    count: usize,
    list: Vec<Merged>,
    /// Where in the list each stands: by its lint, its place, and the message of a rule.
    places: HashMap<Key, usize>,
    has_errors: bool,
}

/// What makes two findings the same: a rule says one text of a place, a lint says one thing of it whatever the figures.
type Key = (Option<&'static str>, (String, [usize; 4]), Option<String>);

/// A finding of some variants.
struct Merged {
    finding: Diagnostic,
    /// The first variant that has it, in the order of the declaration: its number, and how many things it said before, and its words.
    first: (usize, usize),
    words: String,
    /// How many have it.
    count: usize,
    /// The number of the one that was added last that has it: a variant that says a thing twice has it once.
    last: usize,
    /// Whether one of them says it with other figures.
    differs: bool,
}

impl OfVariants {
    /// Adds those of one variant, of this number in the declaration. Variants may come in any order.
    fn add(&mut self, variant: usize, findings: impl IntoIterator<Item = Diagnostic>, words: &str) {
        self.count += 1;
        for (index, finding) in findings.into_iter().enumerate() {
            self.has_errors |= finding.level == Level::Error;
            let said = finding.lint.is_none().then(|| finding.message.clone());
            let place = *self.places.entry((finding.lint, finding.place(), said)).or_insert(self.list.len());
            let first = (variant, index);
            match self.list.get_mut(place) {
                Some(known) if known.last == variant => {}
                Some(known) => {
                    known.count += 1;
                    known.last = variant;
                    known.differs |= known.finding.message != finding.message;
                    if first < known.first {
                        (known.finding, known.first, known.words) = (finding, first, words.to_owned());
                    }
                }
                None => self.list.push(Merged { finding, first, words: words.to_owned(), count: 1, last: variant, differs: false }),
            }
        }
    }

    /// The findings, saying which variants they are about unless it is all with the same figures.
    fn join(mut self) -> Diagnostics {
        let mut findings = Diagnostics::new();
        self.list.sort_by_key(|merged| merged.first);
        for Merged { mut finding, words, count, differs, .. } in self.list {
            let which = match count {
                _ if count == self.count && !differs => None,
                1 => Some(format!("the variant `{words}`")),
                _ if count == self.count => Some(format!("all {count} variants, these figures in `{words}`")),
                _ => Some(format!("{count} of {} variants, first `{words}`", self.count)),
            };
            if let Some(which) = which {
                finding.message = format!("{} (in {which})", finding.message);
            }
            findings.push(finding);
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages of a kernel with the generic `X`.
    fn said(values: &str, body: &str) -> Vec<String> {
        let source = format!(
            "#[kernel(block = 128, ilp = 2, batch_loads, targets = [sm_90], variants(X in [{values}]))] fn own<const X: usize>(n: usize, tokens: &mut Global<i32>) {{ let i = global_id().x; if i < n {{ {body} }} }}"
        );
        let mut program = Program::default();
        let unit = program.add(warpwright_codegen::syntax::Unit::parse("k.rs", 1, 1, &source).unwrap());
        let instances = warpwright_codegen::hir::declared_instances(&program, unit, "own").unwrap();
        let targets = Targets::named(["sm_90"]);
        let found = review(&program, unit, "own", &instances, ReviewScope { targets: &targets, findings: None, most: usize::MAX }, None);
        found.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn variants_are_counted_once_each() {
        // Each of the two elements of a thread has a load that cannot be moved: one finding, of one variant.
        let (both, message) = (
            "tokens[i] -= 1; tokens[n - i] += X as i32;",
            "`batch_loads` cannot move a load of `tokens` before a store that may be to the same element",
        );
        assert_eq!(said("1", both), [message]);
        assert_eq!(said("1, 2, 3", both), [message]);
        let from_two = "tokens[i] -= 1; if X > 1 { tokens[n - i] += X as i32; }";
        assert_eq!(said("1, 2, 3", from_two), [format!("{message} (in 2 of 3 variants, first `X = 2`)")]);
        assert_eq!(said("1, 2", from_two), [format!("{message} (in the variant `X = 2`)")]);
        assert_eq!(said("2, 2", from_two), [message]);
    }

    #[test]
    fn the_first_variants_are_spread_over_all() {
        assert_eq!(order(3, usize::MAX), [0, 1, 2]);
        // Of two axes of two values, in whatever place they stand, both values are among the first.
        let order = order(4096, 100);
        assert_eq!(order.iter().collect::<std::collections::BTreeSet<_>>().len(), 4096);
        for bit in 0..12 {
            let with = order[..64].iter().filter(|index| *index >> bit & 1 == 1).count();
            assert!((16..=48).contains(&with), "bit {bit}: {with} of 64");
        }
    }

    /// What is said of a kernel whose variants are of very different sizes, if so many instructions are estimated at most.
    fn of_sizes(most: usize) -> Vec<String> {
        let source = "#[kernel(block = 48, targets = [sm_80, sm_90], variants(U in [1, 2, 40, 400]))]
            fn sizes<const U: usize>(y: &mut Global<f32>) {
                let i = global_id().x;
                let mut v = y[i];
                #[unroll] for n in 0..U { v = v * v + n as f32; }
                y[i] = v;
            }";
        let mut program = Program::default();
        let unit = program.add(warpwright_codegen::syntax::Unit::parse("k.rs", 1, 1, source).unwrap());
        let instances = warpwright_codegen::hir::declared_instances(&program, unit, "sizes").unwrap();
        let targets = Targets::named(["sm_80", "sm_90"]);
        let found = review(&program, unit, "sizes", &instances, ReviewScope { targets: &targets, findings: None, most }, None);
        found.into_iter().filter(|finding| finding.lint != Some("small_block")).map(|finding| finding.message).collect()
    }

    #[test]
    fn how_many_variants_are_estimated_is_a_matter_of_their_instructions() {
        let lanes = "a block of 48 threads takes 2 warps, in which 16 of 64 lanes do nothing";
        assert_eq!(of_sizes(usize::MAX), [lanes]);
        assert_eq!(of_sizes(10_000), [lanes]);
        // The large one is left out, wherever it stands; of so few that none fits, one is looked at.
        for (most, left_out) in [(2_400, 1), (1_500, 2), (1, 3)] {
            let found = of_sizes(most);
            let [first, open] = &found[..] else { panic!("{most}: {found:?}") };
            assert!(first.starts_with(lanes), "{found:?}");
            let begins = format!("{left_out} of 4 variants are not looked at by the lints: on 2 targets, all are ");
            let ends = format!(" instructions (300 of them for each variant itself), and {most} are looked at while a crate compiles");
            assert!(open.starts_with(&begins) && open.ends_with(&ends), "{most}: {open}");
        }
    }

    #[test]
    fn findings_are_joined_in_the_order_of_the_declaration() {
        let finding = |text: &str| Diagnostic::error(proc_macro2::Span::call_site(), text);
        let joined = |order: [usize; 3]| -> Vec<String> {
            let mut all = OfVariants::default();
            for variant in order {
                let found = if variant == 0 { vec![finding("b")] } else { vec![finding("a"), finding("b")] };
                all.add(variant, found, &format!("X = {variant}"));
            }
            all.join().into_iter().map(|finding| finding.message).collect()
        };
        let expected = ["b".to_owned(), "a (in 2 of 3 variants, first `X = 1`)".to_owned()];
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]] {
            assert_eq!(joined(order), expected, "{order:?}");
        }
    }
}
