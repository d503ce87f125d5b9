"""`x[i]` in compiled functions where `i` is a tensor without axes, which eager mode asks for its value."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import tenax
from tenax.errors import TraceError
from tests.agreement import close

X, I = torch.arange(24.0).view(6, 4), torch.tensor(2)  # noqa: E741


def _cached(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    x[:, i] = x[:, i - 1] * 2
    x[i, 1:] += 1
    return x[: i.numel(), i]


READ: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "row": lambda x, i: x[i] * 2,
    "from the end": lambda x, i: x[..., -i],
    "computed": lambda x, i: x[x[:, 0].argmax()] + x[i, (x[0] - i).argmin()],
    "what item() gave": lambda x, i: x[i.item()] + x[0, (i + 1).item()],
    "selected": lambda x, i: x.select(1, -i) + torch.select(x, dim=1, index=i.item()),
    "narrowed": lambda x, i: x.narrow(0, i, 2) + torch.narrow(x, 0, start=-i, length=1),
    "written": _cached,
}


@pytest.mark.parametrize("name", READ)
def test_an_index_is_no_part_of_the_program(name: str) -> None:
    f = READ[name]
    compiled = tenax.jit(f)
    for i in (I, I - 1):
        x, ours = X.clone(), X.to("jax")
        close(compiled(ours, i.to("jax")), f(x, i))
        close(ours, x)
    assert len(compiled.history) == 1


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x, i: x[i, i, i], "too many indices"),
        (lambda x, i: x[i.float()], "tensors used as indices must be long"),
    ],
    ids=["too many", "floats"],
)
def test_what_is_no_index_raises_as_in_eager_mode(f: Callable[..., Any], expected: str) -> None:
    for function, device in ((f, "cpu"), (tenax.jit(f), "jax")):
        with pytest.raises(IndexError, match=expected):
            function(X.to(device), I.to(device))


def test_a_parameter_is_trained_at_an_index() -> None:
    def table_after(device: str, jit: Any) -> torch.Tensor:
        table = X.clone().to(device).requires_grad_()
        optimizer = torch.optim.SGD([table], lr=0.1)

        @jit
        def step(i: torch.Tensor) -> None:
            optimizer.zero_grad()
            table[i].square().sum().backward()
            optimizer.step()

        for i in (1, 2, 1):
            step(torch.tensor(i, device=device))
        return table.detach().cpu()

    close(table_after("jax", tenax.jit), table_after("cpu", lambda f: f))


def test_an_index_out_of_range_raises_when_the_results_are_there() -> None:
    tenax.jit(lambda x, i: x[i])(X.to("jax"), torch.tensor(6, device="jax"))
    with pytest.raises(IndexError, match="out of range"):
        torch.jax.synchronize()


HELD = SimpleNamespace(row=None)


def _keep(x: torch.Tensor, i: torch.Tensor) -> None:
    HELD.row = x[i]
    x.add_(1)


def _give(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    row = x[i]
    x[i] = row + 1
    return row


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (_keep, r"was written since: expected x\[i\] to be read again"),
        (_give, r"was written since: expected x\[i\] to be read again"),
        (lambda x, i: x[i].add_(1), r"a write to x\[i\].*: expected x\[i\] = value"),
    ],
    ids=["kept", "given", "written"],
)
def test_what_a_view_would_show_and_a_copy_does_not_raises(f: Callable[..., Any], expected: str) -> None:
    with pytest.raises(TraceError, match=expected):
        tenax.jit(f)(X.to("jax"), I.to("jax"))
