//! Texts in sources: what a source says, with what is filled in left out, found in what is printed.

use crate::command::root;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::fmt;
use std::path::Path;

/// A text in a source, with what is filled in left out.
#[derive(Clone, Debug)]
pub struct Text {
    /// The file, from the root of the repository.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The text as it is written, with `…` for what is filled in.
    whole: String,
    /// What stands between what is filled in.
    pub pieces: Vec<String>,
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.whole)
    }
}

impl Text {
    /// The text of a literal in a file; `None` if it is no string, or has fewer than two words: then it is a name or a separator.
    pub fn of(file: &str, literal: &proc_macro2::Literal) -> Option<Text> {
        let text = syn::parse_str::<syn::LitStr>(&literal.to_string()).ok()?;
        let mut pieces = pieces(&text.value());
        let whole = pieces.join("…");
        pieces.retain(|piece| !piece.is_empty());
        let words = pieces.iter().flat_map(|piece| piece.split(' ')).filter(|word| word.chars().any(char::is_alphabetic));
        (words.count() > 1).then(|| Text { file: file.to_owned(), line: literal.span().start().line, whole, pieces })
    }

    /// Whether this text was printed.
    pub fn is_in(&self, printed: &str) -> bool {
        let mut rest = printed;
        self.pieces.iter().all(|piece| {
            let found = rest.split_once(piece.as_str());
            rest = found.map_or(rest, |(_, behind)| behind);
            found.is_some()
        })
    }

    /// Whether it has these words at the beginning, or behind something that is filled in.
    pub fn begins(&self, words: &str) -> bool {
        self.pieces.iter().any(|piece| piece.starts_with(words))
    }
}

/// What stands before, between and behind what is filled in.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let last = pieces.last_mut().expect("there is one");
        match c {
            '{' | '}' if chars.peek() == Some(&c) => {
                last.push(c);
                chars.next();
            }
            '{' => {
                chars.by_ref().find(|c| *c == '}');
                pieces.push(String::new());
            }
            _ => last.push(c),
        }
    }
    pieces
}

/// Every text of two words in a file or a folder that somebody may read, in order: not those of tests, of assertions, of attributes other than `#[error]`, of `Debug`, and of documentation.
///
/// # Panics
/// It is not there, or is no Rust.
pub fn all_of(path: &str) -> Vec<Text> {
    let mut all = Vec::new();
    of_path(&root().join(path), &mut all);
    all
}

fn of_path(path: &Path, into: &mut Vec<Text>) {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut entries: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        entries.sort();
        let is_of_tests = |path: &Path| path.file_stem().is_some_and(|name| name == "tests");
        entries.iter().filter(|path| !is_of_tests(path)).for_each(|path| of_path(path, into));
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file = path.strip_prefix(root()).expect("it is below the root").display().to_string().replace('\\', "/");
        of_tokens(text.parse().unwrap_or_else(|error| panic!("{file}: {error}")), &file, into);
    }
}

/// What stops a program that is wrong itself: its text is for who mends it.
const ASSERTIONS: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "expect",
    "expect_err",
    "panic",
    "unreachable",
];

/// Where the group behind a name stands, `expect(…)` or `assert!(…)`.
fn group_behind(tokens: &[TokenTree], at: usize) -> Option<usize> {
    let is_mark = matches!(tokens.get(at + 1), Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
    let group = at + 1 + usize::from(is_mark);
    matches!(tokens.get(group), Some(TokenTree::Group(_))).then_some(group)
}

/// Where the body of `impl Debug for …` stands.
fn body_of_debug(tokens: &[TokenTree], at: usize) -> Option<usize> {
    let is_body = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    let body = at + tokens[at..].iter().position(is_body)?;
    tokens[at..body].iter().any(|token| matches!(token, TokenTree::Ident(name) if *name == "Debug")).then_some(body)
}

/// Lines of documentation that a macro takes as text are sentences, and what stops somebody is none.
fn is_documentation(text: &Text) -> bool {
    text.whole.ends_with('.')
}

fn of_tokens(tokens: TokenStream, file: &str, into: &mut Vec<Text>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let (mut at, mut is_test) = (0, false);
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                if let Some(group) = group_behind(&tokens, at)
                    && let TokenTree::Group(attribute) = &tokens[group]
                    && attribute.delimiter() == Delimiter::Bracket
                {
                    let text = attribute.stream().to_string();
                    is_test |= text.replace(' ', "") == "cfg(test)";
                    if text.starts_with("error") {
                        of_tokens(attribute.stream(), file, into);
                    }
                    at = group;
                }
            }
            TokenTree::Punct(mark) if mark.as_char() == ';' => is_test = false,
            TokenTree::Ident(name) if ASSERTIONS.iter().any(|known| name == known) => at = group_behind(&tokens, at).unwrap_or(at),
            TokenTree::Ident(name) if name == "impl" => at = body_of_debug(&tokens, at).unwrap_or(at),
            TokenTree::Group(group) => {
                if !is_test {
                    of_tokens(group.stream(), file, into);
                }
                is_test &= group.delimiter() != Delimiter::Brace;
            }
            TokenTree::Literal(literal) if !is_test => into.extend(Text::of(file, literal).filter(|text| !is_documentation(text))),
            _ => {}
        }
        at += 1;
    }
}
