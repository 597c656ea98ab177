//! Textures: fetches and samples, every texel type, edges, filters, and where else a texture can be passed to.

use crate::bench::{Bench, Bits, cases, small, words};
use warpwright::prelude::*;
use warpwright::{Addressing, Filter, Sampling};

cases!(
    fetch_everywhere,
    texel_types,
    vectors,
    pairs,
    nearest,
    linear,
    linear_of_vectors,
    no_number,
    extents,
    passed_on,
    several_at_once,
    between_warps,
    replaced,
    nothing_known,
);

const WIDTH: usize = 13;
const HEIGHT: usize = 7;

/// Numbers from 0 to 1 with few bits, so that sums of them are exact.
fn grid(count: usize) -> Vec<f32> {
    words(count).iter().map(|word| (word >> 7 & 63) as f32 / 64.0).collect()
}

fn sampling(filter: Filter, addressing: Addressing, normalized: bool) -> Sampling {
    Sampling { filter, addressing, normalized }
}

const EDGES: [Addressing; 2] = [Addressing::Clamp, Addressing::Border];

/// Around the texture, three texels wide.
#[kernel(block = (16, 2))]
fn around(t: &Texture2d<f32>, out: &mut Global<f32>) {
    let Dim3 { x, y, .. } = global_id();
    let width = t.width() + 6;
    if x < width && y < t.height() + 6 {
        out[y * width + x] = t.fetch(x as i32 - 3, y as i32 - 3);
    }
}

fn fetch_everywhere(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let texels = grid(WIDTH * HEIGHT);
    for edge in EDGES {
        // How `sample` reads makes no difference to `fetch`.
        for (filter, normalized) in [(Filter::Nearest, false), (Filter::Linear, true)] {
            let t = b.device.texture((WIDTH, HEIGHT), &texels, sampling(filter, edge, normalized))?;
            let mut out = b.device.zeros::<f32>((WIDTH + 6) * (HEIGHT + 6))?;
            b.go(around(&t, &mut out).cover((WIDTH + 6, HEIGHT + 6)))?;
            let found = b.keep(&out)?;
            let expected = (0..HEIGHT + 6).flat_map(|y| (0..WIDTH + 6).map(move |x| (x as i32 - 3, y as i32 - 3))).map(|(x, y)| {
                let inside = (0..WIDTH as i32).contains(&x) && (0..HEIGHT as i32).contains(&y);
                let (cx, cy) = (x.clamp(0, WIDTH as i32 - 1) as usize, y.clamp(0, HEIGHT as i32 - 1) as usize);
                if inside || edge == Addressing::Clamp { texels[cy * WIDTH + cx] } else { 0.0 }
            });
            b.expect("every fetch", &found, expected);
        }
    }
    Ok(())
}

/// Any texel, as it is.
#[kernel(block = 32)]
fn copied<T: Texel>(t: &Texture2d<T>, out: &mut Global<T>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = t.fetch((i % t.width()) as i32, (i / t.width()) as i32);
    }
}

fn typed<T: warpwright::prelude::Texel + Bits>(b: &mut Bench<'_>, texels: Vec<T>) -> warpwright::Result<()> {
    let t = b.device.texture((5, 9), &texels, Sampling::default())?;
    let mut out = b.device.upload(&vec![texels[0]; 45])?;
    b.go(copied::<T>(&t, &mut out).cover(45))?;
    let found = b.keep(&out)?;
    b.expect("the texels", &found, texels);
    Ok(())
}

fn texel_types(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let w = words(45);
    typed(b, w.iter().map(|w| *w as u8).collect())?;
    typed(b, w.iter().map(|w| *w as i8).collect())?;
    typed(b, w.iter().map(|w| *w as u16).collect())?;
    typed(b, w.iter().map(|w| *w as i16).collect())?;
    typed(b, w.clone())?;
    typed(b, w.iter().map(|w| *w as i32).collect())?;
    typed(b, grid(45))
}

/// All four components take part.
#[kernel(block = 32)]
fn fours(t: &Texture2d<[f32; 4]>, u: &Texture2d<[u8; 4]>, s: &Texture2d<[i16; 4]>, out: &mut Global<i32>) {
    let i = global_id().x;
    if i < out.len() {
        let (x, y) = ((i % 8) as i32 - 1, (i / 8) as i32 - 1);
        let [a, b, c, d] = t.fetch(x, y);
        let bytes = u.fetch(x, y);
        let mut sum = (64.0 * (a - 2.0 * b + 4.0 * c - 8.0 * d)) as i32;
        for k in 0..4 {
            sum = sum * 31 + bytes[k] as i32;
        }
        out[i] = sum * 7 - s.fetch(x, y)[2] as i32 * 3 + s.fetch(y, x)[3] as i32;
    }
}

fn vectors(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let (f, w) = (grid(6 * 4 * 4), words(6 * 4 * 4));
    let floats: Vec<[f32; 4]> = f.chunks(4).map(|c| [c[0], c[1], c[2], c[3]]).collect();
    let bytes: Vec<[u8; 4]> = w.iter().take(24).map(|w| w.to_le_bytes()).collect();
    let shorts: Vec<[i16; 4]> = w.chunks(4).map(|c| [c[0] as i16, c[1] as i16, c[2] as i16, c[3] as i16]).collect();
    for edge in EDGES {
        let how = sampling(Filter::Nearest, edge, false);
        let t = b.device.texture((6, 4), &floats, how)?;
        let u = b.device.texture((6, 4), &bytes, how)?;
        let s = b.device.texture((6, 4), &shorts, how)?;
        let mut out = b.device.zeros::<i32>(48)?;
        b.go(fours(&t, &u, &s, &mut out).cover(48))?;
        b.keep(&out)?;
    }
    Ok(())
}

#[kernel(block = 32)]
fn complex(t: &Texture2d<[f32; 2]>, out: &mut Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        let [re, im] = t.fetch((i % 6) as i32, (i / 6) as i32);
        out[i] = re - 2.0 * im;
    }
}

/// Some OpenCL devices have no images of two channels, and say so.
fn pairs(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let texels: Vec<[f32; 2]> = grid(48).chunks(2).map(|c| [c[0], c[1]]).collect();
    let expected: Vec<f32> = texels.iter().map(|[re, im]| re - 2.0 * im).collect();
    let found = match b.device.texture((6, 4), &texels, Sampling::default()) {
        Ok(t) => {
            let mut out = b.device.zeros::<f32>(24)?;
            b.go(complex(&t, &mut out).cover(24))?;
            out.download()?
        }
        Err(warpwright::Error::Texture { texel, reason, .. }) if b.device.kind() == warpwright::DeviceKind::OpenCl => {
            b.check("the message names texel and way out", texel == "[f32; 2]" && reason.contains("read a `&Global`"));
            expected.clone()
        }
        Err(error) => return Err(error),
    };
    b.expect("two components", &found, expected);
    Ok(())
}

/// At points on a grid around the texture: `step` apart, the first at `from`.
#[kernel(block = (8, 4))]
fn points(t: &Texture2d<f32>, from: f32, step_x: f32, step_y: f32, side: usize, out: &mut Global<f32>) {
    let Dim3 { x, y, .. } = global_id();
    if x < side && y < side {
        out[y * side + x] = t.sample(from + x as f32 * step_x, from + y as f32 * step_y);
    }
}

/// Points that lie on no edge between texels, where rounding would decide.
fn nearest(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let texels = grid(WIDTH * HEIGHT);
    for edge in EDGES {
        for normalized in [false, true] {
            let t = b.device.texture((WIDTH, HEIGHT), &texels, sampling(Filter::Nearest, edge, normalized))?;
            let mut out = b.device.zeros::<f32>(24 * 24)?;
            let (from, x, y) = if normalized { (-0.23, 0.0613, 0.0611) } else { (-2.3, 0.71, 0.53) };
            b.go(points(&t, from, x, y, 24, &mut out).cover((24, 24)))?;
            b.keep(&out)?;
        }
    }
    Ok(())
}

/// A device keeps the distances between texels to 1/256 of a texel, in x and in y; texels are from 0 to 1 here.
const FILTER: f64 = 2.0 / 256.0;

fn linear(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let texels = grid(WIDTH * HEIGHT);
    for edge in EDGES {
        for normalized in [false, true] {
            let t = b.device.texture((WIDTH, HEIGHT), &texels, sampling(Filter::Linear, edge, normalized))?;
            let mut out = b.device.zeros::<f32>(24 * 24)?;
            let (from, x, y) = if normalized { (-0.23, 0.0613, 0.0611) } else { (-2.3, 0.71, 0.53) };
            b.go(points(&t, from, x, y, 24, &mut out).cover((24, 24)))?;
            b.keep_close(&out, FILTER)?;
            // In the middle of texels there is nothing to filter.
            if !normalized {
                let mut out = b.device.zeros::<f32>(49)?;
                b.go(points(&t, 0.5, 1.0, 1.0, 7, &mut out).cover((7, 7)))?;
                let found = b.keep(&out)?;
                let expected = (0..49).map(|i| texels[i / 7 * WIDTH + i % 7]);
                b.expect("the middles", &found, expected);
            }
        }
    }
    Ok(())
}

/// Half way between texels, where every device has the same distances: a half of each.
#[kernel(block = 32)]
fn half_way(t: &Texture2d<[f32; 4]>, out: &mut Global<f32>) {
    let i = global_id().x;
    if 4 * i < out.len() {
        let found = t.sample((i % 5) as f32 + 1.0, (i / 5) as f32 + 1.0);
        for k in 0..4 {
            out[4 * i + k] = found[k];
        }
    }
}

#[kernel(block = 32)]
fn half_way_of_pairs(t: &Texture2d<[f32; 2]>, out: &mut Global<f32>) {
    let i = global_id().x;
    if 2 * i < out.len() {
        let [re, im] = t.sample((i % 5) as f32 + 1.0, (i / 5) as f32 + 1.0);
        out[2 * i] = re;
        out[2 * i + 1] = im;
    }
}

/// Each component by itself: the mean of four texels, whose few bits make it exact.
fn linear_of_vectors(b: &mut Bench<'_>) -> warpwright::Result<()> {
    fn means<const N: usize>(texels: &[[f32; N]]) -> Vec<f32> {
        let of = |i: usize, k: usize| {
            let (x, y) = (i % 5, i / 5);
            [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)].iter().map(|(x, y)| texels[y * 6 + x][k]).sum::<f32>() / 4.0
        };
        (0..15 * N).map(|n| of(n / N, n % N)).collect()
    }
    let how = sampling(Filter::Linear, Addressing::Clamp, false);
    let fours: Vec<[f32; 4]> = grid(96).chunks(4).map(|c| [c[0], c[1], c[2], c[3]]).collect();
    let t = b.device.texture((6, 4), &fours, how)?;
    let mut out = b.device.zeros::<f32>(60)?;
    b.go(half_way(&t, &mut out).cover(15))?;
    let found = b.keep(&out)?;
    b.expect("four components", &found, means(&fours));
    let pairs: Vec<[f32; 2]> = grid(48).chunks(2).map(|c| [c[0], c[1]]).collect();
    // Some OpenCL devices have no images of two channels: `pairs` has what they say.
    if let Ok(t) = b.device.texture((6, 4), &pairs, how) {
        let mut out = b.device.zeros::<f32>(30)?;
        b.go(half_way_of_pairs(&t, &mut out).cover(15))?;
        let found = out.download()?;
        b.check("two components", found == means(&pairs));
    }
    Ok(())
}

#[kernel(block = 32)]
fn at_no_number(t: &Texture2d<f32>, zero: f32, out: &mut Global<u32>) {
    let i = global_id().x;
    if i < out.len() {
        let nan = zero / zero;
        let found = t.sample(if i % 2 == 0 { nan } else { 1.5 }, if i % 3 == 0 { 1.5 } else { nan });
        out[i] = if found == 7.0 { 0 } else { 1 } + i as u32 * 4 + 2;
    }
}

/// What is found there is the device's; that the thread goes on is not.
fn no_number(b: &mut Bench<'_>) -> warpwright::Result<()> {
    for filter in [Filter::Nearest, Filter::Linear] {
        for edge in EDGES {
            let t = b.device.texture((3, 3), &[7.0f32; 9], sampling(filter, edge, false))?;
            let mut out = b.device.zeros::<u32>(32)?;
            b.go(at_no_number(&t, 0.0, &mut out).cover(32))?;
            let found = out.download()?;
            b.check("every thread goes on", found.iter().enumerate().all(|(i, word)| word / 4 == i as u32 && word % 4 >= 2));
        }
    }
    Ok(())
}

#[kernel(block = 1)]
fn extent(t: &Texture2d<u8>, out: &mut Global<u32>) {
    out[0] = t.width() as u32;
    out[1] = t.height() as u32;
}

#[kernel(block = 1, index = 64)]
fn wide_extent(t: &Texture2d<u8>, out: &mut Global<u64>) {
    out[0] = (t.width() * t.height()) as u64;
    out[1] = t.fetch(t.width() as i32 - 1, t.height() as i32 - 1) as u64;
}

fn extents(b: &mut Bench<'_>) -> warpwright::Result<()> {
    for (width, height) in [(1, 1), (1, 300), (1025, 1)] {
        let texels: Vec<u8> = small(width * height).iter().map(|w| *w as u8).collect();
        let t = b.device.texture((width, height), &texels, Sampling::default())?;
        let mut out = b.device.zeros::<u32>(2)?;
        let mut wide = b.device.zeros::<u64>(2)?;
        b.go(extent(&t, &mut out).grid(1))?;
        b.go(wide_extent(&t, &mut wide).grid(1))?;
        let (found, last) = (b.keep(&out)?, u64::from(texels[texels.len() - 1]));
        b.expect("the extent", &found, [width as u32, height as u32]);
        let found = b.keep(&wide)?;
        b.expect("the last texel", &found, [(width * height) as u64, last]);
    }
    Ok(())
}

#[device]
struct Scene<'a> {
    ground: &'a Texture2d<f32>,
    scale: f32,
    out: &'a mut Global<f32>,
}

#[device]
fn blurred<T: FloatTexel>(t: &Texture2d<T>, x: i32, y: i32) -> (T, T) {
    (t.fetch(x - 1, y), t.fetch(x + 1, y))
}

#[kernel(block = 32)]
fn shaded(s: Scene<'_>, other: &Texture2d<f32>) {
    let i = global_id().x;
    if i < s.out.len() {
        let (x, y) = ((i % 13) as i32, (i / 13) as i32);
        let (left, right) = blurred::<f32>(s.ground, x, y);
        let chosen = if i % 2 == 0 { blurred(other, x, y).0 } else { s.ground.fetch(y, x) };
        s.out[i] = s.scale * (left + right) - chosen;
    }
}

fn passed_on(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let texels = grid(WIDTH * HEIGHT);
    let ground = b.device.texture((WIDTH, HEIGHT), &texels, Sampling::default())?;
    let other = b.device.texture((HEIGHT, WIDTH), &texels, sampling(Filter::Nearest, Addressing::Border, false))?;
    let mut out = b.device.zeros::<f32>(WIDTH * HEIGHT)?;
    b.go(shaded(SceneBuffers { ground: &ground, scale: 0.5, out: &mut out }, &other).cover(WIDTH * HEIGHT))?;
    b.keep(&out).map(drop)
}

#[kernel(block = 32, ilp = 4, batch_loads)]
fn gathered(t: &Texture2d<f32>, x: &Global<i32>, out: &mut Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = t.fetch(x[i], 2) + 0.5 * t.fetch(2, x[i]);
    }
}

#[kernel(block = 32)]
fn windows(t: &Texture2d<u8>, out: &mut Global<u32>) {
    let i = global_id().x;
    let mut sum = 0;
    #[unroll]
    for dy in 0..3 {
        #[batch_loads]
        #[unroll]
        for dx in 0..4 {
            sum = sum * 3 + t.fetch((i % 13) as i32 + dx - 1, (i / 13) as i32 + dy - 1) as u32;
        }
    }
    if i < out.len() {
        out[i] = sum;
    }
}

fn several_at_once(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let t = b.device.texture((WIDTH, HEIGHT), &grid(WIDTH * HEIGHT), sampling(Filter::Nearest, Addressing::Border, false))?;
    let at: Vec<i32> = small(333).iter().map(|w| *w as i32 - 2).collect();
    let x = b.device.upload(&at)?;
    let mut out = b.device.zeros::<f32>(333)?;
    b.go(gathered(&t, &x, &mut out).cover(333))?;
    b.keep(&out)?;
    let bytes: Vec<u8> = words(WIDTH * HEIGHT).iter().map(|w| *w as u8).collect();
    let t = b.device.texture((WIDTH, HEIGHT), &bytes, Sampling::default())?;
    let mut out = b.device.zeros::<u32>(WIDTH * HEIGHT)?;
    b.go(windows(&t, &mut out).cover(WIDTH * HEIGHT))?;
    b.keep(&out).map(drop)
}

/// Reads under conditions that part warps, and before and after exchanges.
#[kernel(block = 64)]
fn exchanged(t: &Texture2d<u16>, limit: usize, out: &mut Global<u32>) {
    let i = global_id().x;
    let mut own = t.fetch((i % 13) as i32, (i / 13) as i32) as u32;
    if i / 32 < limit {
        own += warp_sum(own);
        own ^= t.fetch((own % 13) as i32, 3) as u32;
    }
    if i % 3 == 0 {
        own += t.fetch(own as i32 % 5, -4) as u32;
    }
    out[i] = own + block_sum(own);
}

fn between_warps(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let texels: Vec<u16> = words(WIDTH * HEIGHT).iter().map(|w| *w as u16).collect();
    let t = b.device.texture((WIDTH, HEIGHT), &texels, Sampling::default())?;
    let mut out = b.device.zeros::<u32>(128)?;
    b.go(exchanged(&t, 3, &mut out).grid(2))?;
    b.keep(&out).map(drop)
}

/// New texels, from the host and from a buffer that a kernel wrote.
fn replaced(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let mut t = b.device.texture((WIDTH, HEIGHT), &vec![0.25; WIDTH * HEIGHT], Sampling::default())?;
    let mut out = b.device.zeros::<f32>(WIDTH * HEIGHT)?;
    let texels = grid(WIDTH * HEIGHT);
    t.write(&texels)?;
    b.go(copied::<f32>(&t, &mut out).cover(WIDTH * HEIGHT))?;
    let found = b.keep(&out)?;
    b.expect("what was written", &found, texels.iter().copied());
    for _ in 0..3 {
        let mut next = b.device.zeros::<f32>(WIDTH * HEIGHT)?;
        b.go(smoothed(&t, &mut next).cover((WIDTH, HEIGHT)))?;
        t.copy_from(&next)?;
    }
    b.go(copied::<f32>(&t, &mut out).cover(WIDTH * HEIGHT))?;
    let found = b.keep(&out)?;
    b.expect("what is in the texture", &found, t.download()?);
    Ok(())
}

#[kernel(block = (16, 4), contract = false)]
fn smoothed(t: &Texture2d<f32>, out: &mut Global<f32>) {
    let Dim3 { x, y, .. } = global_id();
    if x < t.width() && y < t.height() {
        let (cx, cy) = (x as i32, y as i32);
        let across = t.fetch(cx - 1, cy) + t.fetch(cx + 1, cy);
        let along = t.fetch(cx, cy - 1) + t.fetch(cx, cy + 1);
        out[y * t.width() + x] = 0.25 * (across + along);
    }
}

/// Textures that the body does not read, or only asks for their extent.
#[kernel(block = 32)]
fn unread(a: &Texture2d<f32>, b: &Texture2d<u8>, k: u32, out: &mut Global<u32>) {
    out[global_id().x] = k + b.height() as u32;
}

fn nothing_known(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let a = b.device.texture((2, 2), &[0.0f32; 4], Sampling::default())?;
    let t = b.device.texture((2, 3), &[0u8; 6], Sampling::default())?;
    let mut out = b.device.zeros::<u32>(32)?;
    b.go(unread(&a, &t, 7, &mut out).cover(32))?;
    let found = b.keep(&out)?;
    b.expect("k and the height", &found, vec![10; 32]);
    Ok(())
}
