//! `operand_conflict`: the rows of a tile that `ldmatrix` reads together lie in the same banks.
//!
//! `ldmatrix`, which gets the factors of `mma.sync`, reads eight rows of 16 bytes at a time: one pass of shared memory, if they lie in different groups of banks. Rows follow each other at the row's
//! length. Where that is a multiple of 128 bytes, all eight begin in the same banks, and it takes eight passes. Room behind each row moves them apart, and so does a swizzle over bytes.
//!
//! `bank_conflict` looks at the form that all devices have, in which threads read elements; this one at the form for tensor cores.
//!
//! **Left alone**: tiles that are swizzled over bytes; targets whose warpgroups multiply, where `half_tensor_rate` asks for the swizzle.

use super::{Finding, Lint, Subject, on};
use std::collections::BTreeMap;
use warpwright_codegen::intrinsics::has_warpgroup_products;
use warpwright_codegen::ir::{Kernel, Loc, Memory, MemoryOp, MemoryType, Object, Op};
use warpwright_codegen::target::Target;

pub(super) const LINT: Lint = Lint {
    name: "operand_conflict",
    summary: "rows of a tile that tensor cores get together lie in the same banks",
    of_machine: true,
    page: include_str!("operand_conflict.md"),
    check,
};

/// Rows that are read together, and bytes of each.
const ROWS: u64 = 8;
const CHUNK: u64 = 16;

/// Bytes after which banks repeat.
const BANKS: u64 = 128;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let legal = &subject.known.legal;
    let targets = subject.known.targets.iter().map(|on| on.target).filter(|target| !has_warpgroup_products(target));
    let mut found: BTreeMap<Object, (Loc, u64, Vec<&'static Target>)> = BTreeMap::new();
    for target in targets {
        for (array, (loc, passes)) in conflicts(legal.on_device(target)) {
            found.entry(array).or_insert((loc, passes, Vec::new())).2.push(target);
        }
    }
    for (array, (loc, passes, targets)) in found {
        let data = &legal.objects[array];
        let (name, bytes) = (&data.name, row(&data.ty).map_or(0, |row| row.size(&legal.structs)));
        findings.push(Finding {
            span: subject.span(loc),
            message: format!(
                "`ldmatrix` reads {ROWS} rows of `{name}` at a time, {bytes} bytes apart, in {passes} passes instead of one: the banks repeat every {BANKS} bytes {}",
                on(targets.iter().copied())
            ),
            labels: vec![(subject.span(data.loc), format!("`{name}` is declared here"))],
            help: format!("write `#[shared(swizzle = 128)]` on `{name}`, or `pad` with the elements of {CHUNK} bytes, `#[shared(pad = 8)]` for 16-bit ones"),
        });
    }
}

/// Arrays that `ldmatrix` reads with conflicts: where first, and in how many passes.
fn conflicts(kernel: &Kernel) -> BTreeMap<Object, (Loc, u64)> {
    let mut found = BTreeMap::new();
    kernel.for_each_inst(|kernel, _, inst| {
        let Op::Memory(Memory { op: MemoryOp::LoadMatrix { .. }, at }) = &kernel.insts[inst].op else { return };
        let array = at.object();
        if kernel.swizzled.contains_key(&array) {
            return;
        }
        let Some(stride) = row(&kernel.objects[array].ty).map(|row| row.size(&kernel.structs)) else { return };
        let mut groups: Vec<u64> = (0..ROWS).map(|n| n * stride % BANKS / CHUNK).collect();
        groups.sort_unstable();
        let passes = groups.chunk_by(|a, b| a == b).map(|same| same.len() as u64).max().unwrap_or(1);
        if passes > 1 {
            found.entry(array).or_insert((kernel.insts[inst].loc, passes));
        }
    });
    found
}

/// A row of an array of tiles, with the room behind it.
fn row(ty: &MemoryType) -> Option<&MemoryType> {
    let (MemoryType::Array(element, _) | MemoryType::Slice(element)) = ty else { return None };
    match &**element {
        MemoryType::Array(scalar, _) | MemoryType::Padded(scalar, ..) if matches!(**scalar, MemoryType::Scalar(_)) => Some(element),
        _ => row(element),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::found_at;

    fn product(shared: &str, target: &str) -> Vec<(String, String, String)> {
        found_at(
            "operand_conflict",
            &format!(
                "#[kernel(block = 128, targets = [{target}])] fn k(a: &Matrix<f16>, b: &Matrix<f16>, c: &mut Matrix<f32>) {{
                    #[shared{shared}] let mut left: [[f16; 64]; 64];
                    #[shared(pad = 8)] let mut right: [[f16; 64]; 64];
                    load_tile(&mut left, a, block_idx().y * 64, 0);
                    load_tile(&mut right, b, block_idx().x * 64, 0);
                    sync_threads();
                    let mut sums = Accumulator::<f32, 64, 64>::zero();
                    multiply_add(&left, transposed(&right), &mut sums);
                    for e in 0..sums.len() {{
                        let (row, column) = sums.position(e);
                        c[(block_idx().y * 64 + row, block_idx().x * 64 + column)] = sums[e];
                    }}
                }}"
            ),
        )
    }

    #[test]
    fn rows_of_whole_banks_are_found() {
        let found = product("", "sm_80");
        let (at, message, help) = found[0].clone();
        assert_eq!((found.len(), at.as_str()), (1, "multiply_add(&left, transposed(&right), &mut sums)"));
        assert_eq!(
            message,
            "`ldmatrix` reads 8 rows of `left` at a time, 128 bytes apart, in 8 passes instead of one: the banks repeat every 128 bytes on sm_80"
        );
        assert_eq!(
            help,
            "write `#[shared(swizzle = 128)]` on `left`, or `pad` with the elements of 16 bytes, `#[shared(pad = 8)]` for 16-bit ones"
        );
    }

    #[test]
    fn swizzled_and_padded_rows_are_left_alone() {
        assert_eq!(product("(pad = 8)", "sm_80"), []);
        assert_eq!(product("(swizzle = 128)", "sm_80"), []);
        assert!(product("(pad = 32)", "sm_80")[0].1.contains("192 bytes apart, in 4 passes"), "{:?}", product("(pad = 32)", "sm_80"));
        assert_eq!(product("", "sm_90"), []);
    }
}
