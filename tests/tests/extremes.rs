//! Sizes at the edges of their types, in every call of the host that takes one, on every device there is: a result or an `Err`, never a panic. A user's debug build has the
//! checks for overflow that this one has.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use std::fmt::Debug;
use warpwright::prelude::*;
use warpwright::{Replicated, Sampling, Sharded};
use warpwright_tests::devices;
use warpwright_tests::random::quietly;

/// Small enough to have, and too large for any memory. What is between might be had.
const SIZES: &[usize] =
    &[0, 1, 2, 3, 7, 64, 1 << 46, 1 << 61, (1 << 62) - 1, 1 << 62, 1 << 63, usize::MAX / 3, usize::MAX - 63, usize::MAX - 1, usize::MAX];

/// Any block will do.
#[kernel]
pub fn any_block(y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = i as u32 + 1;
    }
}

/// Eight elements a thread, in clusters.
#[kernel(block = 64, ilp = 2, vectorize = 4)]
pub fn in_eights(y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = i as u32 + 1;
    }
}

/// As much shared memory as the launch says.
#[kernel(block = 64)]
pub fn shared(y: &mut Global<u32>) {
    #[shared(dynamic)]
    let mut buf: [u32];
    let t = thread_idx().x;
    if t < buf.len() {
        buf[t] = t as u32;
        y[t] = buf[t];
    }
}

/// A matrix, element by element.
#[kernel(block = 64)]
pub fn of_matrix(a: &Matrix<u32>, y: &mut Global<u32>) {
    let t = global_id().x;
    if t < y.len() {
        y[t] = (a.rows() + a.columns()) as u32;
    }
}

/// What was tried, and what panicked.
#[derive(Default)]
struct Tried {
    calls: u32,
    refused: u32,
    panics: Vec<String>,
}

impl Tried {
    /// Makes a call; its result, if it gave one.
    fn call<T, E: std::fmt::Display>(&mut self, what: impl Debug, call: impl FnOnce() -> Result<T, E>) -> Option<T> {
        self.calls += 1;
        let mut result = None;
        if let Err(place) = quietly(|| result = Some(call())) {
            self.panics.push(format!("{what:?}: {place}"));
        }
        match result? {
            Ok(value) => Some(value),
            Err(error) => {
                self.refused += 1;
                assert!(!error.to_string().is_empty());
                None
            }
        }
    }
}

#[test]
fn sizes_at_the_edges_are_refused_or_done() {
    for device in devices::all() {
        let mut tried = Tried::default();
        buffers(&device, &mut tried);
        launches(&device, &mut tried);
        several(&device, &mut tried);
        let Tried { calls, refused, panics } = tried;
        println!("{device}: {calls} calls, {refused} refused");
        assert!(panics.is_empty(), "{device}: {} panics\n{}", panics.len(), panics.join("\n"));
        assert!(refused > calls / 3, "{device}: {refused} of {calls} calls are refused");
        let mut y = device.zeros::<u32>(100).unwrap();
        any_block(&mut y).block(32).cover(100).launch(&device).unwrap();
        assert_eq!(y.download().unwrap()[99], 100, "{device}");
    }
}

fn buffers(device: &Device, tried: &mut Tried) {
    let mut own = device.zeros::<u32>(12).unwrap();
    let other = device.zeros::<u32>(12).unwrap();
    for &n in SIZES {
        tried.call(("zeros u8", n), || device.zeros::<u8>(n));
        tried.call(("zeros f64", n), || device.zeros::<f64>(n));
        tried.call(("zeros of arrays", n), || device.zeros::<[u64; 7]>(n));
        tried.call(("pinned", n), || device.pinned::<u64>(n));
        tried.call(("split", n), || own.split_at_mut(n).map(|_| ()));
        for &m in SIZES {
            tried.call(("range", n, m), || own.range(n..m).map(|range| range.len()));
            tried.call(("range", n, m, "whole"), || own.range(n..=m).map(|range| range.len()));
            tried.call(("range mut", n, m), || own.range_mut(n..m).map(|range| range.len()));
            tried.call(("range of range", n, m), || own.range(2..7)?.range(n..m).map(|range| range.len()));
            tried.call(("copy range", n, m), || own.copy_range_from(n, &other, n..m));
            tried.call(("copy range", n, m, "to the end"), || own.copy_range_from(m, &other, 0..n));
            tried.call(("texture", n, m), || device.texture((n, m), &[0.0f32; 4], Sampling::default()).map(|_| ()));
            let matrix = tried.call(("matrix", n, m), || device.matrix(&other, n, m));
            if let Some(matrix) = matrix {
                let mut y = device.zeros::<u32>(1).unwrap();
                tried.call(("launch of a matrix", n, m), || of_matrix(matrix, &mut y).cover(1).launch(device));
            }
            for rows in [0, 1, 2] {
                tried.call(("pitch", rows, n, m), || device.matrix(&other, rows, n)?.pitch(m).map(|_| ()));
                tried.call(("batch", rows, n, m), || device.matrix(&other, rows, rows)?.batch(n, m).map(|_| ()));
                tried.call(("batch mut", rows, n, m), || device.matrix_mut(&mut own, rows, rows)?.batch(n, m).map(|_| ()));
            }
        }
    }
}

fn launches(device: &Device, tried: &mut Tried) {
    let mut y = device.zeros::<u32>(64).unwrap();
    // One dimension after the other: what may be launched is small.
    for &n in SIZES.iter().chain(&[31, 32, 33, 1023, 1025, 65_536, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 1]) {
        let is_large = n > 1 << 20;
        tried.call(("block", n), || any_block(&mut y).block(n).grid(1).launch(device));
        tried.call(("block y", n), || any_block(&mut y).block((1, n)).grid(1).launch(device));
        tried.call(("block of all", n), || any_block(&mut y).block((n, n, n)).grid(1).launch(device));
        tried.call(("block, cover", n), || any_block(&mut y).block(n).cover(64).launch(device));
        tried.call(("shared bytes", n), || shared(&mut y).grid(1).shared_bytes(n).launch(device));
        tried.call(("figures of", n), || in_eights(&mut y).cover(n).ptx("sm_90"));
        // What a device could begin, for hours, is not asked of one.
        if is_large && n <= 1 << 46 {
            continue;
        }
        tried.call(("cover", n), || in_eights(&mut y).cover(n).launch(device));
        tried.call(("cover two", n), || in_eights(&mut y).cover((1, n)).launch(device));
        tried.call(("cover of all", n), || in_eights(&mut y).cover((n.min(3), n, n.min(5))).launch(device));
        tried.call(("grid", n), || in_eights(&mut y).grid(n).launch(device));
        tried.call(("grid z", n), || in_eights(&mut y).grid((1, 1, n)).launch(device));
        tried.call(("any block, cover", n), || any_block(&mut y).block(1).cover(n).launch(device));
    }
    for n in [i32::MIN, i32::MIN + 1, -65_536, -1] {
        tried.call(("block", n), || any_block(&mut y).block(n).grid(1).launch(device));
        tried.call(("grid", n), || in_eights(&mut y).grid(n).launch(device));
        tried.call(("cover", n), || in_eights(&mut y).cover((n, n)).launch(device));
        tried.call(("shared bytes", n), || shared(&mut y).grid(1).shared_bytes(n).launch(device));
    }
}

fn several(device: &Device, tried: &mut Tried) {
    let devices = [device.clone(), device.clone()];
    for &n in SIZES {
        tried.call(("replicated", n), || Replicated::<u64>::zeros(&devices, n).map(|_| ()));
        for &m in SIZES {
            for halo in [0, 1, usize::MAX / 2, usize::MAX] {
                tried.call(("sharded", n, m, halo), || Sharded::<u32>::zeros(&devices, n, m, halo).map(|_| ()));
            }
            tried.call(("scatter", n, m), || Sharded::scatter(&devices, &[0u32; 12], n, m).map(|_| ()));
        }
    }
}
