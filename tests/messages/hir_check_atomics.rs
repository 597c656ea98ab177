// ---- An atomic addition without a value
#[kernel(block = 256)]
fn count(x: &Global<u32>, counts: &mut Global<u32>) {
    let i = global_id().x;
    counts.atomic_add(x[i] as usize);
}

// ---- An atomic load that releases
#[kernel(block = 256)]
fn wait(flags: &mut Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = flags.atomic_load(0, Ordering::Release, ThreadScope::Device);
}

// ---- An atomic store that acquires
#[kernel(block = 256)]
fn signal(flags: &mut Global<u32>) {
    let i = global_id().x;
    flags.atomic_store(i, 1, Ordering::Acquire, ThreadScope::Device);
}

// ---- An order without its type
#[kernel(block = 256)]
fn signal(flags: &mut Global<u32>) {
    let i = global_id().x;
    flags.atomic_store(i, 1, Release, ThreadScope::Device);
}

// ---- A scope that there is not
#[kernel(block = 256)]
fn count(x: &Global<u32>, counts: &mut Global<u32>) {
    let i = global_id().x;
    counts.atomic_add_ordered(x[i] as usize, 1, Ordering::Relaxed, ThreadScope::Cluster);
}

// ---- Atomics of an array that each thread has for itself
#[kernel(block = 256)]
fn histogram(x: &Global<u32>, y: &mut Global<u32>) {
    let mut bins = [0u32; 16];
    let i = global_id().x;
    bins.atomic_add((x[i] % 16) as usize, 1);
    y[i] = bins[0];
}

// ---- Atomic addition of 16-bit floats
#[kernel(block = 256)]
fn total(x: &Global<f16>, sum: &mut Global<f16>) {
    let i = global_id().x;
    sum.atomic_add(0, x[i]);
}

// ---- Atomic bits of floats
#[kernel(block = 256)]
fn signs(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y.atomic_or(0, x[i]);
}
