//! A kernel reviewed: all its variants lowered and scheduled, estimated on all targets, and looked at by the lints.
//!
//! The macro does this while a crate compiles, the command-line tool for a file: one path, so that both say the same. Errors come first: of a
//! kernel that does not compile, nothing else is said. What several variants have in common is said once, with the figures of the first.

use crate::backend::opencl;
use crate::diagnostic::{Diagnostic, Diagnostics, Level};
use crate::estimate::{Known, estimate};
use crate::hir::{self, Lowered};
use crate::ir::Kernel;
use crate::lint::{self, Sites, Subject};
use crate::passes;
use crate::require;
use crate::schedule::schedule;
use crate::syntax::{ConstValue, GenericValue, Instance, KernelAttributes, Program, Setting, UnitId};
use crate::target::{OPENCL, Targets};
use std::collections::HashMap;

/// What a kernel is reviewed for.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'s> {
    /// The targets.
    pub targets: &'s Targets,
    /// What findings are of which the kernel says nothing, if the crate says so.
    pub findings: Option<Setting>,
    /// Most variants times targets that are estimated: of more, a sample is taken, and said to be one. All variants are lowered all the same.
    pub most: usize,
}

/// One variant, with what is known of it.
pub struct Variant<'v> {
    /// What tells it from its siblings: `B = 64, ILP = 4`; empty if it has none.
    pub words: &'v str,
    /// The values of its generics.
    pub instance: &'v Instance,
    /// The kernel, stage `Scheduled`.
    pub lowered: &'v Lowered,
    /// What is known.
    pub known: &'v Known,
}

/// Reviews a kernel (its path within the unit), of which these instances are known. `look` sees each variant that is
/// estimated; without it, a kernel that is asked for no figures is lowered only.
pub fn review(
    program: &Program,
    unit: UnitId,
    path: &str,
    instances: &[Instance],
    scope: Scope<'_>,
    mut look: Option<&mut dyn FnMut(&Variant<'_>)>,
) -> Diagnostics {
    let item = match program.units[unit.0].kernel(path) {
        Ok(item) => item,
        Err(found) => return found,
    };
    let mut attributes = KernelAttributes::find(&item.attrs, &mut Diagnostics::new()).unwrap_or_default();
    attributes.levels = attributes.levels.within(scope.findings);
    let is_estimated = look.is_some() || attributes.levels.are_any() || !attributes.required.is_empty();
    let sites = Sites::of(item, &attributes);
    let sample = sample(instances.len(), scope.most / scope.targets.gpus.len().max(1));
    let (mut rules, mut lints) = (OfVariants::default(), OfVariants::default());
    for (instance, is_in_sample) in instances.iter().zip(&sample) {
        let words = words(&item.sig.generics, instance);
        match compile(program, unit, path, instance) {
            Ok(Compiled { lowered, built, warnings: mut found }) => {
                if scope.targets.opencl {
                    found.append(refused_by_opencl(&lowered));
                }
                rules.add(found, &words);
                if *is_in_sample && is_estimated && !rules.has_errors {
                    let known = estimate(&lowered.kernel, &scope.targets.gpus);
                    let subject = Subject { lowered: &lowered, built: built.as_ref(), known: &known, sites: &sites };
                    let mut found = require::judge(&lowered.required, &known, |loc| lowered.span(loc));
                    found = found.filter_map(|finding| attributes.levels.apply(finding));
                    found.extend(lint::check(&subject, |name| attributes.levels.of(name)));
                    lints.add(found, &words);
                    if let Some(look) = &mut look {
                        look(&Variant { words: &words, instance, lowered: &lowered, known: &known });
                    }
                }
            }
            Err(found) => rules.add(found, &words),
        }
    }
    let left_out = sample.iter().filter(|is_in| !**is_in).count();
    let mut found = rules.join().filter_map(|finding| attributes.levels.apply(finding));
    if !found.iter().any(|finding| finding.level == Level::Error && finding.lint.is_none()) {
        found.append(lints.join());
        if scope.targets.gpus.is_empty() {
            let help = format!("add a compute capability, `targets = [{OPENCL}, sm_90]`, say");
            let reason = format!("the kernel's only target is `{OPENCL}`, and nothing is estimated for OpenCL devices");
            found.extend(required_is_open(item, &reason, &help, scope.findings));
        }
        let open = (left_out > 0).then(|| left_out_finding(&sites, instances.len(), left_out, scope));
        found.extend(open.and_then(|finding| attributes.levels.apply(finding)));
    }
    found
}

/// An instance whose annotations are kept.
struct Compiled {
    lowered: Lowered,
    /// The kernel before, if it has annotations.
    built: Option<Kernel>,
    /// What `best_effort` let pass.
    warnings: Diagnostics,
}

/// Lowers and schedules an instance.
fn compile(program: &Program, unit: UnitId, path: &str, instance: &Instance) -> Result<Compiled, Diagnostics> {
    let mut lowered = hir::lower_kernel(program, unit, path, instance)?;
    let built = (!lowered.kernel.annotations.is_empty()).then(|| lowered.kernel.clone());
    let warnings = schedule(&mut lowered)?;
    Ok(Compiled { lowered, built, warnings })
}

/// What keeps a variant from OpenCL devices.
fn refused_by_opencl(lowered: &Lowered) -> Diagnostics {
    let mut legal = lowered.kernel.clone();
    passes::optimize(&mut legal);
    opencl::refusals(&legal, &|loc| lowered.span(loc))
}

/// Which of `count` variants are estimated, if at most `most` are: spread over all of them without a period, since neighbours in the list share
/// the values of their first generics, and every n-th those of the last.
fn sample(count: usize, most: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..count).collect();
    if count > most {
        // Multiples of 2⁶⁴ divided by the golden ratio lie spread out.
        order.sort_by_key(|index| (*index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    let mut is_in = vec![false; count];
    order.into_iter().take(most.max(1)).for_each(|index| is_in[index] = true);
    is_in
}

fn left_out_finding(sites: &Sites, count: usize, left_out: usize, scope: Scope<'_>) -> Diagnostic {
    let message = format!(
        "{left_out} of {count} variants are not looked at by the lints: with {} targets that would be {}, and {} are looked at while a crate compiles",
        scope.targets.gpus.len(),
        count * scope.targets.gpus.len(),
        scope.most,
    );
    let help =
        "list fewer values or fewer `targets`, or write `allow(unchecked)` and run `warpwright check` on this file, which looks at all";
    Diagnostic::warning(sites.argument(&["variants"]), message).help(help).of_lint("unchecked")
}

/// Says that a contract is not checked, since none of the kernel's instances is known for this reason. `None` if there is no contract.
pub fn required_is_open(item: &syn::ItemFn, reason: &str, help: &str, of_crate: Option<Setting>) -> Option<Diagnostic> {
    let attributes = KernelAttributes::find(&item.attrs, &mut Diagnostics::new())?;
    let first = attributes.required.first()?;
    let finding = Diagnostic::warning(first.span, format!("the contract is not checked: {reason}")).help(help).of_lint("unchecked");
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
        GenericValue::Const(ConstValue::Aggregate(_)) => format!("{name} = …"),
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
    /// The first variant that has it.
    words: String,
    /// How many have it.
    count: usize,
    /// The number of the last one that has it: a variant that says a thing twice has it once.
    last: usize,
    /// Whether one of them says it with other figures.
    differs: bool,
}

impl OfVariants {
    /// Adds those of one variant.
    fn add(&mut self, findings: impl IntoIterator<Item = Diagnostic>, words: &str) {
        self.count += 1;
        let last = self.count;
        for finding in findings {
            self.has_errors |= finding.level == Level::Error;
            let said = finding.lint.is_none().then(|| finding.message.clone());
            let place = *self.places.entry((finding.lint, finding.place(), said)).or_insert(self.list.len());
            match self.list.get_mut(place) {
                Some(known) if known.last == last => {}
                Some(known) => {
                    known.count += 1;
                    known.last = last;
                    known.differs |= known.finding.message != finding.message;
                }
                None => self.list.push(Merged { finding, words: words.to_owned(), count: 1, last, differs: false }),
            }
        }
    }

    /// The findings, saying which variants they are about unless it is all with the same figures.
    fn join(self) -> Diagnostics {
        let mut findings = Diagnostics::new();
        for Merged { mut finding, words, count, differs, .. } in self.list {
            let which = match count {
                _ if count == self.count && !differs => None,
                1 => Some(format!("the variant `{words}`")),
                _ if count == self.count => Some(format!("all {count} variants, these figures in `{words}`")),
                _ => Some(format!("{count} of {} variants, `{words}` the first", self.count)),
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
        let unit = program.add(crate::syntax::Unit::parse("k.rs", 1, 1, &source).unwrap());
        let instances = hir::declared_instances(&program, unit, "own").unwrap();
        let targets = Targets::named(["sm_90"]);
        let found = review(&program, unit, "own", &instances, Scope { targets: &targets, findings: None, most: 100 }, None);
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
        assert_eq!(said("1, 2, 3", from_two), [format!("{message} (in 2 of 3 variants, `X = 2` the first)")]);
        assert_eq!(said("1, 2", from_two), [format!("{message} (in the variant `X = 2`)")]);
        assert_eq!(said("2, 2", from_two), [message]);
    }

    #[test]
    fn samples_are_spread_and_of_the_size_asked_for() {
        assert_eq!(sample(3, 3), [true; 3]);
        assert_eq!(sample(0, 3), [false; 0]);
        for (count, most) in [(100, 64), (4096, 64), (65, 64), (2, 0)] {
            let is_in = sample(count, most);
            assert_eq!(is_in.iter().filter(|is_in| **is_in).count(), most.max(1));
        }
        // Of two axes of two values, in whatever place they stand, both values are in.
        let is_in = sample(4096, 64);
        for bit in 0..12 {
            let with = (0..4096).filter(|index| is_in[*index] && index >> bit & 1 == 1).count();
            assert!((16..=48).contains(&with), "bit {bit}: {with} of 64");
        }
    }
}
