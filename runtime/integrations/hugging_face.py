"""What Accelerate, transformers and safetensors have no setting for: fp16, bf16, and loading.

Their lists of devices are closed. Each function below is a row of `tenax.changes`, and would be unnecessary with
upstream support: registered devices in `Accelerator`'s list for fp16 and in `is_torch_bf16_gpu_available`, and
`torch.device` for the names of devices in safetensors.
"""

from __future__ import annotations

import functools
import inspect
import os
import warnings
from collections.abc import Callable
from typing import Any

import torch

from .. import patches
from .._torch import NAME
from ..storage.ordinals import device_index

_VARIABLE = "ACCELERATE_TORCH_DEVICE"


def install(module: str) -> None:
    """Extend a module that was just imported: `accelerate` or `transformers.training_args`."""
    if module == "accelerate":
        if NAME == "tpu":  # which transformers chooses by itself, so that Accelerate must choose it, too
            os.environ.setdefault(_VARIABLE, NAME)
        patches.wrap("accelerate.Accelerator.__init__", _with_fp16)
        patches.wrap("accelerate.PartialState.set_device", _with_notice)
    else:
        patches.wrap(f"{module}.is_torch_bf16_gpu_available", _with_bf16)


def _is_chosen() -> bool:
    """Whether Accelerate has chosen the device, or will choose it."""
    from accelerate import PartialState

    device = PartialState._shared_state.get("device") or os.environ.get(_VARIABLE, "cpu")
    return torch.device(device).type == NAME


def _with_fp16(plain: Callable[..., None]) -> Callable[..., None]:
    signature = inspect.signature(plain)

    @functools.wraps(plain)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        from accelerate.state import AcceleratorState

        given = signature.bind(self, *args, **kwargs)
        wanted = given.arguments.get("mixed_precision") or os.environ.get("ACCELERATE_MIXED_PRECISION", "no")
        if str(wanted) != "fp16" or given.arguments.get("cpu") or not _is_chosen():
            plain(self, *args, **kwargs)
            return
        shared = AcceleratorState._shared_state
        if shared.get("_mixed_precision") == "fp16":  # an earlier Accelerator of the process
            shared["_mixed_precision"] = "no"
        given.arguments["mixed_precision"] = "no"
        plain(*given.args, **given.kwargs)
        shared["_mixed_precision"] = "fp16"
        self.native_amp = True
        handler = self.scaler_handler
        self.scaler = torch.amp.GradScaler(self.device.type, **(handler.to_kwargs() if handler else {}))

    return init


def _with_notice(plain: Callable[[Any], None]) -> Callable[[Any], None]:
    @functools.wraps(plain)
    def set_device(self: Any) -> None:
        told = self.device is not None  # chosen by the variable
        if self._cpu and told and self.device.type == NAME:  # `cpu=True` in the program says more than the variable
            self.device = None
        plain(self)
        if self.device.type == "cpu" and not (told or self._cpu):
            tell_of_device(
                "Accelerate", "`import tenax.integrations.accelerate` before the trainer is made", "`use_cpu`"
            )

    return set_device


def _with_bf16(plain: Callable[[], bool]) -> Callable[[], bool]:
    return functools.wraps(plain)(lambda: plain() or _is_chosen())


@functools.cache
def tell_of_device(library: str, how: str, cpu: str) -> None:
    """Warn once that a trainer chose the CPU although the device exists."""
    warnings.warn(
        f'{library} trains on the CPU, although device "{NAME}" exists: {how} chooses the device, '
        f"and {cpu} the CPU without this warning",
        stacklevel=4,
    )


def load_file(plain: Callable[..., Any], filename: Any, device: Any = "cpu", **options: Any) -> Any:
    """`safetensors.torch.load_file`, as `plain`, whose Rust code takes a number as the index of torch's accelerator."""
    if isinstance(device, (str, torch.device)) and str(device).startswith(NAME):
        device = device_index(device)
    return plain(filename, device, **options)
