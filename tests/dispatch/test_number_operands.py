"""Numbers are operands of programs: a changing number compiles nothing, and its results are those of CPU torch."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from math import inf, nan
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

import tenax
from tenax.aten.registry import signature_of
from tenax.dispatch import operands
from tenax.xla.totals import totals
from tests.helpers.agreement import agree
from tests.helpers.tolerances import COMPOSED, IN_HALVES

Tensor, F = torch.Tensor, torch.nn.functional
MODES: dict[str, Callable[[], AbstractContextManager]] = {"eager": nullcontext, "lazy": tenax.lazy}


class Case(NamedTuple):
    """A function of tensors and a number: values that share one program, and values that have formulas of their own."""

    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    values: tuple[Any, ...]
    special: tuple[Any, ...] = ()


SQUARE, ROWS, VECTOR, HEADS = (6, 6), (6, 7), (6,), (2, 3, 5, 4)
ORDERS, USUAL_ORDERS = (3.3, 2.6, 3.7, 7.2), (2.0, 0.0, 1.0, inf)
FACTORS, USUAL_FACTORS = (0.5, 2.5, -1.5, 3.0), (0.0, 1.0)
CASES = {
    "pow": Case(lambda x, n: x**n, (ROWS,), (2.6, 3.7, 5.1, 6.3), (-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0)),
    "pow of a negative exponent": Case(lambda x, n: x**n, (ROWS,), (-2.6, -5.1, -7.4)),
    "pow by an int": Case(lambda x, n: x**n, (ROWS,), (7, 8, 9, 11), (2, 3, 0, True, False)),
    "pow_": Case(lambda x, n: x.clone().pow_(n), (ROWS,), (2.6, 3.7, 5.1), (2.0,)),
    "_foreach_pow": Case(lambda x, y, n: torch._foreach_pow([x, y], n), (ROWS, VECTOR), (2.6, 3.7, 5.1), (2, 0.5)),
    "norm": Case(lambda x, p: x.norm(p, 1), (ROWS,), ORDERS, USUAL_ORDERS),
    "norm of all": Case(lambda x, p: x.norm(p), (ROWS,), ORDERS, USUAL_ORDERS),
    "norm of a negative order": Case(lambda x, p: torch.linalg.vector_norm(x, p), (ROWS,), (-1.3, -2.6), (-inf,)),
    "vector_norm by an int": Case(lambda x, p: torch.linalg.vector_norm(x, p), (ROWS,), (7, 8, 9), (0, 1, 2, 3)),
    "_foreach_norm": Case(lambda x, y, p: torch._foreach_norm([x, y], p), (ROWS, VECTOR), ORDERS, USUAL_ORDERS),
    "normalize": Case(lambda x, p: F.normalize(x, p), (ROWS,), ORDERS[:3], (1.0, 2.0)),
    "dist": Case(lambda x, y, p: torch.dist(x, y, p), (ROWS, ROWS), ORDERS, (2.0, 1.0, inf)),
    "cdist": Case(lambda x, y, p: torch.cdist(x, y, p), (ROWS, ROWS), ORDERS, USUAL_ORDERS),
    "pdist": Case(lambda x, p: F.pdist(x, p), (ROWS,), ORDERS, USUAL_ORDERS),
    "pairwise_distance": Case(lambda x, y, p: F.pairwise_distance(x, y, p), (ROWS, ROWS), ORDERS[:3], (2.0,)),
    "renorm by an order": Case(lambda x, p: x.renorm(p, 0, 1.5), (ROWS,), ORDERS, USUAL_ORDERS[2:]),
    "renorm to a norm": Case(lambda x, n: x.renorm(2, 0, n), (ROWS,), (0.0, 0.5, 1.5, 2.0)),
    "addmm alpha": Case(lambda x, y, a: torch.addmm(x, y, y, alpha=a), (SQUARE, SQUARE), FACTORS, USUAL_FACTORS),
    "addmm beta": Case(lambda x, y, b: torch.addmm(x, y, y, beta=b), (SQUARE, SQUARE), FACTORS, USUAL_FACTORS),
    "addmm by an int": Case(
        lambda x, y, b: torch.addmm(x, y, y, beta=b, alpha=b), (SQUARE, SQUARE), (2, 3, -4), (0, 1)
    ),
    "addmv": Case(lambda x, y, b: torch.addmv(x, y, x, beta=b, alpha=b), (VECTOR, SQUARE), FACTORS, USUAL_FACTORS),
    "addr": Case(lambda x, y, b: torch.addr(x, y, y, beta=b, alpha=b), (SQUARE, VECTOR), FACTORS, USUAL_FACTORS),
    "baddbmm": Case(lambda x, b: torch.baddbmm(x, x, x, beta=b, alpha=b), ((2, *SQUARE),), FACTORS, USUAL_FACTORS),
    "addbmm": Case(
        lambda x, y, b: torch.addbmm(x, y, y, beta=b, alpha=b), (SQUARE, (2, *SQUARE)), FACTORS, USUAL_FACTORS
    ),
    "smooth_l1_loss": Case(lambda x, y, b: F.smooth_l1_loss(x, y, beta=b), (ROWS, ROWS), (0.25, 0.5, 2.0), (0.0, 1.0)),
    "huber_loss": Case(lambda x, y, d: F.huber_loss(x, y, delta=d), (ROWS, ROWS), (0.25, 0.5, 2.0), (1.0,)),
    "logit": Case(lambda x, e: torch.logit(x / 4, e), (ROWS,), (0.1, 0.2, 0.25, 0.0, 0.6), (None,)),
    "tril": Case(lambda x, n: x.tril(n), (ROWS,), (2, 3, -2, -9, 9), (-1, 0, 1)),
    "triu_": Case(lambda x, n: x.clone().triu_(n), (ROWS,), (2, 3, -2, -9, 9), (-1, 0, 1)),
    "roll": Case(lambda x, n: x.roll(n, 1), (ROWS,), (2, 3, -1, 9, 0)),
    "roll of two axes": Case(lambda x, n: x.roll((n, 2 * n), (0, -1)), (ROWS,), (2, 3, -1, 9, 0)),
    "roll of all": Case(lambda x, n: x.roll(n), (ROWS,), (2, 3, -1, 9, 0)),
    "arange": Case(lambda x, n: torch.arange(n, n + 7, device=x.device) * x, (ROWS,), (2, 3, -1)),
    "arange by a step": Case(lambda x, n: torch.arange(1, 1 + 7 * n, n, device=x.device) * x, (ROWS,), (2, 3, 5)),
    "arange of floats": Case(lambda x, n: torch.arange(n, n + 6.5, device=x.device) * x, (ROWS,), (0.25, 1.5, -2.5)),
    "arange in int32": Case(
        lambda x, n: torch.arange(n, n + 7, dtype=torch.int32, device=x.device) * x, (ROWS,), (2, 3, -1)
    ),
    "a long arange": Case(lambda x, n: torch.arange(n, n + 10000, device=x.device) * x[0, 0], (ROWS,), (2, 3, -1)),
    "fftfreq": Case(lambda x, d: torch.fft.fftfreq(7, d, device=x.device) * x, (ROWS,), (0.5, 2.0, 1.5)),
    "var": Case(lambda x, c: x.var(1, correction=c), (ROWS,), (2.0, 2.5, 3.0), (0.0, 1.0)),
    "std": Case(lambda x, c: x.std(1, correction=c), (ROWS,), (2, 3, 4), (0, 1, None)),
    "var_mean": Case(lambda x, c: torch.var_mean(x, 1, correction=c), (ROWS,), (2, 3, 4), (0, 1)),
    "attention": Case(
        lambda q, k, v, s: F.scaled_dot_product_attention(q, k, v - 1, scale=s),
        (HEADS,) * 3,
        (0.5, 1.5, -0.25),
        (None,),
    ),
    "attention with a mask": Case(
        lambda q, m, s: F.scaled_dot_product_attention(q, q, q - 1, m, scale=s),
        (HEADS, (1, 1, 5, 5)),
        (0.5, 1.5),
        (None,),
    ),
    "attention of the CPU": Case(
        lambda q, s: torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, q, q - 1, scale=s)[0],
        (HEADS,),
        (0.5, 1.5, -0.25),
        (None,),
    ),
    "nll_loss": Case(lambda x, i: F.nll_loss(x, classes(x), ignore_index=i), (ROWS,), (2, 3, 0, 99), (-100,)),
    "nll_loss of images": Case(
        lambda x, i: F.nll_loss(x, classes(x, (2, 3, 3)), ignore_index=i), ((2, 7, 3, 3),), (2, 3, 0), (-100,)
    ),
    "cross_entropy": Case(
        lambda x, i: F.cross_entropy(x, classes(x), ignore_index=i, label_smoothing=0.1), (ROWS,), (2, 3, 0), (-100,)
    ),
    "embedding": Case(lambda x, i: F.embedding(classes(x) % 6, x, i), (ROWS,), (2, 3, 5), (None,)),
    "embedding_bag": Case(
        lambda x, w, i: F.embedding_bag(
            classes(x).reshape(3, 2) % 6, x, padding_idx=i, mode="sum", per_sample_weights=w
        ),
        (ROWS, (3, 2)),
        (2, 3, 5),
        (None,),
    ),
    "histc": Case(lambda x, n: torch.histc(x, 5, n, 1.5), (ROWS,), (0.5, 1.25, -1.0), (0.0, 1.5)),
    "histc from 0": Case(lambda x, n: torch.histc(x, 5, 0, n), (ROWS,), (1.25, 1.5, 3.0), (0.0,)),
    "round to digits": Case(lambda x, n: x.round(decimals=n), (ROWS,), (1, 2, 3, 39, 400), (0,)),
    "round to powers of 10": Case(lambda x, n: (x * 1e4).round(decimals=n), (ROWS,), (-1, -3, -2, -39)),
    "kthvalue": Case(lambda x, k: x.kthvalue(k), (ROWS,), (1, 2, 5, 7)),
    "kthvalue of columns": Case(lambda x, k: x.kthvalue(k, 0, True), (ROWS,), (1, 2, 5)),
    "narrow_copy": Case(lambda x, i: torch.narrow_copy(x, 1, i, 3), (ROWS,), (1, 3, 4, -5), (0,)),
    "select_scatter": Case(lambda x, y, i: x.select_scatter(y, 0, i), (ROWS, (7,)), (1, 3, -1, 0)),
    "slice_scatter": Case(lambda x, y, i: x.slice_scatter(y, 1, i, i + 2), (ROWS, (6, 2)), (1, 3, 5), (0,)),
    "slice_scatter by a step": Case(lambda x, y, i: x.slice_scatter(y, 1, i, i + 4, 2), (ROWS, (6, 2)), (1, 2, 3)),
    "diagonal_scatter": Case(lambda x, y, i: x.diagonal_scatter(y.detach(), i), (SQUARE, (4,)), (2, -2)),
    "diagonal_backward": Case(
        lambda x, i: torch.ops.aten.diagonal_backward(x.detach(), [3, 6, 6], i, 1, 2), ((3, 4),), (2, -2)
    ),
}
# Those for which torch has no second derivatives on the CPU.
ONCE = ("cdist", "pdist", "attention", "attention with a mask", "attention of the CPU", "embedding_bag")


def classes(x: Tensor, shape: tuple[int, ...] = (6,)) -> Tensor:
    """Class indices below 7, on the device of a tensor."""
    return (torch.arange(torch.Size(shape).numel()).reshape(shape) * 5 % 7).to(x.device)


def tensors(case: Case, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    """Positive arguments, distinct from each other."""
    torch.manual_seed(0)
    return [(torch.rand(shape, dtype=torch.float64) * 2 + 0.25).to(dtype) for shape in case.shapes]


def results(case: Case, value: Any, xs: list[Tensor], twice: bool = True) -> list[Tensor]:
    """The results for a value, the gradients, and the gradients of those."""
    xs = [x.detach().requires_grad_(x.is_floating_point()) for x in xs]
    found = torch.utils._pytree.tree_leaves(case.function(*xs, value))
    wanted = [x for x in xs if x.requires_grad]
    if not wanted or not any(r.requires_grad for r in found):
        return found
    total = sum((r * r).sum() for r in found if r.requires_grad)
    first = torch.autograd.grad(total, wanted, create_graph=twice, allow_unused=True)
    if twice and any(g is not None and g.requires_grad for g in first):
        again = sum((g * g).sum() for g in first if g is not None)
        found = [*found, *torch.autograd.grad(again, wanted, allow_unused=True)]
    return [*found, *first]


def compiled(run: Callable[[], Any]) -> int:
    """The number of programs that a function compiles."""
    before = totals.compiled
    run()
    torch.jax.synchronize()
    return totals.compiled - before


def on_device(case: Case, value: Any, mode: str, dtype: torch.dtype = torch.float32, twice: bool = True) -> list[Any]:
    xs = [x.to("jax") for x in tensors(case, dtype)]
    with MODES[mode]():
        return results(case, value, xs, twice)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_values_share_one_program(name: str, mode: str) -> None:
    case = CASES[name]
    first, *others = case.values
    compiled(lambda: on_device(case, first, mode, twice=False))
    assert [compiled(lambda v=value: on_device(case, v, mode, twice=False)) for value in others] == [0] * len(others)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives_are_those_of_the_cpu(name: str, mode: str) -> None:
    case = CASES[name]
    for value in (*case.values, *case.special):
        twice = name not in ONCE
        expected = results(case, value, tensors(case), twice)
        found = on_device(case, value, mode, twice=twice)
        # The CPU's fused attention has gradients in the memory order of its own kernel.
        agree(found, expected, COMPOSED, nan=True, strides=not name.startswith("attention"))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["pow", "pow by an int", "norm", "addmm by an int", "smooth_l1_loss", "logit", "var"])
def test_other_dtypes(name: str, dtype: torch.dtype) -> None:
    case = CASES[name]
    for value in (*case.values, *case.special):
        expected = results(case, value, tensors(case, dtype), twice=False)
        agree(on_device(case, value, "eager", dtype, twice=False), expected, IN_HALVES, nan=True)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.uint8, torch.complex64], ids=str)
@pytest.mark.parametrize("exponent", [5, 7, 2, 2.6, 3.7, True, False, 1.5 + 1j, 2.5 + 1j, -5, -7, -2], ids=str)
def test_the_kind_of_an_exponent_decides_the_dtype(exponent: Any, dtype: torch.dtype) -> None:
    x = torch.tensor([0, 1, 2, 3, 200]).to(dtype)
    try:
        expected = x**exponent
    except RuntimeError as error:
        with pytest.raises(RuntimeError, match=re.escape(str(error))):
            x.to("jax") ** exponent
    else:
        agree(x.to("jax") ** exponent, expected, COMPOSED, nan=True)


@pytest.mark.parametrize("mode", MODES)
def test_second_derivatives_of_attention_with_a_scale(mode: str) -> None:
    function = partial(F.scaled_dot_product_attention, is_causal=True)
    case = Case(lambda q, k, v, s: function(q, k, v, scale=s), (HEADS,) * 3, ())
    for scale in (0.5, -0.25):
        with sdpa_kernel(SDPBackend.MATH):
            expected = results(case, scale, tensors(case, torch.float64))
        agree(on_device(case, scale, mode, torch.float64), expected, COMPOSED, strides=False)


@pytest.mark.parametrize("mode", MODES)
def test_probabilities_of_dropout_share_one_program(mode: str) -> None:
    x = torch.rand(HEADS).to("jax")

    def run(p: float) -> list[Tensor]:
        torch.manual_seed(3)
        with MODES[mode]():
            q = x.clone().requires_grad_()
            found = F.scaled_dot_product_attention(q, q, x, dropout_p=p)
            return [found, *torch.autograd.grad(found.square().sum(), q)]

    for p in (0.1, 0.25, 0.0):
        run(p)
    found: dict[float, list[Tensor]] = {}
    assert compiled(lambda: found.update({p: run(p) for p in (0.3, 0.6, 0.9)})) == 0
    for p, results in found.items():
        torch.manual_seed(3)
        constant = tenax.jit(lambda q, p=p: F.scaled_dot_product_attention(q, q, q, dropout_p=p))(x)
        agree(results[0].detach(), constant.cpu())
        assert (results[0] == 0).any() or p < 0.9  # all of five keys were dropped
        assert results[1].isfinite().all()


def test_numbers_of_attention_are_constants_on_other_platforms(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels of GPUs and TPUs have a constant scale."""
    signature = signature_of("scaled_dot_product_attention")
    slots = [s for s in signature.arguments if s.name in ("scale", "dropout_p")]
    assert not any(operands.is_in_key(signature.name, slot, 0.5) for slot in slots)
    monkeypatch.setattr(operands, "jax_devices", lambda: [SimpleNamespace(platform="gpu")])
    assert all(operands.is_in_key(signature.name, slot, 0.5) for slot in slots)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.AdamW])
def test_fused_adam_takes_any_beta(kind: Any, mode: str) -> None:
    def steps(device: str, betas: list[float]) -> list[Tensor]:
        x = torch.linspace(-1, 1, 40).to(device).requires_grad_()
        optimizer = kind([x], lr=0.01, fused=True)
        with MODES[mode]() if device == "jax" else nullcontext():
            for beta in betas:
                optimizer.param_groups[0]["betas"] = (beta - 0.1, beta)
                optimizer.zero_grad()
                (x * x).sum().backward()
                optimizer.step()
                tenax.sync()
        return [x.detach(), optimizer.state[x]["exp_avg_sq"]]

    betas = [0.9, 0.999, 0.99, 0.9999]
    agree(steps("jax", betas), steps("cpu", betas), COMPOSED)
    assert compiled(lambda: steps("jax", [0.8, 0.95, 0.97, 0.9995])) == 0


RANGES_OF_INTEGERS = [(0, 10), (-5, 1000), (-(2**31), 2**31 - 1), (2**40, 2**40 + 7), (0, 2**32), (-(2**63), 2**63 - 1)]


@pytest.mark.parametrize("mode", MODES)
def test_random_integers_have_any_bounds(mode: str) -> None:
    """The numbers are those of a compiled function, where the bounds are constants."""

    def run(low: int, high: int) -> Tensor:
        return torch.randint(low, high, (100,), device="jax")

    for low, high in RANGES_OF_INTEGERS:
        torch.manual_seed(5)
        with MODES[mode]():
            found = run(low, high).cpu()
        assert low <= found.min().item() <= found.max().item() < high
        torch.manual_seed(5)
        assert torch.equal(found, tenax.jit(lambda low=low, high=high: run(low, high))().cpu())
    with MODES[mode]():
        assert compiled(lambda: [run(3, n).tolist() for n in (7, 8, 9, 100)]) <= 1
        x = torch.empty(50, dtype=torch.int16, device="jax")
        compiled(lambda: x.random_(5, 7).tolist())
        assert compiled(lambda: [x.random_(n, n + 9).tolist() for n in (1, -2, 4)]) == 0


def test_a_float_with_integers_has_the_precision_of_the_default_dtype() -> None:
    x = torch.arange(1, 6)
    torch.set_default_dtype(torch.float64)
    try:
        agree(x.to("jax") * 2.3, x * 2.3)
        agree(x.to("jax") ** 2.3, x**2.3)
    finally:
        torch.set_default_dtype(torch.float32)
    agree(x.to("jax") * 2.3, x * 2.3)


# What reads or writes at a changing place: its second value is an operand of a second program, as views are.
PLACES: dict[str, Callable[[Tensor, int], Tensor]] = {
    "x[i]": lambda x, i: x[i] * 2,
    "x[i:j]": lambda x, i: x[i : i + 2] * 2,
    "narrow": lambda x, i: x.narrow(1, i, 2) * 2,
    "a step": lambda x, i: x[:, i : i + 3 : 2] * 2,
    "from the end": lambda x, i: x[-i - 1] * 2,
    "x[i] = y": lambda x, i: written(x * 1, i),
}


def written(x: Tensor, i: int) -> Tensor:
    x[i] = x[0] * 3
    return x


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PLACES)
def test_changing_places_and_their_gradients_compile_twice(name: str, mode: str) -> None:
    function, source = PLACES[name], torch.rand(ROWS)

    def run(i: int) -> None:
        x, y = source.to("jax").requires_grad_(), source.clone().requires_grad_()
        with MODES[mode]():
            found = function(x, i)
            (found * found).sum().backward()
        expected = function(y, i)
        (expected * expected).sum().backward()
        agree([found, x.grad], [expected, y.grad])

    counts = [compiled(lambda i=i: run(i)) for i in (1, 2, 3, 4, 2)]
    assert counts[2:] == [0, 0, 0]


def test_lengths_of_short_ranges_compile_nothing() -> None:
    def run() -> None:
        for n in range(20, 60):
            agree(torch.arange(n, device="jax"), torch.arange(n))

    assert compiled(run) == 0


FRACTIONS = [(5.5,), (0.0, 1.0, 0.1), (2, 9.5), (1, 0, -0.25)]
RANGES = [(5,), (0,), (2, 9, 3), (9, 2, -2), (3, 3), (0, 2**40, 2**38), (300, 310)]
REFUSED_RANGES = [(-1,), (9, 2), (0, 10, 0), (inf,), (0, nan)]


@pytest.mark.parametrize("dtype", [None, torch.int64, torch.int8, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_ranges_are_those_of_the_cpu(mode: str, dtype: torch.dtype | None) -> None:
    for ends in RANGES if dtype in (torch.int64, torch.int8) else [*RANGES, *FRACTIONS]:
        with MODES[mode]():
            found = torch.arange(*ends, dtype=dtype, device="jax")
        agree(found, torch.arange(*ends, dtype=dtype))
    for ends in REFUSED_RANGES:
        with pytest.raises((RuntimeError, ValueError)) as expected:
            torch.arange(*ends, dtype=dtype)
        with MODES[mode](), pytest.raises(expected.type, match=re.escape(str(expected.value))):
            torch.arange(*ends, dtype=dtype, device="jax")


def test_a_write_to_a_range_leaves_equal_ranges_alone() -> None:
    x, y = torch.arange(5, device="jax"), torch.arange(5, device="jax")
    x += 1
    agree(y, torch.arange(5))
    agree(torch.arange(5, device="jax"), torch.arange(5))
    agree(x, torch.arange(1, 6))


def test_an_empty_tensor_rolls_along_any_axis() -> None:
    for shift, dim in ((1, 0), (2, 3), (3, -3)):
        agree(torch.empty(0, 3, device="jax").roll(shift, dim), torch.empty(0, 3).roll(shift, dim))


REFUSED = {
    "pow of integers": (lambda x, n: x.to(torch.int64) ** n, 5, -5),
    "smooth_l1_loss": (lambda x, n: F.smooth_l1_loss(x, x + 1, beta=n), 0.5, -0.5),
    "huber_loss": (lambda x, n: F.huber_loss(x, x + 1, delta=n), 0.5, -0.5),
    "smooth_l1_loss of NaN": (lambda x, n: F.smooth_l1_loss(x, x + 1, beta=n), 0.5, nan),
    "huber_loss of NaN": (lambda x, n: F.huber_loss(x, x + 1, delta=n), 0.5, nan),
    "softshrink": (F.softshrink, 0.5, -1.0),
    "softshrink by infinity": (F.softshrink, 0.5, inf),
    "huber_loss of 0": (lambda x, n: F.huber_loss(x, x + 1, delta=n), 0.5, 0.0),
    "renorm by an order": (lambda x, n: x.renorm(n, 0, 1.0), 2.6, -2.6),
    "renorm to a norm": (lambda x, n: x.renorm(2, 0, n), 0.5, -0.5),
    "renorm to NaN": (lambda x, n: x.renorm(2, 0, n), 0.5, nan),
    "an order of no elements": (lambda x, n: torch.linalg.vector_norm(x[:0], n), 2.6, -2.6),
    "cdist": (lambda x, n: torch.cdist(x, x, n), 2.6, -2.6),
    "select_backward": (lambda x, n: torch.ops.aten.select_backward(x[0], [6, 7], 0, n), 2, 6),
    "slice_backward to one": (lambda x, n: torch.ops.aten.slice_backward(x[:2], [6, 7], 0, n, n + 2, 1), 2, 5),
    "slice_backward": (lambda x, n: torch.ops.aten.slice_backward(x[:3], [6, 7], 0, n, n + 3, 1), 2, 4),
    "dropout": (lambda x, n: F.scaled_dot_product_attention(*[x[None, None]] * 3, dropout_p=n)[..., :0], 1.0, 1.5),
    "histc": (lambda x, n: torch.histc(x, 5, n, 1.5), 0.5, 2.5),
    "histc of an infinite range": (lambda x, n: torch.histc(x, 5, n, 1.5), 0.5, -inf),
    "kthvalue": (lambda x, n: x.kthvalue(n)[0], 2, 8),
    "narrow_copy beyond the end": (lambda x, n: torch.narrow_copy(x, 0, n, 2), 2, 5),
    "narrow_copy beyond the axis": (lambda x, n: torch.narrow_copy(x, 0, n, 2), 2, 9),
    "select_scatter": (lambda x, n: x.select_scatter(x[0], 0, n), 2, 6),
    "slice_scatter": (lambda x, n: x.slice_scatter(x[:2], 0, n, n + 2), 2, 5),
    "diagonal_scatter": (lambda x, n: x.diagonal_scatter(x[0, :5], n), 2, 4),
    "diagonal_backward": (lambda x, n: torch.ops.aten.diagonal_backward(x[0, :5], [6, 7], n, 0, 1), 2, 4),
    "randint": (lambda x, n: torch.randint(3, n, (0,), device=x.device), 5, 3),
    "randint of bytes": (lambda x, n: torch.randint(n, 5, (0,), dtype=torch.uint8, device=x.device), 3, -1),
    "randint_like": (lambda x, n: torch.randint_like(x[:0], n, dtype=torch.int8), 5, 300),
    "random_": (lambda x, n: x[:0].to(torch.int8).random_(n, 100), 5, -200),
    "random_ below": (lambda x, n: x[:0].random_(n), 5, 0),
    "masked_fill of half": (lambda x, n: x.half().masked_fill(x > 2, n), 2.5, 1e6),
    "index_fill of bytes": (lambda x, n: x.byte().index_fill(0, x[0, :1].long() * 0, n), 255, 256),
    "scatter of int8": (lambda x, n: x.char().scatter(0, x[:1].long() * 0, n), 5, 300),
    "scatter of NaN": (lambda x, n: x.int().scatter(0, x[:1].long() * 0, n), 5.0, nan),
    "a padded bfloat16": (lambda x, n: F.pad(x.bfloat16(), (1, 1), value=n), 3e38, 1e39),
    "clamp of int16": (lambda x, n: x.short().clamp(min=n), 9, 1 << 15),
    "add_ of half": (lambda x, n: x.half().add_(x.half(), alpha=n), 2.5, 65520.0),
    "_foreach_add of int8": (lambda x, n: torch._foreach_add([x.char()], [x.char()], alpha=n)[0], 5, 300),
    "fill_ of half": (lambda x, n: x.half().fill_(n), 2.5, 1e6),
    "a part of complex64": (lambda x, n: x.to(torch.complex64)[1:].fill_(n), 2.5j, 1e39j),
    "full of float8": (lambda x, n: torch.full((2,), n, dtype=torch.float8_e5m2, device=x.device).float(), 2.0, 1e6),
    "addmm of integers": (lambda x, n: torch.addmm(x[:, :6].int(), *[x[:, :6].int()] * 2, beta=n), 5, 1 << 40),
    "a complex number for floats": (lambda x, n: x.index_fill(0, x[0, :1].long() * 0, n), 2.5, 1j),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_number_raises_after_another_was_compiled(name: str, mode: str) -> None:
    function, accepted, refused = REFUSED[name]
    x = torch.rand(ROWS)
    with pytest.raises((RuntimeError, IndexError)) as expected:
        function(x, refused)
    with MODES[mode]():
        agree(function(x.to("jax"), accepted), function(x, accepted))
        for _ in range(2):
            with pytest.raises(expected.type, match=re.escape(str(expected.value))):
                function(x.to("jax"), refused)


BOUNDS: dict[str, Any] = {
    "clamp below": lambda x: x.clamp(max=1000),
    "clamp above": lambda x: x.clamp(min=-1000),
    "clamp_ on both sides": lambda x: x.clone().clamp_(-1000, 1000),
    "no number is left": lambda x: x.clamp(min=1000),
    "clamp_min": lambda x: torch.clamp_min(x, -1000),
    "a list": lambda x: torch._foreach_clamp_max([x], [1000])[0],
    "hardtanh": lambda x: F.hardtanh(x, -1000, 1000),
    "int64": lambda x: x.long().clamp(-(2**62), 2**63 - 1),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_beyond_the_range_of_an_integer_dtype_is_that_of_the_cpu(name: str, mode: str) -> None:
    """torch 2.13 refuses most of them; torch 2.15 takes them as the least or greatest number of the dtype."""
    x = torch.tensor([-5, 0, 100], dtype=torch.int8)

    def outcome(x: torch.Tensor) -> Any:
        try:
            return BOUNDS[name](x).tolist()
        except RuntimeError as error:
            return str(error).splitlines()[0]

    with MODES[mode]():
        assert outcome(x.to("jax")) == outcome(x)


@pytest.mark.parametrize(("dtype", "number"), [(torch.half, 1e6), (torch.int8, 300), (torch.uint8, -0.5)])
def test_a_number_that_a_dtype_does_not_hold_is_an_error_of_a_compiled_function(dtype: Any, number: Any) -> None:
    x = torch.ones(ROWS, dtype=dtype, device="jax")
    jitted = tenax.jit(lambda x, n: x.masked_fill(x == 1, n))

    def fill(n: Any) -> Any:
        found = jitted(x, n)
        torch.jax.synchronize()  # raises for assertions that failed
        return found

    for n in (2, 3, 2.0, 3.0):  # numbers of both types become operands
        assert fill(n).eq(n).all()
    with pytest.raises(RuntimeError, match="without overflow"):
        fill(number)
    assert fill(2.0).eq(2).all()


IN_PLACE = {
    "leaky_relu_": lambda x: F.leaky_relu_(x, -2.0),
    "rrelu_": lambda x: F.rrelu_(x, -2.0, -1.0),
    "elu_": lambda x: F.elu_(x, -1.0),
    "celu_": lambda x: F.celu_(x, -1.0),
}


@pytest.mark.parametrize("wrap", [lambda f: f, tenax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", IN_PLACE)
def test_an_activation_in_place_with_a_negative_slope_has_no_gradient(name: str, wrap: Callable[..., Any]) -> None:
    def step(x: Tensor) -> None:
        IN_PLACE[name](x * 1).sum().backward()

    with pytest.raises(RuntimeError) as expected:
        step(torch.ones(3, requires_grad=True))
    with pytest.raises(RuntimeError, match=re.escape(str(expected.value))):
        wrap(step)(torch.ones(3, device="jax", requires_grad=True))


def test_beta_0_ignores_the_input() -> None:
    x, nothing = torch.rand(SQUARE), torch.full(SQUARE, nan)
    for beta in (0.5, 0.0, 0, 2.0):
        agree(
            torch.addmm(nothing.to("jax"), x.to("jax"), x.to("jax"), beta=beta),
            torch.addmm(nothing, x, x, beta=beta),
            nan=True,
        )


@pytest.mark.parametrize("name", ["pow", "norm", "addmm beta", "smooth_l1_loss", "var"])
def test_a_number_is_a_constant_of_a_compiled_function(name: str) -> None:
    """The program of `tenax.jit` has no operand for it, and computes what JAX does with the number itself."""
    case = CASES[name]
    xs = [x.to("jax") for x in tensors(case)]
    for value in case.values[:2]:
        traced = tenax.interop.t2j(lambda *xs, value=value: case.function(*xs, value))
        jaxpr = jax.make_jaxpr(traced)(*(x.jax() for x in xs))
        assert not jaxpr.consts
        agree(tenax.jit(case.function)(*xs, value), case.function(*tensors(case), value), COMPOSED)
