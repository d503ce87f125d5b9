"""torch's collectives over an axis of `jax.shard_map` are those of `jax.lax`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from jax import lax
from jax.sharding import PartitionSpec as P

import tenax
from tenax.compat.torchax import interop
from tenax.distributed import axis_group
from tenax.interop import t2j
from tests.helpers.agreement import close
from tests.helpers.meshes import mesh

Function = Callable[[Any], Any]
SPLIT = P("data")
x = jnp.arange(32.0)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is deprecated. Please use", category=FutureWarning)
        yield


def mapped(function: Function, check: bool = True, out: P = SPLIT) -> Any:
    return jax.jit(jax.shard_map(function, mesh=mesh(), in_specs=P("data"), out_specs=out, check_vma=check))


def in_place(call: Callable[..., Any], **options: Any) -> Function:
    """The tensor after a call that writes it."""

    def run(t: torch.Tensor) -> torch.Tensor:
        t = t.clone()
        call(t, group=axis_group("data"), **options)
        return t

    return run


def wait(t: torch.Tensor) -> torch.Tensor:
    return torch.ops._c10d_functional.wait_tensor(t)


# Name: the torch function, the same in JAX, and whether JAX knows its results to be equal on all devices.
CALLS: dict[str, tuple[Function, Function, bool]] = {
    "all_reduce": (lambda t: functional.all_reduce(t, "sum", axis_group("data")), lambda a: lax.psum(a, "data"), True),
    "by name": (lambda t: functional.all_reduce(t, "avg", "data") + 1, lambda a: lax.pmean(a, "data") + 1, True),
    "maximum": (lambda t: functional.all_reduce(t, "max", "data"), lambda a: lax.pmax(a, "data"), True),
    "operator": (
        lambda t: wait(torch.ops._c10d_functional.all_reduce(t, "sum", "data")),
        lambda a: lax.psum(a, "data"),
        True,
    ),
    "all_gather": (
        lambda t: functional.all_gather_tensor(t.reshape(2, 4), 1, "data"),
        lambda a: lax.all_gather(a.reshape(2, 4), "data", axis=1, tiled=True),
        False,
    ),
    "reduce_scatter": (
        lambda t: functional.reduce_scatter_tensor(t, "sum", 0, "data"),
        lambda a: lax.psum_scatter(a, "data", tiled=True),
        False,
    ),
    "all_to_all": (
        lambda t: functional.all_to_all_single(t, [2] * 4, [2] * 4, "data"),
        lambda a: lax.all_to_all(a, "data", 0, 0, tiled=True),
        False,
    ),
    "broadcast": (lambda t: functional.broadcast(t, 2, "data"), lambda a: lax.all_gather(a, "data")[2], False),
    "coalesced": (
        lambda t: sum(functional.all_reduce_coalesced([t, 2 * t], "sum", "data")),
        lambda a: 3 * lax.psum(a, "data"),
        True,
    ),
    "all_reduce in place": (in_place(dist.all_reduce), lambda a: lax.psum(a, "data"), True),
    "broadcast in place": (in_place(dist.broadcast, group_src=1), lambda a: lax.all_gather(a, "data")[1], False),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("check", [True, False], ids=["checked", "unchecked"])
def test_a_collective_is_that_of_jax(name: str, check: bool) -> None:
    function, expected, equal = CALLS[name]
    axis_group("data")
    out = P() if equal and check else P("data")
    assert np.array_equal(mapped(t2j(function), check, out)(x), mapped(expected, check, out)(x))


def test_it_is_the_collective_of_the_compiled_program() -> None:
    axis_group("data")
    program = mapped(t2j(CALLS["reduce_scatter"][0])).lower(x).compile().as_text()
    assert program.count(" reduce-scatter(") == 1 and "all-gather" not in program


def test_it_has_the_derivative_of_jax() -> None:
    axis_group("data")

    def ours(t: torch.Tensor) -> torch.Tensor:
        return functional.all_gather_tensor(t.sin(), 0, "data").square().sum().reshape(1)

    def theirs(a: jax.Array) -> jax.Array:
        return jnp.square(lax.all_gather(jnp.sin(a), "data", tiled=True)).sum().reshape(1)

    found, expected = (jax.grad(lambda a, f=f: mapped(f)(a).sum())(x) for f in (t2j(ours), theirs))
    close(torch.tensor(np.asarray(found)), torch.tensor(np.asarray(expected)))


def test_a_group_of_two_axes_and_an_axis_of_vmap() -> None:
    both = axis_group("data", "model")
    total = jax.shard_map(
        t2j(lambda t: functional.all_reduce(t, "sum", both)),
        mesh=mesh(),
        in_specs=P(("data", "model")),
        out_specs=P(),
    )(x)
    assert np.array_equal(total, x.reshape(8, 4).sum(0))
    rows = jax.vmap(t2j(lambda t: functional.all_reduce(t, "sum", axis_group("rows"))), axis_name="rows")
    assert np.array_equal(rows(x.reshape(4, 8)), np.tile(x.reshape(4, 8).sum(0), (4, 1)))


def test_functions_of_torchax_name_an_axis_of_their_mesh() -> None:
    function = interop.jax_shard_map(
        lambda t: functional.all_reduce(t, "sum", "model"), {"mesh": mesh(), "in_specs": P("model"), "out_specs": P()}
    )
    found = function(torch.arange(8.0, device="jax"))
    assert torch.equal(found.cpu(), torch.arange(8.0).reshape(2, 4).sum(0))


def test_what_no_program_of_all_devices_has_is_refused() -> None:
    group = axis_group("data")
    with pytest.raises(RuntimeError, match=r"axis 'data' \(.*test_axis_groups.py.*no such axis; .*jax.shard_map"):
        functional.all_reduce(torch.ones(2, device="jax"), "sum", group)
    with pytest.raises(RuntimeError, match=r"axis 'data'.*no such axis"):
        t2j(lambda t: functional.all_reduce(t, "sum", group))(x)
    with pytest.raises(RuntimeError, match=r"axis 'data'.*no such axis"):
        tenax.jit(lambda t: functional.all_reduce(t, "sum", group))(torch.ones(2, device="jax"))
    with pytest.raises(NotImplementedError, match=r"one trace is of all devices; .*jax.lax.axis_index"):
        mapped(t2j(lambda t: t * group.rank()))(x)
    with pytest.raises(NotImplementedError, match=r"axis 'data' \(.*test_axis.*ppermute in the place of permute"):
        mapped(t2j(lambda t: functional.permute_tensor(t, [1, 2, 3, 0], group)))(x)
    with pytest.raises(NotImplementedError, match=r"parts of different sizes.*pad them"):
        mapped(t2j(lambda t: functional.all_to_all_single(t, [5, 1, 1, 1], [2] * 4, group)))(x)
    uneven = t2j(lambda t: dist.reduce_scatter(t[:1].clone(), [t[:1], t[:2], t[:3], t[:4]], group=group))
    with pytest.raises(NotImplementedError, match="reduce_scatter of different shapes"):
        mapped(uneven)(x)
    with pytest.raises(ValueError, match="expected the name of an axis"):
        axis_group()
