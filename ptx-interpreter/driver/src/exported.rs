//! How a function of the driver is written here.

/// Functions of the driver by their names: each gives a code.
macro_rules! exported {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// As the driver's documentation of the function says.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $ty),*) -> $crate::codes::Code {
                fn body($($arg: $ty),*) -> Result<(), $crate::codes::Code> $body
                // A code is 32 bits, whose sign OpenCL uses.
                if let Some(code) = $crate::failing::told(stringify!($name)) {
                    return code as $crate::codes::Code;
                }
                body($($arg),*).err().unwrap_or($crate::codes::SUCCESS)
            }
        )*
    };
}

/// Writes what a caller gave an address for.
macro_rules! put {
    ($to:expr, $value:expr) => {{
        let to = $to;
        if to.is_null() {
            return Err($crate::codes::INVALID_VALUE);
        }
        // SAFETY: the caller's address for one value of this type, and not null.
        unsafe { to.write($value) }
    }};
}

/// Reads what a caller gave the address of.
macro_rules! take {
    ($from:expr) => {{
        let from = $from;
        if from.is_null() {
            return Err($crate::codes::INVALID_VALUE);
        }
        // SAFETY: the caller's address of a value of this type, and not null.
        unsafe { &*from }
    }};
}
