"""Parts of torch's optimizers that a traced run replaces, because they read values that are unknown while tracing.

- Fused kernels accept only constant numbers; the lowerings accept arrays.
- `AveragedModel` reads its update count on the host: the first update copies the parameters, later ones average them. A
  trace computes both and selects on the device.
- `GradScaler` reads from the device whether to step. A trace steps, and selects on the device.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import torch
from torch.optim.swa_utils import AveragedModel

from tenax.kernels import optim

from .. import patches
from .._torch import NAME
from ..storage.avals import LazyFill
from ..storage.cell import Cell
from ..storage.placement import materialise
from ..storage.tensors import cell_of, wrap
from ..trace.core import SYMBOLIC_TYPES, is_unknown
from ..trace.transfer import read
from .state_graph import StateGraph
from .wrappers import local_part, parts_of

_KERNELS = [name for name, f in vars(optim).items() if name.endswith("_") and callable(f) and hasattr(torch, name)]


@contextlib.contextmanager
def replaced_parts(graph: StateGraph) -> Iterator[None]:
    """Replace them for the scalers and averaged models that a function reaches, and for all fused kernels."""
    with contextlib.ExitStack() as undo:
        for _, scaler in graph.reached.scalers.values():
            undo.enter_context(patches.of_object(scaler, "_maybe_opt_step", _step_or_not))
        for _, module in graph.reached.modules.values():
            if isinstance(module, AveragedModel):
                undo.enter_context(patches.of_object(module, "update_parameters", _traced_update(module)))
        for name in _KERNELS:
            undo.enter_context(patches.temporarily(f"torch.{name}", _taking_inputs(name)))
        undo.enter_context(patches.temporarily("torch.optim._adafactor.min", _extreme(min, torch.sym_min)))
        undo.enter_context(patches.temporarily("torch.optim._adafactor.max", _extreme(max, torch.sym_max)))
        yield


def _taking_inputs(name: str) -> Callable[..., None]:
    plain, lowering = getattr(torch, name), getattr(optim, name)

    def step(*lists: Any, **options: Any) -> None:
        if not any(type(x) in SYMBOLIC_TYPES for x in options.values()):
            plain(*lists, **options)
            return
        lists = tuple([local_part(t, like) for t, like in zip(x, lists[0], strict=False)] for x in lists)  # some are []
        arrays = [[read(t) for t in tensors] for tensors in lists]
        with jax.enable_x64(True):
            news = lowering(*arrays, **{key: _operand(x) for key, x in options.items()})
        for tensors, before, after in zip(lists, arrays, news, strict=False):  # the step counts come last
            for tensor, old, new in zip(tensors, before, after, strict=True):
                if new is not old:
                    tensor.copy_(wrap(new, tensor.device.index or 0))

    return step


def _operand(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return read(value)
    return value.node.array if type(value) in SYMBOLIC_TYPES else value


class _Later:
    """An update count that compares as greater than 0."""

    def __init__(self, count: torch.Tensor) -> None:
        self.count = count
        self.to = count.to

    def __eq__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return True

    def __iadd__(self, more: int) -> torch.Tensor:
        return self.count.add_(more)

    __hash__ = None  # type: ignore[assignment]


def _traced_update(averaged: AveragedModel) -> Callable[[torch.nn.Module], None]:
    """`averaged.update_parameters` for a count whose value is unknown while tracing."""
    plain = averaged.update_parameters

    def tensors(module: torch.nn.Module) -> Iterable[torch.Tensor]:
        return itertools.chain(module.parameters(), module.buffers() if averaged.use_buffers else ())

    def update(model: torch.nn.Module) -> None:
        count: Any = averaged.n_averaged
        if count.device.type != NAME or not is_unknown(read(count)):
            plain(model)
            return
        first = count == 0
        averaged.__dict__["n_averaged"] = _Later(count)  # attribute lookup finds this before the buffer
        try:
            plain(model)
        finally:
            del averaged.__dict__["n_averaged"]
        with torch.no_grad():
            for ours, theirs in zip(tensors(averaged.module), tensors(model), strict=True):
                ours.copy_(torch.where(first, theirs.to(ours.device), ours))

    return update


def move_update_counts(modules: Iterable[torch.nn.Module]) -> bool:
    """Move the update counts of averaged models to the devices of their parameters. Return whether any moved."""
    moved = False
    for module in modules:
        if isinstance(module, AveragedModel) and module.n_averaged.device.type == "cpu":
            device = next((p.device for p in module.parameters() if p.device.type == NAME), None)
            if device is not None:
                module.n_averaged = module.n_averaged.to(device)
                moved = True
    return moved


def _step_or_not(optimizer: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
    """`GradScaler._maybe_opt_step` in a trace: step, and undo the step on the device if gradients were infinite.

    State that the step creates is reset to zeros in that case.
    """
    before = {cell: cell.content for cell in _cells(optimizer)}
    result = optimizer.step(*args, **kwargs)
    overflow = sum(state["found_inf_per_device"].values()).jax() > 0
    after = {cell: cell.content for cell in _cells(optimizer)}
    chosen: dict[tuple[int, int], jax.Array] = {}  # step counts on one array stay on one
    for cell, new in after.items():
        old = before.get(cell, cell.aval.zeros)
        if old is new:
            continue
        if (pair := (id(old), id(new))) not in chosen:
            old, new = (materialise(x, cell.index) if isinstance(x, LazyFill) else x for x in (old, new))
            chosen[pair] = jnp.where(overflow, old, new)
        cell.replace(chosen[pair])
    return result


def _cells(optimizer: Any) -> list[Cell]:
    tensors = [p for g in optimizer.param_groups for p in g["params"]]
    tensors += [v for s in optimizer.state.values() for v in s.values() if isinstance(v, torch.Tensor)]
    return [cell_of(part) for t in tensors for part in parts_of(t).values()]


def _extreme(plain: Callable[..., Any], symbolic: Callable[..., Any]) -> Callable[..., Any]:
    """`min` or `max` of two possibly symbolic numbers, for Adafactor."""
    return lambda a, b: symbolic(a, b) if type(a) in SYMBOLIC_TYPES or type(b) in SYMBOLIC_TYPES else plain(a, b)
