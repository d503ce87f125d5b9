"""A torch module is a pure function of its state: parameters and buffers in, new buffers out, dropout by a key."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn

from tenax.errors import TraceError
from tenax.interop import functional, t2j
from tests.helpers.agreement import close
from tests.helpers.arrays import X


def net() -> nn.Sequential:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 2))


def test_a_module_is_a_pure_function_of_its_state() -> None:
    cpu, module = net(), net().to("jax")
    f = t2j(module)
    state = t2j(module.state_dict())
    out, new = jax.jit(lambda s, x: f(x, state_dict=s, return_state_dict=True))(state, X)
    close(out, cpu(torch.tensor(X)).detach())
    assert new.keys() == state.keys()
    for name, tensor in cpu.state_dict().items():
        close(new[name], tensor)
        assert new[name].dtype == t2j(tensor.dtype)
    assert module[1].num_batches_tracked.item() == 0
    close(f(X), out)
    zeros = jax.tree.map(jnp.zeros_like, state)
    assert not f(X, state_dict=zeros).any()
    grads = jax.grad(lambda s: (f(X, state_dict={**state, **s}) ** 2).sum())({"3.weight": state["3.weight"]})
    cpu[1].reset_running_stats()
    cpu(torch.tensor(X)).square().sum().backward()
    close(grads["3.weight"], cpu[3].weight.grad)


def test_arrays_of_a_module_on_the_cpu_go_where_a_program_wants_them() -> None:
    module = net()
    _, params, buffers = functional(module)
    assert not any(a.committed for a in jax.tree.leaves((params, buffers, t2j(module.state_dict()))))
    assert params["0.weight"].dtype == np.float32
    assert buffers["1.num_batches_tracked"].dtype == np.int64


def test_a_state_of_other_names_is_refused() -> None:
    f = t2j(net())
    state = t2j(net().state_dict())
    with pytest.raises(KeyError, match=r"no parameter or buffer more"):
        f(X, state_dict={**state, "more": X})
    del state["0.bias"]
    with pytest.raises(KeyError, match=r"lacks 0\.bias"):
        f(X, state_dict=state)
    with pytest.raises(TypeError, match=r"nn\.Module"):
        t2j(torch.sin, state_dict={})


def test_a_tied_parameter_is_one_parameter() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(5, 3)
            self.head = nn.Linear(3, 5, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, i: torch.Tensor) -> torch.Tensor:
            return self.head(self.embed(i))

    module = Tied()
    apply, params, buffers = functional(module)
    assert list(params) == ["embed.weight"]
    assert buffers == {}
    i = np.array([1, 4, 1])
    grads = jax.grad(lambda p: (apply(p, buffers, i)[0] ** 2).sum())(params)
    module(torch.tensor(i)).square().sum().backward()
    close(grads["embed.weight"], module.embed.weight.grad)
    close(t2j(module)(i, state_dict=t2j(module.state_dict())), module(torch.tensor(i)).detach())
    close(t2j(module)(i, state_dict={"head.weight": params["embed.weight"]}), module(torch.tensor(i)).detach())


def test_a_pure_module_keeps_the_mode_it_was_made_in() -> None:
    module = nn.Sequential(nn.Dropout(0.5), nn.BatchNorm1d(3)).eval()
    f = jax.jit(t2j(module))
    module.train()
    close(f(X), X / np.sqrt(1 + 1e-5))
    assert module.training
    assert module[0].training


def test_a_reassigned_buffer_is_in_the_new_state() -> None:
    class Counts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("n", torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.n = self.n + 1
            return x * self.n

    module = Counts()
    apply, params, buffers = functional(module)
    for _ in range(3):
        out, buffers = jax.jit(apply)(params, buffers, X)
    close(out, 3 * X)
    assert module.n.item() == 0


def test_dropout_of_a_pure_module_follows_its_key() -> None:
    apply, params, buffers = functional(nn.Dropout(0.5))
    a, b = (apply(params, buffers, np.ones(100, np.float32), rng=jax.random.key(k))[0] for k in (0, 1))
    assert set(np.unique(a)) == {0, 2}
    assert not np.array_equal(a, b)
    with pytest.raises(TraceError, match="rng="):
        apply(params, buffers, X)
