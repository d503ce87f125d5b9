"""Private names of torch and JAX stand in the seam modules alone, and say what is missing on an untested release."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from packaging.requirements import Requirement

from tenax._jax import OPTIONS
from tenax._torch.attributes import ATTRIBUTES, missing_attributes
from tenax.changes import PATCHES
from tenax.releases import TESTED, private_names

RUNTIME = Path(__file__).parents[2] / "runtime"
FILES = sorted(
    p
    for p in RUNTIME.rglob("*.py")
    if p.relative_to(RUNTIME).parts[0] not in ("_torch", "_jax.py", "_jax_coordinator.py", "changes")
)
LIBRARIES = {"torch", "jax", "jaxlib"}
LISTED = {name for names in ATTRIBUTES.values() for name in names}
NAMES = {name for row in PATCHES for name in row.names.split()}
PATCHED = {path for row in PATCHES for path in row.paths}
# Documented names of Python's own classes that start with an underscore.
PYTHON = {"_replace", "_fields", "_fields_", "_asdict", "_name_", "_value_", "_value2member_map_", "_member_map_"}
# Names of trainers' own classes, which the integrations read or override.
TRAINERS = {
    *("_mixed_precision", "_prepare_inputs"),  # of Accelerate and transformers
    *("_precision_flag", "_precision_input", "_precision_instance", "_precision_plugin_flag"),  # of Lightning
}
# Other strings that look like private names and are none of torch or JAX.
WORDS = {
    "_operator",  # a module of Python
    "_lru_list_elem",  # a class of its functools
    "_make",  # a method of its named tuples
    "_resize",  # the base name of operators
    "_t",  # the end of a C++ type
}


def is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def dotted(node: ast.AST) -> list[str] | None:
    """The names of `a.b.c`, or None where its root is no name."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if names and isinstance(node, ast.Name) else None


def roots(tree: ast.Module) -> dict[str, str]:
    """What the names of a module that come from a library, or are bound to a part of one, stand for."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {
                (a.asname or a.name.partition(".")[0]): (a.name if a.asname else a.name.partition(".")[0])
                for a in node.names
            }
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {(a.asname or a.name): f"{node.module}.{a.name}" for a in node.names}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names = dotted(node.value)
            if names and names[0] in found:
                found[node.targets[0].id] = ".".join([found[names[0]], *names[1:]])
    return found


def own_names(tree: ast.Module) -> set[str]:
    """The underscored names that a module defines: functions, classes, variables and attributes of `self`."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            found.add(node.attr)
    return set(filter(is_private, found))


EVERY_OWN = {name for path in FILES for name in own_names(tree_of(path))}
KNOWN = LISTED | EVERY_OWN | WORDS | NAMES | TRAINERS


def is_operator(name: str) -> bool:
    packet, _, overload = name.partition(".")
    found = getattr(torch.ops.aten, packet, None)
    return found is not None and (not overload or hasattr(found, overload))


def faults(tree: ast.Module, where: str) -> Iterator[str]:
    """Each use of a private name in a module outside of the seams."""
    known, own = roots(tree), own_names(tree)
    documentation = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    for node in ast.walk(tree):
        at = f"{where}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Import):
            yield from (f"{at} imports {a.name}" for a in node.names if is_library(a.name) and has_private(a.name))
        elif isinstance(node, ast.ImportFrom) and not node.level and is_library(node.module or ""):
            names = [f"{node.module}.{a.name}" for a in node.names]
            yield from (f"{at} imports {name}" for name in names if has_private(name))
        elif isinstance(node, ast.Attribute) and is_private(node.attr):
            names = dotted(node)
            root = names[0] if names else None
            if root in known and is_library(known[root]):
                full = ".".join([known[root], *names[1:]])
                if not is_operator_path(full):
                    yield f"{at} uses {full}"
            elif root in known or node.attr in PYTHON | TRAINERS | LISTED | NAMES | own:
                continue
            elif not (root in ("self", "cls") and node.attr in EVERY_OWN):
                yield f"{at} uses the attribute {ast.unparse(node)}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            text = node.value.replace("torch._assert_async", "")  # which messages advise users to call
            if re.search(r"\b(torch|jax)(\.\w+)*\._[a-z]", text):
                if text not in PATCHED:
                    yield f"{at} names {text!r}"
            elif re.fullmatch(r"_[a-z]\w*", text) and text not in KNOWN and not is_operator(text):
                yield f"{at} names {text!r}"


def is_library(name: str) -> bool:
    return name.partition(".")[0] in LIBRARIES


def has_private(name: str) -> bool:
    return any(map(is_private, name.split(".")))


def is_operator_path(full: str) -> bool:
    """Whether a path is that of an operator, whose name may start with an underscore, and which torch has."""
    parts = full.split(".")
    if parts[:2] != ["torch", "ops"] or has_private(".".join(parts[4:])):
        return False
    return is_operator(".".join(parts[3:5])) if parts[2:3] == ["aten"] else True


def test_private_names_of_torch_and_jax_stand_in_the_seams_alone() -> None:
    found = [fault for path in FILES for fault in faults(tree_of(path), str(path.relative_to(RUNTIME)))]
    assert not found, "\n".join([*found, "expected a name of tenax._torch or tenax._jax, or a row of their tables"])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("from torch._prims_common import wrappers", "x.py:1 imports torch._prims_common.wrappers"),
        ("import jax._src.core", "x.py:1 imports jax._src.core"),
        ("import torch\nkey = torch._C.DispatchKey", "x.py:2 uses torch._C"),
        ("from torch import nn\nnn.Module._apply = 1", "x.py:2 uses torch.nn.Module._apply"),
        ("def f(tensor): return tensor._weakref()", "x.py:1 uses the attribute tensor._weakref"),
        ("def f(module): return getattr(module, '_is_hf_initialized')", "x.py:1 names '_is_hf_initialized'"),
        ("path = 'torch._dynamo.config'", "x.py:1 names 'torch._dynamo.config'"),
        ("import torch\nop = torch.ops.aten._no_such_op", "x.py:2 uses torch.ops.aten._no_such_op"),
    ],
)
def test_each_way_to_a_private_name_is_seen(text: str, fault: str) -> None:
    assert fault in list(faults(ast.parse(text), "x.py"))


def test_every_private_attribute_of_the_table_exists_and_is_used() -> None:
    assert missing_attributes() == []
    text = "\n".join(path.read_text() for path in FILES)
    unused = [name for name in sorted(LISTED) if not re.search(rf"\b{name}\b", text)]
    assert not unused, f"{unused} stand in the table of tenax._torch.attributes and are used nowhere"


def test_every_compiler_option_of_xla_stands_in_the_table() -> None:
    strings = {
        node.value
        for path in FILES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert {s for s in strings if re.fullmatch(r"xla_(cpu|gpu|llvm|backend|disable|allow)_\w+", s)} == {*OPTIONS}


def test_a_missing_private_name_is_an_import_error_that_names_it() -> None:
    releases = r"expected a tested release: torch 2\.13, 2\.14, 2\.15"
    with (
        pytest.raises(ImportError, match=rf"torch\._C\._no_such_name is missing from torch 2\.99; {releases}"),
        private_names("torch", "2.99"),
    ):
        torch._C._no_such_name  # type: ignore[attr-defined] # noqa: B018
    with (
        pytest.raises(ImportError, match=r"_none.* is missing from torch 2\.99"),
        private_names("torch", "2.99"),
    ):
        from torch._prims_common import _none  # type: ignore[attr-defined] # noqa: F401


def python(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "", "TENAX_AUTOLOAD": "0", **environment}
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=120)


UNTESTED_TORCH = "import torch; torch.__version__ = '2.99.0'; import tenax; print(torch.device('jax'))"
UNTESTED_JAX = (
    "from importlib import metadata; found = metadata.version; "
    "metadata.version = lambda name: '0.99.1' if name == 'jax' else found(name); "
)


def test_an_untested_release_is_refused_at_import() -> None:
    done = python(UNTESTED_TORCH)
    assert done.returncode == 1
    assert done.stderr.strip().endswith(
        "ImportError: tenax: torch 2.99.0 is installed; expected a tested release: torch 2.13, 2.14, 2.15. "
        "Set TENAX_ALLOW_UNTESTED=1 to try it nevertheless"
    )
    done = python(UNTESTED_JAX + "import tenax")
    assert (
        "ImportError: tenax: jax 0.99.1 is installed; expected a tested release: jax 0.10, 0.11, 0.12. Set"
        in done.stderr
    )


def test_an_untested_release_is_let_through_where_the_user_asks() -> None:
    done = python(UNTESTED_TORCH, TENAX_ALLOW_UNTESTED="1")
    assert (done.returncode, done.stdout) == (0, "jax\n")


def test_an_untested_release_does_not_stop_a_bare_import_of_torch() -> None:
    done = python(UNTESTED_JAX + "import torch; print(torch.ones(1).item())", TENAX_AUTOLOAD="1")
    assert (done.returncode, done.stdout) == (0, "1.0\n")
    assert "device 'jax' could not be registered: tenax: jax 0.99.1 is installed" in done.stderr


def test_the_metadata_of_the_package_admits_the_tested_releases_alone() -> None:
    project = tomllib.loads((RUNTIME.parent / "pyproject.toml").read_text())["project"]
    for library, releases in TESTED.items():
        (requirement,) = (r for r in map(Requirement, project["dependencies"]) if r.name == library)
        numbers = [tuple(map(int, release.split("."))) for release in releases]
        candidates = {(major, minor) for major, minor in numbers for minor in range(minor - 2, minor + 3)}
        admitted = {n for n in candidates if requirement.specifier.contains(f"{n[0]}.{n[1]}.1")}
        assert admitted == set(numbers), f"{requirement} admits {sorted(admitted)}; expected {releases}"
