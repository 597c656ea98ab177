//! Launches whose size depends on the variant: `--grid` and `--cover` as arithmetic over the kernel's const generics and its block.

use serde_json::Value;
use warpwright_tests::command::Folder;

/// A thread of `scaled` has `T` elements, a block `B * T`: what `--cover` cannot know.
const KERNELS: &[u8] = b"use warpwright::{Num, prelude::*};
#[kernel(block = B, variants(B in [64, 128], T in [1, 4, 5], TWICE in [false, true]))]
pub fn scaled<const B: usize, const T: usize, const TWICE: bool>(x: &Global<f32>, y: &mut Global<f32>) {
    let first = block_idx().x * (B * T) + thread_idx().x;
    for k in 0..T {
        let i = first + k * B;
        if i < y.len() {
            y[i] = if TWICE { 2.0 * x[i] } else { x[i] + x[i] };
        }
    }
}
#[kernel(block = (32, 4), variants(R in [1, 2], E in [f32, u32]))]
pub fn rows<E: Num, const R: usize>(width: usize, y: &mut Global<E>) {
    let x = global_id().x;
    for r in 0..R {
        let row = (block_idx().y * R + r) * 4 + thread_idx().y;
        if x < width && row * width + x < y.len() {
            y[row * width + x] = y[row * width + x] + y[row * width + x];
        }
    }
}
#[kernel]
pub fn open<const T: usize>(y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 1.0;
    }
}
";

/// The text of a figure of each variant.
fn figures(document: &str, figure: &str) -> Vec<f64> {
    let document: Value = serde_json::from_str(document).expect("JSON");
    let variants = document["comparisons"][0]["variants"].as_array().expect("variants");
    variants.iter().map(|variant| variant["targets"][0]["figures"][figure]["value"].as_f64().expect("a figure")).collect()
}

#[test]
fn each_variant_has_its_own_grid() {
    let folder = Folder::new("launch-grid", &[("k.rs", KERNELS)]);
    let compare = |kernel: &str, launch: &[&str]| {
        let run = folder.run(&[&["compare", kernel, "--targets", "sm_90", "--simulate", "--json"], launch].concat());
        assert_eq!(run.code, Some(0), "{launch:?}: {}", run.err);
        figures(&run.out, "sectors")
    };
    let buffers = ["x=iota(1001)", "y=zeros(1001)"];
    // 4004 bytes are 126 sectors, read once and written once, by every one of the 12 variants: none covers less, and none twice.
    for launch in ["1001/(B*T)", "1001 / (block * T)", "1001/block.x/T"] {
        assert_eq!(compare("k.rs::scaled", &[&["--grid", launch, "--args"], &buffers[..]].concat()), [252.0; 12], "{launch}");
    }
    assert_eq!(compare("k.rs::scaled", &[&["--cover", "1001/T", "--args"], &buffers[..]].concat()), [252.0; 12]);
    // One number for all covers less where a thread has fewer elements.
    let least = compare("k.rs::scaled", &[&["--grid", "2", "--args"], &buffers[..]].concat());
    assert!(least[0] < 252.0 && least.contains(&160.0), "{least:?}");
    // A `bool` is 1 or 0.
    let halves = compare("k.rs::scaled", &["-D", "B=64", "-D", "T=1", "--grid", "8/(1+TWICE)", "--args", "x=iota(512)", "y=zeros(512)"]);
    assert_eq!(halves, [128.0, 64.0]);
    // Axes have commas between them: 64 rows of 64 numbers.
    let launch = ["--grid", "64/block.x, 64/(block.y*R)", "--args", "width=64", "y=zeros(4096)"];
    let rows = compare("k.rs::rows", &launch);
    assert!(rows.len() == 4 && rows.iter().all(|sectors| *sectors == rows[0]), "{rows:?}");
}

#[test]
fn one_variant_has_its_own_grid() {
    let folder = Folder::new("launch-simulate", &[("k.rs", KERNELS)]);
    let variant = ["-D", "B=64", "-D", "T=5", "-D", "TWICE=true"];
    let scaled = |more: &[&str]| folder.run(&[&["simulate", "k.rs::scaled"], &variant[..], more].concat());
    scaled(&["--grid", "1001/(B*T)", "--args", "x=iota(1001)", "y=zeros(1001)"]).prints("simulated: `scaled`, 4 blocks, 256 threads\n");
    // The launch's block has a size, too.
    let open = ["simulate", "k.rs::open", "-D", "T=2", "--block", "96", "--grid", "960/(block*T)", "--args", "y=zeros(480)"];
    folder.run(&open).prints("simulated: `open`, 5 blocks, 480 threads\n");
    // Arithmetic without names says how long buffers are.
    folder.run(&["simulate", "k.rs::open", "-D", "T=2", "--block", "64", "--cover", "4*25"]).prints("2 blocks, 128 threads\n");
}

#[test]
fn what_has_no_value_is_said() {
    let folder = Folder::new("launch-bad", &[("k.rs", KERNELS)]);
    let buffers = ["--args", "x=iota(64)", "y=zeros(64)"];
    let compare = |launch: &[&str]| folder.run(&[&["compare", "k.rs::scaled", "--simulate"], launch, &buffers[..]].concat());
    compare(&["--grid", "64/TWIC"]).refuses(2, &["error: `--grid 64/TWIC`: `scaled` has no const generic `TWIC`; did you mean `TWICE`?"]);
    compare(&["--grid", "64/WIDTH"]).refuses(2, &["`scaled` has no const generic `WIDTH`; write one of `B`, `T`, `TWICE`, `block`"]);
    compare(&["--cover", "64,blok.y"])
        .refuses(2, &["error: `--cover 64,blok.y`: `scaled` has no const generic `blok.y`; did you mean `block.y`?"]);
    folder
        .run(&["compare", "k.rs::rows", "--simulate", "--grid", "64/E", "--args", "width=64", "y=zeros(64)"])
        .refuses(2, &["error: `--grid 64/E`: `E` is a type, not a number"]);
    // `tune` says it though it measures nothing.
    folder.run(&["tune", "k.rs::scaled", "--predict", "--grid", "64/TWIC"]).refuses(2, &["`scaled` has no const generic `TWIC`"]);
    // Some variants have none: the others run, and each fault is said with what its names stand for.
    let run = compare(&["--grid", "64/(T-1)", "-D", "B=64", "-D", "TWICE=true"]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.err.contains("error: `--grid 64/(T-1)` divides by zero: `(T - 1)` is 0 where T = 1; divide by 1 or more (of `T = 1`)\n"),
        "{}",
        run.err
    );
    assert!(run.out.contains("simulated"), "{}", run.out);
    let run = compare(&["--grid", "T-4", "-D", "B=64", "-D", "TWICE=true"]);
    for said in [
        "and `T - 4` is -3 where T = 1; write one that is (of `T = 1`)",
        "`--grid T-4`: every extent must be at least 1, and `T - 4` is 0 where T = 4",
    ] {
        assert!(run.err.contains(said), "{}", run.err);
    }
    let most = "170141183460469231731687303715884105727";
    let over = format!("{most}*T");
    let said = format!("`--grid {over}` overflows: `{most} * T` does not fit 128 bits where T = 5");
    compare(&["--grid", &over, "-D", "B=64", "-D", "T=5", "-D", "TWICE=true"]).refuses(2, &[&said]);
    compare(&["--grid", "18446744073709551615*T", "-D", "T=5"]).refuses(2, &["is 92233720368547758075 where T = 5, and the most is"]);
    // What cannot be read, and where.
    compare(&["--grid", "64/"]).refuses(2, &["for '--grid <EXTENTS>': unexpected end of input, expected an expression at its end; write"]);
    compare(&["--grid", "64 % T"])
        .refuses(2, &["for '--grid <EXTENTS>': `%` at column 4 is not understood; write integers, const generics"]);
    compare(&["--grid", "8,8,f(T)"]).refuses(2, &["in z, `f(T)` at column 1 is not understood"]);
    compare(&["--grid", "64x64/T"]).refuses(2, &["extents that are computed have commas between them: `1024/T,768`"]);
    // Variants share their buffers: no length comes from what depends on them.
    folder.run(&["compare", "k.rs::scaled", "--simulate", "--cover", "64/T"]).refuses(
        2,
        &["error: `x` has no length: write `--args x=random(4096)`; `--cover 64/T` depends on the variant, and all variants get the same buffers"],
    );
    // All at once: the block, the buffer.
    folder
        .run(&["simulate", "k.rs::open", "-D", "T=2", "--grid", "64/block"])
        .refuses(2, &["error: the kernel does not fix its block: give `--block 256`\nerror: `y` has no length"]);
}
