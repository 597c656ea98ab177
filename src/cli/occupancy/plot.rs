//! The curves of occupancy over block size, registers and shared memory, in block characters, with the present point marked.

use warpwright_codegen::target::occupancy::{Occupancy, Point, Resource};

/// Lines of a curve.
const HEIGHT: usize = 6;
/// Columns of a curve, at most.
const WIDTH: usize = 64;
/// Columns of the axis before it.
const AXIS: usize = 7;
/// Eighths of a character.
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The three curves, in so many columns.
pub(super) fn curves(found: &Occupancy, width: Option<usize>) -> String {
    let room = width.map_or(WIDTH, |width| width.saturating_sub(AXIS).clamp(1, WIDTH));
    let curves = [(Resource::Warps, "threads"), (Resource::Registers, "registers"), (Resource::Shared, "bytes of shared memory")];
    curves.map(|(resource, unit)| curve(found, resource, unit, room)).join("\n")
}

fn curve(found: &Occupancy, resource: Resource, unit: &str, room: usize) -> String {
    let points = found.curve(resource);
    let columns = columns(&points, room);
    let most = found.limits.warps;
    let mut text = format!("occupancy over {unit}\n");
    for line in (0..HEIGHT).rev() {
        let label = match line {
            _ if line == HEIGHT - 1 => "100 %",
            0 => "  0 %",
            _ => "     ",
        };
        let bar = |column: &&[Point]| BARS[eighths(column, most).saturating_sub(line * 8).min(8)];
        text.push_str(label);
        text.push_str(" ┤");
        text.extend(columns.iter().map(bar));
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    let present = found.demand.figure(resource);
    let here = columns.iter().position(|column| column.last().is_some_and(|point| point.figure >= present)).unwrap_or(columns.len() - 1);
    let (first, last) = (points.first().map_or(0, |point| point.figure), points.last().map_or(0, |point| point.figure));
    text.push_str(&format!("      └{}\n", "─".repeat(columns.len())));
    text.push_str(&format!("       {first}{last:>width$}\n", width = columns.len().saturating_sub(first.to_string().len())));
    text.push_str(&format!("       {}▲ {present} {unit}: {} %\n", " ".repeat(here), found.percent()));
    text
}

/// As many points to a column as needed.
fn columns(points: &[Point], room: usize) -> Vec<&[Point]> {
    points.chunks(points.len().div_ceil(room).max(1)).collect()
}

/// The height of a column: of its last point, the most that is asked for in it.
fn eighths(column: &[Point], most: u32) -> usize {
    let warps = column.last().map_or(0, |point| point.warps) as usize;
    // A resident warp is seen, however little it is of all.
    (warps * HEIGHT * 8 / most as usize).max(usize::from(warps > 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwright_codegen::target::limits::Limits;
    use warpwright_codegen::target::occupancy::{Demand, Options, occupancy};

    #[test]
    fn the_present_point_stands_under_its_column() {
        let limits = Limits::find("2.0").unwrap();
        let demand = Demand { threads: 256, registers: 21, ..Demand::default() };
        let found = occupancy(limits, &demand, &Options::default());
        let text = curve(&found, Resource::Warps, "threads", WIDTH);
        let expected = "\
occupancy over threads
100 % ┤     ▂▂      ▂      ▂
      ┤    ████▄█▁▄▇█  ▂▄▆██
      ┤   ███████████▆██████   ▁▂▃▄▅▆▇█
      ┤  ███████████████████▆▇█████████
      ┤ ███████████████████████████████
  0 % ┤████████████████████████████████
      └────────────────────────────────
       32                          1024
              ▲ 256 threads: 83.3 %
";
        assert_eq!(text, expected);
        // 48 KiB in units of 128 bytes: 385 points, seven to a column.
        for room in [16, 40, WIDTH] {
            let shared = curve(&found, Resource::Shared, "bytes", room);
            // What stands behind the mark may be longer.
            assert!(shared.lines().filter(|line| !line.contains('▲')).all(|line| line.chars().count() <= AXIS + room), "{shared}");
            assert!(shared.contains("0 %") && shared.contains("49152"), "{shared}");
        }
    }

    #[test]
    fn every_capability_and_a_point_at_the_edge() {
        for name in ["1.0", "5.0", "9.0", "12.1"] {
            let limits = Limits::find(name).unwrap();
            let demand = Demand {
                threads: limits.threads_per_block,
                registers: limits.registers_per_thread,
                shared: limits.shared_opted_in,
                ..Demand::default()
            };
            let text = curves(&occupancy(limits, &demand, &Options::default()), Some(1));
            assert_eq!(text.matches('▲').count(), 3, "{text}");
        }
    }
}
