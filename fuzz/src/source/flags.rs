//! Blocks that wait for others, in the order of tickets: who waits has started after those that it waits for.

use super::kernel::{Kernel, Passed};
use super::scope::Generator;
use super::tiles::{lines, made, parameter};
use super::types::Scalar;

/// How a flag is waited for and set: what it orders, the order stands in the atomic or in a fence.
fn ways(g: &mut Generator<'_>) -> (&'static str, &'static str, &'static str, &'static str) {
    g.hit("atomic_load");
    match g.random.below(4) {
        0 => {
            g.hit("atomic_store");
            ("Acquire", "", "", "flags.atomic_store(AT, V, Ordering::Release, ThreadScope::Device);")
        }
        1 => {
            g.hit("atomic_store");
            g.hit("fence_device");
            ("Relaxed", "fence_device();", "fence_device();", "flags.atomic_store(AT, V, Ordering::Relaxed, ThreadScope::Device);")
        }
        2 => {
            g.hit("atomic_exchange");
            ("Acquire", "", "", "flags.atomic_exchange_ordered(AT, V, Ordering::AcqRel, ThreadScope::Device);")
        }
        _ => {
            g.hit("atomic_store");
            ("SeqCst", "", "", "flags.atomic_store(AT, V, Ordering::SeqCst, ThreadScope::System);")
        }
    }
}

/// Sums over all blocks before: each waits for the one before it, or looks back over those that have only their own.
pub(super) fn look_back(g: &mut Generator<'_>) -> Kernel {
    let scalar = g.random.pick(&[Scalar::U32, Scalar::I32, Scalar::U64]);
    let t = scalar.name();
    let block = g.random.pick(&[32usize, 64, 16]);
    let blocks = 1 + g.random.below(6);
    let (order, behind, ahead, set) = ways(g);
    let load = |at: &str| format!("flags.atomic_load({at}, Ordering::{order}, ThreadScope::Device)");
    let set = |value: &str| format!("{ahead}\n{}", set.replace("AT", "tile").replace('V', value));
    let before = if g.random.chance(50) {
        g.hit("flags.relay");
        format!(
            "if tile > 0 {{
             while {} == 0 {{}}
             {behind}
             before = sums[tile - 1];
             }}
             sums[tile] = before + own;
             {}",
            load("tile - 1"),
            set("2")
        )
    } else {
        g.hit("flags.look_back");
        format!(
            "parts[tile] = own;
             {}
             let mut at = tile;
             while at > 0 {{
             at -= 1;
             let mut state = {load};
             while state == 0 {{
             state = {load};
             }}
             {behind}
             if state == 2 {{
             before += sums[at];
             break;
             }}
             before += parts[at];
             }}
             sums[tile] = before + own;
             {}",
            set("1"),
            set("2"),
            load = load("at")
        )
    };
    let body = lines(&format!(
        "#[shared]
         let mut chosen: [usize; 1];
         #[shared]
         let mut carried: [{t}; 1];
         let t = thread_idx().x;
         if t == 0 {{
         chosen[0] = tickets.atomic_add(0, 1) as usize;
         }}
         sync_threads();
         let tile = chosen[0];
         let value = x[(tile * {block} + t * 3) % 64] ^ (n as {t});
         let own = block_sum(value);
         if t == 0 {{
         let mut before = 0{t};
         {before}
         carried[0] = before;
         }}
         let within = block_inclusive_sum(value);
         sync_threads();
         y[tile * {block} + t] = carried[0] + within;"
    ));
    let written = |len| Passed::Global { len, is_written: true, is_zero: true };
    let parameters = vec![
        parameter("n", Scalar::U32, Passed::Value(g.random.next()), 0),
        parameter("x", scalar, Passed::Global { len: 64, is_written: false, is_zero: false }, g.random.below(1000)),
        parameter("parts", scalar, written(blocks), 0),
        parameter("sums", scalar, written(blocks), 0),
        parameter("flags", Scalar::U32, written(blocks), 0),
        parameter("tickets", Scalar::U32, written(1), 0),
        parameter("y", scalar, written(blocks * block), 0),
    ];
    let mut kernel = made(g, Vec::new(), block as u32, [blocks as u32, 1, 1], parameters, body);
    if g.random.chance(25) && !kernel.annotations.iter().any(|annotation| annotation == "persistent") {
        kernel.hits.insert("option.persistent");
        kernel.annotations.push("persistent".to_owned());
    }
    kernel.waits = true;
    kernel
}
