"""Observe the device op by op: log, compare with CPU torch, or check for NaN and infinity.

Each function returns a context manager. Within it, compiled functions (`tenax.jit`, `torch.compile`) run eagerly.
"""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from .._torch import NAME, pytree
from .._torch.autograd import current_node
from .._torch.modes import TorchDispatchMode
from ..errors import TraceError
from ..storage.placement import no_jax_trace
from ..trace.core import current_trace, user_line
from .cpu_reference import Snapshot, fetched, host_op, inputs_of, is_random, name_of, visible

_log = logging.getLogger("tenax.debug")

Report = Callable[[str], object]

# Operations whose results are uninitialized memory.
_UNINITIALISED = ("empty", "new_empty", "resize", "_resize", "set_")

# Relative and absolute tolerances by dtype, as in `torch.testing.assert_close`. The absolute tolerance is for elements
# of magnitude 1. For 16-bit dtypes, whose results are rounded, it equals the relative tolerance.
_TOLERANCES = {
    torch.float16: (1e-3, 1e-3),
    torch.bfloat16: (1.6e-2, 1.6e-2),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}

# A result may be this many times farther from the float64 result than CPU torch's, as both suffer from conditioning.
_CPU_ERRORS = 4.0


class MismatchError(AssertionError):
    """The result of an operation differs from CPU torch."""


@contextmanager
def log(level: int = logging.INFO) -> Iterator[None]:
    """Log each device operation: its name, shapes, dtypes and strides, and the line of the program.

    The logger is `tenax.debug`. If logging is not configured, the lines go to stderr.
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
    """Run each device operation on CPU torch too, on the same arguments, and raise at the first difference.

    Values, shapes, dtypes and strides are compared. Random results and uninitialized memory are compared without
    values. The program continues with the device's results, so one wrong operation is reported only once.

    Args:
        rtol: relative tolerance. The default is that of `torch.testing` for the dtype; a result outside of it passes if
            it is about as close to the float64 result as CPU torch's.
        atol: absolute tolerance, given with `rtol`. The default scales with the magnitude of results and arguments.
        skip: names of operations whose values are not compared, such as `"topk"` if values tie.
        report: called with the text of each difference instead of raising.

    Returns:
        The context: `compared` counts operations; `unchecked` maps operations without a CPU equivalent to the reason.

    Raises:
        MismatchError: a result differs. The message gives the operation, arguments, greatest difference and line.
        TraceError: the operation is traced, so its values are unknown.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("tenax.debug.compare: got one of rtol and atol; expected both or neither")
    return Comparison(None if rtol is None or atol is None else (rtol, atol), frozenset(skip), report)


def check_finite(*, report: Report | None = None) -> TorchDispatchMode:
    """Raise at the first operation that returns NaN or infinity for finite arguments.

    Python numbers count as arguments, so `masked_fill(mask, -inf)` passes. Each operation synchronizes with the device.

    Args:
        report: called with the text of each finding instead of raising.

    Raises:
        FloatingPointError: a result is not finite. The message gives the operation, arguments and program line.
        TraceError: the operation is traced, so its values are unknown.
    """
    return _Finite(report)


class _Observer(TorchDispatchMode):
    """A dispatch mode that observes device operations."""

    values = True  # whether it reads the values of tensors

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not all(t in (torch.Tensor, torch.nn.Parameter) for t in types):
            return NotImplemented  # lets a subclass decompose its operation first
        if not _is_ours((args, kwargs)):
            return func(*args, **kwargs)
        if self.values and (current_trace() is not None or not no_jax_trace()):
            raise TraceError(
                f"{func.name()}: tenax.debug: the values of a traced function are unknown{user_line()}. Call the "
                "function without a transformation of JAX; functions of tenax.jit run eagerly within the context"
            )
        return self.observe(func, args, kwargs)

    def observe(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Run one operation and observe it."""
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
        actual = [*_results(func, args, result), *_written(func, args, kwargs)]

        def host(exact: bool) -> list[Any]:
            *call, inputs = before.copy(exact)
            op = host_op(func, call[0], inputs)
            if op is None:
                raise NotImplementedError("there is no CPU equivalent")
            with torch.no_grad():
                outputs = op(*call[0], **call[1])
            return [*_results(func, args, outputs), *_written(func, *call)]

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
        wrong = self.difference(actual, expected, before, by_value, lambda: host(exact=True))
        if wrong is not None:
            _tell(self.report, MismatchError, f"{text}: {wrong}{_where()}")
        return result

    def difference(
        self, actual: list[Any], expected: list[Any], before: Snapshot, by_value: bool, exact: Callable[[], list[Any]]
    ) -> str | None:
        """The first difference between the results as text, or None."""
        if len(actual) != len(expected):
            return f"returned {len(actual)} results; CPU torch returns {len(expected)}"
        scale = min(filter(None, map(_magnitude, _inexact(before))), default=0.0) if by_value else 0.0
        for i, (x, y) in enumerate(zip(actual, expected, strict=True)):
            wrong = _misshapen(x, y)
            if wrong is None and by_value:
                wrong = self.unequal(x, y, scale, i, exact)
            if wrong is not None:
                return wrong if len(actual) == 1 else f"result {i}: {wrong}"
        return None

    def unequal(self, x: Any, y: Any, scale: float, i: int, exact: Callable[[], list[Any]]) -> str | None:
        """The difference in the values of result `i`, or None; `scale` is the smallest magnitude of an argument."""
        if not isinstance(y, (torch.Tensor, bool, int, float, complex)):
            return None if x == y else f"returned {x}; CPU torch returns {y}"
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
            f"CPU torch returns {e[first].item()}"
        )


class _Finite(_Observer):
    def __init__(self, report: Report | None) -> None:
        super().__init__()
        self.report = report

    def observe(self, func: Any, args: Any, kwargs: Any) -> Any:
        written = _written(func, args, kwargs)
        sound = all(map(_is_finite, written))  # before the operation writes them
        result = func(*args, **kwargs)
        outputs = [*_results(func, args, result), *written]
        if not sound or _is_uninitialised(func) or all(map(_is_finite, outputs)):
            return result
        others = [x for x in pytree.tree_leaves((args, kwargs)) if all(x is not w for w in written)]
        if all(map(_is_finite, others)):
            values = torch.cat([x.detach().reshape(-1).cpu().abs() for x in outputs if not _is_finite(x)])
            kinds = [n for n, flags in (("NaN", values.isnan()), ("infinity", values.isinf())) if bool(flags.any())]
            text = f"{_described(func, args, kwargs)}: returned {' and '.join(kinds)} for finite arguments{_where()}"
            _tell(self.report, FloatingPointError, text)
        return result


def _tell(report: Report | None, error: type[Exception], text: str) -> None:
    if report is None:
        raise error(text)
    report(text)


def _is_ours(tree: Any) -> bool:
    """Whether the arguments contain a device tensor or the device itself."""
    return any(
        (isinstance(x, torch.Tensor) and x.device.type == NAME) or (isinstance(x, torch.device) and x.type == NAME)
        for x in pytree.tree_leaves(tree)
    )


def _results(func: Any, args: Any, result: Any) -> list[Any]:
    results = result if isinstance(result, (tuple, list)) else [result]
    return pytree.tree_leaves(visible(func, args, results))


def _written(func: Any, args: Any, kwargs: Any) -> list[torch.Tensor]:
    """The tensors that an operation writes, by its schema."""
    tensors = []
    for i, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = kwargs.get(argument.name) if i >= len(args) else args[i]
            tensors += [x for x in pytree.tree_leaves(value) if isinstance(x, torch.Tensor)]
    return tensors


def _is_uninitialised(func: Any) -> bool:
    return func._schema.name.partition("::")[2].startswith(_UNINITIALISED)


def _is_named(name: str, names: Collection[str]) -> bool:
    """Whether an operation is listed in `names`, with or without its namespace and overload."""
    short = name.rpartition("::")[2]
    return not {name, short, short.partition(".")[0]}.isdisjoint(names)


def _misshapen(x: Any, y: Any) -> str | None:
    """The difference in type, dtype, shape or strides of two results, as text, or None."""
    if not isinstance(y, torch.Tensor) or not isinstance(x, torch.Tensor):
        same = type(x) is type(y)
        return None if same else f"returned a {type(x).__name__}; CPU torch returns a {type(y).__name__}"
    for what, a, e in (("dtype", x.dtype, y.dtype), ("shape", tuple(x.shape), tuple(y.shape))):
        if a != e:
            return f"{what} {a}; CPU torch returns {e}"
    if x.layout is torch.strided and _walked(x) != _walked(y):
        return f"strides {tuple(x.stride())}; CPU torch returns {tuple(y.stride())}"
    return None


def _walked(x: torch.Tensor) -> list[int]:
    """The strides that matter: those of axes longer than 1."""
    return [s for s, n in zip(x.stride(), x.shape, strict=True) if n > 1] if x.numel() else []


def _inexact(before: Snapshot) -> Iterator[torch.Tensor]:
    """The floating-point tensors among the arguments."""
    for x in pytree.tree_leaves(before.copy()):
        if isinstance(x, torch.Tensor) and x.layout is torch.strided and (x.is_floating_point() or x.is_complex()):
            yield x


def _magnitude(x: torch.Tensor) -> float:
    """The greatest finite magnitude."""
    magnitudes = x.to(torch.complex128 if x.is_complex() else torch.float64).abs()
    magnitudes = magnitudes[magnitudes.isfinite()]
    return float(magnitudes.max()) if magnitudes.numel() else 0.0


def _as_exact(a: torch.Tensor, e: torch.Tensor, rtol: float, atol: float, exact: Callable[[], Any]) -> bool:
    """Whether `a` is about as close to the float64 result as CPU torch's `e`, up to a factor."""
    try:
        truth = fetched(exact()).to(e.dtype)
    except Exception:  # without a float64 result the mismatch is reported
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
    """An operation and its arguments as text."""
    parts = [*map(_brief, args), *(f"{k}={_brief(v)}" for k, v in kwargs.items())]
    return f"{name_of(func, args)}({', '.join(parts)})"


def _brief(value: Any) -> str:
    """A value as text; a tensor as `float32[8, 4]`, with strides if it is not contiguous."""
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
    return text if value.device.type == NAME else f"{text} on {value.device}"


def _where() -> str:
    """The line of the program as text, and during a backward pass the current autograd node."""
    node = current_node()
    return user_line() + (f", in the backward of {node.name()}" if node is not None else "")
