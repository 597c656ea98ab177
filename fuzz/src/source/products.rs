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
    let annotations = if g.random.chance(60) { vec![pipeline(g, false)] } else { Vec::new() };
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
    let annotations = if g.random.chance(50) { vec![pipeline(g, false)] } else { Vec::new() };
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
    let annotations = match g.random.below(3) {
        0 => vec!["prefetch".to_owned()],
        1 => vec!["unroll(2)".to_owned(), "prefetch".to_owned()],
        _ => Vec::new(),
    };
    let mut body = lines(&format!(
        "#[shared]
         let mut a: [[f32; 32]; {depth}];
         #[shared]
         let mut b: [[f32; 32]; {depth}];
         let t = thread_idx().x;
         for at in (t..{}).step_by(64) {{ a[at / 32][at % 32] = (x[at] as i8) as f32; b[at / 32][at % 32] = (w[at] as i8) as f32; }}
         sync_threads();
         let (row, column) = (t / 8 * 4, t % 8 * 4);
         let base = (block_idx().x * 32 + row) * 32 + column;
         let mut sum = [y.load::<4>(base), y.load::<4>(base + 32), y.load::<4>(base + 64), y.load::<4>(base + 96)];",
        depth * 32
    ));
    let unroll = |head: &str, body: Vec<Node>| Node::Block {
        head: head.to_owned(),
        annotations: vec!["unroll".to_owned()],
        body,
        otherwise: Vec::new(),
        end: String::new(),
    };
    let change = g.random.pick(&["sum[i][j] = p[i].mul_add(q[j], sum[i][j]);", "sum[i][j] += p[i] * q[j];"]);
    let mut inner = lines("let p = a[k].load::<4>(row);\nlet q = b[k].load::<4>(column);");
    inner.push(unroll("for i in 0..4", vec![unroll("for j in 0..4", vec![Node::line(change)])]));
    body.push(Node::Block { head: format!("for k in 0..{depth}"), annotations, body: inner, otherwise: Vec::new(), end: String::new() });
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
