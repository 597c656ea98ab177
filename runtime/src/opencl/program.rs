//! Programs: texts handed to the device's compiler.

#![expect(unsafe_code, reason = "calls the OpenCL API")]

use super::api::{self, check};
use super::device::Context;
use super::owned::Owned;
use super::sys::{self, cl_int};
use crate::driver::c_string;
use crate::error::{Error, Result};
use std::ptr::{null, null_mut};

/// Options that the user adds to those of each program.
const VARIABLE: &str = "WARPWRIGHT_OPENCL_OPTIONS";

/// A text, built; its kernels keep the program alive. The device's compiler need not know the last options: all but the first `needed` may be dropped. `name`: of the kernel
/// in messages.
pub(super) fn build(context: &Context, name: &'static str, text: &str, options: &[&str], needed: usize) -> Result<Owned> {
    let text = c_string(name, text)?;
    let mut code = 0;
    // SAFETY: one text, which ends with a zero byte.
    let program = unsafe { context.api.clCreateProgramWithSource(context.context, 1, &text.as_ptr(), null(), &mut code) };
    check(code, "clCreateProgramWithSource")?;
    let program = Owned(program, context.api.clReleaseProgram);
    let added = std::env::var(VARIABLE).unwrap_or_default();
    let mut options: Vec<&str> = added.split_whitespace().chain(options.iter().copied()).collect();
    let needed = needed + added.split_whitespace().count();
    let mut code = build_with(&program, context, name, &options)?;
    // A compiler that does not know an option may say so without saying which: the last ones go first.
    while code == api::INVALID_BUILD_OPTIONS && options.len() > needed {
        options.pop();
        code = build_with(&program, context, name, &options)?;
    }
    match code {
        api::SUCCESS => Ok(program),
        api::BUILD_PROGRAM_FAILURE | api::INVALID_BUILD_OPTIONS => Err(Error::DeviceCompiler {
            kernel: name,
            compiler: format!("the OpenCL compiler of {}", context.identity.name),
            code: api::name(code),
            log: match added.trim() {
                "" => log(&program, context),
                added => format!("(`{VARIABLE}` adds `{added}`) {}", log(&program, context)),
            }
            .into(),
        }),
        code => Err(Error::Driver {
            call: format!("clBuildProgram for kernel `{name}`"),
            code: api::name(code),
            context: api::way_out(code).to_owned(),
        }),
    }
}

fn build_with(program: &Owned, context: &Context, name: &'static str, options: &[&str]) -> Result<cl_int> {
    let options = c_string(name, &options.join(" "))?;
    // SAFETY: one device; the options end with a zero byte; no callback, so the call returns when it is built.
    Ok(unsafe { context.api.clBuildProgram(program.0, 1, &context.device, options.as_ptr(), null(), null_mut()) })
}

fn log(program: &Owned, context: &Context) -> String {
    // SAFETY: writes at most the size it is given.
    let log = api::info("clGetProgramBuildInfo", |size, value, needed| unsafe {
        context.api.clGetProgramBuildInfo(program.0, context.device, sys::CL_PROGRAM_BUILD_LOG, size, value, needed)
    });
    log.map_or_else(|error| format!("(no build log: {error})"), |bytes| api::text(&bytes))
}
