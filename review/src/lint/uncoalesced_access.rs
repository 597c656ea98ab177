//! `uncoalesced_access`: a warp's request to global memory fetches at least twice the bytes it uses.
//!
//! What is fetched are whole sectors; what is used is counted by lane, so that a broadcast is no waste. Silent where a condition picks
//! lanes of a warp, where lanes beyond a boundary alone are, where data says who is and neighbours share sectors; and where threads are no more than a sector apart and the kernel uses
//! more than half of what lies between them: the same sectors then serve its other accesses. Silent where it runs so seldom that it is little of the
//! kernel's time. Accesses to one buffer in one pattern are one finding.

use super::weigh::Scales;
use super::{Finding, Lint, Subject};
use std::collections::{BTreeMap, BTreeSet};
use warpwright_codegen::analysis::access::{AccessFact, AccessKind, Pattern, Range, Uncertainty};
use warpwright_codegen::ir::{Kernel, MemoryType, Object, Space};
use warpwright_codegen::target::limits::{SECTOR, WARP};

pub(super) const LINT: Lint = Lint {
    name: "uncoalesced_access",
    summary: "a warp's request fetches at least twice the bytes it uses",
    of_machine: true,
    page: include_str!("uncoalesced_access.md"),
    check,
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let known = subject.known;
    let accesses = &known.facts.accesses;
    let mut found: Vec<(Vec<&AccessFact>, Range)> = Vec::new();
    for fact in accesses {
        let Some(sectors) = wasteful(&known.legal, fact) else { continue };
        if is_used_otherwise(accesses, fact) {
            continue;
        }
        let is_like = |other: &AccessFact| other.object == fact.object && other.kind == fact.kind && other.pattern == fact.pattern;
        match found.iter_mut().find(|(all, _)| is_like(all[0])) {
            Some((all, _)) => all.push(fact),
            None => found.push((vec![fact], sectors)),
        }
    }
    if found.is_empty() {
        return;
    }
    let scales = Scales::of(subject);
    for (all, sectors) in found.into_iter().filter(|(all, _)| scales.are_worth(all.iter().copied())) {
        findings.push(Finding {
            span: subject.span(all[0].loc),
            message: message(&known.legal, all[0], sectors),
            labels: Vec::new(),
            help: help(&known.legal, accesses, all[0]),
        });
    }
}

/// The sectors of a request that fetches twice what it uses.
fn wasteful(kernel: &Kernel, fact: &AccessFact) -> Option<Range> {
    let Pattern::Global { sectors, bytes, .. } = &fact.pattern else { return None };
    let whole = kernel.options.block.map_or(WARP, |block| block.iter().fold(1, |n, size| size.saturating_mul(n)).min(WARP));
    // Who takes part does not matter where each has a sector of its own.
    let is_apart = matches!(fact.pattern, Pattern::Global { stride: Some(stride), .. } if stride.unsigned_abs() >= u64::from(SECTOR));
    let is_sure = (is_apart || fact.uncertainty <= Uncertainty::Limit) && !fact.is_rare && fact.lanes.most == whole;
    let used = fact.lanes.most * fact.bytes;
    let is_wasteful = sectors.least * SECTOR >= 2 * used && sectors.least >= 2 * bytes.most.div_ceil(SECTOR);
    (is_sure && is_wasteful).then_some(*sectors)
}

/// Whether accesses to what lies between neighbouring threads' elements use more than half of it, and that is a sector at most.
fn is_used_otherwise(all: &[AccessFact], fact: &AccessFact) -> bool {
    let Pattern::Global { stride: Some(stride), .. } = fact.pattern else { return false };
    if stride == 0 || stride.unsigned_abs() > u64::from(SECTOR) {
        return false;
    }
    let is_like = |other: &&AccessFact| {
        let has_stride = matches!(other.pattern, Pattern::Global { stride: Some(own), .. } if own == stride);
        has_stride && other.object == fact.object && other.kind == fact.kind && other.loops == fact.loops
    };
    let parts: BTreeMap<i64, u32> = all.iter().filter(is_like).map(|other| (other.offset.rem_euclid(stride), other.bytes)).collect();
    2 * u64::from(parts.values().sum::<u32>()) > stride.unsigned_abs()
}

/// `load of`, `store to` or `atomic on`.
pub(super) fn verb(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Load => "load of",
        AccessKind::Store => "store to",
        AccessKind::Atomic => "atomic on",
    }
}

fn message(kernel: &Kernel, fact: &AccessFact, sectors: Range) -> String {
    let Pattern::Global { bytes, stride, step, .. } = &fact.pattern else { return String::new() };
    let count = match sectors.exact() {
        Some(sectors) => format!("{sectors} sectors, {} bytes,", sectors * SECTOR),
        None => format!("{} to {} sectors, at least {} bytes,", sectors.least, sectors.most, sectors.least * SECTOR),
    };
    let width = kernel.options.block.map_or(0, |[x, ..]| x);
    let element = element(kernel, fact.object);
    let apart = match (stride.map(i64::abs), step) {
        (Some(stride), _) if is_dense(fact) => format!("rows of {width} threads are {} bytes each", stride * i64::from(width)),
        (Some(stride), _) if stride == element && is_record(kernel, fact.object) => {
            format!("of the {element} bytes of an element each thread uses {} at a time", fact.bytes)
        }
        (Some(stride), _) if stride % element == 0 => {
            format!("neighbouring threads are {} elements ({stride} bytes) apart", stride / element)
        }
        (Some(stride), _) => format!("neighbouring threads are {stride} bytes apart"),
        (None, Some(step)) => format!("neighbouring threads are `{step}` elements apart"),
        (None, None) => "neighbouring threads are not next to each other".to_owned(),
    };
    let object = &kernel.objects[fact.object].name;
    format!("a warp's {} `{object}` fetches {count} for {} that it uses: {apart}", verb(fact.kind), bytes.most)
}

/// Whether threads along x are next to each other.
fn is_dense(fact: &AccessFact) -> bool {
    matches!(fact.pattern, Pattern::Global { stride: Some(stride), .. } if stride.unsigned_abs() == u64::from(fact.bytes))
}

/// Bytes of an element of a buffer, as the source declares it.
pub(super) fn element(kernel: &Kernel, object: Object) -> i64 {
    if let MemoryType::Slice(element) = &kernel.objects[object].ty {
        element.size(&kernel.structs).max(1) as i64
    } else {
        kernel.objects[object].ty.size(&kernel.structs).max(1) as i64
    }
}

/// Whether the elements of a buffer are structs, tuples or arrays.
pub(super) fn is_record(kernel: &Kernel, object: Object) -> bool {
    matches!(&kernel.objects[object].ty, MemoryType::Slice(element) if !matches!(**element, MemoryType::Scalar(_)))
}

/// Elements of a record that is laid out by hand, `x[i * 4 + k]`: neighbouring threads are so many apart, and a thread uses several of them,
/// or one of no more than two sectors. In a loop it may as well be a thread's share of a plain array.
fn record_by_hand(kernel: &Kernel, all: &[AccessFact], fact: &AccessFact) -> Option<i64> {
    let Pattern::Global { stride: Some(stride), .. } = fact.pattern else { return None };
    let (stride, element) = (stride.abs(), element(kernel, fact.object));
    let is_like = |other: &&AccessFact| {
        other.object == fact.object && matches!(other.pattern, Pattern::Global { stride: Some(own), .. } if own.abs() == stride)
    };
    let parts: BTreeSet<i64> = all.iter().filter(is_like).map(|other| other.offset.rem_euclid(stride.max(1))).collect();
    let is_some = stride > element && stride % element == 0 && (parts.len() > 1 || fact.loops == 0 && stride <= 2 * i64::from(SECTOR));
    is_some.then_some(stride / element)
}

fn help(kernel: &Kernel, all: &[AccessFact], fact: &AccessFact) -> String {
    let object = &kernel.objects[fact.object].name;
    if is_dense(fact) {
        let fewest = (SECTOR / fact.bytes).max(1);
        return format!("make the block's rows at least {fewest} threads wide, a sector of {SECTOR} bytes: `block = (32, 8)`");
    }
    let has_rows = kernel.options.block.is_some_and(|[_, y, z]| y * z > 1);
    if is_record(kernel, fact.object) {
        format!(
            "make a structure of arrays of `{object}`: keep each part of its elements in a buffer of its own (or row k of one buffer, \
             `{object}[k * n + i]`), so that neighbouring threads meet neighbours"
        )
    } else if let Some(parts) = record_by_hand(kernel, all, fact) {
        format!(
            "make a structure of arrays of `{object}`: `{object}[k * n + i]` instead of `{object}[i * {parts} + k]`, so that neighbouring threads \
             meet neighbours"
        )
    } else if has_rows {
        format!(
            "let `thread_idx().x` index neighbours, `{object}[y * width + x]`; if both orders are needed, transpose a tile in `#[shared]` memory"
        )
    } else {
        format!(
            "let neighbouring threads take neighbouring elements, `{object}[k * block_dim().x + thread_idx().x]`, or bring them in through a `#[shared]` tile"
        )
    }
}

/// Facts of one space, for the other lints of this folder.
pub(super) fn of_space(facts: &[AccessFact], space: Space) -> impl Iterator<Item = &AccessFact> {
    facts.iter().filter(move |fact| fact.space == space)
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::found;

    #[test]
    fn strides_and_columns_are_found() {
        let stride = "#[kernel(block = 256)] fn k(stride: usize, y: &mut Global<f32>, x: &Global<f32>) { let i = global_id().x * stride; if i < y.len() { y[i] = x[i]; } }";
        let says = found("uncoalesced_access", stride);
        assert_eq!(says.len(), 2, "{says:?}");
        assert_eq!(
            says[0].0,
            "a warp's load of `x` fetches 32 sectors, 1024 bytes, for 128 that it uses: neighbouring threads are `stride` elements apart"
        );
        let column = "#[kernel(block = (32, 8))] fn k(n: usize, y: &mut Global<f32>, x: &Global<f32>) { let (r, c) = (global_id().y, global_id().x); if r < n && c < n { y[c * n + r] = x[r * n + c]; } }";
        let says = found("uncoalesced_access", column);
        assert_eq!(says.len(), 1, "{says:?}");
        assert!(says[0].0.starts_with("a warp's store to `y` fetches 32 sectors"), "{says:?}");
        assert!(says[0].1.contains("`y[y * width + x]`"), "{says:?}");
        let pairs = "#[kernel(block = 64)] fn k(y: &mut Global<f32>) { let i = global_id().x; y[2 * i] = 1.0; y[2 * i + 1] = 2.0; }";
        assert_eq!(found("uncoalesced_access", pairs), []);
        let every_second = "#[kernel(block = 64)] fn k(y: &mut Global<f32>) { y[global_id().x * 2] = 1.0; }";
        let says = found("uncoalesced_access", every_second);
        assert_eq!(
            says[0].0,
            "a warp's store to `y` fetches 8 sectors, 256 bytes, for 128 that it uses: neighbouring threads are 2 elements (8 bytes) apart"
        );
    }

    #[test]
    fn one_field_of_a_struct_is_found_and_most_of_it_is_not() {
        let head = "#[derive(Clone, Copy)] #[repr(C)] struct P { a: f32, b: f32, c: f32, d: f32 }";
        let one =
            format!("{head} #[kernel(block = 64)] fn k(p: &Global<P>, y: &mut Global<f32>) {{ let i = global_id().x; y[i] = p[i].b; }}");
        let says = found("uncoalesced_access", &one);
        assert!(says.len() == 1 && says[0].1.contains("in a buffer of its own"), "{says:?}");
        let three = one.replace("p[i].b;", "p[i].a + p[i].b + p[i].d;");
        assert_eq!(found("uncoalesced_access", &three), []);
        // All of a large one is more than a sector can serve.
        let large = "#[derive(Clone, Copy)] #[repr(C)] struct P { a: [f32; 19] } #[kernel(block = 64)] fn k(p: &Global<P>, y: &mut Global<f32>) { let i = global_id().x; let mut s = 0.0; #[unroll] for k in 0..19 { s += p[i].a[k]; } y[i] = s; }";
        assert_eq!(found("uncoalesced_access", large).len(), 1);
    }

    #[test]
    fn arrays_of_structures_are_told_to_be_structures_of_arrays() {
        let help = |source: &str| found("uncoalesced_access", source).remove(0);
        let of_arrays = help(
            "#[kernel(block = 64)] fn k(x: &Global<[f32; 9]>, y: &mut Global<f32>) { let i = global_id().x; let v = x[i]; let mut s = 0.0; #[unroll] for k in 0..9 { s += v[k]; } y[i] = s; }",
        );
        assert!(of_arrays.0.ends_with("of the 36 bytes of an element each thread uses 4 at a time"), "{of_arrays:?}");
        assert!(of_arrays.1.starts_with("make a structure of arrays of `x`: keep each part"), "{of_arrays:?}");
        let by_hand = help(
            "#[kernel(block = 64)] fn k(x: &Global<f32>, y: &mut Global<f32>) { let i = global_id().x; let mut s = 0.0; #[unroll] for k in 0..9 { s += x[i * 9 + k]; } y[i] = s; }",
        );
        assert!(by_hand.1.starts_with("make a structure of arrays of `x`: `x[k * n + i]` instead of `x[i * 9 + k]`"), "{by_hand:?}");
        let in_rows = help(
            "#[kernel(block = (16, 16))] fn k(w: usize, x: &Global<f32>, y: &mut Global<f32>) { let i = global_id().y * w + global_id().x; y[i] = x[i * 4 + 2]; }",
        );
        assert!(in_rows.1.starts_with("make a structure of arrays of `x`: `x[k * n + i]` instead of `x[i * 4 + k]`"), "{in_rows:?}");
        // A thread's share of four neighbours, one by one.
        let share = help(
            "#[kernel(block = 64)] fn k(y: &mut Global<f32>) { let i = global_id().x * 4; for k in i..i + 4 { if k < y.len() { y[k] += 1.0; } } }",
        );
        assert!(share.1.contains("let neighbouring threads take neighbouring elements"), "{share:?}");
        // A walk along rows of a length that the launch decides is none.
        let rows = help(
            "#[kernel(block = 64)] fn k(w: usize, x: &Global<f32>, y: &mut Global<f32>) { let i = global_id().x; let mut s = 0.0; for k in 0..w { s += x[i * w + k]; } y[i] = s; }",
        );
        assert!(rows.1.contains("`x[k * block_dim().x + thread_idx().x]`"), "{rows:?}");
    }

    #[test]
    fn distances_are_in_elements_of_the_source_whatever_the_width_of_an_access() {
        let message = |rest: &str| {
            let source = format!(
                "#[kernel(block = 64)] fn k(w: usize, x: &Global<f32>, y: &mut Global<f32>) {{ let i = global_id().x; let mut s = 0.0; {rest} y[i] = s; }}"
            );
            found("uncoalesced_access", &source).remove(0).0
        };
        let vectors = message("#[vectorize(4)] for k in 0..64 { s += x[i * 64 + k]; }");
        assert!(vectors.ends_with("neighbouring threads are 64 elements (256 bytes) apart"), "{vectors}");
        let unknown = message("#[vectorize(4, assume_aligned)] for k in 0..w { s += x[i * w + k]; }");
        assert!(unknown.ends_with("neighbouring threads are `w` elements apart"), "{unknown}");
        let by_hand = message("let v = x.load::<2>(i * 16); s = v[0] + v[1];");
        assert!(by_hand.ends_with("neighbouring threads are 16 elements (64 bytes) apart"), "{by_hand}");
    }

    /// Each lane has sectors of its own, whoever takes part.
    #[test]
    fn lanes_that_data_picks_are_found_where_each_has_its_own_sector() {
        let kernel = |stride: u32| {
            format!(
                "#[kernel(block = 64)] fn k(wall: &Global<u32>, y: &mut Global<f32>) {{ let i = global_id().x; if wall[i] == 0 {{ y[i * {stride} + 1] = 1.0; }} }}"
            )
        };
        assert_eq!(found("uncoalesced_access", &kernel(19)).len(), 1);
        assert_eq!(found("uncoalesced_access", &kernel(4)), []);
        let after_a_break = "#[kernel(block = 64)] fn k(steps: usize, x: &Global<u32>, y: &mut Global<u32>) { let i = global_id().x; let mut step = 0; while step < steps { if x[step] == y[i * 34] { break; } y[i * 34 + 1] += 1; step += 1; } }";
        assert!(!found("uncoalesced_access", after_a_break).is_empty());
    }

    #[test]
    fn what_runs_once_in_a_long_kernel_is_not() {
        let kernel = |rounds: &str| {
            format!(
                "#[kernel(block = 256)] fn k(n: usize, w: usize, x: &Global<u8>, y: &mut Global<f32>) {{ let t = thread_idx().x; let mut s = x[block_idx().x * 16 + t / 16 * w + t % 16] as f32; for k in 0..{rounds} {{ s = s * 0.5 + k as f32; }} y[global_id().x] = s; }}"
            )
        };
        // A row of 16 bytes is inherent in tiles of 16 × 16 bytes.
        assert_eq!(found("uncoalesced_access", &kernel("n")), []);
        assert_eq!(found("uncoalesced_access", &kernel("1")).len(), 1);
    }

    #[test]
    fn neighbours_broadcasts_offsets_and_lone_lanes_are_not() {
        let kernels = [
            // Misaligned by one: five sectors for four.
            "#[kernel(block = 64)] fn k(x: &Global<f32>, y: &mut Global<f32>) { let i = global_id().x; y[i] = x[i + 1]; }",
            // One row of a matrix, the same for all lanes of half a warp.
            "#[kernel(block = (16, 16))] fn k(n: usize, x: &Global<f32>, y: &mut Global<f32>) { let (r, c) = (global_id().y, global_id().x); let mut s = 0.0; for j in 0..n { s += x[r * n + j]; } y[r * n + c] = s; }",
            "#[kernel(block = 64)] fn k(x: &Global<f32>, y: &mut Global<f32>) { if thread_idx().x % 32 == 0 { y[thread_idx().x] = x[0]; } }",
            // Where data says.
            "#[kernel(block = 64)] fn k(at: &Global<u32>, x: &Global<f32>, y: &mut Global<f32>) { let i = global_id().x; y[i] = x[at[i] as usize]; }",
            // Reversed.
            "#[kernel(block = 64)] fn k(x: &Global<f32>, y: &mut Global<f32>) { let i = global_id().x; y[i] = x[x.len() - 1 - i]; }",
            // What is left over for vectors runs element by element.
            "#[kernel(block = 64, vectorize = 4)] fn k(x: &Global<f32>, y: &mut Global<f32>) { let i = global_id().x; if i < y.len() { y[i] = x[i]; } }",
        ];
        for kernel in kernels {
            assert_eq!(found("uncoalesced_access", kernel), [], "{kernel}");
        }
    }
}
