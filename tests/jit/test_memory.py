"""What compiled training steps keep in memory, and what they give up."""

from __future__ import annotations

import gc
import re
import weakref
from typing import Any

import jax
import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import tenax
from tenax._jit.jitted import compiled_of
from tenax.dispatch.aot_call import AotCall
from tests.helpers.agreement import close
from tests.helpers.training import data, mlp, trainer


def test_no_array_of_the_trace_is_kept() -> None:
    def count() -> int:
        gc.collect()
        return sum(a.shape == (170, 230) for a in jax.live_arrays())

    model = nn.Linear(230, 170, bias=False).to("jax")
    step, _ = trainer(model, "AdamW", {"lr": 0.01}, zero_last=True)
    step = tenax.jit(step)
    x, y = torch.ones(4, 230, device="jax"), torch.zeros(4, dtype=torch.int64, device="jax")
    before = count()
    for _ in range(3):
        step(x, y)
    assert before == 1 and count() == 3  # the weight and two moments
    forward = tenax.jit(model)
    forward(x)
    forward(x).sum().backward()
    model.zero_grad()
    step(x, y)
    assert count() == 3


def test_a_function_that_nothing_refers_to_takes_its_program_along() -> None:
    def executable() -> weakref.ref[Any]:
        step, _ = trainer(nn.Linear(3, 2).to("jax"), "AdamW", {"lr": 0.01}, zero_last=True)
        step = tenax.jit(step)
        step(torch.ones(4, 3, device="jax"), torch.zeros(4, dtype=torch.int64, device="jax"))
        ((compiled,),) = step.programs.values()
        return weakref.ref(compiled.forward.compiled._executable)

    dropped = executable()
    gc.collect()
    assert dropped() is None


def test_what_repeated_calls_keep_is_given_up_when_it_is_replaced() -> None:
    model = nn.Linear(3, 2, bias=False).to("jax")
    forward, x = tenax.jit(model), torch.ones(4, 3, device="jax")

    @tenax.jit
    def shrink() -> None:
        with torch.no_grad():
            model.weight.mul_(0.5)

    with torch.no_grad():
        for change in (lambda: model.weight.add_(2), shrink, lambda: model.weight.mul_(4), model.weight.zero_):
            for _ in range(3):
                assert torch.equal(forward(x), x @ model.weight.T)
            replaced = weakref.ref(model.weight.jax())
            change()
            torch.jax.synchronize()  # a write that waits for its executable holds what it reads
            gc.collect()
            assert replaced() is None or replaced().is_deleted()
            assert torch.equal(forward(x), x @ model.weight.T)


def test_a_donated_step_needs_no_second_copy_of_its_state() -> None:
    model = nn.Linear(256, 256).to("jax")
    step, _ = trainer(model, "SGD", {"lr": 0.1, "momentum": 0.9}, decay=False, zero_last=True)
    step = tenax.jit(step)
    x, y = torch.ones(4, 256, device="jax"), torch.zeros(4, dtype=torch.int64, device="jax")
    for _ in range(2):
        step(x, y)
    state = 2 * sum(p.nbytes for p in model.parameters())
    (program,) = tenax.explain(step).programs  # the momentum is made before the first step is traced
    assert program.aliased_bytes >= state


def test_the_gradients_of_the_last_step_are_let_go_before_the_next_ones_are_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = nn.Linear(3, 3).to("jax")
    optimizer, x = torch.optim.SGD(model.parameters(), 0.1), torch.ones(2, 3, device="jax")

    @tenax.jit
    def step(kept: bool) -> None:
        if kept:
            for p in model.parameters():
                p.grad = p.grad * 0.5  # read, so an input of the program
        else:
            optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    into, alive = AotCall.into, []

    def noted(self: AotCall, *args: Any) -> None:
        alive.append(sum(gradient() is not None for gradient in gradients))
        into(self, *args)

    for kept, expected in ((False, 0), (True, 2)):
        for _ in range(2):
            step(kept)
        gradients = [weakref.ref(p.grad.jax()) for p in model.parameters()]
        with monkeypatch.context() as patched:
            patched.setattr(AotCall, "into", noted)
            step(kept)
        assert alive.pop() == expected
    assert model.bias.grad.tolist() == [2 * (1 + 0.5 + 0.25 + 0.125)] * 3


def test_a_new_state_takes_the_buffer_of_the_old() -> None:
    model = mlp(16, 16, 16, 16).to("jax")
    step, _ = trainer(model, "AdamW", {"lr": 0.01})
    step, batch = tenax.jit(step), [t.to("jax") for t in data(features=16)]
    for _ in range(3):
        step(*batch)
    programs = list(compiled_of(step).programs.values())
    text = programs[-1][0].forward.compiled.as_text()
    aliases = re.search(r"input_output_alias={ (.*) }, entry_computation_layout", text)
    assert aliases is not None
    pairs = [(int(i), int(operand)) for i, operand in re.findall(r"{(\d+)}: \((\d+), {}", aliases[1])]
    state = 3 * len(list(model.parameters()))  # parameters and moments; all share one step count, which is not donated
    assert [i for i, _ in pairs] == list(range(state)) and pairs == sorted(pairs, key=lambda pair: pair[1])
    copies = re.findall(r"= f32\[[\d,]+\]\S* copy\(", text)
    assert len(copies) <= state // 3  # weights may be updated before the backward pass has read them


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_is_computed_again(reentrant: bool) -> None:
    """XLA would merge what is recomputed with the forward pass, and keep the activations."""

    def products(recompute: bool) -> tuple[int, list[torch.Tensor]]:
        torch.manual_seed(0)
        layers = nn.ModuleList(
            nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.2), nn.Linear(8, 4), nn.Tanh()) for _ in range(3)
        )
        layers, x = layers.to("jax"), torch.ones(5, 4, device="jax", requires_grad=True)

        @tenax.jit
        def step() -> None:
            y = x
            for layer in layers:
                y = checkpoint(layer, y, use_reentrant=reentrant) if recompute else layer(y)
            y.square().sum().backward()

        step()
        programs = list(compiled_of(step).programs.values())
        text = programs[-1][0].forward.compiled.as_text()
        return text.count(" dot("), [x.grad, *(p.grad for p in layers.parameters())]

    (once, expected), (twice, found) = products(False), products(True)
    assert twice == once + 6
    for a, b in zip(found, expected, strict=True):
        close(a, b)
