//! `uncoalesced_access`: a warp's request to global memory fetches at least twice the bytes it uses.
//!
//! What is fetched are whole sectors; what is used is counted by lane, so that a broadcast is no waste. Silent where a condition picks
//! lanes of a warp, where lanes beyond a boundary alone are, where data says who is; and where threads are no more than a sector apart and the kernel uses
//! more than half of what lies between them: the same sectors then serve its other accesses. Accesses to one buffer in one pattern are one finding.

use super::{Finding, Lint, Subject};
use crate::analysis::access::{AccessFact, AccessKind, Doubt, Pattern, Range};
use crate::diagnostic::Level;
use crate::ir::{Kernel, Object, Op, Space, Step};
use std::collections::BTreeMap;

pub(super) const LINT: Lint = Lint {
    name: "uncoalesced_access",
    level: Some(Level::Warning),
    summary: "a warp's request fetches at least twice the bytes it uses",
    page: include_str!("uncoalesced_access.md"),
    check,
};

/// Bytes of a sector.
const SECTOR: u32 = 32;

/// Threads of a warp.
const WARP: u32 = 32;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let known = subject.known;
    let mut said: Vec<(Object, AccessKind, &Pattern)> = Vec::new();
    for fact in &known.facts.accesses {
        let Some(sectors) = wasteful(&known.legal, fact) else { continue };
        if said.contains(&(fact.object, fact.kind, &fact.pattern)) || is_used_otherwise(&known.facts.accesses, fact) {
            continue;
        }
        said.push((fact.object, fact.kind, &fact.pattern));
        findings.push(Finding {
            span: subject.span(fact.loc),
            message: message(&known.legal, fact, sectors),
            labels: Vec::new(),
            help: help(&known.legal, fact),
        });
    }
}

/// The sectors of a request that fetches twice what it uses.
fn wasteful(kernel: &Kernel, fact: &AccessFact) -> Option<Range> {
    let Pattern::Global { sectors, bytes, .. } = &fact.pattern else { return None };
    let whole = kernel.options.block.map_or(WARP, |block| block.iter().fold(1, |n, size| size.saturating_mul(n)).min(WARP));
    let is_sure = fact.doubt <= Doubt::Limit && !fact.is_rare && fact.lanes.most == whole;
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

fn path<'k>(kernel: &'k Kernel, fact: &AccessFact) -> &'k [Step] {
    match &kernel.insts[fact.inst].op {
        Op::Load(access) | Op::Store(access, _) | Op::Atomic(_, access, _) => &access.path,
        _ => &[],
    }
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
    let apart = match (stride, step) {
        (Some(stride), _) if is_dense(fact) => format!("rows of {width} threads are {} bytes each", stride.abs() * i64::from(width)),
        (Some(stride), _) if stride % i64::from(fact.bytes) == 0 => {
            format!("neighbouring threads are {} elements ({} bytes) apart", stride.abs() / i64::from(fact.bytes), stride.abs())
        }
        (Some(stride), _) => format!("neighbouring threads are {} bytes apart", stride.abs()),
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

fn help(kernel: &Kernel, fact: &AccessFact) -> String {
    let object = &kernel.objects[fact.object].name;
    if is_dense(fact) {
        let fewest = (SECTOR / fact.bytes).max(1);
        return format!("make the block's rows at least {fewest} threads wide, a sector of {SECTOR} bytes: `block = (32, 8)`");
    }
    let has_rows = kernel.options.block.is_some_and(|[_, y, z]| y * z > 1);
    if path(kernel, fact).iter().skip(1).any(|step| matches!(step, Step::Field(_))) {
        format!("keep this part of the elements of `{object}` in a buffer of its own, so that neighbouring threads meet neighbours")
    } else if has_rows {
        format!(
            "let what `thread_idx().x` is added to count neighbours, `{object}[y * width + x]`; where both orders are needed, turn a tile in `#[shared]` memory"
        )
    } else {
        format!(
            "let neighbouring threads take neighbouring elements, `{object}[k * block_dim().x + thread_idx().x]`, or bring them in through a `#[shared]` tile"
        )
    }
}

/// Facts of one space, for the other lints of this room.
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
