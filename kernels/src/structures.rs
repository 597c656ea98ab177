//! Arrays of structures: bodies of 32 bytes, moved one step by a thread each, and walked along by a thread to a group of them. What a warp reads
//! of one field lies 32 bytes apart; the sectors that come for the first serve the others from the cache.

/// The structure, and the kernels that read it.
#[warpwright::module]
pub mod bodies {
    use warpwright::prelude::*;

    /// A body.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    pub struct Body {
        /// Where it is.
        pub place: [f32; 3],
        /// How heavy it is.
        pub mass: f32,
        /// Where it goes.
        pub speed: [f32; 3],
        /// What it is charged with.
        pub charge: f32,
    }

    /// One step of every body.
    #[kernel(block = 256)]
    pub fn advance(dt: f32, bodies: &mut Global<Body>) {
        let i = global_id().x;
        if i < bodies.len() {
            let drag = 1.0 - dt * bodies[i].charge / bodies[i].mass;
            #[unroll]
            for axis in 0..3 {
                let speed = bodies[i].speed[axis] * drag;
                bodies[i].speed[axis] = speed;
                bodies[i].place[axis] += dt * speed;
            }
        }
    }

    /// `energies[g]` ← Σ mass·speed² over the `length` bodies of group g, a thread to a group.
    #[kernel(block = 256, allow(uncoalesced_access))]
    pub fn energies(length: usize, bodies: &Global<Body>, energies: &mut Global<f32>) {
        let group = global_id().x;
        if group < energies.len() {
            let mut sum = 0.0;
            for k in 0..length {
                let body = bodies[group * length + k];
                let speed = body.speed;
                sum += body.mass * (speed[0] * speed[0] + speed[1] * speed[1] + speed[2] * speed[2]);
            }
            energies[group] = sum;
        }
    }
}
