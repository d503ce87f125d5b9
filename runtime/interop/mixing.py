"""A `jax.Array` as an argument of torch's functions: it is taken as a tensor of the device, without a copy.

The library that is asked decides what comes out: `torch.add(x, a)` and `x + a` are tensors, `jnp.add(x, a)` and `a + x`
arrays. Price: a method more on JAX's array type, and JAX has no public way to give it one.
"""

from __future__ import annotations

from typing import Any

from jax._src.array import ArrayImpl
from jax.core import Tracer

from ..device.convert import from_jax


def _called(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    args, kwargs = from_jax((args, kwargs or {}))
    return func(*args, **kwargs)


def _refused(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    raise TypeError(
        f"{getattr(func, '__name__', func)}: got an array that JAX traces; expected a torch function that is pure to "
        "JAX: tenax.interop.t2j(function), or tenax.from_jax(array) where there is no randomness"
    )


def install() -> None:
    """Give JAX's arrays the protocol by which torch's functions ask their arguments."""
    kinds: tuple[tuple[Any, Any], ...] = ((ArrayImpl, _called), (Tracer, _refused))
    for kind, answer in kinds:
        kind.__torch_function__ = classmethod(answer)
