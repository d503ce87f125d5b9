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

from .._jax import direct_call
from ..platforms import platform
from ..storage.memory_errors import as_torch_error
from ..trace import ranks
from ..trace.axes import with_automatic_axes
from ..xla import mappings
from ..xla.options import KEPT_BARRIERS
from ..xla.stored import compile_or_load
from ..xla.totals import hold
from ..xla.waiting import waiting_for


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
        self.options = {**KEPT_BARRIERS.get(platform(), {}), **(options or {})} or None

        @wraps(function)
        def run(*arrays: jax.Array) -> Any:
            return with_automatic_axes(function, arrays)

        self._run = run
        self.jitted = self._jit(run, self.options)
        self.has_run = False
        self.arguments: list[jax.ShapeDtypeStruct] = []
        self.call: Callable[[list[jax.Array]], Sequence[jax.Array]] | None = None
        self._execute: Any = None
        self._consume: Callable[[Any], Sequence[jax.Array]] | None = None  # turns what `_execute` returns into arrays

    def __call__(self, arrays: list[jax.Array]) -> Sequence[jax.Array]:
        """The results."""
        return self._first(arrays) if self.call is None else self.call(arrays)

    def into(self, results: list[Sequence[jax.Array]], arrays: list[jax.Array]) -> None:
        """Append the results to a list, with no Python code in between: if the program has run, they are there, even if
        a signal handler raises immediately afterwards."""
        if self.call is None:
            results.append(self._first(arrays))
        elif self._consume is None:
            results.extend(map(self.call, (arrays,)))
        else:
            try:
                results.extend(map(self._consume, map(self._execute, (arrays,))))
            except jax.errors.JaxRuntimeError as error:
                if not _are_refused(arrays):
                    raise as_torch_error(error)  # noqa: B904 (it states its cause)
                results.append(self.jitted(*arrays))  # nothing has run

    def _jit(self, function: Callable[..., Any], options: dict[str, Any] | None) -> Any:
        return jax.jit(function, donate_argnums=self.donated, keep_unused=True, compiler_options=options)

    def _first(self, arrays: list[jax.Array]) -> Sequence[jax.Array]:
        # A separate function, because JAX keeps the lowered program (a megabyte) for as long as its function lives.
        traced = self._jit(wraps(self._run)(lambda *arrays: self._run(*arrays)), self.options).trace(*arrays)
        # Uncommitted arrays have no sharding here, so that they join the mesh of the others.
        self.arguments = [
            jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=a.sharding if a.committed else None) for a in arrays
        ]
        if compile_for_ranks := ranks.compiler_of(traced.jaxpr):
            self.lowered, self.call = compile_for_ranks(traced.jaxpr, arrays, self.donated, self.options)
        elif traced.jaxpr.effects or any(map(_is_spread, arrays)):
            self.call = lambda arrays: self.jitted(*arrays)
        else:
            self.compiled = self._compile(traced.lower())
            self.call, self._execute, self._consume = self._calls(self.compiled)
        results = self.call(arrays)
        self.has_run = True
        return results

    def _calls(self, compiled: jax.stages.Compiled) -> tuple[Callable[[list[jax.Array]], Any], Any, Any]:
        """The functions that run an executable: in one step and, if it can be called directly, in two steps."""
        if any(s.num_devices > 1 for s in jax.tree.leaves(compiled.output_shardings)):  # it puts results on a mesh
            return lambda arrays: self.jitted(*arrays), None, None
        execute, handlers = direct_call(compiled)
        return self._direct(execute, handlers), execute, methodcaller("consume_with_handlers", handlers)

    def _direct(self, execute: Any, handlers: Any) -> Callable[[list[jax.Array]], Sequence[jax.Array]]:

        def call(arrays: list[jax.Array]) -> Sequence[jax.Array]:
            try:
                return execute(arrays).consume_with_handlers(handlers)
            except jax.errors.JaxRuntimeError as error:
                if not _are_refused(arrays):
                    raise as_torch_error(error)  # noqa: B904 (it states its cause)
                return self.jitted(*arrays)  # nothing has run

        return call

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


def _are_refused(arrays: Sequence[jax.Array]) -> bool:
    """Whether a program that failed has not run, because it refused arrays on several devices."""
    return not any(array.is_deleted() for array in arrays) and any(map(_is_spread, arrays))


def _is_spread(array: jax.Array) -> bool:
    """Whether an array is on several devices."""
    return len(array.devices()) > 1
