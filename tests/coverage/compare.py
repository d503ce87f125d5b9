"""Compare results of a device with those of CPU torch: values, dtypes, shapes, strides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree


@dataclass(frozen=True)
class Tolerance:
    """`|actual - expected| <= absolute + relative * |expected|`."""

    relative: float
    absolute: float

    def widest(self, other: Tolerance) -> Tolerance:
        return Tolerance(max(self.relative, other.relative), max(self.absolute, other.absolute))


# Tolerances by dtype: the defaults of `torch.testing.assert_close`, which torch's databases assume.
TOLERANCES = {
    torch.float16: Tolerance(1e-3, 1e-5),
    torch.bfloat16: Tolerance(1.6e-2, 1e-5),
    torch.float32: Tolerance(1.3e-6, 1e-5),
    torch.float64: Tolerance(1e-7, 1e-7),
    torch.complex32: Tolerance(1e-3, 1e-5),
    torch.complex64: Tolerance(1.3e-6, 1e-5),
    torch.complex128: Tolerance(1e-7, 1e-7),
}
EQUAL = Tolerance(0.0, 0.0)

# A result outside the tolerance still agrees if its distance from the float64 result is at most this multiple of the
# error of CPU torch: both errors then come from conditioning, not from a formula. In exchange, a result with one wrong
# digit more than CPU torch passes.
CPU_ERROR_FACTOR = 4.0

NARROW = {torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz}


def compare(
    actual: Any,
    expected: Any,
    *,
    device: str,
    override: Tolerance | None = None,
    values: bool = True,
    strides: bool = True,
    dtypes: bool = True,
    exact: Callable[[], Any] | None = None,
    layout: Callable[[], Any] | None = None,
) -> str | None:
    """The first difference of two trees of tensors and plain values as text, or None.

    `exact` computes the same tree in float64, `layout` on torch's meta device; both are called only on a mismatch.
    Strides must equal those of CPU torch or those of torch's Meta kernels; the two may differ.
    """
    found, spec = pytree.tree_flatten(actual)
    wanted, wanted_spec = pytree.tree_flatten(expected)
    if spec != wanted_spec:
        return _structure(actual, expected)
    paths = [path for path, _ in pytree.tree_flatten_with_path(expected)[0]]
    for index, (a, e) in enumerate(zip(found, wanted, strict=True)):
        where = f"{pytree.keystr(paths[index])}: " if paths[index] else ""
        wrong = _leaf(a, e, device, override, values, dtypes)
        if wrong is not None and wrong.value_only and exact is not None:
            reference = nth(exact, index, len(wanted))
            if isinstance(reference, torch.Tensor) and as_exact_as_cpu(host(a), e, reference, override):
                wrong = None
        if wrong is not None:
            return where + wrong.text
        if strides and isinstance(e, torch.Tensor) and (text := _strides(a, e, layout, index, len(wanted))):
            return where + text
    return None


@dataclass(frozen=True)
class _Wrong:
    text: str
    value_only: bool = False


def _leaf(
    actual: Any, expected: Any, device: str, override: Tolerance | None, values: bool, dtypes: bool
) -> _Wrong | None:
    if not isinstance(expected, torch.Tensor):
        return _plain(actual, expected, values)
    if not isinstance(actual, torch.Tensor):
        return _Wrong(f"{type(actual).__name__} {actual!r:.60}; expected a tensor {_brief(expected)}")
    if actual.device.type != device.partition(":")[0] and expected.device.type == "cpu":
        return _Wrong(f"the result is on {actual.device}; expected {device}")
    if dtypes and actual.dtype != expected.dtype:
        return _Wrong(f"dtype {actual.dtype}; expected {expected.dtype}")
    if actual.shape != expected.shape:
        return _Wrong(f"shape {tuple(actual.shape)}; expected {tuple(expected.shape)}")
    if actual.layout != expected.layout:
        return _Wrong(f"layout {actual.layout}; expected {expected.layout}")
    if not values:
        return None
    text = value_difference(host(actual), expected.detach(), override)
    return None if text is None else _Wrong(text, value_only=True)


def _plain(actual: Any, expected: Any, values: bool) -> _Wrong | None:
    """Compare numbers and other values that are not tensors."""
    if type(actual) is not type(expected):
        return _Wrong(f"{type(actual).__name__} {actual!r:.80}; expected {type(expected).__name__} {expected!r:.80}")
    if isinstance(expected, float | complex) and values:
        text = value_difference(torch.tensor(actual), torch.tensor(expected), TOLERANCES[torch.float32])
        return None if text is None else _Wrong(text)
    if actual != expected and (values or not isinstance(expected, bool | int | float | complex)):
        return _Wrong(f"{actual!r:.120}; expected {expected!r:.120}")
    return None


def value_difference(actual: torch.Tensor, expected: torch.Tensor, override: Tolerance | None = None) -> str | None:
    """The differing elements of two CPU tensors of one shape as text, or None. NaN equals NaN."""
    if expected.layout is not torch.strided:
        actual, expected = actual.to_dense(), expected.to_dense()
    if expected.is_quantized:
        actual, expected = actual.dequantize(), expected.dequantize()
    a, e = widen(actual), widen(expected)
    tolerance = TOLERANCES.get(expected.dtype, EQUAL)
    if override is not None and expected.dtype in TOLERANCES:
        tolerance = tolerance.widest(override)
    if a.dtype != e.dtype:
        a = a.to(e.dtype)
    near = torch.isclose(a, e, rtol=tolerance.relative, atol=tolerance.absolute, equal_nan=True)
    if bool(near.all()):
        return None
    bad = ~near
    first = tuple(torch.nonzero(bad)[0].tolist()) if bad.ndim else ()
    gap = (a.to(torch.complex128) - e.to(torch.complex128)).abs()[bad]
    gap = gap[gap.isfinite()]
    greatest = f", greatest difference {float(gap.max()):.3g}" if gap.numel() else ""
    at = f" at {first}" if first else ""
    return (
        f"{int(bad.sum())} of {bad.numel()} elements differ{greatest}{at}: "
        f"{a[first].item()}; expected {e[first].item()}"
    )


def as_exact_as_cpu(
    actual: torch.Tensor, expected: torch.Tensor, exact: torch.Tensor, override: Tolerance | None
) -> bool:
    """Whether `actual` is as close to the float64 result as CPU torch is, within the factor and the tolerance."""
    if expected.dtype not in TOLERANCES or exact.shape != expected.shape or expected.layout is not torch.strided:
        return False
    tolerance = TOLERANCES[expected.dtype]
    if override is not None:
        tolerance = tolerance.widest(override)
    truth = exact.detach().to(torch.complex128)
    own = (expected.detach().to(torch.complex128) - truth).abs()
    error = (actual.to(torch.complex128) - truth).abs()
    cpu_error = own[own.isfinite()].max() if bool(own.isfinite().any()) else torch.zeros(())
    allowed = tolerance.absolute + tolerance.relative * truth.abs() + CPU_ERROR_FACTOR * cpu_error
    same = torch.isclose(
        widen(actual), widen(expected), rtol=tolerance.relative, atol=tolerance.absolute, equal_nan=True
    )
    return bool((same | ((error <= allowed) & allowed.isfinite())).all())


def widen(t: torch.Tensor) -> torch.Tensor:
    """Convert to a dtype in which `isclose` and `item` are implemented, and keep the values."""
    if t.dtype in NARROW:
        return t.to(torch.float32)
    if t.dtype is torch.complex32:
        return t.to(torch.complex64)
    if t.dtype in (torch.uint16, torch.uint32):
        return t.to(torch.int64)
    # uint64 wraps to int64, where equal bits are still equal values.
    return t.view(torch.int64) if t.dtype is torch.uint64 else t


def host(t: torch.Tensor) -> torch.Tensor:
    """A copy on the CPU with conjugate and negative bits resolved."""
    return t.detach().cpu().resolve_conj().resolve_neg()


def significant_strides(t: torch.Tensor) -> tuple[int, ...]:
    """The strides that matter: those of dimensions of length 1 and of empty tensors do not."""
    if t.layout is not torch.strided or t.numel() == 0:
        return ()
    return tuple(s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1)


def _strides(
    actual: torch.Tensor, expected: torch.Tensor, layout: Callable[[], Any] | None, index: int, count: int
) -> str | None:
    found, wanted = significant_strides(actual), significant_strides(expected)
    if found == wanted:
        return None
    reference = nth(layout, index, count) if layout is not None else None
    if isinstance(reference, torch.Tensor) and significant_strides(reference) == found:
        return None
    return f"strides {tuple(actual.stride())}; expected {tuple(expected.stride())}"


def nth(tree: Callable[[], Any], index: int, count: int) -> Any:
    """Leaf `index` of the tree, or None if it cannot be computed or the structure differs."""
    try:
        leaves = pytree.tree_leaves(tree())
    except Exception:  # without a reference of higher precision the mismatch is reported
        return None
    return leaves[index] if len(leaves) == count else None


def _brief(tree: Any) -> str:
    """Describe a tensor as `float32 (3, 4)`, and a tree by its contents."""
    if isinstance(tree, torch.Tensor):
        return f"{str(tree.dtype).removeprefix('torch.')} {tuple(tree.shape)}"
    if isinstance(tree, list | tuple):
        return f"{len(tree)} results" if len(tree) > 3 else f"({', '.join(map(_brief, tree))})"
    return f"{type(tree).__name__} {tree!r:.60}"


def _structure(actual: Any, expected: Any) -> str:
    """The first difference in the structure of two trees."""
    if isinstance(actual, dict) and isinstance(expected, dict) and actual.keys() == expected.keys():
        for key in expected:
            if pytree.tree_structure(actual[key]) != pytree.tree_structure(expected[key]):
                return f"{key}: {_structure(actual[key], expected[key])}"
    return f"gave {_brief(actual)}; expected {_brief(expected)}"
