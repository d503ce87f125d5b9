"""`linear` and `matmul` kept whole, with the derivative formulas of torch: as decomposed, and where they are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (as everybody writes it)
from torch.autograd import forward_ad
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

import tenax
from tenax._torch.dispatcher import operator_names
from tenax.dispatch.formula_composite import KERNELS
from tenax.generated.table import ROWS
from tests.helpers.agreement import close

Operands = tuple[torch.Tensor, ...]


def matrix(*size: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Small integers, of which products are exact."""
    return torch.randint(-3, 4, size).to(dtype)


# Each gives its operands on the CPU.
LINEAR: dict[str, Callable[[torch.dtype], Operands]] = {
    "a vector": lambda t: (matrix(4, dtype=t), matrix(5, 4, dtype=t), matrix(5, dtype=t)),
    "rows": lambda t: (matrix(3, 4, dtype=t), matrix(5, 4, dtype=t), matrix(5, dtype=t)),
    "no bias": lambda t: (matrix(3, 4, dtype=t), matrix(5, 4, dtype=t)),
    "many rows": lambda t: (matrix(2, 20, 4, dtype=t), matrix(5, 4, dtype=t), matrix(5, dtype=t)),
    "few rows of many axes": lambda t: (matrix(2, 1, 3, 4, dtype=t), matrix(5, 4, dtype=t), matrix(5, dtype=t)),
    "no rows": lambda t: (matrix(0, 4, dtype=t), matrix(5, 4, dtype=t), matrix(5, dtype=t)),
    "no columns": lambda t: (matrix(3, 2, 0, dtype=t), matrix(5, 0, dtype=t), matrix(5, dtype=t)),
    "transposed rows": lambda t: (matrix(4, 3, dtype=t).t(), matrix(5, 4, dtype=t), matrix(5, dtype=t)),
    "transposed axes": lambda t: (matrix(2, 4, 3, dtype=t).mT, matrix(5, 4, dtype=t), matrix(5, dtype=t)),
    "every other row": lambda t: (matrix(6, 4, dtype=t)[::2], matrix(5, 4, dtype=t), matrix(5, dtype=t)),
    "expanded rows": lambda t: (matrix(1, 4, dtype=t).expand(3, 4), matrix(5, 4, dtype=t), matrix(5, dtype=t)),
    "a transposed weight": lambda t: (matrix(3, 4, dtype=t), matrix(4, 5, dtype=t).t(), matrix(5, dtype=t)),
    "a weight of one axis": lambda t: (matrix(3, 4, dtype=t), matrix(4, dtype=t)),
    "a bias of two axes": lambda t: (matrix(3, 4, dtype=t), matrix(5, 4, dtype=t), matrix(1, 5, dtype=t)),
}
MATMUL: dict[str, Callable[[torch.dtype], Operands]] = {
    "matrices": lambda t: (matrix(3, 4, dtype=t), matrix(4, 5, dtype=t)),
    "batches": lambda t: (matrix(2, 3, 4, dtype=t), matrix(2, 4, 5, dtype=t)),
    "batches of two axes": lambda t: (matrix(2, 3, 4, 5, dtype=t), matrix(2, 3, 5, 4, dtype=t)),
    "heads": lambda t: (matrix(2, 4, 3, 5, dtype=t).transpose(1, 2), matrix(2, 4, 3, 5, dtype=t).permute(0, 2, 3, 1)),
    "broadcast batches": lambda t: (matrix(2, 1, 3, 4, dtype=t), matrix(5, 4, 2, dtype=t)),
    "one batch": lambda t: (matrix(1, 3, 4, dtype=t), matrix(2, 4, 5, dtype=t)),
    "a batch and a matrix": lambda t: (matrix(2, 3, 4, dtype=t), matrix(4, 5, dtype=t)),
    "a batch and a transposed matrix": lambda t: (matrix(2, 3, 4, dtype=t), matrix(5, 4, dtype=t).t()),
    "a matrix and a batch": lambda t: (matrix(3, 4, dtype=t), matrix(2, 4, 5, dtype=t)),
    "a batch and a vector": lambda t: (matrix(2, 3, 4, dtype=t), matrix(4, dtype=t)),
    "a vector and a batch": lambda t: (matrix(4, dtype=t), matrix(2, 4, 5, dtype=t)),
    "vectors": lambda t: (matrix(4, dtype=t), matrix(4, dtype=t)),
    "an empty batch": lambda t: (matrix(0, 3, 4, dtype=t), matrix(0, 4, 5, dtype=t)),
    "an empty sum": lambda t: (matrix(2, 3, 0, dtype=t), matrix(2, 0, 5, dtype=t)),
}
PROGRAMS = {f"linear, {name}": (F.linear, make) for name, make in LINEAR.items()}
PROGRAMS |= {f"matmul, {name}": (torch.matmul, make) for name, make in MATMUL.items()}


def on(device: str, operands: Operands, wanted: tuple[bool, ...] = (True, True, True)) -> list[torch.Tensor]:
    """The operands as leaves of a device, with their strides; some require a gradient."""
    return [x.to(device).detach().requires_grad_(w) for x, w in zip(operands, wanted, strict=False)]


def results(f: Callable[..., torch.Tensor], xs: list[torch.Tensor], order: int) -> list[torch.Tensor]:
    """The result and its gradients, up to the order."""
    found = [f(*xs)]
    inputs = [x for x in xs if x.requires_grad]
    value = found[0]
    for _ in range(order if inputs else 0):
        total = (value * value.detach()).sum()
        total = total.real if total.is_complex() else total
        grads = torch.autograd.grad(total, inputs, create_graph=order > 1, allow_unused=True)
        given = [g for g in grads if g is not None]
        found += given
        value = sum((g * g).sum() for g in given)  # type: ignore[assignment]
        if not value.requires_grad:
            break
    return found


def agree(found: list[torch.Tensor], expected: list[torch.Tensor]) -> None:
    """Equal values, dtypes and strides."""
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype, a.requires_grad) == (b.shape, b.dtype, b.requires_grad)
        assert a.stride() == b.stride()
        assert torch.equal(a.detach().cpu(), b.detach())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.complex128, torch.int64])
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_and_gradients_are_those_of_the_cpu(name: str, dtype: torch.dtype) -> None:
    f, make = PROGRAMS[name]
    torch.manual_seed(0)
    operands = make(dtype)
    for wanted in ((True, True, True), (True, False, False), (False, True, False), (False, False, True)):
        asked = wanted if dtype is not torch.int64 else (False, False, False)
        agree(results(f, on("jax", operands, asked), 1), results(f, on("cpu", operands, asked), 1))
    with torch.no_grad():
        agree([f(*on("jax", operands, asked))], [f(*on("cpu", operands, asked))])
    with torch.inference_mode():
        agree([f(*(x.to("jax") for x in operands))], [f(*operands)])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_of_the_third_order(name: str) -> None:
    f, make = PROGRAMS[name]
    torch.manual_seed(0)
    operands = make(torch.float64)
    for found, expected in zip(results(f, on("jax", operands), 3), results(f, on("cpu", operands), 3), strict=True):
        close(found, expected)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_backward_pass_is_vectorized_as_on_the_cpu(name: str) -> None:
    # For an operator without a rule torch warns, which is an error here, and calls it for each sample.
    f, make = PROGRAMS[name]
    torch.manual_seed(0)
    operands = make(torch.float64)

    def jacobians(device: str) -> tuple[torch.Tensor, ...]:
        xs = on(device, operands)
        value = f(*xs).reshape(-1)
        basis = torch.eye(value.numel(), dtype=value.dtype, device=device)
        return torch.vmap(lambda v: torch.autograd.grad(value, xs, v, retain_graph=True))(basis)

    if f(*operands).numel():
        for found, expected in zip(jacobians("jax"), jacobians("cpu"), strict=True):
            close(found, expected)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_transforms_and_forward_mode(name: str) -> None:
    f, make = PROGRAMS[name]
    torch.manual_seed(0)
    operands = make(torch.float64)

    def derivatives(device: str) -> list[Any]:
        xs = [x.clone(memory_format=torch.contiguous_format).to(device) for x in operands]
        with forward_ad.dual_level():
            dual = f(*(forward_ad.make_dual(x, torch.ones_like(x)) for x in xs))
            tangent = forward_ad.unpack_dual(dual).tangent
        found = [tangent, torch.func.jvp(lambda x: f(x, *xs[1:]), (xs[0],), (torch.ones_like(xs[0]),))[1]]
        found.append(torch.func.grad(lambda x: f(x, *xs[1:]).square().sum())(xs[0]))
        found.append(torch.func.vmap(lambda x: f(x, *xs[1:]))(torch.stack([xs[0], xs[0] + 1])))
        return found

    for found, expected in zip(derivatives("jax"), derivatives("cpu"), strict=True):
        assert found.shape == expected.shape and torch.equal(found.cpu(), expected)


class Seen(TorchDispatchMode):
    """The operators that a dispatch mode sees."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func.name())
        return func(*args, **(kwargs or {}))


def step(device: str) -> None:
    """Forward and backward of a layer and of scores."""
    x, w = (torch.ones(2, 3, 4, device=device, requires_grad=True) for _ in range(2))
    layer = torch.nn.Linear(4, 4, device=device)
    (layer(x) @ w.mT).sum().backward()


def test_without_onlookers_a_layer_is_one_operator_and_its_gradient_another() -> None:
    x = torch.ones(2, 3, 4, device="jax", requires_grad=True)
    layer = torch.nn.Linear(4, 4, device="jax")
    assert layer(x).grad_fn.name() == "LinearBackward0"
    assert (x @ x.mT).grad_fn.name() == "MatmulBackward0"


def test_a_dispatch_mode_sees_what_it_sees_on_the_cpu() -> None:
    seen = {}
    for device in ("cpu", "jax"):
        with Seen() as mode:
            step(device)
        seen[device] = [name for name in mode.names if "mm" in name or "linear" in name or "matmul" in name]
        with FlopCounterMode(display=False) as counter:
            step(device)
        seen[device].append(str(counter.get_total_flops()))
    assert seen["jax"] == seen["cpu"]


def test_an_override_of_a_product_computes_layers() -> None:
    calls = []

    def product(*args: Any, **kwargs: Any) -> jax.Array:
        calls.append(args)
        return jnp.zeros((3, 5))

    x, layer = torch.ones(3, 4, device="jax"), torch.nn.Linear(4, 5, device="jax")
    with tenax.register_lowering(torch.ops.aten.addmm.default, product, override=True):
        assert not layer(x).any() and len(calls) == 1
    assert layer(x).any() and len(calls) == 1


@pytest.mark.parametrize(
    "operands",
    [
        (torch.ones(3, 4), torch.ones(5, 6), torch.ones(5)),
        (torch.ones(3, 4), torch.ones(5, 4), torch.ones(6)),
        (torch.ones(3, 4), torch.ones(5, 4).double(), torch.ones(5)),
        (torch.ones(3, 4), torch.ones(5, 4), torch.ones(5).double()),
        (torch.ones(2, 3, 4), torch.ones(5, 6), torch.ones(5)),
        (torch.ones(2, 3, 4), torch.ones(2, 5, 4), None),
        (torch.tensor(1.0), torch.ones(5, 1), None),
    ],
)
@pytest.mark.parametrize("gradient", [True, False])
def test_errors_are_those_of_the_cpu(operands: tuple[Any, ...], gradient: bool) -> None:
    for f, count in ((F.linear, 3), (torch.matmul, 2)):
        errors = []
        for device in ("cpu", "jax"):
            xs = [x if x is None else x.to(device).requires_grad_(gradient) for x in operands[:count]]
            try:
                f(*xs)
                errors.append("")
            except RuntimeError as error:
                errors.append(str(error).splitlines()[0])
        assert errors[0] == errors[1]


def test_operands_of_two_devices_are_refused() -> None:
    x, w = torch.ones(2, 3, 4, device="jax", requires_grad=True), torch.ones(5, 4)
    for f in (lambda: F.linear(x, w), lambda: x @ torch.ones(2, 4, 5), lambda: F.linear(x.detach(), w)):
        with pytest.raises(RuntimeError, match="device"):
            f()


def test_what_is_written_meanwhile_is_noticed() -> None:
    x, w = torch.ones(2, 3, 4, device="jax", requires_grad=True), torch.ones(5, 4, device="jax", requires_grad=True)
    y = F.linear(x, w)
    with torch.no_grad():
        w.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_what_no_gradient_needs_may_be_written() -> None:
    for device in ("cpu", "jax"):
        x, layer = torch.ones(2, 3, 4, device=device), torch.nn.Linear(4, 5, device=device)
        y = layer(x)
        with torch.no_grad():
            layer.weight.mul_(2)
        y.sum().backward()
        frozen, z = layer.requires_grad_(False), torch.ones(2, 3, 4, device=device, requires_grad=True)
        h = z * 1
        y = frozen(h)
        h.detach().zero_()
        scores = h @ torch.ones(2, 4, 3, device=device)
        with torch.no_grad():
            h.zero_()
        (y.sum() + scores.sum()).backward()
        assert z.grad is not None and bool(z.grad.any())


def test_compiled_steps_have_the_same_gradients() -> None:
    torch.manual_seed(0)
    operands = matrix(2, 3, 4), matrix(5, 4), matrix(5), matrix(2, 5, 3)

    def f(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        return list(torch.autograd.grad((F.linear(x, w, b) @ y).square().sum(), (x, w, b, y)))

    expected = f(*on("cpu", operands[:3]), on("cpu", operands[3:])[0])
    xs = (*on("jax", operands[:3]), on("jax", operands[3:])[0])
    agree(tenax.jit(f)(*xs), expected)
    with tenax.lazy():
        agree(f(*xs), expected)


@pytest.mark.parametrize("gradient", [True, False])
def test_negated_views_are_negated(gradient: bool) -> None:
    torch.manual_seed(0)
    operands = matrix(2, 3, 4), matrix(5, 4), matrix(5), matrix(2, 5, 3), matrix(2, 3, 3)
    for place in range(5):
        found = []
        for device in ("cpu", "jax"):
            xs = [x.to(device) for x in operands]
            xs[place] = torch._neg_view(xs[place])  # type: ignore[attr-defined]
            x, w, b, y, g = [z.requires_grad_(gradient) for z in xs[:4]] + [xs[4]]
            result = F.linear(x, w, b) @ y
            found.append([result, *(torch.autograd.grad(result, (x, w, b, y), g) if gradient else ())])
        agree(found[1], found[0])


def test_a_sparse_weight_is_decomposed() -> None:
    x, w = torch.ones(3, 4), torch.eye(4)
    found = F.linear(x.to("jax"), w.to("jax").to_sparse())
    close(found, F.linear(x, w))


def test_every_composite_has_a_kernel_above_autograd() -> None:
    """A lowering without one would lose its gradient in silence."""
    assert {name for name, row in ROWS.items() if row.grad == "formula" and row.form == "functional"} <= set(KERNELS)
    torch.ones(1, device="jax")  # registers the lowerings
    registered = {*operator_names()}
    for name, row in ROWS.items():
        operator = name if "::" in name else f"aten::{name}"
        if (
            operator not in registered
            or row.form != "functional"
            or not torch._C._dispatch_has_kernel_for_dispatch_key(operator, "CompositeImplicitAutograd")
        ):
            continue
        table = torch._C._dispatch_dump_table(operator)
        line = next(line for line in table.splitlines() if line.startswith("AutogradPrivateUse1:"))
        assert "math kernel" not in line and "fallthrough" not in line, (name, line)


def test_a_subclass_carries_out_the_parts() -> None:
    for device in ("cpu", "jax"):
        x, w, b = (torch.ones(*size, device=device) for size in ((2, 3, 4), (5, 4), (5,)))
        result = F.linear(x, w, TwoTensor(b, b * 2))
        assert type(result) is TwoTensor
        assert (result.a.unique().item(), result.b.unique().item()) == (5, 6)
