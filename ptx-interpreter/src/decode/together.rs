//! Instructions of several threads together: of a warp, a block, a cluster; and calls.

use super::words::Words;
use super::{Decoded, Decoder, Place, refuse};
use crate::program::{
    AccessSpace, BarrierKind, BarrierOp, CallOp, Mma, Op, Reg, ShuffleMode, Src, VoteMode, WarpKind, WarpOp, Wgmma, WgmmaFactor,
};
use crate::syntax::RawOperand;
use crate::ty::{Ty, low};

const ALL_LANES: u64 = 0xffff_ffff;

/// What a fence orders: here all accesses are in one order.
const FENCE_WORDS: &[&str] = &[
    "sc",
    "acq_rel",
    "acquire",
    "release",
    "relaxed",
    "cta",
    "cluster",
    "gpu",
    "gl",
    "sys",
    "mbarrier_init",
    "proxy",
    "async",
    "alias",
    "global",
    "shared::cta",
    "shared::cluster",
    "async::global",
    "async::shared::cta",
];

const SHUFFLES: &[(&str, ShuffleMode)] =
    &[("up", ShuffleMode::Up), ("down", ShuffleMode::Down), ("bfly", ShuffleMode::Bfly), ("idx", ShuffleMode::Idx)];
const VOTES: &[(&str, VoteMode)] = &[("all", VoteMode::All), ("any", VoteMode::Any), ("uni", VoteMode::Uni), ("ballot", VoteMode::Ballot)];

impl<'t> Decoder<'t> {
    /// What threads do together, if it is such.
    pub(super) fn together(&mut self, name: &'t str, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Option<Op>> {
        match name {
            "fence" | "membar" => {
                while words.any_of(FENCE_WORDS).is_some() {}
                words.end()?;
                Ok(Some(Op::Nothing))
            }
            "bar" | "barrier" => self.barrier(name == "bar", words, operands).map(Some),
            "shfl" | "vote" | "match" | "redux" | "ldmatrix" | "stmatrix" | "mma" | "wgmma" | "activemask" => {
                let all = self.constant(ALL_LANES);
                let (kind, mask) = match name {
                    "shfl" => self.shuffle(words, operands)?,
                    "vote" => self.vote(words, operands)?,
                    "match" => self.matching(words, operands)?,
                    "redux" => self.redux(words, operands)?,
                    "ldmatrix" => (self.load_matrix(words, operands)?, all),
                    "stmatrix" => (self.store_matrix(words, operands)?, all),
                    "mma" => (self.mma(words, operands)?, all),
                    "wgmma" => (self.wgmma(words, operands)?, all),
                    _ => {
                        let [d] = Self::exactly(operands)?;
                        (WarpKind::Activemask(self.result(d, Ty::B32)?), all)
                    }
                };
                Ok(Some(Op::Warp(WarpOp { mask, kind })))
            }
            "call" => self.call(words, operands).map(Some),
            _ => Ok(None),
        }
    }

    fn barrier(&mut self, is_short: bool, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Op> {
        if words.takes("warp") {
            words.needs("`.sync`", &[("sync", ())])?;
            words.end()?;
            let [mask] = Self::exactly(operands)?;
            return Ok(Op::Warp(WarpOp { mask: self.source(mask, Ty::B32)?, kind: WarpKind::Sync }));
        }
        if words.takes("cluster") {
            let arrives = words.needs("`.arrive` or `.wait`", &[("arrive", true), ("wait", false)])?;
            words.any_of(if arrives { &["release", "relaxed"] } else { &["acquire"] });
            words.takes("aligned");
            words.end()?;
            return Ok(if arrives { Op::ClusterArrive } else { Op::ClusterWait });
        }
        words.takes("cta");
        let what = words.needs("`.sync`, `.red` or `.arrive`", &[("sync", 0), ("red", 1), ("arrive", 2)])?;
        let reduction = if what == 1 { words.any_of(&["popc", "and", "or"]) } else { None };
        let is_aligned = words.takes("aligned") || is_short;
        let ty = if what == 1 { Some(words.ty()?) } else { None };
        words.end()?;
        let (kind, rest) = match (what, reduction, ty, operands) {
            (0, ..) => (BarrierKind::Sync, operands),
            (2, ..) => (BarrierKind::Arrive, operands),
            (_, Some(reduction), Some(ty), [d, rest @ .., p]) => {
                let (p, is_negated) = self.predicate(p)?;
                let kind = match (reduction, ty) {
                    ("popc", Ty::U32) => BarrierKind::Popc(self.result(d, ty)?, p, is_negated),
                    ("and", Ty::Pred) => BarrierKind::And(self.result(d, ty)?, p, is_negated),
                    ("or", Ty::Pred) => BarrierKind::Or(self.result(d, ty)?, p, is_negated),
                    _ => return words.unknown(),
                };
                (kind, rest)
            }
            _ => return words.unknown(),
        };
        let (number, threads) = match rest {
            [number] => (number, None),
            [number, threads] => (number, Some(threads)),
            _ => return refuse("a barrier has a number, and at most how many threads come"),
        };
        if what == 2 && threads.is_none() {
            return refuse("who only arrives says how many threads come");
        }
        let number = self.source(number, Ty::U32)?;
        let threads = match threads {
            Some(threads) => Some(self.source(threads, Ty::U32)?),
            None => None,
        };
        Ok(Op::Barrier(BarrierOp { number, threads, kind, is_aligned }))
    }

    fn shuffle(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<(WarpKind, Src)> {
        words.needs("`.sync`", &[("sync", ())])?;
        let mode = words.needs("a mode", SHUFFLES)?;
        words.needs("`.b32`", &[("b32", ())])?;
        words.end()?;
        let [d, a, b, c, mask] = Self::exactly(operands)?;
        let (d, in_range) = match d {
            RawOperand::Pair(d, p) => (self.register(d, Ty::B32)?, Some(self.register(p, Ty::Pred)?)),
            d => (self.result(d, Ty::B32)?, None),
        };
        let [a, b, c, mask] = [self.source(a, Ty::B32)?, self.source(b, Ty::B32)?, self.source(c, Ty::B32)?, self.source(mask, Ty::B32)?];
        Ok((WarpKind::Shuffle { mode, d, in_range, a, b, c }, mask))
    }

    fn vote(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<(WarpKind, Src)> {
        words.needs("`.sync`", &[("sync", ())])?;
        let mode = words.needs("a mode", VOTES)?;
        let ty = words.ty()?;
        words.end()?;
        if ty != (if mode == VoteMode::Ballot { Ty::B32 } else { Ty::Pred }) {
            return words.unknown();
        }
        let [d, a, mask] = Self::exactly(operands)?;
        let d = self.result(d, ty)?;
        let (a, is_negated) = self.predicate(a)?;
        Ok((WarpKind::Vote { mode, d, a, is_negated }, self.source(mask, Ty::B32)?))
    }

    fn matching(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<(WarpKind, Src)> {
        let is_all = words.needs("`.any` or `.all`", &[("any", false), ("all", true)])?;
        words.needs("`.sync`", &[("sync", ())])?;
        let ty = words.ty()?;
        words.end()?;
        if !matches!(ty, Ty::B32 | Ty::B64) {
            return words.unknown();
        }
        let [d, a, mask] = Self::exactly(operands)?;
        let (d, all) = match (d, is_all) {
            (RawOperand::Pair(d, p), true) => (self.register(d, Ty::B32)?, Some(Some(self.register(p, Ty::Pred)?))),
            (d, true) => (self.result(d, Ty::B32)?, Some(None)),
            (d, false) => (self.result(d, Ty::B32)?, None),
        };
        Ok((WarpKind::Match { d, a: self.source(a, ty)?, all, bits: ty.bits() }, self.source(mask, Ty::B32)?))
    }

    fn redux(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<(WarpKind, Src)> {
        words.needs("`.sync`", &[("sync", ())])?;
        let Some(name) = words.any_of(&["add", "min", "max", "and", "or", "xor"]) else { return words.unknown() };
        let ty = words.ty()?;
        words.end()?;
        let is_of_bits = matches!(name, "and" | "or" | "xor");
        let Some(f) = crate::evaluate::integer::binary(name, ty) else { return words.unknown() };
        if ty.bits() != 32 || is_of_bits != ty.is_untyped() {
            return words.unknown();
        }
        let [d, a, mask] = Self::exactly(operands)?;
        Ok((WarpKind::Redux { f, d: self.result(d, ty)?, a: self.source(a, ty)? }, self.source(mask, Ty::B32)?))
    }

    fn all_sources(&mut self, operand: &RawOperand<'t>, ty: Ty) -> Decoded<Vec<Src>> {
        match operand {
            RawOperand::Vector(elements) => elements.iter().map(|one| self.source(one, ty)).collect(),
            one => Ok(vec![self.source(one, ty)?]),
        }
    }

    fn all_results(&self, operand: &RawOperand<'t>, ty: Ty) -> Decoded<Vec<Reg>> {
        match operand {
            RawOperand::Vector(elements) => elements.iter().map(|one| self.result(one, ty)).collect(),
            one => Ok(vec![self.result(one, ty)?]),
        }
    }

    /// What matrices of 8 by 8 there are: how many, and whether transposed.
    fn matrices(words: &mut Words<'t>) -> Decoded<(usize, bool)> {
        words.needs("`.sync`", &[("sync", ())])?;
        words.needs("`.aligned`", &[("aligned", ())])?;
        words.needs("`.m8n8`", &[("m8n8", ())])?;
        let count = words.needs("how many matrices", &[("x1", 1), ("x2", 2), ("x4", 4)])?;
        let is_transposed = words.takes("trans");
        words.any_of(&["shared", "shared::cta"]);
        words.needs("`.b16`", &[("b16", ())])?;
        words.end()?;
        Ok((count, is_transposed))
    }

    fn load_matrix(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<WarpKind> {
        let (count, is_transposed) = Self::matrices(words)?;
        let [d, at] = Self::exactly(operands)?;
        let d = self.all_results(d, Ty::B32)?;
        if d.len() != count {
            return refuse(format!("{count} registers are expected"));
        }
        Ok(WarpKind::LoadMatrix { d, at: self.place(at, AccessSpace::Shared, 16)?.at, is_transposed })
    }

    fn store_matrix(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<WarpKind> {
        let (count, is_transposed) = Self::matrices(words)?;
        let [at, read] = Self::exactly(operands)?;
        let read = self.all_sources(read, Ty::B32)?;
        if read.len() != count {
            return refuse(format!("{count} registers are expected"));
        }
        Ok(WarpKind::StoreMatrix { words: read, at: self.place(at, AccessSpace::Shared, 16)?.at, is_transposed })
    }

    fn mma(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<WarpKind> {
        words.needs("`.sync`", &[("sync", ())])?;
        words.needs("`.aligned`", &[("aligned", ())])?;
        let shape = words.shape()?;
        words.needs("`.row`", &[("row", ())])?;
        words.needs("`.col`", &[("col", ())])?;
        let saturates = words.takes("satfinite");
        let (sum, a_type, b_type, c_type) = (words.ty()?, words.ty()?, words.ty()?, words.ty()?);
        words.end()?;
        let is_known = crate::machine::mma::is_known(shape, a_type, b_type, sum);
        if !is_known || c_type != sum {
            return words.unknown();
        }
        let factor = if a_type == Ty::F64 { Ty::F64 } else { Ty::B32 };
        let of_sum = if sum == Ty::F16 { Ty::B32 } else { sum };
        let [d, a, b, c] = Self::exactly(operands)?;
        let d = self.all_results(d, of_sum)?;
        let (a, b, c) = (self.all_sources(a, factor)?, self.all_sources(b, factor)?, self.all_sources(c, of_sum)?);
        let mma = Mma { shape, a_type, b_type, sum, d, a, b, c, saturates };
        let wanted = crate::machine::mma::registers(&mma);
        if [mma.a.len(), mma.b.len(), mma.c.len(), mma.d.len()] != wanted {
            return refuse(format!("{wanted:?} registers are expected for the factors, the sum and the result"));
        }
        Ok(WarpKind::Mma(Box::new(mma)))
    }

    fn wgmma(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<WarpKind> {
        let what = words.needs("what", &[("fence", 0), ("commit_group", 1), ("wait_group", 2), ("mma_async", 3)])?;
        words.needs("`.sync`", &[("sync", ())])?;
        words.needs("`.aligned`", &[("aligned", ())])?;
        match (what, operands) {
            (0, []) => return words.end().map(|()| WarpKind::WgmmaFence),
            (1, []) => return words.end().map(|()| WarpKind::WgmmaCommit),
            (2, [RawOperand::Number(groups)]) => return words.end().map(|()| WarpKind::WgmmaWait(*groups as u32)),
            (3, _) => {}
            _ => return words.unknown(),
        }
        let shape = words.shape()?;
        let (sum, a_type, b_type) = (words.ty()?, words.ty()?, words.ty()?);
        words.end()?;
        let steps = 256 / a_type.bits().max(1) as usize;
        let is_float = sum == Ty::F32 && matches!(a_type, Ty::F16 | Ty::Bf16 | Ty::Tf32 | Ty::E4m3 | Ty::E5m2);
        let is_int = sum == Ty::S32 && matches!(a_type, Ty::S8 | Ty::U8);
        if !(is_float || is_int) || shape[0] != 64 || shape[2] != steps || shape[1] % 8 != 0 || !(8..=256).contains(&shape[1]) {
            return words.unknown();
        }
        let [d, a, b, scale, flags @ ..] = operands else { return words.unknown() };
        let d = self.all_results(d, sum)?;
        if d.len() != shape[1] / 2 {
            return refuse(format!("{} registers are expected for the result", shape[1] / 2));
        }
        let a = match a {
            RawOperand::Vector(words) if words.len() == 4 => WgmmaFactor::Words(self.all_sources(a, Ty::B32)?),
            RawOperand::Vector(_) => return refuse("four registers are expected for the first factor"),
            _ => WgmmaFactor::Descriptor(self.source(a, Ty::B64)?),
        };
        let b = self.source(b, Ty::B64)?;
        let (accumulates, _) = self.predicate(scale)?;
        let flags: Vec<u64> =
            flags.iter().filter_map(|flag| if let RawOperand::Number(n) = flag { Some(low(*n, 32)) } else { None }).collect();
        let minus = |at: usize| flags.get(at).is_some_and(|flag| *flag == low(u64::MAX, 32));
        let is_short = matches!(a_type, Ty::F16 | Ty::Bf16);
        let from_words = matches!(a, WgmmaFactor::Words(_));
        let wanted = match (is_int, is_short, from_words) {
            (true, ..) => 0,
            (false, false, _) => 2,
            (false, true, true) => 3,
            (false, true, false) => 4,
        };
        if flags.len() != wanted {
            return refuse(format!("{wanted} flags are expected"));
        }
        let across = |at: usize| flags.get(at).is_some_and(|flag| *flag == 1);
        let is_transposed = match wanted {
            3 => [false, across(2)],
            4 => [across(2), across(3)],
            _ => [false, false],
        };
        let is_negated = if is_int { [false; 2] } else { [minus(0), minus(1)] };
        let wgmma = Wgmma { columns: shape[1], steps, a_type, b_type, sum, d, a, b, accumulates, is_negated, is_transposed };
        Ok(WarpKind::Wgmma(Box::new(wgmma)))
    }

    /// What a call passes stands in variables of the scope.
    fn call(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Op> {
        words.takes("uni");
        words.end()?;
        let passed = |decoder: &Self, names: &[&str]| -> Decoded<Vec<u32>> {
            names
                .iter()
                .map(|name| match decoder.find_symbol(name) {
                    Some(Place::Local(at)) => Ok(at as u32),
                    _ => refuse(format!("`{name}` is no variable that a call passes")),
                })
                .collect()
        };
        match operands {
            [RawOperand::Arguments(results), RawOperand::Name("vprintf"), RawOperand::Arguments(arguments)] => {
                let (results, arguments) = (passed(self, results)?, passed(self, arguments)?);
                match (&results[..], &arguments[..]) {
                    ([status], [format, arguments]) => {
                        Ok(Op::Call(CallOp::Print { format: *format, arguments: *arguments, status: *status }))
                    }
                    _ => refuse("`vprintf` has two arguments and one result"),
                }
            }
            [RawOperand::Name("__assertfail"), RawOperand::Arguments(arguments)] => match &passed(self, arguments)?[..] {
                [message, file, line, function, _] => {
                    Ok(Op::Call(CallOp::Assert { message: *message, file: *file, line: *line, function: *function }))
                }
                _ => refuse("`__assertfail` has five arguments"),
            },
            _ => refuse("only `vprintf` and `__assertfail` are called here"),
        }
    }
}
