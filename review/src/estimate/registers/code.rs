//! PTX as the model reads it: what is printed for the assembler, line by line, without what registers do not depend on.

use warpwright_codegen::collections::HashMap;

/// A virtual register, numbered densely.
pub(super) type Reg = u32;

/// Most registers of one operand list: a vector of four, an address, a guard, and room.
const MOST: usize = 8;

/// A short list of registers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Regs {
    items: [Reg; MOST],
    len: u8,
}

impl Regs {
    pub(super) fn push(&mut self, reg: Reg) {
        if usize::from(self.len) < MOST {
            self.items[usize::from(self.len)] = reg;
            self.len += 1;
        }
    }

    pub(super) fn as_slice(&self) -> &[Reg] {
        &self.items[..usize::from(self.len)]
    }
}

/// Memory spaces, as far as their order and latency differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Global,
    Shared,
    Constant,
    Local,
    /// Of a call.
    Argument,
}

/// What the assembler makes of an instruction that is more than one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Slow {
    Divide16,
    Divide32,
    Divide64,
    DivideFloat,
    DivideDouble,
    RootFloat,
    RootDouble,
    /// The lesser or greater of two, of which there is no instruction.
    ChoiceDouble,
    /// A call, which has registers of its own.
    Call,
}

/// What an instruction is, as far as registers depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// A copy; of a constant if there is no source.
    Move,
    /// A parameter of the kernel.
    Param,
    /// `cvta`: nothing, for a pointer that is used in its own space.
    SameAddress,
    /// A special register of the thread, and one that is the same for the whole block.
    ThreadSpecial,
    BlockSpecial,
    /// `mul.wide`; the sum of 64-bit whole numbers; a 64-bit value whose upper half is 0.
    Wide,
    AddLong,
    ZeroExtend,
    /// Other whole-number arithmetic, and that of floats.
    Integer,
    Float,
    /// What takes about as long as shared memory: special functions, conversions, shuffles.
    Far,
    Slow(Slow),
    /// A load, and whether nothing written can change what it reads.
    Load(Space, bool),
    Store(Space),
    Atomic(Space),
    Barrier,
    Branch,
    Return,
    Call,
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inst {
    pub(super) op: Op,
    pub(super) dst: Regs,
    pub(super) src: Regs,
    /// The predicate that it stands under.
    pub(super) guard: Option<Reg>,
    /// Where a branch goes.
    pub(super) label: u32,
    /// The whole number among its operands, if there is one; 0 for other constants.
    pub(super) constant: Option<i64>,
    /// Whether it is a sum.
    pub(super) is_sum: bool,
    /// Elements of a vector access, and bytes of one.
    pub(super) vector: u8,
    pub(super) bytes: u8,
    /// Where in memory, from the register that is read: a constant, and the name of an array (0: none).
    pub(super) offset: i64,
    pub(super) symbol: u32,
    /// The power of two that a constant operand multiplies by.
    pub(super) scale: u8,
    /// Registers taken besides those of operands and results.
    pub(super) extra: u8,
    /// The place last said by `.loc`: an index into [`Code::places`].
    pub(super) place: u32,
}

/// A stretch of instructions entered at its top and left at its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretch {
    pub(super) insts: Vec<Inst>,
    /// Labels at its top.
    pub(super) labels: Vec<u32>,
    /// Whether the source asks that the loop that begins here stays as it is.
    pub(super) keep_rolled: bool,
}

/// A kernel's text.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub(super) stretches: Vec<Stretch>,
    /// 32-bit registers that each register takes: 0 for predicates.
    pub(super) widths: Vec<u8>,
    /// File (from 1), line, column.
    pub(super) places: Vec<[u32; 3]>,
}

/// Reads the body of an entry.
pub(super) fn read(text: &str) -> Code {
    let mut reader = Reader::default();
    reader.code.places.push([0; 3]);
    reader.code.stretches.push(Stretch::default());
    let body = text.find("\n{").map_or(text, |at| &text[at + 2..]);
    for line in body.lines() {
        reader.line(line.trim());
    }
    reader.code
}

#[derive(Default)]
struct Reader<'t> {
    code: Code,
    /// Registers `%r12` by class and number.
    numbered: [Vec<Reg>; 6],
    /// Names declared in templates, in the scopes open now, innermost last.
    scopes: Vec<HashMap<&'t str, Reg>>,
    /// Labels, those in templates by the number of their scope.
    labels: HashMap<(u32, &'t str), u32>,
    scope_numbers: Vec<u32>,
    scope_count: u32,
    /// Whether the next instruction begins a stretch.
    is_ended: bool,
}

const NONE: Reg = Reg::MAX;

impl<'t> Reader<'t> {
    fn line(&mut self, line: &'t str) {
        match line.as_bytes().first() {
            None => {}
            Some(b'.') => self.directive(line),
            Some(b'{') => {
                self.scopes.push(HashMap::default());
                self.scope_count += 1;
                self.scope_numbers.push(self.scope_count);
                self.line(line[1..].trim());
            }
            Some(b'}') => {
                self.scopes.pop();
                self.scope_numbers.pop();
            }
            Some(b'/') => {}
            Some(_) => match line.strip_suffix(':') {
                Some(label) => self.place_label(label),
                None => self.instruction(line.trim_end_matches(';')),
            },
        }
    }

    fn directive(&mut self, line: &'t str) {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some(".loc") => {
                let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
                let place = [number(), number(), number()];
                self.code.places.push(place);
            }
            Some(".pragma") => {
                if let Some(last) = self.code.stretches.last_mut() {
                    last.keep_rolled = true;
                }
            }
            // Of templates: `.reg .b32 x, y;`. The body's own declare `%r<12>`, whose registers are made when they are met.
            Some(".reg") if !line.contains('<') => {
                let width = words.next().map_or(1, width_of);
                for name in words.flat_map(|word| word.split(',')).map(|word| word.trim_end_matches(';')).filter(|word| !word.is_empty()) {
                    let reg = self.new_reg(width);
                    if let Some(scope) = self.scopes.last_mut() {
                        scope.insert(name, reg);
                    }
                }
            }
            _ => {}
        }
    }

    fn new_reg(&mut self, width: u8) -> Reg {
        self.code.widths.push(width);
        self.code.widths.len() as Reg - 1
    }

    fn label_number(&mut self, name: &'t str) -> u32 {
        // The body's labels begin with a `$`, templates' do not.
        let scope = if name.starts_with('$') { 0 } else { self.scope_numbers.last().copied().unwrap_or(0) };
        let next = self.labels.len() as u32;
        *self.labels.entry((scope, name)).or_insert(next)
    }

    fn place_label(&mut self, name: &'t str) {
        let label = self.label_number(name);
        let is_fresh = self.code.stretches.last().is_some_and(|stretch| stretch.insts.is_empty());
        if !is_fresh {
            self.code.stretches.push(Stretch::default());
        }
        self.is_ended = false;
        if let Some(stretch) = self.code.stretches.last_mut() {
            stretch.labels.push(label);
        }
    }

    fn instruction(&mut self, line: &'t str) {
        let (guard, line) = match line.strip_prefix('@') {
            Some(rest) => {
                let (guard, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                (self.register(guard.trim_start_matches('!')), rest)
            }
            None => (None, line),
        };
        let (name, operands) = line.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((line, ""));
        let Some(op) = op_of(name, operands) else { return };
        let place = self.code.places.len() as u32 - 1;
        let mut inst = Inst {
            op,
            dst: Regs::default(),
            src: Regs::default(),
            guard,
            label: 0,
            constant: None,
            is_sum: name.starts_with("add."),
            vector: vector_of(name),
            bytes: bytes_of(name),
            offset: 0,
            symbol: 0,
            scale: 0,
            extra: 0,
            place,
        };
        if op == Op::Branch {
            inst.label = self.label_number(operands.trim());
        } else {
            self.operands(&mut inst, operands, writes(op, name));
        }
        if let Some(constant) = inst.constant {
            inst.scale = match name.split('.').next() {
                Some("shl") => constant.clamp(0, 31) as u8,
                Some("mul") if constant != 0 => constant.trailing_zeros() as u8,
                _ => 0,
            };
        }
        if self.is_ended {
            self.code.stretches.push(Stretch::default());
        }
        self.is_ended = matches!(op, Op::Branch | Op::Return);
        if let Some(stretch) = self.code.stretches.last_mut() {
            stretch.insts.push(inst);
        }
    }

    /// Sorts the registers named in operands into those written and those read. The first operand is written, if any is.
    fn operands(&mut self, inst: &mut Inst, text: &'t str, has_result: bool) {
        let (mut is_result, mut depth) = (has_result, 0);
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'{' | b'[' | b'(' => depth += 1,
                b'}' | b']' | b')' => depth -= 1,
                b',' if depth == 0 => is_result = false,
                c if is_word(c) => {
                    let end = at + bytes[at..].iter().take_while(|c| is_word(**c)).count();
                    match self.register(&text[at..end]) {
                        Some(reg) if is_result => inst.dst.push(reg),
                        Some(reg) => inst.src.push(reg),
                        None if !is_result && depth == 0 && !bytes[at].is_ascii_digit() => {
                            inst.symbol = 1 + self.label_number(&text[at..end]);
                            inst.constant = Some(0);
                        }
                        None if !is_result && depth == 0 => {
                            let sign = if at > 0 && bytes[at - 1] == b'-' { -1 } else { 1 };
                            inst.constant = Some(text[at..end].parse::<i64>().map_or(0, |value| sign * value));
                        }
                        None if depth > 0 => match text[at..end].parse::<i64>() {
                            Ok(offset) => inst.offset = if at > 0 && bytes[at - 1] == b'-' { -offset } else { offset },
                            Err(_) => inst.symbol = 1 + self.label_number(&text[at..end]),
                        },
                        None => {}
                    }
                    at = end;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// The register of a word, if it is one's name.
    fn register(&mut self, word: &'t str) -> Option<Reg> {
        let Some(name) = word.strip_prefix('%') else {
            return self.scopes.iter().rev().find_map(|scope| scope.get(word)).copied();
        };
        let digits = name.find(|c: char| c.is_ascii_digit())?;
        let (class, width) = match &name[..digits] {
            "p" => (0, 0),
            "rs" => (1, 1),
            "r" => (2, 1),
            "f" => (3, 1),
            "rd" => (4, 2),
            "fd" => (5, 2),
            _ => return None,
        };
        let number: usize = name[digits..].parse().ok()?;
        if self.numbered[class].len() <= number {
            self.numbered[class].resize(number + 1, NONE);
        }
        if self.numbered[class][number] == NONE {
            self.numbered[class][number] = self.new_reg(width);
        }
        Some(self.numbered[class][number])
    }
}

fn vector_of(name: &str) -> u8 {
    let has = |part: &str| name.split('.').any(|word| word == part);
    if has("v4") { 4 } else { 1 + u8::from(has("v2")) }
}

/// Bytes of an element: its type is the last word that names one.
fn bytes_of(name: &str) -> u8 {
    match name.rsplit('.').next().unwrap_or("").trim_start_matches(|c: char| !c.is_ascii_digit()) {
        "8" => 1,
        "16" => 2,
        "64" => 8,
        _ => 4,
    }
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'%' | b'_' | b'$' | b'.')
}

fn width_of(ty: &str) -> u8 {
    match ty {
        ".pred" => 0,
        _ if ty.ends_with("64") => 2,
        _ => 1,
    }
}

/// Whether the first operand is written.
fn writes(op: Op, name: &str) -> bool {
    match op {
        Op::Store(_) | Op::Branch | Op::Return | Op::Call => false,
        Op::Barrier => name.contains(".red"),
        Op::Atomic(_) => name.starts_with("atom"),
        _ => true,
    }
}

/// What an instruction is, by its name; `None` for what is none.
fn op_of(name: &str, operands: &str) -> Option<Op> {
    let mut parts = name.split('.');
    let first = parts.next().unwrap_or("");
    let is_float = |name: &str| [".f32", ".f64", ".f16", ".bf16", "f16x2"].iter().any(|ty| name.contains(ty));
    let is_wide = name.ends_with("64");
    Some(match first {
        "mov" if operands.contains("%tid") || operands.contains("%laneid") => Op::ThreadSpecial,
        "mov" if ["%ctaid", "%nctaid", "%ntid"].iter().any(|special| operands.contains(special)) => Op::BlockSpecial,
        // Halves put together and taken apart are work.
        "mov" if operands.contains('{') => Op::Integer,
        "mov" => Op::Move,
        "cvta" => Op::SameAddress,
        "ld" => match space(name) {
            None => Op::Param,
            Some(space) => Op::Load(space, name.contains(".nc") || space == Space::Constant),
        },
        "tex" => Op::Load(Space::Global, true),
        "st" => Op::Store(space(name).unwrap_or(Space::Argument)),
        "red" | "atom" => Op::Atomic(space(name).unwrap_or(Space::Global)),
        "bar" | "barrier" | "membar" | "fence" => Op::Barrier,
        "bra" => Op::Branch,
        "ret" | "exit" | "trap" => Op::Return,
        "call" => Op::Call,
        "mul" if name.starts_with("mul.wide") => Op::Wide,
        "add" if name.ends_with("s64") || name.ends_with("u64") => Op::AddLong,
        "cvt" if name == "cvt.u64.u32" || name == "cvt.s64.u32" => Op::ZeroExtend,
        "div" | "rem" if !is_float(name) => Op::Slow(match () {
            () if is_wide => Slow::Divide64,
            () if name.ends_with("16") => Slow::Divide16,
            () => Slow::Divide32,
        }),
        "div" | "rcp" if name.contains(".rn") => Op::Slow(if is_wide { Slow::DivideDouble } else { Slow::DivideFloat }),
        "min" | "max" if name.ends_with("f64") => Op::Slow(Slow::ChoiceDouble),
        "sqrt" if name.contains(".rn") => Op::Slow(if is_wide { Slow::RootDouble } else { Slow::RootFloat }),
        "shfl" | "vote" | "match" | "redux" | "ex2" | "lg2" | "sin" | "cos" | "rcp" | "rsqrt" | "sqrt" | "div" | "tanh" | "activemask" => {
            Op::Far
        }
        "cvt" if is_float(name) => Op::Far,
        _ if is_float(name) => Op::Float,
        _ => Op::Integer,
    })
}

/// The space of an access; `None` for parameters of the kernel.
fn space(name: &str) -> Option<Space> {
    name.split('.').find_map(|part| match part {
        "global" => Some(Space::Global),
        "shared" => Some(Space::Shared),
        "const" => Some(Space::Constant),
        "local" => Some(Space::Local),
        _ => None,
    })
}
