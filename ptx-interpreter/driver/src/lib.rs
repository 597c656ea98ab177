//! The functions of the CUDA driver that the runtime calls, on the interpreter of PTX: what a test loads under the name `libcuda.so.1`.
//!
//! What is put into a stream is done in the call, or late: when somebody waits for it (`queues.rs`). A fault of a kernel makes its device's contexts lost, and all later calls
//! give its code, as the driver's do; what happened goes to standard error. Variables choose the rest:
//!
//! | variable | what it chooses | if it is not set |
//! | --- | --- | --- |
//! | `PTX_INTERPRETER_CAPABILITY` | the compute capability | 8.0 |
//! | `PTX_INTERPRETER_CUDA` | the version of CUDA, and with it of the PTX that is taken | 13.0 |
//! | `PTX_INTERPRETER_DEVICES` | how many devices there are; of three, two reach each other's memory by copies, and the third none | 1 |
//! | `PTX_INTERPRETER_SEED` | the order in which threads run | 0 |
//! | `PTX_INTERPRETER_STREAMS` | `late`: streams do nothing before somebody waits for it | at once |
//! | `PTX_INTERPRETER_NCCL` | `early`: who sends, and the root of a broadcast, wait for nobody | they wait for all |
//! | `PTX_INTERPRETER_FAILS` | functions that fail | none |
//!
//! It has NCCL's functions, too, and OpenCL's, which a test loads under the names `libnccl.so.2` and `libOpenCL.so.1`. Those of OpenCL are for the errors of programs: they keep what they are given and compute nothing.

#![expect(unsafe_code, reason = "has the driver's interface, which takes and gives addresses")]
#![expect(clippy::too_many_arguments, reason = "the driver's own signatures")]

#[macro_use]
mod exported;

mod codes;
pub mod device;
mod failing;
pub mod graphs;
mod layouts;
pub mod memory;
pub mod modules;
pub mod nccl;
pub mod opencl;
mod queues;
mod state;
pub mod streams;
pub mod textures;
