// ---- A pipeline without barriers
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for k in 0..n {
        tile[t] = x[k * 256 + t];
        sum += tile[t];
    }
    y[global_id().x] = sum;
}
// ---- A pipeline without the barrier at its end
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for k in 0..n {
        tile[t] = x[k * 256 + t];
        sync_threads();
        sum += tile[255 - t];
    }
    y[global_id().x] = sum;
}
// ---- A pipeline that copies nothing
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for k in 0..n {
        sum += x[k * 256 + t];
        sync_threads();
        sum += tile[255 - t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A pipeline that fills half of its array
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 512];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for k in 0..n {
        tile[t] = x[k * 256 + t];
        sync_threads();
        sum += tile[511 - t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A pipeline whose copies go where the data says
#[kernel(block = 256)]
fn sums(n: usize, at: &Global<u32>, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for k in 0..n {
        tile[at[t] as usize] = x[k * 256 + t];
        sync_threads();
        sum += tile[t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A pipeline whose array is filled before the loop
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    tile[t] = 0.0;
    #[pipeline(stages = 2)]
    for k in 0..n {
        tile[t] = x[k * 256 + t];
        sync_threads();
        sum += tile[255 - t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A pipeline that writes its array behind the barrier
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for k in 0..n {
        tile[t] = x[k * 256 + t];
        sync_threads();
        tile[t] *= 2.0;
        sync_threads();
        sum += tile[255 - t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A pipeline that converts while it copies
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for k in 0..n {
        tile[t] = 2.0 * x[k * 256 + t];
        sync_threads();
        sum += tile[255 - t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A pipeline that does something else than copy before its barrier
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for k in 0..n {
        tile[t] = x[k * 256 + t];
        y[k * 256 + t] = 0.0;
        sync_threads();
        sum += tile[255 - t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A pipeline that also loads into a variable
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for k in 0..n {
        let weight = x[k];
        tile[t] = x[k * 256 + t];
        sync_threads();
        sum += weight * tile[255 - t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A pipeline whose copies begin where the work says
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    let mut at = t;
    #[pipeline(stages = 2)]
    for k in 0..n {
        tile[t] = x[at];
        sync_threads();
        sum += tile[255 - t];
        at += k;
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A pipeline that copies from what it writes
#[kernel(block = 256)]
fn sums(n: usize, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for k in 0..n {
        tile[t] = y[k * 256 + t];
        sync_threads();
        y[k * 256 + t + 256] = tile[255 - t];
        sum += tile[255 - t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A pipeline of more stages than shared memory has room for
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 256]; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 4)]
    for k in 0..n {
        for row in 0..64 {
            tile[row][t] = x[(k * 64 + row) * 256 + t];
        }
        sync_threads();
        sum += tile[t % 64][255 - t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A pipeline that is left early
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for k in 0..n {
        tile[t] = x[k * 256 + t];
        sync_threads();
        if tile[0] < 0.0 {
            break;
        }
        sum += tile[255 - t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A pipeline that each thread goes round as often as it likes
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for k in 0..t {
        tile[t] = x[k * 256 + t];
        sync_threads();
        sum += tile[255 - t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A pipeline that reads its array before it is filled
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for k in 0..n {
        sum += tile[255 - t];
        sync_threads();
        tile[t] = x[k * 256 + t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A pipeline and a prefetch on one loop
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    #[prefetch]
    for k in 0..n {
        tile[t] = x[k * 256 + t];
        sync_threads();
        sum += tile[255 - t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A pipeline of single elements for the copy engine
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, by = bulk)]
    for k in 0..n {
        tile[t] = x[k * 256 + t];
        sync_threads();
        sum += tile[255 - t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A copy of the engine under a condition
#[kernel(block = 256, targets = [sm_90])]
fn sums(n: usize, a: &Matrix<f32>, b: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 32]; 8];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        if k % 2 == 0 {
            load_tile(&mut tile, a, k * 8, 0);
        } else {
            load_tile(&mut tile, b, k * 8, 0);
        }
        sync_threads();
        sum += tile[t / 32][t % 32];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A bulk copy whose length is no multiple of 16 bytes
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 101];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, by = bulk)]
    for k in 0..n {
        load_run(&mut run, x, k * 104);
        sync_threads();
        sum += run[t % 101];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A bulk copy into padded rows
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<[f32; 2]>, y: &mut Global<f32>) {
    #[shared(pad = 2)]
    let mut rows: [[f32; 2]; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, by = bulk)]
    for k in 0..n {
        load_run(&mut rows, x, k * 64);
        sync_threads();
        sum += rows[t % 64][1];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A tensor copy of rows that are too wide
#[kernel(block = 256)]
fn sums(n: usize, a: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 512]; 8];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        load_tile(&mut tile, a, k * 8, 0);
        sync_threads();
        sum += tile[t % 8][t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A tensor copy of rows that are no multiple of 16 bytes
#[kernel(block = 256)]
fn sums(n: usize, a: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 18]; 16];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        load_tile(&mut tile, a, k * 16, 0);
        sync_threads();
        sum += tile[t % 16][t % 18];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A producer of copies that depend on what is computed
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    let most = block_max(t as u32) as usize;
    #[pipeline(stages = 2, producer)]
    for k in 0..most {
        load_run(&mut run, x, k * 256);
        sync_threads();
        sum += run[255 - t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A producer beside a block that leaves it no threads
#[kernel(block = 1024)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 1024];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, producer)]
    for k in 0..n {
        load_run(&mut run, x, k * 1024);
        sync_threads();
        sum += run[1023 - t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A producer in a kernel whose threads return early
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, producer)]
    for k in 0..n {
        load_run(&mut run, x, k * 256);
        sync_threads();
        sum += run[255 - t];
        sync_threads();
    }
    if t >= 32 {
        return;
    }
    y[global_id().x] = block_sum(sum);
}
// ---- A run that only some threads of the block copy
#[kernel(block = 256)]
fn reversed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let t = thread_idx().x;
    if t < 32 {
        load_run(&mut run, x, block_idx().x * 256);
    }
    sync_threads();
    y[global_id().x] = run[255 - t];
}
// ---- A run that begins elsewhere in each thread
#[kernel(block = 256)]
fn reversed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let t = thread_idx().x;
    load_run(&mut run, x, t * 256);
    sync_threads();
    y[global_id().x] = run[255 - t];
}
