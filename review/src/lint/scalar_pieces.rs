//! `scalar_pieces`: a warp reads or writes the elements of a buffer in pieces, a request for each, where one access would take 2, 4 or 8 scalars at once.
//!
//! An element that is a struct or an array is as many loads as it has scalars. The first fetches the sectors, and the others find them in the L1 cache; but
//! each takes its passes through that cache, and pieces of a store go to the L2 cache one by one. What that costs is tried out: the pieces become one access, and
//! the kernel's time is predicted again. Silent below a tenth.
//!
//! Buffers only. Of constant memory NVIDIA's assembler joins neighbouring pieces of 4 and 8 bytes itself: a struct of four `f32` is two loads of 8 bytes by one
//! access of 16 as by four of 4, at one place for the warp or at many. Bytes and halves it leaves apart; where these cost, `constant_divergence` speaks.
//!
//! Only whole runs of 2, 4 or 8 scalars count, as `load::<N>` takes them, in elements of at most a sector: of larger ones `uncoalesced_access` speaks.

use super::uncoalesced_access::{element, is_record};
use super::weigh::Scales;
use super::{Finding, Lint, Subject};
use crate::estimate::Launched;
use crate::estimate::time::{Threads, predict};
use std::collections::BTreeMap;
use warpwright_codegen::analysis::access::{AccessFact, Pattern, Range};
use warpwright_codegen::ir::{Address, Block, Inst, Kernel, Memory, MemoryOp, Object, Op, Space, Type, Value, ValueDef};
use warpwright_codegen::target::limits::SECTOR;

pub(super) const LINT: Lint = Lint {
    name: "scalar_pieces",
    summary: "elements of at most 16 bytes are read or written in pieces",
    of_machine: true,
    page: include_str!("scalar_pieces.md"),
    check,
};

/// The least gain that is worth an edit of the buffer's type.
const WORTH: f64 = 1.1;

/// Most bytes of one access.
const MOST: u32 = 16;

/// Pieces that could be one access: of one pointer, in the order of their offsets.
struct Pieces {
    object: Object,
    is_store: bool,
    ty: Type,
    insts: Vec<Inst>,
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
        let (n, bytes) = (first.insts.len() as u32, first.ty.bytes());
        let name = &legal.objects[object].name;
        let (verb, noun) = if first.is_store { ("written", "store") } else { ("read", "load") };
        found.push(Finding {
            span: subject.span(fact.loc),
            message: format!(
                "`{name}` is {verb} in pieces: {n} {noun}s of {bytes} byte{}, each a request of {sectors} sectors, where one of {} bytes would do",
                if bytes == 1 { "" } else { "s" },
                n * bytes,
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
    let (name, n, ty) = (&kernel.objects[pieces.object].name, pieces.insts.len(), pieces.ty);
    let scalars = element(kernel, pieces.object) / i64::from(ty.bytes());
    let mutable = if kernel.objects[pieces.object].is_read_only() { "" } else { "mut " };
    let access =
        if pieces.is_store { format!("{name}.store::<{n}>({scalars} * i, v)") } else { format!("{name}.load::<{n}>({scalars} * i)") };
    format!("take `{name}` as `&{mutable}Global<{ty}>` and write `{access}`; or make a structure of arrays of it, a buffer for each part")
}

/// Adds the runs of a block's accesses that could be one.
fn pieces(kernel: &Kernel, block: Block, facts: &BTreeMap<Inst, &AccessFact>, all: &mut Vec<Pieces>) {
    /// Accesses by one pointer since something stood between.
    struct Open {
        object: Object,
        ptr: Value,
        is_store: bool,
        ty: Type,
        at: Vec<(i32, Inst)>,
    }
    let mut open: Vec<Open> = Vec::new();
    let mut close = |run: Open| {
        let Open { object, is_store, ty, mut at, .. } = run;
        at.sort_unstable();
        at.dedup_by_key(|(offset, _)| *offset);
        let bytes = ty.bytes() as i32;
        let stride = element(kernel, object) as i32;
        let mut rest = &at[..];
        while let Some((first, _)) = rest.first() {
            let next = |n: &usize| rest.get(*n).is_some_and(|(offset, _)| *offset == first + *n as i32 * bytes);
            let long = (1..rest.len()).take_while(next).count() + 1;
            let fits = |n: &usize| {
                let whole = *n as i32 * bytes;
                *n <= long && whole as u32 <= MOST && first % whole == 0 && stride % whole == 0
            };
            let n = [8, 4, 2].into_iter().find(fits).unwrap_or(1);
            if n > 1 {
                all.push(Pieces { object, is_store, ty, insts: rest[..n].iter().map(|(_, inst)| *inst).collect() });
            }
            rest = &rest[n..];
        }
    };
    for inst in &kernel.blocks[block].insts {
        let data = &kernel.insts[*inst];
        let one = match &data.op {
            Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { object, ptr, offset } }) if data.results.len() == 1 => {
                Some((*object, *ptr, *offset, false, data.results[0]))
            }
            Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Pointer { object, ptr, offset } }) if values.len() == 1 => {
                Some((*object, *ptr, *offset, true, values[0]))
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
            Some((object, ptr, offset, is_store, value)) => {
                let ty = kernel.ty(value);
                match open.iter_mut().find(|run| run.ptr == ptr && run.is_store == is_store && run.ty == ty && run.object == object) {
                    Some(run) => run.at.push((offset, *inst)),
                    None => open.push(Open { object, ptr, is_store, ty, at: vec![(offset, *inst)] }),
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
        let (n, kept) = (pieces.insts.len() as u32, kept(pieces));
        accesses.retain(|fact| fact.inst == kept || !pieces.insts.contains(&fact.inst));
        for fact in accesses.iter_mut().filter(|fact| fact.inst == kept) {
            fact.bytes *= n;
            if let Pattern::Global { bytes, .. } = &mut fact.pattern {
                *bytes = Range { least: bytes.least * n, most: bytes.most * n };
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
    let mut first = 0;
    for (n, inst) in pieces.insts.iter().enumerate() {
        match &kernel.insts[*inst].op {
            Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { offset, .. } }) => first = if n == 0 { *offset } else { first },
            Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Pointer { offset, .. } }) => {
                first = if n == 0 { *offset } else { first };
                stored.extend(values);
            }
            _ => {}
        }
        results.append(&mut kernel.insts[*inst].results);
    }
    for (n, value) in results.iter().enumerate() {
        kernel.values[*value].def = ValueDef::Result(kept, n as u16);
    }
    kernel.insts[kept].results = results;
    if let Op::Memory(Memory { op: MemoryOp::Load | MemoryOp::Store(_), at: Address::Pointer { offset, .. } }) = &mut kernel.insts[kept].op
    {
        *offset = first;
    }
    if let Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Pointer { .. } }) = &mut kernel.insts[kept].op {
        *values = stored;
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
            "#[kernel(block = 256, targets = [sm_90])] fn k(x: &Global<{element}>, y: &mut Global<{element}>) {{ let i = global_id().x; if i < y.len() {{ {body} }} }}"
        )
    }

    #[test]
    fn elements_that_are_copied_in_pieces_are_found() {
        let says = found("scalar_pieces", &kernel("[f32; 4]", "y[i] = x[i];"));
        assert_eq!(says.len(), 1, "{says:?}");
        assert!(
            says[0]
                .0
                .starts_with("`y` is written in pieces: 4 stores of 4 bytes, each a request of 16 sectors, where one of 16 bytes would do"),
            "{says:?}"
        );
        assert!(says[0].1.starts_with("take `y` as `&mut Global<f32>` and write `y.store::<4>(4 * i, v)`; or"), "{says:?}");
        let eight = found("scalar_pieces", &kernel("[f32; 8]", "y[i] = x[i];"));
        assert!(
            eight.iter().any(|(message, help)| message.contains("4 stores of 4 bytes") && help.contains("y.store::<4>(8 * i, v)")),
            "{eight:?}"
        );
    }

    #[test]
    fn elements_that_data_chooses_are_found() {
        let gather = "#[kernel(block = 128)] fn k(at: &Global<u32>, x: &Global<[f32; 4]>, y: &mut Global<f32>) { let i = global_id().x; let v = x[at[i] as usize]; y[i] = v[0] * v[1] + v[2] * v[3]; }";
        let says = found("scalar_pieces", gather);
        assert!(
            says.len() == 1 && says[0].0.starts_with("`x` is read in pieces: 4 loads of 4 bytes, each a request of up to 32 sectors"),
            "{says:?}"
        );
        assert!(says[0].1.contains("`x.load::<4>(4 * i)`"), "{says:?}");
        // One for the whole warp.
        assert_eq!(found("scalar_pieces", &gather.replace("at[i]", "at[i / 32]")), []);
    }

    #[test]
    fn whole_vectors_odd_elements_and_single_parts_are_not() {
        let by_hand = "#[kernel(block = 256, targets = [sm_90])] fn k(x: &Global<f32>, y: &mut Global<f32>) { let i = global_id().x * 4; if i < y.len() { y.store::<4>(i, x.load::<4>(i)); } }";
        assert_eq!(found("scalar_pieces", by_hand), []);
        assert_eq!(found("scalar_pieces", &kernel("[f32; 3]", "y[i] = x[i];")), []);
        assert_eq!(found("scalar_pieces", &kernel("[f32; 4]", "y[i][0] = x[i][0];")), []);
        // In constant memory the assembler joins the pieces: one place for all, or one by data.
        for at in ["n", "x[i] as usize"] {
            let constant = format!(
                "#[kernel(block = 128)] fn k(n: usize, all: &Constant<[[f32; 4]; 256]>, x: &Global<u32>, y: &mut Global<f32>) {{ let i = global_id().x; let v = all[{at}]; y[i] = v[0] * v[1] + v[2] * v[3]; }}"
            );
            assert_eq!(found("scalar_pieces", &constant), [], "{at}");
        }
        // One element for all threads.
        assert_eq!(found("scalar_pieces", &kernel("[f32; 4]", "let v = x[0]; y[i][0] = v[0] + v[1] + v[2] + v[3];")), []);
        // Arithmetic is what takes the time.
        let busy = "let v = x[i]; let mut s = v[0] + v[1] + v[2] + v[3]; for _ in 0..1000 { s = s * 0.5 + 1.0; } y[i][0] = s;";
        assert_eq!(found("scalar_pieces", &kernel("[f32; 4]", busy)), []);
    }
}
