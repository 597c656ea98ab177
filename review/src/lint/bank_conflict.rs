//! `bank_conflict`: a warp's request to shared memory takes several passes where one would do.
//!
//! Which `pad` or `swizzle` mends it is tried out: the array gets it, and all its accesses are looked at again. So what the help says holds for
//! every access of the array, not only for the one it is said of. Conflicts of what runs so seldom that it is little of the kernel's time are not said.

use super::uncoalesced_access::{of_space, verb};
use super::weigh::Scales;
use super::{Finding, Lint, Subject, tensor_products};
use crate::report::{conflict_text, extra_text};
use std::collections::BTreeMap;
use warpwright_codegen::analysis::access::{self, AccessFact, AccessKind, Pattern, Range, Uncertainty};
use warpwright_codegen::ir::{
    Address, BinaryOp, Compute, Engine, Kernel, Memory, MemoryOp, MemoryType, Object, Op, SWIZZLE_ROWS, Space, Step, Swizzle,
};
use warpwright_codegen::pipeline::Legal;
use warpwright_codegen::schedule::swizzle;
use warpwright_codegen::target::limits::{VECTOR_BYTES, WARP};

pub(super) const LINT: Lint = Lint {
    name: "bank_conflict",
    summary: "the lanes of a warp use the same banks of shared memory",
    of_machine: true,
    page: include_str!("bank_conflict.md"),
    check,
};

/// Elements of room behind a row that are tried.
const PADS: [u64; 6] = [1, 2, 3, 4, 8, 16];

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let kernel = &subject.known.legal;
    let mut said: Vec<(Object, AccessKind, &Pattern)> = Vec::new();
    let (mut conflicts, mut all): (Vec<(&AccessFact, u32)>, Vec<Vec<&AccessFact>>) = (Vec::new(), Vec::new());
    let by_tensor_cores = tensor_products::places(subject);
    for fact in of_space(&subject.known.facts.accesses, Space::Shared).filter(|fact| !by_tensor_cores.contains(&fact.loc)) {
        let Some(degree) = conflict(fact) else { continue };
        match said.iter().position(|known| *known == (fact.object, fact.kind, &fact.pattern)) {
            Some(known) => all[known].push(fact),
            None => {
                said.push((fact.object, fact.kind, &fact.pattern));
                all.push(vec![fact]);
                conflicts.push((fact, degree));
            }
        }
    }
    if conflicts.is_empty() {
        return;
    }
    let scales = Scales::of(subject);
    let mut of_place = all.into_iter();
    conflicts.retain(|_| of_place.next().is_some_and(|all| scales.are_worth(all)));
    let mut helps: BTreeMap<u32, String> = BTreeMap::new();
    for (fact, degree) in conflicts {
        let mended = || if holds_tiles(kernel, fact.object) { mend_tile(kernel, fact.object) } else { mend(kernel, fact.object) };
        let help = helps.entry(fact.object.0).or_insert_with(mended).clone();
        let array = &kernel.objects[fact.object];
        let extra = Range { least: degree.saturating_sub(1), most: degree.saturating_sub(1) };
        let said = format!("has bank conflicts, {} ({})", conflict_text(extra), extra_text(extra));
        findings.push(Finding {
            span: subject.span(fact.loc),
            message: format!("a warp's {} `{}` {said}: {}", verb(fact.kind), array.name, cause(fact)),
            labels: vec![(subject.span(array.loc), format!("`{}` is declared here", array.name))],
            help,
        });
    }
}

/// The degree of a request that takes at least two passes: for sure, or on average of those that were looked at.
fn conflict(fact: &AccessFact) -> Option<u32> {
    let Pattern::Shared { degree, .. } = fact.pattern else { return None };
    let is_sure = fact.uncertainty <= Uncertainty::Limit && !fact.is_rare;
    let is_usual = degree.least >= 2 || fact.total.requests > 1 && fact.total.figure.least >= fact.total.requests;
    (is_sure && is_usual).then_some(degree.most)
}

fn cause(fact: &AccessFact) -> String {
    match fact.pattern {
        Pattern::Shared { stride: Some(stride), .. } if stride % 4 == 0 && stride % 128 == 0 => {
            format!("neighbouring threads are {} bytes apart, and the 32 banks repeat every 128", stride.abs())
        }
        Pattern::Shared { stride: Some(stride), .. } if stride.unsigned_abs() > u64::from(fact.bytes.max(4)) => {
            format!("neighbouring threads are {} bytes apart, which is the same of the 32 banks again", stride.abs())
        }
        Pattern::Shared { stride: Some(_), .. } => "rows of the block's threads are in the same of the 32 banks".to_owned(),
        _ => "its lanes are in the same of the 32 banks".to_owned(),
    }
}

/// The edit that frees an array of conflicts, tried out.
fn mend(kernel: &Kernel, array: Object) -> String {
    let data = &kernel.objects[array];
    let name = &data.name;
    let dynamic = if matches!(data.ty, MemoryType::Slice(_)) { "dynamic, " } else { "" };
    let Some(columns) = data.ty.clone().unpadded().columns() else {
        let rows = if dynamic.is_empty() { "[[T; 32]; N]" } else { "[[T; 32]]" };
        return format!(
            "let neighbouring lanes use neighbouring elements of `{name}`, or elements an odd number of words apart; or give it rows that can be padded, `{rows}` with `#[shared({dynamic}pad = 1)]`"
        );
    };
    let before = passes(kernel, array);
    let padded = |pad: u64| {
        let mut kernel = kernel.clone();
        let ty = std::mem::replace(
            &mut kernel.objects[array].ty,
            MemoryType::Slice(Box::new(MemoryType::Scalar(warpwright_codegen::ir::Type::F32))),
        );
        kernel.objects[array].ty = ty.unpadded().padded(pad);
        passes(&kernel, array)
    };
    let swizzled = can_swizzle(kernel, array, columns).then(|| {
        let mut kernel = kernel.clone();
        kernel.objects[array].ty = kernel.objects[array].ty.clone().unpadded();
        swizzle(&mut kernel, array, Swizzle::Columns);
        passes(&kernel, array)
    });
    let vector = widest(kernel, array);
    let pads = PADS.into_iter().chain(beside(kernel, &data.ty, columns)).filter(|pad| pad % vector == 0);
    let pads: Vec<(u64, u32)> = pads.map(|pad| (pad, padded(pad))).collect();
    let mends = pads.iter().filter(|(_, passes)| *passes == 1).min();
    let whole = |edit: &str| format!("`#[shared({dynamic}{edit})]` on `{name}`: then all its accesses take 1 pass");
    match (mends, swizzled == Some(1)) {
        (Some((pad, _)), true) => {
            format!("{}; or `#[shared({dynamic}swizzle)]`, which needs no extra memory", whole(&format!("pad = {pad}")))
        }
        (Some((pad, _)), false) => whole(&format!("pad = {pad}")),
        (None, true) => whole("swizzle"),
        (None, false) => {
            let best = pads.iter().map(|(pad, passes)| (*passes, format!("pad = {pad}")));
            let best = best.chain(swizzled.map(|passes| (passes, "swizzle".to_owned()))).min();
            match best.filter(|(passes, _)| *passes < before) {
                Some((passes, edit)) => format!("`#[shared({dynamic}{edit})]` on `{name}` leaves {passes} passes at most"),
                // Rows of fewer threads than a warp has lanes meet in some banks or other.
                None if kernel.options.block.is_some_and(|[x, ..]| x < WARP) => {
                    format!(
                        "make the block's rows {WARP} threads wide, `block = ({WARP}, 8)`: then a warp uses one row of `{name}` at a time"
                    )
                }
                None => format!("let neighbouring lanes use elements of `{name}` an odd number of words apart"),
            }
        }
    }
}

/// Whether tensor copies move tiles of an array, or it is swizzled over bytes already: then it has no room behind its rows.
fn holds_tiles(legal: &Legal, array: Object) -> bool {
    let is_moved = |form: &Legal| {
        form.insts_in(form.body).any(|inst| {
            let Op::Engine(Engine::CopyTile { to: tile, .. } | Engine::StoreTile { from: tile, .. }) = &form.insts[inst].op else {
                return false;
            };
            tile.object == array
        })
    };
    legal.swizzled.contains_key(&array) || legal.forms().any(is_moved)
}

/// The edit that frees an array of tiles of conflicts, tried out.
fn mend_tile(kernel: &Kernel, array: Object) -> String {
    let (data, before) = (&kernel.objects[array], passes(kernel, array));
    let name = &data.name;
    let fits = |bytes: u64| {
        let (rows, columns, element) = data.ty.tile()?;
        let (row, element) = (columns * u64::from(element.bytes()), u64::from(element.bytes()));
        let is_whole = row.is_multiple_of(bytes) && (rows * row).is_multiple_of(bytes * SWIZZLE_ROWS);
        (is_whole && widest(kernel, array) * element <= VECTOR_BYTES as u64).then_some(())
    };
    let tried = [128, 64, 32].into_iter().filter(|bytes| !kernel.swizzled.contains_key(&array) && fits(*bytes).is_some());
    let tried = tried.filter_map(|bytes| {
        let mut kernel = kernel.clone();
        swizzle(&mut kernel, array, Swizzle::over(bytes as u32)?);
        Some((passes(&kernel, array), bytes))
    });
    match tried.min_by_key(|(passes, _)| *passes).filter(|(passes, _)| *passes < before) {
        Some((1, bytes)) => {
            format!("`#[shared(swizzle = {bytes})]` on `{name}`, which tensor copies do by themselves: then all its accesses take 1 pass")
        }
        Some((passes, bytes)) => {
            format!("`#[shared(swizzle = {bytes})]` on `{name}`, which tensor copies do by themselves, leaves {passes} passes at most")
        }
        None => format!("let neighbouring lanes use neighbouring elements of a row of `{name}`"),
    }
}

/// Room behind a row with which the rows of the block's threads that one warp has, fewer than 32 wide, lie beside each other in the banks; at
/// most a row's own size.
fn beside(kernel: &Kernel, ty: &MemoryType, columns: u64) -> Option<u64> {
    let width = kernel.options.block.map(|[x, ..]| u64::from(x)).filter(|x| *x < u64::from(WARP))?;
    let mut element = ty;
    while let MemoryType::Array(inner, _) | MemoryType::Padded(inner, ..) | MemoryType::Slice(inner) = element {
        element = inner;
    }
    let is_word = element.size(&kernel.structs) == 4;
    let pad = (width + u64::from(WARP) - columns % u64::from(WARP)) % u64::from(WARP);
    (is_word && pad > 0 && pad < columns).then_some(pad)
}

/// Most passes of any access to an array.
fn passes(kernel: &Kernel, array: Object) -> u32 {
    let facts = access::analyse(kernel).accesses;
    let degrees = facts
        .iter()
        .filter(|fact| fact.object == array)
        .filter_map(|fact| if let Pattern::Shared { degree, .. } = fact.pattern { Some(degree.most) } else { None });
    degrees.max().unwrap_or(1)
}

/// Whether `swizzle` is allowed on an array, and not there already: rows of a power of two scalars, accessed one by one.
fn can_swizzle(kernel: &Kernel, array: Object, columns: u64) -> bool {
    let mut is_swizzled = false;
    kernel.for_each_inst(|kernel, _, inst| {
        if let Op::Memory(Memory { at: Address::Path(access), .. }) = &kernel.insts[inst].op
            && access.object == array
            && let Some(Step::Index(column)) = access.path.last()
        {
            is_swizzled |= matches!(kernel.def(*column), Some((_, Op::Compute(Compute::Binary(BinaryOp::Xor, ..)))));
        }
    });
    columns.is_power_of_two() && !is_swizzled && widest(kernel, array) == 1
}

/// Scalars of the widest access to an array.
fn widest(kernel: &Kernel, array: Object) -> u64 {
    let mut widest = 1;
    kernel.for_each_inst(|kernel, _, inst| {
        let data = &kernel.insts[inst];
        if data.op.object() == Some(array) {
            let scalars = match &data.op {
                Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(_) }) => data.results.len(),
                Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(_) }) => values.len(),
                _ => 1,
            };
            widest = widest.max(scalars as u64);
        }
    });
    widest
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::found;

    /// A tile that tensor copies bring is read along its columns.
    fn columns_of_tiles(shared: &str, by: &str) -> Vec<(String, String)> {
        found(
            "bank_conflict",
            &format!(
                "#[kernel(block = 64, targets = [sm_90])] fn k(x: &Matrix<f32>, y: &mut Global<f32>) {{
                    #[shared{shared}] let mut tile: [[f32; 32]; 64];
                    let t = thread_idx().x;
                    let mut sum = 0.0;
                    #[pipeline(stages = 3{by})] for k in 0..x.columns() / 32 {{
                        load_tile(&mut tile, x, block_idx().x * 64, k * 32);
                        sync_threads();
                        #[unroll] for i in 0..8 {{
                            let v = tile[t].load::<4>(i * 4);
                            #[unroll] for j in 0..4 {{ sum += v[j]; }}
                        }}
                        sync_threads();
                    }}
                    y[global_id().x] = sum;
                }}"
            ),
        )
    }

    #[test]
    fn tiles_of_tensor_copies_are_swizzled_over_bytes() {
        let says = columns_of_tiles("", ", by = tma");
        let help = "`#[shared(swizzle = 128)]` on `tile`, which tensor copies do by themselves: then all its accesses take 1 pass";
        assert!(says.len() == 1 && says[0].1 == help, "{says:?}");
        assert_eq!(columns_of_tiles("(swizzle = 128)", ", by = tma"), []);
        // Where threads copy, room behind rows does it, too.
        assert!(columns_of_tiles("", "")[0].1.contains("pad = 4"), "{:?}", columns_of_tiles("", ""));
    }

    fn aat(shared: &str) -> String {
        format!(
            "#[kernel(block = (16, 16))] fn aat(n: usize, a: &Global<f32>, c: &mut Global<f32>) {{
                #[shared] let mut rows: [[f32; 16]; 16];
                #[{shared}] let mut columns: [[f32; 16]; 16];
                let (tx, ty) = (thread_idx().x, thread_idx().y);
                rows[ty][tx] = a[global_id().y * 16 + tx];
                columns[tx][ty] = a[(block_idx().x * 16 + ty) * 16 + tx];
                sync_threads();
                let mut sum = 0.0;
                #[unroll] for k in 0..16 {{ sum += rows[ty][k] * columns[k][tx]; }}
                c[global_id().y * n + global_id().x] = sum;
            }}"
        )
    }

    #[test]
    fn the_unpadded_tile_of_aat_is_found_with_what_mends_it() {
        let says = found("bank_conflict", &aat("shared"));
        let help =
            "`#[shared(pad = 2)]` on `columns`: then all its accesses take 1 pass; or `#[shared(swizzle)]`, which needs no extra memory"
                .to_owned();
        assert_eq!(says.len(), 1, "{says:?}");
        assert!(says[0].0.starts_with("a warp's store to `columns` has bank conflicts, 8-way (7 extra passes): "), "{says:?}");
        assert_eq!(says[0].1, help);
        // What 16 banks needed leaves two passes with 32.
        let says = found("bank_conflict", &aat("shared(pad = 1)"));
        assert!(says.len() == 1 && says[0].0.contains("2-way (1 extra pass)") && says[0].1.starts_with("`#[shared(pad = 2)]`"), "{says:?}");
        assert_eq!(found("bank_conflict", &aat("shared(pad = 2)")), []);
        assert_eq!(found("bank_conflict", &aat("shared(swizzle)")), []);
    }

    #[test]
    fn a_column_of_a_square_tile_is_found_and_so_is_a_stride() {
        let column = "#[kernel(block = (32, 8))] fn k(x: &Global<f32>, y: &mut Global<f32>) { #[shared] let mut t: [[f32; 32]; 32]; let (tx, ty) = (thread_idx().x, thread_idx().y); t[ty][tx] = x[ty * 32 + tx]; sync_threads(); y[ty * 32 + tx] = t[tx][ty]; }";
        let says = found("bank_conflict", column);
        assert_eq!(
            says[0].0,
            "a warp's load of `t` has bank conflicts, 32-way (31 extra passes): neighbouring threads are 128 bytes apart, and the 32 banks repeat every 128"
        );
        assert!(says.len() == 1 && says[0].1.starts_with("`#[shared(pad = 1)]` on `t`"), "{says:?}");
        // The interleaved reduction with its threads packed: from level to level further apart.
        let packed = "#[kernel(block = 256)] fn k(x: &Global<f32>, y: &mut Global<f32>) { #[shared] let mut p: [f32; 256]; let t = thread_idx().x; p[t] = x[global_id().x]; let mut s = 1; while s < 256 { sync_threads(); let at = 2 * s * t; if at < 256 { p[at] += p[at + s]; } s *= 2; } if t == 0 { y[block_idx().x] = p[0]; } }";
        let says = found("bank_conflict", packed);
        assert!(!says.is_empty() && says[0].1.contains("odd number of words"), "{says:?}");
    }

    #[test]
    fn twenty_threads_that_merge_histograms_are_not() {
        let kernel = |rounds: &str| {
            format!(
                "#[kernel(block = 256)] fn k(n: usize, x: &Global<u32>, y: &mut Global<u32>) {{ #[shared] let mut bins: [[u32; 32]; 20]; let t = thread_idx().x; if t < 32 {{ for b in 0..20 {{ bins[b][t] = 0; }} }} sync_threads(); for k in 0..{rounds} {{ let at = x[k * 256 + t] % 20; bins[at as usize].atomic_add(t % 32, 1); }} sync_threads(); if t < 20 {{ let mut s = 0; for k in 0..32 {{ s += bins[t][k]; }} y.atomic_add(t, s); }} }}"
            )
        };
        assert_eq!(found("bank_conflict", &kernel("n")), []);
        assert_eq!(found("bank_conflict", &kernel("1")).len(), 1);
    }

    #[test]
    fn rows_broadcasts_odd_strides_and_wide_elements_are_not() {
        let body = |store: &str, load: &str, ty: &str| {
            format!(
                "#[kernel(block = 128)] fn k(y: &mut Global<{ty}>) {{ #[shared] let mut t: [{ty}; 1024]; let i = thread_idx().x; t[{store}] = 1 as {ty}; sync_threads(); y[i] = t[{load}]; }}"
            )
        };
        for (store, load, ty) in
            [("i", "127 - i", "f32"), ("i", "i / 32", "f32"), ("3 * i", "5 * i", "f32"), ("i", "i + 1", "f64"), ("i", "i", "u8")]
        {
            assert_eq!(found("bank_conflict", &body(store, load, ty)), [], "{store} {load} {ty}");
        }
    }
}
