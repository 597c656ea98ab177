//! The words of an opcode, taken one after the other: one that nothing takes is an error.

use super::{Decoded, refuse};
use crate::ty::Ty;

/// The words of an opcode behind its first.
pub(crate) struct Words<'t> {
    opcode: &'t str,
    words: Vec<&'t str>,
    at: usize,
}

impl<'t> Words<'t> {
    /// An opcode's first word, and the others.
    pub(crate) fn of(opcode: &'t str) -> (&'t str, Words<'t>) {
        let mut words = opcode.split('.');
        let first = words.next().unwrap_or_default();
        (first, Words { opcode, words: words.collect(), at: 0 })
    }

    /// The next word.
    pub(crate) fn peek(&self) -> Option<&'t str> {
        self.words.get(self.at).copied()
    }

    /// The last word.
    pub(crate) fn last(&self) -> Option<&'t str> {
        self.words.last().copied()
    }

    /// Takes the next word if it is this.
    pub(crate) fn takes(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }

    /// Takes the next word if it is one of these, and gives what stands beside it.
    pub(crate) fn one_of<T: Copy>(&mut self, all: &[(&str, T)]) -> Option<T> {
        let next = self.peek()?;
        let (_, found) = all.iter().find(|(word, _)| *word == next)?;
        self.at += 1;
        Some(*found)
    }

    /// Takes the next word if it is one of these.
    pub(crate) fn any_of(&mut self, all: &[&str]) -> Option<&'t str> {
        let next = self.peek().filter(|next| all.contains(next))?;
        self.at += 1;
        Some(next)
    }

    /// One of these words must come.
    pub(crate) fn needs<T: Copy>(&mut self, what: &str, all: &[(&str, T)]) -> Decoded<T> {
        match self.one_of(all) {
            Some(found) => Ok(found),
            None => refuse(format!("`{}`: {what} is expected, and here is {}", self.opcode, self.described())),
        }
    }

    /// A type must come.
    pub(crate) fn ty(&mut self) -> Decoded<Ty> {
        match self.peek().and_then(Ty::named) {
            Some(ty) => {
                self.at += 1;
                Ok(ty)
            }
            None => refuse(format!("`{}`: a type is expected, and here is {}", self.opcode, self.described())),
        }
    }

    /// A word like `m16n8k16`: its three numbers.
    pub(crate) fn shape(&mut self) -> Decoded<[usize; 3]> {
        let found = self.peek().and_then(|word| {
            let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
            let (n, k) = rest.split_once('k')?;
            Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
        });
        match found {
            Some(shape) => {
                self.at += 1;
                Ok(shape)
            }
            None => refuse(format!("`{}`: a shape is expected, and here is {}", self.opcode, self.described())),
        }
    }

    /// No further word may come.
    pub(crate) fn end(&self) -> Decoded<()> {
        match self.peek() {
            None => Ok(()),
            Some(word) => refuse(format!("`{}`: `.{word}` is not known there", self.opcode)),
        }
    }

    /// The whole opcode is unknown, or not in this form.
    pub(crate) fn unknown<T>(&self) -> Decoded<T> {
        refuse(format!("`{}` is not executed here", self.opcode))
    }

    fn described(&self) -> String {
        self.peek().map_or("the end".to_owned(), |word| format!("`.{word}`"))
    }
}
