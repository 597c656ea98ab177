//! Inputs that are spoilt: sources as trees of tokens, IR text, results of tuning, command lines. Whatever stands in them, nothing panics, hangs or takes memory
//! without end.
//!
//! An input is made of its seed alone, so a campaign on many threads can be repeated from the number that it prints.

pub mod commands;
pub mod corpus;
pub mod exercise;
pub mod lines;
pub mod memory;
pub mod processor;
pub mod trees;

use crate::random::Random;
use corpus::Corpus;

/// An input.
#[derive(Clone, Debug)]
pub enum Spoilt {
    /// A file of Rust.
    Source(String),
    /// The text form of the IR.
    Ir(String),
    /// What `tune` writes.
    Results(String),
    /// The words behind the command's name, one a line.
    Command(String),
}

impl Spoilt {
    /// The input of a seed.
    pub fn of(seed: u64, corpus: &Corpus) -> Spoilt {
        let mut random = Random::new(seed);
        match random.below(11) {
            0 => Spoilt::Results(lines::spoil(pick(&corpus.results, &mut random), &mut random)),
            10 => Spoilt::command(&mut random),
            1 | 2 => Spoilt::Ir(lines::spoil(pick(&corpus.ir, &mut random), &mut random)),
            _ => {
                let (text, other) = (pick(&corpus.sources, &mut random), pick(&corpus.sources, &mut random));
                Spoilt::Source(trees::spoil(text, other, &mut random))
            }
        }
    }

    /// A command line.
    pub fn command(random: &mut Random) -> Spoilt {
        Spoilt::Command(lines::spoil(&commands::drawn(random), random))
    }

    /// Its text.
    pub fn text(&self) -> &str {
        match self {
            Spoilt::Source(text) | Spoilt::Ir(text) | Spoilt::Results(text) | Spoilt::Command(text) => text,
        }
    }
}

fn pick<'t>(texts: &'t [String], random: &mut Random) -> &'t str {
    let at = random.below(texts.len());
    texts.get(at).map_or("", String::as_str)
}
