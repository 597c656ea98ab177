// ---- A run that is read before it has arrived
// launch: grid = 1
// in its IR, left out: barrier_wait
#[kernel(block = 64, targets = [sm_90])]
fn summed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for i in 0..4 {
        load_run(&mut run, x, i * 64);
        sync_threads();
        sum += run[63 - t];
        sync_threads();
    }
    y[t] = sum;
}

// ---- A run that one thread has waited for, and others read without a barrier
// launch: grid = 1
// in its IR, moved: barrier_wait => barrier_expect
#[kernel(block = 64, targets = [sm_90])]
fn summed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for i in 0..4 {
        load_run(&mut run, x, i * 64);
        sync_threads();
        sum += run[63 - t];
        sync_threads();
    }
    y[t] = sum;
}

// ---- A run that is asked for twice
// launch: grid = 1
// in its IR, doubled: copy_run
#[kernel(block = 64, targets = [sm_90])]
fn summed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for i in 0..4 {
        load_run(&mut run, x, i * 64);
        sync_threads();
        sum += run[63 - t];
        sync_threads();
    }
    y[t] = sum;
}

// ---- A barrier that is used before it is made
// launch: grid = 1
// in its IR, left out: barrier_init
#[kernel(block = 64, targets = [sm_90])]
fn summed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for i in 0..4 {
        load_run(&mut run, x, i * 64);
        sync_threads();
        sum += run[63 - t];
        sync_threads();
    }
    y[t] = sum;
}

// ---- A barrier that some threads may use before it is made
// launch: grid = 1
// in its IR, left out: call sync_threads
#[kernel(block = 64, targets = [sm_90])]
fn summed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for i in 0..4 {
        load_run(&mut run, x, i * 64);
        sync_threads();
        sum += run[63 - t];
        sync_threads();
    }
    y[t] = sum;
}

// ---- A barrier that is made twice
// launch: grid = 1
// in its IR, doubled: barrier_init
#[kernel(block = 64, targets = [sm_90])]
fn summed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for i in 0..4 {
        load_run(&mut run, x, i * 64);
        sync_threads();
        sum += run[63 - t];
        sync_threads();
    }
    y[t] = sum;
}

// ---- A barrier at which a thread arrives twice
// launch: grid = 1
// in its IR, doubled: barrier_expect
#[kernel(block = 64, targets = [sm_90])]
fn summed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for i in 0..4 {
        load_run(&mut run, x, i * 64);
        sync_threads();
        sum += run[63 - t];
        sync_threads();
    }
    y[t] = sum;
}

// ---- More bytes than were announced
// launch: grid = 1
// in its IR, replaced: const 256 => const 128
#[kernel(block = 64, targets = [sm_90])]
fn summed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for i in 0..4 {
        load_run(&mut run, x, i * 64);
        sync_threads();
        sum += run[63 - t];
        sync_threads();
    }
    y[t] = sum;
}

// ---- A run that is not asked for
// launch: grid = 1
// in its IR, left out: copy_run
#[kernel(block = 64, targets = [sm_90])]
fn summed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for i in 0..4 {
        load_run(&mut run, x, i * 64);
        sync_threads();
        sum += run[63 - t];
        sync_threads();
    }
    y[t] = sum;
}

// ---- A run that nobody waits for
// launch: grid = 1, n = 0
// in its IR, left out: barrier_wait
#[kernel(block = 64, targets = [sm_90])]
fn summed(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for i in 0..2 {
        load_run(&mut run, x, i * 64);
        sync_threads();
        if n > 0 {
            sum += run[63 - t];
        }
        sync_threads();
    }
    y[t] = sum;
}

// ---- A tile whose first column is at no multiple of 16 bytes
// launch: grid = 1, m.rows = 8, m.columns = 32, m.pitch = 32
// in its IR, replaced: const 16 => const 3
#[kernel(block = 64, targets = [sm_90])]
fn summed(m: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 4];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, by = tma)]
    for i in 0..m.rows() / 4 {
        load_tile(&mut tile, m, i * 4, 16);
        sync_threads();
        sum += tile[t / 16][t % 16];
        sync_threads();
    }
    y[t] = sum;
}

// ---- A tile that goes out, without a fence for the copy engine
// launch: grid = 1, c.rows = 4, c.columns = 64, c.pitch = 64
// in its IR, left out: engine_fence
#[kernel(block = 64, targets = [sm_90])]
fn scaled(x: &Global<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut strip: [[f32; 16]; 4];
    let t = thread_idx().x;
    #[pipeline(stages = 2, by = tma)]
    for n in 0..c.columns() / 16 {
        strip[t / 16][t % 16] = x[n * 64 + t] * 2.0;
        sync_threads();
        store_tile(c, 0, n * 16, &strip);
        sync_threads();
    }
}

// ---- A tile that is written again while it goes out
// launch: grid = 1, c.rows = 4, c.columns = 64, c.pitch = 64
// in its IR, left out: await_stores
#[kernel(block = 64, targets = [sm_90])]
fn scaled(x: &Global<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut strip: [[f32; 16]; 4];
    let t = thread_idx().x;
    #[pipeline(stages = 2, by = tma)]
    for n in 0..c.columns() / 16 {
        strip[t / 16][t % 16] = x[n * 64 + t] * 2.0;
        sync_threads();
        store_tile(c, 0, n * 16, &strip);
        sync_threads();
    }
}

// ---- A tile that is written again, without a barrier behind the wait for it
// launch: grid = 1, c.rows = 4, c.columns = 64, c.pitch = 64
// in its IR, moved: await_stores 0 read => put_tile
#[kernel(block = 64, targets = [sm_90])]
fn scaled(x: &Global<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut strip: [[f32; 16]; 4];
    let t = thread_idx().x;
    #[pipeline(stages = 2, by = tma)]
    for n in 0..c.columns() / 16 {
        strip[t / 16][t % 16] = x[n * 64 + t] * 2.0;
        sync_threads();
        store_tile(c, 0, n * 16, &strip);
        sync_threads();
    }
}

// ---- A tile that is still on its way out when the block ends
// launch: grid = 1, c.rows = 4, c.columns = 32, c.pitch = 32
// in its IR, left out: await_stores 0 done
#[kernel(block = 64, targets = [sm_90])]
fn scaled(x: &Global<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut strip: [[f32; 16]; 4];
    let t = thread_idx().x;
    #[pipeline(stages = 2, by = tma)]
    for n in 0..c.columns() / 16 {
        strip[t / 16][t % 16] = x[n * 64 + t] * 2.0;
        sync_threads();
        store_tile(c, 0, n * 16, &strip);
        sync_threads();
    }
}

// ---- A tile that is overwritten while tensor cores read it
// launch: grid = 1, a.rows = 1, a.columns = 512, a.pitch = 512, b.rows = 1, b.columns = 512, b.pitch = 512
// in its IR, replaced: left 1 => left 2
#[kernel(block = 256, targets = [sm_90a])]
fn product(a: &Matrix<bf16>, b: &Matrix<bf16>, y: &mut Global<f32>) {
    #[shared(swizzle = 128)]
    let mut left: [[bf16; 64]; 128];
    #[shared(swizzle = 128)]
    let mut right: [[bf16; 64]; 48];
    #[shared]
    let mut out: [[f32; 48]; 128];
    let mut sums = Accumulator::<f32, 128, 48>::zero();
    #[pipeline(stages = 4, by = tma, producer)]
    for step in 0..a.columns() / 64 {
        load_tile(&mut left, a, 0, step * 64);
        load_tile(&mut right, b, 0, step * 64);
        sync_threads();
        multiply_add(&left, transposed(&right), &mut sums);
        sync_threads();
    }
    sums.store(&mut out);
    sync_threads();
    y[thread_idx().x] = out[thread_idx().x / 2][thread_idx().x % 2];
}

// ---- A tile that is overwritten while tensor cores read it, and nobody has waited for them
// launch: grid = 1, a.rows = 1, a.columns = 512, a.pitch = 512, b.rows = 1, b.columns = 512, b.pitch = 512
// in its IR, replaced: left 1 => left 9
#[kernel(block = 256, targets = [sm_90a])]
fn product(a: &Matrix<bf16>, b: &Matrix<bf16>, y: &mut Global<f32>) {
    #[shared(swizzle = 128)]
    let mut left: [[bf16; 64]; 128];
    #[shared(swizzle = 128)]
    let mut right: [[bf16; 64]; 48];
    #[shared]
    let mut out: [[f32; 48]; 128];
    let mut sums = Accumulator::<f32, 128, 48>::zero();
    #[pipeline(stages = 4, by = tma, producer)]
    for step in 0..a.columns() / 64 {
        load_tile(&mut left, a, 0, step * 64);
        load_tile(&mut right, b, 0, step * 64);
        sync_threads();
        multiply_add(&left, transposed(&right), &mut sums);
        sync_threads();
    }
    sums.store(&mut out);
    sync_threads();
    y[thread_idx().x] = out[thread_idx().x / 2][thread_idx().x % 2];
}

// ---- Another block's shared memory, which may not have begun
// launch: grid = 2
// in its IR, left out: call cluster_sync
#[kernel(block = 32, cluster = 2, targets = [sm_90])]
fn exchanged(y: &mut Global<u32>) {
    #[shared]
    let mut own: [u32; 32];
    let t = thread_idx().x;
    own[t] = t as u32;
    cluster_sync();
    let next = 1 - cluster_rank();
    if block_idx().x == 1 {
        y[global_id().x] = shared_of(&own, next)[t];
    }
    cluster_sync();
}

// ---- Another block's shared memory, which has ended
// launch: grid = 2
// in its IR, left out, the second: call cluster_sync
#[kernel(block = 32, cluster = 2, targets = [sm_90])]
fn exchanged(y: &mut Global<u32>) {
    #[shared]
    let mut own: [u32; 32];
    let t = thread_idx().x;
    own[t] = t as u32;
    cluster_sync();
    let next = 1 - cluster_rank();
    if block_idx().x == 1 {
        y[global_id().x] = shared_of(&own, next)[t];
    }
    cluster_sync();
}

// ---- A local array that nobody has written
// launch: grid = 1, n = 0
// in its IR, left out: store
#[kernel(block = 64)]
fn picked(n: usize, y: &mut Global<u32>) {
    let mut table = [0u32; 4];
    for i in 0..n {
        table[i] = i as u32;
    }
    y[thread_idx().x] = table[thread_idx().x % 4];
}
