//! Modules and events of `cudarc` beside kernels of ours: what was there before they came, and is there when they are gone.

use crate::{cudarc_or_skip, elements, increased};
use cudarc::driver::sys::{CUevent_flags, CUfunction};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtrMut, result};
use std::ffi::{CString, c_void};
use std::sync::Arc;
use warpwright::cudarc::{device_of, stream_of, with_buffers};
use warpwright_tests::ptx_interpreter::is_here;

/// A kernel of somebody else's: each element twice as large.
const TWICE: &str = "
.version 7.0
.target sm_50
.address_size 64
.visible .entry twice(.param .u64 data)
{
    .reg .f32 %f<2>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    add.f32 %f1, %f1, %f1;
    st.global.f32 [%rd3], %f1;
    ret;
}";

/// Launches it, a thread for each element.
fn launch(twice: CUfunction, stream: &Arc<CudaStream>, x: &mut CudaSlice<f32>) {
    let blocks = x.len() as u32 / 64;
    let (mut address, _recorded) = x.device_ptr_mut(stream);
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    // SAFETY: a kernel of one address, that of as many elements as there are threads; the context is current, which asking for the address has made it.
    unsafe { result::launch_kernel(twice, (blocks, 1, 1), (64, 1, 1), 0, stream.cu_stream(), &mut arguments) }.unwrap();
}

#[test]
fn of_others_go_on_before_beside_and_after_kernels_of_ours() {
    let Some((context, [stream, _])) = cudarc_or_skip("modules::of_others_go_on_before_beside_and_after_kernels_of_ours") else { return };
    let n = elements(1 << 16);
    context.bind_to_thread().unwrap();
    let text = CString::new(TWICE).unwrap();
    // SAFETY: the text of a module, which ends with a zero.
    let module = unsafe { result::module::load_data(text.as_ptr().cast()) }.unwrap();
    // SAFETY: the module is loaded.
    let twice = unsafe { result::module::get_function(module, CString::new("twice").unwrap()) }.unwrap();
    let mut x = stream.clone_htod(&vec![1.0f32; n]).unwrap();
    let begun = stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).unwrap();
    let mut expected = 1.0f32;
    for _ in 0..5 {
        launch(twice, &stream, &mut x);
        with_buffers(&mut x, &stream, |x, stream| increased(1.0, x).cover(n).launch_on(stream)).unwrap();
        expected = 2.0 * expected + 1.0;
    }
    let ended = stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).unwrap();
    // What was made of theirs goes.
    drop((stream_of(&stream).unwrap(), device_of(&context).unwrap()));
    ended.synchronize().unwrap();
    assert!(begun.is_complete() && ended.is_complete());
    // The stand-in for the driver has no such function.
    assert!(is_here() || begun.elapsed_ms(&ended).unwrap() >= 0.0, "the first was recorded first");
    launch(twice, &stream, &mut x);
    assert_eq!(stream.clone_dtoh(&x).unwrap(), vec![2.0 * expected; n]);
    // SAFETY: nothing of it runs any more.
    unsafe { result::module::unload(module) }.unwrap();
}
