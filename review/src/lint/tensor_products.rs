//! Products that tensor cores make on every target a kernel is looked at for. Facts are of the form that all machines have, in which threads load the factors and multiply one by one: what that form does at
//! such a place, no target does.

use super::Subject;
use std::collections::HashSet;
use warpwright_codegen::ir::{Inst, Kernel, Loc, Op, Tensor};

/// Where they stand.
pub(super) fn places(subject: &Subject<'_>) -> HashSet<Loc> {
    let legal = &subject.known.legal;
    let of_target = subject.known.targets.iter().map(|on| of(legal.on_device(on.target)));
    of_target.reduce(|all, one| all.intersection(&one).copied().collect()).unwrap_or_default()
}

fn of(kernel: &Kernel) -> HashSet<Loc> {
    let is_product = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Tensor(Tensor::Mma { .. } | Tensor::WarpgroupMma { .. }));
    kernel.insts_in(kernel.body).filter(is_product).map(|inst| kernel.insts[inst].loc).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::found_at;

    /// What a lint finds of products whose factors lie across each other's banks in the form of multiply-adds.
    fn found(lint: &str, target: &str) -> usize {
        let source = format!(
            "#[kernel(block = 256, targets = [{target}])] fn k(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<f32>) {{
                #[shared(swizzle = 128)] let mut left: [[bf16; 64]; 128];
                #[shared(swizzle = 128)] let mut right: [[bf16; 64]; 256];
                let mut sums = Accumulator::<f32, 128, 256>::zero();
                for step in 0..a.columns() / 64 {{
                    load_tile(&mut left, a, block_idx().y * 128, step * 64);
                    load_tile(&mut right, b, block_idx().x * 256, step * 64);
                    sync_threads();
                    multiply_add(&left, transposed(&right), &mut sums);
                    sync_threads();
                }}
                for e in 0..sums.len() {{
                    let (row, column) = sums.position(e);
                    c[(block_idx().y * 128 + row, block_idx().x * 256 + column)] = sums[e];
                }}
            }}"
        );
        found_at(lint, &source).len()
    }

    #[test]
    fn what_no_target_does_is_not_said() {
        assert_eq!((found("bank_conflict", "sm_90"), found("bank_conflict", "sm_80")), (0, 0));
        assert!(found("bank_conflict", "sm_70") > 0, "threads multiply there");
        assert_eq!(found("shared_traffic", "sm_90"), 0);
    }
}
