"""Everything known about an overload before any call: its schema, its row of the generated table, and its lowering."""

from __future__ import annotations

import importlib
import inspect
import keyword
from collections.abc import Callable, Container, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from .._torch.dispatcher import registered_on
from .._torch.modes import DisableTorchFunction
from .._torch.operators import is_foreach, overload_named

_DROPPED = {"layout", "pin_memory", "memory_format", "generator", "non_blocking"}

Values = list[Any]


class Argument(NamedTuple):
    """One argument of a schema. Kinds: tensor, tensors, number, numbers, static, device, generator, dropped."""

    name: str
    kind: str
    default: Any
    written: bool
    keyword: bool  # keyword-only
    parameter: str  # of the lowering
    special: frozenset[Any] | None = None  # the values of a number that are part of the key; None if none has a formula


def argument_kind(argument: Any, name: str, static: Sequence[str], special: Container[str] = ()) -> str:
    kind = str(argument.type)
    if name == "device" and "Device" in kind:
        return "device"
    if name in _DROPPED and not kind.startswith("List"):
        return "generator" if "Generator" in kind else "dropped"
    if "Tensor" in kind:
        return "tensors" if "List" in kind else "tensor"
    if name in static:
        return "static"
    if name in special and kind.startswith("List"):
        return "numbers"
    if name in special or kind in ("number", "float", "Optional[number]", "Optional[float]"):
        return "number"
    if kind == "List[number]":
        return "numbers"
    return "static"


def hashable(value: Any) -> Any:
    """Convert lists to tuples, recursively, so that the value can be part of a key."""
    return tuple(hashable(v) for v in value) if isinstance(value, (list, tuple)) else value


class Signature:
    """One overload: its arguments in schema order, and how its lowering is called."""

    # Changes the arguments of a call before it is encoded, or executes the call itself (`Row.prepare`).
    prepare: Callable[[Values], Any] | None = None
    # Corrects the results described by torch's Meta kernel where the CPU kernel differs (`Row.results`).
    correct: Callable[[Sequence[Any], list[Any]], list[Any]] | None = None

    # Whether torch's Meta kernel is asked for the results, and the CPU kernel for errors; otherwise the lowering is.
    has_meta = True
    # Whether the CPU kernel may end the process on arguments that the Meta kernel rejects.
    cpu_may_abort = False
    # Whether a result may have torch's default dtype even if an argument is inexact.
    follows_default_dtype = False

    # Returns a function that executes a call that writes to an expanded tensor; raises where torch rejects the call.
    rewrite_expanded: Callable[[Signature, Values], Callable[..., Any]]

    def __init__(self, name: str, row: Any) -> None:
        self.name = name
        self.row = row
        self.op = overload_named(name)
        schema = self.op._schema
        writes = set(row.writes)
        special = {name.removesuffix("_"): values for name, values in row.special}  # `from_` is a keyword
        now = {before: parameter for parameter, before in row.renamed}
        names = [now.get(a.name, a.name) for a in schema.arguments]
        self.arguments = [
            Argument(
                a.name,
                argument_kind(a, name, row.static, special),
                hashable(a.default_value) if a.has_default_value() else None,
                (a.alias_info is not None and a.alias_info.is_write) or name in writes,
                a.kwarg_only,
                f"{name}_" if keyword.iskeyword(name) else name,
                frozenset([None, *special[name], *[a.default_value] * a.kwarg_only]) if name in special else None,
            )
            for a, name in zip(schema.arguments, names, strict=True)
        ]
        self.scalars = [i for i, a in enumerate(schema.arguments) if "number" in str(a.type)]
        self.positional = sum(not a.kwarg_only for a in schema.arguments)
        self.names = [s.name for s in self.arguments]
        self.returns = [str(r.type) for r in schema.returns]
        self.outs = [i for i, s in enumerate(self.arguments) if s.written and s.keyword] if row.form == "out" else []
        # Whether the op returns new tensors; otherwise it returns its written arguments, or nothing.
        self.fresh = bool(schema.returns) and all(r.alias_info is None for r in schema.returns)
        self.foreach = row.form == "inplace" and any(s.kind == "tensors" and s.written for s in self.arguments)
        # Whether it has lists of tensors as arguments and writes them or returns new tensors (as in optimizers).
        lists = [i for i, s in enumerate(self.arguments) if s.kind == "tensors"]
        self.of_lists = self.foreach or (self.fresh and bool(lists) and self.returns in (["List[Tensor]"], ["Tensor"]))
        self.sees_bits = name in lazy_bit_operators()
        self.pins = self.names.index("pin_memory") if "pin_memory" in self.names else None
        self.draws_if = [self.names.index(n) for n in row.draws_if]
        self.overwrites = row.form == "inplace" and bool(row.overwrites)  # whether it does not read what it writes
        self.writes_expanded = row.form == "inplace" and bool(row.writes_expanded)  # and may write to expanded tensors
        # Arguments whose values torch's Meta kernel needs: the sizes of a packed sequence, which determine its length.
        self.host_values = ["batch_sizes"] if row.module and "batch_sizes" in self.names else []
        # The position of a list that may hold 0-d tensors on one array, such as step counts (`equal_elements.py`).
        self.counts = lists[0] if is_foreach(name) else None
        if "state_steps" in self.names:
            self.counts = self.names.index("state_steps")
            self.has_meta = False  # torch's kernels refuse a list of one count for all parameters

    @cached_property
    def lowering(self) -> Any:
        """The function that computes the operator: a generated one, or a kernel."""
        return getattr(importlib.import_module(f"tenax.{self.row.module}"), self.row.function)

    @property
    def takes_dtype(self) -> bool:
        """Whether the lowering of an `out=` form has a `dtype` parameter that is not in the schema."""
        return "dtype" not in self.names and "dtype" in inspect.signature(self.lowering).parameters

    @property
    def checks(self) -> Any:
        """The generated function that computes the conditions of `check:`."""
        module, _, function = self.row.conditions.partition(".")
        return getattr(importlib.import_module(f"tenax.generated.{module}"), function)

    def errors(self, values: Sequence[Any]) -> list[tuple[str, str]]:
        """The errors of the checks for these arguments: the type's name and the message of each."""
        named = dict(zip(self.names, values, strict=True))
        return [(kind, message.format_map(named)) for kind, message in self.row.checks]

    def parameters(self, values: Sequence[Any]) -> dict[str, Any]:
        """The keyword arguments of the lowering, without those that only the runtime uses."""
        return {
            s.parameter: v
            for i, (s, v) in enumerate(zip(self.arguments, values, strict=True))
            if s.kind not in ("dropped", "device", "generator") and i not in self.outs
        }

    def packed(self, results: list[Any]) -> Any:
        """A flat list of results in the structure that the schema returns."""
        if len(self.returns) == 1:
            return results[0] if self.returns[0] == "Tensor" else results
        return tuple(results[: len(self.returns)])

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments in schema order, defaults filled in."""
        values = list(args)
        for argument in self.arguments[len(args) :]:
            values.append(kwargs.get(argument.name, argument.default))
        if self.pins is not None and values[self.pins]:
            raise RuntimeError(f"{self.name}: Only dense CPU tensors can be pinned; expected pin_memory=False")
        return values

    def call(self, values: list[Any]) -> Any:
        """Call torch's operator with arguments in schema order."""
        keywords = dict(zip(self.names[self.positional :], values[self.positional :], strict=True))
        with DisableTorchFunction():  # a mode, such as a default device, would affect kernels written in Python
            return self.op(*values[: self.positional], **keywords)

    def lasting(self, parts: tuple[Any, ...]) -> tuple[str | None, tuple[Any, ...]]:
        """A name that is stable across processes (None if the lowering is not tenax's), and the key parts beside it."""
        return (self.name if self.row.module else None), parts

    def is_idle(self, values: Sequence[Any]) -> bool:
        """Whether a call of a random op draws no numbers."""
        return any(values[i] is not None and not values[i] for i in self.draws_if)

    def corrected(self, values: Sequence[Any], outputs: list[Any]) -> list[Any]:
        """The results described by torch's Meta kernel, corrected to match the CPU kernel."""
        return outputs if self.correct is None else self.correct(values, outputs)


@lru_cache(maxsize=1)
def lazy_bit_operators() -> frozenset[str]:
    """The ops that receive lazily conjugated or negated tensors; for all others torch resolves these bits first."""
    return frozenset(n.removeprefix("aten::") for key in ("Conjugate", "Negative") for n in registered_on(key))
