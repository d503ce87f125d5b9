"""Tensors that were computed outside of a compiled function, arguments and state: each call continues their history."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import tenax
from tenax._jit.jitted import compiled_of
from tenax.errors import TraceError
from tests.helpers.agreement import close

State = dict[str, Any]


def _hidden(state: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    state["h"] = state["h"] * w + x
    return state["h"].sum()


def _total(state: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    state["total"] = state.get("total", 0) + (w * x).sum()
    return state["total"]


def _growing(state: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    state["all"] = [*state.get("all", [])[-2:], w * x]
    return torch.stack(state["all"]).prod()


def _written(state: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    state["h"] = state["h"] * w
    with torch.no_grad():
        state["h"].mul_(x)
    return state["h"].sum()


def _read_only(state: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return (state["outside"] * x).square().sum() * w


STEPS = {"hidden": _hidden, "total": _total, "growing": _growing, "written": _written, "read only": _read_only}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_state_that_keeps_its_history_is_differentiated_through_all_calls(step: Callable[..., torch.Tensor]) -> None:
    def run(device: str, compiled: Any) -> list[Any]:
        w, seen = nn.Parameter(torch.tensor(0.5, device=device)), []
        state: State = {} if step in (_total, _growing, _read_only) else {"h": torch.ones(2, device=device)}
        call = compiled(lambda x: step(state, w, x))
        for i in range(4):
            if step is _read_only:
                state["outside"] = (w * 2).exp().expand(2).clone()
            for j in range(1 + i % 3):
                loss = call(torch.full((2,), 1.0 + j, device=device))
            loss.backward()
            seen += [loss.item(), None if w.grad is None else w.grad.item()]
            w.grad = None
            state.update({k: v.detach() for k, v in state.items() if isinstance(v, torch.Tensor)})
            state.pop("all", None)
        return seen

    made: list[Any] = []
    close(run("jax", lambda f: made.append(tenax.jit(f)) or made[0]), run("cpu", lambda f: f))
    assert len(compiled_of(made[0]).history) <= 4  # without state, and with state of each kind or length


@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")
@pytest.mark.parametrize("way", ["read", "argument", "state"])
def test_a_gradient_that_has_a_history_keeps_it(way: str) -> None:
    def run(device: str, compiled: Any) -> list[Any]:
        w, state, seen = nn.Parameter(torch.tensor([2.0, 3.0], device=device)), {}, []
        gradient = {"read": lambda g: w.grad, "argument": lambda g: g, "state": lambda g: state["g"]}[way]
        call = compiled(lambda g=None: gradient(g).square().sum() + w.sum())
        for k in (1.0, 2.0, 3.0):
            w.grad = None
            (w**3 * k).sum().backward(create_graph=True)
            state["g"] = w.grad
            loss = call(w.grad) if way == "argument" else call()
            seen += [loss.item(), *torch.autograd.grad(loss, w)[0].tolist(), w.grad is state["g"]]
        return seen

    assert run("jax", tenax.jit) == run("cpu", lambda f: f)


def test_a_program_for_a_leaf_is_none_for_a_tensor_with_a_history() -> None:
    leaf = torch.ones(2, device="jax", requires_grad=True)
    state = {"h": leaf}

    @tenax.jit
    def step() -> tuple[bool, torch.Tensor]:
        h, state["h"] = state["h"], leaf
        return h.is_leaf, h * 2

    assert [step()[0] for _ in range(2)] == [True, True]
    for _ in range(2):
        state["h"] = leaf * 3
        is_leaf, result = step()
        leaf.grad = None
        result.sum().backward()
        assert (is_leaf, leaf.grad.tolist()) == (False, [6, 6])


def test_hooks_and_attributes_of_state_with_a_history_are_kept() -> None:
    leaf, seen = torch.ones(2, device="jax", requires_grad=True), []
    state = {"h": leaf * 3}
    state["h"].register_hook(seen.append)
    state["h"].note = "kept"
    step = tenax.jit(lambda x: state["h"] * x)
    for i in range(2):
        step(torch.full((2,), 2.0, device="jax")).sum().backward(retain_graph=True)
        assert (len(seen), state["h"].note, state["h"].grad_fn is not None) == (i + 1, "kept", True)


PARTIAL: dict[str, Callable[..., Any]] = {
    "grad": lambda loss, w: torch.autograd.grad(loss, w, retain_graph=True)[0],
    "backward": lambda loss, w: (loss.backward(inputs=(x for x in [w]), retain_graph=True), w.grad)[1],
    "function": lambda loss, w: (torch.autograd.backward(loss, inputs=[w], retain_graph=True), w.grad)[1],
}


@pytest.mark.parametrize("way", PARTIAL)
def test_a_gradient_by_a_leaf_that_is_also_behind_an_argument_raises(way: str) -> None:
    w, v = (torch.tensor([2.0, 3.0], device="jax", requires_grad=True) for _ in range(2))
    step = tenax.jit(lambda h: PARTIAL[way]((h * w).sum(), w))
    with pytest.raises(TraceError, match=r"reaches a tensor that was computed outside .*test_histories"):
        step(w**2)
    assert step(v**2).tolist() == [4, 9]


def test_backward_within_raises_at_state_that_was_computed_outside() -> None:
    leaf = torch.ones(2, device="jax", requires_grad=True)
    state = {"h": leaf * 3}
    with pytest.raises(TraceError, match=r"reaches a tensor that was computed outside .*test_histories"):
        tenax.jit(lambda: (state["h"] * leaf).sum().backward())()
    assert leaf.grad is None


def test_a_gradient_that_would_end_at_an_argument_raises() -> None:
    outside, inside = (torch.ones(2, device="jax", requires_grad=True) for _ in range(2))

    @tenax.jit
    def step(feature: torch.Tensor) -> torch.Tensor:
        (feature * inside).sum().backward()
        return inside.grad

    with pytest.raises(TraceError, match=r"reaches a tensor that was computed outside .*test_histories"):
        step(outside * 3)
    assert inside.grad is None
    assert step((outside * 3).detach()).tolist() == [3, 3]


def test_a_write_to_an_argument_with_a_history_raises_with_the_line() -> None:
    argument = torch.ones(2, device="jax", requires_grad=True) * 1
    for write in (lambda x: x.mul_(2), lambda x: x.view(2).mul_(2)):
        with pytest.raises(
            TraceError, match=r"\(.*test_histories\.py:\d+, in <lambda>\) writes to a tensor that requires"
        ):
            tenax.jit(write)(argument)
    assert argument._version == 0


def test_an_argument_with_a_history_is_no_leaf() -> None:
    parameter = torch.ones(2, device="jax", requires_grad=True)

    @tenax.jit
    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.is_leaf else x * 3

    close(scaled(parameter * 1), torch.full((2,), 3.0))
    close(scaled(parameter), torch.full((2,), 2.0))
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        tenax.jit(lambda x: x.requires_grad_(False) * 2)(parameter * 1)


_HISTORY = {
    "grad_fn": lambda x: x.grad_fn,
    "retains_grad": lambda x: x.retains_grad,
    "retain_grad()": torch.Tensor.retain_grad,
    "detach_()": torch.Tensor.detach_,
}


@pytest.mark.parametrize("word", _HISTORY)
def test_what_depends_on_the_history_of_an_argument_raises_with_the_line(word: str) -> None:
    @tenax.jit
    def function(x: torch.Tensor) -> torch.Tensor:
        _HISTORY[word](x)
        return x + 1

    leaf = torch.ones(2, device="jax", requires_grad=True)
    with pytest.raises(TraceError, match=rf"{re.escape(word)} .*computed outside \("):
        function(leaf * 1)
    assert function(leaf).tolist() == [2.0, 2.0]


def test_a_result_whose_gradient_is_to_be_retained_raises() -> None:
    leaf = torch.ones(2, device="jax", requires_grad=True)

    @tenax.jit
    def step() -> tuple[torch.Tensor, torch.Tensor]:
        hidden = leaf * 2
        hidden.retain_grad()
        return hidden.exp(), hidden

    with pytest.raises(TraceError, match="retain_grad"):
        step()
