"""What torch's optimizers, schedulers and scalers do on the host, while a step with them is traced.

A learning rate is a Python number, a scheduler computes the next one, and a scaler asks whether to step. The first
becomes an input of the program, the second runs at every call, before the program, and the third becomes a choice
on the device.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch.optim import _adafactor
from torch.optim import optimizer as optimizers
from torch.optim.swa_utils import AveragedModel

from ..device.cell import Fill, cell_of, materialise, put, wrap
from ..dispatch.arguments import SYMBOLS
from ..errors import TraceError
from ..tracing.answers import answered
from ..tracing.symbol import Guards, symbol
from ..tracing.trace import Trace, alias
from .average import updating
from .places import Place, same
from .watch import Watch


class Number(NamedTuple):
    """A number of an optimizer's group that each call passes."""

    group: dict[str, Any]
    key: str
    place: int | None = None  # where the entry is a tuple

    def value(self) -> float:
        """The number now."""
        found = self.group[self.key]
        return found if self.place is None else found[self.place]


class HostCall(NamedTuple):
    """A call that each call of the program makes on the host."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Host:
    """The host's part of a traced run: in order, the numbers that it reads and the calls that it makes."""

    def __init__(self, trace: Trace, watch: Watch, varying: set[tuple[int, str]], own: set[tuple[int, str]]) -> None:
        """`varying` are the entries of groups, other than learning rates, that are known to change between calls;
        `own` learning rates that the function sets itself, each time to a number of the trace."""
        self.varying, self.own = varying, own
        self.groups = {id(g) for o in watch.optimizers for g in o.param_groups}  # that were there before the run
        self.thread = threading.get_ident()
        self.guards = Guards()
        self.trace = trace
        self.watch = watch
        self.script: list[Number | HostCall] = []
        self.known: list[jax.Array] = []  # by which the trace knows the numbers
        self.moved: set[tuple[int, str]] = set()  # entries of groups that a scheduler changed
        self.left: dict[tuple[int, str], Any] = {}  # what schedulers left there
        self._recording = False
        self._replaced: list[tuple[Any, str, Any]] = []  # methods, and what stood on the object itself
        self._saved: list[tuple[dict[str, Any], str, Any]] = []

    @contextlib.contextmanager
    def attached(self) -> Iterator[None]:
        """While the function is traced."""
        before = optimizers.register_optimizer_step_pre_hook(self._before_step)
        after = optimizers.register_optimizer_step_post_hook(self._after_step)
        for scheduler in self.watch.schedulers:
            self._replace(scheduler, "step", self._recorded(scheduler, scheduler.step))
        for scaler in self.watch.scalers:
            self._replace(scaler, "_maybe_opt_step", self._step_or_not)
        for _, module in self.watch.modules:
            if isinstance(module, AveragedModel):
                self._replace(module, "update_parameters", updating(module))
        _adafactor.__dict__.update(min=_extreme(min, torch.sym_min), max=_extreme(max, torch.sym_max))
        try:
            with answered():
                yield
        finally:
            before.remove()
            after.remove()
            for name in ("min", "max"):
                del _adafactor.__dict__[name]
            self._after_step()
            while self._replaced:
                owner, name, own = self._replaced.pop()
                if own is None:
                    delattr(owner, name)
                else:
                    setattr(owner, name, own)

    def _replace(self, owner: Any, name: str, function: Callable[..., Any]) -> None:
        self._replaced.append((owner, name, owner.__dict__.get(name)))
        setattr(owner, name, function)

    def _before_step(self, optimizer: Any, *_: Any) -> None:
        if threading.get_ident() != self.thread:  # the hook is every thread's
            return
        for group in optimizer.param_groups:
            if not any(p.device.type == "jax" for p in group["params"]):
                continue
            if group.get("capturable") is False and not group.get("fused"):
                self._set(group, "capturable", True)
            on_device = group.get("capturable") or group.get("fused")
            if isinstance(group["lr"], (int, float)):
                own = (id(group), "lr") in self.own or id(group) not in self.groups
                known, host = self._pass(Number({"lr": group["lr"]} if own else group, "lr"))
                index = _index(group)
                rate = wrap(jax.device_put(known, jax.devices()[index]), index) if index else wrap(known)
                self._set(group, "lr", rate if on_device else symbol(known, self.guards, host))
            for key in [k for i, k in self.varying if i == id(group)]:
                value = group[key]
                if isinstance(value, tuple):
                    self._set(group, key, tuple(self._symbol(group, key, i) for i in range(len(value))))
                else:
                    self._set(group, key, self._symbol(group, key))

    def _symbol(self, group: dict[str, Any], key: str, place: int | None = None) -> Any:
        known, host = self._pass(Number(group, key, place))
        return symbol(known, self.guards, host)

    def _pass(self, number: Number) -> tuple[jax.Array, Callable[[Sequence[float]], Any] | None]:
        """A number as an input: what the trace knows it by, and how the host tells it before the script is played,
        unless a scheduler moves it first."""
        place = len(self.known)
        early = not any(isinstance(entry, HostCall) for entry in self.script)
        self.script.append(number)
        value = number.value()
        with jax.ensure_compile_time_eval():
            known = alias(put(np.asarray(value, np.float64), 0))
        self.known.append(known)
        self.guards.numbers.append(value)
        self.trace.aliases.add(id(known))
        return known, (lambda numbers: numbers[place]) if early else None

    def found_own(self, places: Iterable[Place]) -> set[tuple[int, str]]:
        """Of places that the run changed, those of numbers that were passed and that no scheduler moved.

        Raises:
            TraceError: a scheduler moved one of them too.
        """
        numbers = {(id(n.group), n.key) for n in self.script if isinstance(n, Number)} | self.moved
        own = set()
        for place in places:
            key = id(place.container), place.key
            if key in numbers and not same(self.left.get(key), place.container[place.key]):
                if key in self.moved:
                    raise TraceError(
                        f"a compiled function sets {place.path} itself, which a scheduler moves; "
                        "leave it to one of them"
                    )
                own.add(key)
        return own

    def found_varying(self) -> set[tuple[int, str]]:
        """Numbers that a scheduler of the run changed and that were not yet passed."""
        groups = {id(g): g for o in self.watch.optimizers for g in o.param_groups}
        return {(i, k) for i, k in self.moved - self.varying if k != "lr" and _is_number(groups.get(i, {}), k)}

    def _set(self, group: dict[str, Any], key: str, value: Any) -> None:
        self._saved.append((group, key, group[key]))
        group[key] = value

    def _after_step(self, *_: Any) -> None:
        if threading.get_ident() != self.thread:
            return
        while self._saved:
            group, key, value = self._saved.pop()
            group[key] = value

    def _recorded(self, scheduler: Any, step: Callable[..., Any]) -> Callable[..., Any]:
        groups = scheduler.optimizer.param_groups

        def record(*args: Any, **kwargs: Any) -> Any:
            if self._recording:  # a scheduler made of others steps them itself
                return step(*args, **kwargs)
            before = [dict(g) for g in groups]
            self._recording = True
            try:
                result = step(*args, **kwargs)
            finally:
                self._recording = False
            self.script.append(HostCall(step, args, kwargs))
            for old, group in zip(before, groups, strict=True):
                self.moved |= {(id(group), k) for k, v in group.items() if k not in old or not same(old[k], v)}
                self.left.update(((id(group), k), v) for k, v in group.items())
            return result

        return record

    def _step_or_not(self, optimizer: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        """In the place of `GradScaler._maybe_opt_step`: the step is made, and what it changed put back if it was not
        to be made. State that the step creates starts from zeros."""
        before = {cell: cell.held for cell in _cells(optimizer)}
        result = optimizer.step(*args, **kwargs)
        found = sum(state["found_inf_per_device"].values()).jax() > 0
        for cell in _cells(optimizer):
            old, new = before.get(cell, cell.kind.zeros), cell.held
            if old is new:
                continue
            old, new = (materialise(x, cell.index) if isinstance(x, Fill) else x for x in (old, new))
            cell.replace(jnp.where(found, old, new))
        return result


def _index(group: dict[str, Any]) -> int:
    """The index of the device on which the parameters are."""
    return next(p.device.index or 0 for p in group["params"] if p.device.type == "jax")


def _is_number(group: dict[str, Any], key: str) -> bool:
    """Whether an entry can be passed: kernels of fused optimizers want constants."""
    values = group.get(key)
    values = values if isinstance(values, tuple) else (values,)
    return not group.get("fused") and all(isinstance(v, float) for v in values)


def _extreme(plain: Callable[..., Any], symbolic: Callable[..., Any]) -> Callable[..., Any]:
    """`min` or `max` of two numbers that a trace may not know."""
    return lambda a, b: symbolic(a, b) if a.__class__ in SYMBOLS or b.__class__ in SYMBOLS else plain(a, b)


def _cells(optimizer: Any) -> list[Any]:
    tensors = [p for g in optimizer.param_groups for p in g["params"]]
    tensors += [v for s in optimizer.state.values() for v in s.values() if isinstance(v, torch.Tensor)]
    return [cell_of(t) for t in tensors if t.device.type == "jax"]


def peek(script: list[Number | HostCall]) -> list[float]:
    """The numbers of a script that is not played."""
    return [entry.value() for entry in script if isinstance(entry, Number)]


def play(script: list[Number | HostCall]) -> list[float]:
    """Do the host's part of a call; the numbers in order."""
    numbers = []
    for entry in script:
        if isinstance(entry, Number):
            numbers.append(entry.value())
        else:
            entry.function(*entry.args, **entry.kwargs)
    return numbers
