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
    /// Of the one kernel in a PTX text.
    pub fn of_ptx(text: &str) -> Order {
        let mut reader = Reader::default();
        for line in text.lines().map(str::trim) {
            if let Some(label) = line.strip_prefix('$').and_then(|rest| rest.strip_suffix(':')) {
                reader.label(label);
                continue;
            }
            let (is_predicated, instruction) = predicate(line);
            let (name, rest) = instruction.split_once(|c: char| c.is_whitespace() || c == ';').unwrap_or((instruction, ""));
            let words: Vec<&str> = name.split('.').collect();
            match words[0] {
                "ld" | "st" | "atom" | "red" => reader.access(ptx_access(&words), is_predicated),
                "bar" | "barrier" => reader.steps.push(Raw::OrderStep(OrderStep::Barrier)),
                "bra" => reader.branch(rest.trim().trim_matches(['$', ';']), is_predicated),
                "ret" | "exit" => reader.exit(is_predicated),
                _ => {}
            }
        }
        reader.finish()
    }

    /// Of the one kernel in what `nvdisasm -c` prints.
    pub fn of_sass(text: &str) -> Order {
        let mut reader = Reader::default();
        for line in text.lines().map(str::trim) {
            if let Some(label) = line.strip_prefix('.').and_then(|rest| rest.strip_suffix(':')) {
                reader.label(label);
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
                "BRA" => reader.branch(rest.split(['`', '(', '.', ')']).find(|word| word.starts_with("L_")).unwrap_or(""), is_predicated),
                "BAR" => reader.steps.push(Raw::OrderStep(OrderStep::Barrier)),
                "EXIT" => reader.exit(is_predicated),
                _ => reader.access(sass_access(&words), is_predicated),
            }
        }
        reader.finish()
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

/// `ld`, `global`, `nc`, `v4`, `f32`.
fn ptx_access(words: &[&str]) -> Option<String> {
    let space = words.iter().find(|word| matches!(**word, "global" | "shared" | "local")).unwrap_or(&"generic");
    if words.iter().any(|word| matches!(*word, "param" | "const")) {
        return None;
    }
    let parts: u32 = words.iter().find_map(|word| word.strip_prefix('v')?.parse().ok()).unwrap_or(1);
    let bits: u32 = words.last()?.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()?;
    let name = if words[0] == "red" { "atom" } else { words[0] };
    Some(format!("{name}.{space}.{}", parts * bits))
}

/// `LDG`, `E`, `128`.
fn sass_access(words: &[&str]) -> Option<String> {
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
        "ATOM" => ("atom", "generic"),
        _ => return None,
    };
    let width = |word: &&str| word.trim_start_matches(['U', 'S', 'F', 'B']).parse::<u32>().ok();
    Some(format!("{name}.{space}.{}", words[1..].iter().find_map(width).unwrap_or(32)))
}

/// A step whose label has its own name still.
enum Raw {
    OrderStep(OrderStep),
    Label(String),
    Branch(String, bool),
}

#[derive(Default)]
struct Reader {
    steps: Vec<Raw>,
}

impl Reader {
    fn label(&mut self, name: &str) {
        self.steps.push(Raw::Label(name.trim_start_matches('.').to_owned()));
    }

    fn branch(&mut self, name: &str, is_predicated: bool) {
        self.steps.push(Raw::Branch(name.to_owned(), is_predicated));
    }

    fn access(&mut self, what: Option<String>, is_predicated: bool) {
        self.steps.extend(what.map(|what| Raw::OrderStep(OrderStep::Access { what, is_predicated })));
    }

    fn exit(&mut self, is_predicated: bool) {
        self.steps.push(Raw::OrderStep(OrderStep::Exit { is_predicated }));
    }

    fn finish(mut self) -> Order {
        // SASS is filled up with a jump to itself that nobody reaches.
        if let [.., Raw::Label(label), Raw::Branch(to, false)] = &self.steps[..]
            && label == to
        {
            self.steps.truncate(self.steps.len() - 2);
        }
        if let Some(Raw::OrderStep(OrderStep::Exit { is_predicated: false })) = self.steps.last() {
            self.steps.pop();
        }
        let is_used = |name: &str| self.steps.iter().any(|step| matches!(step, Raw::Branch(to, _) if to == name));
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for step in &self.steps {
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
        Order(self.steps.into_iter().filter_map(number).collect())
    }
}
