//! Random kernels (`warpwright_tests::random_kernels`) on OpenCL devices, against the simulator: whatever the printer may inline, share or reorder
//! wrongly shows in the results. The seeds are fixed; `WARPWRIGHT_PROGRAMS` asks for more of them.

use super::build::job_of_bytes;
use super::{CHILD, programs};
use std::ops::RangeInclusive;
use warpwright_codegen::ir::Kernel;
use warpwright_tests::opencl_tools::{Job, Tool, run};
use warpwright_tests::random::Random;
use warpwright_tests::random_kernels::{Style, contents, lengths, random_kernel, random_kernel_of_warps, simulated, written};

/// The kernels of these seeds, and what the simulator computes.
fn jobs(seeds: RangeInclusive<u64>, make: fn(&mut Random) -> Kernel) -> (Vec<Vec<u32>>, Vec<Job>) {
    let one = |seed| {
        let mut kernel = make(&mut Random::new(seed));
        let expected = simulated(&kernel).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{kernel}"));
        kernel.name = format!("random_{seed}");
        let threads = kernel.options.block.map_or(0, |block| block[0]);
        (expected, job_of_bytes(&kernel, threads, &contents(threads), &lengths(threads)))
    };
    seeds.map(one).unzip()
}

fn compare(test: &str, tool: Tool, expected: &[Vec<u32>], jobs: &[Job]) {
    let Some(outcomes) = run(test, CHILD, tool, jobs) else { return };
    for ((expected, job), outcome) in expected.iter().zip(jobs).zip(&outcomes) {
        // A random kernel may compare a value with itself, at which a compiler wonders: its warnings do not count.
        assert!(outcome.complaints.is_empty(), "{} on {}: {}\n{}", job.name, tool.name(), outcome.complaints, job.text);
        let [.., y, g] = &outcome.buffers[..] else { panic!("{} has two buffers that are written", job.name) };
        assert_eq!(written(y, g), *expected, "{} on {}\n{}", job.name, tool.name(), job.text);
    }
}

#[test]
fn threads_that_go_alone_give_what_the_simulator_gives() {
    let (expected, jobs) = jobs(1..=programs(24), |random| random_kernel(random, Style::Alone));
    for tool in Tool::ALL {
        compare("threads_that_go_alone_give_what_the_simulator_gives", tool, &expected, &jobs);
    }
}

/// Warps that go each their own way between exchanges.
#[test]
fn warps_that_go_their_own_ways_give_what_the_simulator_gives() {
    // Oclgrind takes a second for each, and sees a barrier that a thread misses.
    for (tool, seeds) in [(Tool::Pocl, 1..=programs(60)), (Tool::Oclgrind, 61..=72), (Tool::Intel, 1..=programs(60))] {
        let (expected, mut jobs) = jobs(seeds, random_kernel_of_warps);
        // Intel's optimiser takes most of a second for each: it sees every fifth.
        for (_, job) in jobs.iter_mut().enumerate().filter(|(n, _)| tool == Tool::Intel && n % 5 != 0) {
            job.options.push_str(" -cl-opt-disable");
            job.sub_group_options.iter_mut().for_each(|options| options.push_str(" -cl-opt-disable"));
        }
        let apart = jobs.iter().filter(|job| job.text.contains("active")).count();
        assert!(4 * apart > jobs.len(), "in many kernels warps part: {apart} of {}", jobs.len());
        let in_sub_groups = jobs.iter().filter(|job| job.sub_group_options.is_some()).count();
        assert!(2 * in_sub_groups > jobs.len(), "most have a form for sub-groups: {in_sub_groups} of {}", jobs.len());
        compare("warps_that_go_their_own_ways_give_what_the_simulator_gives", tool, &expected, &jobs);
    }
}
