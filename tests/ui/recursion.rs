//! Device functions that call themselves, directly and round a corner.

#[warpwright::module]
mod recursion {
    use warpwright::prelude::*;

    #[device]
    fn factorial(n: u32) -> u32 {
        if n == 0 { 1 } else { n * factorial(n - 1) }
    }

    #[kernel(block = 64)]
    pub fn direct(y: &mut Global<u32>) {
        y[0] = factorial(5);
    }

    #[device]
    fn is_even(n: u32) -> bool {
        n == 0 || is_odd(n - 1)
    }

    #[device]
    fn is_odd(n: u32) -> bool {
        n != 0 && is_even(n - 1)
    }

    #[kernel(block = 64)]
    pub fn mutual(y: &mut Global<u32>) {
        y[0] = is_even(5) as u32;
    }
}

fn main() {}
