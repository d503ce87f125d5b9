"""Random programs of views, writes, lists and state agree with CPU torch; `make fuzz` runs many more."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import pytest
import torch

from tenax.coverage import cli, mutation, mutation_modes, stateful
from tenax.coverage.mutation_modes import Outcome, Program

SHAPE = [((2, 3), torch.float32)]


@pytest.mark.parametrize(("mode", "count"), [("eager", 10), ("jit", 30), ("t2j", 15), ("compile", 5), ("stateful", 30)])
def test_random_programs_agree_with_cpu_torch(mode: str, count: int) -> None:
    outcomes = [*islice(mutation_modes.search(seed=3, modes=(mode,)), count)]
    assert not any(o.difference for o in outcomes), "\n\n".join(str(o) for o in outcomes if o.difference)
    assert sum(bool(o.refused) for o in outcomes) <= count // 2


def test_a_lost_write_is_found_and_shrunk() -> None:
    lines = ["p.append(p[0].t())", "p.append(p[0].clone())", "p[1].add_(1 if d == 'cpu' else 2)"]
    found = mutation.run(lines, False, SHAPE, "jax")
    assert found is not None
    shrunk = mutation.shrink(found, "jax")
    assert shrunk.lines == (lines[0], lines[2])
    assert "CPU torch" in str(shrunk)


def test_what_shares_memory_is_compared() -> None:
    a, b = torch.zeros(2), torch.zeros(2)
    assert mutation.compare([a, a], [b, b.clone()]).startswith("storages: [0, 0]; CPU torch: [0, 1]")


def _frozen(function: Callable[..., Any]) -> Callable[..., Any]:
    """A compiler that takes everything for constant."""
    results: list[Any] = []

    def call(*args: Any) -> Any:
        results[:] = results or [function(*args)]
        return results[0]

    return call


@pytest.mark.parametrize(
    ("lines", "change"),
    [
        (("p.append(p[0] * k)",), "k = 3"),
        (("p.append(p[0] * 2)",), "q[0].fill_(5)"),
        (("p.append(p[0].reshape(-1))",), "q[0].t_()"),
        (("p[0].add_(1)",), ""),
    ],
    ids=["closure", "data", "geometry", "write"],
)
def test_a_compiler_that_freezes_is_found_and_shrunk(
    lines: tuple[str, ...], change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(mutation_modes.COMPILED, "jit", _frozen)
    changes = ((change,) if change else (), ("k = 2",))
    program = Program(("p.append(p[0].clone())", *lines), False, SHAPE, changes, captured=True)
    found = mutation_modes.shrink(mutation_modes.run(program, "jit"), lambda p: mutation_modes.run(p, "jit"))
    assert found.difference.startswith("call 2: ")
    assert len(found.program.lines) == len(lines)


@pytest.mark.parametrize(
    ("body", "change"),
    [
        ("y = y * config.gain", "config.gain = 3.0"),
        ("y = m.a(y)", "m.a.weight = m.b.weight"),
        ("m.steps += 1", ""),
        ("seen['h'] = y.detach().mean(0)", "x = x * 2"),
    ],
)
def test_a_compiler_that_freezes_state_is_found(body: str, change: str) -> None:
    setup = (stateful.OPTIMIZERS[0],)
    program = stateful.Program(setup, (body,), ((change,) if change else (), (), ()))
    assert not stateful.run(program).difference
    assert stateful.run(program, _frozen).difference.startswith("call 2: ")


def test_a_refusal_names_a_line_and_changes_nothing() -> None:
    lines = ("p[0].add_(1)", "v = p[0].detach()", "p.append(v)", "v.data = p[0].clone()")
    outcome = mutation_modes.run(Program(lines, False, SHAPE), "jit")
    assert not outcome.difference
    assert f"{mutation_modes.FILE}:6" in outcome.refused


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("raise TraceError('no')", "a TraceError without a line"),
        ("p[0].add_(1); raise NotImplementedError", "changed p[0]"),
    ],
)
def test_a_refusal_without_a_line_or_with_effects_is_found(
    line: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(mutation_modes.COMPILED, "jit", lambda function: function)
    program = Program(("from tenax.errors import TraceError", f"if d == 'jax': {line}"), False, SHAPE)
    assert said in mutation_modes.run(program, "jit").difference


def test_the_command_counts_programs_and_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    outcomes = [Outcome("jit"), Outcome("jit", refused="no"), Outcome("t2j", "p[0]: 1; CPU torch: 2", program="p")]
    monkeypatch.setattr(mutation_modes, "search", lambda *_: iter(outcomes))
    result = CliRunner().invoke(cli.app, ["mutate", "--modes", "jit,t2j"])
    assert result.exit_code == 1
    assert "jit: 2 programs, 0 differ, 50.0% refused" in result.output
    assert "t2j: 1 programs, 1 differ, 0.0% refused" in result.output
    assert CliRunner().invoke(cli.app, ["mutate", "--modes", "jti"]).exit_code == 2
