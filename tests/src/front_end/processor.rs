//! What a program has had of the processor: other work on the machine is not counted.

use std::time::Duration;

/// What all threads of a process have had of the processor so far, to a hundredth of a second: of one by its number, or of `self`. None where the system does not tell.
pub fn processor_time(process: &str) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program's name, which may be anything, stands before; fields 14 and 15 are hundredths of seconds in itself and in the kernel (proc(5)).
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let hundredths = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (hundredths(11)? + hundredths(12)?)))
}
