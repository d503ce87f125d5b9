"""A Llama of transformers over a mesh: the losses of one CPU device, saved and resumed on another mesh, exported."""

from __future__ import annotations

import copy
import os
from functools import cache, partial
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import jax
import pytest
import torch
import transformers
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import tenax
from tenax import checkpoint
from tenax.interop import t2j
from tenax.sharding import fsdp, tensor_parallel
from tests.helpers.agreement import close
from tests.helpers.meshes import mesh
from tests.helpers.tolerances import COMPOSED

STEPS = 20
RULES = {
    "fsdp": fsdp("data", least=1),
    "tensor parallel": tensor_parallel("model"),
    "both": tensor_parallel("model", fsdp="data", least=1),
}


@cache
def original() -> Any:
    """A model with random weights, which nobody changes."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "vocab_size": 32}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 16}
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes, **heads))


def trained(model: Any, tokens: torch.Tensor, steps: int, compiled: Any, optimizer: Any = None) -> list[float]:
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    @compiled
    def forward(tokens: torch.Tensor) -> torch.Tensor:
        return model(input_ids=tokens, labels=tokens, use_cache=False).loss

    def step(tokens: torch.Tensor) -> torch.Tensor:
        loss = forward(tokens)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    run = tenax.jit(step) if compiled is whole else step
    return [run(tokens).item() for _ in range(steps)]


def eager(function: Any) -> Any:
    return function


def whole(function: Any) -> Any:
    """Marks that the whole step is compiled by `tenax.jit`."""
    return function


compiled_by_torch = partial(torch.compile, backend="tenax")


def tokens() -> torch.Tensor:
    return torch.randint(32, (8, 8), generator=torch.Generator().manual_seed(1))


@cache
def expected() -> list[float]:
    return trained(copy.deepcopy(original()), tokens(), STEPS, eager)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # Dynamo asks tensors between graphs for one
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("rules", "compiled"),
    [("fsdp", whole), ("tensor parallel", whole), ("both", whole), ("fsdp", eager), ("both", compiled_by_torch)],
    ids=["fsdp, jit", "tensor parallel, jit", "both, jit", "fsdp, eager", "both, torch.compile"],
)
def test_it_trains_as_on_one_cpu_device(rules: str, compiled: Any) -> None:
    model = tenax.shard(copy.deepcopy(original()), RULES[rules], mesh())
    placed = tenax.sharding_of(model)
    found = trained(model, tenax.shard(tokens(), P("data"), mesh()), STEPS, compiled)
    close(torch.tensor(found), torch.tensor(expected()), COMPOSED)
    for name, sharding in tenax.sharding_of(model).items():
        shape = model.get_parameter(name).shape if name in dict(model.named_parameters()) else ()
        assert sharding.is_equivalent_to(placed[name], len(shape)), name
    assert expected()[-1] < 0.8 * expected()[0]


def test_it_is_saved_on_one_mesh_and_resumed_on_another(tmp_path: Path) -> None:
    model = tenax.shard(copy.deepcopy(original()), RULES["both"], mesh())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    trained(model, tenax.shard(tokens(), P("data"), mesh()), 3, whole, optimizer)
    checkpoint.save(tmp_path / "llama", {"model": model, "optimizer": optimizer})
    fewer = jax.make_mesh((2, 2), ("data", "model"), devices=jax.devices()[:4])
    resumed = tenax.shard(copy.deepcopy(original()), RULES["fsdp"], fewer)
    again = torch.optim.SGD(resumed.parameters(), lr=0.1, momentum=0.9)
    trained(resumed, tenax.shard(tokens(), P("data"), fewer), 1, whole, again)  # makes the state that is loaded into
    checkpoint.load(tmp_path / "llama", {"model": resumed, "optimizer": again})
    for name, parameter in resumed.named_parameters():
        assert torch.equal(parameter.cpu(), model.get_parameter(name).cpu()), name
        assert len(tenax.sharding_of(parameter.detach()).device_set) == 4
    losses = trained(resumed, tenax.shard(tokens(), P("data"), fewer), 3, whole, again)
    close(torch.tensor(losses), torch.tensor(expected()[3:6]), COMPOSED)


def test_it_is_exported_with_shardings() -> None:
    model = copy.deepcopy(original()).to("jax").requires_grad_(False)
    function = t2j(lambda x: model(input_ids=x, use_cache=False).logits)
    split = NamedSharding(mesh(), P("data"))
    given = jax.device_put(tokens().to("jax").jax(), split)
    exported = jax.export.export(jax.jit(function, in_shardings=split, out_shardings=split))(given)
    assert exported.nr_devices == 8
    again = jax.export.deserialize(exported.serialize())
    found = jax.jit(again.call, in_shardings=split)(given)
    assert found.sharding.is_equivalent_to(split, 3)
    close(found, original()(input_ids=tokens(), use_cache=False).logits, COMPOSED)
