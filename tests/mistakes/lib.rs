//! What `rustc` shows for kernels that are wrong: the tests of this package.
