//! `warpwright simulate`: counters by line, and what is said of arguments that do not fit.

use warpwright_tests::command::Folder;

const KERNELS: &[u8] = b"use warpwright::prelude::*;
#[kernel(block = 64)]
pub fn saxpy(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}
#[kernel(block = 32)]
pub fn column(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 32]; 32];
    let t = thread_idx().x;
    tile[t][0] = x[t];
    sync_threads();
    y[t] = tile[t][0];
}
";

#[test]
fn each_line_has_its_counters() {
    let folder = Folder::new("simulate", &[("k.rs", KERNELS)]);
    let run = folder.run(&["simulate", "k.rs::saxpy", "--cover", "1000", "--args", "a=2.0"]);
    run.prints("simulated: `saxpy`, 16 blocks, 1024 threads\n");
    let line = run.out.lines().find(|line| line.contains("y[i] = a * x[i]")).expect("the line that loads and stores");
    // 32 warps, the last of them with 8 lanes: 31 · 3 requests of 4 sectors and 3 of 1.
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(&words[..9], ["6", "128", "30.8", "%", "98", "%", "96", "3.91", "100"], "{line}");
    assert!(!run.out.contains("bank"), "there is no shared memory: {}", run.out);
    // All lanes of a warp in one bank: 31 passes more than one, to store and to load.
    let run = folder.run(&["simulate", "k.rs::column", "--grid", "1", "--args", "x=iota(32)", "y=zeros(32)", "--json"]);
    run.prints("\"kind\": \"simulated\"");
    run.prints("\"shared_replays\": 62");
}

#[test]
fn the_variant_is_noted_where_several_are_left() {
    let kernel = b"use warpwright::prelude::*;
#[kernel(block = 64, variants(PAD in [0, 1], SWIZZLE in [false], N in [1, 2, 3]))]
pub fn k<const PAD: usize, const SWIZZLE: bool, const N: usize>(y: &mut Global<f32>) {
    if global_id().x < y.len() {
        y[global_id().x] = N as f32;
    }
}
";
    let folder = Folder::new("simulate-note", &[("k.rs", kernel)]);
    let simulate = |more: &[&str]| folder.run(&[&["simulate", "k.rs", "--cover", "64"], more].concat());
    let note = "note: `k` is simulated as PAD = 0, SWIZZLE = false, N = 1, one of 6 variants; `-D NAME=VALUE` chooses\n";
    assert_eq!(simulate(&[]).err, note);
    assert_eq!(simulate(&["-D", "PAD=1"]).err, note.replace("PAD = 0", "PAD = 1").replace("one of 6", "one of 3"));
    // `SWIZZLE` has one value: nothing was chosen. What the kernel does not declare is as good as what it does.
    simulate(&["-D", "PAD=1", "-D", "N=2"]).prints("simulated: `k`, 1 blocks");
    simulate(&["-D", "PAD=4", "-D", "N=9"]).prints("simulated: `k`, 1 blocks");
}

#[test]
fn arguments_that_do_not_fit() {
    let folder = Folder::new("simulate-bad", &[("k.rs", KERNELS)]);
    let simulate = |more: &[&str]| folder.run(&[&["simulate", "k.rs::saxpy"], more].concat());
    simulate(&["--cover", "64"]).refuses(2, &["error: `a` is a value, and has none: give it, `--args a=1.0`"]);
    simulate(&["--args", "aa=1", "a=2", "x=random"]).refuses(
        2,
        &[
            "error: `--args aa=1`: there is no parameter `aa`; write one of `a`, `x`, `y`",
            "error: `x` has no length: write `--args x=random(4096)`, or say what to `--cover`",
            "error: `y` has no length",
        ],
    );
    simulate(&["--cover", "64", "--args", "a=x7"]).refuses(2, &["`a` is `x7`, which is neither a number, nor a list"]);
    simulate(&["--cover", "64", "--args", "a=[1, 2]"]).refuses(2, &["`a` has 2 numbers, and its type 1: write `--args a=1.0`"]);
    simulate(&["--args", "a=1", "x=zeros(4)", "y=zeros(4)"]).refuses(2, &["error: how many threads is not said: give `--cover 4096`"]);
    simulate(&["--cover", "64x", "--args", "a=1"]).refuses(2, &["write one to three numbers"]);
    folder.run(&["simulate", "k.rs", "--cover", "64"]).refuses(2, &["`k.rs` has several kernels: name one, `k.rs::saxpy`"]);
    // A fault of the kernel is a finding, not a mistake of the command line.
    simulate(&["--cover", "64", "--args", "a=1", "x=zeros(3)"]).refuses(1, &["index 3 is out of bounds of `x`, which has 3 elements"]);
}

#[test]
fn structs_are_written_as_in_rust() {
    let kernel = b"use warpwright::prelude::*;
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Corner { x: f32, y: f32 }
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Params { width: usize, corner: Corner, taps: [i16; 6], wraps: bool, pair: (u8, f32) }
#[kernel(block = 64)]
pub fn k(p: Params, c: &Global<Corner>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < c.len() {
        // Each part of `p` is asked about in a term of its own.
        let taps = p.taps[0] as f32 * 1000.0 + p.taps[5] as f32;
        let known = p.width == 8 && p.wraps && p.pair.0 == 3 && p.pair.1 == 0.5 && p.corner.x == -1.0 && p.corner.y == 2.5;
        assert!(known && taps == 7007.0 && c[i].x == 1.0 && c[i].y == 2.0);
        y[i] = taps;
    }
}
";
    let folder = Folder::new("simulate-structs", &[("k.rs", kernel)]);
    let simulate = |args: &[&str]| folder.run(&[&["simulate", "k.rs", "--grid", "1", "--args", "y=zeros(4)"], args].concat());
    let corners = "c=[Corner { x: 1, y: 2 }, Corner { y: 2.0, x: 1.0 }]";
    let whole = "p=Params { taps: [7; 6], width: 8, pair: (3, 0.5), corner: Corner { x: -1.0, y: 2.5 }, wraps: true }";
    simulate(&[whole, corners]).prints("simulated: `k`, 1 blocks");
    // By position, with brackets or without, and a part of it by name.
    simulate(&["p=[8, -1, 2.5, 7, 7, 7, 7, 7, 7, true, 3, 0.5]", "c=[1, 2, 1, 2]"]).prints("simulated: `k`, 1 blocks");
    simulate(&["p=(8, [-1, 2.5], [7; 6], true, (3, 0.5))", "c=[[1, 2]; 4]"]).prints("simulated: `k`, 1 blocks");
    simulate(&["p=(8, Corner { y: 2.5, x: -1 }, [7; 6], true, (3, 0.5))", corners]).prints("simulated: `k`, 1 blocks");

    let form = "`--args 'p=Params { width: 1, corner: Corner { x: 1.0, y: 1.0 }, taps: [1; 6], wraps: true, pair: (1, 1.0) }'`";
    simulate(&[]).refuses(2, &[&format!("error: `p` is a value, and has none: give it, {form}")]);
    simulate(&["p=[1, 2]"]).refuses(2, &[&format!("error: `p` has 2 numbers, and its type 12: write {form}")]);
    simulate(&["p=random"]).refuses(2, &[&format!("error: `p` is passed by value: write {form}")]);
    simulate(&["p=Corner { x: 1, y: 2 }"]).refuses(2, &["error: `p` has a `Corner` where `Params` is expected"]);
    simulate(&[&whole.replace("wraps", "wrap")]).refuses(2, &["`p` is a `Params`, which has no field `wrap`; did you mean `wraps`?"]);
    simulate(&[&whole.replace(", wraps: true", "")]).refuses(2, &["`p` has no field `wraps`, and `Params` does: write `wraps: true`"]);
    simulate(&[&whole.replace("wraps: true", "wraps: true, wraps: true")]).refuses(2, &["`p` has the field `wraps` of `Params` twice"]);
    simulate(&[&whole.replace("(3, 0.5)", "3")]).refuses(2, &["`p` has 1 number, and the field `pair` has 2"]);
    simulate(&[&whole.replace("x: -1.0", "x: Corner { x: 1, y: 1 }")]).refuses(2, &["`p` has 2 numbers, and the field `x` has 1"]);
    simulate(&[&whole.replace("y: 2.5", "y: Corner { x: 1, y: 1 }")]).refuses(2, &["`p` has a `Corner` where a number is expected"]);
    simulate(&[&whole.replace("width: 8", "width: 0.5")]).refuses(2, &["`p` has 0.5 as its part 0, counted from 0, which is no `u32`"]);
    simulate(&[whole, "c=[1, 2, 3]"])
        .refuses(2, &["`c` has 3 numbers, and each of its elements 2: write `--args 'c=[Corner { x: 1.0, y: 1.0 }]'`"]);
    simulate(&[&whole.replace("[7; 6]", "[7; 99999999]")])
        .refuses(2, &["`p` has a list of 99999999 times 1 number; write at most 1048576 numbers"]);
}

#[test]
fn sizes_that_do_not_fit() {
    let folder = Folder::new("simulate-sizes", &[("k.rs", KERNELS)]);
    let simulate = |more: &[&str]| folder.run(&[&["simulate", "k.rs::saxpy", "--args", "a=2"], more].concat());
    // The line, the argument, its length.
    let out = "error: k.rs:6:20: kernel `saxpy`, block (7, 0, 0), thread (52, 0, 0): index 500 is out of bounds of `x`, which has 500 elements; \
         help: guard it, `if i < x.len()` where `i` is the index, or launch fewer threads";
    simulate(&["x=random(500)", "--cover", "1000"]).refuses(1, &[out]);
    simulate(&["--cover", "9999999999999"])
        .refuses(2, &["error: `x` would have 9999999999999 elements of 4 bytes", "error: `y` would have"]);
    simulate(&["--cover", "99999999999999999999999"]).refuses(2, &["for '--cover <EXTENTS>': the most is 18446744073709551615"]);
    let many = "error: `--cover 4000000000000000000x4000000000x1` is more elements than can be counted";
    simulate(&["x=[1]", "y=[1]", "--cover", "4000000000000000000x4000000000"]).refuses(2, &[many]);
    simulate(&["x=[1]", "y=[1]", "--cover", "0"]).refuses(2, &["every extent must be at least 1"]);
    simulate(&["x=[1]", "y=[1]", "--grid", "3000000000"]).refuses(2, &["3000000000 blocks in x of the grid", "has a limit of 2147483647"]);
    simulate(&["x=[1]", "y=[1]", "--grid", "1", "--block", "32"]).refuses(2, &["fixes its block at (64, 1, 1)"]);
}

/// Two messages: one whose flag orders, and one whose flag does not.
const MESSAGES: &[u8] = b"use std::sync::atomic::Ordering;
use warpwright::prelude::*;
#[kernel(block = 32)]
pub fn consume<const ORDERS: bool>(flag: &mut Global<u32>, data: &mut Global<u32>, out: &mut Global<u32>) {
    if thread_idx().x == 0 {
        if block_idx().x == 0 {
            data.atomic_store(0, 7, Ordering::Relaxed, ThreadScope::Device);
            if ORDERS {
                fence_device();
            }
            flag.atomic_store(0, 1, Ordering::Relaxed, ThreadScope::Device);
        } else {
            while flag.atomic_load(0, Ordering::Relaxed, ThreadScope::Device) == 0 {}
            if ORDERS {
                fence_device();
            }
            out[0] = data.atomic_load(0, Ordering::Relaxed, ThreadScope::Device);
        }
    }
}
";

#[test]
fn a_weak_memory_shows_what_one_order_of_the_steps_hides() {
    let folder = Folder::new("simulate-weak", &[("k.rs", MESSAGES)]);
    let launch = ["--grid", "2", "--args", "flag=zeros(1)", "data=zeros(1)", "out=zeros(1)"];
    let simulate = |more: &[&str]| folder.run(&[&["simulate", "k.rs"], more, &launch].concat());
    simulate(&["-D", "ORDERS=false"]).prints("simulated: `consume`");
    let run = simulate(&["-D", "ORDERS=false", "--weak-memory", "40"]);
    run.refuses(1, &["error: the results of `consume` differ where memory is weak", "WARPWRIGHT_WEAK_MEMORY="]);
    simulate(&["-D", "ORDERS=true", "--weak-memory", "-3"]).refuses(2, &["error: invalid value '-3' for '--weak-memory <RUNS>'"]);
    let run = simulate(&["-D", "ORDERS=true", "--weak-memory", "40", "--json"]);
    run.prints("\"weak_memory_runs\": 40");
    assert!(
        simulate(&["-D", "ORDERS=true", "--weak-memory", "40"]).err.contains("note: 40 more runs on a weak memory have the same results\n")
    );
}
