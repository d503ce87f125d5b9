"""Results that share memory with an argument, a parameter or another result are views, as in eager mode; tensors that
share memory may get new data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import tenax
from tenax.errors import TraceError

Jit = Callable[[Callable[..., Any]], Callable[..., Any]]


def vector(device: str, *, grad: bool = False) -> torch.Tensor:
    return torch.tensor([1.0, 2, 3], device=device, requires_grad=grad)


def a_write_to_a_view_of_an_argument(jit: Jit, device: str) -> Any:
    x, w = vector(device), torch.ones(3, device=device, requires_grad=True)
    loss = (w * x).sum()
    jit(lambda x: x[1:])(x).add_(10)
    loss.backward()


def a_write_to_a_view_of_a_parameter(jit: Jit, device: str) -> Any:
    jit(lambda p: p[1:])(torch.nn.Parameter(vector(device))).mul_(2)


def a_write_to_a_view_of_a_modules_parameter(jit: Jit, device: str) -> Any:
    layer = torch.nn.Linear(2, 2, device=device)
    jit(lambda: layer.weight.t())().mul_(2)


def a_write_to_a_view_of_an_intermediate(jit: Jit, device: str) -> Any:
    x, u = vector(device, grad=True) * 1, vector(device, grad=True)
    view = jit(lambda x: x[1:])(x)
    view.mul_(u[1:])
    return torch.autograd.grad(x.sum(), u)[0], x, view


def a_write_to_a_view_of_a_result_that_was_saved(jit: Jit, device: str) -> Any:
    x, w = vector(device), torch.ones(3, device=device, requires_grad=True)
    whole, part = jit(lambda x: (lambda y: (y, y[1:]))(x * 2))(x)
    loss = (w * whole).sum()
    part.add_(1)
    loss.backward()


def a_write_to_a_view_of_a_result(jit: Jit, device: str) -> Any:
    x = vector(device, grad=True)
    whole, part = jit(lambda x: (lambda y: (y, y[1:]))(x * 2))(x)
    part.mul_(3)
    return torch.autograd.grad((whole * whole).sum(), x)[0], whole, part


def views_of_an_intermediate_that_overlap(jit: Jit, device: str) -> Any:
    x = vector(device, grad=True)
    first, last = jit(lambda x: (lambda y: (y[:2], y[1:]))(x * 2))(x)
    last.mul_(3)
    return torch.autograd.grad((first * first).sum(), x)[0], first


def a_detached_result(jit: Jit, device: str) -> Any:
    x = vector(device, grad=True)
    detached, whole = jit(lambda x: (lambda y: (y.detach()[1:], y))(x * 2))(x)
    loss = (whole * whole).sum()
    detached.add_(1)
    loss.backward()


def a_view_of_another_dtype(jit: Jit, device: str) -> Any:
    x = torch.view_as_complex(torch.ones(2, 2, device=device)).requires_grad_()
    y = x * 1
    view = jit(lambda y: y.imag)(y)
    view.mul_(2)
    return torch.autograd.grad(torch.view_as_real(y).sum(), x)[0], y, torch.tensor(y._version)


def a_view_made_without_gradients(jit: Jit, device: str) -> Any:
    y = vector(device, grad=True) * 1
    jit(torch.no_grad()(lambda y: y[1:]))(y).mul_(2)


def data(jit: Jit, device: str) -> Any:
    x = vector(device, grad=True)
    loss = (x * x).sum()
    jit(lambda x: x.data)(x).add_(1)
    return torch.autograd.grad(loss, x)[0], torch.tensor(x._version)


def arguments_on_one_storage(jit: Jit, device: str) -> Any:
    x = vector(device, grad=True)
    y = x * 1
    view, detached = jit(lambda d, y: (y[1:], d[:1]))(y.detach(), y)
    view.mul_(3)
    return torch.autograd.grad(y.sum(), x)[0], detached, torch.tensor(detached.requires_grad)


def a_view_of_state_that_is_replaced(jit: Jit, device: str) -> Any:
    module = torch.nn.Module()
    module.last = vector(device)

    def advance(x: torch.Tensor) -> torch.Tensor:
        before, module.last = module.last[1:], module.last + x
        return before

    step = jit(advance)
    first, kept = step(vector(device)), module.last
    step(vector(device)).add_(1)
    return first, kept, module.last, torch.tensor(kept._version)


class Seven(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return 7 * gradient


def a_view_by_an_autograd_function(jit: Jit, device: str) -> Any:
    x = vector(device, grad=True)
    whole, view = jit(lambda x: (lambda y: (y, Seven.apply(y)))(x * 2))(x)
    return torch.autograd.grad((view * view).sum() + whole.sum(), x)


PROGRAMS = [
    a_write_to_a_view_of_an_argument,
    a_write_to_a_view_of_a_parameter,
    a_write_to_a_view_of_a_modules_parameter,
    a_write_to_a_view_of_an_intermediate,
    a_write_to_a_view_of_a_result_that_was_saved,
    a_write_to_a_view_of_a_result,
    views_of_an_intermediate_that_overlap,
    a_detached_result,
    a_view_of_another_dtype,
    a_view_made_without_gradients,
    data,
    arguments_on_one_storage,
    a_view_of_state_that_is_replaced,
    a_view_by_an_autograd_function,
]


def outcome(program: Callable[[Jit, str], Any], jit: Jit, device: str) -> Any:
    try:
        return [x.detach().cpu().resolve_conj().tolist() for x in program(jit, device)]
    except RuntimeError as error:
        return str(error).split("[")[0]  # without a device's name


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_results_are_views_as_in_eager_mode(program: Callable[[Jit, str], Any]) -> None:
    assert outcome(program, tenax.jit, "jax") == outcome(program, lambda function: function, "cpu")


def test_a_graph_of_torch_compile_shares_the_versions_of_results() -> None:
    compiled = torch.compile(lambda x: (lambda y: (y[:2], y[1:]))(x * 2), backend="tenax")
    first, last = compiled(vector("jax"))
    loss = (torch.ones(2, device="jax", requires_grad=True) * first).sum()
    last.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_an_outside_tensor_that_would_get_a_history_is_refused_and_unchanged() -> None:
    x, u = vector("jax"), vector("jax", grad=True)
    with pytest.raises(TraceError, match="gives a history to a tensor that was made outside"):
        tenax.jit(lambda: x[1:].mul_(u[1:]))()
    assert (x.tolist(), x.requires_grad, x.is_leaf) == ([1, 2, 3], False, True)


def exchange(x: torch.Tensor, y: torch.Tensor, saved: dict[str, torch.Tensor]) -> torch.Tensor:
    x.add_(1)
    before = x.data
    x.data = y.data.repeat(2)
    y.data = before[:2]
    return x * y.sum()


def perturb(x: torch.Tensor, y: torch.Tensor, saved: dict[str, torch.Tensor]) -> torch.Tensor:
    """What optimizers that look ahead do: from the second call on, `saved` shares the memory of `x`."""
    saved["x"] = x.data.clone()
    result = x.mul_(3) * y.sum()
    x.data = saved["x"]
    return result


def replace(x: torch.Tensor, y: torch.Tensor, saved: dict[str, torch.Tensor]) -> torch.Tensor:
    x.data = x * 2
    return y + 1


@pytest.mark.parametrize("program", [exchange, perturb, replace])
@pytest.mark.parametrize("is_argument", [False, True])
def test_tensors_that_share_memory_get_new_data(program: Any, is_argument: bool) -> None:
    courses = []
    for device in ("cpu", "jax"):
        x = torch.arange(4.0, device=device)
        y, saved = x[:2], {}

        def step(x: torch.Tensor = x, y: torch.Tensor = y, saved: Any = saved) -> torch.Tensor:
            return program(x, y, saved)

        run = step if device == "cpu" else tenax.jit(step)
        course = []
        for _ in range(4):
            result = run(x, y) if is_argument else run()
            y.add_(1)
            course.append([t.tolist() for t in (result, x, y, *saved.values())])
        courses.append(course)
    assert courses[0] == courses[1]
