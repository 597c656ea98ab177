// test ptx sm_90
//! The fields of a group are parameters: each with its own length and its own kind of access.

#[device]
struct Wave<'a> {
    now: &'a Global<f32>,
    next: &'a mut Global<f32>,
    speed: f32,
}

#[kernel(block = 64)]
fn advance(wave: Wave<'_>) {
    let i = global_id().x;
    if i < wave.next.len() {
        wave.next[i] = wave.now[i] * wave.speed;
    }
}
