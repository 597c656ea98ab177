"""Coefficients of the exp / log / power / hyperbolic family of f32.
Near-minimax fit: weighted least squares on Chebyshev nodes, re-weighted (Lawson) until the error is level; then the coefficients are
rounded to f32 one by one from the lowest degree up, the rest refitted after each. Run: python3 fit_exp.py [name ...]"""
import sys
import numpy as np
from mpmath import mp, mpf, matrix, lu_solve, log, exp, sqrt, tanh, cosh, sinh, cos, pi, log1p, floor

mp.prec = 160


def f32(x):
    return mpf(float(np.float32(float(x))))


def short(x, bits):
    """x rounded to that many bits, so that products with small integers are exact"""
    e = int(floor(log(abs(x), 2)))
    s = mpf(2) ** (bits - 1 - e)
    return mp.nint(x * s) / s


def solve(basis, rhs, w):
    n = len(basis)
    m = matrix(n, n)
    v = matrix(n, 1)
    for i in range(n):
        bi = [b * ww for b, ww in zip(basis[i], w)]
        for j in range(i, n):
            m[i, j] = m[j, i] = mp.fdot(bi, basis[j])
        v[i] = mp.fdot(bi, rhs)
    return list(lu_solve(m, v))


def fit(lo, hi, target, phi, weight, fixed=(), nodes=64, rounds=25):
    """target(x) ~ sum c_j phi_j(x), error times weight(x) level on [lo, hi]; the first coefficients may be fixed"""
    mid, half = (mpf(lo) + hi) / 2, (mpf(hi) - lo) / 2
    xs = [mid + half * cos(pi * (2 * i + 1) / (2 * nodes)) for i in range(nodes)]
    g = [target(x) for x in xs]
    ph = [[p(x) for x in xs] for p in phi]
    w0 = [weight(x) for x in xs]
    c = [mpf(v) for v in fixed]
    lw = [mpf(1)] * nodes
    err = None

    def rest():
        k = len(c)
        rhs = [gi - sum(c[j] * ph[j][i] for j in range(k)) for i, gi in enumerate(g)]
        return solve(ph[k:], rhs, [l * w * w for l, w in zip(lw, w0)])

    def errors(cc):
        return [abs(gi - sum(cc[j] * ph[j][i] for j in range(len(cc)))) * w0[i] for i, gi in enumerate(g)]

    for _ in range(rounds):
        err = errors(c + rest())
        s = sum(l * e for l, e in zip(lw, err)) / nodes
        lw = [l * e / s + mpf(10) ** -6 for l, e in zip(lw, err)]
    ideal = max(err)
    while len(c) < len(phi):
        c.append(f32(rest()[0]))
    return c, ideal, max(errors(c))


def powers(a, b, step=1):
    return [lambda x, k=k: x ** k for k in range(a, b + 1, step)]


def show(name, c, ideal, err):
    print(f"{name}: error {mp.nstr(log(ideal, 2), 5)} bits before rounding, {mp.nstr(log(err, 2), 5)} after")
    for v in c:
        f = np.float32(float(v))
        print(f"    {np.format_float_positional(f, unique=True) if abs(f) > 1e-4 else np.format_float_scientific(f, unique=True)}", f"0x{f.view(np.uint32):08x}")


LN2 = log(2)
S = sqrt(mpf(2))


def job_exp(deg=7, h=LN2 * 1.0001):
    show(f"exp degree {deg}", *fit(-h, h, lambda r: exp(r), powers(0, deg), lambda r: exp(-r), fixed=[1]))


def job_exp2(deg=7, h=mpf(1)):
    show(f"exp2 degree {deg}", *fit(-h, h, lambda r: mpf(2) ** r, powers(0, deg), lambda r: mpf(2) ** -r, fixed=[1]))


def job_ln(deg=10):
    show(f"ln(1+f) - f, degree {deg}", *fit(S / 2 - 1, S - 1, lambda f: log1p(f) - f, powers(2, deg), lambda f: abs(1 / log1p(f))))

def job_log2(deg=10):
    c = 1 / LN2
    show(f"log2(1+f) - f/ln 2, degree {deg}", *fit(mpf(-1) / 3, mpf(1) / 3, lambda f: log1p(f) * c - f * c, powers(2, deg), lambda f: abs(1 / (log1p(f) * c))))


def job_log10(deg=10):
    c = 1 / log(10)
    show(f"log10(1+f) - f/ln 10, degree {deg}", *fit(S / 2 - 1, S - 1, lambda f: log1p(f) * c - f * c, powers(2, deg), lambda f: abs(1 / (log1p(f) * c))))


def job_pow(deg=9, lo=mpf("-0.1941"), hi=mpf("0.2091")):
    show(f"ln(1+f) - f + f^2/2, degree {deg}", *fit(lo, hi, lambda f: log1p(f) - f + f * f / 2, powers(3, deg), lambda f: abs(1 / log1p(f))))


def job_expm1(deg=7, h=LN2 / 2 * 1.0001):
    show(f"e^r - 1 - r, degree {deg}", *fit(-h, h, lambda r: mp.expm1(r) - r, powers(2, deg), lambda r: abs(1 / mp.expm1(r))))


def job_tanh(deg=11, h=mpf("0.551")):
    show(f"tanh r - r, degree {deg}", *fit(0, h, lambda r: tanh(r) - r, powers(3, deg, 2), lambda r: 1 / tanh(r)))


def job_cosh(deg=6, h=LN2 / 2 * 1.0001):
    show(f"2 cosh r - 2, degree {deg}", *fit(0, h, lambda r: 2 * cosh(r) - 2, powers(2, deg, 2), lambda r: mpf(1)))


def job_sinh(deg=5, h=LN2 / 2 * 1.0001):
    show(f"2 sinh r - 2 r, degree {deg}", *fit(0, h, lambda r: 2 * sinh(r) - 2 * r, powers(3, deg, 2), lambda r: 1 / sinh(r)))


def job_cbrt(h=mpf("0.1025")):
    show("(1 - e)^(-1/3) - 1", *fit(-h, h, lambda e: (1 - e) ** (-mpf(1) / 3) - 1, powers(1, 3), lambda e: mpf(1)))


def job_guess(magic=0x54A1F568):
    """1 - a r^3 for the first guess r of cbrt, over the mantissas of three exponents"""
    bits = np.arange(127 << 23, 130 << 23, 7, dtype=np.uint32)
    r = (np.uint32(magic) - bits // np.uint32(3)).view(np.float32).astype(float)
    e = 1 - bits.view(np.float32).astype(float) * r**3
    print(f"guess of cbrt {magic:#x}: 1 - a r^3 from {e.min():.6f} to {e.max():.6f}")


def job_constants():
    def split(name, v, bits=24, terms=2):
        out = []
        for i in range(terms):
            c = short(v, bits if i == 0 else 24)
            out.append(str(np.float32(float(c))))
            v -= c
        print(name, *out)

    split("ln 2 in 24 bits:", LN2)
    split("ln 2 in 16 bits:", LN2, 16)
    split("ln 2 / 2 in 24 bits:", LN2 / 2)
    split("1 / ln 2:", 1 / LN2)
    split("2 / ln 2:", 2 / LN2)
    split("1 / ln 10:", 1 / log(10))
    split("log10(2) in 15 bits:", LN2 / log(10), 15)
    split("ln(4/3) in 15 bits:", log(mpf(4) / 3), 15)


if __name__ == "__main__":
    jobs = {k[4:]: v for k, v in list(globals().items()) if k.startswith("job_")}
    for k in sys.argv[1:] or jobs:
        name, *args = k.split(":")
        jobs[name](*[int(a) for a in args])
