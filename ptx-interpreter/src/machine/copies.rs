//! Copies that go on by themselves: `cp.async`, and those of the copy engine. They are done as late as they may be.

use super::mbarrier::{arrive_of_copies, complete};
use super::view::{SHARED_PLACE_BITS, Spaces};
use super::{Machine, Who};
use crate::error::{FaultKind, Step, Stumble};
use crate::program::{AccessSpace, CopyOp};
use crate::tensor::TensorMap;
use crate::ty::low;
use std::collections::VecDeque;

/// A `cp.async`: to shared, from global; how many bytes, and how many of them are read.
#[derive(Clone, Copy, Debug)]
struct SmallCopy {
    to: u64,
    from: u64,
    bytes: u32,
    read: u32,
}

/// Bytes that the engine brings.
#[derive(Clone, Debug)]
enum Source {
    Run { from: u64, bytes: u32 },
    Tile { map: Box<TensorMap>, at: Vec<i32> },
}

/// A copy of the engine to shared memory.
#[derive(Clone, Debug)]
pub(crate) struct EngineCopy {
    block: usize,
    thread: usize,
    to: u64,
    source: Source,
    barrier: u64,
    /// The blocks that get it, one bit each; none: the one that the address is of.
    blocks: Option<u32>,
}

impl EngineCopy {
    /// Who asked for it.
    pub(crate) fn who(&self, cluster: usize) -> Who {
        Who { cluster, block: self.block, thread: self.thread }
    }
}

/// A copy of the engine from shared memory.
#[derive(Clone, Debug)]
enum BulkStore {
    Run { to: u64, from: u64, bytes: u32 },
    Tile { map: Box<TensorMap>, at: Vec<i32>, from: u64 },
}

/// What a thread has under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadCopies {
    open: Vec<SmallCopy>,
    groups: VecDeque<Vec<SmallCopy>>,
    open_stores: Vec<BulkStore>,
    stores: VecDeque<Vec<BulkStore>>,
}

impl Machine<'_> {
    pub(super) fn copy(&mut self, who: Who, op: &CopyOp) -> Step {
        match op {
            CopyOp::Async { to, from, bytes, read } => {
                let (view, _) = self.view(who);
                let read = read.map_or(*bytes, |read| view.get(read) as u32);
                let copy = SmallCopy { to: view.address(to), from: view.address(from), bytes: *bytes, read };
                if copy.read > copy.bytes {
                    return Err(Stumble::undefined(format!("{} of {} bytes are read", copy.read, copy.bytes)));
                }
                // What is wrong with the places is told here and not where the copy is done.
                check_small(&view.spaces, copy)?;
                self.of_thread(who).open.push(copy);
            }
            CopyOp::Commit => {
                let copies = self.of_thread(who);
                let open = std::mem::take(&mut copies.open);
                copies.groups.push_back(open);
            }
            CopyOp::Wait(but) => {
                let copies = self.of_thread(who);
                let due = copies.groups.len().saturating_sub(but.unwrap_or(0) as usize);
                let mut all: Vec<SmallCopy> = copies.groups.drain(..due).flatten().collect();
                if but.is_none() {
                    all.append(&mut copies.open);
                }
                self.arrive(who, &all)?;
            }
            CopyOp::MbarrierArrive(at, adds) => {
                let copies = self.of_thread(who);
                let mut all: Vec<SmallCopy> = copies.groups.drain(..).flatten().collect();
                all.append(&mut copies.open);
                self.arrive(who, &all)?;
                let (mut view, _) = self.view(who);
                let place = (at.space, view.address(&at.at));
                arrive_of_copies(&mut view.spaces, place, *adds)?;
            }
            CopyOp::BulkLoad { .. } | CopyOp::TensorLoad { .. } => self.engine_load(who, op)?,
            CopyOp::BulkStore { .. } | CopyOp::TensorStore { .. } => self.engine_store(who, op)?,
            CopyOp::BulkCommit => {
                let copies = self.of_thread(who);
                let open = std::mem::take(&mut copies.open_stores);
                copies.stores.push_back(open);
            }
            CopyOp::BulkWait(but) => {
                let copies = self.of_thread(who);
                let due = copies.stores.len().saturating_sub(*but as usize);
                let all: Vec<BulkStore> = copies.stores.drain(..due).flatten().collect();
                self.store_all(who, &all)?;
            }
        }
        let (_, pc) = self.view(who);
        *pc += 1;
        Ok(())
    }

    fn of_thread(&mut self, who: Who) -> &mut ThreadCopies {
        self.resident[who.cluster].blocks[who.block].threads[who.thread].copies.get_or_insert_default()
    }

    /// What a thread leaves under way when it exits.
    pub(super) fn finish_copies(&mut self, who: Who) -> Step {
        let Some(copies) = self.resident[who.cluster].blocks[who.block].threads[who.thread].copies.take() else { return Ok(()) };
        let small: Vec<SmallCopy> = copies.groups.into_iter().flatten().chain(copies.open).collect();
        self.arrive(who, &small)?;
        let stores: Vec<BulkStore> = copies.stores.into_iter().flatten().chain(copies.open_stores).collect();
        self.store_all(who, &stores)
    }

    fn arrive(&mut self, who: Who, copies: &[SmallCopy]) -> Step {
        let (mut view, _) = self.view(who);
        for copy in copies {
            let mut bytes = [0; 16];
            let read = copy.read as usize;
            if read > 0 {
                bytes[..read].copy_from_slice(view.spaces.read_anywhere(AccessSpace::Global, copy.from, copy.read)?);
            }
            view.spaces.write(AccessSpace::Shared, copy.to, copy.bytes)?.copy_from_slice(&bytes[..copy.bytes as usize]);
        }
        Ok(())
    }

    fn engine_load(&mut self, who: Who, op: &CopyOp) -> Step {
        let (view, _) = self.view(who);
        let (to, source, barrier, blocks) = match op {
            CopyOp::BulkLoad { to, from, bytes, barrier, blocks } => {
                let (from, bytes) = (view.address(from), view.get(*bytes) as u32);
                multiple_of(from, 16, "where the copy is from")?;
                multiple_of(bytes.into(), 16, "the bytes of the copy")?;
                view.spaces.read_anywhere(AccessSpace::Global, from, bytes)?;
                (to, Source::Run { from, bytes }, barrier, blocks)
            }
            CopyOp::TensorLoad { to, map, at, barrier, blocks } => {
                let map = Box::new(map_at(&view.spaces, view.get(*map), at.len())?);
                let at = at.iter().map(|coordinate| view.get(*coordinate) as i32).collect();
                (to, Source::Tile { map, at }, barrier, blocks)
            }
            _ => return Ok(()),
        };
        let (to, barrier) = (view.address(to), view.address(barrier));
        let align = if matches!(source, Source::Tile { .. }) { 128 } else { 16 };
        multiple_of(to, align, "where the copy goes to")?;
        let bytes = match &source {
            Source::Run { bytes, .. } => *bytes,
            Source::Tile { map, .. } => map.tile_bytes(),
        };
        view.spaces.read_anywhere(AccessSpace::SharedCluster, to, bytes)?;
        let blocks = blocks.map(|blocks| view.get(blocks) as u32);
        let copy = EngineCopy { block: who.block, thread: who.thread, to, source, barrier, blocks };
        self.resident[who.cluster].engine.push(copy);
        Ok(())
    }

    /// Does a copy of the engine, and counts it at its barrier.
    pub(super) fn bring(&mut self, cluster: usize, copy: EngineCopy) -> Step {
        let who = copy.who(cluster);
        let (mut view, _) = self.view(who);
        let spaces = &mut view.spaces;
        let place = |address: u64, block: u64| low(address, SHARED_PLACE_BITS) | (block + 1) << SHARED_PLACE_BITS;
        let targets: Vec<(u64, u64)> = match copy.blocks {
            None => vec![(copy.to, copy.barrier)],
            Some(mask) => {
                let blocks = (0..32u64).filter(|block| mask >> block & 1 == 1);
                blocks.map(|block| (place(copy.to, block), place(copy.barrier, block))).collect()
            }
        };
        for (to, barrier) in targets {
            let bytes = match &copy.source {
                Source::Run { from, bytes } => {
                    let content = spaces.read_anywhere(AccessSpace::Global, *from, *bytes)?.to_vec();
                    spaces.write_anywhere(AccessSpace::SharedCluster, to, *bytes)?.copy_from_slice(&content);
                    *bytes
                }
                Source::Tile { map, at } => {
                    let size = map.element as usize;
                    for (number, from) in map.elements(at) {
                        let mut element = [0; 8];
                        if let Some(from) = from {
                            element[..size].copy_from_slice(spaces.read(AccessSpace::Global, from, map.element)?);
                        }
                        let there = map.swizzle.place(to + number * u64::from(map.element));
                        spaces.write(AccessSpace::SharedCluster, there, map.element)?.copy_from_slice(&element[..size]);
                    }
                    map.tile_bytes()
                }
            };
            complete(spaces, barrier, bytes)?;
        }
        Ok(())
    }

    fn engine_store(&mut self, who: Who, op: &CopyOp) -> Step {
        let (view, _) = self.view(who);
        let store = match op {
            CopyOp::BulkStore { to, from, bytes } => {
                let (to, from, bytes) = (view.address(to), view.address(from), view.get(*bytes) as u32);
                multiple_of(to, 16, "where the copy goes to")?;
                multiple_of(from, 16, "where the copy is from")?;
                multiple_of(bytes.into(), 16, "the bytes of the copy")?;
                BulkStore::Run { to, from, bytes }
            }
            CopyOp::TensorStore { map, at, from } => {
                let map = Box::new(map_at(&view.spaces, view.get(*map), at.len())?);
                let from = view.address(from);
                multiple_of(from, 128, "where the copy is from")?;
                view.spaces.read_anywhere(AccessSpace::Shared, from, map.tile_bytes())?;
                BulkStore::Tile { map, at: at.iter().map(|coordinate| view.get(*coordinate) as i32).collect(), from }
            }
            _ => return Ok(()),
        };
        self.of_thread(who).open_stores.push(store);
        Ok(())
    }

    fn store_all(&mut self, who: Who, stores: &[BulkStore]) -> Step {
        let (mut view, _) = self.view(who);
        let spaces = &mut view.spaces;
        for store in stores {
            match store {
                BulkStore::Run { to, from, bytes } => {
                    let content = spaces.read_anywhere(AccessSpace::Shared, *from, *bytes)?.to_vec();
                    spaces.write_anywhere(AccessSpace::Global, *to, *bytes)?.copy_from_slice(&content);
                }
                BulkStore::Tile { map, at, from } => {
                    for (number, to) in map.elements(at) {
                        let Some(to) = to else { continue };
                        let there = map.swizzle.place(from + number * u64::from(map.element));
                        let element = spaces.read(AccessSpace::Shared, there, map.element)?.to_vec();
                        spaces.write(AccessSpace::Global, to, map.element)?.copy_from_slice(&element);
                    }
                }
            }
        }
        Ok(())
    }
}

fn check_small(spaces: &Spaces<'_>, copy: SmallCopy) -> Step {
    spaces.read(AccessSpace::Shared, copy.to, copy.bytes)?;
    multiple_of(copy.from, copy.bytes.into(), "where the copy is from")?;
    if copy.read > 0 {
        spaces.read_anywhere(AccessSpace::Global, copy.from, copy.read)?;
    }
    Ok(())
}

fn multiple_of(number: u64, of: u64, what: &str) -> Step {
    if !number.is_multiple_of(of) {
        return Err(Stumble::new(FaultKind::Misaligned, format!("{what}, {number:#x}, is no multiple of {of}")));
    }
    Ok(())
}

/// The map at a generic address.
fn map_at(spaces: &Spaces<'_>, address: u64, dimensions: usize) -> Step<TensorMap> {
    multiple_of(address, 64, "the map's address")?;
    let bytes = spaces.read_anywhere(AccessSpace::Generic, address, 128)?;
    match TensorMap::decode(bytes) {
        Some(map) if map.rank as usize == dimensions => Ok(map),
        Some(map) => Err(Stumble::undefined(format!("{dimensions} coordinates of a map of {} dimensions", map.rank))),
        None => Err(Stumble::undefined(format!("there is no tensor map at {address:#x}"))),
    }
}
