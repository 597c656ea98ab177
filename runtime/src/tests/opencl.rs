//! Through an OpenCL device.
