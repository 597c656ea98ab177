// test rust
// test ir engine
// test ptx sm_90
//! Loops that copy out. The first has a form for every target: slots, and one barrier an iteration. The second's slots are stored by the engine: threads fence what they
//! wrote, and one waits until the slot that comes next is read.
#[kernel(block = 64)]
pub fn out(n: usize, c: &mut Matrix<f32>) {
    #[shared]
    let mut strip: [[f32; 16]; 4];
    #[shared]
    let mut sent: [[f32; 16]; 4];
    let t = thread_idx().x;
    #[pipeline(stages = 2)]
    for k in 0..n {
        strip[t / 16][t % 16] = (k * 64 + t) as f32;
        sync_threads();
        store_tile(c, k * 4, 0, &strip);
        sync_threads();
    }
    #[pipeline(stages = 3, by = tma)]
    for k in 0..n {
        sent[t / 16][t % 16] = (k * 64 + t) as f32;
        sync_threads();
        store_tile(c, k * 4, 16, &sent);
        sync_threads();
    }
}
