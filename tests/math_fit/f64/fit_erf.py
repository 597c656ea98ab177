"""The constants of erf.rs: run as `python3 fit_erf.py` (needs mpmath)."""
from mpmath import mp, mpf, erf, erfc, exp, log, sqrt
from fit_f64_lib import fit, remez, show

A = mpf(2) ** -30
# erf(x) = x + x P(x^2), |x| <= 1; the weight makes it the relative error of erf
r = lambda z: erf(sqrt(z)) / sqrt(z)
show("ERF_P", *fit(lambda z: r(z) - 1, lambda z: 1 / r(z), A, mpf(1), 12, remez))
# erfc(x) = exp(-x^2) F(t) / (x + 4), t = (x - 4) / (x + 4), 1 <= x <= 27.3 (where erfc rounds to 0)
x = lambda t: 4 * (1 + t) / (1 - t)
f = lambda t: (x(t) + 4) * erfc(x(t)) * exp(x(t) ** 2)
show("ERF_F", *fit(f, lambda t: 1 / f(t), mpf(-3) / 5, (mpf("27.3") - 4) / (mpf("27.3") + 4), 20, remez))
# exp(r) = 1 + r + r^2 Q(r), |r| <= ln(2) / 2
b = log(2) / 2 * (1 + mpf(2) ** -20)
show("ERF_E", *fit(lambda r: (exp(r) - 1 - r) / r**2, lambda r: r**2 / exp(r), -b, b, 10, remez))
print(f"const ERF_LOG2E: f64 = {float(1 / log(2))!r};")
print(f"const ERF_LN2: f64 = {float(log(2))!r};\nconst ERF_LN2_LOW: f64 = {float(log(2) - mpf(float(log(2))))!r};")
