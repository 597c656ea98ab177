//! `half_tensor_rate`: products go warp by warp on a device whose tensor cores do more for warpgroups.
//!
//! On sm_90a `wgmma` multiplies tiles where they lie in shared memory, four warps together; `mma.sync` takes its factors from registers, a warp at a time, and reaches 63 % of what the
//! cores do for warpgroups (hand-written kernels on an H200). The compiler takes warpgroups where it can, and this lint says why it could not: tiles that are not swizzled over
//! bytes, which the instruction's descriptors need, or sums that do not part into 64 rows for each four warps.
//!
//! **Left alone**: targets without warpgroups' products; kernels without tensor cores.

use super::{Finding, Lint, Subject, on};
use std::collections::BTreeSet;
use warpwright_codegen::intrinsics::has_warpgroup_products;
use warpwright_codegen::ir::{Inst, Kernel, Memory, MemoryOp, Op, Tensor, WarpgroupShape};
use warpwright_codegen::target::Target;

pub(super) const LINT: Lint = Lint {
    name: "half_tensor_rate",
    summary: "products go warp by warp where warpgroups have more of the tensor cores",
    of_machine: true,
    page: include_str!("half_tensor_rate.md"),
    check,
};

/// Bytes of a row that is swizzled whole.
const SWIZZLED: u32 = 128;

/// What tensor cores do for single warps, of what they do for warpgroups: per cent.
const SHARE: u32 = 63;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let legal = &subject.known.legal;
    let has_more = |target: &&'static Target| has_warpgroup_products(target);
    let targets: Vec<&'static Target> = subject.known.targets.iter().map(|on| on.target).filter(has_more).collect();
    let Some(target) = targets.first() else { return };
    let kernel: &Kernel = legal.on_device(target);
    let is_product = |inst: &Inst| match &kernel.insts[*inst].op {
        Op::Tensor(Tensor::Mma { shape, .. }) => WarpgroupShape::of(shape.factors, shape.sums).is_some(),
        _ => false,
    };
    let Some(product) = kernel.insts_in(kernel.body).find(is_product) else { return };
    let Op::Tensor(Tensor::Mma { shape, .. }) = &kernel.insts[product].op else { return };
    let of_row = SWIZZLED / shape.factors.bytes();
    let loc = kernel.insts[product].loc;
    let plain = unswizzled(kernel);
    let (why, help) = if plain.is_empty() {
        let why = "the sums do not part into 64 rows for each 128 threads, or have more than 256 columns".to_owned();
        (why, "take tiles of 64 rows for each 128 threads of the block, and up to 256 columns".to_owned())
    } else {
        let names = plain.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
        let (are, them) = if plain.len() == 1 { ("is", "it") } else { ("are", "them") };
        let why = format!("{names} {are} not swizzled over bytes, as the instruction reads tiles");
        (why, format!("write `#[shared(swizzle = 128)]` on {them}, with rows of {of_row} elements"))
    };
    findings.push(Finding {
        span: subject.span(loc),
        message: format!(
            "these products go warp by warp (`mma.sync`), which has {SHARE} % of the rate that the tensor cores have for warpgroups (`wgmma`) {}: {why}",
            on([*target])
        ),
        labels: Vec::new(),
        help,
    });
}

/// Arrays that tensor cores get their factors from, and that are not swizzled over 128 bytes.
fn unswizzled(kernel: &Kernel) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    kernel.for_each_inst(|_, _, inst| {
        let Op::Memory(Memory { op: MemoryOp::LoadMatrix { .. }, at }) = &kernel.insts[inst].op else { return };
        let array = at.object();
        if kernel.swizzled.get(&array).is_none_or(|swizzle| swizzle.bytes() != Some(128)) {
            found.insert(array);
        }
    });
    found.into_iter().map(|array| kernel.objects[array].name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::found_at;

    /// One product of tiles of 64 columns.
    fn product(swizzle: &str, (threads, rows, columns): (u32, u32, u32), more: &str) -> Vec<(String, String, String)> {
        found_at(
            "half_tensor_rate",
            &format!(
                "#[kernel(block = {threads}, targets = [sm_90] {more})] fn k(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<f32>) {{
                    #[shared{swizzle}] let mut left: [[bf16; 64]; {rows}];
                    #[shared{swizzle}] let mut right: [[bf16; 64]; {columns}];
                    load_tile(&mut left, a, block_idx().y * {rows}, 0);
                    load_tile(&mut right, b, block_idx().x * {columns}, 0);
                    sync_threads();
                    let mut sums = Accumulator::<f32, {rows}, {columns}>::zero();
                    multiply_add(&left, transposed(&right), &mut sums);
                    for e in 0..sums.len() {{
                        let (row, column) = sums.position(e);
                        c[(block_idx().y * {rows} + row, block_idx().x * {columns} + column)] = sums[e];
                    }}
                }}"
            ),
        )
    }

    #[test]
    fn tiles_that_are_not_swizzled_are_named() {
        let (at, message, help) = product("", (128, 64, 128), "").remove(0);
        assert_eq!(at, "multiply_add(&left, transposed(&right), &mut sums)");
        assert_eq!(
            message,
            "these products go warp by warp (`mma.sync`), which has 63 % of the rate that the tensor cores have for warpgroups (`wgmma`) on sm_90: `left` and `right` \
             are not swizzled over bytes, as the instruction reads tiles"
        );
        assert_eq!(help, "write `#[shared(swizzle = 128)]` on them, with rows of 64 elements");
    }

    #[test]
    fn sums_that_no_warpgroup_has_are_found() {
        let found = product("(swizzle = 128)", (128, 32, 128), "");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].1.ends_with("the sums do not part into 64 rows for each 128 threads, or have more than 256 columns"), "{found:?}");
    }

    #[test]
    fn products_of_warpgroups_and_of_threads_are_left_alone() {
        assert_eq!(product("(swizzle = 128)", (128, 64, 128), ""), []);
        assert_eq!(product("", (128, 64, 128), ", tensor = false"), []);
    }

    #[test]
    fn the_variant_by_its_own_name_is_the_same() {
        let source = "#[kernel(block = 128, targets = [sm_90a])] fn k(a: &Matrix<f16>, c: &mut Matrix<f32>) {
            #[shared] let mut left: [[f16; 64]; 64];
            load_tile(&mut left, a, 0, 0);
            sync_threads();
            let mut sums = Accumulator::<f32, 64, 64>::zero();
            multiply_add(&left, transposed(&left), &mut sums);
            for e in 0..sums.len() { let (row, column) = sums.position(e); c[(row, column)] = sums[e]; }
        }";
        assert_eq!(found_at("half_tensor_rate", source).len(), 1);
        assert_eq!(found_at("operand_conflict", source), []);
    }
}
