//! What a function of the library refuses before it writes anything.

/// Why a function of the library did not run. Whatever it is, nothing has been written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A buffer is shorter than what is written to it or read beside another.
    #[error("`{function}`: `{buffer}` has {has} elements, and {needed} are needed; make it longer")]
    Length {
        /// The function called.
        function: &'static str,
        /// The parameter.
        buffer: &'static str,
        /// Its length.
        has: usize,
        /// What is needed.
        needed: usize,
    },
    /// No element where the result is one of the elements.
    #[error("`{function}`: `{buffer}` is empty, and nothing in it is the result; give it an element")]
    Empty {
        /// The function called.
        function: &'static str,
        /// The parameter.
        buffer: &'static str,
    },
    /// A frozen workspace lacks room.
    #[error(
        "`{function}` needs {needed} bytes of workspace {slot}, which has {has} and is frozen; call the function once before `freeze`, or leave it out"
    )]
    WorkspaceTooSmall {
        /// The function called.
        function: &'static str,
        /// Which of the workspace's parts.
        slot: &'static str,
        /// Bytes needed.
        needed: usize,
        /// Bytes there are.
        has: usize,
    },
    /// More elements than the function counts.
    #[error("`{function}` takes at most {most} elements, and `{buffer}` has {has}; work in parts")]
    TooLong {
        /// The function called.
        function: &'static str,
        /// The parameter.
        buffer: &'static str,
        /// Its length.
        has: usize,
        /// The limit.
        most: usize,
    },
    /// A figure that no launch can have.
    #[error("`{function}`: `{argument}` is {value}; {help}")]
    Argument {
        /// The function called.
        function: &'static str,
        /// The parameter.
        argument: &'static str,
        /// What was given.
        value: String,
        /// The way out.
        help: &'static str,
    },
    /// A buffer or the workspace lies on another device than the stream.
    #[error("`{function}`: `{buffer}` lies on {owner}, and the stream is of {device}; make it on that device")]
    OtherDevice {
        /// The function called.
        function: &'static str,
        /// The parameter.
        buffer: &'static str,
        /// Where it lies.
        owner: String,
        /// Where the stream is.
        device: String,
    },
    /// The device refused a launch or an allocation.
    #[error(transparent)]
    Device(#[from] warpwright::Error),
}

/// What a function of the library gives.
pub type Result<T> = std::result::Result<T, Error>;
