//! Kernels that grow along one dimension: what shows whether the compiler's time grows faster than what it is given.
//!
//! A dimension is a row of [`DIMENSIONS`]: a name, the source of size n, and an n at which an unoptimised build takes some hundredths of a second.

pub mod grow;
pub mod steps;

use std::fmt::Write;

/// A way in which a source grows.
pub struct Dimension {
    /// Its name: what there are n of.
    pub name: &'static str,
    /// The source of one size. Its kernel is called `k`, unless there are several.
    pub source: fn(usize) -> String,
    /// The size that tests begin with, and the table of the documentation ends with eight times as many.
    pub n: usize,
}

const fn dimension(name: &'static str, n: usize, source: fn(usize) -> String) -> Dimension {
    Dimension { name, source, n }
}

/// Every dimension.
pub const DIMENSIONS: &[Dimension] = &[
    // Straight code.
    dimension("statements", 400, |n| guarded(&lines(n, |i| format!("v = v * {}.0 + w;", i % 7 + 1)))),
    dimension("independent_statements", 400, |n| {
        guarded(&(lines(n, |i| format!("let t{i} = v * {i}.0;")) + &lines(n, |i| format!("w += t{i};"))))
    }),
    dimension("squares", 20, |n| integers(&lines(n, |_| "a = a * a + b;".to_owned()))),
    dimension("shared_operands", 20, |n| integers(&lines(n, |_| "a = (a ^ (a << 13)) + b;".to_owned()))),
    dimension("calls_of_functions", 200, |n| guarded(&lines(n, |i| format!("v = v + (w * {i}.0).sqrt();")))),
    dimension("precise_functions", 20, |n| guarded(&lines(n, |_| "v = v.sin() + w.exp();".to_owned()))),
    dimension("divisions", 100, |n| integers(&lines(n, |i| format!("a = a / {} + a % b;", i + 3)))),
    dimension("constants", 400, |n| {
        let first = "const C0: u32 = 1;\n".to_owned();
        first + &lines(n, |i| format!("const C{}: u32 = C{} + {i};", i + 1, i.div_ceil(2))) + &integers(&format!("a += C{n};"))
    }),
    dimension("casts", 60, |n| integers(&format!("a = a{};", " as u64 as u32".repeat(n)))),
    dimension("terms", 100, |n| guarded(&format!("v = v{};", " + w".repeat(n)))),
    dimension("brackets", 20, |n| guarded(&format!("v = {}v{};", "(w * ".repeat(n), ")".repeat(n)))),
    dimension("and_chain", 50, |n| {
        let conditions: Vec<String> = (0..n).map(|i| format!("v > {i}.5")).collect();
        guarded(&format!("if {} {{ v = w; }}", conditions.join(" && ")))
    }),
    dimension("and_stores", 50, |n| {
        let conditions: Vec<String> = (0..n).map(|i| format!("x[i + {i}] > v")).collect();
        guarded(&format!("if {} {{ v = w; }}", conditions.join(" && ")))
    }),
    // Control flow.
    dimension("ifs", 200, |n| guarded(&lines(n, |i| format!("if v > {i}.0 {{ v = v + w; }} else {{ w = v * {i}.0; }}")))),
    dimension("ifs_with_stores", 100, |n| guarded(&lines(n, |i| format!("if v > {i}.0 {{ y[i + {i}] = v; }}")))),
    dimension("ifs_on_one_condition", 200, |n| guarded(&lines(n, |i| format!("if w > 0.0 {{ y[i + {i}] = v; }}")))),
    dimension("if_chain", 40, |n| guarded(&(lines(n, |i| format!("if v > {i}.0 {{ y[i + {i}] = w; }} else")) + "{ v = w; }"))),
    dimension("nested_ifs", 20, |n| guarded(&(lines(n, |i| format!("if v > {i}.0 {{ y[i + {i}] = v;")) + &"}".repeat(n)))),
    dimension("nested_loops", 10, |n| guarded(&(lines(n, |i| format!("for j{i} in 0..m {{ v += x[j{i}];")) + &"}".repeat(n)))),
    dimension("nested_blocks", 20, |n| guarded(&("v = {".repeat(n) + "v * 2.0" + &"}".repeat(n) + ";"))),
    dimension("loops", 60, |n| guarded(&lines(n, |i| format!("for j in 0..m {{ v += x[j * {}]; }}", i + 1)))),
    dimension("known_loops", 60, |n| guarded(&lines(n, |i| format!("for j in 0..{} {{ v += x[i + j]; }}", i % 9 + 2)))),
    dimension("whiles", 60, |n| guarded(&lines(n, |i| format!("while v > {i}.0 {{ v -= w; }}")))),
    dimension("carried_values", 40, |n| {
        let variables = lines(n, |i| format!("let mut c{i} = w * {i}.0;"));
        let updates = lines(n, |i| format!("c{i} = c{i} * v + {i}.0;"));
        let sum = lines(n, |i| format!("v += c{i};"));
        guarded(&format!("{variables} for _ in 0..m {{ {updates} }} {sum}"))
    }),
    dimension("carried_in_a_ring", 40, |n| {
        let variables = lines(n, |i| format!("let mut c{i} = w * {i}.0;"));
        let updates = lines(n, |i| format!("c{i} = c{};", (i + 1) % n));
        let sum = lines(n, |i| format!("v += c{i};"));
        guarded(&format!("{variables} for _ in 0..m {{ {updates} }} {sum}"))
    }),
    dimension("breaks", 60, |n| guarded(&format!("for j in 0..m {{ {} }}", lines(n, |i| format!("v += w; if v > {i}.0 {{ break; }}"))))),
    dimension("continues", 60, |n| {
        guarded(&format!("for j in 0..m {{ {} }}", lines(n, |i| format!("v += w; if v > {i}.0 {{ continue; }}"))))
    }),
    dimension("returns", 60, |n| guarded(&lines(n, |i| format!("v += w; if v > {i}.0 {{ return; }}")))),
    dimension("asserts", 60, |n| guarded(&lines(n, |i| format!("assert!(v > {i}.0);")))),
    dimension("barriers", 60, |n| {
        kernel("", &lines(n, |i| format!("tile[{} - thread_idx().x] = w; sync_threads();", 64 + i % 64 - i % 64 - 1)))
    }),
    dimension("warp_sums", 20, |n| kernel("", &lines(n, |_| "v = v + warp_sum(v);".to_owned()))),
    dimension("block_sums", 8, |n| kernel("", &lines(n, |_| "v = v + block_sum(v);".to_owned()))),
    // Matches.
    dimension("match_arms", 200, |n| integers(&format!("a = match a {{ {} _ => 5 }};", lines(n, |i| format!("{i} => {},", i * 7))))),
    dimension("match_ranges", 100, |n| {
        integers(&format!("a = match a {{ {} _ => 5 }};", lines(n, |i| format!("{}..={} => {},", i * 10, i * 10 + 4, i * 7))))
    }),
    dimension("match_guards", 100, |n| {
        integers(&format!("a = match a {{ {} _ => 5 }};", lines(n, |i| format!("{i} if b > {i} => {},", i * 7))))
    }),
    dimension("match_tuples", 50, |n| {
        integers(&format!("a = match (a, b) {{ {} _ => 5 }};", lines(n, |i| format!("({i}, {}) => {},", i * 3, i * 7))))
    }),
    dimension("match_alternatives", 100, |n| {
        let numbers: Vec<String> = (0..n).map(|i| (i * 2).to_string()).collect();
        integers(&format!("a = match a {{ {} => 1, _ => 5 }};", numbers.join(" | ")))
    }),
    dimension("match_on_an_enum", 50, |n| {
        let variants: Vec<String> = (0..n).map(|i| format!("V{i} = {i}")).collect();
        let arms = lines(n, |i| format!("E::V{i} => {i},"));
        format!(
            "#[derive(Clone, Copy)] #[repr(u32)] pub enum E {{ {} }}\n#[kernel(block = 64)] pub fn k(e: &Global<E>, y: &mut Global<u32>) {{\n\
             let i = global_id().x; if i < y.len() {{ y[i] = match e[i] {{ {arms} }}; }} }}",
            variants.join(", ")
        )
    }),
    // Memory.
    dimension("loads", 200, |n| guarded(&lines(n, |i| format!("v += x[i + {i}];")))),
    dimension("scattered_loads", 200, |n| guarded(&lines(n, |i| format!("v += x[i * {} + m * {i}];", i + 2)))),
    dimension("stores", 200, |n| guarded(&lines(n, |i| format!("y[i + {i}] = v;")))),
    dimension("loads_and_stores", 100, |n| guarded(&lines(n, |i| format!("y[i + {i} * m] = x[i + {i}] + y[i + {i}];")))),
    dimension("indirect_loads", 60, |n| guarded(&lines(n, |_| "v = x[(v as usize) % m];".to_owned()))),
    dimension("atomics", 100, |n| guarded(&lines(n, |i| format!("y.atomic_add(i + {i}, v);")))),
    dimension("parameters", 20, |n| {
        let parameters = lines(n, |i| format!("x{i}: &Global<f32>, a{i}: f32,"));
        let sum = lines(n, |i| format!("v += x{i}[i] * a{i};"));
        format!(
            "#[kernel(block = 64)] pub fn k({parameters} y: &mut Global<f32>) {{ let i = global_id().x; let mut v = 0.0; if i < y.len() {{ {sum} y[i] = v; }} }}"
        )
    }),
    dimension("shared_arrays", 20, |n| {
        let arrays = lines(n, |i| format!("#[shared] let mut s{i}: [f32; 16]; s{i}[thread_idx().x % 16] = v;"));
        let reads = lines(n, |i| format!("v += s{i}[thread_idx().x / 4];"));
        kernel("", &format!("{arrays} sync_threads(); {reads}"))
    }),
    dimension("shared_accesses", 60, |n| {
        let writes = lines(n, |i| format!("tile[(thread_idx().x + {i}) % 64] = v; sync_threads(); v += tile[thread_idx().x];"));
        kernel("", &writes)
    }),
    dimension("shared_reads", 60, |n| {
        kernel(
            "",
            &format!("tile[thread_idx().x] = v; sync_threads(); {}", lines(n, |i| format!("v += tile[(thread_idx().x + {i}) % 64];"))),
        )
    }),
    dimension("locals", 20, |n| {
        let arrays = lines(n, |i| format!("let mut l{i} = [v; 4]; l{i}[i % 4] = w;"));
        let reads = lines(n, |i| format!("v += l{i}[i % 3];"));
        guarded(&(arrays + &reads))
    }),
    dimension("array_length", 50, |n| {
        guarded(&format!("let mut l = [0.0f32; {n}]; for j in 0..{n} {{ l[j] = v * x[i + j]; }} v = l[i % {n}];"))
    }),
    dimension("array_elements", 30, |n| {
        let elements: Vec<String> = (0..n).map(|i| format!("w * {i}.0")).collect();
        guarded(&format!("let l = [{}]; for j in 0..m {{ v += l[j % {n}]; }}", elements.join(", ")))
    }),
    dimension("array_copies", 20, |n| {
        guarded(&(format!("let mut a = [v; {n}];") + &lines(n, |i| format!("let b = a; a[{i}] = b[{i}] + w;")) + "v = a[0];"))
    }),
    dimension("struct_fields", 30, |n| {
        let fields = lines(n, |i| format!("pub f{i}: f32,"));
        let sum: Vec<String> = (0..n).map(|i| format!("s.f{i}")).collect();
        format!(
            "#[derive(Clone, Copy)] #[repr(C)] pub struct S {{ {fields} }}\n#[kernel(block = 64)] pub fn k(x: &Global<S>, y: &mut Global<S>) {{\n\
             let i = global_id().x; if i < y.len() {{ let mut s = x[i]; s.f0 = {}; y[i] = s; }} }}",
            sum.join(" + ")
        )
    }),
    dimension("nested_structs", 10, |n| {
        let marks = "#[derive(Clone, Copy)] #[repr(C)]";
        let structs = lines(n, |i| format!("{marks} pub struct S{} {{ pub a: S{i}, pub b: f32 }}", i + 1));
        format!(
            "{marks} pub struct S0 {{ pub a: f32, pub b: f32 }}\n{structs}#[kernel(block = 64)] pub fn k(x: &Global<S{n}>, y: &mut Global<f32>) {{\n\
             let i = global_id().x; if i < y.len() {{ let s = x[i]; y[i] = s{}; }} }}",
            ".a".repeat(n + 1)
        )
    }),
    dimension("doubling_structs", 6, |n| {
        let marks = "#[derive(Clone, Copy)] #[repr(C)]";
        let structs = lines(n, |i| format!("{marks} pub struct S{} {{ pub a: S{i}, pub b: S{i} }}", i + 1));
        format!(
            "{marks} pub struct S0 {{ pub a: f32, pub b: f32 }}\n{structs}#[kernel(block = 64)] pub fn k(x: &Global<S{n}>, y: &mut Global<f32>) {{\n\
             let i = global_id().x; if i < y.len() {{ let s = x[i]; y[i] = s{}; }} }}",
            ".a".repeat(n + 1)
        )
    }),
    // Functions, kernels, variants.
    dimension("functions", 60, |n| {
        lines(n, |i| format!("#[device] fn f{i}(v: f32) -> f32 {{ v * {i}.0 + 1.0 }}")) + &guarded(&lines(n, |i| format!("v = f{i}(v);")))
    }),
    dimension("function_depth", 30, |n| {
        let first = "#[device] fn f0(v: f32) -> f32 { v + 1.0 }\n".to_owned();
        first + &lines(n, |i| format!("#[device] fn f{}(v: f32) -> f32 {{ f{i}(v) * 2.0 }}", i + 1)) + &guarded(&format!("v = f{n}(v);"))
    }),
    dimension("doubling_functions", 5, |n| {
        let first = "#[device] fn f0(v: f32) -> f32 { v + 1.0 }\n".to_owned();
        first
            + &lines(n, |i| format!("#[device] fn f{}(v: f32) -> f32 {{ f{i}(v) * f{i}(v + 1.0) }}", i + 1))
            + &guarded(&format!("v = f{n}(v);"))
    }),
    dimension("early_returns_of_functions", 20, |n| {
        let body = lines(n, |i| format!("if v > {i}.0 {{ return v + {i}.0; }}"));
        format!("#[device] fn f(v: f32) -> f32 {{ {body} v }}\n") + &guarded("v = f(v) + f(w);")
    }),
    dimension("generic_functions", 20, |n| {
        format!("#[device] fn f<const N: u32>(a: u32) -> u32 {{ a * N + 1 }}\n{}", integers(&lines(n, |i| format!("a = f::<{i}>(a);"))))
    }),
    dimension("kernels", 20, |n| {
        lines(n, |i| {
            format!(
                "#[kernel(block = 64)] pub fn k{i}(x: &Global<f32>, y: &mut Global<f32>) {{ let i = global_id().x; if i < y.len() {{ y[i] = x[i] + {i}.0; }} }}"
            )
        })
    }),
    dimension("variants", 10, |n| {
        let values: Vec<String> = (1..=n).map(|i| i.to_string()).collect();
        format!(
            "#[kernel(block = 64, variants(N in [{}]))] pub fn k<const N: usize>(x: &Global<f32>, y: &mut Global<f32>) {{\n\
             let i = global_id().x; if i < y.len() {{ y[i] = x[i + N]; }} }}",
            values.join(", ")
        )
    }),
    dimension("unused_functions", 200, |n| {
        lines(n, |i| format!("#[device] fn f{i}(v: f32) -> f32 {{ v * {i}.0 + 1.0 }}")) + &guarded("v += 1.0;")
    }),
    // Annotations.
    dimension("unroll", 64, |n| rows("block = 128", &format!("#[unroll({n})]"))),
    dimension("unroll_whole", 200, |n| guarded(&format!("#[unroll] for j in 0..{n} {{ v += x[i * {n} + j] * w; }}"))),
    dimension("unroll_nested", 8, |n| {
        guarded(&format!("#[unroll] for j in 0..{n} {{ #[unroll] for l in 0..{n} {{ v += x[i * j + l]; }} }}"))
    }),
    dimension("unroll_with_break", 40, |n| guarded(&format!("#[unroll] for j in 0..{n} {{ if v > 3.0 {{ break; }} v += x[i + j]; }}"))),
    dimension("unroll_with_if", 40, |n| guarded(&format!("#[unroll] for j in 0..{n} {{ if v > 3.0 {{ y[i + j] = v; }} v += x[i + j]; }}"))),
    dimension("ilp", 16, |n| rows("block = 128", &format!("#[ilp({n})]"))),
    dimension("ilp_batched", 16, |n| rows("block = 128", &format!("#[ilp({n})] #[batch_loads]"))),
    dimension("ilp_of_the_kernel", 16, |n| rows(&format!("block = 128, ilp = {n}"), "")),
    dimension("ilp_batched_of_the_kernel", 16, |n| rows(&format!("block = 128, ilp = {n}, batch_loads"), "#[unroll(4)]")),
    dimension("ilp_and_unroll", 16, |n| rows(&format!("block = 128, ilp = {n}"), "#[unroll(16)]")),
    dimension("ilp_in_place", 16, |n| {
        format!(
            "#[kernel(block = 128, ilp = {n}, batch_loads)] pub fn k(a: f32, y: &mut Global<f32>) {{ let i = global_id().x; if i < y.len() {{ y[i] = a * y[i]; }} }}"
        )
    }),
    dimension("ilp_under_two_guards", 16, |n| {
        format!(
            "#[kernel(block = 128, ilp = {n})] pub fn k(x: &Global<f32>, y: &mut Global<f32>) {{ let i = global_id().x; if i < y.len() {{ \
             let v = x[i]; if v > 1.0 {{ for j in 0..i {{ y[i] = y[i] + v; }} }} }} }}"
        )
    }),
    dimension("ilp_of_a_chain", 8, |n| {
        format!(
            "#[kernel(block = 128, ilp = 2)] pub fn k(n: u32, y: &mut Global<u32>) {{ let mut a = global_id().x as u32;\n\
             #[unroll] for _ in 0..{n} {{ a ^= a << 13; a ^= a >> 17; a ^= a << 5; }} if a == n {{ y[1] = a; }} }}"
        )
    }),
    dimension("vectorize_of_a_chain", 8, |n| {
        format!(
            "#[kernel(block = 128, vectorize = 2)] pub fn k(y: &mut Global<f32>) {{ let i = global_id().x; let c = i as f32; let mut a = c + 1.0;\n\
             #[unroll] for _ in 0..{n} {{ a = 0.5 * (a + c / a); }} if a > 3.0 && i < y.len() {{ y[i] = a; }} }}"
        )
    }),
    dimension("vectorize", 30, |n| {
        let body = lines(n, |i| format!("z[i] = z[i] + x[i] * {i}.0;"));
        format!(
            "#[kernel(block = 128, vectorize = 4)] pub fn k(x: &Global<f32>, z: &mut Global<f32>) {{ let i = global_id().x; if i < z.len() {{ {body} }} }}"
        )
    }),
    dimension("prefetch", 64, |n| rows("block = 128", &format!("#[prefetch] #[unroll({n})]"))),
    dimension("prefetch_and_ilp", 64, |n| rows("block = 128", &format!("#[ilp(4)] #[prefetch] #[unroll({n})]"))),
    dimension("prefetch_in_place", 16, |n| {
        let updates = lines(n, |i| format!("z[j * {n} + {i}] = z[j * {n} + {i}] + 1.0;"));
        format!(
            "#[kernel(block = 128)] pub fn k(m: usize, z: &mut Global<f32>) {{ #[prefetch(best_effort)] for j in 0..m {{ {updates} }} }}"
        )
    }),
    dimension("batch_loads", 100, |n| rows("block = 128, batch_loads", &format!("#[unroll] for l in 0..{n} {{ sum += x[row * 8 + l]; }}"))),
    dimension("batch_loads_in_place", 30, |n| {
        let updates = lines(n, |i| format!("z[i * {n} + {i}] = z[i * {n} + {i}] + 1.0;"));
        format!("#[kernel(block = 128, batch_loads)] pub fn k(z: &mut Global<f32>) {{ let i = global_id().x; {updates} }}")
    }),
    dimension("batch_loads_under_ifs", 30, |n| {
        let loads = lines(n, |i| format!("if i > {i} {{ v += x[i + {i}]; }}"));
        format!(
            "#[kernel(block = 128, batch_loads)] pub fn k(x: &Global<f32>, z: &mut Global<f32>) {{ let i = global_id().x; let mut v = 0.0; {loads} z[i] = v; }}"
        )
    }),
    dimension("ilp_of_updates", 16, |n| {
        let updates = lines(n, |i| format!("z[j * {n} + {i}] = z[j * {n} + {i}] + 1.0;"));
        format!("#[kernel(block = 128)] pub fn k(m: usize, z: &mut Global<f32>) {{ #[ilp(4)] for j in 0..m {{ {updates} }} }}")
    }),
    dimension("ilp_round_a_ring", 20, |n| {
        let variables = lines(n, |i| format!("let mut c{i} = {};", if i == 0 { "j as f32" } else { "w" }));
        let ring = lines(n, |i| format!("c{i} = c{};", (i + 1) % n));
        guarded(&format!("#[ilp(2)] for j in 0..m {{ {variables} for _ in 0..m {{ {ring} }} v += c{}; }}", n / 2))
    }),
    dimension("unroll_of_batches", 16, |n| {
        guarded(&format!("#[unroll] for j in 0..{n} {{ #[batch_loads] for l in 0..m {{ v += x[j * m + l]; }} }}"))
    }),
    dimension("annotated_loops", 20, |n| {
        guarded(&lines(n, |i| format!("#[ilp(2)] #[batch_loads] for j in 0..m {{ v += x[j * {}]; }}", i + 1)))
    }),
    dimension("annotated_loops_in_place", 20, |n| {
        let update = "#[ilp(2)] for j in 0..m { z[j * m + i] = z[j * m + i] + 1.0; }";
        format!(
            "#[kernel(block = 128)] pub fn k(m: usize, z: &mut Global<f32>) {{ let i = global_id().x; if i < m {{ {} }} }}",
            lines(n, |_| update.to_owned())
        )
    }),
    dimension("unrolled_loops", 20, |n| guarded(&lines(n, |i| format!("#[unroll] for j in 0..4 {{ v += x[j * {}]; }}", i + 1)))),
    dimension("accumulators", 16, |n| {
        let variables = lines(n, |i| format!("let mut c{i} = 0.0;"));
        let updates = lines(n, |i| format!("c{i} += x[j * {n} + {i}];"));
        let sum = lines(n, |i| format!("v += c{i};"));
        guarded(&format!("{variables} #[ilp(4)] for j in 0..m {{ {updates} }} {sum}"))
    }),
];

/// The row of this name.
pub fn find(name: &str) -> Option<&'static Dimension> {
    DIMENSIONS.iter().find(|dimension| dimension.name == name)
}

/// `n` lines.
fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut text, i| {
        writeln!(text, "{}", line(i)).expect("a String takes all");
        text
    })
}

/// A kernel with an element `i` of `x` and `y` for each thread, floats `v` and `w`, a number `m`, and a shared array `tile`.
fn kernel(items: &str, body: &str) -> String {
    format!(
        "{items}#[kernel(block = 64)]\npub fn k(m: usize, w: f32, x: &Global<f32>, y: &mut Global<f32>) {{\n#[shared] let mut tile: [f32; 64];\n\
         let i = global_id().x;\nlet mut v = x[i];\n{body}\ny[i] = v;\n}}\n"
    )
}

/// The same under `if i < y.len()`, without the array.
fn guarded(body: &str) -> String {
    format!(
        "#[kernel(block = 64)]\npub fn k(m: usize, w: f32, x: &Global<f32>, y: &mut Global<f32>) {{\nlet i = global_id().x;\n\
         if i < y.len() {{\nlet mut w = w; let mut v = x[i];\n{body}\ny[i] = v + w;\n}}\n}}\n"
    )
}

/// A kernel of integers `a`, from a buffer, and `b`.
fn integers(body: &str) -> String {
    format!(
        "#[kernel(block = 64)]\npub fn k(b: u32, x: &Global<u32>, y: &mut Global<u32>) {{\nlet i = global_id().x;\nlet mut a = x[i];\n{body}\n\
         y[i] = a;\n}}\n"
    )
}

/// Sums of rows, with arguments of the kernel and annotations of the loop.
fn rows(arguments: &str, annotations: &str) -> String {
    format!(
        "#[kernel({arguments})]\npub fn k(w: usize, x: &Global<f32>, y: &mut Global<f32>) {{\nlet row = global_id().x;\nif row < y.len() {{\n\
         let mut sum = 0.0;\n{annotations}\nfor i in 0..w {{ sum += x[row * w + i]; }}\ny[row] = sum;\n}}\n}}\n"
    )
}
