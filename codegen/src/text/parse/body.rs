//! Instructions and the blocks they own.

use super::lex::Token;
use super::{ParseError, Parser, named};
use crate::annotations::{Annotation, Modifier, Modifiers, On};
use crate::ir::{
    Access, Address, Annotations, Asked, AtomicOp, Atomicity, Axis, BinaryOp, Block, Collective, CompareOp, Compute, Engine, Inst,
    LeftFactor, Loc, MMA_SHAPES, Memory, MemoryOp, MemoryOrder, Message, Object, Op, PitchedMatrix, PrintPart, ProductFactor, Region, Role,
    Scope, Share, Special, Step, StoreStage, Tensor, Terminator, TextureOp, UnaryOp, Value, WarpgroupFactor,
};

/// Deepest nesting of blocks.
const MAX_DEPTH: usize = 200;

impl<'t> Parser<'t> {
    /// The instructions of a block whose `{` has been read, and its `}`.
    pub(super) fn block(&mut self, block: Block, depth: usize) -> Result<(), ParseError> {
        if depth > MAX_DEPTH {
            return Err(self.error(format!("blocks nested deeper than {MAX_DEPTH}")));
        }
        while !self.eat('}') {
            self.inst(block, depth)?;
            self.end_line()?;
        }
        Ok(())
    }

    fn inst(&mut self, block: Block, depth: usize) -> Result<(), ParseError> {
        let inst = self.new_inst(block);
        if *self.peek_second() == Token::Sign(':') {
            loop {
                let definition = self.definition()?;
                self.define_result(inst, definition)?;
                if !self.eat(',') {
                    break;
                }
            }
            self.expect('=')?;
        }
        let op = match self.word()? {
            "if" => self.if_op(inst, depth)?,
            "for" => self.for_op(inst, depth)?,
            "loop" => self.loop_op(inst, depth)?,
            "region" => self.region_op(inst, depth)?,
            word => {
                let op = self.plain_op(inst, word)?;
                self.kernel.insts[inst].loc = self.location()?;
                op
            }
        };
        self.kernel.insts[inst].op = op;
        Ok(())
    }

    fn if_op(&mut self, inst: Inst, depth: usize) -> Result<Op, ParseError> {
        let condition = self.value()?;
        let then_block = self.child(inst, depth)?;
        let else_block = self.kernel.new_block(&[]);
        if self.eat_word("else") {
            self.open(else_block, depth)?;
        } else {
            let end = self.new_inst(else_block);
            self.kernel.insts[end].op = Op::Terminator(Terminator::Yield(Vec::new()));
            self.kernel.insts[end].loc = self.kernel.insts[inst].loc;
        }
        Ok(Op::Region(Region::If { condition, then_block, else_block }))
    }

    fn for_op(&mut self, inst: Inst, depth: usize) -> Result<Op, ParseError> {
        self.name_loop(inst)?;
        let body = self.kernel.new_block(&[]);
        self.expect('(')?;
        if *self.peek() != Token::Word("in") {
            let induction = self.definition()?;
            self.define_param(body, induction)?;
        }
        self.expect_word("in")?;
        let start = self.value()?;
        self.expect('.')?;
        self.expect('.')?;
        let end = self.value()?;
        self.expect_word("step")?;
        let step = self.value()?;
        let init = if self.eat(';') { self.carried(body)? } else { Vec::new() };
        let keep_rolled = self.loop_body(inst, body, depth)?;
        Ok(Op::Region(Region::For { start, end, step, init, body, keep_rolled }))
    }

    /// ` unroll(4) ilp(2) batch_loads`, as [`Annotations`] prints them.
    fn annotations(&mut self, inst: Inst) -> Result<(), ParseError> {
        let mut all = Annotations::default();
        while let Token::Word(word) = *self.peek() {
            self.advance();
            if word == "of_kernel" {
                all.of_kernel = true;
                continue;
            }
            let annotation = Annotation::all_on(On::Loop).find(|annotation| annotation.name == word);
            let annotation = annotation.ok_or_else(|| self.error(format!("`{word}` is no annotation of a loop")))?;
            let asked = self.annotation(annotation)?;
            if annotation.needs_number() && asked.argument.is_none() {
                return Err(self.error(format!("`{word}` needs a number")));
            }
            all.insert(asked);
        }
        if !all.is_empty() {
            self.kernel.annotations.insert(inst, all);
        }
        Ok(())
    }

    /// `(4, best_effort)`, or nothing.
    fn annotation(&mut self, annotation: &'static Annotation) -> Result<Asked, ParseError> {
        let mut asked = Asked { annotation, place: Loc(0), argument: None, modifiers: Modifiers::default(), condition: None };
        if !self.eat('(') {
            return Ok(asked);
        }
        while !self.eat(')') {
            match *self.peek() {
                Token::Number(_) => asked.argument = Some(self.integer()?),
                Token::Word("by") => {
                    self.advance();
                    self.expect('=')?;
                    let Token::Word(word) = *self.peek() else { return Err(self.expected("what copies are made by")) };
                    let modifier = Modifier::named(&format!("by = {word}"));
                    asked.modifiers.add(modifier.ok_or_else(|| self.error(format!("nothing copies by `{word}`")))?);
                    self.advance();
                }
                ref token => {
                    let modifier = if let Token::Word(word) = token { Modifier::named(word) } else { None };
                    let wanted = "a number, `best_effort`, `assume_disjoint` or `assume_aligned`";
                    asked.modifiers.add(modifier.ok_or_else(|| self.expected(wanted))?);
                    self.advance();
                }
            }
            self.eat(',');
        }
        Ok(asked)
    }

    fn loop_op(&mut self, inst: Inst, depth: usize) -> Result<Op, ParseError> {
        self.name_loop(inst)?;
        let body = self.kernel.new_block(&[]);
        self.expect('(')?;
        let init = self.carried(body)?;
        let keep_rolled = self.loop_body(inst, body, depth)?;
        Ok(Op::Region(Region::Loop { init, body, keep_rolled }))
    }

    /// `) rolled unroll(4) @1:2 {`, and the body; whether it says `rolled`.
    fn loop_body(&mut self, inst: Inst, body: Block, depth: usize) -> Result<bool, ParseError> {
        self.expect(')')?;
        let keep_rolled = self.eat_word("rolled");
        self.annotations(inst)?;
        self.kernel.insts[inst].loc = self.location()?;
        self.open(body, depth)?;
        Ok(keep_rolled)
    }

    fn region_op(&mut self, inst: Inst, depth: usize) -> Result<Op, ParseError> {
        self.name_loop(inst)?;
        let body = self.child(inst, depth)?;
        Ok(Op::Region(Region::Block { body }))
    }

    fn name_loop(&mut self, inst: Inst) -> Result<(), ParseError> {
        let number = self.entity("i")?;
        match self.loops.insert(number, inst) {
            None => Ok(()),
            Some(_) => Err(self.error(format!("i{number} is defined twice"))),
        }
    }

    /// `v5: f32 = v2, v6: u32 = v3`, up to the `)`; each half may be missing.
    fn carried(&mut self, body: Block) -> Result<Vec<Value>, ParseError> {
        let mut init = Vec::new();
        while *self.peek() != Token::Sign(')') {
            if *self.peek() != Token::Sign('=') {
                let definition = self.definition()?;
                self.define_param(body, definition)?;
            }
            if self.eat('=') {
                init.push(self.value()?);
            }
            if !self.eat(',') {
                break;
            }
        }
        Ok(init)
    }

    /// The location of `inst`, and a block of its.
    fn child(&mut self, inst: Inst, depth: usize) -> Result<Block, ParseError> {
        self.kernel.insts[inst].loc = self.location()?;
        let block = self.kernel.new_block(&[]);
        self.open(block, depth)?;
        Ok(block)
    }

    fn open(&mut self, block: Block, depth: usize) -> Result<(), ParseError> {
        self.expect('{')?;
        self.end_line()?;
        self.block(block, depth + 1)
    }

    /// An instruction without blocks.
    fn plain_op(&mut self, inst: Inst, word: &'t str) -> Result<Op, ParseError> {
        match word {
            "const" => self.constant(inst),
            "call" => self.call(inst),
            "len" => Ok(Op::Compute(Compute::Len(self.object_name()?))),
            "peer_address" => {
                let object = self.object_name()?;
                self.expect(',')?;
                Ok(Op::Compute(Compute::PeerAddress(object, self.value()?)))
            }
            "address" => Ok(Op::Compute(Compute::Address(self.object_name()?))),
            "texture" => Ok(Op::Texture(self.texture()?, self.object_name()?, self.more_values(true)?)),
            "load_run" | "load_tile" | "store_tile" => self.collective(word).map(Op::Collective),
            "barrier_init" => {
                let barriers = self.object_name()?;
                let arrivals = if self.eat(',') { self.integer()? } else { 1 };
                Ok(Op::Engine(Engine::Init { barriers, arrivals }))
            }
            "barrier_arrive" => {
                let barrier = self.access()?;
                let of_block = if self.eat_word("of") { Some(self.value()?) } else { None };
                Ok(Op::Engine(Engine::Arrive { barrier, of_block }))
            }
            "is_producer" => Ok(Op::Engine(Engine::Is(Role::Producer))),
            "is_issuer" => Ok(Op::Engine(Engine::Is(Role::Issuer))),
            "barrier_turn" => Ok(Op::Engine(Engine::Turn(self.object_name()?))),
            "barrier_keep_turn" => self.keep_turn().map(Op::Engine),
            "barrier_expect" | "barrier_wait" | "copy_run" | "copy_tile" => self.engine(word).map(Op::Engine),
            "multiply_add" => self.multiply_add().map(Op::Tensor),
            "store_sums" => self.store_sums().map(Op::Tensor),
            "position" => self.position().map(Op::Tensor),
            "mma" => self.mma().map(Op::Tensor),
            "await_products" => Ok(Op::Tensor(Tensor::Await { sums: self.more_values(false)? })),
            "warpgroup_mma" => self.warpgroup_mma().map(Op::Tensor),
            "put_tile" => self.put_tile().map(Op::Engine),
            "commit_stores" => Ok(Op::Engine(Engine::CommitStores)),
            "await_stores" => self.await_stores().map(Op::Engine),
            "engine_fence" => Ok(Op::Engine(Engine::Fence)),
            "warpgroup_sync" => Ok(Op::Engine(Engine::Meet { warpgroup: self.value()? })),
            "load" | "store" | "atomic" | "load_matrix" | "store_matrix" | "load_at" | "store_at" | "atomic_at" | "load_matrix_at"
            | "store_matrix_at" => self.memory(word),
            "print" => Ok(Op::Message(Message::Print(self.parts()?, self.more_values(true)?))),
            "assert" => {
                let condition = self.value()?;
                self.expect(',')?;
                Ok(Op::Message(Message::Assert(condition, self.parts()?, self.more_values(true)?)))
            }
            "yield" => Ok(Op::Terminator(Terminator::Yield(self.more_values(false)?))),
            "break" => Ok(Op::Terminator(Terminator::Break(self.loop_name()?, self.more_values(false)?))),
            "continue" => Ok(Op::Terminator(Terminator::Continue(self.loop_name()?, self.more_values(false)?))),
            "return" => Ok(Op::Terminator(Terminator::Return)),
            "trap" => Ok(Op::Terminator(Terminator::Trap(self.text()?))),
            word if *self.peek() == Token::Sign('.') => self.special(word),
            word => {
                let values = self.more_values(false)?;
                operands_only(word, &values)
                    .ok_or_else(|| self.error(format!("there is no instruction `{word}` with {} operands", values.len())))
            }
        }
    }

    fn constant(&mut self, inst: Inst) -> Result<Op, ParseError> {
        let [result] = self.kernel.insts[inst].results[..] else {
            return Err(self.error("a constant has one result".to_owned()));
        };
        self.scalar(self.kernel.ty(result)).map(|scalar| Op::Compute(Compute::Const(scalar)))
    }

    fn call(&mut self, inst: Inst) -> Result<Op, ParseError> {
        let line = self.line();
        let name = self.word()?;
        let args = self.more_values(false)?;
        self.calls.push((inst, name, args, line));
        Ok(Op::Terminator(Terminator::Return))
    }

    fn special(&mut self, word: &str) -> Result<Op, ParseError> {
        let special = named(Special::ALL, word).ok_or_else(|| self.error(format!("there is no special register `{word}`")))?;
        self.expect('.')?;
        let axis = self.word()?;
        let axis = named(Axis::ALL, axis).ok_or_else(|| self.error(format!("`{axis}` is no axis")))?;
        Ok(Op::Compute(Compute::Special(special, axis)))
    }

    /// `add`, `load.acquire.device`.
    fn atomic(&mut self) -> Result<(AtomicOp, Atomicity), ParseError> {
        let word = self.word()?;
        let op = named(AtomicOp::ALL, word).ok_or_else(|| self.error(format!("there is no atomic `{word}`")))?;
        if !self.eat('.') {
            return Ok((op, Atomicity::RELAXED));
        }
        let word = self.word()?;
        let order = named(MemoryOrder::ALL, word).ok_or_else(|| self.error(format!("there is no order `{word}`")))?;
        self.expect('.')?;
        let word = self.word()?;
        let scope = named(Scope::OF_MEMORY, word).ok_or_else(|| self.error(format!("there is no scope `{word}`")))?;
        Ok((op, Atomicity { order, scope }))
    }

    fn texture(&mut self) -> Result<TextureOp, ParseError> {
        let word = self.word()?;
        named(TextureOp::ALL, word).ok_or_else(|| self.error(format!("a texture is not asked for its `{word}`")))
    }

    pub(super) fn object_name(&mut self) -> Result<Object, ParseError> {
        let number = self.entity("m")?;
        self.objects.get(&number).copied().ok_or_else(|| self.error(format!("m{number} is not declared")))
    }

    fn loop_name(&mut self) -> Result<Inst, ParseError> {
        let number = self.entity("i")?;
        self.loops.get(&number).copied().ok_or_else(|| self.error(format!("no loop or region is called i{number}")))
    }

    /// `m1[v2].0`.
    fn access(&mut self) -> Result<Access, ParseError> {
        let object = self.object_name()?;
        let mut path = Vec::new();
        loop {
            if self.eat('[') {
                path.push(Step::Index(self.value()?));
                self.expect(']')?;
            } else if self.eat('.') {
                path.push(Step::Field(self.integer()?));
            } else {
                return Ok(Access { object, path });
            }
        }
    }

    /// `load m0[v1]`, `load_at m0, v1 + 8`, `store_at m0, v1, v2`, `atomic_at add m0, v1, v2`.
    fn memory(&mut self, word: &str) -> Result<Op, ParseError> {
        let (name, by_pointer) = word.strip_suffix("_at").map_or((word, false), |name| (name, true));
        let atomic = if name == "atomic" { Some(self.atomic()?) } else { None };
        let is_transposed = name == "load_matrix" && self.eat_word("transposed");
        let at = if by_pointer { self.pointer()? } else { Address::Path(self.access()?) };
        let op = match atomic {
            Some((op, atomicity)) => MemoryOp::Atomic(op, atomicity, self.more_values(true)?),
            None if name == "load_matrix" => MemoryOp::LoadMatrix { is_transposed },
            None if name == "store" => MemoryOp::Store(self.more_values(true)?),
            None if name == "store_matrix" => MemoryOp::StoreMatrix(self.more_values(true)?),
            None => MemoryOp::Load,
        };
        Ok(Op::Memory(Memory { op, at }))
    }

    /// `load_run m1, m0, v2`, `load_tile m1, m0, v2, v3, v4, v5, v6`.
    fn collective(&mut self, word: &str) -> Result<Collective, ParseError> {
        let array = self.access()?;
        self.expect(',')?;
        let data = self.object_name()?;
        let place = self.more_values(true)?;
        match (word, &place[..], PitchedMatrix::from_place(data, &place)) {
            ("load_run", [start], _) => Ok(Collective::LoadRun { to: array, from: data, start: *start }),
            ("load_tile", _, Some((from, row, column))) => Ok(Collective::LoadTile { to: array, from, row, column }),
            ("store_tile", _, Some((to, row, column))) => Ok(Collective::StoreTile { to, row, column, from: array }),
            _ => Err(self.error(format!("`{word}` does not take {} values", place.len()))),
        }
    }

    /// `m1[v2] transposed`.
    fn factor(&mut self) -> Result<ProductFactor, ParseError> {
        let array = self.access()?;
        Ok(ProductFactor { array, is_transposed: self.eat_word("transposed") })
    }

    /// `multiply_add m1, m2 transposed, v3, v4`.
    fn multiply_add(&mut self) -> Result<Tensor, ParseError> {
        let a = if self.eat_word("operand") {
            let (element, shape) = self.shape_of_sums()?;
            LeftFactor::Sums { shape, element, values: self.listed_values()? }
        } else {
            LeftFactor::Tile(self.factor()?)
        };
        self.expect(',')?;
        let b = self.factor()?;
        Ok(Tensor::MultiplyAdd { a, b, sums: self.more_values(true)? })
    }

    /// `position f32 128 x 64, v2`.
    fn position(&mut self) -> Result<Tensor, ParseError> {
        let (of, shape) = self.sums()?;
        Ok(Tensor::Position { shape, of, element: self.value()? })
    }

    /// `store_sums f32 128 x 64, m3, v4, v5`.
    fn store_sums(&mut self) -> Result<Tensor, ParseError> {
        let (of, shape) = self.sums()?;
        let to = self.access()?;
        let from = if self.eat_word("from") { Some(self.value()?) } else { None };
        Ok(Tensor::Store { shape, of, to, from, sums: self.more_values(true)? })
    }

    /// `warpgroup_mma bf16 64 x 128 x 64, m1[v0], v1, m2[v0] transposed, v3, v4 …`.
    fn warpgroup_mma(&mut self) -> Result<Tensor, ParseError> {
        let running = if self.eat_word("left") { self.integer()? } else { 0 };
        let word = self.word()?;
        let factors = word.parse().map_err(|_| self.error(format!("`{word}` is no type")))?;
        let m = self.integer()?;
        let mut mnk = [m, 0, 0];
        for side in &mut mnk[1..] {
            if !self.eat_word("x") {
                return Err(self.error("a product has rows `x` columns `x` steps".to_owned()));
            }
            *side = self.integer()?;
        }
        self.expect(',')?;
        let a = if self.eat_word("words") {
            WarpgroupFactor::Words(self.listed_values()?)
        } else {
            let tile = self.factor()?;
            self.expect(',')?;
            WarpgroupFactor::Tile { tile, row: self.value()? }
        };
        self.expect(',')?;
        let b = self.factor()?;
        Ok(Tensor::WarpgroupMma { mnk, a, b, factors, running, sums: self.more_values(true)? })
    }

    /// `[v1, v2 …]`.
    fn listed_values(&mut self) -> Result<Vec<Value>, ParseError> {
        self.expect('[')?;
        let mut values = Vec::new();
        while !self.eat(']') {
            if !values.is_empty() {
                self.expect(',')?;
            }
            values.push(self.value()?);
        }
        Ok(values)
    }

    /// `f32 128 x 64,`.
    fn sums(&mut self) -> Result<(crate::ir::Type, [u64; 2]), ParseError> {
        let found = self.shape_of_sums()?;
        self.expect(',')?;
        Ok(found)
    }

    /// `f32 128 x 64`.
    fn shape_of_sums(&mut self) -> Result<(crate::ir::Type, [u64; 2]), ParseError> {
        let word = self.word()?;
        let of = word.parse().map_err(|_| self.error(format!("`{word}` is no type")))?;
        let m = self.integer()?;
        if !self.eat_word("x") {
            return Err(self.error("sums have rows `x` columns".to_owned()));
        }
        let n = self.integer()?;
        Ok((of, [m, n]))
    }

    /// `mma "m16n8k16.row.col.f32.bf16.bf16.f32", v1, v2 …`.
    fn mma(&mut self) -> Result<Tensor, ParseError> {
        let name = self.text()?;
        let shape = MMA_SHAPES.iter().find(|shape| shape.name == name);
        let shape = shape.ok_or_else(|| self.error(format!("there is no shape {name:?}")))?;
        let mut values = self.more_values(true)?;
        let [a, b, c] = shape.words();
        if values.len() != a + b + c {
            return Err(self.error(format!("{name:?} takes {} values, found {}", a + b + c, values.len())));
        }
        let c = values.split_off(a + b);
        let b = values.split_off(a);
        Ok(Tensor::Mma { shape, a: values, b, c })
    }

    /// `barrier_expect m1[v0], v2`, `copy_run m3[v0], m0, m1[v0], v4`, `copy_tile shared 2 m3[v0], …, v9, v10`: the part and the blocks.
    fn engine(&mut self, word: &str) -> Result<Engine, ParseError> {
        let parts = if word == "copy_tile" && self.eat_word("shared") { Some(self.integer()?) } else { None };
        let first = self.access()?;
        self.expect(',')?;
        if !word.starts_with("copy") {
            let value = self.value()?;
            return Ok(if word == "barrier_wait" {
                Engine::Wait { barrier: first, parity: value }
            } else {
                Engine::Expect { barrier: first, bytes: value }
            });
        }
        let from = self.object_name()?;
        self.expect(',')?;
        let barrier = self.access()?;
        let place = self.more_values(true)?;
        if let ("copy_run", [start]) = (word, &place[..]) {
            return Ok(Engine::CopyRun { to: first, from, start: *start, barrier });
        }
        let (tile, share) = match (parts, &place[..]) {
            (Some(parts), [tile @ .., part, blocks]) => (tile, Some(Share { parts, part: *part, blocks: *blocks })),
            (_, tile) => (tile, None),
        };
        match PitchedMatrix::from_place(from, tile) {
            Some((from, row, column)) if word == "copy_tile" && parts.is_some() == share.is_some() => {
                Ok(Engine::CopyTile { to: first, from, row, column, barrier, share })
            }
            _ => Err(self.error(format!("`{word}` does not take {} values", place.len()))),
        }
    }

    /// `barrier_keep_turn m1, v2, v3`.
    fn keep_turn(&mut self) -> Result<Engine, ParseError> {
        let barriers = self.object_name()?;
        match self.more_values(true)?[..] {
            [slot, parity] => Ok(Engine::KeepTurn { barriers, slot, parity }),
            _ => Err(self.error("`barrier_keep_turn` takes a slot and a parity".to_owned())),
        }
    }

    /// `put_tile m3[v0], m0, v2, v3, v4, v5, v6`.
    fn put_tile(&mut self) -> Result<Engine, ParseError> {
        let from = self.access()?;
        self.expect(',')?;
        let data = self.object_name()?;
        match PitchedMatrix::from_place(data, &self.more_values(true)?) {
            Some((to, row, column)) => Ok(Engine::StoreTile { from, to, row, column }),
            None => Err(self.error("`put_tile` takes five values, or eight".to_owned())),
        }
    }

    /// `await_stores 1 read`.
    fn await_stores(&mut self) -> Result<Engine, ParseError> {
        let but = self.integer()?;
        let until = StoreStage::ALL.into_iter().find(|(_, word)| self.eat_word(word)).map(|(stage, _)| stage);
        let until = until.ok_or_else(|| self.error("`read` or `done` is expected".to_owned()))?;
        Ok(Engine::AwaitStores { but, until })
    }

    /// `m0, v1 + 8`.
    fn pointer(&mut self) -> Result<Address, ParseError> {
        let object = self.object_name()?;
        self.expect(',')?;
        let ptr = self.value()?;
        let offset = if self.eat('+') { self.integer()? } else { 0 };
        Ok(Address::Pointer { object, ptr, offset })
    }

    /// A format string: `{}`, `{:.2}`, `{{`, `}}`.
    fn parts(&mut self) -> Result<Vec<PrintPart>, ParseError> {
        let text = self.text()?;
        split_format(&text).ok_or_else(|| self.error(format!("{text:?} is no format string")))
    }
}

fn split_format(text: &str) -> Option<Vec<PrintPart>> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '{' | '}' if chars.peek() == Some(&c) => {
                chars.next();
                literal.push(c);
            }
            '{' => {
                if !literal.is_empty() {
                    parts.push(PrintPart::Text(std::mem::take(&mut literal)));
                }
                let inside: String = chars.by_ref().take_while(|c| *c != '}').collect();
                let digits = match inside.as_str() {
                    "" => None,
                    spec => Some(spec.strip_prefix(":.")?.parse().ok()?),
                };
                parts.push(PrintPart::Argument(digits));
            }
            '}' => return None,
            c => literal.push(c),
        }
    }
    if !literal.is_empty() {
        parts.push(PrintPart::Text(literal));
    }
    Some(parts)
}

/// Instructions that are a word and operands.
fn operands_only(word: &str, values: &[Value]) -> Option<Op> {
    match *values {
        [a] => match word {
            "cast" => Some(Op::Compute(Compute::Cast(a))),
            "bitcast" => Some(Op::Compute(Compute::Bitcast(a))),
            _ => named(UnaryOp::ALL, word).map(|op| Op::Compute(Compute::Unary(op, a))),
        },
        [a, b] if word == "offset" => Some(Op::Compute(Compute::Offset(a, b))),
        [a, b] => named(BinaryOp::ALL, word)
            .map(|op| Op::Compute(Compute::Binary(op, a, b)))
            .or_else(|| named(CompareOp::ALL, word).map(|op| Op::Compute(Compute::Compare(op, a, b)))),
        [a, b, c] => match word {
            "mul_add" => Some(Op::Compute(Compute::MulAdd(a, b, c))),
            "select" => Some(Op::Compute(Compute::Select(a, b, c))),
            _ => None,
        },
        _ => None,
    }
}
