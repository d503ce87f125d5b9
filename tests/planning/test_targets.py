"""Programs for TPUs that this machine lacks, from their own compiler, and plans on their topologies."""

from __future__ import annotations

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from jax.sharding import PartitionSpec as P
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from typer.testing import CliRunner

import tenax
from tenax.cli import app
from tenax.distributed import plan
from tenax.errors import TraceError
from tenax.kernels.nll import nll_loss_forward
from tenax.planning.targets import library
from tenax.platforms import made_for, platform
from tenax.sharding import fsdp
from tests.helpers.processes import run
from tests.planning.perceptron import WIDTH, build, heads, perceptron

if library() is None:
    pytest.skip("the compiler of TPUs is not installed", allow_module_level=True)
TPU = "TPU v5e:2x2"


def test_attention_in_bfloat16_is_the_flash_kernel_of_tpus() -> None:
    def gradients(*inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad(scaled_dot_product_attention(*inputs, is_causal=True).float().sum(), inputs)

    forward = tenax.compile_for(scaled_dot_product_attention, *heads(), target=TPU)
    assert forward.kernels == {"tpu_custom_call": 1}
    assert forward.memory.batch == 3 * forward.memory.results == 3 * 2 * 4 * 256 * 64 * 2
    assert tenax.compile_for(gradients, *heads(True), target=TPU).kernels["tpu_custom_call"] == 3


@pytest.mark.parametrize("kind", ["TPU v4", "TPU v5p", "TPU v6e", "TPU7x"])
def test_other_kinds_of_tpus_take_it_too(kind: str) -> None:
    assert tenax.compile_for(scaled_dot_product_attention, *heads(), target=kind).kernels["tpu_custom_call"] == 1


def test_attention_over_a_mesh_is_none_of_these_kernels() -> None:
    attention = scaled_dot_product_attention
    assert tenax.compile_for(attention, *heads(), target=TPU).kernels == {"tpu_custom_call": 1}
    program = tenax.compile_for(attention, *heads(), target=TPU, mesh={"data": 2, "model": 2})
    assert "tpu_custom_call" not in program.kernels  # XLA cannot partition it


def test_a_training_step_has_no_64_bit_values_but_the_labels() -> None:
    _, _, step, batch = perceptron("meta")
    program = tenax.compile_for(tenax.jit(step), *batch, target=TPU)
    wide = re.findall(r"\b([a-z]+)(?:64|128)\[", program.text)
    assert set(wide) == {"s"}
    assert len(wide) == 3  # an argument, and what splits it into 32 bits
    weights = 4 * (WIDTH * WIDTH + WIDTH + 10 * WIDTH + 10)
    assert (program.memory.weights, program.memory.total > 3 * weights) == (weights, True)
    assert program.flops == 2 * 32 * WIDTH * (2 * WIDTH + 3 * 10)
    assert program.cost["bytes accessed"] > weights
    assert "products, in all" in str(program)


def test_a_learning_rate_is_negated_in_float32() -> None:
    with torch.device("meta"):
        model, x = nn.Linear(4, 4), torch.zeros(2, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step(x: torch.Tensor) -> None:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    assert "f64[" not in tenax.compile_for(step, x, target=TPU).text


def test_numbers_read_from_float32_are_computed_in_float32() -> None:
    with torch.device("meta"):
        model, x = nn.Linear(4, 4), torch.zeros(2, 4)
    optimizer = torch.optim.Adafactor(model.parameters())  # the step count to a power, and norms

    def step(x: torch.Tensor) -> None:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    assert "f64[" not in tenax.compile_for(step, x, target=TPU).text
    assert "f64[" in tenax.compile_for(lambda x: x.max().item() ** 0.5 * x, x.double(), target=TPU).text


@pytest.mark.parametrize("device", ["meta", "jax"])
def test_state_is_as_it_was(device: str) -> None:
    model, optimizer, step, batch = perceptron(device)
    before = [p.detach().clone() for p in model.parameters()]
    tenax.compile_for(step, *batch, target=TPU)
    assert not optimizer.state
    for parameter, old in zip(model.parameters(), before, strict=True):
        assert parameter.device.type == device
        assert parameter.grad is None
        if device == "jax":
            assert torch.equal(parameter, old)
    if device == "jax":
        compiled = tenax.jit(step)
        first = compiled(*batch).item()
        assert compiled(*batch).item() < first


def test_state_that_an_optimizer_makes_with_its_parameters_is_laid_out_like_them() -> None:
    with torch.device("meta"):
        model, x = nn.Linear(16, 8, bias=False), torch.zeros(4, 16)
    optimizer = torch.optim.Adagrad(model.parameters())

    def step(x: torch.Tensor) -> None:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    program = tenax.compile_for(step, x, target=TPU, mesh={"data": 4}, rules=fsdp("data", least=1))
    assert (program.memory.weights, program.memory.optimizer) == (4 * 16 * 8 / 4, 4 * 16 * 8 / 4 + 4)
    assert optimizer.state[model.weight]["sum"].device.type == "meta"


def test_a_recurrence_counts_in_32_bits() -> None:
    model = nn.LSTM(16, 16, device="meta")
    program = tenax.compile_for(lambda x: model(x)[0], torch.zeros(9, 2, 16, device="meta"), target=TPU)
    counters = re.findall(r"%while\S* = \((\w+)\[\][^,]*, (\w+)\[", program.text)
    assert counters == [("s32", "f32")]  # a 64-bit counter would be two of 32 bits


def test_the_loss_of_a_large_vocabulary_needs_no_log_probabilities_in_memory() -> None:
    """Hand-written JAX gathers from them, so that they are computed into memory."""

    def gradient(logits: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        loss = cross_entropy(logits.float(), target)
        return loss.detach(), torch.autograd.grad(loss, logits)[0]

    logits = torch.zeros(4096, 32768, dtype=torch.bfloat16, device="meta", requires_grad=True)
    program = tenax.compile_for(gradient, logits, torch.zeros(4096, dtype=torch.long, device="meta"), target=TPU)
    assert program.memory.temporaries < logits.nbytes / 8


@pytest.mark.parametrize("weight", [None, jnp.arange(5.0)])
def test_the_loss_has_the_same_values_on_tpus(weight: jax.Array | None) -> None:
    scores = jnp.log(jnp.abs(jax.random.normal(jax.random.key(0), (7, 5)))).at[2].set(-jnp.inf).at[3, 1].set(jnp.nan)
    target = jnp.array([0, 4, 2, 3, -100, 1, 4])
    for reduction in range(3):
        expected = nll_loss_forward(scores, target, weight, reduction, -100)
        with made_for("tpu"):
            actual = nll_loss_forward(scores, target, weight, reduction, -100)
        for a, b in zip(actual, expected, strict=True):
            np.testing.assert_array_equal(a, b)


def test_programs_of_the_device_and_of_a_target_are_traced_apart() -> None:
    x = torch.rand(1000, device="jax") * 5
    expected = torch.lgamma(x).cpu()
    program = tenax.compile_for(torch.lgamma, x, target=TPU)
    assert "f64[" not in program.text  # the CPU computes it in float64
    assert torch.equal(torch.lgamma(x).cpu(), expected)
    assert torch.equal(tenax.jit(torch.lgamma)(x).cpu(), expected)
    with made_for("tpu"):
        assert platform() == "tpu"
    assert platform() == "cpu"


def test_what_does_not_fit_raises_the_bytes_and_the_limit() -> None:
    x = torch.zeros(1 << 16, 1 << 16, dtype=torch.bfloat16, device="meta")
    limit = r"(?s)\(32.00G\) exceeds available HBM \(15.75G\)(?:\. HLO module: .*)?\. "
    values = r"The largest values of the whole program: 8\.59 GB bfloat16\[65536,65536\] \(.*test_targets\.py:\d+\)"
    with pytest.raises(torch.OutOfMemoryError, match=limit + values):
        tenax.compile_for(lambda x, y: x @ y @ x @ y, x, x, target=TPU)


def test_errors_name_what_is_expected() -> None:
    with pytest.raises(ValueError, match="'TPU v99' is not known; expected one of 'TPU v4', 'TPU v5e'"):
        tenax.target("TPU v99")
    with pytest.raises(ValueError, match="'TPU v5e:3x5' is no topology of these chips"):
        tenax.target("TPU v5e:3x5")
    x = torch.zeros(4, device="meta")
    with pytest.raises(TraceError, match=r"test_targets\.py"):
        tenax.compile_for(lambda x: x.item(), x[0], target=TPU)
    with pytest.raises(ValueError, match="is on cpu; expected the device 'meta' or 'jax'"):
        tenax.compile_for(torch.sin, torch.zeros(4), target=TPU)
    with pytest.raises(ValueError, match=r"a mesh of 3 devices \({'data': 3}\); expected 4"):
        tenax.compile_for(torch.sin, x, target=TPU, mesh={"data": 3})


def test_singular_vectors_and_their_derivatives_compile_while_jax_has_64_bit_types() -> None:
    def step(x: torch.Tensor) -> list[torch.Tensor]:
        x.requires_grad_()
        u, s, vh = torch.linalg.svd(x, full_matrices=False)
        (u.abs().sum() + s.sum() + vh.abs().sum() + torch.linalg.pinv(x).sum()).backward()
        return [u, s, vh, x.grad]

    program = tenax.compile_for(step, torch.zeros(4, 3, device="meta"), target=TPU)
    assert "f64[" not in program.text


def test_a_plan_on_a_topology_has_the_collectives_of_its_compiler() -> None:
    found = plan(build, {"data": 8}, fsdp("data"), target="TPU v5e:2x4")
    kinds = {e.kind: e for e in found.exchanges}
    assert all("planning/perceptron.py" in kinds[kind].line for kind in ("all-gather", "all-reduce"))
    assert found.memory.weights * 8 < 4 * (WIDTH * WIDTH + 11 * WIDTH) + 8 * 4 * (WIDTH + 10) + 1
    assert found.chip is not None and found.chip.name == "TPU v5e"
    assert "8 devices (data=8) of TPU v5e:2x4" in str(found)
    with pytest.raises(ValueError, match="a mesh of 4 devices"):
        plan(build, {"data": 4}, fsdp("data"), target="TPU v5e:2x4")


@pytest.mark.slow
def test_a_llama_gathers_weights_and_scatters_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    import plan_llama

    found = plan_llama.planned("tiny", "fsdp", None, "TPU v5e:2x4")
    kinds: dict[str, float] = {}
    for each in found.exchanges:
        kinds[each.kind] = kinds.get(each.kind, 0) + each.bytes
    parameters = found.memory.weights * 8 / 4
    assert kinds["all-gather"] > 2 * parameters  # in bfloat16
    assert kinds["reduce-scatter"] > 2 * parameters
    assert any(e.kind == "all-gather" and e.scope == "model.layers.*.attention.q_proj" for e in found.exchanges)


def test_a_model_on_the_device_is_laid_out_over_the_topology() -> None:
    model, _, step, batch = perceptron("jax")
    program = tenax.compile_for(
        step, *batch, target=TPU, mesh={"data": 2, "model": 2}, rules={"0.weight": P("model", None)}
    )
    assert program.memory.weights == 4 * (WIDTH * WIDTH / 2 + WIDTH + 10 * WIDTH + 10)
    assert tenax.sharding_of(model[0].weight).num_devices == 1


def test_the_command_prints_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "made_for_tpus.py").write_text("from tests.planning.perceptron import build\n")
    result = CliRunner().invoke(
        app, ["compile", "made_for_tpus:build", "--target", TPU, "--mesh", "data=4", "--fsdp", "data"]
    )
    assert result.exit_code == 0, result.output
    assert "TPU v5e:2x2 (data=4)" in result.output and "all-gather" in result.output


def test_importing_tenax_does_not_load_the_compiler() -> None:
    program = """
import sys, tenax, torch
tenax.jit(lambda x: x + 1)(torch.ones(2, device="jax"))
print("libtpu.so" in open("/proc/self/maps").read(), "tenax.planning" in sys.modules)
"""
    assert run(program, env={"JAX_PLATFORMS": "cpu", "PATH": "/usr/bin"}).stdout == "False False\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama", "gemma2", "mixtral"])
def test_a_decoding_step_with_a_static_cache_compiles(name: str) -> None:
    pytest.importorskip("transformers")
    from transformers import StaticCache

    from tests.ecosystem.architectures import built

    model = built(name, 64, 256).bfloat16().to("jax").eval()
    config = model.config
    cache = StaticCache(config=config, max_cache_len=256)
    states = torch.zeros(4, config.num_key_value_heads, 1, 64, dtype=torch.bfloat16, device="jax")
    for layer in cache.layers:
        layer.lazy_initialization(states, states)

    @torch.no_grad()
    def step(tokens: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        logits = model(input_ids=tokens, past_key_values=cache, cache_position=place).logits
        return logits[:, -1].argmax(-1, keepdim=True)

    tokens = torch.zeros(4, 1, dtype=torch.int64, device="jax")
    program = tenax.compile_for(step, tokens, tokens[0], target=TPU)
    held = sum(x.nbytes for layer in cache.layers for x in (layer.keys, layer.values))
    assert program.memory.results < held / 10  # the cache is updated in place
    assert ("tpu_custom_call" in program.kernels) == (name == "mixtral")  # its grouped products
