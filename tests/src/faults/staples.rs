//! Kernels of the library of staples, launched by hand with a few blocks and short inputs: what orders blocks by fences, tickets and atomics.
//!
//! The library's functions make such launches themselves, and show them to nobody. Results are held to plain Rust.

use super::kernels::{Show, Specimen};
use super::mistakes::{Edit, Mistake};
use warpwright::{Buffer, Device, Element, Result};
use warpwright_kernels::staples::{by_key, gemm, histogram, reduce, scan, search, select, sort};

/// Every one.
pub const STAPLES: &[Specimen] = &[
    Specimen { name: "reduce_words", run: sum },
    Specimen { name: "dot_words", run: dot },
    Specimen { name: "find_words", run: least::<1030> },
    Specimen { name: "scan_words", run: scan_short },
    Specimen { name: "scan_words of 64 bits", run: scan_long },
    Specimen { name: "scan_runs", run: scan_by_key::<207> },
    Specimen { name: "select_words", run: odd },
    Specimen { name: "count_replicated", run: bins },
    Specimen { name: "sort_pass", run: by_digit },
    Specimen { name: "gemm_tiles", run: gemm_of_two },
    Specimen { name: "gemm_tiles, one after the other", run: gemm_of_tiles },
];

/// How the names begin of kernels in which mistakes of order are made, and none of values: the time of the test.
const OF_ORDER: &[&str] = &["find_words", "scan_runs", "select_words", "sort_pass", "multiply_", "attention_"];

/// A kernel in which a shared array says which tile is next: with another number in it there is always one, so a mutant with a mistake of values may never end. In [`gemm::gemm_tiles`]
/// mistakes of barriers, fences and atomics are made.
const MAY_NOT_END: &str = "gemm_tiles";

/// Whether the kernels are taken in which only mistakes of order are made otherwise, and every mistake is made in them: `WARPWRIGHT_FAULTS=all`.
pub fn is_all() -> bool {
    std::env::var("WARPWRIGHT_FAULTS").is_ok_and(|which| which == "all")
}

/// Whether a kernel of the library is among them.
pub fn is_limited(name: &str) -> bool {
    OF_ORDER.iter().any(|begins| name.starts_with(begins))
}

/// Which mistakes are made in kernels of the library.
pub fn is_wanted(name: &str, edit: &Edit) -> bool {
    let is_of_order = edit.mistake.row().is_of_order;
    if name.starts_with(MAY_NOT_END) {
        return is_of_order && !matches!(edit.mistake, Mistake::EveryBlock | Mistake::Uninitialised);
    }
    is_of_order || is_all() || !is_limited(name)
}

pub(super) fn device() -> Device {
    Device::simulator()
}

pub(super) fn zeros<T: Element>(n: usize) -> Result<Buffer<T>> {
    device().zeros(n)
}

/// Numbers below 1,000 that differ from their neighbours.
pub(super) fn numbers(n: usize) -> Vec<u32> {
    (0..n as u32).map(|i| ((i + 1).wrapping_mul(2_654_435_761) >> 12) % 1000).collect()
}

/// Tickets of launches before.
pub(super) const BEFORE: u32 = 7;

pub(super) fn tickets() -> Result<Buffer<u32>> {
    device().upload(&[BEFORE])
}

fn sum(show: Show<'_>) -> Result<()> {
    let x = numbers(701);
    let there = device().upload(&x)?;
    let (mut partials, mut tickets, mut out) = (zeros(3)?, tickets()?, zeros(1)?);
    let launch = reduce::reduce_words::<u32, u32, 0, 0, 0, 4, 64, 1, 32>(BEFORE, &there, &mut partials, &mut tickets, &mut out).grid(3);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(out.download()?, [x.iter().sum::<u32>()]);
    Ok(())
}

fn dot(show: Show<'_>) -> Result<()> {
    let (x, y) = (numbers(2050), numbers(2051)[1..].to_vec());
    let (left, right) = (device().upload(&x)?, device().upload(&y)?);
    let (mut partials, mut tickets, mut out) = (zeros(2)?, tickets()?, zeros(1)?);
    let launch = search::dot_words::<u32, u32, 0, 0, 4, 32>(BEFORE, &left, &right, &mut partials, &mut tickets, &mut out).grid(2);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(out.download()?, [x.iter().zip(&y).map(|(x, y)| x * y).sum::<u32>()]);
    Ok(())
}

/// The least is at `AT`.
pub(super) fn least<const AT: usize>(show: Show<'_>) -> Result<()> {
    let x: Vec<u32> = numbers(1031).iter().map(|n| n + 1).enumerate().map(|(i, n)| if i == AT { 0 } else { n }).collect();
    let there = device().upload(&x)?;
    let (mut bests, mut places, mut tickets, mut place) = (zeros(2)?, zeros(2)?, tickets()?, zeros(1)?);
    let launch =
        search::find_words::<u32, u32, 0, 0, false, 2, 32>(BEFORE, &there, &mut bests, &mut places, &mut tickets, &mut place).grid(2);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(place.download()?, [AT as u64]);
    Ok(())
}

fn scan_short(show: Show<'_>) -> Result<()> {
    let x = numbers(600);
    let (there, mut y) = (device().upload(&x)?, zeros(600)?);
    let (mut states, mut sums, mut tickets) = (zeros(3)?, zeros(1)?, tickets()?);
    let launch = scan::scan_words::<u32, 0, 0, false, 4, 2, 1, 32>(BEFORE, 5, &there, &mut y, &mut states, &mut sums, &mut tickets).grid(3);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, x.iter().scan(0, |sum, x| Some(*(*sum += x, &*sum).1)).collect::<Vec<u32>>());
    Ok(())
}

/// What does not fit beside its flag lies between fences.
fn scan_long(show: Show<'_>) -> Result<()> {
    let x: Vec<u64> = numbers(300).iter().map(|n| u64::from(*n) << 30).collect();
    let (there, mut y) = (device().upload(&x)?, zeros(300)?);
    let (mut states, mut sums, mut tickets) = (zeros(3)?, zeros(6)?, tickets()?);
    let launch = scan::scan_words::<u64, 0, 0, true, 2, 2, 1, 32>(BEFORE, 5, &there, &mut y, &mut states, &mut sums, &mut tickets).grid(3);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, (0..300).map(|i| x[..i].iter().sum()).collect::<Vec<u64>>());
    Ok(())
}

/// Runs of `RUN` elements, which begin within vectors. With 207, the second tile's first warp is within one.
pub(super) fn scan_by_key<const RUN: usize>(show: Show<'_>) -> Result<()> {
    let (x, keys): (Vec<u32>, Vec<u32>) = (numbers(600), (0..600).map(|i| i / RUN as u32).collect());
    let (there, heads, mut y) = (device().upload(&x)?, device().upload(&keys)?, zeros(600)?);
    let (mut states, mut sums, mut tickets) = (zeros(3)?, zeros(1)?, tickets()?);
    let launch =
        by_key::scan_runs::<u32, 0, 0, 0, false, 4, 2, 1, 32>(BEFORE, 5, &heads, &there, &mut y, &mut states, &mut sums, &mut tickets)
            .grid(3);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, (0..600).map(|i| x[i / RUN * RUN..=i].iter().sum()).collect::<Vec<u32>>());
    Ok(())
}

fn odd(show: Show<'_>) -> Result<()> {
    let x = numbers(600);
    selected::<6>(show, &x, &[0], 1, |i| x[i] % 2 == 1)
}

/// What is kept of 600 numbers by a mode, whose value and flags are these.
pub(super) fn selected<const MODE: u32>(
    show: Show<'_>,
    x: &[u32],
    flags: &[u8],
    value: u32,
    is_kept: impl Fn(usize) -> bool,
) -> Result<()> {
    let (there, flags, mut y) = (device().upload(x)?, device().upload(flags)?, zeros(600)?);
    let (mut count, mut states, mut sums, mut tickets) = (zeros(1)?, zeros(3)?, zeros(1)?, tickets()?);
    let launch = select::select_words::<u32, 0, MODE, 1, 2, 4, 256>(
        BEFORE,
        5,
        value,
        &there,
        &flags,
        &mut y,
        &mut count,
        &mut states,
        &mut sums,
        &mut tickets,
    )
    .grid(3);
    show(&launch);
    launch.launch(&device())?;
    let kept: Vec<u32> = (0..600).filter(|i| is_kept(*i)).map(|i| x[i]).collect();
    assert_eq!(count.download()?, [kept.len() as u32]);
    assert_eq!(y.download()?[..kept.len()], kept);
    Ok(())
}

fn bins(show: Show<'_>) -> Result<()> {
    let mut x: Vec<u32> = numbers(701).iter().map(|n| n % 20).collect();
    // What is left over is counted where another lane counts.
    x[700] = x[8];
    let there = device().upload(&x)?;
    let (mut counts, mut tickets, mut bins) = (zeros(16)?, tickets()?, zeros(16)?);
    let launch = histogram::count_replicated::<u32, false, 4, 64, 2, 1, 32>(BEFORE, &there, &mut counts, &mut tickets, &mut bins)
        .grid(3)
        .shared_bytes(16 * 2 * 4);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(bins.download()?, (0..16).map(|bin| x.iter().filter(|x| **x == bin).count() as u32).collect::<Vec<_>>());
    Ok(())
}

fn by_digit(show: Show<'_>) -> Result<()> {
    let n = 1100;
    let x = numbers(n);
    let mut counts = vec![0u32; 256];
    x.iter().for_each(|x| counts[*x as usize % 256] += 1);
    let (keys, values, mut counts) = (device().upload(&x)?, zeros(1)?, device().upload(&counts)?);
    let (mut sorted, mut sorted_values, mut digits, mut tickets) = (zeros(n)?, zeros(1)?, zeros(3 * 256)?, tickets()?);
    let launch = sort::kernels::sort_pass::<u32, 0, false, false, 8, 2, false, 1, 1>(
        BEFORE,
        0,
        n,
        &keys,
        &values,
        &mut sorted,
        &mut sorted_values,
        &mut counts,
        &mut digits,
        &mut tickets,
    )
    .grid(3)
    .shared_bytes(512 * 4);
    show(&launch);
    launch.launch(&device())?;
    let mut expected = x;
    expected.sort_by_key(|x| x % 256);
    assert_eq!(sorted.download()?, expected);
    Ok(())
}

/// Two blocks share the steps of one tile.
fn gemm_of_two(show: Show<'_>) -> Result<()> {
    gemm(show, 128, 0, 2)
}

/// A block has two tiles, each for itself.
fn gemm_of_tiles(show: Show<'_>) -> Result<()> {
    gemm(show, 256, 2, 1)
}

/// Each of so many blocks has so many tiles of 128 by 128 for itself, and they share the rest.
fn gemm(show: Show<'_>, m: usize, turns: usize, blocks: usize) -> Result<()> {
    let (n, inner) = (128, 16);
    let numbers = |n: usize| (0..n).map(|i| (i * 37 % 11) as f32).collect::<Vec<f32>>();
    let (a, b) = (numbers(m * inner), numbers(inner * n));
    let (left, right, mut c) = (device().upload(&a)?, device().upload(&b)?, zeros(m * n)?);
    let (mut partials, mut told, mut tickets) = (zeros(blocks * 128 * 128)?, zeros(blocks)?, tickets()?);
    let extent = (m, n, inner);
    let launch = gemm::gemm_tiles::<false, 2>(BEFORE, turns, extent, 1.0, &left, &right, &mut c, &mut partials, &mut told, &mut tickets)
        .grid(blocks);
    show(&launch);
    launch.launch(&device())?;
    let expected = |at: usize| (0..inner).map(|k| a[at / n * inner + k] * b[k * n + at % n]).sum::<f32>();
    assert_eq!(c.download()?, (0..m * n).map(expected).collect::<Vec<f32>>());
    Ok(())
}
