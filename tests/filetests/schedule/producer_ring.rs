// test ir engine
// test ptx sm_90
//! `producer`: threads that the launch adds ask the copy engine, and the others hand slots back; on sm_80 it is the plain ring.
#[kernel(block = 64)]
pub fn summed(runs: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 3, producer)]
    for chunk in 0..runs {
        load_run(&mut run, x, chunk * 256);
        sync_threads();
        sum += run[255 - t];
        sync_threads();
    }
    y[t] = sum;
}
