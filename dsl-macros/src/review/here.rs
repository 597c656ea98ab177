//! Where the kernels of a unit stand, as the compiler's tokens say.

use proc_macro2::{LineColumn, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeMap;
use std::path::PathBuf;
use warpwright_codegen::syntax::{Unit, layout};

pub(super) struct Here {
    /// The file, where the compiler knows one.
    pub(super) file: Option<PathBuf>,
    /// What the compiler calls it.
    name: String,
    /// The unit's text.
    pub(super) text: String,
    pub(super) kernels: Vec<KernelHere>,
    /// The tokens by where they stand in the file, and in the text.
    in_file: BTreeMap<(usize, usize), Span>,
    in_text: BTreeMap<(usize, usize), Span>,
}

pub(super) struct KernelHere {
    pub(super) name: String,
    /// Where its name stands in the file.
    pub(super) at: LineColumn,
    pub(super) words: Vec<Word>,
}

/// A token, and where it stands.
pub(super) type Word = (String, usize, usize);

impl Here {
    /// Where the kernels of a unit stand; `None`: it has none.
    pub(super) fn of(items: &[syn::Item]) -> Option<Here> {
        let unit = Unit::from_items(String::new(), items.to_vec());
        let all = unit.kernels();
        let span = all.first()?.1.sig.ident.span();
        let one =
            |item: &syn::ItemFn| KernelHere { name: item.sig.ident.to_string(), at: item.sig.ident.span().start(), words: words_of(item) };
        let kernels = all.iter().map(|(_, item)| one(item)).collect();
        let tokens: TokenStream = items.iter().map(ToTokens::to_token_stream).collect();
        let layout = layout(tokens);
        let key = |at: LineColumn| (at.line, at.column);
        let in_file = layout.tokens.iter().map(|(_, span)| (key(span.start()), *span)).collect();
        let in_text = layout.tokens.iter().map(|(at, span)| (key(*at), *span)).collect();
        Some(Here { file: span.local_file(), name: span.file(), text: layout.text, kernels, in_file, in_text })
    }

    /// Whether an editor expands the macro: its server has no files.
    pub(super) fn is_in_editor(&self) -> bool {
        self.file.is_none() && self.name.is_empty()
    }

    /// Whether a token of the unit stands exactly there.
    pub(super) fn has(&self, at: LineColumn, is_of_text: bool) -> bool {
        let tokens = if is_of_text { &self.in_text } else { &self.in_file };
        tokens.contains_key(&(at.line, at.column))
    }

    /// The token that ends at a place of the file, or of the unit's text.
    pub(super) fn last_before(&self, end: LineColumn, is_of_text: bool) -> Option<Span> {
        let tokens = if is_of_text { &self.in_text } else { &self.in_file };
        tokens.range(..(end.line, end.column)).next_back().map(|(_, span)| *span)
    }

    /// The token at a place of the file, or of the unit's text; between tokens the one before.
    pub(super) fn span(&self, at: LineColumn, is_of_text: bool) -> Span {
        let tokens = if is_of_text { &self.in_text } else { &self.in_file };
        tokens.range(..=(at.line, at.column)).next_back().map_or_else(Span::call_site, |(_, span)| *span)
    }
}

/// The tokens of a function without what stands before it, to tell whether two are the same at the same place. Brackets are left out: the
/// compiler gives those that went through `syn` another end.
pub(super) fn words_of(function: &syn::ItemFn) -> Vec<Word> {
    let mut words = Vec::new();
    collect_words(function.sig.to_token_stream(), &mut words);
    collect_words(function.block.to_token_stream(), &mut words);
    words
}

/// The same of any item whose device code names something. Marks are left out: who reads a file adds some.
pub(super) fn words_of_item(item: &syn::Item) -> Vec<Word> {
    let mut words = Vec::new();
    match item {
        syn::Item::Fn(item) => return words_of(item),
        syn::Item::Struct(item) => collect_words(item.fields.to_token_stream(), &mut words),
        syn::Item::Enum(item) => collect_words(item.variants.to_token_stream(), &mut words),
        syn::Item::Impl(item) => item.items.iter().for_each(|item| collect_words(item.to_token_stream(), &mut words)),
        syn::Item::Mod(item) => return item.content.iter().flat_map(|(_, items)| items).flat_map(words_of_item).collect(),
        other => collect_words(other.to_token_stream(), &mut words),
    }
    words
}

fn collect_words(tokens: TokenStream, words: &mut Vec<Word>) {
    // A lifetime or label is two tokens, of which the compiler says that both stand where the first does.
    let mut quote = None;
    for token in tokens {
        match token {
            TokenTree::Group(group) => collect_words(group.stream(), words),
            TokenTree::Punct(punct) if punct.as_char() == '\'' => quote = Some(punct.span().start()),
            TokenTree::Ident(name) if quote.is_some() => words.extend(quote.take().map(|at| (format!("'{name}"), at.line, at.column))),
            other => {
                let at = other.span().start();
                words.push((other.to_string(), at.line, at.column));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_and_labels_are_one_word() {
        let function = syn::parse_str("fn k(p: P<'_>) { 'a: loop { break 'a; } }").unwrap();
        let words: Vec<String> = words_of(&function).into_iter().map(|(word, _, column)| format!("{word} {column}")).collect();
        let expected =
            ["fn 0", "k 3", "p 5", ": 6", "P 8", "< 9", "'_ 10", "> 12", "'a 17", ": 19", "loop 21", "break 28", "'a 34", "; 36"];
        assert_eq!(words, expected);
    }
}
