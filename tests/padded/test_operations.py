"""Programs for many sizes: eager operations that are called with ever new sizes, compared with CPU torch."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
import torch

import tenax
from tenax.dispatch.encode import parameter_sizes
from tenax.dispatch.executable import Executable
from tenax.padded import families, runs
from tenax.xla.memory import code_memory
from tenax.xla.totals import totals
from tests.helpers.agreement import agree
from tests.helpers.tolerances import ACCUMULATED, COMPOSED

F = torch.nn.functional

# The first two have programs of their own, the third one's program serves all others.
SIZES = ((3, 20), (5, 17), (6, 18), (7, 23), (8, 19), (5, 22), (7, 21))


@pytest.fixture(autouse=True)
def tiers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The suite runs with one tier, in which every call of an operation returns the same bits."""
    for module in (families, runs):
        monkeypatch.setattr(module, "has_one_tier", lambda: False)
    monkeypatch.setattr(families, "has_tiers", lambda: True)
    forget()
    yield
    forget()


def forget() -> None:
    code_memory.forget()
    parameter_sizes.clear()
    for one in code_memory.dispatchers:
        one.families = None


def padded_executables() -> list[Executable]:
    return [e for one in code_memory.dispatchers for e in one.entries.values() if e.padded]


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def places(limit: int, *shape: int) -> torch.Tensor:
    return torch.randint(limit, shape, generator=torch.Generator().manual_seed(1))


def on_device(x: torch.Tensor) -> torch.Tensor:
    return x.detach().to("jax").requires_grad_(x.requires_grad)


def results(function: Callable[..., Any], inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """The results of a function, and the gradients of its inputs."""
    found = function(*inputs)
    found = torch.utils._pytree.tree_leaves(found)
    wanted = [x for x in inputs if x.requires_grad]
    if wanted and any(r.requires_grad for r in found):
        total = sum((r * r).sum() for r in found if r.requires_grad)
        found += torch.autograd.grad(total, wanted, allow_unused=True)
    return [x for x in found if x is not None]


def compiled(run: Callable[[], Any]) -> int:
    before = totals.compiled
    run()
    torch.jax.synchronize()
    return totals.compiled - before


def assigned_parts(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
    """Writes to parts of tensors, whose sizes and places change."""
    n, m = x.shape
    y = y.clone()
    y[n : 2 * n, 2 : 2 + m] = x
    y[::2, n].mul_(2)
    y[n].sub_(m)
    y[:m, :n].t().add_(x)
    z = y.t()[m:].clone()
    z[:n].masked_fill_(z[:n] > 0, 3)
    return [y, z]


def into_parts(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
    """Operators with `out=` parts of tensors, of changing sizes and of the same ones."""
    n, m = x.shape
    rows, squares, sums = x.new_zeros(30, 4), x.new_zeros(3, 4, 4), x.new_zeros(2, 30)
    torch.mm(x, y, out=rows[m : m + n])
    torch.mm(y.t(), y, out=squares[n % 3])
    torch.sum(x, 0, out=sums[1, :m])
    return [rows, squares, sums, torch.add(x, x, out=x.new_empty(n, m)), torch.mul(x, 2, out=x.new_empty(0))]


Case = tuple[Callable[..., Any], Callable[[int, int], list[torch.Tensor]]]
CASES: dict[str, Case] = {
    "arithmetic": (lambda x, y: x * y + x / (y * y + 1), lambda n, m: [numbers(n, 4), numbers(n, 4, seed=1)]),
    "a row": (lambda x, y: x + y, lambda n, m: [numbers(n, m), numbers(m, seed=1)]),
    "a constant row": (lambda x, y: x - y, lambda n, m: [numbers(n, 4), numbers(4, seed=1)]),
    "numbers": (lambda x: (x * 3, x + 2.5, 1 / (x * x + 1), x**2), lambda n, m: [numbers(n, m)]),
    "functions": (lambda x: (x.tanh(), x.exp(), F.gelu(x), x.relu(), x.sigmoid()), lambda n, m: [numbers(n, m)]),
    "integers": (lambda x: (x + x, x // 3, x % 4, x.float(), x > 2, x.sum(), x.max()), lambda n, m: [places(9, n, m)]),
    "sums": (lambda x: (x.sum(), x.sum(0), x.mean(1, keepdim=True), x.mean()), lambda n, m: [numbers(n, m)]),
    "extremes": (
        lambda x: (x.max(), x.min(0).values, x.amax(1), x.argmax(0), x.argmin(1)),
        lambda n, m: [numbers(n, m)],
    ),
    "spread": (lambda x: (x.std(), x.var(0), x.norm(), x.norm(1, 0), x.logsumexp(0)), lambda n, m: [numbers(n, m)]),
    "products": (lambda x: (x.prod(0), x.cumsum(0), x.cumprod(1)), lambda n, m: [numbers(n, m)]),
    "logic": (lambda x: ((x > 0).all(), (x > 0).any(1), (x > 0) & (x < 1), x.isnan()), lambda n, m: [numbers(n, m)]),
    "softmax": (lambda x: (x.softmax(0), x.log_softmax(1)), lambda n, m: [numbers(n, m)]),
    "linear": (lambda x, w, b: F.linear(x, w, b), lambda n, m: [numbers(n, 4), numbers(6, 4, seed=1), numbers(6)]),
    "matmul": (lambda x, y: (x @ y, y.mT @ x.mT), lambda n, m: [numbers(n, m), numbers(m, 3, seed=1)]),
    "attention": (lambda q: torch.einsum("bqd,bkd->bqk", q, q).softmax(-1) @ q, lambda n, m: [numbers(2, n, 4)]),
    "layer_norm": (lambda x: F.layer_norm(x, (4,)), lambda n, m: [numbers(n, 4)]),
    "convolution": (lambda x, w: F.conv2d(x, w, padding=1), lambda n, m: [numbers(n, 2, 5, 5), numbers(3, 2, 3, 3)]),
    "pooling": (lambda x: (F.max_pool2d(x, 2), F.avg_pool2d(x, 2)), lambda n, m: [numbers(n, 2, 4, 4)]),
    "concatenation": (lambda x, y: torch.cat([x, y, x]), lambda n, m: [numbers(n, 3), numbers(m, 3, seed=1)]),
    "stack": (lambda x, y: torch.stack([x, y], 1), lambda n, m: [numbers(n, 3), numbers(n, 3, seed=1)]),
    "rows": (lambda x, i: (x[i], x.index_select(0, i), x[i[:2]]), lambda n, m: [numbers(n, 3), places(n, m)]),
    "embedding": (lambda w, i: F.embedding(i, w), lambda n, m: [numbers(5, 3), places(5, n, m)]),
    "gather": (lambda x, i: x.gather(1, i), lambda n, m: [numbers(n, 4), places(4, n, m)]),
    "index_add": (lambda x, i, y: x.index_add(0, i, y), lambda n, m: [numbers(n, 3), places(n, m), numbers(m, 3)]),
    "scatter_add": (
        lambda x, i, y: x.scatter_add(0, i, y),
        lambda n, m: [numbers(n, 3), places(n, m, 3), numbers(m, 3)],
    ),
    "index_put": (
        lambda x, i, y: x.index_put((i,), y, accumulate=True),
        lambda n, m: [numbers(5, 3), places(5, m), numbers(m, 3)],
    ),
    "cross entropy": (lambda x, y: F.cross_entropy(x, y), lambda n, m: [numbers(n, 4), places(4, n)]),
    "masks": (
        lambda x: (x.masked_fill(x > 0, -1.0), torch.where(x > 0, x, -x), x.tril()),
        lambda n, m: [numbers(n, n)],
    ),
    "written": (lambda x: x.clone().mul_(2).add_(1).masked_fill_(x > 1, 0.5).relu_(), lambda n, m: [numbers(n, m)]),
    "assigned": (
        lambda x, y: [
            t.copy_(s) for t, s in ((x.clone(), y), (x.clone(), y[:, :1]), (x.clone(), x.sum().expand_as(x)))
        ],
        lambda n, m: [numbers(n, m).detach(), numbers(n, m, seed=1).detach()],
    ),
    "assigned parts": (
        lambda x, y: assigned_parts(x, y),
        lambda n, m: [numbers(n, m).detach(), numbers(30, 30, seed=1).detach()],
    ),
    "into parts": (
        lambda x, y: into_parts(x, y),
        lambda n, m: [numbers(n, m).detach(), numbers(m, 4, seed=1).detach()],
    ),
    "transposed": (lambda x, y: (x.t() + y, (x.t() * 2).t(), x.mT.relu()), lambda n, m: [numbers(n, m), numbers(m, n)]),
    "slices": (lambda x: (x[1:] * x[:-1], x[:, 2:4] + 1, x[:, 0] * 2), lambda n, m: [numbers(n, 4)]),
    "expanded": (lambda x: x.sum().expand(*x.shape) * x, lambda n, m: [numbers(n, m)]),
    "reshaped": (
        lambda x: ((x.view(-1, 2) * 2).view(-1, 4).sum(0), x.t().reshape(-1) + 1),
        lambda n, m: [numbers(n, 4)],
    ),
    "permuted": (lambda x: x.permute(2, 0, 1).softmax(0).contiguous(), lambda n, m: [numbers(n, 2, m)]),
    "padding": (lambda x: F.pad(x, (1, 2)), lambda n, m: [numbers(n, 3)]),
    "rounded": (lambda x: (x.round(), x.floor(), x.clamp(-0.5, 0.5), x.sign()), lambda n, m: [numbers(n, m)]),
    "median": (lambda x: x.median(0).values, lambda n, m: [numbers(n, 3)]),
    "sorted": (
        lambda x: (x.sort(0).values, x.argsort(1), x.topk(2, 1).values, x.flip(0) * 2),
        lambda n, m: [numbers(n, 4)],
    ),
    "sorted, other dtypes": (
        lambda x: (x.double().sort(0, descending=True), x.half().sort(0), (x * 100).int().sort(0), x.long().argsort(0)),
        lambda n, m: [numbers(n, m).detach()],
    ),
    "scans": (
        lambda x: (x.cumsum(0), x.cumprod(1), x.logcumsumexp(0), x.cummax(0).values),
        lambda n, m: [numbers(n, m)],
    ),
    "classes": (lambda x, y: F.nll_loss(x, y, reduction="sum"), lambda n, m: [numbers(n, 4, 2), places(4, n, 2)]),
}
# Operations of these need to know the sizes.
COMPILE_EACH = {
    "qr": (lambda x: torch.linalg.qr(x).R, lambda n, m: [numbers(n, 3)]),
}


@pytest.mark.parametrize("name", [*CASES, *COMPILE_EACH])
def test_many_sizes_agree_with_the_cpu(name: str) -> None:
    function, make = (CASES | COMPILE_EACH)[name]
    counts = []
    for sizes in SIZES:
        inputs = make(*sizes)
        device, found = list(map(on_device, inputs)), []
        counts.append(compiled(lambda: found.extend(results(function, device))))  # noqa: B023
        agree(found, results(function, inputs), ACCUMULATED)
    assert (counts[4:] == [0, 0, 0]) == (name in CASES)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16, torch.int32, torch.uint8, torch.bool])
def test_dtypes(dtype: torch.dtype) -> None:
    for n, m in SIZES:
        x = (places(100, n, m) - 50).to(dtype)
        functions = (lambda x: (x.sum(), x.amax(0), x == x), lambda x: torch.cat([x, x]) | (x.sum() > 3))
        for function in functions[: 1 + (not dtype.is_floating_point)]:
            agree(results(function, [x.to("jax")]), results(function, [x]))


def test_complex_numbers_and_their_conjugates() -> None:
    for n, m in SIZES:
        x = torch.complex(numbers(n, m).detach(), numbers(n, m, seed=1).detach())
        agree(
            results(lambda x: (x * 2, x.conj() + x, x.abs().sum(0)), [x.to("jax")]),
            [x * 2, x.conj() + x, x.abs().sum(0)],
            COMPOSED,
        )


def test_parts_of_a_dtype_that_numpy_does_not_know_are_written() -> None:
    for n, m in SIZES:
        x = torch.zeros(2 * n, m, dtype=torch.float8_e5m2, device="jax")
        x[::2] = 1
        assert x.float().sum() == n * m


def test_infinite_and_undefined_numbers() -> None:
    for n, m in SIZES:
        x = numbers(n, m).detach()
        x[0, 0], x[1, 1], x[2, 2] = float("nan"), float("inf"), -float("inf")
        for function in (lambda x: (x.sum(0), x.amax(), x.argmax(0), x.nansum(), x.softmax(1)), lambda x: x / (x - x)):
            agree(results(function, [x.to("jax")]), results(function, [x]), COMPOSED, nan=True)


@pytest.mark.parametrize("index", [-20, 9, 14])
def test_an_index_out_of_range_of_the_true_size_raises(index: int) -> None:
    reads = (lambda x, i: x[i], lambda x, i: x.index_select(0, i), lambda x, i: x.index_add(0, i, x[:2]))
    for n in (3, 5, 6, 7, 9):
        x = torch.ones(n, 2).to("jax")
        for read in reads:
            read(x, torch.tensor([0, n - 1]).to("jax"))
    for read in reads:
        with pytest.raises((IndexError, RuntimeError), match=r"out of|range|bounds"):
            read(x, torch.tensor([0, index]).to("jax"))


def test_shapes_that_do_not_match_raise() -> None:
    for n in (3, 5, 6, 7):
        x = torch.ones(n, 2, device="jax")
        x + x
    with pytest.raises(RuntimeError, match="must match"):
        torch.ones(8, 2, device="jax") + torch.ones(9, 2, device="jax")


@pytest.mark.parametrize("sizes", [(0, 1), (1, 0), (1, 1)])
def test_sizes_that_broadcast_or_are_empty(sizes: tuple[int, int]) -> None:
    for n, m in (*SIZES, sizes):
        x = numbers(n, m).detach()
        expected = [x + x[:1], x.sum(0), x.mean(1)]
        agree(results(lambda x: (x + x[:1], x.sum(0), x.mean(1)), [x.to("jax")]), expected, nan=True)


def test_large_arrays_have_programs_of_their_own() -> None:
    rows = [numbers(n, 1 << 16).detach().to("jax") for n in (12, 13, 14, 15)]
    assert [compiled(lambda x=x: x.exp()) for x in rows] == [1, 1, 1, 1]


def test_a_tensor_that_could_be_donated_is_written_by_the_program_for_many_sizes() -> None:
    rows = [numbers(n, 1 << 14).detach() for n in (17, 18, 19, 20)]  # of more than a megabyte
    device = [x.to("jax") for x in rows]
    assert [compiled(lambda x=x: x.mul_(2)) for x in device] == [1, 1, 1, 0]
    agree(device, [x.mul_(2) for x in rows])


def test_parts_of_large_arrays_have_programs_of_their_own() -> None:
    x = torch.zeros(9 << 20).to("jax")
    assert [compiled(lambda n=n: x[:n].sub_(1)) for n in (4, 5, 6, 7)] == [1, 1, 1, 1]


def test_a_size_that_is_called_often_gets_its_own_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread compiles it from half of the calls on."""
    monkeypatch.setattr(runs, "_ENOUGH", 8 * (runs._CALL + 2 * 16 * 3 * 4))
    xs = [numbers(n, 3).detach().to("jax") for n in (4, 5, 6, 7)]
    compiled(lambda: [x.exp() for x in xs])
    (served,) = [
        e for one in code_memory.dispatchers for e in one.entries.values() if e.padded and e.specs[0].size == (7, 3)
    ]
    padded, before = served.run, totals.compiled
    for _ in range(7):
        agree(xs[-1].exp(), xs[-1].cpu().exp())
        assert served.run is padded
    agree(xs[-1].exp(), xs[-1].cpu().exp())
    assert served.run is padded._exact and totals.compiled - before == 1


def test_layers_of_different_sizes_have_programs_of_their_own() -> None:
    """They are sizes of parameters, in the backward pass too, and do not change from step to step."""
    widths = [11, 23, 37, 41, 53, 67]
    layers = [torch.nn.Linear(*pair) for pair in pairwise(widths)]
    model = torch.nn.Sequential(*(module for layer in layers for module in (layer, torch.nn.Tanh()))).to("jax")
    model(numbers(8, 11).to("jax")).sum().backward()
    assert not padded_executables()
    for n in (5, 6, 7, 9):
        model(numbers(n, 11).to("jax")).sum().backward()
    served = {e.specs[0].size[0] for e in padded_executables() if len(e.specs[0].size) == 2}
    assert {7, 9} <= served


def test_deterministic_mode_uses_no_padded_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    xs = [numbers(n, 37).detach().to("jax") for n in (4, 5, 6, 7)]
    compiled(lambda: [x.sum(0) for x in xs])
    for module in (families, runs):
        monkeypatch.setattr(module, "has_one_tier", lambda: True)
    assert compiled(lambda: xs[-1].sum(0)) == 1


def test_traces_and_lazy_mode_use_the_true_sizes() -> None:
    for n, m in SIZES[:4]:
        x = numbers(n, m).detach()
        expected = x.exp().sum(0)
        y = x.to("jax")
        agree(y.exp().sum(0), expected)
        agree(tenax.jit(lambda y: y.exp().sum(0))(y), expected)
        agree(torch.func.vmap(lambda row: row.exp(), 1, 1)(y).sum(0), expected)
        with tenax.lazy():
            found = y.exp().sum(0)
        agree(found, expected)
        assert torch.allclose(torch.tensor(tenax.interop.t2j(lambda y: y.exp().sum(0))(y.jax()).tolist()), expected)


def test_evicted_programs_free_their_memory() -> None:
    xs = [numbers(n, 3).detach().to("jax") for n in (4, 5, 6, 7)]
    for x in xs:
        x.exp()
    served = padded_executables()
    assert len(served) == 2 and len({e.run.larger for e in served}) == 1
    program = weakref.ref(served[0].run.larger)
    del served
    gc.collect()
    gc.disable()
    try:
        code_memory.forget()
        assert program() is None
    finally:
        gc.enable()


def test_written_tensors_keep_their_storages_and_versions() -> None:
    for n, m in SIZES:
        x, y = numbers(n, m).detach(), numbers(n, m).detach().to("jax")
        for t in (x, y):
            view = t[1:]
            t.mul_(2)
            view.add_(1)
            t.masked_fill_(t > 0, 3)
            assert t._version == view._version == 3
        agree([y, y[1:]], [x, x[1:]])


def test_threads() -> None:
    failures: list[Exception] = []

    def work(seed: int) -> None:
        try:
            for n, m in SIZES * 3:
                x = numbers(n + seed, m, seed=seed).detach()
                agree(x.to("jax").exp().sum(0), x.exp().sum(0), COMPOSED)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
