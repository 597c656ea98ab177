//! Facts about small kernels.
