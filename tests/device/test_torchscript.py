"""TorchScript modules on the device: moved, trained, saved and loaded."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.helpers.agreement import close

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning"),
]


class Net(nn.Module):
    """Two layers of one weight, and statistics."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)
        self.second.weight = self.first.weight
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.norm(self.second(torch.relu(self.first(x))))
        return y


MAKE: dict[str, Callable[[nn.Module], nn.Module]] = {
    "scripted": torch.jit.script,
    "traced": lambda module: torch.jit.trace(module, torch.ones(2, 3)),  # type: ignore[no-untyped-call]
}


def pair(make: Callable[[nn.Module], nn.Module]) -> tuple[nn.Module, nn.Module]:
    """A module on the CPU, and one like it on the device."""
    net = Net()
    return make(copy.deepcopy(net)), make(copy.deepcopy(net)).to("jax")


@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_a_module_trains_on_the_device(make: Callable[[nn.Module], nn.Module]) -> None:
    expected, module = pair(make)
    assert {t.device.type for t in (*module.parameters(), *module.buffers())} == {"jax"}
    assert module.first.weight is module.second.weight and len(list(module.parameters())) == 5
    optimizers = [torch.optim.SGD(m.parameters(), 0.1) for m in (expected, module)]
    for _ in range(3):
        x = torch.randn(4, 3)
        outputs = [expected(x), module(x.to("jax"))]
        close(outputs[1].cpu(), outputs[0])
        for output, optimizer in zip(outputs, optimizers, strict=True):
            optimizer.zero_grad()
            output.square().sum().backward()
            optimizer.step()
    for name, tensor in expected.state_dict().items():
        close(module.state_dict()[name].cpu(), tensor)
    assert {t.device.type for t in module.cpu().parameters()} == {"cpu"}


@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_a_file_is_saved_from_the_device_and_loaded_on_the_cpu(
    make: Callable[[nn.Module], nn.Module], tmp_path: Path
) -> None:
    _, module = pair(make)
    module.eval()
    x = torch.randn(4, 3)
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    module.save(str(tmp_path / "module.pt"))
    for source in (buffer, tmp_path / "module.pt"):
        buffer.seek(0)
        loaded = torch.jit.load(source)
        assert {t.device.type for t in (*loaded.parameters(), *loaded.buffers())} == {"cpu"}
        close(loaded(x), module(x.to("jax")).cpu())
        close(loaded.to("jax")(x.to("jax")).cpu(), module(x.to("jax")).cpu())
    assert next(module.parameters()).device.type == "jax"  # saving moved a copy


def test_a_trace_that_would_lack_an_operation_of_the_device_raises() -> None:
    module, images = nn.Conv2d(3, 4, 3).to("jax"), torch.randn(2, 3, 6, 6, device="jax")
    for _ in range(2):  # also after a call of the same shapes
        with pytest.raises(NotImplementedError, match=r"convolution: .* does not record it"):
            torch.jit.trace(module, images)  # type: ignore[no-untyped-call]
        module(images)


def test_a_trace_of_operations_that_torch_records_is_that_of_the_cpu() -> None:
    net, x = Net().eval(), torch.randn(4, 3)
    traced = torch.jit.trace(copy.deepcopy(net).to("jax"), torch.ones(2, 3, device="jax"))  # type: ignore[no-untyped-call]
    close(traced(x.to("jax")).cpu(), net(x))
