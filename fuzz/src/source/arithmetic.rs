//! Kernels of arithmetic: many short expressions of few values, each in a word of its own. What assemblers get wrong is a handful of instructions that they make one of, seldom met among loops and arrays.

use super::kernel::{Kernel, Parameter, Passed};
use super::scope::{Input, Ty};
use super::threads::{Family, bits, generator};
use super::tree::Node;
use super::types::Scalar;
use crate::random::Random;

/// Threads: one block.
const THREADS: u32 = 32;
/// Elements of an input.
const LEN: usize = 64;
/// Words of a thread, at least and at most.
const WORDS: [usize; 2] = [16, 40];

/// A kernel of these.
pub(super) fn kernel(random: &mut Random) -> Kernel {
    let mut g = generator(random);
    g.is_arithmetic = true;
    g.own = ("i".to_owned(), "i".to_owned());
    g.reserved.extend(["i", "words"].map(str::to_owned));
    let (mut parameters, mut body) = (Vec::new(), vec![Node::line("let i = global_id().x;")]);
    for at in 0..5 + g.random.below(4) {
        let scalar = g.random.pick(&Scalar::ELEMENTS);
        let name = format!("from{at}");
        g.reserved.insert(name.clone());
        let seed = g.random.below(1000) as u64;
        parameters.push(Parameter::new(name.clone(), scalar, Passed::Global { len: LEN, is_written: false, is_zero: false }, seed));
        g.inputs.push(Input { name: name.clone(), scalar, len: LEN, is_pairs: false, is_global: true });
        for _ in 0..1 + g.random.below(2) {
            let variable = g.name();
            let offset = g.random.below(LEN);
            let text = format!("let {variable} = {name}[(i + {offset}) % {LEN}];");
            body.push(Node::Let { names: vec![variable.clone()], text });
            g.bind(&variable, Ty::Scalar(scalar), false);
        }
    }
    g.has_threads = true;
    let words = WORDS[0] + g.random.below(WORDS[1] - WORDS[0] + 1);
    for word in 0..words {
        if g.random.chance(25) {
            let scalar = g.random.pick(&Scalar::ELEMENTS);
            let value = g.expr(scalar, 2);
            let variable = g.name();
            body.push(Node::Let { names: vec![variable.clone()], text: format!("let {variable} = {value};") });
            g.bind(&variable, Ty::Scalar(scalar), false);
        }
        let scalar = g.random.pick(&Scalar::ELEMENTS);
        let value = g.expr(scalar, 3);
        body.push(Node::line(format!("words[i * {words} + {word}] = {};", bits(&value, scalar))));
    }
    let written = Passed::Global { len: THREADS as usize * words, is_written: true, is_zero: false };
    parameters.push(Parameter::new("words".to_owned(), Scalar::U64, written, 7));
    let (options, annotations, elements) = g.options(Family::Alone);
    Kernel {
        items: g.items.concat(),
        options,
        annotations,
        elements,
        block: [THREADS, 1, 1],
        grid: [1, 1, 1],
        has_free_block: false,
        shared_bytes: 0,
        parameters,
        generics: Vec::new(),
        in_module: false,
        has_clusters: false,
        has_engine: false,
        waits: false,
        body,
        hits: std::mem::take(&mut g.hits),
        calls: std::mem::take(&mut g.calls),
        is_approximate: g.is_approximate,
        family: "arithmetic",
    }
}
