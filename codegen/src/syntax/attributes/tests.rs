//! What of `#[kernel(…)]` is refused, and what becomes of the rest.

use super::*;
use crate::annotations::{BATCH_LOADS, Modifier, VECTORIZE};
use crate::syntax::tests::render;

/// The findings on these arguments of `#[kernel(…)]`, as `text under the span: message; help`.
fn findings(arguments: &str) -> Vec<String> {
    let mut diagnostics = Diagnostics::new();
    KernelAttributes::parse(arguments.parse().unwrap(), &mut diagnostics);
    render(&diagnostics)
}

#[track_caller]
fn check(arguments: &str, expected: &[&str]) {
    assert_eq!(findings(arguments), expected, "{arguments}");
}

/// The word that no condition decides.
fn word<T: Copy>(choice: &Choice<T>) -> Option<T> {
    choice.word(&mut |_| None)
}

#[test]
fn every_supported_argument_is_parsed() {
    let mut diagnostics = Diagnostics::new();
    let text = "block = (16, B), min_blocks = 2, max_registers = R, index = 64, math = fast, contract = false, bounds = trap, \
                targets = [sm_80, sm_90], variants(B in [1, 2], R in [32]),";
    let parsed = KernelAttributes::parse(text.parse().unwrap(), &mut diagnostics);
    assert!(diagnostics.is_empty(), "{:?}", render(&diagnostics));
    assert_eq!(parsed.block.unwrap().1.len(), 2);
    assert_eq!(parsed.min_blocks.as_ref().and_then(literal_int), Some(2));
    assert!(parsed.max_registers.is_some() && parsed.contract.is_some());
    assert_eq!(parsed.index.as_ref().and_then(literal_int), Some(64));
    assert_eq!((word(&parsed.math), word(&parsed.bounds)), (Some(Math::Fast), Some(BoundsCheck::Trap)));
    assert_eq!(parsed.targets.iter().map(Ident::to_string).collect::<Vec<_>>(), ["sm_80", "sm_90"]);
    let axes: Vec<_> = parsed.variants.axes.iter().map(|(name, values)| (name.to_string(), values.len())).collect();
    assert_eq!(axes, [("B".to_owned(), 2), ("R".to_owned(), 1)]);
}

#[test]
fn the_defaults_are_those_of_the_language() {
    let parsed = KernelAttributes::parse(TokenStream::new(), &mut Diagnostics::new());
    assert!(parsed.block.is_none() && parsed.contract.is_none() && parsed.variants.axes.is_empty());
    assert!(parsed.index.is_none());
    assert_eq!((word(&parsed.math), word(&parsed.bounds)), (Some(Math::Precise), Some(BoundsCheck::Unchecked)));
}

#[test]
fn unknown_arguments_name_the_nearest() {
    check("blok = 256", &["blok: unknown argument `blok` of `#[kernel]`; write `block`"]);
    check(
        "max_regs = 256, maxregisters = 1",
        &[
            "max_regs: unknown argument `max_regs` of `#[kernel]`; there are `block`, `min_blocks`, `max_registers`, `index`, `math`, \
         `contract`, `bounds`, `targets`, `variants`, `raster`, `persistent`, `overlap`, `tensor`, `cluster`, `best_effort`, `require`, `allow`, `warn`, `deny`, `ilp`, `vectorize` and `batch_loads`",
            "maxregisters: unknown argument `maxregisters` of `#[kernel]`; write `max_registers`",
        ],
    );
}

#[test]
fn all_mistakes_are_reported_at_once() {
    check(
        "block = 0, blok = 1, math = fat, block = 7 min_blocks = 1",
        &[
            "0: a block of 0 threads in x is not possible: it must be at least 1; use 1 to 1024",
            "blok: unknown argument `blok` of `#[kernel]`; write `block`",
            "fat: `math` is `precise` or `fast`; write `math = fast`",
            "block: `block` is given twice; remove one of them",
        ],
    );
    check("3, block = 64", &["3: expected the name of an argument of `#[kernel]`; write, for example, `block = 256`"]);
    check("block = 64 min_blocks = 2", &["min_blocks: expected `,` between the arguments of `#[kernel]`; write `,` before it"]);
}

#[test]
fn impossible_blocks_are_refused() {
    check("block = 2048", &["2048: a block of 2048 threads in x is not possible: no device has more than 1024; use 1 to 1024"]);
    check("block = (1, 1, 128)", &["128: a block of 128 threads in z is not possible: no device has more than 64; use 1 to 64"]);
    check(
        "block = (64, 32)",
        &["(64, 32): a block of 64×32 is 2048 threads, and no device has more than 1024; make the block smaller and the grid larger"],
    );
    check(
        "block = (1, 1, 1, 1)",
        &["(1, 1, 1, 1): a block has one to three dimensions, not 4; write `block = 256`, `block = (16, 16)` or `block = (8, 8, 4)`"],
    );
    check("block = \"big\"", &["\"big\": `block` takes integers, constants or const generics; use 1 to 1024"]);
    check("block = (BX, BY)", &[]);
    check("block(256)", &["block: `block` takes its value behind `=`; write `block = 256`"]);
    check("block(16, 16), index = 64", &["block: `block` takes its value behind `=`; write `block = (16, 16)`"]);
    check("block()", &["block: `block` takes its value behind `=`; write `block = 256`"]);
    check("block = [16, 16]", &["[16, 16]: `block` takes its extents in parentheses; write `block = (16, 16)`"]);
    check("block = [N]", &["[N]: `block` takes its extents in parentheses; write `block = N`"]);
    check("block", &["block: `block` needs a value; write `block = 256`"]);
    check("block =, index = 64", &["block: `block` needs a value; write `block = 256`"]);
}

#[test]
fn other_values_are_checked() {
    check("index = 16", &["16: `index` is 32 or 64; write `index = 64` for 64-bit indices"]);
    check("index = u64", &["u64: `index` is 32 or 64; write `index = 64` for 64-bit indices"]);
    check("index = u32", &["u32: `index` is 32 or 64; write `index = 32`, or leave it out"]);
    check("contract = fast", &["fast: `contract` is `true` or `false`; write `contract = true`, or leave it out"]);
    check(
        "contract = off",
        &["off: `contract` is `true` or `false`; write `contract = false` for results that are bit for bit the host's"],
    );
    check("contract = CONTRACT", &[]);
    check("bounds = checked", &["checked: `bounds` is `unchecked` or `trap`; write `bounds = trap`, or leave it out for `unchecked`"]);
    check("bounds = on", &["on: `bounds` is `unchecked` or `trap`; write `bounds = trap`, or leave it out for `unchecked`"]);
    check("contract = 1", &["1: `contract` is `true` or `false`; write `contract = false` for results that are bit for bit the host's"]);
    check("min_blocks = 0", &["0: `min_blocks = 0` is not possible: it must be at least 1; use 1 to 32"]);
    check(
        "min_blocks = 64",
        &["64: `min_blocks = 64` is not possible: the most resident blocks of a multiprocessor are 32; use at most 32"],
    );
    check("max_registers = 512", &["512: `max_registers = 512` is not possible: the most registers of a thread are 255; use at most 255"]);
    check(
        "max_registers = 3.5",
        &["3.5: `max_registers` takes an integer, a constant or a const generic; write an integer: `max_registers = 32`"],
    );
    check("targets = sm_80", &["sm_80: `targets` takes a list; write `targets = [sm_80, sm_90]`"]);
    check("targets = [sm_80, sm_80]", &["sm_80: `sm_80` is listed twice; remove one of them"]);
    check("targets = [\"sm_80\"]", &["\"sm_80\": a target is a name like `sm_80`; write `targets = [sm_80, sm_90]`"]);
    check("targets = []", &["[]: `targets` is empty: the kernel would be checked for nothing; write `targets = [sm_80, sm_90]`"]);
}

#[test]
fn the_rows_of_a_raster_are_checked() {
    check("raster(rows = 8), block = 64", &[]);
    check("raster(rows = 1)", &[]);
    check("raster(rows = R + 1,), block = 64", &[]);
    check("raster(rows = 0)", &["0: `rows = 0` is not possible: it must be at least 1; use 1 to 65535"]);
    check("raster(rows = 70_000)", &["70_000: `rows = 70000` is not possible: the most rows of a grid are 65535; use at most 65535"]);
    check("raster(rows = 1.5)", &["1.5: `rows` takes an integer, a constant or a const generic; write an integer: `rows = 32`"]);
    check(
        "raster, block = 0",
        &[
            "raster: `raster` takes its rows in parentheses; write `raster(rows = 8)`",
            "0: a block of 0 threads in x is not possible: it must be at least 1; use 1 to 1024",
        ],
    );
    check("raster = 8", &["raster: `raster` takes its rows in parentheses; write `raster(rows = 8)`"]);
    check("raster()", &["raster: `raster` needs the rows of a band; write `raster(rows = 8)`"]);
    check("raster(8)", &["8: `raster` takes its number as `rows = …`; write `raster(rows = 8)`"]);
    check("raster(R + 1)", &["R + 1: `raster` takes its number as `rows = …`; write `raster(rows = 8)`"]);
    check("raster(columns = 8)", &["columns: `raster` has no argument `columns`; write `raster(rows = 8)`"]);
    check("raster(rows =)", &["rows: `rows` needs a value; write `raster(rows = 8)`"]);
    check("raster(rows = 8, 9)", &["9: `raster` takes `rows` and nothing else; write `raster(rows = 8)`"]);
    check("raster(rows = 8), raster(rows = 4)", &["raster: `raster` is given twice; remove one of them"]);
}

#[test]
fn persistent_is_a_word_or_a_bool() {
    check("persistent, block = 64", &[]);
    check("block = 64, persistent", &[]);
    check("persistent = P, raster(rows = 8)", &[]);
    check("persistent = false", &[]);
    let of_two = "`persistent` is `true` or `false`: a launch starts as many blocks as fit; write `persistent` alone; `min_blocks = 2` asks for room for so many \
                  on a multiprocessor";
    check("persistent = 2", &[&format!("2: {of_two}")]);
    let alone = "persistent: `persistent` stands alone, or takes its value behind `=`; write `persistent`, or `persistent = P` with a `bool` const generic `P`";
    check("persistent(2), block = 64", &[alone]);
    check("persistent =, block = 64", &["persistent: `persistent` needs a value; write `persistent = true`"]);
    check("persistent, persistent = true", &["persistent: `persistent` is given twice; remove one of them"]);
}

#[test]
fn overlap_is_a_word_or_a_bool() {
    check("overlap, block = 64", &[]);
    check("block = 64, overlap", &[]);
    check("overlap = P, persistent = Q", &[]);
    check("overlap = false", &[]);
    let of_two = "`overlap` is `true` or `false`: a launch begins before the one before it has ended, or does not; write `overlap` alone";
    check("overlap = 2", &[&format!("2: {of_two}")]);
    let alone =
        "overlap: `overlap` stands alone, or takes its value behind `=`; write `overlap`, or `overlap = P` with a `bool` const generic `P`";
    check("overlap(2), block = 64", &[alone]);
    check("overlap =, block = 64", &["overlap: `overlap` needs a value; write `overlap = true`"]);
    check("overlap, overlap = true", &["overlap: `overlap` is given twice; remove one of them"]);
    check("overlaps", &["overlaps: unknown argument `overlaps` of `#[kernel]`; write `overlap`"]);
}

#[test]
fn a_cluster_has_one_to_three_extents() {
    check("cluster = 2, block = 64", &[]);
    check("block = 64, cluster = (2, 1)", &[]);
    check("cluster = (X, 2, Y)", &[]);
    check("cluster = (2)", &[]);
    check("cluster = [2, 1]", &["[2, 1]: `cluster` takes its extents in parentheses; write `cluster = (2, 1)`"]);
    let help = "write `cluster = 2`, `cluster = (2, 1)` or `cluster = (2, 2, 1)`";
    check("cluster = (1, 1, 1, 2)", &[&format!("(1, 1, 1, 2): a cluster has one to three dimensions, not 4; {help}")]);
    check("cluster = (2, 0)", &["0: a cluster of 0 blocks in y is not possible: it must be at least 1; use 1 to 8"]);
    check("cluster = 2.5", &["2.5: `cluster` takes integers, constants or const generics; use 1 to 8"]);
    check("cluster", &["cluster: `cluster` needs a value; write `cluster = (2, 1)`"]);
    check("clusters = 2", &["clusters: unknown argument `clusters` of `#[kernel]`; write `cluster`"]);
}

#[test]
fn conditions_choose_words() {
    let parse = |text: &str| {
        let mut diagnostics = Diagnostics::new();
        let parsed = KernelAttributes::parse(text.parse().unwrap(), &mut diagnostics);
        assert!(diagnostics.is_empty(), "{:?}", render(&diagnostics));
        parsed
    };
    let parsed = parse(
        "math = if FAST { fast } else if A < B { precise } else { (fast) }, bounds = if N > 1 { trap } else { unchecked }, index = WIDTH",
    );
    let with = |fast: bool, less: bool| {
        let mut answers = [fast, less].into_iter();
        parsed.math.word(&mut |_| answers.next())
    };
    assert_eq!((with(true, false), with(false, true), with(false, false)), (Some(Math::Fast), Some(Math::Precise), Some(Math::Fast)));
    // The conditions are values that name things, as is the width; the words are not.
    assert_eq!(parsed.values().count(), 4);
    check("math = FAST", &["FAST: `math` is `precise` or `fast`; write `math = if FAST { fast } else { precise }`"]);
    check(
        "math = if FAST { fast }",
        &["if: `math` is `precise` or `fast`: this `if` has no `else`; write `math = if … { fast } else { precise }`"],
    );
    check(
        "bounds = if A { trp } else { on }",
        &[
            "trp: `bounds` is `unchecked` or `trap`; write `bounds = trap`",
            "on: `bounds` is `unchecked` or `trap`; write `bounds = trap`, or leave it out for `unchecked`",
        ],
    );
    check("math = true", &["true: `math` is `precise` or `fast`; write `math = fast`, or leave it out for `precise`"]);
    check(
        "math = if A { let x = 1; fast } else { precise }",
        &["{ let x = 1; fast }: `math` is `precise` or `fast`; write `math = fast`, or leave it out for `precise`"],
    );
}

#[test]
fn annotations_of_a_kernel_are_parsed() {
    let mut diagnostics = Diagnostics::new();
    let text = "ilp = ILP, vectorize(V, assume_aligned, assume_disjoint), batch_loads, best_effort";
    let parsed = KernelAttributes::parse(text.parse().unwrap(), &mut diagnostics);
    assert!(diagnostics.is_empty(), "{:?}", render(&diagnostics));
    assert!(parsed.best_effort && parsed.annotations.get(&BATCH_LOADS).is_some_and(|written| written.argument.is_none()));
    let vectorize = parsed.annotations.get(&VECTORIZE).unwrap();
    assert!(vectorize.says(Modifier::AssumeAligned) && vectorize.says(Modifier::AssumeDisjoint) && !vectorize.says(Modifier::BestEffort));
    assert_eq!((parsed.annotations.iter().count(), parsed.values().count()), (3, 2));
    check("batch_loads = BATCH, ilp(4, best_effort), vectorize = 2", &[]);
    check("ilp = 0", &["0: `ilp` by 0 is not possible: it must be at least 1; use 1 for no change"]);
    check("ilp, block = 64", &["ilp: `ilp` needs a number; write `ilp = 4`"]);
    check("vectorize = , block = 64", &["vectorize: `vectorize` needs a value; write `vectorize = 4`"]);
    check("batch_loads = 4", &["4: `batch_loads` takes `true` or `false`, not a number; write `true`, or leave it out"]);
    check("ilp(n = 4, best_effort)", &["n: `ilp` has no argument `n`; write `ilp(4)`"]);
    check(
        "ilp(factor = 2 * N), block = 0",
        &[
            "factor: `ilp` has no argument `factor`; write `ilp(2 * N)`",
            "0: a block of 0 threads in x is not possible: it must be at least 1; use 1 to 1024",
        ],
    );
    check("best_effort = true", &["best_effort: `best_effort` takes no value; write `best_effort` alone"]);
    check("ilp = 2, ilp = 4", &["ilp: `ilp` is given twice; remove one of them"]);
    check("unroll = 4", &["unroll: `unroll` belongs on a loop; write `#[unroll(4)]` before the loop"]);
    check("prefetch", &["prefetch: `prefetch` belongs on a loop; write `#[prefetch]` before the loop"]);
}

#[test]
fn variants_are_checked() {
    check("variants", &["variants: `variants` takes a list in parentheses; write `variants(N in [1, 2, 4])`"]);
    check("variants()", &["variants: `variants` is empty; write `variants(N in [1, 2, 4])`"]);
    check("variants(N in [])", &["N: `N` has no values: there would be no variants; write, for example, `N in [1, 2, 4]`"]);
    check("variants(N in [1], N in [2])", &["N: `N` is given twice; join the two lists"]);
    check("variants(N in 1..4)", &["1: expected a list of values for `N`, like `[1, 2, 4]`"]);
    check("variants((A, B) in [(1, 2), (3, 4)], N in [1, 2])", &[]);
    check("variants((A, B,) in [(1, 2,), (3, 4)],)", &[]);
    let help = "write, for example, `(A, B) in [(1, 2), (3, 4)]`";
    check("variants((A, B) in [(1, 2), (3, 4, 5)])", &[&format!("(3, 4, 5): `(A, B)` takes 2 values at a time, and here are 3; {help}")]);
    check("variants((A, B) in [1, (3, 4)])", &[&format!("1: `(A, B)` takes 2 values at a time, and here is 1; {help}")]);
    check("variants((A) in [1, 2])", &[&format!("(A): a tuple of `variants` has two generics or more; {help}")]);
    check("variants((A, B) in 3)", &["3: expected a list of values for the generics, like `[(1, 2), (3, 4)]`"]);
    check("variants((A, A) in [(1, 2)])", &["A: `A` is given twice; join the two lists"]);
    check("variants(A in [1], (A, B) in [(1, 2)])", &["A: `A` is given twice; join the two lists"]);
    check(
        "variants((A, B) in [])",
        &[
            "A: `A` has no values: there would be no variants; write, for example, `A in [1, 2, 4]`",
            "B: `B` has no values: there would be no variants; write, for example, `B in [1, 2, 4]`",
        ],
    );
    check("variants(N = [1]), index = 8", &["=: expected `in`", "8: `index` is 32 or 64; write `index = 64` for 64-bit indices"]);
}

#[test]
fn the_attribute_is_found_by_its_last_name() {
    let item: syn::ItemFn = syn::parse_str("#[inline] #[warpwright::kernel(index = 64)] fn f() {}").unwrap();
    assert_eq!(KernelAttributes::find(&item.attrs, &mut Diagnostics::new()).unwrap().values().count(), 1);
    let item: syn::ItemFn = syn::parse_str("#[device] fn f() {}").unwrap();
    assert!(KernelAttributes::find(&item.attrs, &mut Diagnostics::new()).is_none());
}

#[test]
fn the_nearest_list_of_targets_counts() {
    let targets_or = |text: &str, of_crate: Option<&Targets>| {
        let targets = KernelAttributes::parse(text.parse().unwrap(), &mut Diagnostics::new()).targets_or(of_crate);
        targets.gpus.iter().map(|target| target.name).chain(targets.families.iter().map(|family| family.name)).collect::<Vec<_>>()
    };
    let of_crate = Targets::named(["sm_75", "opencl"]);
    assert_eq!(targets_or("targets = [sm_90]", Some(&of_crate)), ["sm_90"]);
    assert_eq!(targets_or("targets = [opencl]", Some(&of_crate)), ["opencl"]);
    assert_eq!(targets_or("", Some(&of_crate)), ["sm_75", "opencl"]);
    assert_eq!(targets_or("", None), DEFAULT_TARGETS);
}
