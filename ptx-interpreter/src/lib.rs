//! Executes the text of PTX modules on the CPU: what a GPU would get, run where there is none.
//!
//! It is written from NVIDIA's document of PTX ("Parallel Thread Execution ISA") and shares no code with what prints PTX, so that a mistake of the printer is no mistake here.
//! It is no model of a GPU's speed, and memory is sequentially consistent. Approximate instructions keep within their bounds and are not the bits of a GPU.
//!
//! ```
//! use warpwright_ptx_interpreter::{Launch, Memory, Module};
//!
//! let text = "
//! .version 7.0
//! .target sm_80
//! .address_size 64
//! .visible .entry double(.param .u64 data)
//! {
//!     .reg .b32 %r<3>;
//!     .reg .b64 %rd<3>;
//!     ld.param.u64 %rd1, [data];
//!     mov.u32 %r1, %tid.x;
//!     mad.wide.u32 %rd2, %r1, 4, %rd1;
//!     ld.global.u32 %r2, [%rd2];
//!     add.u32 %r2, %r2, %r2;
//!     st.global.u32 [%rd2], %r2;
//!     ret;
//! }";
//! let mut memory = Memory::new();
//! let data = memory.allocate(8).expect("memory");
//! memory.write(data, &[1, 0, 0, 0, 2, 0, 0, 0]).expect("it is there");
//! let module = Module::parse(text).expect("PTX").load(&mut memory).expect("memory");
//! let launch = Launch { block: [2, 1, 1], ..Launch::default() };
//! module.entry("double").expect("a kernel").launch(&launch, &mut memory, &data.to_le_bytes()).expect("no fault");
//! assert_eq!(memory.read(data, 8), Ok(&[2, 0, 0, 0, 4, 0, 0, 0][..]));
//! ```

mod decode;
mod error;
mod evaluate;
mod lexer;
mod machine;
mod memory;
mod module;
mod parse;
mod program;
mod syntax;
mod tensor;
mod ty;

pub use error::{Fault, FaultKind, ParseError};
pub(crate) use machine::number as machine_number;
pub use machine::{Launch, Outcome, RESIDENT_BLOCKS};
pub use memory::{LARGEST_ALLOCATION, MOST_DEVICES, Memory, TexelType, Texture};
pub use module::{Entry, LoadedModule, Module, Parameter};
pub use tensor::{Swizzle, TensorMap};
