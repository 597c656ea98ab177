//! Source text to items: what is wrong with the text, item by item, with the brackets named that do not match.

use super::nesting::check_nesting;
use crate::diagnostic::{Diagnostic, Diagnostics};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Reads the items of a file or of a marked piece of one. `syn` ends at its first error: items behind it are read on their own, so
/// that each can report one.
pub(super) fn read_items(text: &str) -> Result<Vec<syn::Item>, Diagnostics> {
    let text = without_shebang(text);
    let tokens: TokenStream = text.parse().map_err(|error| refuse_tokens(&error, text))?;
    check_nesting(&tokens)?;
    match syn::parse2::<syn::File>(tokens.clone()) {
        Ok(file) => Ok(file.items),
        Err(error) => {
            let mut found = Diagnostics::new();
            read_each(tokens, &mut found);
            Err(if found.is_empty() { error.into() } else { found })
        }
    }
}

/// `#!/usr/bin/env …` is no Rust; its line stays empty.
fn without_shebang(text: &str) -> &str {
    match text.strip_prefix("#!") {
        Some(rest) if !rest.trim_start().starts_with('[') => text.find('\n').map_or("", |end| &text[end..]),
        _ => text,
    }
}

/// Reads item by item, for what is wrong with each.
fn read_each(tokens: TokenStream, found: &mut Diagnostics) {
    for item in split_items(tokens) {
        if let Some(inside) = module_content(&item) {
            read_each(inside, found);
        } else if let Err(error) = syn::parse2::<syn::File>(item.into_iter().collect()) {
            found.append(error.into());
        }
    }
}

/// Tokens up to the `;` or the braces that end each item.
fn split_items(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut items = Vec::new();
    let mut item: Vec<TokenTree> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_semicolon = is_punct(&token, ';');
        let is_braces = matches!(&token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        item.push(token);
        // `const A: T = { … };`, `use a::{b, c};`
        let ends_with_semicolon = item.iter().any(|token| is_punct(token, '=') || is_word(token, "use"));
        if is_semicolon || (is_braces && !ends_with_semicolon) || tokens.peek().is_none() {
            items.push(std::mem::take(&mut item));
        }
    }
    items
}

fn is_punct(token: &TokenTree, c: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == c)
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

/// What stands in `mod name { … }`.
fn module_content(item: &[TokenTree]) -> Option<TokenStream> {
    match item {
        [.., keyword, TokenTree::Ident(_), TokenTree::Group(group)] if is_word(keyword, "mod") => Some(Group::stream(group)),
        _ => None,
    }
}

/// What `proc_macro2` stumbled over: its span begins at the bracket without a partner, or at the text that is no token.
fn refuse_tokens(error: &proc_macro2::LexError, text: &str) -> Diagnostic {
    let place = error.span().start();
    let line = text.lines().nth(place.line.saturating_sub(1)).unwrap_or_default();
    let (message, help) = match line.chars().nth(place.column) {
        Some(open @ ('(' | '[' | '{')) => {
            let close = partner(open);
            (format!("this `{open}` is never closed"), format!("write `{close}` where it ends"))
        }
        Some(close @ (')' | ']' | '}')) => {
            let message = format!("this `{close}` does not close the bracket that is open here, or there is none");
            (message, "remove it, or write the bracket that is missing before it".to_owned())
        }
        Some('"' | '\'') => {
            let help = "write the quote that ends it; a text stands between `\"`, one character between `'`";
            ("this text has no end, or is not a character".to_owned(), help.to_owned())
        }
        Some('/') => ("this comment has no end".to_owned(), "write `*/` where it ends".to_owned()),
        _ => ("this is not a token of Rust".to_owned(), "remove it".to_owned()),
    };
    Diagnostic::error(error.span(), message).help(help)
}

/// The bracket that closes one.
fn partner(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<String> {
        let one = |d: Diagnostic| format!("{}:{}: {}", d.span.start().line, d.span.start().column + 1, d.message);
        read_items(text).map(|items| panic!("{} items", items.len())).unwrap_or_else(|found| found.into_iter().map(one).collect())
    }

    #[test]
    fn every_item_reports_its_error() {
        let text = "use a::{b, c};\nconst N: usize = { 3 };\nfn f() { let = 3; }\nstruct S;\nmod m {\n  fn g() { 1 + }\n  fn h() {}\n}\n";
        assert_eq!(
            errors(text),
            [
                "3:14: expected one of: identifier, `::`, `<`, `_`, literal, `const`, `ref`, `mut`, `&`, parentheses, square brackets, `..`, `const`",
                "6:16: unexpected end of input, expected an expression",
            ]
        );
    }

    #[test]
    fn brackets_that_do_not_match_are_named() {
        assert_eq!(errors("fn f() {\n  (1;\n}"), ["3:1: this `}` does not close the bracket that is open here, or there is none"]);
        assert_eq!(errors("fn f() {\n  g();\n"), ["1:8: this `{` is never closed"]);
        assert_eq!(errors("fn f() { } }"), ["1:12: this `}` does not close the bracket that is open here, or there is none"]);
        assert_eq!(errors("const A: &str = \"abc;"), ["1:17: this text has no end, or is not a character"]);
        assert_eq!(errors("fn f() {} /* x"), ["1:11: this comment has no end"]);
        assert_eq!(errors("const \u{1F600}: u32 = 1;"), ["1:7: this is not a token of Rust"]);
    }

    #[test]
    fn a_shebang_is_no_item() {
        assert_eq!(read_items("#!/usr/bin/env run\nfn f() {}").unwrap().len(), 1);
        assert_eq!(read_items("#![allow(unused)]\nfn f() {}").unwrap().len(), 1);
    }
}
