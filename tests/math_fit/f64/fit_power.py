"""Constants of power.rs."""
from fit_f64_lib import *

ln2 = mp.log(2)
zmax = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mpf("1.0001")
# log2 m = s (c0 + z (c1 + z Q(z))); c0 = 2 / ln 2 and c1 = c0 / 3 in two parts, the error of Q relative to c0.
q = lambda z: sum(2 / ln2 / (2 * k + 5) * z**k for k in range(70))
show("POW_Q", *fit(q, lambda z: z * z / (2 / ln2), 0, zmax, 7))
split("POW_C0", 2 / ln2, 53)
split("POW_C1", 2 / ln2 / 3, 53)


# The first guess of x^(-1/3) from the high word of x: the constant that balances the error over all mantissas, and that error.
def guess(high, magic):
    g = magic - high // 3
    return mpf(2) ** ((g >> 20) - 1023) * (1 + mpf(g & 0xFFFFF) / 2**20)


def worst(magic):
    es = []
    for i in range(0, 3 << 20, 6151):
        high = (1023 << 20) + i
        x = mpf(2) ** (i >> 20) * (1 + mpf(i & 0xFFFFF) / 2**20)
        es.append(1 - x * guess(high, magic) ** 3)
    return max(es), -min(es)


lo, hi = 0x55300000, 0x55600000
while hi - lo > 16:
    mid = (lo + hi) // 2
    up, down = worst(mid)
    lo, hi = (mid, hi) if up > down else (lo, mid)
print(f"const CBRT_GUESS: u32 = {lo:#x};  // 1 - x r^3 in", [float(v) for v in worst(lo)])
