"""Use a checkpoint of torch from JAX: its module becomes a function for `jax.jit`, `jax.grad` and `jax.vmap`."""

import sys

import jax
import jax.numpy as jnp
import torch
from checkpoint_written import build

from tenax.interop import functional

saved = torch.load(sys.argv[1])
model = build().eval()
model.load_state_dict(saved["model"])
apply, params, buffers = functional(model.to("jax"))
x, y = jnp.asarray(saved["x"].numpy()), jnp.asarray(saved["y"].numpy())


@jax.jit
def predict(params, x):
    result, _ = apply(params, buffers, x)
    return result


answer = predict(params, x)
print(f"JAX's answer is {type(answer).__name__} of {answer.shape}; largest difference {abs(answer - y).max():.1e}")
assert jnp.allclose(answer, y, atol=1e-5)
grads = jax.jit(jax.grad(lambda params: ((predict(params, x) - 1) ** 2).mean()))(params)
print(f"jax.grad gives {len(grads)} gradients, the first of {next(iter(grads.values())).shape}")
each = jax.vmap(lambda one: predict(params, one[None])[0])(x)
print(f"jax.vmap over samples differs by {abs(each - answer).max():.1e}")
