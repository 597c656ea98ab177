// test ir built
// test ir legal
// test opencl
// test rust
use warpwright::prelude::*;

/// Early return, labelled breaks, a `loop` with a value, `match` with guards.
#[kernel]
pub fn exits(n: u32, y: &mut Global<u32>) {
    let i = global_id().x;
    if i >= y.len() {
        return;
    }
    let mut steps = 0;
    'outer: for j in 0..n {
        for k in 0..j {
            if j * k == i as u32 {
                break 'outer;
            }
            if k > 7 {
                continue 'outer;
            }
            steps += 1;
        }
    }
    let found = loop {
        steps = if steps % 2 == 0 { steps / 2 } else { 3 * steps + 1 };
        if steps < 4 {
            break steps;
        }
    };
    y[i] = match found {
        0 => n,
        1..=2 if n > 3 => 7,
        other => other + 1,
    };
}
