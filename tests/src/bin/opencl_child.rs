//! Builds and runs the OpenCL kernels of a job file and prints what came of them, in a process of its own: a bad kernel may hang a
//! CPU device or corrupt its host, and Oclgrind wraps whole programs. `opencl_tools` writes the file and reads the answer.
//!
//! A job file has one word and its operands per line; texts and bytes are in hexadecimal: `job`, `text`, `options`, `entry`, `range`
//! (global and local size, three each), `value`, `buffer`, `local` (bytes), `run`. Without an `entry`, `run` only builds. The answer:
//! `log`, `error` and `buffer` lines, one `end` for each job. Exit status 3: there is no OpenCL device.

#![expect(unsafe_code, reason = "launches kernels through the OpenCL API")]

use ocl_core::{ArgVal, CommandQueue, Context, DeviceId, Event, Kernel, Mem, Program};
use std::error::Error;
use std::ffi::CString;
use std::ptr::null;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

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
    device: DeviceId,
    context: Context,
    queue: CommandQueue,
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

fn open() -> Result<Machine> {
    let platform = *ocl_core::get_platform_ids()?.first().ok_or("no platform")?;
    let device = *ocl_core::get_device_ids(platform, None, None)?.first().ok_or("no device")?;
    let context = ocl_core::create_context(None, &[device], None, None)?;
    let queue = ocl_core::create_command_queue(&context, device, None)?;
    Ok(Machine { device, context, queue })
}

fn run(machine: &Machine, job: &Job) -> Result<()> {
    let program = ocl_core::create_program_with_source(&machine.context, &[CString::new(job.text.as_str())?])?;
    let built = ocl_core::build_program(&program, Some(&[machine.device]), &CString::new(job.options.as_str())?, None, None);
    let log = build_log(machine, &program);
    if !log.trim_matches(['\0', '\n', ' ']).is_empty() {
        println!("\nlog {}", hex(log.as_bytes()));
    }
    built?;
    if job.entry.is_empty() {
        return Ok(());
    }
    let kernel = ocl_core::create_kernel(&program, &job.entry)?;
    let buffers = set_arguments(machine, job, &kernel)?;
    let [gx, gy, gz, lx, ly, lz] = job.range[..] else { return Err("a range has six numbers".into()) };
    // SAFETY: every argument is set; what the kernel then does to memory is what this process is there to find out.
    unsafe {
        ocl_core::enqueue_kernel(&machine.queue, &kernel, 3, None, &[gx, gy, gz], Some([lx, ly, lz]), None::<Event>, None::<&mut Event>)?;
    }
    ocl_core::finish(&machine.queue)?;
    for (memory, size) in buffers {
        let mut content = vec![0u8; size];
        // SAFETY: the buffer has this many bytes, and the call returns when they are there.
        unsafe {
            ocl_core::enqueue_read_buffer(&machine.queue, &memory, true, 0, &mut content, None::<Event>, None::<&mut Event>)?;
        }
        println!("\nbuffer {}", hex(&content));
    }
    Ok(())
}

fn build_log(machine: &Machine, program: &Program) -> String {
    ocl_core::get_program_build_info(program, machine.device, ocl_core::ProgramBuildInfo::BuildLog)
        .map_or(String::new(), |log| log.to_string())
}

fn set_arguments(machine: &Machine, job: &Job, kernel: &Kernel) -> Result<Vec<(Mem, usize)>> {
    let mut buffers = Vec::new();
    for (index, argument) in (0u32..).zip(&job.arguments) {
        let value = match argument {
            // SAFETY: the bytes live until the call below has copied them.
            Argument::Value(bytes) => unsafe { ArgVal::from_raw(bytes.len(), bytes.as_ptr().cast(), false) },
            // SAFETY: local memory has a size and no address.
            Argument::Local(size) => unsafe { ArgVal::from_raw(*size, null(), false) },
            Argument::Buffer(bytes) => {
                let flags = ocl_core::MemFlags::new().read_write().copy_host_ptr();
                // SAFETY: the bytes are copied before the call returns.
                let memory = unsafe { ocl_core::create_buffer(&machine.context, flags, bytes.len(), Some(bytes))? };
                ocl_core::set_kernel_arg(kernel, index, ArgVal::mem(&memory))?;
                buffers.push((memory, bytes.len()));
                continue;
            }
        };
        ocl_core::set_kernel_arg(kernel, index, value)?;
    }
    Ok(buffers)
}

fn bytes(hex: &str) -> Result<Vec<u8>> {
    (0..hex.len()).step_by(2).map(|at| Ok(u8::from_str_radix(hex.get(at..at + 2).ok_or("odd number of digits")?, 16)?)).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
