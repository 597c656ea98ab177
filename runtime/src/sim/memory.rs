//! Loads, stores and atomics of a warp: where they go, whether they may, what they cost, what they do.

use super::machine::{LaneFault, Machine};
use super::program::{Access, Dimension, Index, Length, ObjectInfo, Path};
use super::registers::{Mask, Reg, Registers, lanes, pack};
use super::traffic::sectors;
use super::warp::Warp;
use super::{AccessKind, FaultKind};
use warpwright_codegen::analysis::banks;
use warpwright_codegen::ir::eval;
use warpwright_codegen::ir::{AtomicOp, BinaryOp, Scalar, Space, Type};
use warpwright_codegen::target::limits::LANES;

/// Byte offsets into an object, by lane; those of inactive lanes mean nothing.
type Offsets = [u64; LANES];

impl Machine<'_> {
    /// Runs an access in the active lanes.
    pub(super) fn access(&mut self, warp: &mut Warp, number: u32) -> Result<(), LaneFault> {
        let access = &self.launch.program.accesses[number as usize];
        let info = &self.launch.program.objects[access.object];
        let mask = warp.active;
        if mask == 0 {
            return Ok(());
        }
        let size = access.ty.bytes();
        let scalars = if access.kind == AccessKind::Atomic { 1 } else { access.values.len() as u64 };
        let width = u64::from(size) * scalars;
        let offsets = self.resolve(&warp.registers, access, info, width, mask)?;
        self.tally(number, info, &offsets, width, mask, access.kind == AccessKind::Read);
        self.check(warp, number, &offsets, scalars, mask)?;
        if !self.launch.program.waits {
            self.version += u64::from(access.kind != AccessKind::Read);
        }
        match access.kind {
            AccessKind::Read => {
                for (n, reg) in (0..).zip(&access.values) {
                    let bits = self.read(warp, access.object, info, &at(&offsets, n * u64::from(size)), size, mask);
                    warp.registers.set_all(*reg, &bits);
                }
            }
            AccessKind::Write => {
                for (n, reg) in (0..).zip(&access.values) {
                    let bits = warp.registers.all(*reg);
                    if self.launch.program.waits {
                        self.note_change(warp, access.object, info, &at(&offsets, n * u64::from(size)), size, mask, &bits);
                    }
                    self.write(warp, access.object, info, &at(&offsets, n * u64::from(size)), size, mask, &bits);
                }
            }
            AccessKind::Atomic => {
                self.atomic(warp, number, access, info, &offsets, mask);
                if self.launch.program.orders {
                    // What is done behind an atomic is not told by it.
                    self.next_tick().map_err(|kind| LaneFault { lane: mask.trailing_zeros() as usize, kind })?;
                }
            }
        }
        Ok(())
    }

    // --- where ---

    fn resolve(&self, registers: &Registers, access: &Access, info: &ObjectInfo, width: u64, mask: Mask) -> Result<Offsets, LaneFault> {
        let offsets = match &access.path {
            Path::Indexed { base, dimensions } => {
                let mut offsets = [*base; LANES];
                for dimension in dimensions {
                    self.step_into(registers, access, dimension, mask, &mut offsets)?;
                }
                offsets
            }
            Path::Pointer { ptr, offset } => self.untag(registers, access, info, *ptr, *offset, width, mask)?,
        };
        let is_vector = width > u64::from(access.ty.bytes());
        if is_vector || matches!(access.path, Path::Pointer { .. }) {
            // Widths are powers of two, but for vectors of 16-bit scalars and the like they are too.
            if let Some(lane) = first(pack(|lane| offsets[lane] & (width - 1) != 0) & mask) {
                let kind = FaultKind::Misaligned { object: info.name.clone(), offset: offsets[lane], width };
                return Err(LaneFault { lane, kind });
            }
        }
        Ok(offsets)
    }

    /// Adds one index to the offsets, if it is in bounds.
    fn step_into(
        &self,
        registers: &Registers,
        access: &Access,
        dimension: &Dimension,
        mask: Mask,
        offsets: &mut Offsets,
    ) -> Result<(), LaneFault> {
        let length = match dimension.length {
            Length::Fixed(length) => length,
            Length::Slice => self.launch.lengths[access.object],
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
        match first(beyond & mask) {
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
    #[expect(clippy::too_many_arguments, reason = "the parts of one access")]
    fn untag(
        &self,
        registers: &Registers,
        access: &Access,
        info: &ObjectInfo,
        ptr: Reg,
        offset: i32,
        width: u64,
        mask: Mask,
    ) -> Result<Offsets, LaneFault> {
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
        if let Some(lane) = first(outside & mask) {
            let size = u64::from(access.ty.bytes());
            let index = i128::from(distance(lane)).div_euclid(i128::from(size));
            let width = (width / size) as u32;
            let kind = FaultKind::OutOfBounds { object: info.name.clone(), index, length: bytes / size, width };
            return Err(LaneFault { lane, kind });
        }
        Ok(std::array::from_fn(|lane| distance(lane) as u64))
    }

    // --- what it costs ---

    fn tally(&mut self, number: u32, info: &ObjectInfo, offsets: &Offsets, width: u64, mask: Mask, is_load: bool) {
        let traffic = &mut self.tallies.traffic[number as usize];
        match info.space {
            Space::Global => {
                let (sectors, bytes) = sectors(offsets, mask, width);
                traffic.sectors += sectors;
                traffic.bytes += bytes;
            }
            Space::Shared => {
                let found = banks::passes(&at(offsets, info.base), mask, width, is_load);
                traffic.passes += u64::from(found.passes);
                traffic.replays += u64::from(found.conflicts());
            }
            _ => {}
        }
        traffic.requests += 1;
        traffic.lanes += u64::from(mask.count_ones());
    }

    // --- whether it may ---

    fn check(&mut self, warp: &Warp, number: u32, offsets: &Offsets, scalars: u64, mask: Mask) -> Result<(), LaneFault> {
        let access = &self.launch.program.accesses[number as usize];
        let info = &self.launch.program.objects[access.object];
        let size = access.ty.bytes();
        let is_shared = info.space == Space::Shared;
        if self.launch.program.orders && info.space != Space::Local {
            return self.check_order(warp, number, offsets, scalars, mask);
        }
        if info.space == Space::Local {
            return if access.kind == AccessKind::Write { Ok(()) } else { self.check_local(warp, access, info, offsets, scalars, mask) };
        }
        let has_races = is_shared || info.space == Space::Global && info.is_written;
        if !has_races {
            return Ok(());
        }
        let mut now = self.now(warp, 0, number + 1);
        let shadow = &mut self.shadows[access.object];
        for lane in lanes(mask) {
            now.thread = warp.first_thread + lane as u32;
            for n in 0..scalars {
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

    /// The fault of a read of shared memory that nobody wrote.
    pub(super) fn uninitialised(&self, access: &Access, offset: u64) -> FaultKind {
        let size = u64::from(access.ty.bytes());
        let object = self.launch.program.objects[access.object].name.clone();
        FaultKind::Uninitialised { object, index: offset / size, length: self.launch.sizes[access.object] / size, shared: true }
    }

    fn check_local(
        &self,
        warp: &Warp,
        access: &Access,
        info: &ObjectInfo,
        offsets: &Offsets,
        scalars: u64,
        mask: Mask,
    ) -> Result<(), LaneFault> {
        let size = u64::from(access.ty.bytes());
        for lane in lanes(mask) {
            let start = self.local_place(info, lane, offsets[lane]);
            let range = start..start + (size * scalars) as usize;
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

    fn read(&self, warp: &Warp, object: usize, info: &ObjectInfo, offsets: &Offsets, size: u32, mask: Mask) -> [u64; LANES] {
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
    #[expect(clippy::too_many_arguments, reason = "the parts of one access")]
    fn note_change(
        &mut self,
        warp: &Warp,
        object: usize,
        info: &ObjectInfo,
        offsets: &Offsets,
        size: u32,
        mask: Mask,
        bits: &[u64; LANES],
    ) {
        let old = self.read(warp, object, info, offsets, size, mask);
        let ones = u64::MAX >> (64 - 8 * size);
        self.version += u64::from(lanes(mask).any(|lane| old[lane] != bits[lane] & ones));
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one access")]
    fn write(&mut self, warp: &mut Warp, object: usize, info: &ObjectInfo, offsets: &Offsets, size: u32, mask: Mask, bits: &[u64; LANES]) {
        match info.space {
            Space::Global => {
                let view = &self.launch.views[object];
                lanes(mask).for_each(|lane| view.write(offsets[lane], size, bits[lane]));
            }
            Space::Shared => {
                lanes(mask).for_each(|lane| store(&mut self.block.shared, (info.base + offsets[lane]) as usize, size, bits[lane]));
            }
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
    fn atomic(&mut self, warp: &mut Warp, number: u32, access: &Access, info: &ObjectInfo, offsets: &Offsets, mask: Mask) {
        let (Some(op), size) = (access.atomic, access.ty.bytes()) else {
            return;
        };
        let mut old = [0; LANES];
        for lane in lanes(mask) {
            let operand = |n: usize| access.values.get(n).map_or(0, |reg| warp.registers.lane(*reg, lane));
            let (first, second) = (operand(0), operand(1));
            let new = |old: u64| atomic_result(op, access.ty, old, first, second);
            let one = 1 << lane;
            old[lane] = if info.space == Space::Global {
                self.launch.views[access.object].update(offsets[lane], size, new)
            } else {
                let old = self.read(warp, access.object, info, offsets, size, one)[lane];
                self.write(warp, access.object, info, offsets, size, one, &[new(old); LANES]);
                old
            };
            self.version += u64::from(self.launch.program.waits && new(old[lane]) != old[lane]);
            if self.launch.program.orders {
                let writes = op != AtomicOp::CompareExchange || old[lane] == first;
                self.pass_on(warp, lane, number, offsets[lane], writes);
            }
        }
        if let Some(result) = access.result {
            warp.registers.set_all(result, &old);
        }
    }
}

/// What an atomic leaves, as bits of its type.
fn atomic_result(op: AtomicOp, ty: Type, old: u64, first: u64, second: u64) -> u64 {
    let binary = match op {
        AtomicOp::Add => BinaryOp::Add,
        AtomicOp::Sub => BinaryOp::Sub,
        AtomicOp::Min => BinaryOp::Min,
        AtomicOp::Max => BinaryOp::Max,
        AtomicOp::And => BinaryOp::And,
        AtomicOp::Or => BinaryOp::Or,
        AtomicOp::Xor => BinaryOp::Xor,
        AtomicOp::Exchange => return first,
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
fn store(bytes: &mut [u8], place: usize, size: u32, bits: u64) {
    if let Some(scalar) = place.checked_add(size as usize).and_then(|end| bytes.get_mut(place..end)) {
        let word = bits.to_le_bytes();
        match scalar.len() {
            4 => scalar.copy_from_slice(&word[..4]),
            8 => scalar.copy_from_slice(&word),
            n => scalar.copy_from_slice(&word[..n]),
        }
    }
}
