// test errors
//! Elements, fields and parameters by value whose size nobody knows.

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Body {
    pub place: Global<f32>,
    pub mass: f32,
}

#[kernel(block = 32)]
pub fn refused_without_size(
    bodies: &mut Global<Body>,
    rows: &Global<[f32]>,
    pairs: &Constant<[[f32]; 2]>,
    pair: ([f32], u32),
    out: &mut Global<f32>,
) {
    bodies[thread_idx().x].mass = rows.len() as f32;
    out[0] = pair.1 as f32;
}
