"""Numbers among the arguments of a compiled function: one program serves all of them where it can, and every call gives
what Python gives."""

from __future__ import annotations

import functools
import math
import numbers
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch.func import jacrev, vmap

import tenax
from tenax.errors import TraceError
from tests.helpers.agreement import close
from tests.helpers.tolerances import ROUNDED

BETAS = (0.25, 0.5, -1.5, 2.0, 0.0, -0.0, 1e-3, math.inf)
PLACES = (0, 1, 2, -1, 1)


def given() -> torch.Tensor:
    return torch.linspace(-2, 2, 12, device="jax").view(3, 4)


def assigned(x: torch.Tensor, i: int) -> torch.Tensor:
    x[i] = x[i] * 2
    x[:, i] += 7
    return x.clone()


def chosen(x: torch.Tensor, n: float) -> torch.Tensor:
    return x.sin() if n > 0.3 else x * n


NUMBERS = (int, float)


def is_number(value: Any) -> bool:
    return isinstance(value, NUMBERS) and value.__class__ in NUMBERS and isinstance(value, numbers.Real)


@functools.singledispatch
def halved(value: Any) -> Any:
    raise NotImplementedError


@halved.register
def _(value: int) -> float:
    return value / 2


def batch_of_gradients(x: torch.Tensor, n: float) -> torch.Tensor:
    x = x[0, 0].detach().requires_grad_()
    y = x * n
    return vmap(lambda g: torch.autograd.grad(y, x, g, retain_graph=True)[0])(torch.ones(4, device="jax"))


def normalized_on_the_cpu(x: torch.Tensor, alpha: float) -> torch.Tensor:
    return x + F.local_response_norm(torch.ones(1, 2, 4), 2, alpha=alpha)[0, 0].to("jax")


def doubled(x: torch.Tensor, n: int) -> torch.Tensor:
    for _ in range(50):  # whose value is computed once for each step
        n = n + n
    return x * 2 if n > 2**51 else x - 1


def written(x: torch.Tensor, i: int) -> torch.Tensor:
    x[i].add_(1)
    return x + 0


ONE_PROGRAM: dict[str, tuple[Callable[..., Any], tuple[Any, ...], int]] = {
    "a weight": (lambda x, b: x * (1 - b) + b * x.cos(), BETAS, 2),
    "a bound": (lambda x, b: x.clamp(-b, b).masked_fill(x > b, b), (0.25, 0.5, 1.0), 2),
    "a number of an operator": (lambda x, b: torch.lerp(F.leaky_relu(x, b), torch.add(x, x, alpha=b), b), BETAS[:4], 2),
    "other precisions": (lambda x, b: (x.double() * b, x.half() * b, (x > 0) * b), (0.1, 0.2, 0.3), 2),
    "numbers of 64 bits": (lambda x, n: torch.arange(3, device="jax") * n, (1, 2, 2**31, 2**40, -(2**33)), 2),
    "arithmetic": (lambda x, n: x * (n**2 + 2**n + max(n, 2) - n // 2 + n % 3) / n + round(n / 2), (1, 2, 3, 7), 2),
    "a place": (lambda x, i: x[i].sum() + x.select(1, i), PLACES, 2),
    "a place that is written": (assigned, PLACES, 2),
    "a choice": (chosen, (0.1, 0.2, 0.4, 0.5, 0.25), 3),
    "the number itself": (lambda x, n: (x * n, n, n + 1, -n / 2), (1, 2, 3, -4), 2),
    "a long sum": (doubled, (1, 2, 3, 1, 4), 3),
    "a number of Python's": (lambda x, n: x * n if is_number(n) else x, (0.5, 0.25, 3.0), 2),
    "a number of Python's in a library": (lambda x, n: x * n if np.isscalar(n) else x, (1, 2, 3), 2),
    "a number of a registered class": (lambda x, n: x * halved(n), (1, 2, 3), 2),
    "computed numbers of Python's": (lambda x, n: x * sum(m for m in (n + 1, n / 2, -n) if is_number(m)), (1, 2, 3), 2),
    "elements of a batch": (lambda x, n: vmap(vmap(lambda z: z * n + z.clone().sub_(n) / n))(x), (1, 2, 3, -4), 2),
    "Jacobians of elements": (lambda x, n: vmap(jacrev(lambda z: (z * n + 1) / n))(x[0]), (2, 3, 4), 2),
    "a batch of gradients": (batch_of_gradients, BETAS[:4], 2),
}
# Each value needs a program of its own, because the program or the result depends on it.
OWN_PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "a size": (lambda x, n: x[:, :n] @ torch.ones(n, 2, device="jax"), (1, 2, 3)),
    "a loop": (lambda x, n: sum([x] * n) + sum(x for _ in range(n)), (1, 2, 3)),
    "a function of C": (lambda x, b: x * math.exp(b), (0.1, 0.2, 0.3)),
    "a key": (lambda x, n: x * {1: 3.0, 2: 5.0, 3: 7.0}[n], (1, 2, 3)),
    "text": (lambda x, n: x * len(f"{n}") + float(f"{n:.2f}"), (1.0, 22.0, 333.0)),
    "its type": (lambda x, n: x * n if type(n) is float else x, (0.1, 0.2, 0.3)),
    "one of several types": (lambda x, n: x * {int: n, float: 7}[type(n)], (1, 2, 3)),
    "a shape": (lambda x, n: (x * n, torch.broadcast_shapes((n,), (1,)), torch.Size([n])), (1, 2, 3)),
    "a slice": (lambda x, n: (x * n, slice(n, 2 * n)), (1, 2, 3)),
    "a view": (lambda x, i: x[:, i], (0, 1, 2)),
    "a write to a view": (written, (0, 1, 2)),
    "an exponent": (lambda x, b: x.abs() ** b, (2.0, 3.0, 0.5)),
    "an axis": (lambda x, n: x.sum(n), (0, 1, -1)),
    "integers beyond 64 bits": (lambda x, n: x * float(n**n), (2, 3, 100)),
    "an operation on the CPU": (lambda x, b: x + (torch.ones(4) * b - 1 / b).to("jax"), (0.1, 0.2, 0.3)),
    "a 0-d tensor of the CPU": (lambda x, n: x * (torch.tensor(1.0) + n), (1, 2, 3)),
    "a batch on the CPU": (lambda x, b: x + vmap(lambda z: z * b)(torch.ones(4)).to("jax"), (0.1, 0.2, 0.3)),
    "a function on the CPU": (normalized_on_the_cpu, (0.1, 0.2, 0.3)),
    "an integer that a float does not hold": (lambda x, n: x.long() + n, (2**53 + 1, 2**53 + 3, 2**53 + 5)),
}


def same(found: Any, expected: Any) -> None:
    """Compare values, dtypes and strides of trees of tensors."""
    found, expected = (r if isinstance(r, tuple) else (r,) for r in (found, expected))
    for a, b in zip(found, expected, strict=True):
        if not isinstance(b, torch.Tensor):
            assert type(a) is type(b) and a == b
            continue
        close(a, b, ROUNDED, nan=True)
        assert a.stride() == b.stride()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ONE_PROGRAM)
def test_one_program_serves_all_numbers(name: str) -> None:
    function, numbers, programs = ONE_PROGRAM[name]
    compiled = tenax.jit(function)
    for number in numbers:
        same(compiled(given(), number), function(given(), number))
    assert len(compiled.history) == programs


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", OWN_PROGRAMS)
def test_a_program_that_needs_the_value_is_traced_for_each(name: str) -> None:
    function, numbers = OWN_PROGRAMS[name]
    compiled = tenax.jit(function)
    for _ in range(2):
        for number in numbers:
            same(compiled(given(), number), function(given(), number))
    assert len(compiled.history) == len(numbers)


def test_a_function_that_a_program_returns_knows_the_number() -> None:
    compiled = tenax.jit(lambda x, n: (x * n, lambda: n))
    for n in (1, 2, 3, 2):
        found = compiled(given(), n)[1]()
        assert found == n and type(found) is int


def test_what_torch_asserts_about_a_number_is_checked() -> None:
    def function(x: torch.Tensor, n: int) -> torch.Tensor:
        return F.rms_norm(x, (n,), torch.ones(4, device="jax"))

    compiled = tenax.jit(function)
    for n in (4, 3, 4, 2):
        if n == 4:
            same(compiled(given(), n), function(given(), n))
        else:
            with pytest.raises(RuntimeError, match=f"normalized_shape ?=? ?\\[{n}\\]"):
                compiled(given(), n)


def test_an_operation_on_the_cpu_refuses_the_unknown_value_of_a_tensor() -> None:
    compiled = tenax.jit(lambda x: x + (torch.ones(4) * x.sum().item()).to("jax"))
    with pytest.raises(TraceError, match="a float: the value of a tensor is not known"):
        compiled(given())


def test_the_result_of_a_place_is_the_view_that_python_gives() -> None:
    x, row = given(), tenax.jit(lambda x, i: x[i])
    for i in (0, 1, 2):
        row(x, i).fill_(i)
    assert x.tolist() == [[0] * 4, [1] * 4, [2] * 4]


@pytest.mark.parametrize("function", [lambda x, n: x / (1 / n), lambda x, n: x * (5 % n), lambda x, n: x * (5 // n)])
@pytest.mark.parametrize("number", [int, float])
def test_arithmetic_that_python_refuses_raises(function: Any, number: type) -> None:
    compiled, x = tenax.jit(function), given()
    for n in (1, 2, 3):
        same(compiled(x, number(n)), function(x, number(n)))
    with pytest.raises(ZeroDivisionError):
        compiled(x, number(0))
    same(compiled(x, number(4)), function(x, number(4)))


def test_a_training_step_takes_a_weight_of_its_loss() -> None:
    def losses(device: str, compile: Callable[[Any], Any]) -> tuple[list[float], Any]:
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 1)
        model.to(device)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)

        def step(x: torch.Tensor, options: dict[str, float], *, rate: float = 1.0) -> torch.Tensor:
            optimizer.zero_grad()
            loss = model(x).square().mean() * options["beta"] * min(1.0, rate)
            loss.backward()
            optimizer.step()
            return loss.detach()

        call = compile(step)
        x = torch.linspace(-1, 1, 12, device=device).view(3, 4)
        return [call(x, {"beta": 0.1 * i}, rate=0.3 * i).item() for i in range(1, 8)], call

    found, compiled = losses("jax", tenax.jit)
    close(torch.tensor(found), torch.tensor(losses("cpu", lambda f: f)[0]), ROUNDED)
    assert len(compiled.history) == 3  # the numbers of the first call, all others, and those beyond the bound


class Trainer:
    """A step that counts."""

    def __init__(self, device: str) -> None:
        torch.manual_seed(0)
        self.model = torch.nn.Linear(3, 1)
        self.model.to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)
        self.steps, self.weight, self.state = 0, 0.5, {"seen": 0}
        self.every: list[Any] = []

    def step(self, x: torch.Tensor) -> tuple[torch.Tensor, int, float]:
        self.steps += 1
        self.state["seen"] += len(x)
        self.optimizer.zero_grad()
        loss = self.model(x).square().mean() * min(1.0, self.steps / 5) + self.weight
        if self.steps % 4 == 0:
            loss = loss * 2
        loss.backward()
        self.optimizer.step()
        return loss.detach(), self.steps, self.state["seen"] / self.steps


def test_a_counter_needs_no_program_for_each_value() -> None:
    def run(device: str, compile: Callable[[Any], Any]) -> tuple[list[Any], Any]:
        trainer, found = Trainer(device), []
        call, x = compile(trainer.step), torch.linspace(-1, 1, 15, device=device).view(5, 3)
        for i in range(16):
            loss, *numbers = call(x)
            found.append([loss.item(), *numbers, trainer.steps, trainer.state["seen"]])
            if i == 9:
                trainer.steps = 100
            trainer.weight = 0.5 + i // 8
        return found, call

    found, compiled = run("jax", tenax.jit)
    expected, _ = run("cpu", lambda f: f)
    close(torch.tensor(found), torch.tensor(expected), ROUNDED)
    assert [type(n) for row in found for n in row] == [type(n) for row in expected for n in row]
    reasons = [trace.reason for trace in compiled.history]
    assert len(reasons) < 8 and "steps was 0 and is 1" in reasons[1]


_calls = 0


def _counting_in_a_module(x: torch.Tensor) -> torch.Tensor:
    global _calls
    _calls += 1
    return x * _calls


def _counting_in_a_variable() -> Callable[[torch.Tensor], torch.Tensor]:
    calls = 0

    def count(x: torch.Tensor) -> torch.Tensor:
        nonlocal calls
        calls += 1
        return x * calls

    return count


@pytest.mark.parametrize("function", [_counting_in_a_module, _counting_in_a_variable()], ids=["global", "nonlocal"])
def test_a_variable_counts(function: Any) -> None:
    compiled, x = tenax.jit(function), torch.ones(1, device="jax")
    assert [compiled(x).item() for _ in range(6)] == [1, 2, 3, 4, 5, 6]
    assert len(compiled.history) == 2


def test_a_number_that_becomes_something_else_is_noticed() -> None:
    held = types.SimpleNamespace(scale=1)
    compiled, x = tenax.jit(lambda x: x * held.scale), torch.ones(2, device="jax")
    for scale in (1, 2, 3, 1.5, True, torch.tensor(4.0), 2**60, 5, 6.5):
        held.scale = scale
        found = compiled(x)
        same(found, x * scale)
    del held.scale
    with pytest.raises(AttributeError, match="scale"):
        compiled(x)


def test_a_hook_of_backward_counts_beside_a_step_that_counts() -> None:
    def run(compile: Callable[[Any], Any]) -> list[Any]:
        held = types.SimpleNamespace(forward=0, backward=0)
        weight, found = torch.ones(2, device="jax", requires_grad=True), []

        def count(gradient: torch.Tensor) -> torch.Tensor:
            held.backward += 1
            return gradient * held.forward

        def forward(x: torch.Tensor) -> torch.Tensor:
            held.forward += 1
            y = weight * x * held.forward
            y.register_hook(count)
            return y.sum()

        call = compile(forward)
        for _ in range(4):
            weight.grad = None
            call(torch.ones(2, device="jax")).backward()
            found.append((weight.grad.tolist(), held.forward, held.backward))
        return found

    assert run(tenax.jit) == run(lambda f: f)


def test_a_derivative_outside_takes_the_number() -> None:
    weight = torch.ones(3, device="jax", requires_grad=True)
    compiled = tenax.jit(lambda b: (weight * b).sum() * b)
    for b in (0.5, 1.5, 2.5):
        weight.grad = None
        compiled(b).backward()
        close(weight.grad, torch.full((3,), b * b), ROUNDED)
    assert len(compiled.history) == 2


@pytest.mark.parametrize("start", [2**31 - 2, 2**40, -(2**50), 2**53 - 3])
def test_a_tensor_of_a_large_number_keeps_all_of_its_bits(start: int) -> None:
    counter = {"n": start}

    def count() -> Any:
        counter["n"] += 1
        return torch.tensor(counter["n"], device="jax"), torch.tensor([counter["n"]], device="jax")

    compiled = tenax.jit(count)
    for i in range(1, 5):
        assert [x.item() for x in compiled()] == [start + i] * 2


def test_programs_whose_constants_differ_in_the_sign_of_zero_are_two() -> None:
    state = {"sign": 0.0}
    compiled = tenax.jit(lambda x: torch.copysign(x, torch.tensor(state["sign"], device="jax")))
    for sign in (0.0, -0.0, 0.0, -0.0):
        state["sign"] = sign
        assert compiled(torch.ones(2, device="jax")).tolist() == [math.copysign(1, sign)] * 2


def test_an_error_of_the_function_is_that_of_a_constant() -> None:
    compiled = tenax.jit(lambda x, n: x.view(n, -1))
    for n in (1, 2, 3):
        same(compiled(given(), n), given().view(n, -1))
    with pytest.raises(RuntimeError, match="shape '\\[5, -1\\]' is invalid for input of size 12"):
        compiled(given(), 5)
    with pytest.raises(TraceError, match=r"test_passed_numbers.py:\d+"):
        tenax.jit(lambda x, n: x * int(x.sum()) * n)(given(), 1)


@pytest.mark.parametrize("numbers", [(math.nan, math.nan, 1.0, math.nan), (0.0, -0.0, 0.0)])
def test_a_number_that_a_program_reads_may_be_nan_or_have_a_sign(numbers: tuple[float, ...]) -> None:
    holder = types.SimpleNamespace()

    def replaced(x: torch.Tensor) -> torch.Tensor:
        return torch.ones_like(x).copysign(torch.nan_to_num(x * math.nan, holder.number))

    compiled, x = tenax.jit(replaced), given()
    for holder.number in numbers:
        close(compiled(x), replaced(x.cpu()), nan=True)


def test_a_number_stays_an_input_beside_one_whose_value_is_needed() -> None:
    compiled = tenax.jit(lambda x, size, beta: (x * beta).expand(size, 2))
    counts = {"place": 0, "steps": 0}

    @tenax.jit
    def counted(x: torch.Tensor) -> torch.Tensor:
        counts["place"] = (counts["place"] + 1) % 3
        counts["steps"] += 1
        return x * len("x" * counts["place"]) + counts["steps"]

    one = torch.ones(2, device="jax")
    for i in range(12):
        close(compiled(one, 1 + i % 3, i / 7), torch.full((1 + i % 3, 2), i / 7), ROUNDED)
        assert counted(one).tolist() == [(i + 1) % 3 + i + 1] * 2
    assert len(compiled.history) <= 6 and len(counted.history) <= 6


def test_a_number_that_one_branch_needs_stays_an_input(capsys: pytest.CaptureFixture[str]) -> None:
    @tenax.jit
    def step(x: torch.Tensor, i: int) -> torch.Tensor:
        if i % 10 == 9:
            print(f"{i}")
        return x * i

    for i in range(40):
        assert step(torch.ones(2, device="jax"), i).tolist() == [i, i]
    assert capsys.readouterr().out.split() == ["9", "19", "29", "39"]
    assert len(tenax.explain(step).traces) == 6  # as a constant, as an input, and for each printed one


@pytest.mark.parametrize("power", [torch.pow, lambda x, p: torch._foreach_pow([x], p)[0], lambda x, p: x.norm(p=p)])
def test_powers_share_a_program(power: Any) -> None:
    """Other than those with a formula of their own, such as square and square root."""
    exponents = [0.3, 0.4, 0.6, 2.0, 0.7, 0.5, 0.8, 0.9, 1.3, 1.7]
    step, x = tenax.jit(power), torch.tensor([0.5, 2.0, 3.0])
    for p in exponents:
        close(step(x.to("jax"), p), power(x, p))
    assert len(tenax.explain(step).traces) <= 4


def test_a_tensor_filled_with_a_number_has_the_dtype_of_the_number() -> None:
    filled = tenax.jit(lambda x, n: (torch.full((2,), n, device=x.device), torch.full((), n > 1, device=x.device)))
    for n in (1, 2, 2**24 + 1, 0.5, 1.5, 2.5):
        close(filled(torch.ones(2, device="jax"), n), (torch.full((2,), n), torch.tensor(n > 1)))


def test_the_integers_of_a_program_are_not_computed_beyond_64_bits() -> None:
    scaled = tenax.jit(lambda x, n: x * 2 ** min(n, 40))
    for n in (1, 2, 3, 10**9, 50):  # 2 ** 10**9 would take minutes
        close(scaled(torch.ones(2, device="jax"), n), torch.full((2,), 2.0 ** min(n, 40)))
