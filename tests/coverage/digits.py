"""Digits: special functions with more digits than float64, computed with mpmath."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from mpmath import mp, mpf

_DIGITS = 40


def _real(function: Callable[..., mpf]) -> Callable[..., np.longdouble]:
    """Convert an mpmath function to long double: NaN where the value is complex or unknown, infinity at a pole."""

    @functools.wraps(function)
    def evaluate(*x: float) -> np.longdouble:
        with mp.workdps(_DIGITS):
            try:
                value = function(*map(mpf, x))
            except (ValueError, ZeroDivisionError, OverflowError, NotImplementedError, mp.NoConvergence):
                return np.longdouble("nan")
            if isinstance(value, mp.mpc):
                return np.longdouble("nan")
            if mp.isnan(value):
                return np.longdouble("nan")
            # The bounds are beyond the range of float64 and well within that of long double.
            size = abs(value)
            text = "inf" if size > mpf(10) ** 1000 else "0" if size < mpf(10) ** -1000 else mp.nstr(size, 25)
            return np.copysign(np.longdouble(text), -1 if value < 0 else 1)

    return evaluate


def _ndtr(x: mpf) -> mpf:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _ndtri(p: mpf) -> mpf:
    if p in (0, 1):
        return mp.inf if p else -mp.inf
    with mp.extradps(40):
        start = mp.sqrt(2) * mp.erfinv(2 * p - 1) if 0.01 < p < 0.99 else None
        if start is not None:
            return start
        # Tails, where 2p - 1 loses digits: Newton's method on the logarithm, from the first term of its expansion.
        q = min(p, 1 - p)
        x = -mp.sqrt(-2 * mp.log(q))
        for _ in range(60):
            step = (mp.log(_ndtr(x)) - mp.log(q)) * _ndtr(x) / mp.npdf(x)
            x -= step
            if abs(step) < abs(x) * mp.mpf(10) ** -35:
                break
        return x if p < 0.5 else -x


def _lgamma(x: mpf) -> mpf:
    if x <= 0 and x == mp.floor(x):
        return mp.inf
    return mp.re(mp.loggamma(x))


def _multivariate(p: int) -> Callable[[mpf], mpf]:
    return lambda x: mpf(p * (p - 1)) / 4 * mp.log(mp.pi) + sum(_lgamma(x - mpf(j) / 2) for j in range(p))


def _incomplete(upper: bool) -> Callable[[mpf, mpf], mpf]:
    def value(a: mpf, x: mpf) -> mpf:
        return mp.gammainc(a, x, mp.inf, regularized=True) if upper else mp.gammainc(a, 0, x, regularized=True)

    return value


def _right(function: Callable[[mpf], mpf], at_zero: float) -> Callable[[mpf], mpf]:
    """A function that is `at_zero` at 0 and undefined below 0."""
    return lambda x: mp.nan if x < 0 else mpf(at_zero) if x == 0 else function(x)


def _chebyshev(kind: str, shifted: bool) -> Callable[[mpf, mpf], mpf]:
    """Evaluate the polynomial by its recurrence, which keeps many digits at small degrees."""

    def value(x: mpf, n: mpf) -> mpf:
        x = 2 * x - 1 if shifted else x
        before, now = mpf(1), {"t": x, "u": 2 * x, "v": 2 * x - 1, "w": 2 * x + 1}[kind]
        for _ in range(int(n)):
            before, now = now, 2 * x * now - before
        return before

    return value


def _zeta(s: mpf, q: mpf) -> mpf:
    return mp.inf if s == 1 else mp.zeta(s, q)


_FUNCTIONS: dict[str, Callable[..., mpf]] = {
    "digamma": lambda x: -mp.inf if x == 0 else mp.digamma(x),
    "erf": mp.erf,
    "erfc": mp.erfc,
    "erfinv": lambda x: mpf(x) * mp.inf if abs(x) == 1 else mp.erfinv(x),
    "i0": lambda x: mp.besseli(0, x),
    "igamma": _incomplete(upper=False),
    "igammac": _incomplete(upper=True),
    "lgamma": _lgamma,
    **{f"mvlgamma.mvlgamma_p_{p}": _multivariate(p) for p in (1, 3, 5)},
    **{f"polygamma.polygamma_n_{n}": functools.partial(lambda n, x: mp.psi(n, x), n) for n in range(5)},
    "special.airy_ai": mp.airyai,
    "special.bessel_j0": lambda x: mp.besselj(0, x),
    "special.bessel_j1": lambda x: mp.besselj(1, x),
    "special.bessel_y0": _right(lambda x: mp.bessely(0, x), -np.inf),
    "special.bessel_y1": _right(lambda x: mp.bessely(1, x), -np.inf),
    "special.entr": _right(lambda x: -x * mp.log(x), 0),
    "special.erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
    "special.i0e": lambda x: mp.exp(-abs(x)) * mp.besseli(0, x),
    "special.i1": lambda x: mp.besseli(1, x),
    "special.i1e": lambda x: mp.exp(-abs(x)) * mp.besseli(1, x),
    "special.log_ndtr": lambda x: mp.log(_ndtr(x)),
    "special.modified_bessel_i0": lambda x: mp.besseli(0, x),
    "special.modified_bessel_i1": lambda x: mp.besseli(1, x),
    "special.modified_bessel_k0": _right(lambda x: mp.besselk(0, x), np.inf),
    "special.modified_bessel_k1": _right(lambda x: mp.besselk(1, x), np.inf),
    "special.scaled_modified_bessel_k0": _right(lambda x: mp.exp(x) * mp.besselk(0, x), np.inf),
    "special.scaled_modified_bessel_k1": _right(lambda x: mp.exp(x) * mp.besselk(1, x), np.inf),
    "special.ndtr": _ndtr,
    "special.ndtri": _ndtri,
    "special.spherical_bessel_j0": lambda x: mp.sinc(x),
    "special.xlog1py": lambda x, y: mpf(0) if x == 0 else x * mp.log1p(y),
    "special.zeta": _zeta,
    **{
        f"special.{prefix}chebyshev_polynomial_{kind}": _chebyshev(kind, bool(prefix))
        for prefix in ("", "shifted_")
        for kind in "tuvw"
    },
    "special.hermite_polynomial_h": lambda x, n: mp.hermite(n, x),
    "special.hermite_polynomial_he": lambda x, n: mp.hermite(n, x / mp.sqrt(2)) / mp.sqrt(2) ** n,
    "special.laguerre_polynomial_l": lambda x, n: mp.laguerre(n, 0, x),
    "special.legendre_polynomial_p": lambda x, n: mp.legendre(n, x),
}
EXACT = {name: _real(function) for name, function in _FUNCTIONS.items()}
EXACT["special.polygamma.special_polygamma_n_0"] = EXACT["polygamma.polygamma_n_0"]
