"""The XLA programs of a compiled step: one for forward, and one for backward if a result is differentiable."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

import jax
from jax.extend.core import Jaxpr, Literal

from ..dispatch.aot_call import AotCall
from .inputs import Inputs
from .partition import forward_part, gradient_part, live_variables, partition


class Executables:
    """The programs of a jaxpr that computes forward and then, if it has cotangents, backward.

    Cells are numbered in the order in which the step reads them: `saved` are those that backward also reads, `needed`
    those from which the gradients are computed, and `recomputed` those in `needed` that are not in `saved`.
    """

    forward: AotCall
    backward: AotCall | None = None

    def __init__(self, jaxpr: Jaxpr, inputs: Inputs, outputs: int, differentiable: bool) -> None:
        """`outputs` is the number of forward's outputs; unless `differentiable`, nothing after them is computed."""
        self.jaxpr, self.inputs, self.outputs = jaxpr, inputs, outputs
        cotangents = inputs.cotangents()
        self.cotangents = len(cotangents)
        self.saved: list[int] = []
        self._forward_jaxpr = jaxpr
        if differentiable:
            parts = partition(jaxpr, outputs, cotangents)
            used = {v for e in parts.backward.eqns for v in e.invars if v.__class__ is not Literal}
            self.saved = inputs.cells_among(used | set(parts.backward.outvars))
            self._forward_jaxpr = parts.forward
            self.backward = AotCall(inputs.function(parts.backward, self.saved, self.cotangents, parts.residuals))
        elif cotangents:
            self._forward_jaxpr = forward_part(jaxpr, outputs, cotangents)
        self.needed = inputs.cells_among(live_variables(jaxpr, jaxpr.outvars[outputs:]))
        self.recomputed = [i for i in self.needed if i not in self.saved]
        self.donated: list[int] = []

    def compile(
        self,
        cells: int,
        donated: list[int],
        host: int,
        order: list[int],
        others: Iterable[Executables] = (),
    ) -> None:
        """Make the forward program, or reuse the programs of another step that computes the same.

        Args:
            cells: the number of cells that are read.
            donated: the numbers of the cells whose arrays XLA may reuse.
            host: the number of operands before the arrays of the cells.
            order: the order of the first outputs, the arrays of written cells.
            others: the executables of earlier steps.
        """
        self.donated = donated
        for other in others:
            if self._computes_as(other):
                self.forward, self.backward = other.forward, other.backward
                return
        outputs = self._forward_jaxpr.outvars
        outputs = [*(outputs[i] for i in order), *outputs[len(order) :]]
        function = self.inputs.function(self._forward_jaxpr.replace(outvars=outputs), range(cells))
        self.forward = AotCall(function, [host + i for i in donated])

    def gradient(self) -> Callable[..., list[jax.Array]]:
        """The gradients as a function of host operands, cotangents, and the arrays of the cells in `needed`."""
        return self.inputs.function(gradient_part(self.jaxpr, self.outputs), self.needed, self.cotangents)

    def _computes_as(self, other: Executables) -> bool:
        return (
            self.donated == other.donated
            and self.outputs == other.outputs
            and self.inputs.same_as(other.inputs)
            and self.text == other.text
        )

    @cached_property
    def text(self) -> str:
        """The jaxpr as text."""
        return str(self.jaxpr)
