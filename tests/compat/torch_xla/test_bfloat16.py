"""XLA_USE_BF16 and XLA_DOWNCAST_BF16: values are bfloat16, dtypes stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (torch's own idiom)

import tenax
from tenax.compat.torch_xla.bfloat16 import follow_environment
from tests.helpers.agreement import close
from tests.helpers.tolerances import IN_BFLOAT16

Tensor = torch.Tensor


def rounded(x: Tensor) -> Tensor:
    """The nearest values of bfloat16, in the dtype of `x`."""
    return x.to(torch.bfloat16).to(x.dtype)


def numbers(dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn(2, 5, 6, generator=generator, dtype=dtype)
    return a, b


@pytest.fixture
def bfloat16(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """XLA_USE_BF16, set after the imports and taken back in the end."""
    with monkeypatch.context() as patch:
        follow_environment()
        patch.setenv("XLA_USE_BF16", "1")
        yield
    follow_environment()


OPERATIONS: dict[str, tuple[Callable[[Tensor, Tensor], Tensor], Callable[[Tensor, Tensor], Tensor]]] = {
    "upload": (lambda x, y: x, lambda a, b: a),
    "add": (lambda x, y: x + y, lambda a, b: rounded(a + b)),
    "number": (lambda x, y: x * 1.1, lambda a, b: rounded(a * 1.1)),
    "view": (lambda x, y: (x + y).t()[1:], lambda a, b: rounded(a + b).t()[1:]),
    "in place": (lambda x, y: x.clone().mul_(y), lambda a, b: rounded(a * b)),
    "of a part": (lambda x, y: x.index_fill(0, torch.tensor([1], device=x.device), 0.1), lambda a, b: filled(a)),
    "assignment": (lambda x, y: assigned(x.clone()), lambda a, b: filled(a)),
    "composite": (
        lambda x, y: F.scaled_dot_product_attention(x[None], y[None], y[None])[0],
        lambda a, b: rounded(F.scaled_dot_product_attention(a[None], b[None], b[None])[0]),
    ),
    "two": (lambda x, y: (x * y + 1).tanh(), lambda a, b: rounded(rounded(rounded(a * b) + 1).tanh())),
    "gradient": (lambda x, y: torch.func.grad(lambda z: (z * y).sum())(x), lambda a, b: b),
}


def assigned(x: Tensor) -> Tensor:
    x[1] = 0.1
    return x


def filled(a: Tensor) -> Tensor:
    a = a.clone()
    a[1] = rounded(torch.tensor(0.1))
    return a


MODES: dict[str, Callable[[Callable[..., Tensor]], Callable[..., Tensor]]] = {
    "eager": lambda f: f,
    "jit": tenax.jit,
    "lazy": lambda f: tenax.lazy()(f),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.usefixtures("bfloat16")
def test_results_are_rounded_to_bfloat16(name: str, mode: str) -> None:
    ours, theirs = OPERATIONS[name]
    a, b = numbers()
    for _ in range(2):  # the second call takes the fast path
        found = MODES[mode](ours)(a.to("xla"), b.to("xla"))
        assert found.dtype == torch.float32
        expected = theirs(rounded(a), rounded(b))
        assert torch.equal(found.cpu(), rounded(found.cpu()))
        close(found, expected, IN_BFLOAT16)
        if name != "composite":
            assert torch.equal(found.cpu(), expected)


@pytest.mark.usefixtures("bfloat16")
def test_fills_doubles_and_random_numbers_are_rounded() -> None:
    tenth = rounded(torch.tensor(0.1))
    assert torch.full((3,), 0.1, device="xla").tolist() == [tenth] * 3
    assert torch.zeros(3, device="xla").fill_(0.1).tolist() == [tenth] * 3
    a, b = numbers(torch.float64)
    product = a.to("xla") * b.to("xla")
    assert product.dtype == torch.float64
    assert torch.equal(product.cpu(), rounded(rounded(a) * rounded(b)))
    drawn = torch.rand(50, device="xla").cpu()
    assert torch.equal(drawn, rounded(drawn))
    assert torch.arange(300, device="xla")[299] == 299  # integers stay


@pytest.mark.usefixtures("bfloat16")
def test_a_step_of_training_keeps_parameters_and_states_in_bfloat16() -> None:
    torch.manual_seed(0)
    model = torch.nn.Linear(6, 3).to("xla")
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        model(numbers()[0].to("xla")).square().sum().backward()
        optimizer.step()
    held = [*model.parameters(), *(s for p in model.parameters() for s in optimizer.state[p].values())]
    for tensor in held:
        value = tensor.detach().cpu()
        assert torch.equal(value, rounded(value))


def test_the_variable_is_read_again_where_values_come_to_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = numbers()
    double = tenax.jit(lambda x, y: x * y)

    def product() -> tuple[Tensor, Tensor]:
        x, y = a.to("xla"), b.to("xla")
        return (x * y).cpu(), double(x, y).cpu()

    follow_environment()
    exact, rough = a * b, rounded(rounded(a) * rounded(b))
    for value, expected in [("0", exact), ("1", rough), ("", exact), ("1", rough)]:
        monkeypatch.setenv("XLA_USE_BF16", value)
        assert all(torch.equal(found, expected) for found in product())
    monkeypatch.delenv("XLA_USE_BF16")
    monkeypatch.setenv("XLA_DOWNCAST_BF16", "1")
    assert all(torch.equal(found, rough) for found in product())
    assert torch.equal(a.double().mul(1e-3).to("xla").cpu(), a.double().mul(1e-3).float().double())
    monkeypatch.delenv("XLA_DOWNCAST_BF16")
    assert all(torch.equal(found, exact) for found in product())
