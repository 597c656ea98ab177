//! What `#[kernel]` and `#[device]` leave in the program: source text, and how to reach what it names from outside.
//!
//! Everything here is written by the macro, in `static`s and `const`s; only tests make others.

use crate::element::ElementType;
use std::sync::{Mutex, PoisonError};
use warpwright_codegen::syntax::ConstValue;

/// Source text of a marked item, with its place in the file.
#[derive(Clone, Copy, Debug)]
pub struct SourceText {
    /// The item, laid out so that lines and columns are those of the file.
    pub text: &'static str,
    /// The file, as rustc names it.
    pub file: &'static str,
    /// Line of the first character, from 1.
    pub line: u32,
    /// Column of the first character, from 1.
    pub column: u32,
}

/// A marked item that other units may name: a device function, a module of them, a struct.
#[derive(Clone, Copy, Debug)]
pub struct DeviceItem {
    /// Its name within `source`.
    pub name: &'static str,
    /// The unit that holds it.
    pub source: SourceText,
    /// What the unit names from outside.
    pub externs: &'static [ExternItem],
}

/// A path from outside a unit, and what it means.
#[derive(Clone, Copy, Debug)]
pub struct ExternItem {
    /// As written in the source, without spaces.
    pub path: &'static str,
    /// What it means.
    pub target: ExternTarget,
}

/// What a path from outside means.
#[derive(Clone, Copy, Debug)]
pub enum ExternTarget {
    /// A constant: its value, when asked.
    Constant(fn() -> ConstValue),
    /// A device item.
    Item(fn() -> &'static DeviceItem),
    /// A device item that no macro made: tests put another text in an item's place.
    Other(&'static DeviceItem),
}

impl ExternTarget {
    /// The item; of a constant what gives its value.
    pub fn item(&self) -> Result<&'static DeviceItem, fn() -> ConstValue> {
        match self {
            ExternTarget::Constant(value) => Err(*value),
            ExternTarget::Item(get) => Ok(get()),
            ExternTarget::Other(item) => Ok(item),
        }
    }
}

/// How a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// By value.
    Value,
    /// `&Global<T>`.
    Global,
    /// `&mut Global<T>`.
    GlobalMut,
    /// `&Constant<T>`.
    Constant,
    /// `&Texture2d<T>`.
    Texture,
    /// A struct of buffers and values: its fields are parameters, each for itself.
    Group(&'static [Parameter]),
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// How it is passed.
    pub kind: ParameterKind,
}

/// What a `&Matrix<T>` is passed as: the buffer, and what lies in it.
pub const MATRIX: &[Parameter] = &matrix(ParameterKind::Global);

/// The same of a `&mut Matrix<T>`.
pub const MATRIX_MUT: &[Parameter] = &matrix(ParameterKind::GlobalMut);

const fn matrix(data: ParameterKind) -> [Parameter; 4] {
    [
        Parameter { name: "data", kind: data },
        Parameter { name: "rows", kind: ParameterKind::Value },
        Parameter { name: "columns", kind: ParameterKind::Value },
        Parameter { name: "pitch", kind: ParameterKind::Value },
    ]
}

/// What a `&MatrixBatch<T>` is passed as.
pub const MATRIX_BATCH: &[Parameter] = &matrix_batch(ParameterKind::Global);

/// The same of a `&mut MatrixBatch<T>`.
pub const MATRIX_BATCH_MUT: &[Parameter] = &matrix_batch(ParameterKind::GlobalMut);

const fn matrix_batch(data: ParameterKind) -> [Parameter; 6] {
    let [data, rows, columns, pitch] = matrix(data);
    let count = Parameter { name: "count", kind: ParameterKind::Value };
    let stride = Parameter { name: "stride", kind: ParameterKind::Value };
    [data, rows, columns, pitch, count, stride]
}

/// A kernel. One `static` for each `#[kernel]`, all instances alike.
#[derive(Debug)]
pub struct KernelDefinition {
    /// Its name: the path within `item`'s unit (`module::saxpy`, or `saxpy`).
    pub name: &'static str,
    /// The unit that holds it.
    pub item: DeviceItem,
    /// Its parameters, in order.
    pub parameters: &'static [Parameter],
    /// Names of its generic parameters, in order.
    pub generics: &'static [&'static str],
}

impl KernelDefinition {
    /// What a launch passes, one by one: the parameters, and in the place of a group its fields, each with the group's name.
    pub(crate) fn passed(&self) -> impl Iterator<Item = (Option<&'static str>, &'static Parameter)> {
        self.parameters.iter().flat_map(|parameter| {
            let (group, list) = match parameter.kind {
                ParameterKind::Group(fields) => (Some(parameter.name), fields),
                _ => (None, std::slice::from_ref(parameter)),
            };
            list.iter().map(move |parameter| (group, parameter))
        })
    }

    /// The name of what is passed in this place: `x`, of a group `p.x`.
    #[cold]
    pub(crate) fn passed_name(&self, index: usize) -> &'static str {
        /// Names of fields, which messages keep for good: no more than the program has.
        static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
        match self.passed().nth(index) {
            None => "?",
            Some((None, parameter)) => parameter.name,
            Some((Some(group), parameter)) => {
                let name = format!("{group}.{}", parameter.name);
                let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
                let known = names.iter().find(|known| **known == name).copied();
                known.unwrap_or_else(|| {
                    let name: &'static str = Box::leak(name.into_boxed_str());
                    names.push(name);
                    name
                })
            }
        }
    }
}

/// The value of a generic parameter in one instance, as the host function passes it: no allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GenericArgument {
    /// A const generic, an integer or a `bool`: its type and bits.
    Const(ScalarKind, u64),
    /// A type generic.
    Type(ElementType),
}

/// The Rust type of a const generic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "Rust's own names")]
pub enum ScalarKind {
    Bool,
    I8,
    I16,
    I32,
    I64,
    Isize,
    U8,
    U16,
    U32,
    U64,
    Usize,
}
