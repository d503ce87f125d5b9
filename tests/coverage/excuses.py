"""Excuses: accepted reasons for failures, from torch's own databases and from `ops_spec/coverage/excuses.yaml`."""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import torch
import yaml

from .compare import Tolerance
from .entries import Entry, dtype_name

# `backend`: the entry belongs to another backend. `torch`: torch's own reference is at fault.
KINDS = ("backend", "torch")

# The torch tests (class, name) that correspond to each check.
COUNTERPARTS: dict[str, tuple[tuple[str, str], ...]] = {
    "forward": (("TestCommon", "test_compare_cpu"), ("TestCommon", "test_python_ref"), ("TestModule", "test_forward")),
    "gradient": (("TestBwdGradients", "test_fn_grad"), ("TestModule", "test_grad")),
    "gradgrad": (("TestBwdGradients", "test_fn_gradgrad"), ("TestModule", "test_gradgrad")),
    "reference": (("TestCommon", "test_numpy_ref"), ("TestUnaryUfuncs", "test_reference_numerics_extremal")),
    "forward_ad": (("TestFwdGradients", "test_forward_mode_AD"),),
    "inplace": (
        ("TestCommon", "test_variant_consistency_eager"),
        ("TestBwdGradients", "test_inplace_grad"),
        ("TestForeach", "test_parity"),
    ),
    "out": (("TestCommon", "test_out"), ("TestCommon", "test_out_warning"), ("TestCommon", "test_python_ref")),
    "noncontiguous": (("TestCommon", "test_noncontiguous_samples"),),
    "pure": (("TestBwdGradients", "test_fn_grad"),),
    "errors": (("TestCommon", "test_errors"), ("TestCommon", "test_python_ref_errors")),
    "foreach": (("TestOptimRenewed", "test_foreach_matches_forloop"),),
    "fused": (("TestOptimRenewed", "test_fused_matches_forloop"),),
    "capturable": (("TestOptimRenewed", "test_mixed_device_dtype"),),
}
# Torch tests whose tolerances apply to a comparison with CPU torch.
GRANTED: tuple[tuple[str, str], ...] = (
    ("TestCommon", "test_compare_cpu"),
    ("TestCommon", "test_python_ref"),
    ("TestCommon", "test_variant_consistency_eager"),
    ("TestCommon", "test_noncontiguous_samples"),
    ("TestCommon", "test_out"),
    ("TestModule", "test_cpu_gpu_parity"),
    ("TestOptimRenewed", "test_foreach_matches_forloop"),
    ("TestOptimRenewed", "test_fused_matches_forloop"),
)
# torch runs its gradient tests in double precision only, so a decorator limited to float64 applies to float32 too.
DOUBLE = {torch.float32: torch.float64, torch.complex64: torch.complex128}
GRADIENT = ("gradient", "gradgrad", "forward_ad", "pure")


@dataclass(frozen=True)
class Excuse:
    """One row of `excused`: the failures that it covers, and the reason that the dashboard shows."""

    entries: tuple[str, ...]
    checks: tuple[str, ...]
    dtypes: tuple[str, ...]
    kind: str
    says: str
    reason: str

    @classmethod
    def parse(cls, row: dict[str, Any]) -> Excuse:
        rest = dict(row)
        try:
            entries, checks, dtypes = (tuple(rest.pop(key, ())) for key in ("entries", "checks", "dtypes"))
            kind, says, reason = (str(rest.pop(key)) for key in ("kind", "says", "reason"))
        except KeyError as missing:
            raise ValueError(f"excuses.yaml: {row}: no {missing}; expected entries, kind, says and reason") from None
        if rest or kind not in KINDS or not entries or not says:
            raise ValueError(f"excuses.yaml: {row}: expected entries, says, a reason, and a kind of {', '.join(KINDS)}")
        return cls(entries, checks, dtypes, kind, says, reason)

    def covers(self, entry: Entry, check: str, dtype: str, why: str) -> bool:
        return (
            any(fnmatchcase(entry.key, pattern) for pattern in self.entries)
            and (not self.checks or check in self.checks)
            and (not self.dtypes or dtype in self.dtypes)
            and self.says in why
        )


@dataclass(frozen=True)
class Facts:
    """The contents of `ops_spec/coverage/excuses.yaml`."""

    dtypes: dict[str, str]
    unordered: frozenset[str]
    converting: frozenset[str]
    phased: frozenset[str]
    unstable: tuple[str, ...]
    excused: tuple[Excuse, ...]


@functools.cache
def facts() -> Facts:
    text = importlib.resources.files("tenax.ops_spec").joinpath("coverage", "excuses.yaml").read_text(encoding="utf-8")
    data = yaml.safe_load(text)
    sets = {name: frozenset(data[name]) for name in ("unordered", "converting", "phased")}
    unstable = tuple(data["unstable"])
    return Facts(
        dtypes=data["dtypes"], **sets, unstable=unstable, excused=tuple(Excuse.parse(row) for row in data["excused"])
    )


def unrepresentable(dtype: torch.dtype) -> str | None:
    """The reason that the device lacks the dtype, or None."""
    return facts().dtypes.get(dtype_name(dtype))


def unordered(entry: Entry) -> bool:
    """Whether the entry orders values and leaves the order of equal values unspecified."""
    return entry.name.rpartition(".")[2] in facts().unordered


def converting(entry: Entry) -> bool:
    """Whether the entry converts to an integer type that cannot hold every float."""
    return entry.name in facts().converting


def phased(entry: Entry) -> bool:
    """Whether the results of the entry are unique only up to factors of absolute value 1."""
    return entry.name in facts().phased


def unstable(entry: Entry) -> bool:
    """Whether the derivatives of the entry are rounding errors at singular matrices and equal values."""
    return any(fnmatchcase(entry.name, pattern) for pattern in facts().unstable)


def excused(entry: Entry, check: str, dtype: torch.dtype, why: str) -> str | None:
    """The reason that this failure is accepted, or None."""
    for name, reason in facts().dtypes.items():
        if f"no equivalent of torch.{name}" in why:
            return f"dtype: {reason} ({name})"
    for row in facts().excused:
        if row.covers(entry, check, dtype_name(dtype), why):
            return f"{row.kind}: {row.reason}"
    return skipped_by_torch(entry, check, dtype)


def skipped_by_torch(entry: Entry, check: str, dtype: torch.dtype) -> str | None:
    """Torch's reason for skipping the same test on CPU *and* on CUDA, or None if it runs on either."""
    for test_class, test in COUNTERPARTS.get(check, ()):
        dtypes = (dtype, DOUBLE[dtype]) if check in GRADIENT and dtype in DOUBLE else (dtype,)
        for d in dtypes:
            reasons = [_skip(_probe(entry, test_class, test, device, d)) for device in ("cpu", "cuda")]
            if all(reasons):
                return f"torch skips {test_class}.{test} on CPU and CUDA: {reasons[0]}"
    return None


def granted(entry: Entry, dtype: torch.dtype) -> Tolerance | None:
    """The widest tolerance that torch grants this entry and dtype, or None."""
    widest: Tolerance | None = None
    for test_class, test in GRANTED:
        for device in ("cpu", "cuda"):
            override = getattr(_probe(entry, test_class, test, device, dtype), "tolerance_overrides", {}).get(dtype)
            if override is not None:
                found = Tolerance(override.rtol, override.atol)
                widest = found if widest is None else widest.widest(found)
    return widest


def _probe(entry: Entry, test_class: str, test: str, device: str, dtype: torch.dtype) -> Callable[..., None]:
    """An empty test with torch's decorators applied, which set its attributes."""

    def probe(self: Any) -> None:
        pass

    probed: Callable[..., None] = probe
    for decorator in entry.info.get_decorators(test_class, test, device, dtype, {}):
        try:
            probed = decorator(probed)
        except Exception:  # a decorator that requires a real test class does not skip anything
            continue
    return probed


def _skip(probed: Callable[..., None]) -> str | None:
    if getattr(probed, "__unittest_skip__", False):
        return getattr(probed, "__unittest_skip_why__", "") or "skipped"
    if getattr(probed, "__unittest_expecting_failure__", False):
        return "expected to fail"
    return None
