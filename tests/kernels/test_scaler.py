"""`torch.amp.GradScaler("jax")`: step by step what it does on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from tests.helpers.agreement import close

INF = float("inf")
OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, foreach=False),
    "foreach sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, foreach=True),
    "fused sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, fused=True),
    "foreach adam": lambda p: torch.optim.Adam(p, lr=0.1, foreach=True),
    "fused adam": lambda p: torch.optim.Adam(p, lr=0.1, fused=True),
    "fused adamw": lambda p: torch.optim.AdamW(p, lr=0.1, fused=True),
    "fused adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1, fused=True),
}


def network(device: str) -> nn.Module:
    torch.manual_seed(0)
    return nn.Linear(3, 2).to(device)


def scaler_of(device: str, **settings: Any) -> torch.amp.GradScaler:
    return torch.amp.GradScaler(device, **({"init_scale": 4.0, "growth_interval": 2} | settings))


def both(run: Callable[[str], Any]) -> None:
    close(run("jax"), run("cpu"))


def host(tensors: Any) -> list[torch.Tensor]:
    return [x.detach().to("cpu", copy=True) for x in tensors]


def state_of(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    held = [value for state in optimizer.state.values() for _, value in sorted(state.items())]
    return host(x for x in held if isinstance(x, torch.Tensor))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_step_is_the_cpus_and_one_that_overflows_is_skipped(name: str) -> None:
    def run(device: str) -> list[Any]:
        net, scaler, seen = network(device), scaler_of(device), []
        optimizer = OPTIMIZERS[name](net.parameters())
        for value in (1.0, INF, 2.0, -1.0, float("nan"), 0.5):
            optimizer.zero_grad()
            loss = net(torch.full((4, 3), value).to(device)).square().mean()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            seen.append((scaler.get_scale(), scaler._get_growth_tracker(), host(net.parameters()), state_of(optimizer)))
        return seen

    both(run)
    assert [scale for scale, *_ in run("jax")] == [4.0, 2.0, 2.0, 4.0, 2.0, 2.0]


def test_gradients_are_unscaled_once_and_can_be_clipped() -> None:
    def run(device: str) -> Any:
        net, scaler = network(device), scaler_of(device)
        optimizer = OPTIMIZERS["foreach sgd"](net.parameters())
        scaler.scale(net(torch.ones(4, 3).to(device)).sum()).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        with pytest.raises(RuntimeError, match=r"unscale_\(\) has already been called"):
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        with pytest.raises(AssertionError, match="No inf checks were recorded"):
            scaler.update()
        return norm.detach().cpu(), host(net.parameters())

    both(run)


def test_of_several_optimizers_the_one_that_overflowed_is_skipped() -> None:
    def run(device: str) -> Any:
        nets, scaler = [network(device), network(device)], scaler_of(device)
        optimizers = [OPTIMIZERS[name](net.parameters()) for name, net in zip(("sgd", "fused adam"), nets, strict=True)]
        seen = []
        for first, second in ((1.0, INF), (INF, 1.0), (1.0, 1.0)):
            for optimizer in optimizers:
                optimizer.zero_grad()
            for net, value in zip(nets, (first, second), strict=True):
                scaler.scale(net(torch.full((4, 3), value).to(device)).sum()).backward()
            scaler.unscale_(optimizers[0])
            for optimizer in optimizers:
                scaler.step(optimizer)
            scaler.update()
            seen.append((scaler.get_scale(), [host(net.parameters()) for net in nets]))
        return seen

    both(run)


def test_a_frozen_parameter_and_one_without_gradient_are_left_alone() -> None:
    def run(device: str) -> Any:
        net, scaler = network(device), scaler_of(device)
        net.bias.requires_grad_(False)
        idle = nn.Parameter(torch.ones(2).to(device))
        optimizer = torch.optim.SGD([*net.parameters(), idle], lr=0.1)
        scaler.scale(net(torch.ones(4, 3).to(device)).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        return host([*net.parameters(), idle])

    both(run)


def test_gradients_of_several_dtypes_are_unscaled_together() -> None:
    def run(device: str) -> Any:
        scaler = scaler_of(device)
        params = [
            nn.Parameter(torch.ones(3, dtype=d).to(device)) for d in (torch.float32, torch.float64, torch.bfloat16)
        ]
        optimizer = torch.optim.SGD(params, lr=0.5)
        loss = sum((p * torch.tensor([1.0, 2.0, 3.0]).to(device)).float().sum() for p in params)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        return host(p.grad for p in params)

    both(run)


def test_gradients_in_float16_are_refused() -> None:
    p = nn.Parameter(torch.ones(2, dtype=torch.float16, device="jax"))
    scaler, optimizer = scaler_of("jax"), torch.optim.SGD([p], lr=0.1)
    scaler.scale(p.sum()).backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.step(optimizer)


def test_a_new_scale_is_taken_as_a_number_and_as_a_tensor() -> None:
    def run(device: str) -> list[float]:
        scaler, seen = scaler_of(device), []
        scaler.scale(torch.ones(1).to(device))
        for new in (16.0, torch.tensor(32.0).to(device)):
            scaler.update(new)
            seen.append(scaler.get_scale())
        return seen

    assert run("jax") == run("cpu") == [16.0, 32.0]


def test_a_list_of_outputs_is_scaled() -> None:
    scaler = scaler_of("jax")
    first, (second,) = scaler.scale((torch.ones(2, device="jax"), [torch.ones(1, device="jax").half()]))
    assert first.tolist() == [4, 4]
    assert second.tolist() == [4]


def test_the_scale_grows_no_further_than_its_dtype() -> None:
    def run(device: str) -> float:
        net, scaler = network(device), scaler_of(device, init_scale=2.0**127, growth_interval=1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        scaler.scale(net(torch.zeros(4, 3).to(device)).sum() * 1e-30).backward()
        scaler.step(optimizer)
        scaler.update()
        return scaler.get_scale()

    assert run("jax") == run("cpu") == 2.0**127


def test_a_state_is_carried_over() -> None:
    def run(device: str) -> Any:
        net, scaler = network(device), scaler_of(device, growth_interval=3)
        optimizer = OPTIMIZERS["sgd"](net.parameters())
        for _ in range(4):
            optimizer.zero_grad()
            scaler.scale(net(torch.ones(4, 3).to(device)).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            state, scaler = scaler.state_dict(), scaler_of(device, init_scale=1.0)
            scaler.load_state_dict(state)
        return scaler.state_dict()

    assert run("jax") == run("cpu")
    assert run("jax")["scale"] == 8.0


def test_a_disabled_scaler_steps_plainly() -> None:
    def run(device: str) -> Any:
        net, scaler = network(device), torch.amp.GradScaler(device, enabled=False)
        optimizer = OPTIMIZERS["sgd"](net.parameters())
        scaler.scale(net(torch.ones(4, 3).to(device)).sum()).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        return scaler.state_dict(), host(net.parameters())

    both(run)


def test_a_model_trains_under_autocast_and_scaler() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1)).to("jax")
    x = torch.randn(64, 3)
    y = (x @ torch.tensor([[1.0], [-2.0], [0.5]])).to("jax")
    x = x.to("jax")
    optimizer, scaler = torch.optim.Adam(net.parameters(), lr=0.05, fused=True), scaler_of("jax", init_scale=2.0**16)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        with torch.autocast("jax", torch.float16):
            loss = nn.functional.mse_loss(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < 0.05 * losses[0]
