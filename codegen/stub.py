"""Write a first entry for an overload, in the file with related entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from torchgen.model import SchemaKind

from tenax.codegen.schema import Native, Schemas
from tenax.codegen.signature import dropped
from tenax.codegen.spec import Entry
from tenax.codegen.tree import Tree


class NoStubError(Exception):
    """No entry was written; the message explains why to the user."""


def functional(name: str, schemas: Schemas) -> Native:
    """The overload to write an entry for: the functional form, if torch declares one.

    Raises:
        NoStubError: torch has no such overload, or decomposes it.
    """
    if name not in schemas:
        base = name.partition(".")[0].removesuffix("_")
        near = [str(f.func.name) for f in schemas.bases.get(base, []) if f.func.kind() is SchemaKind.functional]
        wanted = ", ".join(near) or schemas.candidates(name)
        raise NoStubError(f"{name}: torch {schemas.release} has no such overload; expected one of {wanted}")
    f = schemas[name]
    for other in schemas.variants[f.func.signature()]:
        if other.func.kind() is SchemaKind.functional and "generated" not in other.marks:
            f = other
    if schemas.composite(str(f.func.name)):
        raise NoStubError(
            f"{f.func.name}: CompositeImplicitAutograd; expected an op that torch does not decompose itself"
        )
    return f


def family(f: Native, entries: Sequence[Entry]) -> str:
    """The spec file with the most related entries: the same base name, or else the same first words.

    Raises:
        NoStubError: no file has a related entry.
    """
    base = f.func.name.name.base
    parts = base.strip("_").split("_")
    for n in range(len(parts), 0, -1):
        head = "_".join(parts[:n])
        found = Counter(e.family for e in entries if f"{e.name.partition('.')[0].strip('_')}_".startswith(f"{head}_"))
        if found:
            return found.most_common(1)[0][0]
    names = ", ".join(sorted({e.family for e in entries}))
    raise NoStubError(f"{base}: no spec file has a related entry; expected --family with one of {names}")


def known(family: str, tree: Tree) -> str:
    """The family, if its spec file exists: a slip in its name must not begin a new one.

    Raises:
        NoStubError: there is no such file.
    """
    names = [path.stem for path in tree.spec_files()]
    if family not in names:
        raise NoStubError(
            f"no {tree.spec_name(family)}; expected one of {', '.join(names)}, or an empty file of that name"
        )
    return family


def text(f: Native, family: str, dtypes: str = "", promote: str = "") -> str:
    """The stub entry as YAML; `dtypes` and `promote` are the values of these keys, omitted if empty."""
    lines = [f"- func: {f.func}"]
    if dtypes:
        lines.append(f"  dtypes: {dtypes}")
    if promote:
        lines.append(f"  promote: {promote}")
    if any(dropped(a) and a.name == "generator" for a in f.func.arguments.flat_non_out):
        lines.append("  random: true")
    return "\n".join([*lines, f"  kernel: {family}.{f.func.name.name.base}", ""])


def append(tree: Tree, name: str, content: str) -> Path:
    """Append an entry to a spec file."""
    path = tree.specs / f"{name}.yaml"
    old = path.read_text(encoding="utf-8").rstrip("\n")
    path.write_text(f"{old}\n\n{content}" if old else content, encoding="utf-8")
    return path
