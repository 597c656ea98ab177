// test errors
//! What a kernel cannot change in a group of parameters, and that it makes none.

#[device]
struct Wave<'a> {
    now: &'a Global<f32>,
    next: &'a mut Global<f32>,
    kernel: &'a Constant<[[f32; 3]; 3]>,
    speed: f32,
}

#[device]
impl Wave<'_> {
    fn still(&self, i: usize) {
        self.next[i] = 0.0;
    }
}

#[kernel(block = 64)]
fn refused_groups(mut wave: Wave<'_>) {
    let i = global_id().x;
    wave.now[i] = 1.0;
    wave.kernel[1][2] = 1.0;
    wave.speed += 1.0;
    wave.next[i] += wave.speed;
    wave.still(i);
    let other = Wave { speed: 2.0, ..wave };
}
