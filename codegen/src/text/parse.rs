//! The text form, parsed back: see [`super::print`] for what it looks like.
//!
//! Any numbers will do as names of values, objects and loops; the kernel that is made is numbered as
//! [`Kernel::compact`] numbers. Only the form is checked here. What it means is left to [`crate::verify`], whose own tests need
//! broken kernels: a value may be used before it is defined, say, but must be defined somewhere.

use crate::collections::HashMap;
use crate::intrinsics;
use crate::ir::KernelOptions;

use crate::ir::{Block, Inst, Kernel, Loc, Locations, Object, Op, Terminator, Type, Value, ValueData, ValueDef};
use lex::Token;
use std::str::FromStr;

mod body;
mod header;
mod lex;
#[cfg(test)]
mod tests;

/// Why a text is not a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ParseError {
    /// Line of the text, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Parses the text form.
pub fn parse_kernel(text: &str) -> Result<Kernel, ParseError> {
    let mut parser = Parser {
        tokens: lex::lex(text)?,
        at: 0,
        kernel: Kernel::new("", KernelOptions::default()),
        values: HashMap::default(),
        objects: HashMap::default(),
        loops: HashMap::default(),
        calls: Vec::new(),
        locations: Locations::default(),
    };
    parser.header()?;
    parser.block(parser.kernel.body, 0)?;
    if *parser.peek() != Token::End {
        parser.end_line()?;
    }
    if *parser.peek() != Token::End {
        return Err(parser.expected("the end of the text"));
    }
    parser.check_values()?;
    parser.find_rows()?;
    Ok(parser.finish())
}

struct Parser<'t> {
    tokens: Vec<(Token<'t>, usize)>,
    at: usize,
    kernel: Kernel,
    values: HashMap<u32, Label>,
    objects: HashMap<u32, Object>,
    loops: HashMap<u32, Inst>,
    /// Intrinsics, whose rows are found once all types are known: instruction, name, operands, line.
    calls: Vec<(Inst, &'t str, Vec<Value>, usize)>,
    locations: Locations,
}

/// What is known of a value's name.
struct Label {
    value: Value,
    is_defined: bool,
    /// Of its first appearance.
    line: usize,
}

/// A definition's left side: label, type, source name.
type Definition = (u32, Type, Option<Box<str>>);

impl<'t> Parser<'t> {
    fn peek(&self) -> &Token<'t> {
        // The last token is `End`, and nothing advances beyond it.
        &self.tokens[self.at].0
    }

    fn peek_second(&self) -> &Token<'t> {
        self.tokens.get(self.at + 1).map_or(&Token::End, |(token, _)| token)
    }

    fn line(&self) -> usize {
        self.tokens[self.at].1
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    /// An error at the current line; a token already taken was on the same line or the one it ended.
    fn error(&self, message: String) -> ParseError {
        let line = self.tokens[self.at.saturating_sub(1)].1;
        ParseError { line, message }
    }

    fn expected(&self, what: &str) -> ParseError {
        ParseError { line: self.line(), message: format!("{what} expected, not {}", self.peek().describe()) }
    }

    fn eat(&mut self, sign: char) -> bool {
        let is_there = *self.peek() == Token::Sign(sign);
        if is_there {
            self.advance();
        }
        is_there
    }

    fn expect(&mut self, sign: char) -> Result<(), ParseError> {
        if self.eat(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is_there = *self.peek() == Token::Word(word);
        if is_there {
            self.advance();
        }
        is_there
    }

    fn expect_word(&mut self, word: &str) -> Result<(), ParseError> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    fn word(&mut self) -> Result<&'t str, ParseError> {
        let Token::Word(word) = *self.peek() else { return Err(self.expected("a word")) };
        self.advance();
        Ok(word)
    }

    fn text(&mut self) -> Result<String, ParseError> {
        let Token::Text(text) = self.peek() else { return Err(self.expected("a string")) };
        let text = text.clone();
        self.advance();
        Ok(text)
    }

    fn integer<T: FromStr>(&mut self) -> Result<T, ParseError> {
        let Token::Number(text) = *self.peek() else { return Err(self.expected("a number")) };
        let value = text.parse().map_err(|_| self.error(format!("`{text}` is no number that fits here")))?;
        self.advance();
        Ok(value)
    }

    fn end_line(&mut self) -> Result<(), ParseError> {
        if *self.peek() != Token::Newline {
            return Err(self.expected("the end of the line"));
        }
        self.advance();
        Ok(())
    }

    /// The number in `v3`, for the prefix `v`.
    fn entity(&mut self, prefix: &str) -> Result<u32, ParseError> {
        let Token::Word(word) = *self.peek() else { return Err(self.expected(&format!("`{prefix}N`"))) };
        let number = label(word, prefix).ok_or_else(|| self.expected(&format!("`{prefix}N`")))?;
        self.advance();
        Ok(number)
    }

    /// A value, used.
    fn value(&mut self) -> Result<Value, ParseError> {
        let line = self.line();
        let number = self.entity("v")?;
        let kernel = &mut self.kernel;
        let label = self.values.entry(number).or_insert_with(|| {
            // Type and definition are filled in when it is defined.
            let value = kernel.new_value(Type::Bool, ValueDef::Param(kernel.body, 0));
            Label { value, is_defined: false, line }
        });
        Ok(label.value)
    }

    /// `, v1, v2`, or without the first comma.
    fn more_values(&mut self, mut needs_comma: bool) -> Result<Vec<Value>, ParseError> {
        let mut values = Vec::new();
        while !matches!(self.peek(), Token::Newline | Token::Sign('@')) {
            if needs_comma {
                self.expect(',')?;
            }
            values.push(self.value()?);
            needs_comma = true;
        }
        Ok(values)
    }

    /// `v3: f32 "name"`.
    fn definition(&mut self) -> Result<Definition, ParseError> {
        let number = self.entity("v")?;
        self.expect(':')?;
        let ty = self.scalar_type()?;
        let name = matches!(self.peek(), Token::Text(_)).then(|| self.text()).transpose()?;
        Ok((number, ty, name.map(String::into_boxed_str)))
    }

    fn define(&mut self, (number, ty, name): Definition, def: ValueDef) -> Result<Value, ParseError> {
        let line = self.line();
        let data = ValueData { ty, def, name };
        match self.values.get_mut(&number) {
            Some(label) if label.is_defined => Err(self.error(format!("v{number} is defined twice"))),
            Some(label) => {
                label.is_defined = true;
                self.kernel.values[label.value] = data;
                Ok(label.value)
            }
            None => {
                let value = self.kernel.values.push(data);
                self.values.insert(number, Label { value, is_defined: true, line });
                Ok(value)
            }
        }
    }

    fn define_result(&mut self, inst: Inst, definition: Definition) -> Result<(), ParseError> {
        let n = self.short(self.kernel.insts[inst].results.len())?;
        let value = self.define(definition, ValueDef::Result(inst, n))?;
        self.kernel.insts[inst].results.push(value);
        Ok(())
    }

    fn define_param(&mut self, block: Block, definition: Definition) -> Result<(), ParseError> {
        let n = self.short(self.kernel.blocks[block].params.len())?;
        let value = self.define(definition, ValueDef::Param(block, n))?;
        self.kernel.blocks[block].params.push(value);
        Ok(())
    }

    fn short(&self, n: usize) -> Result<u16, ParseError> {
        u16::try_from(n).map_err(|_| self.error("more than 65,536 values at once".to_owned()))
    }

    fn check_values(&self) -> Result<(), ParseError> {
        let undefined = self.values.iter().filter(|(_, label)| !label.is_defined).min_by_key(|(_, label)| label.line);
        match undefined {
            Some((number, label)) => Err(ParseError { line: label.line, message: format!("v{number} is defined nowhere") }),
            None => Ok(()),
        }
    }

    /// A row is found by its name and the type of its first argument, or of its result (`from_bits`).
    fn find_rows(&mut self) -> Result<(), ParseError> {
        for (inst, name, args, line) in std::mem::take(&mut self.calls) {
            let first = args.first().or(self.kernel.insts[inst].results.first());
            let types = [first, self.kernel.insts[inst].results.first()].map(|value| value.map(|value| self.kernel.ty(*value)));
            let row = types.iter().find_map(|ty| intrinsics::by_name(name, *ty));
            let Some(row) = row else {
                let over = types[0].map_or(String::new(), |ty| format!(" for `{ty}`"));
                return Err(ParseError { line, message: format!("there is no intrinsic `{name}`{over}") });
            };
            self.kernel.insts[inst].op = Op::Intrinsic(row, args);
        }
        Ok(())
    }

    fn new_inst(&mut self, block: Block) -> Inst {
        // The instruction is filled in when it has been read; its number must come before those of what it holds.
        let inst = self.kernel.new_inst(Op::Terminator(Terminator::Return), &[], Loc(0));
        self.kernel.blocks[block].insts.push(inst);
        inst
    }
}

/// The number behind the prefix.
fn label(word: &str, prefix: &str) -> Option<u32> {
    word.strip_prefix(prefix).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit())).and_then(|digits| digits.parse().ok())
}

/// What a word stands for in a table.
fn named<T: Copy>(table: &[(T, &str)], word: &str) -> Option<T> {
    table.iter().find(|(_, name)| *name == word).map(|(item, _)| *item)
}

fn type_name(word: &str) -> Option<Type> {
    named(&Type::SCALARS, word)
}
