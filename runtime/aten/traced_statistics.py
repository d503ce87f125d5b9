"""`torch.cov` and `torch.corrcoef` in traces, where torch reads whether the degrees of freedom are positive.

Without weights that number follows from the shape, so a trace needs no value. With weights torch checks their values,
and its own code raises `TraceError`.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch


def cov(
    input: torch.Tensor,
    *,
    correction: int = 1,
    fweights: torch.Tensor | None = None,
    aweights: torch.Tensor | None = None,
) -> Any:
    """`torch.cov`: the covariance of the rows of a matrix; source: torch's `Correlation.cpp`.

    Returns:
        A tensor of shape (rows, rows), or a 0-d one of a vector, in the dtype of a mean; `NotImplemented` with weights
        and for calls that torch refuses.
    """
    refused = input.dim() > 2 or input.dtype is torch.bool
    if refused or fweights is not None or aweights is not None or type(correction) is not int:
        return NotImplemented
    x = input if input.dim() == 2 else input.reshape(1, -1)
    degrees = x.shape[1] - correction
    if degrees <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
            stacklevel=2,
        )
    centred = x - (x.sum(1) / x.shape[1]).unsqueeze(1)
    return (centred.mm(centred.t().conj()) / max(degrees, 0)).squeeze()


def corrcoef(input: torch.Tensor) -> Any:
    """`torch.corrcoef`: the correlation of the rows of a matrix; source: torch's `Correlation.cpp`.

    Returns:
        A tensor of the shape and dtype of `cov`; `NotImplemented` for calls that torch refuses.
    """
    c = cov(input)
    if c is NotImplemented or not c.dim():
        return c if c is NotImplemented else c / c
    scale = c.diagonal().real.sqrt() if c.is_complex() else c.diagonal().sqrt()
    c = c / scale.view(-1, 1) / scale.view(1, -1)
    return torch.complex(c.real.clip(-1, 1), c.imag.clip(-1, 1)) if c.is_complex() else c.clip(-1, 1)
