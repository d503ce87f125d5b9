"""How XLA compiles eager operations: first code, which compiles quickly, and later good code, that of XLA's defaults.

On the CPU, first code compiles in a quarter to a half of the default's time (two thirds from JAX 0.11.1 on, without the
older emitters) and lacks fused multiply-adds. It is for programs of small arrays: large ones have good code at once.

On a GPU, first code is compiled without autotuning: a ResNet-18's first training step takes 1.7 s instead of 5.9 on an
H200. Triton's products are off as well, because autotuning chooses their tiles. Other algorithms round differently.
"""

import math
import os
import re
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import torch

from .._jax import missing_options

Options = dict[str, str | bool]


class _First(NamedTuple):
    """First code on a platform."""

    options: Options
    largest: float  # elements of an argument or a result; a program with a larger array has good code at once
    calls: int  # until good code takes over


_FIRST = {
    "cpu": _First(
        {
            "xla_cpu_use_fusion_emitters": False,
            "xla_backend_optimization_level": "0",
            "xla_llvm_disable_expensive_passes": True,
            "xla_cpu_parallel_codegen_split_count": "1",
        },
        1 << 16,
        256,
    ),
    "gpu": _First({"xla_gpu_autotune_level": "0", "xla_gpu_enable_triton_gemm": False}, math.inf, 64),
}
# Keeps barriers until operations are fused: without them, each consumer computes a convolution of shifts again.
KEPT_BARRIERS = {"cpu": {"xla_disable_hlo_passes": "cse_barrier_expander,small-while-loop-hoisting"}}
_AUTOTUNED = re.compile(r"stablehlo\.(?:convolution|dot_general)\b")
_TIERS = os.environ.get("TENAX_TIERS") != "0"
# The user's options for what is compiled now.
CUSTOM: ContextVar[Mapping[str, Any]] = ContextVar("CUSTOM", default=MappingProxyType({}))


def compiles_ahead() -> bool:
    """Whether eager operations are compiled in the background (TENAX_SYNC_COMPILE)."""
    return os.environ.get("TENAX_SYNC_COMPILE") != "1"


def has_tiers() -> bool:
    """Whether a program may start with first code."""
    return _TIERS and _first() is not None


def has_one_tier() -> bool:
    """Whether all code must be good code now, because every call of an operation must return the same bits."""
    return not _TIERS or torch.are_deterministic_algorithms_enabled()


class Code(NamedTuple):
    """How a program is compiled."""

    options: Options | None  # None: the process's defaults
    calls: int  # until good code takes over; 0 if it will not


GOOD = Code(None, 0)


def first_code(text: str, avals: Iterable[Any]) -> Code:
    """The code for the first calls of a lowered program, whose arguments and results have `avals`."""
    first = None if has_one_tier() else _first()
    if first is None or any(math.prod(aval.shape) > first.largest for aval in avals):
        return GOOD
    gains = "xla_gpu_autotune_level" not in first.options or _AUTOTUNED.search(text)
    return Code(first.options, first.calls if gains else 0)


def _first() -> _First | None:
    """First code on the first device's platform, with the options that its XLA has; None if `XLA_FLAGS` sets one."""
    first, flags = _FIRST.get(jax.local_devices()[0].platform), os.environ.get("XLA_FLAGS", "")
    if first is None or any(name in flags for name in first.options):
        return None
    options = {name: value for name, value in first.options.items() if name not in missing_options()}
    return first._replace(options=options) if options else None
