//! Stores, and the loads that must stay behind them.

use super::super::mix;
use super::{Line, STORES, SerialLoad};
use warpwright_codegen::analysis::alias::PointedBytes;
use warpwright_codegen::ir::{Inst, Memory, MemoryOp, Object, Op, Space};

/// A store that later loads may have to stay behind.
pub(super) struct Stored {
    inst: Inst,
    object: Object,
    space: Space,
    bytes: PointedBytes,
    pub(super) start: f64,
    /// The global load that it waits for.
    origin: Option<Inst>,
}

impl Line<'_> {
    /// When an access may start, given the stores before it.
    pub(super) fn in_order(&self, inst: Inst, space: Space, start: f64) -> f64 {
        self.stores.iter().filter(|stored| self.may_touch(inst, space, stored)).fold(start, |start, stored| start.max(stored.start))
    }

    fn may_touch(&self, inst: Inst, space: Space, stored: &Stored) -> bool {
        let Some((object, bytes)) = self.touched(inst) else { return false };
        let is_other = space != stored.space || (space != Space::Global && object != stored.object);
        !is_other && !self.kernel.objects[object].is_read_only() && bytes.may_overlap(&stored.bytes)
    }

    /// The object and the bytes of it that an access touches.
    fn touched(&self, inst: Inst) -> Option<(Object, PointedBytes)> {
        let Op::Memory(Memory { at, .. }) = &self.kernel.insts[inst].op else { return None };
        let bytes = mix::access(self.kernel, inst).map_or(0, |(_, _, bytes)| bytes);
        Some((at.object(), PointedBytes::of(at, bytes)?))
    }

    pub(super) fn remember(&mut self, inst: Inst, space: Space, start: f64, origin: Option<Inst>) {
        let Op::Memory(Memory { op: MemoryOp::Store(_) | MemoryOp::StoreMatrix(_) | MemoryOp::Atomic(..), .. }) =
            &self.kernel.insts[inst].op
        else {
            return;
        };
        let Some((object, bytes)) = self.touched(inst) else { return };
        if self.stores.len() == STORES {
            self.stores.remove(0);
        }
        self.stores.push(Stored { inst, object, space, bytes, start, origin });
    }

    pub(super) fn note_serial(&mut self, load: Inst, start: f64) {
        let kernel = self.kernel;
        let held = self.stores.iter().filter(|stored| stored.start == start && self.may_touch(load, Space::Global, stored));
        let Some((store, Some(first))) = held.map(|stored| (stored.inst, stored.origin)).next() else { return };
        let found = SerialLoad { load, store, first, first_loc: kernel.insts[first].loc };
        if first != load && self.serial.len() < STORES && !self.serial.contains(&found) {
            self.serial.push(found);
        }
    }
}
