"""Prepares modules like torchax's diffusion pipelines: operators by JAX, weights sharded in place, compiled parts."""

from __future__ import annotations

import functools
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torchax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from torch import nn
from torch.nn import functional
from torchax.ops import jaten, ops_registry

from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED

MESH = Mesh(np.array(jax.devices()[:2]).reshape(1, 2), ("dp", "tp"))
SHARDINGS = {r"to_q\.weight": (("tp",),), r"to_out\.weight": (None, ("tp",))}


class Denoiser(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 8, 2, stride=2)
        self.volume = nn.Conv3d(8, 8, 3, padding=1)
        self.norm = nn.LayerNorm(8)
        self.to_q, self.to_out = nn.Linear(8, 8), nn.Linear(8, 8)
        self.register_buffer("scale", torch.full((8,), 0.5))

    def forward(self, x: torch.Tensor, return_dict: bool = True) -> Any:
        x = self.volume(self.patch(x)[:, :, None])[:, :, 0].flatten(2).transpose(1, 2)
        q = self.to_q(self.norm(x))[:, None]
        y = self.to_out(functional.scaled_dot_product_attention(q, q, q)[:, 0]) * self.scale
        return {"sample": y} if return_dict else (y,)


def override(env: Any, op: Any, function: Any) -> None:
    env._ops[op] = ops_registry.Operator(
        op, function, is_jax_function=False, is_user_defined=True, needs_env=False, is_view_op=False
    )


def register(env: Any, calls: list[str]) -> None:
    def convolution(
        x: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        *,
        name: str,
        env: Any,
    ) -> Any:
        calls.append(name)
        x, weight, bias = env.t2j_iso((x, weight, bias))
        if name == "conv2d":
            return env.j2t_iso(jaten._aten_conv2d(x, weight, bias, stride, padding, dilation, groups))
        return env.j2t_iso(
            jaten._aten_convolution(
                x, weight, bias, stride, padding, dilation, transposed=False, output_padding=1, groups=groups
            )
        )

    def attention(q: Any, k: Any, v: Any, attn_mask: Any = None, *rest: Any, env: Any, **_: Any) -> Any:
        calls.append("attention")
        q, k, v = env.t2j_iso((q, k, v))
        weights = jax.nn.softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), -1)
        return env.j2t_iso(weights @ v)

    def maximum(a: Any, b: Any, env: Any) -> Any:
        calls.append("maximum")
        a, b = env.t2j_iso((a, b))
        return env.j2t_iso(jnp.maximum(a, b))

    override(env, functional.conv2d, functools.partial(convolution, name="conv2d", env=env))
    for op in (functional.conv3d, torch.ops.aten.conv3d, torch.ops.aten.conv3d.default):
        override(env, op, functools.partial(convolution, name="conv3d", env=env))
    override(env, functional.scaled_dot_product_attention, functools.partial(attention, env=env))
    override(env, torch.ops.aten.maximum.default, functools.partial(maximum, env=env))


def move_to_device(env: Any, module: nn.Module) -> None:
    with jax.default_device("cpu"):
        module.load_state_dict(env.to_xla(module.state_dict()), assign=True)


def sharded(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    for name, weight in weights.items():
        spec = next((s for pattern, s in SHARDINGS.items() if re.fullmatch(pattern, name)), ())
        weight.apply_jax_(jax.device_put, NamedSharding(MESH, PartitionSpec(*spec)))
    return weights


def to_cpu(tensor: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.array(tensor._elem)) if hasattr(tensor, "_elem") else tensor.cpu()


def main() -> None:
    torch.manual_seed(0)
    model = Denoiser().eval()
    image = torch.randn(2, 3, 8, 8)
    expected = model(image)["sample"].detach()

    torchax.enable_globally()
    env, calls = torchax.default_env(), []
    env.config.use_tpu_splash_attention = True
    register(env, calls)
    with MESH, env, torch.no_grad():
        move_to_device(env, model)
        options = torchax.CompileOptions(jax_jit_kwargs={"static_argnames": ("return_dict",)})
        compiled = torchax.compile(model, options)
        compiled.params = sharded(compiled.params)
        compiled.buffers = sharded(compiled.buffers)
        torchax.interop.call_jax(jax.block_until_ready, compiled.params)
        latents = image.to("jax")
        (found,) = compiled(latents, return_dict=False)
        close(to_cpu(found), expected, COMPOSED)
        close(to_cpu(compiled(latents)["sample"]), expected, COMPOSED)
        assert torch.maximum(latents, -latents).min() >= 0
    assert set(calls) == {"conv2d", "conv3d", "attention", "maximum"}
    assert len(compiled.params["to_q.weight"].jax().devices()) == 2
    assert not hasattr(image, "_elem")
    assert np.array(compiled.params["to_out.bias"]).shape == (8,)
    print("denoised", tuple(found.shape))


if __name__ == "__main__":
    main()
