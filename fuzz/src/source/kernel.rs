//! A generated kernel: its text in every form, its arguments, its launch.

use super::contents::contents;
use super::tree::{Form, Node};
use super::types::Scalar;
use std::collections::BTreeSet;

/// What every file begins with.
pub const USES: &str = "use warpwright::prelude::*;\nuse warpwright::warp::{all, any, ballot, match_any, shuffle, shuffle_down, shuffle_up, shuffle_xor};\nuse warpwright::{Float, Int, Num};\nuse std::hint::black_box;\nuse std::sync::atomic::Ordering;\n\n";

/// How a parameter is passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passed {
    /// By value: these bits.
    Value(u64),
    /// A buffer of so many scalars.
    Global {
        /// Scalars in it.
        len: usize,
        /// Whether the kernel writes it.
        is_written: bool,
        /// Whether all of it is zero at first.
        is_zero: bool,
    },
    /// `&Constant<[T; N]>`.
    Constant(usize),
    /// A matrix.
    Matrix {
        /// Rows, columns, and elements from row to row.
        rows: usize,
        /// Elements of a row.
        columns: usize,
        /// Elements from row to row.
        pitch: usize,
        /// Whether the kernel writes it.
        is_written: bool,
    },
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name; a field's, if it stands in a group.
    pub name: String,
    /// Its scalars.
    pub scalar: Scalar,
    /// Scalars of an element.
    pub each: usize,
    /// How it is passed.
    pub passed: Passed,
    /// Where its contents come from.
    pub seed: u64,
    /// Whether it is a field of the kernel's group.
    pub in_group: bool,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Device functions and types.
    pub items: String,
    /// Arguments of the attribute that change what it computes, or where it may run.
    pub options: Vec<String>,
    /// Arguments of the attribute that change nothing.
    pub annotations: Vec<String>,
    /// Elements of a thread, if its annotations are kept.
    pub elements: u32,
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of a grid.
    pub grid: [u32; 3],
    /// Dynamic shared memory.
    pub shared_bytes: u32,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// The kernel's const generic, if it has one: its value.
    pub generic: Option<usize>,
    /// Whether it stands in a `#[warpwright::module]`, whose items need no marks.
    pub in_module: bool,
    /// Whether its blocks form clusters, which older targets and OpenCL have not.
    pub has_clusters: bool,
    /// Between the braces.
    pub body: Vec<Node>,
    /// Features of the language in it.
    pub hits: BTreeSet<&'static str>,
    /// Whether host twin and OpenCL devices round functions in it otherwise.
    pub is_approximate: bool,
    /// Which family of kernels it is of.
    pub family: &'static str,
}

impl Parameter {
    fn element(&self) -> String {
        let scalar = self.scalar.name();
        if self.each == 1 { scalar.to_owned() } else { format!("[{scalar}; {}]", self.each) }
    }

    /// Its type.
    pub fn ty(&self) -> String {
        let element = self.element();
        let lifetime = if self.in_group { "'a " } else { "" };
        let mutable = |is_written: bool| if is_written { "mut " } else { "" };
        match &self.passed {
            Passed::Value(_) => element,
            Passed::Global { is_written, .. } => format!("&{lifetime}{}Global<{element}>", mutable(*is_written)),
            Passed::Constant(len) => format!("&{lifetime}Constant<[{element}; {len}]>"),
            Passed::Matrix { is_written, .. } => format!("&{}Matrix<{element}>", mutable(*is_written)),
        }
    }

    /// Its bytes before the launch.
    pub fn bytes(&self) -> Vec<u8> {
        let scalar = self.scalar.name();
        match &self.passed {
            Passed::Value(bits) => bits.to_le_bytes()[..self.scalar.bytes()].to_vec(),
            Passed::Global { len, is_zero: true, .. } => vec![0; len * self.scalar.bytes()],
            Passed::Global { len, .. } => contents(self.seed, scalar, *len),
            Passed::Constant(len) => contents(self.seed, scalar, *len),
            Passed::Matrix { rows, pitch, .. } => contents(self.seed, scalar, rows * pitch),
        }
    }

    /// Whether the kernel writes it.
    pub fn is_written(&self) -> bool {
        matches!(self.passed, Passed::Global { is_written: true, .. } | Passed::Matrix { is_written: true, .. })
    }
}

impl Kernel {
    /// Threads of the grid where each has one element.
    pub fn threads(&self) -> usize {
        self.block.iter().chain(&self.grid).map(|extent| *extent as usize).product()
    }

    /// As text, without the `use`s.
    pub fn print(&self, form: Form) -> String {
        let [x, y, z] = self.block;
        let block = if (y, z) == (1, 1) { x.to_string() } else { format!("({x}, {y}, {z})") };
        let mut arguments = vec![format!("block = {block}")];
        arguments.extend(self.options.iter().cloned());
        if form != Form::Stripped {
            arguments.extend(self.annotations.iter().cloned());
        }
        if form == Form::BestEffort && !self.annotations.is_empty() {
            arguments.push("best_effort".to_owned());
        }
        let (in_group, plain): (Vec<&Parameter>, Vec<&Parameter>) = self.parameters.iter().partition(|parameter| parameter.in_group);
        let listed = |parameters: &[&Parameter]| parameters.iter().map(|p| format!("{}: {}", p.name, p.ty())).collect::<Vec<_>>();
        let mut text = self.items.clone();
        let mut all = listed(&plain);
        if !in_group.is_empty() {
            let fields: String = listed(&in_group).iter().map(|field| format!("    pub {field},\n")).collect();
            text += &format!("#[device]\npub struct Inputs<'a> {{\n{fields}}}\n");
            all.push("g: Inputs<'_>".to_owned());
        }
        let generic = if self.generic.is_some() { "<const WIDTH: usize>" } else { "" };
        text += &format!("#[kernel({})]\npub fn k{generic}({}) {{\n", arguments.join(", "), all.join(", "));
        self.body.iter().for_each(|node| node.print(form, 1, &mut text));
        text += "}\n";
        if self.in_module {
            // Functions keep their marks: one that no kernel calls is the host's without, and plain Rust.
            return format!("#[warpwright::module]\npub mod inner {{\n{USES}{}}}\n", text.replace("#[device]\n#[derive", "#[derive"));
        }
        text
    }

    /// Its path within its file.
    pub fn path(&self) -> &'static str {
        if self.in_module { "inner::k" } else { "k" }
    }

    /// A whole file.
    pub fn file(&self, form: Form) -> String {
        format!("{USES}{}", self.print(form))
    }

    /// Parameters in the order in which a launch has them: those of the group last.
    pub fn in_order(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|p| !p.in_group).chain(self.parameters.iter().filter(|p| p.in_group))
    }

    /// Statements of its body.
    pub fn size(&self) -> usize {
        self.body.iter().map(Node::count).sum()
    }
}
