//! Divergence, loops and their exits, against the same loops in Rust for each thread.

use super::*;

/// Runs a body over 70 threads in two blocks (a partial warp in each) of 35; each stores `v99` to `m0[global id]`.
#[track_caller]
fn check(body: &str, expected: impl Fn(u32) -> u32) {
    let text = format!(
        "kernel \"k\" legal
param m0 \"y\": global mut [u32]
{{
  v0: u32 = thread_idx.x
  v1: u32 = block_idx.x
  v2: u32 = block_dim.x
  v3: u32 = mul_add v1, v2, v0
  v10: u32 = const 0
  v11: u32 = const 1
  v12: u32 = const 2
  v13: u32 = const 3
  v14: u32 = const 10
{body}
  store m0[v3], v99
  return
}}
"
    );
    let mut y = vec![7777; 70];
    run(&text, 2, 35, &mut y).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    let expected: Vec<u32> = (0..70).map(expected).collect();
    assert_eq!(y, expected, "{text}");
}

#[test]
fn branches_part_and_meet() {
    check(
        "  v20: u32 = rem v3, v13
  v21: bool = eq v20, v10
  v99: u32 = if v21 {
    v22: u32 = mul v3, v14
    yield v22
  } else {
    v23: bool = eq v20, v11
    v24: u32 = if v23 {
      v25: u32 = add v3, v14
      yield v25
    } else {
      yield v14
    }
    yield v24
  }",
        |i| match i % 3 {
            0 => i * 10,
            1 => i + 10,
            _ => 10,
        },
    );
}

#[test]
fn a_for_runs_each_lane_its_own_number_of_times() {
    check(
        "  v99: u32 = for i1 (v20: u32 in v10..v3 step v13; v21: u32 = v11) {
    v22: u32 = mul_add v21, v13, v20
    yield v22
  }",
        |i| (0..i).step_by(3).fold(1, |acc: u32, k| acc.wrapping_mul(3).wrapping_add(k)),
    );
}

#[test]
fn carried_values_swap() {
    check(
        "  v98: u32, v99: u32 = for i1 (v20: u32 in v10..v3 step v11; v21: u32 = v11, v22: u32 = v14) {
    yield v22, v21
  }",
        |i| if i % 2 == 0 { 10 } else { 1 },
    );
}

#[test]
fn breaks_and_continues_in_nested_loops() {
    check(
        "  v99: u32 = for i1 (v20: u32 in v10..v3 step v11; v21: u32 = v10) {
    v22: u32 = rem v20, v13
    v23: bool = eq v22, v11
    if v23 {
      continue i1 v21
    }
    v24: u32 = for i2 (v25: u32 in v10..v20 step v12; v26: u32 = v21) {
      v27: u32 = add v26, v25
      v28: bool = gt v27, v3
      if v28 {
        v29: bool = gt v25, v14
        if v29 {
          break i1 v27
        }
        break i2 v27
      }
      yield v27
    }
    yield v24
  }",
        |i| {
            let mut acc = 0;
            'outer: for a in 0..i {
                if a % 3 == 1 {
                    continue;
                }
                for b in (0..a).step_by(2) {
                    acc += b;
                    if acc > i {
                        if b > 10 {
                            break 'outer;
                        }
                        break;
                    }
                }
            }
            acc
        },
    );
}

#[test]
fn an_endless_loop_ends_by_break_with_its_own_type() {
    check(
        "  v98: bool = loop i1 (v20: u32 = v3, v21: u32 = v10) {
    v22: bool = le v20, v11
    if v22 {
      v23: bool = gt v21, v14
      break i1 v23
    }
    v24: u32 = add v21, v11
    v25: u32 = and v20, v11
    v26: bool = eq v25, v10
    if v26 {
      v27: u32 = shr v20, v11
      continue i1 v27, v24
    }
    v28: u32 = mul_add v20, v13, v11
    yield v28, v24
  }
  v99: u32 = cast v98",
        |i| {
            let (mut n, mut steps) = (i, 0);
            while n > 1 {
                n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
                steps += 1;
            }
            u32::from(steps > 10)
        },
    );
}

#[test]
fn regions_are_left_from_inside_loops() {
    check(
        "  v99: u32 = region i1 {
    v20: u32 = for i2 (v21: u32 in v10..v14 step v11; v22: u32 = v10) {
      v23: u32 = mul v21, v21
      v24: bool = gt v23, v3
      if v24 {
        break i1 v21
      }
      yield v21
    }
    yield v20
  }",
        |i| (0..10).find(|k| k * k > i).unwrap_or(9),
    );
}

#[test]
fn returned_threads_stay_away() {
    let text = "kernel \"k\" legal
param m0 \"y\": global mut [u32]
{
  v0: u32 = thread_idx.x
  v1: u32 = const 1
  v2: u32 = const 10
  v3: u32 = and v0, v1
  v4: bool = eq v3, v1
  v9: u32 = for i1 (v5: u32 in v1..v2 step v1; v6: u32 = v0) {
    v7: bool = eq v5, v0
    if v7 {
      if v4 {
        return
      }
      break i1 v2
    }
    yield v6
  }
  store m0[v0], v9
  return
}
";
    let mut y = vec![99; 32];
    run(text, 1, 32, &mut y).unwrap();
    let expected: Vec<u32> = (0..32)
        .map(|i| {
            if i == 0 || i > 9 {
                i
            } else if i % 2 == 1 {
                99
            } else {
                10
            }
        })
        .collect();
    assert_eq!(y, expected);
}

#[test]
fn a_for_ends_where_its_type_does() {
    // 250, 253 of u8; the next would wrap. -128..127 by 100 of i8: -128, -28, 72.
    let text = "kernel \"k\" legal
param m0 \"y\": global mut [u32]
{
  v0: u32 = thread_idx.x
  v1: u8 = const 250
  v2: u8 = const 255
  v3: u8 = const 3
  v4: i8 = const -128
  v5: i8 = const 127
  v6: i8 = const 100
  v7: u32 = const 0
  v8: u32 = const 1
  v9: u32 = for i1 (v10: u8 in v1..v2 step v3; v11: u32 = v7) {
    v12: u32 = add v11, v8
    yield v12
  }
  v13: u32 = for i2 (v14: i8 in v4..v5 step v6; v15: u32 = v9) {
    v16: u32 = add v15, v8
    yield v16
  }
  store m0[v0], v13
  return
}
";
    let mut y = vec![0; 1];
    run(text, 1, 1, &mut y).unwrap();
    assert_eq!(y, [2 + 3]);
}

#[test]
fn a_step_that_does_not_advance_and_an_endless_loop_are_faults() {
    let text = |body: &str| {
        format!(
            "kernel \"k\" legal\nfile \"k.rs\"\nparam m0 \"y\": global mut [u32]\n{{\n  v0: u32 = thread_idx.x\n  v1: u32 = const 10\n  v2: u32 = const 3
{body}\n  return\n}}\n"
        )
    };
    let mut y = vec![0u32; 1];
    let step = fault(run(&text("  v3: u32 = sub v2, v0\n  for i1 (v4: u32 in v0..v1 step v3) @5:9 {\n    yield\n  }"), 1, 8, &mut y));
    assert_eq!((step.kind.clone(), step.thread, step.line), (FaultKind::Step { step: 0 }, [3, 0, 0], 5));
    let limited = |body: &str| {
        let limited = program(&text(body), SimOptions { loop_limit: 100_000, ..SimOptions::default() });
        let mut bytes = vec![0; 4];
        fault(limited.run(&launch(1, 1), &mut [SimArgument::Global { bytes: &mut bytes }]))
    };
    let endless = limited("  loop i1 () @6:5 {\n    yield\n  }");
    assert_eq!((endless.kind, endless.line), (FaultKind::EndlessLoop, 6));
    // One that counts, or writes, may end some day.
    let counting = limited("  v3: u32 = loop i1 (v4: u32 = v0) @6:5 {\n    v5: u32 = add v4, v1\n    yield v5\n  }");
    assert_eq!((counting.kind.clone(), counting.line), (FaultKind::LoopLimit { limit: 100_000 }, 6));
    assert!(counting.to_string().contains("100000 times") && counting.to_string().contains("`WARPWRIGHT_LOOP_LIMIT`"), "{counting}");
    let writing = limited("  loop i1 () @6:5 {\n    store m0[v0], v2\n    yield\n  }");
    assert_eq!(writing.kind, FaultKind::LoopLimit { limit: 100_000 });
}

#[test]
fn counters_follow_masks() {
    let text = "kernel \"k\" legal
file \"k.rs\"
param m0 \"y\": global mut [u32]
{
  v0: u32 = thread_idx.x @1:1
  v1: u32 = const 8
  v2: bool = lt v0, v1 @2:1
  if v2 @2:1 {
    v3: u32 = add v0, v1 @3:1
    yield
  } else {
    v4: u32 = mul v0, v0 @4:1
    v5: u32 = mul v4, v0 @4:1
    yield
  }
  v6: u32 = sub v0, v0 @5:1
  return @6:1
}
";
    let counters = run(text, 1, 64, &mut vec![0u32; 1]).unwrap();
    let figures = |line: u32| {
        let tally = counters.line(line).unwrap();
        (tally.total_warp_instructions(), tally.total_thread_instructions(), tally.divergent_branches)
    };
    assert_eq!(figures(2), (4, 128, 1));
    assert_eq!(figures(3), (1, 8, 0));
    assert_eq!(figures(4), (4, 2 * 56, 0));
    assert_eq!(figures(5), (2, 64, 0));
    assert_eq!(counters.threads, 64);
    assert!(counters.to_string().contains("k.rs:4"), "{counters}");
}

#[test]
fn counters_forget_lanes_that_left() {
    let text = "kernel \"k\" legal
file \"k.rs\"
param m0 \"y\": global mut [u32]
{
  v0: u32 = thread_idx.x
  v1: u32 = const 8
  v2: bool = lt v0, v1
  v3: u32 = const 0
  v4: u32 = const 1
  if v2 {
    return
  }
  v5: u32 = sub v0, v0 @5:1
  for i1 (v6: u32 in v3..v1 step v4) {
    v7: bool = eq v6, v0
    v8: u32 = const 2
    v9: u32 = rem v0, v8
    v10: bool = eq v9, v3
    if v10 {
      break i1
    }
    v11: u32 = mul v0, v0 @6:1
    yield
  }
  v12: u32 = mul v0, v0 @7:1
  return
}
";
    let counters = run(text, 1, 32, &mut vec![0u32; 1]).unwrap();
    let threads = |line: u32| counters.line(line).unwrap().total_thread_instructions();
    assert_eq!((threads(5), threads(6), threads(7)), (24, 8 * 12, 24));
}

#[test]
fn a_barrier_that_whole_warps_pass_by_is_a_fault() {
    let text = "kernel \"k\" legal
param m0 \"y\": global mut [u32]
{
  v0: u32 = thread_idx.x
  v1: u32 = const 32
  v2: bool = lt v0, v1
  if v2 {
    call sync_threads
    yield
  }
  store m0[v0], v0
  return
}
";
    let mut y = vec![0; 64];
    let fault = run(text, 1, 64, &mut y).unwrap_err().to_string();
    assert!(fault.contains("divergent barrier: 32 of the block's 64"), "{fault}");
    assert!(run(text, 1, 32, &mut y[..32].to_vec()).is_ok(), "a block that all goes there passes");
}
