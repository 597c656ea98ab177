"""Results of the functions of f64 to 106 bits, for tests/tests/math.rs: python3 doubles.py > doubles.txt (needs mpmath).

A line: function, bits of the arguments, bits of the result and of what the result lacks, both nearest.
"""
import math
import random
import struct
from mpmath import mp, mpf

mp.prec = 1400  # Enough for sin(1e308).
random.seed(20)

ONE = {
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "asin": mp.asin, "acos": mp.acos, "atan": mp.atan,
    "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "exp": mp.exp, "exp2": lambda x: mp.mpf(2) ** x, "exp_m1": mp.expm1,
    "ln": mp.log, "log2": lambda x: mp.log(x) / mp.log(2), "log10": mp.log10, "ln_1p": mp.log1p,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)), "erf": mp.erf, "erfc": mp.erfc,
}
TWO = {"atan2": mp.atan2, "powf": lambda x, y: x ** y, "hypot": mp.hypot}
# Where a function is defined and finite; about what else to take arguments; of which sizes.
DOMAIN = {
    "asin": (-1, 1), "acos": (-1, 1), "sinh": (-709, 709), "cosh": (-709, 709), "exp": (-744, 709), "exp2": (-1074, 1023), "exp_m1": (-50, 709),
    "ln": (0, 1e300), "log2": (0, 1e300), "log10": (0, 1e300), "ln_1p": (-1, 1e300), "erfc": (-6, 27),
}


def bits(value):
    return struct.pack(">d", value).hex()


def arguments(name):
    low, high = DOMAIN.get(name, (-1e308, 1e308))
    found = []
    for exponent in (-300, -60, -30, -20, -10, -5, -3, -2, -1, 0, 1, 2, 3, 5, 8, 15, 22, 30, 45, 80, 1000):
        for sign in (1, -1):
            found.append(sign * math.ldexp(1 + random.random(), exponent))
    for centre in (1.0, 0.5, math.sqrt(0.5), math.sqrt(2), math.pi / 4, math.pi / 2, math.pi, 2 * math.pi, 100 * math.pi, 0.84375, 1.25):
        for step in (0, 1e-15, -1e-9, 1e-4):
            found.append(centre * (1 + step))
    found += [random.uniform(max(low, -1000), min(high, 1000)) for _ in range(40)]
    # The f64 nearest to a multiple of pi/2: 6381956970095103 * 2^797 (W. Kahan, A program for finding the nearest such).
    found.append(math.ldexp(6381956970095103, 797))
    return [x for x in found if low < x < high]


def line(name, arguments, result):
    high = float(result)
    if math.isinf(high) or math.isnan(high) or abs(high) < 1e-290:
        return
    print(name, *map(bits, arguments), bits(high), bits(float(result - mpf(high))))


for name, function in ONE.items():
    for x in arguments(name):
        line(name, [x], function(mpf(x)))
for name, function in TWO.items():
    xs = arguments(name)
    for x in xs:
        y = random.choice(xs)
        if name == "powf":
            x = abs(x)
            y = random.uniform(-1, 1) * 700 / max(abs(math.log(x)), 1e-9) if x != 1 else y
            if abs(y) > 1e300:
                continue
        line(name, [x, y], function(mpf(x), mpf(y)))
