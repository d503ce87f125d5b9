"""The schemas of torch's ops: committed facts of the supported releases, and facts of the installed torchgen.

This module does not import torch.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib.util
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from torchgen.model import FunctionSchema

FOLDER = Path(__file__).parent / "releases"


@dataclass(frozen=True)
class Native:
    """One native function of one release: a line of its facts (see facts.py)."""

    schema: str
    keys: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()

    def __str__(self) -> str:
        """The line of the facts."""
        return "\t".join([self.schema, " ".join(sorted(self.keys)), " ".join(sorted(self.marks))]).rstrip("\t")

    @property
    def name(self) -> str:
        return self.schema.partition("(")[0]

    @cached_property
    def func(self) -> FunctionSchema:
        """The schema, parsed by the installed torchgen.

        Raises:
            RuntimeError: the schema has a type that the installed release does not know.
        """
        return FunctionSchema.parse(self.schema.removeprefix(f"{self.library}::"))

    @property
    def library(self) -> str:
        """The library that defines the operator; empty for torch."""
        return self.name.rpartition("::")[0]

    @property
    def composite(self) -> bool:
        """Whether torch decomposes the op above autograd."""
        return "CompositeImplicitAutograd" in self.keys

    @property
    def decomposes(self) -> bool:
        """Whether torch decomposes the op below autograd, so that it needs no lowering."""
        return not self.keys.isdisjoint({"CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"})

    @property
    def is_view(self) -> bool:
        return "view" in self.marks

    @property
    def differentiated(self) -> bool:
        """Whether autograd has a formula for the op."""
        return "formula" in self.marks

    @property
    def delegate(self) -> str:
        """The structured overload that has the kernels; empty if there is none."""
        return next((m.removeprefix("delegate:") for m in self.marks if m.startswith("delegate:")), "")


@dataclass(frozen=True, eq=False)
class Schemas:
    """The native functions of one or several releases. The newest release that has an overload describes it."""

    functions: dict[str, Native]
    release: str
    earlier: Mapping[str, dict[str, Native]] = field(default_factory=dict)  # by overload and release, if different

    def __getitem__(self, name: str) -> Native:
        return self.functions[name]

    def __contains__(self, name: str) -> bool:
        return name in self.functions

    def __iter__(self) -> Iterator[Native]:
        return iter(self.functions.values())

    def candidates(self, name: str) -> str:
        """Similar names to suggest in a message about an unknown one."""
        return ", ".join(difflib.get_close_matches(name, self.functions, 5)) or "native_functions.yaml"

    @cached_property
    def variants(self) -> dict[FunctionSchema, list[Native]]:
        """Overloads that differ only in the destination of the result, by their common signature."""
        groups: dict[FunctionSchema, list[Native]] = {}
        for f in self:
            groups.setdefault(f.func.signature(), []).append(f)
        return groups

    @cached_property
    def bases(self) -> dict[str, list[Native]]:
        """All overloads by base name: `add` for `add_.Tensor`."""
        groups: dict[str, list[Native]] = {}
        for f in self:
            groups.setdefault(f.func.name.name.base, []).append(f)
        return groups

    def joined(self, schemas: Iterable[str]) -> Schemas:
        """Add operators of libraries, whose schemas the specs state. A schema that does not parse is skipped."""
        found = {}
        for native in map(Native, schemas):
            with contextlib.suppress(AssertionError, RuntimeError, ValueError):
                native.func  # noqa: B018 (parses)
                found[native.name] = native
        return replace(self, functions=self.functions | found) if found else self

    def composite(self, name: str) -> bool:
        return self.functions[name].composite

    def decomposes(self, name: str) -> bool:
        return self.functions[name].decomposes


def parse(lines: Iterable[str], release: str) -> Schemas:
    """Parse the schemas of one release from its facts."""
    functions = {}
    for line in lines:
        schema, keys, marks = (*line.rstrip("\n").split("\t"), "", "")[:3]
        native = Native(schema, frozenset(keys.split()), frozenset(marks.split()))
        functions[native.name] = native
    return Schemas(functions, release)


def minor(release: str) -> str:
    """`2.15` for `2.15.0+cu130`: patch releases do not change schemas."""
    return ".".join(re.split(r"[.+]", release)[:2])


def facts(release: str) -> Path:
    """The path of the committed facts of a release."""
    return FOLDER / f"torch-{minor(release)}.tsv"


def releases() -> list[str]:
    """The supported releases, that is, those with committed facts, oldest first."""
    found = [path.stem.removeprefix("torch-") for path in FOLDER.glob("torch-*.tsv")]
    return sorted(found, key=lambda r: [int(n) for n in r.split(".")])


@lru_cache(maxsize=8)
def committed(release: str) -> Schemas:
    """The schemas of a supported release."""
    return parse(facts(release).read_text(encoding="utf-8").splitlines(), minor(release))


@lru_cache(maxsize=1)
def supported() -> Schemas:
    """Every overload of the supported releases; the specs are checked against them."""
    held = [committed(release) for release in reversed(releases())]
    functions = {name: native for one in reversed(held) for name, native in one.functions.items()}
    earlier: dict[str, dict[str, Native]] = {}
    for one in held:
        for name, native in one.functions.items():
            if (native.schema, native.composite) != (functions[name].schema, functions[name].composite):
                earlier.setdefault(name, {})[one.release] = native
    return replace(Schemas(functions, f"{releases()[0]} to {releases()[-1]}"), earlier=earlier)


def packaged() -> Path:
    """The folder of torch's YAML files in the installed torchgen."""
    spec = importlib.util.find_spec("torchgen")
    if spec is None or spec.origin is None:
        raise RuntimeError("torchgen: not installed; expected the package that comes with torch")
    return Path(spec.origin).parent / "packaged"


def installed_release() -> str:
    """The version of the installed torch, such as `2.15.0`."""
    try:
        return version("torch").partition("+")[0]
    except PackageNotFoundError:
        return "unknown"


@lru_cache(maxsize=1)
def installed() -> Schemas:
    """The schemas of the installed torch, read from its own files and not from the committed facts (1.5 s)."""
    from tenax.codegen.facts import lines

    return parse(lines(packaged()), installed_release())
