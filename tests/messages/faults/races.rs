// ---- An exchange in shared memory without a barrier
// launch: grid = 1
#[kernel(block = 64)]
fn reversed(y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 64];
    let t = thread_idx().x;
    tile[t] = y[t];
    sync_threads();
    tile[t] += tile[63 - t];
    y[t] = tile[t];
}

// ---- Two threads that write the same element
// launch: grid = 1
#[kernel(block = 64)]
fn halved(y: &mut Global<u32>) {
    let t = thread_idx().x;
    y[t / 2] = t as u32;
}

// ---- Blocks that write the same element
// launch: grid = 2
#[kernel(block = 64)]
fn summed(x: &Global<f32>, y: &mut Global<f32>) {
    let total = block_sum(x[global_id().x]);
    if thread_idx().x == 0 {
        y[0] += total;
    }
}

// ---- An element that one thread changes by an atomic and another reads plainly
// launch: grid = 2
#[kernel(block = 64)]
fn counted(count: &mut Global<u32>, y: &mut Global<u32>) {
    if thread_idx().x == 0 {
        count.atomic_add(0, 1);
        y[block_idx().x] = count[0];
    }
}

// ---- An element that one block writes plainly and another reads by an atomic
// launch: grid = 2
#[kernel(block = 32)]
fn told(flag: &mut Global<u32>, y: &mut Global<u32>) {
    if thread_idx().x == 0 {
        if block_idx().x == 0 {
            flag[0] = 1;
        } else {
            y[0] = flag.atomic_load(0, Ordering::Relaxed, ThreadScope::Device);
        }
    }
}

// ---- An atomic for one block on an element that several blocks share
// launch: grid = 2
#[kernel(block = 64)]
fn counted(count: &mut Global<u32>) {
    if thread_idx().x == 0 {
        count.atomic_add_ordered(0, 1, Ordering::Relaxed, ThreadScope::Block);
    }
}

// ---- The last block reads what others wrote, and nobody has a fence
// launch: grid = 2
#[kernel(block = 64)]
fn last_block(part: &mut Global<f32>, count: &mut Global<u32>, y: &mut Global<f32>) {
    if thread_idx().x == 0 {
        part[block_idx().x] = 1.0;
        if count.atomic_add(0, 1) == 1 {
            y[0] = part[0] + part[1];
        }
    }
}

// ---- No fence before the atomic that tells of a write
// launch: grid = 2
#[kernel(block = 64)]
fn last_block(part: &mut Global<f32>, count: &mut Global<u32>, y: &mut Global<f32>) {
    if thread_idx().x == 0 {
        part[block_idx().x] = 1.0;
        if count.atomic_add(0, 1) == 1 {
            fence_device();
            y[0] = part[0] + part[1];
        }
    }
}

// ---- A fence for the block where blocks exchange
// launch: grid = 2
#[kernel(block = 64)]
fn last_block(part: &mut Global<f32>, count: &mut Global<u32>, y: &mut Global<f32>) {
    if thread_idx().x == 0 {
        part[block_idx().x] = 1.0;
        fence_block();
        if count.atomic_add(0, 1) == 1 {
            fence_device();
            y[0] = part[0] + part[1];
        }
    }
}

// ---- No fence after the atomic that shows a write
// launch: grid = 2
#[kernel(block = 64)]
fn last_block(part: &mut Global<f32>, count: &mut Global<u32>, y: &mut Global<f32>) {
    if thread_idx().x == 0 {
        part[block_idx().x] = 1.0;
        fence_device();
        if count.atomic_add(0, 1) == 1 {
            y[0] = part[0] + part[1];
        }
    }
}

// ---- No fence before the atomic that tells of a write, in IR that does not say which lines it comes from
// launch: grid = 2
// in its IR, left out everywhere: @
#[kernel(block = 64)]
fn last_block(part: &mut Global<f32>, count: &mut Global<u32>, y: &mut Global<f32>) {
    if thread_idx().x == 0 {
        part[block_idx().x] = 1.0;
        if count.atomic_add(0, 1) == 1 {
            fence_device();
            y[0] = part[0] + part[1];
        }
    }
}

// ---- No fence after the atomic that shows a write, in IR that does not say which lines it comes from
// launch: grid = 2
// in its IR, left out everywhere: @
#[kernel(block = 64)]
fn last_block(part: &mut Global<f32>, count: &mut Global<u32>, y: &mut Global<f32>) {
    if thread_idx().x == 0 {
        part[block_idx().x] = 1.0;
        fence_device();
        if count.atomic_add(0, 1) == 1 {
            y[0] = part[0] + part[1];
        }
    }
}
