//! The mistakes: what people get wrong in kernels, each as an edit of source text at every place where it can be made.

mod atomics;
mod barriers;
mod bounds;
mod early;
mod indices;
mod probe;

pub use probe::Probe;
use std::ops::Range;
use syn::spanned::Spanned;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mistake {
    /// A barrier of the block, of the warp or of the cluster is left out.
    DroppedBarrier,
    /// A barrier of the block is one of the warp only, one of the cluster is one of the block.
    WeakBarrier,
    /// A barrier or an exchange stands under a condition that half a warp fulfils.
    Divergent,
    /// Some threads of a warp return before an exchange or a barrier.
    EarlyReturn,
    /// A fence is left out.
    DroppedFence,
    /// A fence or an atomic orders for its block only.
    NarrowScope,
    /// An atomic releases and acquires nothing.
    WeakOrder,
    /// An atomic is a plain read and a plain write.
    PlainForAtomic,
    /// Shared memory is not written before it is read.
    Uninitialised,
    /// An index is one more.
    IndexAbove,
    /// An index is one less.
    IndexBelow,
    /// Blocks do what the first one does.
    EveryBlock,
    /// A vector access does not begin at a multiple of its length.
    Misaligned,
    /// `<` is `<=`.
    LessOrEqual,
    /// A condition with `<` always holds.
    NoGuard,
    /// A loop begins one later.
    LateStart,
    /// A loop ends one earlier.
    EarlyEnd,
    /// A loop goes on one longer.
    LateEnd,
    /// Slots that take turns are one slot.
    OneSlot,
}

/// What is said of a mistake.
pub struct MistakeRow {
    /// Which.
    pub mistake: Mistake,
    /// Its name in tables.
    pub name: &'static str,
    /// What the edit is.
    pub edit: &'static str,
    /// Whether it takes away what keeps accesses apart or what makes threads meet: a fault then shows at accesses, and not where the edit is.
    pub is_of_order: bool,
}

const fn row(mistake: Mistake, name: &'static str, edit: &'static str, is_of_order: bool) -> MistakeRow {
    MistakeRow { mistake, name, edit, is_of_order }
}

/// Every mistake, in the order of tables.
pub const MISTAKES: &[MistakeRow] = &[
    row(Mistake::DroppedBarrier, "dropped barrier", "`sync_threads();`, `sync_warp();` or `cluster_sync();` left out", true),
    row(Mistake::WeakBarrier, "barrier of too few", "`sync_threads()` → `sync_warp()`, `cluster_sync()` → `sync_threads()`", true),
    row(Mistake::Divergent, "divergent barrier or exchange", "under `if lane_id() < 16`", true),
    row(Mistake::EarlyReturn, "early return before an exchange", "`if thread_idx().x == 3 { return; }` before it", true),
    row(Mistake::DroppedFence, "dropped fence", "`fence_…();` left out", true),
    row(
        Mistake::NarrowScope,
        "scope of the block",
        "`fence_device()` → `fence_block()`, `ThreadScope::Device` → `ThreadScope::Block`",
        true,
    ),
    row(Mistake::WeakOrder, "relaxed atomic", "`Ordering::…` → `Ordering::Relaxed`", true),
    row(Mistake::PlainForAtomic, "plain update for an atomic", "`y.atomic_add(i, v)` → a read and a write", true),
    row(Mistake::Uninitialised, "shared memory not written", "a store or copy to a `#[shared]` array left out", true),
    row(Mistake::IndexAbove, "index shifted up", "`x[i]` → `x[i + 1]`", false),
    row(Mistake::IndexBelow, "index shifted down", "`x[i]` → `x[i - 1]`, wrapping", false),
    row(Mistake::EveryBlock, "every block as the first", "`block_idx().x` → `0`, `global_id().x` → `thread_idx().x`", true),
    row(Mistake::Misaligned, "misaligned vector", "`x.load::<N>(i)` → `x.load::<N>(i + 1)`", false),
    row(Mistake::LessOrEqual, "off by one in a condition", "`<` → `<=` in an `if`", false),
    row(Mistake::NoGuard, "no guard", "the condition of an `if` with `<` → `true`", false),
    row(Mistake::LateStart, "loop begins late", "`a..b` → `a + 1..b`", false),
    row(Mistake::EarlyEnd, "loop ends early", "`a..b` → `a..b - 1`, saturating", false),
    row(Mistake::LateEnd, "loop ends late", "`a..b` → `a..b + 1`", false),
    row(Mistake::OneSlot, "slot overwritten", "`k % 2` → `k % 1` of two buffers that take turns", true),
];

impl Mistake {
    /// What is said of it.
    ///
    /// # Panics
    /// If the table lacks it.
    pub fn row(self) -> &'static MistakeRow {
        MISTAKES.iter().find(|row| row.mistake == self).expect("every mistake has a row")
    }
}

/// An edit of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The mistake that it makes.
    pub mistake: Mistake,
    /// Bytes of the text.
    pub range: Range<usize>,
    /// What stands there instead. It has as many line breaks, so that lines keep their numbers.
    pub with: String,
    /// First and last line of the statement or expression that it changes, from 1.
    pub lines: (u32, u32),
    /// What tells whether the mutant does anything else in a launch.
    pub probe: Probe,
}

impl Edit {
    /// The text with the edit made.
    pub fn apply(&self, text: &str) -> String {
        format!("{}{}{}", &text[..self.range.start], self.with, &text[self.range.end..])
    }
}

/// A text whose edits are gathered.
pub(super) struct Edits<'t> {
    text: &'t str,
    found: Vec<Edit>,
}

impl Edits<'_> {
    /// The source of a node.
    fn source(&self, node: &impl Spanned) -> &str {
        &self.text[node.span().byte_range()]
    }

    /// `with` for all of a node, which is what `probe` is of.
    fn replace(&mut self, mistake: Mistake, node: &impl Spanned, with: String, probe: Probe) {
        self.replace_in(mistake, node, node, with, probe);
    }

    /// The same where what changes is all of `whole`: what a condition guards, what a loop repeats.
    fn replace_in(&mut self, mistake: Mistake, node: &impl Spanned, whole: &impl Spanned, with: String, probe: Probe) {
        let (span, whole) = (node.span(), whole.span());
        let range = span.byte_range();
        let breaks = |text: &str| text.matches('\n').count();
        // A statement that is left out leaves its line breaks.
        let missing = breaks(&self.text[range.clone()]).saturating_sub(breaks(&with));
        let with = with + &"\n".repeat(missing);
        let lines = (whole.start().line as u32, whole.end().line as u32);
        self.found.push(Edit { mistake, range, with, lines, probe });
    }

    /// `with` in front of a node.
    fn insert(&mut self, mistake: Mistake, node: &impl Spanned, with: &str, probe: Probe) {
        let span = node.span();
        let start = span.byte_range().start;
        let lines = (span.start().line as u32, span.end().line as u32);
        self.found.push(Edit { mistake, range: start..start, with: with.to_owned(), lines, probe });
    }
}

/// Every edit of the functions of an item's text, by mistake and place.
pub fn edits(text: &str) -> Vec<Edit> {
    let Ok(file) = syn::parse_file(text) else { return Vec::new() };
    let mut edits = Edits { text, found: Vec::new() };
    barriers::find(&file, &mut edits);
    atomics::find(&file, &mut edits);
    indices::find(&file, &mut edits);
    bounds::find(&file, &mut edits);
    early::find(&file, &mut edits);
    let mut found = edits.found;
    found.sort_by_key(|edit| (edit.mistake, edit.range.start, edit.range.end));
    found
}

/// The name of what is called, without its path and generics.
fn callee(call: &syn::ExprCall) -> Option<String> {
    let syn::Expr::Path(path) = &*call.func else { return None };
    path.path.segments.last().map(|segment| segment.ident.to_string())
}
