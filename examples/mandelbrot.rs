//! The Mandelbrot set as a PNG: two-dimensional grids, device functions, a struct by value.
//!
//! `cargo run --release --example mandelbrot [FILE.png]`

use warpwright::prelude::*;

/// Iterations before a point counts as inside.
const LIMIT: u32 = 200;

/// Iterations of z ← z² + c until |z| > 2.
#[device]
fn escape_time(re: f32, im: f32) -> u32 {
    let (mut x, mut y) = (0.0, 0.0);
    for n in 0..LIMIT {
        if x * x + y * y > 4.0 {
            return n;
        }
        (x, y) = (x * x - y * y + re, 2.0 * x * y + im);
    }
    LIMIT
}

/// One thread per pixel of a `width` × `height` picture whose pixels are `pixel` apart.
#[kernel(block = (16, 16))]
fn mandelbrot(width: usize, height: usize, pixel: f32, picture: &mut Global<u8>) {
    let Dim3 { x, y, .. } = global_id();
    if x < width && y < height {
        let re = (x as f32 - 0.7 * width as f32) * pixel;
        let im = (y as f32 - 0.5 * height as f32) * pixel;
        let n = escape_time(re, im);
        picture[y * width + x] = if n == LIMIT { 0 } else { (55 + n * 8 % 200) as u8 };
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "mandelbrot.png".to_owned());
    let (width, height) = (960, 640);
    let device = Device::best();
    let mut picture = device.zeros::<u8>(width * height)?;
    let start = std::time::Instant::now();
    mandelbrot(width, height, 3.0 / width as f32, &mut picture).cover((width, height)).launch(&device)?;
    device.synchronize()?;
    println!("{}: {width} x {height} pixels in {:.1?}, compilation included", device.name(), start.elapsed());
    let mut encoder = png::Encoder::new(std::io::BufWriter::new(std::fs::File::create(&path)?), width as u32, height as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header()?.write_image_data(&picture.download()?)?;
    println!("wrote {path}");
    Ok(())
}
