//! Kernels that move tiles: matrices, runs, pipelines, products of tiles, blocks that wait for each other. Each is a pattern whose figures are drawn.

use super::kernel::{Kernel, Parameter, Passed};
use super::scope::Generator;
use super::threads::generator;
use super::tree::Node;
use super::types::Scalar;
use super::{batches, engine, flags, float8s};
use crate::random::Random;

/// One of the patterns.
pub(super) fn kernel(random: &mut Random) -> Kernel {
    let mut g = generator(random);
    match g.random.below(18) {
        17 => float8s::moved(&mut g),
        8 | 9 => batches::moved(&mut g),
        10 => batches::rows_of_product(&mut g),
        11 => batches::product_of_floats(&mut g),
        12 => engine::bulk_runs(&mut g),
        13 => engine::tensor_tiles(&mut g),
        14 => engine::tiles_out(&mut g),
        15 => engine::product(&mut g),
        16 => flags::look_back(&mut g),
        0 => transposed(&mut g),
        1 => runs(&mut g),
        2 => columns(&mut g),
        3 => product(&mut g),
        4 => last_block(&mut g),
        5 => outer(&mut g),
        6 => clusters(&mut g),
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
        is_approximate: false,
        family: "tiles",
    }
}

pub(super) fn parameter(name: &str, scalar: Scalar, passed: Passed, seed: usize) -> Parameter {
    Parameter { name: name.to_owned(), scalar, each: 1, passed, seed: seed as u64, in_group: false, is_generic: false, cache: None }
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
pub(super) fn pipeline(g: &mut Generator<'_>, may_bulk: bool) -> String {
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
    format!("pipeline(stages = {stages}{by})")
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
    let body_of_loop = lines(&format!(
        "load_run(&mut run, x, chunk * {run});
         sync_threads();
         for k in 0..{each} {{ let v = run[(k * {block} + (t * 5 + k) % {block}) % {run}]; {change} }}
         sync_threads();",
        each = run / block
    ));
    let annotations = if g.random.chance(70) { vec![pipeline(g, true)] } else { Vec::new() };
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
    let copies = if by_tiles {
        g.hit("load_tile");
        "load_tile(&mut tile, m, k * 4, 0);".to_owned()
    } else {
        format!("for r in 0..{rows} {{ tile[r][t] = x[(k * {rows} + r) * {block} + t]; }}")
    };
    let body_of_loop = lines(&format!(
        "{copies}
         sync_threads();
         for r in 0..{rows} {{ sum = (sum ^ tile[r][{last} - t]).rotate_left(3) + tile[(r + 1) % {rows}][(t * 3 + k) % {block}]; }}
         sync_threads();",
        last = block - 1
    ));
    let annotations = if g.random.chance(80) { vec![pipeline(g, false)] } else { Vec::new() };
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
    let parameters = vec![input, parameter("y", scalar, Passed::Global { len: block * 2, is_written: true, is_zero: false }, 4)];
    made(g, Vec::new(), block as u32, [2, 1, 1], parameters, body)
}

/// A product of tiles of whole numbers, which every order adds alike.
fn product(g: &mut Generator<'_>) -> Kernel {
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

/// The last block to come adds what all have written.
fn last_block(g: &mut Generator<'_>) -> Kernel {
    g.hit("flags.last_block");
    let block = g.random.pick(&[32u32, 64]);
    let blocks = 1 + g.random.below(4);
    let scalar = g.random.pick(&[Scalar::U32, Scalar::I32, Scalar::U64]);
    let t = scalar.name();
    let ticket = match g.random.below(3) {
        0 => "let ticket = count.atomic_add_ordered(0, 1, Ordering::AcqRel, ThreadScope::Device);",
        1 => {
            g.hit("fence_device");
            "fence_device();\nlet ticket = count.atomic_add(0, 1);\nfence_device();"
        }
        _ => "let ticket = count.atomic_add_ordered(0, 1, Ordering::SeqCst, ThreadScope::System);",
    };
    let combine = g.random.pick(&["block_sum", "block_max", "block_min"]);
    g.hit(combine);
    let body = lines(&format!(
        "#[shared]
         let mut is_last: [bool; 1];
         let (t, blocks) = (thread_idx().x, grid_dim().x);
         let total = {combine}(x[(global_id().x * 7 + n as usize % 5) % 64]);
         if t == 0 {{
         parts[block_idx().x] = total;
         {ticket}
         is_last[0] = ticket + 1 == blocks as u32;
         }}
         sync_threads();
         if is_last[0] {{
         let mut rest = 0{t};
         for b in (t..blocks).step_by({block}) {{ rest = rest * 5 + parts[b]; }}
         let all = block_sum(rest);
         if t == 0 {{ out[0] = all; }}
         }}"
    ));
    let written = |len| Passed::Global { len, is_written: true, is_zero: true };
    let seed = g.random.below(1000);
    let parameters = vec![
        parameter("n", Scalar::U32, Passed::Value(g.random.below(9) as u64), 0),
        parameter("x", scalar, Passed::Global { len: 64, is_written: false, is_zero: false }, seed),
        parameter("parts", scalar, written(blocks), 0),
        parameter("count", Scalar::U32, written(1), 0),
        parameter("out", scalar, written(1), 0),
    ];
    made(g, Vec::new(), block, [blocks as u32, 1, 1], parameters, body)
}

/// Outer products in registers: whole numbers as floats, which every order adds alike.
fn outer(g: &mut Generator<'_>) -> Kernel {
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

/// Blocks of a cluster that read each other's shared memory.
fn clusters(g: &mut Generator<'_>) -> Kernel {
    for feature in ["cluster", "cluster_sync", "cluster_rank", "shared_of"] {
        g.hit(feature);
    }
    let scalar = g.random.pick(&Scalar::ATOMIC);
    let t = scalar.name();
    let (block, size) = (g.random.pick(&[32u32, 64]), g.random.pick(&[2usize, 4]));
    let (shape, across, down) = match (size, g.random.below(3)) {
        (_, 0) => (format!("({size}, 1)"), size, 1),
        (4, 1) => ("(2, 2)".to_owned(), 2, 2),
        (_, 1) => (format!("(1, {size})"), 1, size),
        _ => (size.to_string(), size, 1),
    };
    g.hit("cluster_dim");
    let exchange = match g.random.below(4) {
        3 => {
            g.hit("shared_of.vector");
            format!(
                "let q = shared_of(&part, (rank + 1) % {size}).load::<2>(t / 2 * 2);\nlet mut sum = q[0] ^ q[1] + (cluster_dim().x * 3 + cluster_dim().y) as {t};"
            )
        }
        0 => {
            g.hit("shared_of_mut");
            format!(
                "shared_of_mut(&mut part, (rank + 1) % {size}).atomic_add(t % 8, x[(t + 5) % 64]);\ncluster_sync();\nlet mut sum = part[t % 8];"
            )
        }
        1 => format!("let mut sum = shared_of(&part, (rank + t) % {size})[(t * 3) % {block}];"),
        _ => format!("let mut sum = t as {t};\nfor other in 0..{size} {{ sum = sum * 3 ^ shared_of(&part, other)[{} - t]; }}", block - 1),
    };
    let body = lines(&format!(
        "#[shared]
         let mut part: [{t}; {block}];
         let t = thread_idx().x;
         let rank = cluster_rank();
         part[t] = x[global_id().x % 64] ^ (rank as {t});
         cluster_sync();
         {exchange}
         sum = sum + (cluster_idx().x as {t});
         y[(block_idx().y * grid_dim().x + block_idx().x) * {block} + t] = sum;"
    ));
    let parameters = vec![
        parameter("x", scalar, Passed::Global { len: 64, is_written: false, is_zero: false }, g.random.below(1000)),
        parameter("y", scalar, Passed::Global { len: block as usize * size * 2, is_written: true, is_zero: false }, 4),
    ];
    let mut kernel = made(g, vec![format!("cluster = {shape}")], block, [2 * across as u32, down as u32, 1], parameters, body);
    kernel.annotations.clear();
    kernel.has_clusters = true;
    kernel
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
