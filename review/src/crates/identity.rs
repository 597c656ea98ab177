//! Whether two programs are the same: their units' texts, in what they are marked, and what their names mean.
//!
//! Where the units stand is left out: what is found in one program is found in the other, at the same [`Spot`](super::Spot)s.

use super::Reached;
use std::fmt::Write;
use warpwright_codegen::syntax::{Extern, UnitId, attributes_of};

impl Reached {
    /// A text that is the same for the same programs only.
    pub fn identity(&self) -> String {
        let mut all = format!("{}\n", self.name());
        for (index, unit) in self.program.units.iter().enumerate() {
            let text = self.text(UnitId(index));
            let mut add = |line: std::fmt::Arguments<'_>| all.write_fmt(line).expect("a String takes all");
            // Its length before it: no text can look like what follows it.
            add(format_args!("unit {}\n{text}\n", text.len()));
            // A module marks functions that have no mark of their own.
            for attribute in unit.items.iter().flat_map(attributes_of) {
                let names = attribute.path().segments.iter().map(|segment| segment.ident.to_string());
                add(format_args!("#{}\n", names.collect::<Vec<_>>().join("::")));
            }
            add(format_args!("{} {:?}\n", unit.is_of_module, unit.host_methods));
            for (key, meaning) in &unit.externs {
                match meaning {
                    Extern::Constant(value) => add(format_args!("{key} = {value:?}\n")),
                    Extern::Item(unit, name) => add(format_args!("{key} = {} {name}\n", unit.0)),
                }
            }
        }
        all
    }
}
