//! How many thread instructions a core simulates in a second. `cargo test --release -p warpwright-runtime sim::tests::speed -- --nocapture`
//! prints the figures.

use super::*;
use std::time::Instant;

/// Runs a kernel on one worker, prints and gives thread instructions per second.
fn measure(name: &str, text: &str, grid: u32, buffers: usize) -> f64 {
    let program = program(text, SimOptions { workers: 1, ..SimOptions::default() });
    let mut bytes = vec![vec![0; 4 * 256 * grid as usize]; buffers];
    let mut arguments: Vec<SimArgument<'_>> = bytes.iter_mut().map(|bytes| SimArgument::Global { bytes }).collect();
    let mut rate = 0f64;
    // The best of several: other work on the machine only slows.
    for _ in 0..5 {
        let start = Instant::now();
        let counters = program.run(&launch(grid, 256), &mut arguments).unwrap();
        rate = rate.max(counters.total.total_thread_instructions() as f64 / start.elapsed().as_secs_f64());
    }
    println!("simulator: {name}: {:.0} million thread instructions per second and core", rate / 1e6);
    rate
}

/// A loop of 1000 iterations over a body that makes `v20`, of type `ty`, from `v11`, then a store.
fn arithmetic(ty: &str, body: &str) -> String {
    format!(
        "kernel \"k\" legal
param m0 \"y\": global mut [u32]
{{
  v0: u32 = thread_idx.x
  v1: u32 = const 0
  v2: u32 = const 1000
  v3: u32 = const 1
  v4: {ty} = const 3
  v5: {ty} = cast v0
  v6: {ty} = for i1 (v10: u32 in v1..v2 step v3; v11: {ty} = v5) {{
{body}
    yield v20
  }}
  v7: u32 = cast v6
  store m0[v0], v7
  return
}}
"
    )
}

#[test]
fn straight_arithmetic_is_fast() {
    let steps = |op: &str| {
        let line = |n: usize| format!("    v{}: TY = {op}", 12 + n).replace("PREV", &format!("v{}", 11 + n));
        (0..9).map(line).collect::<Vec<_>>().join("\n")
    };
    let of = |ty: &str, op: &str| arithmetic(ty, &steps(op).replace("TY", ty));
    let rates = [
        measure("f32 mul_add", &of("f32", "mul_add PREV, v4, v5"), 1, 1),
        measure("f32 add", &of("f32", "add PREV, v5"), 1, 1),
        measure("u32 mul_add", &of("u32", "mul_add PREV, v4, v5"), 1, 1),
        measure("u32 xor", &of("u32", "xor PREV, v5"), 1, 1),
        measure("f64 mul", &of("f64", "mul PREV, v4"), 1, 1),
        measure("i32 min", &of("i32", "min PREV, v5"), 1, 1),
    ];
    // The target is 50 million on an optimised build; tests run unoptimised too, on machines with better things to do.
    let least = if cfg!(debug_assertions) { 1e5 } else { 5e7 };
    assert!(rates.iter().all(|rate| *rate > least), "{rates:?}");
}

#[test]
fn memory_is_not_slow() {
    let text = "kernel \"k\" legal
param m0 \"x\": global mut [f32]
param m1 \"y\": global mut [f32]
{
  v0: u32 = thread_idx.x
  v1: u32 = block_idx.x
  v2: u32 = block_dim.x
  v3: u32 = mul_add v1, v2, v0
  v4: f32 = load m0[v3]
  v5: f32 = load m1[v3]
  v6: f32 = add v4, v5
  store m1[v3], v6
  return
}
";
    let grid = if cfg!(debug_assertions) { 64 } else { 8192 };
    let rate = measure("load, load, add, store", text, grid, 2);
    assert!(rate > if cfg!(debug_assertions) { 1e4 } else { 5e6 });
}
