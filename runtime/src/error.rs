//! What can go wrong between a kernel and its result: one variant for each cause, with the figure, the limit and the way out.

use std::borrow::Cow;
use std::sync::Arc;
use warpwright_codegen::target::Family;

/// The result of what talks to a device.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a device, a buffer or a launch did not work. Cheap to clone: a kernel that does not compile keeps its error.
///
/// `Debug` is the variant's name and the message: `fn main() -> warpwright::Result<()>` and `.unwrap()` print it, and people read it.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No driver of this kind is installed, or it cannot be loaded.
    #[error("no {api} driver: {reason}; {help}")]
    NoDriver {
        /// `CUDA` or `OpenCL`.
        api: &'static str,
        /// What was looked for.
        reason: String,
        /// The way out.
        help: &'static str,
    },
    /// A driver answered, but it has no such device.
    #[error("there is no {api} device {index}: {found}")]
    NoDevice {
        /// `CUDA` or `OpenCL`.
        api: &'static str,
        /// The device asked for.
        index: usize,
        /// How many there are, or why there are none.
        found: String,
    },
    /// The driver does not know what the kernel needs.
    #[error("the CUDA driver is too old for {what}: it supports CUDA {driver}; update the driver, or run the kernel on another device")]
    DriverTooOld {
        /// What it does not know: the kernel and its PTX version, or a function.
        what: String,
        /// The newest CUDA version it supports, `12.4`.
        driver: String,
    },
    /// A call of the driver failed in a way that has no variant of its own.
    #[error("{call} failed with {code}{context}")]
    Driver {
        /// The function called, and on what.
        call: String,
        /// The code, by name and number.
        code: String,
        /// More about it, beginning with a separator; may be empty.
        context: String,
    },
    /// The device has no memory left. It stays usable, and so do all its buffers.
    #[error("out of memory on {device}: {bytes} bytes were asked for; drop buffers that are no longer used, or work in parts")]
    OutOfMemory {
        /// The device.
        device: String,
        /// What was asked for.
        bytes: u64,
    },
    /// A buffer with more bytes than an address can have.
    #[error("{len} elements of {element} bytes are more than can be addressed; work in parts")]
    TooLarge {
        /// Elements asked for.
        len: usize,
        /// Bytes of one.
        element: usize,
    },
    /// A texture that the device cannot have.
    #[error("a texture of {width} × {height} `{texel}`: {reason}")]
    Texture {
        /// What a texel is.
        texel: String,
        /// Columns asked for.
        width: usize,
        /// Rows asked for.
        height: usize,
        /// Why not, and the way out.
        reason: String,
    },
    /// Copies between places of different lengths.
    #[error("the buffer holds {buffer} elements, but {other} were given: lengths must be equal; give {buffer}, or make the buffer as long")]
    LengthMismatch {
        /// Elements of the buffer.
        buffer: usize,
        /// Elements on the other side.
        other: usize,
    },
    /// Elements that a buffer does not have.
    #[error("elements {start} to {end} cannot be copied {what} a buffer that has {len}; copy fewer, or begin earlier")]
    OutOfRange {
        /// `from`, `to`.
        what: &'static str,
        /// The first of them.
        start: usize,
        /// The one behind the last of them.
        end: usize,
        /// Elements of the buffer.
        len: usize,
    },
    /// A range that is no part of a buffer.
    #[error("elements {start} to {end} are no part of a buffer or range that has {len}; give a range within 0..{len}")]
    Range {
        /// The first of them.
        start: usize,
        /// The one behind the last of them.
        end: usize,
        /// Elements of the buffer, or of the range.
        len: usize,
    },
    /// A matrix that its buffer does not hold.
    #[error("{reason}")]
    Matrix {
        /// What does not fit, with the figures, and the way out.
        reason: String,
    },
    /// An array whose shape its buffer does not have.
    #[error("{reason}")]
    Array {
        /// What does not fit, with the figures, and the way out.
        reason: String,
    },
    /// A buffer seen as other elements than its own.
    #[error("a buffer of `{from}` cannot be seen as one of `{to}`: {reason}")]
    View {
        /// Its elements.
        from: String,
        /// What they were to be seen as.
        to: String,
        /// Why not.
        reason: String,
    },
    /// Nothing to time.
    #[error("nothing was timed: {reason}")]
    Untimed {
        /// What is missing, and the way out.
        reason: &'static str,
    },
    /// Zeroed memory for elements that are or hold an enum without a variant 0.
    #[error("zero bytes are no `{element}`: the enum `{within}` has no variant of value 0; add one, or upload elements")]
    NoZero {
        /// The element type.
        element: String,
        /// The enum.
        within: &'static str,
    },
    /// Constant memory holds 64 KiB.
    #[error("{bytes} bytes do not fit into constant memory of {limit} bytes; use `device.upload` and `&Global`")]
    ConstantTooLarge {
        /// What was given.
        bytes: usize,
        /// What fits.
        limit: usize,
    },

    /// The kernel cannot be compiled as it stands.
    #[error("kernel `{kernel}` does not compile:\n{diagnostics}")]
    Compile {
        /// The kernel.
        kernel: &'static str,
        /// All findings, one to a line, each with its place.
        diagnostics: Arc<str>,
    },
    /// The device's own compiler refused what was emitted.
    #[error(
        "{compiler} refused kernel `{kernel}`: {code}\n{log}\nhelp: run the kernel on another device, and please report it with these lines"
    )]
    DeviceCompiler {
        /// The kernel.
        kernel: &'static str,
        /// Whose compiler.
        compiler: String,
        /// The code it gave.
        code: String,
        /// What it wrote.
        log: Arc<str>,
    },
    /// A parameter's element is laid out otherwise on the host than on the device.
    #[error("parameter `{parameter}` of kernel `{kernel}`: `{element}` {reason}")]
    Layout {
        /// The kernel.
        kernel: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The element type.
        element: String,
        /// What differs, and the way out.
        reason: String,
    },
    /// No compute capability of this name is known.
    #[error("{}; {help}", Family::find(target).map_or_else(|| format!("there is no target `{target}`"), |family| format!("nothing is estimated for {}", family.devices)))]
    UnknownTarget {
        /// What was asked for.
        target: String,
        /// The nearest one, or all there are.
        help: String,
    },

    /// Neither `.grid(…)` nor `.cover(…)` was called.
    #[error("kernel `{kernel}` was launched without a grid: call `.grid(blocks)` or `.cover(elements)` first")]
    NoGrid {
        /// The kernel.
        kernel: &'static str,
    },
    /// The kernel's attribute fixes no block and the launch gives none.
    #[error("kernel `{kernel}` fixes no block: call `.block(threads)` before launching, or write `#[kernel(block = …)]`")]
    NoBlock {
        /// The kernel.
        kernel: &'static str,
    },
    /// `.block(…)` where the attribute already says it.
    #[error("kernel `{kernel}` fixes its block at {fixed}: `.block({given})` cannot change it; remove the call")]
    FixedBlock {
        /// The kernel.
        kernel: &'static str,
        /// The attribute's block.
        fixed: String,
        /// The launch's.
        given: String,
    },
    /// A grid or block with an extent of zero or less.
    #[error(
        "kernel `{kernel}` was launched with {what} {given}: every extent must be at least 1; give 1 or more, or leave out the launch where there is nothing to do"
    )]
    EmptyExtent {
        /// The kernel.
        kernel: &'static str,
        /// `a grid of`, `a block of`, `nothing to cover:`.
        what: &'static str,
        /// The extents.
        given: String,
    },
    /// A launch beyond a limit of the device.
    #[error("kernel `{kernel}` was launched with {figure} {what}, but {device} has a limit of {limit}; {help}")]
    Limit {
        /// The kernel.
        kernel: &'static str,
        /// What is beyond: `threads in a block` …
        what: Cow<'static, str>,
        /// How many.
        figure: u64,
        /// The limit.
        limit: u64,
        /// Whose limit.
        device: String,
        /// The way out.
        help: &'static str,
    },
    /// The kernel's 32-bit `usize` cannot count what it was given.
    #[error("kernel `{kernel}` counts with a 32-bit `usize`, but {what} {figure}; write `#[kernel(index = 64)]`")]
    IndexWidth {
        /// The kernel.
        kernel: &'static str,
        /// What is too much: ``the threads of the grid number``, ``the elements of parameter `x` number``,
        /// `` `p.width` of parameter `p` is``.
        what: String,
        /// How much.
        figure: i128,
    },
    /// A buffer of another device.
    #[error(
        "parameter `{parameter}` of kernel `{kernel}` lies on {buffer}, but the launch is on {device}; copy it over, `device.upload(&buffer.download()?)`"
    )]
    OtherDevice {
        /// The kernel.
        kernel: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// Where the buffer is.
        buffer: String,
        /// Where the launch is.
        device: String,
    },
    /// Something of one device used with another, outside a launch.
    #[error("{what} belongs to {owner}, but is used on {device}; use one that was made on that device")]
    ForeignObject {
        /// `the buffer`, `the event` …
        what: &'static str,
        /// Where it belongs.
        owner: String,
        /// Where it was used.
        device: String,
    },
    /// Memory or a stream of another library that kernels cannot work with.
    #[error("{reason} (on {device})")]
    Foreign {
        /// The device.
        device: String,
        /// What is wrong with it, with its figure and the way out.
        reason: String,
    },
    /// Rows that cannot be spread over devices as asked.
    #[error("{reason}")]
    Shards {
        /// What does not fit, with its figures, and the way out.
        reason: String,
    },
    /// A collective, or ranks that cannot come together.
    #[error("{reason}")]
    Collective {
        /// Which rank, what it launched, what is wrong, and the way out.
        reason: String,
    },
    /// A graph that is recorded or replayed with what it cannot work with.
    #[error("{reason}")]
    Graph {
        /// What is wrong, with the figures of both sides, and the way out.
        reason: String,
    },
    /// An argument a launch cannot make sense of.
    #[error("kernel `{kernel}`: {reason}")]
    Argument {
        /// The kernel.
        kernel: &'static str,
        /// What is wrong, and the way out.
        reason: String,
    },

    /// A kernel faulted while it ran.
    #[error("kernel `{kernel}` faulted on {device}: {message}{place}")]
    Fault {
        /// The kernel.
        kernel: &'static str,
        /// Where it ran.
        device: String,
        /// What happened.
        message: String,
        /// ` at file:line, block …, thread …`, as far as known.
        place: String,
    },
    /// The simulator found something wrong with what the kernel did.
    #[error(transparent)]
    Simulated(#[from] Box<crate::sim::Fault>),
    /// A mistake of this library's own: something that was checked before does not hold.
    #[error("`{of}`: {reason}")]
    Internal {
        /// A kernel, a parameter, a device.
        of: String,
        /// The line of the sources that finds it.
        reason: String,
    },
    /// The device does not do this.
    #[error("{device} {what}")]
    Unsupported {
        /// The device.
        device: String,
        /// What it does not do, and the way out.
        what: String,
    },
}

/// `Debug` of an error: `NoDevice: there is no CUDA device 3: …`. All variants are listed, or it does not compile.
macro_rules! debug_of_variants {
    ($error:ident: $($variant:ident)*) => {
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let variant = match self {
                    $($error::$variant { .. } => stringify!($variant),)*
                };
                write!(f, "{variant}: {self}")
            }
        }
    };
}

pub(crate) use debug_of_variants;

debug_of_variants! {
    Error:
    NoDriver NoDevice DriverTooOld Driver OutOfMemory TooLarge Texture LengthMismatch OutOfRange Range Matrix Array View
    Untimed NoZero ConstantTooLarge Compile DeviceCompiler Layout UnknownTarget NoGrid NoBlock
    FixedBlock EmptyExtent Limit IndexWidth OtherDevice ForeignObject Foreign Shards Collective Graph Argument Fault Simulated
    Internal Unsupported
}

impl Error {
    /// For what only a mistake of this library's own leads to: the line that calls this says what it is. `of`: a kernel or a device.
    #[cold]
    #[track_caller]
    pub(crate) fn internal(of: &str) -> Error {
        Error::Internal { of: of.to_owned(), reason: mistake() }
    }
}

/// Why something is not done that was checked before: the line that calls this finds it.
#[cold]
#[track_caller]
pub(crate) fn mistake() -> String {
    let at = std::panic::Location::caller();
    let file = at.file().replace('\\', "/");
    // From the crate on.
    let file = file.rfind("/src/").map_or(&*file, |from| &file[from + 1..]);
    format!("it is not as it was checked to be (at `{file}:{}`); this is a mistake of warpwright's own: please report it", at.line())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_cross_threads_and_stay_small() {
        fn check<T: Send + Sync + std::error::Error + 'static>() {}
        check::<Error>();
        // `Result<()>` is returned from every launch: it must not grow unnoticed.
        assert!(size_of::<Error>() <= 96, "{}", size_of::<Error>());
    }

    #[test]
    fn a_limit_names_kernel_figure_limit_and_way_out() {
        let error = Error::Limit {
            kernel: "saxpy",
            what: "threads in a block".into(),
            figure: 2048,
            limit: 1024,
            device: "Simulator".into(),
            help: "use a smaller block",
        };
        let text = "kernel `saxpy` was launched with 2048 threads in a block, but Simulator has a limit of 1024; use a smaller block";
        assert_eq!(error.to_string(), text);
    }
}
