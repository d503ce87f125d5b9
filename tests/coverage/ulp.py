"""ULP: errors of pointwise and special functions in units in the last place, next to those of CPU torch."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch

from tenax.codegen.build import build
from tenax.codegen.schema import supported
from tenax.codegen.tree import PACKAGE, Tree

from .digits import EXACT
from .points import arguments

DTYPES = (torch.float32, torch.bfloat16, torch.float16)
FLOOR = 1.0  # a result within one unit passes, whatever the error of CPU torch
FACTOR = 2.0  # otherwise an error may be this multiple of that of CPU torch

# Pointwise entries that are not measured. Most of them copy or convert, or do not round. The value of `nextafter` is
# different in float64. Aliases are measured under their first name. tanhshrink subtracts tanh from its argument, which
# leaves only the error of tanh near 0.
LEFT_OUT = frozenset(
    "bfloat16 bool byte cdouble cfloat chalf char double float half int long short real conj conj_physical positive "
    "fill jiterator_unary jiterator_binary jiterator_binary_return_by_ref nextafter frexp complex polar isclose "
    "nn.functional.rrelu nn.functional.prelu nn.functional.tanhshrink __radd__ __rdiv__ __rmul__ __rmod__ "
    "__rpow__ __rsub__ true_divide max min".split()
)

BEHIND = {"nn.functional.logsigmoid": "log_sigmoid_forward"}


@dataclass(frozen=True)
class Function:
    """One pointwise function: its name in torch, the name of its aten op, and the call on its tensor arguments."""

    name: str
    aten: str
    arity: int
    call: Callable[..., torch.Tensor]
    held: frozenset[torch.dtype]
    domain: tuple[float | None, float | None]


@dataclass(frozen=True)
class Error:
    """The largest error, the 99.9th percentile, and the point of the largest error."""

    most: float
    usual: float
    at: tuple[float, ...] = ()


@dataclass(frozen=True)
class Row:
    """One function in one dtype: the errors of the device and of CPU torch."""

    name: str
    dtype: str
    device: Error
    cpu: Error

    @property
    def good(self) -> bool:
        """Whether the row meets the rule."""
        return self.device.most <= max(FLOOR, FACTOR * self.cpu.most)

    def allowed(self, limits: dict[str, float]) -> bool:
        """Whether the row meets the rule, or the bound in a note of the spec."""
        return self.good or self.device.most <= limits.get(self.dtype, 0)


@cache
def functions() -> dict[str, Function]:
    """Torch's pointwise functions with a float result, from its databases, by name."""
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.opinfo.core import BinaryUfuncInfo, UnaryUfuncInfo

    found = {}
    for info in op_db:
        arity = 1 if isinstance(info, UnaryUfuncInfo) else 2 if isinstance(info, BinaryUfuncInfo) else 0
        if not arity or info.name in LEFT_OUT or torch.float32 not in info.dtypes:
            continue
        probe = torch.full((1,), 0.5)
        options = info.sample_kwargs("cpu", torch.float32, probe)[0] if arity == 1 else _options(info)
        call = _call(info.op, options)
        if not call(*[probe] * arity).is_floating_point():
            continue
        name = info.name + (f".{info.variant_test_name}" if info.variant_test_name else "")
        aten = BEHIND.get(name, info.aten_name.replace("special.", "special_").replace("nn.functional.", ""))
        domain = getattr(info, "domain", (None, None))
        found[name] = Function(name, aten, arity, call, frozenset(info.dtypes), domain)
    return found


def _call(op: Callable[..., torch.Tensor], options: dict[str, Any]) -> Callable[..., torch.Tensor]:
    return lambda *x: op(*x, **options)


def _options(info: Any) -> dict[str, Any]:
    """The argument that distinguishes the variants of a binary function: `rounding_mode` of a division."""
    sample = next(iter(info.sample_inputs("cpu", torch.float32)))
    return {k: v for k, v in sample.kwargs.items() if k == "rounding_mode"}


def measure(function: Function, dtype: torch.dtype, device: str, count: int | None = None) -> Row:
    """The errors of one function at `count` points."""
    points = arguments(function.name, function.arity, function.domain, dtype, count)
    exact = reference(function, points)
    exact = np.where(subnormal(exact, points, dtype), np.nan, exact)
    errors = []
    for where in (device, "cpu"):
        got = function.call(*(p.to(where) for p in points)).cpu()
        errors.append(error(got, exact, points))
    return Row(function.name, str(dtype).removeprefix("torch."), *errors)


def reference(function: Function, points: tuple[torch.Tensor, ...]) -> np.ndarray:
    """The values computed by mpmath if it has the function, otherwise in float64; NaN where there is no value."""
    exact = EXACT.get(function.name)
    if exact is None:
        return function.call(*(p.double() for p in points)).numpy().astype(np.longdouble)
    columns = [p.double().tolist() for p in points]
    return np.array([exact(*row) for row in zip(*columns, strict=True)], np.longdouble)


def subnormal(exact: np.ndarray, points: tuple[torch.Tensor, ...], dtype: torch.dtype) -> np.ndarray:
    """Whether an argument or the value is subnormal in the compute dtype: XLA's CPU backend flushes these to zero."""
    tiny = torch.finfo(torch.float64 if dtype is torch.float64 else torch.float32).tiny
    values = [exact, *(p.double().numpy() for p in points)]
    return np.any([(np.abs(v) < 1.01 * tiny) & (v != 0) for v in values], axis=0)


def units(got: torch.Tensor, exact: np.ndarray) -> np.ndarray:
    """|got - exact| in the spacing of the dtype at `exact`; infinity counts as the next power of two above the largest.

    Below the smallest normal number the spacing is that of the smallest normal one.
    """
    info = torch.finfo(got.dtype)
    top = math.frexp(info.max)[1] - 1
    highest = np.ldexp(np.longdouble(1), top + 1)
    value = got.double().numpy().astype(np.longdouble)
    value = np.where(np.isinf(value), np.copysign(highest, value), value)
    exact = np.clip(exact, -highest, highest)
    size = np.maximum(np.abs(exact), info.tiny)
    exponent = np.minimum(np.frexp(size)[1] - 1, top)
    spacing = np.ldexp(np.longdouble(info.eps), exponent)
    found = np.abs(value - exact) / spacing
    return np.where(np.isnan(exact), 0, np.where(np.isnan(value), np.inf, found))


def error(got: torch.Tensor, exact: np.ndarray, points: tuple[torch.Tensor, ...]) -> Error:
    """The summary of the errors at all points."""
    found = units(got, exact)
    worst = int(found.argmax())
    usual = float(np.sort(found)[int(0.999 * (len(found) - 1))])
    return Error(float(found[worst]), usual, tuple(p[worst].item() for p in points))


def limits(function: Function) -> dict[str, float]:
    """The bounds in the note of the spec, by dtype: `accuracy: 5 ULP in float32, because ...`."""
    note = accuracy_notes().get(function.aten, "")
    return {dtype: float(most) for most, dtype in re.findall(r"([\d.e]+) ULP in (\w+)", note)}


@cache
def accuracy_notes() -> dict[str, str]:
    """Notes of the specs that state an accuracy, by the name of the op."""
    entries = build(Tree.at(PACKAGE), supported()).entries
    return {e.name.partition(".")[0]: e.note for e in entries if e.note.startswith("accuracy: ")}


def dtypes(function: Function) -> tuple[torch.dtype, ...]:
    """The dtypes that CPU torch supports; float64 only if mpmath has the function."""
    asked = (*DTYPES, torch.float64) if function.name in EXACT else DTYPES
    return tuple(d for d in asked if d in function.held)
