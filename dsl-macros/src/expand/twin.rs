//! The host twin: device code as the ordinary Rust it is, but for what Rust has no word for.
//!
//! `#[shared] let` becomes a handle to the block's storage; annotations go; and `as` becomes a call where Rust's own `as` cannot
//! follow: in generic functions, and where `f16` and `bf16` are about, which are structs to Rust. There shifts become calls, too: Rust does not
//! infer the type of `a << 2` from the several bounds `T: Shl<…>`. A `while` and a `loop` count their turns, so that none runs for ever.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use warpwright_codegen::intrinsics;
use warpwright_codegen::ir::Type;
use warpwright_codegen::syntax::{MatchesArguments, annotation_arguments, is_named, padding_argument};

/// Numbers for the shared arrays of a unit. Those of other units are told apart by their place in the source.
#[derive(Default)]
pub(super) struct Slots {
    next: usize,
}

impl Slots {
    fn next(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }
}

/// Types of the language that hold no floats but those that are named beside them.
const PLAIN_TYPES: [&str; 12] =
    ["Accumulator", "Constant", "Dim3", "Float", "Global", "Int", "Matrix", "MatrixBatch", "Num", "Ordering", "Rows", "ThreadScope"];

/// What becomes a call, because the operands may be floats that are structs to Rust.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Calls {
    /// Nothing.
    None,
    /// `as`.
    Casts,
    /// `as`, shifts and compound assignment.
    All,
}

impl Calls {
    /// What it is for an item: all where such floats are named, or structs, whose fields are not shown; casts where functions or constants from elsewhere are, which may be of such floats.
    pub(super) fn of(tokens: TokenStream) -> Calls {
        let mut constants = Vec::new();
        add_constants(tokens.clone(), &mut constants);
        calls_in(tokens, &constants)
    }

    /// The same of a function or an implementation, which may be generic.
    fn of_function(self, generics: &syn::Generics) -> Calls {
        if generics.params.iter().any(|param| matches!(param, syn::GenericParam::Type(_))) { Calls::All } else { self }
    }
}

/// The constants, parameters among them, whose types stand here.
fn add_constants(tokens: TokenStream, constants: &mut Vec<String>) {
    let mut is_const = false;
    for token in tokens {
        match &token {
            TokenTree::Ident(ident) if is_const => constants.push(ident.to_string()),
            TokenTree::Group(group) => add_constants(group.stream(), constants),
            _ => {}
        }
        is_const = matches!(&token, TokenTree::Ident(ident) if ident == "const");
    }
}

fn calls_in(tokens: TokenStream, constants: &[String]) -> Calls {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let before = |at: usize, n: usize| at.checked_sub(n).and_then(|at| tokens.get(at));
    let is_after = |at: usize, sign: char| matches!(before(at, 1), Some(TokenTree::Punct(punct)) if punct.as_char() == sign);
    let all_if = |is_so: bool| if is_so { Calls::All } else { Calls::None };
    let casts_if = |is_so: bool| if is_so { Calls::Casts } else { Calls::None };
    let calls = tokens.iter().enumerate().map(|(at, token)| match token {
        TokenTree::Ident(ident) => {
            let name = ident.to_string();
            let is_upper = name.starts_with(char::is_uppercase);
            let is_type = is_upper && name.contains(char::is_lowercase);
            // `f32::MAX`, `consts::PI`: Rust's own.
            let is_rusts = is_after(at, ':')
                && before(at, 3).is_some_and(|path| {
                    let path = path.to_string();
                    path == "consts" || matches!(path.as_str(), "usize" | "isize") || path.parse::<Type>().is_ok()
                });
            let is_called = || {
                let is_declared = matches!(before(at, 1), Some(TokenTree::Ident(before)) if before == "fn");
                is_call(&tokens[at + 1..]) && !is_declared && !is_after(at, '.') && syn::parse_str::<syn::Ident>(&name).is_ok()
            };
            match (is_upper, is_type) {
                (true, true) => all_if(!PLAIN_TYPES.contains(&name.as_str())),
                (true, false) => casts_if(!is_rusts && !constants.contains(&name)),
                (false, _) if ["f16", "bf16", "e4m3", "e5m2"].contains(&name.as_str()) => Calls::All,
                (false, _) => casts_if(intrinsics::function(&name).is_none() && is_called()),
            }
        }
        // What an attribute is given is no expression of the function's.
        TokenTree::Group(_) if is_after(at, '#') => Calls::None,
        TokenTree::Group(group) => calls_in(group.stream(), constants),
        TokenTree::Punct(_) | TokenTree::Literal(_) => Calls::None,
    });
    calls.max().unwrap_or(Calls::None)
}

/// Whether arguments come next, perhaps behind generic ones: `(…)`, `::<…>(…)`.
fn is_call(behind: &[TokenTree]) -> bool {
    let is_sign = |at: usize, sign: char| matches!(behind.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == sign);
    let has_arguments = matches!(behind.first(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
    has_arguments || is_sign(0, ':') && is_sign(1, ':') && is_sign(2, '<')
}

/// Rewrites a function for the host.
pub(super) fn rewrite_function(sig: &mut syn::Signature, block: &mut syn::Block, calls: Calls, slots: &mut Slots) {
    let mut rewriter =
        Rewriter { calls: calls.of_function(&sig.generics), slots, counts_turns: sig.constness.is_none(), needs_traits_method: false };
    forget_hints(sig);
    super::shared_scalars::dereference(block);
    rewriter.visit_block_mut(block);
    forget_exclusiveness(sig, block);
    if rewriter.needs_traits_method {
        let allow = quote::quote!(#![allow(unstable_name_collisions)]);
        block.stmts.insert(0, syn::Stmt::Expr(syn::Expr::Verbatim(allow), None));
    }
}

/// Lets other threads write to shared arrays that a function borrows.
///
/// To `rustc` `&mut [T; N]` means that nobody else writes there while the function runs, and it may keep elements in registers across a
/// barrier. `black_box` hides where the reference is from.
fn forget_exclusiveness(sig: &syn::Signature, block: &mut syn::Block) {
    let hidden = sig.inputs.iter().filter_map(|input| {
        let syn::FnArg::Typed(syn::PatType { pat, ty, .. }) = input else { return None };
        let (syn::Pat::Ident(pat), syn::Type::Reference(reference)) = (&**pat, &**ty) else { return None };
        let is_array = matches!(*reference.elem, syn::Type::Array(_) | syn::Type::Slice(_));
        let (ident, span) = (&pat.ident, pat.ident.span());
        is_array.then(|| syn::Stmt::Expr(syn::Expr::Verbatim(quote_spanned!(span=> let #pat = ::core::hint::black_box(#ident);)), None))
    });
    block.stmts.splice(0..0, hidden);
}

/// Rewrites the functions of an `impl`.
pub(super) fn rewrite_impl(item: &mut syn::ItemImpl, calls: Calls, slots: &mut Slots) {
    let calls = calls.of_function(&item.generics);
    for member in &mut item.items {
        if let syn::ImplItem::Fn(function) = member {
            function.attrs.retain(|attr| !is_named(attr, "device"));
            rewrite_function(&mut function.sig, &mut function.block, calls, slots);
        }
    }
}

struct Rewriter<'s> {
    calls: Calls,
    slots: &'s mut Slots,
    /// Whether loops count their turns: not where `rustc` may run them.
    counts_turns: bool,
    /// Whether a method of the prelude's traits is called that std has too, but unstable: `rustc` warns of that.
    needs_traits_method: bool,
}

impl Rewriter<'_> {
    /// `#[shared] let mut tile: T;` → `let mut tile = shared::<T>(slot);`.
    fn rewrite_shared(&mut self, local: &mut syn::Local) {
        let Some(shared) = local.attrs.iter().find(|attr| attr.path().is_ident("shared")) else { return };
        let span = shared.path().span();
        let syn::Pat::Type(typed) = &local.pat else { return };
        let (pat, ty) = (&typed.pat, &typed.ty);
        let slot = self.slots.next();
        let handle = match &**ty {
            syn::Type::Slice(slice) => {
                // Room behind rows takes none here, but leaves the launch's bytes fewer of them.
                let element = &slice.elem;
                match padding_argument(&local.attrs) {
                    None => quote_spanned!(span=> ::warpwright::__private::shared_dynamic::<#element>(0)),
                    // Of whatever integer type it is.
                    Some(pad) => quote_spanned!(span=> {
                        #[allow(trivial_numeric_casts, clippy::unnecessary_cast)]
                        let pad = (#pad) as usize;
                        ::warpwright::__private::shared_dynamic::<#element>(pad)
                    }),
                }
            }
            _ => quote_spanned!(span=> ::warpwright::__private::shared::<#ty>(#slot)),
        };
        let arguments = annotation_arguments(&local.attrs).into_iter().filter(|argument| !matches!(argument, syn::Expr::Lit(_)));
        let names: Vec<_> = arguments.map(|argument| quote_spanned!(argument.span()=> let _ = #argument;)).collect();
        let handle = if names.is_empty() { handle } else { quote_spanned!(span=> { #(#names)* #handle }) };
        if local.init.is_none() {
            let init = syn::LocalInit { eq_token: syn::Token![=](span), expr: Box::new(syn::Expr::Verbatim(handle)), diverge: None };
            local.init = Some(init);
            local.pat = (**pat).clone();
            // As in the language, a shared array is written as `let mut`; the handle is mutable only where the array is assigned to.
            local.attrs.push(syn::parse_quote!(#[allow(unused_mut)]));
        }
    }
}

impl Rewriter<'_> {
    /// `y[i] += e` → `{ let value = e; y[i] += value; }`. For operators of its own types Rust evaluates `e` first; for those that are a
    /// trait's, it borrows `y[i]` first, and `e` could not read `y`.
    fn rewrite_compound_assignment(&mut self, expr: &mut syn::Expr) {
        let syn::Expr::Binary(syn::ExprBinary { left, op, right, .. }) = &*expr else { return };
        let assigns = matches!(
            op,
            syn::BinOp::AddAssign(_)
                | syn::BinOp::SubAssign(_)
                | syn::BinOp::MulAssign(_)
                | syn::BinOp::DivAssign(_)
                | syn::BinOp::RemAssign(_)
                | syn::BinOp::BitAndAssign(_)
                | syn::BinOp::BitOrAssign(_)
                | syn::BinOp::BitXorAssign(_)
                | syn::BinOp::ShlAssign(_)
                | syn::BinOp::ShrAssign(_)
        );
        if assigns && !matches!(**right, syn::Expr::Lit(_) | syn::Expr::Path(_)) && has_index(left) {
            let value = syn::Ident::new("__warpwright_value", proc_macro2::Span::mixed_site());
            let block = quote_spanned!(op.span()=> { let #value = #right; #left #op #value; });
            *expr = syn::Expr::Verbatim(block);
        }
    }
}

/// Whether it is an element of something, or a part of one.
fn has_index(place: &syn::Expr) -> bool {
    match place {
        syn::Expr::Index(_) => true,
        syn::Expr::Field(field) => has_index(&field.base),
        syn::Expr::Paren(paren) => has_index(&paren.expr),
        _ => false,
    }
}

/// Leaves out what parameters say of caches: `rustc` knows no such attribute.
pub(super) fn forget_hints(sig: &mut syn::Signature) {
    for input in &mut sig.inputs {
        if let syn::FnArg::Typed(typed) = input {
            keep_rusts_own(&mut typed.attrs);
        }
    }
}

/// Attributes that Rust itself knows stay; ours, and misspelt ones that are refused already, go.
fn keep_rusts_own(attrs: &mut Vec<syn::Attribute>) {
    const RUSTS: [&str; 9] = ["allow", "expect", "warn", "deny", "forbid", "doc", "cfg", "cfg_attr", "rustfmt"];
    attrs.retain(|attr| attr.path().segments.first().is_some_and(|first| RUSTS.iter().any(|name| first.ident == name)));
}

/// Puts what a loop's annotations name at the beginning of its body, so that `rustc` knows it is used, and checks it.
fn name_arguments(attrs: &[syn::Attribute], body: &mut syn::Block) {
    for argument in annotation_arguments(attrs).into_iter().filter(|argument| !matches!(argument, syn::Expr::Lit(_))) {
        let name = quote_spanned!(argument.span()=> let _ = #argument;);
        body.stmts.insert(0, syn::Stmt::Expr(syn::Expr::Verbatim(name), None));
    }
}

impl VisitMut for Rewriter<'_> {
    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        self.rewrite_shared(local);
        visit_mut::visit_local_mut(self, local);
    }

    fn visit_expr_for_loop_mut(&mut self, expr: &mut syn::ExprForLoop) {
        name_arguments(&expr.attrs, &mut expr.body);
        visit_mut::visit_expr_for_loop_mut(self, expr);
    }

    fn visit_expr_while_mut(&mut self, expr: &mut syn::ExprWhile) {
        name_arguments(&expr.attrs, &mut expr.body);
        visit_mut::visit_expr_while_mut(self, expr);
    }

    fn visit_expr_loop_mut(&mut self, expr: &mut syn::ExprLoop) {
        name_arguments(&expr.attrs, &mut expr.body);
        visit_mut::visit_expr_loop_mut(self, expr);
    }

    fn visit_attributes_mut(&mut self, attrs: &mut Vec<syn::Attribute>) {
        keep_rusts_own(attrs);
    }

    fn visit_expr_method_call_mut(&mut self, call: &mut syn::ExprMethodCall) {
        self.needs_traits_method |= call.method == "erf" || call.method == "erfc";
        visit_mut::visit_expr_method_call_mut(self, call);
    }

    fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
        visit_mut::visit_expr_mut(self, expr);
        keep_precedence(expr);
        if self.counts_turns {
            count_turns(expr);
        }
        if self.calls == Calls::All {
            self.rewrite_compound_assignment(expr);
        }
        if let (true, syn::Expr::Cast(cast)) = (self.calls >= Calls::Casts, &*expr)
            && !is_plain_literal_cast(cast)
        {
            let (value, ty) = (without_parentheses(&cast.expr), &cast.ty);
            let call = quote_spanned!(cast.as_token.span=> ::warpwright::__private::cast::<_, #ty>(#value));
            *expr = syn::Expr::Verbatim(call);
        }
        if let syn::Expr::Path(path) = &*expr
            && let Some(call) = rounded_once(path)
        {
            *expr = syn::Expr::Verbatim(call);
        }
        if let (true, syn::Expr::Binary(syn::ExprBinary { left, op, right, .. })) = (self.calls == Calls::All, &*expr)
            && !(is_literal(left) && is_literal(right))
        {
            let shift = match op {
                syn::BinOp::Shl(_) => "shl",
                syn::BinOp::Shr(_) => "shr",
                _ => return,
            };
            let (shift, left, right) = (syn::Ident::new(shift, op.span()), without_parentheses(left), without_parentheses(right));
            *expr = syn::Expr::Verbatim(quote_spanned!(op.span()=> ::warpwright::__private::#shift(#left, #right)));
        }
    }

    // Rust evaluates these while it compiles: no function of a trait can be called there.
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
    fn visit_expr_const_mut(&mut self, _: &mut syn::ExprConst) {}
    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}

    fn visit_expr_repeat_mut(&mut self, expr: &mut syn::ExprRepeat) {
        self.visit_expr_mut(&mut expr.expr);
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        // The arguments of `assert!` and `println!` are expressions, with casts in them.
        if self.calls == Calls::None {
            return;
        }
        if let Some(mut matches) = MatchesArguments::of(mac) {
            self.visit_expr_mut(&mut matches.value);
            matches.guard.iter_mut().for_each(|guard| self.visit_expr_mut(guard));
            let MatchesArguments { value, pattern, guard } = matches;
            let guard = guard.map(|guard| quote::quote!(if #guard));
            mac.tokens = quote::quote!(#value, #pattern #guard);
            return;
        }
        let parser = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if let Ok(mut arguments) = syn::parse::Parser::parse2(parser, mac.tokens.clone()) {
            arguments.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
            mac.tokens = quote::quote!(#arguments);
        }
    }

    // Items within a body are refused, or `use`.
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// `while c { … }` → `{ let mut turns = Turns::new(); while c { turns.next(); … } }`, and so `loop`.
fn count_turns(expr: &mut syn::Expr) {
    let (body, attrs, span) = match expr {
        syn::Expr::While(own) => (&mut own.body, &mut own.attrs, own.while_token.span),
        syn::Expr::Loop(own) => (&mut own.body, &mut own.attrs, own.loop_token.span),
        _ => return,
    };
    // A turn too many is reported at the loop's own token; the block is the macro's, so that clippy has nothing to say of it.
    let made = proc_macro2::Span::mixed_site().located_at(span);
    let turns = syn::Ident::new("__warpwright_turns", made);
    body.stmts.insert(0, syn::Stmt::Expr(syn::Expr::Verbatim(quote_spanned!(span=> #turns.next();)), None));
    let attrs = std::mem::take(attrs);
    let counted = quote_spanned!(made=> #(#attrs)* { let mut #turns = ::warpwright::__private::Turns::new(); #expr });
    *expr = syn::Expr::Verbatim(counted);
}

/// `(a + b) as T` needs parentheses, `cast(a + b)` does not, and `rustc` would say so.
fn without_parentheses(expr: &syn::Expr) -> &syn::Expr {
    match expr {
        syn::Expr::Paren(paren) => without_parentheses(&paren.expr),
        other => other,
    }
}

/// An argument of a `macro_rules!` stands in an invisible group, which `rustc` forgets when a macro gives it back: `$a * 2` with
/// `a + 1` for `$a` would become `a + 1 * 2`.
fn keep_precedence(expr: &mut syn::Expr) {
    use syn::Expr::{Assign, Binary, Cast, Range, Reference, Unary};
    if let syn::Expr::Group(group) = expr
        && matches!(&*group.expr, Assign(_) | Binary(_) | Cast(_) | Range(_) | Reference(_) | Unary(_))
    {
        let inner = std::mem::replace(&mut *group.expr, syn::Expr::PLACEHOLDER);
        let paren_token = syn::token::Paren(group.group_token.span);
        *expr = syn::Expr::Paren(syn::ExprParen { attrs: Vec::new(), paren_token, expr: Box::new(inner) });
    }
}

/// `f16::from_f64` and `bf16::from_f64` → the cast. `half`'s functions of these names (2.7.1) leave out the lower 32 bits of the `f64`, or
/// round it to `f32` first, and then round the rest: what is just above the middle of two values becomes the lower one.
/// Another name for one of the types hides it: its functions stay `half`'s.
fn rounded_once(path: &syn::ExprPath) -> Option<TokenStream> {
    let function = path.path.segments.last().filter(|last| last.ident == "from_f64")?;
    let ty = match &path.qself {
        // `<f16>::from_f64`, of no trait.
        Some(qself) if qself.position == 0 && path.path.segments.len() == 1 => without_groups(&qself.ty)?.path.clone(),
        Some(_) => return None,
        None => {
            let mut ty = path.path.clone();
            ty.segments.pop();
            ty.segments.pop_punct();
            ty
        }
    };
    let is_short = ty.segments.last().is_some_and(|last| last.ident == "f16" || last.ident == "bf16");
    is_short.then(|| quote_spanned!(function.ident.span()=> ::warpwright::__private::cast::<f64, #ty>))
}

/// The path that a type is, within the groups that macros put round it.
fn without_groups(ty: &syn::Type) -> Option<&syn::TypePath> {
    match ty {
        syn::Type::Path(path) if path.qself.is_none() => Some(path),
        syn::Type::Group(group) => without_groups(&group.elem),
        syn::Type::Paren(paren) => without_groups(&paren.elem),
        _ => None,
    }
}

fn is_literal(expr: &syn::Expr) -> bool {
    matches!(without_parentheses(expr), syn::Expr::Lit(_))
}

/// `1 as f32`: a literal and a type of Rust's own, where inference wants Rust's `as`.
fn is_plain_literal_cast(cast: &syn::ExprCast) -> bool {
    let is_literal = match &*cast.expr {
        syn::Expr::Lit(_) => true,
        syn::Expr::Unary(unary) => matches!(&*unary.expr, syn::Expr::Lit(_)),
        _ => false,
    };
    let syn::Type::Path(path) = &*cast.ty else { return false };
    let name = path.path.get_ident().map(ToString::to_string).unwrap_or_default();
    let is_crates = |ty: Type| ty.is_float8() || matches!(ty, Type::F16 | Type::BF16);
    let is_rusts = matches!(name.as_str(), "usize" | "isize") || name.parse::<Type>().is_ok_and(|ty| !is_crates(ty));
    is_literal && is_rusts
}
