// ---- Another block's shared memory, written by both without a barrier of the cluster
// launch: grid = 2
#[kernel(block = 32, cluster = 2, targets = [sm_90])]
fn exchanged(y: &mut Global<u32>) {
    #[shared]
    let mut own: [u32; 32];
    let t = thread_idx().x;
    own[t] = t as u32;
    cluster_sync();
    y[global_id().x] = shared_of(&own, 1)[t];
    own[t] = 1;
}

// ---- A barrier of the cluster that a block does not come to
// launch: grid = 2
#[kernel(block = 32, cluster = 2, targets = [sm_90])]
fn comes_alone(y: &mut Global<u32>) {
    if cluster_rank() == 0 {
        cluster_sync();
    }
    y[global_id().x] = 1;
}

// ---- Blocks of a cluster that wait at two different barriers
// launch: grid = 2
#[kernel(block = 32, cluster = 2, targets = [sm_90])]
fn apart(y: &mut Global<u32>) {
    if cluster_rank() == 0 {
        cluster_sync();
        y[0] = 1;
    } else {
        cluster_sync();
        y[1] = 1;
    }
}
