// ---- A loop in which nothing changes
// launch: grid = 1
#[kernel(block = 32)]
fn waits(y: &mut Global<u32>) {
    let mut v = 1;
    while v != 0 {
        v |= 1;
    }
    y[0] = v;
}

// ---- A loop that goes on and on
// launch: grid = 1, loops = 100000
#[kernel(block = 32)]
fn counts(y: &mut Global<u32>) {
    let mut v = 1u64;
    while v != 0 {
        v += 2;
    }
    y[0] = v as u32;
}

// ---- A wait for what nobody writes
// launch: grid = 3
#[kernel(block = 32)]
fn waits(flag: &mut Global<u32>, y: &mut Global<u32>) {
    while flag.atomic_load(0, Ordering::Acquire, ThreadScope::Device) == 0 {}
    y[global_id().x] = 1;
}

// ---- A wait for what is written behind a barrier that the waiting warp never reaches
// launch: grid = 1
#[kernel(block = 64)]
fn waits(y: &mut Global<u32>) {
    #[shared]
    let mut flag: [u32; 1];
    if thread_idx().x == 0 {
        flag[0] = 0;
    }
    sync_threads();
    if warp_id() == 1 {
        while flag.atomic_or(0, 0) == 0 {}
    }
    sync_threads();
    if thread_idx().x == 0 {
        flag.atomic_exchange(0, 1);
    }
    y[thread_idx().x] = 1;
}

// ---- A lock that the threads of a warp fight for
// launch: grid = 1
#[kernel(block = 32)]
fn guarded(lock: &mut Global<u32>, count: &mut Global<u32>) {
    while lock.atomic_cas(0, 0, 1) != 0 {}
    fence_device();
    count[0] += 1;
    fence_device();
    lock.atomic_exchange(0, 0);
}

// ---- Two locks that the threads of a warp fight for
// launch: grid = 1
#[kernel(block = 32)]
fn guarded(locks: &mut Global<u32>, counts: &mut Global<u32>) {
    let which = thread_idx().x % 2;
    while locks.atomic_cas(which, 0, 1) != 0 {}
    fence_device();
    counts[which] += 1;
    fence_device();
    locks.atomic_exchange(which, 0);
}

// ---- Blocks that wait for blocks which begin after them
// launch: grid = 100000
#[kernel(block = 32)]
fn in_turn(flags: &mut Global<u32>) {
    if block_idx().x == grid_dim().x - 1 {
        flags.atomic_exchange(0, 1);
    } else {
        while flags.atomic_or(0, 0) == 0 {}
    }
}

// ---- A block that waits for one which begins after it
// launch: grid = 8193
#[kernel(block = 32)]
fn in_turn(flags: &mut Global<u32>) {
    if block_idx().x == grid_dim().x - 1 {
        flags.atomic_exchange(0, 1);
    } else {
        while flags.atomic_or(0, 0) == 0 {}
    }
}
