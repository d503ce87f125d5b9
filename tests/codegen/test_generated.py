"""What lies in generated/: it resolves, and stands on JAX alone."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import tenax.generated
from tenax.codegen.tree import Tree
from tenax.generated.table import ROWS

FOLDER = Path(tenax.generated.__file__).parent
FAMILIES = sorted(p.stem for p in FOLDER.glob("*.py") if p.stem not in ("__init__", "table"))
BELOW = ("jax", "numpy", "tenax._jax", "tenax.platforms", "tenax.words", "tenax.kernels", "tenax.generated")


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def test_every_row_names_a_function_with_what_the_row_promises() -> None:
    for name, row in ROWS.items():
        lowering = getattr(importlib.import_module(f"tenax.{row.module}"), row.function)
        parameters = inspect.signature(lowering).parameters
        assert row.random == ("rng" in parameters), name
        assert set(row.static) | set(row.writes) <= set(parameters), name
        assert bool(row.checks) == bool(row.conditions), name
        if row.conditions:
            module, _, function = row.conditions.partition(".")
            conditions = getattr(importlib.import_module(f"tenax.generated.{module}"), function)
            assert list(inspect.signature(conditions).parameters) == list(parameters), name
        assert row.form in ("functional", "inplace", "out"), name


def test_a_lowering_is_found_by_its_overload() -> None:
    x = jnp.asarray([1.0, -2.0], jnp.float32)
    for name, wanted in {"add.Tensor": [2.0, -4.0], "dot": 5.0, "mul.Tensor": [1.0, 4.0]}.items():
        assert jax.jit(tenax.generated.lowering(name))(x, x).tolist() == wanted
    with pytest.raises(NotImplementedError, match="add: no lowering; expected one of the overloads"):
        tenax.generated.lowering("add")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_name_of_jax_exists(family: str) -> None:
    known: dict[str, ModuleType] = {"jax": jax, "jnp": jnp, "lax": lax}
    tree = ast.parse((FOLDER / f"{family}.py").read_text())
    for node in ast.walk(tree):
        text = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
        head, _, rest = text.partition(".")
        if head in known and rest.replace(".", "").isidentifier():
            held: object = known[head]
            for part in rest.split("."):
                held = getattr(held, part)


def test_lowerings_import_jax_and_never_torch_or_the_runtime() -> None:
    runtime = Tree.at().runtime
    for path in [runtime / "words.py", *runtime.glob("kernels/*.py"), *FOLDER.glob("*.py")]:
        for name in imports(path):
            package = name if not name.startswith(".") else f"tenax.kernels{name}"
            inside = package in BELOW or package.startswith(tuple(f"{b}." for b in BELOW))
            assert inside or package.partition(".")[0] in sys.stdlib_module_names, f"{path.name} imports {name}"
