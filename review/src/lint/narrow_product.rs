//! `narrow_product`: products of a warpgroup have so few columns that shared memory bounds them.
//!
//! `wgmma` reads both factors from shared memory: of 64 rows and N columns, (64 + N) · K · 2 bytes for 64 · N · K multiply-adds of 16-bit factors. Where the tensor cores do 2048 of these in a clock, that is
//! 64 · (64 + N) / N bytes a clock, of the 128 that a multiprocessor's shared memory gives: 128 for 64 columns, which leaves nothing for copies and stores, and more for fewer.
//!
//! **Left alone**: 128 columns and more; products that go warp by warp, whose factors are in registers.

use super::{Finding, Lint, Subject, on};
use std::collections::BTreeMap;
use warpwright_codegen::intrinsics::has_warpgroup_products;
use warpwright_codegen::ir::{Kernel, Loc, Op, Tensor, WarpgroupFactor};
use warpwright_codegen::target::Target;

pub(super) const LINT: Lint = Lint {
    name: "narrow_product",
    summary: "products of a warpgroup have so few columns that shared memory bounds them",
    of_machine: true,
    page: include_str!("narrow_product.md"),
    check,
};

/// Columns from which on there is room beside what products read.
const WIDE: u64 = 128;

/// Rows of one instruction.
const ROWS: u64 = 64;

/// Bytes of shared memory in a clock.
const SHARED: u64 = 128;

/// Bytes that an instruction of so many columns reads in a clock of its own.
fn bytes_a_clock(columns: u64) -> u64 {
    ROWS * (ROWS + columns) / columns.max(1)
}

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let legal = &subject.known.legal;
    let has_products = |target: &&'static Target| has_warpgroup_products(target);
    let Some(target) = subject.known.targets.iter().map(|on| on.target).find(has_products) else { return };
    let kernel: &Kernel = legal.on_device(target);
    let mut narrow: BTreeMap<Loc, u64> = BTreeMap::new();
    kernel.for_each_inst(|kernel, _, inst| {
        let data = &kernel.insts[inst];
        // Of a left factor in registers only the other one is read there: half of what there is.
        if let Op::Tensor(Tensor::WarpgroupMma { mnk: [_, columns, _], a: WarpgroupFactor::Tile { .. }, .. }) = &data.op
            && *columns < WIDE
        {
            narrow.insert(data.loc, *columns);
        }
    });
    for (loc, columns) in narrow {
        findings.push(Finding {
            span: subject.span(loc),
            message: format!(
                "products of {columns} columns read {} bytes of shared memory in each clock that the tensor cores take for them, and there are {SHARED} {}",
                bytes_a_clock(columns),
                on([target])
            ),
            labels: Vec::new(),
            help: format!(
                "give the second factor more columns: {WIDE} read {} bytes, 256 read {}",
                bytes_a_clock(WIDE),
                bytes_a_clock(2 * WIDE)
            ),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::found_at;

    fn product(columns: u32, swizzle: &str) -> Vec<(String, String, String)> {
        found_at(
            "narrow_product",
            &format!(
                "#[kernel(block = 128, targets = [sm_90])] fn k(a: &Matrix<f16>, b: &Matrix<f16>, c: &mut Matrix<f32>) {{
                    #[shared{swizzle}] let mut left: [[f16; 64]; 64];
                    #[shared{swizzle}] let mut right: [[f16; 64]; {columns}];
                    load_tile(&mut left, a, block_idx().y * 64, 0);
                    load_tile(&mut right, b, block_idx().x * {columns}, 0);
                    sync_threads();
                    let mut sums = Accumulator::<f32, 64, {columns}>::zero();
                    multiply_add(&left, transposed(&right), &mut sums);
                    for e in 0..sums.len() {{
                        let (row, column) = sums.position(e);
                        c[(block_idx().y * 64 + row, block_idx().x * {columns} + column)] = sums[e];
                    }}
                }}"
            ),
        )
    }

    #[test]
    fn few_columns_are_found_with_what_they_read() {
        let (at, message, help) = product(64, "(swizzle = 128)").remove(0);
        assert_eq!(at, "multiply_add(&left, transposed(&right), &mut sums)");
        assert_eq!(
            message,
            "products of 64 columns read 128 bytes of shared memory in each clock that the tensor cores take for them, and there are 128 on sm_90"
        );
        assert_eq!(help, "give the second factor more columns: 128 read 96 bytes, 256 read 80");
        assert!(product(32, "(swizzle = 128)")[0].1.contains("of 32 columns read 192 bytes"));
    }

    /// Sums as the left factor are in registers.
    #[test]
    fn products_of_sums_are_left_alone() {
        let source = "#[kernel(block = 128, targets = [sm_90])] fn k(a: &Matrix<f16>, b: &Matrix<f16>, c: &mut Matrix<f32>) {
            #[shared(swizzle = 128)] let mut left: [[f16; 64]; 64];
            #[shared(swizzle = 128)] let mut right: [[f16; 64]; 128];
            load_tile(&mut left, a, 0, 0);
            load_tile(&mut right, b, 0, 0);
            sync_threads();
            let mut sums = Accumulator::<f32, 64, 128>::zero();
            multiply_add(&left, transposed(&right), &mut sums);
            let mut more = Accumulator::<f32, 64, 64>::zero();
            multiply_add(sums.operand::<f16>(), &right, &mut more);
            for e in 0..more.len() { c[more.position(e)] = more[e]; }
        }";
        assert_eq!(found_at("narrow_product", source), []);
    }

    #[test]
    fn wide_products_and_those_of_warps_are_left_alone() {
        assert_eq!(product(128, "(swizzle = 128)"), []);
        assert_eq!(product(64, ""), []);
    }
}
