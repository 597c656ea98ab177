"""Constants of trig.rs. Run: python3 fit_trig.py (numpy, mpmath)."""
from fit_f32_lib import *

for name, c in zip(["TRIG_PIO2_HI", "TRIG_PIO2_MID", "TRIG_PIO2_LO"], split(mp.pi / 2, 3)):
    show(name, -c)
show("TRIG_TWO_OVER_PI", float(2 / mp.pi))
mp.mp.prec = 400
bits = int(mp.floor(mp.ldexp(2 / mp.pi, 224)))
words = [0] + [(bits >> (224 - 32 * (i + 1))) & 0xFFFFFFFF for i in range(7)]
print("words of 2/pi:", ", ".join("0x%08x" % w for w in words))
print("pi/2 in 1/2^31:", hex(int(mp.nint(mp.ldexp(mp.pi / 2, 31)))))
mp.mp.prec = 120

# A little beyond pi/4: the quotient of a large argument is not rounded exactly.
H = float(mp.pi / 4) + 0.004
Z = H * H


def rows(letter, n, result):
    c, err = result
    for k in range(n):
        show(f"TRIG_{letter}{k}", c[k])
    print(f"  // fit of {letter}: 2^{float(mp.log(err, 2)):.1f}")


# sin r = r + r·z·S(z), z = r²; weight: relative error of the sine
f = lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z
w = lambda z: z * mp.sqrt(z) / mp.sin(mp.sqrt(z))
rows("S", 3, minimax(f, w, 1e-6, Z, 3))
# cos r = 1 + z·(-1/2 + z·C(z)); weight: relative error of the cosine
f = lambda z: ((mp.cos(mp.sqrt(z)) - 1) / z + mp.mpf(1) / 2) / z
w = lambda z: z * z / mp.cos(mp.sqrt(z))
rows("C", 3, minimax(f, w, 1e-6, Z, 3))
# tan r = r + r·z·T(z)
f = lambda z: (mp.tan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z
w = lambda z: z * mp.sqrt(z) / mp.tan(mp.sqrt(z))
rows("T", 6, minimax(f, w, 1e-6, Z, 6))
