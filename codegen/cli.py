"""The commands of the generator: `python -m tenax.codegen`, or `tenax codegen`."""

from __future__ import annotations

import contextlib
import difflib
import itertools
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from tenax.codegen import dtypes, promotion, release, schema, stub
from tenax.codegen import watch as watching
from tenax.codegen.build import Build, build
from tenax.codegen.explain import explain as paragraphs
from tenax.codegen.fault import SpecError
from tenax.codegen.schema import supported
from tenax.codegen.status import STATUSES
from tenax.codegen.tree import PACKAGE, Tree

app = typer.Typer(help="Render ops_spec/ to generated/.", add_completion=False, pretty_exceptions_enable=False)
_out = Console(soft_wrap=True, highlight=False, markup=False)
_err = Console(soft_wrap=True, highlight=False, markup=False, stderr=True)

Overload = Annotated[str, typer.Argument(help="The name of an overload, such as add.Tensor.")]
Root = Annotated[Path, typer.Option(help="Root of the repository.", show_default=False)]


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if specs or output are wrong.")] = False,
    only: Annotated[list[str] | None, typer.Option(help="Write only these families and the table.")] = None,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Whenever a spec or kernel changes, regenerate and rerun the checks of the edited entries."
        ),
    ] = False,
    root: Root = PACKAGE,
) -> None:
    """Rewrite the files of generated/ that differ from the specs."""
    context.obj = root
    if context.invoked_subcommand is None:
        tree = Tree.at(root)
        known = [path.stem for path in [*tree.spec_files(), tree.autocast] if path.exists()]
        for family in only or []:
            if family not in known:
                raise typer.BadParameter(f"no ops_spec/{family}.yaml; expected one of {', '.join(known)}")
        if watch:
            with contextlib.suppress(KeyboardInterrupt):
                watching.watch(tree, lambda: _generated(root, only or []), _out.print, itertools.count())
            raise typer.Exit
        raise typer.Exit((_check if check else _generate)(_built(root), only or []))


def _built(root: Path) -> Build:
    try:
        return build(Tree.at(root), supported())
    except SpecError as error:
        _err.print(str(error))
        raise typer.Exit(1) from None


def _generated(root: Path, only: list[str]) -> int:
    """Generate; 1 if there are faults, or if the specs cannot be read."""
    try:
        return _generate(build(Tree.at(root), supported()), only)
    except SpecError as error:
        _err.print(str(error))
        return 1


def _report(found: Build, only: list[str]) -> int:
    """Print the faults and return their number; with `only`, count those of the named families."""
    for fault in found.faults:
        _err.print(str(fault))
    names = {found.tree.spec_name(family) for family in only}
    return sum(not only or f.file in names for f in found.faults)


def _generate(found: Build, only: list[str]) -> int:
    faults = _report(found, only)
    found.tree.generated.mkdir(exist_ok=True)
    for path, text in found.stale(only).items():
        if text is None:
            path.unlink()
        else:
            # Replace it atomically: a program that imports it meanwhile sees the old or the new file.
            fresh = path.with_suffix(".tmp")
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(path)
        _out.print(f"{'removed' if text is None else 'wrote'} generated/{path.name}")
    counts = _counts(found)
    _out.print(", ".join(f"{counts[s]} {s}" for s in STATUSES) + (f"; {_number(faults)}" if faults else ""))
    return 1 if faults else 0


def _number(faults: int) -> str:
    return f"{faults} fault{'s' if faults > 1 else ''}"


def _check(found: Build, only: list[str]) -> int:
    faults = _report(found, only)
    stale = {} if faults else found.stale(only)  # the files follow from the specs
    for path, text in stale.items():
        name = f"generated/{path.name}"
        _err.print(f"{name}: differs from the specs; expected the output of `python -m tenax.codegen`")
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        lines = difflib.unified_diff(old.splitlines(), (text or "").splitlines(), name, "the specs", lineterm="", n=1)
        for line in list(lines)[:20]:
            _err.print(f"  {line}")
    return 1 if faults or stale else 0


def _counts(found: Build) -> dict[str, int]:
    held = [s.status for s in found.statuses.values()]
    return {status: held.count(status) for status in STATUSES}


@app.command()
def status(
    context: typer.Context,
    kind: Annotated[str, typer.Argument(help=f"List the overloads with this status: {', '.join(STATUSES)}.")] = "",
) -> None:
    """Count the native functions by status, or list the overloads of one status."""
    found = _built(context.obj)
    if kind:
        if kind not in STATUSES:
            raise typer.BadParameter(f"`{kind}`; expected one of {', '.join(STATUSES)}")
        listed = [f"{s.name}  {s.reason}".rstrip() for s in found.statuses.values() if s.status == kind]
        _out.print("\n".join(listed) or f"0 {kind}")
        return
    table = Table("status", "overloads", "meaning")
    for name, count in _counts(found).items():
        table.add_row(name, str(count), STATUSES[name])
    Console().print(table)


@app.command()
def explain(context: typer.Context, overload: Overload) -> None:
    """Show the schema, spec, generated code and variants of an overload."""
    found = _built(context.obj)
    if overload not in found.schemas:
        near = found.schemas.candidates(overload)
        raise typer.BadParameter(f"torch has no overload {overload}; expected one of {near}")
    for paragraph in paragraphs(overload, found):
        _out.print(paragraph)


@app.command()
def new(
    context: typer.Context,
    overload: Overload,
    family: Annotated[
        str, typer.Option(help="Spec file, without .yaml; by default the one with related entries.")
    ] = "",
) -> None:
    """Append a stub entry for an overload to the spec file with related entries."""
    found = _built(context.obj)
    try:
        f = stub.functional(overload, found.schemas)
        name = str(f.func.name)
        held = next((e for e in found.entries if e.name == name), None)
        if held is not None:
            raise stub.NoStubError(
                f"{name}: has an entry at {held.where}:{held.line}; expected an overload without one"
            )
        chosen = stub.known(family, found.tree) if family else stub.family(f, found.entries)
    except stub.NoStubError as error:
        _err.print(str(error))
        raise typer.Exit(1) from None
    known = dtypes.supported(f.func.name.name.base)
    content = stub.text(f, chosen, dtypes.words(known), promotion.promotion(name) if known else "")
    stub.append(found.tree, chosen, content)
    _out.print(f"{found.tree.spec_name(chosen)}: added\n{content}".rstrip())
    if not known:
        _err.print(f"{name}: not in torch's database of operators; expected `dtypes:` if torch rejects some dtypes")


@app.command()
def diff(
    context: typer.Context,
    old: Annotated[str, typer.Argument(help="Release, torch wheel, file of facts, or `installed`.")],
    new: Annotated[str, typer.Argument(help="The newer release, in the same form.")] = "installed",
) -> None:
    """List the overloads that a torch release adds, changes and removes, and the consequences for the specs."""
    try:
        listed = release.changes(release.load(old), release.load(new), Tree.at(context.obj))
    except release.ReleaseError as error:
        _err.print(str(error))
        raise typer.Exit(1) from None
    for change in listed:
        _out.print(str(change))
    touched = sum(c.entry is not None for c in listed)
    counts = {kind: sum(c.kind == kind for c in listed) for kind in ("added", "changed", "removed")}
    _out.print(", ".join(f"{n} {kind}" for kind, n in counts.items()) + f"; {touched} touch a spec")


@app.command()
def facts(
    source: Annotated[str, typer.Argument(help="Release, torch wheel, or `installed`.")] = "installed",
) -> None:
    """Write the operator facts of a torch release to codegen/releases/, which makes tenax support that release."""
    try:
        held = release.load(source)
    except release.ReleaseError as error:
        _err.print(str(error))
        raise typer.Exit(1) from None
    path = schema.facts(held.release)
    path.write_text("".join(f"{native}\n" for native in held), encoding="utf-8")
    _out.print(f"wrote codegen/releases/{path.name}: {len(held.functions)} overloads")
