"""The constants of arc.rs: run as `python3 fit_arc.py` (needs mpmath)."""
from mpmath import mp, mpf, asin, atan, sqrt, tan, pi
from fit_f64_lib import fit, remez, show

A = mpf(2) ** -30
# atan(t) = t + t z P(z), z = t^2, |t| <= tan(pi/8); the weight makes it the relative error of atan
r = lambda z: atan(sqrt(z)) / sqrt(z)
show("ARC_T", *fit(lambda z: (r(z) - 1) / z, lambda z: z / r(z), A, (tan(pi / 8) + mpf(2) ** -20) ** 2, 11, remez))
# asin(s) = s + s z P(z), z = s^2, |s| <= 1/2
q = lambda z: asin(sqrt(z)) / sqrt(z)
show("ARC_S", *fit(lambda z: (q(z) - 1) / z, lambda z: z / q(z), A, mpf(1) / 4, 12, remez))
for n, v in (("PI4", pi / 4), ("PI2", pi / 2), ("PI", pi)):
    print(f"const ARC_{n}: f64 = {float(v)!r};\nconst ARC_{n}_LOW: f64 = {float(v - mpf(float(v)))!r};")
