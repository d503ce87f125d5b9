"""Settings of the program: its platform, cache and mesh, and precision."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import jax
import torch

from ..._jax import backends_are_initialized
from ...dispatch.process_settings import compilation_cache
from .process import JAX_PLATFORMS


@dataclass
class _Mode:
    """Whether the program is a single one over a mesh, and its mesh."""

    spmd: bool = field(default_factory=lambda: os.environ.get("XLA_USE_SPMD") == "1")
    mesh: Any = None  # set by `xs.set_global_mesh`


mode = _Mode()
# torch's name for each precision of PyTorch/XLA.
_PRECISIONS = {"default": "medium", "high": "high", "highest": "highest"}


def set_device_type(pjrt_device: str) -> None:
    """Choose the platform, before the first tensor on the device.

    Raises:
        ValueError: there is no such platform.
        RuntimeError: JAX has started on another one.
    """
    name = pjrt_device.upper()
    if name not in JAX_PLATFORMS:
        raise ValueError(f"set_device_type({pjrt_device!r}): expected one of {', '.join(JAX_PLATFORMS)}")
    if not backends_are_initialized():
        jax.config.update("jax_platforms", JAX_PLATFORMS[name])
        return
    backends = [*JAX_PLATFORMS[name].split(","), *([] if name in ("CPU", "TPU") else ["gpu"])]  # JAX's name of both
    if jax.default_backend() not in backends:
        raise RuntimeError(
            f"set_device_type({pjrt_device!r}): JAX has started on {jax.default_backend()}; expected the call before "
            "the first tensor on the device"
        )


def use_spmd(auto: bool = False) -> None:
    """Declare that the program is a single one over a mesh; see `torch_xla.distributed.spmd`.

    Raises:
        NotImplementedError: `auto` is set; tensors are sharded as the program marks them.
    """
    if auto:
        raise NotImplementedError("use_spmd(auto=True): expected xs.mark_sharding, or tenax.shard(module, rules, mesh)")
    mode.spmd = True
    os.environ["XLA_USE_SPMD"] = "1"  # which programs read, and the processes that they start


def initialize_cache(path: str, readonly: bool = False) -> None:
    """Cache compiled programs in a folder; call this before the first compilation.

    Raises:
        NotImplementedError: `readonly` is set; JAX writes what it compiles.
    """
    if readonly:
        raise NotImplementedError(
            "initialize_cache: readonly=True; expected tenax.compilation_cache(path), which writes"
        )
    compilation_cache(path)


def is_bf16_supported() -> bool:
    """True: XLA computes bfloat16 on every platform."""
    return True


def get_master_ip() -> str:
    """The address of the first process."""
    return os.environ.get("MASTER_ADDR", "localhost")


def set_mat_mul_precision(precision: str) -> None:
    """Set the precision of float32 products and convolutions: 'default', 'high' or 'highest'.

    Raises:
        ValueError: `precision` is another string.
    """
    if precision not in _PRECISIONS:
        raise ValueError(f"Invalid precision: {precision}. Must be one of {', '.join(_PRECISIONS)}.")
    torch.set_float32_matmul_precision(_PRECISIONS[precision])


def get_mat_mul_precision() -> str:
    """The precision of float32 products and convolutions."""
    chosen = torch.get_float32_matmul_precision()
    return next(name for name, of_torch in _PRECISIONS.items() if of_torch == chosen)


def refuse_variables() -> None:
    """Check XLA_USE_BF16 and XLA_DOWNCAST_BF16, which programs and trainers may set after their imports.

    Raises:
        NotImplementedError: one is set.
    """
    for name in ("XLA_USE_BF16", "XLA_DOWNCAST_BF16"):
        if os.environ.get(name, "0") not in ("0", ""):
            raise NotImplementedError(
                f"{name}={os.environ[name]}: values are not stored in less precision than their dtype; expected "
                "model.to(torch.bfloat16) or torch.autocast('xla', torch.bfloat16)"
            )
