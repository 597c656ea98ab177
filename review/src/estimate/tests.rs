//! Mix, loads in flight and predictions of small kernels from source.

use super::time::Bound;
use super::weights::Certainty;
use super::{Known, Launched, estimate};
use crate::machine::Pipe;
use warpwright_codegen::ir::{Address, Memory, MemoryOp, Op, Scalar};
use warpwright_codegen::pipeline::{Legal, compile_text};
use warpwright_codegen::syntax::{ConstValue, GenericValue, Instance};
use warpwright_codegen::target::Target;

/// The kernel `k` of a source, its const generics given in order.
fn kernel(source: &str, generics: &[i128]) -> Legal {
    let messages =
        |found: &warpwright_codegen::diagnostic::Diagnostics| found.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("\n");
    let generics = generics.iter().map(|value| GenericValue::Const(ConstValue::Index(*value, false))).collect();
    let lowered = compile_text("kernel.rs", source, "k", &Instance { generics }).unwrap_or_else(|found| panic!("{}", messages(&found)));
    lowered.kernel.legal().clone()
}

/// What is known of it on one target.
fn known_on(source: &str, generics: &[i128], target: &str) -> Known {
    estimate(&kernel(source, generics), &[Target::find(target).expect("a target")])
}

/// What is known of it in a launch of so many blocks, with these numbers for parameters by value and these lengths of buffers.
fn known_launched(source: &str, grid: [u32; 3], numbers: &[(&str, u32)], lengths: &[(&str, u64)]) -> Known {
    let kernel = kernel(source, &[]);
    let object = |name: &str| kernel.objects.iter().find(|(_, object)| object.name == name).expect("a parameter").0;
    let launched = Launched {
        grid: Some(grid),
        numbers: numbers.iter().map(|(name, number)| ((object(name), 0), Scalar::u32(*number))).collect(),
        lengths: lengths.iter().map(|(name, length)| (object(name), *length)).collect(),
        ..Launched::default()
    };
    super::estimate_launched(&kernel, &[Target::find("sm_90").expect("a target")], &launched)
}

fn known(source: &str, generics: &[i128]) -> Known {
    known_on(source, generics, "sm_90")
}

/// A sum of runs in a ring, whatever copies.
const RING: &str = "#[kernel(block = 128)] fn k<const S: usize>(runs: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared] let mut run: [f32; 1024];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = S)] for chunk in 0..runs {
        load_run(&mut run, x, (block_idx().x * runs + chunk) * 1024);
        sync_threads();
        #[unroll] for k in 0..8 { sum += run[k * 128 + t]; }
        sync_threads();
    }
    y[global_id().x] = sum;
}";

/// What the engine brings is under way in bytes, in no thread's loads; it is read once, and the way for the last run, element by element, is not gone.
#[test]
fn copies_of_the_engine_are_bytes_in_flight() {
    for stages in [2, 3, 4, 7] {
        let known = known(RING, &[stages]);
        let threads = known.threads_on(known.targets[0].target);
        let prediction = known.targets[0].prediction.as_ref().expect("a prediction");
        let blocks = f64::from(known.targets[0].occupancy.as_ref().expect("an occupancy").blocks);
        assert_eq!(prediction.bytes_in_flight, blocks * 4096.0 * (stages - 1) as f64, "{stages} stages");
        assert_eq!(threads.flight.loads, 0, "{stages} stages");
        let read = threads.mix.read / (32.0 * super::weights::UNKNOWN_TRIPS);
        assert!((0.99..1.01).contains(&read), "{stages} stages: {read}");
        let fetched = threads.traffic.read / (32.0 * 32.0 * super::weights::UNKNOWN_TRIPS);
        assert!((0.99..1.01).contains(&fetched), "{stages} stages: {fetched}");
    }
}

/// The same of the form for other machines, whose threads copy: two vectors of each thread and iteration.
#[test]
fn copies_of_runs_go_one_way_only() {
    let known = known_on(RING, &[3], "sm_80");
    let threads = known.threads_on(known.targets[0].target);
    assert_eq!(threads.flight.bytes, 2.0 * 32.0);
    assert_eq!(threads.flight.loads, 4);
    let read = threads.mix.read / (32.0 * super::weights::UNKNOWN_TRIPS);
    assert!((0.99..1.01).contains(&read), "{read}");
}

/// A ring that is half as deep waits twice as long for memory; a launch of few runs has no more under way than it copies.
#[test]
fn deeper_rings_wait_less() {
    let cycles = |stages| known(RING, &[stages]).threads_on(Target::find("sm_90").expect("a target")).flight.cycles;
    let ratio = (cycles(2) - cycles(32)) / (cycles(3) - cycles(32));
    assert!((1.8..3.0).contains(&ratio), "{ratio}");
    let few = known_launched(
        &RING.replace("<const S: usize>", "").replace("stages = S", "stages = 4"),
        [1, 1, 1],
        &[("runs", 1)],
        &[("x", 1024)],
    );
    assert_eq!(few.threads_on(few.targets[0].target).flight.bytes, 32.0);
}

const SAXPY: &str = "#[kernel(block = 256)] fn k(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() { y[i] = a * x[i] + y[i]; }
}";

const COPY: &str = "#[kernel(block = 256, ilp = ILP, vectorize = V)]
fn k<const ILP: usize, const V: usize>(out: &mut Global<f64>, inp: &Global<f64>) {
    let i = global_id().x;
    if i < out.len() { out[i] = inp[i]; }
}";

#[test]
fn saxpy_reads_two_and_writes_one() {
    let known = known(SAXPY, &[]);
    let mix = &known.threads.mix;
    assert_eq!((mix.read, mix.written, mix.operations), (8.0, 4.0, 2.0));
    assert_eq!(mix.intensity(), Some(2.0 / 12.0));
    assert_eq!((mix.of(Pipe::Single), mix.of(Pipe::Memory)), (1.0, 3.0));
    assert!(mix.is_exact());
    assert_eq!((known.threads.flight.loads, known.threads.flight.bytes), (2, 8.0));
}

/// A group of elements that is whole counts; what is left over does not.
#[test]
fn groups_count_once() {
    for (ilp, vector, loads) in [(1, 1, 1), (4, 1, 4), (8, 1, 8), (1, 2, 1), (4, 2, 4)] {
        let known = known(COPY, &[ilp, vector]);
        let bytes = (8 * ilp * vector) as f64;
        assert_eq!((known.threads.mix.read, known.threads.mix.written), (bytes, bytes), "ILP {ilp}, V {vector}");
        // `ptxas` hoists loads of what nobody writes above the stores: all are under way at once, batched or not.
        assert_eq!((known.threads.flight.loads, known.threads.flight.bytes), (loads, bytes), "ILP {ilp}, V {vector}");
        assert_eq!(known.threads.flight.serial, []);
    }
}

/// Two buffers that may be written are one to the assembler: the second load stays behind the first store.
#[test]
fn a_load_behind_a_store_waits() {
    let source = "#[kernel(block = 256)] fn k(a: &mut Global<f32>, b: &mut Global<f32>, out: &mut Global<f32>) {
        let i = global_id().x;
        out[i] = a[i] * 2.0;
        out[i + 4096] = b[i] * 2.0;
    }";
    let behind = known(source, &[]);
    let [serial] = behind.threads.flight.serial[..] else { panic!("{:?}", behind.threads.flight) };
    let kernel = behind.legal.addressed();
    assert!(
        matches!(kernel.insts[serial.load].op, Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { object, .. } }) if kernel.objects[object].name == "b")
    );
    assert!(
        matches!(kernel.insts[serial.first].op, Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { object, .. } }) if kernel.objects[object].name == "a")
    );
    assert_eq!(kernel.locations[serial.first_loc].line, 3);
    assert_eq!(behind.threads.flight.loads, 1);
    // Nobody writes it: the same order in the source, and both are under way.
    let read_only = known(&source.replace("b: &mut", "b: &"), &[]);
    assert_eq!((read_only.threads.flight.loads, read_only.threads.flight.serial.len()), (2, 0));
    // Other elements, by the same pointer and a constant.
    let apart = known(&source.replace("b[i]", "out[i + 8192]"), &[]);
    assert_eq!((apart.threads.flight.loads, apart.threads.flight.serial.len()), (2, 0));
}

#[test]
fn loops_count_as_often_as_they_run() {
    let source = "#[kernel(block = 64)] fn k(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
        let mut sum = 0.0;
        #[unroll(1)]
        for j in 0..LIMIT { sum += x[j * 64 + global_id().x]; }
        y[global_id().x] = sum;
    }";
    let fixed = known(&source.replace("LIMIT", "10"), &[]);
    assert_eq!((fixed.threads.mix.read, fixed.threads.mix.is_exact()), (40.0, true));
    assert_eq!(fixed.threads.mix.of(Pipe::Single), 10.0);
    // Each load is waited for.
    assert_eq!(fixed.threads.flight.loads, 1);
    let latency = 378.0 * 1.98;
    let cycles = fixed.threads.flight.cycles;
    assert!((10.0 * latency..11.0 * latency).contains(&cycles), "{cycles}");
    // So does a stretch of its own for each thread.
    let stretch = known(&source.replace("0..LIMIT", "3 * n..3 * n + 10"), &[]);
    assert_eq!((stretch.threads.mix.read, stretch.threads.mix.is_exact()), (40.0, true));
    let open = known(&source.replace("LIMIT", "n"), &[]);
    assert!(!open.threads.mix.is_exact());
    assert_eq!(open.threads.mix.read, 4.0 * super::weights::UNKNOWN_TRIPS);
    // Left to the assembler, four iterations go together.
    let free = known(&source.replace("LIMIT", "n").replace("#[unroll(1)]", ""), &[]);
    assert_eq!(free.threads.flight.loads, 4);
}

#[test]
fn streams_are_bound_by_memory_and_chains_by_latency() {
    let saxpy = known(SAXPY, &[]);
    let prediction = saxpy.targets[0].prediction.as_ref().expect("a prediction");
    assert_eq!(prediction.device, "H200 SXM");
    // 3434 GB/s were timed (docs/measurements.md).
    assert!((prediction.bandwidth / 3434e9 - 1.0).abs() < 0.10, "{prediction:?}");
    assert!((0.65..0.8).contains(&prediction.share_of_peak), "{prediction:?}");
    // 2048 threads of 8 bytes.
    assert_eq!((prediction.loads_in_flight, prediction.bytes_in_flight), (2, 16384.0));
    assert!(prediction.bytes_needed > prediction.bytes_in_flight, "{prediction:?}");
    // 2²⁸ elements take 0.94 ms there.
    let seconds = prediction.seconds(1 << 20);
    assert!((seconds / 0.938e-3 - 1.0).abs() < 0.12, "{seconds}");
    // A launch of nothing takes its floor, and a block's life.
    assert!((3e-6..6e-6).contains(&prediction.seconds(1)));

    let chain = "#[kernel(block = 32)] fn k(a: f32, out: &mut Global<f32>) {
        let mut x = a;
        #[unroll(1)]
        for _ in 0..1000 { #[unroll] for _ in 0..32 { x = x.mul_add(a, 1.0); } }
        out[global_id().x] = x;
    }";
    let chain = known(chain, &[]);
    let prediction = chain.targets[0].prediction.as_ref().expect("a prediction");
    // A multiprocessor holds 32 such blocks: eight warps a scheduler, and four hide the latency of a chain.
    assert_eq!(prediction.bound, Bound::Arithmetic);
    assert!(prediction.operations > 0.85 * 132.0 * 256.0 * 1.98e9, "{prediction:?}");
}

/// Eight loops in each other, and a thousand loads and stores in a row: neither takes a time that anyone would notice.
#[test]
fn deep_and_long_kernels_take_no_time() {
    let deep: String = (0..8).map(|n| format!("#[unroll(1)] for i{n} in 0..n {{ ")).collect();
    let deep = format!(
        "#[kernel(block = 64)] fn k(n: usize, y: &mut Global<f32>) {{ let mut sum = 0.0; {deep} sum += y[i7]; {} y[0] = sum; }}",
        "}".repeat(8)
    );
    let long = "#[kernel(block = 64)] fn k(n: usize, y: &mut Global<f32>) {
        #[unroll] for j in 0..1000usize { y[j * n] = 2.0 * y[j * n + 1]; }
    }";
    for source in [&deep, long] {
        let known = known(source, &[]);
        let start = std::time::Instant::now();
        let again = super::time::Threads::of(known.legal.addressed(), &known.facts.accesses, &known.facts.branches, &Launched::default());
        assert_eq!(again.mix, known.threads.mix);
        // A debug build on a busy machine takes some tens of milliseconds at most; what is exponential or quadratic takes many seconds.
        assert!(start.elapsed().as_secs_f64() < 2.0, "{:?}", start.elapsed());
    }
}

#[test]
fn predictions_need_a_block() {
    let known = known(&SAXPY.replace("(block = 256)", ""), &[]);
    assert_eq!(known.targets[0].prediction, None);
    assert_eq!(known.threads.mix.read, 8.0);
}

/// The long path of a sine is for rare arguments; both functions of one argument share what is before them.
#[test]
fn rare_paths_of_functions_are_not_taken() {
    let of = |body: &str| {
        let source = format!(
            "#[kernel(block = 256)] fn k(x: &Global<f32>, y: &mut Global<f32>) {{
                let i = global_id().x;
                if i < y.len() {{ y[i] = {body}; }}
            }}"
        );
        known(&source, &[]).threads.mix.instructions()
    };
    let (copied, sine, both) = (of("x[i]"), of("x[i].sin()"), of("x[i].sin() + x[i].cos()"));
    // 11 fused multiply-adds and 9 others are the straight path; the rare one has 60 more.
    assert!((20.0..32.0).contains(&(sine - copied)), "{sine} less {copied}");
    assert!((1.0..10.0).contains(&(both - sine)), "{both} less {sine}");
}

/// A loop that begins at the thread's own number is run by as many warps as have threads in it: of these sums, those of all warps are the first
/// one's, and 31 everybody's.
#[test]
fn loops_from_the_threads_number_have_known_trips() {
    let sum = "#[kernel(block = B)] fn k<const B: usize>(x: &Global<f32>, y: &mut Global<f32>) {
        #[shared] let mut all: [f32; B];
        let t = thread_idx().x;
        let mut sum = x[global_id().x];
        all[t] = sum;
        sync_threads();
        if t < 32 {
            for above in (t + 32..B).step_by(32) { sum += all[above]; }
            all[t] = sum;
        }
        sync_threads();
        sum = all[0];
        for column in 1..32 { sum += all[column]; }
        if t == 0 { y[block_idx().x] = sum; }
    }";
    let [small, large] = [64, 1024].map(|block| known(sum, &[block]).threads.mix);
    assert!(small.is_exact() && large.is_exact());
    assert_eq!((small.of(Pipe::Single), large.of(Pipe::Single)), (1.0 / 2.0 + 31.0, 31.0 / 32.0 + 31.0));
    let two_dimensional = "#[kernel(block = (8, 8))] fn k(y: &mut Global<f32>) {
        let t = thread_idx().y * 8 + thread_idx().x;
        for n in (t..256).step_by(64) { y[n] = 1.0; }
    }";
    assert_eq!(known(two_dimensional, &[]).threads.mix.written, 16.0);
}

/// A table that a sine reads, taken out of the loop, makes no rare path of the guard round it.
#[test]
fn a_guard_round_a_loop_with_a_sine_is_run() {
    let of = |body: &str| {
        let source = format!(
            "#[kernel(block = 256)] fn k(n: usize, x: &Global<f32>, y: &mut Global<f32>) {{
                let i = global_id().x;
                if i < y.len() {{ let mut s = 0.0f32; {body} y[i] = s; }}
            }}"
        );
        known(&source, &[])
    };
    for (body, least) in [
        ("#[unroll(1)] for k in 0..8 { s += x[i * 8 + k].sin(); }", 8.0 * 25.0),
        ("for k in 0..n { s += x[i * 8 + k].sin(); }", 1000.0 * 25.0),
        ("for k in 0..n { s += x[i * 8 + k].cos(); }", 1000.0 * 25.0),
        ("for k in 0..n { let v = x[i * 8 + k]; if v > 1.0 { s += v.tan(); } else { s += v; } }", 1000.0 * 10.0),
        ("let mut k = 0; while k < n { s += x[i * 8 + k].sin(); k += 1; }", 1000.0 * 25.0),
    ] {
        let found = of(body);
        assert!(found.threads.mix.instructions() > least, "{body}: {}", found.threads.mix.instructions());
        let bandwidth = found.targets[0].prediction.as_ref().expect("a prediction").bandwidth;
        assert!(bandwidth > 1e10, "{body}: {bandwidth}");
    }
}

/// Groups of iterations and what they leave over have the rounds of the loop that they were made of.
#[test]
fn loops_made_of_one_share_its_rounds() {
    for (annotations, range) in [
        ("#[unroll(1)]", "0..n"),
        ("#[unroll(4)]", "0..n"),
        ("#[unroll(3)]", "0..n"),
        ("#[ilp(4)]", "0..n"),
        ("#[ilp(2)] #[unroll(4)]", "0..n"),
        ("#[unroll(4)]", "(0..n).step_by(3)"),
        ("#[unroll(4)]", "i..n"),
        ("#[prefetch] #[unroll(4)]", "0..n"),
    ] {
        let source = format!(
            "#[kernel(block = 256)] fn k(n: usize, x: &Global<f32>, y: &mut Global<f32>) {{
                let i = global_id().x;
                let mut s = 0.0f32;
                {annotations} for k in {range} {{ s += x[k * 256 + i]; }}
                y[i] = s;
            }}"
        );
        let mix = known(&source, &[]).threads.mix;
        // What is fetched ahead is fetched once more.
        let read = mix.read / 4.0 - if annotations.contains("prefetch") { 4.0 } else { 0.0 };
        assert!((read - 1000.0).abs() < 5.0, "{annotations} {range}: {read}");
        assert!(!mix.is_exact());
    }
    // A known number leaves over what it leaves.
    let fixed = "#[kernel(block = 256)] fn k(x: &Global<f32>, y: &mut Global<f32>) {
        let i = global_id().x;
        let mut s = 0.0f32;
        #[unroll(4)] for k in 0..1003 { s += x[k * 256 + i]; }
        y[i] = s;
    }";
    let mix = known(fixed, &[]).threads.mix;
    assert_eq!((mix.read, mix.is_exact()), (4.0 * 1003.0, true));
}

/// What threads' numbers and constants decide of loops is decided.
#[test]
fn rounds_are_those_that_threads_make() {
    let of = |block: &str, body: &str| {
        let source = format!("#[kernel(block = {block})] fn k(n: usize, y: &mut Global<f32>) {{ {body} }}");
        let mix = known(&source, &[]).threads.mix;
        (mix.written / 4.0, mix.is_exact())
    };
    // 400 places and 256 threads: five of eight warps go round twice.
    let halo = "let mut i = thread_idx().y * 16 + thread_idx().x; while i < 400 { y[i] = 1.0; i += 256; }";
    assert_eq!(of("(16, 16)", halo), (13.0 / 8.0, true));
    let counted = "for i in (thread_idx().y * 16 + thread_idx().x..400).step_by(256) { y[i] = 1.0; }";
    assert_eq!(of("(16, 16)", counted), (13.0 / 8.0, true));
    // Warps that have retired do nothing: 4, 2, 1, 1 … of eight.
    let tree = "let t = thread_idx().x; let mut s = 128; while s > 0 { if t < s { y[t] = 1.0; } sync_threads(); s /= 2; }";
    assert_eq!(of("256", tree), ((4 + 2 + 6) as f64 / 8.0, true));
    let triangle = "#[unroll(1)] for i in 0..10 { #[unroll(1)] for j in 0..i { y[j] = 1.0; } }";
    assert_eq!(of("64", triangle), (45.0, true));
    // Only one thread, of one warp of four.
    assert_eq!(of("128", "if thread_idx().x == 0 { y[0] = 1.0; }"), (0.25, true));
    let open = "let mut i = thread_idx().x; while i < n { y[i] = 1.0; i += 256; }";
    assert_eq!(of("256", open), (1000.0, false));
}

/// A bound that a launch gives is one that most threads are below, though it is a known number then.
#[test]
fn guards_of_a_launch_are_as_in_the_middle_of_its_grid() {
    let source = "#[kernel(block = (32, 4))] fn k(w: usize, h: usize, x: &Global<f32>, y: &mut Global<f32>) {
        let (column, row) = (global_id().x, global_id().y);
        if column > 0 && column + 1 < w && row < h { let at = row * w + column; y[at] = x[at - 1]; }
    }";
    let bytes = |w: u32, h: u32| {
        let found = known_launched(source, [128, 1000, 1], &[("w", w), ("h", h)], &[]);
        (found.threads.mix.read, found.threads.mix.written, found.facts.accesses.iter().any(|access| access.is_rare))
    };
    // Neither the width nor the height is a whole number of blocks.
    assert_eq!(bytes(4090, 3999), (4.0, 4.0, false));
    // Of a grid that is far too wide, most threads have nothing to do.
    assert_eq!(bytes(100, 3999).0, 0.0);
}

/// A launch decides what its kernel leaves open.
#[test]
fn a_launch_decides_rounds() {
    let source = "#[kernel(block = 256)] fn k(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
        let mut s = 0.0f32;
        for i in (global_id().x..x.len()).step_by(grid_dim().x * 256) { s += x[i]; }
        #[unroll(1)] for _ in 0..n { s *= 0.5; }
        y[global_id().x] = s;
    }";
    let found = known_launched(source, [64, 1, 1], &[("n", 7)], &[("x", 64 * 256 * 10)]).threads.mix;
    assert_eq!((found.read, found.of(Pipe::Single), found.is_exact()), (40.0, 10.0 + 7.0, true));
}

/// Bytes of a warp from memory, those that come into the multiprocessor, and those of the memory's that are used.
fn moved(source: &str) -> [f64; 3] {
    let known = known(source, &[]);
    let traffic = &known.threads.traffic;
    [traffic.read, traffic.filled, traffic.used]
}

/// A grid that is periodic in y: `up` and `down` are numbers that are the same in all lanes, and other ones in the next row of blocks.
fn periodic(sum: &str) -> String {
    format!(
        "#[kernel(block = 32)] fn k(w: usize, h: usize, x: &Global<f32>, y: &mut Global<f32>) {{
            let (i, j) = (global_id().x, block_idx().y);
            let (up, down) = (if j == 0 {{ h - 1 }} else {{ j - 1 }}, if j + 1 == h {{ 0 }} else {{ j + 1 }});
            let plane = w * h;
            y[j * w + i] = {sum};
        }}"
    )
}

#[test]
fn planes_of_a_buffer_come_from_memory_and_neighbouring_rows_once() {
    let row = 128.0;
    // Each plane is read once, though its row is named by a number that nobody knows.
    let planes = moved(&periodic("x[up * w + i] + x[plane + j * w + i] + x[2 * plane + down * w + i]"));
    assert_eq!(planes, [3.0 * row, 3.0 * row, 4.0 * row]);
    // Three rows of one plane: two of them are what other blocks read, too.
    let rows = moved(&periodic("x[up * w + i] + x[j * w + i] + x[down * w + i]"));
    assert_eq!(rows, [row, 3.0 * row, 2.0 * row]);
}

#[test]
fn what_begins_at_a_number_that_is_read_is_a_blocks_own() {
    let source = "#[kernel(block = 256)] fn k(starts: &Global<u32>, x: &Global<f32>, y: &mut Global<f32>) {
        let row = global_id().x;
        let first = starts[INDEX] as usize;
        let mut sum = 0.0;
        for k in 0..32 { sum += x[first + k * 32 + row % 32]; }
        y[row] = sum;
    }";
    let [own, ..] = moved(&source.replace("INDEX", "row / 32"));
    assert!((32.0 * 128.0..33.5 * 128.0).contains(&own), "{own}");
    // One table that all blocks read comes from the L2 cache.
    let [common, filled, used] = moved(&source.replace("INDEX", "0"));
    assert!(common <= 128.0 && filled >= 32.0 * 128.0 / 8.0, "{common} of {filled}");
    assert!(used <= common + 128.0, "{used}");
}

/// How fast the memory is bounds how fast it is said to be used, whoever answers.
#[test]
fn bandwidth_is_never_more_than_the_memorys() {
    let broadcast = "#[kernel(block = 256)] fn k(n: usize, x: &Global<[f32; 8]>, y: &mut Global<f32>) {
        let mut sum = 0.0;
        for k in 0..n { let row = x[k]; sum += row[0] + row[3] + row[7]; }
        y[global_id().x] = sum;
    }";
    for source in [broadcast.to_owned(), periodic("x[up * w + i] + x[j * w + i] + x[down * w + i] + x[j * w + i + 1]"), SAXPY.to_owned()] {
        for target in ["sm_52", "sm_80", "sm_90"] {
            let known = known_on(&source, &[], target);
            let prediction = known.targets[0].prediction.as_ref().expect("a prediction");
            assert!((0.0..=1.0).contains(&prediction.share_of_peak), "{source} on {target}: {prediction:?}");
        }
    }
}

/// All lanes read one element after another: sectors that come from the L2 cache are waited for when they are new.
#[test]
fn a_walk_in_step_waits_for_new_sectors_only() {
    let walk = |fields: &str| {
        let source = "#[kernel(block = 256)] fn k(n: usize, x: &Global<[f32; 4]>, y: &mut Global<f32>) {
            let i = global_id().x;
            let mut sum = y[i];
            #[unroll(1)]
            for k in 0..n { let row = x[k]; sum = sum * row[0] + FIELDS; }
            y[i] = sum;
        }";
        known(&source.replace("FIELDS", fields), &[]).threads.flight.cycles / super::weights::UNKNOWN_TRIPS
    };
    let (one, four) = (walk("1.0"), walk("row[1] + row[2] + row[3]"));
    // Half of the rounds find their 16 bytes in the sector of the round before.
    let (hit, miss) = (36.0, 283.0 * 1.15);
    assert!((0.5 * (hit + miss)..0.5 * (hit + miss) + 40.0).contains(&one), "{one}");
    // Loads of the same sector wait for nothing more.
    assert!(four < one + 60.0, "{four} and {one}");
}

/// On an H200 sums of a table in constant memory took 68 times as long where each lane read a word of its own (`experiments::constants` of the kernels).
#[test]
fn lanes_that_part_in_constant_memory_wait_for_each_other() {
    let source = "#[kernel(block = 256)] fn k(steps: usize, table: &Constant<[u32; 1024]>, y: &mut Global<u32>) {
        let i = global_id().x;
        let mut sum = 0u32;
        #[unroll(4)]
        for k in 0..steps { sum = sum.wrapping_add(table[INDEX] ^ k as u32); }
        y[i] = sum;
    }";
    let predicted = |index: &str| {
        let known = known(&source.replace("INDEX", index), &[]);
        known.targets[0].prediction.clone().expect("a prediction")
    };
    let (together, apart) = (predicted("k % 1024"), predicted("(i * 37 + k) % 1024"));
    assert_eq!((together.bound, apart.bound), (Bound::Arithmetic, Bound::Constants));
    let ratio = apart.block_seconds / together.block_seconds;
    assert!((61.0..75.0).contains(&ratio), "{ratio}");
    // A known number of addresses, and one that data decides: of 32 lanes among 1024 words, some meet.
    let (two, data) = (predicted("i / 16 % 2 * 512 + k % 512"), predicted("(y[i] as usize + k) % 1024"));
    assert!(two.work.replays == apart.work.replays / 31.0, "{} and {}", two.work.replays, apart.work.replays);
    assert!((30.0..31.0).contains(&(31.0 * data.work.replays / apart.work.replays)), "{}", data.work.replays);
}

#[test]
fn data_decides_few_rounds_and_buffers_how_many() {
    let source = "#[kernel(block = 256)] fn k(starts: &Global<u32>, values: &Global<f32>, y: &mut Global<f32>) {
        let row = global_id().x;
        if row < y.len() {
            let mut sum = 0.0;
            #[unroll(1)]
            for k in starts[row] as usize..starts[row + 1] as usize { sum += values[k]; }
            y[row] = sum;
        }
    }";
    let rounds = |known: Known| ((known.threads.mix.read - 8.0) / 4.0, known.threads.mix.certainty);
    assert_eq!(rounds(known(source, &[])), (super::weights::DATA_TRIPS, Certainty::Guessed));
    // 4,096 rows have 28,672 elements together.
    let launched = known_launched(source, [16, 1, 1], &[], &[("values", 28_672), ("y", 4_096)]);
    assert_eq!(rounds(launched), (7.0, Certainty::Guessed));
    // A number of the launch that is missing is another thing.
    let open = source.replace("starts[row] as usize..starts[row + 1] as usize", "0..starts.len()");
    assert_eq!(known(&open, &[]).threads.mix.certainty, Certainty::Open);
}

#[test]
fn a_loop_that_counts_makes_as_many_rounds_as_that_says() {
    let source = "#[kernel(block = 256)] fn k(steps: usize, x: &Global<u32>, y: &mut Global<u32>) {
        let i = global_id().x;
        let (mut step, mut v) = (0usize, x[i]);
        while step + 2 <= steps {
            v = v * 5 + 1;
            if v == 0 { break; }
            step += 2;
        }
        y[i] = v;
    }";
    let mix = known_launched(source, [16, 1, 1], &[("steps", 8_000)], &[]).threads.mix;
    // Whether one leaves earlier, data says.
    assert_eq!(mix.certainty, Certainty::Guessed);
    assert!((3_990.0..4_010.0).contains(&mix.of(Pipe::Product)), "{mix:?}");
}

#[test]
fn long_walks_along_constant_memory_fetch_each_line_for_each_warp() {
    let source = "#[kernel(block = 256)] fn k(samples: &Constant<[[f32; 4]; 4000]>, y: &mut Global<f32>) {
        let i = global_id().x;
        let mut sum = y[i];
        for k in 0..COUNT { let s = samples[k]; sum += s[0] * s[1] + s[2] * s[3]; }
        y[i] = sum;
    }";
    let lines = |count: &str| known(&source.replace("COUNT", count), &[]).threads.traffic.constant_lines;
    // A quarter of a line of 64 bytes each round.
    assert_eq!(lines("4000"), 1_000.0);
    assert_eq!(lines("500"), 0.0);
}
