"""torch beside the staples of kernels/src/staples: run it on the same device in the same session as `warpwright-bench --staples`.

python3 bench/torch_staples.py [--quick] [--csv PATH]; or `warpwright-bench LIBRARY --staples --torch python3`, which runs it and puts its times beside ours.
Prints microseconds of a call (median, fastest, slowest of 20 rounds by the protocol of bench/src/staples) and rates as it does: names and sizes are those of its table.
"""

import math
import statistics
import sys

import torch

torch.backends.cuda.matmul.allow_tf32 = False
QUICK = "--quick" in sys.argv
RUNS = 10 if QUICK else 20
LINES = ["work,size,unit,us,min_us,max_us,rate"]


def timed(call):
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def round_of(calls):
        call()
        start.record()
        for _ in range(calls):
            call()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) / 1e3 / calls

    round_of(1)
    calls = min(50, max(1, math.ceil(1e-3 / round_of(1))))
    return [round_of(calls) for _ in range(2 + RUNS)][2:]


def line(work, size, amount, unit, call):
    times = timed(call)
    median = statistics.median(times)
    rate = amount / median / (1e12 if unit == "TFLOP/s" else 1e9)
    print(f"{work:<28} {size:>13} {median * 1e6:10.1f} us {rate:9.2f} {unit}", file=sys.stderr, flush=True)
    LINES.append(f"{work},{size},{unit},{median * 1e6:.3f},{min(times) * 1e6:.3f},{max(times) * 1e6:.3f},{rate:.3f}")


def lengths(n):
    x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    out = torch.empty_like(x)
    line("copy f32", n, 8 * n, "GB/s", lambda: out.copy_(x))
    line("saxpy f32", n, 12 * n, "GB/s", lambda: y.add_(x, alpha=1e-9))
    line("sum f32", n, 4 * n, "GB/s", lambda: torch.sum(x))
    line("scan f32 inclusive", n, 8 * n, "GB/s", lambda: torch.cumsum(x, 0, out=out))
    del y, out
    words = torch.randint(-(2**31), 2**31 - 1, (n,), device="cuda", dtype=torch.int32)
    line("max u32", n, 4 * n, "GB/s", lambda: torch.max(words))
    line("sort pairs u32 u32", n, n, "Gitems/s", lambda: torch.sort(words))
    line("select odd u32", n, 6 * n, "GB/s", lambda: torch.masked_select(words, (words & 1).bool()))
    bins = torch.randint(0, 65536, (n,), device="cuda", dtype=torch.int32)
    line("histogram u32 65536", n, 4 * n, "GB/s", lambda: torch.bincount(bins, minlength=65536))
    ordered = torch.sort(bins)[0]
    line("unique sorted u32", n, 8 * n, "GB/s", lambda: torch.unique_consecutive(ordered))


def matrices():
    for height, width in [(100, 100), (4000, 2500), (8192, 8192) if QUICK else (16384, 16384)]:
        x = torch.rand(height, width, device="cuda")
        out = torch.empty(width, height, device="cuda")
        line("transpose f32", f"{height}x{width}", 8 * height * width, "GB/s", lambda: out.copy_(x.t()))
    extents = [(8192, 1024), (2048, 4096), (256, 65536)] if QUICK else [(32768, 1024), (8192, 4096), (32768, 4096), (2048, 65536)]
    for rows, columns in extents:
        n, size = rows * columns, f"{rows}x{columns}"
        x = torch.randn(rows, columns, device="cuda")
        short, w, b = x.bfloat16(), torch.ones(columns, device="cuda").bfloat16(), torch.zeros(columns, device="cuda").bfloat16()
        out, short_out = torch.empty_like(x), torch.empty_like(short)
        line("softmax f32", size, 8 * n, "GB/s", lambda: torch.softmax(x, -1, out=out))
        line("softmax bf16", size, 4 * n, "GB/s", lambda: torch.softmax(short, -1, out=short_out))
        line("rmsnorm bf16", size, 4 * n, "GB/s", lambda: torch.nn.functional.rms_norm(short, (columns,), w))
        line("layernorm bf16", size, 4 * n, "GB/s", lambda: torch.nn.functional.layer_norm(short, (columns,), w, b))
    for n in [1024, 4096] if QUICK else [1024, 4096, 8192]:
        x, y = torch.rand(n, n, device="cuda") - 0.5, torch.rand(n, n, device="cuda") - 0.5
        out, v = torch.empty_like(x), torch.rand(n, device="cuda")
        line("sgemm", n, 2 * n**3, "TFLOP/s", lambda: torch.mm(x, y, out=out))
        line("sgemv", n, 4 * n * n, "GB/s", lambda: torch.mv(x, v))


print(f"torch {torch.__version__} on {torch.cuda.get_device_name()}", file=sys.stderr)
for length in [10_000, 10_000_000, 2**26 if QUICK else 2**28]:
    lengths(length)
matrices()
if "--csv" in sys.argv:
    path = sys.argv[sys.argv.index("--csv") + 1]
    with sys.stdout if path == "-" else open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(LINES) + "\n")
