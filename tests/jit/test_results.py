"""What compiled functions give back and leave behind: leaves, views, tensors that share memory or change places."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn

import tenax
from tenax.errors import TraceError


def test_a_leaf_that_a_function_makes_is_a_leaf() -> None:
    @tenax.jit
    def make(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, nn.Parameter]:
        leaf = x.sum().requires_grad_()
        return leaf, leaf * 2, nn.Parameter(x[:1])

    leaf, twice, parameter = make(torch.ones(3, device="jax"))
    assert leaf.is_leaf
    assert leaf.requires_grad
    assert isinstance(parameter, nn.Parameter)
    assert parameter.requires_grad
    assert twice.item() == 6
    (3 * twice).backward()
    assert leaf.grad.item() == 6


def test_a_leaf_that_a_function_makes_keeps_its_gradient() -> None:
    @tenax.jit
    def make(x: torch.Tensor) -> nn.Parameter:
        p = nn.Parameter(x * 1)
        (p * x).sum().backward()
        return p

    for i in (2.0, 3.0):
        assert make(torch.full((2,), i, device="jax")).grad.tolist() == [i, i]


def test_what_another_dtype_reads_is_an_input() -> None:
    state = torch.tensor([1.5, -2.0], device="jax")

    @tenax.jit
    def bits(z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.view_as_real(z) * 2, state.view(torch.int32) & 0x7FFFFFFF

    for i in range(3):
        parts, magnitude = bits(torch.tensor([1 + 1j * i], device="jax"))
        assert parts.tolist() == [[2, 2 * i]]
        assert magnitude.view(torch.float32).tolist() == state.abs().tolist()
        state.add_(1)


def test_a_view_of_an_argument_is_one_of_each_call() -> None:
    @tenax.jit
    def views(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.t(), x[0], x.detach(), x

    for i in range(3):
        x = torch.full((2, 3), float(i), device="jax", requires_grad=i == 2)
        turned, row, same, itself = views(x)
        assert turned.tolist() == [[i] * 2] * 3
        assert turned.untyped_storage() is x.untyped_storage()
        assert same.tolist() == x.tolist()
        assert not same.requires_grad
        assert itself is x
    (row * 3).sum().backward()
    assert x.grad.tolist() == [[3] * 3, [0] * 3]


def test_an_argument_that_was_a_captured_tensor_may_be_another() -> None:
    held = torch.ones(2, device="jax")
    add = tenax.jit(lambda x: held.sum() + 10 * x.sum())
    assert [add(x).item() for x in (held, torch.zeros(2, device="jax"), held)] == [22, 2, 22]


class Places:
    """Tensors that share memory, change places and are replaced."""

    def __init__(self, device: str) -> None:
        self.a, self.b = torch.arange(6.0, device=device).view(2, 3), torch.ones(2, 3, device=device)
        self.turned, self.row = self.a.t(), self.a[1]
        self.c = torch.tensor([1 + 2j, 3j], device=device)
        self.kept: dict[str, torch.Tensor] = {"a": torch.ones(3, device=device)}

    def swap(self, x: torch.Tensor) -> None:
        self.a, self.b = self.b, self.a

    def part(self, x: torch.Tensor) -> None:
        self.a = self.a + x
        self.row.mul_(2)

    def turn(self, x: torch.Tensor) -> None:
        self.turned = self.a.t()
        self.a = self.a + x

    def conjugate(self, x: torch.Tensor) -> None:
        self.c = self.c.conj()

    def share(self, x: torch.Tensor) -> None:
        self.kept["b"] = self.kept["a"]
        self.kept["a"] = self.kept["a"] * 2 + x[0]

    def join(self, x: torch.Tensor) -> None:
        self.b = self.a
        self.b.add_(x)


@pytest.mark.parametrize("name", ["swap", "part", "turn", "conjugate", "share", "join"])
def test_tensors_that_change_places(name: str) -> None:
    reference, ours = Places("cpu"), Places("jax")
    step = tenax.jit(getattr(Places, name))
    for i in range(4):
        getattr(reference, name)(torch.full((2, 3), float(i)))
        step(ours, torch.full((2, 3), float(i), device="jax"))
        for key in ("a", "b", "turned", "row", "c"):
            assert getattr(ours, key).tolist() == getattr(reference, key).tolist(), key
        assert {k: t.tolist() for k, t in ours.kept.items()} == {k: t.tolist() for k, t in reference.kept.items()}


class Reversed(torch.autograd.Function):
    """The identity, whose gradient has the other sign."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return -gradient


def test_results_that_lie_alike_keep_gradients_of_their_own() -> None:
    @tenax.jit
    def both(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        feature = x * 3
        return feature, Reversed.apply(feature), feature

    x = torch.ones(2, device="jax", requires_grad=True)
    feature, reverse, again = both(x)
    assert again is feature
    assert torch.autograd.grad(reverse.sum(), x, retain_graph=True)[0].tolist() == [-3, -3]
    assert torch.autograd.grad((feature + reverse * 2).sum(), x)[0].tolist() == [-3, -3]


def test_a_tensor_kept_in_an_attribute_has_its_gradient() -> None:
    class Reader:
        state = torch.zeros(2, device="jax")

        @tenax.jit
        def read(self, x: torch.Tensor) -> torch.Tensor:
            self.state = self.state + x * 2
            return self.state.sum()

    reader, x = Reader(), torch.ones(2, device="jax", requires_grad=True)
    reader.read(x)
    reader.state.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_names_and_order_of_a_dict_count() -> None:
    numbers = {"a": 1, "b": 1}

    @tenax.jit
    def read(x: torch.Tensor) -> list[torch.Tensor]:
        return [x * (i + 2) for i, name in enumerate(numbers) if name == "a"]

    x = torch.ones((), device="jax")
    assert read(x)[0].item() == 2
    numbers["a"] = numbers.pop("a")
    assert read(x)[0].item() == 3
    numbers["c"] = numbers.pop("a")
    assert read(x) == []


def test_a_dict_comes_into_the_order_that_each_call_gives_it() -> None:
    recent = {name: torch.zeros((), device="jax") for name in "abc"}

    @tenax.jit
    def use(name: str, x: torch.Tensor) -> None:
        recent[name] = recent.pop(name) + x

    for i, (name, order) in enumerate((("a", "bca"), ("c", "bac"), ("a", "bca"), ("a", "bca"))):
        use(name, torch.tensor(float(i), device="jax"))
        assert "".join(recent) == order
    assert [t.item() for t in recent.values()] == [0, 1, 5]


@pytest.mark.parametrize("compute", [lambda x: x.view(-1), lambda x: x + 1])
def test_a_result_that_the_host_computes_of_an_argument_raises(compute: Any) -> None:
    with pytest.raises(TraceError, match="computed on the CPU from an argument"):
        tenax.jit(compute)(torch.ones(2, 2))


class _Node:
    """An object that is no tree to torch."""

    def __init__(self, value: torch.Tensor | None, parent: _Node | None = None) -> None:
        self.value, self.parent, self.children = value, parent, [] if parent is None else parent.children


class _Slotted:
    __slots__ = ("value",)

    def __init__(self, value: torch.Tensor) -> None:
        self.value = value


class _Table(dict[str, torch.Tensor]):
    note: torch.Tensor


def _nodes(x: torch.Tensor) -> _Node:
    root = _Node(x * 2)
    root.children.append(_Node(x, root))
    return root


def _table(x: torch.Tensor) -> _Table:
    table = _Table(x=x, twice=x * 2)
    table.note = x + 1
    return table


@pytest.mark.parametrize(
    ("make", "read"),
    [
        (_nodes, lambda r: [r.value, r.children[0].value, r.children[0].parent is r]),
        (_table, lambda r: [*r.values(), r.note]),
        (lambda x: _Slotted(x * 2), lambda r: [r.value]),
        (lambda x: _Slotted(x), lambda r: [r.value]),
        (lambda x: {"made": [_Slotted(x + 1)] * 2}, lambda r: [r["made"][0].value, r["made"][0] is r["made"][1]]),
        (lambda x: UserDict(x=x * 2), lambda r: [r["x"]]),
        (
            lambda x: torch.distributions.Independent(torch.distributions.Normal(x, x.exp()), 1),
            lambda r: [r.mean, r.log_prob(torch.ones_like(r.mean))],
        ),
        (lambda x: x.shape, lambda r: [type(r).__name__, r.numel()]),
    ],
)
def test_objects_are_made_anew_by_each_call(
    make: Callable[[torch.Tensor], Any], read: Callable[[Any], list[Any]]
) -> None:
    compiled = tenax.jit(make)
    for i in range(3):
        x = torch.full((2,), i + 1.0, device="jax")
        assert str(read(compiled(x))) == str(read(make(x)))


def test_an_object_without_tensors_is_another_one_in_each_call() -> None:
    compiled, x = tenax.jit(lambda x: _Node(None)), torch.ones(2, device="jax")
    first = compiled(x)
    first.children.append(1)
    assert compiled(x) is not first and not compiled(x).children


def test_what_a_function_found_is_given_itself() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.losses: list[torch.Tensor] = []
            self.last: torch.Tensor | None = None

        def step(self, x: torch.Tensor) -> Any:
            self.last = x.sum()
            self.losses.append(self.last)
            return self, self.losses

    trainer = Trainer()
    step = tenax.jit(trainer.step)
    for i in range(3):
        found, losses = step(torch.ones(i + 1, device="jax"))
        assert found is trainer and losses is trainer.losses and losses[-1] is trainer.last
    assert [loss.item() for loss in trainer.losses] == [1, 2, 3]


@pytest.mark.parametrize(
    "make",
    [
        lambda x: lambda: x,
        lambda x: partial(torch.add, x * 2),
        lambda x: iter([x]),
        lambda x: nn.Linear(1, 1, device=x.device),
    ],
)
def test_what_no_call_can_make_anew_is_no_result(make: Callable[[torch.Tensor], Any]) -> None:
    with pytest.raises(TraceError, match=r"returns or stores a .*; return"):
        tenax.jit(make)(torch.ones(2, device="jax"))


@pytest.mark.parametrize("outside", [False, True])
def test_a_storage_that_a_program_grows_is_an_input_of_its_new_size(outside: bool) -> None:
    number, one = torch.tensor(1.0, device="jax"), torch.ones(1, device="jax")
    view = number.detach()

    @tenax.jit
    def step() -> torch.Tensor:
        torch.cat([one, one], out=view if outside else number.unsqueeze(0))
        return number + 0

    with pytest.warns(UserWarning, match="was resized"):
        found = [step().item() for _ in range(4)]
    assert found == [1.0] * 4
    assert number.untyped_storage().nbytes() == 8
    assert len(step.history) == 2


def test_tensors_are_as_before_a_call_that_raises() -> None:
    x, other = torch.ones(2, 3, device="jax"), torch.zeros(2, device="jax")

    @tenax.jit
    def step(x: torch.Tensor, other: torch.Tensor) -> None:
        x.set_(x.untyped_storage(), 0, (1,), (1,))
        x.resize_(3)
        other.data = torch.zeros(4, device="jax")
        assert x.sum() == 3

    with pytest.raises(TraceError, match="is not known while"):
        step(x, other)
    assert x.shape == (2, 3)
    assert other.shape == (2,)


def test_a_write_to_detached_data_counts_no_version_of_its_tensor() -> None:
    x = torch.ones(2, device="jax")
    step = tenax.jit(lambda: x.data.mul_(2))
    step()
    version = x._version
    step()
    assert x._version == version
    assert x.tolist() == [4.0, 4.0]


def test_a_tensor_with_new_data_stays_itself_where_it_is_kept_and_given() -> None:
    """`.data = ...` gives a tensor a cell of the run: the tensor was taken for one that the run had made."""

    def run(device: str, compiled: Callable[[Any], Any]) -> list[Any]:
        held = [torch.ones(3, device=device), torch.zeros(3, device=device)]
        box = {"mean": torch.zeros(3, device=device)}
        weight = nn.Parameter(torch.ones(3, device=device))

        @compiled
        def step(x: torch.Tensor) -> tuple[torch.Tensor, nn.Parameter, torch.Tensor]:
            box["mean"].data = box["mean"] + 1
            held[0], held[1] = held[1], held[0]
            box["last"] = box["mean"]
            weight.data = weight.data * 0.5
            return box["mean"], weight, weight * x

        found = []
        for number in range(4):
            if number == 2:
                box["mean"] = held[0]
            mean, same, result = step(torch.full((3,), number + 1.0, device=device))
            result.sum().backward()
            assert weight.grad is not None
            identities = [mean is box["mean"], same is weight, box["last"] is mean, *(t is mean for t in held)]
            found.append([*identities, weight.grad.tolist(), *(t.tolist() for t in (mean, weight, *held))])
            weight.grad = None
        return found

    assert run("jax", tenax.jit) == run("cpu", lambda function: function)
