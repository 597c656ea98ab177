//! Those of `testsuite/OpenCL` about races and barriers; a fence.

use super::super::Ours::{Clean, Fault};
use super::super::Theirs::{Accepts, Reports};
use super::super::{Published, case, differs};

/// Why a benign race is one for us.
const BENIGN: &str = "two plain accesses without an order have no result in the language, whatever they write";

/// Why a race between blocks is one.
const BETWEEN_BLOCKS: &str = "races between blocks are always looked for";

/// Why a barrier has no flags.
const ONE_BARRIER: &str = "`sync_threads()` orders shared and global memory alike: there is no flag to forget";

/// Every one, in the order of the suite's folders.
pub(super) const ORDER: &[Published] = &[
    case(
        "OpenCL/barrier_intervals/test1",
        "barriers between writes of each work-item's own element",
        Accepts,
        2,
        "s[t] = t as u32; sync_threads(); s[t] = t as u32; sync_threads(); s[t] = t as u32;",
        Clean,
    ),
    case(
        "OpenCL/barrier_intervals/test2",
        "the same with a barrier more for one work-item",
        Reports,
        2,
        "s[t] = t as u32; if t == 0 { sync_threads(); } s[t] = t as u32; sync_threads(); s[t] = t as u32;",
        Fault("divergent barrier"),
    ),
    case(
        "OpenCL/barrier_intervals/test3",
        "barriers in a function that is called in loops",
        Accepts,
        2,
        "for k in 0..5 { meet(); s[t] = t as u32 + k; meet(); } if s[0] == 4 { for k in 0..5 { meet(); s[t] = t as u32 + k; meet(); } }",
        Clean,
    ),
    case(
        "OpenCL/barrier_intervals/test4",
        "the same at the end of a turn only",
        Accepts,
        2,
        "for k in 0..5 { s[t] = t as u32 + k; meet(); } if s[0] == 4 { meet(); for k in 0..5 { s[t] = t as u32 + k; meet(); } }",
        Clean,
    ),
    differs(case("OpenCL/benign_race_tests/pass/writezero", "all write zero", Accepts, 1, "y[0] = 0;", Fault("race")), BENIGN),
    differs(
        case(
            "OpenCL/benign_race_tests/pass/writeinloop",
            "all write the same value in a loop",
            Accepts,
            2,
            "for _ in 0..3 { y[0] = 42; }",
            Fault("race"),
        ),
        BENIGN,
    ),
    differs(
        case(
            "OpenCL/benign_race_tests/pass/writewritearray",
            "all copy one element to one place",
            Accepts,
            2,
            "y[0] = x[3];",
            Fault("race"),
        ),
        BENIGN,
    ),
    case(
        "OpenCL/benign_race_tests/fail/writewritearray_adversarial",
        "the same, and nothing is known of what is copied",
        Reports,
        1,
        "y[0] = x[3];",
        Fault("race"),
    ),
    differs(
        case(
            "OpenCL/benign_race_tests/pass/readafterwrite",
            "all write the same value, and read it",
            Accepts,
            1,
            "y[5] = 7; z[t] = y[5];",
            Fault("race"),
        ),
        BENIGN,
    ),
    case(
        "OpenCL/benign_race_tests/fail/writereadarray_equality",
        "each writes its element, and reads the next one",
        Reports,
        1,
        "s[t] = 0; y[t] = s[(t + 1) % 64];",
        Fault("race"),
    ),
    case(
        "OpenCL/benign_race_tests/fail/writezero_nobenign",
        "all write zero, and that is asked about",
        Reports,
        1,
        "y[0] = 0;",
        Fault("race"),
    ),
    differs(
        case(
            "OpenCL/benign_race_tests/pass/writeafterread",
            "a read, and a write of the value that is there",
            Accepts,
            1,
            "if y[0] == 0 { y[0] = 0; }",
            Fault("race"),
        ),
        BENIGN,
    ),
    case(
        "OpenCL/benign_race_tests/fail/writeafterread_addition",
        "a read, and a write of another value",
        Reports,
        1,
        "y[0] = y[0] + 1;",
        Fault("race"),
    ),
    case(
        "OpenCL/benign_race_tests/fail/writeafterread_otherval",
        "a read, and a write of a constant that was not there",
        Reports,
        1,
        "if y[0] == 0 { y[0] = 1; }",
        Fault("race"),
    ),
    differs(
        case(
            "OpenCL/benign_race_tests/pass/writetiddiv64",
            "groups of work-items write the same value",
            Accepts,
            1,
            "y[t / 32] = (t / 32) as u32;",
            Fault("race"),
        ),
        BENIGN,
    ),
    case(
        "OpenCL/benign_race_tests/fail/writetiddiv64_offbyone",
        "groups of work-items write two values",
        Reports,
        1,
        "y[(t + 1) / 32] = (t / 32) as u32;",
        Fault("race"),
    ),
    case(
        "OpenCL/divergence/race_and_divergence",
        "a race, and a barrier under a condition",
        Reports,
        1,
        "s[0] = t as u32; if t < 20 { sync_threads(); } y[t] = s[0];",
        Fault("race"),
    ),
    case(
        "OpenCL/inter_group_and_barrier_flag_tests/fail/bad_read_then_write",
        "a read, a barrier, a write of another group's element",
        Reports,
        2,
        "z[i] = y[(i + 64) % 128]; sync_threads(); y[i] = 1;",
        Fault("race"),
    ),
    case(
        "OpenCL/inter_group_and_barrier_flag_tests/fail/bad_write_then_read",
        "a write, a barrier, a read of another group's element",
        Reports,
        2,
        "y[i] = 1; sync_threads(); z[i] = y[(i + 64) % 128];",
        Fault("race"),
    ),
    case(
        "OpenCL/inter_group_and_barrier_flag_tests/fail/local_id",
        "groups write at the place of the work-item in its group",
        Reports,
        2,
        "y[t] = i as u32;",
        Fault("race"),
    ),
    differs(
        case(
            "OpenCL/inter_group_and_barrier_flag_tests/fail/missing_global_barrier_flag",
            "global memory, and a barrier for local memory",
            Reports,
            1,
            "y[t] = 1; sync_threads(); z[t] = y[63 - t];",
            Clean,
        ),
        ONE_BARRIER,
    ),
    differs(
        case(
            "OpenCL/inter_group_and_barrier_flag_tests/fail/missing_local_barrier_flag",
            "local memory, and a barrier for global memory",
            Reports,
            1,
            "s[t] = 1; sync_threads(); y[t] = s[63 - t];",
            Clean,
        ),
        ONE_BARRIER,
    ),
    differs(
        case(
            "OpenCL/inter_group_and_barrier_flag_tests/fail/no_barrier_flags",
            "local memory, and a barrier for no memory",
            Reports,
            1,
            "s[t] = i as u32; sync_threads(); s[(t + 1) % 64] = i as u32;",
            Clean,
        ),
        ONE_BARRIER,
    ),
    differs(
        case(
            "OpenCL/inter_group_and_barrier_flag_tests/fail/sync_within_group_wrong_flag",
            "writes of a group's global elements, and a barrier for local memory",
            Reports,
            2,
            "y[i] = i as u32; sync_threads(); if t < 63 { y[i + 1] = i as u32; }",
            Clean,
        ),
        ONE_BARRIER,
    ),
    case(
        "OpenCL/inter_group_and_barrier_flag_tests/fail/sync",
        "a barrier, as if it were for all groups",
        Reports,
        2,
        "y[i] = 1; sync_threads(); z[i] = y[127 - i];",
        Fault("race"),
    ),
    case(
        "OpenCL/inter_group_and_barrier_flag_tests/pass/global_barrier",
        "the same, and a barrier for global memory",
        Accepts,
        2,
        "y[i] = i as u32; sync_threads(); if t < 63 { y[i + 1] = i as u32; }",
        Clean,
    ),
    differs(
        case(
            "OpenCL/inter_group_and_barrier_flag_tests/pass/pass_due_to_intra_group_flag",
            "groups write at one place, and races within groups alone are asked about",
            Accepts,
            2,
            "y[t] = i as u32;",
            Fault("race"),
        ),
        BETWEEN_BLOCKS,
    ),
    differs(
        case(
            "OpenCL/inter_group_and_barrier_flag_tests/pass/local_id_benign_write_write",
            "groups write the same value at one place",
            Accepts,
            2,
            "y[t] = t as u32;",
            Fault("race"),
        ),
        BENIGN,
    ),
    case(
        "OpenCL/inter_group_and_barrier_flag_tests/pass/read_then_write",
        "a read, a barrier, a write within the group",
        Accepts,
        2,
        "z[i] = y[block_idx().x * 64 + 63 - t]; sync_threads(); y[i] = 1;",
        Clean,
    ),
    case(
        "OpenCL/inter_group_and_barrier_flag_tests/pass/sync_within_group",
        "a write, a barrier, a read within the group",
        Accepts,
        2,
        "y[i] = 1; sync_threads(); z[i] = y[block_idx().x * 64 + 63 - t];",
        Clean,
    ),
    case("CUDA/threadfence and OpenCL/mem_fence", "a fence alone", Accepts, 2, "fence_block(); fence_device();", Clean),
];
