//! Floats of 8 bits in memory, where nothing but moves and casts is done to them.

use super::kernel::{Kernel, Passed};
use super::layouts::Layout;
use super::scope::Generator;
use super::tiles::{lines, made, parameter};
use super::types::Scalar;

/// Elements moved through shared memory and between lanes, chosen by what they are as `f32`.
pub(super) fn moved(g: &mut Generator<'_>) -> Kernel {
    g.hit("float8.in_memory");
    let [from, to] = [0; 2].map(|_| g.random.pick(&["e4m3", "e5m2"]));
    let block = g.random.pick(&[32usize, 64]);
    let other = match g.random.below(3) {
        0 => {
            g.hit("float8.shuffle");
            let function = g.random.pick(&["shuffle_xor", "shuffle", "shuffle_up", "shuffle_down"]);
            g.called(function, from);
            format!("{function}(x[(i * 3) % {}], n & 31)", block * 2)
        }
        1 => {
            g.hit("float8.black_box");
            g.called("black_box", from);
            format!("black_box(x[(i * 5 + 1) % {}])", block * 2)
        }
        _ => format!("x[(i + n as usize % 7) % {}]", block * 2),
    };
    let order = g.random.pick(&["<", ">=", "=="]);
    let alike = if g.random.chance(30) {
        g.called("match_any", from);
        " ^ match_any(w)"
    } else {
        ""
    };
    for (name, ty) in [("to_f32", from), ("from_bits", to), ("to_bits", from), ("to_bits", to)] {
        g.called(name, ty);
    }
    let body = lines(&format!(
        "#[shared]
         let mut tile: [{from}; {block}];
         let (t, i) = (thread_idx().x, global_id().x);
         tile[t] = x[i];
         sync_threads();
         let v = tile[{} - t];
         let w = {other};
         y[i] = if v.to_f32() {order} w.to_f32() {{ v }} else {{ w }};
         let p = v as f32 * 0.75 + w.to_f32();
         let q = if p.is_nan() {{ {to}::from_bits(3) }} else {{ p as {to} }};
         z[i] = q;
         sums[i] = v.to_bits() as u32 ^ (q.to_bits() as u32) << 8{alike};",
        block - 1
    ));
    let elements = |name, is_written| Passed::Elements { layout: Layout::Float8(name), len: block * 2, is_written };
    let seed = g.random.below(1000);
    let parameters = vec![
        parameter("n", Scalar::U32, Passed::Value(g.random.below(64) as u64), 0),
        parameter("x", Scalar::U8, elements(from, false), seed),
        parameter("y", Scalar::U8, elements(from, true), seed + 1),
        parameter("z", Scalar::U8, elements(to, true), seed + 2),
        parameter("sums", Scalar::U32, Passed::Global { len: block * 2, is_written: true, is_zero: false }, 3),
    ];
    made(g, Vec::new(), block as u32, [2, 1, 1], parameters, body)
}
