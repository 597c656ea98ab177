//! `constant_divergence`: lanes of a warp read different addresses of constant memory, which serves one at a time.
//!
//! By the thread's number, or by data: a binary search, a table of bins. What is the same in all lanes of a warp, though it comes from
//! memory (`starts[global_id().x / 32]`), is a broadcast. Silent for tables of a few elements, which data cannot spread far, and for what
//! runs so seldom that it is little of the kernel's time.

use super::uncoalesced_access::of_space;
use super::weigh::Scales;
use super::{Finding, Lint, Subject};
use std::collections::BTreeMap;
use warpwright_codegen::analysis::access::{AccessFact, Pattern, Range, Uncertainty};
use warpwright_codegen::ir::{Kernel, ObjectData, ObjectKind, Space};
use warpwright_codegen::library;
use warpwright_codegen::target::limits::WARP;

pub(super) const LINT: Lint = Lint {
    name: "constant_divergence",
    summary: "constant memory is indexed by the thread, or by data",
    of_machine: true,
    page: include_str!("constant_divergence.md"),
    check,
};

/// Elements of a table from which on lanes that data sends anywhere are worth a word: fewer are served in about the time of a load from global
/// memory.
const FEWEST_ELEMENTS: u64 = 8;

/// What is known of a load whose lanes part.
#[derive(Clone, Copy)]
enum Spread {
    /// Different addresses.
    Known(Range),
    /// Data says where; so many different addresses at most.
    Data(u64),
    /// The thread's number does, in a way that is not followed.
    Thread(u64),
}

impl Spread {
    fn most(self) -> u64 {
        match self {
            Spread::Known(addresses) => addresses.most.into(),
            Spread::Data(most) | Spread::Thread(most) => most,
        }
    }
}

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let kernel = &subject.known.legal;
    let mut by_place: BTreeMap<u32, (Vec<&AccessFact>, Spread)> = BTreeMap::new();
    for fact in of_space(&subject.known.facts.accesses, Space::Constant) {
        let Some(spread) = spread(kernel, fact) else { continue };
        let (all, worst) = by_place.entry(fact.loc.0).or_insert((Vec::new(), spread));
        // The one that is said is the first of the worst.
        if spread.most() > worst.most() {
            all.insert(0, fact);
            *worst = spread;
        } else {
            all.push(fact);
        }
    }
    if by_place.is_empty() {
        return;
    }
    let scales = Scales::of(subject);
    for (all, spread) in by_place.into_values().filter(|(all, _)| scales.are_worth(all.iter().copied())) {
        let fact = all[0];
        let object = &kernel.objects[fact.object];
        let name = name(object);
        let message = match spread {
            Spread::Known(Range { most, .. }) => {
                format!("a warp's load of {name} reads {most} different addresses of constant memory, which serves them one after another")
            }
            Spread::Data(most) | Spread::Thread(most) => {
                let who = if matches!(spread, Spread::Data(_)) { "data says" } else { "the thread's number says" };
                format!(
                    "{who} which element of {name} each lane of a warp reads: up to {most} different addresses of constant memory, which \
                     serves them one after another"
                )
            }
        };
        findings.push(Finding {
            span: subject.span(fact.loc),
            message,
            labels: vec![(subject.span(object.loc), format!("{name} is in constant memory"))],
            help: help(kernel, fact),
        });
    }
}

/// How the lanes part, if they surely do, or may by data.
fn spread(kernel: &Kernel, fact: &AccessFact) -> Option<Spread> {
    let object = &kernel.objects[fact.object];
    // Tables that functions of the library bring along are nobody's to move.
    if fact.uncertainty == Uncertainty::Data && matches!(fact.pattern, Pattern::Constant { .. })
        || fact.is_rare
        || object.name == library::TABLE
    {
        return None;
    }
    if let Pattern::Constant { addresses } = fact.pattern {
        (addresses.least >= 2).then_some(Spread::Known(addresses))
    } else {
        let elements = object.ty.size(&kernel.structs) / u64::from(fact.bytes.max(1));
        let most = elements.min(WARP.into());
        let spread = if fact.by_thread { Spread::Thread(most) } else { Spread::Data(most) };
        (fact.by_data && fact.lanes.most > 1 && elements >= FEWEST_ELEMENTS).then_some(spread)
    }
}

/// A table has no name of its own here.
fn name(object: &ObjectData) -> String {
    if matches!(object.kind, ObjectKind::Table(_)) { "this table".to_owned() } else { format!("`{}`", object.name) }
}

fn help(kernel: &Kernel, fact: &AccessFact) -> String {
    let object = &kernel.objects[fact.object];
    if matches!(object.kind, ObjectKind::Table(_)) {
        "copy the table to a `#[shared]` array at the kernel's begin, or take it as `&Global<…>`".to_owned()
    } else {
        format!("take `{}` as `&Global<…>`, whose cache serves a warp at once, or copy it to a `#[shared]` array first", object.name)
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::found;

    fn kernel(index: &str) -> String {
        format!(
            "#[kernel(block = (32, 4))] fn k(n: usize, c: &Constant<[f32; 256]>, y: &mut Global<f32>) {{ let i = global_id().x; let mut s = 0.0; for k in 0..64 {{ s += c[{index}]; }} y[i] = s; }}"
        )
    }

    #[test]
    fn indices_of_the_thread_are_found() {
        let says = found("constant_divergence", &kernel("thread_idx().x + k"));
        assert_eq!(says.len(), 1, "{says:?}");
        assert_eq!(says[0].0, "a warp's load of `c` reads 32 different addresses of constant memory, which serves them one after another");
        assert_eq!(found("constant_divergence", &kernel("k + (i / 8) % 4")).len(), 1);
        let table =
            "const T: [u32; 64] = [7; 64]; #[kernel(block = 64)] fn k(y: &mut Global<u32>) { y[global_id().x] = T[thread_idx().x]; }";
        let says = found("constant_divergence", table);
        assert!(says.len() == 1 && says[0].1.starts_with("copy the table to a `#[shared]` array"), "{says:?}");
    }

    /// A kernel that reads a table of so many elements at an index.
    fn by_data(elements: u32, index: &str) -> String {
        format!(
            "#[kernel(block = 128)] fn k(c: &Constant<[f32; {elements}]>, at: &Global<u32>, y: &mut Global<f32>) {{ let i = global_id().x; if i < y.len() {{ y[i] = c[{index}]; }} }}"
        )
    }

    #[test]
    fn indices_from_data_are_found() {
        let says = found("constant_divergence", &by_data(64, "at[i] as usize"));
        assert_eq!(
            says[0].0,
            "data says which element of `c` each lane of a warp reads: up to 32 different addresses of constant memory, which serves them one after another"
        );
        assert!(says.len() == 1 && says[0].1.starts_with("take `c` as `&Global<…>`"), "{says:?}");
        assert!(found("constant_divergence", &by_data(20, "at[i] as usize"))[0].0.contains("up to 20 different addresses"));
        let search = "#[kernel(block = 128)] fn k(edges: &Constant<[f32; 32]>, x: &Global<f32>, y: &mut Global<u32>) { let i = global_id().x; let (mut low, mut high) = (0usize, 32usize); while high > low + 1 { let middle = (low + high) / 2; if x[i] >= edges[middle] { high = middle; } else { low = middle; } } y[i] = low as u32; }";
        assert_eq!(found("constant_divergence", search).len(), 1);
        let table = "const T: [u32; 64] = [7; 64]; #[kernel(block = 64)] fn k(x: &Global<u32>, y: &mut Global<u32>) { y[global_id().x] = T[(x[global_id().x] % 64) as usize]; }";
        assert_eq!(found("constant_divergence", table).len(), 1);
    }

    #[test]
    fn indices_that_arithmetic_spreads_are_the_threads() {
        let source = "#[kernel(block = 128)] fn k(steps: usize, c: &Constant<[f32; 1024]>, y: &mut Global<f32>) { let i = global_id().x; let mut s = 0.0; for k in 0..steps { s += c[INDEX]; } y[i] = s; }";
        for index in ["(i * 37 + k) % 1024", "(i ^ (i >> 3)) % 1024", "if i % 3 == 0 { i % 1000 } else { (7 * i) % 900 }"] {
            let says = found("constant_divergence", &source.replace("INDEX", index));
            assert!(says.len() == 1 && says[0].0.starts_with("the thread's number says which element of `c`"), "{index}: {says:?}");
        }
        let says = found("constant_divergence", &source.replace("INDEX", "(y[i] as usize * 37 + k) % 1024"));
        assert!(says.len() == 1 && says[0].0.starts_with("data says which element of `c`"), "{says:?}");
    }

    #[test]
    fn what_data_says_for_a_whole_warp_small_tables_and_what_runs_seldom_are_not() {
        for index in ["at[i / 32] as usize", "at[block_idx().x] as usize", "warp_max(at[i]) as usize", "shuffle(at[i], 3u32) as usize"] {
            assert_eq!(found("constant_divergence", &by_data(64, index)), [], "{index}");
        }
        assert_eq!(found("constant_divergence", &by_data(4, "at[i] as usize")), []);
        // A search for each warp: `key` is one in all lanes, and so is all that follows from it.
        let search = "#[kernel(block = 128)] fn k(edges: &Constant<[u32; 32]>, x: &Global<u32>, y: &mut Global<u32>) { let key = x[global_id().x / 32]; let (mut low, mut high) = (0usize, 32usize); while high > low + 1 { let middle = (low + high) / 2; if key >= edges[middle] { high = middle; } else { low = middle; } } y[global_id().x] = low as u32; }";
        assert_eq!(found("constant_divergence", search), []);
        // One load before a long loop.
        let seldom = "#[kernel(block = 128)] fn k(n: usize, c: &Constant<[f32; 64]>, at: &Global<u32>, y: &mut Global<f32>) { let i = global_id().x; let mut s = c[at[i] as usize]; for k in 0..n { s = s * 0.5 + k as f32; } y[i] = s; }";
        assert_eq!(found("constant_divergence", seldom), []);
        // A function's own table, for arguments that are rare.
        let sine = "#[kernel(block = 128)] fn k(x: &Global<f32>, y: &mut Global<f32>) { y[global_id().x] = x[global_id().x].sin(); }";
        assert_eq!(found("constant_divergence", sine), []);
    }

    #[test]
    fn broadcasts_are_not() {
        for index in ["k", "k + thread_idx().y", "n - 1", "block_idx().x + k", "i / 32 % 8"] {
            assert_eq!(found("constant_divergence", &kernel(index)), [], "{index}");
        }
    }
}
