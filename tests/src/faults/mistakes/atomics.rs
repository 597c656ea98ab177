//! Atomics that are plain, relaxed, or of the block only.

use super::{Edits, Mistake, Probe};
use syn::visit::{self, Visit};

pub(super) fn find(file: &syn::File, edits: &mut Edits<'_>) {
    Finder { edits, call: None }.visit_file(file);
}

struct Finder<'f, 't> {
    edits: &'f mut Edits<'t>,
    /// The call whose arguments are looked at.
    call: Option<Probe>,
}

impl Finder<'_, '_> {
    /// Of an order or a scope: it counts where its call is reached.
    fn probe(&self, path: &syn::ExprPath) -> Probe {
        self.call.clone().unwrap_or_else(|| Probe::reached(path))
    }

    /// What an atomic of this name does, without being one, of which `old` is the value before.
    fn update(name: &str, value: &str) -> Option<String> {
        let name = name.strip_suffix("_ordered").unwrap_or(name);
        Some(match name {
            "atomic_add" => format!("old + ({value})"),
            "atomic_sub" => format!("old - ({value})"),
            "atomic_min" => format!("old.min({value})"),
            "atomic_max" => format!("old.max({value})"),
            "atomic_or" => format!("old | ({value})"),
            "atomic_and" => format!("old & ({value})"),
            "atomic_xor" => format!("old ^ ({value})"),
            "atomic_exchange" => value.to_owned(),
            _ => return None,
        })
    }
}

impl<'a> Visit<'a> for Finder<'_, '_> {
    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        let name = call.method.to_string();
        if name.starts_with("atomic_") && !call.args.is_empty() {
            let (receiver, index) = (self.edits.source(&call.receiver).to_owned(), self.edits.source(&call.args[0]).to_owned());
            let value = call.args.get(1).map_or(String::new(), |value| self.edits.source(value).to_owned());
            let plain = match name.as_str() {
                "atomic_load" => Some(format!("{receiver}[{index}]")),
                "atomic_store" => Some(format!("{{ {receiver}[{index}] = {value}; }}")),
                _ => Finder::update(&name, &value)
                    .map(|new| format!("({{ let old = {receiver}[{index}]; {receiver}[{index}] = {new}; old }})")),
            };
            if let Some(plain) = plain {
                self.edits.replace(Mistake::PlainForAtomic, call, plain, Probe::reached(call));
            }
        }
        let outer = self.call.replace(Probe::reached(call));
        visit::visit_expr_method_call(self, call);
        self.call = outer;
    }

    fn visit_expr_path(&mut self, path: &'a syn::ExprPath) {
        let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [.., "Ordering", order] if order != "Relaxed" => {
                self.edits.replace(Mistake::WeakOrder, path, "Ordering::Relaxed".to_owned(), self.probe(path));
            }
            [.., "ThreadScope", scope] if scope != "Block" => {
                self.edits.replace(Mistake::NarrowScope, path, "ThreadScope::Block".to_owned(), self.probe(path));
            }
            _ => {}
        }
        visit::visit_expr_path(self, path);
    }
}
