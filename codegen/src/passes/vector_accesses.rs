//! The scalars of an element become one access: a load or store of up to 16 bytes.
//!
//! ```text
//! v1 = load x[i].0                 v1, v2, v3, v4 = load x[i].0
//! v2 = load x[i].1          ▶
//! v3 = load x[i].2
//! v4 = load x[i].3
//! ```
//!
//! An element that is a struct or an array is read and written scalar by scalar, since values are scalars. Each would be a request of the warp: it takes
//! its pass through the L1 cache, and a store its way to the L2 cache. What of one element a block reads, or writes, with nothing between that could tell the
//! difference, goes in as few accesses as its alignment allows.
//!
//! **Needs** equal indices to be one value (`cse`), and loads that nobody wants gone (`dce`). **Preserves** every value and the order in which places are
//! written and read. An access never leaves its element, so that where one scalar is in bounds, all are.
//! **Refuses** what is not known to be aligned: objects begin at multiples of 16 bytes (of their size, smaller arrays), and elements at multiples of theirs.
//! Scalars of different widths stay apart, and so do different types of less than 4 bytes, which share registers. A shared array in an array is an element
//! if one access has room for it; a longer one is a row, and `vectorize` is for rows. Constants at known places are operands, and those of 4
//! and 8 bytes `ptxas` joins itself: asked for at once, they would be held at once.
//!
//! Loads move up to the first of them: not over a store to the object, nor over a fence or barrier if others may write it, nor over a loop, whose registers they would take.
//! Stores move down to the last of them: not over a load of the object, another element's store, or anything but arithmetic.
//!
//! Scalars that nobody wants are read with their neighbours where nobody writes the object and they are the fewer, which saves a request; elsewhere another
//! thread may be writing them. Padding is read there and written anywhere, as zeros.

use crate::analysis::clobbers::{Clobbers, RegionClobbers};
use crate::analysis::place::{MOST_BYTES, alignment};
use crate::collections::{HashMap, HashSet};
use crate::ir::{
    Access, Address, Block, Builder, Control, EntityMap, Inst, Kernel, Loc, Memory, MemoryOp, MemoryType, Object, ObjectKind, Op, Scalar,
    Step, StructId, StructType, Type, Value, ValueDef,
};

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let has_elements = |ty: &MemoryType| !matches!(ty, MemoryType::Scalar(_));
    let may_join = |data: &crate::ir::ObjectData| is_wanted(&data.kind) && element(&data.ty).is_some_and(has_elements);
    if !kernel.objects.values().any(may_join) {
        return false;
    }
    let clobbers = RegionClobbers::of(kernel);
    let body = kernel.body;
    in_block(kernel, &clobbers, body)
}

/// Memory that devices move in vectors. Arrays of a thread are registers or go through caches of their own, and parameters and tables are
/// immediates or operands.
fn is_wanted(kind: &ObjectKind) -> bool {
    matches!(kind, ObjectKind::Global { .. } | ObjectKind::Constant | ObjectKind::Shared)
}

fn element(ty: &MemoryType) -> Option<&MemoryType> {
    match ty {
        MemoryType::Slice(element) => Some(element),
        MemoryType::Scalar(_) | MemoryType::Array(..) | MemoryType::Padded(..) | MemoryType::Struct(_) => Some(ty),
    }
}

/// A scalar of an element that is read or written.
struct Part {
    /// Bytes from the element's start.
    offset: u64,
    ty: Type,
    value: Value,
    /// Where in its block.
    at: usize,
    loc: Loc,
}

/// Scalars of one element that may move to each other.
#[derive(Default)]
struct Group {
    parts: Vec<Part>,
}

/// What is open of an object: elements by the steps that lead to them.
#[derive(Default)]
struct Open {
    loads: HashMap<Vec<Step>, Group>,
    /// Another element's stores are not passed.
    stores: Option<(Vec<Step>, Group)>,
}

/// An access in the place of several.
struct Joined {
    object: Object,
    /// The steps that lead to the element.
    element: Vec<Step>,
    /// Bytes from its start.
    offset: u64,
    /// The scalars; `None` where nobody wants what is there.
    parts: Vec<Option<Part>>,
    is_store: bool,
    /// Types of all.
    types: Vec<Type>,
    /// The way from the element to the first scalar; indices as numbers.
    way: Vec<Way>,
}

/// A step within an element.
#[derive(Clone, Copy)]
enum Way {
    Field(u32),
    Index(u64),
}

impl Joined {
    /// Where in the block it stands.
    fn at(&self) -> usize {
        let places = self.parts.iter().flatten().map(|part| part.at);
        (if self.is_store { places.max() } else { places.min() }).unwrap_or(0)
    }
}

fn in_block(kernel: &mut Kernel, clobbers: &RegionClobbers, block: Block) -> bool {
    let mut changed = false;
    let mut open: HashMap<Object, Open> = HashMap::default();
    let mut joined = Vec::new();
    let insts = kernel.blocks[block].insts.clone();
    for (at, inst) in insts.iter().enumerate() {
        for child in kernel.insts[*inst].op.blocks() {
            changed |= in_block(kernel, clobbers, child);
        }
        let effects = kernel.effects(*inst);
        if effects.is_pure() && !kernel.insts[*inst].op.owns_blocks() {
            continue;
        }
        let found = part(kernel, *inst, at);
        let goes_on = effects.orders.is_none() && effects.converges.is_none() && effects.control == Control::GoesOn && !effects.is_observed;
        if !goes_on {
            let inside = [Clobbers::of(&effects), clobbers.get(*inst).clone()];
            let is_loop = kernel.insts[*inst].op.is_loop();
            for (object, open) in &mut open {
                open.close_stores(kernel, *object, &mut joined);
                if is_loop || inside.iter().any(|clobbers| clobbers.changes(kernel, *object)) {
                    open.close_loads(kernel, *object, &mut joined);
                }
            }
        } else if let Some(object) = effects.writes {
            let open = open.entry(object).or_default();
            open.close_loads(kernel, object, &mut joined);
            let is_other = |(element, group): &(Vec<Step>, Group)| {
                found.as_ref().is_none_or(|(other, part)| other != element || group.parts.iter().any(|own| own.overlaps(part)))
            };
            if open.stores.as_ref().is_some_and(is_other) {
                open.close_stores(kernel, object, &mut joined);
            }
            if let Some((element, part)) = found {
                open.stores.get_or_insert_with(|| (element, Group::default())).1.parts.push(part);
            }
        } else if let Some(object) = effects.reads.iter().next() {
            let open = open.entry(object).or_default();
            open.close_stores(kernel, object, &mut joined);
            if let Some((element, part)) = found {
                open.loads.entry(element).or_default().parts.push(part);
            }
        }
    }
    for (object, mut open) in open {
        open.close_loads(kernel, object, &mut joined);
        open.close_stores(kernel, object, &mut joined);
    }
    if joined.is_empty() {
        return changed;
    }
    replace(kernel, block, insts, joined);
    true
}

impl Part {
    fn overlaps(&self, other: &Part) -> bool {
        let end = |part: &Part| part.offset + u64::from(part.ty.bytes());
        self.offset < end(other) && other.offset < end(self)
    }
}

impl Open {
    fn close_loads(&mut self, kernel: &Kernel, object: Object, joined: &mut Vec<Joined>) {
        self.loads.drain().for_each(|(element, group)| group.close(kernel, (object, element), false, joined));
    }

    fn close_stores(&mut self, kernel: &Kernel, object: Object, joined: &mut Vec<Joined>) {
        if let Some((element, group)) = self.stores.take() {
            group.close(kernel, (object, element), true, joined);
        }
    }
}

/// The scalar that an instruction reads or writes, if it is part of an element, and the steps that lead to that.
fn part(kernel: &Kernel, inst: Inst, at: usize) -> Option<(Vec<Step>, Part)> {
    let data = &kernel.insts[inst];
    let Op::Memory(memory @ Memory { op: MemoryOp::Load | MemoryOp::Store(_), at: Address::Path(access) }) = &data.op else { return None };
    let [value] = memory.scalars(&data.results) else { return None };
    if !is_wanted(&kernel.objects[access.object].kind) {
        return None;
    }
    let enclosing = access.enclosing(kernel)?;
    let is_open = access.path[..enclosing.steps].iter().any(|step| matches!(step, Step::Index(index) if kernel.constant(*index).is_none()));
    let is_element = match (&kernel.objects[access.object].kind, enclosing.ty) {
        (_, MemoryType::Scalar(_) | MemoryType::Padded(..)) => false,
        // At a known place it is an operand, not a load; and words NVIDIA's assembler joins itself, where there are registers for it.
        (ObjectKind::Constant, _) => is_open && kernel.ty(*value).bytes() < 4,
        (ObjectKind::Shared, MemoryType::Array(..)) => enclosing.ty.size(&kernel.structs) <= MOST_BYTES,
        _ => true,
    };
    if !is_element {
        return None;
    }
    let part = Part { offset: enclosing.offset, ty: kernel.ty(*value), value: *value, at, loc: data.loc };
    Some((access.path[..enclosing.steps].to_vec(), part))
}

impl Group {
    /// Takes the largest accesses out that there are.
    fn close(self, kernel: &Kernel, (object, element): (Object, Vec<Step>), is_store: bool, joined: &mut Vec<Joined>) {
        if self.parts.len() < 2 {
            return;
        }
        let place = Access { object, path: element };
        let Some(ty) = place.leads_to(kernel) else { return };
        let align = alignment(kernel, &place);
        let mut parts: Vec<Option<Part>> = {
            let mut parts = self.parts;
            parts.sort_by_key(|part| (part.offset, part.at));
            // A load that is there twice, since something may have been written between; both are what they are.
            parts.dedup_by_key(|part| part.offset);
            parts.into_iter().map(Some).collect()
        };
        let skips = if is_store {
            Skips::Padding
        } else if kernel.objects[object].is_read_only() {
            Skips::All
        } else {
            Skips::Nothing
        };
        for n in 0..parts.len() {
            let Some(first) = &parts[n] else { continue };
            let Some(Window { offset, bytes }) = window(kernel, ty, &parts[n..], align, skips) else { continue };
            let (width, leading) = (u64::from(first.ty.bytes()), first.ty);
            let mut taken: Vec<Option<Part>> = (0..bytes / width).map(|_| None).collect();
            for part in parts[n..].iter_mut().take_while(|part| part.as_ref().is_none_or(|part| part.offset < offset + bytes)) {
                if let Some(part) = part.take() {
                    let slot = ((part.offset - offset) / width) as usize;
                    taken[slot] = Some(part);
                }
            }
            let types = (0..bytes / width).map(|k| ty.scalar_at(offset + k * width, &kernel.structs).unwrap_or(leading)).collect();
            let Some(way) = way_to(ty, offset, &kernel.structs) else { continue };
            joined.push(Joined { object, element: place.path.clone(), offset, parts: taken, is_store, types, way });
        }
    }
}

/// Scalars of a vector that nobody reads or writes by themselves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Skips {
    Nothing,
    Padding,
    All,
}

/// Bytes of an element that one access moves.
struct Window {
    offset: u64,
    bytes: u64,
}

/// The access that takes most of the parts, the first included.
fn window(kernel: &Kernel, ty: &MemoryType, parts: &[Option<Part>], align: u64, skips: Skips) -> Option<Window> {
    let first = parts.first()?.as_ref()?;
    let width = u64::from(first.ty.bytes());
    let size = ty.size(&kernel.structs);
    let (mut best, mut most) = (None, 1);
    let mut bytes = 2 * width;
    while bytes <= MOST_BYTES.min(align) {
        let offset = first.offset / bytes * bytes;
        let wanted = |at: u64| parts.iter().flatten().take_while(|part| part.offset <= at).find(|part| part.offset == at);
        let fits = |at: u64| {
            let there = ty.scalar_at(at, &kernel.structs);
            let is_alike =
                there.unwrap_or(first.ty) == first.ty || width >= 4 && there.is_some_and(|there| u64::from(there.bytes()) == width);
            is_alike && (wanted(at).is_some() || skips == Skips::All || skips == Skips::Padding && there.is_none())
        };
        let places = || (offset..offset + bytes).step_by(width as usize);
        // The access begins at a scalar: it is named by the way to it.
        if offset + bytes <= size && ty.scalar_at(offset, &kernel.structs).is_some() && places().all(fits) {
            let count = places().filter(|at| wanted(*at).is_some()).count();
            // NVIDIA's assembler takes a vector apart again of whose words half are unused (ptxas 12.9 and 13.0).
            let words: HashSet<u64> = places().filter(|at| wanted(*at).is_some()).map(|at| at / 4).collect();
            let is_kept = 2 * words.len() as u64 * width.max(4) > bytes;
            if count > most && is_kept {
                (best, most) = (Some(Window { offset, bytes }), count);
            }
        }
        bytes *= 2;
    }
    best
}

/// The way to the scalar that begins so many bytes from the start of an element.
fn way_to(ty: &MemoryType, offset: u64, structs: &EntityMap<StructId, StructType>) -> Option<Vec<Way>> {
    let (mut ty, mut rest, mut way) = (ty, offset, Vec::new());
    loop {
        match ty {
            MemoryType::Scalar(_) => return (rest == 0).then_some(way),
            MemoryType::Array(element, _) | MemoryType::Padded(element, ..) | MemoryType::Slice(element) => {
                let size = element.size(structs).max(1);
                way.push(Way::Index(rest / size));
                (rest, ty) = (rest % size, element);
            }
            MemoryType::Struct(id) => {
                let fields = &structs[*id].fields;
                let n = fields.iter().rposition(|field| field.offset <= rest && field.ty.size(structs) > 0)?;
                way.push(Way::Field(n as u32));
                (rest, ty) = (rest - fields[n].offset, &fields[n].ty);
            }
        }
    }
}

/// Puts the joined accesses where they belong, and takes the single ones away.
fn replace(kernel: &mut Kernel, block: Block, insts: Vec<Inst>, mut joined: Vec<Joined>) {
    let gone: HashSet<usize> = joined.iter().flat_map(|joined| joined.parts.iter().flatten().map(|part| part.at)).collect();
    joined.sort_by_key(|joined| (joined.at(), joined.object, joined.offset));
    let mut joined = joined.into_iter().peekable();
    kernel.blocks[block].insts.clear();
    for (at, inst) in insts.into_iter().enumerate() {
        while let Some(one) = joined.next_if(|joined| joined.at() == at) {
            build(kernel, block, one);
        }
        if !gone.contains(&at) {
            kernel.blocks[block].insts.push(inst);
        }
    }
}

/// Builds a joined access at the end of a block.
fn build(kernel: &mut Kernel, block: Block, joined: Joined) {
    let Joined { object, element: mut path, parts, is_store, types, way, .. } = joined;
    let first = parts.iter().flatten().min_by_key(|part| part.at).map_or(Loc(0), |part| part.loc);
    let index = kernel.index_type();
    let mut builder = Builder::new(kernel, block, first);
    for step in way {
        path.push(match step {
            Way::Field(field) => Step::Field(field),
            Way::Index(n) => Step::Index(builder.int(index, i128::from(n))),
        });
    }
    let access = Access { object, path };
    if is_store {
        let values = parts.iter().zip(&types).map(|(part, ty)| match part {
            Some(part) => part.value,
            None => builder.constant(Scalar::new(*ty, 0)),
        });
        let values = values.collect();
        builder.push(Op::store(access, values), &[]);
        return;
    }
    let inst = builder.push(Op::load(access), &[]);
    for (n, (part, ty)) in parts.iter().zip(types).enumerate() {
        match part {
            Some(part) => {
                kernel.values[part.value].def = ValueDef::Result(inst, n as u16);
                kernel.insts[inst].results.push(part.value);
            }
            None => drop(kernel.add_result(inst, ty)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::passes::check::{check, check_refused};

    /// The indices 0 to 3 as v90 to v93, which stay where they are used.
    const INDICES: &str = "v0: u32 = thread_idx.x
             v90: u32 = const 0
             v91: u32 = const 1
             v92: u32 = const 2
             v93: u32 = const 3";

    #[test]
    fn the_scalars_of_an_element_are_read_and_written_at_once() {
        check(
            run,
            &format!(
                "{INDICES}
                 v1: f32 = load m7[v0][v91]
                 v2: f32 = load m7[v0][v90]
                 v3: f32 = load m7[v0][v92]
                 v4: f32 = load m7[v0][v93]
                 v5: u32 = const 7
                 store m8[v0].0[v90], v1
                 store m8[v0].1, v5
                 store m8[v0].0[v92], v4
                 store m8[v0].0[v91], v2
                 return"
            ),
            "v0: u32 = thread_idx.x
             v90: u32 = const 0
             v2: f32, v1: f32, v3: f32, v4: f32 = load m7[v0][v90]
             v5: u32 = const 7
             v95: u32 = const 0
             store m8[v0].0[v95], v1, v2, v4, v5
             return",
        );
    }

    #[test]
    fn what_nobody_writes_is_read_with_its_neighbours() {
        check(
            run,
            &format!(
                "{INDICES}
                 v1: f32 = load m7[v0][v91]
                 v2: f32 = load m7[v0][v92]
                 v4: f32 = load m7[v0][v93]
                 v3: f32 = add v1, v2
                 v5: f32 = add v3, v4
                 store m2[v0], v5
                 return"
            ),
            "v0: u32 = thread_idx.x
             v90: u32 = const 0
             v6: f32, v1: f32, v2: f32, v4: f32 = load m7[v0][v90]
             v3: f32 = add v1, v2
             v5: f32 = add v3, v4
             store m2[v0], v5
             return",
        );
        // Of what another thread may write, only what is asked for.
        check_refused(
            run,
            &format!(
                "{INDICES}
                 v1: f32 = load m8[v0].0[v90]
                 v2: f32 = load m8[v0].0[v92]
                 v3: f32 = add v1, v2
                 store m2[v0], v3
                 return"
            ),
        );
    }

    #[test]
    fn widths_and_alignment_part_scalars() {
        // 8 bytes of one, then 4 and 4.
        check(
            run,
            &format!(
                "{INDICES}
                 v1: f64 = load m8[v0].2
                 v2: f32 = load m8[v0].3[v90]
                 v3: f32 = load m8[v0].3[v91]
                 v4: f32 = load m8[v0].0[v92]
                 v5: f32 = add v2, v3
                 v6: f32 = add v5, v4
                 v7: f32 = cast v1
                 v8: f32 = add v6, v7
                 store m2[v0], v8
                 return"
            ),
            "v0: u32 = thread_idx.x
             v92: u32 = const 2
             v1: f64 = load m8[v0].2
             v90: u32 = const 0
             v2: f32, v3: f32 = load m8[v0].3[v90]
             v4: f32 = load m8[v0].0[v92]
             v5: f32 = add v2, v3
             v6: f32 = add v5, v4
             v7: f32 = cast v1
             v8: f32 = add v6, v7
             store m2[v0], v8
             return",
        );
        // A row, which is no element.
        check_refused(
            run,
            &format!(
                "{INDICES}
                 v1: f32 = load m5[v0][v90]
                 v2: f32 = load m5[v0][v91]
                 v3: f32 = add v1, v2
                 store m2[v0], v3
                 return"
            ),
        );
        // Neighbours by another index, which may be anywhere.
        check_refused(
            run,
            "v0: u32 = thread_idx.x
             v1: u32 = const 1
             v2: u32 = add v0, v1
             v3: f32 = load m1[v0]
             v4: f32 = load m1[v2]
             v5: f32 = add v3, v4
             store m2[v0], v5
             return",
        );
    }

    #[test]
    fn what_may_tell_the_difference_parts_scalars() {
        let between = |between: &str| {
            format!(
                "{INDICES}
                 v1: f32 = load m9[v0][v90]
                 {between}
                 v2: f32 = load m9[v0][v91]
                 v3: f32 = add v1, v2
                 store m2[v0], v3
                 return"
            )
        };
        let at_once = |between: &str| {
            format!(
                "v0: u32 = thread_idx.x
                 v90: u32 = const 0
                 v1: f32, v2: f32 = load m9[v0][v90]
                 {between}
                 v3: f32 = add v1, v2
                 store m2[v0], v3
                 return"
            )
        };
        for change in ["store m9[v0][v91], v1", "store m9[v0][v0], v1", "call sync_threads"] {
            check_refused(run, &between(change));
        }
        check(run, &between("store m2[v0], v1"), &at_once("store m2[v0], v1"));
        let stores = |between: &str| {
            format!(
                "{INDICES}
                 v1: f32 = load m1[v0]
                 store m9[v0][v90], v1
                 {between}
                 store m9[v0][v91], v1
                 return"
            )
        };
        for change in ["v2: f32 = load m9[v0][v91]\n store m2[v0], v2", "store m9[v91][v90], v1", "call sync_threads", "call fence_block"] {
            check_refused(run, &stores(change));
        }
        check(
            run,
            &stores("v2: f32 = load m2[v0]\n store m2[v0], v2"),
            "v0: u32 = thread_idx.x
             v1: f32 = load m1[v0]
             v2: f32 = load m2[v0]
             store m2[v0], v2
             v90: u32 = const 0
             store m9[v0][v90], v1, v1
             return",
        );
    }
}
