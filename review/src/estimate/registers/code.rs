//! PTX as the model reads it: what the assembler is given, without what registers do not depend on.

use warpwright_codegen::backend::ptx::code::{self, AddressOperand, Base, Instruction, Label, Operand, RegisterClass, Statement};
use warpwright_codegen::backend::ptx::words::{Mnemonic, Word};
use warpwright_codegen::collections::{HashMap, HashSet};
use warpwright_codegen::ir::{Scalar, Space, Special};

/// A virtual register, numbered densely.
pub(super) type Reg = u32;

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
#[derive(Clone, Debug)]
pub(super) struct Inst {
    pub(super) op: Op,
    pub(super) dst: Vec<Reg>,
    pub(super) src: Vec<Reg>,
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

/// A kernel's body.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub(super) stretches: Vec<Stretch>,
    /// 32-bit registers that each register takes: 0 for predicates.
    pub(super) widths: Vec<u8>,
    /// File (from 1), line, column.
    pub(super) places: Vec<[u32; 3]>,
    /// Sums of a warpgroup's products that add, but for the first: they hold nothing before.
    pub(super) begun: HashSet<Reg>,
}

/// The body of an entry as the model sees it.
pub(super) fn read(body: &[Statement]) -> Code {
    let mut reader = Reader::default();
    reader.code.places.push([0; 3]);
    reader.code.stretches.push(Stretch::default());
    body.iter().for_each(|statement| reader.statement(statement));
    reader.code
}

#[derive(Default)]
struct Reader<'b> {
    code: Code,
    /// Registers by class and number, and those with names by number.
    registers: [Vec<Reg>; RegisterClass::ALL.len() + 1],
    labels: HashMap<Label, u32>,
    /// Arrays, from 1.
    symbols: HashMap<&'b str, u32>,
    /// Predicates that never hold, and those that always do.
    falses: HashSet<&'b code::Reg>,
    trues: HashSet<&'b code::Reg>,
    /// Whether the next instruction begins a stretch.
    is_ended: bool,
}

const NONE: Reg = Reg::MAX;

impl<'b> Reader<'b> {
    fn statement(&mut self, statement: &'b Statement) {
        match statement {
            Statement::Instruction(instruction) => self.instruction(instruction),
            Statement::Label(label) => self.place_label(*label),
            Statement::Loc(place) => self.code.places.push(*place),
            Statement::KeepRolled => {
                if let Some(last) = self.code.stretches.last_mut() {
                    last.keep_rolled = true;
                }
            }
            Statement::Registers(_, regs) => {
                regs.iter().for_each(|reg| {
                    self.register(reg);
                });
            }
            Statement::Open | Statement::Close | Statement::Parameter(..) => {}
        }
    }

    fn label_number(&mut self, label: Label) -> u32 {
        let next = self.labels.len() as u32;
        *self.labels.entry(label).or_insert(next)
    }

    fn symbol_number(&mut self, symbol: &'b str) -> u32 {
        let next = self.symbols.len() as u32 + 1;
        *self.symbols.entry(symbol).or_insert(next)
    }

    fn place_label(&mut self, label: Label) {
        let label = self.label_number(label);
        let is_fresh = self.code.stretches.last().is_some_and(|stretch| stretch.insts.is_empty());
        if !is_fresh {
            self.code.stretches.push(Stretch::default());
        }
        self.is_ended = false;
        if let Some(stretch) = self.code.stretches.last_mut() {
            stretch.labels.push(label);
        }
    }

    fn instruction(&mut self, instruction: &'b Instruction) {
        let opcode = &instruction.opcode;
        let op = op_of(instruction);
        let mut inst = Inst {
            op,
            dst: Vec::new(),
            src: Vec::new(),
            guard: instruction.guard.map(|guard| self.register(&guard.reg)),
            label: 0,
            constant: None,
            is_sum: opcode.mnemonic == Mnemonic::Add,
            vector: opcode.elements(),
            bytes: opcode.words.last().and_then(|word| word.bits()).map_or(4, |bits| bits as u8 / 8),
            offset: 0,
            symbol: 0,
            scale: 0,
            extra: 0,
            place: self.code.places.len() as u32 - 1,
        };
        let (mut results, sources) = instruction.results_and_sources();
        // Products of a warpgroup add to the registers that they name first, unless they are told not to.
        let mut read = sources;
        if opcode.mnemonic == Mnemonic::Wgmma && sources.len() > 1 {
            results = &sources[..1];
            let adds = sources[1..].iter().flat_map(Operand::registers).all(|reg| !self.falses.contains(reg));
            read = if adds { sources } else { &sources[1..] };
            let is_open =
                |reg: &code::Reg| reg.class == RegisterClass::Predicate && !self.trues.contains(reg) && !self.falses.contains(reg);
            if sources[1..].iter().flat_map(Operand::registers).any(is_open) {
                let sums: Vec<Reg> = sources[0].registers().iter().map(|reg| self.register(reg)).collect();
                self.code.begun.extend(sums);
            }
        }
        if let (Mnemonic::Setp, [Operand::Reg(result), a, b]) = (opcode.mnemonic, &instruction.operands[..])
            && a.registers().is_empty()
            && a == b
        {
            if opcode.has(Word::Ne) {
                self.falses.insert(result);
            } else if opcode.has(Word::Eq) {
                self.trues.insert(result);
            }
        }
        inst.dst.extend(results.iter().flat_map(Operand::registers).map(|reg| self.register(reg)));
        read.iter().for_each(|operand| self.source(&mut inst, operand));
        inst.scale = match (opcode.mnemonic, inst.constant) {
            (Mnemonic::Shl, Some(constant)) => constant.clamp(0, 31) as u8,
            (Mnemonic::Mul, Some(constant)) if constant != 0 => constant.trailing_zeros() as u8,
            _ => 0,
        };
        if self.is_ended {
            self.code.stretches.push(Stretch::default());
        }
        self.is_ended = matches!(op, Op::Branch | Op::Return);
        if let Some(stretch) = self.code.stretches.last_mut() {
            stretch.insts.push(inst);
        }
    }

    /// What an instruction reads.
    fn source(&mut self, inst: &mut Inst, operand: &'b Operand) {
        inst.src.extend(operand.registers().iter().map(|reg| self.register(reg)));
        match operand {
            Operand::Reg(_) | Operand::Vector(_) | Operand::Texel(_) | Operand::Special(..) | Operand::Arguments(_) => {}
            // A whole number, where it is written as one.
            Operand::Constant(scalar) => inst.constant = Some(whole(*scalar).unwrap_or(0)),
            Operand::Bits(_) => inst.constant = Some(0),
            Operand::Symbol(symbol) => (inst.symbol, inst.constant) = (self.symbol_number(symbol), Some(0)),
            Operand::Address(AddressOperand { base, offset }) => {
                inst.offset = i64::from(offset.unwrap_or(0));
                if let Base::Symbol(symbol) = base {
                    inst.symbol = self.symbol_number(symbol);
                }
            }
            Operand::Label(label) => inst.label = self.label_number(*label),
        }
    }

    fn register(&mut self, reg: &code::Reg) -> Reg {
        let (class, number) = (if reg.name.is_some() { RegisterClass::ALL.len() } else { reg.class as usize }, reg.number as usize);
        if self.registers[class].len() <= number {
            self.registers[class].resize(number + 1, NONE);
        }
        if self.registers[class][number] == NONE {
            self.registers[class][number] = self.code.widths.len() as Reg;
            self.code.widths.push(match reg.class {
                RegisterClass::Predicate => 0,
                RegisterClass::Half | RegisterClass::Word | RegisterClass::Float => 1,
                RegisterClass::Long | RegisterClass::Double => 2,
            });
        }
        self.registers[class][number]
    }
}

/// A whole number that 64 bits with a sign hold.
fn whole(scalar: Scalar) -> Option<i64> {
    if scalar.ty.is_float() { None } else { i64::try_from(scalar.as_int()).ok() }
}

/// What an instruction is.
fn op_of(Instruction { opcode, operands, .. }: &Instruction) -> Op {
    use Mnemonic::*;
    let is_float = opcode.words.iter().any(|word| word.is_float());
    let ty = opcode.words.last().copied();
    let is_wide = ty.and_then(Word::bits) == Some(64);
    match opcode.mnemonic {
        Mov => operands.iter().find_map(moved).unwrap_or(Op::Move),
        Cvta => Op::SameAddress,
        Mapa => Op::Integer,
        Ld => match opcode.space() {
            None | Some(Space::Param) => Op::Param,
            Some(space) => Op::Load(space, opcode.has(Word::Nc) || space == Space::Constant),
        },
        // A constant, which accesses have as an operand.
        Createpolicy => Op::Param,
        Tex => Op::Load(Space::Global, true),
        // A copy from global to shared memory has an address in each; what waits for copies has none.
        Cp if opcode.space().is_some() => Op::Store(Space::Shared),
        Cp => Op::Barrier,
        St => Op::Store(opcode.space().unwrap_or(Space::Global)),
        Red | Atom => Op::Atomic(opcode.space().unwrap_or(Space::Global)),
        Bar | Barrier | Fence | Griddepcontrol | Membar | Mbarrier | Setmaxnreg => Op::Barrier,
        Bra => Op::Branch,
        Ret | Trap => Op::Return,
        Call => Op::Call,
        Mul if opcode.has(Word::Wide) => Op::Wide,
        Add if matches!(ty, Some(Word::S64 | Word::U64)) => Op::AddLong,
        Cvt if matches!(opcode.words.as_slice(), [Word::U64 | Word::S64, Word::U32]) => Op::ZeroExtend,
        Cvt if is_float => Op::Far,
        Div | Rem if !is_float => Op::Slow(match ty.and_then(Word::bits) {
            Some(64) => Slow::Divide64,
            Some(16) => Slow::Divide16,
            _ => Slow::Divide32,
        }),
        Div | Rcp if opcode.has(Word::Rn) => Op::Slow(if is_wide { Slow::DivideDouble } else { Slow::DivideFloat }),
        Min | Max if ty == Some(Word::F64) => Op::Slow(Slow::ChoiceDouble),
        Sqrt if opcode.has(Word::Rn) => Op::Slow(if is_wide { Slow::RootDouble } else { Slow::RootFloat }),
        Ldmatrix => Op::Load(Space::Shared, false),
        Stmatrix => Op::Store(Space::Shared),
        Wgmma if operands.len() < 2 => Op::Barrier,
        Mma | Wgmma | Shfl | Vote | Match | Ex2 | Lg2 | Sin | Cos | Rcp | Rsqrt | Sqrt | Div | Tanh => Op::Far,
        Abs | Add | And | Bfe | Brev | Clz | Cvt | Fma | Mad | Max | Min | Mul | Neg | Not | Or | Popc | Prmt | Rem | Selp | Setp | Shf
        | Shl | Shr | Sub | Vabsdiff4 | Xor => {
            if is_float {
                Op::Float
            } else {
                Op::Integer
            }
        }
    }
}

/// What a move is because of an operand.
fn moved(operand: &Operand) -> Option<Op> {
    match operand {
        Operand::Special(Special::ThreadIdx | Special::LaneId | Special::WarpId, _) => Some(Op::ThreadSpecial),
        Operand::Special(Special::BlockIdx | Special::BlockDim | Special::GridDim, _) => Some(Op::BlockSpecial),
        // Halves put together and taken apart are work.
        Operand::Vector(_) => Some(Op::Integer),
        _ => None,
    }
}
