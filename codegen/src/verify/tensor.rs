//! Products: factors that fit each other, sums that are shared out evenly, operands of tensor cores.

use super::Verifier;
use crate::collections::HashSet;
use crate::ir::{
    LeftFactor, MmaShape, Object, ObjectKind, Op, PRODUCTS, ProductFactor, Region, Stage, Tensor, Terminator, Type, Value, WARPGROUP,
    WARPGROUP_ROWS, WarpgroupFactor, WarpgroupShape,
};

impl Verifier<'_> {
    pub(super) fn check_tensor(&mut self, tensor: &Tensor, results: &[Value]) {
        let kernel = self.kernel;
        let index = kernel.index_type();
        match tensor {
            Tensor::MultiplyAdd { a, b, sums } => {
                self.require(kernel.stage == Stage::Built, || "a product after it was shared out".to_owned());
                if let LeftFactor::Sums { shape: [m, k], values, .. } = a {
                    let sum = sums.first().map(|sum| kernel.ty(*sum));
                    self.require(self.types(values).iter().all(|ty| Some(*ty) == sum), || "sums of several types".to_owned());
                    self.check_share(m * k, values.len() as u64);
                }
                for factor in a.tile().into_iter().chain([b]) {
                    let object = factor.array.object;
                    self.require(kernel.objects[object].kind == ObjectKind::Shared, || format!("{object} is no shared array"));
                    for value in factor.array.indices() {
                        let ty = kernel.ty(value);
                        self.require(ty == Type::U32 || ty == index, || format!("index {value} is `{ty}`"));
                    }
                }
                let types = self.types(sums);
                self.check_results(results, &types);
                let (Some((m, k, of_a)), Some((rows, n, of_b))) = (a.shape(kernel), b.shape(kernel)) else {
                    return self.complain("a factor is no array of rows of scalars");
                };
                self.require(k == rows, || format!("{m} x {k} by {rows} x {n}"));
                let is_one = types.windows(2).all(|pair| pair[0] == pair[1]);
                let is_known = types.first().is_some_and(|sum| of_a == of_b && PRODUCTS.contains(&(of_a, *sum)));
                self.require(is_one && is_known, || format!("there is no product of `{of_a}` and `{of_b}` into such sums"));
                self.check_share(m * n, sums.len() as u64);
            }
            Tensor::Store { shape: [m, n], to, from, sums, .. } => {
                self.require(kernel.stage == Stage::Built, || "sums after they were shared out".to_owned());
                let to_shared = ProductFactor { array: to.clone(), is_transposed: false };
                self.require(kernel.objects[to.object].kind == ObjectKind::Shared, || format!("{} is no shared array", to.object));
                match to_shared.shape(kernel) {
                    Some((rows, columns, ty)) => {
                        for value in sums {
                            self.check_type(*value, ty, "a sum");
                        }
                        // The rows of all, or those of the thread's warpgroup.
                        let threads = kernel.options.block.map_or(1, |block| block.iter().map(|side| u64::from(*side)).product::<u64>());
                        let groups = (threads / WARPGROUP).max(1);
                        let fits = (rows == *m || rows * groups == *m) && if from.is_some() { columns <= *n } else { columns == *n };
                        self.require(fits, || format!("{m} x {n} sums go to {rows} x {columns}"));
                        self.check_share(m * n, sums.len() as u64);
                    }
                    None => self.complain("sums go to no array of rows of scalars"),
                }
                self.check_results(results, &[]);
            }
            Tensor::Position { shape: [_, _], element, .. } => {
                self.require(kernel.stage == Stage::Built, || "a position after sums were shared out".to_owned());
                self.check_type(*element, index, "an element");
                self.check_results(results, &[index; 2]);
            }
            Tensor::WarpgroupMma { mnk: [m, n, k], a, b, factors, sums, .. } => {
                for factor in a.tile().into_iter().chain([b]) {
                    let object = factor.array.object;
                    let is_swizzled = kernel.swizzled.get(&object).is_some_and(|swizzle| swizzle.bytes().is_some());
                    self.require(kernel.objects[object].kind == ObjectKind::Shared && is_swizzled, || {
                        format!("{object} is not swizzled over bytes")
                    });
                }
                match a {
                    WarpgroupFactor::Tile { row, .. } => {
                        self.check_type(*row, Type::U32, "a row");
                    }
                    WarpgroupFactor::Words(words) => {
                        for word in words {
                            self.check_type(*word, Type::U32, "a word");
                        }
                        let is_whole = factors.bytes() == 2 && words.len() as u64 * 2 * WARPGROUP == m * k;
                        self.require(is_whole, || format!("{m} x {k} elements of `{factors}` in {} words", words.len()));
                    }
                }
                let types = self.types(sums);
                let shape = types.first().and_then(|sum| WarpgroupShape::of(*factors, *sum));
                let Some(shape) = shape else { return self.complain(format!("`wgmma` has no products of `{factors}` into such sums")) };
                let is_shape = m.is_multiple_of(WARPGROUP_ROWS) && n.is_multiple_of(8) && (8..=256).contains(n);
                let is_whole = is_shape && k.is_multiple_of(shape.steps()) && sums.len() as u64 * WARPGROUP == m * n;
                self.require(is_whole, || format!("{m} x {n} x {k} with {} sums", sums.len()));
                let across = a.tile().is_some_and(|a| a.is_transposed) || !b.is_transposed;
                self.require(!shape.is_along || !across, || format!("rows of `{factors}` that go across the sum"));
                self.check_results(results, &types);
            }
            Tensor::Await { sums } => {
                let types = self.types(sums);
                self.check_results(results, &types);
            }
            Tensor::Mma { shape, a, b, c } => self.check_mma(shape, [a, b, c], results),
        }
    }

    /// V6: the sums of a product that is left running go to the next product, round a loop, or to who awaits them, and nowhere else.
    pub(super) fn check_running_products(&mut self) {
        let kernel = self.kernel;
        let mut running: HashSet<Value> = HashSet::default();
        let mut found = Vec::new();
        kernel.for_each_inst(|kernel, _, inst| {
            if let Op::Tensor(Tensor::WarpgroupMma { running: 1.., .. }) = &kernel.insts[inst].op {
                running.extend(kernel.insts[inst].results.iter().copied());
            }
        });
        if running.is_empty() {
            return;
        }
        // What a loop hands on is running, too: from its end to its begin, and behind it.
        kernel.for_each_inst(|kernel, _, inst| {
            let Op::Region(Region::For { body, .. }) = kernel.insts[inst].op else { return };
            let (yielded, carried) = (kernel.yielded(body).unwrap_or_default(), kernel.carried(inst));
            let of_loop: Vec<Value> = (0..yielded.len())
                .filter(|n| running.contains(&yielded[*n]))
                .flat_map(|n| carried.get(n).copied().into_iter().chain(kernel.insts[inst].results.get(n).copied()))
                .collect();
            running.extend(of_loop);
        });
        kernel.for_each_inst(|kernel, _, inst| {
            let op = &kernel.insts[inst].op;
            if matches!(op, Op::Tensor(Tensor::WarpgroupMma { .. } | Tensor::Await { .. }) | Op::Terminator(Terminator::Yield(_))) {
                return;
            }
            found.extend(op.operands().into_iter().filter(|value| running.contains(value)).map(|value| (inst, value)));
        });
        for (inst, value) in found {
            self.inst = Some(inst);
            self.complain(format!("{value} is a sum of a product that may still run"));
        }
    }

    /// As many sums for each thread.
    fn check_share(&mut self, all: u64, own: u64) {
        let threads = self.kernel.options.block.map(|block| block.iter().map(|side| u64::from(*side)).product::<u64>());
        self.require(threads.is_some_and(|threads| own * threads == all), || format!("{own} of {all} sums"));
    }

    fn check_mma(&mut self, shape: &MmaShape, operands: [&Vec<Value>; 3], results: &[Value]) {
        let found = operands.map(Vec::len);
        self.require(found == shape.words(), || format!("{:?} operands expected, found {found:?}", shape.words()));
        for (values, ty) in operands.into_iter().zip([shape.word(), shape.word(), shape.sums]) {
            for value in values {
                self.check_type(*value, ty, "an operand");
            }
        }
        self.check_results(results, &vec![shape.sums; shape.words()[2]]);
    }

    pub(super) fn check_load_matrix(&mut self, object: Object, is_transposed: bool, scalars: &[Type], results: &[Value]) {
        self.require(self.kernel.objects[object].kind == ObjectKind::Shared, || format!("{object} is no shared array"));
        self.require(matches!(results.len(), 1 | 2 | 4), || format!("{} matrices at once", results.len()));
        let fits = scalars.first().is_none_or(|ty| !is_transposed || ty.bytes() == 2);
        self.require(fits, || "elements that are not of 16 bits, transposed".to_owned());
        self.check_results(results, &vec![Type::U32; results.len()]);
    }

    pub(super) fn check_store_matrix(&mut self, object: Object, scalars: &[Type], words: &[Value]) {
        self.require(self.kernel.objects[object].kind == ObjectKind::Shared, || format!("{object} is no shared array"));
        self.require(words.len() == 4, || format!("{} matrices at once", words.len()));
        let fits = scalars.first().is_none_or(|ty| ty.bytes() == 2);
        self.require(fits, || "matrices of elements that are not of 16 bits".to_owned());
        for word in words {
            self.check_type(*word, Type::U32, "a word of a matrix");
        }
    }
}
