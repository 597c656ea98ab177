// test errors
//! Floats of 8 bits are stored and converted: they are no numbers to compute with.
#[kernel(block = 32)]
pub fn refused_float8(x: &mut Global<e4m3>, y: &mut Global<e5m2>, n: u32) {
    let (a, b) = (x[0], y[0]);
    let sum = a + a;
    let less = a < x[1];
    let same = b == y[1];
    let minus = -a;
    let not = !b;
    let whole = a as i32;
    let count = n as e4m3;
    let flag = (n > 1) as e5m2;
    let truth = a as bool;
    let literal: e4m3 = 1.5;
    let root = a.sqrt();
    let wrong = a + b;
    print!("{}", a);
    x[0] = 1;
    y[1] = a;
}
