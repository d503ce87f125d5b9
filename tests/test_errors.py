"""Errors that name the remedy in the words of torch and tenax, where torch or JAX would mislead."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jax
import pytest
import torch

import tenax
from tenax import tracebacks
from tenax.errors import TraceError
from tenax.storage.memory_errors import as_torch_error

HUGE = 1 << 50


@pytest.mark.parametrize(
    "allocate",
    [
        lambda: torch.ones(HUGE, device="jax") * 2,
        lambda: torch.ones(1, device="jax").expand(HUGE).contiguous(),
        lambda: tenax.jit(lambda x: x.expand(HUGE) * 2)(torch.ones(1, device="jax")),
        lambda: torch.compile(lambda x: x.expand(HUGE) * 2, backend="tenax")(torch.ones(1, device="jax")),
    ],
    ids=["fill", "eager", "tenax.jit", "torch.compile"],
)
def test_a_full_memory_is_the_error_of_torch(allocate: object) -> None:
    assert callable(allocate)
    for _ in range(2):  # a first call, and one that was seen before
        with pytest.raises(torch.OutOfMemoryError, match=r"Tried to allocate 4096\.00 TiB\. The process holds arrays"):
            allocate()


def test_other_errors_of_jax_stay() -> None:
    error = jax.errors.JaxRuntimeError("INTERNAL: something else")
    assert as_torch_error(error) is error
    text = str(as_torch_error(jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate")))
    assert text.startswith("JAX out of memory. The process holds arrays of")
    sized = as_torch_error(jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 2048 bytes."))
    assert "Tried to allocate 2.00 KiB" in str(sized)
    assert isinstance(sized.__cause__, jax.errors.JaxRuntimeError)


def test_a_compiled_model_on_the_cpu_is_told_to_move() -> None:
    with pytest.raises(TraceError, match=r'the module that computes, to the device first: \.to\("jax"\)'):
        tenax.jit(torch.nn.Linear(3, 3))(torch.ones(3))


def test_a_number_that_a_compiled_function_keeps_names_its_line() -> None:
    log: list[float] = []

    def step(x: torch.Tensor) -> torch.Tensor:
        log.append(x.sum().item())
        return x * 2

    line = step.__code__.co_firstlineno + 1
    with pytest.raises(TraceError, match=rf"as a Python number.*test_errors\.py:{line}, in step"):
        tenax.jit(step)(torch.ones(3, device="jax"))


FAILING = """
import traceback, torch, tenax
def sizes(x): return x + torch.ones(4, device="jax")
def choice(x): return x if x.sum() > 0 else -x
for function in (sizes, tenax.jit(sizes), tenax.jit(choice)):
    try:
        function(torch.ones(3, device="jax"))
    except Exception as error:
        print(*(frame.name for frame in traceback.extract_tb(error.__traceback__)))
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("full", [False, True])
def test_tracebacks_end_at_the_line_of_the_program(full: bool) -> None:
    environment = {**os.environ, "TENAX_TRACEBACK": "full" if full else ""}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FAILING], env=environment, capture_output=True, text=True, check=True
    )
    frames = [line.split() for line in done.stdout.splitlines()]
    shown = [
        ["<module>", "sizes", "kernel", "call"],
        ["<module>", "__call__", "sizes"],
        ["<module>", "__call__", "choice"],
    ]
    if full:
        assert "infer_results" in frames[0] and "trace_step" in frames[1] and "require_known" in frames[2]
    else:
        assert frames == shown


SHAPES = {
    "mm": lambda d: (lambda a, b: a @ b, torch.ones(2, 4, device=d), torch.ones(3, 2, device=d)),
    "add": lambda d: (lambda a, b: a + b, torch.ones(2, device=d), torch.ones(3, device=d)),
    "conv2d": lambda d: (torch.conv2d, torch.ones(1, 3, 8, 8, device=d), torch.ones(4, 2, 3, 3, device=d)),
    "cat": lambda d: (lambda a, b: torch.cat([a, b]), torch.ones(2, 3, device=d), torch.ones(2, 4, device=d)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_that_do_not_fit_are_told_in_the_words_of_torch_within_traces(name: str) -> None:
    function, *given = SHAPES[name]("cpu")
    with pytest.raises(RuntimeError) as expected:
        function(*given)
    message = re.escape(str(expected.value).splitlines()[0])
    with pytest.raises(RuntimeError, match=message):
        tenax.jit(function)(*SHAPES[name]("jax")[1:])
    with pytest.raises(RuntimeError, match=message):
        tenax.t2j(function)(*(x.numpy() for x in given))


def recorded(call: Callable[[], None]) -> None:
    with tenax.lazy():
        call()
        tenax.sync(wait=True)


def compiled(call: Callable[[], None]) -> None:
    tenax.jit(lambda: call())()
    torch.jax.synchronize()


@pytest.mark.parametrize("run", [recorded, compiled])
def test_an_assertion_keeps_its_text(run: Callable[[Callable[[], None]], None]) -> None:
    holds = torch.zeros((), dtype=torch.bool, device="jax")
    with pytest.raises(RuntimeError, match=r"the loss \{is\} not finite"):
        run(functools.partial(torch._assert_async, holds, "the loss {is} not finite"))


def test_an_error_shows_neither_what_was_handled_before_nor_the_note_of_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracebacks, "FULL", False)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device") as found:
        torch.ones(2, device="jax") + torch.ones(2)
    assert found.value.__context__ is None
    error = ValueError("ours")
    error.add_note("the user's")
    error.add_note(f"{tracebacks._NOTE_OF_JAX} from the traceback")
    assert tracebacks.shortened(error).__notes__ == ["the user's"]


def test_an_error_of_the_program_that_was_handled_before_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracebacks, "FULL", False)

    def handled() -> None:
        try:
            raise KeyError("the user's")
        except KeyError:
            torch.ones(2, device="jax") + torch.ones(2)

    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device") as found:
        handled()
    assert isinstance(found.value.__context__, KeyError)


def test_a_folder_that_hides_the_package_is_named(tmp_path: Path) -> None:
    (tmp_path / "tenax").mkdir()
    (tmp_path / "script.py").write_text("import torch")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    if "site-packages" not in str(tenax.__file__):  # a regular package goes before a folder without one
        assert f"the folder {tmp_path / 'tenax'} hides the package tenax" in done.stderr


def test_tenax_run_runs_scripts_and_modules_and_shows_plain_tracebacks(tmp_path: Path) -> None:
    (tmp_path / "failing.py").write_text("import sys, torch\nprint(torch.ones(1, device='jax'), sys.argv[1:])\n1 / 0")
    for words in (["failing.py"], ["-m", "failing"]):
        command = [str(Path(sys.executable).with_name("tenax")), "run", *words, "--rate", "3"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert "['--rate', '3']" in done.stdout and done.stderr.endswith("ZeroDivisionError: division by zero\n")
        assert "─" not in done.stderr
