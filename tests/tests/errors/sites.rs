//! What the sources of the command say that stops it: every text at a call that makes an error, found in `src/cli`.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::path::Path;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use warpwright_tests::command::root;
use warpwright_tests::messages::texts::Text;

/// Functions that make an error of their text, or of which an error is made.
const CALLS: &[&str] = &["usage", "found", "Usage", "Err", "stop", "misfit", "refuse"];
/// The same of methods.
const METHODS: &[&str] = &["map_err", "ok_or_else"];
/// Lists of what is wrong, and what they are called.
const LISTS: &[&str] = &["wrong", "open"];
/// What holds a text before it becomes an error.
const LOCALS: &[&str] = &["message", "reason", "unknown", "too_long", "unsaid", "hint", "choose"];
/// Functions whose value is such a text.
const FUNCTIONS: &[&str] = &["unreadable", "beside", "meant", "meaning", "of_something_else"];

/// Every text of the command's sources.
pub(super) fn of_command() -> Vec<Text> {
    let mut all = Vec::new();
    of_folder(&root().join("src/cli"), &mut all);
    all.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    all.dedup_by(|a, b| (&a.file, a.line, &a.pieces) == (&b.file, b.line, &b.pieces));
    all
}

fn of_folder(folder: &Path, into: &mut Vec<Text>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            of_folder(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let file = path.strip_prefix(root()).expect("it is below the root").display().to_string();
            let items = syn::parse_file(&text).unwrap_or_else(|error| panic!("{file}: {error}")).items;
            let mut finder = Finder { file, into };
            items.iter().for_each(|item| finder.visit_item(item));
        }
    }
}

struct Finder<'i> {
    file: String,
    into: &'i mut Vec<Text>,
}

impl Finder<'_> {
    fn add(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add(group.stream()),
                TokenTree::Literal(literal) => self.into.extend(Text::of(&self.file, &literal)),
                _ => {}
            }
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg"))
}

impl Visit<'_> for Finder<'_> {
    fn visit_item_mod(&mut self, module: &syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &syn::ItemFn) {
        if FUNCTIONS.iter().any(|name| function.sig.ident == name) {
            self.add(function.block.to_token_stream());
        }
        visit::visit_item_fn(self, function);
    }

    fn visit_expr_call(&mut self, call: &syn::ExprCall) {
        if let syn::Expr::Path(path) = &*call.func
            && path.path.segments.last().is_some_and(|last| CALLS.iter().any(|name| last.ident == name))
        {
            self.add(call.args.to_token_stream());
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &syn::ExprMethodCall) {
        let is_of_list = call.method == "push" && LISTS.contains(&call.receiver.to_token_stream().to_string().as_str());
        if is_of_list || METHODS.iter().any(|name| call.method == name) {
            self.add(call.args.to_token_stream());
        }
        visit::visit_expr_method_call(self, call);
    }

    /// `vec![…]` and the like: syn leaves what is in them as tokens.
    fn visit_macro(&mut self, mac: &syn::Macro) {
        let arguments = mac.parse_body_with(Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated);
        arguments.into_iter().flatten().for_each(|argument| self.visit_expr(&argument));
    }

    fn visit_local(&mut self, local: &syn::Local) {
        if let (syn::Pat::Ident(name), Some(init)) = (&local.pat, &local.init)
            && LOCALS.iter().any(|known| name.ident == known)
        {
            self.add(init.expr.to_token_stream());
        }
        visit::visit_local(self, local);
    }
}
