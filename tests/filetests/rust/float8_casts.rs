//! Floats of 8 bits: casts are casts again, and bits go by `from_bits` and `to_bits`.
// test rust
use warpwright::prelude::*;

#[kernel]
pub fn float8_casts(x: &Global<e4m3>, y: &Global<f64>, bits: &mut Global<u8>, z: &mut Global<e5m2>, sums: &mut Global<f32>) {
    let i = global_id().x;
    if i < x.len() {
        let mut kept = [e4m3::from_bits(0x38); 4];
        kept[i % 4] = x[i];
        let wide = kept[(i + 1) % 4] as f32;
        sums[i] = wide + x[i].to_f32();
        z[i] = if wide > 1.0 { y[i] as e5m2 } else { e5m2::from_bits(bits[i]) };
        bits[i] = (wide as e4m3).to_bits();
    }
}
