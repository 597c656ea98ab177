//! Names of CUDA C++ in a body, and atomics written as functions: what to write instead.

use super::BodyChecker;
use crate::syntax::foreign::{foreign, printf_edit};
use crate::syntax::free_paths::GEOMETRY;
use crate::syntax::layout::written;
use crate::syntax::operand::behind;

impl BodyChecker<'_> {
    /// A name of another language, which no Rust has given to something of its own.
    pub(super) fn check_foreign(&mut self, ident: &syn::Ident) {
        let name = ident.to_string();
        if let Some(foreign) = foreign(&name).filter(|foreign| foreign.is_certain && !self.is_own(&name)) {
            self.refuse(ident.span(), format!("`{name}` is a name of {}", foreign.origin()), foreign.edit());
        } else if GEOMETRY.contains(&name.as_str()) && !self.is_own(&name) && !self.is_called {
            self.refuse(ident.span(), format!("`{name}` is a function"), format!("call it: `{name}()`"));
        }
    }

    /// Whether the unit means something of its own by a name.
    pub(super) fn is_own(&self, name: &str) -> bool {
        self.names.defined.contains(name) || self.generics.iter().any(|own| own == name) || self.locals.contains_key(name)
    }

    /// Names of another language among the tokens of a type.
    pub(super) fn check_foreign_types(&mut self, tokens: proc_macro2::TokenStream) {
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Ident(ident) => self.check_foreign(&ident),
                proc_macro2::TokenTree::Group(group) => self.check_foreign_types(group.stream()),
                _ => {}
            }
        }
    }

    /// A call of a name of another language: `__shfl_down_sync(mask, v, 16)`. Whether it is one.
    pub(super) fn check_foreign_call(&mut self, name: &syn::Ident, call: &syn::ExprCall) -> bool {
        let text = name.to_string();
        if let Some(edit) = (text == "printf" && !self.is_own(&text)).then(|| printf_edit(call)).flatten() {
            self.refuse(name.span(), "`printf` is a name of CUDA C++", edit);
            return true;
        }
        let Some(foreign) = foreign(&text).filter(|foreign| foreign.is_certain && !self.is_own(&text)) else { return false };
        self.refuse(name.span(), format!("`{text}` is a name of CUDA C++"), foreign.edit_of_call(&call.args));
        true
    }

    /// `threadIdx.x`. Whether it is that.
    pub(super) fn check_foreign_field(&mut self, field: &syn::ExprField) -> bool {
        let syn::Expr::Path(path) = &*field.base else { return false };
        let Some(ident) = path.path.get_ident() else { return false };
        let geometry = [("threadIdx", "thread_idx"), ("blockIdx", "block_idx"), ("blockDim", "block_dim"), ("gridDim", "grid_dim")];
        let Some((_, ours)) = geometry.iter().find(|(name, _)| ident == name && !self.is_own(name)) else { return false };
        let help = format!("write `{ours}().{}`", written(&field.member));
        self.refuse(ident.span(), format!("`{ident}` is a name of CUDA C++"), help);
        true
    }

    /// `atomic_add(&mut y[0], v)`, `atomic_add(y, 0, v)`: the method is meant.
    pub(super) fn check_atomic(&mut self, name: &syn::Ident, call: &syn::ExprCall) -> bool {
        let text = name.to_string();
        let foreign = foreign(&text).filter(|foreign| foreign.atomic().is_some());
        let is_atomic = text.starts_with("atomic_") || foreign.is_some();
        let (true, false, Some(first)) = (is_atomic, self.is_own(&text), call.args.first()) else { return false };
        let method = foreign.and_then(|foreign| foreign.atomic()).unwrap_or(&text);
        let step = foreign.and_then(|foreign| foreign.atomic_step());
        let mut arguments: Vec<String> = call.args.iter().skip(1).map(written).collect();
        let buffer = match behind(first) {
            syn::Expr::Index(element) => {
                arguments.insert(0, written(&element.index));
                written(&element.expr)
            }
            // `atomicAdd(y, v)`: a pointer is its first element.
            whole => {
                let values = if method.ends_with("cas") { 2 } else { 1 };
                if arguments.len() == values {
                    arguments.insert(0, "0".to_owned());
                }
                written(whole)
            }
        };
        if let Some(step) = step {
            arguments.truncate(1);
            arguments.push(step.to_owned());
        }
        let help = format!("write `{buffer}.{method}({})`", arguments.join(", "));
        self.refuse(name.span(), "atomics are methods of buffers and shared arrays", help);
        true
    }
}
