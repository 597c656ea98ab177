//! Mistakes put into texts that the compiler printed: results differ, or the kernel faults.

use warpwright_codegen::backend::ptx::code::Module;
use warpwright_ptx_interpreter::Launch;
use warpwright_tests::emitted::ptx;
use warpwright_tests::ptx_interpreter::{Passed, run};

/// Of floats, whole numbers, bytes, comparisons, shared memory and barriers.
const SOURCE: &str = "
#[kernel(block = 64)]
pub fn k(scale: f32, x: &Global<f32>, bytes: &Global<u8>, words: &Global<i32>, sums: &mut Global<f32>, marks: &mut Global<i32>, counts: &mut Global<u32>) {
    #[shared]
    let mut kept: [f32; 64];
    let t = thread_idx().x;
    let i = global_id().x;
    let mut own = 0.5f32;
    if i < x.len() {
        own = x[i] * scale + 0.3;
    }
    kept[t] = own;
    sync_threads();
    let other = kept[(t + 37) % 64];
    if i < sums.len() {
        sums[i] = (other + own) * own;
        let byte = bytes[i] as i32;
        let word = words[i];
        let low = if word < byte { word / 3 } else { byte - word };
        marks[i] = (low << 2) ^ (word >> 3) & -3 | low.min(byte) * 5;
    }
    counts.atomic_add(t % 4, 1);
}
";

/// Threads that have elements: not all of the last block.
const LENGTH: usize = 150;

/// What is written instead of what, at one place after another.
const MISTAKES: &[(&str, &str)] = &[
    ("add.rn.f32 ", "sub.rn.f32 "),
    ("fma.rn.f32 ", "fma.rz.f32 "),
    ("mul.rn.f32 ", "mul.rz.f32 "),
    ("setp.lt.u32 ", "setp.le.u32 "),
    ("setp.lt.s32 ", "setp.le.s32 "),
    ("bar.sync 0;", ""),
    ("ld.global.nc.f32 ", "ld.global.nc.u16 "),
    ("ld.global.nc.u8 ", "ld.global.nc.s8 "),
    ("st.global.f32 ", "st.global.b16 "),
    ("st.shared.f32 ", "st.local.f32 "),
    (", 4;", ", 8;"),
    (", 37;", ", 36;"),
    (", 63;", ", 31;"),
    ("0f3E99999A", "0f3E99999B"),
    ("mul.lo.", "mul.hi."),
    ("mul.hi.s32 ", "mul.hi.u32 "),
    ("min.s32 ", "max.s32 "),
    ("shr.s32 ", "shr.u32 "),
    ("xor.b32 ", "or.b32 "),
    ("shl.b32 ", "shr.b32 "),
    ("sub.s32 ", "add.s32 "),
    ("red.global.add.u32 ", "red.global.max.u32 "),
    ("%ctaid.x", "%tid.x"),
    ("@!%p", "@%p"),
];

fn byte(n: usize) -> u8 {
    (n * 89 % 256) as u8
}

/// Now and then it is the byte of the same number.
fn word(n: usize) -> i32 {
    if n % 10 == 3 { byte(n).into() } else { (n * 61 % 509) as i32 - 200 }
}

fn passed() -> Vec<Passed> {
    let floats: Vec<u8> = (0..LENGTH).flat_map(|n| ((n * 37 % 101) as f32 * 0.013 - 0.5).to_le_bytes()).collect();
    let bytes: Vec<u8> = (0..LENGTH).map(byte).collect();
    let words: Vec<u8> = (0..LENGTH).flat_map(|n| word(n).to_le_bytes()).collect();
    let length = LENGTH as u64;
    vec![
        Passed::Value(1.7f32.to_le_bytes().to_vec()),
        Passed::Buffer(floats, length),
        Passed::Buffer(bytes, length),
        Passed::Buffer(words, length),
        Passed::Buffer(vec![0; 4 * LENGTH], length),
        Passed::Buffer(vec![0; 4 * LENGTH], length),
        Passed::Buffer(vec![0; 16], 4),
    ]
}

/// What the buffers hold, or that it faulted.
fn result(module: &Module, text: &str, seed: u64) -> Result<Vec<Vec<u8>>, String> {
    let launch = Launch { grid: [3, 1, 1], block: [64, 1, 1], seed, most_instructions: 10_000_000, ..Launch::default() };
    run(module, text, &passed(), &launch).map_err(|fault| fault.message)
}

/// Rust's own arithmetic of the kernel.
fn expected() -> (Vec<f32>, Vec<i32>) {
    let own = |i: usize| if i < LENGTH { ((i * 37 % 101) as f32 * 0.013 - 0.5).mul_add(1.7, 0.3) } else { 0.5 };
    let sums = (0..LENGTH).map(|i| (own(i / 64 * 64 + (i % 64 + 37) % 64) + own(i)) * own(i)).collect();
    let mark = |i: usize| {
        let (byte, word) = (i32::from(byte(i)), word(i));
        let low = if word < byte { word / 3 } else { byte - word };
        ((low << 2) ^ ((word >> 3) & -3)) | (low.min(byte) * 5)
    };
    (sums, (0..LENGTH).map(mark).collect())
}

#[test]
fn mistakes_in_texts_are_seen() {
    let module = ptx(SOURCE, "k", &[], "sm_80").unwrap_or_else(|error| panic!("{error}"));
    let text = module.clone().without_places().to_string();
    let right = result(&module, &text, 0).expect("it runs");
    let (sums, marks) = expected();
    let found: Vec<i32> = right[4].chunks(4).map(|part| i32::from_le_bytes(part.try_into().expect("four bytes"))).collect();
    assert_eq!(found, marks, "{text}");
    for (n, (part, sum)) in right[3].chunks(4).zip(&sums).enumerate() {
        let found = f32::from_le_bytes(part.try_into().expect("four bytes"));
        // Contraction may leave out a rounding of either product.
        assert!((found - sum).abs() <= 2.0 * f32::EPSILON * sum.abs().max(1.0), "sum {n} is {found} and not {sum}");
    }
    // Whatever the order of threads.
    (1..6).for_each(|seed| assert_eq!(result(&module, &text, seed).as_ref(), Ok(&right), "seed {seed}"));
    let (mut all, mut unseen) = (0, Vec::new());
    for (from, to) in MISTAKES {
        let places: Vec<usize> = text.match_indices(from).map(|(at, _)| at).collect();
        assert!(!places.is_empty(), "the text has no `{from}`:\n{text}");
        for at in places {
            let mutant = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
            all += 1;
            let is_seen = (0..4).any(|seed| result(&module, &mutant, seed).as_ref() != Ok(&right));
            if !is_seen {
                let line = text[..at].lines().count();
                unseen.push(format!("`{from}` to `{to}` in line {line}"));
            }
        }
    }
    assert!(unseen.is_empty(), "{} of {all} mistakes are not seen: {unseen:#?}\n{text}", unseen.len());
    println!("ran: ptx_executed mutants ({all} texts on PTX interpreter)");
}
