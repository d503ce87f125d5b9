"""Explain one overload, from its schema to the generated code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenax.codegen.build import Build
from tenax.codegen.derive import Row
from tenax.codegen.render import Function, has_functions
from tenax.codegen.signature import function_name


def explain(name: str, found: Build) -> Iterator[str]:
    """The paragraphs that `python -m tenax.codegen explain` prints.

    Raises:
        KeyError: torch has no such overload.
    """
    f = found.schemas[name]
    yield f"schema    {f.func}"
    yield f"          kernels: {', '.join(sorted(f.keys)) or f'those of {f.delegate}'}"
    status = found.statuses[name]
    yield f"status    {status.status}" + (f": {status.reason}" if status.reason else "")
    for policy in found.policies:
        if policy.name == name:
            yield f"autocast  {policy.kind}; ops_spec/{found.tree.autocast.name}:{policy.line}"
    row = next((r for r in found.rows if r.name == name), None)
    held = {e.name: e for e in found.entries}
    entry = row.entry if row else held.get(name)
    if entry is not None:
        yield f"spec      {entry.where}:{entry.line}"
        yield _indent(str(entry))
    if row is not None:
        yield from _code(row, found)
    variants = [v.name for v in found.schemas.variants[f.func.signature()] if v is not f]
    if row is not None:
        variants += [r.name for r in found.rows if r.entry is row.entry and r.name not in (*variants, name)]
    for variant in variants:
        held_status = found.statuses[variant]
        yield f"variant   {variant}: {held_status.status}"


def _code(row: Row, found: Build) -> Iterator[str]:
    """The source of the function that computes a row, and its file and line."""
    package, _, module = row.module.partition(".")
    if package == "kernels":
        path = found.tree.kernel(module)
        text = path.read_text(encoding="utf-8")
        node = _functions(text)[row.function]
        yield f"code      runtime/kernels/{module}.py:{node.lineno}, {row.function} (form: {row.form})"
        yield _indent(ast.get_source_segment(text, node) or "")
    else:
        yield f"code      generated/{module}.py, {row.function} (form: {row.form})"
    if has_functions(row.entry, found.context):
        yield _indent(Function(row.entry, found.schemas[row.entry.name].func, found.context).source)
        path = found.tree.generated / f"{row.entry.family}.py"
        name = row.function if package == "generated" else f"{function_name(row.entry.name)}__checks"
        if not path.exists() or name not in _functions(path.read_text(encoding="utf-8")):
            yield f"          generated/{row.entry.family}.py is stale; run `python -m tenax.codegen`"


def _functions(source: str) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def _indent(text: str) -> str:
    return "\n".join(f"          {line}".rstrip() for line in text.rstrip().splitlines())
