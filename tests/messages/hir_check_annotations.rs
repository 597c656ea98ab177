// ---- A loop that is to stay rolled, and to run four iterations at a time
#[kernel(block = 256)]
fn column_sums(rows: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[unroll(1)]
    #[ilp(4)]
    for k in 0..rows {
        sum += x[k * 256 + i];
    }
    y[i] = sum;
}

// ---- An unroll factor that a constant makes too large
const ROWS: usize = 2048;

#[kernel(block = 256)]
fn column_sums(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[unroll(ROWS)]
    for k in 0..ROWS {
        sum += x[k * 256 + i];
    }
    y[i] = sum;
}

// ---- An unroll factor that is a parameter of the kernel
#[kernel(block = 256)]
fn column_sums(rows: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[unroll(rows)]
    for k in 0..rows {
        sum += x[k * 256 + i];
    }
    y[i] = sum;
}

// ---- A shared array that is both padded and swizzled
#[kernel(block = (32, 32))]
fn transpose(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(pad = 1, swizzle)]
    let mut tile: [[f32; 32]; 32];
    let t = thread_idx();
    tile[t.y][t.x] = x[t.y * 32 + t.x];
    sync_threads();
    y[t.y * 32 + t.x] = tile[t.x][t.y];
}

// ---- Padding for an array of one dimension
#[kernel(block = 256)]
fn reverse(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(pad = 1)]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    tile[t] = x[t];
    sync_threads();
    y[t] = tile[255 - t];
}

// ---- Padding for a shared number
#[kernel(block = 256)]
fn first(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(pad = 1)]
    let mut value: f32;
    if thread_idx().x == 0 {
        value = x[0];
    }
    sync_threads();
    y[thread_idx().x] = value;
}

// ---- A swizzled array whose rows have no power of two of elements
#[kernel(block = (24, 24))]
fn transpose(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(swizzle)]
    let mut tile: [[f32; 24]; 24];
    let t = thread_idx();
    tile[t.y][t.x] = x[t.y * 24 + t.x];
    sync_threads();
    y[t.y * 24 + t.x] = tile[t.x][t.y];
}

// ---- A swizzled array of pairs
#[kernel(block = (16, 16))]
fn transpose(x: &Global<(f32, f32)>, y: &mut Global<(f32, f32)>) {
    #[shared(swizzle)]
    let mut tile: [[(f32, f32); 16]; 16];
    let t = thread_idx();
    tile[t.y][t.x] = x[t.y * 16 + t.x];
    sync_threads();
    y[t.y * 16 + t.x] = tile[t.x][t.y];
}

// ---- A swizzle over more bytes than a row has
#[kernel(block = (16, 16))]
fn transpose(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(swizzle = 128)]
    let mut tile: [[f32; 16]; 16];
    let t = thread_idx();
    tile[t.y][t.x] = x[t.y * 16 + t.x];
    sync_threads();
    y[t.y * 16 + t.x] = tile[t.x][t.y];
}

// ---- A swizzle over bytes of an array whose rows are no multiple of eight
#[kernel(block = (32, 12))]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(swizzle = 128)]
    let mut tile: [[f32; 32]; 12];
    let t = thread_idx();
    tile[t.y][t.x] = x[t.y * 32 + t.x];
    sync_threads();
    y[t.y * 32 + t.x] = tile[11 - t.y][t.x];
}

// ---- A swizzle over bytes of an array whose rows the launch counts
#[kernel(block = (32, 8))]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic, swizzle = 128)]
    let mut tile: [[f32; 32]];
    let t = thread_idx();
    tile[t.y][t.x] = x[t.y * 32 + t.x];
    sync_threads();
    y[t.y * 32 + t.x] = tile[7 - t.y][t.x];
}

// ---- A swizzle over bytes of an array of indices
#[kernel(block = (32, 8))]
fn order(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared(swizzle = 128)]
    let mut places: [[usize; 32]; 8];
    let t = thread_idx();
    places[t.y][t.x] = x[t.y * 32 + t.x] as usize;
    sync_threads();
    y[t.y * 32 + t.x] = places[7 - t.y][t.x] as u32;
}
