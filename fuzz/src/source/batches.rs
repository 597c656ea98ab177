//! Batches of matrices.

use super::kernel::{Kernel, Passed};
use super::scope::Generator;
use super::tiles::{lines, made, parameter};
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
