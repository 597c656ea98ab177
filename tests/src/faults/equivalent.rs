//! What is told of mutants by a person: of those that leave what the kernel leaves where nothing else tells why, and of mistakes of order without a fault.

use super::mistakes::Mistake::{self, *};
use super::sameness::Same;
use super::staples::is_all;
use super::sweep::Judged;
use super::verdict::Verdict;
use super::whole;
use std::collections::BTreeMap;

/// Mutants of a kernel, and what is said of them.
pub struct Listed {
    /// The kernel.
    pub kernel: &'static str,
    /// The mistake.
    pub mistake: Mistake,
    /// At how many places.
    pub places: usize,
    /// Why.
    pub reason: &'static str,
}

pub(super) const fn row(kernel: &'static str, mistake: Mistake, places: usize, reason: &'static str) -> Listed {
    Listed { kernel, mistake, places, reason }
}

const ZEROS: &str = "one turn more copies what is beyond the end, which is zeros";
const ONE_TURN: &str = "the loop has one turn in this variant, and nothing comes behind its last barrier";
const ONE_KEY: &str = "one key is right, so one thread writes";
const OUTSIDE: &str = "one turn more stores to what is outside of the matrix, which is not written";
const CLUSTER_END: &str = "the compiler puts a `cluster_sync()` at the end of a kernel that uses `shared_of`";
const WITHIN_WARP: &str = "only lanes of one warp exchange values there";
const ROOM_ONCE: &str = "the array is used again behind another barrier of the caller's";
const BALLOT: &str = "the ballot behind it waits for the same lanes";
const CUMULATIVE: &str = "the release behind the barrier tells of what all threads of the block wrote before";
const TILE_END: &str = "what comes between it and the barrier at the tile's end touches no slot";
const CLEARED: &str = "the flag is cleared for the next launch, and nobody else looks at it in this one";
const RIM: &str = "one row or column more lies in the rim of the box, where fields and material are zeros and stay so";
const FILLED_UP: &str = "chunks are filled up with zeros, which add nothing";
const NOT_LEAST: &str = "the displacement that is left out is not the best one of any block";
const NO_KEY: &str = "a thread more tries a key that does not fit";
const NOT_REPORTED: &str = "a thread more tries keys beyond the window, which are not reported";
const BEYOND_ROW: &str = "one turn more is of vectors behind the row's end, which a condition in the loop leaves out";
const FIRST_PRODUCT: &str = "the tile of queries is read by the products in the loop, which stand behind a barrier of the loop";
const BESIDE_GRID: &str = "what lies above or below the column behind the last is loaded, too, and no result is of it";
const OTHER_KEY: &str = "the key that fits is not the one that is left out";

/// Mutants that leave what the kernel leaves, in every order, of the kernels of this folder and of the tree's.
pub const EQUIVALENT: &[Listed] = &[
    row("run_sums", LateEnd, 1, ZEROS),
    row("tile_sums", LateEnd, 1, ZEROS),
    row("strips", LateEnd, 1, OUTSIDE),
    row("cluster_sums", WeakBarrier, 1, CLUSTER_END),
    row("convolve", DroppedBarrier, 1, ONE_TURN),
    row("convolve", WeakBarrier, 1, ONE_TURN),
    row("search_direct", PlainForAtomic, 1, ONE_KEY),
    row("search", PlainForAtomic, 1, ONE_KEY),
    row("streamed_static", WeakBarrier, 1, WITHIN_WARP),
    row("electric", LessOrEqual, 2, RIM),
    row("electric_by_columns", LessOrEqual, 2, RIM),
    row("magnetic", LessOrEqual, 1, RIM),
    row("magnetic_by_columns", LessOrEqual, 1, RIM),
    row("fused", LessOrEqual, 1, RIM),
    row("tiled", LessOrEqual, 4, RIM),
    row("fhd", LateEnd, 1, FILLED_UP),
    row("q", LateEnd, 1, FILLED_UP),
    row("potential", LateEnd, 1, FILLED_UP),
    row("potential", EarlyEnd, 1, FILLED_UP),
    row("reduce_contiguous", LateEnd, 1, "one level more is of stride 0, at which no thread adds"),
    row("sad_global", EarlyEnd, 1, NOT_LEAST),
    row("sad_shared", EarlyEnd, 1, NOT_LEAST),
    row("sad_texture", EarlyEnd, 1, NOT_LEAST),
    row("sad_shared", LateEnd, 1, "one word more of the window is filled, which nobody reads"),
    row("search_direct", LessOrEqual, 1, NO_KEY),
    row("search_direct", NoGuard, 1, NO_KEY),
    row("search", LessOrEqual, 1, NOT_REPORTED),
    row("search", NoGuard, 1, NOT_REPORTED),
    row("search", LateEnd, 1, "one key more is the next thread's first"),
    row("search", LateStart, 1, OTHER_KEY),
    row("search", EarlyEnd, 1, OTHER_KEY),
    row("shortcut", LateEnd, 1, "what is beyond the matrix is infinitely far away, and no shortcut"),
    row("simulate", EarlyEnd, 1, "the last place has no token at first, and its memory begins as zeros"),
    row("staged", LateEnd, 1, "one direction more is one that no wall has"),
    row("reduce_words", DroppedBarrier, 1, ROOM_ONCE),
    row("reduce_words", WeakBarrier, 1, ROOM_ONCE),
    row("dot_words", DroppedBarrier, 1, ROOM_ONCE),
    row("dot_words", WeakBarrier, 1, ROOM_ONCE),
    row("scan_words", DroppedBarrier, 1, BALLOT),
    row("scan_words", LateEnd, 1, "one vector more of the last tile is behind the end, which a condition in the loop leaves out"),
    row("scan_words", LateEnd, 1, "one level more is for lanes that a warp has not"),
    row("select_words", DroppedBarrier, 1, BALLOT),
    row("scan_runs", DroppedBarrier, 1, BALLOT),
    row("count_replicated", IndexAbove, 1, "the other counter of the same bin: both are added up"),
    row("count_replicated", IndexBelow, 1, "the element before the one that is left over has a bin as well"),
    row("count_replicated", PlainForAtomic, 1, "the last block alone takes the counts, when all others are done"),
    row("count_replicated", WeakBarrier, 1, "there are 16 bins, so the first warp alone adds counts, and it is the one that tells"),
    row("reduce_ring", DroppedBarrier, 1, ROOM_ONCE),
    row("reduce_ring", WeakBarrier, 1, ROOM_ONCE),
    row("softmax_warp", LateEnd, 3, BEYOND_ROW),
    row("softmax_block", LateEnd, 1, BEYOND_ROW),
    row("norm_warp", LateEnd, 3, BEYOND_ROW),
    row("norm_block", LateEnd, 1, BEYOND_ROW),
    row("gemm_guarded", LateEnd, 1, FILLED_UP),
    row("attention_threads", DroppedBarrier, 1, FIRST_PRODUCT),
    row("attention_threads", WeakBarrier, 1, FIRST_PRODUCT),
    row("attention_engine", DroppedBarrier, 1, FIRST_PRODUCT),
    row("attention_engine", WeakBarrier, 1, FIRST_PRODUCT),
    row("five_points", LessOrEqual, 2, BESIDE_GRID),
    row("gemm_tiles", DroppedBarrier, 1, TILE_END),
    row("gemm_tiles", WeakBarrier, 1, TILE_END),
    row("gemm_tiles", DroppedFence, 1, CUMULATIVE),
    row("gemm_tiles", NarrowScope, 1, CUMULATIVE),
    row("gemm_tiles", NarrowScope, 1, CLEARED),
    row("gemm_tiles", PlainForAtomic, 1, CLEARED),
];

const NO_VOTE: &str =
    "exchanges are of the lanes that are there: one that has returned is not counted, and no lane reads what it would have given";
const OLDER_VALUE: &str = "the array was written before, so what is read is the older value, in order";

/// Mistakes of order that give a wrong result without a fault: no access of theirs is out of order.
pub const IN_ORDER: &[Listed] = &[
    row("compacted", EarlyReturn, 2, NO_VOTE),
    row("through_shared", Uninitialised, 1, OLDER_VALUE),
    row("scan_words", Uninitialised, 1, OLDER_VALUE),
];

/// Mutants whose fault is not at the changed line and does not name it, and why: none.
pub const BEHIND: &[Listed] = &[];

/// Whether a mistake takes away order between accesses, or makes threads not meet. Blocks that do each other's work may still write in order.
pub fn is_of_order(mistake: Mistake) -> bool {
    mistake.row().is_of_order && mistake != EveryBlock
}

/// What is not as it should be among mutants, in lines; nothing if every one is told of. A mutant is refused or stopped, or has a wrong result by a mistake of values,
/// or does what the kernel does and it is told why. What remains has to be listed, no more and no less; so has a fault that is not at the changed line.
pub fn untold(all: &[Judged]) -> Vec<String> {
    let same = listed("that leave the same", all, &with(EQUIVALENT, whole::EQUIVALENT), &|one| one.same == Some(Same::Untold));
    let wrong = listed("of order with a wrong result", all, &with(IN_ORDER, &[]), &|one| {
        one.verdict == Verdict::WrongResult && is_of_order(one.edit.mistake)
    });
    let behind = listed("with a fault elsewhere", all, &with(BEHIND, whole::BEHIND), &|one| one.verdict == Verdict::Behind);
    // What takes order away is found where the accesses are, or not at all.
    let astray = all.iter().filter(|one| one.verdict == Verdict::Behind && is_of_order(one.edit.mistake));
    let astray = astray.map(|one| format!("a fault of order elsewhere: {}: {}", place(one), one.said));
    same.into_iter().chain(wrong).chain(behind).chain(astray).collect()
}

fn place(one: &Judged) -> String {
    format!("{}:{}: {} → {}", one.file, one.at.0, one.line, one.edit.with.trim())
}

/// The mutants by kernel and mistake, and how many of them a list has.
type Groups<'a> = BTreeMap<(&'a str, Mistake), (Vec<&'a Judged>, usize)>;

/// A list, and what is listed beside where every mistake is made.
fn with(list: &'static [Listed], more: &'static [Listed]) -> Vec<&'static Listed> {
    let more = if is_all() { more } else { &[] };
    list.iter().chain(more).collect()
}

fn groups<'a>(all: &'a [Judged], list: &[&'static Listed], is_one: &dyn Fn(&Judged) -> bool) -> Groups<'a> {
    let mut found = Groups::new();
    for row in list.iter().filter(|row| all.iter().any(|one| one.kernel == row.kernel)) {
        found.entry((row.kernel, row.mistake)).or_default().1 += row.places;
    }
    for one in all.iter().filter(|one| is_one(one)) {
        found.entry((&one.kernel, one.edit.mistake)).or_default().0.push(one);
    }
    found
}

/// Mutants that do what the kernel does, and nothing tells why, where the lists say of another number.
pub fn unlisted(all: &[Judged]) -> Vec<Judged> {
    let is_one = |one: &Judged| one.same == Some(Same::Untold);
    let groups = groups(all, &with(EQUIVALENT, whole::EQUIVALENT), &is_one).into_values();
    groups.filter(|(of, told)| of.len() != *told).flat_map(|(of, _)| of).cloned().collect()
}

/// Where a list says of its mutants another number than there are.
fn listed(which: &str, all: &[Judged], list: &[&'static Listed], is_one: &dyn Fn(&Judged) -> bool) -> Vec<String> {
    let wrong = groups(all, list, is_one).into_iter().filter(|(_, (of, told))| of.len() != *told);
    let shown = |of: &[&Judged]| of.iter().map(|one| format!("{} {}", place(one), one.said)).collect::<Vec<_>>().join("\n  ");
    wrong
        .map(|((kernel, mistake), (of, told))| {
            format!("{kernel}, {mistake:?}: {} mutants {which}, {told} listed\n  {}", of.len(), shown(&of))
        })
        .collect()
}
