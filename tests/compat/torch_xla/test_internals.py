"""Names of PyTorch/XLA that are internal, experimental or missing, as its signatures and documentation say."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest
import torch

import tenax
import tenax.compat.torch_xla as torch_xla
import tenax.compat.torch_xla._internal.pjrt as pjrt
import tenax.compat.torch_xla._internal.tpu as tpu
import tenax.compat.torch_xla.core.xla_model as xm
import tenax.compat.torch_xla.runtime as xr
import tenax.compat.torch_xla.utils.utils as xu
from tenax.compat.torch_xla._internal import jax_workarounds
from tenax.compat.torch_xla.experimental.xla_quantized_matmul import XlaQuantizedLinear, quantized_matmul
from tests.helpers.agreement import close

device = xm.xla_device()
extension: Any = importlib.import_module("tenax.compat.torch_xla._XLAC")


def quantized(block_size: int, zero: bool) -> tuple[torch.Tensor, ...]:
    """Activations, an int8 weight, its scales and what is subtracted, and the product computed in float64."""
    x = torch.randn(2, 3, 8)
    w = torch.randint(-8, 8, (6, 8) if block_size == -1 else (8 // block_size, block_size, 6), dtype=torch.int8)
    shape = (6,) if block_size == -1 else (8 // block_size, 6)
    scaler, zero_point = torch.rand(shape), torch.randn(shape)
    if block_size == -1:
        expected = torch.einsum("...c,nc,n->...n", x.double(), w.double(), scaler.double())
        sums = x.double().sum(-1, keepdim=True) * zero_point
    else:
        blocks = x.double().unflatten(-1, (-1, block_size))
        expected = torch.einsum("...sc,scn,sn->...n", blocks, w.double(), scaler.double())
        sums = blocks.sum(-1) @ zero_point.double()
    return x, w, scaler, zero_point, (expected - sums if zero else expected).float()


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("block_size", [-1, 2, 4])
def test_a_quantized_product_is_that_of_the_scaled_weight(block_size: int, zero: bool) -> None:
    x, w, scaler, zero_point, expected = quantized(block_size, zero)
    given = [t.to(device) for t in (w, scaler)]
    extra = {"zero_point": zero_point.to(device) if zero else None, "block_size": block_size}
    on_device = x.to(device).requires_grad_()
    for function in (quantized_matmul, torch.ops.xla.quantized_matmul):
        close(function(on_device, *given, **extra).detach().cpu(), expected)
    close(torch_xla.compile(quantized_matmul)(on_device.detach(), *given, **extra).cpu(), expected)
    layer = XlaQuantizedLinear(8, 6, is_symmetric=not zero, block_size=block_size).to(device)
    layer.load_quantized_weight(*given, extra["zero_point"])
    result = layer(on_device)
    close(result.detach().cpu(), expected)
    result.sum().backward()
    x.requires_grad_()
    quantized_matmul(x, w, scaler, zero_point if zero else None, block_size).sum().backward()
    close(on_device.grad, x.grad)


def test_quantized_activations_are_multiplied_as_integers() -> None:
    x, w, scaler, zero_point, expected = quantized(-1, True)
    found = [
        quantized_matmul(*(t.to(d) for t in (x, w, scaler, zero_point)), quantize_activation=True).cpu()
        for d in ("cpu", device)
    ]
    close(found[1], found[0])
    assert 0 < (found[1] - expected).abs().max() < 0.03 * expected.abs().max()  # rounded to one of 255 values
    layer = XlaQuantizedLinear(8, 6, is_symmetric=True, quantize_activation=True).to(device)
    assert [*layer.state_dict()] == ["weight", "weight_scaler"]
    assert torch.equal(layer(x.to(device)).cpu(), torch.zeros(2, 3, 6))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"w": torch.ones(6, 8)}, "a weight of torch.float32; expected torch.int8"),
        ({"w": torch.ones(6, 7, dtype=torch.int8)}, r"a weight of shape \[6, 7\]; expected \[outputs, 8\]"),
        ({"scaler": torch.ones(5)}, r"scaler of shape \[5\]; expected \[6\]"),
        ({"zero_point": torch.ones(6, 1)}, r"zero_point of shape \[6, 1\]; expected \[6\]"),
        ({"block_size": 3}, "block_size=3 does not divide 8"),
        ({"block_size": 4}, r"a weight of shape \[6, 8\]; expected \[2, 4, 'outputs'\]"),
        (
            {"w": torch.ones(2, 4, 6, dtype=torch.int8), "scaler": torch.ones(2, 6), "block_size": 4},
            "quantize_activation=True of a weight in blocks",
        ),
    ],
)
def test_a_quantized_product_of_wrong_shapes_is_an_error(change: dict[str, Any], text: str) -> None:
    given = {"x": torch.ones(3, 8), "w": torch.ones(6, 8, dtype=torch.int8), "scaler": torch.ones(6)} | change
    with pytest.raises(ValueError, match=text):
        quantized_matmul(**given, quantize_activation=True)


def test_the_topology_of_tpus_is_read_from_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TPU_ACCELERATOR_TYPE", "ACCELERATOR_TYPE", "TPU_PROCESS_BOUNDS", "TPU_HOST_BOUNDS", "TPU_WORKER_ID"):
        monkeypatch.delenv(name, raising=False)
    if xr.device_type() == "CPU":
        assert tpu.num_available_chips() == tpu.num_available_devices() == tpu.num_local_processes() == 0
        with pytest.raises(EnvironmentError, match="Failed to get TPU metadata"):
            tpu.version()
    assert tpu.get_worker_ips() == ["localhost"] and torch_xla.tpu is tpu
    assert tpu.process_bounds_size() is None and tpu.task_id() is None
    monkeypatch.setenv("TPU_ACCELERATOR_TYPE", "v5litepod-8")
    monkeypatch.setenv("TPU_PROCESS_BOUNDS", "2,2,1")
    monkeypatch.setenv("TPU_WORKER_HOSTNAMES", "a,b")
    assert tpu.get_tpu_env()["ACCELERATOR_TYPE"] == "v5litepod-8"
    assert xr.device_type() != "CPU" or tpu.version() == 5
    assert tpu.process_bounds_size() == 4 and tpu.num_tpu_workers() == 2
    with pytest.raises(EnvironmentError, match="TPU_WORKER_ID is not set"):
        tpu.worker_id()
    monkeypatch.setenv("TPU_ACCELERATOR_TYPE", "unknown")
    if xr.device_type() == "CPU":
        with pytest.raises(EnvironmentError, match="Failed to parse TPU version"):
            tpu.version()


def test_threads_of_a_process_are_replicas() -> None:
    seen: dict[int, Any] = {}

    def run(index: int, factor: float) -> None:
        x = torch.full((2,), index + 1.0, device=xm.xla_device())
        total = xm.all_reduce("sum", x)
        seen[index] = xm.get_ordinal(), x.device.index, (total * factor).tolist()

    pjrt.spawn_threads(run, (10.0,))
    count = len(xm.get_xla_supported_devices() or [])
    assert seen == {i: (i, i, [10 * count * (count + 1) / 2] * 2) for i in range(count)}

    def bad(index: int) -> None:
        if index == 1:
            raise ValueError("thread 1 is bad")
        xm.rendezvous("never")

    with pytest.raises((ValueError, RuntimeError), match=r"thread 1 is bad|another replica of the"):
        pjrt.spawn_threads(bad)


def test_processes_are_started_by_a_launcher() -> None:
    assert pjrt.run_multiprocess.__doc__
    with pytest.raises(NotImplementedError, match=r"was not started by xmp\.spawn or torchrun"):
        pjrt.initialize_multiprocess(0, 2)


def test_utilities_of_scripts() -> None:
    assert jax_workarounds.maybe_get_jax() is sys.modules["jax"]
    with pytest.raises(NotImplementedError, match=r"utils\.TimedScope: tenax lacks this name of PyTorch/XLA; expected"):
        xu.TimedScope("block ")


def test_products_of_the_extension_module() -> None:
    before = extension._xla_get_mat_mul_precision()
    extension._xla_set_mat_mul_precision(before)
    with tenax.lazy():
        assert "stablehlo.exponential" in extension._get_xla_tensors_text([torch.ones(3, device=device).exp()])
