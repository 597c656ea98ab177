//! A launch's arguments, as the twin's entry takes them.
#![expect(unsafe_code, reason = "arguments are bytes until the twin's entry names their types")]

use crate::element::Element;
use crate::prelude::{Constant, Global, Matrix, MatrixBatch, Texture2d};
use crate::texture::{Picture, Texel};

/// What the macro leaves of a kernel for the host: takes the arguments apart and calls the twin, for one thread.
pub type TwinEntry = fn(&TwinArguments<'_>);

/// One argument, as the runtime hands it over.
#[derive(Clone, Copy, Debug)]
pub enum TwinArgument {
    /// By value.
    Value {
        /// Of an initialised value of the parameter's type; need not be aligned.
        address: *const u8,
    },
    /// A buffer.
    Global {
        /// Of the first element, aligned; of anything if there are none.
        address: *mut u8,
        /// Elements.
        len: usize,
    },
    /// A texture.
    Texture {
        /// Of the first texel, aligned.
        address: *const u8,
        /// What it is without its texels.
        picture: Picture,
    },
    /// Constant memory.
    Constant {
        /// Of an initialised value of the parameter's type, aligned.
        address: *const u8,
    },
}

/// All arguments, in the order of the kernel's parameters.
///
/// The methods are for the entry that the macro writes: it asks for each argument by the kind and type that the kernel's definition
/// states, and handles do not outlive the call.
#[derive(Debug)]
pub struct TwinArguments<'a> {
    arguments: &'a [TwinArgument],
}

impl<'a> TwinArguments<'a> {
    /// Of these arguments.
    ///
    /// # Safety
    /// Each is what the kernel's parameter in its place says: addresses are valid for reads of the parameter's type, and for writes if it is
    /// a `&mut Global`, as long as the arguments are used; nobody else writes there meanwhile.
    pub(crate) unsafe fn new(arguments: &'a [TwinArgument]) -> TwinArguments<'a> {
        TwinArguments { arguments }
    }

    /// The value of parameter `i`.
    #[inline]
    pub fn value<T: Element>(&self, i: usize) -> T {
        match self.arguments[i] {
            // SAFETY: a `T`, by the promise of `new`.
            TwinArgument::Value { address } => unsafe { address.cast::<T>().read_unaligned() },
            _ => other_kind(i),
        }
    }

    /// The buffer of parameter `i`, a `&Global<T>`.
    #[inline]
    pub fn global<T: Element>(&self, i: usize) -> Global<T> {
        match self.arguments[i] {
            // SAFETY: `len` elements, by the promise of `new`. All threads of the launch run on this OS thread, and the entry lends the handle to
            // the twin for one thread's run, mutably only for a `&mut Global`.
            TwinArgument::Global { address, len } => unsafe { Global::from_raw(address.cast(), len) },
            _ => other_kind(i),
        }
    }

    /// The buffer of parameter `i`, a `&mut Global<T>`.
    #[inline]
    pub fn global_mut<T: Element>(&self, i: usize) -> Global<T> {
        self.global(i)
    }

    /// The texture of parameter `i`.
    #[inline]
    pub fn texture<T: Texel>(&self, i: usize) -> Texture2d<T> {
        match self.arguments[i] {
            // SAFETY: as many texels as the picture has, which nobody writes, by the promise of `new`.
            TwinArgument::Texture { address, picture } => unsafe { Texture2d::from_raw(address.cast(), picture) },
            _ => other_kind(i),
        }
    }

    /// The matrix of parameter `i` and the three behind it, a `&Matrix<T>` or `&mut Matrix<T>`.
    #[inline]
    pub fn matrix<T: Element>(&self, i: usize) -> Matrix<T> {
        Matrix::new(self.global(i), [1, 2, 3].map(|behind| self.value(i + behind)))
    }

    /// The matrices of parameter `i` and the five behind it, a `&MatrixBatch<T>` or `&mut MatrixBatch<T>`.
    #[inline]
    pub fn matrix_batch<T: Element>(&self, i: usize) -> MatrixBatch<T> {
        MatrixBatch::new(self.global(i), [1, 2, 3, 4, 5].map(|behind| self.value(i + behind)))
    }

    /// The constant memory of parameter `i`.
    #[inline]
    pub fn constant<T: Element>(&self, i: usize) -> &Constant<T> {
        match self.arguments[i] {
            // SAFETY: an aligned `T` that nobody writes, by the promise of `new`.
            TwinArgument::Constant { address } => Constant::from_ref(unsafe { &*address.cast::<T>() }),
            _ => other_kind(i),
        }
    }
}

#[cold]
#[inline(never)]
fn other_kind(i: usize) -> ! {
    panic!("parameter {i} is passed in another way")
}
