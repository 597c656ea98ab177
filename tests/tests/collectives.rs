//! What reductions and scans of a block cost: barriers and shuffles in our text, and in what `ptxas` makes of it, instructions beside those of the same
//! written by hand.

use warpwright_tests::emitted::ptx;
use warpwright_tests::sass::Judge;

fn text(body: &str, block: &str) -> String {
    text_for(body, block, "sm_90")
}

fn text_for(body: &str, block: &str, target: &str) -> String {
    let source = format!("#[kernel({block})] fn k(x: &Global<f32>, y: &mut Global<f32>) {{ {body} }}");
    ptx(&source, "k", &[], target).unwrap_or_else(|error| panic!("{body}: {error}")).to_string()
}

/// Barriers, shuffles, and accesses of shared memory.
fn counts(text: &str) -> [usize; 3] {
    ["bar.sync", "shfl.sync", ".shared."].map(|word| text.lines().filter(|line| line.contains(word)).count())
}

const SUM: &str = "let t = block_sum(x[global_id().x]); if thread_idx().x == 0 { y[block_idx().x] = t; }";
const SCAN: &str = "let i = global_id().x; y[i] = block_inclusive_sum(x[i]);";

/// One barrier, five shuffles, one store, and the values of the warps by as few loads as there can be, in blocks of every size.
#[test]
fn a_reduction_has_one_barrier_and_five_shuffles() {
    for (block, loads) in
        [("block = 32", 1), ("block = 40", 1), ("block = 256", 2), ("block = (8, 6, 4)", 2), ("block = 1000", 8), ("block = 1024", 8)]
    {
        assert_eq!(counts(&text(SUM, block)), [1, 5, 1 + loads], "{block}");
        // Before the only warp there is none.
        let loads = if block == "block = 32" { 0 } else { loads };
        assert_eq!(counts(&text(SCAN, block)), [1, 5, 1 + loads], "{block}");
    }
    // Where the launch says how large the block is, the warps are gone through in a loop: the first, and one for each turn.
    assert_eq!(counts(&text(SUM, "")), [1, 5, 3]);
    assert_eq!(counts(&text(SCAN, "")), [1, 5, 3]);
    // A value of 64 bits goes in two halves, and two of them at a time.
    let wide = text(&SUM.replace("x[global_id().x]", "x[global_id().x] as f64").replace("= t;", "= t as f32;"), "block = 256");
    assert_eq!(counts(&wide), [1, 10, 5]);
}

/// One after the other, without a barrier in between; where the same call comes again, with one that says that all have read.
#[test]
fn a_second_barrier_is_there_only_where_a_call_may_come_again() {
    let twice = "let i = global_id().x; let v = block_sum(x[i]); let w = block_sum(x[i] - v); y[i] = block_sum(w * w) + block_max(v);";
    assert_eq!(counts(&text(twice, "block = 256"))[0], 4);
    let looped = "let i = global_id().x; let mut v = x[i]; for _ in 0..9 { v -= block_sum(v); } y[i] = v;";
    assert_eq!(counts(&text(looped, "block = 256"))[0], 2);
}

/// As an expert writes it for 256 threads.
const SUM_BY_HAND: &str = "
    #[shared] let mut warps: [f32; 8];
    let mut v = x[global_id().x];
    v += shuffle_xor(v, 16); v += shuffle_xor(v, 8); v += shuffle_xor(v, 4); v += shuffle_xor(v, 2); v += shuffle_xor(v, 1);
    if lane_id() == 0 { warps[warp_id()] = v; }
    sync_threads();
    let mut t = warps[lane_id() % 8];
    t += shuffle_xor(t, 4); t += shuffle_xor(t, 2); t += shuffle_xor(t, 1);
    if thread_idx().x == 0 { y[block_idx().x] = t; }";

/// The same for a scan: the first warp scans the warps' totals.
const SCAN_BY_HAND: &str = "
    #[shared] let mut warps: [f32; 8];
    let lane = lane_id();
    let mut v = x[global_id().x];
    #[unroll]
    for level in 0..5u32 {
        let below = shuffle_up(v, 1u32 << level);
        if lane >= (1usize << level) { v += below; }
    }
    if lane == 31 { warps[warp_id()] = v; }
    sync_threads();
    if warp_id() == 0 {
        let mine = if lane < 8 { warps[lane] } else { 0.0 };
        let mut upto = mine;
        #[unroll]
        for level in 0..3u32 {
            let below = shuffle_up(upto, 1u32 << level);
            if lane >= (1usize << level) { upto += below; }
        }
        if lane < 8 { warps[lane] = upto - mine; }
    }
    sync_threads();
    y[global_id().x] = v + warps[warp_id()];";

/// Instructions of a SASS text, padding and branches to themselves left out, and how many of them begin with a word.
fn assembled(judge: &Judge, body: &str, target: u16) -> (usize, impl Fn(&str) -> usize) {
    let sass = judge.sass(&text_for(body, "block = 256", &format!("sm_{target}")), target).unwrap_or_else(|error| panic!("{error}"));
    let lines: Vec<String> = sass
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("/*")?.split_once("*/"))
        .filter(|(address, rest)| address.len() == 4 && !rest.contains("NOP") && !rest.contains("BRA"))
        .map(|(_, rest)| rest.trim_start().to_owned())
        .collect();
    (lines.len(), move |word: &str| lines.iter().filter(|line| line.split_whitespace().any(|part| part.starts_with(word))).count())
}

#[test]
fn the_machine_code_is_as_short_as_what_is_written_by_hand() {
    let Some(judge) = Judge::found_or_skip("collectives") else { return };
    let mut count = 0;
    for target in [80, 90, 120] {
        let (ours, of) = assembled(&judge, SUM, target);
        let (theirs, _) = assembled(&judge, SUM_BY_HAND, target);
        assert_eq!((of("BAR"), of("SHFL"), of("LDS"), of("STS")), (1, 5, 2, 1), "sm_{target}");
        assert!(ours <= theirs, "a sum for sm_{target}: {ours} instructions, {theirs} by hand");
        let (ours, of) = assembled(&judge, SCAN, target);
        let (theirs, by_hand) = assembled(&judge, SCAN_BY_HAND, target);
        assert_eq!((of("BAR"), of("SHFL"), of("LDS"), of("STS")), (1, 5, 2, 1), "sm_{target}");
        assert_eq!((by_hand("BAR"), by_hand("SHFL")), (2, 8), "sm_{target}");
        // One barrier and the wait behind it is worth more than the selection of the warps before.
        assert!(ours <= theirs + 8, "a scan for sm_{target}: {ours} instructions, {theirs} by hand");
        count += 4;
    }
    println!("ran: collectives ({count} texts on nvdisasm)");
}
