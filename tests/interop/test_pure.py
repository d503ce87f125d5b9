"""A torch function is a pure function of JAX: t2j under every transformation, with torch's values and derivatives."""

from __future__ import annotations

import dataclasses
import inspect
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import one_hot, scaled_dot_product_attention, softmax
from torch.utils import _pytree as pytree

import tenax.interop as interop
from tenax.errors import TraceError
from tenax.interop import j2t, t2j
from tests.helpers.agreement import close
from tests.helpers.arrays import X, of_torch


def smooth(x: torch.Tensor) -> torch.Tensor:
    return (x.sin() * x.exp() + x.square()).sum(-1)


def test_the_value_and_gradient_are_those_of_torch() -> None:
    value, (grad,) = of_torch(smooth, X)
    f = t2j(smooth)
    close(f(X), value)
    close(jax.jit(f)(X), value)
    close(jax.grad(lambda x: f(x).sum())(X), grad)
    close(jax.jit(jax.value_and_grad(lambda x: f(x).sum()))(X)[1], grad)


NESTS: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "jit": jax.jit,
    "checkpoint": jax.checkpoint,
    "vmap": jax.vmap,
    "vmap of jit": lambda f: jax.vmap(jax.jit(f)),
    "grad": lambda f: jax.grad(lambda x: f(x).sum()),
    "grad of checkpoint": lambda f: jax.grad(lambda x: jax.checkpoint(f)(x).sum()),
    "grad of jit of vmap": lambda f: jax.grad(lambda x: jax.jit(jax.vmap(f))(x).sum()),
    "vmap of grad": lambda f: jax.vmap(jax.grad(lambda x: f(x).sum())),
    "jacfwd": jax.jacfwd,
    "jacrev": jax.jacrev,
    "jit of jacfwd of jacrev": lambda f: jax.jit(jax.jacfwd(jax.jacrev(f))),
    "vmap of hessian": lambda f: jax.vmap(jax.hessian(lambda x: f(x).sum())),
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (jnp.ones_like(x),)),
    "vjp": lambda f: lambda x: jax.vjp(f, x)[1](jnp.ones_like(f(x))),
    "linearize": lambda f: lambda x: jax.linearize(f, x)[1](x),
    "jvp of grad": lambda f: lambda x: jax.jvp(jax.grad(lambda x: f(x).sum()), (x,), (x,)),
    "scan": lambda f: lambda x: jax.lax.scan(lambda c, row: (c + f(row).sum(), f(row)), 0.0, x),
    "grad of scan": lambda f: jax.grad(lambda x: jax.lax.scan(lambda c, row: (c + f(row).sum(), None), 0.0, x)[0]),
    "cond": lambda f: lambda x: jax.lax.cond(x.sum() > 0, f, lambda x: f(-x), x),
    "fori_loop": lambda f: lambda x: jax.lax.fori_loop(0, 3, lambda i, c: c + f(x).sum(), 0.0),
    "custom_vjp": lambda f: jax.grad(lambda x: _clipped(f)(x).sum()),
}


def _clipped(f: Any) -> Any:
    g = jax.custom_vjp(f)
    g.defvjp(lambda x: (f(x), x), lambda x, ct: (jnp.clip(jax.vjp(f, x)[1](ct)[0], -0.5, 0.5),))
    return g


@pytest.mark.sampled(3)
@pytest.mark.parametrize("nest", NESTS)
def test_a_torch_function_nests_in_transformations_as_the_same_function_of_jax(nest: str) -> None:
    def by_hand(x: Any) -> Any:
        return (jnp.sin(x) * jnp.exp(x) + x * x).sum(-1)

    ours, theirs = NESTS[nest](t2j(smooth))(X), NESTS[nest](by_hand)(X)
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    jax.tree.map(close, ours, theirs)


def test_a_torch_function_runs_in_a_shard_map() -> None:
    mesh = jax.make_mesh((2,), ("i",), devices=jax.devices()[:2], axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")
    run = jax.jit(jax.shard_map(t2j(smooth), mesh=mesh, in_specs=spec, out_specs=spec))
    close(run(X), of_torch(smooth, X)[0])
    close(jax.grad(lambda x: run(x).sum())(X), of_torch(smooth, X)[1][0])


INSIDE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "torch.func.grad": lambda x: torch.func.grad(lambda y: smooth(y).sum())(x),
    "torch.func.vmap": lambda x: torch.func.vmap(smooth)(x),
    "vmap of grad": lambda x: torch.func.vmap(torch.func.grad(lambda y: smooth(y).sum()))(x),
    "hessian": lambda x: torch.func.hessian(lambda y: smooth(y).sum())(x[0]),
    "jacfwd": lambda x: torch.func.jacfwd(smooth)(x[0]),
    "autograd.grad": lambda x: torch.autograd.grad(
        smooth(y := x if x.requires_grad else x.requires_grad_()).sum(), y, create_graph=True
    )[0],
}


@pytest.mark.parametrize("name", INSIDE)
def test_a_function_that_differentiates_within_torch_is_pure_too(name: str) -> None:
    value, (grad,) = of_torch(INSIDE[name], X)
    f = t2j(INSIDE[name])
    close(jax.jit(f)(X), value)
    close(jax.jit(jax.grad(lambda x: f(x).sum()))(X), grad)
    close(jax.vmap(f)(X[None]), value[None])


def test_backward_within_a_function_gives_its_gradients() -> None:
    def gradient(x: torch.Tensor) -> Any:
        x.requires_grad_()
        smooth(x).sum().backward()
        return x.grad

    close(jax.jit(t2j(gradient))(X), of_torch(smooth, X)[1][0])
    close(jax.vmap(t2j(gradient))(X), of_torch(smooth, X)[1][0])


def test_an_argument_written_in_place_leaves_the_callers_array_as_it_was() -> None:
    def writes(x: torch.Tensor, big: torch.Tensor) -> Any:
        x[1:].mul_(3)
        big.t().add_(1)
        x.t()[0] = big.sum()
        return x, big

    big = jnp.ones((200, 200))
    x = jnp.asarray(X)
    expected = writes(torch.tensor(X), torch.ones(200, 200))
    for f in (t2j(writes), jax.jit(t2j(writes))):
        jax.tree.map(close, f(x, big), tuple(t.numpy() for t in expected))
        close(x, X)
        close(big, np.ones((200, 200)))

    def total(x: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        y[0].mul_(x[1])
        return y.exp().sum()

    close(jax.grad(t2j(total))(x), of_torch(total, X)[1][0])
    close(jax.vmap(t2j(writes), (0, None))(x[None], big)[0][0], expected[0])


@dataclasses.dataclass(frozen=True)
class Result:
    loss: torch.Tensor
    parts: dict[str, torch.Tensor]


@pytest.mark.parametrize("wide", [torch.int32, torch.float64, torch.complex64], ids=str)
def test_views_of_three_widths_show_what_was_written_through_one_of_them(wide: torch.dtype) -> None:
    def written(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x, y = x.to(wide), x.to(wide)
        x.view(torch.int16)[:] = x.view(torch.int16) + 1
        y.view(torch.uint8)[:] = y.view(torch.uint8).clamp(2)
        return *(x.view(d) for d in (torch.uint8, torch.int16, torch.int32)), y, y.view(torch.int16)

    for ours, theirs in zip(jax.jit(t2j(written))(X), written(torch.tensor(X)), strict=True):
        close(ours, theirs)


def test_any_structure_goes_in_and_out() -> None:
    def f(tree: dict[str, Any], *, scale: float = 1.0, name: str = "") -> Any:
        x, (y,) = tree["x"], tree["y"]
        return Result(x.sum() * scale, {"best": x.max(1), "shape": x.shape, "none": None, "y": [y]}), torch.max(y, 0)

    made, best = jax.jit(t2j(f), static_argnames=("name",))({"x": X, "y": (X,)}, scale=2.0, name="a")
    assert isinstance(made, Result)
    assert isinstance(best, torch.return_types.max)
    close(made.loss, X.sum() * 2)
    close(made.parts["best"].values, X.max(1))
    assert made.parts["none"] is None
    close(best.indices, X.argmax(0))


class Output(OrderedDict[str, Any]):
    """As `transformers.utils.ModelOutput`: a class that torch's registry of trees knows."""


def test_a_class_that_torchs_trees_know_is_a_tree_to_jax() -> None:
    pytree.register_pytree_node(
        Output, lambda x: (list(x.values()), list(x)), lambda values, keys: Output(zip(keys, values, strict=True))
    )
    f = t2j(lambda x: Output(logits=x * 2, loss=x.sum()))
    made = jax.jit(f)(X)
    assert type(made) is Output
    assert list(made) == ["logits", "loss"]
    close(jax.grad(lambda x: f(x)["loss"])(X), np.ones_like(X))
    assert jax.vmap(f)(X)["loss"].shape == (2,)


STOPS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "detach": lambda x: x * x.detach(),
    "straight through": lambda x: x + (x.round() - x).detach(),
    "data": lambda x: x.sin() * x.data,
    "no_grad": lambda x: x * torch.no_grad()(torch.exp)(x),
    "a view of what is detached": lambda x: x * x.detach().t()[1:2].t(),
    "a view made without grad": lambda x: x * torch.no_grad()(lambda y: y.view(3, 2))(x).view(2, 3),
    "gumbel": lambda x: softmax(x, -1) * (one_hot(x.argmax(-1), 3) - softmax(x, -1).detach()),
    "a write without grad": lambda x: _clamped(x.clone()) * x,
    "a write to what is detached": lambda x: _doubled(x.clone()) * 3,
    "detach in torch.func": lambda x: torch.func.grad(lambda y: (y * y * y.detach()).sum())(x),
    "detach in vmap": lambda x: torch.func.vmap(lambda y: y * y.detach())(x),
    "detach_": lambda x: x.exp().detach_() * x,
    "written after detach": lambda x: _written(x.sin().detach(), x),
    "a view written after detach": lambda x: _written(x.sin().detach()[:1], x[:1]),
    "a constant written after detach": lambda x: _both(torch.zeros(2, 3), x),
    "both written after detach": lambda x: _both(x.sin(), x),
    "detached twice": lambda x: _both(x.sin().detach(), x),
    "written after detach, then without grad": lambda x: _clamped(_written(x.sin().detach(), x)) * 2,
    "written after detach, then detach_": lambda x: _written(x.sin().detach(), x).detach_() * x,
    "a fill of what is detached": lambda x: _changed(x, lambda y: y.detach().fill_(2.0)),
    "a fill of its data": lambda x: _changed(x, lambda y: y.data.t().fill_(2.0)),
    "zeros in its data": lambda x: _changed(x, lambda y: y.data.zero_()),
    "a fill without grad": lambda x: _changed(x, torch.no_grad()(lambda y: y.fill_(2.0))),
    "a constant copied without grad": lambda x: _changed(
        x, torch.no_grad()(lambda y: y.copy_(torch.full((2, 3), 2.0)))
    ),
    "a rotation without grad": lambda x: x[:, :2] * torch.no_grad()(_rotated)(x),
    "a rotation of what is detached": lambda x: x[:, :2] * _rotated(x.detach()) + _rotated(x),
    "a complex view of what is detached": lambda x: _written_as_complex(x[:, :2].sin(), x),
    "new data": lambda x: _changed(x, lambda y: setattr(y, "data", y.data * 2)),
    "constant new data": lambda x: _changed(x, lambda y: setattr(y, "data", torch.ones(2, 3))),
    "new data of a tensor with a derivative": lambda x: _changed(x, lambda y: _shares_data(y, y.exp())),
    "new data of another shape order": lambda x: _changed(x, lambda y: setattr(y, "data", y.data.mT.clone().mT)),
}


def _changed(x: torch.Tensor, change: Callable[[torch.Tensor], Any]) -> torch.Tensor:
    y = x.sin()
    change(y)
    return (y * 3 + 1) * y


def _rotated(x: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(torch.view_as_complex(x[:, :2].clone()) * (1 + 2j))


def _written_as_complex(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    torch.view_as_complex(y.detach()).mul_(2j)
    z = torch.view_as_complex(y)
    late = y.detach()
    z.add_(torch.view_as_complex(x[:, 1:].clone()))
    return y * late + torch.view_as_real(z)


def _shares_data(y: torch.Tensor, other: torch.Tensor) -> None:
    y.data = other
    other.detach().add_(1)


def _clamped(y: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y.clamp_(-0.5, 0.5)
    return y


def _written(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return y.mul_(x)


def _both(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    z = y.detach()
    z.mul_(x).add_(x)
    z.unsqueeze(0).mul_(2)
    y.mul_(3)
    return y * 5 + z * x


def _doubled(y: torch.Tensor) -> torch.Tensor:
    y.detach().mul_(2)
    return y


@pytest.mark.parametrize("name", STOPS)
def test_jax_takes_no_derivative_where_torch_takes_none(name: str) -> None:
    value, (grad,) = of_torch(STOPS[name], X)
    f = t2j(STOPS[name])
    close(f(X), value)
    close(jax.grad(lambda x: f(x).sum())(X), grad)
    close(jax.jit(jax.grad(lambda x: f(x).sum()))(X), grad)


def test_new_data_that_is_a_part_of_another_tensor_raises_for_one_that_has_a_derivative() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        y.data = torch.ones(4, 3)[1:3]
        return y

    with pytest.raises(NotImplementedError, match=r"expected a copy: tensor\.data = part\.clone\(\)"):
        jax.grad(lambda x: t2j(f)(x).sum())(X)


def test_a_random_operation_needs_a_key_and_draws_from_it() -> None:
    f = jax.jit(t2j(lambda x: x + torch.randn_like(x) * torch.rand(x.shape, device="jax")))
    with pytest.raises(TraceError, match=r"rng=jax\.random\.key\(0\)"):
        f(X)
    one, same, other = (f(X, rng=jax.random.key(k)) for k in (0, 0, 1))
    close(one, same)
    assert not np.allclose(one, other)
    close(f(X, rng=jax.random.PRNGKey(0)), one)
    several = jax.vmap(lambda x, k: f(x, rng=k))(jnp.stack([X, X]), jax.random.split(jax.random.key(0)))
    assert not np.allclose(several[0], several[1])
    f(X, rng=jax.random.key(0, impl="rbg"))


def test_what_is_computed_again_draws_the_same_numbers() -> None:
    from torch.utils.checkpoint import checkpoint

    def f(x: torch.Tensor) -> Any:
        x.requires_grad_()
        y = checkpoint(nn.Dropout(0.5), x * 1, use_reentrant=False)
        y.sum().backward()
        return y, x.grad

    before = torch.jax.get_rng_state().tolist()
    y, grad = jax.jit(t2j(f))(np.ones(64, np.float32), rng=jax.random.key(0))
    np.testing.assert_array_equal(y, grad)
    assert torch.jax.get_rng_state().tolist() == before
    with pytest.raises(TraceError, match="manual_seed"):
        t2j(lambda x: (torch.manual_seed(5), torch.rand_like(x))[1])(X, rng=jax.random.key(0))


def test_a_network_without_dropout_needs_no_key() -> None:
    net = nn.LSTM(3, 4).to("jax")
    close(jax.jit(t2j(net))(X)[0], net(torch.tensor(X).to("jax"))[0].detach().cpu())
    attend = t2j(lambda q: scaled_dot_product_attention(q, q, q))
    assert attend(X[None]).shape == (1, 2, 3)


def test_a_value_or_an_outside_write_is_refused_with_the_line() -> None:
    outside = torch.zeros(3, device="jax")
    with pytest.raises(TraceError, match="test_pure"):
        jax.jit(t2j(lambda x: x if x.sum() > 0 else -x))(X)
    with pytest.raises(TraceError, match="written"):
        jax.jit(t2j(lambda x: outside.add_(x[0])))(X)
    assert outside.tolist() == [0, 0, 0]
    kept: list[torch.Tensor] = []
    jax.jit(t2j(lambda x: kept.append(x + 1)))(X)
    with pytest.raises(TraceError, match="not one of its results"):
        kept[0].sum()


def test_a_function_written_for_the_cpu_runs_on_the_device() -> None:
    held = torch.tensor([1.0, 2.0, 3.0])

    def f(x: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        seen = torch.ones(len(rows), len(rows)).tril().bool()
        scores = (rows @ rows.T).masked_fill(~seen, -torch.inf).softmax(-1)
        padded = torch.cat([scores @ rows, torch.zeros(1, 3, device="cpu")]) * held + torch.tensor([[2.0]])
        return padded[torch.tensor([2, 0])] * torch.arange(3) + x[:, torch.tensor([0, 1, 1])]

    expected = f(torch.tensor(X), torch.tensor(X))
    close(jax.jit(t2j(f))(X, X), expected)
    with pytest.raises(RuntimeError, match="same device"):
        t2j(lambda x: held.add_(x[0]))(X)
    halved = jax.jit(t2j(lambda x: x * torch.linspace(0, 1, 3, device="cpu").tolist()[1]))
    close(halved(X), X / 2)
    drawn = jax.jit(lambda x, key: t2j(lambda x: x + torch.rand(3))(x, rng=key))
    assert not np.array_equal(drawn(X, jax.random.key(0)), drawn(X, jax.random.key(1)))
    with pytest.raises(TraceError, match="without a key"):
        jax.jit(t2j(lambda x: x + torch.rand(3)))(X)


def test_jax_reads_the_signature_of_a_pure_function() -> None:
    assert str(inspect.signature(t2j(lambda x, *, y=1, **z: x))) == "(x, *, y=1, rng=None, **z)"
    sine = jax.custom_vjp(t2j(torch.sin))  # made in C++, so Python knows no signature
    sine.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (7 * g,))
    close(jax.grad(lambda x: sine(x).sum())(X), np.full_like(X, 7))
    scaled = jax.custom_jvp(t2j(lambda x, factor=2.0: x * factor))
    scaled.defjvp(lambda primals, tangents: (primals[0], 7 * tangents[0]))
    close(jax.grad(lambda x: scaled(x, factor=3.0).sum())(X), np.full_like(X, 7))


def test_symbolic_dimensions_are_refused() -> None:
    open_rows = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n, 3"), np.float32)
    with pytest.raises(NotImplementedError, match=r"\(n, 3\).*symbolic"):
        jax.export.export(jax.jit(t2j(torch.sin)))(open_rows)


def test_torchs_checkpoint_is_transparent_to_jax() -> None:
    from torch.utils.checkpoint import checkpoint

    weight = X.T.copy()
    for reentrant in (True, False):

        def f(x: torch.Tensor, w: torch.Tensor, reentrant: bool = reentrant) -> torch.Tensor:
            return checkpoint(lambda y: (y @ w).tanh(), x, use_reentrant=reentrant).square()

        _, grads = of_torch(lambda x, w: (x @ w).tanh().square(), X, weight)
        ours = jax.grad(lambda x, w, f=f: t2j(f)(x, w).sum(), (0, 1))(X, weight)
        jax.tree.map(close, list(ours), grads)


# j2t and dtypes


def test_dtypes_and_arrays_convert_both_ways_without_a_copy() -> None:
    assert t2j(torch.bfloat16) == jnp.bfloat16
    assert j2t(jnp.float32) is torch.float32
    assert j2t(np.dtype("int8")) is torch.int8
    assert j2t(np.float64) is torch.float64
    x = jnp.arange(1000.0)
    tensor = j2t(x)
    assert t2j(tensor).unsafe_buffer_pointer() == x.unsafe_buffer_pointer()
    assert t2j(tensor.view(10, 100).view(-1)).unsafe_buffer_pointer() == x.unsafe_buffer_pointer()
    tree = j2t({"a": x, "b": [x]})
    assert tree["b"][0].device.type == "jax"
    with pytest.raises(TypeError, match="j2t: got str"):
        j2t("x")
    with pytest.raises(TypeError, match="t2j: got str"):
        t2j("x")


def test_importing_interop_is_left_to_who_asks() -> None:
    import subprocess
    import sys

    code = (
        "import sys, tenax; assert 'jax' not in sys.modules; import tenax.interop as i, jax.numpy as jnp; "
        "assert i.t2j(i.j2t(jnp.ones(2))).sum() == 2"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    assert interop.t2j is t2j


def test_a_compiled_function_is_pure_too() -> None:
    f = t2j(torch.compile(smooth, backend="tenax"))
    value, (gradient,) = of_torch(smooth, X)
    close(f(X), value)
    close(jax.jit(jax.grad(lambda x: f(x).sum()))(X), gradient)
