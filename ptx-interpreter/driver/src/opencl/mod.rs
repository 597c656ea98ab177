//! OpenCL's functions, without a loader: a platform with one device that has memory, and runs no kernel. A test sees what is said when one of them fails
//! (`PTX_INTERPRETER_FAILS`), and when a kernel has left a fault: its number, a line and a thread are what the test says of `fault`, `line` and `thread`.

pub mod answers;
pub mod memory;
pub mod programs;

use crate::codes::Code;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Functions that make something: each gives what it is called by, and writes a code.
macro_rules! making {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// As the specification of the function says.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $ty,)* code: *mut i32) -> usize {
                fn body($($arg: $ty),*) -> usize $body
                let told = $crate::failing::told(stringify!($name));
                if !code.is_null() {
                    // SAFETY: the caller's address for one code, and not null.
                    unsafe { code.write(told.unwrap_or(0)) };
                }
                if told.is_some() { 0 } else { body($($arg),*) }
            }
        )*
    };
}

use making;

/// `CL_INVALID_VALUE`, `CL_INVALID_MEM_OBJECT` and `CL_INVALID_WORK_GROUP_SIZE` of `cl.h`.
const INVALID_VALUE: Code = -30i32 as Code;
const INVALID_MEM_OBJECT: Code = -38i32 as Code;
const INVALID_WORK_GROUP_SIZE: Code = -54i32 as Code;

/// What there is: memory by its handle, and the arguments of each kernel that are memory.
#[derive(Default)]
struct State {
    made: usize,
    memory: HashMap<usize, Vec<u8>>,
    arguments: HashMap<(usize, u32), usize>,
}

impl State {
    fn new_handle(&mut self) -> usize {
        self.made += 1;
        0x1000 + 0x10 * self.made
    }
}

fn state() -> MutexGuard<'static, State> {
    static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
