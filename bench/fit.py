"""Constants of a device's row in review/src/machine.rs, from a file that `calibrate --csv` wrote:

    python3 bench/fit.py bench/calibration/h200.csv

prints the row's figures as Rust (of h200_dispatch.csv, what keeps the dispatcher from issuing), and how far the model is from each kernel it was fitted on. The formula is that of
review/src/estimate/model.rs. Nothing but Python's own library is used; it takes some ten seconds.
"""

import csv
import math
import sys

MULTIPROCESSORS = 132
CLOCK = 1.98e9
THREADS, BLOCKS = 2048, 32
# How sharply memory that is read and written saturates is not fitted: with it free (1.6), the bandwidth that comes with it is one that no
# kernel reaches. With 2 it is what the fastest reach, and the residuals are the same.
SHARPNESS_MIXED = 2.0

FITTED = ["latency", "fill", "drain", "sharpness", "spread", "reach", "reach_mixed", "SHARPNESS"]
START = [380.0, 60.0, 77.0, 5.0, 0.4, 4600.0, 4300.0, 12.0]


def rows_of(path):
    with open(path, newline="") as file:
        return [{key: value if key == "kernel" else float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def minimise(cost, start, rounds=3, steps=500):
    """The simplex method of Nelder and Mead, started afresh a few times."""
    best, n = list(start), len(start)
    for _ in range(rounds):
        corners = [best] + [[x * 1.15 if i == j else x for j, x in enumerate(best)] for i in range(n)]
        simplex = sorted((cost(corner), corner) for corner in corners)
        for _ in range(steps):
            worst = simplex[-1]
            centre = [sum(corner[i] for _, corner in simplex[:-1]) / n for i in range(n)]

            def towards(factor):
                corner = [c + factor * (w - c) for c, w in zip(centre, worst[1])]
                return cost(corner), corner

            reflected = towards(-1.0)
            if reflected[0] < simplex[0][0]:
                simplex[-1] = min(reflected, towards(-2.0))
            elif reflected[0] < simplex[-2][0]:
                simplex[-1] = reflected
            else:
                inside = towards(0.5 if reflected[0] >= worst[0] else -0.5)
                if inside[0] < min(reflected[0], worst[0]):
                    simplex[-1] = inside
                else:
                    first = simplex[0][1]
                    shrunk = [[(a + b) / 2 for a, b in zip(corner, first)] for _, corner in simplex[1:]]
                    simplex = [simplex[0]] + [(cost(corner), corner) for corner in shrunk]
            simplex.sort()
        best = simplex[0][1]
    return best


def smooth(a, b, sharpness):
    less, more = min(a, b), max(a, b)
    return more * (1 + (less / more) ** sharpness) ** (1 / sharpness)


def chains(rows):
    """Cycles of dependent instructions, from one warp's chain; the loop's own cost from eight chains, which hide the latency."""
    def cycles(kernel, ilp):
        found = [row for row in rows if row["kernel"] == kernel and row["ilp"] == ilp and row["block"] == 32]
        return found[0]["median"] * CLOCK / found[0]["operations"] if found else float("nan")

    loop = 64 * cycles("fma", 8) - 64
    figures = {"branch": loop - 3}
    names = {"single": "fma", "double": "fma_double", "integer": "integer", "special": "special", "shuffle": "shuffle"}
    for name, kernel in names.items():
        each = 2 if kernel == "integer" else 1
        figures[name] = cycles(kernel, 1) - loop / 64 / each
    # The address of a shared word is an integer instruction; that of a global one a widening product, a cycle longer than others.
    figures["shared"] = cycles("shared", 1) - loop / 64 - figures["integer"]
    chase = {row["footprint"]: row["median"] * CLOCK / row["steps"] for row in rows if row["kernel"] == "chase"}
    for name, low, high in [("l1", 0, 1 << 16), ("l2", 1 << 20, 1 << 24)]:
        found = [cycles for footprint, cycles in chase.items() if low < footprint <= high]
        figures[name] = min(found) - figures["single"] - 1 if found else float("nan")
    barriers = [row for row in rows if row["kernel"] == "barriers" and row["block"] == 32]
    figures["barrier"] = barriers[0]["median"] * CLOCK / barriers[0]["operations"] if barriers else float("nan")
    return figures


def dispatch(rows):
    """Issue slots of a scheduler that are lost for a register that a load returns, a special function, a fused product of three registers:
    what the steps take beyond an instruction a cycle, least absolute errors."""
    found = []
    for row in rows:
        if row["kernel"] in ("sums", "fused"):
            warps = row["grid"] / MULTIPROCESSORS * row["block"] / 32 / 4
            each = row["operations"] / row["steps"]
            lost = row["median"] * CLOCK / warps / row["steps"] - each
            # Of a step, these are neither load nor special function nor the loop's end.
            own = each - 3 / 8 - row["ilp"] - (1 if row["vector"] else 0)
            found.append((row["vector"], row["ilp"], own if row["kernel"] == "fused" else 0.0, lost))
    if not found:
        return {}

    def cost(parameters):
        return sum(abs(sum(p * count for p, count in zip(parameters, row)) - row[3]) for row in found)

    return dict(zip(["returned", "special", "three_registers"], minimise(cost, [0.5, 1.0, 0.2])))


def starts(rows):
    """Seconds between blocks that do nothing: one resident, and as many as can be; and of a launch, without its block's own."""
    of = {(row["block"], row["resident"], row["grid"]): row["median"] for row in rows if row["kernel"] == "nothing"}
    grid = 1 << 20
    alone = {block: of[block, 1, grid] * MULTIPROCESSORS / grid for block in (32, 64, 128, 256, 512, 1024)}
    per_warp = (alone[1024] - alone[32]) / 31
    launches = sorted(seconds for (_, _, blocks), seconds in of.items() if blocks < grid)
    return {
        "turnaround": alone[32] - per_warp,
        "per_warp": per_warp,
        "rate": grid / of[32, 0, grid],
        "launch": launches[len(launches) // 2] - alone[32],
    }


def streams(rows):
    """The rows that memory's figures are fitted on: what does not fit the cache."""
    return [row for row in rows if row["kernel"] in ("read", "triad", "scale", "scale_serially", "write") and row["footprint"] > 400e6]


def predicted(parameters, row, blocks):
    """Nanoseconds from block to block, as the model has them."""
    latency, fill, drain, sharpness, spread, reach, reach_mixed, corner = parameters
    warps = row["block"] / 32
    resident = row["resident"] or min(BLOCKS, THREADS // row["block"])
    read, written = row["read"] / row["grid"], row["written"] / row["grid"]
    buffers = {"triad": 2, "write": 0}.get(row["kernel"], 1)
    rounds = row["steps"] if row["kernel"] == "scale_serially" else 1
    cycle = 1e9 / CLOCK
    own = 19 * cycle
    if buffers:
        own += rounds * (latency * (1 + spread * (1 - 1 / buffers)) + row["ilp"] * buffers * cycle)
    life = 1e9 * (blocks["turnaround"] + blocks["per_warp"] * warps) + own + read / fill + written / drain
    share = written / (read + written)
    mixed = 4 * share * (1 - share)
    device = (read + written) * MULTIPROCESSORS / (reach + (reach_mixed - reach) * mixed)
    streaming = smooth(life / resident, device, sharpness + (SHARPNESS_MIXED - sharpness) * mixed)
    return smooth(streaming, 1e9 * MULTIPROCESSORS / blocks["rate"], corner)


def main():
    rows = rows_of(sys.argv[1])
    lost = dispatch(rows)
    if lost:
        print("// Issue slots lost:", ", ".join(f"{name}: {value:.2f}" for name, value in lost.items()))
    if not streams(rows):
        return
    cycles, blocks, fitted_on = chains(rows), starts(rows), streams(rows)

    def errors(parameters):
        measured = ((row, row["median"] * MULTIPROCESSORS / row["grid"] * 1e9) for row in fitted_on)
        return [math.log(predicted(parameters, row, blocks) / ns) for row, ns in measured]

    def cost(parameters):
        # Squares near nothing, absolute values beyond five per cent: a few kernels that are unlike the others do not bend the rest.
        if min(parameters) <= 0:
            return float("inf")
        return sum(math.sqrt(1 + (error / 0.05) ** 2) - 1 for error in errors(parameters))

    best = dict(zip(FITTED, minimise(cost, START)))
    print("// Cycles:", ", ".join(f"{name}: {value:.1f}" for name, value in cycles.items()))
    print("// Blocks:", ", ".join(f"{name}: {value:.4g}" for name, value in blocks.items()))
    print(f"// Blocks in cycles: turnaround {blocks['turnaround'] * CLOCK:.0f}, per warp {blocks['per_warp'] * CLOCK:.1f}, rate {blocks['rate'] / CLOCK:.3f}")
    print("// Memory, ns, bytes a ns, GB/s:", ", ".join(f"{name}: {value:.4g}" for name, value in best.items()))
    print(f"// Fill and drain in bytes a cycle: {best['fill'] * 1e9 / CLOCK:.1f}, {best['drain'] * 1e9 / CLOCK:.1f}; latency {best['latency'] * CLOCK / 1e9:.0f} cycles")
    print("\n| kernel | launches | median error | 9 of 10 within | worst |\n|---|---|---|---|---|")
    found = list(zip(fitted_on, errors(list(best.values()))))
    for kernel in ("read", "write", "triad", "scale", "scale_serially"):
        of = sorted(abs(math.expm1(error)) for row, error in found if row["kernel"] == kernel)
        if of:
            print(f"| {kernel} | {len(of)} | {of[len(of) // 2]:.1%} | {of[len(of) * 9 // 10]:.1%} | {of[-1]:.1%} |")


main()
