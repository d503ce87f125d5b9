"""The runtime's layers point one way: a module imports from its own layer and from lower ones, never in a circle."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.helpers.processes import run

RUNTIME = Path(__file__).parents[2] / "runtime"

# Lowest first. What stands in one set is one layer; modules outside of packages are named by themselves.
LAYERS = (
    {
        "releases",
        "changes",
        "patches",
        "_torch",
        "_jax",
        "_jax_coordinator",
        "errors",
        "tracebacks",
        "dtypes",
        "float32_products",
        "platforms",
        "words",
        "kernels",
        "generated",
    },
    {"xla"},
    {"storage"},
    {"trace"},
    {"dispatch"},
    {"aten"},
    {"functional"},
    {
        *("_jit", "_lazy", "compile", "export", "interop", "sparse", "debug", "checkpoint", "profiler", "compat"),
        *("sharding", "data", "distributed", "planning", "integrations"),
    },
    {"device", "install"},
    {"", "cli", "doctor"},
)
RANK = {part: rank for rank, layer in enumerate(LAYERS) for part in layer}
USERS = LAYERS[7]

# Users of the layers below know nothing of each other, except for these.
SIDEWAYS = {
    ("compile", "interop"),  # a call of call_jax is a node of a graph
    ("export", "compile"),  # which nodes of a graph are random
    ("compat", "interop"),
    ("compat", "export"),
    ("compat", "debug"),
    ("compat", "device"),  # torchax's Tensor is the device's
    ("compat", "sharding"),
    *(
        ("compat", part) for part in ("_jit", "compile", "data", "distributed", "profiler")
    ),  # torch_xla's names stand over all
    ("distributed", "planning"),  # which hands out its names
    ("planning", "_jit"),  # a plan is a step that is compiled and not run
    ("planning", "sharding"),
    ("profiler", "device"),  # which it synchronizes
    ("_jit", "_lazy"),  # `tenax.explain` explains both
    ("compat", "_lazy"),  # PyTorch/XLA's step barrier
    ("integrations", "_jit"),  # steps of trainers
}


def modules() -> dict[str, Path]:
    """The modules of the runtime by their names below `tenax`."""
    found = {}
    for path in RUNTIME.rglob("*.py"):
        parts = path.relative_to(RUNTIME).with_suffix("").parts
        if parts[0] != "autoload":
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@functools.cache
def nodes_of(name: str) -> list[ast.AST]:
    return [*ast.walk(ast.parse(MODULES[name].read_text()))]


def imports(name: str) -> Iterator[tuple[str, int]]:
    """The modules of tenax that a module imports anywhere, also for type checkers alone, with the line."""
    path = MODULES[name]
    package = name.split(".") if path.name == "__init__.py" and name else name.split(".")[:-1]
    for node in nodes_of(name):
        if isinstance(node, ast.Import):
            yield from ((a.name.removeprefix("tenax."), node.lineno) for a in node.names if a.name.startswith("tenax."))
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = package[: len(package) - node.level + 1] + (node.module or "").split(".")
            elif (node.module or "").split(".")[0] == "tenax":
                base = (node.module or "").split(".")[1:]
            else:
                continue
            module = ".".join(part for part in base if part)
            for alias in node.names:
                inner = f"{module}.{alias.name}".lstrip(".")
                yield (inner if inner in MODULES else module), node.lineno


def part_of(module: str) -> str:
    return module.partition(".")[0]


def faults(name: str) -> Iterator[str]:
    """The imports of a module that point up, or sideways where that is not allowed."""
    own = part_of(name)
    for module, line in imports(name):
        other = part_of(module)
        where = f"runtime/{MODULES[name].relative_to(RUNTIME)}:{line} imports tenax.{module}"
        if (own, other) in SIDEWAYS or own == other:
            continue
        if RANK[other] > RANK[own]:
            yield f"{where}, which is of a higher layer"
        elif own in USERS and other in USERS:
            yield f"{where}, which is of the same layer"


def test_modules_import_from_their_own_layer_and_lower_ones() -> None:
    found = [fault for name in sorted(MODULES) for fault in faults(name)]
    assert not found, "\n".join(found)


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {
        n: {m for m, _ in imports(n) if m in MODULES and m != n} for n in MODULES if part_of(n) not in ("", "kernels")
    }
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path[path.index(name) :], name))
        if name not in done:
            for other in sorted(graph.get(name, ())):
                visit(other, (*path, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


def test_no_class_name_stands_twice_in_the_package() -> None:
    found: dict[str, list[str]] = {}
    for name in MODULES:
        for node in nodes_of(name):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(name)
    twice = {name: places for name, places in found.items() if len(places) > 1}
    assert not twice, twice


def test_a_folder_of_tests_is_named_after_the_folder_that_it_tests() -> None:
    root = RUNTIME.parent
    folders = {p.relative_to(root / "tests").parts[0] for p in (root / "tests").glob("*/**/test_*.py")}
    tested = {p.name.removeprefix("_") for p in (*root.iterdir(), *RUNTIME.iterdir()) if p.is_dir()}
    assert folders - tested == {"ecosystem", "harness", "structure"}


def test_a_bare_import_of_torch_is_thin() -> None:
    program = "import sys, torch; print(*(m for m in sys.modules if m.split('.')[0] in ('tenax', 'jax', 'ml_dtypes')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = [m.removeprefix("tenax").lstrip(".") for m in done.stdout.split()]
    assert set(loaded) <= MODULES.keys()
    lines = sum(len(MODULES[m].read_text().splitlines()) for m in loaded)
    assert lines <= 1210, f"`import torch` imports {lines} lines of the runtime; expected 1210 at most"


EAGER = """
import sys, torch, tenax
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).to("jax")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model(torch.randn(3, 4, device="jax")).square().mean()
loss.backward()
optimizer.step()
loss.item()
print(*sorted(m for m in sys.modules if m == "tenax" or m.startswith("tenax.")))
"""


def test_an_eager_process_is_thin() -> None:
    output = run(EAGER).stdout
    loaded = {m.removeprefix("tenax").lstrip(".") for m in output.split()}
    unwanted = {m for m in loaded if part_of(m) in USERS | {"functional"}}
    assert not unwanted, f"an eager program imports {sorted(unwanted)}"
    runtime = [m for m in loaded if part_of(m) in {"storage", "trace", "dispatch", "aten", "device", "install", ""}]
    lines = sum(len(MODULES[m].read_text().splitlines()) for m in runtime)
    assert lines <= 6523, f"an eager program imports {lines} lines of the runtime; expected 6523 at most"
    compilation = sum(len(MODULES[m].read_text().splitlines()) for m in loaded if part_of(m) == "xla")
    assert compilation <= 1176, f"an eager program imports {compilation} lines for compilation; expected 1176 at most"
