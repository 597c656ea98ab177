//! Copies that go on by themselves, and the barriers in shared memory that count them.

use super::access::SPACES;
use super::words::Words;
use super::{Decoded, Decoder, refuse};
use crate::program::{Access, AccessSpace, Address, CopyOp, MbarrierOp, Op, Src};
use crate::syntax::RawOperand;
use crate::ty::Ty;

/// Words of the space of an `mbarrier`.
const BARRIER_SPACES: &[(&str, AccessSpace)] =
    &[("shared", AccessSpace::Shared), ("shared::cta", AccessSpace::Shared), ("shared::cluster", AccessSpace::SharedCluster)];

const BARRIER_BYTES: u32 = 8;

impl<'t> Decoder<'t> {
    /// Copies and their barriers, if it is such.
    pub(super) fn copies(&mut self, name: &'t str, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Option<Op>> {
        match name {
            "cp" => {
                words.needs("`.async`", &[("async", ())])?;
                let copy = if words.takes("bulk") { self.bulk(words, operands)? } else { self.small(words, operands)? };
                Ok(Some(Op::Copy(copy)))
            }
            "mbarrier" => self.mbarrier(words, operands).map(|op| Some(Op::Mbarrier(op))),
            _ => Ok(None),
        }
    }

    fn place_of(&mut self, operand: &RawOperand<'t>, space: AccessSpace) -> Decoded<Address> {
        self.place(operand, space, 1).map(|access| access.at)
    }

    /// `cp.async` of up to 16 bytes, and its groups.
    fn small(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<CopyOp> {
        if words.takes("commit_group") {
            words.end()?;
            return Ok(CopyOp::Commit);
        }
        if words.takes("wait_all") {
            words.end()?;
            return Ok(CopyOp::Wait(None));
        }
        if words.takes("wait_group") {
            words.end()?;
            let [RawOperand::Number(groups)] = operands else { return refuse("`wait_group` has one number") };
            return Ok(CopyOp::Wait(Some(*groups as u32)));
        }
        if words.takes("mbarrier") {
            words.needs("`.arrive`", &[("arrive", ())])?;
            let adds = !words.takes("noinc");
            words.one_of(BARRIER_SPACES);
            words.needs("`.b64`", &[("b64", ())])?;
            words.end()?;
            let [at] = Self::exactly(operands)?;
            return Ok(CopyOp::MbarrierArrive(self.place(at, AccessSpace::Shared, BARRIER_BYTES)?, adds));
        }
        let is_whole = words.needs("`.ca` or `.cg`", &[("ca", false), ("cg", true)])?;
        words.needs("`.shared`", &[("shared", ()), ("shared::cta", ())])?;
        words.needs("`.global`", &[("global", ())])?;
        let has_policy = words.takes("L2::cache_hint");
        words.any_of(&["L2::64B", "L2::128B", "L2::256B"]);
        words.end()?;
        let operands = if has_policy { operands.split_last().map_or(operands, |(_, rest)| rest) } else { operands };
        let (to, from, bytes, read) = match operands {
            [to, from, RawOperand::Number(bytes)] => (to, from, *bytes, None),
            [to, from, RawOperand::Number(bytes), read] => (to, from, *bytes, Some(read)),
            _ => return refuse("`cp.async` has two places and how many bytes"),
        };
        if !(matches!(bytes, 4 | 8) && !is_whole || bytes == 16) {
            return refuse(format!("`cp.async` does not copy {bytes} bytes"));
        }
        let (to, from) = (self.place_of(to, AccessSpace::Shared)?, self.place_of(from, AccessSpace::Global)?);
        let read = match read {
            Some(read) => Some(self.source(read, Ty::U32)?),
            None => None,
        };
        Ok(CopyOp::Async { to, from, bytes: bytes as u32, read })
    }

    fn bulk(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<CopyOp> {
        if words.takes("commit_group") {
            words.end()?;
            return Ok(CopyOp::BulkCommit);
        }
        if words.takes("wait_group") {
            words.takes("read");
            words.end()?;
            let [RawOperand::Number(groups)] = operands else { return refuse("`wait_group` has one number") };
            return Ok(CopyOp::BulkWait(*groups as u32));
        }
        let dimensions = if words.takes("tensor") {
            Some(words.needs("how many dimensions", &[("1d", 1), ("2d", 2), ("3d", 3), ("4d", 4), ("5d", 5)])?)
        } else {
            None
        };
        let to = words.needs("where to", SPACES)?;
        let from = words.needs("where from", SPACES)?;
        words.takes("tile");
        let is_load = match (to, from) {
            (AccessSpace::SharedCluster | AccessSpace::Shared, AccessSpace::Global) => {
                words.needs("how it completes", &[("mbarrier::complete_tx::bytes", ())])?;
                true
            }
            (AccessSpace::Global, AccessSpace::Shared) => {
                words.needs("how it completes", &[("bulk_group", ())])?;
                false
            }
            _ => return words.unknown(),
        };
        let has_blocks = is_load && words.takes("multicast::cluster");
        let has_policy = words.takes("L2::cache_hint");
        words.end()?;
        let operands = if has_policy { operands.split_last().map_or(operands, |(_, rest)| rest) } else { operands };
        let (operands, blocks) = match (has_blocks, operands) {
            (true, [rest @ .., blocks]) => (rest, Some(self.source(blocks, Ty::U16)?)),
            _ => (operands, None),
        };
        match (dimensions, is_load, operands) {
            (None, true, [to, from, bytes, barrier]) => Ok(CopyOp::BulkLoad {
                to: self.place_of(to, AccessSpace::SharedCluster)?,
                from: self.place_of(from, AccessSpace::Global)?,
                bytes: self.source(bytes, Ty::U32)?,
                barrier: self.place_of(barrier, AccessSpace::SharedCluster)?,
                blocks,
            }),
            (None, false, [to, from, bytes]) => Ok(CopyOp::BulkStore {
                to: self.place_of(to, AccessSpace::Global)?,
                from: self.place_of(from, AccessSpace::Shared)?,
                bytes: self.source(bytes, Ty::U32)?,
            }),
            (Some(count), true, [to, RawOperand::Texel(map, at), barrier]) => Ok(CopyOp::TensorLoad {
                to: self.place_of(to, AccessSpace::SharedCluster)?,
                map: self.source(&RawOperand::Name(map), Ty::U64)?,
                at: self.coordinates(at, count)?,
                barrier: self.place_of(barrier, AccessSpace::SharedCluster)?,
                blocks,
            }),
            (Some(count), false, [RawOperand::Texel(map, at), from]) => Ok(CopyOp::TensorStore {
                map: self.source(&RawOperand::Name(map), Ty::U64)?,
                at: self.coordinates(at, count)?,
                from: self.place_of(from, AccessSpace::Shared)?,
            }),
            _ => words.unknown(),
        }
    }

    fn coordinates(&mut self, at: &[RawOperand<'t>], count: usize) -> Decoded<Vec<Src>> {
        if at.len() != count {
            return refuse(format!("{count} coordinates are expected, and here are {}", at.len()));
        }
        at.iter().map(|one| self.source(one, Ty::S32)).collect()
    }

    fn mbarrier(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<MbarrierOp> {
        let Some(what) = words.any_of(&["init", "inval", "arrive", "arrive_drop", "expect_tx", "try_wait", "test_wait"]) else {
            return words.unknown();
        };
        if what == "arrive_drop" {
            return words.unknown();
        }
        let expects = what == "arrive" && words.takes("expect_tx");
        let is_parity = what.ends_with("wait") && words.takes("parity");
        words.any_of(&["release", "acquire", "relaxed"]);
        words.any_of(&["cta", "cluster"]);
        let space = words.one_of(BARRIER_SPACES).unwrap_or(AccessSpace::Shared);
        words.needs("`.b64`", &[("b64", ())])?;
        words.end()?;
        match (what, operands) {
            ("init", [at, count]) => Ok(MbarrierOp::Init(self.barrier_at(at, space)?, self.source(count, Ty::U32)?)),
            ("inval", [at]) => Ok(MbarrierOp::Inval(self.barrier_at(at, space)?)),
            ("expect_tx", [at, bytes]) => Ok(MbarrierOp::ExpectTx(self.barrier_at(at, space)?, self.source(bytes, Ty::U32)?)),
            ("arrive", [state, at, rest @ ..]) if rest.len() <= 1 => {
                let state = self.optional_result(state, Ty::B64)?;
                let at = self.barrier_at(at, space)?;
                let number = match rest.first() {
                    Some(number) => Some(self.source(number, Ty::U32)?),
                    None => None,
                };
                let (count, expects) = if expects { (None, number) } else { (number, None) };
                Ok(MbarrierOp::Arrive { at, state, count, expects })
            }
            ("try_wait" | "test_wait", [d, at, phase, rest @ ..]) if rest.len() <= 1 => {
                let d = self.result(d, Ty::Pred)?;
                let at = self.barrier_at(at, space)?;
                let phase = self.source(phase, if is_parity { Ty::U32 } else { Ty::B64 })?;
                Ok(MbarrierOp::Test { at, d, phase, is_parity, waits: what == "try_wait" })
            }
            _ => words.unknown(),
        }
    }

    fn barrier_at(&mut self, operand: &RawOperand<'t>, space: AccessSpace) -> Decoded<Access> {
        self.place(operand, space, BARRIER_BYTES)
    }
}
