//! The simulator by itself, `warpwright::sim`, which is given a kernel's IR and checks a launch as it is.

use std::fmt::Write;
use warpwright::sim::{Error, SimArgument, SimLaunch, SimProgram};
use warpwright_codegen::text::parse_kernel;

/// For any block.
const ANY: &str = r#"
kernel "noted" legal
param m0 "y": global mut [u32]
{
  v0: u32 = thread_idx.x
  store m0[v0], v0
  return
}
"#;

/// For blocks of 64 threads, whose value and bytes are read.
const OF_64: &str = r#"
kernel "copied" legal
block = 64, 1, 1
param m0 "a": value u32
param m1 "x": global [u8]
{
  return
}
"#;

/// With what comes before the body.
fn kernel(objects: &str, body: &str) -> String {
    format!("kernel \"k\" legal\n{objects}{{\n{body}  return\n}}\n")
}

fn compiled(text: &str) -> Result<SimProgram, Error> {
    SimProgram::compile(&parse_kernel(text).expect("IR"))
}

/// A launch of blocks along x.
fn launch(grid: u32, block: u32) -> SimLaunch {
    SimLaunch { grid: [grid, 1, 1], block: [block, 1, 1], shared_bytes: 0 }
}

super::examples! {
    Error, "sim::Error::";

    /// A launch without threads
    fn no_threads(_device) {
        compiled(ANY)?.run(&launch(0, 64), &mut [SimArgument::Global { bytes: &mut [0; 256] }]).map(drop)
    }

    /// A block of too many threads
    fn wide_block(_device) {
        compiled(ANY)?.run(&launch(1, 2048), &mut [SimArgument::Global { bytes: &mut [0; 256] }]).map(drop)
    }

    /// A block that is not the kernel's
    fn other_block(_device) {
        compiled(OF_64)?.run(&launch(1, 32), &mut []).map(drop)
    }

    /// More blocks than can be counted
    fn many_blocks(_device) {
        let launch = SimLaunch { grid: [65_536, 65_536, 1], ..launch(1, 1) };
        compiled(ANY)?.run(&launch, &mut []).map(drop)
    }

    /// More threads than a 32-bit index counts
    fn many_threads(_device) {
        compiled(ANY)?.run(&launch(1 << 24, 256), &mut []).map(drop)
    }

    /// Too much shared memory
    fn much_shared(_device) {
        compiled(ANY)?.run(&SimLaunch { shared_bytes: 1 << 20, ..launch(1, 64) }, &mut []).map(drop)
    }

    /// Too few arguments
    fn few_arguments(_device) {
        compiled(ANY)?.run(&launch(1, 64), &mut []).map(drop)
    }

    /// A value where memory is expected
    fn no_buffer(_device) {
        compiled(ANY)?.run(&launch(1, 64), &mut [SimArgument::Value(&[0; 4])]).map(drop)
    }

    /// Memory that is written, and given to be read
    fn read_only(_device) {
        compiled(ANY)?.run(&launch(1, 64), &mut [SimArgument::GlobalReadOnly { bytes: &[0; 256] }]).map(drop)
    }

    /// A value of another size
    fn other_size(_device) {
        compiled(OF_64)?.run(&launch(1, 64), &mut [SimArgument::Value(&[0; 8]), SimArgument::GlobalReadOnly { bytes: &[] }]).map(drop)
    }

    /// Bytes that are no whole elements
    fn no_elements(_device) {
        compiled(ANY)?.run(&launch(1, 64), &mut [SimArgument::Global { bytes: &mut [0; 255] }]).map(drop)
    }

    /// More elements than a 32-bit index counts
    fn many_elements(_device) {
        // Nobody writes them, so that they take no memory.
        let bytes = vec![0; 1 << 32];
        compiled(OF_64)?.run(&launch(1, 64), &mut [SimArgument::Value(&[0; 4]), SimArgument::GlobalReadOnly { bytes: &bytes }]).map(drop)
    }

    /// Output that nobody takes
    fn no_output(_device) {
        let mut full: &mut [u8] = &mut [];
        compiled(&kernel("", "  print \"here\\n\"\n"))?.run_with(&launch(1, 1), &mut [], &mut full).map(drop)
    }

    /// Too much shared memory in the kernel
    fn much_shared_of_its_own(_device) {
        compiled(&kernel("object m0 \"tile\": shared [f32; 100000]\n", "")).map(drop)
    }

    /// Too much local memory
    fn much_local(_device) {
        compiled(&kernel("object m0 \"table\": local [f32; 1000000]\n", "")).map(drop)
    }

    /// Too much constant memory
    fn much_constant(_device) {
        compiled(&kernel("param m0 \"table\": constant [f32; 20000]\n", "")).map(drop)
    }

    /// Elements of no bytes
    fn no_bytes(_device) {
        compiled(&kernel("struct s0 \"Nothing\" { }\nparam m0 \"x\": global [s0]\n", "")).map(drop)
    }

    /// More values than there are places for
    fn many_values(_device) {
        let mut body = String::new();
        (0..=65_535).for_each(|n| writeln!(body, "  v{n}: u32 = const {n}").expect("a line"));
        compiled(&kernel("", &body)).map(drop)
    }

    /// More branches than there are places for
    fn many_branches(_device) {
        let branches = "  if v0 {\n    yield\n  }\n".repeat(65_537);
        compiled(&kernel("", &format!("  v0: bool = const true\n{branches}"))).map(drop)
    }

    /// A product that is not shared out
    fn product(_device) {
        let text = r#"
kernel "k" built
block = 32, 1, 1
object m0 "left": shared [[f16; 16]; 16]
object m1 "right": shared [[f16; 16]; 16]
{
  v0: f32 = const 0.0
  v1: f32, v2: f32, v3: f32, v4: f32, v5: f32, v6: f32, v7: f32, v8: f32 = multiply_add m0, m1 transposed, v0, v0, v0, v0, v0, v0, v0, v0
  return
}
"#;
        compiled(text).map(drop)
    }

    /// A collective that is not made loads and stores
    fn collective(_device) {
        let text = r#"
kernel "k" built
param m0 "x": global [f32]
object m1 "tile": shared [[f32; 8]; 4]
{
  v0: u32 = const 0
  load_tile m1, m0, v0, v0, v0, v0, v0
  return
}
"#;
        compiled(text).map(drop)
    }
}
