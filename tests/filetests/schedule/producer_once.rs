// test ir engine
//! A loop of one iteration, under a condition that is the whole block's: of runs every thread arrives, wherever that stands.
#[kernel(block = 64)]
pub fn summed(n: u32, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    if n % 3 != 1 {
        #[pipeline(stages = 4, by = bulk, producer)]
        for chunk in 0..1 {
            load_run(&mut run, x, chunk * 64);
            sync_threads();
            sum += run[63 - t];
            sync_threads();
        }
    }
    y[t] = sum;
}
