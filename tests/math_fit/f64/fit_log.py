"""Constants of log.rs."""
from fit_f64_lib import *

ln2 = mp.log(2)
zmax = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mpf("1.0001")
# ln m = 2s + s R, R = z G(z), z = s^2, s = (m - 1)/(m + 1). Weight: error of s z G relative to ln m, about 2s.
g = lambda z: sum(mpf(2) / (2 * k + 3) * z**k for k in range(60))
show("LOG_G", *fit(g, lambda z: z / 2, 0, zmax, 7))
split("LOG_LN2", ln2, 42)
split("LOG_10_2", mp.log10(2), 42)
split("LOG_2E", 1 / ln2, 53)
split("LOG_10E", 1 / mp.log(10), 53)
# 1/d on [1 + sqrt(1/2), 1 + sqrt 2]: the quadratic seed of the Newton steps.
d = lambda x: 1 / x
show("LOG_SEED", *fit(d, lambda x: x, 1 + mp.sqrt(mpf(1) / 2), 1 + mp.sqrt(2), 3))
show("LOG_INV", *fit(lambda f: 1 / (1 + f), lambda f: 1 + f, mp.sqrt(mpf(1) / 2) - 1, mp.sqrt(2) - 1, 3))
print("bits of sqrt(1/2):", hex(__import__("struct").unpack("<Q", __import__("struct").pack("<d", 0.5**0.5))[0]))
