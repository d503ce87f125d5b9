"""Manual sharding: what stands between `enable_manual_sharding` and `disable_manual_sharding` is of each device."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import torch

import tenax
import tenax.compat.torch_xla as torch_xla
import tenax.compat.torch_xla.core.xla_model as xm
import tenax.compat.torch_xla.distributed.spmd as xs
from tenax.compat.torch_xla.experimental.custom_kernel import gmm, gmm_backward
from tests.helpers.agreement import close

device = xm.xla_device()
MODES: dict[str, Any] = {"eager": nullcontext, "lazy": tenax.lazy, "jit": nullcontext}
PAIRS = [[0, 1], [2, 3], [4, 5], [6, 7]]  # along "model"
COLUMNS = [[0, 2, 4, 6], [1, 3, 5, 7]]  # along "data"


@pytest.fixture(autouse=True)
def mesh(monkeypatch: pytest.MonkeyPatch) -> xs.Mesh:
    """The mesh of the program, of 4 by 2 devices."""
    mesh = xs.Mesh(np.arange(8), (4, 2), ("data", "model"))
    monkeypatch.setattr("tenax.compat.torch_xla.settings.mode.mesh", mesh)
    return mesh


def in_mode(mode: str, function: Callable[..., Any], *args: Any) -> Any:
    """The results of a function, on the CPU."""
    with MODES[mode]():
        results = (tenax.jit(function) if mode == "jit" else function)(*args)
        return [x.detach().cpu() for x in results]


def on_each(x: torch.Tensor) -> torch.Tensor:
    """Products, a write to a view, a tensor from outside, a sort and indices."""
    x = x.t() @ x
    x += 1
    x.view(-1)[0] = 7.0
    x = torch.nn.functional.silu(x / 100) + torch.arange(4, device=x.device)
    return x[:, x[0].argsort()]


def by_parts(x: torch.Tensor) -> list[torch.Tensor]:
    """The parts of the 4 by 2 devices."""
    return [part for rows in x.chunk(4) for part in rows.chunk(2, 1)]


def joined(parts: list[torch.Tensor]) -> torch.Tensor:
    """The tensor with these parts."""
    return torch.cat([torch.cat(parts[i : i + 2], 1) for i in range(0, 8, 2)])


@pytest.mark.parametrize("mode", MODES)
def test_each_device_computes_with_its_part_and_exchanges_it(mode: str) -> None:
    def run(x: torch.Tensor) -> Any:
        part = xs.enable_manual_sharding(x, ("data", "model")).global_tensor
        assert part.shape == (2, 4) and part.sharding_type is xs.ShardingType.MANUAL
        part = on_each(part)
        found = [
            part,
            xm.reduce_scatter("max", part, 1.0, -1, 2, groups=PAIRS),
            torch_xla._XLAC._xla_spmd_reduce_scatter(xm.REDUCE_SUM, part, 0.5, 0, 2, PAIRS),
            xm.all_gather(part, 1, groups=PAIRS),
            xm.all_to_all(part, 0, 1, 2, groups=PAIRS),
            xm.collective_permute(part, [[i, (i + 1) % 8] for i in range(8)]),
        ]
        total = xm.all_reduce(xm.REDUCE_SUM, part, groups=COLUMNS)
        results = [xs.disable_manual_sharding(x, (0, 1), (4 * x.shape[0], 2 * x.shape[1])) for x in found]
        return [*results, xs.disable_manual_sharding(total, (None, "model"), (4, 8)).global_tensor]

    x = torch.arange(64.0).reshape(8, 8)
    own = [on_each(part.clone()) for part in by_parts(x)]
    pairs = [(own[i // 2 * 2], own[i // 2 * 2 + 1]) for i in range(8)]
    expected = [
        own,
        [torch.maximum(*pair).chunk(2, 1)[i % 2] for i, pair in enumerate(pairs)],
        [(sum(pair) * 0.5).chunk(2)[i % 2] for i, pair in enumerate(pairs)],
        [torch.cat(pair, 1) for pair in pairs],
        [torch.cat([part.chunk(2)[i % 2] for part in pair], 1) for i, pair in enumerate(pairs)],
        [own[i - 1] for i in range(8)],
    ]
    total = torch.cat([sum(own[0::2]), sum(own[1::2])], 1)
    close(in_mode(mode, run, x.to(device)), [*map(joined, expected), total])


class Experts(torch.autograd.Function):
    """Rows of several experts times their matrices, split by rows and by features of the matrices."""

    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, experts: torch.Tensor, matrices: torch.Tensor) -> torch.Tensor:
        part = xs.enable_manual_sharding(rows, ("data", "model"))
        order = xs.enable_manual_sharding(experts, ("data",)).argsort(stable=True)
        own = xs.enable_manual_sharding(matrices, (None, "model", None))
        counts = (xs.enable_manual_sharding(experts, ("data",))[:, None] == torch.arange(3, device=rows.device)).sum(0)
        ctx.save_for_backward(rows, matrices, order, counts)
        product = xm.all_reduce(xm.REDUCE_SUM, gmm(part[order], own, counts), groups=PAIRS)
        return xs.disable_manual_sharding(product[order.argsort()], ("data", None), (len(rows), matrices.shape[2]))

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:  # type: ignore[override]
        rows, matrices, order, counts = ctx.saved_tensors
        part, own = xs.enable_manual_sharding(rows, (0, 1)), xs.enable_manual_sharding(matrices, (None, 1, None))
        of_rows, of_own = gmm_backward(xs.enable_manual_sharding(grad, (0, None))[order], part[order], own, counts)
        of_own = xm.all_reduce(xm.REDUCE_SUM, of_own, groups=COLUMNS)
        return (
            xs.disable_manual_sharding(of_rows[order.argsort()], ("data", "model"), rows.shape),
            None,
            xs.disable_manual_sharding(of_own, (None, "model", None), matrices.shape),
        )


@pytest.mark.parametrize("mode", MODES)
def test_a_function_with_manual_forward_and_backward_is_differentiable(mode: str) -> None:
    generator = torch.Generator().manual_seed(0)
    rows, experts = torch.randn(16, 4, generator=generator), torch.randint(3, (16,), generator=generator)
    matrices = torch.randn(3, 4, 5, generator=generator)

    def step(function: Callable[..., torch.Tensor], *given: torch.Tensor) -> Any:
        rows, experts, matrices = (x.detach().clone() for x in given)
        leaves = rows.requires_grad_(), matrices.requires_grad_()
        result = function(rows, experts, matrices)
        return result, *torch.autograd.grad(result.square().sum(), leaves)

    expected = step(lambda rows, experts, matrices: (rows[:, None] @ matrices[experts])[:, 0], rows, experts, matrices)
    given = [x.to(device) for x in (rows, experts, matrices)]
    close(in_mode(mode, lambda *args: step(Experts.apply, *args), *given), [x.detach() for x in expected])


def test_what_a_manual_tensor_cannot_do_raises() -> None:
    x = torch.ones(8, 8, device=device, requires_grad=True)
    part = xs.enable_manual_sharding(x.detach(), (0, 1))
    assert (
        isinstance(part, xs.XLAShardedTensor) and part.sharding_spec == "{manual}" and not hasattr(part, "local_shards")
    )
    assert torch_xla._XLAC._get_xla_sharding_spec(part + 1) == "{manual}" and "shape=[2, 4]" in repr(part)
    for read in (part.cpu, part.sum().item):
        with pytest.raises(RuntimeError, match=r"each device has its own value; expected xs.disable_manual_sharding"):
            read()
    with pytest.raises(ValueError, match="expected those of one mesh"):
        part + xs.enable_manual_sharding(x.detach(), (0, None), mesh=xs.get_1d_mesh())
    with pytest.raises(NotImplementedError, match=r"aten.t_.default: a tensor between enable_ and"):
        part.t_()
    with pytest.raises(RuntimeError, match="this jax tensor has no storage: it is a ManualTensor"):
        tenax.jit(lambda x: xs.enable_manual_sharding(x, (0, 1)))(x.detach())
    with pytest.raises(
        ValueError, match=r"parts of shape \[2, 4\] .* full_shape \[4, 8\]; expected parts of shape \[1, 4\]"
    ):
        xs.disable_manual_sharding(part, (0, 1), (4, 8))
    with pytest.raises(ValueError, match=r"on .*\(4, 2\).*; expected parts of shape \[2, 4\] on .*\(8,\)"):
        xs.disable_manual_sharding(part, (None, None), (2, 4), mesh=xs.get_1d_mesh("x"))
    with pytest.raises(ValueError, match=r"enable_manual_sharding: a tensor of shape .* do not divide dimension 0"):
        xs.enable_manual_sharding(x[:3], (0, 1))
    result = xs.disable_manual_sharding(xs.enable_manual_sharding(x, (0, 1)) * 2, (0, 1), (8, 8))
    with pytest.raises(NotImplementedError, match=r"no gradient, as in PyTorch/XLA; expected it, .* autograd.Function"):
        result.sum().backward()


def test_a_tensor_from_outside_is_the_same_on_each_device() -> None:
    outside = torch.arange(4.0, device=device)
    close(xs.disable_manual_sharding(outside, (0,), (16,)).cpu(), torch.arange(4.0).repeat(4))
    close(xs.disable_manual_sharding(outside, (None,), (4,)).cpu(), torch.arange(4.0))
