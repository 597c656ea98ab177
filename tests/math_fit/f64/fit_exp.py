"""Constants of exp.rs."""
from fit_f64_lib import *

ln2 = mp.log(2)
h = ln2 / 2 * mpf("1.0001")
q = lambda r: sum(r**k / mp.factorial(k + 2) for k in range(34))
# e^r = 1 + r + r^2 Q(r), error relative to e^r.
show("EXP_Q", *fit(q, lambda r: r * r / mp.exp(r), -h, h, 10))
# The same for exp_m1, error relative to e^r - 1.
show("EXPM1_Q", *fit(q, lambda r: r * r / mp.expm1(r), -h, h, 11))
# 2^r = 1 + r P(r), error relative to 2^r.
h = mpf("0.50005")
p = lambda r: sum(ln2 ** (k + 1) * r**k / mp.factorial(k + 1) for k in range(34))
show("EXP2_P", *fit(p, lambda r: r / mp.mpf(2) ** r, -h, h, 11))
print(f"const EXP_LOG2E: f64 = {float(1 / ln2)!r};")
split("EXP_LN2", ln2, 42)
