//! Collectives that the copy engine makes (sm_90 on): one thread tells it what to copy, and nobody's registers or issue slots are taken.
//!
//! ```text
//! load_run slot, from, start      if t == 0 {
//!                                     barrier_expect barrier, if whole { bytes } else { 0 }
//!                                     if whole { copy_run slot, from, barrier, start }
//!                             ▶   }
//!                                 if !whole { for i in (t..N).step_by(T) { slot[i] = if … { from[start + i] } else { 0 } }; engine_fence }
//! ```
//!
//! `whole`: the buffer has all of the run. At most the last one has not; its elements are stored one by one, as everywhere, and the fence says so to the
//! engine, which fills the slot the next time. Several collectives of one copy section share one barrier, and one announcement of their bytes.

use super::super::Refusal;
use super::{Expansion, Shape, alignment, threads};
use crate::ir::{Access, BinaryOp, Builder, Collective, CompareOp, Engine, Kernel, Loc, Op, Scalar, Value};
use crate::target::limits::VECTOR_BYTES;

/// The most bytes that a phase of a barrier counts (PTX ISA, "mbarrier: tx-count").
const MOST_BYTES: u64 = (1 << 20) - 1;

/// Why the engine cannot copy these together; nothing if it can.
pub(in super::super) fn obstacle(kernel: &Kernel, collectives: &[&Collective]) -> Option<Refusal> {
    let refuse = |why: String, help: &str| Some(Refusal::new(format!("`by = bulk`: {why}"), help));
    let mut all = 0u64;
    for collective in collectives {
        let (array, name) = (collective.array(), &kernel.objects[collective.array().object].name);
        if !matches!(collective, Collective::LoadRun { .. }) {
            let why = format!("`{}` of `{name}` copies row after row, and a bulk copy is one run", collective.word());
            return refuse(why, "copy with `load_run`, or leave `by` out");
        }
        let bytes = kernel.bytes_of(array);
        if bytes == 0 || !bytes.is_multiple_of(VECTOR_BYTES as u64) {
            let why = format!("`{name}` has {bytes} bytes, and bulk copies move multiples of {VECTOR_BYTES}");
            return refuse(why, "give the array a length that makes it one, or leave `by` out");
        }
        if kernel.swizzled.contains(&array.object) || alignment(kernel, array) < VECTOR_BYTES as u64 {
            let why = format!("`{name}` does not lie in order from a multiple of {VECTOR_BYTES} bytes on");
            return refuse(why, "leave `swizzle` out, or copy into an array of its own");
        }
        all += bytes;
    }
    if all > MOST_BYTES {
        let why = format!("a stage has {all} bytes, and a barrier counts {MOST_BYTES} at most");
        return refuse(why, "make the arrays smaller");
    }
    None
}

/// Copies by the engine, all counted by one barrier, each with its place in the source.
pub(in super::super) fn by_engine(b: &mut Builder<'_>, collectives: &[(Collective, Loc)], barrier: &Access) {
    let index = b.kernel.index_type();
    let shapes: Vec<Shape> = collectives.iter().filter_map(|(collective, _)| Shape::of(b.kernel, collective)).collect();
    let mut parts: Vec<(Expansion<'_>, &Collective, Loc, Value)> = Vec::new();
    for ((collective, loc), shape) in collectives.iter().zip(&shapes) {
        let outer = std::mem::replace(&mut b.loc, *loc);
        let expansion = Expansion::new(b, shape, collective);
        let whole = expansion.condition.unwrap_or_else(|| b.bool(true));
        parts.push((expansion, collective, *loc, whole));
        b.loc = outer;
    }
    let (thread, _) = threads(b, index);
    let none = b.int(index, 0);
    let is_first = b.compare(CompareOp::Eq, thread, none);
    b.if_else(
        is_first,
        |b| {
            let mut all: Option<Value> = None;
            for (_, collective, _, whole) in &parts {
                let bytes = u32::try_from(b.kernel.bytes_of(collective.array())).unwrap_or(u32::MAX);
                let [bytes, zero] = [bytes, 0].map(|bytes| b.constant(Scalar::u32(bytes)));
                let bytes = b.select(*whole, bytes, zero);
                all = Some(all.map_or(bytes, |all| b.binary(BinaryOp::Add, all, bytes)));
            }
            if let Some(bytes) = all {
                b.push(Op::Engine(Engine::Expect { barrier: barrier.clone(), bytes }), &[]);
            }
            for (_, collective, loc, whole) in &parts {
                let Collective::LoadRun { to, from, start } = collective else { continue };
                let copy = Engine::CopyRun { to: to.clone(), from: *from, start: *start, barrier: barrier.clone() };
                let outer = std::mem::replace(&mut b.loc, *loc);
                b.if_else(
                    *whole,
                    |b| {
                        b.push(Op::Engine(copy), &[]);
                        Vec::new()
                    },
                    |_| Vec::new(),
                );
                b.loc = outer;
            }
            Vec::new()
        },
        |_| Vec::new(),
    );
    for (expansion, _, loc, whole) in &parts {
        let outer = std::mem::replace(&mut b.loc, *loc);
        b.if_else(
            *whole,
            |_| Vec::new(),
            |b| {
                expansion.elements(b);
                b.push(Op::Engine(Engine::Fence), &[]);
                Vec::new()
            },
        );
        b.loc = outer;
    }
}
