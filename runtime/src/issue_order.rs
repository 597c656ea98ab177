//! Whether the machine code keeps what `batch_loads` and `prefetch` promise: *measured* in what an assembler made.
//!
//! PTX says in which order loads are issued, and an assembler may change that: it sinks loads to their uses where registers are short. What it did is
//! told by numbers: the text it is given has the number of each instruction as its place ([`Module::numbered`]), and the disassembler says which
//! place each instruction of the machine code (SASS) comes from.
//!
//! * Of `batch_loads`, the loads are counted that are issued before anything waits for one of them, in PTX and in SASS. A group is what PTX issues
//!   so; the one that kept least of it counts.
//! * Of `prefetch`, the way from a load to its first use is counted, round the loop, in hundredths of an iteration. The shortest counts. An
//!   iteration of a loop that the assembler unrolled is its share of the loop.
//! * Of `prefetch` of shared arrays, the way is counted in instructions: an assembler spreads these loads over the work, and as far from their uses as
//!   the latency of shared memory is long, which is all that an early load is for.
//!
//! A use is an instruction that reads a register that the load writes, so a copy in SASS is one: it waits. In PTX a copy is none, since assemblers
//! take copies away.

use crate::nvdisasm::{Nvdisasm, SassLine};
use crate::ptxas::{Ptxas, PtxasError};
use std::collections::{BTreeMap, BTreeSet};
use warpwright_codegen::annotations::BATCH_LOADS;
use warpwright_codegen::backend::ptx::code::{Instruction, Label, Module, Operand, Reg, Statement};
use warpwright_codegen::backend::ptx::words::{Mnemonic, Word};
use warpwright_codegen::ir::Loc;

/// Cycles from a load of shared memory to the first use that does not wait, as W. Luo et al. measured them ("Benchmarking and Dissecting the Nvidia Hopper GPU
/// Architecture via Microbenchmarking", 2024): 29.0 on A100 and H100, 30.1 on RTX 4090.
const SHARED_LATENCY: u32 = 30;

/// What became of one annotation's loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IssueOrder {
    /// The annotation's name.
    pub annotation: &'static str,
    /// Where the source says it.
    pub place: Loc,
    /// What was found, and of what.
    pub measured: Issued,
}

/// How early loads are issued: what PTX says, and what the machine code has of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issued {
    /// Loads that are issued before the first use of one of them.
    Together {
        /// In PTX.
        promised: u32,
        /// In the machine code.
        found: u32,
    },
    /// Hundredths of an iteration from a load to its first use.
    Ahead {
        /// In PTX.
        promised: u32,
        /// In the machine code.
        found: u32,
    },
    /// Instructions from a load of a shared array to its first use.
    Apart {
        /// In PTX.
        promised: u32,
        /// In the machine code.
        found: u32,
    },
}

impl Issued {
    /// Whether the promise holds: all loads of a group are issued together; a load has at least half the way to its use that PTX gives it.
    /// Half, since an assembler mixes what stands beside the loads with them, and turns the loop by some instructions. A load of a shared array may
    /// also stand as many instructions ahead as its latency has cycles: no warp issues more than one a cycle, so none waits for it.
    pub fn is_kept(self) -> bool {
        match self {
            Issued::Together { promised, found } => found >= promised,
            Issued::Ahead { promised, found } => found * 2 >= promised,
            Issued::Apart { promised, found } => found * 2 >= promised || found >= SHARED_LATENCY,
        }
    }
}

impl Issued {
    /// What was found, as a sentence without its end.
    pub fn sentence(self) -> String {
        match self {
            Issued::Together { promised, found } => format!("{found} of {promised} loads are issued before the first use of one of them"),
            Issued::Ahead { promised, found } => {
                format!("a load stands {found} % of an iteration ahead of its use, and {promised} % in PTX")
            }
            Issued::Apart { promised, found } => {
                format!(
                    "a load of a shared array stands {found} instructions ahead of its use, and {promised} in PTX; its latency is {SHARED_LATENCY} cycles"
                )
            }
        }
    }
}

impl std::fmt::Display for Issued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Issued::Together { promised, found } => write!(f, "{found} of {promised} together"),
            Issued::Ahead { promised, found } => write!(f, "{found} of {promised} % ahead"),
            Issued::Apart { promised, found } => write!(f, "{found} of {promised} instructions ahead"),
        }
    }
}

impl Ptxas {
    /// What it makes of the order in which a kernel's loads are issued, for a target, 10·major + minor: one for each annotation that moved loads.
    ///
    /// # Errors
    ///
    /// As [`Ptxas::measure`]; if the disassembler cannot be run.
    pub fn issue_order(&self, nvdisasm: &Nvdisasm, module: &Module, target: u16) -> Result<Vec<IssueOrder>, PtxasError> {
        if module.early_loads.is_empty() {
            return Ok(Vec::new());
        }
        let cubin = self.cubin_with_lines(&module.clone().numbered().to_string(), target)?;
        let sass = nvdisasm.lines(&cubin).map_err(|reason| PtxasError::NotRun { path: "nvdisasm".into(), reason })?;
        Ok(of_lines(module, &sass))
    }
}

/// What each annotation's loads are in PTX, and in the machine code that an assembler made of it with the numbers of its instructions ([`Module::numbered`]).
pub fn of_lines(module: &Module, sass: &[SassLine]) -> Vec<IssueOrder> {
    let sass = &Code::of_sass(sass);
    let ptx = Code::of_ptx(module);
    let all = module.early_loads.iter().enumerate();
    let of_one = |(index, (annotation, place)): (usize, &(&'static _, Loc))| {
        let annotation: &warpwright_codegen::annotations::Annotation = annotation;
        let numbered = module.instructions().zip(1..);
        // What the assembler found to be of no use is promised no more.
        let loads: BTreeSet<u32> = numbered.filter(|(one, number)| one.early == Some(index) && sass.has(*number)).map(|(_, n)| n).collect();
        let measured = if annotation == &BATCH_LOADS { together(&ptx, sass, &loads) } else { ahead(&ptx, sass, &loads) };
        measured.map(|measured| IssueOrder { annotation: annotation.name, place: *place, measured })
    };
    all.filter_map(of_one).collect()
}

fn together(ptx: &Code, sass: &Code, loads: &BTreeSet<u32>) -> Option<Issued> {
    let groups = ptx.groups(loads).into_iter().filter(|group| group.len() > 1);
    let found = groups.map(|group| {
        let found = sass.groups(&group).iter().map(BTreeSet::len).max().unwrap_or(0);
        (group.len() as u32, found as u32)
    });
    // The least share.
    let (promised, found) = found.min_by(|(a, b), (c, d)| (b * c).cmp(&(d * a)))?;
    Some(Issued::Together { promised, found })
}

fn ahead(ptx: &Code, sass: &Code, loads: &BTreeSet<u32>) -> Option<Issued> {
    let ways: Vec<(Way, Way)> = loads.iter().filter_map(|load| Some((ptx.way(*load)?, sass.way(*load)?))).collect();
    if ptx.steps.iter().any(|step| step.is_of_shared && loads.contains(&step.number)) {
        let (promised, found) = ways.iter().min_by_key(|(_, found)| found.instructions)?;
        return Some(Issued::Apart { promised: promised.instructions, found: found.instructions });
    }
    let (promised, found) = ways.iter().min_by(|(a, b), (c, d)| (b.share * c.share).total_cmp(&(d.share * a.share)))?;
    let percent = |way: &Way| (way.share * 100.0).round() as u32;
    Some(Issued::Ahead { promised: percent(promised), found: percent(found) })
}

/// From a load to its first use.
#[derive(Clone, Copy)]
struct Way {
    instructions: u32,
    /// Of an iteration.
    share: f64,
}

/// A register: its class, which is 0 in machine code, and its number.
type Register = (u32, u32);

/// A line of code.
enum CodeLine {
    Label(String),
    Step(Step),
}

/// An instruction: its number in PTX, what it reads and writes, where it may go.
struct Step {
    number: u32,
    reads: Vec<Register>,
    writes: Vec<Register>,
    target: Option<String>,
    /// Whether it reads memory or a texture.
    is_load: bool,
    /// Whether it reads a shared array.
    is_of_shared: bool,
    /// Whether it only passes a value on and is taken away.
    is_copy: bool,
}

/// PTX or machine code, as far as the order of loads goes.
struct Code {
    steps: Vec<Step>,
    /// First and last step of each loop.
    loops: Vec<(usize, usize)>,
}

impl Code {
    fn of_ptx(module: &Module) -> Code {
        let mut number = 0;
        let lines = module.entry.body.iter().filter_map(|statement| match statement {
            Statement::Label(label) => Some(CodeLine::Label(name(*label))),
            Statement::Instruction(one) => {
                number += 1;
                Some(CodeLine::Step(ptx_step(one, number)))
            }
            _ => None,
        });
        Code::new(lines)
    }

    fn of_sass(lines: &[SassLine]) -> Code {
        Code::new(lines.iter().map(|line| match line.text.strip_suffix(':') {
            Some(label) => CodeLine::Label(label.to_owned()),
            None => CodeLine::Step(sass_step(line)),
        }))
    }

    fn new(lines: impl Iterator<Item = CodeLine>) -> Code {
        let (mut steps, mut labels, mut loops): (Vec<Step>, BTreeMap<String, usize>, Vec<_>) = Default::default();
        for line in lines {
            match line {
                CodeLine::Label(label) => {
                    labels.insert(label, steps.len());
                }
                CodeLine::Step(step) => {
                    if let Some(first) = step.target.as_ref().and_then(|target| labels.get(target)) {
                        loops.push((*first, steps.len()));
                    }
                    steps.push(step);
                }
            }
        }
        Code { steps, loops }
    }

    fn has(&self, number: u32) -> bool {
        self.steps.iter().any(|step| step.number == number && step.is_load)
    }

    /// The loads in groups that are issued before anything uses one of the group.
    fn groups(&self, loads: &BTreeSet<u32>) -> Vec<BTreeSet<u32>> {
        let (mut groups, mut group, mut open): (Vec<_>, BTreeSet<u32>, BTreeSet<Register>) = Default::default();
        for step in &self.steps {
            if step.reads.iter().any(|reg| open.contains(reg)) {
                if step.is_copy {
                    open.extend(&step.writes);
                } else {
                    groups.push(std::mem::take(&mut group));
                    open.clear();
                }
            }
            if loads.contains(&step.number) && step.is_load {
                group.insert(step.number);
                open.extend(&step.writes);
            }
        }
        groups.push(group);
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// The way from a load in a loop to its first use round the loop. The longest of those of an unrolled loop's copies.
    fn way(&self, load: u32) -> Option<Way> {
        let places: Vec<usize> = (0..self.steps.len()).filter(|n| self.steps[*n].number == load && self.steps[*n].is_load).collect();
        let ways = places.iter().filter_map(|place| {
            let around = self.loops.iter().filter(|(first, last)| (first..=last).contains(&place));
            let (first, last) = *around.min_by_key(|(first, last)| last - first)?;
            let copies = places.iter().filter(|place| (first..=last).contains(place)).count();
            let mut open: BTreeSet<Register> = self.steps[*place].writes.iter().copied().collect();
            let round = (place + 1..=last).chain(first..*place);
            let mut steps = 1;
            for n in round {
                let step = &self.steps[n];
                if step.reads.iter().any(|reg| open.contains(reg)) {
                    if !step.is_copy {
                        break;
                    }
                    open.extend(&step.writes);
                } else if !step.is_copy {
                    step.writes.iter().for_each(|reg| _ = open.remove(reg));
                }
                steps += u32::from(!step.is_copy);
            }
            let length = (first..=last).filter(|n| !self.steps[*n].is_copy).count();
            Some(Way { instructions: steps, share: f64::from(steps) * copies as f64 / length.max(1) as f64 })
        });
        ways.max_by(|a, b| a.share.total_cmp(&b.share))
    }
}

fn name(label: Label) -> String {
    label.name.map_or_else(|| label.number.to_string(), |name| format!("{name} {}", label.number))
}

fn ptx_step(one: &Instruction, number: u32) -> Step {
    let registers = |operands: &[Operand]| -> Vec<Register> {
        let all = operands.iter().flat_map(Operand::registers);
        all.map(|reg: &Reg| (reg.class as u32 + if reg.name.is_some() { 100 } else { 0 }, reg.number)).collect()
    };
    let (results, sources) = one.results_and_sources();
    let target = sources.iter().find_map(|operand| match operand {
        Operand::Label(label) => Some(name(*label)),
        _ => None,
    });
    let is_copy = one.opcode.mnemonic == Mnemonic::Mov;
    let (is_load, is_of_shared) = (one.opcode.is_load(), one.opcode.words.contains(&Word::Shared));
    Step { number, reads: registers(sources), writes: registers(results), target, is_load, is_of_shared, is_copy }
}

/// `@!P0 LDG.E.128.CONSTANT R4, desc[UR4][R2.64+0x10] ;`. Predicates and uniform registers hold no loaded values.
fn sass_step(line: &SassLine) -> Step {
    let text = line.text.trim_end_matches([';', ' ']);
    let text = text.strip_prefix('@').and_then(|rest| rest.split_once(' ')).map_or(text, |(_, rest)| rest.trim());
    let (opcode, operands) = text.split_once(' ').unwrap_or((text, ""));
    let words: Vec<&str> = opcode.split('.').collect();
    let has_result = !matches!(words[0], "ST" | "STG" | "STS" | "STSM" | "STL" | "RED" | "REDG" | "BRA" | "BAR" | "EXIT" | "NOP");
    let (result, sources) = match operands.split_once(',') {
        Some((result, sources)) if has_result => (result, sources),
        _ if has_result => (operands, ""),
        _ => ("", operands),
    };
    let is_memory = matches!(words[0], "LD" | "LDG" | "LDS" | "TEX" | "TLD" | "LDSM" | "ST" | "STG" | "STS" | "STSM" | "STL");
    let is_of_matrices = matches!(words[0], "LDSM" | "STSM");
    let wide = if !is_memory {
        1
    } else if words.contains(&"128") || is_of_matrices && words.contains(&"4") {
        4
    } else if is_of_matrices && words.contains(&"2") {
        2
    } else {
        1 + u32::from(words.contains(&"64"))
    };
    let is_load = matches!(words[0], "LD" | "LDG" | "LDS" | "LDSM" | "TEX" | "TLD");
    let writes = registers(result).into_iter().flat_map(|first| first..first + if is_load { wide } else { 1 });
    // What a store stores comes last.
    let stored = registers(sources.rsplit(',').next().unwrap_or("")).into_iter().filter(|_| !has_result);
    let stored: Vec<u32> = stored.flat_map(|first| first..first + wide).collect();
    let reads = registers(sources).into_iter().chain(stored);
    let number = line.place.as_ref().map_or(0, |(_, number)| *number);
    let target = operands.split_once("`(").and_then(|(_, rest)| rest.split_once(')')).map(|(label, _)| label.to_owned());
    let own = |reg: u32| (0, reg);
    let is_of_shared = words[0] == "LDS";
    Step { number, reads: reads.map(own).collect(), writes: writes.map(own).collect(), target, is_load, is_of_shared, is_copy: false }
}

/// The numbers of the registers `R0`, `R1`, … that a text names.
fn registers(text: &str) -> Vec<u32> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter_map(|word| word.strip_prefix('R')?.parse().ok()).collect()
}
