"""Constants of arc.rs. Run: python3 fit_arc.py (numpy, mpmath)."""
from fit_f32_lib import *

for name, c in zip(["ARC_PIO2_HI", "ARC_PIO2_LO"], split(mp.pi / 2, 2)):
    show(name, c)
show("ARC_PIO2_MOST", 1.375)
show("ARC_PIO2_REST", float(mp.pi / 2 - 1.375))


def rows(letter, n, result):
    c, err = result
    for k in range(n):
        show(f"ARC_{letter}{k}", c[k])
    print(f"  // fit of {letter}: 2^{float(mp.log(err, 2)):.1f}")


# asin s = s + s·z·S(z), z = s², z <= 1/4; weight: relative error of the arcsine
f = lambda z: (mp.asin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z
w = lambda z: z * mp.sqrt(z) / mp.asin(mp.sqrt(z))
rows("S", 5, minimax(f, w, 1e-6, 0.25, 5))
# atan t = t + t·z·T(z), z = t², z <= 1; weight: relative error of the arctangent
f = lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z
w = lambda z: z * mp.sqrt(z) / mp.atan(mp.sqrt(z))
rows("T", 8, minimax(f, w, 1e-6, 1.0, 8))
