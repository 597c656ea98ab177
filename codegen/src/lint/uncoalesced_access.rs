//! `uncoalesced_access`: a warp's request to global memory fetches at least twice the bytes it uses.
//!
//! What is fetched are whole sectors; what is used is counted by lane, so that a broadcast is no waste. Silent where fewer than half of a
//! warp's lanes are there, where lanes beyond a boundary alone are, where data says who is; and for the fields of a struct of which the
//! kernel uses half or more at once: the same sectors then serve the other fields.

use super::{Finding, Lint, Subject};
use crate::analysis::access::{AccessFact, AccessKind, Doubt, Pattern, Range};
use crate::diagnostic::Level;
use crate::ir::{Kernel, MemoryType, Object, Op, Space, Step};
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

/// Lanes of a warp that must be there.
const FEWEST_LANES: u32 = 16;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let known = subject.known;
    let mut worst: BTreeMap<u32, (&AccessFact, Range)> = BTreeMap::new();
    for fact in &known.facts.accesses {
        let Some(sectors) = wasteful(fact).filter(|_| !is_shared_by_fields(&known.legal, &known.facts.accesses, fact)) else { continue };
        let slot = worst.entry(fact.loc.0).or_insert((fact, sectors));
        if sectors.least > slot.1.least {
            *slot = (fact, sectors);
        }
    }
    for (fact, sectors) in worst.into_values() {
        findings.push(Finding {
            span: subject.span(fact.loc),
            message: message(&known.legal, fact, sectors),
            labels: Vec::new(),
            help: help(&known.legal, fact),
        });
    }
}

/// The sectors of a request that fetches twice what it uses.
fn wasteful(fact: &AccessFact) -> Option<Range> {
    let Pattern::Global { sectors, bytes, .. } = &fact.pattern else { return None };
    let is_sure = fact.doubt <= Doubt::Limit && !fact.is_rare && fact.lanes.least >= FEWEST_LANES;
    let used = fact.lanes.most * fact.bytes;
    let is_wasteful = sectors.least * SECTOR >= 2 * used && sectors.least >= 2 * bytes.most.div_ceil(SECTOR);
    (is_sure && is_wasteful).then_some(*sectors)
}

/// Whether the other accesses to the same elements use half of what is fetched.
fn is_shared_by_fields(kernel: &Kernel, all: &[AccessFact], fact: &AccessFact) -> bool {
    let element = element_bytes(kernel, fact.object);
    if element <= u64::from(fact.bytes) {
        return false;
    }
    let mut parts: Vec<&[Step]> = Vec::new();
    let mut used = 0;
    for other in all.iter().filter(|other| other.object == fact.object && other.kind == fact.kind && other.loops == fact.loops) {
        let Some((_, part)) = path(kernel, other).split_first() else { continue };
        if !parts.contains(&part) {
            parts.push(part);
            used += u64::from(other.bytes);
        }
    }
    2 * used >= element
}

fn path<'k>(kernel: &'k Kernel, fact: &AccessFact) -> &'k [Step] {
    match &kernel.insts[fact.inst].op {
        Op::Load(access) | Op::Store(access, _) | Op::Atomic(_, access, _) => &access.path,
        _ => &[],
    }
}

fn element_bytes(kernel: &Kernel, object: Object) -> u64 {
    match &kernel.objects[object].ty {
        MemoryType::Slice(element) => element.size(&kernel.structs),
        _ => 0,
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
    let apart = match (stride, step) {
        (Some(stride), _) if *stride % i64::from(fact.bytes) == 0 => {
            format!("neighbouring lanes are {} elements ({} bytes) apart", stride.abs() / i64::from(fact.bytes), stride.abs())
        }
        (Some(stride), _) => format!("neighbouring lanes are {} bytes apart", stride.abs()),
        (None, Some(step)) => format!("neighbouring lanes are `{step}` elements apart"),
        (None, None) => "neighbouring lanes are not next to each other".to_owned(),
    };
    let object = &kernel.objects[fact.object].name;
    format!("a warp's {} `{object}` fetches {count} for {} that it uses: {apart}", verb(fact.kind), bytes.most)
}

fn help(kernel: &Kernel, fact: &AccessFact) -> String {
    let object = &kernel.objects[fact.object].name;
    let has_rows = kernel.options.block.is_some_and(|[_, y, z]| y * z > 1);
    if element_bytes(kernel, fact.object) > u64::from(fact.bytes) {
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
            says[1].0,
            "a warp's load of `x` fetches 32 sectors, 1024 bytes, for 128 that it uses: neighbouring lanes are `stride` elements apart"
        );
        let column = "#[kernel(block = (32, 8))] fn k(n: usize, y: &mut Global<f32>, x: &Global<f32>) { let (r, c) = (global_id().y, global_id().x); if r < n && c < n { y[c * n + r] = x[r * n + c]; } }";
        let says = found("uncoalesced_access", column);
        assert_eq!(says.len(), 1, "{says:?}");
        assert!(says[0].0.starts_with("a warp's store to `y` fetches 32 sectors"), "{says:?}");
        assert!(says[0].1.contains("`y[y * width + x]`"), "{says:?}");
        let every_second = "#[kernel(block = 64)] fn k(y: &mut Global<f32>) { y[global_id().x * 2] = 1.0; }";
        let says = found("uncoalesced_access", every_second);
        assert_eq!(
            says[0].0,
            "a warp's store to `y` fetches 8 sectors, 256 bytes, for 128 that it uses: neighbouring lanes are 2 elements (8 bytes) apart"
        );
    }

    #[test]
    fn one_field_of_a_large_struct_is_found_and_half_of_it_is_not() {
        let head = "#[derive(Clone, Copy)] #[repr(C)] struct P { a: f32, b: f32, c: f32, d: f32 }";
        let one =
            format!("{head} #[kernel(block = 64)] fn k(p: &Global<P>, y: &mut Global<f32>) {{ let i = global_id().x; y[i] = p[i].b; }}");
        let says = found("uncoalesced_access", &one);
        assert!(says.len() == 1 && says[0].1.contains("in a buffer of its own"), "{says:?}");
        let two = one.replace("p[i].b;", "p[i].b + p[i].d;");
        assert_eq!(found("uncoalesced_access", &two), []);
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
