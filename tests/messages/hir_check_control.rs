// ---- A function inside a kernel
#[kernel(block = 256)]
fn squares(x: &Global<f32>, y: &mut Global<f32>) {
    fn square(a: f32) -> f32 {
        a * a
    }
    let i = global_id().x;
    y[i] = x[i];
}

// ---- A `let … else` that goes on
#[kernel(block = 256)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let (true, value) = (i < x.len(), x[i]) else {
        y[i] = 0.0;
    };
    y[i] = value;
}

// ---- A shared array declared by its value
#[kernel(block = 256)]
fn reverse(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile = [0.0f32; 256];
    let t = thread_idx().x;
    tile[t] = x[t];
    sync_threads();
    y[t] = tile[255 - t];
}

// ---- Two shared arrays in one `let`
#[kernel(block = 256)]
fn reverse(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let (mut a, mut b): ([f32; 256], [f32; 256]);
    let t = thread_idx().x;
    y[t] = x[255 - t];
}

// ---- A shared array with initial values
#[kernel(block = 256)]
fn reverse(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256] = [0.0; 256];
    let t = thread_idx().x;
    tile[t] = x[t];
    sync_threads();
    y[t] = tile[255 - t];
}

// ---- A dynamic shared array whose rows have no length either
#[kernel(block = 256)]
fn reverse(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic)]
    let mut tile: [[f32]];
    let t = thread_idx().x;
    tile[0][t] = x[t];
    sync_threads();
    y[t] = tile[0][255 - t];
}

// ---- A shared array without a length
#[kernel(block = 256)]
fn reverse(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32];
    let t = thread_idx().x;
    tile[t] = x[t];
    sync_threads();
    y[t] = tile[255 - t];
}

// ---- A dynamic shared array with a length
#[kernel(block = 256)]
fn reverse(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic)]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    tile[t] = x[t];
    sync_threads();
    y[t] = tile[255 - t];
}

// ---- An accumulator in shared memory
#[kernel(block = 128)]
fn zeros(y: &mut Global<f32>) {
    #[shared]
    let mut sums: Accumulator<f32, 64, 64>;
    y[global_id().x] = 0.0;
}

// ---- A `match` without arms
#[kernel(block = 256)]
fn modes(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = match x[i] {};
}

// ---- A loop over a buffer's elements
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    let mut sum = 0.0;
    for value in x {
        sum += value;
    }
    y[global_id().x] = sum;
}

// ---- A loop over a range without an end
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    let mut sum = 0.0;
    for k in 0.. {
        sum += x[k];
    }
    y[global_id().x] = sum;
}

// ---- A loop with a step of zero
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    let mut sum = 0.0;
    for k in (0..x.len()).step_by(0) {
        sum += x[k];
    }
    y[global_id().x] = sum;
}

// ---- Steps backwards through a range of 64 bits
#[kernel(block = 256)]
fn sums(n: u64, x: &Global<f32>, y: &mut Global<f32>) {
    let mut sum = 0.0;
    for k in (0..n).step_by(2).rev() {
        sum += x[k as usize];
    }
    y[global_id().x] = sum;
}

// ---- Steps backwards through a range with its last number
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let mut sum = 0.0;
    for k in (0..=n).step_by(2).rev() {
        sum += x[k];
    }
    y[global_id().x] = sum;
}

// ---- `break` where there is no loop
#[kernel(block = 256)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i >= x.len() {
        break;
    }
    y[i] = x[i];
}

// ---- `break` with a value out of a `for`
#[kernel(block = 256)]
fn find(x: &Global<f32>, y: &mut Global<u32>) {
    for k in 0..x.len() {
        if x[k] == 0.0 {
            break k;
        }
    }
    y[global_id().x] = 1;
}

// ---- `continue` with the label of a block
#[kernel(block = 256)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    'guarded: {
        if i >= x.len() {
            continue 'guarded;
        }
        y[i] = x[i];
    }
}
// ---- `break` with a label that there is not
#[kernel(block = 256)]
fn search(n: usize, x: &Global<f32>, y: &mut Global<u32>) {
    let mut steps = 0;
    'rows: for row in 0..n {
        for column in 0..n {
            if x[row * n + column] < 0.0 {
                break 'row;
            }
            steps += 1;
        }
    }
    y[global_id().x] = steps;
}

// ---- A step that is a constant, and 0
const STRIDE: usize = 0;
#[kernel(block = 256)]
fn strided(x: &Global<f32>, y: &mut Global<f32>) {
    let mut sum = 0.0;
    for k in (0..x.len()).step_by(STRIDE) {
        sum += x[k];
    }
    y[global_id().x] = sum;
}

// ---- A function that promises not to return, and does
#[device]
fn failed(code: u32) -> ! {
    code + 1
}
#[kernel(block = 256)]
fn one(y: &mut Global<u32>) {
    let i = global_id().x;
    if i >= y.len() {
        failed(2);
    }
    y[i] = 1;
}

// ---- Shared arrays that are larger than any memory
#[kernel(block = 256)]
fn turned(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 256]; 67108864];
    let t = thread_idx().x;
    tile[0][t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = tile[0][255 - t];
}

// ---- Elements of dynamic shared memory that are larger than a block's
#[kernel(block = 256)]
fn pages(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic)]
    let mut page: [[f32; 65536]];
    let t = thread_idx().x;
    page[0][t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = page[0][255 - t];
}

// ---- A second name of a buffer
#[kernel(block = 256)]
fn clear(y: &mut Global<f32>) {
    let out = y;
    out[global_id().x] = 0.0;
}

// ---- A `return` with a value, from a function that gives none
#[device]
fn limited(v: i32) {
    if v > 3 {
        return 5;
    }
}
#[kernel(block = 256)]
fn limit(y: &mut Global<i32>) {
    limited(y[global_id().x]);
}

// ---- A `return` with a value, from a kernel
#[kernel(block = 256)]
fn limit(y: &mut Global<i32>) {
    let i = global_id().x;
    if y[i] > 3 {
        return 5;
    }
    y[i] = 3;
}

// ---- A `return` without the value that the function gives
#[device]
fn limited(v: i32) -> i32 {
    if v > 3 {
        return;
    }
    v
}
#[kernel(block = 256)]
fn limit(y: &mut Global<i32>) {
    let i = global_id().x;
    y[i] = limited(y[i]);
}

// ---- A function that gives its value in one case
#[device]
fn limited(v: i32) -> i32 {
    if v > 3 {
        return 5;
    }
}
#[kernel(block = 256)]
fn limit(y: &mut Global<i32>) {
    let i = global_id().x;
    y[i] = limited(y[i]);
}

// ---- A function that gives its value in a loop
#[device]
fn first(v: i32) -> i32 {
    for k in 0..v {
        if k * k > v {
            return k;
        }
    }
}
#[kernel(block = 256)]
fn firsts(y: &mut Global<i32>) {
    let i = global_id().x;
    y[i] = first(y[i]);
}

// ---- An `if` that gives a value, without an `else`
#[device]
fn limited(v: i32) -> i32 {
    if v > 3 {
        5
    }
}
#[kernel(block = 256)]
fn limit(y: &mut Global<i32>) {
    let i = global_id().x;
    y[i] = limited(y[i]);
}
