//! The meaning of the core instructions on constants.
