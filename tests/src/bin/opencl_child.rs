//! Builds and runs the OpenCL kernels of a job file and prints what came of them, in a process of its own: a bad kernel may hang a
//! CPU device or corrupt its host, and Oclgrind wraps whole programs. `opencl_tools` writes the file and reads the answer.
//!
//! A job file has one word and its operands per line; texts and bytes are in hexadecimal: `job`, `text`, `options`, `entry`, `range`
//! (global and local size, three each), `value`, `buffer`, `local` (bytes), `run`. Without an `entry`, `run` only builds. The answer:
//! `log`, `error` and `buffer` lines, one `end` for each job. Exit status 3: there is no OpenCL device.

#![expect(unsafe_code, reason = "launches kernels through the OpenCL API")]

use libloading::Library;
use opencl_sys::cl_function_types::*;
use opencl_sys::*;
use std::error::Error;
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The functions of OpenCL, by Khronos's own signatures.
macro_rules! functions {
    ($($name:ident: $ty:ty,)*) => {
        #[expect(non_snake_case, reason = "the API's own names")]
        struct Api {
            $($name: $ty,)*
        }

        impl Api {
            fn load(library: &Library) -> Result<Api> {
                // SAFETY: the symbols are of these types in every library of OpenCL.
                Ok(Api { $($name: unsafe { *library.get(stringify!($name).as_bytes())? },)* })
            }
        }
    };
}

functions! {
    clGetPlatformIDs: clGetPlatformIDs_t,
    clGetDeviceIDs: clGetDeviceIDs_t,
    clCreateContext: clCreateContext_t,
    clCreateCommandQueue: clCreateCommandQueue_t,
    clCreateProgramWithSource: clCreateProgramWithSource_t,
    clBuildProgram: clBuildProgram_t,
    clGetProgramBuildInfo: clGetProgramBuildInfo_t,
    clReleaseProgram: clReleaseProgram_t,
    clCreateKernel: clCreateKernel_t,
    clSetKernelArg: clSetKernelArg_t,
    clReleaseKernel: clReleaseKernel_t,
    clCreateBuffer: clCreateBuffer_t,
    clReleaseMemObject: clReleaseMemObject_t,
    clEnqueueNDRangeKernel: clEnqueueNDRangeKernel_t,
    clEnqueueReadBuffer: clEnqueueReadBuffer_t,
    clFinish: clFinish_t,
}

/// Calls a function of the API and looks at its code, which is what it returns or, with `; code`, writes to its last argument.
macro_rules! call {
    ($api:expr, $name:ident($($arg:expr),* ; code)) => {{
        let mut code = CL_SUCCESS;
        // SAFETY: all handles are alive, and what is pointed to is as long as is said.
        let made = unsafe { ($api.$name.ok_or("no such function")?)($($arg,)* &mut code) };
        checked(stringify!($name), code).map(|()| made)
    }};
    ($api:expr, $name:ident($($arg:expr),*)) => {{
        // SAFETY: as above.
        checked(stringify!($name), unsafe { ($api.$name.ok_or("no such function")?)($($arg),*) })
    }};
}

fn checked(name: &str, code: cl_int) -> Result<()> {
    if code == CL_SUCCESS { Ok(()) } else { Err(format!("{name} failed with {code}").into()) }
}

#[derive(Default)]
struct Job {
    text: String,
    options: String,
    entry: String,
    range: Vec<usize>,
    arguments: Vec<Argument>,
}

enum Argument {
    Value(Vec<u8>),
    Buffer(Vec<u8>),
    Local(usize),
}

struct Machine {
    api: Api,
    device: cl_device_id,
    context: cl_context,
    queue: cl_command_queue,
}

fn main() -> Result<()> {
    let path = std::env::args().nth(1).ok_or("needs a job file")?;
    let Ok(machine) = open() else { std::process::exit(3) };
    let mut job = Job::default();
    for line in std::fs::read_to_string(path)?.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "job" => job = Job::default(),
            "text" => job.text = String::from_utf8(bytes(rest)?)?,
            "options" => job.options = rest.to_owned(),
            "entry" => job.entry = rest.to_owned(),
            "range" => job.range = rest.split(' ').map(str::parse).collect::<std::result::Result<_, _>>()?,
            "value" => job.arguments.push(Argument::Value(bytes(rest)?)),
            "buffer" => job.arguments.push(Argument::Buffer(bytes(rest)?)),
            "local" => job.arguments.push(Argument::Local(rest.parse()?)),
            "run" => {
                if let Err(error) = run(&machine, &job) {
                    println!("\nerror {}", hex(error.to_string().as_bytes()));
                }
                println!("\nend");
            }
            _ => return Err(format!("unknown word `{word}`").into()),
        }
    }
    Ok(())
}

/// The process itself, where Oclgrind is preloaded; else the system's library.
fn library() -> Result<Library> {
    #[cfg(unix)]
    {
        let process = Library::from(libloading::os::unix::Library::this());
        // SAFETY: nothing is called.
        if unsafe { process.get::<clGetPlatformIDs_t>(b"clGetPlatformIDs") }.is_ok() {
            return Ok(process);
        }
    }
    let name = if cfg!(windows) { "OpenCL.dll" } else { "libOpenCL.so.1" };
    // SAFETY: its initialisers are the vendor's.
    Ok(unsafe { Library::new(name)? })
}

fn open() -> Result<Machine> {
    let api = Api::load(Box::leak(Box::new(library()?)))?;
    let (mut platform, mut device) = (null_mut(), null_mut());
    call!(api, clGetPlatformIDs(1, &mut platform, null_mut()))?;
    call!(api, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &mut device, null_mut()))?;
    let context = call!(api, clCreateContext(null(), 1, &device, None, null_mut(); code))?;
    let queue = call!(api, clCreateCommandQueue(context, device, 0; code))?;
    Ok(Machine { api, device, context, queue })
}

fn run(machine: &Machine, job: &Job) -> Result<()> {
    let text = CString::new(job.text.as_str())?;
    let program = call!(machine.api, clCreateProgramWithSource(machine.context, 1, &mut text.as_ptr(), null(); code))?;
    let outcome = run_program(machine, job, program);
    call!(machine.api, clReleaseProgram(program))?;
    outcome
}

fn run_program(machine: &Machine, job: &Job, program: cl_program) -> Result<()> {
    let options = CString::new(job.options.as_str())?;
    let built = call!(machine.api, clBuildProgram(program, 1, &machine.device, options.as_ptr(), None, null_mut()));
    let log = build_log(machine, program)?;
    if !log.trim_matches(['\0', '\n', ' ']).is_empty() {
        println!("\nlog {}", hex(log.as_bytes()));
    }
    built?;
    if job.entry.is_empty() {
        return Ok(());
    }
    let entry = CString::new(job.entry.as_str())?;
    let kernel = call!(machine.api, clCreateKernel(program, entry.as_ptr(); code))?;
    let mut buffers = Vec::new();
    let outcome = run_kernel(machine, job, kernel, &mut buffers);
    for (memory, _) in buffers {
        call!(machine.api, clReleaseMemObject(memory))?;
    }
    call!(machine.api, clReleaseKernel(kernel))?;
    outcome
}

fn run_kernel(machine: &Machine, job: &Job, kernel: cl_kernel, buffers: &mut Vec<(cl_mem, usize)>) -> Result<()> {
    set_arguments(machine, job, kernel, buffers)?;
    let [gx, gy, gz, lx, ly, lz] = job.range[..] else { return Err("a range has six numbers".into()) };
    let (global, local, queue) = ([gx, gy, gz], [lx, ly, lz], machine.queue);
    // What the kernel then does to memory is what this process is there to find out.
    call!(machine.api, clEnqueueNDRangeKernel(queue, kernel, 3, null(), global.as_ptr(), local.as_ptr(), 0, null(), null_mut()))?;
    call!(machine.api, clFinish(queue))?;
    for (memory, size) in buffers {
        let mut content = vec![0u8; *size];
        let to = content.as_mut_ptr().cast();
        call!(machine.api, clEnqueueReadBuffer(queue, *memory, CL_TRUE, 0, *size, to, 0, null(), null_mut()))?;
        println!("\nbuffer {}", hex(&content));
    }
    Ok(())
}

fn build_log(machine: &Machine, program: cl_program) -> Result<String> {
    let mut size = 0;
    call!(machine.api, clGetProgramBuildInfo(program, machine.device, CL_PROGRAM_BUILD_LOG, 0, null_mut(), &mut size))?;
    let mut log = vec![0u8; size];
    let to = log.as_mut_ptr().cast();
    call!(machine.api, clGetProgramBuildInfo(program, machine.device, CL_PROGRAM_BUILD_LOG, size, to, null_mut()))?;
    Ok(String::from_utf8_lossy(&log).into_owned())
}

fn set_arguments(machine: &Machine, job: &Job, kernel: cl_kernel, buffers: &mut Vec<(cl_mem, usize)>) -> Result<()> {
    for (index, argument) in (0u32..).zip(&job.arguments) {
        let memory: cl_mem;
        let (size, value): (usize, *const c_void) = match argument {
            Argument::Value(bytes) => (bytes.len(), bytes.as_ptr().cast()),
            Argument::Local(size) => (*size, null()),
            Argument::Buffer(bytes) => {
                let (flags, from) = (CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.as_ptr().cast_mut().cast());
                memory = call!(machine.api, clCreateBuffer(machine.context, flags, bytes.len(), from; code))?;
                buffers.push((memory, bytes.len()));
                (size_of::<cl_mem>(), (&raw const memory).cast())
            }
        };
        call!(machine.api, clSetKernelArg(kernel, index, size, value))?;
    }
    Ok(())
}

fn bytes(hex: &str) -> Result<Vec<u8>> {
    (0..hex.len()).step_by(2).map(|at| Ok(u8::from_str_radix(hex.get(at..at + 2).ok_or("odd number of digits")?, 16)?)).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
