// test errors
//! What the copy engine cannot copy, where the source asks for it: rooms behind rows, two copies to one place, what the kernel writes, tiles within structs, arrays that
//! another loop copies otherwise.
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Both {
    pub head: [f32; 4],
    pub tile: [[f32; 8]; 8],
}

#[kernel(block = 64)]
pub fn refused_engine(n: usize, x: &Global<f32>, w: &Global<[f32; 2]>, y: &mut Global<f32>, a: &Matrix<f32>) {
    #[shared(pad = 2)]
    let mut padded: [[f32; 2]; 48];
    #[shared]
    let mut twice: [f32; 64];
    #[shared]
    let mut own: [f32; 64];
    #[shared]
    let mut both: Both;
    #[shared]
    let mut ring: [f32; 64];
    #[shared]
    let mut other: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, by = bulk)]
    for k in 0..n {
        load_run(&mut padded, w, k * 48);
        sync_threads();
        sum += padded[t % 48][1];
        sync_threads();
    }
    #[pipeline(stages = 2, by = bulk)]
    for k in 0..n {
        load_run(&mut twice, x, k * 64);
        load_run(&mut twice, x, k * 128);
        sync_threads();
        sum += twice[63 - t];
        sync_threads();
    }
    #[pipeline(stages = 2, by = bulk)]
    for k in 0..n {
        load_run(&mut own, y, k * 64);
        sync_threads();
        sum += own[63 - t];
        sync_threads();
    }
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        load_run(&mut both.head, x, k * 4);
        load_tile(&mut both.tile, a, k * 8, 0);
        sync_threads();
        sum += both.tile[t % 8][t / 8] + both.head[t % 4];
        sync_threads();
    }
    y[t] = sum;
}
