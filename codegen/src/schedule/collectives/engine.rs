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
//! engine, which fills the slot the next time. Of a tile of a matrix the engine writes zeros for what is outside, wherever that is, and stores nothing there; coordinates are signed, so those beyond become the last ones, which no matrix reaches. But a tile's rows have to begin at multiples of
//! 16 bytes: where the column is not known to (`analysis/multiples.rs`), that is asked, and threads store the others. Several collectives of one copy section share one barrier, and one announcement of their bytes.

use super::super::Refusal;
use super::{Expansion, Shape, alignment, alignment_up_to};
use crate::analysis::multiples::Multiples;
use crate::annotations::Modifier;
use crate::intrinsics::{by_name, called};
use crate::ir::{
    Access, Address, BinaryOp, Builder, Collective, CompareOp, Engine, Kernel, Loc, MOST_TILE_ROWS, Memory, MemoryOp, MemoryType,
    ObjectKind, Op, PitchedMatrix, Scalar, Share, Step, Swizzle, Value,
};
use crate::target::limits::VECTOR_BYTES;

/// The most bytes that a phase of a barrier counts (PTX ISA, "mbarrier: tx-count").
const MOST_BYTES: u64 = (1 << 20) - 1;

/// The last row, and the last column that is a multiple of 16 bytes whatever the elements, that the engine has numbers for. Matrices end before.
const LAST_ROW: u64 = (1 << 31) - 1;
const LAST_COLUMN: u64 = (1 << 31) - 16;

/// Why the engine cannot copy these together as `by` says; nothing if it can. `said`: the modifier that asks for the engine.
pub(in super::super) fn obstacle(kernel: &Kernel, collectives: &[&Collective], by: Modifier, said: Modifier) -> Option<Refusal> {
    let refuse = |why: String, help: &str| Some(Refusal::new(format!("`{}`: {why}", said.name()), help));
    let vector = VECTOR_BYTES as u64;
    let mut all = 0u64;
    for collective in collectives {
        let (array, name) = (collective.array(), &kernel.objects[collective.array().object].name);
        let bytes = kernel.bytes_of(array);
        let swizzle = kernel.swizzled.get(&array.object).copied();
        if swizzle == Some(Swizzle::Columns) || alignment(kernel, array) < vector {
            let why = format!("`{name}` does not lie in order from a multiple of {vector} bytes on");
            return refuse(
                why,
                "write `swizzle = 32`, `64` or `128`, which tensor copies do by themselves, or leave `swizzle` out; or copy into an array of its own",
            );
        }
        if swizzle.is_some() && matches!(collective, Collective::LoadRun { .. }) {
            let why = format!("`load_run` fills `{name}` in order, and the array is swizzled");
            return refuse(why, "leave `swizzle` out, or copy tiles of a matrix: `load_tile`");
        }
        if is_padded(array.leads_to(kernel)) {
            return refuse(format!("`{name}` has room behind its rows"), "leave `pad` out, or leave `by` out");
        }
        all += bytes;
        match collective {
            Collective::LoadRun { .. } if bytes == 0 || !bytes.is_multiple_of(vector) => {
                let why = format!("`{name}` has {bytes} bytes, and bulk copies move multiples of {vector}");
                return refuse(why, "give the array a length that makes it one, or leave `by` out");
            }
            Collective::LoadRun { .. } => {}
            Collective::LoadTile { .. } | Collective::StoreTile { .. } if by == Modifier::ByBulk => {
                let why = format!("`{}` of `{name}` copies row after row, and a bulk copy is one run", collective.word());
                return refuse(why, "write `by = tma`, copy with `load_run`, or leave `by` out");
            }
            Collective::StoreTile { column, .. } if !begins_at_vectors(kernel, array, *column) => {
                let unit = vector_elements(kernel, array);
                let why = format!(
                    "the column that `{name}` is stored to is not known to be a multiple of {unit}, and tensor stores begin at multiples of {vector} bytes"
                );
                return refuse(why, "write it as one, `block_idx().x * 64`, or leave `by` out");
            }
            Collective::LoadTile { from, .. } | Collective::StoreTile { to: from, .. } => {
                if let Some((why, help)) = tile_obstacle(kernel, array, from) {
                    return refuse(format!("`{name}` {why}"), help);
                }
            }
        }
    }
    let twice = collectives.iter().enumerate().find_map(|(n, one)| {
        collectives[..n].iter().find(|other| may_be_one(kernel, one.array(), other.array())).map(|_| one.array().object)
    });
    if let Some(object) = twice {
        let name = &kernel.objects[object].name;
        return refuse(format!("two copies of one stage go to `{name}`, and may come in any order"), "copy each into an array of its own");
    }
    if all > MOST_BYTES {
        let why = format!("a stage has {all} bytes, and a barrier counts {MOST_BYTES} at most");
        return refuse(why, "make the arrays smaller");
    }
    None
}

/// Whether an array has room behind the rows of it, or of its elements.
fn is_padded(ty: Option<&MemoryType>) -> bool {
    match ty {
        Some(MemoryType::Padded(..)) => true,
        Some(MemoryType::Array(element, _) | MemoryType::Slice(element)) => is_padded(Some(element)),
        Some(MemoryType::Scalar(_) | MemoryType::Struct(_)) | None => false,
    }
}

/// Whether two places may have bytes in common: nothing constant tells them apart.
fn may_be_one(kernel: &Kernel, a: &Access, b: &Access) -> bool {
    let differ = |(a, b): (&Step, &Step)| match (a, b) {
        (Step::Field(a), Step::Field(b)) => a != b,
        (Step::Index(a), Step::Index(b)) => match (kernel.constant(*a), kernel.constant(*b)) {
            (Some(a), Some(b)) => a.bits != b.bits,
            _ => false,
        },
        (Step::Field(_), Step::Index(_)) | (Step::Index(_), Step::Field(_)) => false,
    };
    a.object == b.object && !a.path.iter().zip(&b.path).any(differ)
}

/// Why a tile is none for tensor copies, and the way out.
fn tile_obstacle(kernel: &Kernel, array: &Access, from: &PitchedMatrix) -> Option<(String, &'static str)> {
    let Some((rows, columns, element)) = kernel.tile_of(array) else {
        return Some(("has rows with room behind them, or elements that are no scalars".to_owned(), "leave `pad` out, or leave `by` out"));
    };
    let row = columns * u64::from(element.bytes());
    let bytes = rows * row;
    let slab = kernel.swizzled.get(&array.object).and_then(|swizzle| swizzle.bytes());
    if slab.is_none() && columns > MOST_TILE_ROWS {
        let why = format!("has rows of {columns} elements, and tensor copies move {MOST_TILE_ROWS} at most");
        return Some((
            why,
            "write `#[shared(swizzle = 128)]` on it, of which one copy for each 128 bytes of a row is made, or make the tile narrower",
        ));
    }
    if row == 0 || !row.is_multiple_of(VECTOR_BYTES as u64) {
        let why = format!("has rows of {row} bytes, and tensor copies move multiples of {VECTOR_BYTES}");
        return Some((why, "give its rows a length that makes them one, or leave `by` out"));
    }
    let align = kernel.tile_align(array.object);
    if !bytes.is_multiple_of(align) {
        let why = format!("has {bytes} bytes, and a ring of tensor copies has slots of multiples of {align}");
        return Some((why, "give it more rows, or leave `by` out"));
    }
    let of_object = kernel.objects[array.object].ty.size(&kernel.structs);
    if alignment_up_to(kernel, array, align) < align || !of_object.is_multiple_of(align) {
        let why = format!("does not begin at a multiple of {align} bytes in each slot");
        return Some((why, "make it an array of its own"));
    }
    let is_parameter = |value: &Value| match kernel.def(*value) {
        Some((_, Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }))) => {
            access.path.is_empty() && kernel.objects[access.object].kind == ObjectKind::Value
        }
        _ => false,
    };
    let of_batch = from.batch.map(|batch| [batch.count, batch.stride]);
    let are_parameters = [from.rows, from.columns, from.pitch].iter().chain(of_batch.iter().flatten()).all(is_parameter);
    let why = "is a tile of a matrix that is no parameter of the kernel";
    (!are_parameters).then(|| (why.to_owned(), "pass the matrix itself, or leave `by` out"))
}

/// The store of a tile by the engine, which leaves out what is outside of the matrix; coordinates are computed here, for a condition that comes behind.
pub(in super::super) fn store_by_engine(b: &mut Builder<'_>, collective: &Collective) -> Option<Engine> {
    let Collective::StoreTile { to, row, column, from } = collective else { return None };
    let (to, row, column) = up_to_the_last(b, *to, *row, *column);
    Some(Engine::StoreTile { from: from.clone(), to, row, column })
}

/// A row, or the last that the engine has a number for, which no matrix reaches.
pub(in super::super) fn last_row_at_most(b: &mut Builder<'_>, row: Value) -> Value {
    at_most(b, row, LAST_ROW)
}

fn at_most(b: &mut Builder<'_>, at: Value, last: u64) -> Value {
    let ty = b.kernel.ty(at);
    let last = b.int(ty, last.into());
    b.binary(BinaryOp::Min, at, last)
}

/// A collective with its place in the source. One that is the engine's only sometimes: what threads do else, and whether it is.
struct Part<'p> {
    collective: &'p Collective,
    loc: Loc,
    asked: Option<(Expansion<'p>, Value)>,
}

/// What the collectives copy.
fn shapes(b: &Builder<'_>, collectives: &[(Collective, Loc)]) -> Vec<Shape> {
    collectives.iter().filter_map(|(collective, _)| Shape::of(b.kernel, collective)).collect()
}

fn parts<'p>(b: &mut Builder<'_>, shapes: &'p [Shape], collectives: &'p [(Collective, Loc)]) -> Vec<Part<'p>> {
    let mut parts = Vec::new();
    for ((collective, loc), shape) in collectives.iter().zip(shapes) {
        let outer = std::mem::replace(&mut b.loc, *loc);
        let asked = match collective {
            Collective::LoadRun { .. } => {
                let expansion = Expansion::new(b, shape, collective);
                let is_whole = expansion.condition.unwrap_or_else(|| b.bool(true));
                Some((expansion, is_whole))
            }
            Collective::LoadTile { column, .. } if !begins_at_vectors(b.kernel, collective.array(), *column) => {
                let expansion = Expansion::new(b, shape, collective);
                let unit = i128::from(vector_elements(b.kernel, collective.array()));
                let ty = b.kernel.ty(*column);
                let [low, zero] = [unit - 1, 0].map(|n| b.int(ty, n));
                let over = b.binary(BinaryOp::And, *column, low);
                Some((expansion, b.compare(CompareOp::Eq, over, zero)))
            }
            Collective::LoadTile { .. } | Collective::StoreTile { .. } => None,
        };
        parts.push(Part { collective, loc: *loc, asked });
        b.loc = outer;
    }
    parts
}

/// Copies by the engine, all counted by one barrier: the block's first thread asks for them, and all threads store what is not whole.
pub(in super::super) fn by_engine(b: &mut Builder<'_>, collectives: &[(Collective, Loc)], barrier: &Access) {
    let shapes = shapes(b, collectives);
    let parts = parts(b, &shapes, collectives);
    b.in_first_thread(|b| announce(b, &parts, &[], barrier));
    store(b, &parts);
}

/// The same, asked for by the thread that comes here; what is not whole is left to others. `shares`: what the block copies of those that it shares with others of its cluster; none at
/// all if it shares nothing.
pub(in super::super) fn announced(b: &mut Builder<'_>, collectives: &[(Collective, Loc)], shares: &[Option<Share>], barrier: &Access) {
    let shapes = shapes(b, collectives);
    let parts = parts(b, &shapes, collectives);
    announce(b, &parts, shares, barrier);
}

/// What is left to the threads then, if there is anything, and a barrier of theirs behind it.
pub(in super::super) fn by_threads(b: &mut Builder<'_>, collectives: &[(Collective, Loc)]) {
    let shapes = shapes(b, collectives);
    let parts = parts(b, &shapes, collectives);
    let mut all: Option<Value> = None;
    for (_, is_whole) in parts.iter().filter_map(|part| part.asked.as_ref()) {
        all = Some(all.map_or(*is_whole, |all| b.binary(BinaryOp::And, all, *is_whole)));
    }
    let (Some(all), Some(Part { loc, .. })) = (all, parts.first()) else { return };
    // It is the collectives' own, as estimates see it: hardly ever taken.
    let outer = std::mem::replace(&mut b.loc, *loc);
    b.if_else(
        all,
        |_| Vec::new(),
        |b| {
            let meet = |b: &mut Builder<'_>| {
                if let Some(row) = by_name(called::SYNC_THREADS, None) {
                    b.push(Op::Intrinsic(row, Vec::new()), &[]);
                }
            };
            // That others have read what was in the slot, its barriers tell, by way of the issuer. `compute-sanitizer` does not follow them so far, and this is rare.
            meet(b);
            store(b, &parts);
            meet(b);
            Vec::new()
        },
    );
    b.loc = outer;
}

/// Announces the bytes of what the engine copies, and asks for it.
fn announce(b: &mut Builder<'_>, parts: &[Part<'_>], shares: &[Option<Share>], barrier: &Access) {
    let mut all: Option<Value> = None;
    for part in parts {
        let bytes = u32::try_from(b.kernel.bytes_of(part.collective.array())).unwrap_or(u32::MAX);
        let mut bytes = b.constant(Scalar::u32(bytes));
        if let Some((_, is_whole)) = &part.asked {
            let zero = b.constant(Scalar::u32(0));
            bytes = b.select(*is_whole, bytes, zero);
        }
        all = Some(all.map_or(bytes, |all| b.binary(BinaryOp::Add, all, bytes)));
    }
    if let Some(bytes) = all {
        b.push(Op::Engine(Engine::Expect { barrier: barrier.clone(), bytes }), &[]);
    }
    for (n, Part { collective, loc, asked }) in parts.iter().enumerate() {
        let outer = std::mem::replace(&mut b.loc, *loc);
        let (to, barrier) = (collective.array().clone(), barrier.clone());
        let copy = |b: &mut Builder<'_>| {
            let copy = match collective {
                Collective::LoadRun { from, start, .. } => Engine::CopyRun { to, from: *from, start: *start, barrier },
                Collective::LoadTile { from, row, column, .. } => {
                    let share = shares.get(n).copied().flatten();
                    let (from, row, column) = up_to_the_last(b, *from, *row, *column);
                    Engine::CopyTile { to, from, row, column, barrier, share }
                }
                Collective::StoreTile { .. } => return,
            };
            b.push(Op::Engine(copy), &[]);
        };
        match asked {
            Some((_, is_engine)) => {
                b.if_else(
                    *is_engine,
                    |b| {
                        copy(b);
                        Vec::new()
                    },
                    |_| Vec::new(),
                );
            }
            None => copy(b),
        }
        b.loc = outer;
    }
}

/// The place of a tile, for the engine, whose coordinates are signed.
fn up_to_the_last(b: &mut Builder<'_>, mut matrix: PitchedMatrix, row: Value, column: Value) -> (PitchedMatrix, Value, Value) {
    let row = last_row_at_most(b, row);
    let column = at_most(b, column, LAST_COLUMN);
    if let Some(batch) = &mut matrix.batch {
        batch.index = last_row_at_most(b, batch.index);
    }
    (matrix, row, column)
}

/// Elements of 16 bytes.
fn vector_elements(kernel: &Kernel, array: &Access) -> u64 {
    let bytes = kernel.tile_of(array).map_or(1, |(.., element)| element.bytes());
    (VECTOR_BYTES as u64 / u64::from(bytes)).max(1)
}

/// Whether the rows of a tile are known to begin at multiples of 16 bytes of the matrix's rows.
fn begins_at_vectors(kernel: &Kernel, array: &Access, column: Value) -> bool {
    Multiples::of(kernel).is_multiple(kernel, column, vector_elements(kernel, array))
}

/// Stores what is not whole, all threads their share.
fn store(b: &mut Builder<'_>, parts: &[Part<'_>]) {
    for Part { loc, asked, .. } in parts {
        let Some((expansion, is_whole)) = asked else { continue };
        let outer = std::mem::replace(&mut b.loc, *loc);
        b.if_else(
            *is_whole,
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
