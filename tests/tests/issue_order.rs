//! What `batch_loads` and `prefetch` promise is so in machine code: by ptxas 12.9 and 13.x, for sm_80, sm_90 and sm_120.

use proc_macro2::Span;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpwright_codegen::backend::ptx;
use warpwright_codegen::backend::ptx::code::{Module, Statement};
use warpwright_codegen::backend::ptx::words::{Mnemonic, Word};
use warpwright_codegen::target::Target;
use warpwright_runtime::issue_order::{self, IssueOrder, Issued};
use warpwright_runtime::nvdisasm::{Nvdisasm, SassLine};
use warpwright_tests::corpus::{self, Variant};
use warpwright_tests::ptxas::{self, BATCH, Ptxas};

const TARGETS: [&str; 3] = ["sm_80", "sm_90", "sm_120"];

/// Eight accesses of 16 bytes before the first sum; tiles of two buffers and one barrier; of one buffer and two; fragments of shared tiles.
const KERNELS: &str = "#[kernel(block = 256)]
fn sum8(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let mut sum = 0.0f32;
    #[unroll(8)]
    #[batch_loads]
    for k in 0..n {
        let v = x.load::<4>(4 * (k * 256 + thread_idx().x));
        sum += (v[0] + v[1]) + (v[2] + v[3]);
    }
    y[global_id().x] = sum;
}

#[kernel(block = (16, 16))]
fn two_buffers(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut tiles: [[[f32; 16]; 32]; 2];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let row = block_idx().y * 16 + ty;
    let column = block_idx().x * 16 + tx;
    let mut sum = 0.0;
    #[prefetch]
    for tile in 0..n / 16 {
        let side = tile % 2;
        tiles[side][ty][tx] = a[row * n + tile * 16 + tx];
        tiles[side][16 + ty][tx] = b[(tile * 16 + ty) * n + column];
        sync_threads();
        #[unroll]
        for k in 0..16usize {
            sum += tiles[side][ty][k] * tiles[side][16 + k][tx];
        }
    }
    c[row * n + column] = sum;
}

#[kernel(block = (16, 16))]
fn one_buffer(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut tiles: [[f32; 16]; 32];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let row = block_idx().y * 16 + ty;
    let column = block_idx().x * 16 + tx;
    let mut sum = 0.0;
    #[prefetch]
    for tile in 0..n / 16 {
        sync_threads();
        tiles[ty][tx] = a[row * n + tile * 16 + tx];
        tiles[16 + ty][tx] = b[(tile * 16 + ty) * n + column];
        sync_threads();
        #[unroll]
        for k in 0..16usize {
            sum += tiles[ty][k] * tiles[16 + k][tx];
        }
    }
    c[row * n + column] = sum;
}

#[kernel(block = 128)]
fn fragments(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut a_tile: [[f32; 64]; 8];
    #[shared]
    let mut b_tile: [[f32; 128]; 8];
    let t = thread_idx().x;
    let mut sum = [[0.0f32; 8]; 8];
    for tile in 0..n / 8 {
        a_tile[t / 16].store::<4>(t % 16 * 4, a.load::<4>((tile * 8 + t / 16) * 64 + t % 16 * 4));
        #[unroll]
        for i in 0..2usize {
            b_tile[t / 32 + 4 * i].store::<4>(t % 32 * 4, b.load::<4>((tile * 8 + t / 32 + 4 * i) * 128 + t % 32 * 4));
        }
        sync_threads();
        #[unroll]
        #[prefetch]
        for k in 0..8usize {
            let (p, q) = (a_tile[k].load::<4>(t / 16 * 8), a_tile[k].load::<4>(t / 16 * 8 + 4));
            let (r, s) = (b_tile[k].load::<4>(t % 16 * 8), b_tile[k].load::<4>(t % 16 * 8 + 4));
            #[unroll]
            for i in 0..8usize {
                #[unroll]
                for j in 0..8usize {
                    let left = if i < 4 { p[i % 4] } else { q[i % 4] };
                    let right = if j < 4 { r[j % 4] } else { s[j % 4] };
                    sum[i][j] += left * right;
                }
            }
        }
        sync_threads();
    }
    #[unroll]
    for i in 0..8usize {
        #[unroll]
        for j in 0..8usize {
            c[(t / 16 * 8 + i) * 128 + t % 16 * 8 + j] = sum[i][j];
        }
    }
}";

/// A block of 128 threads multiplies two shared tiles, `ROWS` by `COLUMNS` a thread, and reads the fragments of the next step early.
const FRAGMENTS: &str = "#[kernel(block = 128OPTIONS)]
fn NAME(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut a_tile: [[f32; 8 * ROWS]; 8];
    #[shared]
    let mut b_tile: [[f32; 16 * COLUMNS]; 8];
    let t = thread_idx().x;
    let mut sum = [[0.0f32; COLUMNS]; ROWS];
    for tile in 0..n / 8 {
        for i in 0..ROWS / 8 {
            let at = (i * 128 + t) * 4;
            a_tile[at / (8 * ROWS)].store::<4>(at % (8 * ROWS), a.load::<4>(tile * 64 * ROWS + at));
        }
        for i in 0..COLUMNS / 4 {
            let at = (i * 128 + t) * 4;
            b_tile[at / (16 * COLUMNS)].store::<4>(at % (16 * COLUMNS), b.load::<4>(tile * 128 * COLUMNS + at));
        }
        sync_threads();
        #[unrollTIMES]
        #[prefetch]
        for k in 0..8usize {
            let mut down = [0.0f32; ROWS];
            let mut over = [0.0f32; COLUMNS];
            #[unroll]
            for i in 0..ROWS / 4 {
                let v = a_tile[k].load::<4>(t / 16 * 4 + i * 32);
                #[unroll]
                for j in 0..4usize {
                    down[4 * i + j] = v[j];
                }
            }
            #[unroll]
            for i in 0..COLUMNS / 4 {
                let v = b_tile[k].load::<4>(t % 16 * 4 + i * 64);
                #[unroll]
                for j in 0..4usize {
                    over[4 * i + j] = v[j];
                }
            }
            #[unroll]
            for i in 0..ROWS {
                #[unroll]
                for j in 0..COLUMNS {
                    sum[i][j] += down[i] * over[j];
                }
            }
        }
        sync_threads();
    }
    #[unroll]
    for i in 0..ROWS {
        #[unroll]
        for j in 0..COLUMNS {
            c[(i * 128 + t) * COLUMNS + j] = sum[i][j];
        }
    }
}
";

/// Options, rows and columns of a thread, how often the loop over the steps is unrolled.
const SHAPES: [(&str, usize, usize, &str); 5] =
    [("", 8, 16, ""), ("", 8, 8, "(2)"), (", min_blocks = 2", 8, 16, ""), ("", 8, 4, ""), (", max_registers = 255", 16, 8, "")];

/// The assemblers that are asked, each with a disassembler.
fn judges(test: &str) -> Vec<(Ptxas, Nvdisasm)> {
    let found = ptxas::all().into_iter().filter(|ptxas| ["12.", "13."].iter().any(|major| ptxas.release.starts_with(major)));
    let found: Vec<_> = found.filter_map(|ptxas| Nvdisasm::find(&ptxas).map(|nvdisasm| (ptxas, nvdisasm))).collect();
    if found.is_empty() {
        println!("skipped: {test} (no ptxas with nvdisasm)");
    }
    found
}

fn module(variant: &Variant, target: &str) -> Module {
    let target = Target::find(target).expect("a target");
    ptx::module(variant.kernel.legal().for_target(target).addressed(), target, &|_| Span::call_site())
        .unwrap_or_else(|found| panic!("{found:?}"))
}

fn order(module: &Module, target: &str, (ptxas, nvdisasm): &(Ptxas, Nvdisasm)) -> Vec<IssueOrder> {
    let capability = Target::find(target).expect("a target").capability;
    ptxas.issue_order(nvdisasm, module, capability).unwrap_or_else(|error| panic!("{error}\n{module}"))
}

/// The same of many at once: a disassembler takes a quarter of a second to start. They are entries of one text.
fn orders(modules: &[&Module], target: &str, (ptxas, nvdisasm): &(Ptxas, Nvdisasm)) -> Vec<Vec<IssueOrder>> {
    let capability = Target::find(target).expect("a target").capability;
    let version = modules.iter().map(|module| module.version).max().expect("a module");
    let text = |(n, module): (usize, &&Module)| {
        let mut module = (*module).clone().numbered();
        module.entry.name = format!("kernel_{n}");
        module.version = version;
        let text = module.to_string();
        let is_kept =
            |line: &&str| n == 0 || ![".version", ".target", ".address_size", "\t.file"].iter().any(|begin| line.starts_with(begin));
        text.lines().filter(is_kept).map(|line| format!("{line}\n")).collect::<String>()
    };
    let text: String = modules.iter().enumerate().map(text).collect();
    let cubin = ptxas.cubin_with_lines(&text, capability).unwrap_or_else(|error| panic!("{error}"));
    let kernels: BTreeMap<String, Vec<SassLine>> = nvdisasm.kernels(&cubin).unwrap_or_else(|error| panic!("{error}")).into_iter().collect();
    modules.iter().enumerate().map(|(n, module)| issue_order::of_lines(module, &kernels[&format!("kernel_{n}")])).collect()
}

/// Modules that may be entries of one text: those that declare nothing else, up to [`BATCH`] of them; others are alone.
fn batches<'m>(modules: &'m [(&'m Variant, Module)]) -> Vec<Vec<&'m (&'m Variant, Module)>> {
    let (alone, together): (Vec<_>, Vec<_>) =
        modules.iter().partition(|(_, module)| !(module.variables.is_empty() && module.functions.is_empty()));
    together.chunks(BATCH).map(<[_]>::to_vec).chain(alone.into_iter().map(|one| vec![one])).collect()
}

fn own() -> Vec<Variant> {
    let fragments = SHAPES.iter().enumerate().map(|(n, (options, rows, columns, times))| {
        let text = FRAGMENTS.replace("NAME", &format!("fragments_{n}")).replace("OPTIONS", options).replace("TIMES", times);
        text.replace("ROWS", &format!("{rows}usize")).replace("COLUMNS", &format!("{columns}usize"))
    });
    let text: String = std::iter::once(KERNELS.to_owned()).chain(fragments).collect();
    let (own, left_out) = corpus::of_text("own", &text);
    assert_eq!((own.len(), left_out.len()), (4 + SHAPES.len(), 0));
    own
}

#[test]
fn loads_are_issued_in_machine_code_as_promised() {
    let test = "loads_are_issued_in_machine_code_as_promised";
    let judges = judges(test);
    if judges.is_empty() {
        return;
    }
    let mut variants = corpus::library_variants();
    // What differs by its block's size alone is asked about once.
    variants.retain(|variant| {
        let is_sized = ["copy::<f64", "saxpy_grouped", "jacobi_sliced"].iter().any(|kernel| variant.name.starts_with(kernel));
        !is_sized || variant.name.contains("128")
    });
    variants.extend(own());
    // Those for a target that have early loads.
    let early = TARGETS.map(|target| {
        let known = Target::find(target).expect("a target");
        let modules = variants.iter().filter(|variant| variant.is_for(known)).map(|variant| (variant, module(variant, target)));
        (target, modules.filter(|(_, module)| !module.early_loads.is_empty()).collect::<Vec<_>>())
    });
    let of_judge =
        |judge| early.iter().flat_map(move |(target, modules)| batches(modules).into_iter().map(move |some| (*target, judge, some)));
    let jobs: Vec<_> = judges.iter().flat_map(of_judge).collect();
    let (next, wrong, count) = (AtomicUsize::new(0), Mutex::new(Vec::new()), AtomicUsize::new(0));
    let work = || {
        while let Some((target, judge, some)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let modules: Vec<&Module> = some.iter().map(|(_, module)| module).collect();
            for ((variant, _), found) in some.iter().zip(orders(&modules, target, judge)) {
                for found in found {
                    count.fetch_add(1, Ordering::Relaxed);
                    // What is early in PTX already, no test of the machine code alone would tell.
                    let is_early = !matches!(found.measured, Issued::Apart { promised, .. } if promised < 32);
                    if !found.measured.is_kept() || !is_early {
                        let (name, release) = (&variant.name, &judge.0.release);
                        let text = format!("{name} for {target}, ptxas {release}: {} {}", found.annotation, found.measured);
                        wrong.lock().expect("nobody panicked").push(text);
                    }
                }
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    let wrong = wrong.into_inner().expect("nobody panicked");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let count = count.into_inner();
    assert!(count >= 90 * judges.len(), "{count} orders");
    println!("ran: {test} ({count} texts on nvdisasm)");
}

/// The test above can fail: without the registers that the back end gives, with the loads behind the barrier, and where loads of shared arrays are not to keep
/// their order, the assemblers undo it, and that is seen.
#[test]
fn what_an_assembler_undoes_is_seen() {
    let test = "what_an_assembler_undoes_is_seen";
    let judges = judges(test);
    for judge in &judges {
        for variant in own().iter().filter(|variant| !variant.name.starts_with("fragments_")) {
            for target in ["sm_80", "sm_90"] {
                let mut module = module(variant, target);
                let kept = order(&module, target, judge);
                assert!(kept.len() == 1 && kept[0].measured.is_kept(), "{} for {target}: {kept:?}\n{module}", variant.name);
                match variant.name.as_str() {
                    "sum8" => module.entry.directives.retain(|(directive, _)| *directive != "maxnreg"),
                    "two_buffers" => move_barrier(&mut module),
                    "fragments" => forget_order(&mut module),
                    _ => continue,
                }
                let undone = order(&module, target, judge);
                let is_worse = match (kept[0].measured, undone[0].measured) {
                    (Issued::Together { .. } | Issued::Apart { .. }, undone) => !undone.is_kept(),
                    // From behind the barrier they are sunk by a fifth of the loop or more.
                    (Issued::Ahead { found: kept, .. }, Issued::Ahead { found, .. }) => found + 20 <= kept,
                    _ => false,
                };
                assert!(is_worse, "{} for {target}: {kept:?}, then {undone:?}\n{module}", variant.name);
            }
        }
    }
    println!("ran: {test} ({} texts on nvdisasm)", judges.len() * 8);
}

/// Loads of shared arrays may be moved like all others, to save registers.
fn forget_order(module: &mut Module) {
    module.entry.directives.retain(|(directive, _)| *directive != "maxnreg");
    for statement in &mut module.entry.body {
        if let Statement::Instruction(one) = statement {
            one.opcode.words.retain(|word| *word != Word::Volatile);
        }
    }
}

/// Puts the barrier of a loop ahead of its early loads.
fn move_barrier(module: &mut Module) {
    let body = &mut module.entry.body;
    let is_barrier = |statement: &Statement| statement.instruction().is_some_and(|one| one.opcode.mnemonic == Mnemonic::Bar);
    let barrier = body.iter().position(is_barrier).expect("a barrier");
    let is_store = |statement: &Statement| statement.instruction().is_some_and(|one| one.opcode.mnemonic == Mnemonic::St);
    let store = body[..barrier].iter().rposition(is_store).expect("a deposit");
    let statement = body.remove(barrier);
    body.insert(store + 1, statement);
}
