// ---- A constant that is computed from itself
const TILE: usize = 2 * TILE;
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    y[global_id().x % TILE] = 1.0;
}
// ---- A chain of too many constants, each computed from the one before
const C0: usize = 1; const C1: usize = C0 + 1; const C2: usize = C1 + 1; const C3: usize = C2 + 1; const C4: usize = C3 + 1;
const C5: usize = C4 + 1; const C6: usize = C5 + 1; const C7: usize = C6 + 1; const C8: usize = C7 + 1; const C9: usize = C8 + 1;
const C10: usize = C9 + 1; const C11: usize = C10 + 1; const C12: usize = C11 + 1; const C13: usize = C12 + 1; const C14: usize = C13 + 1;
const C15: usize = C14 + 1; const C16: usize = C15 + 1; const C17: usize = C16 + 1; const C18: usize = C17 + 1; const C19: usize = C18 + 1;
const C20: usize = C19 + 1; const C21: usize = C20 + 1; const C22: usize = C21 + 1; const C23: usize = C22 + 1; const C24: usize = C23 + 1;
const C25: usize = C24 + 1; const C26: usize = C25 + 1; const C27: usize = C26 + 1; const C28: usize = C27 + 1; const C29: usize = C28 + 1;
const C30: usize = C29 + 1; const C31: usize = C30 + 1; const C32: usize = C31 + 1; const C33: usize = C32 + 1; const C34: usize = C33 + 1;
const C35: usize = C34 + 1; const C36: usize = C35 + 1; const C37: usize = C36 + 1; const C38: usize = C37 + 1; const C39: usize = C38 + 1;
const C40: usize = C39 + 1; const C41: usize = C40 + 1; const C42: usize = C41 + 1; const C43: usize = C42 + 1; const C44: usize = C43 + 1;
const C45: usize = C44 + 1; const C46: usize = C45 + 1; const C47: usize = C46 + 1; const C48: usize = C47 + 1; const C49: usize = C48 + 1;
const C50: usize = C49 + 1; const C51: usize = C50 + 1; const C52: usize = C51 + 1; const C53: usize = C52 + 1; const C54: usize = C53 + 1;
const C55: usize = C54 + 1; const C56: usize = C55 + 1; const C57: usize = C56 + 1; const C58: usize = C57 + 1; const C59: usize = C58 + 1;
const C60: usize = C59 + 1; const C61: usize = C60 + 1; const C62: usize = C61 + 1; const C63: usize = C62 + 1; const C64: usize = C63 + 1;
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    y[global_id().x % C64] = 1.0;
}
// ---- A float for an integer
#[kernel(block = 256)]
fn whole(x: &Global<f32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = x[i];
}
// ---- `global_id()` without its axis
#[kernel(block = 256)]
fn fill(y: &mut Global<u32>) {
    let i: usize = global_id();
    y[i] = 1;
}
// ---- Arithmetic on floats of 8 bits
#[kernel(block = 256)]
fn twice(x: &Global<e4m3>, y: &mut Global<e4m3>) {
    let i = global_id().x;
    y[i] = x[i] + x[i];
}
// ---- A variant of an enum printed by its name
#[device]
#[derive(Clone, Copy)]
#[repr(u32)]
enum Phase { Solid = 0, Liquid = 1 }
#[kernel(block = 256)]
fn show(x: &Global<Phase>, y: &mut Global<u32>) {
    let i = global_id().x;
    println!("{:?}", x[i]);
    y[i] = x[i] as u32;
}
// ---- An array printed as a whole
#[kernel(block = 256)]
fn show(x: &Global<[f32; 4]>, y: &mut Global<f32>) {
    let i = global_id().x;
    println!("{:?}", x[i]);
    y[i] = x[i][0];
}
// ---- Bits of a float
#[kernel(block = 256)]
fn masked(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i] & x[i + 1];
}
// ---- A variable whose type nothing says
#[kernel(block = 256)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let last;
    y[i] = x[i];
}
// ---- A cast of all axes of a thread's place
#[kernel(block = 256)]
fn fill(y: &mut Global<u32>) {
    let i = global_id() as usize;
    y[i] = 1;
}
