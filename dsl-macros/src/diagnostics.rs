//! Findings as `rustc` shows them: errors through `compile_error!` at their span, warnings through the use of something deprecated there.
//!
//! Stable Rust gives a macro no other voice: labels and the way out become lines of the message. A warning stands within the kernel's
//! function, so that `#[allow(deprecated)]` on the kernel silences it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use std::collections::HashSet;
use std::fmt::Write;
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics, Level};
use warpwright_review::lint;

/// The errors among the findings as items that make `rustc` report them. Each place and text once: variants find the same things.
pub(crate) fn compile_errors(diagnostics: &Diagnostics) -> TokenStream {
    let mut seen = HashSet::new();
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error);
    let notes = notes(diagnostics.iter());
    errors.filter(|error| seen.insert((error.place(), error.message.clone()))).map(|error| compile_error(error, &notes)).collect()
}

fn compile_error(error: &Diagnostic, notes: &Notes<'_>) -> TokenStream {
    let text = render(error, notes);
    // `rustc` marks all from the macro's name to its last bracket.
    let name = quote_spanned!(error.span=> ::core::compile_error);
    let rest = quote_spanned!(error.end.unwrap_or(error.span)=> ! { #text });
    quote!(#name #rest)
}

/// Statements that make `rustc` warn.
pub(crate) fn warnings<'d>(found: impl IntoIterator<Item = &'d Diagnostic> + Clone) -> TokenStream {
    let notes = notes(found.clone());
    found.into_iter().filter(|finding| finding.level == Level::Warning).map(|finding| warning(finding, &notes)).collect()
}

/// `rustc` says "use of deprecated constant `kernel::bank_conflict`: " before the message.
fn warning(finding: &Diagnostic, notes: &Notes<'_>) -> TokenStream {
    let text = render(finding, notes);
    let name = finding.lint.unwrap_or("warning");
    let deprecated = Ident::new(name, Span::call_site());
    let used = Ident::new(name, finding.span);
    quote! {
        {
            #[deprecated(note = #text)]
            #[allow(non_upper_case_globals)]
            const #deprecated: () = ();
            let _ = #used;
        }
    }
}

/// The findings that are the first of their lint, which say what is to be said of it once.
type Notes<'d> = Vec<&'d Diagnostic>;

fn notes<'d>(found: impl IntoIterator<Item = &'d Diagnostic>) -> Notes<'d> {
    let mut seen = HashSet::new();
    found.into_iter().filter(|finding| finding.lint.is_some() && seen.insert((finding.lint, finding.level))).collect()
}

/// The message, then a line for each label, one for the help, and one for the note.
fn render(diagnostic: &Diagnostic, notes: &Notes<'_>) -> String {
    let mut text = diagnostic.message.clone();
    for (span, label) in &diagnostic.labels {
        write!(text, "\nline {}: {label}", span.start().line).expect("a String takes all");
    }
    if let Some(help) = &diagnostic.help {
        write!(text, "\nhelp: {help}").expect("a String takes all");
    }
    if let Some(note) = lint::note(diagnostic).filter(|_| notes.iter().any(|first| std::ptr::eq(*first, diagnostic))) {
        write!(text, "\nnote: {note}").expect("a String takes all");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_labels_and_help_are_one_text() {
        let tokens: TokenStream = "a\nb".parse().unwrap();
        let spans: Vec<_> = tokens.into_iter().map(|token| token.span()).collect();
        let error = Diagnostic::error(spans[1], "`b` is given twice").label(spans[0], "first given here").help("remove one of them");
        assert_eq!(render(&error, &Vec::new()), "`b` is given twice\nline 1: first given here\nhelp: remove one of them");
    }

    #[test]
    fn a_lint_says_once_how_it_is_silenced() {
        let finding = || Diagnostic::warning(Span::call_site(), "text").of_lint("unchecked");
        let found = [finding(), finding(), Diagnostic { level: Level::Error, ..finding() }];
        let notes = notes(&found);
        let texts: Vec<String> = found.iter().map(|finding| render(finding, &notes)).collect();
        let more = "`warpwright explain unchecked` says more";
        let silenced = format!("text\nnote: `#[kernel(allow(unchecked))]` silences this; {more}");
        let denied = format!("text\nnote: this lint is denied here; {more}");
        assert_eq!(texts, [silenced, "text".to_owned(), denied]);
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
