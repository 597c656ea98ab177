//! Values as Rust writes them: numbers, lists, tuples, and structs by their fields' names; and what a value of a type looks like.

use super::super::source::meant;
use super::values::{Structs, leaves, length};
use std::fmt::Write;
use syn::{Expr, ExprLit, ExprUnary, Lit, Member, UnOp};
use warpwright_codegen::ir::{MemoryType, StructId, Type};

/// A number as written.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Bool(bool),
    Int(i128),
    Float(f64),
}

/// A value as written.
pub(super) enum Literal {
    Number(Number),
    /// `[1, 2]`, `(1, 2)`: lists within lists may be left out, and what is in them written as one.
    List(Vec<Literal>),
    /// `[0; 64]`.
    Repeat(Box<Literal>, usize),
    /// `Params { width: 64, gain: 0.5 }`.
    Struct(String, Vec<(String, Literal)>),
}

/// Most numbers that a list may stand for.
const MOST_NUMBERS: usize = 1 << 20;

impl Literal {
    /// Reads it; `None` for what is no value.
    pub(super) fn of(expr: &Expr) -> Option<Literal> {
        let list = |items: &mut dyn Iterator<Item = &Expr>| items.map(Literal::of).collect::<Option<_>>().map(Literal::List);
        match expr {
            Expr::Array(array) => list(&mut array.elems.iter()),
            Expr::Tuple(tuple) => list(&mut tuple.elems.iter()),
            Expr::Paren(inner) => Literal::of(&inner.expr),
            Expr::Repeat(repeat) => Some(Literal::Repeat(Box::new(Literal::of(&repeat.expr)?), length(&repeat.len)?)),
            Expr::Struct(value) if value.rest.is_none() => {
                let field = |field: &syn::FieldValue| {
                    let name = match &field.member {
                        Member::Named(name) => name.to_string(),
                        Member::Unnamed(index) => index.index.to_string(),
                    };
                    Some((name, Literal::of(&field.expr)?))
                };
                let name = value.path.segments.last()?.ident.to_string();
                Some(Literal::Struct(name, value.fields.iter().map(field).collect::<Option<_>>()?))
            }
            other => number(other).map(Literal::Number),
        }
    }

    /// What is wrong with a list or a struct that has a part which is no value; `None`: it has none, or is no list.
    pub(super) fn bad_part(expr: &Expr) -> Option<String> {
        let (place, part) = bad_part(expr)?;
        let part = warpwright_codegen::syntax::written(part);
        Some(format!("has `{part}` as its {place}, which is no value; write a number, `true` or `false`"))
    }

    /// Its numbers in the order of a type's scalars; for a list of elements, of one after the other.
    ///
    /// # Errors
    /// What does not fit, to go on after the parameter's name.
    pub(super) fn numbers(&self, ty: &MemoryType, structs: &Structs) -> Result<Vec<Number>, String> {
        let of_element = leaves(ty, structs).len().max(1);
        let mut starts = Vec::new();
        struct_starts(ty, structs, &mut 0, &mut starts);
        let mut reader = Reader { structs, starts, of_element, numbers: Vec::new() };
        reader.read(self)?;
        Ok(reader.numbers)
    }
}

/// The innermost part that is no value, and where it is.
fn bad_part(expr: &Expr) -> Option<(String, &Expr)> {
    let is_bad = |(_, item): &(usize, &Expr)| Literal::of(item).is_none();
    let (own, part) = match expr {
        Expr::Paren(inner) => return bad_part(&inner.expr),
        Expr::Array(array) => {
            let (at, item) = array.elems.iter().enumerate().find(is_bad)?;
            (format!("element {at}"), item)
        }
        Expr::Tuple(tuple) => {
            let (at, item) = tuple.elems.iter().enumerate().find(is_bad)?;
            (format!("element {at}"), item)
        }
        Expr::Struct(value) => {
            let field = value.fields.iter().find(|field| Literal::of(&field.expr).is_none())?;
            (format!("field `{}`", warpwright_codegen::syntax::written(&field.member)), &field.expr)
        }
        _ => return None,
    };
    Some(match bad_part(part) {
        Some((inner, part)) => (format!("{} of {own}, counted from 0", inner.trim_end_matches(", counted from 0")), part),
        None if own.starts_with("field") => (own, part),
        None => (format!("{own}, counted from 0"), part),
    })
}

struct Reader<'s> {
    structs: &'s Structs,
    /// The structs within an element, each by the number of its first scalar.
    starts: Vec<(usize, StructId)>,
    /// Scalars of an element.
    of_element: usize,
    numbers: Vec<Number>,
}

impl Reader<'_> {
    fn read(&mut self, literal: &Literal) -> Result<(), String> {
        match literal {
            Literal::Number(number) => self.numbers.push(*number),
            Literal::List(items) => items.iter().try_for_each(|item| self.read(item))?,
            Literal::Repeat(item, times) => {
                let before = self.numbers.len();
                for n in 0..*times {
                    self.read(item)?;
                    let each = self.numbers.len() - before;
                    if n == 0 && each.saturating_mul(*times) > MOST_NUMBERS {
                        return Err(format!("has a list of {times} times {}; write at most {MOST_NUMBERS} numbers", count(each)));
                    }
                }
            }
            Literal::Struct(name, fields) => self.read_struct(name, fields)?,
        }
        Ok(())
    }

    fn read_struct(&mut self, name: &str, given: &[(String, Literal)]) -> Result<(), String> {
        let structs = self.structs;
        let at = self.numbers.len() % self.of_element;
        // Instances of a generic struct have a number behind its name.
        let is_named =
            |id: &&StructId| structs[**id].name.trim_end_matches(|c: char| c.is_ascii_digit()) == name || structs[**id].name == name;
        let here = self.starts.iter().filter(|(start, _)| *start == at).map(|(_, id)| id);
        let Some(id) = here.clone().find(is_named).copied() else {
            let expected: Vec<String> = here.map(|id| format!("`{}`", structs[*id].name)).collect();
            let expected = if expected.is_empty() { "a number".to_owned() } else { expected.join(" or ") };
            return Err(format!("has a `{name}` where {expected} is expected; write that"));
        };
        let fields = &structs[id].fields;
        for (n, (field, _)) in given.iter().enumerate() {
            if !fields.iter().any(|known| known.name == *field) {
                let hint = meant(field, fields.iter().map(|field| field.name.as_str()));
                return Err(format!("is a `{name}`, which has no field `{field}`; {hint}"));
            }
            if given[..n].iter().any(|(before, _)| before == field) {
                return Err(format!("has the field `{field}` of `{name}` twice; leave one out"));
            }
        }
        for field in fields {
            let Some((_, value)) = given.iter().find(|(name, _)| *name == field.name) else {
                return Err(format!(
                    "has no field `{}`, and `{name}` does: write `{}: {}`",
                    field.name,
                    field.name,
                    example(&field.ty, structs)
                ));
            };
            let (before, wanted) = (self.numbers.len(), leaves(&field.ty, structs).len());
            self.read(value)?;
            let found = self.numbers.len() - before;
            if found != wanted {
                return Err(format!("has {}, and the field `{}` has {wanted}; give as many", count(found), field.name));
            }
        }
        Ok(())
    }
}

/// `1 number`, `2 numbers`.
pub(super) fn count(numbers: usize) -> String {
    if numbers == 1 { "1 number".to_owned() } else { format!("{numbers} numbers") }
}

/// The structs within a type that have a scalar, outer ones first, each by the number of its first.
fn struct_starts(ty: &MemoryType, structs: &Structs, at: &mut usize, into: &mut Vec<(usize, StructId)>) {
    match ty {
        MemoryType::Scalar(_) => *at += 1,
        MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) => {
            (0..*n).for_each(|_| struct_starts(element, structs, at, into));
        }
        MemoryType::Slice(_) => {}
        MemoryType::Struct(id) => {
            into.push((*at, *id));
            structs[*id].fields.iter().for_each(|field| struct_starts(&field.ty, structs, at, into));
        }
    }
}

/// What a value of a type looks like: `Params { width: 1, gain: 1.0 }`.
pub(super) fn example(ty: &MemoryType, structs: &Structs) -> String {
    match ty {
        MemoryType::Scalar(Type::Bool) => "true".to_owned(),
        MemoryType::Scalar(ty) if ty.is_any_float() => "1.0".to_owned(),
        MemoryType::Scalar(_) => "1".to_owned(),
        MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) if *n > 4 => format!("[{}; {n}]", example(element, structs)),
        MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) => {
            let element = example(element, structs);
            format!("[{}]", vec![element; usize::try_from(*n).unwrap_or(0)].join(", "))
        }
        MemoryType::Slice(element) => example(element, structs),
        MemoryType::Struct(id) => {
            let data = &structs[*id];
            // The fields of a tuple have made-up names.
            let is_tuple = data.fields.iter().enumerate().all(|(n, field)| field.name == format!("f{n}"));
            let mut text = String::new();
            for field in &data.fields {
                let value = example(&field.ty, structs);
                let separator = if text.is_empty() { "" } else { ", " };
                match is_tuple {
                    true => write!(text, "{separator}{value}").expect("a String takes all"),
                    false => write!(text, "{separator}{}: {value}", field.name).expect("a String takes all"),
                }
            }
            if is_tuple { format!("({text})") } else { format!("{} {{ {text} }}", data.name) }
        }
    }
}

pub(super) fn number(expr: &Expr) -> Option<Number> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) => int.base10_parse().ok().map(Number::Int),
        Expr::Lit(ExprLit { lit: Lit::Float(float), .. }) => float.base10_parse().ok().map(Number::Float),
        Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) => Some(Number::Bool(value.value)),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => match number(expr)? {
            Number::Int(value) => Some(Number::Int(-value)),
            Number::Float(value) => Some(Number::Float(-value)),
            Number::Bool(_) => None,
        },
        _ => None,
    }
}
