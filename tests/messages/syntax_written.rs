// ---- The number of an annotation behind `=`
#[kernel(block = 256)]
fn sum(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[unroll = 4]
    for k in 0..16 {
        sum += x[k * y.len() + i];
    }
    y[i] = sum;
}

// ---- An annotation of a kernel with nothing behind `=`
#[kernel(block = 256, ilp =)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- A pipeline of a depth instead of stages
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let mut sum = 0.0;
    #[pipeline(depth = 3)]
    for k in 0..x.len() / 256 {
        load_run(&mut run, x, k * 256);
        sync_threads();
        sum += run[255 - thread_idx().x];
        sync_threads();
    }
    y[global_id().x] = sum;
}

// ---- The stages of a pipeline without their name
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let mut sum = 0.0;
    #[pipeline(3)]
    for k in 0..x.len() / 256 {
        load_run(&mut run, x, k * 256);
        sync_threads();
        sum += run[255 - thread_idx().x];
        sync_threads();
    }
    y[global_id().x] = sum;
}

// ---- A misspelt modifier
#[kernel(block = 256, ilp(4, best_efort))]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- A modifier of another annotation
#[kernel(block = 256, ilp(4, assume_aligned))]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- A modifier given twice
#[kernel(block = 256, vectorize(4, assume_aligned, assume_aligned))]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- Two numbers for one annotation
#[kernel(block = 256)]
fn sum(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[unroll(4, 2)]
    for k in 0..16 {
        sum += x[k * y.len() + i];
    }
    y[i] = sum;
}

// ---- A pipeline by something that copies nothing
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let mut sum = 0.0;
    #[pipeline(stages = 3, by = memcpy_async)]
    for k in 0..x.len() / 256 {
        load_run(&mut run, x, k * 256);
        sync_threads();
        sum += run[255 - thread_idx().x];
        sync_threads();
    }
    y[global_id().x] = sum;
}

// ---- A pipeline by a number
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let mut sum = 0.0;
    #[pipeline(stages = 3, by = 16)]
    for k in 0..x.len() / 256 {
        load_run(&mut run, x, k * 256);
        sync_threads();
        sum += run[255 - thread_idx().x];
        sync_threads();
    }
    y[global_id().x] = sum;
}

// ---- A pipeline by two things at once
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let mut sum = 0.0;
    #[pipeline(stages = 3, by = registers, by = cp_async)]
    for k in 0..x.len() / 256 {
        load_run(&mut run, x, k * 256);
        sync_threads();
        sum += run[255 - thread_idx().x];
        sync_threads();
    }
    y[global_id().x] = sum;
}

// ---- `producer` given twice
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let mut sum = 0.0;
    #[pipeline(stages = 3, producer, producer = true)]
    for k in 0..x.len() / 256 {
        load_run(&mut run, x, k * 256);
        sync_threads();
        sum += run[255 - thread_idx().x];
        sync_threads();
    }
    y[global_id().x] = sum;
}

// ---- A number of producers
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let mut sum = 0.0;
    #[pipeline(stages = 3, producer = 1)]
    for k in 0..x.len() / 256 {
        load_run(&mut run, x, k * 256);
        sync_threads();
        sum += run[255 - thread_idx().x];
        sync_threads();
    }
    y[global_id().x] = sum;
}

// ---- An annotation without its number
#[kernel(block = 256)]
fn sum(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[ilp]
    for k in 0..16 {
        sum += x[k * y.len() + i];
    }
    y[i] = sum;
}

// ---- Unrolled no times
#[kernel(block = 256)]
fn sum(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[unroll(0)]
    for k in 0..16 {
        sum += x[k * y.len() + i];
    }
    y[i] = sum;
}

// ---- Vectors of three elements
#[kernel(block = 256, vectorize = 3)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- A number for an annotation that takes none
#[kernel(block = 256)]
fn sum(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[prefetch(2)]
    for k in 0..16 {
        sum += x[k * y.len() + i];
    }
    y[i] = sum;
}

// ---- A `bool` for an annotation that takes a number
#[kernel(block = 256, ilp = true)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- A `while` that is to be unrolled
#[kernel(block = 256)]
fn sum(x: &Global<f32>, y: &mut Global<f32>) {
    let mut k = global_id().x;
    let mut sum = 0.0;
    #[unroll(4)]
    while k < x.len() {
        sum += x[k];
        k += grid_dim().x * 256;
    }
    y[global_id().x] = sum;
}
// ---- A number with a name where it has none
#[kernel(block = 256, ilp(n = 4))]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}
