//! Warp intrinsics: shuffles, votes, reductions over the 32 lanes of a warp.
//!
//! The rule: every thread of the warp that exists must come to the intrinsic, in the same place. (A block whose size is no multiple of
//! 32 has a last warp with fewer threads; its missing lanes take no part.) What a shuffle gives from a lane that takes no part is undefined.
//! Distances and lanes are taken modulo 32.
//!
//! PTX: the member mask is the full warp, which names the threads that have not exited (PTX ISA, `shfl.sync`, `vote.sync`).

use super::call_function;
use crate::ir::intrinsic::OperandType::{Is, T};
use crate::ir::intrinsic::{Absent, Body, Call, Class, DeviceForm, Eval, Exchange, Gives, Intrinsic, Meeting, OperandType, PtxForm};
use crate::ir::{Axis, BinaryOp, Builder, CompareOp, Effects, Scalar, Scope, Special, Type, Value};
use crate::target::Requirement;

const WORDS: Class = Class::Only(&[Type::I32, Type::U32, Type::F32]);
const PIECES: Class = Class::Only(&[
    Type::Bool,
    Type::I8,
    Type::U8,
    Type::I16,
    Type::U16,
    Type::E4M3,
    Type::E5M2,
    Type::F16,
    Type::BF16,
    Type::I64,
    Type::U64,
    Type::F64,
]);
/// What votes and exchanges are imported from: their names are those of others, too.
const WARP: &str = "warpwright::warp";

const BOOL: OperandType = Is(Type::Bool);
const MASK: OperandType = Is(Type::U32);
/// Lanes, and distances between them: as `lane_id()`.
const LANE: OperandType = OperandType::Lane;

/// The PTX of a row in PTX 6.0, where the `.sync` forms begin; every target from sm_30 has it.
macro_rules! sync {
    ($text:literal) => {
        &[PtxForm { types: &[], text: $text, needs: Requirement::since(30, 60) }]
    };
}

const fn warp(
    name: &'static str,
    over: Class,
    args: &'static [OperandType],
    results: &'static [OperandType],
    (device, meeting): (DeviceForm, Meeting),
) -> Intrinsic {
    Intrinsic::new(name, Call::Function, over, args, results, Body::Device(device)).effects(Effects::EXCHANGE).meeting(meeting).cost(4)
}

/// `opencl` is for devices with sub-groups, from three functions that lanes need not all come to: `sub_group_shuffle`, `sub_group_shuffle_xor`
/// (`cl_khr_subgroup_shuffle`) and `sub_group_ballot` (`cl_khr_subgroup_ballot`). `sub_group_any` and the like count on every lane, and
/// lanes may have returned. Lanes and distances are below 32 when they get here.
const fn device(ptx: &'static [PtxForm], opencl: &'static str, eval: Eval) -> DeviceForm {
    DeviceForm { ptx, opencl, opencl_prelude: "", eval }
}

const fn with_prelude(device: DeviceForm, opencl_prelude: &'static str) -> DeviceForm {
    DeviceForm { opencl_prelude, ..device }
}

/// A shuffle of another width than 32 bits, in pieces of 32.
const fn pieces(name: &'static str, expand: fn(&mut Builder<'_>, &[Value]) -> Vec<Value>) -> Intrinsic {
    Intrinsic::new(name, Call::Function, PIECES, &[T, LANE], &[T], Body::Expand(expand)).effects(Effects::EXCHANGE)
}

const fn made(name: &'static str, over: Class, expand: fn(&mut Builder<'_>, &[Value]) -> Vec<Value>) -> Intrinsic {
    Intrinsic::new(name, Call::Function, over, &[T], &[T], Body::Expand(expand)).effects(Effects::EXCHANGE)
}

pub(super) const ROWS: &[Intrinsic] = &[
    warp("shuffle", WORDS, &[T, LANE], &[T], SHUFFLE).of_module(WARP).doc("the value of the given lane"),
    warp("shuffle_up", WORDS, &[T, LANE], &[T], SHUFFLE_UP)
        .of_module(WARP)
        .doc("the value of the lane this much below; its own value if there is none"),
    warp("shuffle_down", WORDS, &[T, LANE], &[T], SHUFFLE_DOWN)
        .of_module(WARP)
        .doc("the value of the lane this much above; its own value if there is none"),
    warp("shuffle_xor", WORDS, &[T, LANE], &[T], SHUFFLE_XOR)
        .of_module(WARP)
        .doc("the value of the lane whose number differs in these bits"),
    pieces("shuffle", |b, a| shuffle_pieces(b, "shuffle", a)).of_module(WARP).doc("the value of the given lane"),
    pieces("shuffle_up", |b, a| shuffle_pieces(b, "shuffle_up", a))
        .of_module(WARP)
        .doc("the value of the lane this much below; its own value if there is none"),
    pieces("shuffle_down", |b, a| shuffle_pieces(b, "shuffle_down", a))
        .of_module(WARP)
        .doc("the value of the lane this much above; its own value if there is none"),
    pieces("shuffle_xor", |b, a| shuffle_pieces(b, "shuffle_xor", a))
        .of_module(WARP)
        .doc("the value of the lane whose number differs in these bits"),
    warp("ballot", Class::None, &[BOOL], &[MASK], BALLOT).of_module(WARP).doc("bit n is what lane n passes"),
    warp("any", Class::None, &[BOOL], &[BOOL], ANY).of_module(WARP).doc("whether a lane passes true"),
    warp("all", Class::None, &[BOOL], &[BOOL], ALL).of_module(WARP).doc("whether every lane passes true"),
    warp("match_any", Class::Only(&[Type::I32, Type::U32, Type::F32]), &[T], &[MASK], MATCH_32)
        .cost(8)
        .of_module(WARP)
        .doc("the lanes that pass the same bits"),
    warp("match_any", Class::Only(&[Type::I64, Type::U64, Type::F64]), &[T], &[MASK], MATCH_64)
        .cost(16)
        .of_module(WARP)
        .doc("the lanes that pass the same bits"),
    Intrinsic::new("match_any", Call::Function, SHORT, &[T], &[MASK], Body::Expand(expand_short_match))
        .effects(Effects::EXCHANGE)
        .of_module(WARP)
        .doc("the lanes that pass the same bits"),
    warp("sync_warp", Class::None, &[], &[], SYNC_WARP)
        .effects(Effects::barrier(Scope::Warp))
        .cost(2)
        .doc("waits for the warp's threads, and orders their memory accesses"),
    made("warp_sum", Class::Num, |b, a| vec![reduce(b, BinaryOp::Add, a[0])])
        .accuracy("floats: in the order of a butterfly: lanes 16 apart first, then 8, 4, 2, 1")
        .doc("the sum over the warp, in every lane"),
    made("warp_min", Class::Num, |b, a| vec![reduce(b, BinaryOp::Min, a[0])]).doc("the least of the warp, in every lane"),
    made("warp_max", Class::Num, |b, a| vec![reduce(b, BinaryOp::Max, a[0])]).doc("the greatest of the warp, in every lane"),
];

const SHORT: Class = Class::Only(&[Type::Bool, Type::I8, Type::U8, Type::I16, Type::U16, Type::E4M3, Type::E5M2, Type::F16, Type::BF16]);

/// Of lanes that pass the same bits.
const MATCHING: Meeting = Meeting {
    absent: Absent::CutOut,
    gives: Gives::Own,
    exchange: Exchange::Words {
        between: "    uint same = 0u;\n    for (uint i = 0u; i < 32u && first + i < threads; i++) {\n        same |= (exchange[first + i] == word ? 1u : 0u) << i;\n    }\n",
        result: "same",
    },
};

const SHUFFLE: (DeviceForm, Meeting) = (
    device(sync!("shfl.sync.idx.b32 {d}, {0}, {1}, 31, 0xffffffff;"), "sub_group_shuffle({0}, {1})", Eval::Shuffle(|_, source| source)),
    Meeting::shuffle(Gives::OfLane, "    const uint source = first + (second & 31u);\n", "source < threads ? exchange[source] : word"),
);

const SHUFFLE_UP: (DeviceForm, Meeting) = (
    with_prelude(
        device(
            sync!("shfl.sync.up.b32 {d}, {0}, {1}, 0, 0xffffffff;"),
            "sub_group_shuffle({0}, ww_lane_below({1}))",
            Eval::Shuffle(|lane, distance| lane.checked_sub(distance).unwrap_or(lane)),
        ),
        "uint ww_lane_below(uint distance) {
    const uint lane = get_sub_group_local_id();
    return lane >= distance ? lane - distance : lane;
}",
    ),
    Meeting::shuffle(
        Gives::Own,
        "    const uint distance = second & 31u;\n    const uint source = lane >= distance ? thread - distance : thread;\n",
        "exchange[source]",
    ),
);

const SHUFFLE_DOWN: (DeviceForm, Meeting) = (
    with_prelude(
        device(
            sync!("shfl.sync.down.b32 {d}, {0}, {1}, 31, 0xffffffff;"),
            "sub_group_shuffle({0}, ww_lane_above({1}))",
            Eval::Shuffle(|lane, distance| if lane + distance < 32 { lane + distance } else { lane }),
        ),
        "uint ww_lane_above(uint distance) {
    const uint lane = get_sub_group_local_id();
    return lane + distance < get_sub_group_size() ? lane + distance : lane;
}",
    ),
    Meeting::shuffle(
        Gives::OfLaneAbove,
        "    const uint distance = second & 31u;\n    const uint source = lane + distance < 32u ? thread + distance : thread;\n",
        "source < threads ? exchange[source] : word",
    ),
);

const SHUFFLE_XOR: (DeviceForm, Meeting) = (
    device(
        sync!("shfl.sync.bfly.b32 {d}, {0}, {1}, 31, 0xffffffff;"),
        "sub_group_shuffle_xor({0}, {1})",
        Eval::Shuffle(|lane, bits| lane ^ bits),
    ),
    Meeting::shuffle(
        Gives::OfLaneXor,
        "    const uint source = first + (lane ^ (second & 31u));\n",
        "source < threads ? exchange[source] : word",
    ),
);

const BALLOT: (DeviceForm, Meeting) = (
    device(
        sync!("vote.sync.ballot.b32 {d}, {0}, 0xffffffff;"),
        "sub_group_ballot({0}).x",
        Eval::Warp(|_, a, mask| [u64::from(votes(&a[0], mask)); 32]),
    ),
    Meeting::vote(
        Absent::No,
        Exchange::Words {
            between: "    uint votes = 0u;\n    for (uint i = 0u; i < 32u && first + i < threads; i++) {\n        votes |= exchange[first + i] << i;\n    }\n",
            result: "votes",
        },
    ),
);

const ANY: (DeviceForm, Meeting) = (
    device(
        sync!("vote.sync.any.pred {d}, {0}, 0xffffffff;"),
        "(sub_group_ballot({0}).x != 0u)",
        Eval::Warp(|_, a, mask| [u64::from(votes(&a[0], mask) != 0); 32]),
    ),
    Meeting::vote(Absent::No, Exchange::Vote { of_all: false }),
);

const ALL: (DeviceForm, Meeting) = (
    device(
        sync!("vote.sync.all.pred {d}, {0}, 0xffffffff;"),
        "(sub_group_ballot(!{0}).x == 0u)",
        Eval::Warp(|_, a, mask| [u64::from(votes(&a[0], mask) == mask); 32]),
    ),
    Meeting::vote(Absent::Yes, Exchange::Vote { of_all: true }),
);

const SYNC_WARP: (DeviceForm, Meeting) = (
    device(
        sync!("bar.warp.sync 0xffffffff;"),
        "sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
        Eval::Warp(|_, _, _| [0; 32]),
    ),
    Meeting::wait(Exchange::Barrier),
);

/// Before sm_70: one ballot for each bit, and of each the lanes that have the own bit.
macro_rules! match_by_ballots {
    ($bits:literal, $last:literal) => {
        concat!(
            "{{\n.reg .pred mine, more;\n.reg .b32 number, votes, others, found;\n.reg .b",
            $bits,
            " bit;\nmov.u32 number, ",
            $last,
            ";\nmov.u32 found, 0xffffffff;\nvote.sync.ballot.b32 found, 1, 0xffffffff;\nnext:\nshr.b",
            $bits,
            " bit, {0}, number;\nand.b",
            $bits,
            " bit, bit, 1;\nsetp.ne.b",
            $bits,
            " mine, bit, 0;\nvote.sync.ballot.b32 votes, mine, 0xffffffff;\nnot.b32 others, votes;\n",
            "selp.b32 votes, votes, others, mine;\nand.b32 found, found, votes;\nsub.u32 number, number, 1;\n",
            "setp.ge.s32 more, number, 0;\n@more bra next;\nmov.b32 {d}, found;\n}}"
        )
    };
}

/// One ballot for each bit, and of each the lanes that have the own bit.
const MATCH_PRELUDE: &str = "uint ww_match_any(ulong word, uint bits) {
    uint same = sub_group_ballot(1).x;
    for (uint i = 0u; i < bits; i++) {
        const int bit = (int)(word >> i) & 1;
        const uint votes = sub_group_ballot(bit).x;
        same &= bit != 0 ? votes : ~votes;
    }
    return same;
}";

const MATCH_32: (DeviceForm, Meeting) = (
    with_prelude(
        device(
            &[
                PtxForm { types: &[], text: "match.any.sync.b32 {d}, {0}, 0xffffffff;", needs: Requirement::since(70, 60) },
                PtxForm { types: &[], text: match_by_ballots!("32", "31"), needs: Requirement::since(30, 60) },
            ],
            "ww_match_any(as_uint({0}), 32u)",
            Eval::Warp(|_, a, mask| matches(&a[0], mask)),
        ),
        MATCH_PRELUDE,
    ),
    MATCHING,
);

const MATCH_64: (DeviceForm, Meeting) = (
    with_prelude(
        device(
            &[
                PtxForm { types: &[], text: "match.any.sync.b64 {d}, {0}, 0xffffffff;", needs: Requirement::since(70, 60) },
                PtxForm { types: &[], text: match_by_ballots!("64", "63"), needs: Requirement::since(30, 60) },
            ],
            "ww_match_any(as_ulong({0}), 64u)",
            Eval::Warp(|_, a, mask| matches(&a[0], mask)),
        ),
        MATCH_PRELUDE,
    ),
    MATCHING,
);

/// The active lanes that pass true.
fn votes(predicate: &[u64; 32], mask: u32) -> u32 {
    (0..32).filter(|lane| predicate[*lane as usize] != 0).fold(0, |votes, lane| votes | 1 << lane) & mask
}

/// For each lane, the active lanes with its bits.
fn matches(value: &[u64; 32], mask: u32) -> [u64; 32] {
    std::array::from_fn(|lane| {
        let same = (0..32).filter(|other| value[*other as usize] == value[lane]).fold(0u32, |found, other| found | 1 << other);
        u64::from(same & mask)
    })
}

/// The bits of a value of up to 32 bits, zero-extended to `u32`.
pub(super) fn to_word(b: &mut Builder<'_>, a: Value) -> Value {
    let unsigned = b.kernel.ty(a).to_unsigned();
    let bits = b.bitcast(a, unsigned);
    b.cast(bits, Type::U32)
}

/// Narrow values widened, wide ones as two halves.
fn shuffle_pieces(b: &mut Builder<'_>, name: &str, a: &[Value]) -> Vec<Value> {
    let ty = b.kernel.ty(a[0]);
    if ty.bits() < 64 {
        let word = to_word(b, a[0]);
        let word = call_function(b, name, &[word, a[1]]);
        if ty == Type::Bool {
            let zero = b.int(Type::U32, 0);
            return vec![b.compare(CompareOp::Ne, word, zero)];
        }
        let bits = b.cast(word, ty.to_unsigned());
        return vec![b.bitcast(bits, ty)];
    }
    let bits = b.bitcast(a[0], Type::U64);
    let count = b.int(Type::U32, 32);
    let high = b.binary(BinaryOp::Shr, bits, count);
    let (low, high) = (b.cast(bits, Type::U32), b.cast(high, Type::U32));
    let (low, high) = (call_function(b, name, &[low, a[1]]), call_function(b, name, &[high, a[1]]));
    let (low, high) = (b.cast(low, Type::U64), b.cast(high, Type::U64));
    let high = b.binary(BinaryOp::Shl, high, count);
    let joined = b.binary(BinaryOp::Or, low, high);
    vec![b.bitcast(joined, ty)]
}

fn expand_short_match(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let word = to_word(b, a[0]);
    vec![call_function(b, "match_any", &[word])]
}

/// A butterfly: each lane joins its result with that of the lane across, 16 apart, then 8, 4, 2, 1. Before the step of distance d a lane has
/// the result of all lanes whose number is its own modulo 2 d.
///
/// Whole warps: with the lane across. A warp with missing lanes (they are the highest): with the lowest lane that has the same result as the
/// lane across, (lane ^ d) mod 2 d, which exists if any of them does. So the order is the same, and missing lanes count as if not there. A
/// lane for which none of them exists asks itself, since what a missing lane gives is undefined.
pub(super) fn reduce(b: &mut Builder<'_>, op: BinaryOp, value: Value) -> Value {
    let is_whole = b.kernel.options.block.is_some_and(|[x, y, z]| (x * y * z).is_multiple_of(32));
    if is_whole {
        return [16, 8, 4, 2, 1].iter().fold(value, |value, distance| {
            let distance = b.int(Type::U32, *distance);
            let other = call_function(b, "shuffle_xor", &[value, distance]);
            b.binary(op, value, other)
        });
    }
    let lane = b.special(Special::LaneId, Axis::X);
    let warp = b.special(Special::WarpId, Axis::X);
    let (threads, width) = (super::block::threads(b), b.int(Type::U32, 32));
    let before = b.binary(BinaryOp::Mul, warp, width);
    let lanes = b.binary(BinaryOp::Sub, threads, before);
    [16u32, 8, 4, 2, 1].iter().fold(value, |value, distance| {
        let (across, low) = (b.int(Type::U32, i128::from(*distance)), b.constant(Scalar::u32(2 * distance - 1)));
        let other = b.binary(BinaryOp::Xor, lane, across);
        let first = b.binary(BinaryOp::And, other, low);
        let exists = b.compare(CompareOp::Lt, first, lanes);
        let from = b.select(exists, first, lane);
        let other = call_function(b, "shuffle", &[value, from]);
        let joined = b.binary(op, value, other);
        b.select(exists, joined, value)
    })
}
