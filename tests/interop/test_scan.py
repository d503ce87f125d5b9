"""Stacks of equal layers as one scan, and rematerialisation, give what the plain modules give."""

from __future__ import annotations

import copy
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint as torchs_checkpoint

import tenax
from tenax import ScannedModule
from tenax.interop import checkpoint, functional, t2j
from tests.helpers.agreement import close
from tests.helpers.traced import equations


class Block(nn.Module):
    def __init__(self, width: int = 4, p: float = 0.0, norm: bool = True) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(width, 2 * width), nn.Linear(2 * width, width, bias=False)
        self.norm = nn.BatchNorm1d(width) if norm else nn.Identity()
        self.drop = nn.Dropout(p)

    def forward(self, x: torch.Tensor, scale: torch.Tensor | None = None, *, power: int = 1) -> torch.Tensor:
        y = self.drop(self.b(self.a(self.norm(x)).tanh()))
        return x + (y if scale is None else y * scale**power)


def blocks(n: int = 3, **options: Any) -> nn.ModuleList:
    torch.manual_seed(0)
    return nn.ModuleList(Block(**options) for _ in range(n)).to("jax")


def loop(layers: Any, x: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    for layer in layers:
        x = layer(x, *args, **kwargs)
    return x


X = torch.linspace(-1, 1, 20).reshape(5, 4)


def values(state: Any) -> dict[str, Any]:
    return {k: v.detach().cpu().numpy() for k, v in state.items()}


@pytest.mark.parametrize("remat", [False, True])
def test_a_scan_has_the_values_gradients_and_buffers_of_the_loop(remat: bool) -> None:
    layers = blocks()
    scan = ScannedModule(layers, remat=remat)
    x, scale = X.to("jax").requires_grad_(), torch.tensor(0.5, device="jax", requires_grad=True)
    x2, scale2 = X.to("jax").requires_grad_(), torch.tensor(0.5, device="jax", requires_grad=True)
    for _ in range(2):
        expected, made = loop(layers, x, scale, power=2), scan(x2, scale2, power=2)
        close(made.detach().cpu(), expected.detach().cpu())
        expected.square().sum().backward()
        made.square().sum().backward()
    close([x2.grad.cpu(), scale2.grad.cpu()], [x.grad.cpu(), scale.grad.cpu()])
    grads = dict(scan.layer.named_parameters())
    for name in grads:
        stacked = torch.stack([dict(layer.named_parameters())[name].grad for layer in layers])
        close(grads[name].grad.cpu(), stacked.cpu())
    assert scan.state_dict().keys() == layers.state_dict().keys()
    close(values(scan.state_dict()), values(layers.state_dict()))
    scan.eval()
    layers.eval()
    close(scan(X.to("jax")).detach().cpu(), loop(layers, X.to("jax")).detach().cpu())


def test_a_state_of_the_layers_loads_and_a_copy_is_independent() -> None:
    layers, other = blocks(), blocks()
    scan = nn.Sequential(ScannedModule(layers))
    for p in other.parameters():
        nn.init.normal_(p)
    scan.load_state_dict({f"0.{k}": v for k, v in other.state_dict().items()})
    close(values(scan[0].state_dict()), values(other.state_dict()))
    twin = copy.deepcopy(scan).eval()
    scan[0].layer.a.weight.data.zero_()
    close(twin(X.to("jax")).detach().cpu(), loop(other.eval(), X.to("jax")).detach().cpu())
    state = other.state_dict()
    del state["1.a.bias"]
    with pytest.raises(RuntimeError, match=r"layer\.a\.bias"):
        ScannedModule(layers).load_state_dict(state)


def test_a_scan_trains_as_the_loop() -> None:
    layers = blocks()
    scan = ScannedModule(layers)
    ours, theirs = (torch.optim.AdamW(m.parameters(), lr=0.05) for m in (scan, layers))
    for _ in range(3):
        for optimizer, run in ((ours, scan), (theirs, lambda x: loop(layers, x))):
            optimizer.zero_grad()
            run(X.to("jax")).square().mean().backward()
            optimizer.step()
    close(values(scan.state_dict()), values(layers.state_dict()))


def test_a_scan_is_pure_under_jax_and_runs_in_a_jitted_step() -> None:
    layers = blocks()
    scan = ScannedModule(layers, remat=True)
    apply, params, buffers = functional(scan)

    def loss(p: Any, x: Any) -> Any:
        out, new = apply(p, buffers, x)
        return (out**2).sum(), new

    (value, new), grads = jax.jit(jax.value_and_grad(loss, has_aux=True))(params, X.numpy())
    expected = loop(layers, X.to("jax")).square().sum()
    expected.backward()
    close(value, expected.detach().cpu())
    close(grads["layer.a.weight"], torch.stack([layer.a.weight.grad for layer in layers]).cpu())
    close(new["layer.norm.running_mean"], torch.stack([layer.norm.running_mean for layer in layers]).cpu())

    step_scan = ScannedModule(blocks())

    @tenax.jit
    def step(x: torch.Tensor) -> torch.Tensor:
        step_scan.zero_grad()
        out = step_scan(x).square().sum()
        out.backward()
        return out

    close(step(X.to("jax")).detach().cpu(), expected.detach().cpu())
    close(step_scan.layer.a.weight.grad.cpu(), grads["layer.a.weight"])


def test_each_layer_draws_numbers_of_its_own() -> None:
    class Noise(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cat([x[1:], torch.rand(1, device="jax")])

    scan = ScannedModule([Noise() for _ in range(4)])
    torch.manual_seed(0)
    first, second = scan(torch.zeros(4, device="jax")), scan(torch.zeros(4, device="jax"))
    assert len(set(first.tolist() + second.tolist())) == 8
    torch.manual_seed(0)
    assert scan(torch.zeros(4, device="jax")).tolist() == first.tolist()
    pure = t2j(scan)
    assert len(set(pure(np.zeros(4, np.float32), rng=jax.random.key(0)).tolist())) == 4
    with pytest.raises(tenax.errors.TraceError, match="rng="):
        pure(np.zeros(4, np.float32))


def test_the_trace_does_not_grow_with_depth() -> None:
    def primitives(n: int) -> list[Any]:
        apply, params, buffers = functional(ScannedModule(blocks(n)))
        jaxpr = jax.make_jaxpr(apply)(params, buffers, X.numpy()).jaxpr
        return [equation.primitive for equation in equations(jaxpr)]

    assert primitives(2) == primitives(9)


DIFFERENT = {
    "shapes": ([4, 5], {}),
    "dropout": ([4, 4], {"p": 0.5}),
    "modules": ([4, 4], {"norm": False}),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_layers_that_differ_are_refused(name: str) -> None:
    (first, second), options = DIFFERENT[name]
    with pytest.raises(ValueError, match="layer 1 differs from layer 0"):
        ScannedModule(nn.ModuleList([Block(first), Block(second, **options)]).to("jax"))


def test_layers_may_differ_in_what_is_ignored() -> None:
    layers = blocks(2)
    for i, layer in enumerate(layers):
        layer.layer_idx = i
    with pytest.raises(ValueError, match="layer_idx is 1; expected 0"):
        ScannedModule(layers)
    ScannedModule(layers, ignore=["layer_idx"])
    with pytest.raises(ValueError, match="share"):
        ScannedModule([layers[0], layers[0]])
    with pytest.raises(ValueError, match="no layer"):
        ScannedModule([])
    with pytest.raises(RuntimeError, match="cpu"):
        ScannedModule([Block()])


# Rematerialisation


def test_a_checkpointed_module_has_the_gradients_and_buffers_of_the_module() -> None:
    plain, other = blocks(1)[0], blocks(1)[0]
    x, x2 = X.to("jax").requires_grad_(), X.to("jax").requires_grad_()
    plain(x, power=2).square().sum().backward()
    checkpoint(other)(x2, power=2).square().sum().backward()
    close(x2.grad.cpu(), x.grad.cpu())
    for a, b in zip(other.parameters(), plain.parameters(), strict=True):
        close(a.grad.cpu(), b.grad.cpu())
    close(values(other.state_dict()), values(plain.state_dict()))


def test_jax_computes_the_inside_again() -> None:
    block = blocks(1, norm=False)[0]

    def saved(f: Any) -> int:
        return len(jax.tree.leaves(jax.vjp(lambda x: t2j(f)(x).sum(), jnp.asarray(X.numpy()))[1]))

    def twice(x: torch.Tensor) -> torch.Tensor:
        return x.sin().exp().tanh().sin().exp()

    assert saved(checkpoint(twice)) < saved(twice)
    gradient = jax.grad(lambda x: t2j(checkpoint(twice))(x).sum())(X.numpy())
    close(gradient, jax.grad(lambda x: t2j(twice)(x).sum())(X.numpy()))
    policy = jax.checkpoint_policies.dots_saveable
    x = X.to("jax").requires_grad_()
    checkpoint(block, policy=policy)(x).sum().backward()
    x2 = X.to("jax").requires_grad_()
    block(x2).sum().backward()
    close(x.grad.cpu(), x2.grad.cpu())
    x3 = X.to("jax").requires_grad_()
    checkpoint(twice, policy=policy)(x3).sum().backward()
    close(x3.grad.cpu(), gradient)


@pytest.mark.parametrize("reentrant", [False, True])
def test_torchs_checkpoint_works_on_the_device(reentrant: bool) -> None:
    block = blocks(1, p=0.5)[0]
    grads = []
    for run in (block, lambda x: torchs_checkpoint(block, x, use_reentrant=reentrant)):
        block.zero_grad()
        torch.manual_seed(3)
        x = X.to("jax").requires_grad_()
        run(x).square().sum().backward()
        grads.append([x.grad.cpu(), *(p.grad.cpu() for p in block.parameters())])
    close(grads[0], grads[1])
    function = checkpoint(lambda x: block(x).square())
    torch.manual_seed(3)
    block.zero_grad()
    x = X.to("jax").requires_grad_()
    function(x).sum().backward()
    close([x.grad.cpu(), *(p.grad.cpu() for p in block.parameters())], grads[0])


def test_a_small_loop_in_a_compiled_program_may_contain_a_barrier() -> None:
    torch.manual_seed(0)
    layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3)).to("jax")
    scan, x = ScannedModule(layers), X[:1].to("jax")  # a product of one row is behind a barrier
    close(tenax.jit(scan)(x), loop(layers, x))
    with tenax.lazy():
        found = scan(x)
    close(found, loop(layers, x))
