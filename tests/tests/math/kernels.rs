//! Precise functions in every surrounding that a kernel has, for `surroundings.rs`. Read as text.

const SCALES: [f32; 8] = [0.5, 1.0, 1.5, 2.0, 200000.0, 3.0, 1.0e9, 4.0];
const math: [u32; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
/// What the library's table holds, as a kernel's own.
const BITS: [u32; 8] = [0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab];

#[device]
fn wave(x: f32) -> f32 {
    if x < 0.0 {
        return x.exp();
    }
    x.sin() * x.ln_1p()
}

#[device]
fn twist<T: Float>(x: T, y: T) -> T {
    let (s, c) = x.sin_cos();
    s * y.tanh() + c * y.erf()
}

#[kernel(block = 64)]
fn conditions(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        let v = x[i];
        let r = if v > 0.5 {
            v.sin()
        } else if v > 0.25 {
            v.exp()
        } else {
            v.atan2(v + 1.0)
        };
        y[i] = r + wave(v - 0.3);
    }
}

#[kernel(block = 64)]
fn returns(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i >= y.len() {
        return;
    }
    let v = x[i];
    if v.sin() < 0.3 {
        y[i] = v.cos();
        return;
    }
    match i % 3 {
        0 => y[i] = v.ln(),
        1 => y[i] = v.log2(),
        _ => y[i] = v.powf(0.3),
    }
}

#[kernel(block = 64)]
fn unrolled(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        let mut s = 0.0;
        #[unroll]
        for k in 0..5u32 {
            s += (x[i] * k as f32).cos() * (k as f32).exp();
        }
        y[i] = s;
    }
}

#[kernel(block = 64)]
fn interleaved(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        let mut s = 0.0;
        #[ilp(4)]
        #[batch_loads]
        for k in 0..i % 11 {
            s += x[i - k].sin() + x[i - k].cos();
        }
        y[i] = s;
    }
}

#[kernel(block = 64)]
fn ahead(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        let mut s = 0.0;
        #[prefetch]
        for k in 0..i % 11 {
            s += x[i - k].tan();
        }
        y[i] = s;
    }
}

#[kernel(block = 64, vectorize = 4)]
fn vectors(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i].sin();
    }
}

#[kernel(block = 64, ilp = 2, vectorize = 2, batch_loads, index = 64)]
fn elements(x: &Global<f64>, y: &mut Global<f64>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i].sin() + x[i].abs().powf(1.5).cos();
    }
}

#[kernel(block = 64)]
fn barriers(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut math: [f32; 64];
    let t = thread_idx().x;
    let i = global_id().x;
    math[t] = x[i].sin();
    sync_threads();
    let v = math[(t + 1) % 64].cos();
    sync_threads();
    math[t] = v.exp();
    sync_threads();
    y[i] = math[63 - t] + block_sum(math[t].ln()) + warp_sum(x[i].sin()) + shuffle_xor(x[i].cos(), 1);
}

#[kernel(block = 64, bounds = trap, index = 64)]
fn traps(x: &Global<f64>, y: &mut Global<f64>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i].sin() + x[i].erfc();
    }
}

#[kernel(block = 64, contract = false)]
fn uncontracted(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i].sin() * x[i] + x[i].exp();
    }
}

#[kernel(block = 64, math = fast)]
fn fast(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i].sin() * x[i] + x[i].erf() + (x[i] as f64).tan() as f32;
    }
}

#[kernel(block = 64)]
fn short(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = twist(x[i] as f16, f16::from_f32(0.7)) as f32 + twist(bf16::from_f32(0.7), x[i] as bf16) as f32 + twist(x[i], x[i]) + twist(x[i] as f64, 0.3) as f32;
    }
}

#[kernel(block = 64)]
fn halves(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        let v = x[i];
        let (s, c) = v.sin_cos();
        let early = v.cos();
        if i % 2 == 0 {
            y[i] = s + v.cos();
        } else {
            y[i] = c - early;
        }
        if i % 3 == 0 {
            y[i] += v.sin();
        }
    }
}

#[kernel(block = 64)]
fn tables(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        let k = i % 8;
        y[i] = (SCALES[k] * x[i]).sin() + math[k] as f32 + BITS[(i + 1) % 8] as f32 + SCALES[3].ln() + 1.0e9f32.sin();
    }
}

#[kernel(block = 64)]
fn loops(x: &Global<f64>, y: &mut Global<f64>) {
    let i = global_id().x;
    if i < y.len() {
        let mut v = x[i];
        let mut n = 0u32;
        while v.abs() > 1.0e-3 && n < 6 {
            v = v.sin() * 0.9;
            if v.cos() < 0.8 {
                break;
            }
            n += 1;
        }
        let mut k = 0u32;
        y[i] = loop {
            k += 1;
            if k > 5 {
                break v.tanh();
            }
            if v.cbrt() > 0.5 {
                continue;
            }
            v = v.hypot(0.1);
        };
    }
}
