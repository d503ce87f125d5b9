"""Points: the arguments at which the error of a pointwise function is measured."""

from __future__ import annotations

import math

import numpy as np
import torch

COUNT = 8192  # default number of points
NEAR = 32  # number of neighbors of each landmark

# Points where functions have zeros, poles or branch points, or switch formulas.
LANDMARKS = (
    0.0, 1e-30, 1e-10, 1e-4, 0.1, 0.25, 0.5, math.log(2), 0.75, 1.0, math.sqrt(2), 1.5, math.pi / 2, 2.0,
    2.404825557695773, math.e, 3.0, math.pi, 3.831705970207512, 4.0, 5.0, 5.520078110286311, 2 * math.pi, 8.0, 10.0,
    12.0, 20.0, 30.0, 10 * math.pi, 50.0, 88.0, 88.72, 100.0, 170.0, 500.0, 709.0, 1e4, 1e6, 1e15, 1e30,
)  # fmt: skip

# Ranges that are narrower than the domain in torch's database: (least, greatest, whole numbers only) for each argument.
# Degrees of polynomials are small because the error of any formula grows with the degree.
RANGES: dict[str, tuple[tuple[float, float, bool], ...]] = {
    "igamma": ((1e-3, 1e4, False), (1e-3, 1e4, False)),
    "igammac": ((1e-3, 1e4, False), (1e-3, 1e4, False)),
    "special.airy_ai": ((-1e3, 1e2, False),),
    **{f"special.bessel_{kind}": ((-1e4, 1e4, False),) for kind in ("j0", "j1", "y0", "y1")},
    "digamma": ((-100.0, 1e30, False),),
    **{f"polygamma.polygamma_n_{n}": ((-20.0 if n == 1 else 1e-3, 1e4, False),) for n in range(1, 5)},
    "special.zeta": ((1.0, 60.0, False), (1e-3, 1e4, False)),
    **{
        f"special.{name}": ((-2.0, 2.0, False), (0.0, 12.0, True))
        for name in (
            "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
            "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p "
            "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
            "shifted_chebyshev_polynomial_w"
        ).split()
    },
}
EVERYWHERE = (-math.inf, math.inf, False)

_BITS: dict[torch.dtype, type[np.signedinteger]] = {
    torch.float16: np.int16,
    torch.bfloat16: np.int16,
    torch.float32: np.int32,
    torch.float64: np.int64,
}


def arguments(
    name: str, arity: int, domain: tuple[float | None, float | None], dtype: torch.dtype, count: int | None = None
) -> tuple[torch.Tensor, ...]:
    """The points of a function, one CPU tensor for each argument; every call returns the same points."""
    rng = np.random.default_rng(0)
    low, high = (-math.inf if domain[0] is None else domain[0]), (math.inf if domain[1] is None else domain[1])
    ranges = RANGES.get(name, ((low, high, False),) if arity == 1 else (EVERYWHERE, EVERYWHERE))
    count = count or COUNT
    if arity == 1:
        return (_spread(dtype, ranges[0], count, rng),)
    columns = [_spread(dtype, r, count, rng) for r in ranges]
    second = columns[1][torch.from_numpy(rng.permutation(count))]
    # The arguments of 30 % of the pairs are close to each other, where differences cancel and quotients are about 1.
    if ranges[0] == ranges[1]:
        close = columns[0] * torch.from_numpy(rng.normal(1, 0.1, count)).to(dtype)
        second = torch.where(torch.from_numpy(rng.random(count) < 0.3), close, second)
    return columns[0], second


def _spread(
    dtype: torch.dtype, bounds: tuple[float, float, bool], count: int, rng: np.random.Generator
) -> torch.Tensor:
    """One third spread evenly over the numbers of the dtype, one third near landmarks, one third typical of models."""
    low, high, whole = bounds
    if whole:
        return torch.from_numpy(rng.integers(int(low), int(high) + 1, count)).to(dtype)
    third = count // 3
    info = torch.finfo(dtype)
    lattice = _numbers(
        rng.integers(_index(max(low, info.min), dtype), _index(min(high, info.max), dtype) + 1, third), dtype
    )
    marks = np.array([m for m in LANDMARKS if m <= info.max])
    chosen = rng.choice(np.concatenate([marks, -marks]), third)
    steps = rng.integers(-NEAR, NEAR + 1, third)
    near = _numbers(_indices(torch.from_numpy(chosen).to(dtype)) + steps, dtype)
    rest = count - 2 * third
    if math.isfinite(low) and math.isfinite(high):
        usual = rng.uniform(low, high, rest)
    else:
        usual = rng.normal(0, 1, rest) * rng.choice([0.3, 1.0, 5.0, 30.0], rest)
    found = torch.cat([lattice, near, torch.from_numpy(usual).to(dtype)])
    inside = (found >= low) & (found <= high) & found.isfinite()
    return torch.where(inside, found, lattice.repeat(4)[: len(found)])


def _indices(x: torch.Tensor) -> np.ndarray:
    """The rank of each number among those of its dtype; the rank of 0 is 0."""
    kind = _BITS[x.dtype]
    bits = x.contiguous().view(getattr(torch, np.dtype(kind).name)).numpy().astype(np.int64)
    least = np.int64(np.iinfo(kind).min)
    return np.where(bits < 0, least - bits, bits)


def _index(x: float, dtype: torch.dtype) -> int:
    return int(_indices(torch.tensor([x], dtype=torch.float64).to(dtype))[0])


def _numbers(index: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
    """The inverse of `_indices`, within the finite numbers."""
    most = _index(torch.finfo(dtype).max, dtype)
    index = np.clip(index.astype(np.int64), -most, most)
    kind = _BITS[dtype]
    least = np.int64(np.iinfo(kind).min)
    bits = np.where(index < 0, least - index, index).astype(kind)
    return torch.from_numpy(bits).view(dtype)
