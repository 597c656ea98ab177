//! Findings as `rustc` shows them: errors through `compile_error!` at their span, warnings through the use of something deprecated there.
//!
//! Stable Rust gives a macro no other voice: labels and the way out become lines of the message. A warning stands within the kernel's
//! function, so that `#[allow(deprecated)]` on the kernel silences it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use std::collections::HashSet;
use std::fmt::Write;
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics, Level};

/// The errors among the findings as items that make `rustc` report them. Each place and text once: variants find the same things.
pub(crate) fn compile_errors(diagnostics: &Diagnostics) -> TokenStream {
    let mut seen = HashSet::new();
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error);
    errors.filter(|error| seen.insert((place(error.span), error.message.clone()))).map(compile_error).collect()
}

fn compile_error(error: &Diagnostic) -> TokenStream {
    let text = render(error);
    quote_spanned!(error.span=> ::core::compile_error! { #text })
}

/// Statements that make `rustc` warn.
pub(crate) fn warnings<'d>(found: impl IntoIterator<Item = &'d Diagnostic>) -> TokenStream {
    found.into_iter().filter(|finding| finding.level == Level::Warning).map(warning).collect()
}

/// `rustc` says "use of deprecated constant `kernel::best_effort`: " before the message.
fn warning(finding: &Diagnostic) -> TokenStream {
    let text = render(finding);
    let deprecated = Ident::new("best_effort", Span::call_site());
    let used = Ident::new("best_effort", finding.span);
    quote! {
        {
            #[deprecated(note = #text)]
            #[allow(non_upper_case_globals)]
            const #deprecated: () = ();
            let _ = #used;
        }
    }
}

/// The message, then a line for each label and one for the help.
fn render(diagnostic: &Diagnostic) -> String {
    let mut text = diagnostic.message.clone();
    for (span, label) in &diagnostic.labels {
        write!(text, "\nline {}: {label}", span.start().line).expect("a String takes all");
    }
    if let Some(help) = &diagnostic.help {
        write!(text, "\nhelp: {help}").expect("a String takes all");
    }
    text
}

fn place(span: Span) -> (usize, usize) {
    let start = span.start();
    (start.line, start.column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_labels_and_help_are_one_text() {
        let tokens: TokenStream = "a\nb".parse().unwrap();
        let spans: Vec<_> = tokens.into_iter().map(|token| token.span()).collect();
        let error = Diagnostic::error(spans[1], "`b` is given twice").label(spans[0], "first given here").help("remove one of them");
        assert_eq!(render(&error), "`b` is given twice\nline 1: first given here\nhelp: remove one of them");
    }

    #[test]
    fn equal_errors_are_reported_once_and_warnings_are_no_errors() {
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(Diagnostic::error(Span::call_site(), "one"));
        diagnostics.push(Diagnostic::error(Span::call_site(), "one"));
        diagnostics.push(Diagnostic::error(Span::call_site(), "two"));
        diagnostics.push(Diagnostic::warning(Span::call_site(), "three"));
        assert_eq!(compile_errors(&diagnostics).to_string().matches("compile_error").count(), 2);
        let warnings = warnings(diagnostics.iter()).to_string();
        assert!(warnings.matches("deprecated").count() == 1 && warnings.contains("three"), "{warnings}");
    }
}
