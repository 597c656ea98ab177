"""Polynomials with f64 coefficients whose weighted error is about as small as it can be: what the fit_*.py beside it are written with.

The first fit levels the error over Chebyshev nodes, by `lawson` or `remez`. Then the coefficients are rounded to f64 one by one from the
lowest degree up, and the rest is fitted again after each. Once rounded coefficients keep the error from alternating, `remez` stops where it is: there the
last coefficients depend on the precision and the order of operations here, and changing either gives others, perhaps worse ones.
"""
from mpmath import mp, mpf, matrix, lu_solve, cos, pi

mp.dps = 50


def nodes(lo, hi, count):
    return [(mpf(lo) + hi) / 2 - (mpf(hi) - lo) / 2 * cos(pi * (2 * i + 1) / (2 * count)) for i in range(count)]


def errors(xs, fs, ws, first, c):
    """Of the polynomial with coefficients `c` from degree `first` on, weighted."""
    return [(mp.polyval(c[::-1], x) * x**first - f) * w for x, f, w in zip(xs, fs, ws)]


def least_squares(xs, fs, ws, first, n):
    """The n coefficients from degree `first` on that make the squares of the errors least."""
    rows = [[w * x ** (first + i) for i in range(n)] for x, w in zip(xs, ws)]
    a, b = matrix(n, n), matrix(n, 1)
    for i in range(n):
        b[i] = sum(row[i] * w * f for row, w, f in zip(rows, ws, fs))
        for j in range(i, n):
            a[i, j] = a[j, i] = sum(row[i] * row[j] for row in rows)
    return list(lu_solve(a, b))


def lawson(xs, fs, ws, first, n):
    """Least squares whose weights grow where the error is large. Gives the coefficients and the last weights."""
    factors = [mpf(1)] * len(xs)
    for _ in range(12):
        level = [w * g**0.5 for w, g in zip(ws, factors)]
        c = least_squares(xs, fs, level, first, n)
        grown = [g * abs(e) for g, e in zip(factors, errors(xs, fs, ws, first, c))]
        factors = [g * len(xs) / sum(grown) + mpf(10) ** -12 for g in grown]
    return c, [w * g**0.5 for w, g in zip(ws, factors)]


def remez(xs, fs, ws, first, n):
    """Remez's exchange over the nodes. Gives the coefficients and `ws`."""
    chosen = [int(round((len(xs) - 1) * float((1 - cos(pi * i / n)) / 2))) for i in range(n + 1)]
    for _ in range(30):
        a, b = matrix(n + 1, n + 1), matrix(n + 1, 1)
        for row, i in enumerate(chosen):
            term = xs[i] ** first * ws[i]
            for j in range(n):
                a[row, j] = term
                term *= xs[i]
            a[row, n] = (-1) ** row
            b[row] = fs[i] * ws[i]
        *c, level = lu_solve(a, b)
        err = errors(xs, fs, ws, first, c)
        runs = []  # the largest error of each run of one sign
        for i, e in enumerate(err):
            if not runs or (e > 0) != (err[runs[-1]] > 0):
                runs.append(i)
            elif abs(e) > abs(err[runs[-1]]):
                runs[-1] = i
        while len(runs) > n + 1:
            if len(runs) == n + 2:
                runs.pop(0 if abs(err[runs[0]]) < abs(err[runs[-1]]) else -1)
            else:
                k = min(range(len(runs) - 1), key=lambda q: max(abs(err[runs[q]]), abs(err[runs[q + 1]])))
                del runs[k:k + 2]
        if len(runs) < n + 1 or max(map(abs, err)) <= abs(level) * mpf("1.001"):
            break
        chosen = runs
    return c, ws


def fit(f, weight, lo, hi, n, method=lawson, fixed=(), refits=7):
    """f on [lo, hi] as n coefficients, the lowest of which may be `fixed`; `weight` turns the error of the fit into the one to be made small.
    After `refits` coefficients by `remez` the rest is rounded together: they are small enough. Gives the coefficients, and their largest weighted
    error on a finer grid."""
    xs = nodes(lo, hi, 5 * (n + 1) if method is lawson else 16 * n)
    rest, ws = [f(x) for x in xs], [abs(weight(x)) for x in xs]
    out, c, level = [], [], None
    for k in range(n):
        if k >= len(fixed) and level is None:
            c, level = method(xs, rest, ws, k, n - k)
        elif k >= len(fixed) and method is remez and k <= refits and lo > 0:
            c, level = remez(xs, rest, ws, k, n - k)
        elif k >= len(fixed) and (method is lawson or k <= refits):
            # With 0 inside the interval and the lowest coefficients given, errors need not alternate.
            c = least_squares(xs, rest, level, k, n - k)
        out.append(mpf(float(fixed[k] if k < len(fixed) else c.pop(0))))
        rest = [r - out[k] * x**k for r, x in zip(rest, xs)]
    fine = nodes(lo, hi, 2001)
    return out, max(map(abs, errors(fine, [f(x) for x in fine], [weight(x) for x in fine], 0, out)))


def show(name, coefficients, worst):
    print(f"// {name}: error of the fit 2^{float(mp.log(worst, 2)):.1f}")
    for i, c in enumerate(coefficients):
        print(f"const {name}{i}: f64 = {float(c)!r};")


def split(name, value, bits):
    """A constant as a head of `bits` bits and a tail rounded to f64."""
    e = int(mp.floor(mp.log(abs(value), 2))) + 1
    hi = mp.nint(value * mpf(2) ** (bits - e)) / mpf(2) ** (bits - e)
    print(f"const {name}_HI: f64 = {float(hi)!r};\nconst {name}_LO: f64 = {float(value - hi)!r};")
