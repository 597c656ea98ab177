//! What the lanes of a warp tell each other: votes, matches, and values that they exchange.

pub use crate::prelude::warp::{all, any, ballot, match_any, shuffle, shuffle_down, shuffle_up, shuffle_xor};
