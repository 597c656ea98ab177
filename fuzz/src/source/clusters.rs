//! Clusters of blocks.

use super::kernel::{Kernel, Passed};
use super::scope::Generator;
use super::tiles::{lines, made, parameter};
use super::types::Scalar;

/// Blocks of a cluster that read each other's shared memory.
pub(super) fn clusters(g: &mut Generator<'_>) -> Kernel {
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
