//! A kernel as an operation of candle's, beside the two operations that it stands for, on the CPU and, with the feature `cuda`, on a GPU.
//!
//! cargo run --release -p warpwright-candle
//! cargo run --release -p warpwright-candle --features cuda    # with nvcc, which candle needs

mod swiglu;
#[cfg(feature = "cuda")]
mod tensor;

use candle_core::{DType, Device, Result, Tensor};
use swiglu::SwiGlu;

/// How far from each other results may be that were rounded to `f32` at each step, of the result: on either side the exponential function is at most 2 units of the last place from the true one, and the
/// sum, the quotient and the product half a unit each.
const F32_STEPS: f64 = 7.0 * f32::EPSILON as f64;

/// One rounding to `bf16`, of the result: half a unit of the last of 8 bits.
const BF16_ROUNDING: f64 = 1.0 / 256.0;

fn main() -> Result<()> {
    report(&Device::Cpu, "the CPU, by the host twin", (64, 1000))?;
    #[cfg(feature = "cuda")]
    match Device::new_cuda(0) {
        Ok(device) => {
            let name = warpwright::Device::cuda(0).map_or_else(|error| error.to_string(), |gpu| gpu.to_string());
            report(&device, &name, (4096, 4096))?;
            let scaled = tensor::scale(2.0, &numbers(&device, (2, 2), 1)?)?;
            println!("one kernel on a tensor's memory: {:?}", scaled.to_vec2::<f32>()?);
            time(&device, (8192, 8192))?;
        }
        Err(error) => println!("no GPU: {error}"),
    }
    Ok(())
}

/// Numbers from -20 to 20, in another order for each `salt`.
fn numbers(device: &Device, shape: (usize, usize), salt: usize) -> Result<Tensor> {
    let count = shape.0 * shape.1;
    let numbers: Vec<f32> = (0..count).map(|i| ((i * 7919 + salt) % 4001) as f32 / 100.0 - 20.0).collect();
    Tensor::from_vec(numbers, shape, device)
}

/// What candle has for it: two operations, and a tensor between them.
fn composed(gate: &Tensor, up: &Tensor) -> Result<Tensor> {
    gate.silu()? * up
}

/// The greatest distance of two tensors, element by element, in parts of the second.
fn greatest_difference(found: &Tensor, expected: &Tensor) -> Result<f64> {
    let [found, expected] = [found, expected].map(|t| t.to_dtype(DType::F64).and_then(|t| t.flatten_all()?.to_vec1::<f64>()));
    let part = |(found, expected): (f64, f64)| if found == expected { 0.0 } else { (found - expected).abs() / expected.abs() };
    // A NaN is as far away as can be.
    let further = |greatest: f64, part: f64| if part <= greatest { greatest } else { part };
    Ok(found?.into_iter().zip(expected?).map(part).fold(0.0, further))
}

/// Both types on one device, beside candle's own operations in `f32`. In `bf16` those round more than once: that is printed, too.
fn report(device: &Device, name: &str, shape: (usize, usize)) -> Result<()> {
    let (gate, up) = (numbers(device, shape, 1)?, numbers(device, shape, 2)?);
    for (dtype, tolerance) in [(DType::F32, F32_STEPS), (DType::BF16, BF16_ROUNDING + F32_STEPS)] {
        let (gate, up) = (gate.to_dtype(dtype)?, up.to_dtype(dtype)?);
        let found = gate.apply_op2_no_bwd(&up, &SwiGlu)?;
        assert_eq!((found.dtype(), found.dims()), (dtype, gate.dims()));
        let expected = composed(&gate.to_dtype(DType::F32)?, &up.to_dtype(DType::F32)?)?;
        let off = greatest_difference(&found, &expected)?;
        print!("{} on {name}: off by {off:.1e} at most", dtype.as_str());
        if dtype == DType::BF16 {
            print!("; candle's two operations: {:.1e}", greatest_difference(&composed(&gate, &up)?, &expected)?);
        }
        println!();
        assert!(off <= tolerance, "{off:e} of {tolerance:e}");
    }
    Ok(())
}

/// One launch, which moves each element three times, against two, which move five.
#[cfg(feature = "cuda")]
fn time(device: &Device, shape: (usize, usize)) -> Result<()> {
    const RUNS: u32 = 50;
    for dtype in [DType::F32, DType::BF16] {
        let (gate, up) = (numbers(device, shape, 1)?.to_dtype(dtype)?, numbers(device, shape, 2)?.to_dtype(dtype)?);
        let timed = |run: &dyn Fn() -> Result<Tensor>| {
            run()?;
            device.synchronize()?;
            let start = std::time::Instant::now();
            for _ in 0..RUNS {
                run()?;
            }
            device.synchronize()?;
            Ok::<_, candle_core::Error>(start.elapsed() / RUNS)
        };
        let (one, two) = (timed(&|| gate.apply_op2_no_bwd(&up, &SwiGlu))?, timed(&|| composed(&gate, &up))?);
        println!("{} of {shape:?}: {one:.1?}; candle's two operations: {two:.1?}", dtype.as_str());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_those_of_candle_s_operations() {
        report(&Device::Cpu, "the CPU", (7, 333)).unwrap();
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn kernels_run_in_whatever_stream_candle_has() {
        // The per-thread default stream, and one that was created.
        for device in [Device::new_cuda(0), Device::new_cuda_with_stream(0)] {
            let Ok(device) = device else {
                println!("skipped: kernels_run_in_whatever_stream_candle_has: no CUDA device");
                return;
            };
            report(&device, "a GPU", (1000, 1000)).unwrap();
            let part = numbers(&device, (10, 32), 1).unwrap().narrow(0, 3, 5).unwrap();
            let scaled = tensor::scale(2.0, &part).unwrap().to_vec2::<f32>().unwrap();
            assert_eq!(scaled, (&part * 2.0).unwrap().to_vec2::<f32>().unwrap());
            let (gate, up) = (numbers(&device, (1000, 1000), 1).unwrap(), numbers(&device, (1000, 1000), 2).unwrap());
            let whole = gate.apply_op2_no_bwd(&up, &SwiGlu).unwrap();
            let [gate, up, expected] = [&gate, &up, &whole].map(|t| t.narrow(0, 3, 900).unwrap());
            let found = gate.apply_op2_no_bwd(&up, &SwiGlu).unwrap();
            assert_eq!(found.to_vec2::<f32>().unwrap(), expected.to_vec2::<f32>().unwrap());
            // In a chain of candle's operations, whose memory is freed and given to the next in the order of the stream.
            let mut x = gate.clone();
            for _ in 0..100 {
                x = (x.apply_op2_no_bwd(&up, &SwiGlu).unwrap() * 0.0).unwrap().add(&gate).unwrap();
            }
            assert_eq!(x.to_vec2::<f32>().unwrap(), gate.to_vec2::<f32>().unwrap());
            let late = gate.flatten_all().unwrap().narrow(0, 1, 5000).unwrap();
            let error = late.apply_op2_no_bwd(&late, &SwiGlu).unwrap_err().to_string();
            assert!(error.contains("5000 elements at") && error.contains("4 bytes behind a multiple of 16"), "{error}");
        }
    }

    #[test]
    fn parts_of_tensors_are_taken_wherever_they_begin() {
        let [gate, up] = [1, 2].map(|salt| numbers(&Device::Cpu, (10, 33), salt).unwrap());
        let whole = gate.apply_op2_no_bwd(&up, &SwiGlu).unwrap();
        // Rows of 33 floats begin at multiples of 16 bytes only here and there.
        for first in 0..10 {
            let [gate, up, expected] = [&gate, &up, &whole].map(|t| t.narrow(0, first, 10 - first).unwrap());
            let found = gate.apply_op2_no_bwd(&up, &SwiGlu).unwrap();
            assert_eq!(found.to_vec2::<f32>().unwrap(), expected.to_vec2::<f32>().unwrap());
        }
        let none = gate.narrow(0, 3, 0).unwrap();
        assert_eq!(none.apply_op2_no_bwd(&none, &SwiGlu).unwrap().dims(), [0, 33]);
    }

    #[test]
    fn what_it_does_not_take_is_an_error_that_says_what_to_do() {
        let [gate, up] = [1, 2].map(|salt| numbers(&Device::Cpu, (4, 6), salt).unwrap());
        let refused = |gate: &Tensor, up: &Tensor| gate.apply_op2_no_bwd(up, &SwiGlu).unwrap_err().to_string();
        let error = refused(&gate.t().unwrap(), &up.t().unwrap());
        assert!(
            error.contains("swiglu: `gate` of shape [6, 4] has strides [1, 6] and is not contiguous; call `.contiguous()?`"),
            "{error}"
        );
        let error = refused(&gate, &up.t().unwrap());
        assert!(error.contains("shape mismatch in swiglu, lhs: [4, 6], rhs: [6, 4]"), "{error}");
        let error = refused(&gate.to_dtype(DType::F64).unwrap(), &up);
        assert!(error.contains("swiglu: takes `f32` and `bf16`, and `gate` has `f64`"), "{error}");
        let error = refused(&gate, &up.to_dtype(DType::BF16).unwrap());
        assert!(error.contains("unexpected dtype, expected: F32, got: BF16"), "{error}");
    }
}
