//! Kernels as the macro would expand them, run as twins.

use super::*;
use crate::prelude::*;
use crate::warp::{all, any, ballot, match_any, shuffle, shuffle_down, shuffle_up, shuffle_xor};
use std::cell::Cell;

/// The bytes of a slice of numbers.
fn bytes<T: Scalar>(values: &[T]) -> Vec<u128> {
    let mut units = vec![0u128; size_of_val(values).div_ceil(16)];
    for (i, value) in values.iter().enumerate() {
        let (at, width) = (i * size_of::<T>(), size_of::<T>());
        units[at / 16] |= u128::from(value.to_word()) << (at % 16 * 8) & (!0 >> (128 - 8 * width) << (at % 16 * 8));
    }
    units
}

/// The numbers again.
fn values<T: Scalar>(units: &[u128], count: usize) -> Vec<T> {
    let word = |i: usize| (units[i * size_of::<T>() / 16] >> (i * size_of::<T>() % 16 * 8)) as u64;
    (0..count).map(|i| T::from_word(word(i))).collect()
}

fn buffer<T: Scalar>(units: &mut [u128], len: usize) -> TwinArgument {
    assert!(len * size_of::<T>() <= size_of_val(units));
    TwinArgument::Global { address: units.as_mut_ptr().cast(), len }
}

fn run(entry: TwinEntry, arguments: &[TwinArgument], grid: [u32; 3], block: [u32; 3], barriers: bool) -> Result<(), TwinError> {
    #[expect(unsafe_code, reason = "arguments are addresses")]
    // SAFETY: every test passes what its kernel takes.
    let arguments = unsafe { TwinArguments::new(arguments) };
    run_twin(
        entry,
        &arguments,
        grid,
        block,
        Run { elements: [1, 1], cluster: [1; 3], shared_bytes: 64, uses_barriers: barriers, loop_limit: 1000 },
    )
}

/// Runs a kernel of one input and one output buffer.
fn launch<A: Scalar, B: Scalar>(
    entry: TwinEntry,
    input: &[A],
    output: &mut [B],
    grid: [u32; 3],
    block: [u32; 3],
    barriers: bool,
) -> Result<(), TwinError> {
    let (mut x, mut y) = (bytes(input), bytes(output));
    let arguments = [buffer::<A>(&mut x, input.len()), buffer::<B>(&mut y, output.len())];
    let result = run(entry, &arguments, grid, block, barriers);
    output.copy_from_slice(&values(&y, output.len()));
    result
}

/// A `TwinEntry` for `fn(&Global<A>, &mut Global<B>)`.
macro_rules! entry {
    ($twin:ident: $a:ty => $b:ty) => {
        |arguments| $twin(&arguments.global::<$a>(0), &mut arguments.global_mut::<$b>(1))
    };
}

fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

#[test]
fn a_loop_over_all_threads() {
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let mut y = vec![0f32; 1000];
    launch(entry!(double: f32 => f32), &x, &mut y, [8, 1, 1], [128, 1, 1], false).unwrap();
    assert!(y.iter().zip(&x).all(|(y, x)| *y == 2.0 * x));
}

fn places_of_threads(_: &Global<u32>, y: &mut Global<u32>) {
    let (t, b, g) = (thread_idx(), block_dim(), global_id());
    let rank = t.x + b.x * (t.y + b.y * t.z);
    assert_eq!(rank, warp_id() * 32 + lane_id());
    let width = grid_dim().x * b.x;
    let height = grid_dim().y * b.y;
    y[g.x + width * (g.y + height * g.z)] += 1 + block_idx().z as u32;
}

#[test]
fn every_thread_of_a_grid_of_three_axes_runs_once() {
    for barriers in [false, true] {
        let mut y = vec![0u32; 6 * 6 * 6 * 2];
        launch(entry!(places_of_threads: u32 => u32), &[0], &mut y, [2, 3, 2], [3, 2, 6], barriers).unwrap();
        assert_eq!(y[..y.len() / 2].iter().sum::<u32>(), 36 * 6);
        assert!(y[..y.len() / 2].iter().all(|&n| n == 1));
        assert!(y[y.len() / 2..].iter().all(|&n| n == 2));
    }
}

/// The block's sum by halving, in shared memory.
fn halving(x: &Global<u32>, y: &mut Global<u32>) {
    let mut partial = shared::<[u32; 256]>(0);
    let t = thread_idx().x;
    assert_eq!(partial[t], 0);
    partial[t] = x[global_id().x];
    sync_threads();
    let mut distance = block_dim().x / 2;
    while distance > 0 {
        if t < distance {
            partial[t] += partial[t + distance];
        }
        sync_threads();
        distance /= 2;
    }
    if t == 0 {
        y[block_idx().x] = partial[0];
    }
    assert_eq!(partial.len(), 256);
}

#[test]
fn a_block_reduces_in_shared_memory() {
    let x: Vec<u32> = (0..1024).collect();
    let mut y = [0u32; 4];
    launch(entry!(halving: u32 => u32), &x, &mut y, [4, 1, 1], [256, 1, 1], true).unwrap();
    let expected: Vec<u32> = x.chunks(256).map(|chunk| chunk.iter().sum()).collect();
    assert_eq!(y, *expected);
}

fn transpose(x: &Global<u32>, y: &mut Global<u32>) {
    const N: usize = 64;
    let mut tile = shared::<[[u32; 16]; 16]>(0);
    let (t, b) = (thread_idx(), block_idx());
    tile[t.y][t.x] = x[(b.y * 16 + t.y) * N + b.x * 16 + t.x];
    sync_threads();
    y[(b.x * 16 + t.y) * N + b.y * 16 + t.x] = tile[t.x][t.y];
}

#[test]
fn a_tiled_transpose() {
    let x: Vec<u32> = (0..64 * 64).collect();
    let mut y = vec![0u32; 64 * 64];
    launch(entry!(transpose: u32 => u32), &x, &mut y, [4, 4, 1], [16, 16, 1], true).unwrap();
    assert!((0..64 * 64).all(|i| y[i] == x[i % 64 * 64 + i / 64]));
}

fn votes(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let v = x[i];
    let lane = lane_id() as u32;
    y[i] = shuffle_xor(v, 1);
    y[i] += shuffle_up(v, 1) + shuffle_down(v, 1) + shuffle(v, 31);
    y[i] += if any(lane == 3) && all(lane < 32) && !all(lane != 7) { 0 } else { 1000 };
    y[i] += shuffle_up(v, 33) - shuffle_up(v, 1);
    y[i] += ballot(lane % 2 == 1) & 1 << lane;
    y[i] += match_any(lane / 4).count_ones();
    sync_warp();
    y[i] += warp_sum(1u32) + warp_max(lane) + warp_min(lane);
}

#[test]
fn lanes_exchange_values() {
    let x: Vec<u32> = (0..64).map(|i| i * i).collect();
    let mut y = vec![0u32; 64];
    launch(entry!(votes: u32 => u32), &x, &mut y, [1, 1, 1], [64, 1, 1], true).unwrap();
    for i in 0..64usize {
        let (lane, first) = (i % 32, i / 32 * 32);
        let up = if lane == 0 { x[i] } else { x[i - 1] };
        let down = if lane == 31 { x[i] } else { x[i + 1] };
        let odd = if lane % 2 == 1 { 1 << lane } else { 0u32 };
        let expected = x[i ^ 1] + up + down + x[first + 31] + 4 + 32 + 31;
        assert_eq!(y[i], expected.wrapping_add(odd), "thread {i}");
    }
}

/// Lanes leave a loop of warp operations after different numbers of rounds, and take part in others in branches.
fn diverging(_: &Global<u32>, y: &mut Global<u32>) {
    let lane = lane_id() as u32;
    let mut rounds = 0;
    let mut seen = 0;
    while rounds <= lane % 4 {
        seen += ballot(true).count_ones();
        rounds += 1;
    }
    let together = ballot(true);
    let side = if lane < 8 { warp_sum(1u32) } else { 100 * warp_sum(1u32) };
    // Nobody returns before all have had their sum.
    sync_warp();
    y[lane as usize] = if together == u32::MAX { seen + 1000 * side } else { 0 };
}

#[test]
fn lanes_that_part_meet_again() {
    let mut y = [0u32; 32];
    launch(entry!(diverging: u32 => u32), &[0], &mut y, [1, 1, 1], [32, 1, 1], true).unwrap();
    for (lane, &got) in y.iter().enumerate() {
        let seen = [32, 32 + 24, 32 + 24 + 16, 32 + 24 + 16 + 8][lane % 4];
        assert_eq!(got, seen + if lane < 8 { 8_000 } else { 2_400_000 }, "lane {lane}");
    }
}

fn block_reductions(x: &Global<f32>, y: &mut Global<f32>) {
    let i = thread_idx().x;
    let v = x[i];
    let count = sync_threads_count(v > 50.0);
    let (every, some) = (sync_threads_and(v >= 0.0), sync_threads_or(v > 1e9));
    y[i] = block_sum(v) + block_max(v) - block_min(v) + count as f32;
    y[i] += if every && !some { 0.5 } else { 0.0 };
}

#[test]
fn the_block_reduces_as_a_whole() {
    // Not a multiple of the warp: the last warp's missing lanes do not count.
    let x: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let mut y = vec![0f32; 100];
    launch(entry!(block_reductions: f32 => f32), &x, &mut y, [1, 1, 1], [100, 1, 1], true).unwrap();
    assert_eq!(y, vec![4950.0 + 99.0 - 0.0 + 49.0 + 0.5; 100]);
}

fn atomics(x: &Global<u32>, y: &mut Global<u32>) {
    let mut bins = shared::<[u32; 4]>(0);
    let mut words = shared_dynamic::<u32>(0);
    let t = thread_idx().x;
    bins.atomic_add(x[global_id().x] as usize % 4, 1);
    words.atomic_max(3, x[t]);
    assert_eq!(words.len(), 16);
    sync_threads();
    if t < 4 {
        y.atomic_add(t, bins[t]);
        y.atomic_max(4, words[3]);
    }
}

#[test]
fn histograms_by_atomics() {
    let x: Vec<u32> = (0..256).map(|i| i * 7 % 5).collect();
    let mut y = [0u32; 5];
    launch(entry!(atomics: u32 => u32), &x, &mut y, [2, 1, 1], [128, 1, 1], true).unwrap();
    let mut expected = [0, 0, 0, 0, 4];
    x.iter().for_each(|&v| expected[v as usize % 4] += 1);
    assert_eq!(y, expected);
}

fn leaving(x: &Global<u32>, y: &mut Global<u32>) {
    let i = thread_idx().x;
    if i >= x.len() {
        return;
    }
    let mut tile = shared::<[u32; 64]>(0);
    tile[i] = x[i];
    sync_threads();
    y[i] = tile[x.len() - 1 - i];
}

#[test]
fn threads_that_have_ended_are_not_waited_for() {
    let x: Vec<u32> = (0..40).collect();
    let mut y = vec![0u32; 40];
    launch(entry!(leaving: u32 => u32), &x, &mut y, [1, 1, 1], [64, 1, 1], true).unwrap();
    assert!((0..40).all(|i| y[i] == 39 - i as u32));
}

fn divergent(_: &Global<u32>, y: &mut Global<u32>) {
    let i = thread_idx().x;
    if i < 24 {
        sync_threads();
    } else {
        y[i] = sync_threads_count(true);
    }
}

#[test]
fn a_divergent_barrier_is_an_error() {
    let error = launch(entry!(divergent: u32 => u32), &[0], &mut [0u32; 64], [1, 1, 1], [64, 1, 1], true).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("divergent barrier: 24 of the block's 64 living threads wait at `sync_threads` on line "), "{text}");
    assert!(text.contains("others at `sync_threads_count` at ") && text.contains("block (0, 0, 0), thread (24, 0, 0)"), "{text}");
    // Nothing is left behind: the next launch on this OS thread works.
    a_block_reduces_in_shared_memory();
}

fn beyond(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[0] += 1;
    sync_threads();
    y[i] = x[i];
}

#[test]
fn a_panic_in_a_fibre_is_an_error() {
    let mut y = [0u32; 64];
    let line = line!() - 6;
    let error = launch(entry!(beyond: u32 => u32), &[7; 40], &mut y, [4, 1, 1], [16, 1, 1], true).unwrap_err();
    let help = "guard it, `if i < x.len()` for index `i` of buffer `x`, or launch fewer threads";
    assert_eq!(error.message, format!("index 40 is out of bounds of a buffer of 40 elements; help: {help}"));
    assert!(error.to_string().ends_with(&format!(", thread (8, 0, 0); help: {help}")), "{error}");
    assert_eq!(error.thread, Some((Dim3::new(2, 0, 0), Dim3::new(8, 0, 0))));
    let (file, at, _) = error.location.clone().unwrap();
    assert!(file.ends_with("tests.rs") && at == line, "{error}");
    assert_eq!(y[39], 7);
}

fn dividing(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = 12 / x[i];
}

fn overflowing(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = x[i] * x[i];
}

#[test]
fn faults_of_arithmetic_are_errors() {
    let error = launch(entry!(dividing: u32 => u32), &[1, 2, 0], &mut [0u32; 3], [3, 1, 1], [1, 1, 1], false).unwrap_err();
    let said = "attempt to divide by zero; help: divide only where the divisor is not 0";
    assert_eq!((error.message.as_str(), error.thread.unwrap().0), (said, Dim3::new(2, 0, 0)));
    let result = launch(entry!(overflowing: u32 => u32), &[1 << 31], &mut [0u32], [1, 1, 1], [1, 1, 1], false);
    // Overflow checks come with debug assertions, unless a profile says otherwise.
    assert_eq!(result.is_err(), cfg!(debug_assertions));
    assert!(result.is_ok() || result.unwrap_err().message.contains("the device wraps here"));
}

#[test]
fn a_barrier_where_none_was_announced_is_an_error() {
    let error = launch(entry!(halving: u32 => u32), &[0; 256], &mut [0u32], [1, 1, 1], [256, 1, 1], false).unwrap_err();
    assert!(error.message.starts_with("`sync_threads` in a kernel that was launched as one without barriers"), "{error}");
}

#[test]
fn outside_a_launch_a_program_is_one_thread() {
    assert_eq!((thread_idx(), global_id(), block_dim()), (Dim3::new(0, 0, 0), Dim3::new(0, 0, 0), Dim3::new(1, 1, 1)));
    sync_threads();
    assert_eq!((sync_threads_count(true), warp_sum(2.5f32), block_max(3), ballot(true), shuffle_up(7u8, 1)), (1, 2.5, 3, 1, 7));
    assert!(all(true) && !any(false));
    let mut tile = shared::<[f64; 3]>(9);
    tile[2] = 1.0;
    assert_eq!(*tile, [0.0, 0.0, 1.0]);
}

thread_local! {
    static INNER: Cell<u32> = const { Cell::new(0) };
}

fn nesting(_: &Global<u32>, y: &mut Global<u32>) {
    let mut own = shared::<[u32; 32]>(0);
    own[thread_idx().x] = 5;
    if thread_idx().x == 0 {
        a_block_reduces_in_shared_memory();
        INNER.set(INNER.get() + 1);
    }
    sync_threads();
    y[thread_idx().x] = own[31 - thread_idx().x];
}

#[test]
fn a_launch_within_a_launch_disturbs_nothing() {
    let mut y = [0u32; 32];
    launch(entry!(nesting: u32 => u32), &[0], &mut y, [2, 1, 1], [32, 1, 1], true).unwrap();
    assert_eq!((y, INNER.get()), ([5; 32], 2));
}

#[test]
fn launches_of_many_os_threads_at_once() {
    let run = || (0..8).for_each(|_| a_tiled_transpose());
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        all.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

fn by_parameters(a: f32, p: (u32, f32), c: &Constant<[f32; 4]>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = a * c[i] + p.1 + p.0 as f32;
}

#[test]
fn values_and_constants_are_passed() {
    let (a, p, c) = (2.0f32, (3u32, 0.5f32), [1.0f32, 2.0, 3.0, 4.0]);
    let mut y = bytes(&[0.0f32; 4]);
    let arguments = [
        TwinArgument::Value { address: (&raw const a).cast() },
        TwinArgument::Value { address: (&raw const p).cast() },
        TwinArgument::Constant { address: (&raw const c).cast() },
        buffer::<f32>(&mut y, 4),
    ];
    let entry: TwinEntry = |arguments| {
        by_parameters(arguments.value(0), arguments.value(1), arguments.constant(2), &mut arguments.global_mut(3));
    };
    run(entry, &arguments, [4, 1, 1], [1, 1, 1], false).unwrap();
    assert_eq!(values::<f32>(&y, 4), [5.5, 7.5, 9.5, 11.5]);
}

/// A kernel with a loop of as many turns as its argument says.
fn turning(arguments: &TwinArguments<'_>) {
    let x = arguments.global::<u32>(0);
    let mut left = x[0];
    let mut turns = Turns::new();
    while left > 0 {
        turns.next();
        left -= 1;
    }
}

#[test]
fn a_thread_may_go_round_each_loop_as_often_as_the_limit_says() {
    let mut out = [0u32];
    assert_eq!(launch(turning, &[1000u32], &mut out, [2, 1, 1], [33, 1, 1], false), Ok(()));
    assert_eq!(launch(turning, &[1000u32], &mut out, [2, 1, 1], [33, 1, 1], true), Ok(()));
    let error = launch(turning, &[1001u32], &mut out, [2, 1, 1], [33, 1, 1], true).unwrap_err();
    assert!(error.message.starts_with("a thread has gone round this loop 1000 times without an end: is it an endless loop"), "{error}");
    assert_eq!(error.thread, Some((Dim3::new(0, 0, 0), Dim3::new(0, 0, 0))));
    // The limit is the launch's.
    assert_eq!(context::loop_limit(), u64::MAX);
}
