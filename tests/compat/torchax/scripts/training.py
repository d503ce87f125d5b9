"""Trains a scanned Llama like torchax's trainers: built on "meta", created in shards, with a step compiled ahead."""

from __future__ import annotations

import copy
from typing import Any

import jax
import numpy as np
import optax
import torch
import torchax
import torchax.interop
import torchax.train
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from llama import LENGTH, WORDS, Llama, rotations
from torch import nn
from torch.nn import functional
from torchax.interop import JittableModule, jax_view, torch_view

from tests.helpers.agreement import close
from tests.helpers.tolerances import LOSSES

LAYERS, STEPS = 3, 3


class Scanned(nn.Module):
    def __init__(self, model: Llama, policy: Any) -> None:
        super().__init__()
        self.tok_embeddings, self.norm, self.output = model.tok_embeddings, model.norm, model.output
        self.layers = torchax.train.ScannedModule(list(model.layers.values()), policy)
        self.register_buffer("freqs_cis", model.freqs_cis)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.layers(self.tok_embeddings(tokens), self.freqs_cis, None)
        return self.output(self.norm(x))


def loss_fn(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(logits.reshape(-1, WORDS), labels.reshape(-1))


def batches() -> list[tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(1)
    tokens = [torch.randint(0, WORDS, (4, LENGTH), device="cpu") for _ in range(STEPS)]
    return [(t, (t + 1) % WORDS) for t in tokens]


def trained_by_torch(model: Llama) -> list[float]:
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    losses = []
    for tokens, labels in batches():
        optimizer.zero_grad()
        loss = loss_fn(model(tokens), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def values(model: Llama) -> dict[str, np.ndarray]:
    """The weights of a model by the names of the scanned one."""
    state = {k: v.numpy() for k, v in model.state_dict().items()}
    own = {k: v for k, v in state.items() if not k.startswith("layers.")}
    for name in [k.removeprefix("layers.0.") for k in state if k.startswith("layers.0.")]:
        stacked = np.stack([state[f"layers.{i}.{name}"] for i in range(LAYERS)])
        own[f"layers.params.{name.replace('.', '___')}"] = stacked
    return own


def sharded(model: nn.Module, found: dict[str, np.ndarray], mesh: Mesh) -> dict[str, torch.Tensor]:
    env = torchax.default_env()
    weights = {}
    for name, meta in model.state_dict().items():
        spec = PartitionSpec(*(None,) * (meta.ndim - 1), "fsdp" if meta.shape[-1] % mesh.size == 0 else None)

        def part(index: Any, name: str = name, meta: torch.Tensor = meta) -> np.ndarray:
            assert meta[index].shape == found[name][index].shape
            return found[name][index]

        weights[name] = env.j2t_iso(jax.make_array_from_callback(meta.shape, NamedSharding(mesh, spec), part))
    return weights


def compiled(step: Any, arguments: tuple[Any, ...], mesh: Mesh) -> Any:
    step, *arrays = jax_view((step, *arguments))
    places = [jax.tree.map(lambda a: a.sharding, tree) for tree in arrays]
    out = NamedSharding(mesh, PartitionSpec()), places[0], places[2]
    return torch_view(jax.jit(step, donate_argnums=(0, 2), out_shardings=out).lower(*arrays).compile())


def main() -> None:
    torch.manual_seed(0)
    reference = Llama(LAYERS)
    found = values(reference)
    expected = trained_by_torch(copy.deepcopy(reference))

    torchax.enable_globally()
    mesh = Mesh(np.array(jax.devices()[:4]), ("fsdp",))
    with torch.device("meta"):
        model: nn.Module = Scanned(Llama(LAYERS), jax.checkpoint_policies.nothing_saveable)
    state = sharded(model, found, mesh)
    state["freqs_cis"] = rotations().to("jax").apply_jax(jax.device_put, NamedSharding(mesh, PartitionSpec()))
    model.load_state_dict(state, assign=True)

    calls = []

    def attention(
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        **_: Any,
    ) -> Any:
        calls.append(query.shape)
        heads_last = (x.swapaxes(1, 2) for x in jax_view((query, key, value)))
        return torch_view(jax.nn.dot_product_attention(*heads_last, is_causal=is_causal).swapaxes(1, 2))

    torchax.default_env().override_op_definition(functional.scaled_dot_product_attention, attention)

    with jax.set_mesh(mesh):
        jittable = JittableModule(model)
        optimizer = optax.adam(1e-2)
        opt_state = torch_view(optimizer.init(jax_view(jittable.params)))
        step = torchax.train.make_train_step(
            lambda weights, buffers, args: jittable.functional_call("forward", weights, buffers, args),
            loss_fn,
            optimizer,
            remat_policy=jax.checkpoint_policies.nothing_saveable,
        )
        losses = []
        for i, (tokens, labels) in enumerate(batches()):
            tokens, labels = tokens.to("jax"), labels.to("jax")
            for x in (tokens, labels):
                x.apply_jax_(jax.device_put, NamedSharding(mesh, PartitionSpec("fsdp")))
            if i == 0:
                step = compiled(step, (jittable.params, jittable.buffers, opt_state, tokens, labels), mesh)
            loss, jittable.params, opt_state = step(jittable.params, jittable.buffers, opt_state, tokens, labels)
            torchax.interop.call_jax(jax.block_until_ready, (loss, jittable.params))
            losses.append(loss.item())
    assert calls
    close(torch.tensor(losses), torch.tensor(expected), LOSSES)
    weight = jittable.params["layers.params.attention___wq___weight"]
    assert np.array(weight).shape == (LAYERS, 16, 16)
    assert len(weight._elem.devices()) == mesh.size
    print("losses", losses)


if __name__ == "__main__":
    main()
