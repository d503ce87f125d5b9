"""Random programs of views, writes, lists and state agree with CPU torch; `make fuzz` runs many more."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import islice, product
from typing import Any

import pytest
import torch

import tenax
from tenax.coverage import cli, mutation, mutation_modes, mutation_search, stateful, stateful_programs
from tenax.coverage.mutation_modes import Outcome, Program
from tenax.trace import async_errors

SHAPE = [((2, 3), torch.float32)]


COUNTS = {"eager": 10, "known": 10, "lazy": 10, "jit": 10, "t2j": 8, "compile": 5, "stateful": 10, "chain": 10}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("mode", "count"), COUNTS.items())
def test_random_programs_agree_with_cpu_torch(mode: str, count: int) -> None:
    outcomes = [*islice(mutation_search.search(seed=3, modes=(mode,)), count)]
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
    found = mutation_search.shrink(mutation_modes.run(program, "jit"), lambda p: mutation_modes.run(p, "jit"))
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
    setup = (stateful_programs.OPTIMIZERS[0],)
    program = stateful_programs.Program(setup, (body,), ((change,) if change else (), (), ()))
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
    monkeypatch.setattr(mutation_search, "search", lambda *_, **__: iter(outcomes))
    result = CliRunner().invoke(cli.app, ["mutate", "--modes", "jit,t2j"])
    assert result.exit_code == 1
    assert "jit: 2 programs, 0 differ, 50.0% refused" in result.output
    assert "t2j: 1 programs, 1 differ, 0.0% refused" in result.output
    assert CliRunner().invoke(cli.app, ["mutate", "--modes", "jti"]).exit_code == 2


def _index(x: torch.Tensor, *values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int64, device=x.device)


EXPANDED = {
    "index_fill_ of another axis": lambda x: x.index_fill_(1, _index(x, 0), 7),
    "index_fill_ of the expanded axis": lambda x: x.index_fill_(0, _index(x, -1), 7),
    "index_fill_ of an empty part": lambda x: x[:, 1:1].index_fill_(1, _index(x, 0), 7),
    "index_fill_ of nothing": lambda x: x.index_fill_(0, _index(x), 7),
    "index_fill_ out of bounds": lambda x: x.index_fill_(0, _index(x, 2), 7),
    "index_fill_ with a tensor": lambda x: x.index_fill_(1, _index(x, 2), torch.tensor(7.0, device=x.device)),
    "masked_fill_": lambda x: x.masked_fill_(torch.eye(2, 3, device=x.device) > 0, float("nan")),
    "masked_fill_ of a row": lambda x: x.masked_fill_(x[0] > 1, 7),
    "tril_": lambda x: x.tril_(),
    "triu_": lambda x: x.triu_(1),
    "index_put_": lambda x: x.index_put_((_index(x, 0, 1), _index(x, 0, 2)), x.new_tensor([7, 8])),
    "index_put_ of rows": lambda x: x.index_put_((_index(x, 0),), x.new_tensor([7, 8, 9])),
    "index_put_ that adds": lambda x: x.index_put_((_index(x, 0, 1),), x.new_ones(2, 3), accumulate=True),
    "index_put_ out of bounds": lambda x: x.index_put_((_index(x, 2),), x.new_ones(1, 3)),
    "an item of a column": lambda x: x.__setitem__((slice(None), _index(x, 1)), 7),
    "an item of a mask": lambda x: x.__setitem__(x > 1, 7),
    "fill_diagonal_": lambda x: x.fill_diagonal_(7),
    "add_": lambda x: x.add_(1),
    "index_add_": lambda x: x.index_add_(0, _index(x, 0), x[:1].clone()),
}


@pytest.mark.parametrize("write", EXPANDED.values(), ids=list(EXPANDED))
def test_writes_to_expanded_tensors_are_those_of_the_cpu(write):
    def outcome(device):
        x = torch.arange(6.0, device=device).view(2, 3)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                write(x[1:].expand(2, 3))
            except (RuntimeError, IndexError) as error:
                return type(error)
        return str(x.tolist()), {
            str(w.message).partition(" (Triggered")[0] for w in caught if "Use of" in str(w.message)
        }

    (ours, theirs) = outcome("jax"), outcome("cpu")
    if isinstance(theirs, tuple) and len(theirs[1]) > 1:  # torch 2.13 puts by filling, and warns of both
        theirs[1].discard(next(w for w in theirs[1] if "masked_fill_" in w))
    assert ours == theirs


def test_a_deprecated_write_to_an_expanded_tensor_warns_at_every_call():
    x = torch.ones(1, 3, device="jax").expand(2, 3)
    for _ in range(3):
        with pytest.warns(UserWarning, match="masked_fill_ on expanded tensors is deprecated"):
            x.masked_fill_(x > 0, 1)


def test_the_last_of_several_values_for_an_element_of_an_expanded_axis_stays():
    x = torch.ones(1, 3, device="jax").expand(2, 3)
    with pytest.warns(UserWarning, match="index_put_ on expanded tensors is deprecated"):
        x[:, _index(x, 0)] = torch.tensor([[1.0], [2.0]], device="jax")
    assert x.tolist() == [[2, 1, 1]] * 2


def test_fills_of_expanded_tensors_find_their_place_at_any_offset():
    x = torch.zeros(4, 1, device="jax")
    for i in range(1, 4):
        x[i].expand(3).fill_(i)
    assert x.flatten().tolist() == [0, 1, 2, 3]


def test_an_element_is_put_into_a_view_of_itself():
    x = torch.ones((), device="jax")
    y = x.reshape(-1)
    y[...] = x
    y[0] = x
    assert y.tolist() == [1]
    with pytest.raises(RuntimeError, match="unsupported operation"):
        y.copy_(x)  # on the CPU too


@pytest.mark.parametrize("write", ["copy_", "add_"])
def test_views_of_one_element_overlap_as_on_the_cpu(write: str) -> None:
    def outcomes(device: str) -> list[object]:
        shapes = [((), ()), ((1,), (1,)), ((1,), (3,)), ((1, 1), (1, 1)), ((1, 1), (4, 1))]
        found: list[object] = []
        for target, source in product(shapes, shapes):
            x = torch.arange(4.0, device=device)
            try:
                getattr(x.as_strided(*target, 1), write)(x.as_strided(*source, 1))
            except RuntimeError as error:
                found.append(str(error))
            found.append(x.tolist())
        return found

    assert outcomes("jax") == outcomes("cpu")


def test_a_tensor_is_copied_onto_its_own_places():
    x = torch.arange(3.0, device="jax").expand(2, 3)
    assert x.copy_(x).copy_(x.detach()).tolist() == [[0, 1, 2]] * 2


@pytest.mark.parametrize("chosen", [False, True])
def test_a_mask_without_axes_chooses_all_or_nothing(chosen: bool) -> None:
    found = []
    for device in ("cpu", "jax"):
        x, one = torch.arange(4.0, device=device), torch.ones((), device=device)
        found.append(x.index_put_((torch.tensor(chosen, device=device),), one).tolist())
    assert found[0] == found[1]


def test_programs_whose_values_torch_leaves_undefined_are_told() -> None:
    def undefined(line: str) -> bool:
        shapes = (((3, 4), torch.float32), ((3, 4), torch.float32))
        lines = ("p.append(p[0].narrow(1, 0, 1))", line)
        return mutation_modes._is_undefined(mutation_modes.Program(lines, False, shapes))

    assert undefined("p[0].add_(p[2])")
    assert undefined("torch._foreach_addcmul_([p[1], p[0]], [p[1], p[2]], [p[1], p[1]], 2)")
    assert not undefined("torch._foreach_add_([p[0], p[2]], [p[0], p[2]])")
    assert not undefined("p[1].add_(p[2])")
    assert not undefined("p[0].add_(p[0])")
    assert not undefined("p[0].view(-1)[1:].copy_(p[0].view(-1)[:-1])")  # CPU torch refuses it


def test_all_failed_checks_of_a_call_that_raised_are_forgotten() -> None:
    failed = async_errors.Assertion("IndexError", "index out of range in self", "")
    holds = torch.zeros(1, device="jax").jax() > 0
    for _ in range(3):
        async_errors.record_assertions(holds, (failed,))
    mutation_modes._forget_failed_checks()
    tenax.synchronize()
