//! What stands before the body: options, files, structs, objects.

use super::lex::Token;
use super::{ParseError, Parser, named, type_name};
use crate::intrinsics;
use crate::ir::{BoundsCheck, CacheHint, Fill, IndexWidth, Math, Ring, TensorCores};
use crate::ir::{Kernel, Loc, MOST_BYTES, MemoryType, ObjectData, ObjectKind, Scalar, Space, StructId, StructType, Swizzle, Type};
use crate::target::limits::{BLOCK_THREADS, CLUSTER_BLOCKS};

/// Deepest nesting of a type.
const MAX_TYPE_DEPTH: usize = 64;

impl Parser<'_> {
    /// Everything up to the body's `{`.
    pub(super) fn header(&mut self) -> Result<(), ParseError> {
        self.expect_word("kernel")?;
        self.kernel.name = self.text()?;
        let word = self.word()?;
        self.kernel.stage = named(crate::ir::Stage::ALL.as_slice(), word).ok_or_else(|| self.error(format!("`{word}` is no stage")))?;
        self.end_line()?;
        while !self.eat('{') {
            match self.word()? {
                "file" => {
                    let file = self.text()?;
                    self.kernel.files.push(file);
                }
                "struct" => self.struct_type()?,
                "param" => self.object(true)?,
                "object" => self.object(false)?,
                option => self.option(option)?,
            }
            self.end_line()?;
        }
        self.end_line()
    }

    fn option(&mut self, name: &str) -> Result<(), ParseError> {
        self.expect('=')?;
        match name {
            "block" => self.kernel.options.block = Some(self.extents(BLOCK_THREADS, "threads of a block")?),
            "cluster" => self.kernel.options.cluster = self.extents(CLUSTER_BLOCKS, "blocks of a cluster")?,
            "min_blocks" => self.kernel.options.min_blocks = Some(self.integer()?),
            "ilp" => self.kernel.options.ilp = self.integer()?,
            "vectorize" => self.kernel.options.vectorize = self.integer()?,
            "persistent" => self.kernel.options.persistent = self.choice(&[(true, "true"), (false, "false")])?,
            "tensor" => self.kernel.options.tensor = self.choice(&TensorCores::ALL)?,
            "sums_by_rows" => self.kernel.options.sums_by_rows = self.choice(&[(true, "true"), (false, "false")])?,
            "overlap" => self.kernel.options.overlap = self.choice(&[(true, "true"), (false, "false")])?,
            "raster" => self.kernel.options.raster = self.integer()?,
            "max_registers" => self.kernel.options.max_registers = Some(self.integer()?),
            "index" => {
                self.kernel.options.index = match self.integer()? {
                    32 => IndexWidth::Bits32,
                    64 => IndexWidth::Bits64,
                    other => return Err(self.error(format!("`index` is 32 or 64, not {other}"))),
                }
            }
            "math" => self.kernel.options.math = self.choice(&[(Math::Precise, "precise"), (Math::Fast, "fast")])?,
            "contract" => self.kernel.options.contract = self.choice(&[(true, "true"), (false, "false")])?,
            "bounds" => self.kernel.options.bounds = self.choice(&[(BoundsCheck::Unchecked, "unchecked"), (BoundsCheck::Trap, "trap")])?,
            other => return Err(self.error(format!("`{other}` is no option"))),
        }
        Ok(())
    }

    /// Three numbers, of so many things at most.
    fn extents(&mut self, most: u32, what: &str) -> Result<[u32; 3], ParseError> {
        let x = self.integer()?;
        self.expect(',')?;
        let y = self.integer()?;
        self.expect(',')?;
        let extents = [x, y, self.integer()?];
        // Three of 32 bits fit into 128.
        let all: u128 = extents.iter().map(|extent| u128::from(*extent)).product();
        if (1..=u128::from(most)).contains(&all) { Ok(extents) } else { Err(self.error(format!("the {what} are 1 to {most}, not {all}"))) }
    }

    fn choice<T: Copy>(&mut self, choices: &[(T, &str)]) -> Result<T, ParseError> {
        let word = self.word()?;
        named(choices, word).ok_or_else(|| {
            let words: Vec<_> = choices.iter().map(|(_, word)| format!("`{word}`")).collect();
            self.error(format!("{} expected, not `{word}`", words.join(" or ")))
        })
    }

    fn struct_type(&mut self) -> Result<(), ParseError> {
        let label = self.entity("s")?;
        if usize::try_from(label) != Ok(self.kernel.structs.len()) {
            return Err(self.error(format!("structs are numbered in order: s{} expected", self.kernel.structs.len())));
        }
        let name = self.text()?;
        let least_align = if self.eat_word("align") { self.integer::<u64>()? } else { 1 };
        if !least_align.is_power_of_two() {
            return Err(self.error(format!("{least_align} is no alignment")));
        }
        let mut fields = Vec::new();
        self.expect('{')?;
        while !self.eat('}') {
            if !fields.is_empty() {
                self.expect(',')?;
            }
            let field = self.text()?;
            self.expect(':')?;
            fields.push((field, self.memory_type(0)?));
        }
        let ty = StructType::new(name, fields, least_align, &self.kernel.structs);
        if ty.size > MOST_BYTES {
            return Err(self.too_large());
        }
        self.kernel.structs.push(ty);
        Ok(())
    }

    fn too_large(&self) -> ParseError {
        self.error(format!("a type of more than {MOST_BYTES} bytes"))
    }

    fn object(&mut self, is_param: bool) -> Result<(), ParseError> {
        let label = self.entity("m")?;
        if self.objects.contains_key(&label) {
            return Err(self.error(format!("m{label} is declared twice")));
        }
        let name = self.text()?;
        self.expect(':')?;
        let mut kind = self.object_kind()?;
        let swizzle = Swizzle::ALL.into_iter().find(|(_, word)| self.eat_word(word)).map(|(swizzle, _)| swizzle);
        let ring = Fill::ALL.into_iter().find(|(_, word)| self.eat_word(word)).map(|(fill, _)| fill);
        let hint = if self.eat_word("cached") {
            let word = self.word()?;
            Some(named(CacheHint::ALL, word).ok_or_else(|| self.error(format!("there is no hint `{word}`")))?)
        } else {
            None
        };
        let ty = self.memory_type(0)?;
        if let ObjectKind::Table(scalars) = &mut kind {
            let Some(element) = scalar_of(&ty) else {
                return Err(self.error("a table holds scalars of one type".to_owned()));
            };
            self.expect('=')?;
            *scalars = self.scalars(element)?;
        }
        let loc = self.location()?;
        let object = self.kernel.objects.push(ObjectData { name, kind, ty, loc });
        self.objects.insert(label, object);
        if let Some(swizzle) = swizzle {
            self.kernel.swizzled.insert(object, swizzle);
        }
        if let Some(fill) = ring {
            self.kernel.rings.insert(object, Ring { place: loc, is_required: true, fill, by: None });
        }
        if let Some(hint) = hint {
            self.kernel.cached.insert(object, hint);
        }
        if is_param {
            self.kernel.params.push(object);
        }
        Ok(())
    }

    fn object_kind(&mut self) -> Result<ObjectKind, ParseError> {
        match self.word()? {
            "value" => Ok(ObjectKind::Value),
            "global" => Ok(ObjectKind::Global { writable: self.eat_word("mut") }),
            "constant" => Ok(ObjectKind::Constant),
            "texture" => Ok(ObjectKind::Texture),
            "table" => Ok(ObjectKind::Table(Vec::new())),
            "shared" => Ok(ObjectKind::Shared),
            "peers" => Ok(ObjectKind::Peers(self.object_name()?)),
            "local" => Ok(ObjectKind::Local),
            other => Err(self.error(format!("`{other}` is no kind of object"))),
        }
    }

    fn scalars(&mut self, ty: Type) -> Result<Vec<Scalar>, ParseError> {
        let mut scalars = vec![self.scalar(ty)?];
        while self.eat(',') {
            scalars.push(self.scalar(ty)?);
        }
        Ok(scalars)
    }

    /// A constant of type `ty`, as [`Scalar`]'s `Display` has it.
    pub(super) fn scalar(&mut self, ty: Type) -> Result<Scalar, ParseError> {
        let (Token::Word(text) | Token::Number(text)) = *self.peek() else { return Err(self.expected("a constant")) };
        let scalar = parse_scalar(ty, text).ok_or_else(|| self.error(format!("`{text}` is no constant of type `{ty}`")))?;
        self.advance();
        Ok(scalar)
    }

    fn memory_type(&mut self, depth: usize) -> Result<MemoryType, ParseError> {
        if depth > MAX_TYPE_DEPTH {
            return Err(self.error(format!("a type nested deeper than {MAX_TYPE_DEPTH}")));
        }
        if !self.eat('[') {
            return match self.peek() {
                Token::Word(word) if super::label(word, "s").is_some() => self.struct_name().map(MemoryType::Struct),
                _ => self.scalar_type().map(MemoryType::Scalar),
            };
        }
        let element = Box::new(self.memory_type(depth + 1)?);
        let ty = if self.eat(';') {
            let n = self.integer()?;
            if self.eat_word("pad") { MemoryType::Padded(element, n, self.integer()?) } else { MemoryType::Array(element, n) }
        } else {
            MemoryType::Slice(element)
        };
        self.expect(']')?;
        if ty.size(&self.kernel.structs) > MOST_BYTES {
            return Err(self.too_large());
        }
        Ok(ty)
    }

    fn struct_name(&mut self) -> Result<StructId, ParseError> {
        let id = StructId(self.entity("s")?);
        if self.kernel.structs.get(id).is_none() {
            return Err(self.error(format!("{id} is not declared")));
        }
        Ok(id)
    }

    /// `f32`, `ptr.shared`.
    pub(super) fn scalar_type(&mut self) -> Result<Type, ParseError> {
        let word = self.word()?;
        if word == "ptr" {
            self.expect('.')?;
            let space = self.word()?;
            return space.parse::<Space>().map(Type::Ptr).map_err(|()| self.error(format!("`{space}` is no space")));
        }
        type_name(word).ok_or_else(|| self.error(format!("`{word}` is no type")))
    }

    /// ` @line:column` or ` @file:line:column`, and ` in call`, if they are there.
    pub(super) fn location(&mut self) -> Result<Loc, ParseError> {
        if !self.eat('@') {
            return Ok(Loc(0));
        }
        let first: u32 = self.integer()?;
        self.expect(':')?;
        let second = self.integer()?;
        let mut location = if self.eat(':') {
            let file = u16::try_from(first).map_err(|_| self.error(format!("there is no file {first}")))?;
            crate::ir::Location { file, line: second, column: self.integer()?, call: None, caller: None }
        } else {
            crate::ir::Location { file: 0, line: first, column: second, call: None, caller: None }
        };
        if self.eat_word("in") {
            let name = self.word()?;
            let row = intrinsics::function(name).or_else(|| intrinsics::collective(name));
            location.call = Some(row.ok_or_else(|| self.error(format!("there is no function `{name}`")))?);
        }
        if location.file != 0 && usize::from(location.file) >= self.kernel.files.len() {
            return Err(self.error(format!("there is no file {first}")));
        }
        Ok(self.locations.intern(location))
    }
}

/// The scalar type at the bottom of arrays.
fn scalar_of(ty: &MemoryType) -> Option<Type> {
    match ty {
        MemoryType::Scalar(ty) => Some(*ty),
        MemoryType::Array(element, _) | MemoryType::Padded(element, ..) | MemoryType::Slice(element) => scalar_of(element),
        MemoryType::Struct(_) => None,
    }
}

fn parse_scalar(ty: Type, text: &str) -> Option<Scalar> {
    if ty == Type::Bool {
        return text.parse().ok().map(Scalar::bool);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        let bits = u64::from_str_radix(digits, 16).ok()?;
        return Some(Scalar::new(ty, bits)).filter(|scalar| scalar.bits == bits);
    }
    if ty.is_any_float() {
        // Not through f64 for f32, which would round twice.
        let value = if ty == Type::F32 { text.parse::<f32>().ok()?.into() } else { text.parse::<f64>().ok()? };
        return Some(Scalar::float(ty, value)).filter(|scalar| scalar.as_f64().is_finite());
    }
    let value: i128 = text.parse().ok()?;
    Some(Scalar::int(ty, value)).filter(|scalar| scalar.as_int() == value)
}

impl Parser<'_> {
    /// The finished kernel.
    pub(super) fn finish(self) -> Kernel {
        let mut kernel = self.kernel;
        kernel.locations = self.locations.table;
        kernel
    }
}
