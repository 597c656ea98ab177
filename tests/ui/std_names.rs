//! Iterators, slices, `Option` and functions of the standard library: each mistake is one error, with the loop or the method in its place.

use std::cmp::max;
use warpwright::prelude::*;

#[kernel(block = 256)]
fn sums(x: &Global<f32>, counts: &Global<u32>, y: &mut Global<f32>) {
    let a = [1.0f32, 2.0, 3.0];
    let total: f32 = a.iter().map(|v| *v * 2.0).sum();
    let n = counts.iter().sum();
    y[0] = (0..4).map(|j| x[j]).sum();
    y[1] = x.iter().fold(0.0, |so_far, v| so_far + v);
    (0..4).for_each(|j| y[j] = 1.0);
    y[2] = a.iter().copied().fold(f32::MIN, f32::max);
    if (1..=4).contains(&n) {
        y[3] = total;
    }
}

#[kernel(block = 256)]
fn loops(x: &Global<f32>, y: &mut Global<f32>) {
    let mut s = 0.0;
    for v in y.iter_mut() {
        *v = 1.0;
    }
    for (k, v) in x.iter().enumerate() {
        s += *v * k as f32;
    }
    for v in &x {
        s += v;
    }
    y[0] = s;
}

#[kernel(block = 256)]
fn options(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if let Some(v) = x.get(i) {
        y[i] = *v;
    }
    y[i] = x.get(i + 1).copied().unwrap_or(0.0);
    *y.get_mut(i).unwrap() = *x.last().unwrap();
    let first = x.first().unwrap();
    y[0] = *first;
}

#[kernel(block = 256)]
fn functions(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let (mut a, mut b) = (x[i], y[i]);
    std::mem::swap(&mut a, &mut b);
    y[std::cmp::min(i + 1, y.len() - 1)] = a;
}

#[kernel(block = 256)]
fn imported(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = max(1, i as u32) as f32;
    drop(x);
}

#[kernel(block = 256)]
fn closures(scale: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let scaled = |a: f32| -> f32 { a * scale };
    let element = |k: usize| x[k];
    y[i] = scaled(element(i));
}

#[kernel(block = 256)]
fn references(x: &Global<f32>, y: &mut Global<f32>) {
    let row = &x[4..8];
    let target = &mut y[1];
    *target = row[0];
    let v = &x[2];
    y[0] = *v;
}

#[kernel(block = 256)]
fn text(x: &Global<f32>, y: &mut Global<f32>) {
    let v = vec![0.0; 4];
    dbg!(x[0]);
    y[0] = v[0];
}

#[kernel(block = 256)]
fn dereferences(x: &Global<f32>, y: &mut Global<f32>) {
    let v = x[0];
    y[0] = *v + *x[1];
}

fn main() {}
