//! The order of loads, stores and barriers in emitted code: in our PTX, and in what `ptxas` makes of it.

use warpwright::inspect::Order;
use warpwright_codegen::backend::ptx::code::{Guard, Instruction, Label, Module, Opcode, Operand, Reg, RegisterClass, Statement};
use warpwright_codegen::backend::ptx::words::{Mnemonic, Word};
use warpwright_codegen::text::parse_kernel;
use warpwright_tests::emitted::{ptx, ptx_of_kernel};
use warpwright_tests::sass::Judge;

/// The target whose SASS is looked at.
const TARGET: (&str, u16) = ("sm_90", 90);

/// A kernel, its PTX, and what is to be found.
struct Case {
    name: &'static str,
    ptx: Module,
    /// In our text.
    expected: &'static str,
    /// In SASS, accesses and barriers only, predicates left out; nothing where `ptxas` may order them in several ways.
    assembled: Option<&'static str>,
}

fn case(name: &'static str, source: &str, generics: &[&str], expected: &'static str, assembled: impl Into<Option<&'static str>>) -> Case {
    let ptx = ptx(source, name, generics, TARGET.0).unwrap_or_else(|error| panic!("{name}: {error}"));
    Case { name, ptx, expected, assembled: assembled.into() }
}

/// A file test of the PTX back end.
fn file(name: &'static str, text: &str, expected: &'static str, assembled: impl Into<Option<&'static str>>) -> Case {
    let (input, _) = text.split_once("// gives").unwrap_or_else(|| panic!("{name} has no output"));
    let kernel = parse_kernel(input).unwrap_or_else(|error| panic!("{name}: {error}"));
    let ptx = ptx_of_kernel(kernel, TARGET.0).unwrap_or_else(|error| panic!("{name}: {error}"));
    Case { name, ptx, expected, assembled: assembled.into() }
}

const MATMUL: &str = "
#[kernel(block = (T, T))]
pub fn matmul<const T: usize>(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut s: [[f32; T]; T];
    #[shared]
    let mut t: [[f32; T]; T];
    let (i, j) = (thread_idx().y, thread_idx().x);
    let (row, column) = (block_idx().y * T + i, block_idx().x * T + j);
    let mut sum = 0.0;
    for k in 0..n / T {
        s[i][j] = a[row * n + k * T + j];
        t[i][j] = b[(k * T + i) * n + column];
        sync_threads();
        for l in 0..T {
            sum += s[i][l] * t[l][j];
        }
        sync_threads();
    }
    c[row * n + column] = sum;
}";

const COPY: &str = "
#[kernel(block = B, ilp = ILP, batch_loads = BATCH, vectorize = V)]
pub fn copy<T: Element, const B: usize, const ILP: usize, const BATCH: bool, const V: usize>(out: &mut Global<T>, inp: &Global<T>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = inp[i];
    }
}";

/// The tiles of the multiplication, loaded one step ahead.
const PREFETCHED: &str = "#[kernel(block = (T, T))]
pub fn prefetched<const T: usize>(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut a_tile: [[f32; T]; T];
    #[shared]
    let mut b_tile: [[f32; T]; T];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let row = block_idx().y * T + ty;
    let column = block_idx().x * T + tx;
    let mut sum = 0.0;
    #[prefetch]
    for tile in 0..n / T {
        a_tile[ty][tx] = a[row * n + tile * T + tx];
        b_tile[ty][tx] = b[(tile * T + ty) * n + column];
        sync_threads();
        #[unroll]
        for k in 0..T {
            sum += a_tile[ty][k] * b_tile[k][tx];
        }
        sync_threads();
    }
    c[row * n + column] = sum;
}";

fn cases() -> Vec<Case> {
    vec![
        case(
            "saxpy",
            "#[kernel(block = 256)]
             pub fn saxpy(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
                 let i = global_id().x;
                 if i < y.len() {
                     y[i] = a * x[i] + y[i];
                 }
             }",
            &[],
            "@bra L1, ld.global.32 x2, st.global.32, L1",
            "ld.global.32 x2, st.global.32",
        ),
        case(
            "matmul",
            MATMUL,
            &["16"],
            "@bra L3, L1, ld.global.32, st.shared.32, ld.global.32, st.shared.32, bar, L2, ld.shared.32 x2, @bra L2, bar, @bra L1, \
             L3, st.global.32",
            // ptxas unrolls the inner loop.
            None,
        ),
        case(
            "quads",
            "#[kernel(block = 32)]
             pub fn quads(x: &Global<f32>, y: &mut Global<f64>) {
                 #[shared]
                 let mut s: [u8; 32];
                 let i = global_id().x;
                 let v = x.load::<4>(4 * i);
                 s[i % 32] = v[0] as u8;
                 sync_threads();
                 y.store::<2>(2 * i, [v[1] as f64, v[2] as f64 + s[31 - i % 32] as f64]);
             }",
            &[],
            "ld.global.128, st.shared.8, bar, ld.shared.8, st.global.128",
            "ld.global.128, st.shared.8, bar, ld.shared.8, st.global.128",
        ),
        // Threads all of whose elements are there, then the others.
        case(
            "copy",
            COPY,
            &["f64", "256", "8", "true", "1"],
            "@bra L1, ld.global.64 x8, st.global.64 x8, bra L2, L1, @ld.global.64 x8, @st.global.64 x8, L2",
            // ptxas knows that of the others the last element is not there.
            "ld.global.64 x8, st.global.64 x8, ld.global.64 x7, st.global.64 x7",
        ),
        case(
            "copy",
            COPY,
            &["f64", "256", "4", "false", "1"],
            "@bra L1, ld.global.64, st.global.64, ld.global.64, st.global.64, ld.global.64, st.global.64, ld.global.64, st.global.64, \
             bra L2, L1, @ld.global.64, @st.global.64, @ld.global.64, @st.global.64, @ld.global.64, @st.global.64, @ld.global.64, \
             @st.global.64, L2",
            None,
        ),
        // Vectors, then the others one by one.
        case(
            "copy",
            COPY,
            &["f32", "256", "2", "true", "4"],
            "@bra L1, ld.global.128 x2, st.global.128 x2, bra L4, L1, L2, L3, @ld.global.32, @st.global.32, @bra L3, @bra L2, L4",
            None,
        ),
        case(
            "chunks",
            "#[kernel(block = 64)]
             pub fn chunks(x: &Global<f32>, y: &mut Global<f32>) {
                 let first = global_id().x * 8;
                 #[vectorize(4)]
                 #[unroll]
                 #[batch_loads]
                 for i in 0..8 {
                     y[first + i] = 2.0 * x[first + i];
                 }
             }",
            &[],
            "ld.global.128 x2, st.global.128 x2",
            "ld.global.128 x2, st.global.128 x2",
        ),
        case(
            "prefetched",
            PREFETCHED,
            &["8"],
            // Between the deposit and its barrier stand the next loads.
            "@ld.global.32 x2, @bra L2, L1, st.shared.32 x2, @ld.global.32 x2, bar, ld.shared.32 x16, bar, @bra L1, L2, st.global.32",
            None,
        ),
        file(
            "guarded_batch",
            include_str!("../filetests/ptx/guarded_batch.ir"),
            "@ld.global.32 x8, @bra L1, st.global.32 x8, L1",
            "ld.global.32 x8, st.global.32 x8",
        ),
        file(
            "guarded_partial",
            include_str!("../filetests/ptx/guarded_partial.ir"),
            "@ld.global.32 x4, @st.global.32 x4",
            "ld.global.32 x4, st.global.32 x4",
        ),
        file(
            "guarded_accesses",
            include_str!("../filetests/ptx/guarded_accesses.ir"),
            "@ld.global.128, @ld.global.8 x2, @st.global.128, @st.global.8, @st.shared.32, @st.global.32",
            None,
        ),
    ]
}

#[test]
fn ptx_has_accesses_in_the_order_of_the_source() {
    for case in cases() {
        let found = Order::of_ptx(&case.ptx.entry.body);
        assert_eq!(found.to_string(), case.expected, "{}\n{}", case.name, case.ptx);
    }
}

#[test]
fn ptxas_keeps_the_order() {
    let test = "ptxas_keeps_the_order";
    let Some(judge) = Judge::found_or_skip(test) else { return };
    let mut count = 0;
    for case in cases() {
        let sass = judge.sass(&case.ptx.to_string(), TARGET.1).unwrap_or_else(|error| panic!("{}: {error}\n{}", case.name, case.ptx));
        let found = Order::of_sass(&sass);
        if let Some(assembled) = case.assembled {
            assert_eq!(found.bare().to_string(), assembled, "{}\n{found}\n{sass}", case.name);
        }
        count += 1;
    }
    println!("ran: {test} ({count} texts on nvdisasm)");
}

#[test]
fn a_tile_is_filled_before_the_barrier_and_read_after_it_in_sass() {
    let test = "a_tile_is_filled_before_the_barrier_and_read_after_it_in_sass";
    let Some(judge) = Judge::found_or_skip(test) else { return };
    let ptx = ptx(MATMUL, "matmul", &["16"], TARGET.0).expect("the kernel compiles");
    let found = Order::of_sass(&judge.sass(&ptx.to_string(), TARGET.1).expect("ptxas takes it")).accesses();
    let steps: Vec<String> = found.0.iter().map(ToString::to_string).collect();
    for interval in steps.split(|step| step == "bar") {
        let has = |what: &str| interval.iter().any(|step| step.contains(what));
        assert!(!(has("st.shared") && has("ld.shared")), "a tile is filled and read with no barrier between: {found}");
    }
    assert!(found.count("ld.shared") > 0 && found.count("st.shared") > 0, "{found}");
    println!("ran: {test} (1 texts on nvdisasm)");
}

#[test]
fn the_next_tiles_are_loaded_ahead_of_the_barrier_in_sass() {
    let test = "the_next_tiles_are_loaded_ahead_of_the_barrier_in_sass";
    let Some(judge) = Judge::found_or_skip(test) else { return };
    let ptx = ptx(PREFETCHED, "prefetched", &["8"], TARGET.0).expect("the kernel compiles");
    let found = Order::of_sass(&judge.sass(&ptx.to_string(), TARGET.1).expect("ptxas takes it")).accesses();
    let steps: Vec<String> = found.0.iter().map(ToString::to_string).collect();
    let intervals: Vec<&[String]> = steps.split(|step| step == "bar").collect();
    let count = |interval: usize, what: &str| intervals[interval].iter().filter(|step| step.contains(what)).count();
    assert_eq!(intervals.len(), 3, "{found}");
    // The first tiles and the next; none behind the barrier.
    assert!(count(0, "ld.global") > 1 && count(0, "st.shared") > 0 && count(1, "ld.shared") > 0, "{found}");
    assert_eq!((count(1, "ld.global"), count(2, "ld.global")), (0, 0), "{found}");
    println!("ran: {test} (1 texts on nvdisasm)");
}

#[test]
fn both_readers_use_the_same_words() {
    let instruction = |mnemonic, words: &[Word], operands: &[Operand], is_predicated: bool| {
        let reg = Reg { class: RegisterClass::Predicate, number: 1, name: None };
        let guard = is_predicated.then_some(Guard { reg, wanted: false });
        Statement::Instruction(Instruction {
            guard,
            opcode: Opcode { mnemonic, words: words.to_vec() },
            operands: operands.to_vec(),
            early: None,
        })
    };
    let label = |number| Label { number, name: None };
    let ptx = [
        instruction(Mnemonic::Ld, &[Word::Param, Word::U64], &[], false),
        instruction(Mnemonic::Bra, &[], &[label(1).into()], true),
        Statement::Label(label(2)),
        instruction(Mnemonic::Ld, &[Word::Global, Word::Nc, Word::V4, Word::F32], &[], true),
        instruction(Mnemonic::St, &[Word::Shared, Word::B16], &[], false),
        instruction(Mnemonic::Bar, &[Word::Sync], &[], false),
        instruction(Mnemonic::Atom, &[Word::Shared, Word::Add, Word::U32], &[], false),
        instruction(Mnemonic::Bra, &[], &[label(2).into()], true),
        Statement::Label(label(1)),
        Statement::Label(label(3)),
        instruction(Mnemonic::Ret, &[], &[], true),
        instruction(Mnemonic::Ret, &[], &[], false),
    ];
    let sass = "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n        /*0010*/              @!P0 BRA `(.L_x_1) ;\n.L_x_2:
        /*0020*/              @!P1 LDG.E.128.CONSTANT R4, desc[UR4][R2.64+0x10] ;\n        /*0030*/                   STS.U16 [R1], R4 ;
        /*0040*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;\n        /*0050*/                   ATOMS.ADD RZ, [R2], R3 ;
        /*0060*/               @P0 BRA `(.L_x_2) ;\n.L_x_1:\n        /*0070*/               @P3 EXIT ;\n        /*0080*/                   EXIT ;
.L_x_3:\n        /*0090*/                   BRA `(.L_x_3);\n        /*00a0*/                   NOP;\n";
    let expected = "@bra L2, L1, @ld.global.128, st.shared.16, bar, atom.shared.32, @bra L1, L2, @exit";
    assert_eq!(Order::of_ptx(&ptx).to_string(), expected);
    assert_eq!(Order::of_sass(sass).to_string(), expected);
    assert_eq!(Order::of_ptx(&ptx).before("atom").bare().to_string(), "ld.global.128, st.shared.16, bar");
}
