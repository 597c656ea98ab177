// ---- `ilp` of a loop that needs what its last iteration computed
#[kernel(block = 256)]
fn filtered(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut state = 1.0;
    #[ilp(4)]
    for k in 0..n {
        state = state * 0.5 + x[k];
    }
    y[i] = state;
}
// ---- `ilp` of a loop that reads what its last iteration wrote
#[kernel(block = 256)]
fn scan(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let row = global_id().x * n;
    #[ilp(4)]
    for k in 1..n {
        y[row + k] = y[row + k - 1] + x[row + k];
    }
}
// ---- `ilp` of a loop whose stores may meet
#[kernel(block = 256)]
fn scatter(n: usize, at: &Global<u32>, y: &mut Global<f32>) {
    #[ilp(4)]
    for k in 0..n {
        y[at[k] as usize] = 1.0;
    }
}
// ---- `ilp` of a loop that gathers in a buffer instead of a variable
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    #[ilp(4)]
    for k in 0..n {
        y[i] += x[k];
    }
}
// ---- `ilp` of a loop with a barrier
#[kernel(block = 256)]
fn reversed(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut part: [f32; 256];
    let t = thread_idx().x;
    #[ilp(2)]
    for k in 0..n {
        part[t] = x[k * 256 + t];
        sync_threads();
        y[k * 256 + t] = part[255 - t];
        sync_threads();
    }
}
// ---- `ilp` of a loop that ends early
#[kernel(block = 256)]
fn prefix(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let row = global_id().x * n;
    #[ilp(4)]
    for k in 0..n {
        if x[row + k] < 0.0 {
            break;
        }
        y[row + k] = 1.0;
    }
}
// ---- `unroll` of a loop of which nobody knows how often it runs
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[unroll]
    for k in 0..n {
        sum += x[k];
    }
    y[i] = sum;
}
// ---- `unroll` by more than there are iterations
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[unroll(8)]
    for k in 0..4 {
        sum += x[4 * i + k];
    }
    y[i] = sum;
}
// ---- `unroll` that makes too large a kernel
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[unroll]
    for k in 0..100_000 {
        sum += x[k];
    }
    y[i] = sum;
}
// ---- `batch_loads` where nothing is loaded
#[kernel(block = 256)]
fn fill(n: usize, y: &mut Global<f32>) {
    let row = global_id().x * n;
    #[batch_loads]
    for k in 0..n {
        y[row + k] = k as f32;
    }
}
// ---- `batch_loads` over a store that may be to the same element
#[kernel(block = 256)]
fn scatter(n: usize, at: &Global<u32>, y: &mut Global<f32>) {
    let i = global_id().x;
    #[batch_loads]
    for k in 0..n {
        y[at[k] as usize] = 1.0;
        y[i] += y[k];
    }
}
// ---- `batch_loads` over a barrier
#[kernel(block = 256)]
fn weighted(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut part: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[batch_loads]
    for k in 0..n {
        part[t] = x[k * 256 + t];
        sync_threads();
        sum += part[255 - t] * y[k];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- `batch_loads` over a `break`
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[batch_loads]
    for k in 0..n {
        if x[k] < 0.0 {
            break;
        }
        sum += x[n + k];
    }
    y[i] = sum;
}
// ---- `batch_loads` on the outer of two loops
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[batch_loads]
    for k in 0..n {
        for j in 0..n {
            sum += x[k * n + j];
        }
    }
    y[i] = sum;
}
// ---- `batch_loads` of a load whose place only its condition knows
#[kernel(block = 256)]
fn queue(n: usize, x: &Global<f32>, next: &mut Global<u32>, y: &mut Global<f32>) {
    let mut sum = 0.0;
    #[batch_loads]
    for k in 0..n {
        if x[k] > 0.0 {
            let at = next.atomic_add(0, 1);
            sum += x[at as usize];
        }
    }
    y[global_id().x] = sum;
}
// ---- `batch_loads` of a load whose place is a quotient
#[kernel(block = 256)]
fn rows(n: usize, width: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let mut sum = 0.0;
    #[batch_loads]
    for k in 0..n {
        if width > 0 {
            sum += x[k / width];
        }
    }
    y[global_id().x] = sum;
}
// ---- `prefetch` of a load whose place is a remainder by a signed number
#[kernel(block = 256)]
fn columns(n: i32, width: i32, x: &Global<f32>, y: &mut Global<f32>) {
    let mut sum = 0.0;
    #[prefetch]
    for k in 0..n {
        sum += x[(k % width) as usize];
    }
    y[global_id().x] = sum;
}
// ---- `prefetch` of places that each iteration computes anew
#[kernel(block = 256)]
fn walk(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let mut at = global_id().x;
    let mut sum = 0.0;
    #[prefetch]
    for k in 0..n {
        sum += x[at];
        at = at * 5 + k;
    }
    y[global_id().x] = sum;
}
// ---- `prefetch` of a buffer that other threads write
#[kernel(block = 256)]
fn reversed(n: usize, y: &mut Global<f32>) {
    #[shared]
    let mut part: [f32; 256];
    let t = thread_idx().x;
    #[prefetch]
    for k in 0..n {
        part[t] = y[k * 256 + t];
        sync_threads();
        y[k * 256 + t] = part[255 - t];
        sync_threads();
    }
}
// ---- `prefetch` of a loop that has no next iteration
#[kernel(block = 256)]
fn first(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let mut sum = 0.0;
    #[prefetch]
    for k in 0..n {
        sum += x[k];
        break;
    }
    y[global_id().x] = sum;
}
// ---- Vectors of more than 16 bytes
#[kernel(block = 256)]
fn doubled(x: &Global<f64>, y: &mut Global<f64>) {
    let base = global_id().x * 64;
    #[vectorize(4)]
    for k in 0..64 {
        y[base + k] = 2.0 * x[base + k];
    }
}
// ---- Vectors that begin one element too late
#[kernel(block = 256)]
fn shifted(x: &Global<f32>, y: &mut Global<f32>) {
    let base = global_id().x * 64;
    #[vectorize(4)]
    for k in 0..60 {
        y[base + k] = x[base + k + 1];
    }
}
// ---- Vectors of which nobody knows where they begin
#[kernel(block = 256)]
fn doubled(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let row = global_id().x * n;
    #[vectorize(4)]
    for k in 0..n {
        y[row + k] = 2.0 * x[row + k];
    }
}
// ---- Vectors of every other element
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    let base = global_id().x * 64;
    #[vectorize(2)]
    for k in 0..32 {
        y[base + 2 * k] = 1.0;
    }
}
// ---- Vectors of gathered elements
#[kernel(block = 256)]
fn gather(at: &Global<u32>, x: &Global<f32>, y: &mut Global<f32>) {
    let base = global_id().x * 64;
    #[vectorize(4)]
    for k in 0..64 {
        y[base + k] = x[at[base + k] as usize];
    }
}
// ---- Vectors under a condition
#[kernel(block = 256)]
fn positive(x: &Global<f32>, y: &mut Global<f32>) {
    let base = global_id().x * 64;
    #[vectorize(4)]
    for k in 0..64 {
        if x[base + k] > 0.0 {
            y[base + k] = x[base + k];
        }
    }
}
// ---- `vectorize` of a loop that accesses nothing in a row
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[vectorize(4)]
    for k in 0..64 {
        sum += x[i] * k as f32;
    }
    y[i] = sum;
}
// ---- Vectors longer than the loop
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    let base = global_id().x * 4;
    #[vectorize(4)]
    for k in 0..3 {
        y[base + k] = 1.0;
    }
}
// ---- An annotation that cannot be kept, with `best_effort`
#[kernel(block = 256)]
fn filtered(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut state = 1.0;
    #[ilp(4, best_effort)]
    for k in 0..n {
        state = state * 0.5 + x[k];
    }
    y[i] = state;
}
