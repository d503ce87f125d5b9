"""What each rank of two checks about a Llama of transformers: it trains with the losses of one CPU device."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from functools import cache, partial
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

import tenax
from tests.distributed.parallel_checks import SIZE, mean, part, same_losses

STEPS = 20
TENSOR_PARALLEL = {
    "model.embed_tokens": RowwiseParallel(input_layouts=Replicate()),
    "model.layers.*.self_attn.q_proj": ColwiseParallel(),
    "model.layers.*.self_attn.k_proj": ColwiseParallel(),
    "model.layers.*.self_attn.v_proj": ColwiseParallel(),
    "model.layers.*.self_attn.o_proj": RowwiseParallel(),
    "model.layers.*.mlp.gate_proj": ColwiseParallel(),
    "model.layers.*.mlp.up_proj": ColwiseParallel(),
    "model.layers.*.mlp.down_proj": RowwiseParallel(),
    "lm_head": ColwiseParallel(output_layouts=Replicate()),
}
Wrapper = Callable[[Any], Any]
compiled_by_torch = partial(torch.compile, backend="tenax")


@cache
def original() -> Any:
    """A model with random weights, which nobody changes."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "vocab_size": 32}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 16}
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes, **heads))


def tokens() -> torch.Tensor:
    return torch.randint(32, (8, 8), generator=torch.Generator().manual_seed(1))


def unchanged(function: Any) -> Any:
    return function


def trained(
    model: Any, given: torch.Tensor, model_by: Wrapper = unchanged, step_by: Wrapper = unchanged
) -> list[float]:
    """The losses of this rank, with the model or the step compiled."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=False)

    @model_by
    def loss_of(given: torch.Tensor) -> torch.Tensor:
        return model(input_ids=given, labels=given, use_cache=False).loss

    def step(given: torch.Tensor) -> torch.Tensor:
        loss = loss_of(given)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    run = step_by(step)
    return [run(given) for _ in range(STEPS)]


@cache
def expected() -> list[float]:
    return [loss.item() for loss in trained(copy.deepcopy(original()), tokens())]


def fully_sharded() -> Any:
    model = copy.deepcopy(original()).to("jax")
    mesh = init_device_mesh("jax", (SIZE,))
    for layer in model.model.layers:
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def tensor_parallel() -> Any:
    return parallelize_module(copy.deepcopy(original()).to("jax"), init_device_mesh("jax", (SIZE,)), TENSOR_PARALLEL)


def check_a_fully_sharded_llama_in_eager_mode(rank: int) -> None:
    same_losses([*map(mean, trained(fully_sharded(), part(tokens(), rank).to("jax")))], expected())
    assert expected()[-1] < 0.8 * expected()[0]


def check_a_fully_sharded_llama_with_a_compiled_step(rank: int) -> None:
    losses = trained(fully_sharded(), part(tokens(), rank).to("jax"), step_by=tenax.jit)
    same_losses([*map(mean, losses)], expected())


def check_a_fully_sharded_llama_that_torch_compiles(rank: int) -> None:
    losses = trained(fully_sharded(), part(tokens(), rank).to("jax"), model_by=compiled_by_torch)
    same_losses([*map(mean, losses)], expected())


def check_a_tensor_parallel_llama_in_eager_mode(rank: int) -> None:
    same_losses([loss.item() for loss in trained(tensor_parallel(), tokens().to("jax"))], expected())


def check_a_tensor_parallel_llama_with_a_compiled_step(rank: int) -> None:
    losses = trained(tensor_parallel(), tokens().to("jax"), step_by=tenax.jit)
    same_losses([loss.item() for loss in losses], expected())


def check_a_tensor_parallel_llama_whose_step_torch_compiles(rank: int) -> None:
    # Of DTensors with symbolic sizes, Dynamo makes an error of its own, on the CPU, too.
    losses = trained(tensor_parallel(), tokens().to("jax"), step_by=partial(compiled_by_torch, dynamic=False))
    same_losses([loss.item() for loss in losses], expected())
