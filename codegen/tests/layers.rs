//! The modules of `codegen` and of `review` use only what stands below them in the lists of ARCHITECTURE.md, "Layers".
//!
//! Code for tests (`#[cfg(test)]`) is left out: it may use the whole crate. Everything else counts: `use` lines, paths in the code, what macros expand
//! to, and `super::super::x` that leads out of a module.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use syn::{Attribute, Item};

const PAGE: &str = "ARCHITECTURE.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A crate's layers as the page states them, lowest first: the lines of the block that begins with the crate's folder.
fn layers(folder: &str) -> Vec<Vec<String>> {
    let page = fs::read_to_string(root().join(PAGE)).unwrap();
    let begin = format!("```text\n{folder}/src, lowest first:\n");
    let from = page.find(&begin).unwrap_or_else(|| panic!("{PAGE} has no block of the layers of `{folder}`")) + begin.len();
    let block = page[from..].split("```").next().unwrap_or_default();
    block.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
}

/// A use of a module of the same crate.
struct Use {
    /// The module that uses it: the name of a file or folder in `src`.
    by: String,
    of: String,
    file: PathBuf,
    line: usize,
}

/// A crate's modules, read from its first file on.
struct Reader {
    folder: PathBuf,
    modules: Vec<String>,
    uses: Vec<Use>,
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg") && attribute.to_token_stream().to_string().contains("test"))
}

impl Reader {
    fn of(folder: &str) -> Reader {
        let mut reader = Reader { folder: root().join(folder), modules: Vec::new(), uses: Vec::new() };
        let source = reader.folder.join("src");
        let items = parse(&source.join("lib.rs"));
        let modules = items.iter().filter_map(|item| match item {
            Item::Mod(module) if !is_for_tests(&module.attrs) => Some(module.ident.to_string()),
            _ => None,
        });
        reader.modules = modules.collect();
        for name in reader.modules.clone() {
            reader.file(&source, &name, &[&name]);
        }
        reader
    }

    /// Reads the module that is called so in a folder; `path` leads to it from the crate's root.
    fn file(&mut self, folder: &Path, name: &str, path: &[&str]) {
        let [beside, inside] = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
        let file = if beside.exists() { beside } else { inside };
        self.items(parse(&file), &file, &folder.join(name), path);
    }

    fn items(&mut self, items: Vec<Item>, file: &Path, folder: &Path, path: &[&str]) {
        for item in items {
            match item {
                Item::Mod(module) if is_for_tests(&module.attrs) => {}
                Item::Mod(module) => {
                    let name = module.ident.to_string();
                    let path: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
                    match module.content {
                        Some((_, items)) => self.items(items, file, &folder.join(&name), &path),
                        None => self.file(folder, &name, &path),
                    }
                }
                Item::Fn(function) if is_for_tests(&function.attrs) => {}
                Item::Use(line) if is_for_tests(&line.attrs) => {}
                Item::Impl(body) if is_for_tests(&body.attrs) => {}
                item => self.tokens(item.to_token_stream(), file, path),
            }
        }
    }

    /// Notes what `crate::` is followed by, and as many `super::` as lead to the crate's root.
    fn tokens(&mut self, tokens: TokenStream, file: &Path, path: &[&str]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is_word = |n: usize, word: &str| matches!(tokens.get(n), Some(TokenTree::Ident(ident)) if ident == word);
        let is_colons =
            |n: usize| [n, n + 1].iter().all(|n| matches!(tokens.get(*n), Some(TokenTree::Punct(mark)) if mark.as_char() == ':'));
        let mut n = 0;
        while n < tokens.len() {
            let mut supers = 0;
            while is_word(n, "super") && is_colons(n + 1) {
                (supers, n) = (supers + 1, n + 3);
            }
            if supers >= path.len() || is_word(n, "crate") && is_colons(n + 1) {
                n += if supers == 0 { 3 } else { 0 };
                self.names(tokens.get(n), file, path);
            }
            if let Some(TokenTree::Group(group)) = tokens.get(n) {
                self.tokens(group.stream(), file, path);
            }
            n += 1;
        }
    }

    /// The modules that stand behind `crate::`: one, or several in braces.
    fn names(&mut self, behind: Option<&TokenTree>, file: &Path, path: &[&str]) {
        match behind {
            Some(TokenTree::Ident(ident)) if self.modules.iter().any(|module| ident == module) => {
                let (of, line) = (ident.to_string(), ident.span().start().line);
                self.uses.push(Use { by: path[0].to_owned(), of, file: file.to_owned(), line });
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let mut is_first = true;
                for token in group.stream() {
                    if is_first {
                        self.names(Some(&token), file, path);
                    }
                    is_first = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == ',');
                }
            }
            _ => {}
        }
    }
}

fn parse(file: &Path) -> Vec<Item> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display())).items
}

#[track_caller]
fn hold(folder: &str) {
    let layers = layers(folder);
    let reader = Reader::of(folder);
    let stated: BTreeSet<&str> = layers.iter().flatten().map(String::as_str).collect();
    let there: BTreeSet<&str> = reader.modules.iter().map(String::as_str).collect();
    assert_eq!(stated, there, "{PAGE} (\"Layers\") lists each module of {folder}/src/lib.rs once");
    let height = |name: &str| layers.iter().position(|layer| layer.iter().any(|module| module == name));
    let is_wrong = |found: &&Use| found.by != found.of && height(&found.of) >= height(&found.by);
    let say = |found: &Use| {
        let Use { by, of, file, line } = found;
        let file = file.strip_prefix(root()).unwrap_or(file).display();
        format!(
            "{file}:{line}: `{by}` uses `{of}`, which does not stand below it in {PAGE} (\"Layers\"): move what it needs to a layer below `{by}`, \
             or what needs it to one above `{of}`"
        )
    };
    let wrong: Vec<String> = reader.uses.iter().filter(is_wrong).map(say).collect();
    assert!(reader.uses.len() > there.len(), "uses are found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_modules_of_the_compiler_are_layers() {
    hold("codegen");
}

#[test]
fn the_modules_of_the_review_are_layers() {
    hold("review");
}
