//! Where a kernel's source asks for what findings are about: what they are anchored at.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::syntax::{KernelAttributes, LoopKeyword, WrittenAnnotations, loop_annotations};

/// Where a kernel's source asks for things.
#[derive(Clone)]
pub struct Sites {
    /// The kernel's name.
    pub name: Span,
    /// Arguments of `#[kernel(…)]` by name: `block`, `ilp`, `max_registers` ….
    pub arguments: Vec<(&'static str, Span)>,
    /// The loops of the kernel's own body, in the order of the source.
    pub loops: Vec<LoopSite>,
}

/// A loop of the source.
#[derive(Clone)]
pub struct LoopSite {
    /// `for`, `while` or `loop`.
    pub keyword: Span,
    /// Its annotations.
    pub annotations: WrittenAnnotations,
}

impl Sites {
    /// The places of a kernel.
    pub fn of(item: &syn::ItemFn, attributes: &KernelAttributes) -> Sites {
        let mut loops = Loops::default();
        loops.visit_block(&item.block);
        Sites { name: item.sig.ident.span(), arguments: attributes.places.clone(), loops: loops.found }
    }

    /// Where the first of these arguments that is there stands; else the kernel's name.
    pub fn argument(&self, names: &[&str]) -> Span {
        let find = |name: &&str| self.arguments.iter().find(|(known, _)| known == name).map(|(_, span)| *span);
        names.iter().find_map(find).unwrap_or(self.name)
    }
}

#[derive(Default)]
struct Loops {
    found: Vec<LoopSite>,
}

impl Loops {
    fn add(&mut self, keyword: Span, attrs: &[syn::Attribute], kind: LoopKeyword) {
        let annotations = loop_annotations(attrs, kind, &mut Diagnostics::new());
        self.found.push(LoopSite { keyword, annotations });
    }
}

impl<'a> Visit<'a> for Loops {
    fn visit_expr_for_loop(&mut self, item: &'a syn::ExprForLoop) {
        self.add(item.for_token.span(), &item.attrs, LoopKeyword::For);
        visit::visit_expr_for_loop(self, item);
    }

    fn visit_expr_while(&mut self, item: &'a syn::ExprWhile) {
        self.add(item.while_token.span(), &item.attrs, LoopKeyword::While);
        visit::visit_expr_while(self, item);
    }

    fn visit_expr_loop(&mut self, item: &'a syn::ExprLoop) {
        self.add(item.loop_token.span(), &item.attrs, LoopKeyword::Loop);
        visit::visit_expr_loop(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwright_codegen::annotations::{ILP, UNROLL};

    #[test]
    fn arguments_and_annotations_are_found_by_name() {
        let text = "#[kernel(block = 64, ilp = 2)] fn k() { #[unroll(4)] for i in 0..8 { #[ilp(2)] while true {} loop { break; } } }";
        let item: syn::ItemFn = syn::parse_str(text).unwrap();
        let attributes = KernelAttributes::find(&item.attrs, &mut Diagnostics::new()).unwrap();
        let sites = Sites::of(&item, &attributes);
        let text = |span: Span| span.source_text().unwrap();
        assert_eq!(text(sites.argument(&["max_registers", "ilp", "block"])), "ilp");
        assert_eq!(text(sites.argument(&["max_registers"])), "k");
        assert_eq!(sites.loops.iter().map(|site| text(site.keyword)).collect::<Vec<_>>(), ["for", "while", "loop"]);
        let unroll = sites.loops[0].annotations.get(&UNROLL).map(|unroll| text(unroll.place));
        assert_eq!(unroll.as_deref(), Some("unroll"));
        assert!(!sites.loops[0].annotations.has(&ILP));
    }
}
