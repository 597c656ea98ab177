//! Loads, stores and atomics of a warp: where they go, whether they may, what they cost, what they do.

use super::launch::thread_position;
use super::machine::{LaneFault, Machine};
use super::order::Passes;
use super::program::{Access, Dimension, Index, Length, ObjectInfo, Path};
use super::registers::{Mask, Reg, Registers, lanes, pack};
use super::traffic::sectors;
use super::warp::Warp;
use super::weak::LaneAtomic;
use super::{AccessKind, FaultKind};
use warpwright_codegen::analysis::banks;
use warpwright_codegen::ir::eval;
use warpwright_codegen::ir::{AtomicOp, BinaryOp, Scalar, Space, Type};
use warpwright_codegen::target::limits::LANES;

/// Byte offsets into an object, by lane; those of inactive lanes mean nothing.
type Offsets = [u64; LANES];

/// A memory instruction, and the lanes of a warp that run it.
#[derive(Clone, Copy)]
pub(super) struct Request<'p> {
    /// Number of the access in the program.
    pub(super) number: u32,
    pub(super) access: &'p Access,
    /// Of what it accesses.
    pub(super) info: &'p ObjectInfo,
    pub(super) mask: Mask,
}

impl Request<'_> {
    /// Bytes of a scalar.
    pub(super) fn size(&self) -> u64 {
        u64::from(self.access.ty.bytes())
    }

    /// Scalars of a lane.
    pub(super) fn scalars(&self) -> u64 {
        if self.access.atomic.is_some() { 1 } else { self.access.values.len() as u64 }
    }

    /// Whether it writes without reading, as an atomic store does.
    pub(super) fn is_store(&self) -> bool {
        self.access.atomic.is_some_and(|(op, _)| op == AtomicOp::Store)
    }

    /// Bytes of a lane.
    fn width(&self) -> u64 {
        self.size() * self.scalars()
    }
}

impl Machine<'_> {
    /// Runs an access in the active lanes.
    pub(super) fn access(&mut self, warp: &mut Warp, number: u32) -> Result<(), LaneFault> {
        let access = &self.launch.program.accesses[number as usize];
        let request = Request { number, access, info: &self.launch.program.objects[access.object], mask: warp.active };
        if request.mask == 0 {
            return Ok(());
        }
        let offsets = self.resolve(&warp.registers, &request)?;
        self.tally(&request, &offsets);
        self.check(warp, &request, &offsets)?;
        if !self.launch.program.waits {
            self.version += u64::from(access.kind != AccessKind::Read);
        }
        match access.kind {
            AccessKind::Read => {
                for (n, reg) in (0..).zip(&access.values) {
                    let bits = self.read(warp, &request, &at(&offsets, n * request.size()));
                    warp.registers.set_all(*reg, &bits);
                }
            }
            AccessKind::Write => {
                for (n, reg) in (0..).zip(&access.values) {
                    let bits = warp.registers.all(*reg);
                    let offsets = at(&offsets, n * request.size());
                    if self.launch.program.waits {
                        self.note_change(warp, &request, &offsets, &bits);
                    }
                    self.write(warp, &request, &offsets, &bits);
                }
            }
            AccessKind::Atomic | AccessKind::AtomicRead => {
                self.atomic(warp, &request, &offsets);
                if self.launch.program.orders {
                    // What is done behind an atomic is not told by it.
                    self.next_tick().map_err(|kind| LaneFault { lane: request.mask.trailing_zeros() as usize, kind })?;
                }
            }
        }
        Ok(())
    }

    /// What a load brings, by scalar and lane: nothing is put into registers.
    pub(super) fn load_all(&mut self, warp: &Warp, request: &Request<'_>) -> Result<Vec<[u64; LANES]>, LaneFault> {
        let offsets = self.resolve(&warp.registers, request)?;
        self.tally(request, &offsets);
        self.read_all(warp, request, &offsets)
    }

    /// The same from these places.
    pub(super) fn read_all(&mut self, warp: &Warp, request: &Request<'_>, offsets: &Offsets) -> Result<Vec<[u64; LANES]>, LaneFault> {
        self.check(warp, request, offsets)?;
        Ok((0..request.scalars()).map(|n| self.read(warp, request, &at(offsets, n * request.size()))).collect())
    }

    // --- where ---

    pub(super) fn resolve(&self, registers: &Registers, request: &Request<'_>) -> Result<Offsets, LaneFault> {
        let (access, width) = (request.access, request.width());
        let offsets = match &access.path {
            Path::Indexed { base, dimensions } => {
                let mut offsets = [*base; LANES];
                for dimension in dimensions {
                    self.step_into(registers, request, dimension, &mut offsets)?;
                }
                offsets
            }
            Path::Pointer { ptr, offset } => self.untag(registers, request, *ptr, *offset)?,
        };
        let is_vector = width > request.size();
        if is_vector || matches!(access.path, Path::Pointer { .. }) {
            // Widths are powers of two, but for vectors of 16-bit scalars and the like they are too.
            let place = |lane: usize| match request.info.peers_of {
                // Each block's array begins where vectors may.
                Some(_) => self.peer_place(access.object, offsets[lane]).1,
                None => offsets[lane],
            };
            if let Some(lane) = first(pack(|lane| place(lane) & (width - 1) != 0) & request.mask) {
                let kind = FaultKind::Misaligned { object: request.info.name.clone(), offset: offsets[lane], width };
                return Err(LaneFault { lane, kind });
            }
        }
        Ok(offsets)
    }

    /// Adds one index to the offsets, if it is in bounds.
    fn step_into(
        &self,
        registers: &Registers,
        request: &Request<'_>,
        dimension: &Dimension,
        offsets: &mut Offsets,
    ) -> Result<(), LaneFault> {
        let length = match dimension.length {
            Length::Fixed(length) => length,
            Length::Slice => self.launch.lengths[request.access.object],
        };
        // The first index from which `width` elements do not fit.
        let limit = (length + 1).saturating_sub(u64::from(dimension.width));
        let stride = dimension.stride;
        let beyond = match dimension.index {
            Index::Reg(Reg::Narrow(n)) => {
                let index = &registers.narrow[usize::from(n)];
                for lane in 0..LANES {
                    offsets[lane] = offsets[lane].wrapping_add(u64::from(index[lane]).wrapping_mul(stride));
                }
                pack(|lane| u64::from(index[lane]) >= limit)
            }
            Index::Reg(reg) => {
                let index = registers.all(reg);
                for lane in 0..LANES {
                    offsets[lane] = offsets[lane].wrapping_add(index[lane].wrapping_mul(stride));
                }
                pack(|lane| index[lane] >= limit)
            }
            Index::Fixed(index) => {
                offsets.iter_mut().for_each(|offset| *offset = offset.wrapping_add(index.wrapping_mul(stride)));
                if index >= limit { Mask::MAX } else { 0 }
            }
        };
        match first(beyond & request.mask) {
            None => Ok(()),
            Some(lane) => {
                let index = match dimension.index {
                    Index::Reg(reg) => registers.lane(reg, lane),
                    Index::Fixed(index) => index,
                };
                let object = dimension.name.clone();
                let kind = FaultKind::OutOfBounds { object, index: i128::from(index), length, width: dimension.width };
                Err(LaneFault { lane, kind })
            }
        }
    }

    /// Takes addresses apart: the object's own, then the offset.
    fn untag(&self, registers: &Registers, request: &Request<'_>, ptr: Reg, offset: i32) -> Result<Offsets, LaneFault> {
        let (access, info, width) = (request.access, request.info, request.width());
        let bits = info.pointer_bits();
        let base = info.address(access.object);
        let bytes = self.launch.sizes[access.object];
        let addresses = registers.all(ptr);
        // As far from the object's begin as the address is, forwards or backwards, in the arithmetic of the pointer's width.
        let distance = |lane: usize| {
            let distance = addresses[lane].wrapping_add(offset as i64 as u64).wrapping_sub(base);
            (distance << (64 - bits)) as i64 >> (64 - bits)
        };
        let outside = pack(|lane| {
            let distance = distance(lane);
            distance < 0 || (distance as u64).checked_add(width).is_none_or(|end| end > bytes)
        });
        if let Some(lane) = first(outside & request.mask) {
            let size = request.size();
            let index = i128::from(distance(lane)).div_euclid(i128::from(size));
            let width = (width / size) as u32;
            let kind = FaultKind::OutOfBounds { object: info.name.clone(), index, length: bytes / size, width };
            return Err(LaneFault { lane, kind });
        }
        Ok(std::array::from_fn(|lane| distance(lane) as u64))
    }

    // --- what it costs ---

    fn tally(&mut self, request: &Request<'_>, offsets: &Offsets) {
        let traffic = &mut self.tallies.traffic[request.number as usize];
        let (info, mask, width) = (request.info, request.mask, request.width());
        match info.space {
            Space::Global => {
                let (sectors, bytes) = sectors(offsets, mask, width);
                traffic.sectors += sectors;
                traffic.bytes += bytes;
            }
            Space::Shared => {
                let found = banks::passes(&at(offsets, info.base), mask, width, request.access.kind == AccessKind::Read);
                traffic.passes += u64::from(found.passes);
                traffic.replays += u64::from(found.conflicts());
            }
            _ => {}
        }
        traffic.requests += 1;
        traffic.lanes += u64::from(mask.count_ones());
    }

    // --- whether it may ---

    pub(super) fn check(&mut self, warp: &Warp, request: &Request<'_>, offsets: &Offsets) -> Result<(), LaneFault> {
        let Request { number, access, info, mask } = *request;
        let size = access.ty.bytes();
        let is_shared = info.space == Space::Shared;
        if info.space == Space::Cluster {
            return self.check_peers(warp, request, offsets);
        }
        if info.is_ring {
            self.check_flight(warp, request, offsets)?;
        }
        if info.is_engines {
            self.check_engine(warp, request, offsets)?;
        }
        if self.launch.program.orders && info.space != Space::Local {
            return self.check_order(warp, request, offsets);
        }
        if info.space == Space::Local {
            return if access.kind == AccessKind::Write { Ok(()) } else { self.check_local(warp, request, offsets) };
        }
        let has_races = is_shared || info.space == Space::Global && info.is_written;
        if !has_races {
            return Ok(());
        }
        let mut now = self.now(warp, 0, number + 1);
        now.is_of_block = access.is_of_block();
        let shadow = &mut self.shadows[access.object];
        for lane in lanes(mask) {
            now.thread = warp.first_thread + lane as u32;
            for n in 0..request.scalars() {
                let offset = offsets[lane] + n * u64::from(size);
                let clash = if is_shared {
                    if access.kind != AccessKind::Write && !shadow.is_initialised(offset, size, now.block_start) {
                        return Err(LaneFault { lane, kind: self.uninitialised(access, offset) });
                    }
                    shadow.access_in_block(offset, size, access.kind, &now)
                } else {
                    shadow.access(offset, size, access.kind, &now)
                };
                if let Err(clash) = clash {
                    return Err(LaneFault { lane, kind: self.launch.race(access, offset, &clash) });
                }
            }
        }
        Ok(())
    }

    /// Faults where a copy is on its way to what is accessed; a store is itself one.
    fn check_flight(&mut self, warp: &Warp, request: &Request<'_>, offsets: &Offsets) -> Result<(), LaneFault> {
        let Request { number, access, mask, .. } = *request;
        let (size, width) = (request.size(), request.width() as u32);
        for lane in lanes(mask) {
            let now = self.now(warp, lane, number + 1);
            if let Some(found) = self.block.flights.find(access.object, offsets[lane], width, &now) {
                let line = self.launch.program.accesses.get(found.site as usize).map(|site| site.location.line);
                let kind = FaultKind::CopyInFlight {
                    object: request.info.name.clone(),
                    index: offsets[lane] / size,
                    length: self.launch.sizes[access.object] / size,
                    access: access.kind,
                    thread: thread_position(found.thread, self.launch.block),
                    line: line.filter(|line| *line != 0),
                    is_awaited: found.is_awaited,
                };
                return Err(LaneFault { lane, kind });
            }
            if access.kind == AccessKind::Write {
                self.block.flights.copy(access.object, offsets[lane], width, now.thread, number);
            }
        }
        Ok(())
    }

    /// Faults where the engine copies to what is accessed; notes what threads store, which the engine sees behind a fence only.
    fn check_engine(&mut self, warp: &Warp, request: &Request<'_>, offsets: &Offsets) -> Result<(), LaneFault> {
        let Request { number, access, info, mask } = *request;
        for lane in lanes(mask) {
            let now = self.now(warp, lane, number + 1);
            for offset in (offsets[lane]..offsets[lane] + request.width()).step_by(info.granule as usize) {
                if let Some(found) = self.block.engine.find(access.object, offset, &now) {
                    let line = self.launch.program.accesses.get(found.site as usize).map(|site| site.location.line);
                    let kind = FaultKind::CopyInFlight {
                        object: info.name.clone(),
                        index: offset / request.size(),
                        length: self.launch.sizes[access.object] / request.size(),
                        access: access.kind,
                        thread: thread_position(found.thread, self.launch.block),
                        line: line.filter(|line| *line != 0),
                        is_awaited: found.is_awaited,
                    };
                    return Err(LaneFault { lane, kind });
                }
                if access.kind != AccessKind::Read
                    && let Some(found) = self.block.engine.out.find(access.object, offset, &now)
                {
                    let line = self.launch.program.accesses.get(found.site as usize).map(|site| site.location.line);
                    let kind = FaultKind::StoreInFlight {
                        object: info.name.clone(),
                        index: offset / request.size(),
                        length: self.launch.sizes[access.object] / request.size(),
                        thread: thread_position(found.thread, self.launch.block),
                        line: line.filter(|line| *line != 0),
                        is_awaited: found.is_awaited,
                    };
                    return Err(LaneFault { lane, kind });
                }
                if access.kind != AccessKind::Read
                    && let Some(found) = self.block.engine.products.find(access.object, offset, &now)
                {
                    let line = self.launch.program.accesses.get(found.site as usize).map(|site| site.location.line);
                    let kind = FaultKind::ProductInFlight {
                        object: info.name.clone(),
                        index: offset / request.size(),
                        length: self.launch.sizes[access.object] / request.size(),
                        thread: thread_position(found.thread, self.launch.block),
                        line: line.filter(|line| *line != 0),
                        is_awaited: found.is_awaited,
                    };
                    return Err(LaneFault { lane, kind });
                }
                if access.kind != AccessKind::Read && !access.is_of_engine {
                    self.block.engine.store(access.object, offset, now.thread);
                }
            }
        }
        Ok(())
    }

    /// The fault of a read of shared memory that nobody wrote.
    pub(super) fn uninitialised(&self, access: &Access, offset: u64) -> FaultKind {
        let size = u64::from(access.ty.bytes());
        let object = self.launch.program.objects[access.object].name.clone();
        FaultKind::Uninitialised { object, index: offset / size, length: self.launch.bytes_of_one(access.object) / size, shared: true }
    }

    fn check_local(&self, warp: &Warp, request: &Request<'_>, offsets: &Offsets) -> Result<(), LaneFault> {
        let (info, size) = (request.info, request.size());
        for lane in lanes(request.mask) {
            let start = self.local_place(info, lane, offsets[lane]);
            let range = start..start + request.width() as usize;
            let is_written = warp.local_written.get(range).is_some_and(|ticks| ticks.iter().all(|tick| *tick >= self.block.start));
            if !is_written {
                let (index, length) = (offsets[lane] / size, info.unit / size);
                let kind = FaultKind::Uninitialised { object: info.name.clone(), index, length, shared: false };
                return Err(LaneFault { lane, kind });
            }
        }
        Ok(())
    }

    // --- what it does ---

    /// Where a lane's local bytes are.
    fn local_place(&self, info: &ObjectInfo, lane: usize, offset: u64) -> usize {
        lane * self.launch.program.local_bytes as usize + (info.base + offset) as usize
    }

    pub(super) fn read(&self, warp: &Warp, request: &Request<'_>, offsets: &Offsets) -> [u64; LANES] {
        let Request { access, info, mask, .. } = *request;
        let (object, size) = (access.object, access.ty.bytes());
        let mut bits = [0; LANES];
        match info.space {
            Space::Global => {
                let view = &self.launch.views[object];
                if mask == Mask::MAX && size == 4 {
                    (0..LANES).for_each(|lane| bits[lane] = view.read(offsets[lane], 4));
                } else {
                    lanes(mask).for_each(|lane| bits[lane] = view.read(offsets[lane], size));
                }
            }
            Space::Shared => lanes(mask).for_each(|lane| bits[lane] = load(&self.block.shared, (info.base + offsets[lane]) as usize, size)),
            Space::Cluster => lanes(mask).for_each(|lane| {
                let (rank, offset) = self.peer_place(object, offsets[lane]);
                bits[lane] = load(&self.peer(rank).shared, (info.base + offset) as usize, size);
            }),
            Space::Local => {
                lanes(mask).for_each(|lane| bits[lane] = load(&warp.local, self.local_place(info, lane, offsets[lane]), size));
            }
            Space::Param | Space::Constant => {
                let bytes = self.launch.constants[object];
                lanes(mask).for_each(|lane| bits[lane] = load(bytes, offsets[lane] as usize, size));
            }
        }
        bits
    }

    /// Tells those that wait whether a write changes memory.
    fn note_change(&mut self, warp: &Warp, request: &Request<'_>, offsets: &Offsets, bits: &[u64; LANES]) {
        let old = self.read(warp, request, offsets);
        let ones = u64::MAX >> (64 - 8 * request.size());
        self.version += u64::from(lanes(request.mask).any(|lane| old[lane] != bits[lane] & ones));
    }

    pub(super) fn write(&mut self, warp: &mut Warp, request: &Request<'_>, offsets: &Offsets, bits: &[u64; LANES]) {
        let Request { access, info, mask, .. } = *request;
        let (object, size) = (access.object, access.ty.bytes());
        match info.space {
            Space::Global => {
                let view = &self.launch.views[object];
                lanes(mask).for_each(|lane| view.write(offsets[lane], size, bits[lane]));
            }
            Space::Shared => {
                lanes(mask).for_each(|lane| store(&mut self.block.shared, (info.base + offsets[lane]) as usize, size, bits[lane]));
            }
            Space::Cluster => lanes(mask).for_each(|lane| {
                let (rank, offset) = self.peer_place(object, offsets[lane]);
                store(&mut self.peer_mut(rank).shared, (info.base + offset) as usize, size, bits[lane]);
            }),
            Space::Local => {
                for lane in lanes(mask) {
                    let place = self.local_place(info, lane, offsets[lane]);
                    store(&mut warp.local, place, size, bits[lane]);
                    if let Some(ticks) = warp.local_written.get_mut(place..place + size as usize) {
                        ticks.fill(self.tick);
                    }
                }
            }
            Space::Param | Space::Constant => {}
        }
    }

    /// Lane by lane, in order.
    fn atomic(&mut self, warp: &mut Warp, request: &Request<'_>, offsets: &Offsets) {
        let Request { number, access, info, mask } = *request;
        let (Some((op, atomicity)), size) = (access.atomic, access.ty.bytes()) else {
            return;
        };
        let mut old = [0; LANES];
        for lane in lanes(mask) {
            let operand = |n: usize| access.values.get(n).map_or(0, |reg| warp.registers.lane(*reg, lane));
            let (first, second) = (operand(0), operand(1));
            let new = |old: u64| atomic_result(op, access.ty, old, first, second);
            if self.weak.is_some() {
                let one = LaneAtomic { lane, offset: offsets[lane], op, atomicity, operands: [first, second] };
                if let Some(read) = self.weak_atomic(warp, request, &one) {
                    old[lane] = read;
                    continue;
                }
                self.weak_fence(warp, lane, number, info.space, atomicity);
            }
            let one = Request { mask: 1 << lane, ..*request };
            old[lane] = if info.space == Space::Global {
                self.launch.views[access.object].update(offsets[lane], size, new)
            } else {
                let old = self.read(warp, &one, offsets)[lane];
                self.write(warp, &one, offsets, &[new(old); LANES]);
                old
            };
            self.version += u64::from(self.launch.program.waits && new(old[lane]) != old[lane]);
            if self.launch.program.orders {
                let passes = match op {
                    AtomicOp::Load => Passes::Nothing,
                    AtomicOp::CompareExchange if old[lane] != first => Passes::Nothing,
                    AtomicOp::Store => Passes::Own,
                    _ => Passes::On,
                };
                self.pass_on(warp, lane, number, offsets[lane], passes, atomicity);
            }
        }
        if let Some(result) = access.result {
            warp.registers.set_all(result, &old);
        }
    }
}

/// What an atomic leaves, as bits of its type.
pub(super) fn atomic_result(op: AtomicOp, ty: Type, old: u64, first: u64, second: u64) -> u64 {
    let binary = match op {
        AtomicOp::Add => BinaryOp::Add,
        AtomicOp::Sub => BinaryOp::Sub,
        AtomicOp::Min => BinaryOp::Min,
        AtomicOp::Max => BinaryOp::Max,
        AtomicOp::And => BinaryOp::And,
        AtomicOp::Or => BinaryOp::Or,
        AtomicOp::Xor => BinaryOp::Xor,
        AtomicOp::Load => return old,
        AtomicOp::Exchange | AtomicOp::Store => return first,
        AtomicOp::CompareExchange => return if old == first { second } else { old },
    };
    eval::binary(binary, Scalar::new(ty, old), Scalar::new(ty, first)).map_or(old, |scalar| scalar.bits)
}

/// The lowest lane of a mask.
pub(super) fn first(mask: Mask) -> Option<usize> {
    (mask != 0).then(|| mask.trailing_zeros() as usize)
}

/// The offsets, all `bytes` further.
#[inline(always)]
fn at(offsets: &Offsets, bytes: u64) -> Offsets {
    let mut all = *offsets;
    all.iter_mut().for_each(|offset| *offset = offset.wrapping_add(bytes));
    all
}

/// A little-endian scalar; 0 outside, which callers have checked.
#[inline(always)]
pub(super) fn load(bytes: &[u8], place: usize, size: u32) -> u64 {
    let mut word = [0; 8];
    if let Some(scalar) = place.checked_add(size as usize).and_then(|end| bytes.get(place..end)) {
        match scalar.len() {
            4 => word[..4].copy_from_slice(scalar),
            8 => word.copy_from_slice(scalar),
            n => word[..n].copy_from_slice(scalar),
        }
    }
    u64::from_le_bytes(word)
}

#[inline(always)]
pub(super) fn store(bytes: &mut [u8], place: usize, size: u32, bits: u64) {
    if let Some(scalar) = place.checked_add(size as usize).and_then(|end| bytes.get_mut(place..end)) {
        let word = bits.to_le_bytes();
        match scalar.len() {
            4 => scalar.copy_from_slice(&word[..4]),
            8 => scalar.copy_from_slice(&word),
            n => scalar.copy_from_slice(&word[..n]),
        }
    }
}
