//! What `allow`, `warn` and `deny` cannot name.

use warpwright::prelude::*;

#[kernel(block = 64, allow(best_efort), warn(all))]
fn names() {}

#[kernel(block = 64, allow(unchecked), deny(best_effort, unchecked))]
fn contradiction() {}

#[kernel(block = 64, allow(unchecked), allow(unchecked))]
fn twice() {}

#[kernel(block = 64, deny, allow(), warn = unchecked)]
fn no_names() {}

fn main() {}
