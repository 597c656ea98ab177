//! Particles with a life: structs in buffers, C-like enums, `match`, `while` and `break` in one kernel.

/// The types, and the kernel that uses them.
#[warpwright::module]
pub mod particles {
    use warpwright::prelude::*;

    /// What a particle does.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(u32)]
    pub enum State {
        /// Falls.
        Falling = 1,
        /// Lies on the ground.
        Resting = 2,
        /// Has left the world.
        Gone = 7,
    }

    /// A particle.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    pub struct Particle {
        /// Height and speed.
        pub motion: [f32; 2],
        /// Steps lived.
        pub age: u16,
        /// How it bounces, in quarters.
        pub bounce: u8,
        /// What became of it, as a number of `State`.
        pub state: u32,
    }

    const GRAVITY: f32 = -0.5;
    const CEILING: f32 = 100.0;

    impl Particle {
        fn advance(&mut self) {
            self.motion[1] += GRAVITY;
            self.motion[0] += self.motion[1];
            self.age += 1;
        }

        fn fate(&self) -> State {
            let slow = self.motion[1] > -1.0;
            match (self.motion[0] <= 0.0, slow) {
                (true, true) => State::Resting,
                _ if self.motion[0] > CEILING => State::Gone,
                (_, _) => State::Falling,
            }
        }
    }

    /// Lets every particle live for at most `steps` steps, or until it rests or leaves.
    #[kernel(block = 64, contract = false)]
    pub fn live(steps: u32, particles: &mut Global<Particle>) {
        let i = global_id().x;
        if i >= particles.len() {
            return;
        }
        let mut particle = particles[i];
        let mut left = steps;
        while left > 0 {
            particle.advance();
            match particle.fate() {
                State::Falling => {
                    if particle.motion[0] < 0.0 {
                        particle.motion[0] = -particle.motion[0];
                        particle.motion[1] = match particle.bounce {
                            0 => 0.0,
                            n @ 1..=3 => -particle.motion[1] * n as f32 / 4.0,
                            _ => -particle.motion[1],
                        };
                    }
                }
                end => {
                    particle.state = end as u32;
                    break;
                }
            }
            left -= 1;
        }
        particles[i] = particle;
    }

    /// Reference: the same on the host, one particle.
    pub fn reference(steps: u32, mut particle: Particle) -> Particle {
        for _ in 0..steps {
            particle.motion[1] += -0.5;
            particle.motion[0] += particle.motion[1];
            particle.age += 1;
            if particle.motion[0] <= 0.0 && particle.motion[1] > -1.0 {
                particle.state = 2;
                break;
            } else if particle.motion[0] > 100.0 {
                particle.state = 7;
                break;
            }
            if particle.motion[0] < 0.0 {
                particle.motion[0] = -particle.motion[0];
                let back = -particle.motion[1];
                particle.motion[1] = if particle.bounce > 3 {
                    back
                } else if particle.bounce == 0 {
                    0.0
                } else {
                    back * f32::from(particle.bounce) / 4.0
                };
            }
        }
        particle
    }
}
