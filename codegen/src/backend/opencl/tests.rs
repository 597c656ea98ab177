//! Texts of hand-built kernels.
