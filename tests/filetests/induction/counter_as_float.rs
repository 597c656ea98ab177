// test ptx sm_80
//! A counter as a float is none that is added to: it is made anew in each iteration.
#[kernel(block = 32)]
pub fn counted(n: i32, y: &mut Global<i64>) {
    let i = global_id().x;
    for k in -1..n {
        let single = k as f32;
        y[i] += single as i64;
    }
}
