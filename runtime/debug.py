"""What the device does, operation by operation: shown, compared with CPU torch, or watched for NaN and infinities.

Each function gives a context. Within it a compiled function (`tenax.jit`, `torch.compile`) runs eagerly.
"""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from .device.cell import untraced
from .dispatch.host import Snapshot, fetched, host_op, inputs_of, is_random, name_of, visible
from .errors import TraceError
from .tracing.trace import at_line, current

_log = logging.getLogger("tenax.debug")

Report = Callable[[str], object]

# Their values are whatever memory held.
_UNINITIALISED = ("empty", "new_empty", "resize", "_resize", "set_")

# Relative and absolute tolerances by dtype: those of `torch.testing.assert_close`. The absolute one is of a tensor
# whose elements are about 1, and in 16 bits, where results are rounded, as wide as the relative one.
_TOLERANCES = {
    torch.float16: (1e-3, 1e-3),
    torch.bfloat16: (1.6e-2, 1.6e-2),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}

# How much farther than CPU torch's a result may be from that in float64: both then err by conditioning.
_CPU_ERRORS = 4.0


class MismatchError(AssertionError):
    """An operation gave something else than on CPU torch."""


@contextmanager
def log(level: int = logging.INFO) -> Iterator[None]:
    """Log each operation of the device: its name, shapes, dtypes and strides, and the line of the program.

    The logger is `tenax.debug`. Where logging is not configured the lines go to stderr.
    """
    before, handler = _log.level, logging.StreamHandler(sys.stderr)
    if not _log.isEnabledFor(level):
        _log.setLevel(level)
    if not _log.hasHandlers():
        _log.addHandler(handler)
    try:
        with _Logging(level):
            yield
    finally:
        _log.removeHandler(handler)
        _log.setLevel(before)


def compare(
    *,
    rtol: float | None = None,
    atol: float | None = None,
    skip: Collection[str] = (),
    report: Report | None = None,
) -> Comparison:
    """Run each operation of the device on CPU torch too, on the same arguments, and raise at the first that differs.

    It differs in value, shape, dtype or strides. Random operations and fresh memory are compared without values. The
    program goes on with the device's results, so that one wrong operation is one difference.

    Args:
        rtol: relative tolerance. By default that of `torch.testing` for the dtype; a result that does not meet it may
            still be as near to the result in float64 as CPU torch's is.
        atol: absolute tolerance, given with `rtol`. By default it follows the magnitude of results and arguments.
        skip: names of operations whose values are not compared, such as `"topk"` where values tie.
        report: called with the text of each difference, in place of raising.

    Returns:
        The context: `compared` counts operations, `unchecked` names those with nothing to compare with, and why.

    Raises:
        MismatchError: naming operation, arguments, greatest difference and line of the program.
        TraceError: the operation is traced, and has no values.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("tenax.debug.compare: got one of rtol and atol; expected both or neither")
    return Comparison(None if rtol is None or atol is None else (rtol, atol), frozenset(skip), report)


def check_finite(*, report: Report | None = None) -> TorchDispatchMode:
    """Raise at the first operation that gives NaN or infinity from finite arguments.

    A number among the arguments counts too: `masked_fill(mask, -inf)` is as asked. It waits for every operation.

    Args:
        report: called with the text of each finding, in place of raising.

    Raises:
        FloatingPointError: naming operation, arguments and line of the program.
        TraceError: the operation is traced, and has no values.
    """
    return _Finite(report)


class _Observer(TorchDispatchMode):
    """A mode that sees the operations of the device."""

    values = True  # whether it needs what tensors hold

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not all(t in (torch.Tensor, torch.nn.Parameter) for t in types):
            return NotImplemented  # a subclass says which operations its own consists of
        if not _is_ours((args, kwargs)):
            return func(*args, **kwargs)
        if self.values and (current() is not None or not untraced()):
            raise TraceError(
                f"{func.name()}: tenax.debug: the values of a traced function are not known{at_line()}. Call the "
                "function without the transform of JAX; one of tenax.jit runs eagerly within the context"
            )
        return self.observe(func, args, kwargs)

    def observe(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Run one operation."""
        raise NotImplementedError


class _Logging(_Observer):
    values = False

    def __init__(self, level: int) -> None:
        super().__init__()
        self.level = level

    def observe(self, func: Any, args: Any, kwargs: Any) -> Any:
        text = _described(func, args, kwargs)
        result = func(*args, **kwargs)
        _log.log(self.level, "%s -> %s%s", text, _brief(result), _where())
        return result


class Comparison(_Observer):
    """The context of `compare`."""

    def __init__(self, tolerance: tuple[float, float] | None, skip: frozenset[str], report: Report | None) -> None:
        super().__init__()
        self.tolerance = tolerance
        self.skip = skip
        self.report = report
        self.compared = 0
        self.unchecked: dict[str, str] = {}

    def observe(self, func: Any, args: Any, kwargs: Any) -> Any:
        name, text = name_of(func, args), _described(func, args, kwargs)
        before = Snapshot((args, kwargs, inputs_of(func)))
        result = func(*args, **kwargs)
        found = [*_results(func, args, result), *_written(func, args, kwargs)]

        def host(exact: bool) -> list[Any]:
            *given, inputs = before.copy(exact)
            op = host_op(func, given[0], inputs)
            if op is None:
                raise NotImplementedError("nothing on the CPU computes it")
            with torch.no_grad():
                made = op(*given[0], **given[1])
            return [*_results(func, args, made), *_written(func, *given)]

        generator = torch.get_rng_state()
        try:
            expected = host(exact=False)
        except Exception as error:  # CPU torch has no kernel for some dtypes
            self.unchecked[name] = f"{type(error).__name__}: {error}"
            return result
        finally:
            torch.set_rng_state(generator)
        self.compared += 1
        by_value = not (is_random(func, args) or _is_uninitialised(func) or _is_named(name, self.skip))
        wrong = self.difference(found, expected, before, by_value, lambda: host(exact=True))
        if wrong is not None:
            _tell(self.report, MismatchError, f"{text}: {wrong}{_where()}")
        return result

    def difference(
        self, found: list[Any], expected: list[Any], before: Snapshot, by_value: bool, exact: Callable[[], list[Any]]
    ) -> str | None:
        """What is wrong with the results, or None."""
        if len(found) != len(expected):
            return f"gave {len(found)} results; CPU torch gives {len(expected)}"
        scale = min(filter(None, map(_magnitude, _inexact(before))), default=0.0) if by_value else 0.0
        for i, (x, y) in enumerate(zip(found, expected, strict=True)):
            wrong = _misshapen(x, y)
            if wrong is None and by_value:
                wrong = self.unequal(x, y, scale, i, exact)
            if wrong is not None:
                return wrong if len(found) == 1 else f"result {i}: {wrong}"
        return None

    def unequal(self, x: Any, y: Any, scale: float, i: int, exact: Callable[[], list[Any]]) -> str | None:
        """How the values of result `i` differ; `scale` is the magnitude of the smallest argument."""
        if not isinstance(y, (torch.Tensor, bool, int, float, complex)):
            return None if x == y else f"gave {x}; CPU torch gives {y}"
        a, e = (torch.as_tensor(v) if not isinstance(v, torch.Tensor) else fetched(v) for v in (x, y))
        inexact = e.is_floating_point() or e.is_complex()
        rtol, atol = self.tolerance or _TOLERANCES.get(e.dtype, (0.0, 0.0))
        if self.tolerance is None and atol:
            atol *= max(_magnitude(e), scale)
        wide = torch.complex128 if e.is_complex() else torch.float64
        if inexact:
            a, e = a.to(wide), e.to(wide)
            far = ~torch.isclose(a, e, rtol=rtol, atol=atol, equal_nan=True)
        else:
            far = a != e
        if not bool(far.any()):
            return None
        if inexact and self.tolerance is None and _as_exact(a, e, rtol, atol, lambda: exact()[i]):
            return None
        first = tuple(torch.nonzero(far)[0].tolist()) if far.dim() else ()
        gap = (a.to(wide) - e.to(wide)).abs()[far]
        gap = gap[gap.isfinite()]
        greatest = f", greatest difference {float(gap.max()):.3g}" if gap.numel() else ""
        at = f" at {first}" if first else ""
        return (
            f"{int(far.sum())} of {far.numel()} elements differ{greatest}{at}: {a[first].item()}; "
            f"CPU torch gives {e[first].item()}"
        )


class _Finite(_Observer):
    def __init__(self, report: Report | None) -> None:
        super().__init__()
        self.report = report

    def observe(self, func: Any, args: Any, kwargs: Any) -> Any:
        written = _written(func, args, kwargs)
        sound = all(map(_is_finite, written))  # asked before they are written to
        result = func(*args, **kwargs)
        made = [*_results(func, args, result), *written]
        if not sound or _is_uninitialised(func) or all(map(_is_finite, made)):
            return result
        others = [x for x in pytree.tree_leaves((args, kwargs)) if all(x is not w for w in written)]
        if all(map(_is_finite, others)):
            values = torch.cat([x.detach().reshape(-1).cpu().abs() for x in made if not _is_finite(x)])
            kinds = [n for n, found in (("NaN", values.isnan()), ("infinity", values.isinf())) if bool(found.any())]
            text = f"{_described(func, args, kwargs)}: gave {' and '.join(kinds)} from finite arguments{_where()}"
            _tell(self.report, FloatingPointError, text)
        return result


def _tell(report: Report | None, error: type[Exception], text: str) -> None:
    if report is None:
        raise error(text)
    report(text)


def _is_ours(tree: Any) -> bool:
    """Whether an operation is one of the device."""
    return any(
        (isinstance(x, torch.Tensor) and x.device.type == "jax") or (isinstance(x, torch.device) and x.type == "jax")
        for x in pytree.tree_leaves(tree)
    )


def _results(func: Any, args: Any, result: Any) -> list[Any]:
    results = result if isinstance(result, (tuple, list)) else [result]
    return pytree.tree_leaves(visible(func, args, results))


def _written(func: Any, args: Any, kwargs: Any) -> list[torch.Tensor]:
    """The tensors that an operation writes, by its schema."""
    found = []
    for i, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = kwargs.get(argument.name) if i >= len(args) else args[i]
            found += [x for x in pytree.tree_leaves(value) if isinstance(x, torch.Tensor)]
    return found


def _is_uninitialised(func: Any) -> bool:
    return func._schema.name.partition("::")[2].startswith(_UNINITIALISED)


def _is_named(name: str, names: Collection[str]) -> bool:
    """Whether an operation is among some names, with or without its namespace and overload."""
    short = name.rpartition("::")[2]
    return not {name, short, short.partition(".")[0]}.isdisjoint(names)


def _misshapen(x: Any, y: Any) -> str | None:
    """What differs of two results apart from their values."""
    if not isinstance(y, torch.Tensor) or not isinstance(x, torch.Tensor):
        same = type(x) is type(y)
        return None if same else f"gave a {type(x).__name__}; CPU torch gives a {type(y).__name__}"
    for what, a, e in (("dtype", x.dtype, y.dtype), ("shape", tuple(x.shape), tuple(y.shape))):
        if a != e:
            return f"{what} {a}; CPU torch gives {e}"
    if x.layout is torch.strided and _walked(x) != _walked(y):
        return f"strides {tuple(x.stride())}; CPU torch gives {tuple(y.stride())}"
    return None


def _walked(x: torch.Tensor) -> list[int]:
    """The strides that have a meaning: those of axes longer than 1."""
    return [s for s, n in zip(x.stride(), x.shape, strict=True) if n > 1] if x.numel() else []


def _inexact(before: Snapshot) -> Iterator[torch.Tensor]:
    """The floating-point tensors among the arguments."""
    for x in pytree.tree_leaves(before.copy()):
        if isinstance(x, torch.Tensor) and x.layout is torch.strided and (x.is_floating_point() or x.is_complex()):
            yield x


def _magnitude(x: torch.Tensor) -> float:
    """The greatest finite magnitude."""
    found = x.to(torch.complex128 if x.is_complex() else torch.float64).abs()
    found = found[found.isfinite()]
    return float(found.max()) if found.numel() else 0.0


def _as_exact(a: torch.Tensor, e: torch.Tensor, rtol: float, atol: float, exact: Callable[[], Any]) -> bool:
    """Whether `a` is as near to the result in float64 as CPU torch's `e`, up to a factor."""
    try:
        truth = fetched(exact()).to(e.dtype)
    except Exception:  # it is a courtesy: without it the mismatch stands
        return False
    own = (e - truth).abs()
    own = own[own.isfinite()]
    allowed = atol + rtol * truth.abs() + (_CPU_ERRORS * own.max() if own.numel() else 0.0)
    same = torch.isclose(a, e, rtol=rtol, atol=atol, equal_nan=True)
    return bool((same | (((a - truth).abs() <= allowed) & allowed.isfinite())).all())


def _is_finite(x: Any) -> bool:
    if isinstance(x, (float, complex)):
        return math.isfinite(abs(x))
    if not isinstance(x, torch.Tensor) or x.layout is not torch.strided:
        return True
    return not (x.is_floating_point() or x.is_complex()) or bool(x.detach().isfinite().all())


# Text


def _described(func: Any, args: Any, kwargs: Any) -> str:
    """An operation and its arguments."""
    parts = [*map(_brief, args), *(f"{k}={_brief(v)}" for k, v in kwargs.items())]
    return f"{name_of(func, args)}({', '.join(parts)})"


def _brief(value: Any) -> str:
    """`float32[8, 4]`, its strides where it is not contiguous, or a plain value."""
    if isinstance(value, (list, tuple)):
        more = [f"... {len(value) - 6} more"] if len(value) > 8 else []
        return f"[{', '.join([*map(_brief, value[:6] if more else value), *more])}]"
    if not isinstance(value, torch.Tensor):
        return f"{value!s:.60}"
    text = f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if value.layout is not torch.strided:
        return f"{text} {str(value.layout).removeprefix('torch.')}"
    if not value.is_contiguous():
        text += f" strides {tuple(value.stride())}"
    return text if value.device.type == "jax" else f"{text} on {value.device}"


def _where() -> str:
    """The line of the program, and the node of autograd where a backward pass runs."""
    node = torch._C._current_autograd_node()
    return at_line() + (f", in the backward of {node.name()}" if node is not None else "")
