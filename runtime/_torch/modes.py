"""Modes that intercept every call of torch's functions or operators, and the state of `torch.jit.trace`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from ..releases import private_names

with private_names("torch", torch.__version__):
    from torch.utils._device import _device_constructors
    from torch.utils._python_dispatch import TorchDispatchMode as TorchDispatchMode

    # A context that keeps function modes, such as a default device, from affecting torch's Python kernels.
    DisableTorchFunction = torch._C.DisableTorchFunction
    dispatch_mode_count = torch._C._len_torch_dispatch_stack
    function_mode_count = torch._C._len_torch_function_stack
    tracing_state: Callable[[], Any] = torch._C._get_tracing_state  # of torch.jit.trace
    _set_tracing_state: Callable[[Any], None] = torch._C._set_tracing_state  # type: ignore[attr-defined]
    _with_keys = torch._C._ForceDispatchKeyGuard  # (included, excluded) keys of the dispatcher
    _NO_KEYS = torch._C.DispatchKeySet(torch._C.DispatchKey.Undefined)
    device_constructors: Callable[[], set[Any]] = _device_constructors  # functions with an argument `device`


@contextmanager
def untraced() -> Iterator[None]:
    """Context in which `torch.jit.trace` does not record."""
    state = tracing_state()
    _set_state(None)
    try:
        yield
    finally:
        _set_state(state)


def _set_state(state: Any) -> None:
    with _with_keys(_NO_KEYS, _NO_KEYS):  # torch refuses this if the tracer's key is excluded, as within an operator
        _set_tracing_state(state)
