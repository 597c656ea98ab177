//! Parameters of kernels of threads: values, buffers, constants; some of them fields of a group.

use super::atomics::{EACH, KINDS};
use super::kernel::{Parameter, Passed};
use super::names::PARAMETERS;
use super::scope::{Generator, Input};
use super::threads::WORDS;
use super::types::Scalar;

/// The seed of what is a field of the kernel's group, though most like it are none.
const OF_GROUP: u64 = 1001;

impl Generator<'_> {
    /// Parameters, and what of them may be named.
    pub(super) fn parameters(&mut self, threads: usize) -> Vec<Parameter> {
        let in_group = self.random.chance(15);
        if in_group {
            self.hit("parameter.group");
        }
        // `g` is the group.
        let mut names: Vec<&str> = PARAMETERS.iter().copied().filter(|name| *name != "g").collect();
        self.reserved.insert("g".to_owned());
        let mut name = |g: &mut Self| {
            let at = g.random.below(names.len());
            let name = names.remove(at).to_owned();
            g.reserved.insert(name.clone());
            name
        };
        let mut all = Vec::new();
        let mut parameter = |name: String, scalar, each, passed: Passed, seed| {
            // Every kind of parameter that a group holds; of what is written, the typed buffer.
            let in_group = in_group && (matches!(passed, Passed::Global { is_written: false, .. }) || seed == OF_GROUP);
            all.push(Parameter { each, in_group, ..Parameter::new(name, scalar, passed, seed) });
        };
        for at in 0..1 + self.random.below(3) {
            self.hit("parameter.value");
            let scalar = if at == 0 { Scalar::U32 } else { self.random.pick(&Scalar::ELEMENTS) };
            let bits = match self.random.below(3) {
                0 => self.random.below(10) as u64,
                1 => self.random.next(),
                _ => super::contents::contents(self.random.below(1000) as u64, scalar.name(), 1)
                    .iter()
                    .rev()
                    .fold(0, |bits, byte| bits << 8 | u64::from(*byte)),
            };
            let name = name(self);
            let is_field = in_group && self.random.chance(40);
            if is_field {
                self.hit("group.value");
            }
            self.uniform.push((if is_field { format!("g.{name}") } else { name.clone() }, scalar));
            parameter(name, scalar, 1, Passed::Value(bits), if is_field { OF_GROUP } else { 0 });
        }
        for _ in 0..1 + self.random.below(2) {
            self.hit("parameter.global");
            let scalar = self.random.pick(&Scalar::ELEMENTS);
            let is_pairs = self.random.chance(15);
            let len = self.random.pick(&[64usize, 16, 256, 32]);
            let name = name(self);
            let said = if in_group { format!("g.{name}") } else { name.clone() };
            self.inputs.push(Input { name: said, scalar, len, is_pairs, is_global: true });
            let each = if is_pairs { 2 } else { 1 };
            let passed = Passed::Global { len: len * each, is_written: false, is_zero: false };
            parameter(name, scalar, each, passed, self.random.below(1000) as u64);
        }
        if self.random.chance(20) {
            self.hit("parameter.constant");
            let scalar = self.random.pick(&Scalar::ELEMENTS);
            let name = name(self);
            let is_field = in_group && self.random.chance(50);
            if is_field {
                self.hit("group.constant");
            }
            let said = if is_field { format!("g.{name}") } else { name.clone() };
            self.inputs.push(Input { name: said, scalar, len: 16, is_pairs: false, is_global: false });
            let seed = if is_field { OF_GROUP } else { self.random.below(1000) as u64 };
            parameter(name, scalar, 1, Passed::Constant(16), seed);
        }
        let words = name(self);
        parameter(words, Scalar::U64, 1, Passed::Global { len: threads * WORDS, is_written: true, is_zero: false }, 7);
        let typed = name(self);
        let scalar = self.random.pick(&Scalar::ELEMENTS);
        let is_field = in_group && self.random.chance(50);
        if is_field {
            self.hit("group.written");
        }
        let seed = if is_field { OF_GROUP } else { 8 };
        parameter(typed, scalar, 1, Passed::Global { len: threads, is_written: true, is_zero: false }, seed);
        if self.random.chance(40) {
            self.hit("parameter.sums");
            let sums = name(self);
            let scalar = self.random.pick(&[Scalar::U32, Scalar::I32, Scalar::U64, Scalar::I64, Scalar::F32, Scalar::F64]);
            self.sums = Some((sums.clone(), scalar));
            parameter(sums, scalar, 1, Passed::Global { len: EACH * KINDS, is_written: true, is_zero: true }, 0);
        }
        all
    }
}
