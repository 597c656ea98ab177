//! Mistakes that source cannot express: what the compiler makes of pipelined loops, a line of its IR left out or changed. The verifier refuses it or the
//! simulator stops it; what neither says must give the same.

use super::engine_runs::{IrOutcome, run_text};
use warpwright_codegen::ir::{Kernel, ObjectKind};
use warpwright_codegen::pipeline::compile_text;
use warpwright_codegen::syntax::Instance;
use warpwright_runtime::definition::SourceText;
use warpwright_runtime::sim::{Error, SimArgument, SimLaunch, SimProgram};

/// A mistake in IR.
pub struct IrMistake {
    /// Its name in tables.
    pub name: &'static str,
    /// What the edit is.
    pub edit: &'static str,
    /// The lines that stand for a line; none where it is not made.
    change: fn(&str) -> Option<Vec<String>>,
}

/// Every mistake, in the order of the table.
pub const IR_MISTAKES: &[IrMistake] = &[
    IrMistake { name: "tile read before its wait", edit: "`barrier_wait` left out", change: |line| dropped(line, "barrier_wait ") },
    IrMistake { name: "wrong phase", edit: "the other parity of `barrier_wait`", change: other_parity },
    IrMistake { name: "slot never handed back", edit: "`barrier_arrive` left out", change: |line| dropped(line, "barrier_arrive ") },
    IrMistake { name: "bytes not announced", edit: "`barrier_expect` left out", change: |line| dropped(line, "barrier_expect ") },
    IrMistake { name: "barrier not made", edit: "`barrier_init` left out", change: |line| dropped(line, "barrier_init ") },
    IrMistake { name: "missing proxy fence", edit: "`engine_fence` left out", change: |line| dropped(line, "engine_fence") },
    IrMistake { name: "copy not asked for", edit: "`copy_run` or `copy_tile` left out", change: |line| dropped(line, "copy_") },
    IrMistake { name: "copy asked for twice", edit: "`copy_run` or `copy_tile` doubled", change: |line| doubled(line, "copy_") },
    IrMistake { name: "slot overwritten in flight", edit: "every copy goes to the first slot", change: first_slot },
    IrMistake { name: "barrier of the block", edit: "`call sync_threads` left out", change: |line| dropped(line, "call sync_threads") },
    IrMistake { name: "barrier of a warpgroup", edit: "`warpgroup_sync` left out", change: |line| dropped(line, "warpgroup_sync ") },
    IrMistake { name: "store not asked for", edit: "`put_tile` left out", change: |line| dropped(line, "put_tile ") },
    IrMistake { name: "stores not grouped", edit: "`commit_stores` left out", change: |line| dropped(line, "commit_stores") },
    IrMistake { name: "store not awaited", edit: "`await_stores` left out", change: |line| dropped(line, "await_stores ") },
    IrMistake { name: "copies not grouped", edit: "`commit_copies` left out", change: |line| dropped(line, "call commit_copies") },
    IrMistake { name: "copies not awaited", edit: "`await_copies` left out", change: |line| dropped(line, "call await_copies") },
];

fn dropped(line: &str, word: &str) -> Option<Vec<String>> {
    line.starts_with(word).then(Vec::new)
}

fn doubled(line: &str, word: &str) -> Option<Vec<String>> {
    line.starts_with(word).then(|| vec![line.to_owned(); 2])
}

/// `barrier_wait m4[v1], v2` with the phase that `v2` is not.
fn other_parity(line: &str) -> Option<Vec<String>> {
    let rest = line.strip_prefix("barrier_wait ")?;
    let (head, place) = rest.split_once(" @").map_or((rest, String::new()), |(head, place)| (head, format!(" @{place}")));
    let (barrier, phase) = head.rsplit_once(", ")?;
    Some(vec![
        "v90000: u32 = const 1".to_owned(),
        format!("v90001: u32 = xor {phase}, v90000"),
        format!("barrier_wait {barrier}, v90001{place}"),
    ])
}

/// `copy_run m3[v14], …` to the slot 0; its barrier stays the slot's.
fn first_slot(line: &str) -> Option<Vec<String>> {
    if !line.starts_with("copy_") {
        return None;
    }
    let (open, close) = (line.find('[')?, line.find(']')?);
    Some(vec!["v90000: u32 = const 0".to_owned(), format!("{}[v90000{}", &line[..open], &line[close..])])
}

/// A kernel whose form for machines with a copy engine is taken, and what it is launched with.
pub struct EngineKernel {
    /// Its name.
    pub name: &'static str,
    source: &'static str,
    /// Parameters by value.
    values: &'static [(&'static str, u32)],
    /// Threads that are started.
    threads: u32,
    /// Whether it is the form that all machines have.
    is_plain: bool,
}

/// The kernels.
pub const ENGINE_KERNELS: &[EngineKernel] = &[
    EngineKernel { name: "runs by `cp.async`", source: RUNS, values: &[("runs", 5), ("a", 3), ("b", 1)], threads: 64, is_plain: true },
    EngineKernel {
        name: "runs by the copy engine, the short one early",
        source: RUNS,
        values: &[("runs", 5), ("a", 3), ("b", 1)],
        threads: 64,
        is_plain: false,
    },
    EngineKernel {
        name: "runs by the copy engine, the short one late",
        source: RUNS,
        values: &[("runs", 5), ("a", 2), ("b", 0)],
        threads: 64,
        is_plain: false,
    },
    EngineKernel { name: "runs by a producer", source: PRODUCED, values: &[("runs", 5), ("a", 2), ("b", 0)], threads: 64, is_plain: false },
    EngineKernel { name: "tiles in", source: TILES, values: MATRIX, threads: 64, is_plain: false },
    EngineKernel { name: "tiles out", source: STRIPS, values: MATRIX, threads: 64, is_plain: false },
    EngineKernel { name: "sums out, by warpgroups", source: SUMS, values: FACTORS, threads: 256, is_plain: false },
];

const MATRIX: &[(&str, u32)] = &[("m.rows", 24), ("m.columns", 32), ("m.pitch", 32), ("c.rows", 8), ("c.columns", 64), ("c.pitch", 64)];

const FACTORS: &[(&str, u32)] = &[
    ("a.rows", 100),
    ("a.columns", 192),
    ("a.pitch", 192),
    ("b.rows", 48),
    ("b.columns", 192),
    ("b.pitch", 192),
    ("c.rows", 80),
    ("c.columns", 48),
    ("c.pitch", 48),
];

const RUNS: &str = "#[kernel(block = 64)]
pub fn k(runs: usize, a: usize, b: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    for round in 0..2 {
        #[pipeline(stages = 3)]
        for n in 0..runs {
            load_run(&mut run, x, (n * a + b) % 5 * 256 + round * 4);
            sync_threads();
            sum = sum * 3.0 + run[t * 4] + run[255 - t];
            sync_threads();
        }
    }
    y[t] = sum;
}";

const PRODUCED: &str = "#[kernel(block = 64)]
pub fn k(runs: usize, a: usize, b: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    for round in 0..2 {
        #[pipeline(stages = 3, producer)]
        for n in 0..runs {
            load_run(&mut run, x, (n * a + b) % 5 * 256 + round * 4);
            sync_threads();
            sum = sum * 3.0 + run[t * 4] + run[255 - t];
            sync_threads();
        }
    }
    y[t] = sum;
}";

const TILES: &str = "#[kernel(block = 64)]
pub fn k(m: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 32]; 4];
    let t = thread_idx().x;
    let mut sum = 0.0;
    for _ in 0..2 {
        #[pipeline(stages = 3, by = tma)]
        for n in 0..m.rows() / 4 {
            load_tile(&mut tile, m, n * 4, 0);
            sync_threads();
            sum = sum * 3.0 + tile[t % 4][t / 4] + tile[3 - t % 4][31 - t / 4];
            sync_threads();
        }
    }
    y[t] = sum;
}";

const STRIPS: &str = "#[kernel(block = 64)]
pub fn k(x: &Global<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut strip: [[f32; 16]; 4];
    let t = thread_idx().x;
    for round in 0..2 {
        #[pipeline(stages = 3, by = tma)]
        for n in 0..c.columns() / 16 {
            strip[t / 16][t % 16] = x[n * 64 + t] * 2.0 + round as f32;
            sync_threads();
            store_tile(c, round * 4, n * 16, &strip);
            sync_threads();
        }
    }
}";

const SUMS: &str = "#[kernel(block = 256)]
pub fn k(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<bf16>) {
    #[shared(swizzle = 128)]
    let mut left: [[bf16; 64]; 128];
    #[shared(swizzle = 128)]
    let mut right: [[bf16; 64]; 48];
    #[shared(swizzle = 32)]
    let mut strip: [[bf16; 16]; 128];
    let mut sums = Accumulator::<f32, 128, 48>::zero();
    #[pipeline(stages = 2, by = tma, producer)]
    for step in 0..a.columns() / 64 {
        load_tile(&mut left, a, 0, step * 64);
        load_tile(&mut right, b, 0, step * 64);
        sync_threads();
        multiply_add(&left, transposed(&right), &mut sums);
        sync_threads();
    }
    #[unroll]
    #[pipeline(stages = 2, by = tma)]
    for n in 0..3 {
        sums.store_columns(n * 16, &mut strip);
        sync_threads();
        store_tile(c, 0, n * 16, &strip);
        sync_threads();
    }
}";

/// The file that the kernels' faults name.
const FILE: &str = "k.rs";

impl EngineKernel {
    /// The source.
    pub fn source(&self) -> SourceText {
        SourceText { file: FILE, line: 1, column: 1, text: self.source }
    }

    /// The text of the form.
    ///
    /// # Panics
    /// If the source does not compile.
    pub fn text(&self) -> String {
        let lowered = compile_text(FILE, self.source, "k", &Instance::default()).unwrap_or_else(|found| {
            let said: Vec<String> = found.iter().map(|finding| finding.message.clone()).collect();
            panic!("{}: {}", self.name, said.join("; "))
        });
        let legal = lowered.kernel.legal();
        let form = if self.is_plain { legal } else { legal.forms().next().expect("a form with a copy engine") };
        form.to_string()
    }

    /// Runs a text of it.
    pub fn run(&self, text: &str) -> IrOutcome {
        run_text(text, &|kernel| match SimProgram::compile(kernel) {
            Ok(program) => self.launch(kernel, &program),
            Err(error) => IrOutcome::Refused(error.to_string()),
        })
    }

    fn launch(&self, kernel: &Kernel, program: &SimProgram) -> IrOutcome {
        // The last run is not whole: threads store it, and the engine fills its slot again. Of matrices all is there.
        let len = if self.values.iter().any(|(name, _)| *name == "a.rows") { 9600 } else { 1180u32 };
        let numbers: Vec<u8> = (0..len).flat_map(|i| ((i * 37 % 61) as f32).to_le_bytes()).collect();
        let value = |name: &str| self.values.iter().find(|(known, _)| *known == name).map_or(0, |(_, value)| *value).to_le_bytes();
        let mut buffers: Vec<Vec<u8>> = Vec::new();
        for object in &kernel.params {
            let data = &kernel.objects[*object];
            buffers.push(match data.kind {
                ObjectKind::Global { writable: true } => vec![0; 2048 * 4],
                ObjectKind::Global { writable: false } => numbers.clone(),
                _ => value(&data.name).to_vec(),
            });
        }
        let mut arguments: Vec<SimArgument<'_>> = Vec::new();
        for (object, bytes) in kernel.params.iter().zip(&mut buffers) {
            arguments.push(match kernel.objects[*object].kind {
                ObjectKind::Global { writable: true } => SimArgument::Global { bytes },
                ObjectKind::Global { writable: false } => SimArgument::GlobalReadOnly { bytes },
                _ => SimArgument::Value(bytes),
            });
        }
        let launch = SimLaunch { grid: [1, 1, 1], block: [self.threads, 1, 1], shared_bytes: 0 };
        match program.run(&launch, &mut arguments) {
            Ok(_) => IrOutcome::Ended(buffers),
            Err(Error::Fault(fault)) => IrOutcome::Fault(fault),
            Err(other) => IrOutcome::Refused(other.to_string()),
        }
    }
}

/// A text with a mistake at each of the lines where it can be made, with that line.
pub fn ir_mutants(text: &str, mistake: &IrMistake) -> Vec<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mutant = |at: usize| {
        let (line, margin) = (lines[at].trim_start(), lines[at].len() - lines[at].trim_start().len());
        let instead = (mistake.change)(line)?.into_iter().map(|line| format!("{}{line}\n", " ".repeat(margin))).collect::<String>();
        let join = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        Some((line.to_owned(), join(&lines[..at]) + &instead + &join(&lines[at + 1..])))
    };
    (0..lines.len()).filter_map(mutant).collect()
}
