"""Gradients that torch computes by reading values, and writes by masks, in traces."""

from __future__ import annotations

from collections.abc import Callable

import jax
import pytest
import torch

import tenax
from tenax.errors import TraceError
from tests.helpers.agreement import close

pytestmark = pytest.mark.gpu

Tensor = torch.Tensor

FUNCTIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "max": lambda x, v: x.max(),
    "min": lambda x, v: torch.min(x),
    "median": lambda x, v: x.median(),
    "nanmedian": lambda x, v: x.nanmedian(),
    "prod": lambda x, v: x.prod(),
    "prod of an axis": lambda x, v: torch.prod(x, dim=1, keepdim=True),
    "prod in a dtype": lambda x, v: x.prod(0, dtype=torch.float64),
    "cumprod": lambda x, v: x.cumprod(-1),
    "masked_fill": lambda x, v: x.masked_fill(x > 1, v.sum()),
    "index_fill": lambda x, v: x.index_fill(1, torch.tensor([0, 2, 0], device=x.device), v[0]),
    "cumprod_": lambda x, v: (x * 2).cumprod_(0),
    "masked_fill_": lambda x, v: (x * 2).masked_fill_(x > 1, v.sum()),
    "cov": lambda x, v: torch.cov(x),
    "cov of a vector": lambda x, v: x[0].cov(correction=0),
    "corrcoef": lambda x, v: torch.corrcoef(x)[0],
    "index_fill_": lambda x, v: (x * 2).index_fill_(1, torch.tensor([0, 2, 0], device=x.device), v[0]),
}
ROWS = {
    "distinct": [[0.5, -1.5, 3.0], [2.0, 0.25, -0.75]],
    "ties": [[3.0, 3.0, -1.0], [-1.0, 3.0, 3.0]],
    "one zero": [[0.5, 0.0, 3.0], [2.0, 0.25, -0.75]],
    "zeros": [[0.0, 0.0, 3.0], [0.0, 0.25, 0.0]],
    "nan": [[1.0, float("nan"), 3.0], [0.0, 0.25, float("nan")]],
}
VALUE = [0.5, 2.0, -1.0]
# torch has another formula for cumprod where a row has a zero, which spreads a NaN less far.
CASES = [(name, row) for name in FUNCTIONS for row in ROWS if not (name.startswith("cumprod") and row == "nan")]


def gradients(function: Callable[[Tensor, Tensor], Tensor], twice: bool) -> Callable[[Tensor, Tensor], list[Tensor]]:
    """A step that gives results and their first, and with `twice` also second, gradients."""

    def step(x: Tensor, v: Tensor) -> list[Tensor]:
        x, v = x.clone().requires_grad_(), v.clone().requires_grad_()
        y = function(x.sin(), v)
        scale = torch.linspace(1, 2, y.numel(), device=y.device).reshape(y.shape)
        found = list(torch.autograd.grad((y * scale).sum(), (x, v), create_graph=twice, allow_unused=True))
        if twice:
            found += torch.autograd.grad(found[0].square().sum(), x)
        return [y.detach(), *(torch.zeros_like(x) if g is None else g for g in found)]

    return step


@pytest.mark.sampled(5)
@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize(("name", "values"), CASES)
def test_gradients_are_those_of_cpu_torch(name: str, values: str, twice: bool) -> None:
    step = gradients(FUNCTIONS[name], twice)
    x, v = torch.tensor(ROWS[values], dtype=torch.float64), torch.tensor(VALUE, dtype=torch.float64)
    if twice and values == "zeros" and "prod" in name:
        x[0, 0] = 0.1  # torch's second gradient of a product with several zeros is 0 where it should not be
    expected = step(x, v)
    compiled = tenax.jit(step)
    for _ in range(2):
        close(compiled(x.to("jax"), v.to("jax")), expected, nan=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_within_a_pure_function(name: str) -> None:
    step = gradients(FUNCTIONS[name], False)
    x, v = torch.tensor(ROWS["ties"]), torch.tensor(VALUE)
    found = jax.jit(tenax.t2j(step))(x.numpy(), v.numpy())
    close(found, step(x, v))


@pytest.mark.parametrize("name", ["prod", "prod of an axis", "cumprod", "max"])
def test_autocast_sets_the_dtype(name: str) -> None:
    def step(x: Tensor) -> list[Tensor]:
        x = x.clone().requires_grad_()
        with torch.autocast("jax", torch.bfloat16):
            y = FUNCTIONS[name](x, x)
        return [y.detach(), *torch.autograd.grad(y.sum(), x)]

    x = torch.tensor(ROWS["distinct"], dtype=torch.bfloat16, device="jax")
    close(tenax.jit(step)(x), step(x))


COVARIANCES: dict[str, Callable[[Tensor], Tensor]] = {
    "integers": lambda x: torch.cov(x.long()),
    "complex": lambda x: torch.cov(torch.complex(x, x.flip(1))),
    "correlation of complex numbers": lambda x: torch.corrcoef(torch.complex(x, x.flip(1).square())),
    "correlation of integers": lambda x: x.long().corrcoef(),
    "correlation of a vector": lambda x: torch.corrcoef(x[0]),
    "half precision": lambda x: torch.cov(x.bfloat16()),
    "no rows": lambda x: torch.cov(x[:0]),
    "a number": lambda x: torch.cov(x[0, 0], correction=0),
}


@pytest.mark.parametrize("name", COVARIANCES)
def test_covariances_compile_in_each_dtype(name: str) -> None:
    x = torch.tensor(ROWS["distinct"])
    close(tenax.jit(COVARIANCES[name])(x.to("jax")), COVARIANCES[name](x))


def test_covariances_warn_and_raise_as_torch() -> None:
    x = torch.ones(2, 1, device="jax")
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        found = tenax.jit(lambda x: torch.cov(x))(x)
    assert found.isnan().all()
    with pytest.raises(RuntimeError, match="two or fewer dimensions"):
        tenax.jit(lambda x: torch.cov(x[None]))(x)
    with pytest.raises(TraceError, match="equal: the value of a tensor is not known"):
        tenax.jit(lambda x: torch.cov(x, fweights=torch.tensor([2], device=x.device)))(x)


def test_other_calls_are_those_of_torch() -> None:
    def step(x: Tensor) -> list[Tensor]:
        values = [x.max(1)[0], torch.max(x, -x), x.min(dim=0).values, torch.median(x, 1)[0]]
        with torch.no_grad():
            values += [x.max(), x.prod(0)]
        return [v.detach() for v in values] + [torch.autograd.grad(sum(v.sum() for v in values), x)[0]]  # type: ignore[misc]

    x = torch.tensor(ROWS["distinct"])
    close(tenax.jit(lambda y: step(y.clone().requires_grad_()))(x.to("jax")), step(x.clone().requires_grad_()))


WRITES: dict[str, Callable[[Tensor, Tensor, Tensor], None]] = {
    "row": lambda x, row, mask: x.__setitem__(mask, row),
    "row of one place": lambda x, row, mask: x.__setitem__(mask, row[None]),
    "row of leading axes": lambda x, row, mask: x.__setitem__(mask, row[None, None, None]),
    "number": lambda x, row, mask: x.__setitem__(mask, row[0]),
    "number of another dtype": lambda x, row, mask: x.__setitem__(mask, row[:1].double()),
    "after a slice": lambda x, row, mask: x.__setitem__((slice(1, 3), mask[0]), row),
    "after an integer": lambda x, row, mask: x.__setitem__((1, mask[0]), row),
    "before a slice": lambda x, row, mask: x.__setitem__((mask, slice(0, 2)), row[:2]),
    "before an integer": lambda x, row, mask: x.__setitem__((mask, -1), row[1:2]),
    "after all axes": lambda x, row, mask: x.__setitem__((..., mask[0, :4]), row[:1]),
    "before all axes": lambda x, row, mask: x.__setitem__((mask[:, 0], ...), row),
    "new axis": lambda x, row, mask: x.__setitem__((None, mask), row),
    "a row for each element before": lambda x, row, mask: x.__setitem__((slice(None), mask[0]), row[:3, None, None]),
    "bytes": lambda x, row, mask: x.__setitem__(mask.byte(), row),
    "the whole": lambda x, row, mask: x.__setitem__(x.detach() > 0, row[:1]),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", WRITES)
@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
def test_a_row_is_written_where_a_mask_is_true(name: str) -> None:
    def step(x: Tensor, row: Tensor, mask: Tensor) -> list[Tensor]:
        x, row = x.clone().requires_grad_(), row.clone().requires_grad_()
        y = x * 2
        WRITES[name](y, row, mask)
        return [y.detach(), *torch.autograd.grad(y.sin().sum(), (x, row))]

    torch.manual_seed(0)
    x, row, mask = torch.randn(3, 5, 4), torch.randn(4), torch.randn(3, 5) > 0
    expected = step(x, row, mask)
    args = [t.to("jax") for t in (x, row, mask)]
    close(tenax.jit(step)(*args), expected)
    close(step(*args), expected)
    found = jax.jit(tenax.t2j(step))(x.numpy(), row.numpy(), mask.numpy())
    close(found, expected)


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
def test_torch_compile_writes_a_row_without_a_graph_break(name: str) -> None:
    @torch.no_grad()
    def step(x: Tensor, row: Tensor, mask: Tensor) -> Tensor:
        y = x * 2
        WRITES[name](y, row, mask)
        return y

    torch.manual_seed(0)
    x, row, mask = torch.randn(3, 5, 4), torch.randn(4), torch.randn(3, 5) > 0
    torch._dynamo.reset()
    compiled = torch.compile(step, backend="tenax", fullgraph=True)
    close(compiled(*(t.to("jax") for t in (x, row, mask))), step(x, row, mask))


IN_ORDER: dict[str, Callable[[Tensor, Tensor, Tensor], None]] = {
    "rows": lambda x, rows, mask: x.__setitem__(mask, rows[0, :8]),
    "elements": lambda x, rows, mask: x.__setitem__((..., mask[0, :4]), rows[:, :5, :2]),
    "after a slice": lambda x, rows, mask: x.__setitem__((slice(1, 3), mask[0]), rows[:2, :3]),
    "the same rows for each before": lambda x, rows, mask: x.__setitem__((slice(None), mask[0]), rows[0, :3]),
    "before a slice": lambda x, rows, mask: x.__setitem__((mask, slice(0, 2)), rows[0, :8, :2]),
    "leading axes": lambda x, rows, mask: x.__setitem__(mask, rows[None, :1, :8]),
    "columns": lambda x, rows, mask: x.__setitem__(mask, rows[0, :8, :1]),
    "no rows": lambda x, rows, mask: x.__setitem__(mask & ~mask, rows[0, :0]),
    "bytes": lambda x, rows, mask: x.__setitem__(mask.byte(), rows[0, :8]),
}
ROW_MASK = torch.tensor([[1, 0, 1, 0, 1], [0, 1, 1, 0, 0], [1, 1, 0, 0, 1]]).bool()


def rows_step(name: str) -> Callable[[Tensor, Tensor, Tensor], list[Tensor]]:
    def step(x: Tensor, rows: Tensor, mask: Tensor) -> list[Tensor]:
        x, rows = x.clone().requires_grad_(), rows.clone().requires_grad_()
        y = x * 2
        IN_ORDER[name](y, rows, mask)
        return [y.detach(), *torch.autograd.grad(y.sin().sum(), (x, rows))]

    return step


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", IN_ORDER)
@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
def test_rows_are_written_in_order_where_a_mask_is_true(name: str) -> None:
    torch.manual_seed(0)
    step, x, rows = rows_step(name), torch.randn(3, 5, 4), torch.randn(3, 8, 4)
    expected = step(x, rows, ROW_MASK)
    args = [t.to("jax") for t in (x, rows, ROW_MASK)]
    close(tenax.jit(step)(*args), expected)
    close(step(*args), expected)
    close(jax.jit(tenax.t2j(step))(x.numpy(), rows.numpy(), ROW_MASK.numpy()), expected)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", sorted(IN_ORDER.keys() - {"bytes"}))  # TorchDynamo refuses bytes in the gradient
def test_torch_compile_writes_rows_with_their_gradient(name: str, dynamic: bool) -> None:
    def function(x: Tensor, rows: Tensor, mask: Tensor) -> Tensor:
        y = x * 2
        IN_ORDER[name](y, rows, mask)
        return y.sin()

    torch.manual_seed(0)
    x, rows = torch.randn(3, 5, 4, requires_grad=True), torch.randn(3, 8, 4, requires_grad=True)
    y = function(x, rows, ROW_MASK)
    expected = [y, *torch.autograd.grad(y.sum(), (x, rows))]
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="tenax", fullgraph=True, dynamic=dynamic)
    a, b = (t.detach().to("jax").requires_grad_() for t in (x, rows))
    found = compiled(a, b, ROW_MASK.to("jax"))
    close([found, *torch.autograd.grad(found.sum(), (a, b))], expected)


def test_another_number_of_rows_raises() -> None:
    @tenax.jit
    def step(x: Tensor, mask: Tensor) -> Tensor:
        x[mask] = torch.arange(3.0, device="jax")
        return x

    def run() -> None:
        step(x, mask)
        torch.jax.synchronize()

    x, mask = torch.zeros(4, device="jax"), torch.tensor([True, False, True, False], device="jax")
    with pytest.raises(RuntimeError, match=r"shape mismatch: value tensor of shape \[3\].*test_traced_gradients"):
        run()
    for wrong in (torch.ones(3), torch.ones(2, 2), torch.ones(2, 1)):
        with pytest.raises(RuntimeError, match="shape mismatch: value tensor of shape"):
            x[mask] = wrong.to("jax")


def test_a_sum_with_a_value_for_each_place_raises() -> None:
    x, mask = torch.zeros(4, device="jax"), torch.tensor([True, False, True, False], device="jax")

    @tenax.jit
    def step(x: Tensor, mask: Tensor) -> Tensor:
        return x.index_put_([mask], torch.arange(2.0, device="jax"), accumulate=True)

    with pytest.raises(TraceError, match="depends on data"):
        step(x, mask)
