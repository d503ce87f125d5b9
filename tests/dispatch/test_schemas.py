"""The lowerings fit the schemas of the installed release of torch."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tenax  # noqa: F401
from tenax.aten.registry import signature_of
from tenax.generated.table import ROWS
from tests.helpers.agreement import close


def parameters_of(lowering: Callable[..., Any]) -> tuple[set[str], set[str]]:
    """All parameters of a lowering except `rng`, and the required ones."""
    found = {p.name: p.default for p in inspect.signature(lowering).parameters.values() if p.name != "rng"}
    needed = {name for name, default in found.items() if default is inspect.Parameter.empty}
    return set(found), needed - {"dtype"}  # an out tensor may provide the dtype


def test_every_row_that_the_installed_torch_has_is_registered_and_fits_its_schema() -> None:
    torch.ones(1, device="jax")
    held = set(torch._C._dispatch_get_all_op_names())
    for name in (name for name in ROWS if f"aten::{name}" in held):
        assert torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "PrivateUse1"), name
        signature = signature_of(name)
        given = {s.parameter for s in signature.arguments if s.kind not in ("dropped", "device", "generator")}
        given -= {signature.arguments[i].parameter for i in signature.outs}
        accepted, needed = parameters_of(signature.lowering)
        assert needed <= given <= accepted, name


def test_what_an_entry_says_of_writes_holds_for_the_forms_that_write() -> None:
    cumsum, arange = ([signature_of(f"{op}{end}") for end in ("", ".out")] for op in ("cumsum", "arange"))
    assert [s.prepare is None for s in [*cumsum, signature_of("cumsum_")]] == [True, False, False]
    assert [s.correct is None for s in arange] == [True, False]
    fills = [signature_of(name) for name in ("fill.Scalar", "fill.Scalar_out", "fill_.Scalar")]
    assert [(s.overwrites, s.writes_expanded) for s in fills] == [(False, False), (False, False), (True, True)]


def test_a_renamed_argument_reaches_its_lowering() -> None:
    def gradient(device: str) -> torch.Tensor:
        x = torch.arange(6.0, device=device).reshape(3, 2).requires_grad_()
        torch.pdist(x * x).sum().backward()
        return x.grad.cpu()

    close(gradient("jax"), gradient("cpu"))


@pytest.mark.skipif(not hasattr(torch.linalg, "polar"), reason="torch.linalg.polar is new in torch 2.14")
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex64])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 2)])
def test_polar_and_the_root_of_a_matrix_are_those_of_the_cpu(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    def run(device: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        x = torch.randn(shape, dtype=dtype).to(device).requires_grad_()
        u, h = torch.linalg.polar(x)
        root = torch.linalg.matrix_sqrth(x.mH @ x)
        (u.abs().sum() + h.abs().sum() + root.abs().sum()).backward()
        return [t.detach().cpu() for t in (u, h, root, x.grad)]

    for found, wanted in zip(run("jax"), run("cpu"), strict=True):
        close(found, wanted)
        assert found.stride() == wanted.stride()
