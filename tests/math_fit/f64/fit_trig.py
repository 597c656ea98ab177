"""The constants of trig.rs: run as `python3 fit_trig.py` (needs mpmath)."""
from mpmath import mp, mpf, sin, cos, sqrt, pi, floor
from fit_f64_lib import fit, remez, show

B = (pi / 4 * (1 + mpf(2) ** -15)) ** 2
A = mpf(2) ** -30
# sin(r) = r + r z P(z), z = r^2; the weight makes it the relative error of sin
show("TRIG_S", *fit(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z / (sin(sqrt(z)) / sqrt(z)), A, B, 6, remez))
# cos(r) = 1 + z Q(z), with Q(0) = -1/2 kept
show("TRIG_C", *fit(lambda z: (cos(sqrt(z)) - 1) / z, lambda z: z / cos(sqrt(z)), A, B, 7, remez, fixed=[-0.5]))
mp.dps = 450
p = pi / 2
for i in range(3):
    c = float(p)
    print(f"const TRIG_P{i + 1}: f64 = {c!r};")
    p -= mpf(c)
print(f"const TRIG_TWO_OVER_PI: f64 = {float(2 / pi)!r};")
t = int(floor(2 / pi * mpf(2) ** (64 * 19)))
print("const TRIG_BITS: [u64; 20] = [")
for i in range(20):
    print(f"    {(t >> (64 * (19 - i))) & (2**64 - 1):#018x},")
print("];")
