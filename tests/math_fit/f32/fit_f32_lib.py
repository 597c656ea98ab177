"""Weighted minimax fit of a polynomial with binary32 coefficients, used by the fit_*.py scripts beside it.

minimax(f, w, lo, hi, n): coefficients c of sum c[k]·t^k, k < n, so that max |f(t) - sum|·w(t) over [lo, hi] is about as
small as it can be. Lawson's reweighted least squares on Chebyshev nodes; then one coefficient after the other, from the
lowest degree up, is rounded to binary32 and the rest fitted again.
"""
import numpy as np
import mpmath as mp

mp.mp.prec = 120


def lawson(a, b, steps=400):
    """Least squares of a·c = b whose weights grow where the residual is large: tends to the minimax solution."""
    w = np.ones(len(b)) / len(b)
    best, best_c = np.inf, None
    for _ in range(steps):
        s = np.sqrt(w)
        c = np.linalg.lstsq(a * s[:, None], b * s, rcond=None)[0]
        e = np.abs(a @ c - b)
        if e.max() < best:
            best, best_c = e.max(), c
        w = w * (e + 1e-3 * e.max())
        w /= w.sum()
    return best_c


def minimax(f, w, lo, hi, n, fixed=(), nodes=400, keep=0):
    """`fixed`: coefficients given beforehand (of the lowest degrees). `keep`: how many of the highest degrees to round
    without a further fit (0: all are fitted). Returns (coefficients, largest weighted error after rounding)."""
    t = np.cos(np.pi * (np.arange(nodes) + 0.5) / nodes) * (hi - lo) / 2 + (hi + lo) / 2
    ft = np.array([float(f(mp.mpf(float(x)))) for x in t])
    wt = np.array([float(w(mp.mpf(float(x)))) for x in t])
    scale = max(abs(lo), abs(hi))
    done = [float(c) for c in fixed]
    while len(done) < n:
        k = np.arange(len(done), n)
        a = (t[:, None] / scale) ** k * wt[:, None]
        rest = (ft - sum(c * t**j for j, c in enumerate(done))) * wt
        c = lawson(a, rest) / scale ** k
        done.append(float(np.float32(c[0])))
    err = np.abs(ft - sum(c * t**j for j, c in enumerate(done))) * wt
    return done, err.max()


def show(name, c, note=""):
    """One Rust constant; the shortest decimal that gives the same binary32."""
    s = np.format_float_scientific(np.float32(c), unique=True, trim="0").replace("e+00", "").replace("e-0", "e-").replace("e+0", "e")
    print(f"const {name}: f32 = {s};{note}")


def split(x, parts):
    """x as a sum of binary32 numbers, each the nearest to what is left."""
    out = []
    for _ in range(parts):
        h = float(np.float32(float(x)))
        out.append(h)
        x = x - mp.mpf(h)
    return out
