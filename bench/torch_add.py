"""torch.add(y, x, alpha=a, out=y) on 2**28 floats: the measured library beside bench/src/cases/saxpy.rs.

Run it on the same device in the same session: python3 bench/torch_add.py [log2 of the length] [runs]
Prints GB/s (two reads, one write of four bytes per element) at the median, fastest and slowest run, by device events. As the runner
does, every round launches twice and times the second.
"""

import statistics
import sys

import torch


def main():
    n = 2 ** int(sys.argv[1]) if len(sys.argv) > 1 else 2**28
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    a = 0.75
    x = torch.rand(n, device="cuda") * 2 - 1
    y = torch.rand(n, device="cuda") * 2 - 1
    first = y[:1000].double().cpu()
    torch.add(y, x, alpha=a, out=y)
    expected = a * x[:1000].double().cpu() + first
    assert torch.allclose(y[:1000].double().cpu(), expected, rtol=0, atol=2.0**-22), "torch.add gave another result"
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times = []
    for _ in range(runs):
        torch.add(y, x, alpha=a, out=y)
        start.record()
        torch.add(y, x, alpha=a, out=y)
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop) / 1e3)

    def rate(seconds):
        return 12 * n / seconds / 1e9

    print(f"torch {torch.__version__} on {torch.cuda.get_device_name()}: torch.add of {n} floats, {runs} runs")
    print(f"median {rate(statistics.median(times)):.0f} GB/s, fastest {rate(min(times)):.0f}, slowest {rate(max(times)):.0f}")


main()
