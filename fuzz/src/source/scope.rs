//! What a statement may name: variables, inputs, items; and what the generator keeps while it writes a kernel.

use super::kernel::Call;
use super::layouts::Layout;
use super::names::VARIABLES;
use super::textures;
use super::types::Scalar;
use crate::random::Random;
use std::collections::BTreeSet;

/// The type of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    /// One value.
    Scalar(Scalar),
    /// A tuple.
    Tuple(Vec<Scalar>),
    /// An array of these.
    Array(Scalar, usize),
    /// An array of arrays.
    Grid(Scalar, usize, usize),
    /// A struct, by its place in [`Generator::structs`].
    Struct(usize),
    /// An array of a struct, by its place.
    List(usize, usize),
    /// An enum, by its place in [`Generator::enums`].
    Enum(usize),
}

/// A variable in scope.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) is_mutable: bool,
}

/// What a kernel reads, and nobody writes.
#[derive(Clone, Debug)]
pub(super) struct Input {
    /// As source says it, `g.x` for a group's.
    pub(super) name: String,
    pub(super) scalar: Scalar,
    /// Elements, a power of two.
    pub(super) len: usize,
    /// Whether elements are pairs `[T; 2]`.
    pub(super) is_pairs: bool,
    /// Whether it is a buffer: has `len()` and `load::<N>`.
    pub(super) is_global: bool,
}

/// A struct of the kernel's file.
#[derive(Clone, Debug)]
pub(super) struct Struct {
    pub(super) name: String,
    pub(super) fields: Vec<(String, Ty)>,
    /// What its attribute aligns it to; 1 if it says nothing.
    pub(super) align: usize,
    /// Whether it has `fn mixed(&self) -> u32`, `fn made(v: u32) -> Self`, and more.
    pub(super) has_methods: bool,
}

/// An enum of the kernel's file.
#[derive(Clone, Debug)]
pub(super) struct Enum {
    pub(super) name: String,
    pub(super) variants: Vec<&'static str>,
    /// The variants' numbers.
    pub(super) numbers: Vec<i64>,
    pub(super) repr: Scalar,
}

/// A buffer of structs.
#[derive(Clone, Debug)]
pub(super) struct Records {
    pub(super) name: String,
    /// An element's type.
    pub(super) ty: Ty,
    /// Elements, a power of two.
    pub(super) len: usize,
    /// Whether each thread has one of its own, which it may write.
    pub(super) is_own: bool,
}

/// A device function of the kernel's file.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) parameters: Vec<Scalar>,
    pub(super) result: Scalar,
    /// What stands between name and arguments: `::<3>`.
    pub(super) turbofish: String,
    /// Arguments that every call has first: buffers.
    pub(super) given: Vec<String>,
}

/// The generator: what it draws from, and what is in scope.
pub(super) struct Generator<'r> {
    pub(super) random: &'r mut Random,
    pub(super) hits: BTreeSet<&'static str>,
    /// Intrinsics that were written, each with its type.
    pub(super) calls: BTreeSet<Call>,
    pub(super) variables: Vec<Variable>,
    pub(super) inputs: Vec<Input>,
    /// Buffers of elements that are no scalars.
    pub(super) records: Vec<Records>,
    /// Matrices and batches of them, which nobody writes: name, elements, and whether it is a batch.
    pub(super) matrices: Vec<(String, Scalar, bool)>,
    pub(super) textures: Vec<textures::Input>,
    pub(super) structs: Vec<Struct>,
    pub(super) enums: Vec<Enum>,
    pub(super) functions: Vec<Function>,
    /// Values by parameter: the same in all threads.
    pub(super) uniform: Vec<(String, Scalar)>,
    /// Text of items before the kernel.
    pub(super) items: Vec<String>,
    /// How often the statement being written may be run at most.
    pub(super) turns: usize,
    /// Labels of the loops around, innermost last, and whether `break` and `continue` may name them.
    pub(super) loops: Vec<Option<&'static str>>,
    /// Whether expressions are operators, methods and casts, mostly.
    pub(super) is_arithmetic: bool,
    /// Whether functions may be used that only NVIDIA's targets and the simulator round alike.
    pub(super) may_approximate: bool,
    /// Whether one was.
    pub(super) is_approximate: bool,
    /// Whether a float was changed that outlives the loop around: `ilp` would sum it in another order.
    pub(super) changes_floats: bool,
    /// Whether threads, lanes and global ids may be named.
    pub(super) has_threads: bool,
    /// The name of the thread's own number, in the whole grid and in the block.
    pub(super) own: (String, String),
    /// Names that stay what they are: parameters and the thread's numbers.
    pub(super) reserved: BTreeSet<String>,
    /// Counters of type `usize` of the loops around, and what they are below.
    pub(super) counters: Vec<(String, usize)>,
    /// Variables of type `usize` that change, and what they stay below.
    pub(super) indices: Vec<(String, usize)>,
    /// The device function that writes a word.
    pub(super) putter: Option<String>,
    /// The buffer of words of which each thread has so many.
    pub(super) own_words: Option<(String, usize)>,
    /// The buffer of sums, which all threads change by atomics.
    pub(super) sums: Option<(String, Scalar)>,
    /// How many loops around have a value.
    pub(super) valued: usize,
    /// Whether a thread may end early.
    pub(super) may_return: bool,
    /// How often loops were left.
    pub(super) jumps: usize,
    /// Numbers for fresh names.
    pub(super) fresh: usize,
}

impl Generator<'_> {
    /// Notes a feature of the language.
    pub(super) fn hit(&mut self, feature: &'static str) {
        self.hits.insert(feature);
    }

    /// Notes a call of an intrinsic for a type.
    pub(super) fn called(&mut self, name: &'static str, ty: &'static str) {
        self.calls.insert((name, ty));
    }

    /// A name for a variable, which may hide another one.
    pub(super) fn name(&mut self) -> String {
        // Later names in the list are odder: the plain ones are small numbers.
        let name = self.random.pick(VARIABLES).to_owned();
        if self.variables.iter().any(|v| v.name == name) && !self.random.chance(25) || self.reserved.contains(&name) {
            self.fresh += 1;
            return format!("{name}{}", self.fresh);
        }
        if VARIABLES.iter().position(|n| *n == name).is_some_and(|at| at >= 5) {
            self.hit("names.odd");
        }
        name
    }

    /// Takes a name from what it meant.
    pub(super) fn hide(&mut self, name: &str) {
        self.variables.retain(|v| v.name != name);
        self.counters.retain(|(counter, _)| counter != name);
        self.indices.retain(|(index, _)| index != name);
    }

    /// Brings a variable into scope.
    pub(super) fn bind(&mut self, name: &str, ty: Ty, is_mutable: bool) {
        if self.variables.iter().any(|v| v.name == name) {
            self.hit("let.shadowing");
        }
        self.hide(name);
        self.variables.push(Variable { name: name.to_owned(), ty, is_mutable });
    }

    /// Writes something whose variables end with it.
    pub(super) fn scoped<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = (self.variables.clone(), self.counters.clone(), self.indices.clone());
        let result = write(self);
        (self.variables, self.counters, self.indices) = before;
        result
    }

    /// An index below `len`, a power of two, as source.
    pub(super) fn index(&mut self, len: usize, depth: usize) -> String {
        if self.random.chance(30) {
            return self.random.below(len).to_string();
        }
        if self.random.chance(20) {
            self.hit("usize.index");
            let (number, below) = self.number(depth.min(2));
            return if below <= len { number } else { format!("{number} % {len}") };
        }
        if !self.counters.is_empty() && self.random.chance(50) {
            let (counter, most) = self.counters[self.random.below(self.counters.len())].clone();
            return if most <= len { counter } else { format!("{counter} % {len}") };
        }
        if self.has_threads && self.random.chance(40) {
            let own = if self.random.chance(50) { self.own.0.clone() } else { self.own.1.clone() };
            return if self.random.chance(50) { format!("{own} % {len}") } else { format!("({own} + {}) % {len}", self.random.below(40)) };
        }
        let unsigned = self.random.pick(&[Scalar::U32, Scalar::U8, Scalar::U16, Scalar::U64]);
        let of = self.expr(unsigned, depth);
        if unsigned == Scalar::U64 { format!("(({of}) % {len}) as usize") } else { format!("({of}) as usize % {len}") }
    }

    /// A place of this type to read, if there is one.
    pub(super) fn place(&mut self, ty: Scalar, must_be_mutable: bool) -> Option<String> {
        let fits = |v: &&Variable, structs: &[Struct]| {
            (v.is_mutable || !must_be_mutable)
                && match &v.ty {
                    Ty::Scalar(scalar) | Ty::Array(scalar, _) | Ty::Grid(scalar, ..) => *scalar == ty,
                    Ty::Tuple(parts) => parts.contains(&ty),
                    Ty::Struct(_) | Ty::List(..) => leaves(structs, &v.ty).iter().any(|(_, leaf)| *leaf == ty),
                    Ty::Enum(_) => false,
                }
        };
        let candidates: Vec<usize> = (0..self.variables.len()).filter(|at| fits(&&self.variables[*at], &self.structs)).collect();
        if candidates.is_empty() {
            return None;
        }
        // The last ones first: what was just computed is to be used.
        let at = candidates[candidates.len() - 1 - self.random.below(candidates.len())];
        let Variable { name, ty: kind, .. } = self.variables[at].clone();
        Some(match kind {
            Ty::Scalar(_) | Ty::Enum(_) => name,
            Ty::Array(_, len) => {
                self.hit("array.index");
                let index = self.index(len, 0);
                format!("{name}[{index}]")
            }
            Ty::Grid(_, rows, columns) => {
                self.hit("array.of_arrays");
                let (row, column) = (self.index(rows, 0), self.index(columns, 0));
                format!("{name}[{row}][{column}]")
            }
            Ty::Tuple(parts) => {
                self.hit("tuple.field");
                let fitting: Vec<usize> = (0..parts.len()).filter(|part| parts[*part] == ty).collect();
                format!("{name}.{}", self.random.pick(&fitting))
            }
            Ty::List(id, len) => {
                self.hit("array.of_structs");
                let index = self.index(len, 0);
                let fitting: Vec<String> =
                    self.leaves(&Ty::Struct(id)).into_iter().filter(|(_, leaf)| *leaf == ty).map(|(path, _)| path).collect();
                format!("{name}[{index}]{}", fitting[self.random.below(fitting.len())])
            }
            Ty::Struct(_) => {
                self.hit("struct.field");
                let fitting: Vec<String> = self.leaves(&kind).into_iter().filter(|(_, leaf)| *leaf == ty).map(|(path, _)| path).collect();
                format!("{name}{}", fitting[self.random.below(fitting.len())])
            }
        })
    }

    /// The scalars of a value of this type, each with its path behind the value's name.
    pub(super) fn leaves(&self, ty: &Ty) -> Vec<(String, Scalar)> {
        leaves(&self.structs, ty)
    }

    /// How memory holds it; nothing for what has tuples, whose layout is the language's own.
    pub(super) fn layout(&self, ty: &Ty) -> Option<Layout> {
        Some(match ty {
            Ty::Scalar(scalar) => Layout::Scalar(*scalar),
            Ty::Array(scalar, len) => Layout::Array(Box::new(Layout::Scalar(*scalar)), *len),
            Ty::Grid(scalar, rows, columns) => Layout::Array(Box::new(Layout::Array(Box::new(Layout::Scalar(*scalar)), *columns)), *rows),
            Ty::Tuple(_) => return None,
            Ty::List(id, len) => Layout::Array(Box::new(self.layout(&Ty::Struct(*id))?), *len),
            Ty::Struct(id) => {
                let Struct { name, fields, align, .. } = &self.structs[*id];
                let fields = fields.iter().map(|(name, field)| Some((name.clone(), self.layout(field)?))).collect::<Option<_>>()?;
                Layout::Struct { name: name.clone(), fields, align: *align }
            }
            Ty::Enum(id) => {
                let Enum { name, variants, numbers, repr } = &self.enums[*id];
                let variants = variants.iter().copied().zip(numbers.iter().copied()).collect();
                Layout::Enum { name: name.clone(), variants, repr: *repr }
            }
        })
    }
}

fn leaves(structs: &[Struct], ty: &Ty) -> Vec<(String, Scalar)> {
    match ty {
        Ty::Scalar(scalar) => vec![(String::new(), *scalar)],
        Ty::Tuple(parts) => parts.iter().enumerate().map(|(at, scalar)| (format!(".{at}"), *scalar)).collect(),
        Ty::Array(scalar, len) => (0..*len).map(|at| (format!("[{at}]"), *scalar)).collect(),
        Ty::Grid(scalar, rows, columns) => {
            (0..rows * columns).map(|at| (format!("[{}][{}]", at / columns, at % columns), *scalar)).collect()
        }
        Ty::Struct(id) => {
            let of = |(name, field): &(String, Ty)| {
                leaves(structs, field).into_iter().map(|(path, leaf)| (format!(".{name}{path}"), leaf)).collect::<Vec<_>>()
            };
            structs[*id].fields.iter().flat_map(of).collect()
        }
        Ty::List(id, len) => {
            let one = leaves(structs, &Ty::Struct(*id));
            (0..*len).flat_map(|at| one.iter().map(move |(path, leaf)| (format!("[{at}]{path}"), *leaf))).collect()
        }
        Ty::Enum(_) => Vec::new(),
    }
}
