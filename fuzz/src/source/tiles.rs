//! Kernels that move tiles: matrices, runs, pipelines, products of tiles, blocks that wait for each other. Each is a pattern whose figures are drawn.

use super::kernel::{Kernel, Parameter, Passed};
use super::scope::Generator;
use super::threads::generator;
use super::tree::Node;
use super::types::Scalar;
use super::{batches, clusters, engine, flags, float8s, products};
use crate::random::Random;

/// One of the patterns.
pub(super) fn kernel(random: &mut Random) -> Kernel {
    let mut g = generator(random);
    match g.random.below(26) {
        18..=20 => products::outer(&mut g),
        21..=23 => products::kept(&mut g),
        24 | 25 => products::contracted(&mut g),
        17 => float8s::moved(&mut g),
        8 | 9 => batches::moved(&mut g),
        10 => products::rows(&mut g),
        11 => products::of_floats(&mut g),
        12 => engine::bulk_runs(&mut g),
        13 => engine::tensor_tiles(&mut g),
        14 => engine::tiles_out(&mut g),
        15 => engine::product(&mut g),
        16 => flags::look_back(&mut g),
        0 => transposed(&mut g),
        1 => runs(&mut g),
        2 => columns(&mut g),
        3 => products::product(&mut g),
        4 => flags::last_block(&mut g),
        5 => products::outer(&mut g),
        6 => clusters::clusters(&mut g),
        _ => dynamic(&mut g),
    }
}

/// A kernel of these parts.
pub(super) fn made(
    g: &mut Generator<'_>,
    options: Vec<String>,
    block: u32,
    grid: [u32; 3],
    parameters: Vec<Parameter>,
    body: Vec<Node>,
) -> Kernel {
    let mut options = options;
    options.push("contract = false".to_owned());
    let mut annotations = Vec::new();
    if g.random.chance(20) {
        g.hit("option.raster");
        annotations.push("raster(rows = 2)".to_owned());
    }
    if g.random.chance(8) {
        g.hit("option.persistent");
        annotations.push("persistent".to_owned());
    }
    if g.random.chance(8) {
        g.hit("option.overlap");
        annotations.push("overlap".to_owned());
    }
    let mut parameters = parameters;
    g.cache_hints(&mut parameters);
    if g.random.chance(8) && parameters.iter().all(|parameter| !parameter.scalar.is_float()) {
        // There is nothing that it makes faster.
        g.hit("option.math");
        options.push("math = fast".to_owned());
    }
    Kernel {
        items: String::new(),
        options,
        annotations,
        elements: 1,
        block: [block, 1, 1],
        grid,
        has_free_block: false,
        shared_bytes: 0,
        parameters,
        generics: Vec::new(),
        in_module: false,
        has_clusters: false,
        has_engine: false,
        waits: false,
        body,
        hits: std::mem::take(&mut g.hits),
        calls: std::mem::take(&mut g.calls),
        is_approximate: false,
        family: "tiles",
    }
}

pub(super) fn parameter(name: &str, scalar: Scalar, passed: Passed, seed: usize) -> Parameter {
    Parameter::new(name.to_owned(), scalar, passed, seed as u64)
}

pub(super) fn lines(text: &str) -> Vec<Node> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(Node::line).collect()
}

/// A matrix transposed, or flipped, through a tile; edges do not fit.
fn transposed(g: &mut Generator<'_>) -> Kernel {
    for feature in ["parameter.matrix", "load_tile", "matrix.store"] {
        g.hit(feature);
    }
    let scalar = g.random.pick(&Scalar::ELEMENTS);
    let side = g.random.pick(&[16usize, 8, 32]);
    let (rows, columns) = (1 + g.random.below(40), 1 + g.random.below(40));
    let pitch = columns + g.random.below(4);
    let attribute = match g.random.below(5) {
        0 => "#[shared(pad = 1)]",
        1 => "#[shared(swizzle)]",
        2 => "#[shared(pad = 4)]",
        _ => "#[shared]",
    };
    g.hit(if attribute.contains("swizzle") { "annotation.swizzle" } else { "annotation.pad" });
    let t = scalar.name();
    let block = g.random.pick(&[64u32, 32, 128]);
    // What arithmetic makes of NaN has bits that nobody fixes.
    let way = if scalar.is_float() { 1 } else { g.random.below(3) };
    let work = match way {
        0 => {
            g.hit("store_tile");
            format!(
                "for at in (t..{side} * {side}).step_by({block}) {{ tile[at / {side}][at % {side}] = tile[at / {side}][at % {side}] + other[(row + at / {side}, column + at % {side})]; }}
                 sync_threads();
                 store_tile(c, row, column, &tile);"
            )
        }
        1 => format!(
            "for at in (t..{side} * {side}).step_by({block}) {{ c[(column + at / {side}, row + at % {side})] = tile[at % {side}][at / {side}]; }}"
        ),
        _ => format!(
            "for at in (t..{side} * {side}).step_by({block}) {{ c[(row + at / {side}, column + at % {side})] += tile[at / {side}][at % {side}] - other[(column + at % {side}, row + at / {side})]; }}"
        ),
    };
    let body = lines(&format!(
        "{attribute}
         let mut tile: [[{t}; {side}]; {side}];
         let (row, column) = (block_idx().y * {side}, block_idx().x * {side});
         let t = thread_idx().x;
         load_tile(&mut tile, a, row, column);
         sync_threads();
         {work}"
    ));
    let (down, across) = if work.contains("c[(column") { (columns, rows) } else { (rows, columns) };
    let seed = g.random.below(1000);
    let parameters = vec![
        parameter("a", scalar, Passed::Matrix { rows, columns, pitch, is_written: false }, seed),
        parameter("other", scalar, Passed::Matrix { rows: columns, columns: rows, pitch: rows, is_written: false }, seed + 1),
        parameter("c", scalar, Passed::Matrix { rows: down, columns: across, pitch: across, is_written: true }, seed + 2),
    ];
    let grid = [columns.div_ceil(side) as u32, rows.div_ceil(side) as u32, 1];
    made(g, Vec::new(), block, grid, parameters, body)
}

/// How a loop of copies is kept.
pub(super) fn pipeline(g: &mut Generator<'_>, may_bulk: bool) -> Vec<String> {
    g.hit("annotation.pipeline");
    let stages = 2 + g.random.below(3);
    let by = match g.random.below(8) {
        0 => {
            g.hit("pipeline.by_registers");
            ", by = registers"
        }
        1 if may_bulk => {
            g.hit("pipeline.producer");
            ", producer"
        }
        _ => "",
    };
    batched(g, format!("pipeline(stages = {stages}{by})"))
}

/// A pipeline, or one whose loop is to batch its loads, too.
pub(super) fn batched(g: &mut Generator<'_>, pipeline: String) -> Vec<String> {
    let mut annotations = vec![pipeline];
    if g.random.chance(35) {
        g.hit("pipeline.batched");
        g.hit("annotation.batch_loads");
        annotations.push("batch_loads".to_owned());
    }
    annotations
}

/// Loads in a pipelined loop that are no copies: a line that changes `sum`, or none, of a buffer `w` whose elements are these.
fn weights(g: &mut Generator<'_>, t: &str, counter: &str, block: usize) -> String {
    match g.random.below(4) {
        0 => format!("sum = sum * 3 + (w[{counter} * {block} + t] as {t});"),
        1 => format!("if {counter} % 2 == 1 {{ sum ^= (w[{counter} * {block} + t] as {t}) * 5; }}"),
        2 => format!("sum += (w[{counter}] as {t}) * (w[{counter} * 2 + 1] as {t});"),
        _ => String::new(),
    }
}

/// Sums over runs of a buffer, copied ahead.
fn runs(g: &mut Generator<'_>) -> Kernel {
    g.hit("load_run");
    let scalar = g.random.pick(&[Scalar::U32, Scalar::I32, Scalar::U64, Scalar::U16, Scalar::I8]);
    let t = scalar.name();
    let block = g.random.pick(&[64u32, 32, 128]) as usize;
    let run = block * g.random.pick(&[1usize, 2, 4]);
    let count = 1 + g.random.below(4);
    let len = run * count - g.random.below(2) * g.random.below(run.min(17));
    let change = g.random.pick(&["sum = sum.wrapping_mul(3) + V;", "sum ^= V << 1;", "sum += V; if V % 3 == 1 { sum = !sum; }"]);
    let change = change.replace('V', "(v as u32)");
    let head = format!("for chunk in 0..{count}");
    let (first, second) = (weights(g, "u32", "chunk", block), weights(g, "u32", "chunk", block));
    let body_of_loop = lines(&format!(
        "load_run(&mut run, x, chunk * {run});
         sync_threads();
         for k in 0..{each} {{ let v = run[(k * {block} + (t * 5 + k) % {block}) % {run}]; {change} }}
         {first}
         {second}
         sync_threads();",
        each = run / block
    ));
    let annotations = if g.random.chance(70) { pipeline(g, true) } else { Vec::new() };
    let mut body = lines(&format!(
        "#[shared]
         let mut run: [{t}; {run}];
         let t = thread_idx().x;
         let mut sum = block_idx().x as u32;"
    ));
    body.push(Node::Block { head, annotations, body: body_of_loop, otherwise: Vec::new(), end: String::new() });
    body.push(Node::line("y[global_id().x] = sum;"));
    let seed = g.random.below(1000);
    let parameters = vec![
        parameter("x", scalar, Passed::Global { len, is_written: false, is_zero: false }, seed),
        parameter("w", scalar, Passed::Global { len: block * count + 2, is_written: false, is_zero: false }, seed + 1),
        parameter("y", Scalar::U32, Passed::Global { len: block * 2, is_written: true, is_zero: false }, 3),
    ];
    made(g, Vec::new(), block as u32, [2, 1, 1], parameters, body)
}

/// Copies written as loads and stores, or as tiles, in a pipelined loop.
fn columns(g: &mut Generator<'_>) -> Kernel {
    let scalar = g.random.pick(&[Scalar::U32, Scalar::I32, Scalar::U64, Scalar::I64]);
    let t = scalar.name();
    let block = 32;
    let (rows, depth) = (4, 1 + g.random.below(5));
    let by_tiles = g.random.chance(50);
    let (before, behind) = (weights(g, t, "k", block), weights(g, t, "k", block));
    let copies = if by_tiles {
        g.hit("load_tile");
        "load_tile(&mut tile, m, k * 4, 0);".to_owned()
    } else {
        format!("for r in 0..{rows} {{ tile[r][t] = x[(k * {rows} + r) * {block} + t]; }}")
    };
    let body_of_loop = lines(&format!(
        "{copies}
         {before}
         sync_threads();
         for r in 0..{rows} {{ sum = (sum ^ tile[r][{last} - t]).rotate_left(3) + tile[(r + 1) % {rows}][(t * 3 + k) % {block}]; }}
         {behind}
         sync_threads();",
        last = block - 1
    ));
    let annotations = if g.random.chance(80) { pipeline(g, false) } else { Vec::new() };
    let mut body = lines(&format!(
        "#[shared]
         let mut tile: [[{t}; {block}]; {rows}];
         let t = thread_idx().x;
         let mut sum = t as {t};"
    ));
    body.push(Node::Block {
        head: format!("for k in 0..{depth}"),
        annotations,
        body: body_of_loop,
        otherwise: Vec::new(),
        end: String::new(),
    });
    body.push(Node::line("y[global_id().x] = sum;"));
    let seed = g.random.below(1000);
    let input = if by_tiles {
        g.hit("parameter.matrix");
        let rows = rows * depth - g.random.below(3);
        parameter("m", scalar, Passed::Matrix { rows, columns: 29 + g.random.below(4), pitch: 32, is_written: false }, seed)
    } else {
        parameter("x", scalar, Passed::Global { len: block * rows * depth, is_written: false, is_zero: false }, seed)
    };
    let weights = Passed::Global { len: block * depth + 2, is_written: false, is_zero: false };
    let parameters = vec![
        input,
        parameter("w", scalar, weights, seed + 1),
        parameter("y", scalar, Passed::Global { len: block * 2, is_written: true, is_zero: false }, 4),
    ];
    made(g, Vec::new(), block as u32, [2, 1, 1], parameters, body)
}

/// A shared array whose length is the launch's.
fn dynamic(g: &mut Generator<'_>) -> Kernel {
    g.hit("shared.dynamic");
    let scalar = g.random.pick(&Scalar::INTEGERS);
    let t = scalar.name();
    let block = g.random.pick(&[32u32, 16, 64]) as usize;
    let each = 1 + g.random.below(3);
    let in_rows = g.random.chance(40);
    let body = if in_rows {
        g.hit("shared.dynamic_rows");
        let attribute = g.random.pick(&["#[shared(dynamic)]", "#[shared(dynamic, pad = 1)]"]);
        lines(&format!(
            "{attribute}
             let mut tile: [[{t}; {block}]];
             let t = thread_idx().x;
             for r in 0..tile.len() {{ tile[r][t] = x[(r * {block} + t) % 64]; }}
             sync_threads();
             let mut sum = tile.len() as {t};
             for r in 0..tile.len() {{ sum = sum * 3 ^ tile[tile.len() - 1 - r][{last} - t]; }}
             y[global_id().x] = sum;",
            last = block - 1
        ))
    } else {
        lines(&format!(
            "#[shared(dynamic)]
             let mut list: [{t}];
             let t = thread_idx().x;
             for at in (t..list.len()).step_by({block}) {{ list[at] = x[at % 64]; }}
             sync_threads();
             let mut sum = list.len() as {t};
             for at in 0..list.len() {{ sum = sum * 5 + (list[(at + t) % list.len()] ^ at as {t}); }}
             y[global_id().x] = sum;"
        ))
    };
    let seed = g.random.below(1000);
    let parameters = vec![
        parameter("x", scalar, Passed::Global { len: 64, is_written: false, is_zero: false }, seed),
        parameter("y", scalar, Passed::Global { len: block * 2, is_written: true, is_zero: false }, 4),
    ];
    let row = if in_rows { (block + 1) * scalar.bytes() } else { block * scalar.bytes() };
    let mut kernel = made(g, Vec::new(), block as u32, [2, 1, 1], parameters, body);
    kernel.shared_bytes = (row * each) as u32;
    kernel
}
