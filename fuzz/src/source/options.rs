//! Arguments of `#[kernel(…)]` for kernels of threads.

use super::scope::Generator;
use super::threads::Family;

impl Generator<'_> {
    /// Arguments of the attribute: options, annotations, and elements of a thread.
    pub(super) fn options(&mut self, family: Family) -> (Vec<String>, Vec<String>, u32) {
        let (mut options, mut annotations, mut elements) = (vec!["contract = false".to_owned()], Vec::new(), 1);
        if self.random.chance(15) {
            self.hit("option.index");
            options.push("index = 64".to_owned());
        } else if self.random.chance(5) {
            self.hit("option.index_32");
            options.push("index = 32".to_owned());
        }
        if self.random.chance(5) {
            self.hit("option.targets");
            options.push("targets = [sm_70, sm_80, sm_90]".to_owned());
        }
        if self.random.chance(5) && !self.may_approximate {
            self.hit("option.choice");
            options.push("bounds = if 3 > 2 { unchecked } else { trap }".to_owned());
        }
        if self.random.chance(10) && !options.iter().any(|option| option.starts_with("bounds")) {
            self.hit("option.bounds");
            options.push("bounds = trap".to_owned());
        }
        if self.random.chance(10) {
            self.hit("option.raster");
            annotations.push("raster(rows = 2)".to_owned());
        }
        if self.random.chance(10) && family != Family::Elements {
            self.hit("option.persistent");
            annotations.push("persistent".to_owned());
        }
        if self.random.chance(10) {
            self.hit("option.overlap");
            annotations.push("overlap".to_owned());
        }
        if self.random.chance(10) {
            self.hit("option.registers");
            annotations.push(self.random.pick(&["max_registers = 64", "min_blocks = 2"]).to_owned());
        }
        if family == Family::Elements {
            if self.random.chance(60) {
                self.hit("kernel.ilp");
                let n = self.random.pick(&[2, 4]);
                annotations.push(format!("ilp = {n}"));
                elements *= n;
            }
            if self.random.chance(50) {
                self.hit("kernel.vectorize");
                annotations.push("vectorize = 2".to_owned());
                elements *= 2;
            }
            if self.random.chance(40) {
                self.hit("kernel.batch_loads");
                annotations.push("batch_loads".to_owned());
            }
        }
        (options, annotations, elements)
    }
}
