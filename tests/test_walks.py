"""docs/walks.md lists functions that exist, and calls pass the functions that docs/architecture.md explains."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .walks import PAGE, WALKS, record, walks_of

RUNTIME = Path(__file__).parent.parent / "runtime"

# What every walk must pass, in this order: a part of docs/architecture.md, "What a call passes". The rest of a list may
# differ between machines and interpreters.
FIRST = {
    "`torch.add(x, y)`": """
        kernel, Dispatcher.run, encode, build_executable, check_dtypes, infer_results, trace_functions,
        Dispatcher.is_fast, load, Signature.lowering, Executable.finish, new_tensor""",
    "`x[1:3] = 0`": """
        scalar_tensor, as_strided, copy, kernel, Dispatcher.run, encode, build_executable, store, write, Cell.replace,
        Dispatcher.returned""",
    "`tenax.jit(step)`": """
        CompiledFunction.__call__, StateGraph.__init__, OptimizerStateInit.__init__, trace_step,
        OutputDescriber.describe, trace_backward, CompiledStep.__init__, Restriction.__init__, Guard.__init__,
        CompiledStep._compile, CompiledStep.call, HostScript.play, AotCall.into, Writes.store, Effects.apply,
        OutputBuilder.make""",
    '`torch.compile(model, backend="tenax")`': """
        backend, _compiled, CompiledGraph.__init__, CompiledGraph.__call__, GraphProgram.trace, GraphOutputs.record,
        AotCall._direct, GraphOutputs.make""",
}
LATER = {
    "`torch.add(x, y)`": "kernel, FreshCell.__init__",
    "`x[1:3] = 0`": "scalar_tensor, as_strided, copy, kernel, MutationEpoch.advance",
    "`tenax.jit(step)`": """
        CompiledFunction.__call__, CompiledStep.find, Guard.failure, CellBinding.find, CompiledStep.call,
        HostScript.play, Donation.protect, AotCall.into, Writes.store, Effects.apply, OutputBuilder.make""",
    '`torch.compile(model, backend="tenax")`': """
        boxed.call, CompiledGraph.__call__, ParameterCache.among, GraphProgram.__call__, AotCall.__call__,
        GraphOutputs.make""",
}


def functions_of(path: Path) -> Iterator[str]:
    """The qualified names of the functions of a module, those in functions included, and of its dataclasses."""

    def visit(node: ast.AST, prefix: str) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                yield prefix + child.name
                yield from visit(child, f"{prefix}{child.name}.")
            else:
                yield from visit(child, prefix)

    yield from visit(ast.parse(path.read_text()), "")


@pytest.mark.parametrize(("title", "call"), WALKS)
def test_a_call_passes_the_functions_that_the_architecture_explains(title: str, call: str) -> None:
    for lines, wanted in zip(record(call), (FIRST[title], LATER[title]), strict=True):
        entered = iter([line.rpartition(" ")[2] for line in lines])
        for name in wanted.replace("\n", " ").split(","):
            assert name.strip() in entered, f"{name.strip()} was not entered, or earlier, in {lines}"


def test_the_later_call_of_an_operation_enters_two_functions_and_three_that_count() -> None:
    kernel, *counting, end = [line.rpartition(" ")[2] for line in record("torch.add(x, y)")[1]]
    assert (kernel, end) == ("kernel", "FreshCell.__init__")
    assert counting == ["counting.counted", "EagerProgram.is_due", "has_one_tier"]  # until good code takes over


def test_the_functions_that_the_page_names_exist() -> None:
    defined = {path: {*functions_of(RUNTIME / path)} for path, _ in walks_of(PAGE.read_text()) if path != "fast path"}
    for path, name in walks_of(PAGE.read_text()):
        if path != "fast path":
            owner = name.rpartition(".")[0]
            # A dataclass and a namedtuple define their own constructors.
            assert name in defined[path] or owner in defined[path], f"{path} has no {name}: run python -m tests.walks"


def test_the_page_has_a_list_for_each_call() -> None:
    titles = re.findall(r"^## (.*), (?:first call|later calls)$", PAGE.read_text(), re.M)
    assert titles == [title for title, _ in WALKS for _ in range(2)]
