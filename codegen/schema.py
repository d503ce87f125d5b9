"""torch's own account of its ops, read from the installed torchgen; torch itself is not imported."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from torchgen.gen import parse_native_yaml
from torchgen.model import DispatchKey, FunctionSchema, NativeFunction, OperatorName


@dataclass(frozen=True, eq=False)
class Schemas:
    """Every native function of one torch release, those that torch generates itself included."""

    functions: dict[str, NativeFunction]
    keys: dict[str, frozenset[str]]
    release: str
    derivatives: frozenset[str] = frozenset()  # the overloads that autograd has a formula for

    def __getitem__(self, name: str) -> NativeFunction:
        return self.functions[name]

    def __contains__(self, name: str) -> bool:
        return name in self.functions

    def __iter__(self) -> Iterator[NativeFunction]:
        return iter(self.functions.values())

    @cached_property
    def variants(self) -> dict[FunctionSchema, list[NativeFunction]]:
        """Overloads that compute the same and differ in where the result goes, by their common signature."""
        groups: dict[FunctionSchema, list[NativeFunction]] = {}
        for f in self:
            groups.setdefault(f.func.signature(), []).append(f)
        return groups

    @cached_property
    def bases(self) -> dict[str, list[NativeFunction]]:
        """All overloads by name without overload and in-place mark: `add` for `add_.Tensor`."""
        groups: dict[str, list[NativeFunction]] = {}
        for f in self:
            groups.setdefault(f.func.name.name.base, []).append(f)
        return groups

    def composite(self, name: str) -> bool:
        """Whether torch carries the op out by other ops before autograd sees it."""
        return self.functions[name].has_composite_implicit_autograd_kernel

    def decomposes(self, name: str) -> bool:
        """Whether torch carries the op out by other ops after autograd, so that it needs no lowering."""
        f = self.functions[name]
        return f.has_composite_explicit_autograd_kernel or f.has_composite_explicit_autograd_non_functional_kernel


def packaged() -> Path:
    """The folder of native_functions.yaml in the installed torchgen."""
    spec = importlib.util.find_spec("torchgen")
    if spec is None or spec.origin is None:
        raise RuntimeError("torchgen: not installed; expected the package that comes with torch")
    return Path(spec.origin).parent / "packaged" / "ATen" / "native"


def read(functions: Path, tags: Path, release: str) -> Schemas:
    """The schemas of a native_functions.yaml and its tags.yaml."""
    parsed = parse_native_yaml(str(functions), str(tags))
    keys: dict[OperatorName, set[str]] = {}
    for key, index in parsed.backend_indices.items():
        if isinstance(key, DispatchKey):
            for name in index.index:
                keys.setdefault(name, set()).add(key.name)
    named = {str(f.func.name): f for f in parsed.native_functions}
    return Schemas(named, {str(name): frozenset(held) for name, held in keys.items()}, release)


@lru_cache(maxsize=1)
def installed() -> Schemas:
    """The schemas of the installed torch (1.5 s: nothing is cached on disk, so nothing can be stale)."""
    folder = packaged()
    try:
        release = version("torch").partition("+")[0]
    except PackageNotFoundError:
        release = "unknown"
    derivatives = formulas((folder.parents[1] / "autograd" / "derivatives.yaml").read_text(encoding="utf-8"))
    return replace(read(folder / "native_functions.yaml", folder / "tags.yaml", release), derivatives=derivatives)


def formulas(text: str) -> frozenset[str]:
    """The overloads of a derivatives.yaml, but for those with a formula for some other kind of tensor only."""
    entries = re.split(r"^- name: ", text, flags=re.MULTILINE)[1:]
    return frozenset(e.partition("(")[0] for e in entries if "\n  dispatch:" not in e or "\n    Default:" in e)
