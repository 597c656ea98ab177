//! A Gaussian blur of a picture, along rows and then along columns by the same kernel: a texture gives pixels of the edge for what lies outside, and constant memory holds the weights.
//! The program writes the picture and the blurred one side by side to a PNG, and compares the result with plain Rust.
//!
//! `cargo run --release --example image_filter [FILE.png]`

use warpwright::Sampling;
use warpwright::prelude::*;

const WIDTH: usize = 480;
const HEIGHT: usize = 400;

/// A pixel is the mean of those up to this far away.
const RADIUS: usize = 6;
const TAPS: usize = 2 * RADIUS + 1;

/// One pixel per thread. `dx` and `dy` are 1 and 0 for a blur along rows, 0 and 1 for one along columns.
#[kernel(block = (32, 8))]
fn blur(picture: &Texture2d<f32>, weights: &Constant<[f32; TAPS]>, dx: i32, dy: i32, out: &mut Global<f32>) {
    let Dim3 { x, y, .. } = global_id();
    if x < picture.width() && y < picture.height() {
        let mut sum = 0.0;
        #[unroll]
        for tap in 0..TAPS {
            let d = tap as i32 - RADIUS as i32;
            sum += weights[tap] * picture.fetch(x as i32 + d * dx, y as i32 + d * dy);
        }
        out[y * picture.width() + x] = sum;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "image_filter.png".to_owned());
    let device = Device::best();
    let (original, weights) = (rings(), gaussian());

    // Outside the picture, `Sampling::default()` gives the nearest pixel of the edge.
    let mut picture = device.texture((WIDTH, HEIGHT), &original, Sampling::default())?;
    let on_device = device.constant(weights)?;
    let mut out = device.zeros::<f32>(WIDTH * HEIGHT)?;
    blur(&picture, &on_device, 1, 0, &mut out).cover((WIDTH, HEIGHT)).launch(&device)?;
    picture.copy_from(&out)?;
    blur(&picture, &on_device, 0, 1, &mut out).cover((WIDTH, HEIGHT)).launch(&device)?;
    let blurred = out.download()?;

    let expected = blurred_by_rust(&blurred_by_rust(&original, &weights, 1, 0), &weights, 0, 1);
    let off = blurred.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    println!("{}: {WIDTH} x {HEIGHT} pixels, {TAPS} + {TAPS} taps; the greatest difference from plain Rust is {off:.1e}", device.name());
    // The device may round `a * b + c` once where Rust rounds twice.
    assert!(off < 1e-5, "grey values go from 0 to 1");

    let mut encoder = png::Encoder::new(std::io::BufWriter::new(std::fs::File::create(&path)?), 2 * WIDTH as u32, HEIGHT as u32);
    encoder.set_color(png::ColorType::Grayscale);
    let rows = original.chunks(WIDTH).zip(blurred.chunks(WIDTH)).flat_map(|(left, right)| [left, right].concat());
    encoder.write_header()?.write_image_data(&rows.map(|grey| (255.0 * grey).round() as u8).collect::<Vec<_>>())?;
    println!("wrote {path}: the picture, and the blurred one beside it");
    Ok(())
}

/// Rings that become narrower outwards, black and white, so that a blur turns the outer ones grey.
fn rings() -> Vec<f32> {
    let ring = |i: usize| {
        let (x, y) = ((i % WIDTH) as f32 - 0.5 * WIDTH as f32, (i / WIDTH) as f32 - 0.5 * HEIGHT as f32);
        if (x * x + y * y) % 4800.0 < 2400.0 { 1.0 } else { 0.0 }
    };
    (0..WIDTH * HEIGHT).map(ring).collect()
}

/// The weights of the taps, which add up to 1.
fn gaussian() -> [f32; TAPS] {
    let weights: [f32; TAPS] = std::array::from_fn(|tap| {
        let d = (tap as f32 - RADIUS as f32) / (0.5 * RADIUS as f32);
        (-0.5 * d * d).exp()
    });
    let sum: f32 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

/// What the kernel computes, in plain Rust.
fn blurred_by_rust(picture: &[f32], weights: &[f32; TAPS], dx: isize, dy: isize) -> Vec<f32> {
    let at = |x: isize, y: isize| picture[y.clamp(0, HEIGHT as isize - 1) as usize * WIDTH + x.clamp(0, WIDTH as isize - 1) as usize];
    let pixel = |i: usize| {
        let (x, y) = ((i % WIDTH) as isize, (i / WIDTH) as isize);
        let tap = |(tap, weight): (isize, &f32)| weight * at(x + (tap - RADIUS as isize) * dx, y + (tap - RADIUS as isize) * dy);
        (0..).zip(weights).map(tap).sum()
    };
    (0..WIDTH * HEIGHT).map(pixel).collect()
}
