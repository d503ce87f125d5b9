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
from tests.helpers.tolerances import ACCUMULATED

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
def test_a_file_is_saved_from_the_device_and_loaded_onto_it(
    make: Callable[[nn.Module], nn.Module], tmp_path: Path
) -> None:
    _, module = pair(make)
    module.eval()
    x = torch.randn(4, 3)
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    module.save(str(tmp_path / "module.pt"))
    for source in (buffer, tmp_path / "module.pt"):
        for where in ("cpu", "jax", torch.device("jax", 0), None):
            buffer.seek(0)
            loaded = torch.jit.load(source, map_location=where)
            kind = "cpu" if where is None else torch.device(where).type
            assert {t.device.type for t in (*loaded.parameters(), *loaded.buffers())} == {kind}
            close(loaded(x.to(kind)).cpu(), module(x.to("jax")).cpu())
    assert next(module.parameters()).device.type == "jax"  # saving moved a copy


class Layers(nn.Module):
    """Layers whose kernels ask for sizes, or which torch records by other operators."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3, padding="same")
        self.second = nn.ConvTranspose2d(4, 4, 3, stride=2, output_padding=1)
        self.norm, self.group, self.pool = nn.BatchNorm2d(4), nn.GroupNorm(2, 4), nn.MaxPool2d(2)
        self.inner = nn.Conv1d(4, 6, 1)
        self.encoder = nn.TransformerEncoderLayer(6, 2, dropout=0.0, batch_first=True)
        self.last = nn.GRU(6, 5, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.pool(self.group(torch.relu(self.norm(self.second(self.first(x))))))
        z = self.inner(y.flatten(2)).mT
        rows: torch.Tensor = self.last(self.encoder(z))[0]
        rows[:, 0] = x.mean((1, 2, 3))[:, None]
        return rows[:, rows.size(1) - 1] + rows.sum(1)


@pytest.mark.parametrize("training", [False, True])
def test_a_module_is_traced_on_the_device(training: bool, recwarn: pytest.WarningsRecorder) -> None:
    net = Layers().train(training)
    x = torch.randn(2, 3, 6, 6)
    traced, warned = [], []
    for device in ("cpu", "jax"):
        recwarn.clear()
        # torch's check compares graphs as text, and names weights otherwise in the second of them.
        traced.append(torch.jit.trace(copy.deepcopy(net).to(device), x.to(device), check_trace=False))  # type: ignore[no-untyped-call]
        warned.append({(w.filename, w.lineno) for w in recwarn if w.category is torch.jit.TracerWarning})
    expected, module = traced
    assert warned[1] == warned[0]
    for images in (x, torch.randn(2, 3, 6, 6)):
        outputs = [expected(images), module(images.to("jax"))]
        close(outputs[1], outputs[0], ACCUMULATED)
        for output in outputs:
            output.square().sum().backward()
    scale = max(float(q.grad.abs().max()) for q in expected.parameters())  # a bias before a norm has none but noise
    for p, q in zip(module.parameters(), expected.parameters(), strict=True):
        assert p.grad.device.type == "jax"
        close(p.grad / scale, q.grad / scale, ACCUMULATED)


@pytest.mark.filterwarnings("default::torch.jit.TracerWarning")
def test_a_value_that_a_traced_function_reads_is_warned_of_at_its_line() -> None:
    with pytest.warns(torch.jit.TracerWarning, match="Python number") as caught:
        torch.jit.trace(lambda x: x * x.sum().item(), torch.ones(3, device="jax"))  # type: ignore[no-untyped-call]
    assert {w.filename for w in caught if w.category is torch.jit.TracerWarning} == {__file__}
