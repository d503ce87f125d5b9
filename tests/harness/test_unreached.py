"""Every lowered overload is reached by a recorded entry of torch's databases or called here, against CPU torch."""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.attention import SDPBackend
from torch.utils import _pytree as pytree

from tenax.codegen.build import build
from tenax.codegen.schema import installed
from tenax.codegen.tree import PACKAGE, Tree
from tenax.coverage.chance import separated
from tenax.coverage.compare import compare
from tenax.coverage.results import committed, load
from tests.helpers.agreement import agree, close
from tests.helpers.tolerances import SERIES, SUMMED

from .unreached import drawn, formulas, networks, pointwise, structure
from .unreached.call import Call, overload

pytestmark = pytest.mark.gpu

CALLS = pointwise.CALLS | structure.CALLS | networks.CALLS
# What is a derivative itself is differentiated by the check `gradgrad` of the entries.
DIFFERENTIABLE = [n for n in CALLS if not overload(n)._schema.is_mutable and not re.search("_backward|_jvp", n)]
SEEDS = 12

# Overloads with a test of their own: what they give is not a function of their arguments, or has no reference.
ELSEWHERE = {
    "_fused_dropout": "harness/test_unreached.py: CPU torch has no kernel",
    "_fused_sdp_choice": "harness/test_unreached.py: each device chooses its own",
    "_nested_tensor_from_mask_left_aligned": "harness/test_unreached.py: no, so that the encoder keeps padded tensors",
    "_standard_gamma_grad": "harness/test_unreached.py: CPU torch's own series has four digits",
    "scaled_dot_product_attention": "kernels/test_attention.py",
    "linear*": "dispatch/test_formula_composite.py: a mode that looks for operators sees their parts",
    "matmul*": "dispatch/test_formula_composite.py",
    "_convert_indices_from_*": "sparse/test_layouts.py",
    "*fake_quantize*": "aten/test_fake_quantize.py",
    "_fused_moving_avg_obs_fq_helper": "aten/test_fake_quantize.py",
    "*jagged*": "sparse/test_nested.py",
    "torchvision::*": "kernels/test_vision.py",
}


def test_every_lowered_overload_is_reached_or_called() -> None:
    reached = {op for row in load(committed(torch.__version__)).rows.values() for op in row.ops}
    called = CALLS.keys() | formulas.FORMULAS.keys() | drawn.DRAWS.keys()
    lowered = {e.name for e in build(Tree.at(PACKAGE), installed()).entries if e.lowered}
    elsewhere = {name for name in lowered if any(fnmatch.fnmatchcase(name, pattern) for pattern in ELSEWHERE)}
    untested = sorted(lowered - reached - called - elsewhere)
    assert not untested, f"add a call to tests/harness/unreached, or record an entry that reaches it: {untested}"
    assert all((Path(__file__).parents[1] / why.partition(":")[0]).exists() for why in ELSEWHERE.values())


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore:_aminmax is deprecated")
def test_a_call_agrees_with_the_cpu(name: str) -> None:
    made = CALLS[name]()
    cpu, device = made.on("cpu"), made.on("jax")
    expected, actual = cpu.run(overload(name)), device.run(overload(name))
    agree(actual, expected, SUMMED, nan=True)
    agree(device.tensors(), cpu.tensors(), SUMMED, nan=True)


def tracked(made: Call, name: str, device: str) -> Any:
    """The gradients, in float64, of a weighted sum of the results; None or an error where torch has no formula."""
    held = made.on(device, tracked=True)
    try:
        found = pytree.tree_leaves(held.run(overload(name)))
        results = [x for x in found if isinstance(x, torch.Tensor) and x.requires_grad and x.numel()]
        if not results:
            return None
        total = sum((x * torch.arange(1, x.numel() + 1, device=device).reshape(x.shape)).sum() for x in results)
        return torch.autograd.grad(total, [x for x in held.tensors() if x.requires_grad], allow_unused=True)
    except (RuntimeError, NotImplementedError) as error:
        return str(error)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.filterwarnings("ignore:_aminmax is deprecated")
def test_a_call_has_the_gradient_of_the_cpu(name: str) -> None:
    made = CALLS[name]()
    expected = tracked(made, name, "cpu")
    if isinstance(expected, tuple):
        agree(tracked(made, name, "jax"), expected, SUMMED, strides=False, nan=True)


@pytest.mark.parametrize("name", formulas.FORMULAS)
def test_a_call_without_a_cpu_kernel_agrees_with_its_formula(name: str) -> None:
    make, formula = formulas.FORMULAS[name]
    made = make()
    expected, actual = made.on("cpu").run(formula), made.on("jax").run(overload(name))
    if isinstance(expected, tuple) and expected[-1] is ...:  # what follows is the op's own business
        expected, actual = expected[:-1], actual[: len(expected) - 1]
    agree(actual, expected, SUMMED, strides=False, nan=True)


@pytest.mark.parametrize("name", drawn.DRAWS)
def test_a_draw_is_distributed_as_on_the_cpu(name: str) -> None:
    made = drawn.DRAWS[name]()
    runs: dict[str, list[Any]] = {"cpu": [], "jax": []}
    for device, found in runs.items():
        for seed in (*range(SEEDS), 0):
            torch.manual_seed(seed)
            found.append(made.on(device).run(overload(name)))
    wrong = compare(runs["jax"][0], runs["cpu"][0], device="jax", values=False)
    assert wrong is None, wrong
    wrong = separated(runs["jax"][:SEEDS], runs["cpu"][:SEEDS])
    assert wrong is None, wrong
    first, again = (pytree.tree_leaves(runs["jax"][k]) for k in (0, -1))
    assert all(torch.equal(x, y) for x, y in zip(first, again, strict=True)), "one seed gives two results"


def test_fused_dropout_keeps_and_scales_by_its_mask() -> None:
    x = torch.ones(400, device="jax")
    out, mask = torch.ops.aten._fused_dropout(x, 0.7)
    assert mask.dtype == torch.uint8
    assert 0.5 < mask.float().mean().item() < 0.9
    close(out, x * mask / 0.7)


def test_the_choice_of_an_attention_is_one_of_torchs() -> None:
    q = torch.randn(1, 2, 3, 8, device="jax")
    assert torch.ops.aten._fused_sdp_choice(q, q, q) in [int(b) for b in SDPBackend.__members__.values()]


def test_the_nested_fast_path_of_the_encoder_is_declined() -> None:
    padded, mask = torch.randn(2, 3, 4, device="jax"), torch.ones(2, 3, dtype=torch.bool, device="jax")
    assert torch.ops.aten._nested_tensor_from_mask_left_aligned(padded, mask) is False


def test_the_gradient_of_a_gamma_number_is_near_that_of_the_cpu() -> None:
    alpha, drawn = torch.rand(3, 4) * 4 + 0.5, torch.rand(3, 4) * 3 + 0.1
    expected = torch._standard_gamma_grad(alpha, drawn)
    close(torch._standard_gamma_grad(alpha.to("jax"), drawn.to("jax")), expected, SERIES)
