#!/usr/bin/env python3
"""Fits the constants of the model of registers, and says how well they do.

    cargo run --release -p warpwright-tests --bin register_data > data.csv
    python3 tests/fit_registers.py data.csv

Prints the rows of `review/src/estimate/registers/constants.rs`, fitted on everything, and then how well rows do that were fitted
without the family they are judged on: one file of `kernels/src` is one family, and so is each file of the other two sets.
"""

import collections
import csv
import sys

ROWS = [50, 60, 70, 75, 80, 86, 89, 90, 100, 120]
OFFSETS = range(-2, 5)
MARGINS = range(0, 5)
# Shares of the truth that may lie below and above the interval, of each hundred: what is asked for is 90 inside, and other kernels err
# more than those that a fit has seen.
OUTSIDE = 5
# Warp slots, block slots, registers of a sub-partition, sub-partitions.
SLOTS = {
    50: (64, 32, 16384, 4), 60: (64, 32, 32768, 2), 70: (64, 32, 16384, 4), 75: (32, 16, 16384, 4), 80: (64, 32, 16384, 4),
    86: (48, 16, 16384, 4), 89: (48, 24, 16384, 4), 90: (64, 32, 16384, 4), 100: (64, 32, 16384, 4), 120: (48, 24, 16384, 4),
}


class Measured:
    """A variant on a target."""

    def __init__(self, row):
        self.set, self.family, self.name = row["set"], row["family"], row["name"]
        self.target = int(row["target"][3:])
        for key in ("measured", "spilt", "needed", "step", "filled", "next_step", "next_filled", "limit", "threads"):
            setattr(self, key, int(row[key]))

    def group(self):
        return (self.set, self.family)

    def estimate(self, offset, margin):
        """As `registers` computes it."""
        is_next = self.needed + margin > self.step
        step, counted = (self.next_step, self.next_filled) if is_next else (self.step, self.filled)
        taken = max(counted + offset, 4)
        found = max(self.needed, min(taken, step) if counted < step else counted)
        return min(found, self.limit)

    def blocks(self, registers):
        """Resident blocks as far as registers decide."""
        warps, slots, file, parts = SLOTS[self.target]
        of_block = -(-(self.threads or 1024) // 32)
        of_file = file // (32 * (-(-registers // 8) * 8)) * parts
        return min(slots, warps // of_block, of_file // of_block)


def weights(rows):
    """Every family counts alike, and one with many variants a little more: by the root of their number."""
    count = collections.Counter(row.group() for row in rows)
    return [count[row.group()] ** -0.5 for row in rows]


def fit(rows):
    """Offset, margin, reach of the interval."""
    weight = weights(rows)
    best = None
    for margin in MARGINS:
        for offset in OFFSETS:
            # Errors beyond 16 say that something was misunderstood, which no constant mends.
            errors = [min(abs(row.estimate(offset, margin) - row.measured), 16) for row in rows]
            cost = sum(w * e for w, e in zip(weight, errors)) + 0.001 * abs(offset) + 0.001 * margin
            if best is None or cost < best[0]:
                best = (cost, offset, margin)
    _, offset, margin = best
    total = sum(weight)

    def reach(excess):
        """The least number of sixteenths that leaves no more than the allowed share outside."""
        for sixteenths in range(1, 33):
            outside = 0.0
            for row, w in zip(rows, weight):
                estimate = row.estimate(offset, margin)
                if excess(row, estimate) > -(-sixteenths * (8 + estimate) // 16):
                    outside += w
            if 100 * outside <= OUTSIDE * total:
                return sixteenths
        return 32

    below = reach(lambda row, estimate: estimate - row.measured)
    above = reach(lambda row, estimate: min(row.measured, row.limit) - estimate)
    return offset, margin, below, above


def judge(row, constants):
    offset, margin, below, above = constants
    estimate = row.estimate(offset, margin)
    low = estimate - -(-below * (8 + estimate) // 16)
    high = min(estimate + -(-above * (8 + estimate) // 16), row.limit)
    return {
        "error": estimate - row.measured,
        "is_same": row.blocks(estimate) == row.blocks(row.measured),
        "is_inside": low <= row.measured <= high,
        "width": high - max(low, 2) + 1,
    }


def summary(found):
    errors = sorted(abs(one["error"]) for one in found)
    count = len(errors)
    share = lambda key: 100 * sum(one[key] for one in found) / count
    return "| {:5} | {:5.1f} | {:2} | {:2} | {:3} | {:+5.2f} | {:5.1f} | {:4.1f} |".format(
        count, share("is_same"), errors[count // 2], errors[int(0.9 * count)], errors[-1],
        sum(one["error"] for one in found) / count, share("is_inside"), sum(one["width"] for one in found) / count)


HEAD = ("n", "same step %", "median error", "90th percentile", "largest", "mean error", "inside %", "width")


def table(title, groups):
    print(f"\n| {title} | " + " | ".join(HEAD) + " |")
    print("|---" * (len(HEAD) + 1) + "|")
    for name, found in groups.items():
        if found:
            print(f"| {name} {summary(found)}")


def main():
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        rows = [Measured(row) for row in csv.DictReader(file)]
    # Spilling kernels are at their limit, which no constant changes.
    by_target = {target: [row for row in rows if row.target == target] for target in ROWS}
    print("const TABLE: &[Constants] = &[")
    for target, some in by_target.items():
        print("    row({}, {}, {}, {}, {}),".format(target, *fit(some)))
    print("];")
    groups = sorted({row.group() for row in rows})
    judged = []
    for target, some in by_target.items():
        for group in groups:
            own = [row for row in some if row.group() == group]
            if own:
                constants = fit([row for row in some if row.group() != group])
                judged += [(row, judge(row, constants)) for row in own]
    for name in ("kernels", "fit", "language"):
        of_set = [(row, found) for row, found in judged if row.set == name]
        if not of_set:
            continue
        table(f"`{name}`, by target", {"all": [f for _, f in of_set], **{f"sm_{t}": [f for r, f in of_set if r.target == t] for t in ROWS}})
        families = sorted({row.family for row, _ in of_set})
        table(f"`{name}`, by family", {family: [f for r, f in of_set if r.family == family] for family in families})


main()
