"""Direct calls of XLA executables, without the argument handling of `jax.jit`.

`jax.jit` inspects its arguments at every call, which takes a microsecond for each. A program whose guards hold already
knows them, so its arrays are passed directly to the executable, which halves the time of a call with 500 arrays. Arrays
on several devices and programs with effects go through `jax.jit`. A program with collectives of process groups is
compiled for all their processes (`trace/ranks.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, wraps
from operator import methodcaller
from typing import Any

import jax

from .._jax import direct_call, forget_lowering
from ..platforms import platform
from ..storage.memory_errors import as_torch_error
from ..trace import ranks
from ..trace.axes import with_automatic_axes
from ..xla import mappings
from ..xla.options import CUSTOM, KEPT_BARRIERS
from ..xla.stored import compile_or_load
from ..xla.totals import hold
from ..xla.waiting import waiting_for

# The function that runs a program and, if it is called directly, the one that makes arrays of what that returns.
Steps = tuple[Callable[[list[jax.Array]], Any], Callable[[Any], Sequence[jax.Array]] | None]


class AotCall:
    """A function of arrays, compiled for those of its first call; later ones must have the same types and placement."""

    def __init__(
        self,
        function: Callable[..., Any],
        donated: Sequence[int] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        """Prepare the function; the first call compiles it.

        Args:
            function: returns a list of arrays.
            donated: the positions of donated arrays.
            options: XLA compiler options.
        """
        self.donated = tuple(donated)
        self.options = {**KEPT_BARRIERS.get(platform(), {}), **CUSTOM.get(), **(options or {})} or None

        @wraps(function)
        def run(*arrays: jax.Array) -> Any:
            return with_automatic_axes(function, arrays)

        self._run = run
        self.jitted = self._jit(run, self.options)
        self.arguments: list[jax.ShapeDtypeStruct] = []
        self._steps: Steps | None = None  # from the first call on

    @property
    def is_compiled(self) -> bool:
        """Whether the first call has compiled the program."""
        return self._steps is not None

    def __call__(self, arrays: list[jax.Array]) -> Sequence[jax.Array]:
        """The results."""
        results: list[Sequence[jax.Array]] = []
        self.into(results, arrays)
        return results[0]

    def into(self, results: list[Sequence[jax.Array]], arrays: list[jax.Array]) -> None:
        """Append the results to a list, with no Python code in between: if the program has run, they are there, even if
        a signal handler raises immediately afterwards."""
        if self._steps is None:
            self._steps = self._compiled_for(arrays)
        execute, consume = self._steps
        if consume is None:
            results.extend(map(execute, (arrays,)))
            return
        try:
            results.extend(map(consume, map(execute, (arrays,))))
        except jax.errors.JaxRuntimeError as error:
            if any(array.is_deleted() for array in arrays) or not any(map(_is_spread, arrays)):
                raise as_torch_error(error)  # noqa: B904 (it states its cause)
            results.append(self.jitted(*arrays))  # nothing has run: the program refused arrays on several devices

    def _jit(self, function: Callable[..., Any], options: dict[str, Any] | None) -> Any:
        return jax.jit(function, donate_argnums=self.donated, keep_unused=True, compiler_options=options)

    def _compiled_for(self, arrays: list[jax.Array]) -> Steps:
        # A separate function, because JAX keeps the lowered program (a megabyte) for as long as its function lives.
        traced = self._jit(wraps(self._run)(lambda *arrays: self._run(*arrays)), self.options).trace(*arrays)
        # Uncommitted arrays have no sharding here, so that they join the mesh of the others.
        self.arguments = [
            jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=a.sharding if a.committed else None) for a in arrays
        ]
        if compile_for_ranks := ranks.compiler_of(traced.jaxpr):
            self.lowered, run = compile_for_ranks(traced.jaxpr, arrays, self.donated, self.options)
            return run, None
        if not (traced.jaxpr.effects or any(map(_is_spread, arrays))):
            self.compiled = self._compile(traced.lower())
            forget_lowering(traced.jaxpr)
            if all(s.num_devices == 1 for s in jax.tree.leaves(self.compiled.output_shardings)):
                execute, handlers = direct_call(self.compiled)
                return execute, methodcaller("consume_with_handlers", handlers)
        return lambda arrays: self.jitted(*arrays), None

    @cached_property
    def inlined(self) -> Callable[..., Sequence[jax.Array]]:
        """The function for use within a trace, where compiler options are not allowed."""
        return jax.jit(self._run, keep_unused=True)

    @cached_property
    def lowered(self) -> jax.stages.Lowered:
        """The program before compilation, for the arrays of the first call."""
        with jax.enable_x64(True):  # without it a ShapeDtypeStruct of int64 becomes int32
            return self.jitted.lower(*self.arguments)

    @cached_property
    def compiled(self) -> jax.stages.Compiled:
        """The compiled program."""
        return self._compile(self.lowered)

    def _compile(self, lowered: jax.stages.Lowered) -> jax.stages.Compiled:
        """Compile a program; if it is for the first device, it is stored for later processes."""
        mappings.make_room()
        first = {jax.local_devices()[0]}
        placed = [None if s.sharding is None else s.sharding.device_set == first for s in self.arguments]
        default = jax.config.jax_default_device  # type: ignore[attr-defined, unused-ignore]
        if default is not None or False in placed or not jax.sharding.get_abstract_mesh().empty:
            with waiting_for(self._run.__name__):
                compiled = lowered.compile()
        else:
            compiled = compile_or_load(self._run.__name__, lowered, self.options, placed)
        hold(self, compiled, pinned=True)
        return compiled


def _is_spread(array: jax.Array) -> bool:
    """Whether an array is on several devices."""
    return len(array.devices()) > 1
