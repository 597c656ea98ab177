"""Constants of hyperbolic.rs."""
from fit_f64_lib import *

ln2 = mp.log(2)
zmax = (ln2 / 2) ** 2 * mpf("1.0002")
# cosh r = 1 + z/2 + z^2 C(z), sinh r = r + r z S(z), z = r^2; errors relative to cosh r and sinh r.
c = lambda z: sum(z**k / mp.factorial(2 * k + 4) for k in range(20))
s = lambda z: sum(z**k / mp.factorial(2 * k + 3) for k in range(20))
show("HYP_C", *fit(c, lambda z: z * z / mp.cosh(mp.sqrt(z)), 0, zmax, 5))
show("HYP_S", *fit(s, lambda z: z * mp.sqrt(z) / mp.sinh(mp.sqrt(z)), 0, zmax, 5))
# 1/d on [sqrt(1/2), 1 + sqrt 2]: the quadratic seed of tanh's quotient.
show("HYP_SEED", *fit(lambda d: 1 / d, lambda d: d, mp.sqrt(mpf(1) / 2), 1 + mp.sqrt(2), 3))
print(f"const HYP_LOG2E: f64 = {float(1 / ln2)!r};")
split("HYP_LN2", ln2, 42)
