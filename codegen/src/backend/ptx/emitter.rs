//! The state of printing one kernel: registers, labels, lines, what the text has come to need, what cannot be printed.

use super::code::{Guard, Instruction, Label, Opcode, Operand, Reg, RegisterClass, Statement};
use super::control::Frame;
use super::copies::AsyncCopies;
use super::early::{self, EarlyLoad};
use super::first_product::{Adds, LateZeros};
use super::halves::Halves;
use super::negation::Negation;
use super::region::SharedRegion;
use super::truths::truths_as_floats;
use super::types::bits_suffix;
use crate::analysis::bounds::Bounds;
use crate::collections::{HashMap, HashSet};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Block, CacheHint, Inst, Kernel, Loc, Location, Object, Op, Roles, Type, Value};
use crate::passes;
use crate::target::Target;
use proc_macro2::Span;

/// Appends an instruction: `ptx!(emitter, Add.Rn.F32 d, a, b)`. What is computed of an opcode stands in parentheses: `Add.(suffix(ty))`.
macro_rules! ptx {
    (@ $kind:ident ($word:expr)) => { $word };
    (@ $kind:ident $word:ident) => { $crate::backend::ptx::words::$kind::$word };
    ($emitter:expr, $mnemonic:tt $(. $word:tt)* $($operand:expr),*) => {{
        let (mnemonic, words) = (ptx!(@ Mnemonic $mnemonic), vec![$(ptx!(@ Word $word)),*]);
        let operands = vec![$($crate::backend::ptx::code::Operand::from($operand)),*];
        $emitter.put($crate::backend::ptx::code::Opcode { mnemonic, words }, operands);
    }};
}
pub(super) use ptx;

/// Printing one kernel.
pub(super) struct Emitter<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) target: &'k Target,
    span: &'k dyn Fn(Loc) -> Span,
    pub(super) bounds: Bounds,
    /// Name of the entry point.
    pub(super) entry: String,
    /// Where shared arrays lie that are no variables.
    pub(super) region: Option<SharedRegion>,
    /// Whether the kernel waits by itself for those before it in the stream, which may write until then what it reads.
    pub(super) overlaps: bool,
    /// The body so far.
    pub(super) code: Vec<Statement>,
    /// The register of each value that has one.
    registers: Vec<Option<Reg>>,
    /// How many registers there are of each class.
    pub(super) counts: [u32; RegisterClass::ALL.len()],
    /// Values that were unpacked from a 32-bit word: which, and the how-manieth of its parts.
    pub(super) parts_of_words: HashMap<Value, (Reg, usize)>,
    /// Uses of each value that need it in a register; what nobody needs is not printed.
    pub(super) uses: Vec<u32>,
    /// All uses of each value, whatever becomes of them.
    pub(super) all_uses: Vec<u32>,
    /// Results of `if`s that stayed where they were.
    pub(super) joined: HashSet<Value>,
    /// Products that begin the sums of a loop.
    pub(super) first_products: HashMap<Inst, Adds>,
    /// By who awaits the products of a loop that may not be entered.
    pub(super) late_zeros: HashMap<Inst, Vec<LateZeros>>,
    /// How 16-bit floats are used that `ptxas` makes halves of words of.
    pub(super) halves: Halves,
    /// How integers of 32 bits are negated.
    pub(super) negation: Negation,
    /// Integers made of truths that become floats by their bits.
    pub(super) truths: HashSet<Value>,
    /// Whether what the current instruction gives is masked.
    pub(super) is_masked: bool,
    /// The block that each instruction stands in.
    pub(super) homes: Vec<Option<Block>>,
    /// What is printed as something else, by instruction.
    pub(super) fused: Vec<Option<super::fuse::Fused>>,
    /// Lowest PTX version that has all that was printed.
    pub(super) version: u16,
    labels: u32,
    /// How many registers and labels there are that templates name.
    locals: u32,
    /// The place last said by `.loc`, and that of the current instruction.
    said: Loc,
    loc: Loc,
    /// What annotations issue early; and the current instruction, if it is one of these.
    early_loads: HashMap<Inst, EarlyLoad>,
    early: Option<EarlyLoad>,
    /// Stores to rings that are copies of what is loaded.
    pub(super) copies: AsyncCopies,
    /// What every instruction is under while it is set.
    pub(super) predicate: Option<Guard>,
    /// The roles of a kernel with a producer, and whether what is printed is the work.
    pub(super) roles: Option<Roles>,
    pub(super) is_work: bool,
    /// What `Break` and `Continue` can leave, innermost last.
    pub(super) frames: Vec<Frame>,
    /// Texts in global memory, by index.
    pub(super) strings: Vec<String>,
    pub(super) has_print: bool,
    pub(super) has_assert: bool,
    /// Bytes of the largest list of `print!` arguments.
    pub(super) print_bytes: u32,
    /// The policies of L2 that accesses take.
    pub(super) policies: Vec<(CacheHint, Reg)>,
    /// Objects whose length is asked for.
    pub(super) lengths: Vec<Object>,
    /// Whether the grid that was asked for is asked for.
    pub(super) asks_grid: bool,
    /// The maps of matrices that tensor copies take.
    pub(super) maps: Vec<crate::backend::TensorMap>,
    /// Where rings of the copy engine stand, by their barriers: slot and parity.
    pub(super) turns: Vec<(Object, [Reg; 2])>,
    /// Shared arrays that tensor copies fill.
    pub(super) far_aligned: std::collections::BTreeMap<Object, u64>,
    /// What is asked of textures.
    pub(super) handles: Vec<(Object, super::texture::Handle)>,
    pub(super) diagnostics: Diagnostics,
}

impl<'k> Emitter<'k> {
    pub(super) fn new(kernel: &'k Kernel, target: &'k Target, entry: String, span: &'k dyn Fn(Loc) -> Span) -> Emitter<'k> {
        let mut homes = vec![None; kernel.insts.len()];
        kernel.for_each_inst(|_, block, inst| homes[inst.0 as usize] = Some(block));
        let all_uses = kernel.use_counts();
        Emitter {
            kernel,
            bounds: Bounds::of(kernel),
            target,
            span,
            entry,
            region: SharedRegion::of(kernel, target),
            overlaps: passes::overlaps_on(kernel, target),
            code: Vec::new(),
            registers: vec![None; kernel.values.len()],
            parts_of_words: HashMap::default(),
            counts: [1; RegisterClass::ALL.len()],
            uses: all_uses.clone(),
            all_uses,
            halves: Halves::of(kernel),
            negation: Negation::of(kernel),
            truths: truths_as_floats(kernel),
            is_masked: false,
            homes,
            joined: HashSet::default(),
            first_products: HashMap::default(),
            late_zeros: HashMap::default(),
            fused: vec![None; kernel.insts.len()],
            version: target.ptx_version,
            labels: 0,
            locals: 0,
            said: Loc(0),
            loc: Loc(0),
            early_loads: early::loads(kernel),
            early: None,
            copies: AsyncCopies::of(kernel, target),
            predicate: None,
            roles: kernel.roles(),
            is_work: false,
            frames: Vec::new(),
            strings: Vec::new(),
            has_print: false,
            has_assert: false,
            print_bytes: 0,
            policies: Vec::new(),
            lengths: Vec::new(),
            asks_grid: false,
            maps: Vec::new(),
            turns: Vec::new(),
            far_aligned: kernel.far_aligned(),
            handles: Vec::new(),
            diagnostics: Diagnostics::new(),
        }
    }

    /// Makes an instruction the current one, for `.loc` and refusals.
    pub(super) fn enter(&mut self, inst: Inst) {
        self.loc = self.kernel.insts[inst].loc;
        self.early = self.early_loads.get(&inst).copied();
        self.is_masked = self.kernel.insts[inst].results.iter().any(|result| self.halves.is_masked(*result));
    }

    /// The current instruction's place.
    pub(super) fn loc(&self) -> Loc {
        self.loc
    }

    /// Whether the current instruction is issued ahead of a barrier that stands before its use.
    pub(super) fn is_ahead_of_barrier(&self) -> bool {
        self.early.is_some_and(|early| early.is_ahead_of_barrier)
    }

    /// Whether the current instruction is a load whose place among other loads is to be kept.
    pub(super) fn keeps_order(&self) -> bool {
        self.early.is_some_and(|early| early.keeps_order)
    }

    /// Refuses the current instruction.
    pub(super) fn refuse(&mut self, message: String, help: String) {
        self.refuse_at(self.loc, message, help);
    }

    /// Refuses what stands at a place.
    pub(super) fn refuse_at(&mut self, loc: Loc, message: String, help: String) {
        let diagnostic = Diagnostic::error((self.span)(loc), message);
        self.diagnostics.push(if help.is_empty() { diagnostic } else { diagnostic.help(help) });
    }

    /// Appends an instruction. Prefer `ptx!`.
    pub(super) fn put(&mut self, opcode: Opcode, operands: Vec<Operand>) {
        let early = self.early.filter(|_| opcode.is_load()).map(|early| early.annotation);
        self.push(Statement::Instruction(Instruction { guard: self.predicate, opcode, operands, early }));
    }

    /// Appends to the body, after what is to be said of its place.
    pub(super) fn push(&mut self, statement: Statement) {
        if self.loc != self.said {
            let [before, place] = [self.said, self.loc].map(|loc| self.kernel.locations[loc]);
            self.said = self.loc;
            if place.line != 0 && (Location { call: before.call, caller: before.caller, ..place }) != before {
                self.code.push(Statement::Loc([u32::from(place.file) + 1, place.line, place.column]));
            }
        }
        self.code.push(statement);
    }

    /// Says that something printed needs this PTX version.
    pub(super) fn needs(&mut self, version: u16) {
        self.version = self.version.max(version);
    }

    /// Whether the target has what came with this capability.
    pub(super) fn has(&self, capability: u16) -> bool {
        self.target.capability >= capability
    }

    /// A new label.
    pub(super) fn new_label(&mut self) -> Label {
        self.labels += 1;
        Label { number: self.labels, name: None }
    }

    /// The number of a new register or label with a name.
    pub(super) fn local_number(&mut self) -> u32 {
        self.locals += 1;
        self.locals
    }

    /// Puts a label here.
    pub(super) fn label(&mut self, label: Label) {
        self.code.push(Statement::Label(label));
    }

    /// A new register.
    pub(super) fn temp(&mut self, class: RegisterClass) -> Reg {
        let number = self.counts[class as usize];
        self.counts[class as usize] += 1;
        Reg { class, number, name: None }
    }

    /// A new register for a type.
    pub(super) fn temp_of(&mut self, ty: Type) -> Reg {
        self.temp(RegisterClass::of(ty))
    }

    /// The register that a value is defined in.
    pub(super) fn register(&mut self, value: Value) -> Reg {
        if let Some(reg) = self.registers[value.0 as usize] {
            return reg;
        }
        let reg = self.temp_of(self.kernel.ty(value));
        self.registers[value.0 as usize] = Some(reg);
        reg
    }

    /// The register that a value is known to be defined in.
    pub(super) fn known_register(&self, value: Value) -> Option<Reg> {
        self.registers[value.0 as usize]
    }

    /// Lets a value live in the register of another.
    pub(super) fn alias(&mut self, value: Value, reg: Reg) {
        self.registers[value.0 as usize] = Some(reg);
    }

    /// A value as an operand of `mov`: its register, or the constant it is.
    pub(super) fn raw(&mut self, value: Value) -> Operand {
        match self.kernel.constant(value) {
            Some(scalar) => Operand::Constant(scalar),
            None => Operand::Reg(self.register(value)),
        }
    }

    /// A value as an operand of arithmetic: constants of numbers in place, `bool` and 16-bit floats in registers.
    pub(super) fn operand(&mut self, value: Value) -> Operand {
        match self.kernel.constant(value) {
            Some(scalar) if !matches!(scalar.ty, Type::Bool | Type::F16 | Type::BF16) => Operand::Constant(scalar),
            _ => Operand::Reg(self.in_register(value)),
        }
    }

    /// A value in a register, whatever it is.
    pub(super) fn in_register(&mut self, value: Value) -> Reg {
        match self.kernel.constant(value) {
            Some(scalar) => self.constant_register(Operand::Constant(scalar), scalar.ty),
            None => self.register(value),
        }
    }

    /// An operand in a register of its type.
    pub(super) fn constant_register(&mut self, operand: Operand, ty: Type) -> Reg {
        match operand {
            Operand::Reg(reg) => reg,
            _ => {
                let reg = self.temp_of(ty);
                ptx!(self, Mov.(bits_suffix(ty)) reg, operand);
                reg
            }
        }
    }

    /// Copies, all at once: no destination is written before every source that it is has been read.
    pub(super) fn parallel_moves(&mut self, moves: Vec<(Reg, Operand)>) {
        let mut pending: Vec<_> = moves.into_iter().filter(|(to, from)| *from != Operand::Reg(*to)).collect();
        while !pending.is_empty() {
            let is_free = |n: usize| pending.iter().enumerate().all(|(m, (_, from))| m == n || *from != Operand::Reg(pending[n].0));
            match (0..pending.len()).find(|n| is_free(*n)) {
                Some(n) => {
                    let (to, from) = pending.remove(n);
                    self.copy(to, from);
                }
                None => {
                    // A cycle: one destination's old value moves out of the way.
                    let blocked = pending[0].0;
                    let spare = self.temp(blocked.class);
                    self.copy(spare, blocked.into());
                    for (_, from) in &mut pending {
                        if *from == Operand::Reg(blocked) {
                            *from = spare.into();
                        }
                    }
                }
            }
        }
    }

    /// `to = from`.
    pub(super) fn copy(&mut self, to: Reg, from: Operand) {
        ptx!(self, Mov.(to.class.ty()) to, from);
    }

    /// Copies values into registers, all at once.
    pub(super) fn move_values(&mut self, to: &[Reg], values: &[Value]) {
        let moves = to.iter().zip(values).map(|(to, value)| (*to, self.raw(*value))).collect();
        self.parallel_moves(moves);
    }

    /// The only definition of an operand that is no block parameter.
    pub(super) fn op_of(&self, value: Value) -> Option<&'k Op> {
        let kernel: &'k Kernel = self.kernel;
        kernel.def(value).map(|(_, op)| op)
    }
}
