//! Kernels of the tree beside the library of staples which the table of all devices does not launch: the benchmarks and tests of their own do. Launched by hand, with a few blocks and sizes that fit nothing.
//!
//! Results are held to plain Rust. What is of small whole numbers is exact.

use super::kernels::{Show, Specimen};
use super::staples::{device, numbers, zeros};
use warpwright::Result;
use warpwright_kernels::apps::pns;
use warpwright_kernels::structures::bodies::{Body, advance, energies};
use warpwright_kernels::{ahead, automaton, halo, histogram, rows, stencil, tiles};

/// Every one.
pub const PLAIN: &[Specimen] = &[
    Specimen { name: "generation", run: generation_of_cells },
    Specimen { name: "convolve of halos", run: convolved },
    Specimen { name: "five_points", run: five_points_of_grid },
    Specimen { name: "stencil3d", run: stencil_of_grid },
    Specimen { name: "rows_by_thread", run: sums_by_thread },
    Specimen { name: "rows_by_warp", run: sums_by_warp },
    Specimen { name: "softmax of rows", run: softmax_of_rows },
    Specimen { name: "advance", run: advanced },
    Specimen { name: "energies", run: energies_of_groups },
    Specimen { name: "multiply of tiles", run: multiplied },
    Specimen { name: "forces", run: forces_of_bodies },
    Specimen { name: "histogram_in_cluster", run: counts_of_cluster },
    Specimen { name: "copy_tiles", run: copied_tiles },
    Specimen { name: "draw", run: drawn_numbers },
];

/// Whole numbers below `below`.
fn small(n: usize, below: u32) -> Vec<f32> {
    numbers(n).iter().map(|x| (x % below) as f32).collect()
}

fn generation_of_cells(show: Show<'_>) -> Result<()> {
    let (width, height) = (37, 19);
    let cells: Vec<u8> = numbers(width * height).iter().map(|n| u8::from(n % 3 == 0)).collect();
    let (now, mut next) = (device().upload(&cells)?, zeros(width * height)?);
    let launch = automaton::generation(width, height, &now, &mut next).cover((width, height));
    show(&launch);
    launch.launch(&device())?;
    let of = |i: usize| automaton::reference(width, height, |i| cells[i], i % width, i / width);
    assert_eq!(next.download()?, (0..width * height).map(of).collect::<Vec<u8>>());
    Ok(())
}

/// The extents of grids that are read with a halo: two tiles and more, none of which is whole.
const GRID: (usize, usize) = (45, 27);

fn convolved(show: Show<'_>) -> Result<()> {
    let ((width, height), mask) = (GRID, std::array::from_fn(|i| (i * 7 % 5 + 1) as f32));
    let x = small(width * height, 61);
    let (there, of_mask, mut y) = (device().upload(&x)?, device().constant(mask)?, zeros(width * height)?);
    let launch = halo::convolve(width, height, &of_mask, &there, &mut y).cover((width, height));
    show(&launch);
    launch.launch(&device())?;
    let shift = |k: usize| k as isize - halo::REACH as isize;
    let near = |i: usize, k: usize| {
        halo::at(width, height, |i| x[i], (i % width, i / width), (shift(k % halo::MASK), shift(k / halo::MASK))) as f32
    };
    let of = |i: usize| (0..mask.len()).map(|k| mask[k] * near(i, k)).sum();
    assert_eq!(y.download()?, (0..width * height).map(of).collect::<Vec<f32>>());
    Ok(())
}

fn five_points_of_grid(show: Show<'_>) -> Result<()> {
    let (width, height) = GRID;
    let x = small(width * height, 61);
    let (there, mut y) = (device().upload(&x)?, zeros(width * height)?);
    let launch = halo::five_points(width, height, 0.5, 0.125, &there, &mut y).cover((width, height));
    show(&launch);
    launch.launch(&device())?;
    let near = |i: usize, by: (isize, isize)| halo::at(width, height, |i| x[i], (i % width, i / width), by) as f32;
    let of = |i: usize| 0.5 * x[i] + 0.125 * (near(i, (-1, 0)) + near(i, (1, 0)) + near(i, (0, -1)) + near(i, (0, 1)));
    assert_eq!(y.download()?, (0..width * height).map(of).collect::<Vec<f32>>());
    Ok(())
}

fn stencil_of_grid(show: Show<'_>) -> Result<()> {
    let (nx, ny, nz) = (17, 9, 7);
    let x = small(nx * ny * nz, 61);
    let (there, mut y) = (device().upload(&x)?, zeros(nx * ny * nz)?);
    let launch = stencil::stencil3d(nx, ny, nz, 0.5, 0.125, &there, &mut y).cover((nx, ny, nz));
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, stencil::reference((nx, ny, nz), 0.5, 0.125, &x));
    Ok(())
}

fn sums_by_thread(show: Show<'_>) -> Result<()> {
    let (count, length) = (300, 7);
    let x: Vec<i8> = numbers(count * length).iter().map(|n| (n % 200) as i8).collect();
    let (there, mut sums) = (device().upload(&x)?, zeros(count)?);
    let launch = rows::rows_by_thread(length, &there, &mut sums).cover(count);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(sums.download()?, x.chunks(length).map(|row| row.iter().map(|x| i32::from(*x)).sum()).collect::<Vec<i32>>());
    Ok(())
}

fn sums_by_warp(show: Show<'_>) -> Result<()> {
    let (count, columns) = (11, 70);
    let (a, x) = (small(count * columns, 61), small(columns, 53));
    let (of_a, of_x, mut y) = (device().upload(&a)?, device().upload(&x)?, zeros(count)?);
    let launch = rows::rows_by_warp(columns, &of_a, &of_x, &mut y).grid(count.div_ceil(8));
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, a.chunks(columns).map(|row| row.iter().zip(&x).map(|(a, x)| a * x).sum()).collect::<Vec<f32>>());
    Ok(())
}

/// The greatest of a row is the last one of the first row, and the first one of the second.
fn softmax_of_rows(show: Show<'_>) -> Result<()> {
    let columns = 300;
    let mut x: Vec<f32> = small(2 * columns, 61).iter().map(|x| x / 10.0).collect();
    (x[columns - 1], x[columns]) = (7.0, 7.0);
    let (there, mut y) = (device().upload(&x)?, zeros(2 * columns)?);
    let launch = rows::softmax(columns, &there, &mut y).grid(2);
    show(&launch);
    launch.launch(&device())?;
    let of_row = |row: &[f32]| {
        let sum: f64 = row.iter().map(|x| f64::from(*x).exp()).sum();
        row.iter().map(|x| f64::from(*x).exp() / sum).collect::<Vec<f64>>()
    };
    for (found, expected) in y.download()?.iter().zip(x.chunks(columns).flat_map(of_row)) {
        // Native exponentials of differences of at most 7: a few units in the last place, and their sums.
        assert!((f64::from(*found) - expected).abs() <= 1e-4 * expected, "{found} for {expected}");
    }
    Ok(())
}

/// Bodies whose steps are exact.
fn some_bodies(n: usize) -> Vec<Body> {
    let small = |i: usize, by: usize| (i * by % 17) as f32;
    let one = |i| Body {
        place: [small(i, 5), small(i, 7), small(i, 11)],
        mass: [1.0, 2.0, 4.0][i % 3],
        speed: [small(i, 3), small(i, 6), small(i, 13)],
        charge: [1.0, 3.0, 5.0, 7.0][i % 4],
    };
    (0..n).map(one).collect()
}

fn advanced(show: Show<'_>) -> Result<()> {
    let (dt, before) = (0.5, some_bodies(300));
    let mut there = device().upload(&before)?;
    let launch = advance(dt, &mut there).cover(300);
    show(&launch);
    launch.launch(&device())?;
    let step = |body: &Body| {
        let speed = body.speed.map(|speed| speed * (1.0 - dt * body.charge / body.mass));
        Body { place: std::array::from_fn(|axis| body.place[axis] + dt * speed[axis]), speed, ..*body }
    };
    assert_eq!(there.download()?, before.iter().map(step).collect::<Vec<Body>>());
    Ok(())
}

fn energies_of_groups(show: Show<'_>) -> Result<()> {
    let (groups, length) = (270, 3);
    let all = some_bodies(groups * length);
    let (there, mut sums) = (device().upload(&all)?, zeros(groups)?);
    let launch = energies(length, &there, &mut sums).cover(groups);
    show(&launch);
    launch.launch(&device())?;
    let energy = |body: &Body| body.mass * body.speed.iter().map(|speed| speed * speed).sum::<f32>();
    assert_eq!(sums.download()?, all.chunks(length).map(|group| group.iter().map(energy).sum()).collect::<Vec<f32>>());
    Ok(())
}

fn multiplied(show: Show<'_>) -> Result<()> {
    let n = 2 * tiles::SIDE;
    let (a, b) = (small(n * n, 61), small(n * n + 1, 53)[1..].to_vec());
    let (left, right, mut c) = (device().upload(&a)?, device().upload(&b)?, zeros(n * n)?);
    let launch = tiles::multiply(n, &left, &right, &mut c).grid((2, 2));
    show(&launch);
    launch.launch(&device())?;
    let of = |at: usize| (0..n).map(|k| a[at / n * n + k] * b[k * n + at % n]).sum();
    assert_eq!(c.download()?, (0..n * n).map(of).collect::<Vec<f32>>());
    Ok(())
}

fn forces_of_bodies(show: Show<'_>) -> Result<()> {
    let n = 2 * tiles::BODIES;
    let bodies = small(4 * n, 61);
    let (there, mut forces) = (device().upload(&bodies)?, zeros(4 * n)?);
    let launch = tiles::forces(n, &there, &mut forces).cover(n);
    show(&launch);
    launch.launch(&device())?;
    let wide: Vec<[f64; 4]> = bodies.chunks(4).map(|body| std::array::from_fn(|axis| f64::from(body[axis]))).collect();
    for (own, found) in wide.iter().zip(forces.download()?.chunks(4)) {
        let (mut expected, mut terms) = ([0.0f64; 4], [0.0f64; 4]);
        for other in &wide {
            let by: [f64; 3] = std::array::from_fn(|axis| other[axis] - own[axis]);
            let near = 1.0 / (by.iter().map(|by| by * by).sum::<f64>() + 0.01).sqrt();
            for axis in 0..4 {
                let term = by.get(axis).map_or(other[3] * near, |by| by * other[3] * near * near * near);
                expected[axis] += term;
                terms[axis] += term.abs();
            }
        }
        for axis in 0..4 {
            // Some ten roundings of each term and 512 of their sum, of units of 2⁻²⁴; and the native root's.
            assert!((f64::from(found[axis]) - expected[axis]).abs() <= 1e-4 * terms[axis], "{} for {}", found[axis], expected[axis]);
        }
    }
    Ok(())
}

/// Two clusters of two blocks.
fn counts_of_cluster(show: Show<'_>) -> Result<()> {
    let values: Vec<u16> = numbers(3001).iter().map(|n| (n % 128) as u16).collect();
    let (there, mut bins) = (device().upload(&values)?, zeros(128)?);
    let launch = histogram::histogram_in_cluster::<2, 64>(&there, &mut bins).grid(4);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(bins.download()?, histogram::reference_of_words(&values, 128));
    Ok(())
}

/// Blocks of four tiles for three stages: a slot is filled again.
fn copied_tiles(show: Show<'_>) -> Result<()> {
    let (height, width) = (15, 300);
    let x = small(height * width, 997);
    let (there, mut y) = (device().upload(&x)?, zeros::<f32>(height * width)?);
    let (from, to) = (device().matrix(&there, height, width)?, device().matrix_mut(&mut y, height, width)?);
    let launch = ahead::copy_tiles::<2, 4, 3>(from, to).grid((2, 2));
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, x);
    Ok(())
}

/// The first numbers of the Mersenne Twister (Matsumoto and Nishimura, 1998) with seeds one apart.
fn drawn_numbers(show: Show<'_>) -> Result<()> {
    let (nets, count, seed) = (130, 3, 5489);
    let (mut state, mut out) = (zeros(pns::WORDS * nets)?, zeros(count * nets)?);
    pns::seed_nets::<128, true>(nets, seed, &mut state).cover(nets).launch(&device())?;
    let before = state.download()?;
    let launch = pns::draw(nets, count, &mut state, &mut out).cover(nets);
    show(&launch);
    launch.launch(&device())?;
    let of = |at: usize| {
        let word = |k: usize| before[(at / nets + k) * nets + at % nets];
        let mixed = (word(0) & 0x8000_0000) | (word(1) & 0x7fff_ffff);
        let mut x = word(397) ^ (mixed >> 1) ^ (mixed & 1).wrapping_mul(0x9908_b0df);
        x ^= x >> 11;
        x ^= (x << 7) & 0x9d2c_5680;
        x ^= (x << 15) & 0xefc6_0000;
        x ^ (x >> 18)
    };
    let found = out.download()?;
    assert_eq!(found, (0..count * nets).map(of).collect::<Vec<u32>>());
    // What the authors' program gives for this seed.
    assert_eq!([found[0], found[nets], found[2 * nets]], [3_499_211_612, 581_869_302, 3_890_346_734]);
    Ok(())
}
