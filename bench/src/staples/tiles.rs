//! Holds the tile that `product::multiply` chooses to every tile there is: bf16, b by its columns, of sides that are and are none of whole tiles, and of batches.

use super::tune::judged;
use super::{Bench, WARM};
use crate::memory::random_integers;
use crate::report::Spread;
use crate::twins::at;
use crate::{Outcome, Size};
use warpwright::prelude::bf16;
use warpwright_kernels::staples::Workspace;
use warpwright_kernels::staples::product::{self, By, Product, SHAPES};

/// Rows, columns, inner extent, products.
const EXTENTS: [(usize, usize, usize, usize); 21] = [
    (256, 256, 256, 1),
    (512, 512, 512, 1),
    (768, 768, 768, 1),
    (1024, 1024, 1024, 1),
    (1536, 1536, 1536, 1),
    (2048, 2048, 2048, 1),
    (3072, 3072, 3072, 1),
    (4096, 4096, 4096, 1),
    (5000, 5000, 5000, 1),
    (5056, 5056, 5056, 1),
    (8192, 8192, 8192, 1),
    (128, 8192, 4096, 1),
    (8192, 128, 4096, 1),
    (16, 4096, 4096, 1),
    (4096, 4096, 128, 1),
    (1000, 3000, 500, 1),
    (2304, 1280, 6000, 1),
    (128, 128, 128, 1024),
    (512, 512, 512, 256),
    (1024, 1024, 1024, 64),
    (2048, 2048, 2048, 16),
];

/// Times all tiles, and the one that is chosen as another, round by round.
pub(super) fn run(b: &mut Bench) -> Outcome<()> {
    let candidates: Vec<usize> = (0..SHAPES.len()).filter(|shape| SHAPES[*shape].by != By::Threads).collect();
    let forced: Vec<Option<usize>> = candidates.iter().map(|shape| Some(*shape)).chain([None]).collect();
    let chosen = candidates.len();
    for (m, n, k, count) in EXTENTS.into_iter().take(b.size.pick(EXTENTS.len(), 6, 1)) {
        let (m, n, k, count) = if b.size == Size::Tiny { (70, 40, 30, 1) } else { (m, n, k, count) };
        // Any bits but infinities and no numbers: what a product takes does not depend on them.
        let words = |seed: u32, len: usize| random_integers::<u32>(&b.device, seed, u32::MAX, len.div_ceil(2));
        let pitch = k.next_multiple_of(8);
        let (x, y) = (words(1, count * m * pitch)?, words(2, count * n * pitch)?);
        let mut z = b.device.zeros::<bf16>(count * m * n)?;
        let (x, y) = (x.view::<bf16>()?, y.view::<bf16>()?);
        let (left, right, out) = (at(x), at(y), at(&z));
        let device = b.device.clone();
        let of_a = device.matrix(x, m, k)?.pitch(pitch)?.batch(count, m * pitch)?;
        let product = Product::new(of_a, device.matrix(y, n, k)?.pitch(pitch)?.batch(count, n * pitch)?).transposed(false, true);
        let mut call = |stream: &warpwright::Stream, workspace: &mut Workspace| {
            product::multiply(stream, &product, device.matrix_mut(&mut z, m, n)?.batch(count, m * n)?, workspace)
        };
        let calls = b.calls(&mut call)?;
        let (mut times, mut of_cublas) = (vec![Vec::new(); forced.len()], Vec::new());
        let is_square = m == n && n == k && pitch == k;
        for run in 0..WARM + b.runs {
            for candidate in (0..forced.len()).map(|k| (run + k) % forced.len()) {
                b.workspace.force(forced[candidate]);
                let time = b.round(calls, &mut call);
                b.workspace.force(None);
                if run >= WARM {
                    times[candidate].push(time?);
                }
            }
            if let Some(twins) = b.twins.as_ref().filter(|_| is_square) {
                let time = twins.staple_product(calls, 0, 2, left, right, out, n as u32, count as u32)?;
                of_cublas.extend((run >= WARM).then_some(time));
            }
        }
        let cublas = if of_cublas.is_empty() { String::new() } else { format!("; cuBLAS {:.1}", Spread::of(&of_cublas).median * 1e6) };
        let medians: Vec<String> = times.iter().map(|times| format!("{:.1}", Spread::of(times).median * 1e6)).collect();
        let (best, ratio) = judged(&times, chosen);
        println!(
            "tiles {m} x {n} x {k}, {count} of them: us of each, of the chosen last: {}; best {best}, chosen x {ratio:.3}{cublas}",
            medians.join(" ")
        );
    }
    Ok(())
}
