//! Gravity between all pairs of bodies: a block copies the bodies to shared memory a tile at a time, and each of its threads goes through the whole tile.
//! Two discs of bodies fall towards each other. The program writes their tracks to a PNG, and prints how far the energy, which gravity keeps, has drifted.
//!
//! `cargo run --release --example n_body [FILE.png]`

use warpwright::prelude::*;

/// Threads of a block, and bodies of a tile.
const TILE: usize = 64;
const BODIES: usize = 2 * TILE;
const STEPS: usize = 200;
/// Length of a step. A circle at distance 1 around a mass of 1 takes 2π.
const STEP: f32 = 0.02;
/// Added to squared distances, so that bodies that meet are not flung away.
const SOFTENING: f32 = 0.01;

/// One thread per body. A body is x, y, z, and its mass. Velocities change by `kick` times the acceleration, positions by `drift` times the new velocity.
#[kernel(block = TILE)]
fn step(kick: f32, drift: f32, before: &Global<[f32; 4]>, velocities: &mut Global<[f32; 4]>, after: &mut Global<[f32; 4]>) {
    #[shared]
    let mut tile: [[f32; 4]; TILE];
    let (i, t) = (global_id().x, thread_idx().x);
    let [x, y, z, mass] = before[i];
    let (mut ax, mut ay, mut az) = (0.0, 0.0, 0.0);
    for first in (0..before.len()).step_by(TILE) {
        tile[t] = before[first + t];
        sync_threads(); // The tile is complete.
        #[unroll(4)]
        for k in 0..TILE {
            let [other_x, other_y, other_z, other_mass] = tile[k];
            let (dx, dy, dz) = (other_x - x, other_y - y, other_z - z);
            let inverse = native_rsqrt(dx * dx + dy * dy + dz * dz + SOFTENING);
            let pull = other_mass * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        sync_threads(); // Nobody reads it any more.
    }
    let [vx, vy, vz, _] = velocities[i];
    let (vx, vy, vz) = (vx + kick * ax, vy + kick * ay, vz + kick * az);
    velocities[i] = [vx, vy, vz, 0.0];
    after[i] = [x + drift * vx, y + drift * vy, z + drift * vz, mass];
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "n_body.png".to_owned());
    let device = Device::best();
    let (positions, velocities) = discs();
    let energy_before = energy(&positions, &velocities);
    let (mut here, mut next) = (device.upload(&positions)?, device.zeros(BODIES)?);
    let mut speeds = device.upload(&velocities)?;
    let mut tracks = vec![0; SIDE * SIDE];
    for n in 0..=STEPS {
        // Leapfrog: velocities are half a step ahead of positions, but for the beginning and the end.
        let kick = if n == 0 || n == STEPS { 0.5 * STEP } else { STEP };
        let drift = if n == STEPS { 0.0 } else { STEP };
        step(kick, drift, &here, &mut speeds, &mut next).grid(BODIES / TILE).launch(&device)?;
        std::mem::swap(&mut here, &mut next);
        draw(&here.download()?, 1, 130, &mut tracks);
    }
    draw(&here.download()?, 3, 255, &mut tracks);
    let drift = (energy(&here.download()?, &speeds.download()?) - energy_before) / energy_before.abs();
    println!("{}: {BODIES} bodies, {STEPS} steps; the energy has drifted by {:+.3} %", device.name(), 100.0 * drift);
    assert!(drift.abs() < 0.01, "leapfrog keeps the energy");

    let mut encoder = png::Encoder::new(std::io::BufWriter::new(std::fs::File::create(&path)?), SIDE as u32, SIDE as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header()?.write_image_data(&tracks)?;
    println!("wrote {path}: tracks in grey, the bodies at the end in white");
    Ok(())
}

/// Two discs that move past each other: a heavy body in the middle of each, light ones on circles around it.
fn discs() -> (Vec<[f32; 4]>, Vec<[f32; 4]>) {
    let body = |i: usize| {
        let (side, n) = ([1.0, -1.0][i % 2], i / 2);
        let distance = if n == 0 { 0.0 } else { 0.4 + 0.6 * n as f32 / (BODIES / 2) as f32 };
        // The golden angle from one to the next spreads them evenly.
        let (sin, cos) = (n as f32 * 2.399_963).sin_cos();
        let (mass, speed) = if n == 0 { (1.0, 0.0) } else { (1e-4, side / (distance * distance + SOFTENING).powf(0.75) * distance) };
        (
            [side * 1.6 + distance * cos, side * 0.8 + distance * sin, 0.1 * distance * sin, mass],
            [side * -0.45 - speed * sin, speed * cos, 0.0, 0.0],
        )
    };
    (0..BODIES).map(body).unzip()
}

/// Kinetic and potential energy, in double precision.
fn energy(positions: &[[f32; 4]], velocities: &[[f32; 4]]) -> f64 {
    let mut sum = 0.0;
    for (i, (p, v)) in positions.iter().zip(velocities).enumerate() {
        sum += 0.5 * f64::from(p[3]) * v.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>();
        for q in &positions[..i] {
            let distance = (0..3).map(|axis| f64::from(p[axis] - q[axis]).powi(2)).sum::<f64>() + f64::from(SOFTENING);
            sum -= f64::from(p[3]) * f64::from(q[3]) / distance.sqrt();
        }
    }
    sum
}

/// Pixels along a side of the picture, which shows -2.5 to 2.5.
const SIDE: usize = 400;

/// Marks where bodies are, by squares of so many pixels.
fn draw(positions: &[[f32; 4]], size: usize, grey: u8, picture: &mut [u8]) {
    for [x, y, ..] in positions {
        let [column, row] = [*x, -*y].map(|v| ((v / 5.0 + 0.5) * SIDE as f32) as usize);
        if column + size <= SIDE && row + size <= SIDE {
            (row..row + size).for_each(|row| picture[row * SIDE + column..][..size].fill(grey));
        }
    }
}
