//! Ranges to the ends of their types: where the number of values, the next value or the step does not fit the type.

use crate::bench::{Bench, cases, small};
use warpwright::prelude::*;

cases!(whole_types, run_time_ends, great_steps, steps_of_small_types, empty_or_one, annotated, wide_indices);

/// The first few values of all 2⁶⁴, and of all values of the other types, each way round.
#[kernel(block = 32)]
fn all_values(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let few = x[i] + 2;
    let mut n = 0u32;
    let mut s = 0u64;
    for k in i64::MIN..=i64::MAX {
        s = (s * 3) ^ k as u64;
        n += 1;
        if n >= few {
            break;
        }
    }
    n = 0;
    for k in (0..=u64::MAX).rev() {
        s = (s * 3) ^ k;
        n += 1;
        if n >= few {
            break;
        }
    }
    n = 0;
    for k in (i64::MIN..=i64::MAX).step_by(2147483647) {
        s = (s * 5) ^ k as u64;
        n += 1;
        if n >= few {
            break;
        }
    }
    n = 0;
    for k in (0..=u64::MAX).rev().step_by(3) {
        s = (s * 7) ^ k;
        n += 1;
        if n >= few {
            break;
        }
    }
    n = 0;
    for k in (i64::MIN..=i64::MAX).rev().step_by(5) {
        s = (s * 7) ^ k as u64;
        n += 1;
        if n >= few {
            break;
        }
    }
    n = 0;
    for k in (i32::MIN..=i32::MAX).rev() {
        s = (s * 11) ^ k as u64;
        n += 1;
        if n >= few {
            break;
        }
    }
    for k in (0..=u32::MAX).step_by(1 << 30) {
        s = (s * 13) ^ k as u64;
    }
    for k in (usize::MIN..=few as usize).rev() {
        s = (s * 13) ^ k as u64;
    }
    for k in (u8::MIN..=u8::MAX).rev() {
        s = (s * 17) ^ k as u64;
    }
    for k in (i8::MIN..=i8::MAX).step_by(7).rev() {
        s = (s * 19) ^ k as u64;
    }
    for k in (i16::MIN..=i16::MAX).step_by(4095) {
        s = (s * 19) ^ k as u64;
    }
    y[i] = s;
}

fn whole_types(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(all_values, &small(64), 1).map(drop)
}

/// The same with ends that are known when it runs.
#[kernel(block = 32)]
fn from_to(first: i64, last: i64, low: u64, high: u64, x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let few = x[i] + 2;
    let mut n = 0u32;
    let mut s = 0u64;
    for k in first..=last {
        s = (s * 3) ^ k as u64;
        n += 1;
        if n >= few {
            break;
        }
    }
    n = 0;
    for k in (low..=high).rev() {
        s = (s * 5) ^ k;
        n += 1;
        if n >= few {
            break;
        }
    }
    n = 0;
    for k in (first..=last).rev().step_by(x[i] as usize + 1) {
        s = (s * 7) ^ k as u64;
        n += 1;
        if n >= few {
            break;
        }
    }
    n = 0;
    'a: for k in (low..=high).step_by(x[i] as usize + 2) {
        if k % 3 == 1 {
            continue 'a;
        }
        s = (s * 11) ^ k;
        n += 1;
        if n >= few {
            break 'a;
        }
    }
    n = 0;
    for k in first..last {
        s = (s * 13) ^ k as u64;
        n += 1;
        if n >= few {
            break;
        }
    }
    y[i] = s;
}

fn run_time_ends(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let ends = [(i64::MIN, i64::MAX, 0, u64::MAX), (-3, 5, 7, 11), (i64::MAX - 3, i64::MAX, u64::MAX - 1, u64::MAX), (4, 3, 9, 8)];
    for (first, last, low, high) in ends {
        b.map(|x, y| from_to(first, last, low, high, x, y), &small(32), 1)?;
    }
    Ok(())
}

/// Steps that do not fit the type of the range, or take it past its end.
#[kernel(block = 32)]
fn strides(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let n = x[i];
    let step = 4_294_967_295 - n as usize;
    let mut s = 0u64;
    for k in (i32::MIN..=i32::MAX).step_by(3_000_000_000) {
        s = (s * 3) ^ k as u64;
    }
    for k in (i32::MIN..i32::MAX).step_by(step) {
        s = (s * 3) ^ k as u64;
    }
    for k in (-(n as i32)..i32::MAX).step_by(step).rev() {
        s = (s * 5) ^ k as u64;
    }
    for k in (0..=u32::MAX).step_by(step) {
        s = (s * 7) ^ k as u64;
    }
    for k in (0..u32::MAX).rev().step_by(step) {
        s = (s * 7) ^ k as u64;
    }
    for k in (n as i32..i32::MAX).step_by(i32::MAX as usize - 1) {
        s = (s * 11) ^ k as u64;
    }
    for k in (i64::MAX - 5..=i64::MAX).step_by(step) {
        s = (s * 13) ^ k as u64;
    }
    y[i] = s;
}

fn great_steps(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(strides, &small(32), 1).map(drop)
}

#[kernel(block = 32)]
fn narrow(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let n = x[i] as usize;
    const STEP: usize = 100 * 3;
    let mut s = 1u64;
    for k in (0..200u8).step_by(300) {
        s = (s * 3) ^ k as u64;
    }
    for k in (0..=255u8).step_by(STEP) {
        s = (s * 3) ^ k as u64;
    }
    for k in (-128..127i8).step_by(200) {
        s = (s * 5) ^ k as u64;
    }
    for k in (-128..=127i8).step_by(n * 20 + 1) {
        s = (s * 7) ^ k as u64;
    }
    for k in (-128..127i8).step_by(n * 40 + 1).rev() {
        s = (s * 11) ^ k as u64;
    }
    for k in (-100..n as i8).rev().step_by(n * 30 + 1) {
        s = (s * 13) ^ k as u64;
    }
    for k in (n as u16..65535).step_by(n * 70_000 + 20_000) {
        s = (s * 17) ^ k as u64;
    }
    for k in (n as i16..32767).step_by(n * 70_000 + 20_000) {
        s = (s * 19) ^ k as u64;
    }
    for k in (5..200u8).rev().step_by(300) {
        s = (s * 23) ^ k as u64;
    }
    y[i] = s;
}

fn steps_of_small_types(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(narrow, &small(32), 1).map(drop)
}

#[kernel(block = 32)]
fn edges(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let n = x[i] as u64;
    let mut s = 1u64;
    for k in u64::MAX..=u64::MAX {
        s = (s * 3) ^ k;
    }
    for k in u64::MAX..=n {
        s = (s * 3) ^ k;
    }
    for k in (i64::MIN..=i64::MIN).rev() {
        s = (s * 5) ^ k as u64;
    }
    for k in (i64::MAX..=i64::MIN).rev().step_by(4) {
        s = (s * 5) ^ k as u64;
    }
    for k in (u64::MAX - n..=u64::MAX).rev() {
        s = (s * 7) ^ k;
    }
    for k in (i64::MIN..=i64::MIN + n as i64).rev().step_by(2) {
        s = (s * 11) ^ k as u64;
    }
    for k in (0..=0u8).rev() {
        s = (s * 13) ^ k as u64;
    }
    for k in 255u8..=254 {
        s = (s * 13) ^ k as u64;
    }
    y[i] = s;
}

fn empty_or_one(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(edges, &small(32), 1).map(drop)
}

/// What annotations make of such loops.
#[kernel(block = 32)]
fn with_annotations(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let n = x[i] as u64;
    let mut s = 0u64;
    #[unroll(4)]
    for k in (u64::MAX - n..=u64::MAX).rev() {
        s += k * 3;
    }
    #[ilp(4)]
    for k in (i64::MAX - n as i64)..=i64::MAX {
        s += (k as u64) ^ n;
    }
    #[unroll]
    for k in (i32::MIN..=i32::MAX).rev().step_by(1_500_000_000) {
        s = s * 5 + k as u64;
    }
    #[unroll(2)]
    for k in (u64::MAX - n..u64::MAX).step_by(3) {
        s = s * 7 + k;
    }
    #[prefetch]
    for k in (u32::MAX - 40..=u32::MAX).step_by(n as usize + 1) {
        s = s * 7 + x[(u32::MAX - k) as usize % 32] as u64;
    }
    y[i] = s;
}

fn annotated(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(with_annotations, &small(32), 1).map(drop)
}

/// Steps of 64 bits: the greatest divide the distance between the ends.
#[kernel(block = 32, index = 64)]
fn wide(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let n = x[i] as usize;
    let mut s = 1u64;
    for k in (0..=u64::MAX).step_by(6148914691236517205) {
        s = (s * 3) ^ k;
    }
    #[unroll]
    for k in (i64::MIN..=i64::MAX).rev().step_by(6148914691236517205) {
        s = (s * 3) ^ k as u64;
    }
    for k in (i64::MIN..i64::MAX).step_by(usize::MAX - n) {
        s = (s * 5) ^ k as u64;
    }
    for k in (usize::MIN..=usize::MAX).rev().step_by(usize::MAX / 3 + n) {
        s = (s * 7) ^ k as u64;
    }
    for k in (0..u32::MAX).step_by(1 << 33) {
        s = (s * 11) ^ k as u64;
    }
    for k in (n as u32..=u32::MAX).step_by((1 << 31) + n) {
        s = (s * 11) ^ k as u64;
    }
    for k in (isize::MIN..=isize::MAX).rev().step_by((1 << 62) + n) {
        s = (s * 13) ^ k as u64;
    }
    #[unroll(4)]
    for k in (0..=usize::MAX).step_by(1 << 60) {
        s = (s * 17) ^ k as u64;
    }
    y[i] = s;
}

fn wide_indices(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(wide, &small(32), 1).map(drop)
}
