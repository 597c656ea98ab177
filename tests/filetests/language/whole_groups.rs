// test errors
//! Buffers and groups of them are no values that variables hold; and a group is known by its lifetime.

#[device]
struct Wave<'a> {
    now: &'a Global<f32>,
    next: &'a mut Global<f32>,
}

#[kernel(block = 64)]
fn whole_groups(wave: Wave<'_>, unsaid: Wave) {
    let i = global_id().x;
    let other = wave;
    let now = unsaid.now;
    unsaid.next[i] = now[i] + other.now[i];
}
