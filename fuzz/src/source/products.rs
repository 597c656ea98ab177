//! Products: of tiles, of rows of their sums, of sums with another factor, and outer products in registers.

use super::kernel::{Kernel, Passed};
use super::scope::Generator;
use super::tiles::{lines, made, parameter, pipeline};
use super::tree::Node;
use super::types::Scalar;

/// An unrolled loop.
fn unrolled(head: &str, text: &str) -> Node {
    let annotations = vec!["unroll".to_owned()];
    Node::Block { head: head.to_owned(), annotations, body: lines(text), otherwise: Vec::new(), end: String::new() }
}

/// A product of tiles of whole numbers, which every order adds alike.
pub(super) fn product(g: &mut Generator<'_>) -> Kernel {
    for feature in ["accumulator", "multiply_add", "load_tile", "parameter.matrix"] {
        g.hit(feature);
    }
    let factor = g.random.pick(&[Scalar::I8, Scalar::U8]);
    let (m, n) = (g.random.pick(&[32usize, 64, 16]), g.random.pick(&[32usize, 16, 64]));
    let k = g.random.pick(&[32usize, 16, 64]);
    let block = g.random.pick(&[32u32, 64, 128]);
    let swizzle = if (k * factor.bytes()).is_multiple_of(128) { "#[shared(swizzle = 128)]" } else { "#[shared]" };
    let t = factor.name();
    let steps = 1 + g.random.below(3);
    let mut body = lines(&format!(
        "{swizzle}
         let mut left: [[{t}; {k}]; {m}];
         {swizzle}
         let mut right: [[{t}; {k}]; {n}];
         let row = block_idx().y * {m};
         let column = block_idx().x * {n};
         let mut sums = Accumulator::<i32, {m}, {n}>::zero();"
    ));
    let inner = lines(&format!(
        "load_tile(&mut left, a, row, step * {k});
         load_tile(&mut right, b, column, step * {k});
         sync_threads();
         multiply_add(&left, transposed(&right), &mut sums);
         sync_threads();"
    ));
    let annotations = if g.random.chance(60) { pipeline(g, false) } else { Vec::new() };
    body.push(Node::Block { head: format!("for step in 0..{steps}"), annotations, body: inner, otherwise: Vec::new(), end: String::new() });
    let change = if g.random.chance(40) { "sums[e] = sums[e] * 3 - e as i32 * 0;" } else { "" };
    let store = lines(&format!("{change}\nlet (r, n) = sums.position(e);\nc[(row + r, column + n)] = sums[e];"));
    body.push(Node::Block {
        head: "for e in 0..sums.len()".to_owned(),
        annotations: vec!["unroll".to_owned()],
        body: store,
        otherwise: Vec::new(),
        end: String::new(),
    });
    let (rows, across, depth) = (m + g.random.below(5), n + g.random.below(5), steps * k - g.random.below(3));
    let seed = g.random.below(1000);
    let parameters = vec![
        parameter("a", factor, Passed::Matrix { rows, columns: depth, pitch: (steps * k).next_multiple_of(16), is_written: false }, seed),
        parameter(
            "b",
            factor,
            Passed::Matrix { rows: across, columns: depth, pitch: (steps * k).next_multiple_of(16), is_written: false },
            seed + 1,
        ),
        parameter("c", Scalar::I32, Passed::Matrix { rows, columns: across, pitch: across, is_written: true }, seed + 2),
    ];
    made(g, Vec::new(), block, [across.div_ceil(n) as u32, rows.div_ceil(m) as u32, 1], parameters, body)
}

/// Greatest elements and sums of rows of a product of whole numbers.
pub(super) fn rows(g: &mut Generator<'_>) -> Kernel {
    for feature in ["accumulator", "multiply_add", "load_tile", "parameter.matrix", "rows", "row_max", "row_sum", "sums.row"] {
        g.hit(feature);
    }
    let factor = g.random.pick(&[Scalar::I8, Scalar::U8]);
    let t = factor.name();
    let (m, block) = g.random.pick(&[(64usize, 128u32), (128, 128), (128, 256)]);
    let (n, k) = (g.random.pick(&[16usize, 32, 48]), g.random.pick(&[32usize, 64]));
    let steps = 1 + g.random.below(2);
    let mut body = lines(&format!(
        "#[shared]
         let mut left: [[{t}; {k}]; {m}];
         #[shared]
         let mut right: [[{t}; {k}]; {n}];
         let row = block_idx().x * {m};
         let mut sums = Accumulator::<i32, {m}, {n}>::zero();
         let mut total = Rows::<i32, {m}>::splat(3);"
    ));
    let mut inner = lines(&format!(
        "load_tile(&mut left, a, row, step * {k});
         load_tile(&mut right, b, 0, step * {k});
         sync_threads();
         multiply_add(&left, transposed(&right), &mut sums);"
    ));
    if g.random.chance(50) {
        inner.push(Node::line("let now = sums.row_sum();"));
        inner.push(unrolled("for r in 0..total.len()", "total[r] = total[r] * 3 + now[r];"));
    }
    inner.push(Node::line("sync_threads();"));
    let annotations = if g.random.chance(50) { pipeline(g, false) } else { Vec::new() };
    body.push(Node::Block { head: format!("for step in 0..{steps}"), annotations, body: inner, otherwise: Vec::new(), end: String::new() });
    body.push(Node::line(g.random.pick(&["let most = sums.row_max();", "let most = sums.row_sum();"])));
    body.push(unrolled("for e in 0..sums.len()", "sums[e] = (sums[e] - most[sums.row(e)]) * 3;"));
    let out = match g.random.below(3) {
        0 => {
            g.hit("sums.store");
            body.extend(lines("sums.store(&mut tile);\nsync_threads();\nstore_tile(c, row, 0, &tile);"));
            body.splice(0..0, lines(&format!("#[shared]\nlet mut tile: [[i32; {n}]; {m}];")));
            true
        }
        1 => {
            g.hit("sums.store_columns");
            body.extend(lines("sums.store_columns(0, &mut strip);\nsync_threads();\nstore_tile(c, row, 0, &strip);"));
            body.splice(0..0, lines(&format!("#[shared]\nlet mut strip: [[i32; 16]; {m}];")));
            true
        }
        _ => false,
    };
    if !out {
        body.push(unrolled("for e in 0..sums.len()", "let (r, n) = sums.position(e);\nc[(row + r, n)] = sums[e] ^ total[sums.row(e)];"));
    }
    let (rows, depth) = (m + g.random.below(5), steps * k - g.random.below(3));
    let pitch = (steps * k).next_multiple_of(16);
    let seed = g.random.below(1000);
    let parameters = vec![
        parameter("a", factor, Passed::Matrix { rows, columns: depth, pitch, is_written: false }, seed),
        parameter("b", factor, Passed::Matrix { rows: n, columns: depth, pitch, is_written: false }, seed + 1),
        parameter("c", Scalar::I32, Passed::Matrix { rows, columns: n, pitch: n, is_written: true }, seed + 2),
    ];
    made(g, Vec::new(), block, [rows.div_ceil(m) as u32, 1, 1], parameters, body)
}

/// A product of whole numbers as floats, which every order adds alike; and the product of its sums with a third factor.
pub(super) fn of_floats(g: &mut Generator<'_>) -> Kernel {
    for feature in ["accumulator", "multiply_add", "multiply_add.floats"] {
        g.hit(feature);
    }
    let (factor, sum, option) = g.random.pick(&[
        ("bf16", "f32", ""),
        ("f16", "f32", ""),
        ("f32", "f32", "tensor = tf32"),
        ("f32", "f32", ""),
        ("f64", "f64", ""),
        ("e4m3", "f32", ""),
        ("e5m2", "f32", ""),
        ("bf16", "f32", "tensor = false"),
    ]);
    let mut options = Vec::new();
    if !option.is_empty() {
        g.hit("option.tensor");
        options.push(option.to_owned());
    }
    let is_chained = matches!(factor, "bf16" | "f16") && g.random.chance(40);
    let (m, block) = if is_chained { (64usize, 128u32) } else { g.random.pick(&[(32usize, 64u32), (64, 128), (16, 32)]) };
    let (n, k) = (g.random.pick(&[16usize, 32]), g.random.pick(&[16usize, 32, 64]));
    let is_transposed = g.random.chance(60) || matches!(factor, "e4m3" | "e5m2") || option == "tensor = tf32";
    let is_left_transposed = option != "tensor = tf32" && g.random.chance(25);
    let (left, of_left) = if is_left_transposed {
        g.hit("multiply_add.left_transposed");
        (format!("[[{factor}; {m}]; {k}]"), "transposed(&left)")
    } else {
        (format!("[[{factor}; {k}]; {m}]"), "&left")
    };
    let right = if is_transposed { format!("[[{factor}; {k}]; {n}]") } else { format!("[[{factor}; {n}]; {k}]") };
    let of_right = if is_transposed { "transposed(&right)" } else { "&right" };
    if is_transposed {
        g.hit("multiply_add.transposed");
    }
    // Small whole numbers, through `f32` where a type has no other way.
    let number = |from: &str| format!("((({from}[(at * 7 + block_idx().x) % 64] as i8) & 3) - 1) as f32 as {factor}");
    let fill = |array: &str, columns: usize, count: usize, from: &str| {
        format!("for at in (t..{count}).step_by({block}) {{ {array}[at / {columns}][at % {columns}] = {}; }}", number(from))
    };
    let (across, third) = if is_chained {
        g.hit("operand");
        let l = g.random.pick(&[16usize, 32]);
        (l, format!("#[shared]\nlet mut third: [[{factor}; {l}]; {n}];\n{}", fill("third", l, n * l, "w")))
    } else {
        (n, String::new())
    };
    let name = if is_chained { "first" } else { "sums" };
    let mut body = lines(&format!(
        "#[shared]
         let mut left: {left};
         #[shared]
         let mut right: {right};
         let t = thread_idx().x;
         {third}
         {}
         {}
         sync_threads();
         let mut {name} = Accumulator::<{sum}, {m}, {n}>::zero();
         multiply_add({of_left}, {of_right}, &mut {name});",
        fill("left", if is_left_transposed { m } else { k }, m * k, "x"),
        fill("right", if is_transposed { k } else { n }, n * k, "w"),
    ));
    if is_chained {
        body.push(unrolled(
            "for e in 0..first.len()",
            "first[e] = if first[e] > 3.0 { 3.0 } else if first[e] < -3.0 { -3.0 } else { first[e] };",
        ));
        body.extend(lines(&format!(
            "let mut sums = Accumulator::<{sum}, {m}, {across}>::zero();
             multiply_add(first.operand::<{factor}>(), &third, &mut sums);"
        )));
    }
    // What is zero has one sign then.
    let store = format!("let (r, n) = sums.position(e);\ny[(block_idx().x * {m} + r) * {across} + n] = sums[e] + 0.0;");
    body.push(unrolled("for e in 0..sums.len()", &store));
    let seed = g.random.below(1000);
    let input = |name, seed| parameter(name, Scalar::I32, Passed::Global { len: 64, is_written: false, is_zero: false }, seed);
    let of_sums = if sum == "f64" { Scalar::F64 } else { Scalar::F32 };
    let parameters = vec![
        input("x", seed),
        input("w", seed + 1),
        parameter("y", of_sums, Passed::Global { len: 2 * m * across, is_written: true, is_zero: true }, 0),
    ];
    made(g, options, block, [2, 1, 1], parameters, body)
}

/// Outer products in registers: whole numbers as floats, which every order adds alike.
pub(super) fn outer(g: &mut Generator<'_>) -> Kernel {
    for feature in ["loop.outer_product", "load.vector", "store.vector", "annotation.prefetch", "annotation.unroll"] {
        g.hit(feature);
    }
    let scalar = g.random.pick(&[Scalar::I8, Scalar::U8, Scalar::I32]);
    let depth = g.random.pick(&[8usize, 4, 6]);
    let annotations: &[&str] = g.random.pick(&[&["prefetch"], &["unroll(2)", "prefetch"], &["unroll", "prefetch"], &[]]);
    let annotations: Vec<String> = annotations.iter().map(|annotation| (*annotation).to_owned()).collect();
    // Sums of negative zeros, which nothing may make positive ones.
    let is_zero = g.random.chance(20);
    let (of_a, of_b, start) = if is_zero {
        ("0.0", "-1.0", "[[-0.0f32; 4]; 4]")
    } else {
        let loaded = "[y.load::<4>(base), y.load::<4>(base + 32), y.load::<4>(base + 64), y.load::<4>(base + 96)]";
        ("(x[at] as i8) as f32", "(w[at] as i8) as f32", loaded)
    };
    let mut body = lines(&format!(
        "#[shared]
         let mut a: [[f32; 32]; {depth}];
         #[shared]
         let mut b: [[f32; 32]; {depth}];
         let t = thread_idx().x;
         for at in (t..{}).step_by(64) {{ a[at / 32][at % 32] = {of_a}; b[at / 32][at % 32] = {of_b}; }}
         sync_threads();
         let (row, column) = (t / 8 * 4, t % 8 * 4);
         let base = (block_idx().x * 32 + row) * 32 + column;
         let mut sum = {start};
         let mut total = -0.0f32;",
        depth * 32
    ));
    let unroll = |head: &str, body: Vec<Node>| Node::Block {
        head: head.to_owned(),
        annotations: vec!["unroll".to_owned()],
        body,
        otherwise: Vec::new(),
        end: String::new(),
    };
    // Operands in the order in which products want them, and in others, which loads that are issued early are to be brought into.
    let (loads, p, q) = g.random.pick(&[
        ("let p = a[k].load::<4>(row);\nlet q = b[k].load::<4>(column);", "p[i]", "q[j]"),
        (
            "let (first, last) = (a[k].load::<2>(row), a[k].load::<2>(row + 2));\nlet q = b[k].load::<4>(column);",
            "(if i < 2 { first[i % 2] } else { last[i % 2] })",
            "q[j]",
        ),
        (
            "let (last, first) = (b[k].load::<2>(column + 2), b[k].load::<2>(column));\nlet p = a[k].load::<4>(row);",
            "p[i]",
            "(if j < 2 { first[j % 2] } else { last[j % 2] })",
        ),
    ]);
    let change = match g.random.below(6) {
        0..=2 => format!("sum[i][j] = {p}.mul_add({q}, sum[i][j]);"),
        3 | 4 => format!("sum[i][j] += {p} * {q};"),
        // One sum of all, whose products need each other.
        _ => format!("total = {p}.mul_add({q}, total);"),
    };
    let mut inner = lines(loads);
    inner.push(unroll("for i in 0..4", vec![unroll("for j in 0..4", vec![Node::line(change.as_str())])]));
    body.push(Node::Block { head: format!("for k in 0..{depth}"), annotations, body: inner, otherwise: Vec::new(), end: String::new() });
    if change.starts_with("total") {
        body.push(Node::line("sum[3][3] += total;"));
    }
    body.push(unroll("for i in 0..4", lines("y.store::<4>(base + i * 32, [sum[i][0], sum[i][1], sum[i][2], sum[i][3]]);")));
    let seed = g.random.below(1000);
    let input = |name, seed| parameter(name, scalar, Passed::Global { len: depth * 32, is_written: false, is_zero: false }, seed);
    let parameters = vec![
        input("x", seed),
        input("w", seed + 1),
        parameter("y", Scalar::F32, Passed::Global { len: 2 * 32 * 32, is_written: true, is_zero: true }, 0),
    ];
    let mut kernel = made(g, Vec::new(), 64, [2, 1, 1], parameters, body);
    // One rounding or two: of whole numbers that is the same.
    if g.random.chance(60) {
        kernel.options = vec!["contract = true".to_owned()];
        kernel.hits.insert("option.contract");
    }
    kernel
}

/// Elements of a shared array that are read early, and used behind barriers, when others stand in their places.
pub(super) fn kept(g: &mut Generator<'_>) -> Kernel {
    for feature in ["fragments.kept", "annotation.prefetch", "annotation.unroll", "sync_threads"] {
        g.hit(feature);
    }
    let scalar = g.random.pick(&[Scalar::U32, Scalar::I32, Scalar::U64, Scalar::U16]);
    let t = scalar.name();
    let (block, depth) = (g.random.pick(&[32usize, 64]), g.random.pick(&[3usize, 2, 4]));
    let annotations = |extra: &str| ["unroll", extra].iter().filter(|word| !word.is_empty()).map(|word| (*word).to_owned()).collect();
    let each = |extra: &str, text: &str| Node::Block {
        head: format!("for k in 0..{depth}usize"),
        annotations: annotations(extra),
        body: lines(text),
        otherwise: Vec::new(),
        end: String::new(),
    };
    let [first, second] = [0; 2].map(|_| {
        let distance = 1 + g.random.below(block - 1);
        g.random.pick(&["(t + D) % B", "(B - 1) - t", "t ^ D % 16"]).replace('D', &distance.to_string()).replace('B', &block.to_string())
    });
    let early = ["prefetch", ""];
    let [of_first, of_second] = [0; 2].map(|_| g.random.pick(&["k", "DEPTH - k"]).replace("DEPTH", &(depth - 1).to_string()));
    let mut body = lines(&format!(
        "#[shared]
         let mut a: [[{t}; {block}]; {depth}];
         #[shared]
         let mut pairs: [[{t}; 2]; {}];
         let t = thread_idx().x;
         let base = block_idx().x * {block};",
        2 * block
    ));
    body.push(each("", &format!("a[k][t] = x[(base + t + k * {block}) % 256];")));
    body.extend(lines(&format!("sync_threads();\nlet mut first = [0{t}; {depth}];\nlet mut second = [0{t}; {depth}];")));
    // Two elements of each thread, and halves of one, of which one is read before the other is written.
    let other = g.random.below(9);
    body.extend(lines(&format!(
        "pairs[t][0] = x[(base + t) % 256];
         pairs[t + {block}][1] = t as {t};
         pairs[t][1] = x[(base + t * 5) % 256];
         pairs[t + {block}][0] = x[(base + t + {other}) % 256];"
    )));
    body.push(Node::line("sync_threads();"));
    body.push(Node::line(format!("let at = {first};")));
    body.push(Node::line(format!("let left = pairs[at][0] ^ pairs[at + {block}][1] + pairs[t + {block}][0];")));
    let (before, behind) = (early[usize::from(g.random.chance(20))], early[usize::from(g.random.chance(20))]);
    body.push(each(before, &format!("first[k] = a[k][{first}];")));
    body.push(Node::line("sync_threads();"));
    let change = format!("pairs[t] = [{0}{t}, x[(base + t * 7) % 256] ^ {0}];", 1 + g.random.below(50));
    body.push(Node::block(g.random.pick(&["if t % 3 != 1", "if t < 20", "if base == 0"]), vec![Node::line(change)]));
    body.push(each("", &format!("a[k][t] = x[(base + t * 3 + k) % 256] ^ {};", 1 + g.random.below(100))));
    body.push(Node::line("sync_threads();"));
    body.push(each(behind, &format!("second[k] = a[k][{second}];")));
    body.push(Node::line("let mut sum = left * 7 + pairs[at][1];"));
    body.push(each("", &format!("sum = sum * 5 ^ first[{of_first}] + second[{of_second}] * 3;")));
    body.push(Node::line("y[base + t] = sum;"));
    let parameters = vec![
        parameter("x", scalar, Passed::Global { len: 256, is_written: false, is_zero: false }, g.random.below(1000)),
        parameter("y", scalar, Passed::Global { len: block * 2, is_written: true, is_zero: false }, 5),
    ];
    made(g, Vec::new(), block as u32, [2, 1, 1], parameters, body)
}

/// Sums of products of whole numbers as floats: whether a product is rounded before it is added makes no difference.
pub(super) fn contracted(g: &mut Generator<'_>) -> Kernel {
    g.hit("products.contracted");
    let scalar = g.random.pick(&[Scalar::F32, Scalar::F64]);
    let t = scalar.name();
    let (values, words) = (3 + g.random.below(3), 4 + g.random.below(5));
    let mut body = lines("let i = global_id().x;");
    for n in 0..values {
        body.push(Node::line(format!("let v{n} = x[(i * {} + {}) % 64] as i8 as {t};", 1 + g.random.below(5), g.random.below(64))));
    }
    body.push(Node::line(format!("let mut sum = {};", g.random.pick(&["v0", "-v1", "-0.0", "0.0"]))));
    for word in 0..words {
        let [a, b, c, d] = [0; 4].map(|_| format!("v{}", g.random.below(values)));
        let c = if g.random.chance(30) { "sum".to_owned() } else { c };
        let text = g.random.pick(&[
            "A * B + C",
            "C + A * B",
            "A * B - C",
            "C - A * B",
            "A * B + D * C",
            "A * B - C * D",
            "C - A * B - D",
            "{ let p = A * B; (C + p) - (p - D) }",
            "{ let p = A * B; if p > C { p - C } else { D } }",
            "-(A * B) + C",
            "A * B - 3.0",
        ]);
        // The sum by itself is no factor: it would outgrow what is exact.
        let text = if c == "sum" { text.replace("D * C", "D * A").replace("C * D", "B * D") } else { text.to_owned() };
        let value = text.replace('A', &a).replace('B', &b).replace('C', &c).replace('D', &d);
        body.push(Node::line(format!("let w{word} = {value};")));
        body.push(Node::line(format!("y[i * {words} + {word}] = w{word};")));
        if c != "sum" && g.random.chance(50) {
            body.push(Node::line(
                g.random.pick(&["sum += A * B;", "sum -= A * B;", "sum = A * B - sum;"]).replace('A', &a).replace('B', &b),
            ));
        }
    }
    body.push(Node::Block {
        head: format!("for k in 0..{}usize", 2 + g.random.below(5)),
        annotations: if g.random.chance(50) { vec![g.random.pick(&["unroll", "unroll(2)"]).to_owned()] } else { Vec::new() },
        body: lines(&format!(
            "let v = x[(i + k) % 64] as i8 as {t};\nsum = {};",
            g.random.pick(&["sum - v * v0", "v * v1 + sum", "v * v0 - sum"])
        )),
        otherwise: Vec::new(),
        end: String::new(),
    });
    body.push(Node::line(format!("y[i * {words}] = sum;")));
    let parameters = vec![
        parameter("x", Scalar::I32, Passed::Global { len: 64, is_written: false, is_zero: false }, g.random.below(1000)),
        parameter("y", scalar, Passed::Global { len: 64 * words, is_written: true, is_zero: false }, 6),
    ];
    let mut kernel = made(g, Vec::new(), 32, [2, 1, 1], parameters, body);
    if g.random.chance(80) {
        kernel.options = vec!["contract = true".to_owned()];
        kernel.hits.insert("option.contract");
    }
    kernel
}
