"""Composites kept whole (`grad: vjp`): above autograd, their lowering is one function of `tenax::call`.

torch would take an LSTM apart step by step. Transforms of functions (`torch.func`) and forward-mode AD still do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import torch

from . import cell as cells
from .arguments import Plain
from .call import Arrays, call, number
from .cell import cell_of
from .dtypes import numpy_dtype
from .meta import corrected, describe, infer
from .overload import Overload
from .program import physical
from .random import next_key

Axes = tuple[int, ...]


class Whole:
    """The kernel of an overload above autograd."""

    def __init__(self, overload: Overload) -> None:
        self.overload = overload
        self.bound: dict[Any, tuple[int, list[Axes | None]]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the lowering as one function, where a gradient is wanted."""
        overload = self.overload
        if torch._C._are_functorch_transforms_active() or torch.autograd.forward_ad._current_level >= 0:
            return overload.op.decompose(*args, **kwargs)
        values = overload.bind(args, kwargs)
        if not (torch.is_grad_enabled() and any(x.requires_grad for x in _tensors(values))):
            with torch._C._AutoDispatchBelowAutograd():
                return overload.op(*args, **kwargs)
        if overload.prepare is not None:
            values = overload.prepare(values)
        xs = list(_tensors(values))
        form = _form(values)
        key = (form, tuple((x.size(), x.stride(), x.dtype) for x in xs))
        bound = self.bound.get(key)
        if bound is None:
            bound = self.bound[key] = self.bind(values, form)
        f, orders = bound
        if overload.row.random:
            index = cell_of(xs[0]).index
            xs.append(cells.wrap(cells.put(next_key(), index), index))
        results = [r if o is None else r.permute(o) for r, o in zip(call(f, xs), orders, strict=True)]
        return results[0] if len(results) == 1 else tuple(results)

    def bind(self, values: list[Any], form: Any) -> tuple[int, list[Axes | None]]:
        """The number of the lowering as a function of tensors; and how its results, in memory order, are permuted.

        Raises:
            Whatever torch's Meta kernel raises for the arguments.
        """
        overload = self.overload
        described = describe(infer(overload.op, overload.names, values, overload.positional))
        outputs = corrected(overload.packet, values, described if isinstance(described, list) else [described])
        memory = tuple(None if o.stride is None else physical(o) for o in outputs)

        def function(*arrays: jax.Array) -> Arrays:
            rest = iter(arrays)
            keywords = overload.parameters(_filled(form, rest))
            if overload.row.random:
                keywords["rng"] = jax.random.wrap_key_data(next(rest))
            results = overload.lowering(**keywords)
            results = results if isinstance(results, tuple) else (results,)
            return tuple(r if m is None else r.transpose(m) for r, m in zip(results, memory, strict=True))

        orders = [None if m is None else tuple(int(i) for i in np.argsort(m)) for m in memory]
        return number((overload.name, form, memory), lambda: function), orders


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _form(value: Any) -> Any:
    """What is static of an argument: of a tensor, only its being one."""
    if isinstance(value, (list, tuple)):
        return tuple(_form(v) for v in value)
    return None if isinstance(value, torch.Tensor) else Plain(value, value.__class__)


def _filled(form: Any, arrays: Iterator[jax.Array]) -> Any:
    """The argument again, with arrays for its tensors."""
    if form is None:
        return next(arrays)
    if isinstance(form, Plain):
        return numpy_dtype(form.value) if form.kind is torch.dtype else form.value
    return [_filled(f, arrays) for f in form]
