// ---- A barrier that part of a warp reaches
// launch: grid = 1
#[kernel(block = 64)]
fn marked(y: &mut Global<u32>) {
    let t = thread_idx().x;
    if t < 40 {
        y[t] = 1;
        sync_threads();
    }
}

// ---- A barrier that some warps of a block reach
// launch: grid = 1
#[kernel(block = 64)]
fn marked(y: &mut Global<u32>) {
    if warp_id() == 0 {
        sync_threads();
    }
    y[thread_idx().x] = 1;
}

// ---- Threads that wait at two different barriers
// launch: grid = 1
#[kernel(block = 64)]
fn marked(y: &mut Global<u32>) {
    if warp_id() == 0 {
        sync_threads();
        y[0] = 1;
    } else {
        sync_threads();
        y[1] = 1;
    }
}

// ---- A warp function that part of the warp reaches
// launch: grid = 1
#[kernel(block = 64)]
fn summed(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if lane_id() < 10 {
        y[i] = warp_sum(x[i]);
    }
}

// ---- A shuffle from a lane that the last warp of a block does not have
// launch: grid = 1
#[kernel(block = 40)]
fn copied(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = shuffle(x[i], 20u32);
}

// ---- A shuffle in a block of one thread
// launch: grid = 1
#[kernel(block = 1)]
fn copied(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = shuffle(x[i], 3u32);
}

// ---- A shuffle from a lane that has returned
// launch: grid = 1
#[kernel(block = 64)]
fn copied(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if lane_id() == 5 {
        return;
    }
    y[i] = shuffle(x[i], 5u32);
}
