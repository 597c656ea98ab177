//! Items in bodies and modules that the language does not have; attributes on what they are not for.

use warpwright::prelude::*;

#[kernel(block = 64)]
fn inner_items() {
    const N: usize = 4;
    fn inner() {}
    static COUNT: u32 = 0;
}

#[warpwright::module]
mod module {
    static TABLE: [f32; 2] = [0.0, 1.0];
    trait Shape {}
    mod deeper {}
    union Bits {
        a: u32,
        b: f32,
    }
    #[derive(Clone, Copy)]
    struct NoLayout {
        a: f32,
    }
    #[repr(C, align(32))]
    #[derive(Clone, Copy)]
    struct Aligned {
        a: f32,
    }
    enum Tagged {
        A(f32),
        B,
    }
    #[cfg(debug_assertions)]
    const N: usize = 4;
}

#[kernel]
struct NotAFunction;

#[device]
trait NotForTheDevice {}

#[warpwright::module]
fn not_a_module() {}

#[warpwright::module(block = 64)]
mod no_arguments {}

fn main() {}
