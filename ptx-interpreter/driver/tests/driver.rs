//! The driver's functions as a program calls them: what is told at once, and what later.

#![expect(unsafe_code, reason = "calls a driver")]

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::ptr::null_mut;
use warpwright_ptx_driver::{device, memory, modules, streams, textures};

const TEXT: &CStr = c"
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 data)
{
.reg .b64 %rd<2>;
ld.param.u64 %rd1, [data];
st.global.u32 [%rd1], 7;
ret;
}
";

fn load(text: &CStr, log: &mut [u8]) -> (usize, u32) {
    let (mut names, mut values): ([c_uint; 2], [*mut c_void; 2]) =
        ([5, 6], [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(log.len())]);
    let mut module = 0;
    // SAFETY: a text with a zero byte at its end, and a log of as many bytes as are said.
    let code = unsafe { modules::cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), 2, names.as_mut_ptr(), values.as_mut_ptr()) };
    (module, code)
}

fn launch(function: usize, data: u64) -> u32 {
    let mut data = data;
    let mut parameters = [(&raw mut data).cast::<c_void>()];
    // SAFETY: the kernel has one parameter.
    unsafe { modules::cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, parameters.as_mut_ptr(), null_mut()) }
}

fn synchronize() -> u32 {
    // SAFETY: takes nothing.
    unsafe { device::cuCtxSynchronize() }
}

#[test]
fn faults_are_told_by_later_calls() {
    let mut log = [0u8; 256];
    assert_eq!(load(TEXT, &mut log).1, 201, "no context is current");
    let (mut function, mut data, mut found, mut context) = (0, 0, 0u32, 0);
    // SAFETY: writes one handle.
    assert_eq!(unsafe { device::cuDevicePrimaryCtxRetain(&mut context, 0) }, 0);
    // SAFETY: a context, as was just told.
    assert_eq!(unsafe { device::cuCtxSetCurrent(context) }, 0);
    let (_, code) = load(c".version 7.0\n.target sm_80\n.visible .entry k()\n{\nfrobnicate;\n}\n", &mut log);
    let said = CStr::from_bytes_until_nul(&log).expect("a text").to_string_lossy().into_owned();
    assert_eq!((code, said.as_str()), (218, "PTX interpreter: line 5: `frobnicate` is not executed here"));
    // For a later device.
    assert_eq!(load(c".version 8.6\n.target sm_100\n", &mut log).1, 209);

    let (module, code) = load(TEXT, &mut log);
    assert_eq!(code, 0);
    let name: *const c_char = c"k".as_ptr();
    // SAFETY: each writes one value, and reads a name that ends with a zero byte.
    let codes = unsafe { [modules::cuModuleGetFunction(&mut function, module, name), memory::cuMemAlloc_v2(&mut data, 8)] };
    assert_eq!(codes, [0, 0]);
    assert_eq!((launch(function, data), synchronize()), (0, 0));
    // SAFETY: four bytes are there.
    assert_eq!(unsafe { memory::cuMemcpyDtoHAsync_v2((&raw mut found).cast(), data, 4, 0) }, 0);
    assert_eq!(found, 7);

    // Memory that was freed: the launch itself is well, and all that comes behind it is not.
    // SAFETY: allocated above.
    assert_eq!(unsafe { memory::cuMemFree_v2(data) }, 0);
    assert_eq!(launch(function, data), 0);
    assert_eq!([synchronize(), launch(function, data), synchronize()], [700; 3]);
    // Whatever is asked for, also what would be refused for another reason.
    let (mut stream, mut event, mut pool, mut array) = (0, 0, 0, 0);
    let descriptor = std::mem::MaybeUninit::zeroed();
    // SAFETY: each writes one value at most; the descriptor's fields are numbers, of which 0 is one.
    let codes = unsafe {
        [
            memory::cuMemAlloc_v2(&mut data, 8),
            memory::cuMemAlloc_v2(&mut data, 0),
            memory::cuMemPoolCreate(&mut pool, std::ptr::null()),
            memory::cuMemPoolSetAttribute(0, 4, null_mut()),
            memory::cuMemPoolSetAccess(0, std::ptr::null(), 0),
            streams::cuStreamCreate(&mut stream, 0),
            streams::cuEventCreate(&mut event, 0),
            streams::cuEventQuery(0),
            textures::cuArrayCreate_v2(&mut array, descriptor.as_ptr()),
        ]
    };
    assert_eq!(codes, [700; 9]);
}
