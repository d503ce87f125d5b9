"""Arguments of unusual kinds give what they give on the CPU, or the CPU's error: masks of bytes, numbers of the host,
integers of other widths, numbers of a wrong kind, results of a wrong shape."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tenax
from tests.helpers.agreement import close

Make = Callable[[str], torch.Tensor]


def ramp(device: str, *shape: int) -> torch.Tensor:
    return torch.arange(1.0, 1 + torch.Size(shape).numel()).view(shape).to(device)


def written(tensor: torch.Tensor, write: Callable[[torch.Tensor], object]) -> torch.Tensor:
    write(tensor)
    return tensor


def byte_mask(device: str) -> torch.Tensor:
    return torch.tensor([1, 0, 1], dtype=torch.uint8, device=device)


def steps_of_a_cell(device: str) -> torch.Tensor:
    torch.manual_seed(0)
    cell, x = torch.nn.LSTMCell(3, 4, bias=False).to(device), ramp(device, 2, 3).requires_grad_()
    state = cell(x, cell(x))
    return torch.autograd.grad(state[0].sum() + state[1].square().sum(), x)[0]


VALUES: dict[str, Make] = {
    "a cell without biases": steps_of_a_cell,
    "Kaiser windows": lambda d: torch.cat(
        [torch.kaiser_window(*given, device=d) for given in ((7,), (6, False), (5, True, -2.5), (1,), (0,))]
    ),
    "a byte mask that accumulates": lambda d: written(
        ramp(d, 3), lambda x: x.index_put_((byte_mask(d),), torch.tensor(2.0, device=d), accumulate=True)
    ),
    "a byte mask of rows": lambda d: written(
        ramp(d, 3, 2), lambda x: x.index_put_((byte_mask(d),), ramp(d, 2, 2), accumulate=True)
    ),
    "lengths of 32 bits": lambda d: torch.segment_reduce(
        ramp(d, 5), "sum", lengths=torch.tensor([2, 3], dtype=torch.int32, device=d)
    ),
    "lengths of 64 bits": lambda d: torch.segment_reduce(ramp(d, 5), "max", lengths=torch.tensor([2, 3], device=d)),
    "a masked mean": lambda d: torch.masked.mean(ramp(d, 2, 3), 1, mask=ramp(d, 2, 3) > 2),
    "a masked mean of all": lambda d: torch.masked.mean(ramp(d, 2, 3), mask=ramp(d, 2, 3) > 2),
    "a masked softmax": lambda d: torch.masked.softmax(ramp(d, 2, 3), 1, mask=ramp(d, 2, 3) > 2),
    "a masked variance": lambda d: torch.masked.var(ramp(d, 2, 3), 1, mask=ramp(d, 2, 3) > 2, unbiased=False),
    "a masked maximum": lambda d: torch.masked.amax(ramp(d, 2, 3), 1, mask=ramp(d, 2, 3) > 2),
    "a value of the host": lambda d: ramp(d, 3).index_fill(0, torch.tensor([1], device=d), torch.tensor(7.0)),
    "a value of the host in place": lambda d: written(
        ramp(d, 3), lambda x: x.index_fill_(0, torch.tensor([1], device=d), torch.tensor(7.0))
    ),
}
ERRORS: dict[str, Make] = {
    **{
        f"{name}_ with a larger operand": lambda d, name=name: getattr(ramp(d, 3), f"{name}_")(ramp(d, 2, 3))
        for name in ("fmod", "ge", "gt", "le", "remainder", "add")
    },
    **{
        f"{name} of integers with a real alpha": lambda d, name=name: getattr(torch, name)(
            torch.ones(2, dtype=torch.int32, device=d), torch.ones(2, dtype=torch.int32, device=d), alpha=1.5
        )
        for name in ("add", "sub")
    },
    "add of floats with a complex alpha": lambda d: torch.add(ramp(d, 2), ramp(d, 2), alpha=1j),
    "add of bools with a real alpha": lambda d: torch.add(ramp(d, 2) > 0, ramp(d, 2) > 0, alpha=1.5),
    "segments without lengths": lambda d: torch.segment_reduce(ramp(d, 5), "sum"),
}


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8:UserWarning")
@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_that_of_the_cpu(name: str) -> None:
    close(VALUES[name]("jax"), VALUES[name]("cpu"))


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_that_of_the_cpu(name: str) -> None:
    with pytest.raises(Exception) as expected:  # noqa: PT011 (whatever torch raises)
        ERRORS[name]("cpu")
    with pytest.raises(type(expected.value), match=re.escape(str(expected.value).splitlines()[0])):
        ERRORS[name]("jax")


def test_an_operator_of_a_program_has_an_autograd_kernel_for_the_device() -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            with torch._C._AutoDispatchBelowAutograd():
                return torch.ops.tenax_test_kinds.twice(x)

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            return gradient * 3  # so that its kernel is seen to be used

    library = torch.library.Library("tenax_test_kinds", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CompositeExplicitAutograd")
    library.impl("twice", Twice.apply, "AutogradPrivateUse1")
    x = torch.ones(3, device="jax", requires_grad=True)
    y = torch.ops.tenax_test_kinds.twice(x)
    y.sum().backward()
    assert y.tolist() == [2, 2, 2]
    assert x.grad.tolist() == [3, 3, 3]


HOST_SCALARS: dict[str, Callable[[torch.Tensor], object]] = {
    "fill_": lambda x: x.fill_(torch.tensor(2.0)),
    "add_": lambda x: x.add_(torch.tensor(2.0)),
    "lerp_": lambda x: x.lerp_(torch.ones_like(x), torch.tensor(0.25)),
    "assignment": lambda x: x.__setitem__(slice(None), torch.tensor(2.0)),
    "a window of itself": lambda x: x[1:].addcmul_(x[:-1].clone(), torch.tensor(2.0)),
    "constant_": lambda x: torch.nn.init.constant_(x, torch.tensor(2.0)),
}


@pytest.mark.parametrize("compiled", [lambda f: f, tenax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("write", HOST_SCALARS.values(), ids=HOST_SCALARS)
def test_a_scalar_of_the_host_is_written(write: Callable[[torch.Tensor], object], compiled: Any) -> None:
    close(compiled(lambda x: written(x, write))(ramp("jax", 4)), written(ramp("cpu", 4), write))


def _observed(x: torch.Tensor, on: int, per_row: bool) -> Any:
    enabled, least, most, scale = (torch.tensor([n], device=x.device) for n in (on, -1.0, 1.0, 0.1))
    zero_point = torch.zeros(1, dtype=torch.int32, device=x.device)
    return torch._fused_moving_avg_obs_fq_helper(
        x, enabled, enabled, least, most, scale, zero_point, 0.01, 0, 255, 0, per_row, False
    )


FLAGS = torch.tensor([True, False])
IMAGE, SCALE = torch.arange(24.0).reshape(2, 3, 2, 2), torch.arange(1.0, 4.0).reshape(1, 3, 1, 1)
UNUSUAL: dict[str, Callable[[str], Any]] = {
    "bools to a bool": lambda d: FLAGS.to(d).pow_(True),
    "bools to false": lambda d: FLAGS.to(d).pow_(False),
    "a bool to bools": lambda d: True ** FLAGS.to(d),
    "no rows in half precision": lambda d: torch.cdist(*(torch.zeros(n, 3, device=d).half() for n in (0, 2))),
    "no columns in half precision": lambda d: torch.cdist(*[torch.zeros(2, 0, device=d).bfloat16()] * 2),
    "nothing to observe": lambda d: _observed(torch.zeros(0, 3, device=d), 0, False),
    "nothing to observe by row": lambda d: _observed(torch.zeros(0, 3, device=d), 0, True),
    "nothing observed": lambda d: _observed(torch.zeros(0, 3, device=d), 1, False),
    "nothing observed by row": lambda d: _observed(torch.zeros(0, 3, device=d), 1, True),
    "weights with all axes": lambda d: torch.ops.aten._native_batch_norm_legit.no_stats(
        IMAGE.to(d), SCALE.to(d), SCALE.to(d), True, 0.1, 1e-5
    ),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_arguments_have_the_results_or_the_error_of_the_cpu(name: str) -> None:
    try:
        expected = UNUSUAL[name]("cpu")
    except (RuntimeError, NotImplementedError) as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            UNUSUAL[name]("jax")
    else:
        close(UNUSUAL[name]("jax"), expected)
