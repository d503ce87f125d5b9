"""Models of the transformers package on the device against the same on CPU torch: eager, tenax.jit, torch.compile."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from functools import cache
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import pytest
import torch
import transformers
from torch._dynamo.exc import Unsupported

import tenax
from tests.helpers.agreement import close
from tests.helpers.tolerances import ACCUMULATED, COMPOSED
from tests.helpers.training import train

SIZE = {
    "vocab_size": 32,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "initializer_range": 0.5,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "bos_token_id": 2,
}
HEADS = {"num_key_value_heads": 1, "max_position_embeddings": 16}
T5 = {
    "vocab_size": 32,
    "d_model": 16,
    "d_kv": 8,
    "d_ff": 32,
    "num_layers": 1,
    "num_heads": 2,
    "dropout_rate": 0.0,
    "initializer_factor": 1.0,
    "decoder_start_token_id": 0,
    "tie_word_embeddings": False,
}
# The gradient of a key's bias is zero but for rounding, which AdamW makes as large as any other.
VISION = {"image_size": 8, "patch_size": 4, "num_labels": 5, "qkv_bias": False}
MIXTURE = {"num_local_experts": 4, "num_experts_per_tok": 2}

FAMILIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "decoder": ("LlamaForCausalLM", "LlamaConfig", SIZE | HEADS),
    "mixture of experts": ("MixtralForCausalLM", "MixtralConfig", SIZE | HEADS | MIXTURE),
    "encoder-decoder": ("T5ForConditionalGeneration", "T5Config", T5),
    "vision": ("ViTForImageClassification", "ViTConfig", SIZE | VISION),
    "state space": ("MambaForCausalLM", "MambaConfig", SIZE | {"state_size": 4}),
}
WRITERS = [f for f in FAMILIES if f != "vision"]


@cache
def original(family: str) -> torch.nn.Module:
    """A model with random weights, which nobody changes."""
    model, config, options = FAMILIES[family]
    torch.manual_seed(0)
    return getattr(transformers, model)(getattr(transformers, config)(**options))


def model_on(device: str, family: str) -> torch.nn.Module:
    return copy.deepcopy(original(family)).to(device)


def batch_on(device: str, family: str) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    if family == "vision":
        batch = {"pixel_values": torch.randn(2, 3, 8, 8, generator=generator), "labels": torch.tensor([1, 3])}
    else:
        batch = {name: torch.randint(3, 32, (2, 6), generator=generator) for name in ("input_ids", "labels")}
    return {name: x.to(device) for name, x in batch.items()}


def trained(
    model: torch.nn.Module, batch: dict[str, torch.Tensor], compiled: Callable[[Any], Any] = lambda step: step
) -> list[Any]:
    """Three steps of AdamW: the losses and logits on the way, then the last gradients and the weights."""

    def loss(model: torch.nn.Module, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        out = model.train()(**batch)
        return out.loss, out.logits

    seen = train(model, lambda p: torch.optim.AdamW(p, lr=1e-3), loss, batch, compiled=compiled)
    return [seen, [p.grad for p in model.parameters()], list(model.parameters())]


@cache
def trained_on_the_cpu(family: str) -> list[Any]:
    return trained(model_on("cpu", family), batch_on("cpu", family))


def assert_as_on_the_cpu(found: list[Any], family: str) -> None:
    close(found, trained_on_the_cpu(family), ACCUMULATED)


def generate(model: torch.nn.Module, family: str, device: str) -> list[list[int]]:
    prompt = batch_on(device, family)["input_ids"]
    fixed = {} if family == "state space" else {"cache_implementation": "static"}
    written = model.eval().generate(prompt, max_new_tokens=4, do_sample=False, **fixed)
    assert written.device.type == device
    return written.tolist()


@cache
def written_on_the_cpu(family: str) -> list[list[int]]:
    return generate(model_on("cpu", family), family, "cpu")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_trains_eagerly_as_on_the_cpu(family: str) -> None:
    assert_as_on_the_cpu(trained(model_on("jax", family), batch_on("jax", family)), family)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_compiled_training_step_trains_as_on_the_cpu(family: str) -> None:
    steps: list[Any] = []

    def compiled(step: Any) -> Any:
        steps.append(tenax.jit(step))
        return steps[0]

    assert_as_on_the_cpu(trained(model_on("jax", family), batch_on("jax", family), compiled), family)
    assert len(tenax._jit.jitted.compiled_of(steps[0]).programs) == 1


@pytest.mark.parametrize("family", FAMILIES)
def test_a_compiled_module_gives_the_logits_and_gradients_of_the_cpu(family: str) -> None:
    reference, model = model_on("cpu", family), tenax.jit(model_on("jax", family))
    found = []
    for m, device in ((reference, "cpu"), (model, "jax")):
        out = m.train()(**batch_on(device, family))
        out.loss.backward()
        found.append([out.logits, *(p.grad for p in m.parameters() if p.grad is not None)])
    close(found[1], found[0], COMPOSED)


# Mamba asks for the version of torch within the graph.
@pytest.mark.filterwarnings("ignore:Dynamo detected a call to a `functools.lru_cache`")
@pytest.mark.sampled(4)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_graph_of_torch_compile_trains_as_on_the_cpu(family: str) -> None:
    torch._dynamo.reset()
    model = model_on("jax", family)
    if family == "mixture of experts":  # by default transformers reads the size of each group on the host here
        model.set_experts_implementation("batched_mm")
    model = torch.compile(model, backend="tenax", fullgraph=True)
    try:
        found = trained(model, batch_on("jax", family))
    except Unsupported:
        skip_if_torch_breaks_the_graph(family)
        raise
    assert_as_on_the_cpu(found, family)


def skip_if_torch_breaks_the_graph(family: str) -> None:
    """Skip where torch finds no whole graph on the CPU either."""
    torch._dynamo.reset()
    try:
        torch.compile(model_on("cpu", family), backend="eager", fullgraph=True)(**batch_on("cpu", family))
    except Unsupported as error:
        pytest.skip(f"torch.compile breaks the graph of {FAMILIES[family][0]} on the CPU: {error}")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("family", WRITERS)
def test_greedy_generation_writes_what_it_writes_on_the_cpu(family: str) -> None:
    assert len({token for row in written_on_the_cpu(family) for token in row[-4:]}) > 1
    assert generate(model_on("jax", family), family, "jax") == written_on_the_cpu(family)


@pytest.mark.parametrize("family", WRITERS)
def test_a_compiled_module_generates_with_one_program_for_the_prompt_and_one_for_a_token(family: str) -> None:
    model = tenax.jit(model_on("jax", family))
    assert generate(model, family, "jax") == written_on_the_cpu(family)
    history = tenax._jit.jitted.compiled_of(model).history
    assert len(history) == 2, [c.reason for c in history]
