//! `undone_by_assembler`: an annotation's order of loads holds in PTX and not in the machine code. Found where there is an assembler and a disassembler: by
//! `warpwright check`, whose figures [`finding`] takes. Nothing is estimated here.

use super::Lint;
use proc_macro2::Span;
use warpwright_codegen::diagnostic::Diagnostic;
use warpwright_codegen::ir::KernelOptions;

pub(super) const LINT: Lint = Lint {
    name: "undone_by_assembler",
    summary: "an assembler issues loads later than an annotation says",
    of_machine: true,
    page: include_str!("undone_by_assembler.md"),
    check: |_, _| {},
};

/// What an assembler made of an annotation's loads: figures *measured* in its machine code.
#[derive(Clone, Copy, Debug)]
pub struct Undone<'f> {
    /// The annotation's name.
    pub annotation: &'f str,
    /// The assembler and the target: `ptxas 12.9 for sm_90`.
    pub by: &'f str,
    /// What it promises and what was found: `6 of 8 loads are issued before the first use of one of them`.
    pub figures: &'f str,
}

/// The finding, at the annotation.
pub fn finding(undone: Undone<'_>, options: &KernelOptions, span: Span) -> Diagnostic {
    let Undone { annotation, by, figures } = undone;
    let message = format!("`{annotation}` does not survive {by}: {figures}");
    let help = match (options.max_registers, options.min_blocks) {
        (Some(registers), _) => format!("write more than `max_registers = {registers}`, leave it out, or move fewer loads"),
        (None, Some(blocks)) => format!("write less than `min_blocks = {blocks}`, leave it out, or move fewer loads"),
        (None, None) => "give it registers with `max_registers = …`, or use what is loaded nearer to the loads".to_owned(),
    };
    Diagnostic::warning(span, message).help(help).of_lint(LINT.name)
}
