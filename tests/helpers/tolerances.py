"""The tolerances of the hand-written tests: one table by dtype, and the named allowances where it does not hold.

A result agrees if `|found - expected| <= absolute + relative * |expected|`. The coverage harness has a table of its own
(tests/coverage/compare.py), which is that of `torch.testing`, because torch's databases are written for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from tenax.coverage.compare import Tolerance

# A few units in the last place, relative to the value and, where terms of order 1 cancel, absolute. Values of any other
# dtype must be equal.
TABLE = {
    torch.float64: Tolerance(1e-12, 1e-12),
    torch.float32: Tolerance(1e-6, 1e-6),
    torch.float16: Tolerance(1e-3, 1e-5),
    torch.bfloat16: Tolerance(1.6e-2, 1e-5),
}
EXACT = Tolerance(0.0, 0.0)
PARTS = {torch.complex128: torch.float64, torch.complex64: torch.float32, torch.complex32: torch.float16}


@dataclass(frozen=True)
class Allowance:
    """Tolerances in place of those of the table for some dtypes, and why."""

    why: str
    tolerances: dict[torch.dtype, Tolerance]

    def __post_init__(self) -> None:
        if not self.why or not self.tolerances or not self.tolerances.keys() <= TABLE.keys():
            raise ValueError(f"{self}: expected a reason, and dtypes of the table")


def tolerance(dtype: torch.dtype, allowance: Allowance | None = None) -> Tolerance:
    """What values of a dtype may differ by. A complex dtype has the tolerance of its parts."""
    dtype = PARTS.get(dtype, dtype)
    if allowance is not None and dtype in allowance.tolerances:
        return allowance.tolerances[dtype]
    return TABLE.get(dtype, EXACT)


# Wider than the table.

SUMMED = Allowance(
    "The result is a sum of dozens of products, which partly cancel, and each library adds them in its own order.",
    {torch.float32: Tolerance(1.3e-6, 1e-5)},
)
COMPOSED = Allowance(
    "Such sums follow each other, forward and backward, and each amplifies the error of the one before.",
    {
        torch.float64: Tolerance(1e-10, 1e-12),
        torch.float32: Tolerance(1e-5, 5e-6),
        torch.bfloat16: Tolerance(1.6e-2, 8e-3),
    },
)
BOTH_OFF = Allowance(
    "A gradient of order 5 cancels: compared with float64, the device's is 6e-6 off, and that of CPU torch 4e-6.",
    {torch.float32: Tolerance(1e-5, 1e-5)},
)
ACCUMULATED = Allowance(
    "A gradient is the small sum of hundreds of terms; or Adam has made a few steps, and it moves a weight as far for "
    "a gradient that is only rounding as for any other.",
    {torch.float32: Tolerance(1e-4, 5e-5)},
)
FACTORED = Allowance(
    "In eigenvectors, an error of the matrix is divided by the distance between its eigenvalues.",
    {torch.float32: Tolerance(1e-5, 2e-6)},
)
IN_HALVES = Allowance(
    "In half precision, each library rounds at its own steps of forward and backward, and rounded terms cancel.",
    {torch.float16: Tolerance(1e-2, 5e-3), torch.bfloat16: Tolerance(5e-2, 4e-2)},
)
IN_BFLOAT16 = Allowance(
    "The result is wider than bfloat16, but it was computed in bfloat16, which rounds by up to 4e-3 of a value.",
    {torch.float64: Tolerance(1e-2, 1e-3), torch.float32: Tolerance(1e-2, 1e-3)},
)
IN_FLOAT32 = Allowance(
    "The result is float64, but CPU torch rounds a part of it to float32, such as the product with a scale.",
    {torch.float64: Tolerance(1e-7, 1e-7)},
)
SERIES = Allowance(
    "CPU torch computes derivatives of gamma and beta samples by series that are correct to about four digits.",
    {torch.float64: Tolerance(2e-3, 0.0), torch.float32: Tolerance(1e-3, 0.0)},
)
QUOTIENT = Allowance(
    "The reference is a difference quotient, which has an error of its step and loses digits in its difference.",
    {torch.float64: Tolerance(1e-6, 1e-12)},
)
CANCELLED = Allowance(
    "The result is a variance of about 1e-6 of values near 1e8, where float64 resolves 1e-8.",
    {torch.float64: Tolerance(1e-12, 1e-11)},
)
SAMPLED = Allowance(
    "The result is the mean of 500 random results.",
    {torch.float32: Tolerance(0.0, 0.1)},
)

# Narrower than the table.

ROUNDED = Allowance(
    "Nothing cancels in the result, so small values have as many correct digits as large ones.",
    {torch.float64: Tolerance(1e-14, 0.0), torch.float32: Tolerance(1e-6, 0.0)},
)
LAST_DIGITS = Allowance(
    "The test is about the last digits, also those of small values.",
    {torch.float64: Tolerance(1e-15, 0.0), torch.float32: Tolerance(2e-7, 0.0)},
)
UNIT = Allowance(
    "One formula is compiled in two programs, whose results differ by at most a unit in the last place.",
    {torch.float32: Tolerance(1e-7, 1e-7)},
)
LOSSES = Allowance(
    "The values are losses, which become small when training succeeds.",
    {torch.float32: Tolerance(5e-6, 5e-8)},
)

# A statistical test fails at a p-value below this. Its seed is fixed, so a test that has passed will pass again.
SIGNIFICANCE = 1e-4
