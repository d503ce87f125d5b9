"""`tenax.jit(check=n)`: every n-th call also runs eagerly from the same state, and the two are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .._torch import pytree
from ..dtypes import numpy_dtype
from ..errors import CheckError
from ..storage import random
from ..storage.spec import TensorSpec
from ..storage.tensors import cell_of
from .outputs import is_device_tensor
from .sources import is_plain, same_value
from .state_graph import StateGraph
from .visitors import reach_call

# Tolerances relative to the largest value of a tensor: programs sum in another order than eager mode.
_TOLERANCES = {2: 5e-2, 4: 1e-3, 8: 1e-7}  # by the size of a real number in bytes
Run = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class TensorState:
    """The state of a device tensor before a run."""

    tensor: torch.Tensor
    data: torch.Tensor
    spec: TensorSpec
    requires_grad: bool
    gradient: torch.Tensor | None

    @classmethod
    def of(cls, tensor: torch.Tensor) -> TensorState:
        """The current state of a tensor."""
        gradient = tensor.grad if tensor.is_leaf else None
        return cls(tensor, tensor.detach(), TensorSpec.of(tensor), tensor.requires_grad, gradient)

    def restore(self) -> None:
        """Restore its data, gradient and `requires_grad`."""
        tensor = self.tensor
        if cell_of(tensor) is not cell_of(self.data) or TensorSpec.of(tensor) != self.spec:
            tensor.data = self.data
        if tensor.is_leaf:
            if tensor.grad is not self.gradient:
                tensor.grad = self.gradient
            if tensor.requires_grad != self.requires_grad:
                tensor.requires_grad_(self.requires_grad)


class RunState:
    """A snapshot of everything that a function reaches, so that it can run twice from the same state."""

    def __init__(self, function: Any, leaves: Sequence[Any]) -> None:
        self.graph = reach_call(function, leaves)
        tensors = {id(t): t for _, t in _tensors(self.graph, leaves)}.values()
        self.tensors = [*map(TensorState.of, tensors)]
        gradients = [state.gradient for state in self.tensors if state.gradient is not None]
        cells = {cell_of(t) for t in (*tensors, *filter(is_device_tensor, gradients))}
        # Holding the arrays here keeps them from being donated.
        self.cells = [(cell, cell.content, cell.aval) for cell in cells]
        self.random = random.state()

    def restore(self) -> None:
        """Restore the snapshot."""
        self.graph.restore()
        for tensor in self.tensors:
            tensor.restore()
        for cell, content, aval in self.cells:
            cell.replace(content)
            cell.aval = aval
        random.restore(self.random)


def checked_call(run: Run, eager: Run, function: Any, leaves: Sequence[Any], name: str) -> Any:
    """Run a function eagerly and compiled from the same state; return the result of the compiled one.

    Args:
        run: calls the compiled function.
        eager: calls the function eagerly.
        function: the function itself, whose reachable state is compared.
        leaves: the leaves of the arguments.
        name: the function's name, for the message.

    Raises:
        CheckError: a result, or the final value of a tensor or a gradient, differs.
    """
    before = RunState(function, leaves)
    try:
        expected = dict(_seen(eager(), function, leaves))
    finally:
        before.restore()
    result = run()
    found = dict(_seen(result, function, leaves))
    for path, value in expected.items():
        # Optimizer state may be on the host in eager mode but on the device in a compiled step.
        if path in found and (reason := _difference(value, found[path])):
            raise CheckError(f"{name}: {path} differs between the compiled function and eager mode: {reason}")
    return result


def _tensors(graph: StateGraph, leaves: Sequence[Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """The device tensors that a function may read, with their paths."""
    yield from ((path, t) for path, t in graph.reached.tensors.values() if is_device_tensor(t))
    yield from ((f"argument {i}", x) for i, x in enumerate(leaves) if is_device_tensor(x))


def _seen(result: Any, function: Any, leaves: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """The outcome of a run: its results, and the tensors and gradients that the function reaches, with their paths."""
    for i, leaf in enumerate(pytree.tree_leaves(result)):
        if isinstance(leaf, torch.Tensor) or is_plain(leaf):
            yield f"result {i}", _kept(leaf)
    for path, tensor in _tensors(reach_call(function, leaves), leaves):
        yield path, _kept(tensor)
        if tensor.is_leaf:
            yield f"the gradient of {path}", _kept(tensor.grad)


def _kept(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _difference(expected: Any, found: Any) -> str:
    """Describe how two values differ; empty if they agree."""
    tensors = isinstance(expected, torch.Tensor) and isinstance(found, torch.Tensor)
    if not tensors or (expected.shape, expected.dtype) != (found.shape, found.dtype):
        same = not tensors and same_value(expected, found)
        return "" if same else f"{_short(expected)} in eager mode, {_short(found)} compiled"
    if not expected.numel() or expected.layout is not torch.strided:
        return ""
    wide = torch.complex128 if expected.dtype.is_complex else torch.float64
    before, now = (x.cpu().resolve_conj().to(wide) for x in (expected, found))
    largest = before.masked_fill(~before.isfinite(), 0).abs().max()
    allowed = 0.0
    if expected.dtype.is_floating_point or expected.dtype.is_complex:
        size = numpy_dtype(expected.dtype).itemsize // (2 if expected.dtype.is_complex else 1)
        allowed = _TOLERANCES.get(size, 0.5) * (largest.item() + 1e-3)
    far = ~now.isclose(before, rtol=0, atol=allowed, equal_nan=True)
    return f"by {(now - before)[far].abs().max():.3g}, of values up to {largest:.3g}" if far.any() else ""


def _short(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{value.dtype} of shape {list(value.shape)}"
    return repr(value)
