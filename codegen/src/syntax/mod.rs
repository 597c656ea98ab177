//! From tokens to checked syntax: the attributes, the Rust subset, the names a kernel takes from outside.
//!
//! Everything here works on `syn` trees and knows no types. A refusal has a span and a way out, and all of them are collected.

mod absent;
mod annotations;
mod attributes;
mod body;
pub(crate) mod cache;
mod chains;
mod choice;
mod closures;
mod foreign;
mod foreign_syntax;
mod free_paths;
mod item;
mod layout;
mod levels;
mod marks;
mod nesting;
mod operand;
mod place;
mod program;
mod quantity;
mod read;
mod repr;
mod require;
mod rust_rules;
mod scopes;
mod signature;
mod std_functions;
mod subset;
mod vocabulary;
mod written;

pub use absent::{AbsentName, absent_names};
pub use annotations::{SharedAttribute, annotation_arguments, loop_annotations, padding_argument};
pub use attributes::{DeclaredVariants, KernelAttributes, is_named, literal_int};
pub(crate) use attributes::{is_tf32, tensor_branches};
pub(crate) use body::edit_of_expression;
pub(crate) use chains::refused_call;
pub use choice::Choice;
pub use foreign::{Foreign, foreign};
pub use foreign_syntax::foreign_syntax;
pub use free_paths::{FreePath, FreePathKind, free_paths, imported_names_of_language};
pub use item::{attributes_of, visibility_of};
pub use layout::{Layout, layout, written};
pub use levels::{LINT_NAMES, Levels, Setting};
pub use marks::mark_called_in;
pub use nesting::{check_nesting, parse_written};
pub(crate) use operand::unparenthesized;
pub use operand::{cast, operand, receiver};
pub use place::SourcePlace;
pub use program::{ConstValue, Extern, GenericValue, Instance, Program, Unit, UnitId};
pub use quantity::{QUANTITIES, Quantity, QuantityKind, Relation, Sense};
pub use repr::repr_align;
pub use require::RequireClause;
pub use rust_rules::check_rust_rules;
pub use scopes::{Import, MatchesArguments, bindings, imports};
pub use signature::{generic_name, is_group_type, is_marked};
pub use std_functions::{call_edit, macro_edit, std_function};
pub use subset::check_subset;
pub use written::{LoopKeyword, Written, WrittenAnnotations};

#[cfg(test)]
mod tests {
    use crate::diagnostic::{Diagnostic, Diagnostics};

    /// Findings as `text under the span: message; help`.
    pub(super) fn render(diagnostics: &Diagnostics) -> Vec<String> {
        let text = |d: &Diagnostic| match &d.help {
            Some(help) => format!("{}: {}; {help}", d.span.source_text().unwrap_or_default(), d.message),
            None => format!("{}: {}", d.span.source_text().unwrap_or_default(), d.message),
        };
        diagnostics.iter().map(text).collect()
    }
}
