"""The executable of a function of arrays on the first device.

The first call loads a stored executable, without tracing the function, or traces, compiles and stores it. It may start
with first code, which compiles quickly (`options.py`); good code takes over at a fixed call (`takeover.py`), so that
results are reproducible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property, wraps
from typing import Any, ClassVar

import jax
import numpy as np

from .._jax import ArrayImpl, trace_settings, trace_state_clean
from . import stored
from .environment import key_of
from .folder import folder
from .lowering import LoweredProgram
from .options import CUSTOM, GOOD, has_one_tier
from .totals import hold
from .waiting import waiting_for


class EagerProgram:
    """Handles calls that JAX's C++ function has not seen before. It has one executable, for the shapes and settings of
    its first call, and uses `jax.jit` for anything else: traces, committed arrays, other shapes or settings."""

    observer: ClassVar[Callable[..., Any] | None] = None  # of metrics: makes the function that runs a program

    def __init__(self, function: Callable[..., Any], key: str | None, donated: tuple[int, ...]) -> None:
        self.function, self.key, self.donated, self.custom = function, key, donated, CUSTOM.get()
        self.made_for: tuple[Any, ...] | None = None
        self.executable: jax.stages.Compiled | None = None
        self.calls = 0  # of first code, until good code takes over; 0 if it will not
        self.taken = 0  # of these calls
        self.good: Any = None  # returns the good code, once its compilation has started
        self.holder: Callable[[], Any] = lambda: None  # a weak reference to the object whose `run` this is
        self._count: Callable[[], Any] | None = None  # stops counting the executable's memory
        self.coming: Any = None  # the executable that another thread is compiling (ahead.py)

    @cached_property
    def jitted(self) -> Callable[..., Any]:
        """The `jax.jit` function for calls that the executable cannot handle."""
        return jax.jit(self.function, donate_argnums=self.donated)

    def compiled_for(self, operands: tuple[Any, ...]) -> jax.stages.Compiled | None:
        """The executable, compiled if necessary; None if `jax.jit` should handle the call."""
        signature = self.signature(operands)
        if signature is None:
            return None
        coming = self.coming
        if coming is not None:
            coming.wait()
        if self.made_for is None:
            executable = self.load(signature)
            if executable is None:
                with waiting_for(self.function.__name__):
                    executable = self.compile(LoweredProgram(self.trace(operands)), self.key_for(signature))
            self.keep(executable, signature)
        return self.executable if self.made_for == signature else None

    def is_due(self) -> bool:
        """Count a call of first code; return whether a step of the takeover is due."""
        self.taken += 1
        return self.taken == self.calls // 2 or self.taken >= self.calls or has_one_tier()

    def keep(self, executable: jax.stages.Compiled, signature: tuple[Any, ...]) -> None:
        """Use an executable from now on."""
        if self._count is not None:
            self._count()
        self.made_for, self.executable, self._count = signature, executable, hold(self, executable)

    def signature(self, operands: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The types and settings for which an executable is compiled; None if `jax.jit` should handle the call."""
        arrays = jax.tree.leaves(operands)
        if not is_plain_call(arrays):
            return None
        return trace_settings(), jax.tree.structure(operands), [_signature(x) for x in arrays]

    def key_for(self, signature: tuple[Any, ...], *, good: bool = False) -> str | None:
        """The name of the stored executable (with `good`, of the one with good code); None if it cannot be stored."""
        if self.key is None or folder() is None:
            return None
        good = good or has_one_tier()
        return key_of(self.key, self.donated, *signature[1:], *self.custom.items(), *(["good"] if good else []))

    def load(self, signature: tuple[Any, ...], *, good: bool = False) -> jax.stages.Compiled | None:
        """The stored executable, if there is one."""
        key = self.key_for(signature, good=good)
        found = None if key is None else stored.load(key)
        if found is None:
            return None
        executable, calls = found
        if not good:
            self.calls = calls
        return executable

    def trace(self, operands: tuple[Any, ...]) -> jax.stages.Traced:
        """Trace the function for operands."""

        # JAX keeps the lowered program (a megabyte) for as long as the function lives, so this wrapper is temporary.
        @wraps(self.function)
        def function(*operands: Any) -> Any:
            return self.function(*operands)

        return jax.jit(function, donate_argnums=self.donated).trace(*operands)

    def compile(self, lowered: LoweredProgram, key: str | None, *, good: bool = False) -> jax.stages.Compiled:
        """Compile a lowered program, and store it under a key."""
        options, calls = GOOD if good else lowered.first_code
        compiled = lowered.compile({**(options or {}), **self.custom} or None)
        # Custom calls depend on state that their lowering sets up in the process, such as pointers to LAPACK functions.
        if key is not None and "custom_call" not in lowered.text:
            stored.store(key, compiled, calls)
        if not good:
            self.calls = calls
        return compiled


def observed(call: Any, program: EagerProgram) -> Any:
    """The function of a program, or of the observer that was set before it was made."""
    run = call if EagerProgram.observer is None else EagerProgram.observer(program, call)
    run.__dict__.update(vars(call))  # `program` and `__wrapped__`
    return run


def is_plain_call(operands: Sequence[Any]) -> bool:
    """Whether a call is for the first device, outside of all traces, so that JAX's defaults apply."""
    default = jax.config.jax_default_device  # type: ignore[attr-defined, unused-ignore]
    return (
        trace_state_clean()
        and default is None
        and jax.sharding.get_abstract_mesh().empty
        and all(map(_is_plain, operands))
    )


def _is_plain(operand: Any) -> bool:
    """Whether an operand is an uncommitted array on the first device, or a host value that JAX would put there."""
    if operand.__class__ is ArrayImpl:
        return not operand.committed and operand.sharding.device_set == _first_device()
    return isinstance(operand, (np.generic, np.ndarray, jax.core.ShapedArray))


@cache
def _first_device() -> set[jax.Device]:
    return set(jax.local_devices()[:1])


def _signature(array: Any) -> tuple[Any, ...]:
    return array.shape, array.dtype, getattr(array, "weak_type", False)
