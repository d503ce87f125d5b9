"""Programs for GPUs that this machine lacks, from XLA's own compiler."""

from __future__ import annotations

import os

import pytest
import torch
from jax.sharding import PartitionSpec as P
from torch.nn.functional import scaled_dot_product_attention

import tenax
from tenax.distributed import plan
from tenax.planning.targets import gpu_compiler
from tenax.sharding import fsdp
from tests.helpers.processes import run
from tests.planning.perceptron import WIDTH, build, heads, perceptron

needs_the_compiler = pytest.mark.skipif(gpu_compiler() is None, reason="the compiler of GPUs is not installed")


@needs_the_compiler
def test_attention_in_bfloat16_is_a_kernel_of_cudnn() -> None:
    def gradients(*inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad(scaled_dot_product_attention(*inputs, is_causal=True).float().sum(), inputs)

    forward = tenax.compile_for(scaled_dot_product_attention, *heads(), target="H100")
    assert forward.kernels == {"__cudnn$fmhaSoftmax": 1}
    backward = tenax.compile_for(gradients, *heads(True), target="H100").kernels
    assert backward == {"__cudnn$fmhaSoftmax": 1, "__cudnn$fmhaSoftmaxBackward": 1}


@needs_the_compiler
@pytest.mark.parametrize("target", ["A100", "H100", "H200"])
def test_a_training_step_has_no_float64(target: str) -> None:
    _, _, step, batch = perceptron("meta")
    program = tenax.compile_for(step, *batch, target=target)
    assert "f64[" not in program.text
    assert program.memory.weights == 4 * (WIDTH * WIDTH + WIDTH + 10 * WIDTH + 10)
    assert program.flops == 2 * 32 * WIDTH * (2 * WIDTH + 3 * 10)


@needs_the_compiler
def test_a_mesh_spans_the_gpus_of_several_hosts() -> None:
    assert len(tenax.target("H100:2x8").devices) == 16
    _, _, step, batch = perceptron("meta")
    program = tenax.compile_for(
        step, *batch, target="H100:2x8", mesh={"data": 2, "model": 8}, rules={"0.weight": P("model", None)}
    )
    assert program.memory.weights == 4 * (WIDTH * WIDTH / 8 + WIDTH + 10 * WIDTH + 10)
    assert {each.kind for each in program.collectives} >= {"all-reduce"}
    found = plan(build, {"data": 8}, fsdp("data"), target="H100:8")
    assert found.chip is not None and found.chip.name == "H100"


@needs_the_compiler
def test_what_does_not_fit_raises_the_bytes_and_the_limit() -> None:
    x = torch.zeros(1 << 18, 1 << 18, dtype=torch.bfloat16, device="meta")
    with pytest.raises(torch.OutOfMemoryError, match=r"needs 275 GB on each device; H100 has 80 GB\. .* 137 GB bf"):
        tenax.compile_for(torch.sin, x, target="H100")


@needs_the_compiler
def test_no_topology() -> None:
    for name in ("H100:0", "H100:8x", "H100:2x4x8"):
        with pytest.raises(ValueError, match=f"'{name}' is no topology; expected a number of GPUs, or 'HOSTSxGPUS'"):
            tenax.target(name)


@needs_the_compiler
def test_the_plugin_is_found_after_jax_has_started_without_a_gpu() -> None:
    program = """
import jax, tenax, torch
print(*{device.platform for device in jax.devices()})
print(tenax.compile_for(torch.sin, torch.zeros(4, device="meta"), target="H100").target)
print((torch.ones(2, device="jax") + 1).tolist())
"""
    environment = {name: value for name, value in os.environ.items() if name != "JAX_PLATFORMS"}
    assert run(program, env=environment).stdout == "cpu\nH100\n[2.0, 2.0]\n"


@pytest.mark.skipif(gpu_compiler() is not None, reason="the compiler of GPUs is installed")
def test_without_the_compiler_the_error_says_how_to_get_it() -> None:
    with pytest.raises(ImportError, match=r"'H100'\): JAX's plugin for CUDA is missing; .* 'tenax\[cuda\]'"):
        tenax.target("H100")
