//! Lengths, factors and counts at the edges of their types, wherever a kernel may have one: a kernel is compiled, or refused.

use warpwright_tests::sizes::steps;

/// Lengths of nothing, of one, what some kernel has, and what is beyond 32, 63 and 64 bits once it is added to or multiplied.
const NUMBERS: [&str; 7] = ["0", "1", "3", "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551615"];

/// What is taken of each place.
const USUAL: &str = "16";

/// How the rows of a shared array may lie.
const ROWS: [&str; 4] = ["", "(pad = 1)", "(swizzle)", "(swizzle = 32)"];

/// Kernels with places for two numbers, `A` and `B`, and for the rows of a shared array, `ROWS`. The parameters, and the body.
const KERNELS: [(&str, &str, &str); 22] = [
    ("block = 32", "x: &Global<[f32; A]>, y: &mut Global<f32>", "y[t] = x[t][t] + x[t + 1][4];"),
    ("block = 32", "x: &Global<[[f32; A]; B]>, y: &mut Global<f32>", "y[t] = x[t][t][t % 3];"),
    ("block = 32", "x: &Constant<[f32; A]>, y: &mut Global<f32>", "y[t] = x[t] + 1.0;"),
    (
        "block = 32",
        "x: &Global<f32>, y: &mut Global<f32>",
        "#[shared ROWS] let mut s: [[f32; A]; B]; s[t % 7][t] = x[t]; sync_threads(); y[t] = s[t][t % 7];",
    ),
    (
        "block = 32",
        "x: &Global<f32>, y: &mut Global<f32>",
        "#[shared(dynamic, pad = 1)] let mut s: [[f32; A]]; s[t % 7][t] = x[t]; sync_threads(); y[t] = s[t][t % 7];",
    ),
    ("block = 32", "x: &Global<f32>, y: &mut Global<f32>", "let mut a = [0.0f32; A]; for i in 0..B { a[i % 3] = x[i]; } y[t] = a[t];"),
    ("block = 32", "x: &Global<f32>, y: &mut Global<f32>", "let mut a = [[0.0f32; A]; B]; a[t][t % 3] = x[t]; y[t] = a[t % 3][t];"),
    ("block = 32", "x: &Global<f32>, y: &mut Global<f32>", "#[shared] let mut s: [f32; A]; load_run(&mut s, x, 0); sync_threads(); y[t] = s[t];"),
    (
        "block = 32",
        "x: &Matrix<f32>, y: &mut Global<f32>",
        "#[shared ROWS] let mut s: [[f32; A]; B];
         #[pipeline(stages = 2)] for i in 0..x.rows() / 4 { load_tile(&mut s, x, i * 4, 0); sync_threads(); y[t] += s[t % 4][t]; sync_threads(); }",
    ),
    (
        "block = 32",
        "x: &Matrix<f32>, y: &mut Matrix<f32>",
        "#[shared ROWS] let mut s: [[f32; A]; B];
         #[pipeline(stages = 2, by = tma)]
         for i in 0..x.rows() / 4 { load_tile(&mut s, x, i * 4, 0); sync_threads(); store_tile(y, i * 4, 0, &s); sync_threads(); }",
    ),
    (
        "block = 128",
        "a: &Matrix<f16>, c: &mut Matrix<f32>",
        "#[shared ROWS] let mut s: [[f16; A]; 64]; #[shared ROWS] let mut u: [[f16; A]; B]; #[shared] let mut z: [[f32; B]; 64];
         let mut m = Accumulator::<f32, 64, B>::zero(); load_tile(&mut s, a, 0, 0); load_tile(&mut u, a, 0, 0); sync_threads();
         multiply_add(&s, transposed(&u), &mut m); m.store(&mut z); sync_threads(); store_tile(c, 0, 0, &z);",
    ),
    (
        "block = 32",
        "c: &mut Matrix<f32>",
        "#[shared] let mut z: [[f32; B]; A]; let m = Accumulator::<f32, A, B>::zero(); m.store(&mut z); sync_threads(); store_tile(c, 0, 0, &z);",
    ),
    ("block = 32", "x: &Global<f32>, y: &mut Global<f32>", "#[unroll(A)] for j in 0..B { y[t] += x[j]; }"),
    ("block = 32", "x: &Global<f32>, y: &mut Global<f32>", "let mut sum = 0.0; #[ilp(A)] for j in 0..B { sum += x[j]; } y[t] = sum;"),
    ("block = 32, ilp = A", "x: &Global<f32>, y: &mut Global<f32>", "let i = global_id().x; if i < y.len() { y[i] = x[i]; }"),
    ("block = 32", "x: &Global<f32>, y: &mut Global<f32>", "for j in (0..A).step_by(B) { y[t] += x[j]; }"),
    ("block = 32", "x: &Global<f32>, y: &mut Global<f32>", "for j in (A..B).rev().step_by(A) { y[t] += x[j]; }"),
    ("block = 32", "p: P, x: &Global<P>, y: &mut Global<f32>", "y[t] = p.a[t] + x[t].a[t] + x[t].b[0][t] as f32;"),
    ("block = A, min_blocks = B", "x: &Global<f32>, y: &mut Global<f32>", "y[t] = x[t];"),
    ("block = (A, B)", "x: &Global<f32>, y: &mut Global<f32>", "y[t] = x[t];"),
    ("block = 32, raster(rows = A)", "x: &Global<f32>, y: &mut Global<f32>", "let i = block_idx().y; y[i] = x[i / B];"),
    ("block = 32", "x: &Global<u64>, y: &mut Global<u64>", "y[t] = x[t] % A + x[t] / B + (x[t] << (B % 64)) * A;"),
];

/// What a kernel is with these numbers and rows.
fn source((options, parameters, body): (&str, &str, &str), [a, b]: [&str; 2], rows: &str) -> String {
    let text = format!(
        "#[device] #[derive(Clone, Copy)] #[repr(C)] pub struct P {{ a: [f32; A], b: [[u8; A]; B] }}\n\
         #[kernel({options})] pub fn k({parameters}) {{ let t = thread_idx().x; {body} }}"
    );
    let text = if parameters.contains("P>") { text } else { text.lines().skip(1).collect::<Vec<_>>().join("\n") };
    let words = text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_').map(|word| {
        let at = word.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_').len();
        let (word, behind) = word.split_at(at);
        let put = match word {
            "A" => a,
            "B" => b,
            other => other,
        };
        format!("{put}{behind}")
    });
    words.collect::<String>().replace(" ROWS", rows)
}

/// Does every step with a source in a thread of its own; what was refused, or nothing if it panicked.
fn compiled(source: &str) -> Option<Vec<String>> {
    let owned = source.to_owned();
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(move || steps::run(&owned));
    thread.expect("a thread").join().ok().map(|steps| steps.errors)
}

#[test]
fn numbers_at_the_edges_are_compiled_or_refused() {
    let (mut refused, mut accepted) = (0, 0);
    for kernel in KERNELS {
        let has = |word: &str| [kernel.0, kernel.1, kernel.2].iter().any(|text| text.contains(word));
        let all_rows = if has("ROWS") { &ROWS[..] } else { &ROWS[..1] };
        assert_eq!(compiled(&source(kernel, [USUAL; 2], "")), Some(Vec::new()), "{}", source(kernel, [USUAL; 2], ""));
        for a in NUMBERS {
            for b in NUMBERS {
                for rows in all_rows {
                    let source = source(kernel, [a, b], rows);
                    let errors = compiled(&source);
                    assert!(errors.is_some(), "this panics:\n{source}");
                    *(if errors == Some(Vec::new()) { &mut accepted } else { &mut refused }) += 1;
                }
            }
        }
    }
    println!("{accepted} sources were compiled, {refused} refused");
    assert!(accepted > 0 && refused > 0);
}
