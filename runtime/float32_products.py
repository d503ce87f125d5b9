"""The precision of float32 products, also in convolutions: that of `torch.set_float32_matmul_precision`.

CPUs multiply in float32 in any case. On GPUs and TPUs JAX's default is TF32 or bfloat16, which torch uses only on
request, so programs of tenax state their precision.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import jax
import torch

from . import patches

OF_JAX = {"highest": "highest", "high": "high", "medium": "default"}
_OF_BACKENDS = {"none": "highest", "ieee": "highest", "tf32": "high", "bf16": "medium"}


class _Float32Products:
    """The precision that torch's settings ask for: "highest", "high" or "medium"."""

    def __init__(self) -> None:
        self.precision = _torch_precision()
        self.changed: Callable[[], None] = lambda: None  # called after a change

    def follow(self) -> None:
        """Read the settings again."""
        precision = _torch_precision()
        if precision != self.precision:
            self.precision = precision
            self.changed()

    @property
    def in_effect(self) -> str:
        """The precision in which a program would be traced now: JAX's setting, if the user made one, or torch's."""
        return jax.config.jax_default_matmul_precision or OF_JAX[self.precision]  # type: ignore[attr-defined, unused-ignore]


def products_in(precision: str) -> AbstractContextManager[None]:
    """Trace products in one of torch's precisions, unless a setting of JAX states another."""
    if jax.config.jax_default_matmul_precision is not None:  # type: ignore[attr-defined, unused-ignore]
        return nullcontext()
    return cast(AbstractContextManager[None], jax.default_matmul_precision(OF_JAX[precision]))


def _torch_precision() -> str:
    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:  # after `torch.backends.fp32_precision = "tf32"` and its kin, for which that function raises
        return _OF_BACKENDS[torch.backends.fp32_precision]  # type: ignore[attr-defined, unused-ignore]


def _following(plain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain)
    def setting(*args: Any) -> Any:
        result = plain(*args)
        float32_products.follow()
        return result

    return setting


float32_products = _Float32Products()
for _name in ("_set_float32_matmul_precision", "_set_cublas_allow_tf32", "_set_fp32_precision_setter"):
    patches.wrap(f"torch._C.{_name}", _following)
