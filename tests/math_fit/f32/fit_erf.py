"""Constants of erf.rs. Run: python3 fit_erf.py (numpy, mpmath)."""
from fit_f32_lib import *


def rows(letter, result):
    c, err = result
    for k in range(len(c)):
        show(f"ERF_{letter}{k}", c[k])
    print(f"  // fit of {letter}: 2^{float(mp.log(err, 2)):.1f}")


for name, c in zip(["ERF_LN2_HI", "ERF_LN2_LO"], split(mp.log(2), 2)):
    show(name, -c)
show("ERF_LOG2E", float(-1 / mp.log(2)))

# erf a = a + a·S(z), z = a², a <= 1.125; weight: relative error of erf
f = lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1
w = lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z))
rows("S", minimax(f, w, 1e-9, 1.125**2, 7))
# erfc a = B(a)^4, 1.125 <= a <= 4; weight: absolute error of erfc
f = lambda a: mp.erfc(a) ** mp.mpf("0.25")
w = lambda a: 4 * mp.erfc(a) ** mp.mpf("0.75")
rows("B", minimax(f, w, 1.125, 4.0, 8))
# exp(a²)·erfc a = t·G(t), t = 1/(a + 3/2), 1 <= a <= 10.1; weight: relative error
f = lambda t: mp.exp((1 / t - 1.5) ** 2) * mp.erfc(1 / t - 1.5) / t
w = lambda t: 1 / f(t)
rows("G", minimax(f, w, 1 / 11.6, 0.4, 8))
# exp r = 1 + r + r²·E(r), |r| <= ln(2)/2 + 0.001; weight: relative error
f = lambda r: (mp.exp(r) - 1 - r) / r**2
w = lambda r: r**2 / mp.exp(r)
rows("E", minimax(f, w, -0.3476, 0.3476, 5))
