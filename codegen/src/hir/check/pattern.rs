//! Patterns: of `let`, `match`, `if let` and parameters.

use super::super::items::{AdtKind, Def, Namespace};
use super::super::tree::{Expr, LocalKind, Pattern, PatternKind};
use super::super::types::{Const, Kind, Ty};
use super::Checker;
use super::expression::{member_name, plain_path};
use crate::diagnostic::Diagnostic;
use crate::syntax::bindings;
use proc_macro2::Span;
use syn::spanned::Spanned;

/// Longest array that a pattern takes apart.
const MOST_PARTS: i128 = 1024;

impl Checker<'_, '_> {
    /// A pattern for a value of type `ty`; declares the names it binds.
    pub(super) fn pattern(&mut self, pattern: &syn::Pat, ty: &Ty) -> Pattern {
        let span = pattern.span();
        let kind = match pattern {
            syn::Pat::Wild(_) | syn::Pat::Rest(_) => PatternKind::Wildcard,
            syn::Pat::Paren(paren) => return self.pattern(&paren.pat, ty),
            syn::Pat::Type(typed) => {
                let written = self.written_type(&typed.ty);
                self.expect(&written, ty, span);
                return self.pattern(&typed.pat, ty);
            }
            syn::Pat::Ident(ident) => self.name_pattern(ident, ty, span),
            syn::Pat::Lit(lit) => self.value_pattern(&syn::Expr::Lit(lit.clone()), ty),
            syn::Pat::Path(path) => self.value_pattern(&syn::Expr::Path(path.clone()), ty),
            syn::Pat::Range(range) => self.range_pattern(range, ty),
            syn::Pat::Or(or) => self.or_pattern(or, ty),
            syn::Pat::Tuple(tuple) => self.positional(tuple.elems.iter(), ty, span),
            syn::Pat::Slice(slice) => self.positional(slice.elems.iter(), ty, span),
            syn::Pat::TupleStruct(pattern) => {
                let written = self.named_type(&pattern.path);
                self.expect(&written, ty, span);
                self.positional(pattern.elems.iter(), ty, span)
            }
            syn::Pat::Struct(pattern) => self.struct_pattern(pattern, ty, span),
            syn::Pat::Reference(reference) => return self.pattern(&reference.pat, ty),
            _ => {
                let help = "write a number, a range or a `const`, or a name with a condition: `n if n == 2`";
                self.report(Diagnostic::error(span, "this pattern is not in the kernel language").help(help));
                self.bind_anything(pattern);
                PatternKind::Wildcard
            }
        };
        Pattern { kind, ty: ty.clone(), span }
    }

    fn name_pattern(&mut self, ident: &syn::PatIdent, ty: &Ty, span: Span) -> PatternKind {
        let name = ident.ident.to_string();
        // A lone name may be a constant or a variant brought in by `use`.
        if ident.subpat.is_none() && ident.mutability.is_none() {
            let def = self.resolve(std::slice::from_ref(&name), Namespace::Values);
            let is_constant = self.lookup_constant(&name).is_some();
            if is_constant || matches!(def, Some(Def::Const(_) | Def::Variant(..) | Def::Value(_))) {
                return self.value_pattern(&syn::Expr::Path(plain_path(ident.ident.clone())), ty);
            }
        }
        if ident.subpat.as_ref().is_some_and(|(_, pattern)| matches!(**pattern, syn::Pat::Rest(_))) {
            return self.misplaced_rest(ident, span);
        }
        self.binding(ident, ident.subpat.as_ref().map(|(_, pattern)| &**pattern), ty, span)
    }

    /// `others @ ..` where no array is taken apart.
    fn misplaced_rest(&mut self, ident: &syn::PatIdent, span: Span) -> PatternKind {
        let name = &ident.ident;
        let message = format!("`{name} @ ..` names the other elements of an array, and no array is taken apart here");
        let help = format!("write `..`, or `{name}` for one value; the parts of a tuple or a struct are named one by one");
        self.report(Diagnostic::error(span, message).help(help).by_rustc());
        let anything = self.infer.fresh(Kind::Any);
        self.binding(ident, None, &anything, span)
    }

    /// `others @ ..` among the parts of an array from `first` on: a name for so many elements.
    fn rest_pattern(
        &mut self,
        ident: &syn::PatIdent,
        (element, len): (&Ty, Option<i128>),
        (first, count): (usize, usize),
    ) -> (u32, Pattern) {
        let span = ident.span();
        if len.is_none() {
            let error = Diagnostic::error(span, "the length of this array is not known here, so neither is that of its rest");
            self.report(error.help("write the array's type where it is declared, `[i32; 4]`").and_by_rustc());
        }
        let ty = Ty::Array(Box::new(element.clone()), Const::Value(count as i128));
        let kind = self.binding(ident, None, &ty, span);
        let named = Box::new(Pattern { kind, ty: ty.clone(), span });
        (first as u32, Pattern { kind: PatternKind::Rest(named), ty, span })
    }

    /// A name, and what the value must also match.
    fn binding(&mut self, ident: &syn::PatIdent, subpattern: Option<&syn::Pat>, ty: &Ty, span: Span) -> PatternKind {
        let name = ident.ident.to_string();
        if let Some(by_ref) = &ident.by_ref {
            let message = "`ref` makes a reference to a local, which is not in the kernel language";
            self.report(Diagnostic::error(by_ref.span(), message).help("remove `ref`: kernel values are copied"));
        }
        let inner = subpattern.map(|pattern| Box::new(self.pattern(pattern, ty)));
        // All alternatives of an or-pattern bind the same names: the first declares them.
        let local = match self.alternative_binding(&name) {
            Some(known) => {
                let declared = self.locals[known.0].ty.clone();
                self.expect(ty, &declared, span);
                known
            }
            None => self.declare(&name, ty.clone(), LocalKind::Variable, ident.mutability.is_some(), ident.ident.span()),
        };
        PatternKind::Bind(local, inner)
    }

    /// Declares the names of a pattern that was refused, of any type: where they are used, nothing more is said.
    pub(super) fn bind_anything(&mut self, pattern: &syn::Pat) {
        for ident in bindings(pattern) {
            let name = ident.to_string();
            if self.alternative_binding(&name).is_none() {
                let ty = self.infer.fresh(Kind::Any);
                self.declare(&name, ty, LocalKind::Variable, true, ident.span());
            }
        }
    }

    fn alternative_binding(&self, name: &str) -> Option<super::super::tree::LocalId> {
        self.or_bindings.last()?.as_ref()?.get(name).copied()
    }

    fn or_pattern(&mut self, or: &syn::PatOr, ty: &Ty) -> PatternKind {
        let mut alternatives = Vec::new();
        let before = self.locals.len();
        self.or_bindings.push(None);
        for (index, case) in or.cases.iter().enumerate() {
            alternatives.push(self.pattern(case, ty));
            if index == 0 {
                let bound = self.locals[before..].iter().enumerate();
                let names = bound.map(|(i, local)| (local.name.clone(), super::super::tree::LocalId(before + i))).collect();
                self.or_bindings.pop();
                self.or_bindings.push(Some(names));
            }
        }
        self.or_bindings.pop();
        PatternKind::Or(alternatives)
    }

    fn value_pattern(&mut self, e: &syn::Expr, ty: &Ty) -> PatternKind {
        let value = self.pattern_bound(e, ty);
        PatternKind::Value(Box::new(value))
    }

    fn pattern_bound(&mut self, e: &syn::Expr, ty: &Ty) -> Expr {
        let value = self.expression(e);
        self.expect(&value.ty, ty, value.span);
        value
    }

    fn range_pattern(&mut self, range: &syn::PatRange, ty: &Ty) -> PatternKind {
        let start = range.start.as_ref().map(|e| Box::new(self.pattern_bound(e, ty)));
        let end = range.end.as_ref().map(|e| Box::new(self.pattern_bound(e, ty)));
        let is_closed = matches!(range.limits, syn::RangeLimits::Closed(_));
        let of = |bound: &Option<Box<Expr>>| bound.as_ref().and_then(|bound| bound.known_int());
        if let (Some(first), Some(last)) = (of(&start), of(&end))
            && (first > last || first == last && !is_closed)
        {
            let error = Diagnostic::error(range.span(), "no number is in this range");
            self.report(error.help("write the lower end first, and `..=` to take the upper one in").by_rustc());
        }
        PatternKind::Range(start, end, is_closed)
    }

    /// Types of the parts of a tuple, array or tuple struct.
    fn parts(&mut self, ty: &Ty, count: usize, open: bool) -> Option<Vec<Ty>> {
        match self.infer.shallow(ty) {
            Ty::Tuple(fields) => Some(fields),
            Ty::Array(element, len) => match self.known_const(len) {
                Some(len) if len > MOST_PARTS => None,
                Some(len) => Some(vec![*element; usize::try_from(len).ok()?]),
                None => Some(vec![*element; count]),
            },
            adt @ Ty::Adt(..) => Some(self.struct_fields(&adt)?.into_iter().map(|(_, ty)| ty).collect()),
            Ty::Var(_) if !open => {
                let fields: Vec<Ty> = (0..count).map(|_| self.infer.fresh(Kind::Any)).collect();
                // A literal's type is not known yet, but is none of parts.
                self.infer.unify(ty, &Ty::Tuple(fields.clone())).then_some(fields)
            }
            _ => None,
        }
    }

    fn positional<'s>(&mut self, patterns: impl ExactSizeIterator<Item = &'s syn::Pat>, ty: &Ty, span: Span) -> PatternKind {
        let patterns: Vec<&syn::Pat> = patterns.collect();
        let array = match self.infer.shallow(ty) {
            Ty::Array(element, len) => Some((element, self.known_const(len))),
            _ => None,
        };
        let rest = patterns.iter().position(|p| matches!(p, syn::Pat::Rest(_)) || named_rest(p).is_some());
        let named = patterns.len() - usize::from(rest.is_some());
        let Some(parts) = self.parts(ty, named, rest.is_some()) else {
            let message = format!("{} has no parts to match", self.shown(ty));
            let help = "bind it to one name; a tuple of one has a comma: `(x,)`";
            self.report(Diagnostic::error(span, message).help(help).by_rustc());
            patterns.iter().for_each(|part| self.bind_anything(part));
            return PatternKind::Wildcard;
        };
        if named > parts.len() || (rest.is_none() && named != parts.len()) {
            let message = format!("expected {} parts, found {named}", parts.len());
            let help = match named.checked_sub(parts.len()) {
                None => format!("write `..` for the {} that it leaves out, or `_` for each", parts.len() - named),
                Some(more) => format!("leave {more} of them out"),
            };
            self.report(Diagnostic::error(span, message).help(help).by_rustc());
            patterns.iter().for_each(|part| self.bind_anything(part));
            return PatternKind::Wildcard;
        }
        let skipped = parts.len() - named;
        let mut fields = Vec::new();
        for (index, pattern) in patterns.iter().enumerate() {
            if Some(index) == rest {
                match (named_rest(pattern), &array) {
                    (Some(ident), Some((element, len))) => fields.push(self.rest_pattern(ident, (element, *len), (index, skipped))),
                    (Some(ident), None) => drop(self.misplaced_rest(ident, pattern.span())),
                    (None, _) => {}
                }
                continue;
            }
            let position = if rest.is_some_and(|rest| index > rest) { index - 1 + skipped } else { index };
            let pattern = self.pattern(pattern, &parts[position]);
            fields.push((position as u32, pattern));
        }
        PatternKind::Fields(fields)
    }

    fn struct_pattern(&mut self, pattern: &syn::PatStruct, ty: &Ty, span: Span) -> PatternKind {
        let written = self.named_type(&pattern.path);
        self.expect(&written, ty, span);
        let Some(fields) = self.struct_fields(&written) else {
            if let Ty::Adt(id, _) = &written
                && matches!(self.context.items.adts[id.0].kind, AdtKind::Enum(..))
            {
                let help = self.instead_of_fields(&written);
                self.report(Diagnostic::error(span, "enums in kernels are C-like: they hold no data").help(help));
            }
            pattern.fields.iter().for_each(|field| self.bind_anything(&field.pat));
            return PatternKind::Wildcard;
        };
        let mut matched = Vec::new();
        for field in &pattern.fields {
            let name = member_name(&field.member);
            match fields.iter().position(|(known, _)| *known == name) {
                Some(index) => matched.push((index as u32, self.pattern(&field.pat, &fields[index].1.clone()))),
                None => {
                    let message = format!("`{}` has no field `{name}`", self.show(&written));
                    let help = self.instead_of_field(&written, &name);
                    self.report(Diagnostic::error(field.member.span(), message).help(help).by_rustc());
                    self.bind_anything(&field.pat);
                }
            }
        }
        PatternKind::Fields(matched)
    }
}

/// `rest @ ..`, which names elements of an array.
fn named_rest(pattern: &syn::Pat) -> Option<&syn::PatIdent> {
    let syn::Pat::Ident(ident) = pattern else { return None };
    let (_, subpattern) = ident.subpat.as_ref()?;
    matches!(**subpattern, syn::Pat::Rest(_)).then_some(ident)
}

/// The left side of `(a, [_, x[i]], ..) = e` as a pattern of new names, and the place that each stands for. A place alone: none.
pub(super) fn destructured(left: &syn::Expr) -> Option<(syn::Pat, Vec<(syn::Ident, &syn::Expr)>)> {
    let mut parts = Vec::new();
    let pattern = destination(left, &mut parts);
    (!matches!(pattern, syn::Pat::Ident(_))).then_some((pattern, parts))
}

fn destination<'e>(left: &'e syn::Expr, parts: &mut Vec<(syn::Ident, &'e syn::Expr)>) -> syn::Pat {
    let span = left.span();
    let mut all = |exprs: &'e Elements| -> Elements<syn::Pat> { exprs.iter().map(|part| destination(part, parts)).collect() };
    match left {
        syn::Expr::Paren(paren) => destination(&paren.expr, parts),
        syn::Expr::Group(group) => destination(&group.expr, parts),
        syn::Expr::Infer(_) => syn::parse_quote_spanned!(span=> _),
        syn::Expr::Range(syn::ExprRange { start: None, end: None, .. }) => syn::parse_quote_spanned!(span=> ..),
        syn::Expr::Tuple(tuple) if !tuple.elems.is_empty() => {
            let elems = all(&tuple.elems);
            syn::parse_quote_spanned!(span=> (#elems,))
        }
        syn::Expr::Array(array) => {
            let elems = all(&array.elems);
            syn::parse_quote_spanned!(span=> [#elems])
        }
        syn::Expr::Call(syn::ExprCall { func, args, .. }) if matches!(**func, syn::Expr::Path(_)) => {
            let elems = all(args);
            syn::parse_quote_spanned!(span=> #func(#elems))
        }
        syn::Expr::Struct(literal) if literal.rest.is_none() => {
            let path = &literal.path;
            let members = literal.fields.iter().map(|field| &field.member);
            let patterns: Vec<syn::Pat> = literal.fields.iter().map(|field| destination(&field.expr, parts)).collect();
            syn::parse_quote_spanned!(span=> #path { #(#members: #patterns,)* .. })
        }
        _ => {
            let name = quote::format_ident!("__part{}", parts.len(), span = span);
            parts.push((name.clone(), left));
            syn::parse_quote_spanned!(span=> #name)
        }
    }
}

/// Expressions, or what becomes of them, between commas.
type Elements<T = syn::Expr> = syn::punctuated::Punctuated<T, syn::Token![,]>;

/// An array's length, if it is known.
pub(crate) fn array_len(len: Const) -> Option<u64> {
    match len {
        Const::Value(value) => u64::try_from(value).ok(),
        Const::Var(_) => None,
    }
}
