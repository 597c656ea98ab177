//! Blocks of all shapes, and who of their threads does what about copies.

use crate::{at, numbers};
use warpwright::prelude::*;
use warpwright_tests::devices::on_all;
use warpwright_tests::emitted::ptx;

/// The same kernel, whose blocks number their threads in their own ways.
macro_rules! numbered {
    (($at:ident) $($name:ident($block:expr, $threads:literal, $number:expr))*) => {
        $(
            #[kernel(block = $block)]
            fn $name<const S: usize>(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
                #[shared]
                let mut run: [f32; 132];
                let $at = thread_idx();
                let t = $number;
                let mut sum = 0.0;
                #[pipeline(stages = S)]
                for k in 0..n {
                    load_run(&mut run, x, k * 132);
                    sync_threads();
                    sum = sum * 0.5 + run[(131 + t * 129) % 132] - run[t * 7 % 132];
                    sync_threads();
                }
                y[t] = sum;
            }
        )*

        /// TileLang 284: another numbering of a block's threads, or one that has an odd number of them, and the loop was left as it was, silently. CUTLASS 2404 and 2418: a pipeline whose
        /// program says how many threads arrive, and which of them signals, stands still if it says so wrongly. Here there is nothing to say: who copies and who arrives
        /// follows from the block.
        #[test]
        fn the_numbering_of_threads_does_not_matter() {
            on_all("numbered", |device| {
                let run = |name: &str, threads: usize, stages: usize, kernel: for<'a> fn(usize, &'a Buffer<f32>, &'a mut Buffer<f32>) -> Launch<'a>| {
                    for n in 0..=2 * stages + 1 {
                        let x = numbers((n * 132).saturating_sub(n % 3), n);
                        let mut y = device.zeros::<f32>(threads).unwrap();
                        kernel(n, &device.upload(&x).unwrap(), &mut y).grid(1).launch(device).unwrap();
                        let of = |t: usize| {
                            (0..n).fold(0.0, |sum, k| sum * 0.5 + at(&x, k * 132 + (131 + t * 129) % 132) - at(&x, k * 132 + t * 7 % 132))
                        };
                        let expected: Vec<f32> = (0..threads).map(of).collect();
                        assert_eq!(y.download().unwrap(), expected, "{name}, {stages} stages, {n} iterations, {device:?}");
                    }
                };
                $(
                    run(stringify!($name), $threads, 2, $name::<2>);
                    run(stringify!($name), $threads, 3, $name::<3>);
                )*
            });
        }
    };
}
numbered! { (at)
    one_thread(1, 1, at.x)
    a_warp_and_a_thread(33, 33, 32 - at.x)
    many(1024, 1024, at.x)
    in_rows((16, 4), 64, at.y * 16 + at.x)
    in_columns((16, 4), 64, at.x * 4 + at.y)
    on_one_side((1, 96), 96, at.y)
    in_planes((4, 2, 8), 64, (at.z * 2 + at.y) * 4 + at.x)
    from_behind((4, 2, 8), 64, 63 - ((at.x * 2 + at.y) * 8 + at.z))
    of_odd_sides((5, 7, 3), 105, (at.y * 3 + at.z) * 5 + at.x)
}

/// One thread makes the barriers, announces the bytes and asks for the copies, whatever the block: the same instructions for a warp and for 1024 threads.
#[test]
fn arrivals_are_counted_by_the_compiler() {
    let of = |block: &str, stages: &str| {
        let source = format!(
            "#[kernel(block = {block})]
            fn summed<const S: usize>(n: usize, x: &Global<f32>, y: &mut Global<f32>) {{
                #[shared]
                let mut run: [f32; 132];
                #[shared]
                let mut more: [f32; 64];
                let mut sum = 0.0;
                #[pipeline(stages = S)]
                for k in 0..n {{
                    load_run(&mut run, x, k * 132);
                    load_run(&mut more, x, k * 64);
                    sync_threads();
                    sum += run[n % 132] + more[n % 64];
                    sync_threads();
                }}
                y[thread_idx().x] = sum;
            }}"
        );
        let text = ptx(&source, "summed", &[stages], "sm_90").unwrap_or_else(|error| panic!("{error}")).to_string();
        let inits: Vec<String> = text.lines().filter(|line| line.contains("mbarrier.init")).map(|line| line.trim().to_owned()).collect();
        // Each barrier counts one arrival.
        assert!(inits.iter().all(|line| line.ends_with(", 1;")), "{inits:?}");
        ["mbarrier.init", "mbarrier.arrive", "cp.async.bulk.shared", "mbarrier.try_wait"].map(|word| text.matches(word).count())
    };
    for (stages, slots) in [("2", 2), ("3", 3), ("4", 4)] {
        let found = of("32", stages);
        // Before the loop and in it: one arrival for both runs.
        assert_eq!(found[..3], [slots, 2, 4], "{stages} stages");
        for block in ["1", "33", "(8, 8)", "(5, 7, 3)", "1024"] {
            assert_eq!(of(block, stages), found, "{stages} stages, {block}");
        }
    }
}
