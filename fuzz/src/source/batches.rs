//! Batches of matrices, and what is done to whole rows of products.

use super::kernel::{Kernel, Passed};
use super::scope::Generator;
use super::tiles::{lines, made, parameter, pipeline};
use super::tree::Node;
use super::types::Scalar;
use crate::random::Random;

/// Rows, columns, pitch, count and stride of a batch: matrices one behind another, with room between them, or side by side.
fn batch(random: &mut Random, multiple: usize) -> [usize; 5] {
    let (rows, columns, count) = (1 + random.below(20), 1 + random.below(20), 1 + random.below(4));
    let pitch = (columns + random.below(4)).next_multiple_of(multiple);
    match random.below(3) {
        0 => [rows, columns, pitch, count, rows * pitch],
        1 => [rows, columns, pitch, count, (rows * pitch + random.below(9)).next_multiple_of(multiple)],
        _ => [rows, columns, pitch * count, count, pitch],
    }
}

/// An unrolled loop.
fn unrolled(head: &str, text: &str) -> Node {
    let annotations = vec!["unroll".to_owned()];
    Node::Block { head: head.to_owned(), annotations, body: lines(text), otherwise: Vec::new(), end: String::new() }
}

/// Tiles or elements of matrices of one batch, moved to another. Both have edges, and matrices that are not there.
pub(super) fn moved(g: &mut Generator<'_>) -> Kernel {
    for feature in ["parameter.batch", "batch.written"] {
        g.hit(feature);
    }
    let scalar = g.random.pick(&Scalar::ELEMENTS);
    let t = scalar.name();
    let (rows, columns) = (g.random.pick(&[4usize, 8]), g.random.pick(&[8usize, 16]));
    let block = g.random.pick(&[32u32, 64]);
    let (from, to) = (batch(g.random, 1), batch(g.random, 1));
    let shift = [0; 3].map(|_| g.random.below(4));
    let [i, down, right] = shift;
    // What arithmetic makes of NaN has bits that nobody fixes.
    let work = match g.random.below(if scalar.is_float() { 2 } else { 4 }) {
        0 => {
            g.hit("batch.store_tile");
            format!("store_tile(&mut c[z + {i}], row + {down}, column + {right}, &tile);")
        }
        1 => {
            g.hit("batch.element");
            format!(
                "for at in (t..{rows} * {columns}).step_by({block}) {{ c[z + {i}][(row + at / {columns} + {down}, column + at % {columns})] = a[z][(row + at / {columns}, column + at % {columns})]; }}"
            )
        }
        2 => {
            g.hit("device_function.matrix");
            format!(
                "for at in (t..{rows} * {columns}).step_by({block}) {{ add_to(&mut c[z], (row + at / {columns}, column + at % {columns}), around(&a[z + {i}], row + at / {columns}, column + at % {columns}) ^ tile[at / {columns}][at % {columns}]); }}"
            )
        }
        _ => {
            g.hit("batch.extents");
            format!(
                "let n = (a.rows() * 3 + a.columns() * 5 + a.pitch() * 7 + a.count() * 11 + a.stride() * 13 + c[1].rows()) as {t};
                 for at in (t..{rows} * {columns}).step_by({block}) {{ c[z + {i}][(row + at / {columns}, column + at % {columns})] ^= tile[at / {columns}][at % {columns}] + n; }}"
            )
        }
    };
    let body = lines(&format!(
        "#[shared]
         let mut tile: [[{t}; {columns}]; {rows}];
         let (z, row, column) = (block_idx().z, block_idx().y * {rows}, block_idx().x * {columns});
         let t = thread_idx().x;
         load_tile(&mut tile, &a[z], row, column);
         sync_threads();
         {work}"
    ));
    let seed = g.random.below(1000);
    let parameters = vec![
        parameter("a", scalar, Passed::Batch { extents: from, is_written: false }, seed),
        parameter("c", scalar, Passed::Batch { extents: to, is_written: true }, seed + 1),
    ];
    let grid = [to[1].div_ceil(columns) as u32, to[0].div_ceil(rows) as u32, to[3] as u32 + g.random.below(2) as u32];
    let mut kernel = made(g, Vec::new(), block, grid, parameters, body);
    if !scalar.is_float() {
        kernel.items = format!(
            "#[device]\npub fn around(m: &Matrix<{t}>, row: usize, column: usize) -> {t} {{\n    m[(row + 1, column)] ^ m[(row, column + 1)] + m[(row.wrapping_sub(1), column)]\n}}\n#[device]\npub fn add_to(m: &mut Matrix<{t}>, at: (usize, usize), value: {t}) {{\n    m[at] += value;\n}}\n"
        );
    }
    kernel
}

/// Greatest elements and sums of rows of a product of whole numbers.
pub(super) fn rows_of_product(g: &mut Generator<'_>) -> Kernel {
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
pub(super) fn product_of_floats(g: &mut Generator<'_>) -> Kernel {
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
