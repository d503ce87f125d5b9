"""Operators of other libraries, with a JAX function as their lowering, behave as torch's own on the device."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import tenax
from tenax.dispatch.jax_call import call, function_number
from tenax.words import default_float
from tests.helpers.agreement import agree, close
from tests.helpers.tolerances import ROUNDED

LIBRARY = "tenaxtest"
_names = (f"{LIBRARY}::op{i}" for i in itertools.count())


def mix(x: torch.Tensor, y: torch.Tensor, scale: float) -> torch.Tensor:
    return x.sin() * scale + y


def jax_mix(x: jax.Array, y: jax.Array, scale: jax.Array) -> jax.Array:
    return jnp.sin(x) * scale + y


def custom(function: Callable[..., Any], mutates: tuple[str, ...] = (), **options: Any) -> Any:
    """A custom_op of a CPU function, under a name of its own."""
    return torch.library.custom_op(next(_names), function, mutates_args=mutates, **options)


@pytest.fixture(scope="module")
def op() -> Any:
    made = custom(mix)
    tenax.register_lowering(made, jax_mix)
    return made


@pytest.fixture
def xs() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.rand(2, 3), torch.rand(3)


def on_jax(*values: torch.Tensor) -> list[torch.Tensor]:
    return [v.detach().to("jax").requires_grad_(v.requires_grad) for v in values]


# Values


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_function_is_what_the_operator_computes(op: Any, dtype: torch.dtype) -> None:
    x, y = torch.rand(2, 3, dtype=dtype), torch.rand(3, dtype=dtype)
    ours, theirs = op(*on_jax(x, y), 0.3), mix(x, y, 0.3)
    assert ours.dtype is dtype
    close(ours, theirs, ROUNDED)


def test_a_view_is_read_and_another_number_compiles_nothing(op: Any, xs: Any) -> None:
    x, y = on_jax(*xs)
    compiled = []
    tenax_op = custom(mix)

    @tenax.register_lowering(tenax_op)
    def lowering(x: jax.Array, y: jax.Array, scale: jax.Array) -> jax.Array:
        compiled.append(scale)
        return jax_mix(x, y, scale)

    agree(tenax_op(x.t().contiguous().t(), y, 2.0), mix(*xs, 2.0))
    count = len(compiled)
    agree(tenax_op(x.t().contiguous().t(), y, 3.0), mix(*xs, 3.0))
    assert len(compiled) == count


def test_a_static_number_arrives_as_a_python_number() -> None:
    made = custom(mix)
    seen = []

    def lowering(x: jax.Array, y: jax.Array, scale: float) -> jax.Array:
        seen.append(scale)
        return jax_mix(x, y, scale)

    tenax.register_lowering(made, lowering, static=["scale"])
    made(*on_jax(torch.rand(3), torch.rand(3)), 2.5)
    assert set(seen) == {2.5}


def test_defaults_of_jax_are_those_of_the_users_own_code(xs: Any) -> None:
    made = custom(lambda x: x + 1, schema="(Tensor x) -> Tensor")
    tenax.register_lowering(made, lambda x: x + jnp.ones(3))
    agree(made(*on_jax(xs[0])), xs[0] + 1)


def test_lists_optional_tensors_and_keywords_arrive_as_in_the_schema() -> None:
    schema = "(Tensor[] xs, Tensor? y, int[] dims, *, bool twice=False) -> Tensor[]"

    def host(xs: Any, y: Any, dims: Any, *, twice: bool = False) -> list[torch.Tensor]:
        return [x.sum(dims) * (2 if twice else 1) + (0 if y is None else y) for x in xs]

    def lowering(xs: Any, y: Any, dims: Any, *, twice: bool) -> list[jax.Array]:
        return [x.sum(tuple(dims)) * (2 if twice else 1) + (0 if y is None else y) for x in xs]

    made = custom(host, schema=schema)
    tenax.register_lowering(made, lowering)
    xs, y = [torch.rand(2, 3), torch.rand(4, 2)], torch.rand(1)
    for arguments, options in [((None, [0, 1]), {}), ((y, [0]), {"twice": True})]:
        if arguments[0] is not None:
            xs = [torch.rand(2, 1), torch.rand(4, 1)]
        theirs = host(xs, *arguments, **options)
        moved = arguments[0] if arguments[0] is None else arguments[0].to("jax")
        ours = made(on_jax(*xs), moved, arguments[1], **options)
        assert isinstance(ours, list)
        for a, b in zip(ours, theirs, strict=True):
            agree(a, b)


def test_a_mutated_argument_gets_its_new_value_after_the_results() -> None:
    def host(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        out.copy_(x * 2)
        return x + 1

    made = custom(host, mutates=("out",))
    tenax.register_lowering(made, lambda x, out: (x + 1, x * 2))
    x, base = torch.rand(3), torch.zeros(2, 3).to("jax")
    version = base._version
    agree(made(x.to("jax"), base[1]), x + 1)
    assert base._version > version
    agree(base, torch.stack([torch.zeros(3), x * 2]))


def test_an_operator_that_only_mutates_returns_nothing() -> None:
    made = custom(lambda x: None, mutates=("x",), schema="(Tensor(a!) x) -> ()")
    tenax.register_lowering(made, lambda x: x + 1)
    x = torch.zeros(3, device="jax")
    assert made(x) is None
    agree(x, torch.ones(3))


def test_a_result_whose_shape_depends_on_data_is_computed_outside_jit() -> None:
    made = custom(lambda x: x[x > 0], schema="(Tensor x) -> Tensor")
    tenax.register_lowering(made, lambda x: x[x > 0], dynamic=True)
    x = torch.tensor([1.0, -1.0, 2.0])
    agree(made(x.to("jax")), x[x > 0])


def test_a_random_lowering_draws_from_the_generator_of_the_device() -> None:
    made = custom(lambda x: torch.rand_like(x), schema="(Tensor x) -> Tensor")
    tenax.register_lowering(made, lambda key, x: jax.random.uniform(key, x.shape, x.dtype), random=True)
    x = torch.zeros(100, device="jax")
    torch.manual_seed(3)
    first, second = made(x), made(x)
    torch.manual_seed(3)
    assert made(x).equal(first)
    assert not first.equal(second)


def test_an_operator_defined_by_a_library_is_lowered_too() -> None:
    library = torch.library.Library(LIBRARY, "FRAGMENT")
    library.define("doubled.wide(Tensor self, *, Scalar lambda=2) -> Tensor")
    tenax.register_lowering(f"{LIBRARY}::doubled.wide", lambda self, *, lambda_: self * lambda_)
    x = torch.rand(3, requires_grad=True)
    (ours,) = on_jax(x)
    result = torch.ops.tenaxtest.doubled.wide(ours, **{"lambda": 3})
    agree(result.detach(), (x * 3).detach())
    result.sum().backward()
    agree(ours.grad, torch.full((3,), 3.0))


def test_an_operator_that_is_defined_anew_is_lowered_anew() -> None:
    name = next(_names)
    for factor in (2.0, 3.0):
        made = torch.library.custom_op(name, lambda x: x, mutates_args=(), schema="(Tensor x) -> Tensor")
        tenax.register_lowering(made, lambda x, factor=factor: x * factor)
        agree(made(torch.ones(2, device="jax")), torch.full((2,), factor))


# Derivatives


def test_derivatives_of_any_order_are_those_of_the_function(op: Any) -> None:
    def derivatives(apply: Callable[..., torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        first = torch.autograd.grad(apply(x * y, y, 2.0).sin().sum(), (x, y), create_graph=True)
        second = torch.autograd.grad((first[0] * first[1]).sum(), (x, y), create_graph=True)
        return [*first, *second, *torch.autograd.grad((second[0] * second[1]).sum(), (x, y))]

    xs = [torch.rand(2, 3, dtype=torch.float64, requires_grad=True), torch.rand(3, dtype=torch.float64)]
    xs[1].requires_grad_()
    for ours, theirs in zip(derivatives(op, *on_jax(*xs)), derivatives(mix, *xs), strict=True):
        close(ours, theirs)


def test_a_number_beside_a_gradient_compiles_nothing() -> None:
    made, compiled = custom(mix), []

    @tenax.register_lowering(made)
    def lowering(x: jax.Array, y: jax.Array, scale: jax.Array) -> jax.Array:
        compiled.append(scale)
        return jax_mix(x, y, scale)

    x, y = on_jax(torch.rand(3, requires_grad=True), torch.rand(3))
    counts = []
    for scale in (1.0, 2.0, 3.0):
        (gradient,) = torch.autograd.grad(made(x, y, scale).sum(), x)
        close(gradient, scale * x.detach().cpu().cos())
        counts.append(len(compiled))
    assert counts[0] == counts[2]


@pytest.mark.parametrize("before", [True, False])
def test_a_formula_of_the_library_wins(before: bool) -> None:
    made = custom(lambda x: x * 2, schema="(Tensor x) -> Tensor")
    made.register_fake(torch.empty_like)
    if before:
        made.register_autograd(lambda ctx, g: g * 100)
    tenax.register_lowering(made, lambda x: x * 2)
    if not before:
        made.register_autograd(lambda ctx, g: g * 100)
    x = torch.ones(2, device="jax", requires_grad=True)
    made(x).sum().backward()
    agree(x.grad, torch.full((2,), 100.0))


def test_a_formula_of_an_operator_defined_by_a_library_wins() -> None:
    library = torch.library.Library(LIBRARY, "FRAGMENT")
    library.define("hundred(Tensor x) -> Tensor")
    tenax.register_lowering(f"{LIBRARY}::hundred", lambda x: x * 2)
    torch.library.register_autograd(f"{LIBRARY}::hundred", lambda ctx, g: g * 100, lib=library)
    x = torch.ones(2, device="jax", requires_grad=True)
    torch.ops.tenaxtest.hundred(x).sum().backward()
    agree(x.grad, torch.full((2,), 100.0))


def test_without_gradient_backward_raises_as_on_the_cpu() -> None:
    made = custom(lambda x: x * 2, schema="(Tensor x) -> Tensor")
    tenax.register_lowering(made, lambda x: x * 2, gradient=False)
    for device in ("cpu", "jax"):
        with pytest.raises(RuntimeError, match="no autograd formula was registered"):
            made(torch.ones(2, device=device, requires_grad=True)).sum().backward()


def test_forward_mode_is_refused(op: Any) -> None:
    x, y = on_jax(torch.rand(3), torch.rand(3))
    with pytest.raises(NotImplementedError, match="no forward-mode derivative; expected reverse mode"):
        torch.func.jvp(lambda a: op(a, y, 2.0), (x,), (x,))


# Transforms


def test_vmap_is_that_of_the_function(op: Any, xs: Any) -> None:
    x, y = xs
    ours = torch.func.vmap(op, in_dims=(1, 0, None), out_dims=1)(*on_jax(x, y), 2.0)
    close(ours, mix(x, y, 2.0))
    theirs = torch.func.vmap(op, in_dims=(1, 0, None), out_dims=1)(x, y, 2.0)  # other devices: one call at a time
    close(theirs, mix(x, y, 2.0))


def test_vmap_goes_over_lists() -> None:
    made = custom(lambda xs, scale: [x * scale for x in xs], schema="(Tensor[] xs, float scale) -> Tensor[]")
    tenax.register_lowering(made, lambda xs, scale: [x * scale for x in xs])
    x, y = torch.rand(2, 3), torch.rand(3)
    ours = torch.func.vmap(lambda a: made([a, y.to("jax")], 2.0))(x.to("jax"))
    close([o.cpu() for o in ours], [x * 2, (y * 2).expand(2, 3)])


def test_gradients_of_functions_nest(op: Any, xs: Any) -> None:
    def check(apply: Callable[..., torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        y = y.detach().requires_grad_()
        sample = torch.func.grad(lambda a, b: apply(a * b, b, 2.0).sum())
        each = torch.func.vmap(sample, in_dims=(0, None))(x, y)
        each.sum().backward()
        hessian = torch.func.jacrev(torch.func.grad(lambda a: apply(a, y.detach(), 2.0).sum()))(x)
        return [each.detach(), y.grad, hessian]

    for ours, theirs in zip(check(op, *on_jax(*xs)), check(mix, *xs), strict=True):
        close(ours, theirs)


def test_a_vmap_rule_of_the_library_wins() -> None:
    made = custom(lambda x: x * 2, schema="(Tensor x) -> Tensor")
    tenax.register_lowering(made, lambda x: x * 2)
    made.register_vmap(lambda info, dims, x: (x * 100, dims[0]))
    agree(torch.func.vmap(made)(torch.ones(2, device="jax")), torch.full((2,), 100.0))


# Tracing


def test_fake_tensors_have_the_shapes_of_the_function(op: Any, xs: Any) -> None:
    ours = on_jax(*xs)
    with FakeTensorMode() as mode:
        x, y = (mode.from_tensor(v) for v in ours)
        result = op(x.requires_grad_(), y, 2.0)
        (gradient,) = torch.autograd.grad(result.sum(), x)
    assert (result.shape, result.device, gradient.shape) == ((2, 3), x.device, (2, 3))


@pytest.mark.parametrize("described", [True, False])
def test_the_fake_kernel_of_the_library_is_believed(described: bool) -> None:
    made = custom(lambda x: x * 2, schema="(Tensor x) -> Tensor")
    if described:
        made.register_fake(lambda x: x.new_empty((x.shape[0], 7)))
    tenax.register_lowering(made, lambda x: x * 2)
    x = torch.ones(2, 3, device="jax")
    if described:
        with pytest.raises(RuntimeError, match=r"the lowering gave float32\[2, 3\]; expected torch.float32\[2, 7\]"):
            made(x)
    else:
        assert made(x).shape == (2, 3)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_compiled_program_calls_the_operator(op: Any, xs: Any, backend: str) -> None:
    torch._dynamo.reset()
    x, y = on_jax(xs[0].requires_grad_(), xs[1])
    program = torch.compile(lambda x, y: (op(x, y, 2.0) * 2).cos(), backend=backend, fullgraph=True)
    program(x, y).sum().backward()
    (mix(*xs, 2.0) * 2).cos().sum().backward()
    agree(x.grad, xs[0].grad)


def test_an_exported_program_calls_the_operator(op: Any, xs: Any) -> None:
    class Program(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return op(x, y, 2.0)

    exported = torch.export.export(Program(), tuple(on_jax(*xs)))
    assert any(node.target is op._opoverload for node in exported.graph.nodes)
    agree(exported.module()(*on_jax(*xs)), mix(*xs, 2.0))


def test_a_function_of_the_runtime_is_traced_by_its_shapes() -> None:
    f = function_number("test", lambda: lambda x: (jnp.concatenate([x, x]), jnp.argmax(x)))
    x = torch.rand(3, device="jax")
    graph = make_fx(lambda x: call(f, [x]), tracing_mode="fake")(x)
    assert torch.ops.tenax.call.default in [node.target for node in graph.graph.nodes]
    with FakeTensorMode() as mode:
        a, b = call(f, [mode.from_tensor(x)])
    assert (a.shape, a.dtype, b.shape, b.dtype) == ((6,), torch.float32, (), torch.int64)


def test_a_composite_kept_whole_is_traced() -> None:
    net = torch.nn.GRU(3, 4).to("jax")
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        x = mode.from_tensor(torch.rand(5, 2, 3, device="jax")).requires_grad_()
        weights = [mode.from_tensor(w) for w in net._flat_weights]
        y, h = torch.gru(x, x.new_zeros(1, 2, 4), weights, True, 1, 0.0, True, False, False)
        (gradient,) = torch.autograd.grad(y.sum(), x)
    assert (y.shape, h.shape, gradient.shape) == ((5, 2, 4), (1, 2, 4), (5, 2, 3))


# Refusals


def test_a_second_lowering_is_refused(op: Any) -> None:
    with pytest.raises(RuntimeError, match="has a lowering for device 'jax' already; expected one registration"):
        tenax.register_lowering(op, jax_mix)
    with pytest.raises(RuntimeError, match=r"aten::add\.Tensor: has a lowering"):
        tenax.register_lowering("aten::add.Tensor", lambda self, other, *, alpha: self)


def test_an_unknown_operator_is_refused_with_advice() -> None:
    with pytest.raises(ValueError, match="torch has no operator tenaxtest::none; expected one defined by"):
        tenax.register_lowering("tenaxtest::none", jnp.sin)
    with pytest.raises(TypeError, match="3 is not an operator; expected 'library::name'"):
        tenax.register_lowering(3, jnp.sin)


@pytest.mark.parametrize(
    "fn",
    [
        lambda a, y, scale: a,
        lambda y, x, scale: x,
        lambda x, y: x,
        lambda x, y, scale, more: x,
        lambda x, *, y, scale: x,
    ],
)
def test_a_function_of_other_parameters_is_refused(fn: Any) -> None:
    made = custom(mix)
    with pytest.raises(TypeError, match=r"the lowering takes \(.*\); expected \(x, y, scale\) of tenaxtest::"):
        tenax.register_lowering(made, fn)
    tenax.register_lowering(made, jax_mix)  # nothing was left behind


def test_options_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"static: 'x' is not a number; expected some of .'scale'."):
        tenax.register_lowering(custom(mix), jax_mix, static=["x"])
    made = custom(lambda x: 3, schema="(Tensor x) -> int")
    with pytest.raises(NotImplementedError, match="expected Tensors, or one list of them"):
        tenax.register_lowering(made, lambda x: 3)
    made = custom(lambda x: None, mutates=("x",), schema="(Tensor(a!) x) -> ()")
    with pytest.raises(NotImplementedError, match="dynamic; expected an operator that mutates nothing"):
        tenax.register_lowering(made, lambda x: x, dynamic=True)


def test_a_wrong_count_of_results_is_an_error() -> None:
    made = custom(lambda x: (x, x), schema="(Tensor x) -> (Tensor, Tensor)")
    tenax.register_lowering(made, lambda x: x)
    with pytest.raises(RuntimeError, match="gave 1 values; expected 2: the results, then the new value of each"):
        made(torch.ones(2, device="jax"))


def test_a_function_of_arrays_follows_the_default_dtype_in_every_call() -> None:
    f = function_number("default dtype", lambda: lambda x: (x * 2, jnp.zeros(2, default_float())))
    x = torch.ones(2, device="jax")
    for dtype in (torch.float32, torch.float64, torch.float32, torch.float64):
        torch.set_default_dtype(dtype)
        try:
            assert [r.dtype for r in call(f, [x])] == [torch.float32, dtype]
        finally:
            torch.set_default_dtype(torch.float32)
