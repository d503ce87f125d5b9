"""A function of arrays of the first device, called as `jax.jit` calls one.

Its first call loads a stored executable, without tracing the function, or traces, compiles and stores it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property, wraps
from typing import Any

import jax
import numpy as np

from .._jax import ArrayImpl, jit_of_compiled, trace_settings, trace_state_clean
from . import stored
from .environment import key_of
from .folder import folder
from .options import options_for
from .totals import hold
from .waiting import waiting_for


def program(function: Callable[..., Any], key: str | None, donated: Sequence[int] = ()) -> Callable[..., Any]:
    """The function, compiled.

    Args:
        function: gives a tuple of arrays and None.
        key: names it among stored ones, as text; None if it has no name that lasts.
        donated: positions of the arrays that it may reuse.
    """
    return jit_of_compiled(function, _Program(function, key, tuple(donated)))


class _Program:
    """What is asked for calls that JAX's C++ function has not seen before. It has one executable, for the shapes and
    settings of its first call, and `jax.jit` for whatever differs from those: traces, placed arrays, other settings."""

    def __init__(self, function: Callable[..., Any], key: str | None, donated: tuple[int, ...]) -> None:
        self.function, self.key, self.donated = function, key, donated
        self.made_for: tuple[Any, ...] | None = None
        self.executable: jax.stages.Compiled | None = None

    @cached_property
    def jitted(self) -> Callable[..., Any]:
        """For calls that the executable is not made for."""
        return jax.jit(self.function, donate_argnums=self.donated)

    def compiled_for(self, operands: tuple[Any, ...]) -> jax.stages.Compiled | None:
        """The executable; None where `jax.jit` is to handle the call."""
        if not trace_state_clean():
            return None
        arrays = jax.tree.leaves(operands)
        default = jax.config.jax_default_device  # type: ignore[attr-defined]
        if default is not None or not jax.sharding.get_abstract_mesh().empty or not all(map(_is_plain, arrays)):
            return None
        signature = (trace_settings(), jax.tree.structure(operands), [_signature(x) for x in arrays])
        if self.made_for is None:
            self.made_for, self.executable = signature, self._load(signature) or self._compile(operands, signature)
            hold(self, self.executable)
        return self.executable if self.made_for == signature else None

    def _key(self, signature: tuple[Any, ...]) -> str | None:
        return None if self.key is None or folder() is None else key_of(self.key, self.donated, *signature[1:])

    def _load(self, signature: tuple[Any, ...]) -> jax.stages.Compiled | None:
        key = self._key(signature)
        return None if key is None else stored.load(key)

    def _compile(self, operands: tuple[Any, ...], signature: tuple[Any, ...]) -> jax.stages.Compiled:
        # JAX keeps the lowered program, a megabyte, for as long as the function lives. This one ends here.
        @wraps(self.function)
        def function(*operands: Any) -> Any:
            return self.function(*operands)

        with waiting_for(self.function.__name__):
            lowered = jax.jit(function, donate_argnums=self.donated).lower(*operands)
            text = lowered.as_text()
            compiled = lowered.compile(options_for(text))
        key = self._key(signature)
        # A custom call needs what its lowering prepares in the process, such as pointers to the functions of LAPACK.
        if key is not None and "custom_call" not in text:
            stored.store(key, compiled)
        return compiled


def _is_plain(operand: Any) -> bool:
    """Whether JAX would put an operand on the first device, or has it there and would let it go anywhere."""
    if operand.__class__ is ArrayImpl:
        return not operand.committed and operand.sharding.device_set == _first_device()
    return isinstance(operand, (np.generic, np.ndarray))


@cache
def _first_device() -> set[jax.Device]:
    return set(jax.local_devices()[:1])


def _signature(array: Any) -> tuple[Any, ...]:
    return array.shape, array.dtype, getattr(array, "weak_type", False)
