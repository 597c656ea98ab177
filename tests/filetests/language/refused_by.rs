// test errors
//! What copies are made by: words that are none, no word, two; on an annotation that takes none.
#[kernel(block = 64)]
pub fn refused_by(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[pipeline(stages = 2, by = magic)]
    for k in 0..n {
        y[k] = x[k];
    }
    #[pipeline(by = 3, stages = 2)]
    for k in 0..n {
        y[k] = x[k];
    }
    #[pipeline(stages = 2, by = bulk, by = cp_async)]
    for k in 0..n {
        y[k] = x[k];
    }
    #[unroll(2, by = bulk)]
    for k in 0..n {
        y[k] = x[k];
    }
}
