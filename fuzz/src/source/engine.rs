//! Pipelined loops whose copies a copy engine makes, in and out; and loops that only copy out.

use super::kernel::{Kernel, Passed};
use super::scope::Generator;
use super::tiles::{batched, lines, made, parameter};
use super::tree::Node;
use super::types::Scalar;

/// A loop with its pipeline.
fn pipelined(g: &mut Generator<'_>, head: String, arguments: &str, body: &str) -> Node {
    g.hit("annotation.pipeline");
    let stages = 2 + g.random.below(3);
    let annotations = batched(g, format!("pipeline(stages = {stages}{arguments})"));
    Node::Block { head, annotations, body: lines(body), otherwise: Vec::new(), end: String::new() }
}

/// What makes copies: the engine, with threads of its own to ask it or without.
fn by(g: &mut Generator<'_>, by: &'static str) -> String {
    let feature = if by == "tma" { "pipeline.by_tma" } else { "pipeline.by_bulk" };
    g.hit(feature);
    if g.random.chance(40) {
        g.hit("pipeline.producer");
        return format!(", by = {by}, producer");
    }
    format!(", by = {by}")
}

/// Sums over runs of one buffer or two, block by block or all of them.
pub(super) fn bulk_runs(g: &mut Generator<'_>) -> Kernel {
    g.hit("load_run");
    let scalar = g.random.pick(&[Scalar::U32, Scalar::I32, Scalar::U64, Scalar::U16, Scalar::U8]);
    let t = scalar.name();
    let block = g.random.pick(&[64usize, 32, 128]);
    let run = block * g.random.pick(&[1usize, 2, 4]);
    let count = 1 + g.random.below(7);
    let len = run * count - g.random.below(2) * g.random.below(run.min(17));
    let are_two = g.random.chance(40);
    let is_strided = g.random.chance(50);
    let (declared, copied, used) = if are_two {
        let declared = format!("#[shared]\nlet mut other: [{t}; {run}];\n");
        (declared, format!("load_run(&mut other, w, (chunk / 2) * {run});\n"), format!("^ other[{} - at] as u32", run - 1))
    } else {
        (String::new(), String::new(), String::new())
    };
    let mut body = lines(&format!(
        "#[shared]
         let mut run: [{t}; {run}];
         {declared}
         let t = thread_idx().x;
         let mut sum = block_idx().x as u32;"
    ));
    let head = if is_strided {
        format!("for chunk in (block_idx().x..{count}).step_by(grid_dim().x)")
    } else {
        format!("for chunk in 0..{count}")
    };
    let arguments = by(g, "bulk");
    let inner = format!(
        "load_run(&mut run, x, chunk * {run});
         {copied}
         sync_threads();
         for k in 0..{each} {{ let at = (k * {block} + t * 5) % {run}; sum = (sum * 3) ^ (run[at] as u32) {used}; }}
         sync_threads();",
        each = run / block
    );
    let repeated = pipelined(g, head, &arguments, &inner);
    if g.random.chance(25) {
        g.hit("pipeline.under_condition");
        body.push(Node::block("if n % 3 != 1", vec![repeated]));
    } else {
        body.push(repeated);
    }
    body.push(Node::line("y[global_id().x] = sum;"));
    let seed = g.random.below(1000);
    let mut parameters = vec![
        parameter("n", Scalar::U32, Passed::Value(g.random.below(9) as u64), 0),
        parameter("x", scalar, Passed::Global { len, is_written: false, is_zero: false }, seed),
        parameter("y", Scalar::U32, Passed::Global { len: block * 2, is_written: true, is_zero: false }, 3),
    ];
    if are_two {
        parameters.push(parameter("w", scalar, Passed::Global { len: run * count, is_written: false, is_zero: false }, seed + 1));
    }
    let mut kernel = made(g, Vec::new(), block as u32, [2, 1, 1], parameters, body);
    kernel.has_engine = true;
    kernel
}

/// Tiles of a matrix, or of one of a batch, down its rows or along its columns; they go out as they came, changed, or not at all.
pub(super) fn tensor_tiles(g: &mut Generator<'_>) -> Kernel {
    for feature in ["load_tile", "parameter.matrix"] {
        g.hit(feature);
    }
    let scalar = g.random.pick(&[Scalar::U32, Scalar::I32, Scalar::U64, Scalar::U16, Scalar::U8, Scalar::F32, Scalar::F16, Scalar::I64]);
    let (t, bytes) = (scalar.name(), scalar.bytes());
    let wide = g.random.pick(&[64usize, 32, 128]);
    let (rows, columns) = (g.random.pick(&[8usize, 16]), wide / bytes);
    let block = g.random.pick(&[32usize, 64]).min(rows * columns);
    let swizzle = g.random.pick(&[0usize, 32, 64, 128]);
    let attribute = if swizzle > 0 && wide.is_multiple_of(swizzle) {
        g.hit("annotation.swizzle_bytes");
        format!("#[shared(swizzle = {swizzle})]")
    } else {
        "#[shared]".to_owned()
    };
    let is_batch = g.random.chance(30);
    let is_down = g.random.chance(50);
    let trips = 1 + g.random.below(5);
    let (row, column) = if is_down {
        (format!("k * {rows}"), format!("block_idx().x * {columns}"))
    } else {
        (format!("block_idx().x * {rows}"), format!("k * {columns}"))
    };
    let (from, to) = if is_batch {
        g.hit("parameter.batch");
        ("&a[block_idx().y]", "&mut c[block_idx().y]")
    } else {
        ("a", "c")
    };
    let each = rows * columns / block;
    let is_unaligned = g.random.chance(15);
    let (load_column, run) = if is_unaligned {
        // Threads copy what the engine cannot.
        g.hit("pipeline.unaligned");
        (format!("{column} + n as usize % 5"), "")
    } else if g.random.chance(30) {
        g.hit("pipeline.tiles_and_runs");
        g.hit("load_run");
        (column.clone(), "load_run(&mut run, x, k * 32);")
    } else {
        (column.clone(), "")
    };
    let (of_run, used) = if run.is_empty() { ("", "") } else { ("#[shared]\nlet mut run: [u32; 32];", "sum ^= run[(t + k) % 32];") };
    let out = match g.random.below(4) {
        0 => String::new(),
        1 => {
            g.hit("store_tile");
            g.hit("pipeline.stores");
            format!("store_tile({to}, {row}, {column}, &tile);\n")
        }
        _ => {
            g.hit("store_tile");
            g.hit("pipeline.stores");
            let change = if scalar.is_float() { String::new() } else { format!(" ^ (k as {t})") };
            format!(
                "for r in 0..{each} {{ changed[(r * {block} + t) / {columns}][(r * {block} + t) % {columns}] = tile[(r * {block} + t) / {columns}][(r * {block} + t) % {columns}]{change}; }}
                 sync_threads();
                 store_tile({to}, {row}, {column}, &changed);\n"
            )
        }
    };
    let declared =
        if out.contains("changed") { format!("#[shared]\nlet mut changed: [[{t}; {columns}]; {rows}];\n") } else { String::new() };
    let sum = if scalar.is_float() {
        format!("sum = sum.rotate_left(3) ^ tile[at % {rows}][(at * 3 + k) % {columns}].to_bits() as u32;")
    } else {
        format!("sum = (sum * 5) ^ (tile[at % {rows}][(at * 3 + k) % {columns}] as u32);")
    };
    let inner = format!(
        "load_tile(&mut tile, {from}, {row}, {load_column});
         {run}
         sync_threads();
         for r in 0..{each} {{ let at = r * {block} + t; {sum} }}
         {used}
         {out}
         sync_threads();"
    );
    let mut body = lines(&format!(
        "{attribute}
         let mut tile: [[{t}; {columns}]; {rows}];
         {declared}
         {of_run}
         let t = thread_idx().x;
         let mut sum = t as u32;"
    ));
    let arguments = by(g, "tma");
    body.push(pipelined(g, format!("for k in 0..{trips}"), &arguments, &inner));
    body.push(Node::line(format!("y[(block_idx().y * grid_dim().x + block_idx().x) * {block} + t] = sum;")));
    // The engine wants rows that are whole pieces of 16 bytes where it stores, and begin at multiples of them.
    let piece = 16 / bytes;
    let (all_rows, all_columns) = if is_down { (rows * trips, columns * 2) } else { (rows * 2, columns * trips) };
    let down = (all_rows - g.random.below(rows)).max(1);
    let across = (all_columns - piece * g.random.below(columns / piece)).max(piece);
    let pitch = across + piece * g.random.below(3);
    let count = if is_batch { 1 + g.random.below(3) } else { 1 };
    let seed = g.random.below(1000);
    let passed = |is_written: bool| {
        if is_batch {
            Passed::Batch { extents: [down, across, pitch, count, down * pitch + 2 * piece], is_written }
        } else {
            Passed::Matrix { rows: down, columns: across, pitch, is_written }
        }
    };
    let grid = [2, if is_batch { count as u32 + g.random.below(2) as u32 } else { 1 }, 1];
    let parameters = vec![
        parameter("n", Scalar::U32, Passed::Value(g.random.below(9) as u64), 0),
        parameter("x", Scalar::U32, Passed::Global { len: 32 * trips, is_written: false, is_zero: false }, seed + 2),
        parameter("a", scalar, passed(false), seed),
        parameter("c", scalar, passed(true), seed + 1),
        parameter("y", Scalar::U32, Passed::Global { len: block * (grid[0] * grid[1]) as usize, is_written: true, is_zero: false }, 3),
    ];
    let mut kernel = made(g, Vec::new(), block as u32, grid, parameters, body);
    kernel.has_engine = true;
    kernel
}

/// A loop that computes tiles and stores them, by the engine or by the block's threads.
pub(super) fn tiles_out(g: &mut Generator<'_>) -> Kernel {
    for feature in ["store_tile", "parameter.matrix", "pipeline.out"] {
        g.hit(feature);
    }
    let scalar = g.random.pick(&[Scalar::U32, Scalar::I32, Scalar::U64, Scalar::U16, Scalar::I8]);
    let (t, bytes) = (scalar.name(), scalar.bytes());
    let (rows, columns) = (g.random.pick(&[4usize, 8]), 64 / bytes);
    let block = g.random.pick(&[32usize, 64]).min(rows * columns);
    let trips = 1 + g.random.below(5);
    let has_engine = g.random.chance(50);
    let arguments = if has_engine {
        g.hit("pipeline.by_tma");
        ", by = tma"
    } else {
        ""
    };
    let inner = format!(
        "for r in 0..{each} {{ strip[(r * {block} + t) / {columns}][(r * {block} + t) % {columns}] = carried ^ x[(r * 7 + t + k * 5) % 64]; }}
         carried = carried * 3 + x[(k + t) % 64];
         sync_threads();
         store_tile(c, block_idx().x * {rows}, k * {columns}, &strip);
         sync_threads();",
        each = rows * columns / block
    );
    let mut body = lines(&format!(
        "#[shared]
         let mut strip: [[{t}; {columns}]; {rows}];
         let t = thread_idx().x;
         let mut carried = t as {t};"
    ));
    body.push(pipelined(g, format!("for k in 0..{trips}"), arguments, &inner));
    let piece = 16 / bytes;
    let across = (columns * trips - piece * g.random.below(columns / piece)).max(piece);
    let parameters = vec![
        parameter("x", scalar, Passed::Global { len: 64, is_written: false, is_zero: false }, g.random.below(1000)),
        parameter(
            "c",
            scalar,
            Passed::Matrix { rows: rows * 2 - g.random.below(rows), columns: across, pitch: across + piece, is_written: true },
            5,
        ),
    ];
    let mut kernel = made(g, Vec::new(), block as u32, [2, 1, 1], parameters, body);
    kernel.has_engine = has_engine;
    kernel
}

/// A product of tiles that the engine brings: on sm_90a warpgroups multiply them where they lie. Sums leave one by one, or in strips that the engine takes, where each of several warpgroups stores its own.
pub(super) fn product(g: &mut Generator<'_>) -> Kernel {
    for feature in ["accumulator", "multiply_add", "load_tile", "parameter.matrix", "product.by_warpgroups"] {
        g.hit(feature);
    }
    let factor = g.random.pick(&[Scalar::I8, Scalar::U8]);
    let t = factor.name();
    let (m, n, block) =
        g.random.pick(&[(64usize, 16usize, 128u32), (64, 32, 128), (128, 64, 128), (128, 16, 256), (128, 32, 256), (128, 64, 256)]);
    let steps = 1 + g.random.below(4);
    let has_cluster = g.random.chance(25);
    let in_strips = g.random.chance(50);
    let wide = g.random.pick(&[8usize, 16, 32]).min(n);
    let strip = if in_strips {
        let attribute = if g.random.chance(70) { format!("#[shared(swizzle = {})]", wide * 4) } else { "#[shared]".to_owned() };
        format!("{attribute}\nlet mut strip: [[i32; {wide}]; {m}];\n")
    } else {
        String::new()
    };
    let mut body = lines(&format!(
        "{strip}#[shared(swizzle = 128)]
         let mut left: [[{t}; 128]; {m}];
         #[shared(swizzle = 128)]
         let mut right: [[{t}; 128]; {n}];
         let row = block_idx().y * {m};
         let column = block_idx().x * {n};
         let mut sums = Accumulator::<i32, {m}, {n}>::zero();"
    ));
    let arguments = by(g, "tma");
    let inner = "load_tile(&mut left, a, row, step * 128);
         load_tile(&mut right, b, column, step * 128);
         sync_threads();
         multiply_add(&left, transposed(&right), &mut sums);
         sync_threads();";
    body.push(pipelined(g, format!("for step in 0..{steps}"), &arguments, inner));
    let unrolled = |head: &str, text: &str| Node::Block {
        head: head.to_owned(),
        annotations: vec!["unroll".to_owned()],
        body: lines(text),
        otherwise: Vec::new(),
        end: String::new(),
    };
    if in_strips {
        for feature in ["sums.store_columns", "store_tile", "pipeline.out"] {
            g.hit(feature);
        }
        if g.random.chance(30) {
            body.push(unrolled("for e in 0..sums.len()", "let (r, n) = sums.position(e);\nsums[e] = sums[e] * 3 + x[(r * 5 + n) % 64];"));
        }
        let inner = format!(
            "sums.store_columns(n * {wide}, &mut strip);
             sync_threads();
             store_tile(c, row, column + n * {wide}, &strip);
             sync_threads();"
        );
        let mut strips = pipelined(g, format!("for n in 0..{}", n / wide), ", by = tma", &inner);
        if let (Node::Block { annotations, .. }, true) = (&mut strips, g.random.chance(50)) {
            annotations.insert(0, "unroll".to_owned());
        }
        body.push(strips);
    } else {
        body.push(unrolled("for e in 0..sums.len()", "let (r, n) = sums.position(e);\nc[(row + r, column + n)] = sums[e];"));
    }
    // Rows that the engine writes are whole vectors.
    let across = if in_strips { 2 * n - 4 * g.random.below(3) } else { 2 * n - g.random.below(5) };
    let (rows, depth) = (m + 1 + g.random.below(80), steps * 128 - g.random.below(20));
    let seed = g.random.below(1000);
    let input =
        |name, rows, seed| parameter(name, factor, Passed::Matrix { rows, columns: depth, pitch: steps * 128, is_written: false }, seed);
    let parameters = vec![
        input("a", rows, seed),
        input("b", across, seed + 1),
        parameter("x", Scalar::I32, Passed::Global { len: 64, is_written: false, is_zero: false }, seed + 3),
        parameter("c", Scalar::I32, Passed::Matrix { rows, columns: across, pitch: across, is_written: true }, seed + 2),
    ];
    let options = if has_cluster {
        g.hit("cluster");
        vec!["cluster = (2, 1)".to_owned()]
    } else {
        Vec::new()
    };
    let mut kernel = made(g, options, block, [2, rows.div_ceil(m).next_multiple_of(2) as u32, 1], parameters, body);
    if in_strips && !kernel.hits.contains("option.persistent") && g.random.chance(40) {
        g.hit("option.persistent");
        kernel.hits.insert("option.persistent");
        kernel.annotations.push("persistent".to_owned());
    }
    if has_cluster {
        // How many clusters are started, the execution of PTX does not know.
        kernel.annotations.retain(|annotation| annotation != "persistent");
        kernel.hits.remove("option.persistent");
    }
    kernel.has_engine = true;
    kernel
}
