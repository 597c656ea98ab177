// test errors
//! Runs into what is no shared array of fixed length, of another type, from what is no buffer.
#[kernel(block = 64)]
pub fn refused_load_run(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic)]
    let mut long: [f32];
    #[shared]
    let mut halves: [f16; 64];
    #[shared]
    let mut run: [f32; 64];
    let mut own = [0.0f32; 64];
    load_run(&mut long, x, 0);
    load_run(&mut halves, x, 0);
    load_run(&mut own, x, 0);
    load_run(&mut run, run, 0);
    load_run(&mut run, x);
    load_run(&mut run, x, 0u32);
    load_tile(&mut run, x, 0);
    y[0] = run[0];
}
