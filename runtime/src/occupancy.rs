//! How many blocks a multiprocessor holds, what limits them, and how far the next step is: the compiler's own arithmetic, for programs.

pub use warpwright_codegen::target::limits::{LIMITS, Limits, RegisterUnit, UnknownCapability, WARP};
pub use warpwright_codegen::target::occupancy::{
    CachePreference, Demand, Impossible, Occupancy, OccupancyStep, Options, Point, Resource, impossible, occupancy, register_ladder,
};
