"""Gradients under `torch.vmap` agree with those of the CPU, without a call for each sample."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (torch's own idiom)
from torch import nn

from tests.helpers.agreement import close

RMS_NORMS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "rows": (lambda: nn.RMSNorm(8), (2, 5, 8)),
    "planes": (lambda: nn.RMSNorm((5, 8)), (3, 5, 8)),
    "whole": (lambda: nn.RMSNorm(8), (8,)),
    "no weight": (lambda: nn.RMSNorm(8, elementwise_affine=False), (4, 8)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("name", RMS_NORMS)
def test_a_backward_pass_through_rms_norm(name: str, dtype: torch.dtype) -> None:
    # For an operator without a rule torch warns, which is an error here.
    make, size = RMS_NORMS[name]

    def jacobians(device: str) -> tuple[torch.Tensor, ...]:
        torch.manual_seed(0)
        module = make().to(device, dtype)
        x = torch.randn(size).to(device, dtype).requires_grad_()
        value = module(x).reshape(-1)
        basis = torch.eye(value.numel(), dtype=dtype, device=device)[:6]
        leaves = (x, *module.parameters())
        return torch.vmap(lambda v: torch.autograd.grad(value, leaves, v, retain_graph=True))(basis)

    for found, expected in zip(jacobians("jax"), jacobians("cpu"), strict=True):
        assert found.dtype is expected.dtype
        close(found, expected)


@pytest.mark.parametrize("reduction", ["none", "sum"])
def test_a_ctc_loss_whose_lengths_are_on_the_cpu(reduction: str) -> None:
    lengths = torch.tensor([6, 4]), torch.tensor([3, 2])

    def gradients(device: str) -> torch.Tensor:
        torch.manual_seed(0)
        logits, labels = torch.randn(3, 6, 2, 5).to(device), torch.randint(1, 5, (2, 3)).to(device)

        def loss(x: torch.Tensor) -> torch.Tensor:
            return F.ctc_loss(x.log_softmax(-1), labels, *lengths, reduction=reduction).sum()

        return torch.vmap(torch.func.grad(loss))(logits)

    with pytest.warns(UserWarning, match="batching rule for aten::_ctc_loss"):  # on every device
        expected = gradients("cpu")
    with pytest.warns(UserWarning, match="batching rule for aten::_ctc_loss"):
        close(gradients("jax"), expected)
