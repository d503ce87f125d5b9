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
    return jit_of_compiled(function, EagerProgram(function, key, tuple(donated)))


class EagerProgram:
    """What is asked for calls that JAX's C++ function has not seen before. It has one executable, for the shapes and
    settings of its first call, and `jax.jit` for whatever differs from those: traces, placed arrays, other settings."""

    def __init__(self, function: Callable[..., Any], key: str | None, donated: tuple[int, ...]) -> None:
        self.function, self.key, self.donated = function, key, donated
        self.made_for: tuple[Any, ...] | None = None
        self.executable: jax.stages.Compiled | None = None
        self.coming: Any = None  # the compilation of another thread that will give it (ahead.py)

    @cached_property
    def jitted(self) -> Callable[..., Any]:
        """For calls that the executable is not made for."""
        return jax.jit(self.function, donate_argnums=self.donated)

    def compiled_for(self, operands: tuple[Any, ...]) -> jax.stages.Compiled | None:
        """The executable; None where `jax.jit` is to handle the call."""
        signature = self.signature(operands)
        if signature is None:
            return None
        coming = self.coming
        if coming is not None:
            coming.wait()
        if self.made_for is None:
            key = self.key_for(signature)
            executable = None if key is None else stored.load(key)
            if executable is None:
                with waiting_for(self.function.__name__):
                    executable = self.compile(self.trace(operands).lower(), key)
            self.keep(executable, signature)
        return self.executable if self.made_for == signature else None

    def keep(self, executable: jax.stages.Compiled, signature: tuple[Any, ...]) -> None:
        """Use an executable from now on."""
        self.made_for, self.executable = signature, executable
        hold(self, executable)

    def signature(self, operands: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """What an executable is made for; None where `jax.jit` is to handle the call."""
        if not trace_state_clean():
            return None
        arrays = jax.tree.leaves(operands)
        default = jax.config.jax_default_device  # type: ignore[attr-defined]
        if default is not None or not jax.sharding.get_abstract_mesh().empty or not all(map(_is_plain, arrays)):
            return None
        return trace_settings(), jax.tree.structure(operands), [_signature(x) for x in arrays]

    def key_for(self, signature: tuple[Any, ...]) -> str | None:
        """The name of the stored executable; None where there can be none."""
        return None if self.key is None or folder() is None else key_of(self.key, self.donated, *signature[1:])

    def trace(self, operands: tuple[Any, ...]) -> jax.stages.Traced:
        """The function, traced for operands."""

        # JAX keeps the lowered program, a megabyte, for as long as the function lives. This one ends here.
        @wraps(self.function)
        def function(*operands: Any) -> Any:
            return self.function(*operands)

        return jax.jit(function, donate_argnums=self.donated).trace(*operands)

    def compile(self, lowered: jax.stages.Lowered, key: str | None) -> jax.stages.Compiled:
        """The executable of a lowered program, which is stored under a key."""
        text = lowered.as_text()
        compiled = lowered.compile(options_for(text))
        # A custom call needs what its lowering prepares in the process, such as pointers to the functions of LAPACK.
        if key is not None and "custom_call" not in text:
            stored.store(key, compiled)
        return compiled


def _is_plain(operand: Any) -> bool:
    """Whether JAX would put an operand on the first device, or has it there and would let it go anywhere."""
    if operand.__class__ is ArrayImpl:
        return not operand.committed and operand.sharding.device_set == _first_device()
    return isinstance(operand, (np.generic, np.ndarray, jax.core.ShapedArray))


@cache
def _first_device() -> set[jax.Device]:
    return set(jax.local_devices()[:1])


def _signature(array: Any) -> tuple[Any, ...]:
    return array.shape, array.dtype, getattr(array, "weak_type", False)
