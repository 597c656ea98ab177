//! From tokens to statements.

use crate::error::ParseError;
use crate::lexer::{Token, tokens};
use crate::syntax::{EntryText, RawInstruction, RawOperand, Space, Statement, Text, Variable};
use crate::ty::Ty;

type Parsed<T> = Result<T, ParseError>;

/// Directives of a module or a body that say nothing about what runs; each ends with its line or its semicolon.
const IGNORED: &[&str] = &[".file", ".loc", ".pragma", ".address_size"];

/// Largest variable.
const MOST_BYTES: u64 = 1 << 32;

/// Reads a text.
pub(crate) fn parse(text: &str) -> Parsed<Text<'_>> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0 };
    let mut found = Text::default();
    while parser.peek().is_some() {
        parser.directive(&mut found)?;
    }
    Ok(found)
}

struct Parser<'p, 't> {
    tokens: &'p [(Token<'t>, u32)],
    at: usize,
}

impl<'t> Parser<'_, 't> {
    fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.at).map(|(token, _)| *token)
    }

    /// The line of the next token; at the end, of the last.
    fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |(_, line)| *line)
    }

    fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(ParseError { line: self.line(), message: message.into() })
    }

    fn next(&mut self) -> Parsed<Token<'t>> {
        match self.peek() {
            Some(token) => {
                self.at += 1;
                Ok(token)
            }
            None => self.fail("the text ends too early"),
        }
    }

    fn takes(&mut self, mark: char) -> bool {
        let found = self.peek() == Some(Token::Mark(mark));
        self.at += usize::from(found);
        found
    }

    fn mark(&mut self, mark: char) -> Parsed<()> {
        if self.takes(mark) { Ok(()) } else { self.fail(format!("`{mark}` is expected, and here is {}", self.described())) }
    }

    fn described(&self) -> String {
        match self.peek() {
            None => "the end".to_owned(),
            Some(Token::Word(word)) => format!("`{word}`"),
            Some(Token::Number(number)) => format!("`{number}`"),
            Some(Token::Text(text)) => format!("`\"{text}\"`"),
            Some(Token::Mark(mark)) => format!("`{mark}`"),
        }
    }

    fn word(&mut self) -> Parsed<&'t str> {
        match self.peek() {
            Some(Token::Word(word)) => {
                self.at += 1;
                Ok(word)
            }
            _ => self.fail(format!("a name is expected, and here is {}", self.described())),
        }
    }

    /// A number with its sign.
    fn number(&mut self) -> Parsed<u64> {
        let is_negative = self.takes('-');
        match self.next()? {
            Token::Number(number) => Ok(if is_negative { number.wrapping_neg() } else { number }),
            _ => {
                self.at -= 1;
                self.fail(format!("a number is expected, and here is {}", self.described()))
            }
        }
    }

    /// Goes behind a directive without a meaning here: its line, or up to a semicolon on it.
    fn skip_line(&mut self) {
        let line = self.line();
        while self.peek().is_some() && self.line() == line {
            self.at += 1;
        }
    }

    fn directive(&mut self, found: &mut Text<'t>) -> Parsed<()> {
        let line = self.line();
        match self.word()? {
            ".version" => match self.next()? {
                // The lexer takes `7.8` for a number, `.8` for a word.
                Token::Number(major) => {
                    let minor = self.word()?.trim_start_matches('.').parse::<u32>().unwrap_or(0);
                    found.version = major as u32 * 10 + minor;
                }
                _ => return Err(ParseError { line, message: "`.version` names a number".into() }),
            },
            ".target" => {
                found.target.push(self.word()?);
                while self.takes(',') {
                    found.target.push(self.word()?);
                }
            }
            word if IGNORED.contains(&word) => {
                self.at -= 1;
                self.skip_line();
            }
            ".visible" | ".extern" | ".weak" => {}
            ".func" => self.function()?,
            ".entry" => {
                let entry = self.entry()?;
                found.entries.push(entry);
            }
            word => match Space::named(word) {
                Some(space) => {
                    let variable = self.variable(space)?;
                    found.variables.push(variable);
                    self.mark(';')?;
                }
                None => return Err(ParseError { line, message: format!("the directive `{word}` is unknown here") }),
            },
        }
        Ok(())
    }

    /// A declaration of a function that the driver has.
    fn function(&mut self) -> Parsed<()> {
        while !self.takes(';') {
            if self.takes('{') {
                self.at -= 1;
                return self.fail("functions with a body are not executed here");
            }
            self.next()?;
        }
        Ok(())
    }

    /// What stands behind the state space: `.align 16 .b8 name[64] = {…}`.
    fn variable(&mut self, space: Space) -> Parsed<Variable<'t>> {
        let line = self.line();
        let mut align = None;
        let ty = loop {
            match self.word()? {
                ".align" => align = Some(self.number()?),
                word => match word.strip_prefix('.').and_then(Ty::named) {
                    Some(ty) => break ty,
                    None => return Err(ParseError { line, message: format!("`{word}` is no type of a variable") }),
                },
            }
        };
        let size = u64::from(ty.bytes());
        let align = align.unwrap_or(size).max(1);
        let name = self.word()?;
        let (mut bytes, mut is_dynamic) = (size, false);
        if self.takes('[') {
            if self.takes(']') {
                (bytes, is_dynamic) = (0, true);
            } else {
                bytes = size.saturating_mul(self.number()?);
                self.mark(']')?;
            }
        }
        if !align.is_power_of_two() || bytes > MOST_BYTES {
            return Err(ParseError { line, message: format!("`{name}` has {bytes} bytes at multiples of {align}") });
        }
        let mut initial = Vec::new();
        if self.takes('=') {
            let is_list = self.takes('{');
            loop {
                let value = self.number()?.to_le_bytes();
                initial.extend(&value[..size.min(8) as usize]);
                if !(is_list && self.takes(',')) {
                    break;
                }
            }
            if is_list {
                self.mark('}')?;
            }
            if initial.len() as u64 > bytes {
                return Err(ParseError { line, message: format!("`{name}` has {bytes} bytes, and {} are given", initial.len()) });
            }
        }
        Ok(Variable { name, space, align, bytes, is_dynamic, initial, line })
    }

    fn entry(&mut self) -> Parsed<EntryText<'t>> {
        let name = self.word()?;
        let mut parameters = Vec::new();
        if self.takes('(') && !self.takes(')') {
            loop {
                let word = self.word()?;
                if word != ".param" {
                    return self.fail(format!("a parameter is declared `.param`, and here is `{word}`"));
                }
                parameters.push(self.variable(Space::Param)?);
                if !self.takes(',') {
                    break;
                }
            }
            self.mark(')')?;
        }
        let mut directives = Vec::new();
        while !self.takes('{') {
            let word = self.word()?;
            let mut figures = Vec::new();
            while let Some(Token::Number(figure)) = self.peek() {
                self.at += 1;
                figures.push(figure);
                self.takes(',');
            }
            directives.push((word, figures));
        }
        let (mut body, mut depth) = (Vec::new(), 1);
        while depth > 0 {
            let statement = self.statement()?;
            match statement {
                Some(Statement::Open) => depth += 1,
                Some(Statement::Close) => depth -= 1,
                _ => {}
            }
            body.extend(statement);
        }
        // The last closes the body itself.
        body.pop();
        Ok(EntryText { name, parameters, directives, body })
    }

    fn statement(&mut self) -> Parsed<Option<Statement<'t>>> {
        let line = self.line();
        if self.takes('{') {
            return Ok(Some(Statement::Open));
        }
        if self.takes('}') {
            return Ok(Some(Statement::Close));
        }
        let guard = if self.takes('@') {
            let wanted = !self.takes('!');
            Some((self.word()?, wanted))
        } else {
            None
        };
        let word = self.word()?;
        if guard.is_none() {
            if self.takes(':') {
                return Ok(Some(Statement::Label(word, line)));
            }
            if IGNORED.contains(&word) {
                self.at -= 1;
                self.skip_line();
                return Ok(None);
            }
            if word == ".reg" {
                return self.registers().map(Some);
            }
            if let Some(space) = Space::named(word) {
                let variable = self.variable(space)?;
                self.mark(';')?;
                return Ok(Some(Statement::Variable(variable)));
            }
        }
        if word.starts_with('.') {
            return Err(ParseError { line, message: format!("the directive `{word}` is unknown in a body") });
        }
        let mut operands = Vec::new();
        while !self.takes(';') {
            operands.push(self.operand()?);
            if !self.takes(',') && self.peek() != Some(Token::Mark(';')) {
                // `call (status), f, (…)` has commas, too.
                return self.fail(format!("`,` or `;` is expected, and here is {}", self.described()));
            }
        }
        Ok(Some(Statement::Instruction(RawInstruction { line, guard, opcode: word, operands })))
    }

    fn registers(&mut self) -> Parsed<Statement<'t>> {
        let word = self.word()?;
        let Some(ty) = word.strip_prefix('.').and_then(Ty::named) else {
            return self.fail(format!("`{word}` is no type of a register"));
        };
        let mut names = Vec::new();
        loop {
            let name = self.word()?;
            let count = if self.takes('<') {
                let count = self.number()?;
                self.mark('>')?;
                Some(count)
            } else {
                None
            };
            names.push((name, count));
            if !self.takes(',') {
                break;
            }
        }
        self.mark(';')?;
        Ok(Statement::Registers(ty, names))
    }

    fn operand(&mut self) -> Parsed<RawOperand<'t>> {
        if self.takes('[') {
            return self.address();
        }
        if self.takes('{') {
            return Ok(RawOperand::Vector(self.vector()?));
        }
        if self.takes('(') {
            let mut names = Vec::new();
            while !self.takes(')') {
                names.push(self.word()?);
                self.takes(',');
            }
            return Ok(RawOperand::Arguments(names));
        }
        if self.takes('!') {
            return Ok(RawOperand::Not(self.word()?));
        }
        if let Some(Token::Number(_) | Token::Mark('-')) = self.peek() {
            return Ok(RawOperand::Number(self.number()?));
        }
        let name = self.word()?;
        if self.takes('|') {
            return Ok(RawOperand::Pair(name, self.word()?));
        }
        Ok(RawOperand::Name(name))
    }

    /// The elements up to the brace.
    fn vector(&mut self) -> Parsed<Vec<RawOperand<'t>>> {
        let mut elements = Vec::new();
        while !self.takes('}') {
            elements.push(self.operand()?);
            self.takes(',');
        }
        Ok(elements)
    }

    fn address(&mut self) -> Parsed<RawOperand<'t>> {
        let base = self.operand()?;
        let mut offset = 0;
        if self.takes('+') || self.peek() == Some(Token::Mark('-')) {
            offset = self.number()? as i64;
        }
        if self.takes(',') {
            self.mark('{')?;
            let elements = self.vector()?;
            self.mark(']')?;
            let RawOperand::Name(handle) = base else { return self.fail("a texture or a map is named by a register") };
            return Ok(RawOperand::Texel(handle, elements));
        }
        self.mark(']')?;
        Ok(RawOperand::Address(Box::new(base), offset))
    }
}
