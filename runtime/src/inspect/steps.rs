//! The order in which emitted code touches memory: what an annotation promises, read off PTX and off machine code in the same words.
//!
//! ```text
//! ld.global.32 x2, st.global.32                     two loads of 32 bits, then a store
//! @ld.global.128 x8, @exit, st.global.128 x8        predicated; an early end
//! L1, ld.shared.32 x4, bar, @bra L1                 a loop
//! ```
//!
//! Widths are in bits, of the whole access: `ld.global.v4.f32` and `LDG.E.128` are both `ld.global.128`. Labels are numbered as they come,
//! those that nothing jumps to are left out, and so is the end of the kernel. Arithmetic, parameters and constants are not shown.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use warpwright_codegen::backend::ptx::code::{Instruction, Opcode, Operand, Statement};
use warpwright_codegen::backend::ptx::words::{Mnemonic, Word};
use warpwright_codegen::ir::Space;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderStep {
    /// A load, store or atomic: `ld.global.64`.
    Access {
        /// Without the predicate.
        what: String,
        /// Whether it runs under a condition.
        is_predicated: bool,
    },
    /// A barrier for the block.
    Barrier,
    /// A place that is jumped to.
    Label(usize),
    /// A jump.
    Branch {
        /// Where to.
        label: usize,
        /// Whether it runs under a condition.
        is_predicated: bool,
    },
    /// The thread ends, perhaps under a condition.
    Exit {
        /// Whether it does so under a condition.
        is_predicated: bool,
    },
}

impl fmt::Display for OrderStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |is_predicated: &bool| if *is_predicated { "@" } else { "" };
        match self {
            OrderStep::Access { what, is_predicated } => write!(f, "{}{what}", at(is_predicated)),
            OrderStep::Barrier => f.write_str("bar"),
            OrderStep::Label(label) => write!(f, "L{label}"),
            OrderStep::Branch { label, is_predicated } => write!(f, "{}bra L{label}", at(is_predicated)),
            OrderStep::Exit { is_predicated } => write!(f, "{}exit", at(is_predicated)),
        }
    }
}

/// The steps of a kernel in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order(pub Vec<OrderStep>);

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs: Vec<&[OrderStep]> = self.0.chunk_by(|a, b| a == b).collect();
        for (n, run) in runs.iter().enumerate() {
            write!(f, "{}{}", if n == 0 { "" } else { ", " }, run[0])?;
            if run.len() > 1 {
                write!(f, " x{}", run.len())?;
            }
        }
        Ok(())
    }
}

impl Order {
    /// Of a kernel's body in PTX.
    pub fn of_ptx(body: &[Statement]) -> Order {
        let mut steps = Steps::default();
        for statement in body {
            match statement {
                Statement::Label(label) => steps.0.push(Raw::Label(*label)),
                Statement::Instruction(Instruction { guard, opcode, operands, .. }) => match (opcode.mnemonic, &operands[..]) {
                    (Mnemonic::Bar, _) => steps.0.push(Raw::OrderStep(OrderStep::Barrier)),
                    (Mnemonic::Bra, [Operand::Label(label)]) => steps.0.push(Raw::Branch(*label, guard.is_some())),
                    (Mnemonic::Cp, [_, _, Operand::Constant(bytes), ..]) => {
                        steps.access(Some(format!("cp.shared.{}", 8 * bytes.bits)), guard.is_some());
                    }
                    (Mnemonic::Ret, _) => steps.exit(guard.is_some()),
                    _ => steps.access(ptx_access(opcode), guard.is_some()),
                },
                _ => {}
            }
        }
        steps.finish()
    }

    /// Of the one kernel in what `nvdisasm -c` prints.
    pub fn of_sass(text: &str) -> Order {
        let mut steps = Steps::<String>::default();
        for line in text.lines().map(str::trim) {
            if let Some(label) = line.strip_prefix('.').and_then(|rest| rest.strip_suffix(':')) {
                steps.0.push(Raw::Label(label.trim_start_matches('.').to_owned()));
                continue;
            }
            // `/*0070*/              @!P0 LDG.E.64 R2, [R2.64] ;`, and for some targets two words of hexadecimal in comments behind it.
            let Some(instruction) = line.strip_prefix("/*").and_then(|rest| rest.split_once("*/")).map(|(_, rest)| rest.trim()) else {
                continue;
            };
            let (is_predicated, instruction) = predicate(instruction);
            let (name, rest) = instruction.split_once(|c: char| c.is_whitespace() || c == ';').unwrap_or((instruction, ""));
            let words: Vec<&str> = name.split('.').collect();
            match words[0] {
                "BRA" => {
                    let label = rest.split(['`', '(', '.', ')']).find(|word| word.starts_with("L_")).unwrap_or("");
                    steps.0.push(Raw::Branch(label.to_owned(), is_predicated));
                }
                "BAR" => steps.0.push(Raw::OrderStep(OrderStep::Barrier)),
                "EXIT" => steps.exit(is_predicated),
                _ => steps.access(sass_access(&words), is_predicated),
            }
        }
        steps.finish()
    }

    /// Without jumps, labels and ends.
    #[must_use]
    pub fn accesses(&self) -> Order {
        Order(self.0.iter().filter(|step| matches!(step, OrderStep::Access { .. } | OrderStep::Barrier)).cloned().collect())
    }

    /// The same, and whether or not something runs under a condition is one.
    #[must_use]
    pub fn bare(&self) -> Order {
        let bare = |step| match step {
            OrderStep::Access { what, .. } => OrderStep::Access { what, is_predicated: false },
            step => step,
        };
        Order(self.accesses().0.into_iter().map(bare).collect())
    }

    /// What stands before the first access that begins with `what` (`st.global`), or all.
    #[must_use]
    pub fn before(&self, what: &str) -> Order {
        let is_it = |step: &OrderStep| matches!(step, OrderStep::Access { what: found, .. } if found.starts_with(what));
        Order(self.0.iter().take_while(|step| !is_it(step)).cloned().collect())
    }

    /// How many accesses begin with `what`, under a condition or not.
    pub fn count(&self, what: &str) -> usize {
        self.0.iter().filter(|step| matches!(step, OrderStep::Access { what: found, .. } if found.starts_with(what))).count()
    }
}

/// Whether a line begins with a predicate, and the line without.
fn predicate(line: &str) -> (bool, &str) {
    match line.strip_prefix('@').and_then(|rest| rest.split_once(char::is_whitespace)) {
        Some((_, rest)) => (true, rest.trim_start()),
        None => (false, line),
    }
}

/// `ld.global.nc.v4.f32`.
fn ptx_access(opcode: &Opcode) -> Option<String> {
    // A row of 16 bytes of each lane.
    match opcode.mnemonic {
        Mnemonic::Ldmatrix => return Some("ld.shared.128".to_owned()),
        Mnemonic::Stmatrix => return Some("st.shared.128".to_owned()),
        _ => {}
    }
    let name = match opcode.mnemonic {
        Mnemonic::Red => Mnemonic::Atom,
        name @ (Mnemonic::Ld | Mnemonic::St | Mnemonic::Atom) => name,
        _ => return None,
    };
    if matches!(opcode.space(), Some(Space::Param | Space::Constant)) {
        return None;
    }
    let space =
        opcode.words.iter().find(|word| matches!(word, Word::Global | Word::Shared | Word::Local)).map_or("generic", |word| word.word());
    let bits = u32::from(opcode.elements()) * opcode.words.last()?.bits()?;
    Some(format!("{}.{space}.{bits}", name.word()))
}

/// `LDG`, `E`, `128`.
fn sass_access(words: &[&str]) -> Option<String> {
    match words[0] {
        "LDSM" => return Some("ld.shared.128".to_owned()),
        "STSM" => return Some("st.shared.128".to_owned()),
        _ => {}
    }
    let (name, space) = match words[0] {
        "LDG" => ("ld", "global"),
        "STG" => ("st", "global"),
        "LDS" => ("ld", "shared"),
        "STS" => ("st", "shared"),
        "LDL" => ("ld", "local"),
        "STL" => ("st", "local"),
        "LD" => ("ld", "generic"),
        "ST" => ("st", "generic"),
        "ATOMG" | "RED" | "REDG" => ("atom", "global"),
        "ATOMS" => ("atom", "shared"),
        "LDGSTS" => ("cp", "shared"),
        "ATOM" => ("atom", "generic"),
        _ => return None,
    };
    let width = |word: &&str| word.trim_start_matches(['U', 'S', 'F', 'B']).parse::<u32>().ok();
    Some(format!("{name}.{space}.{}", words[1..].iter().find_map(width).unwrap_or(32)))
}

/// A step whose label has its own name still.
enum Raw<L> {
    OrderStep(OrderStep),
    Label(L),
    Branch(L, bool),
}

struct Steps<L>(Vec<Raw<L>>);

impl<L> Default for Steps<L> {
    fn default() -> Self {
        Steps(Vec::new())
    }
}

impl<L: Eq + Hash + Clone> Steps<L> {
    fn access(&mut self, what: Option<String>, is_predicated: bool) {
        self.0.extend(what.map(|what| Raw::OrderStep(OrderStep::Access { what, is_predicated })));
    }

    fn exit(&mut self, is_predicated: bool) {
        self.0.push(Raw::OrderStep(OrderStep::Exit { is_predicated }));
    }

    fn finish(mut self) -> Order {
        // SASS is filled up with a jump to itself that nobody reaches.
        if let [.., Raw::Label(label), Raw::Branch(to, false)] = &self.0[..]
            && label == to
        {
            self.0.truncate(self.0.len() - 2);
        }
        if let Some(Raw::OrderStep(OrderStep::Exit { is_predicated: false })) = self.0.last() {
            self.0.pop();
        }
        let is_used = |name: &L| self.0.iter().any(|step| matches!(step, Raw::Branch(to, _) if to == name));
        let mut numbers: HashMap<L, usize> = HashMap::new();
        for step in &self.0 {
            if let Raw::Label(name) = step
                && is_used(name)
            {
                numbers.insert(name.clone(), numbers.len() + 1);
            }
        }
        let number = |step| match step {
            Raw::OrderStep(step) => Some(step),
            Raw::Label(name) => numbers.get(&name).map(|n| OrderStep::Label(*n)),
            Raw::Branch(name, is_predicated) => Some(OrderStep::Branch { label: numbers.get(&name).copied().unwrap_or(0), is_predicated }),
        };
        Order(self.0.into_iter().filter_map(number).collect())
    }
}
