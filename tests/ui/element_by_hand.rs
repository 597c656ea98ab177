//! An element that no attribute wrote: whoever writes it says `unsafe`.

use warpwright::__private::ElementType;
use warpwright::prelude::*;

#[derive(Clone, Copy)]
struct Wide(u64);

impl Element for Wide {
    const TYPE: ElementType = u64::TYPE;
}

fn main() {}
