"""Steps of optimizers under `torch.compile(backend="tenax")`: parameters and counters agree with CPU torch."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

from tenax.compile import graph_program
from tests.helpers.agreement import close, compiled
from tests.helpers.tolerances import COMPOSED


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Each test compiles anew, and a recompilation beyond torch's limit is an error."""
    torch._dynamo.reset()
    with torch._dynamo.config.patch(fail_on_recompile_limit_hit=True):
        yield


def check_steps(reference: tuple[nn.Module, Any], ours: tuple[nn.Module, Any], count: int) -> None:
    """So many steps on both devices, after which the parameters agree."""
    for _ in range(count):
        for (module, step), kind in ((reference, "cpu"), (ours, "jax")):
            module(torch.ones(2, 3, device=kind)).square().sum().backward()
            step()
    close(list(ours[0].parameters()), list(reference[0].parameters()), COMPOSED)


def test_an_optimizer_step_compiles() -> None:
    for make in (
        lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
        lambda p: torch.optim.AdamW(p, lr=0.1, capturable=True),
        lambda p: torch.optim.AdamW(p, lr=0.1, fused=True),
    ):
        torch._dynamo.reset()
        host = nn.Linear(3, 2)
        device = copy.deepcopy(host).to("jax")
        optimizers = [make(list(m.parameters())) for m in (host, device)]
        if optimizers[0].defaults.get("capturable"):
            optimizers[0].param_groups[0]["capturable"] = False  # not on the CPU
        step = compiled(optimizers[1].step)
        check_steps((host, optimizers[0].step), (device, step), 3)


def test_a_step_counter_on_the_cpu_counts() -> None:
    host = nn.Linear(3, 2)
    device = copy.deepcopy(host).to("jax")
    optimizers = [torch.optim.Adam(m.parameters(), lr=0.1) for m in (host, device)]
    step = compiled(optimizers[1].step)
    check_steps((host, optimizers[0].step), (device, step), 4)
    assert {int(s["step"]) for s in optimizers[1].state.values()} == {4}


def test_step_counters_on_one_array_are_one_operand_until_they_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[int] = []

    class Noting(graph_program.AotCall):
        def into(self, results: Any, arrays: Any) -> None:
            passed.append(len(arrays))
            super().into(results, arrays)

    monkeypatch.setattr(graph_program, "AotCall", Noting)
    host = nn.Sequential(nn.Linear(3, 256), nn.Linear(256, 256), nn.Linear(256, 2))
    device = copy.deepcopy(host).to("jax")
    optimizers = [torch.optim.Adam(m.parameters(), lr=1e-4, capturable=m is device) for m in (host, device)]
    step = compiled(optimizers[1].step)
    count = len(list(host.parameters()))
    check_steps((host, optimizers[0].step), (device, step), 3)
    assert passed[1:] == [4 * count + 1] * (len(passed) - 1)
    for module, optimizer in zip((host, device), optimizers, strict=True):
        optimizer.state[module[1].weight]["step"].add_(5)
    check_steps((host, optimizers[0].step), (device, step), 2)
    assert passed[-1] == 4 * count + 2
    assert [int(s["step"]) for s in optimizers[1].state.values()] == [5, 5, 10, 5, 5, 5]


def test_tensors_that_share_an_array_for_one_call_are_apart() -> None:
    @compiled
    def add(x: torch.Tensor, y: torch.Tensor) -> None:
        x.add_(1)
        y.add_(2)

    x = torch.zeros((), device="jax")
    y = x.clone()
    for i in range(1, 4):
        add(x, y)
        assert (x.item(), y.item()) == (i, 2 * i)
    z = x.clone()
    add(x, z)
    assert (x.item(), z.item()) == (4, 5)


def test_step_counters_of_all_parameter_groups_count() -> None:
    host = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2), nn.Linear(2, 2))
    device = copy.deepcopy(host).to("jax")
    optimizers = [
        torch.optim.AdamW([{"params": layer.parameters(), "lr": 0.1 / (i + 1)} for i, layer in enumerate(m)])
        for m in (host, device)
    ]
    schedulers = [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5) for optimizer in optimizers]
    step = compiled(optimizers[1].step)
    for _ in range(4):
        check_steps((host, optimizers[0].step), (device, step), 1)
        for scheduler in schedulers:
            scheduler.step()
    assert {int(s["step"]) for s in optimizers[1].state.values()} == {4}
