//! A generated kernel: its text in every form, its arguments, its launch.

use super::contents::contents;
use super::layouts::Layout;
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
    /// By value: something of this type.
    Whole(Layout),
    /// A buffer of so many scalars.
    Global {
        /// Scalars in it.
        len: usize,
        /// Whether the kernel writes it.
        is_written: bool,
        /// Whether all of it is zero at first.
        is_zero: bool,
    },
    /// A buffer of so many elements of this type.
    Elements {
        /// An element's type.
        layout: Layout,
        /// How many.
        len: usize,
        /// Whether the kernel writes it.
        is_written: bool,
    },
    /// `&Constant<[T; N]>` of such elements.
    Constants {
        /// An element's type.
        layout: Layout,
        /// How many.
        len: usize,
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
    /// A texture, of which points give the nearest texel.
    Texture {
        /// Texels of a row.
        width: usize,
        /// Rows.
        height: usize,
        /// Whether what lies outside is zero, instead of the edge.
        has_border: bool,
        /// Whether coordinates of points go from 0 to 1.
        is_normalized: bool,
    },
    /// Several matrices of the same shape.
    Batch {
        /// Rows, columns, elements from row to row, how many matrices, and elements from one to the next: in the order of the kernel's parameters.
        extents: [usize; 5],
        /// Whether the kernel writes it.
        is_written: bool,
    },
}

/// An intrinsic's name, and the type that it is called for: the receiver's, the first argument's, or that before `::`.
pub type Call = (&'static str, &'static str);

/// A generic of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generic {
    /// `const WIDTH: usize`.
    Width(usize),
    /// `const FLAG: bool`.
    Flag(bool),
    /// `T: Int`, or `T: Float`.
    Type(Scalar),
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
    /// Whether its elements are of the kernel's generic type.
    pub is_generic: bool,
    /// What `#[cache(…)]` says of it.
    pub cache: Option<&'static str>,
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
    /// Whether its attribute does not say how many, but the launch.
    pub has_free_block: bool,
    /// Blocks of a grid.
    pub grid: [u32; 3],
    /// Dynamic shared memory.
    pub shared_bytes: u32,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// The kernel's generics, each with what it stands for.
    pub generics: Vec<Generic>,
    /// Whether it stands in a `#[warpwright::module]`, whose items need no marks.
    pub in_module: bool,
    /// Whether its blocks form clusters, which older targets and OpenCL have not.
    pub has_clusters: bool,
    /// Whether a copy engine makes its copies, which older targets have not.
    pub has_engine: bool,
    /// Whether blocks wait for others, which no OpenCL device promises to start.
    pub waits: bool,
    /// Between the braces.
    pub body: Vec<Node>,
    /// Features of the language in it.
    pub hits: BTreeSet<&'static str>,
    /// Intrinsics in it that have a type.
    pub calls: BTreeSet<Call>,
    /// Whether host twin and OpenCL devices round functions in it otherwise.
    pub is_approximate: bool,
    /// Which family of kernels it is of.
    pub family: &'static str,
}

impl Generic {
    fn declared(self) -> &'static str {
        match self {
            Generic::Width(_) => "const WIDTH: usize",
            Generic::Flag(_) => "const FLAG: bool",
            Generic::Type(scalar) if scalar.is_float() => "T: Float",
            Generic::Type(_) => "T: Int",
        }
    }

    /// What it stands for, as source.
    pub fn value(self) -> String {
        match self {
            Generic::Width(width) => width.to_string(),
            Generic::Flag(flag) => flag.to_string(),
            Generic::Type(scalar) => scalar.name().to_owned(),
        }
    }
}

impl Parameter {
    /// One by itself, of elements of one scalar.
    pub(super) fn new(name: String, scalar: Scalar, passed: Passed, seed: u64) -> Parameter {
        Parameter { name, scalar, each: 1, passed, seed, in_group: false, is_generic: false, cache: None }
    }

    fn element(&self) -> String {
        let scalar = if self.is_generic { "T" } else { self.scalar.name() };
        if self.each == 1 { scalar.to_owned() } else { format!("[{scalar}; {}]", self.each) }
    }

    /// Its type.
    pub fn ty(&self) -> String {
        let element = self.element();
        let lifetime = if self.in_group { "'a " } else { "" };
        let mutable = |is_written: bool| if is_written { "mut " } else { "" };
        match &self.passed {
            Passed::Value(_) => element,
            Passed::Whole(layout) => layout.name(""),
            Passed::Elements { layout, is_written, .. } => format!("&{lifetime}{}Global<{}>", mutable(*is_written), layout.name("")),
            Passed::Global { is_written, .. } => format!("&{lifetime}{}Global<{element}>", mutable(*is_written)),
            Passed::Constants { layout, len } => format!("&{lifetime}Constant<[{}; {len}]>", layout.name("")),
            Passed::Constant(len) => format!("&{lifetime}Constant<[{element}; {len}]>"),
            Passed::Matrix { is_written, .. } => format!("&{}Matrix<{element}>", mutable(*is_written)),
            Passed::Texture { .. } => format!("&Texture2d<{element}>"),
            Passed::Batch { is_written, .. } => format!("&{}MatrixBatch<{element}>", mutable(*is_written)),
        }
    }

    /// Its bytes before the launch, where `usize` has so many.
    pub fn bytes(&self, wide: usize) -> Vec<u8> {
        let scalar = self.scalar.name();
        match &self.passed {
            Passed::Value(bits) => bits.to_le_bytes()[..self.scalar.bytes()].to_vec(),
            Passed::Whole(layout) => layout.bytes(self.seed, 1, wide),
            Passed::Elements { layout, len, .. } | Passed::Constants { layout, len } => layout.bytes(self.seed, *len, wide),
            Passed::Global { len, is_zero: true, .. } => vec![0; len * self.scalar.bytes()],
            Passed::Global { len, .. } => contents(self.seed, scalar, *len),
            Passed::Constant(len) => contents(self.seed, scalar, *len),
            Passed::Matrix { rows, pitch, .. } => contents(self.seed, scalar, rows * pitch),
            Passed::Texture { width, height, .. } => contents(self.seed, scalar, width * height * self.each),
            Passed::Batch { extents, .. } => contents(self.seed, scalar, batch_len(*extents)),
        }
    }

    /// Numbers that a launch passes behind its buffer: a matrix's extents.
    pub fn extents(&self) -> Vec<usize> {
        match self.passed {
            Passed::Matrix { rows, columns, pitch, .. } => vec![rows, columns, pitch],
            // As the runtime passes them: of one matrix alone the stride says nothing.
            Passed::Batch { extents: [rows, columns, pitch, 1, _], .. } => vec![rows, columns, pitch, 1, 0],
            Passed::Batch { extents, .. } => extents.to_vec(),
            _ => Vec::new(),
        }
    }

    /// Whether it is passed by value.
    pub fn is_value(&self) -> bool {
        matches!(self.passed, Passed::Value(_) | Passed::Whole(_))
    }

    /// Whether it is a buffer that the kernel reads and does not write.
    pub(super) fn is_read_alone(&self) -> bool {
        matches!(self.passed, Passed::Global { is_written: false, .. } | Passed::Elements { is_written: false, .. })
    }

    /// Whether the kernel writes it.
    pub fn is_written(&self) -> bool {
        match self.passed {
            Passed::Global { is_written, .. }
            | Passed::Elements { is_written, .. }
            | Passed::Matrix { is_written, .. }
            | Passed::Batch { is_written, .. } => is_written,
            Passed::Value(_) | Passed::Whole(_) | Passed::Constant(_) | Passed::Constants { .. } | Passed::Texture { .. } => false,
        }
    }
}

/// Elements of a buffer that a batch of matrices lies in.
pub fn batch_len([rows, _, pitch, count, stride]: [usize; 5]) -> usize {
    count.saturating_sub(1) * stride + rows * pitch
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
        let mut arguments = if self.has_free_block { Vec::new() } else { vec![format!("block = {block}")] };
        arguments.extend(self.options.iter().cloned());
        if form != Form::Stripped {
            arguments.extend(self.annotations.iter().cloned());
        }
        if form == Form::BestEffort && !self.annotations.is_empty() {
            arguments.push("best_effort".to_owned());
        }
        let (in_group, plain): (Vec<&Parameter>, Vec<&Parameter>) = self.parameters.iter().partition(|parameter| parameter.in_group);
        let hint = |p: &Parameter| p.cache.map_or(String::new(), |hint| format!("#[cache({hint})] "));
        let listed =
            |parameters: &[&Parameter]| parameters.iter().map(|p| format!("{}{}: {}", hint(p), p.name, p.ty())).collect::<Vec<_>>();
        let mut text = self.items.clone();
        let mut all = listed(&plain);
        if !in_group.is_empty() {
            let fields: String = listed(&in_group).iter().map(|field| format!("    pub {field},\n")).collect();
            text += &format!("#[device]\npub struct Inputs<'a> {{\n{fields}}}\n");
            all.push("g: Inputs<'_>".to_owned());
        }
        let declared: Vec<&str> = self.generics.iter().map(|generic| generic.declared()).collect();
        let generics = if declared.is_empty() { String::new() } else { format!("<{}>", declared.join(", ")) };
        text += &format!("#[kernel({})]\npub fn k{generics}({}) {{\n", arguments.join(", "), all.join(", "));
        // A buffer that is never read is not read for the last time either, and what else reads it may lie where a constant leaves no code.
        for parameter in self.parameters.iter().filter(|p| p.cache == Some("last_use")) {
            text += &format!("    let last_{0} = {0}[0];\n", parameter.name);
        }
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

    /// Whether it takes textures, which launches of kernels that no program names do not pass.
    pub fn has_textures(&self) -> bool {
        self.parameters.iter().any(|parameter| matches!(parameter.passed, Passed::Texture { .. }))
    }

    /// Statements of its body.
    pub fn size(&self) -> usize {
        self.body.iter().map(Node::count).sum()
    }
}
