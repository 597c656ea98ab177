//! What the driver's functions give (CUDA Driver API, `CUresult`).

use warpwright_ptx_interpreter::FaultKind;

/// 0, or what went wrong.
pub(crate) type Code = u32;

pub(crate) const SUCCESS: Code = 0;
pub(crate) const INVALID_VALUE: Code = 1;
pub(crate) const OUT_OF_MEMORY: Code = 2;
pub(crate) const INVALID_DEVICE: Code = 101;
pub(crate) const INVALID_CONTEXT: Code = 201;
pub(crate) const NO_BINARY_FOR_GPU: Code = 209;
pub(crate) const PEER_ACCESS_UNSUPPORTED: Code = 217;
pub(crate) const INVALID_PTX: Code = 218;
pub(crate) const UNSUPPORTED_PTX_VERSION: Code = 222;
pub(crate) const INVALID_HANDLE: Code = 400;
pub(crate) const NOT_FOUND: Code = 500;
pub(crate) const NOT_READY: Code = 600;
pub(crate) const ILLEGAL_ADDRESS: Code = 700;
pub(crate) const LAUNCH_OUT_OF_RESOURCES: Code = 701;
pub(crate) const LAUNCH_TIMEOUT: Code = 702;
pub(crate) const PEER_ACCESS_ALREADY_ENABLED: Code = 704;
pub(crate) const ASSERT: Code = 710;
pub(crate) const ILLEGAL_INSTRUCTION: Code = 715;
pub(crate) const MISALIGNED_ADDRESS: Code = 716;
pub(crate) const LAUNCH_FAILED: Code = 719;

/// The names of codes, with the zero bytes that C wants.
const NAMES: &[(Code, &str)] = &[
    (SUCCESS, "CUDA_SUCCESS\0"),
    (INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE\0"),
    (OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY\0"),
    (INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE\0"),
    (INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT\0"),
    (NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU\0"),
    (PEER_ACCESS_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED\0"),
    (INVALID_PTX, "CUDA_ERROR_INVALID_PTX\0"),
    (UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION\0"),
    (INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE\0"),
    (NOT_FOUND, "CUDA_ERROR_NOT_FOUND\0"),
    (NOT_READY, "CUDA_ERROR_NOT_READY\0"),
    (ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS\0"),
    (LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES\0"),
    (LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT\0"),
    (PEER_ACCESS_ALREADY_ENABLED, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED\0"),
    (ASSERT, "CUDA_ERROR_ASSERT\0"),
    (ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION\0"),
    (MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS\0"),
    (LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED\0"),
    // What only a test asks for: see `failing`.
    (100, "CUDA_ERROR_NO_DEVICE\0"),
    (221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND\0"),
    (714, "CUDA_ERROR_HARDWARE_STACK_ERROR\0"),
    (803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH\0"),
    (999, "CUDA_ERROR_UNKNOWN\0"),
];

/// The name of a code, with a zero byte.
pub(crate) fn name(code: Code) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
}

/// The code of a fault; of a launch that is not possible, the call's own.
pub(crate) fn of_fault(kind: FaultKind) -> Code {
    match kind {
        FaultKind::BadLaunch => INVALID_VALUE,
        FaultKind::IllegalAddress => ILLEGAL_ADDRESS,
        FaultKind::Misaligned => MISALIGNED_ADDRESS,
        FaultKind::Assert => ASSERT,
        FaultKind::Trap => ILLEGAL_INSTRUCTION,
        FaultKind::Deadlock | FaultKind::TooLong => LAUNCH_TIMEOUT,
        FaultKind::Undefined => LAUNCH_FAILED,
    }
}
