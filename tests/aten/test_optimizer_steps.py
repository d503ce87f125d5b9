"""The default steps of Adam, AdamW and SGD with momentum: one program, and what CPU torch's steps leave behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.autograd import forward_ad
from torch.utils._python_dispatch import TorchDispatchMode

import tenax
from tenax._lazy.mode import own_tape
from tenax.aten import optimizer_steps
from tests.helpers.agreement import close

SHAPES = [(4, 5), (3,), (2, 3, 4), ()]
Make = Callable[[list[torch.Tensor]], torch.optim.Optimizer]

STEPS: dict[str, tuple[str, Make]] = {
    "adam": ("adam_step", torch.optim.Adam),
    "adamw": ("adam_step", torch.optim.AdamW),
    "adamw without decay": ("adam_step", lambda p: torch.optim.AdamW(p, weight_decay=0)),
    "adam, amsgrad": (
        "adam_step",
        lambda p: torch.optim.Adam(p, weight_decay=0.1, amsgrad=True, maximize=True, betas=(0.3, 0.4)),
    ),
    "sgd": ("sgd_step", lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)),
    "sgd, decay": (
        "sgd_step",
        lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1, dampening=0.2, maximize=True),
    ),
}


def parameters(device: str, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(s, generator=generator, dtype=dtype).to(device).requires_grad_() for s in SHAPES]


def trained(make: Make, params: list[torch.Tensor], steps: int = 4) -> torch.optim.Optimizer:
    """An optimizer after some steps, whose learning rate halves."""
    optimizer = make(params)
    generator = torch.Generator().manual_seed(1)
    for i in range(steps):
        for p in params:
            p.grad = torch.randn(p.shape, generator=generator, dtype=p.dtype).to(p.device)
        optimizer.step()
        if i == 1:
            for group in optimizer.param_groups:
                group["lr"] /= 2
    return optimizer


def left_behind(optimizer: torch.optim.Optimizer) -> tuple[list[torch.Tensor], list[int]]:
    """The parameters, gradients and states, and how often each was written."""
    params = [p for group in optimizer.param_groups for p in group["params"]]
    tensors = [*params, *(p.grad for p in params)]
    tensors += [s for p in params for s in optimizer.state[p].values() if s is not None]
    return tensors, [t._version for t in tensors]


def assert_like_cpu(make: Make, own: list[torch.Tensor], reference: list[torch.Tensor]) -> None:
    tensors, versions = left_behind(trained(make, own))
    expected, counts = left_behind(trained(make, reference))
    assert versions == counts
    close([t.detach().cpu() for t in tensors], [t.detach() for t in expected])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", STEPS)
def test_a_step_leaves_what_the_cpu_leaves(name: str, dtype: torch.dtype) -> None:
    assert_like_cpu(STEPS[name][1], parameters("jax", dtype), parameters("cpu", dtype))


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_one_program(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    step, make = STEPS[name]
    optimizer = trained(make, parameters("jax"))
    torch.accelerator.synchronize()  # programs that are still being compiled
    ran: list[Any] = []
    kernel = optimizer_steps._kernel(step)
    run = kernel.run
    monkeypatch.setattr(kernel, "run", lambda *call: ran.append(call) or run(*call))
    monkeypatch.setattr(torch, "_foreach_mul_", None)  # torch's own step calls it
    optimizer.step()
    assert len(ran) == 1


def test_gradients_that_are_stored_in_another_shape_take_part_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = torch.nn.Linear(4, 3).to("jax")
    optimizer = torch.optim.AdamW(layer.parameters())
    monkeypatch.setattr(torch, "_foreach_addcdiv_", None)  # torch's own step calls it
    for _ in range(3):
        layer(torch.ones(2, 4, device="jax")).square().sum().backward()
        optimizer.step()


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_one_operation_of_lazy_mode(name: str) -> None:
    step, make = STEPS[name]
    with tenax.lazy():
        optimizer = trained(make, parameters("jax"))
        tenax.sync()
        for _ in range(2):
            optimizer.step()
            assert [op.name for op in own_tape().ops] == [f"tenax::{step}"]
            tenax.sync()


def test_parameters_that_share_memory_step_like_cpu() -> None:
    flat = torch.arange(20.0)

    def halves(device: str) -> list[torch.Tensor]:
        held = flat.to(device, copy=True)
        return [held[:10].requires_grad_(), held[10:].requires_grad_()]

    assert_like_cpu(torch.optim.AdamW, halves("jax"), halves("cpu"))


def test_parameters_of_different_ages_step_like_cpu() -> None:
    def late(params: list[torch.Tensor]) -> torch.optim.Optimizer:
        optimizer = trained(torch.optim.AdamW, params[:2], steps=2)
        optimizer.add_param_group({"params": params[2:]})
        for group in optimizer.param_groups[1:]:
            optimizer.param_groups[0]["params"] += group["params"]
        del optimizer.param_groups[1:]
        return optimizer

    assert_like_cpu(late, parameters("jax"), parameters("cpu"))


def test_a_dispatch_mode_sees_the_operators_of_torch() -> None:
    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            names.append(op.__name__)
            return op(*args, **(kwargs or {}))

    names: list[str] = []
    optimizer = trained(torch.optim.AdamW, parameters("jax"))
    with Seen():
        optimizer.step()
    assert "_foreach_addcdiv_.ScalarList" in names


def test_steps_are_recorded_in_lazy_mode() -> None:
    def take(optimizer: torch.optim.Optimizer) -> None:
        for p in optimizer.param_groups[0]["params"]:
            p.grad = p.detach() * 2
        optimizer.step()

    results = []
    for run in (take, tenax.lazy()(take)):
        optimizer = torch.optim.AdamW(parameters("jax"), lr=0.1)
        for _ in range(3):
            run(optimizer)
        results.append([p.detach().cpu() for p in optimizer.param_groups[0]["params"]])
    close(*results)


@pytest.mark.parametrize("held", [False, True])
def test_a_step_reuses_large_arrays_unless_somebody_holds_them(held: bool) -> None:
    params = [torch.ones(200, 200, device="jax").requires_grad_() for _ in range(3)]
    for p in params:
        p.grad = torch.ones_like(p)
    optimizer = torch.optim.AdamW(params, lr=0.5)
    for _ in range(3):
        optimizer.step()
    array = optimizer.state[params[0]]["exp_avg"].jax()
    before = array.unsafe_buffer_pointer()
    value = array + 0
    if not held:
        del array
    optimizer.step()
    reused = optimizer.state[params[0]]["exp_avg"].jax().unsafe_buffer_pointer() == before
    assert reused is not held
    if held:
        close(array, value)


def derivative_of_steps(device: str, make: Make) -> torch.Tensor | None:
    p = torch.ones(3, device=device, requires_grad=True)
    q = p.clone()
    optimizer = make([q])
    for _ in range(3):
        q.grad = q * 2
        optimizer.step()
    q.sum().backward()
    return p.grad


DIFFERENTIABLE: dict[str, Make] = {
    "adam": lambda p: torch.optim.Adam(p, differentiable=True),
    "adamw": lambda p: torch.optim.AdamW(p, differentiable=True),
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, differentiable=True),
    "sgd, foreach": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, differentiable=True, foreach=True),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_differentiable_steps_have_a_derivative(name: str) -> None:
    make = DIFFERENTIABLE[name]
    expected = derivative_of_steps("cpu", make)
    close(derivative_of_steps("jax", make), expected)
    with tenax.lazy():
        close(derivative_of_steps("jax", make), expected)


@pytest.mark.parametrize("name", ["adam", "adamw", "sgd"])
def test_forward_derivatives_pass_through_steps(name: str) -> None:
    def tangent(device: str) -> torch.Tensor:
        with forward_ad.dual_level():
            ones = torch.ones(3, device=device)
            p = forward_ad.make_dual(ones, 2 * ones)
            p.grad = forward_ad.make_dual(ones, 3 * ones)
            optimizer = STEPS[name][1]([p])
            for _ in range(3):
                optimizer.step()
            return forward_ad.unpack_dual(p).tangent.detach()

    close(tangent("jax"), tangent("cpu"))
