//! Blocks that know of others by flags. Who waits does so in the order of tickets: it has started after those that it waits for.

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

/// The last block to come adds what all have written.
pub(super) fn last_block(g: &mut Generator<'_>) -> Kernel {
    g.hit("flags.last_block");
    let block = g.random.pick(&[32u32, 64]);
    let blocks = 1 + g.random.below(4);
    let scalar = g.random.pick(&[Scalar::U32, Scalar::I32, Scalar::U64]);
    let t = scalar.name();
    let ticket = match g.random.below(3) {
        0 => "let ticket = count.atomic_add_ordered(0, 1, Ordering::AcqRel, ThreadScope::Device);",
        1 => {
            g.hit("fence_device");
            "fence_device();\nlet ticket = count.atomic_add(0, 1);\nfence_device();"
        }
        _ => "let ticket = count.atomic_add_ordered(0, 1, Ordering::SeqCst, ThreadScope::System);",
    };
    let combine = g.random.pick(&["block_sum", "block_max", "block_min"]);
    g.hit(combine);
    let body = lines(&format!(
        "#[shared]
         let mut is_last: [bool; 1];
         let (t, blocks) = (thread_idx().x, grid_dim().x);
         let total = {combine}(x[(global_id().x * 7 + n as usize % 5) % 64]);
         if t == 0 {{
         parts[block_idx().x] = total;
         {ticket}
         is_last[0] = ticket + 1 == blocks as u32;
         }}
         sync_threads();
         if is_last[0] {{
         let mut rest = 0{t};
         for b in (t..blocks).step_by({block}) {{ rest = rest * 5 + parts[b]; }}
         let all = block_sum(rest);
         if t == 0 {{ out[0] = all; }}
         }}"
    ));
    let written = |len| Passed::Global { len, is_written: true, is_zero: true };
    let seed = g.random.below(1000);
    let parameters = vec![
        parameter("n", Scalar::U32, Passed::Value(g.random.below(9) as u64), 0),
        parameter("x", scalar, Passed::Global { len: 64, is_written: false, is_zero: false }, seed),
        parameter("parts", scalar, written(blocks), 0),
        parameter("count", Scalar::U32, written(1), 0),
        parameter("out", scalar, written(1), 0),
    ];
    made(g, Vec::new(), block, [blocks as u32, 1, 1], parameters, body)
}
