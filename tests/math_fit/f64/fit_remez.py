"""Weighted Remez exchange on a fixed dense grid, with the coefficients rounded to f64 one by one from the lowest degree up."""
from mpmath import mp, mpf, matrix, lu_solve, cos, pi

mp.dps = 50


def grid(a, b, m):
    """m Chebyshev nodes of [a, b], ascending."""
    return [(mpf(a) + b) / 2 - (mpf(b) - a) / 2 * cos(pi * (2 * i + 1) / (2 * m)) for i in range(m)]


def remez(xs, fs, ws, lo, n):
    """Coefficients of degrees lo..lo+n-1 that minimise max |w (p - f)| over the grid, and that maximum."""
    m, bs = len(xs), [x**lo for x in xs]
    ref = [int(round((m - 1) * float((1 - cos(pi * i / n)) / 2))) for i in range(n + 1)]
    for _ in range(30):
        a = matrix(n + 1, n + 1)
        y = matrix(n + 1, 1)
        for r, i in enumerate(ref):
            t = bs[i] * ws[i]
            for j in range(n):
                a[r, j] = t
                t *= xs[i]
            a[r, n] = (-1) ** r
            y[r] = fs[i] * ws[i]
        s = lu_solve(a, y)
        c, lev = [s[j] for j in range(n)], abs(s[n])
        err = []
        for x, f, w, b in zip(xs, fs, ws, bs):
            v = mpf(0)
            for cj in reversed(c):
                v = v * x + cj
            err.append((v * b - f) * w)
        runs = []  # the largest error of each run of one sign
        for i, e in enumerate(err):
            if runs and (e > 0) == (err[runs[-1]] > 0):
                if abs(e) > abs(err[runs[-1]]):
                    runs[-1] = i
            else:
                runs.append(i)
        while len(runs) > n + 1:
            if len(runs) == n + 2:
                runs.pop(0 if abs(err[runs[0]]) < abs(err[runs[-1]]) else -1)
            else:
                k = min(range(len(runs) - 1), key=lambda q: max(abs(err[runs[q]]), abs(err[runs[q + 1]])))
                del runs[k:k + 2]
        top = max(abs(e) for e in err)
        if len(runs) < n + 1 or top <= lev * mpf("1.001"):
            break
        ref = runs
    return c, top


def squares(xs, fs, ws, lo, n):
    """The same by least squares: with 0 inside the interval and the lowest coefficients given, the errors need not alternate."""
    rows = [[w * x ** (lo + j) for j in range(n)] for x, w in zip(xs, ws)]
    a = matrix(n, n)
    y = matrix(n, 1)
    for i in range(n):
        y[i] = sum(r[i] * w * f for r, w, f in zip(rows, ws, fs))
        for j in range(i, n):
            a[i, j] = a[j, i] = sum(r[i] * r[j] for r in rows)
    return list(lu_solve(a, y))


def fit(f, w, a, b, n, fixed=(), refits=7):
    """Fit f on [a, b] with n coefficients, the first len(fixed) given, each then rounded to f64: the first ones one by one with the rest
    fitted again, those after the refits together (they are small enough not to need it)."""
    xs = grid(a, b, 16 * n)
    fs, ws = [f(x) for x in xs], [w(x) for x in xs]
    out = [mpf(c) for c in fixed]
    best = None
    for k in range(n):
        if k >= len(fixed):
            if k <= refits or best is None:
                if a < 0 and best is not None:
                    cs = squares(xs, fs, ws, k, n - k)
                else:
                    cs, top = remez(xs, fs, ws, k, n - k)
                    best = best or top
            out.append(mpf(float(cs.pop(0))))
        c = out[k]
        fs = [v - c * x**k for v, x in zip(fs, xs)]
    return [float(c) for c in out], best, max(abs(v * g) for v, g in zip(fs, ws))


def show(name, cs, best, top):
    print(f"// {name}: minimax error 2^{float(mp.log(best, 2)):.2f}, after rounding 2^{float(mp.log(top, 2)):.2f}")
    for i, c in enumerate(cs):
        print(f"const {name}{i}: f64 = {c!r};")
