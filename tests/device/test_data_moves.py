"""`x.data = y` moves a tensor to the device of `y`, as between other devices."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import tenax
from tests.helpers.agreement import close


@pytest.mark.parametrize(("first", "second"), [("cpu", "jax"), ("jax", "cpu"), ("jax", "jax")])
def test_parameters_move_by_their_data_and_train_on(first: str, second: str) -> None:
    def steps(*devices: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        layer = nn.Linear(3, 2).to(devices[0])
        parameters = list(layer.parameters())
        for device in devices:
            optimizer = torch.optim.SGD(parameters, 0.1)
            for p in parameters:
                p.grad, p.data = None, p.data.to(device)
            layer(torch.arange(6.0, device=device).reshape(2, 3)).square().sum().backward()
            optimizer.step()
            assert [p.device.type for p in parameters] == [device] * 2
            assert layer.weight is parameters[0] and parameters[0].grad is not None
        return [p.detach().cpu() for p in parameters]

    close(steps(first, second), steps("cpu", "cpu"))


def test_views_of_a_tensor_keep_the_memory_that_its_data_left() -> None:
    x = torch.ones(3)
    view, x.data = x[1:], torch.zeros(2, 2, device="jax")
    x += 1
    close(view, torch.ones(2))
    close(x, torch.ones(2, 2, device="jax"))


def test_data_is_not_taken_from_where_torch_takes_none() -> None:
    x = torch.ones(3, device="jax")
    for other in (torch.ones(3, device="meta"), torch.ones(3).to_sparse(), torch.ones(3, device="jax").to_sparse()):
        with pytest.raises(RuntimeError, match="incompatible tensor type"):
            x.data = other
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        torch.ones(3, device="meta").data = x


def test_a_compiled_function_moves_no_tensor() -> None:
    x = nn.Parameter(torch.ones(3))

    @tenax.jit
    def move(y: torch.Tensor) -> torch.Tensor:
        x.data = y * 2
        return y

    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        move(torch.ones(3, device="jax"))
    close(x, torch.ones(3))
