//! One name for every value and memory object: the source's where it has one, told apart by numbers.

use crate::ir::{Kernel, Object, Value};
use std::collections::HashMap;

pub(super) struct Names {
    values: Vec<String>,
    objects: Vec<String>,
}

impl Names {
    pub(super) fn new(kernel: &Kernel) -> Names {
        let mut taken: HashMap<String, u32> = HashMap::new();
        let mut unique = |hint: &str| {
            let count = taken.entry(hint.to_owned()).or_default();
            *count += 1;
            if *count == 1 { hint.to_owned() } else { format!("{hint}_{count}") }
        };
        let objects = kernel.objects.values().map(|data| unique(&data.name)).collect();
        let values = kernel.values.values().map(|data| unique(data.name.as_deref().unwrap_or("t"))).collect();
        Names { values, objects }
    }

    pub(super) fn value(&self, value: Value) -> &str {
        &self.values[value.0 as usize]
    }

    pub(super) fn object(&self, object: Object) -> &str {
        &self.objects[object.0 as usize]
    }
}
