"""`torchax.types`: type aliases for values and functions of the two libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeAlias

import jax
import numpy as np
import torch

P = ParamSpec("P")

TorchCallable: TypeAlias = Callable[P, Any]
TorchValue: TypeAlias = torch.Tensor | torch.dtype | TorchCallable | Any
JaxCallable: TypeAlias = Callable[P, Any]
JaxValue: TypeAlias = jax.Array | np.dtype | JaxCallable | Any
