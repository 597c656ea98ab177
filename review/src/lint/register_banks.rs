//! `register_banks`: operands of a loop's products lie in one bank of registers, so that the products wait. Which registers there are is the assembler's choice; found where
//! there is one and a disassembler: by `warpwright check`, whose figures [`finding`] takes. Nothing is estimated here.

use super::Lint;
use proc_macro2::Span;
use warpwright_codegen::diagnostic::Diagnostic;

pub(super) const LINT: Lint = Lint {
    name: "register_banks",
    summary: "an assembler puts operands of products into one bank of registers",
    of_machine: true,
    page: include_str!("register_banks.md"),
    check: |_, _| {},
};

/// Waits a product from which on it is worth a word. A tile of 8 × 8 has 0.1 to 0.25.
const MOST: f64 = 0.35;

/// What an assembler made of a loop's products: figures *measured* in its machine code.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<'f> {
    /// The assembler and the target: `ptxas 12.9 for sm_90`.
    pub by: &'f str,
    /// Products of the loop.
    pub products: u32,
    /// Those that read three registers.
    pub of_three: u32,
    /// Waits of all of them: 1 for two registers of one bank, 2 for three.
    pub waits: u32,
}

/// The finding, at the first product, if products wait more often than is usual.
pub fn finding(waiting: Waiting<'_>, span: Span) -> Option<Diagnostic> {
    let Waiting { by, products, of_three, waits } = waiting;
    let each = f64::from(waits) / f64::from(products.max(1));
    let percent = |part: u32| f64::from(part) * 100.0 / f64::from(products.max(1));
    let message = format!(
        "{products} products of this loop wait {waits} times for a bank of registers in what {by} makes of it, {each:.2} times each, where 0.2 is usual; {:.0} % of them \
         read three registers",
        percent(of_three),
    );
    let help = "let a thread have another tile, such as rows and columns the other way round, or fewer of them; or give the assembler more registers, by a smaller `min_blocks`";
    (each > MOST).then(|| Diagnostic::warning(span, message).help(help).of_lint(LINT.name))
}
