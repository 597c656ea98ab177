//! `scalar_pieces`: a warp reads or writes the elements of a buffer in pieces, a request for each, where a layout of the element would allow fewer.
//!
//! What of an element is used together is as few accesses of up to 16 bytes as its alignment allows (the pass `vector_accesses`). Two things keep it in pieces:
//! a size that is no multiple of 8 or 16, `[f32; 3]`, since then elements begin where no vector may; and parts of different widths, a vector's being of one. The first
//! piece fetches the sectors, and the others find them in the L1 cache; but each takes its passes through that cache, and pieces of a store go to the L2
//! cache one by one. What that costs is tried out: the pieces become one access, elements as large as that needs, and the kernel's time is predicted again. Silent
//! below a tenth.
//!
//! Buffers only: those of constant memory NVIDIA's assembler joins itself if they have 4 or 8 bytes, and of bytes and halves `constant_divergence` speaks. Elements of at most a
//! sector: of larger ones `uncoalesced_access` speaks.

use super::uncoalesced_access::{element, is_record};
use super::weigh::Scales;
use super::{Finding, Lint, Subject};
use crate::estimate::Launched;
use crate::estimate::time::{Threads, predict};
use std::collections::BTreeMap;
use warpwright_codegen::analysis::access::{AccessFact, Pattern, Range};
use warpwright_codegen::analysis::place::MOST_BYTES;
use warpwright_codegen::ir::{Address, Block, Inst, Kernel, Memory, MemoryOp, MemoryType, Object, Op, Space, Value, ValueDef};
use warpwright_codegen::target::limits::SECTOR;

pub(super) const LINT: Lint = Lint {
    name: "scalar_pieces",
    summary: "elements are read or written in more pieces than another layout of theirs needs",
    of_machine: true,
    page: include_str!("scalar_pieces.md"),
    check,
};

/// The least gain that is worth an edit of the buffer's type.
const WORTH: f64 = 1.1;

/// What of one element is read, or written, with nothing between, in the order of the program.
struct Pieces {
    object: Object,
    is_store: bool,
    insts: Vec<Inst>,
    /// Bytes of all, and of the narrowest and the widest scalar among them.
    bytes: u32,
    widths: (u32, u32),
}

impl Pieces {
    /// Bytes of an element that could be moved in fewer accesses.
    fn room(&self, kernel: &Kernel) -> i64 {
        let size = element(kernel, self.object);
        let step = if self.bytes > 8 { 16 } else { 8 };
        (size + step - 1) / step * step
    }

    /// How many those are.
    fn at_best(&self) -> u32 {
        self.bytes.div_ceil(MOST_BYTES as u32)
    }
}

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let known = subject.known;
    let legal = &known.legal;
    let of_inst: BTreeMap<Inst, &AccessFact> = known.facts.accesses.iter().map(|fact| (fact.inst, fact)).collect();
    let mut all: Vec<Pieces> = Vec::new();
    for (block, _) in known.legal.addressed().blocks.iter() {
        pieces(known.legal.addressed(), block, &of_inst, &mut all);
    }
    let mut objects: Vec<Object> = all.iter().map(|pieces| pieces.object).collect();
    objects.sort_unstable();
    objects.dedup();
    for object in objects {
        let own: Vec<&Pieces> = all.iter().filter(|pieces| pieces.object == object).collect();
        if !is_worth(subject, &own, &of_inst) {
            continue;
        }
        let first = own[0];
        let fact = of_inst[&first.insts[0]];
        let sectors = if let Pattern::Global { sectors, .. } = fact.pattern { text(sectors) } else { "up to 32".to_owned() };
        let name = &legal.objects[object].name;
        let (verb, noun) = if first.is_store { ("written", "store") } else { ("read", "load") };
        let best = first.at_best();
        found.push(Finding {
            span: subject.span(fact.loc),
            message: format!(
                "`{name}` is {verb} in pieces: {} {noun}s for {} bytes of an element, each a request of {sectors} sectors, where {best} would do",
                first.insts.len(),
                first.bytes,
            ),
            labels: Vec::new(),
            help: help(legal, first),
        });
    }
}

fn text(range: Range) -> String {
    range.exact().map_or_else(|| format!("{} to {}", range.least, range.most), |n| n.to_string())
}

fn help(kernel: &Kernel, pieces: &Pieces) -> String {
    let (size, room) = (element(kernel, pieces.object), pieces.room(kernel));
    let apart = format!("or make a structure of arrays of `{}`, a buffer for each part", kernel.objects[pieces.object].name);
    let (narrow, wide) = pieces.widths;
    if narrow != wide {
        return format!(
            "parts of {narrow} and of {wide} bytes are not moved together: hold the small ones in a `u{}`, by shifts and `to_bits`; {apart}",
            8 * wide
        );
    }
    let MemoryType::Slice(ty) = &kernel.objects[pieces.object].ty else { return apart };
    let larger = match &**ty {
        MemoryType::Array(_, n) => format!("make it an array of {}", *n as i64 * room / size),
        MemoryType::Struct(id) if kernel.structs[*id].name.starts_with("Tuple") => "add fields to the tuple".to_owned(),
        MemoryType::Struct(id) => {
            let align = if room % 16 == 0 { 16 } else { 8 };
            format!("write `#[repr(C, align({align}))]` before `{}`", kernel.structs[*id].name)
        }
        MemoryType::Scalar(_) | MemoryType::Padded(..) | MemoryType::Slice(_) => String::new(),
    };
    format!("an element of {size} bytes does not begin where a vector may: {larger}, so that it takes {room}; {apart}")
}

/// Adds what a block moves in more accesses than another layout needs.
fn pieces(kernel: &Kernel, block: Block, facts: &BTreeMap<Inst, &AccessFact>, all: &mut Vec<Pieces>) {
    // By pointer, and elements from it.
    let mut open: Vec<((Value, i64), Pieces)> = Vec::new();
    let mut close = |(_, pieces): ((Value, i64), Pieces)| {
        let is_misplaced = pieces.room(kernel) != element(kernel, pieces.object) || pieces.widths.0 != pieces.widths.1;
        if pieces.insts.len() as u32 > pieces.at_best() && is_misplaced {
            all.push(pieces);
        }
    };
    for inst in &kernel.blocks[block].insts {
        let data = &kernel.insts[*inst];
        let one = match &data.op {
            Op::Memory(memory @ Memory { op: MemoryOp::Load | MemoryOp::Store(_), at: Address::Pointer { object, ptr, offset } }) => {
                let at = (*ptr, i64::from(*offset).div_euclid(element(kernel, *object)));
                Some((*object, at, matches!(memory.op, MemoryOp::Store(_)), memory.scalars(&data.results)))
            }
            _ => None,
        };
        let is_wanted = |object: Object| {
            let data = &kernel.objects[object];
            let is_spread = facts.get(inst).is_some_and(|fact| {
                if let Pattern::Global { stride, .. } = fact.pattern {
                    !fact.is_rare && stride.is_some_and(|stride| stride != 0)
                } else {
                    !fact.is_rare && fact.by_data
                }
            });
            data.space() == Space::Global && is_record(kernel, object) && element(kernel, object) <= i64::from(SECTOR) && is_spread
        };
        match one.filter(|(object, ..)| is_wanted(*object)) {
            Some((object, at, is_store, scalars)) => {
                let width = kernel.ty(scalars[0]).bytes();
                let bytes = width * scalars.len() as u32;
                let is_same = |(other, run): &&mut ((Value, i64), Pieces)| *other == at && run.is_store == is_store && run.object == object;
                match open.iter_mut().find(is_same) {
                    Some((_, run)) => {
                        run.insts.push(*inst);
                        run.bytes += bytes;
                        run.widths = (run.widths.0.min(width), run.widths.1.max(width));
                    }
                    None => open.push((at, Pieces { object, is_store, insts: vec![*inst], bytes, widths: (width, width) })),
                }
            }
            // Whatever else touches memory or leaves: what came before is not joined with what comes after.
            None if !data.op.blocks().is_empty()
                || matches!(data.op, Op::Memory(Memory { op: MemoryOp::Store(_) | MemoryOp::Atomic(..), at: Address::Pointer { .. } })) =>
            {
                open.drain(..).for_each(&mut close);
            }
            None => {}
        }
    }
    open.into_iter().for_each(close);
}

/// Whether the kernel would be faster on some target with one access for each of these. The model counts elements that data chooses as if they
/// lay side by side; of these, the requests beyond the first are weighed.
fn is_worth(subject: &Subject<'_>, all: &[&Pieces], of_inst: &BTreeMap<Inst, &AccessFact>) -> bool {
    let known = subject.known;
    let scales = Scales::of(subject);
    let more = all.iter().flat_map(|pieces| &pieces.insts[1..]).filter_map(|inst| of_inst.get(inst));
    if more.filter(|fact| fact.by_data).map(|fact| scales.of_access(fact)).sum::<f64>() >= WORTH - 1.0 {
        return true;
    }
    let mut kernel = Kernel::clone(known.legal.addressed());
    let mut accesses = known.facts.accesses.clone();
    for pieces in all {
        join(&mut kernel, pieces);
        let kept = kept(pieces);
        accesses.retain(|fact| fact.inst == kept || !pieces.insts.contains(&fact.inst));
        let (size, room) = (element(&kernel, pieces.object) as u32, pieces.room(&kernel) as u32);
        for fact in accesses.iter_mut().filter(|fact| fact.inst == kept) {
            let own = fact.bytes.max(1);
            fact.bytes = pieces.bytes;
            if let Pattern::Global { sectors, bytes, .. } = &mut fact.pattern {
                let scaled =
                    |range: Range, by: u32, of: u32| Range { least: (range.least * by).div_ceil(of), most: (range.most * by).div_ceil(of) };
                *bytes = scaled(*bytes, pieces.bytes, own);
                *sectors = scaled(*sectors, room, size);
            }
        }
    }
    let threads = Threads::of(&kernel, &accesses, &known.facts.branches, &Launched::default());
    known.targets.iter().any(|on| {
        let then = predict(&kernel, &threads, on.occupancy.as_ref(), on.target);
        on.prediction.as_ref().zip(then).is_some_and(|(now, then)| now.block_seconds / then.block_seconds >= WORTH)
    })
}

/// The one of the pieces that stays: the first load, or the last store, in the order of the program.
fn kept(pieces: &Pieces) -> Inst {
    let of_order = pieces.insts.iter().copied();
    (if pieces.is_store { of_order.max() } else { of_order.min() }).unwrap_or(pieces.insts[0])
}

fn join(kernel: &mut Kernel, pieces: &Pieces) {
    let kept = kept(pieces);
    let (mut results, mut stored): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let mut first = i32::MAX;
    for inst in &pieces.insts {
        if let Op::Memory(Memory { op: op @ (MemoryOp::Load | MemoryOp::Store(_)), at: Address::Pointer { offset, .. } }) =
            &kernel.insts[*inst].op
        {
            first = first.min(*offset);
            if let MemoryOp::Store(values) = op {
                stored.extend(values);
            }
        }
        results.append(&mut kernel.insts[*inst].results);
    }
    for (n, value) in results.iter().enumerate() {
        kernel.values[*value].def = ValueDef::Result(kept, n as u16);
    }
    kernel.insts[kept].results = results;
    if let Op::Memory(Memory { op, at: Address::Pointer { offset, .. } }) = &mut kernel.insts[kept].op {
        *offset = first;
        if let MemoryOp::Store(values) = op {
            *values = stored;
        }
    }
    let gone: Vec<Inst> = pieces.insts.iter().copied().filter(|inst| *inst != kept).collect();
    let blocks: Vec<Block> = kernel.blocks.iter().map(|(block, _)| block).collect();
    for block in blocks {
        kernel.blocks[block].insts.retain(|inst| !gone.contains(inst));
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::found;

    fn kernel(element: &str, body: &str) -> String {
        format!(
            "#[derive(Clone, Copy)] #[repr(C)] pub struct P {{ a: f32, b: [f32; 2] }}
            #[derive(Clone, Copy)] #[repr(C)] pub struct M {{ a: u32, b: [u16; 2], c: [u8; 8] }}
            #[kernel(block = 256, targets = [sm_90])] fn k(x: &Global<{element}>, y: &mut Global<{element}>) {{ let i = global_id().x; if i < y.len() {{ {body} }} }}"
        )
    }

    #[test]
    fn elements_that_begin_where_no_vector_may_are_found() {
        let says = found("scalar_pieces", &kernel("[f32; 3]", "y[i] = x[i];"));
        assert_eq!(says.len(), 1, "{says:?}");
        let message = "`y` is written in pieces: 3 stores for 12 bytes of an element, each a request of 12 sectors, where 1 would do";
        assert!(says[0].0.starts_with(message), "{says:?}");
        let help = "an element of 12 bytes does not begin where a vector may: make it an array of 4, so that it takes 16; or make a structure of arrays of `y`";
        assert!(says[0].1.starts_with(help), "{says:?}");
        let of_struct = found("scalar_pieces", &kernel("P", "y[i] = x[i];"));
        assert!(
            of_struct.len() == 1 && of_struct[0].1.contains("write `#[repr(C, align(16))]` before `P`, so that it takes 16"),
            "{of_struct:?}"
        );
    }

    #[test]
    fn parts_of_different_widths_are_found() {
        let says = found("scalar_pieces", &kernel("M", "y[i] = x[i];"));
        assert!(says.iter().any(|(message, _)| message.contains("3 stores for 16 bytes of an element")), "{says:?}");
        assert!(
            says.iter()
                .all(|(_, help)| help.starts_with("parts of 1 and of 4 bytes are not moved together: hold the small ones in a `u32`")),
            "{says:?}"
        );
    }

    #[test]
    fn elements_that_data_chooses_are_found() {
        let gather = "#[kernel(block = 128)] fn k(at: &Global<u32>, x: &Global<[f32; 3]>, y: &mut Global<f32>) { let i = global_id().x; let v = x[at[i] as usize]; y[i] = v[0] * v[1] + v[2]; }";
        let says = found("scalar_pieces", gather);
        assert!(
            says.len() == 1
                && says[0].0.starts_with("`x` is read in pieces: 3 loads for 12 bytes of an element, each a request of up to 32 sectors"),
            "{says:?}"
        );
        // One for the whole warp.
        assert_eq!(found("scalar_pieces", &gather.replace("at[i]", "at[i / 32]")), []);
    }

    #[test]
    fn what_is_one_access_single_parts_and_busy_kernels_are_not() {
        assert_eq!(found("scalar_pieces", &kernel("[f32; 4]", "y[i] = x[i];")), []);
        assert_eq!(found("scalar_pieces", &kernel("[f32; 8]", "y[i] = x[i];")), []);
        assert_eq!(found("scalar_pieces", &kernel("[f32; 3]", "y[i][0] = x[i][0];")), []);
        // One element for all threads.
        assert_eq!(found("scalar_pieces", &kernel("[f32; 3]", "let v = x[0]; y[i][0] = v[0] + v[1] + v[2];")), []);
        // Arithmetic is what takes the time.
        let busy = "let v = x[i]; let mut s = v[0] + v[1] + v[2]; for _ in 0..1000 { s = s * 0.5 + 1.0; } y[i][0] = s;";
        assert_eq!(found("scalar_pieces", &kernel("[f32; 3]", busy)), []);
    }
}
