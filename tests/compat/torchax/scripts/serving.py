"""Serves a Llama like tpu-inference: weights become arrays, and JAX compiles a step that calls the torch model."""

from __future__ import annotations

import functools
from importlib import metadata
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torchax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from llama import HEADS, LENGTH, WIDTH, WORDS, Llama
from torch import nn
from torch.utils import _pytree as pytree
from torchax.interop import JittableModule, jax_jit, jax_view, shard_map, torch_view
from torchax.ops.mappings import TORCH_DTYPE_TO_JAX, t2j
from torchax.tensor import Tensor

from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED

MESH = Mesh(np.array(jax.devices()[:2]), ("model",))


class Projection(nn.Module):
    """A layer of torch whose product is computed by JAX, on each part of the weight."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight = nn.Parameter(linear.weight.detach(), requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with jax.named_scope("projection"):

            @shard_map(
                mesh=MESH,
                in_specs=(PartitionSpec(), PartitionSpec("model")),
                out_specs=PartitionSpec(None, None, "model"),
                check_vma=False,
            )
            def product(x: jax.Array, weight: jax.Array) -> jax.Array:
                return x @ weight.T

            return torch_view(product(*jax_view((x, self.weight))))


class Functional(JittableModule):
    """A module that is compiled with the tensors that `torch.func.functional_call` gives it."""

    def __init__(self, m: nn.Module, extra_jit_args: Any = None) -> None:
        super().__init__(m, extra_jit_args=extra_jit_args, dedup_parameters=False)
        self._initial = {k: self._at(k) for k in (*self.params, *self.buffers)}

    def _at(self, name: str) -> Any:
        return functools.reduce(getattr, name.split("."), self._model)

    def _now(self, store: Any) -> dict[str, Any]:
        found = {}
        for name, tensor in store.items():
            current = self._at(name)
            swapped = current is not self._initial[name] and isinstance(
                current, (torchax.tensor.Tensor, torchax.tensor.View)
            )
            found[name] = current if swapped else tensor
        return found

    def make_jitted(self, key: str) -> None:
        jitted = jax_jit(functools.partial(self.functional_call, key), kwargs_for_jax_jit=self._extra_jit_args)
        self._jitted[key] = lambda *args, **kwargs: jitted(
            self._now(self.params), self._now(self.buffers), *args, **kwargs
        )

    def jittable_call(self, method_name: str, *args: Any, **kwargs: Any) -> Any:
        if method_name not in self._jitted:
            self.make_jitted(method_name)
        return self._jitted[method_name](*args, **kwargs)


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((WORDS,), 2.0))

    def forward(self, x: torch.Tensor, power: int) -> torch.Tensor:
        return x * self.weight**power


class Served(nn.Module):
    def __init__(self, model: Llama) -> None:
        super().__init__()
        self.model, self.scaled = model, Scaled()

    def forward(self, input_ids: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        logits = self.scaled(self.model(input_ids), 2)
        return logits[torch.arange(logits.shape[0], device=logits.device), positions]


def on_the_cpu(tensor: torch.Tensor) -> bool:
    return not isinstance(tensor, Tensor) or tensor.jax_device == jax.devices("cpu")[0]


def placed(tensor: torch.Tensor) -> torch.Tensor:
    spec = PartitionSpec("model") if tensor.ndim == 2 and tensor.shape[0] % MESH.size == 0 else PartitionSpec()
    array = jax_view(tensor) if isinstance(tensor, Tensor) else t2j(tensor, use_dlpack=False)
    return torch_view(jax.device_put(array, NamedSharding(MESH, spec)))


def main() -> None:
    assert metadata.version("torchax") == torchax.__version__
    torch.manual_seed(0)
    model = Served(Llama()).eval().requires_grad_(False)
    ids = torch.randint(0, WORDS, (3, LENGTH))
    last = torch.tensor([7, 3, 5])
    expected = model(ids, last)
    assert model.model.output.weight.dtype in TORCH_DTYPE_TO_JAX

    model.model.output = Projection(model.model.output) if WORDS % MESH.size == 0 else model.model.output
    attention = model.model.layers["0"].attention
    attention.wo = Projection(attention.wo)
    assert (WIDTH, HEADS) == (16, 4)
    with jax.default_device(jax.devices("cpu")[0]):
        named = dict(model.named_parameters()), dict(model.named_buffers())
        named = pytree.tree_map_only(on_the_cpu, placed, named)
    held = {**named[0], **named[1]}
    jitted = Functional(model.scaled, {"static_argnums": (3,)})
    model.scaled = jitted
    held["scaled._model.weight"] = held.pop("scaled.weight")
    jitted.params.update({k: torch_view(held["scaled._model.weight"]) for k in jitted.params})
    params = jax_view(held)
    params["scaled._model.weight"] = params["scaled._model.weight"] * 3

    @jax.jit
    def step(params: Any, input_ids: jax.Array, positions: jax.Array) -> jax.Array:
        with torchax.default_env():
            output = torch.func.functional_call(
                model,
                torch_view(params),
                kwargs={"input_ids": torch_view(input_ids), "positions": torch_view(positions)},
                tie_weights=False,
            )
        return jax_view(output)

    found = step(params, jnp.asarray(ids.numpy().astype(np.int32)), jnp.asarray(last.numpy().astype(np.int32)))
    close(found, expected * 9, COMPOSED)

    wrapped = Tensor(jnp.arange(4.0), env=torchax.default_env())
    assert isinstance(wrapped, torchax.tensor.Tensor)
    assert wrapped.jax().tolist() == [0, 1, 2, 3]
    with torchax.default_env():
        assert torch.zeros(2).device.type == "cpu"
    print("served", found.shape)


if __name__ == "__main__":
    main()
