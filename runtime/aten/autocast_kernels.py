"""The kernels of `torch.autocast("jax")`: the policies of `tenax.generated.autocast`, applied above autograd.

As in ATen/autocast_mode.cpp, casts are differentiable, and float32 weights are cast once per autocast region.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from .._torch import NAME
from .._torch.dispatcher import exclude_key, key_of_name
from .._torch.operators import overload_named

_KEY = key_of_name("AutocastPrivateUse1")

Call = Callable[..., Any]

# Casts of weights, by the weight's id and the dtype. An entry keeps its weight alive.
_cache: dict[tuple[int, torch.dtype], tuple[torch.Tensor, torch.Tensor]] = {}


def _eligible(x: Any) -> bool:
    return x is not None and x.is_floating_point() and x.dtype is not torch.float64 and not x.is_cpu


def _cast(x: Any, dtype: torch.dtype) -> Any:
    """Cast a tensor if autocast may change its dtype. The caller has excluded autocast's dispatch key."""
    if not _eligible(x):
        return x
    weight = x.requires_grad and x.dtype is torch.float32 and x.is_leaf and not x._is_view()
    if not (weight and dtype is torch.get_autocast_dtype(NAME) and torch.is_autocast_cache_enabled()):
        return x.to(dtype)
    held = _cache.get((id(x), dtype))
    if held is None:
        # The first use may be under no_grad while a later one needs the gradient.
        with torch.enable_grad():
            held = _cache[id(x), dtype] = x, x.to(dtype)
    return held[1]


def _below(call: Call, args: Any, kwargs: dict[str, Any], dtype: Any = None, policy: Any = None) -> Any:
    """Call the operator below autocast, with the tensors selected by the policy cast to `dtype`."""
    exclude_key(_KEY, True)
    try:
        if policy is not None:
            args, count = list(args), len(args)
            for i in policy.tensors:
                if i < count and args[i] is not None and args[i].dtype is not dtype:
                    args[i] = _cast(args[i], dtype)
            for i in policy.lists:
                args[i] = [_cast(x, dtype) for x in args[i]]
        return call(*args, **kwargs)
    finally:
        exclude_key(_KEY, False)


def _lower_precision_fp(call: Call, policy: Any) -> Call:
    return lambda *args, **kwargs: _below(call, args, kwargs, torch.get_autocast_dtype(NAME), policy)


def _fp32(call: Call, policy: Any) -> Call:
    return lambda *args, **kwargs: _below(call, args, kwargs, torch.float32, policy)


def _fp32_set_opt_dtype(call: Call, policy: Any) -> Call:
    end = policy.dtype

    def kernel(*args: Any, **kwargs: Any) -> Any:
        given = "dtype" in kwargs or (end is not None and len(args) > end)
        if not given and _eligible(args[0]):
            kwargs["dtype"] = torch.float32
        return _below(call, args, kwargs)

    return kernel


def _fp32_append_dtype(call: Call, policy: Any) -> Call:
    defaults = [a.default_value for a in call._schema.arguments]  # type: ignore[attr-defined]
    call = overload_named(policy.calls)

    def kernel(*args: Any) -> Any:
        dtype = torch.float32 if _eligible(args[0]) else args[0].dtype
        return _below(call, (*args, *defaults[len(args) :]), {"dtype": dtype})

    return kernel


def _promote(call: Call, policy: Any) -> Call:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        lower = torch.get_autocast_dtype(NAME)
        held = {x.dtype for x in _tensors(args, policy) if _eligible(x)}
        if not held <= {lower, torch.float32}:
            raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
        return _below(call, args, kwargs, torch.float32 if torch.float32 in held else lower, policy)

    return kernel


def _tensors(args: tuple[Any, ...], policy: Any) -> Iterator[Any]:
    yield from (args[i] for i in policy.tensors if i < len(args))
    for i in policy.lists:
        yield from args[i]


def _banned(call: Call, policy: Any) -> Call:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(policy.error)

    return kernel


_KERNELS: dict[str, Callable[[Call, Any], Call]] = {
    "lower_precision_fp": _lower_precision_fp,
    "fp32": _fp32,
    "fp32_set_opt_dtype": _fp32_set_opt_dtype,
    "fp32_append_dtype": _fp32_append_dtype,
    "promote": _promote,
    "banned": _banned,
}


def kernel_of(name: str, policy: Any) -> Call:
    """The autocast kernel of an operator with a given policy."""
    return _KERNELS[policy.kind](overload_named(name), policy)


clear_cache = _cache.clear
