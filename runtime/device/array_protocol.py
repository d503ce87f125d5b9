"""Accept `jax.Array` arguments in torch functions, as device tensors, without a copy.

The result type follows the library whose function is called: `torch.add(x, a)` and `x + a` are tensors, `jnp.add(x, a)`
and `a + x` are arrays. The cost is a method added to JAX's array type, for which JAX has no public API.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import patches


def _called(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    args, kwargs = _conversion()((args, kwargs or {}))
    return func(*args, **kwargs)


@functools.cache
def _conversion() -> Callable[[Any], Any]:
    """`from_jax`, after registering all operators: this may be the first device tensor of the process."""
    from ..aten.registration import register_all
    from ..trace.transfer import from_jax

    register_all()
    return from_jax


def _refused(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    raise TypeError(
        f"{getattr(func, '__name__', func)}: got an array that JAX traces; expected a torch function that is pure to "
        "JAX: tenax.interop.t2j(function), or tenax.from_jax(array) where there is no randomness"
    )


def install() -> None:
    """Give JAX's arrays torch's `__torch_function__` protocol."""
    patches.replace("jax._src.array.ArrayImpl.__torch_function__", classmethod(_called))
    patches.replace("jax.core.Tracer.__torch_function__", classmethod(_refused))
