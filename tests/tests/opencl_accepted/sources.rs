//! Kernels written in Rust, through the front end and all passes, built and run by PoCL and Oclgrind.

use super::CHILD;
use super::build::emit;
use warpwright_codegen::backend::AbiArgument;
use warpwright_codegen::pipeline::compile_text;
use warpwright_codegen::syntax::Instance;
use warpwright_tests::opencl_tools::{Argument, INTEL_STANDARD, Job, Tool, run};

/// A kernel, what it is run with, and what its buffers hold afterwards.
struct Case {
    name: &'static str,
    source: &'static str,
    block: usize,
    threads: usize,
    /// Bytes of each parameter.
    parameters: Vec<Vec<u8>>,
    /// Elements of each buffer.
    lengths: Vec<u32>,
    /// The buffers, all of them.
    expected: Vec<Vec<u8>>,
    shared_bytes: usize,
}

fn bytes<T: Copy, const N: usize>(values: &[T], to: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|v| to(*v)).collect()
}

fn f32s(values: &[f32]) -> Vec<u8> {
    bytes(values, f32::to_le_bytes)
}

fn u32s(values: &[u32]) -> Vec<u8> {
    bytes(values, u32::to_le_bytes)
}

fn job(case: &Case) -> Job {
    let lowered = compile_text("kernel.rs", case.source, case.name, &Instance::default());
    let lowered = lowered.unwrap_or_else(|d| panic!("{}: {:?}", case.name, d.iter().map(|d| &d.message).collect::<Vec<_>>()));
    let emitted = emit(lowered.kernel.legal());
    let arguments = emitted
        .abi
        .iter()
        .map(|argument| match argument {
            AbiArgument::Value { param, .. } => Argument::Value(case.parameters[*param].clone()),
            AbiArgument::Buffer { param } => Argument::Buffer(case.parameters[*param].clone()),
            AbiArgument::Length { param, .. } => Argument::Value(case.lengths[*param].to_le_bytes().to_vec()),
            AbiArgument::DynamicShared => Argument::Local(case.shared_bytes),
            AbiArgument::DynamicLength { element, .. } => {
                Argument::Value((case.shared_bytes as u32 / *element as u32).to_le_bytes().to_vec())
            }
            AbiArgument::Exchange { bytes } => Argument::Local(*bytes as usize * case.block),
            AbiArgument::AskedGrid { .. } => panic!("no case is persistent"),
            AbiArgument::TensorMap(_) => panic!("OpenCL has no maps"),
            AbiArgument::Fault => Argument::Buffer(vec![0; 16]),
            AbiArgument::Image { .. } | AbiArgument::Sampler { .. } => panic!("no case has textures"),
            AbiArgument::ConstantSymbol { .. } | AbiArgument::Texture { .. } | AbiArgument::Extent { .. } => panic!("not in OpenCL C"),
        })
        .collect();
    Job {
        sub_group_options: emitted.sub_group_options(INTEL_STANDARD),
        name: case.name.into(),
        text: emitted.text,
        options: emitted.build_options,
        entry: emitted.entry,
        global: [case.threads, 1, 1],
        local: [case.block, 1, 1],
        arguments,
    }
}

fn cases() -> Vec<Case> {
    let case = |name, source| Case {
        name,
        source,
        block: 64,
        threads: 64,
        parameters: Vec::new(),
        lengths: Vec::new(),
        expected: Vec::new(),
        shared_bytes: 0,
    };
    let ramp: Vec<f32> = (0..64u8).map(f32::from).collect();
    let numbers: Vec<u32> = (0..64).collect();
    vec![
        Case {
            // Padding inside and behind, a `bool` and an `f16` in memory, a tuple, nested arrays, and a struct by value.
            parameters: vec![
                [f32s(&[2.0]), vec![1, 0, 0, 0]].concat(),
                (0..64u8).flat_map(|i| [vec![i, 0, 0x00, 0x3c], u32s(&[i.into()]), vec![u8::from(i % 2 == 0), 0, 0, 0]].concat()).collect(),
                vec![0; 64 * 8],
            ],
            lengths: vec![0, 64, 64],
            expected: vec![
                (0..64u8).flat_map(|i| [vec![i, 0, 0x00, 0x3c], u32s(&[i.into()]), vec![u8::from(i % 2 == 0), 0, 0, 0]].concat()).collect(),
                (0..64u8).flat_map(|i| [f32s(&[f32::from(i) * 2.0 + 1.0]), u32s(&[u32::from(i % 2 == 0)])].concat()).collect(),
            ],
            ..case(
                "layouts",
                "#[derive(Clone, Copy)] #[repr(C)] struct Item { tag: u8, weight: f16, count: u32, flag: bool }
                 #[derive(Clone, Copy)] #[repr(C)] struct Scale { by: f32, on: bool }
                 #[kernel(block = 64)] fn layouts(scale: Scale, items: &Global<Item>, out: &mut Global<(f32, [u16; 2])>) {
                     let i = global_id().x;
                     let item = items[i];
                     let factor = if scale.on { scale.by } else { 0.0 };
                     out[i] = (item.tag as f32 * factor + item.weight as f32, [item.flag as u16, 0]);
                 }",
            )
        },
        Case {
            // Vector loads and stores, in buffers and in shared memory.
            parameters: vec![f32s(&ramp), vec![0; 256]],
            lengths: vec![64, 64],
            expected: vec![f32s(&ramp), f32s(&ramp.iter().map(|v| (63.0 - v) * 2.0).collect::<Vec<_>>())],
            ..case(
                "vectors",
                "#[kernel(block = 64)] fn vectors(x: &Global<f32>, y: &mut Global<f32>) {
                     #[shared] let mut t: [f32; 64];
                     let i = thread_idx().x;
                     if i < 16 {
                         let [a, b, c, d] = x.load::<4>(4 * i);
                         t[60 - 4 * i] = d; t[61 - 4 * i] = c; t[62 - 4 * i] = b; t[63 - 4 * i] = a;
                     }
                     sync_threads();
                     if i < 32 { y.store::<2>(2 * i, [t[2 * i] * 2.0, t[2 * i + 1] * 2.0]); }
                 }",
            )
        },
        Case {
            // Dynamic shared memory and its length, constant memory, a table, an array by value.
            parameters: vec![u32s(&[3, 5]), u32s(&[1, 2, 3, 4]), vec![0; 256]],
            lengths: vec![0, 4, 64],
            expected: vec![
                u32s(&[1, 2, 3, 4]),
                u32s(&numbers.iter().map(|i| (63 - i) + 64 + [10, 20, 30][*i as usize % 3] + 3 + 5 + i % 4 + 1).collect::<Vec<_>>()),
            ],
            shared_bytes: 256,
            ..case(
                "spaces",
                "const TABLE: [u32; 3] = [10, 20, 30];
                 #[kernel(block = 64)] fn spaces(p: [u32; 2], c: &Constant<[u32; 4]>, y: &mut Global<u32>) {
                     #[shared(dynamic)] let mut buf: [u32];
                     let i = thread_idx().x;
                     buf[buf.len() - 1 - i] = i as u32;
                     sync_threads();
                     y[i] = buf[i] + buf.len() as u32 + TABLE[i % 3] + p[0] + p[1] + c[i % 4];
                 }",
            )
        },
        Case {
            // The first fault of the launch: thread 7 asserts, in line 4.
            parameters: vec![u32s(&numbers)],
            lengths: vec![64],
            expected: vec![u32s(&numbers.iter().map(|i| if *i == 7 { 7 } else { i + 1 }).collect::<Vec<_>>()), u32s(&[1, 4, 7, 0])],
            ..case(
                "faults",
                "#[kernel(block = 64)]
                 fn faults(y: &mut Global<u32>) {
                     let i = global_id().x;
                     assert!(y[i] != 7, \"seven: {}\", y[i]);
                     if i == 70 { print!(\"100% \\\"{}\\\" {:.2} {}\\n\", i, 1.5f32, true); }
                     y[i] += 1;
                 }",
            )
        },
        Case {
            // Atomics of every kind: integers and floats, in buffers and in shared memory.
            parameters: vec![u32s(&[0, u32::MAX, 0, u32::MAX, 0, 0, 5, 100]), f32s(&[0.0, 1e9, -1e9, 0.0]), vec![0; 24]],
            lengths: vec![8, 4, 3],
            expected: vec![
                u32s(&[2016, 0, 63, !63, 63, 0, 6, 36]),
                f32s(&[2016.0, 0.0, 63.0, 64.0]),
                bytes(&[2016i64, 63, -63], i64::to_le_bytes),
            ],
            ..case(
                "atomics",
                "#[kernel(block = 64)] fn atomics(u: &mut Global<u32>, f: &mut Global<f32>, l: &mut Global<i64>) {
                     #[shared] let mut s: [f32; 1];
                     let i = thread_idx().x;
                     let n = i as u32;
                     if i == 0 { s[0] = 0.0; }
                     sync_threads();
                     u.atomic_add(0, n); u.atomic_min(1, n); u.atomic_max(2, n); u.atomic_and(3, !n); u.atomic_or(4, n);
                     u.atomic_xor(5, n); u.atomic_cas(6, 5, 6); u.atomic_sub(7, 1);
                     f.atomic_add(0, n as f32); f.atomic_min(1, n as f32); f.atomic_max(2, n as f32);
                     l.atomic_add(0, n as i64); l.atomic_max(1, n as i64); l.atomic_min(2, -(n as i64));
                     s.atomic_add(0, 1.0);
                     sync_threads();
                     if i == 0 { f.atomic_exchange(3, s[0]); }
                 }",
            )
        },
        Case {
            // The one value whose absolute value is negative, widened.
            parameters: vec![u32s(&[0x8000_0000, 0x8000_0001, 5, 0]), vec![0; 32]],
            lengths: vec![4, 4],
            expected: vec![
                u32s(&[0x8000_0000, 0x8000_0001, 5, 0]),
                bytes(&[i64::from(i32::MIN), i64::from(i32::MAX), 5, 0], i64::to_le_bytes),
            ],
            threads: 4,
            block: 4,
            ..case(
                "absolute",
                "#[kernel(block = 4)] fn absolute(x: &Global<i32>, y: &mut Global<i64>) {
                     let i = global_id().x;
                     y[i] = x[i].wrapping_abs() as i64;
                 }",
            )
        },
        Case {
            // Counting in ways that wrap: to the end of a type, by steps that pass it, backwards.
            parameters: vec![vec![250], u32s(&[u32::MAX - 5]), vec![0; 16]],
            lengths: vec![0, 0, 4],
            expected: vec![u32s(&[6, 2, 256, 3])],
            threads: 1,
            block: 1,
            ..case(
                "ranges",
                "#[kernel] fn ranges(a: u8, b: u32, y: &mut Global<u32>) {
                     for _ in a..=255 { y[0] += 1; }
                     for _ in (b..u32::MAX).step_by(4) { y[1] += 1; }
                     for _ in (0..=255u8).rev() { y[2] += 1; }
                     for _ in (-128..=i8::MAX).step_by(100) { y[3] += 1; }
                 }",
            )
        },
    ]
}

#[test]
fn kernels_in_rust_run() {
    let cases = cases();
    let jobs: Vec<Job> = cases.iter().map(job).collect();
    for tool in Tool::ALL {
        let Some(outcomes) = run("kernels_in_rust_run", CHILD, tool, &jobs) else { continue };
        for ((case, job), outcome) in cases.iter().zip(&jobs).zip(&outcomes) {
            let complaints = outcome.all_complaints();
            assert!(complaints.is_empty(), "{} on {}: {complaints}\n{}", case.name, tool.name(), job.text);
            assert_eq!(outcome.buffers, case.expected, "{} on {}\n{}", case.name, tool.name(), job.text);
        }
    }
}
