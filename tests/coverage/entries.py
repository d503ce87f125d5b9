"""Entries: the rows of torch's test databases of operators, modules and optimizers, under one name."""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

SUITES = ("op_db", "python_ref_db", "foreach_db", "module_db", "optim_db")

# The checks of each database, in the column order of results files; `checks` implements them.
OP_CHECKS = (
    *("forward", "reference", "gradient", "gradgrad", "forward_ad", "vmap", "inplace", "out", "noncontiguous"),
    *("errors", "pure"),
)
CHECKS: dict[str, tuple[str, ...]] = {
    "op_db": OP_CHECKS,
    "python_ref_db": ("forward", "out", "noncontiguous", "errors"),
    "foreach_db": ("forward", "gradient", "forward_ad", "inplace", "noncontiguous"),
    "module_db": ("forward", "gradient", "gradgrad", "errors", "pure"),
    "optim_db": ("forloop", "foreach", "fused", "capturable", "differentiable", "errors"),
}

# The dtypes of torch.
DTYPES = tuple(dict.fromkeys(value for value in vars(torch).values() if isinstance(value, torch.dtype)))
# The first of these that an entry supports is its primary dtype, in which every check runs.
PRIMARY = (torch.float32, torch.complex64, torch.int64, torch.bool)

# Families by the name of the entry; the first matching prefix decides.
FAMILIES = (
    ("linalg.", "linalg"),
    ("fft.", "fft"),
    ("stft", "fft"),
    ("istft", "fft"),
    ("special.", "special"),
    ("nn.functional.", "nn.functional"),
    ("masked.", "masked"),
    ("signal.", "signal"),
    ("_foreach_", "foreach"),
    ("torch.ops.aten.", "aten"),
)
# The family of entries that match neither table; `plan.collect` replaces it by the spec file of the ops they reach.
OTHERS = "tensor"
KINDS = {
    "UnaryUfuncInfo": "pointwise unary",
    "BinaryUfuncInfo": "pointwise binary",
    "ReductionOpInfo": "reduction",
    "SpectralFuncInfo": "fft",
    "ElementwiseUnaryPythonRefInfo": "pointwise unary",
    "ElementwiseBinaryPythonRefInfo": "pointwise binary",
    "ReductionPythonRefInfo": "reduction",
    "SpectralFuncPythonRefInfo": "fft",
}


@dataclass(frozen=True, eq=False)
class Entry:
    """One row of one database; `key` is `<suite>/<name>`. Each row has one object, so entries compare by identity."""

    suite: str
    name: str
    info: Any

    def __post_init__(self) -> None:
        if self.suite not in SUITES:
            raise ValueError(f"entry {self.name}: unknown suite {self.suite!r}; expected one of {', '.join(SUITES)}")

    @property
    def key(self) -> str:
        return f"{self.suite}/{self.name}"

    @property
    def checks(self) -> tuple[str, ...]:
        return CHECKS[self.suite]

    @property
    def family(self) -> str:
        """The family that the dashboard filters by."""
        if self.suite == "module_db":
            return "modules"
        if self.suite == "optim_db":
            return "optimizers"
        name = self.name.removeprefix("_refs.")
        for prefix, family in FAMILIES:
            if name.startswith(prefix):
                return family
        return KINDS.get(type(self.info).__name__, OTHERS)

    def dtypes(self) -> tuple[torch.dtype, ...]:
        """Dtypes that torch lists for CPU or CUDA, in a stable order, the primary one first."""
        if self.suite == "optim_db":
            listed = {torch.float32, torch.float64}
        else:
            listed = set(self.info.supported_dtypes("cpu")) | set(self.info.supported_dtypes("cuda"))
        ordered = sorted(listed, key=_dtype_order)
        primary = next((d for d in PRIMARY if d in listed), ordered[0] if ordered else None)
        return () if primary is None else (primary, *(d for d in ordered if d != primary))

    def on_cpu(self, dtype: torch.dtype) -> bool:
        """Whether torch lists the dtype for CPU; if not, CPU torch may be unable to compute a reference."""
        return self.suite == "optim_db" or dtype in self.info.supported_dtypes("cpu")

    def differentiable(self, dtype: torch.dtype) -> bool:
        """Whether torch lists the dtype for backward on CPU or CUDA."""
        if self.suite in ("module_db", "optim_db"):
            return True
        if not (dtype.is_floating_point or dtype.is_complex):
            return False
        info = self.info
        return dtype in info.supported_backward_dtypes("cpu") or dtype in info.supported_backward_dtypes("cuda")


def dtype_name(dtype: torch.dtype) -> str:
    """`float32` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


def _dtype_order(dtype: torch.dtype) -> tuple[int, int, str]:
    kind = 0 if dtype.is_floating_point else 1 if dtype.is_complex else 3 if dtype is torch.bool else 2
    return kind, -dtype.itemsize if kind < 2 else dtype.itemsize, str(dtype)


def _databases() -> dict[str, Callable[[], list[Any]]]:
    """Loaders by suite: importing a database takes seconds, so each is imported only when it is used."""

    def invocations() -> Any:
        from torch.testing._internal import common_methods_invocations, common_utils
        from torch.testing._internal.opinfo import core

        # For each sample, torch searches the stack for a test case of `unittest` and reads the source of all frames.
        common_utils.extract_test_fn = core.extract_test_fn = lambda: None  # type: ignore[attr-defined]
        return common_methods_invocations

    def ops() -> list[Any]:
        return list(invocations().op_db)

    def refs() -> list[Any]:
        return list(invocations().python_ref_db)

    def foreach() -> list[Any]:
        kinds = ("unary", "binary", "pointwise", "reduce", "other")
        return [info for kind in kinds for info in getattr(invocations(), f"foreach_{kind}_op_db")]

    def modules() -> list[Any]:
        from torch.testing._internal.common_modules import module_db

        return list(module_db)

    def optims() -> list[Any]:
        from torch.testing._internal.common_optimizers import optim_db

        return list(optim_db)

    return dict(zip(SUITES, (ops, refs, foreach, modules, optims), strict=True))


@functools.cache
def suite(name: str) -> tuple[Entry, ...]:
    """All entries of one database, in torch's order."""
    infos = _databases()[name]()
    return tuple(Entry(name, getattr(info, "full_name", None) or info.name, info) for info in infos)


@functools.cache
def entry(key: str) -> Entry:
    """The entry with this key; raises `KeyError` if the installed torch has none."""
    for candidate in suite(key.partition("/")[0]):
        if candidate.key == key:
            return candidate
    raise KeyError(f"{key}: no such entry in torch {torch.__version__}")


def select(suites: tuple[str, ...] = SUITES, only: str | None = None) -> tuple[Entry, ...]:
    """Entries of the suites whose name or key matches one of the patterns, which are separated by commas."""
    chosen = tuple(e for name in suites for e in suite(name))
    if not only:
        return chosen
    patterns = [p.strip() for p in only.split(",") if p.strip()]
    return tuple(e for e in chosen if any(_matches(e, p) for p in patterns))


def _matches(candidate: Entry, pattern: str) -> bool:
    """Whether a shell pattern matches the name or key, or a plain word matches a part of the name between dots."""
    if any(c in pattern for c in "*?[") or "/" in pattern:
        return fnmatch.fnmatchcase(candidate.name, pattern) or fnmatch.fnmatchcase(candidate.key, pattern)
    return f".{pattern}." in f".{candidate.name}."
