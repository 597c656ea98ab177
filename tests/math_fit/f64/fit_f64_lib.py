"""Weighted least squares on Chebyshev nodes, reweighted towards the minimax fit (Lawson), coefficients rounded to f64
one by one from the lowest degree up, the rest refitted after each. Used by the other fit_*.py."""
from mpmath import mp, mpf, matrix, lu_solve, cos, pi

mp.prec = 260


def f64(v):
    return mpf(float(v))


def solve(xs, ys, ws, powers):
    n = len(powers)
    rows = [[w * x**p for p in powers] for x, w in zip(xs, ws)]
    a, b = matrix(n, n), matrix(n, 1)
    for row, y, w in zip(rows, ys, ws):
        for i in range(n):
            b[i] += row[i] * y * w
            for j in range(i, n):
                a[i, j] += row[i] * row[j]
    for i in range(n):
        for j in range(i):
            a[i, j] = a[j, i]
    return list(lu_solve(a, b))


def fit(f, lo, hi, degree, weight, rounds=12, nodes=None):
    """f ~ sum c_i x^i on [lo, hi]; `weight` turns the error of the fit into the error to be made small.
    Returns the rounded coefficients and the largest weighted error on a finer grid."""
    count = nodes or 5 * (degree + 2)
    lo, hi = mpf(lo), mpf(hi)
    xs = [(lo + hi) / 2 + (hi - lo) / 2 * cos(pi * (i + mpf(1) / 2) / count) for i in range(count)]
    ys, base = [f(x) for x in xs], [abs(weight(x)) for x in xs]
    lawson = [mpf(1)] * count
    done = []
    for k in range(degree + 1):
        powers = list(range(k, degree + 1))
        rest = [y - sum(c * x**i for i, c in enumerate(done)) for x, y in zip(xs, ys)]
        c = []
        for _ in range(rounds if k == 0 else 1):
            c = solve(xs, rest, [b * l**0.5 for b, l in zip(base, lawson)], powers)
            if k == 0:
                err = [abs(b * (y - sum(ci * x**i for ci, i in zip(c, powers)))) for x, y, b in zip(xs, rest, base)]
                lawson = [l * e for l, e in zip(lawson, err)]
                total = sum(lawson)
                lawson = [l * count / total + mpf(10) ** -12 for l in lawson]
        done.append(f64(c[0]))
    worst = mpf(0)
    for i in range(2001):
        x = lo + (hi - lo) * (i + mpf("0.37")) / 2001
        worst = max(worst, abs(weight(x) * (f(x) - sum(c * x**j for j, c in enumerate(done)))))
    return done, worst


def show(name, coefficients, worst):
    print(f"// {name}: error of the fit 2^{float(mp.log(worst, 2)):.1f}")
    for i, c in enumerate(coefficients):
        print(f"const {name}{i}: f64 = {float(c)!r};")


def split(name, value, bits):
    """A constant as a head of `bits` bits and a tail rounded to f64."""
    e = int(mp.floor(mp.log(abs(value), 2))) + 1
    hi = mp.nint(value * mpf(2) ** (bits - e)) / mpf(2) ** (bits - e)
    print(f"const {name}_HI: f64 = {float(hi)!r};\nconst {name}_LO: f64 = {float(value - hi)!r};")
