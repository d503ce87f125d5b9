"""Float32 products are computed in the precision that `torch.set_float32_matmul_precision` states."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import pytest
import torch
import torch.nn.functional as F  # noqa: N812

import tenax
from tenax import t2j
from tenax.errors import TraceError
from tenax.float32_products import float32_products
from tests.helpers.processes import run

MATRIX = jnp.ones((3, 3))
IMAGE, KERNEL = jnp.ones((1, 2, 5, 5)), jnp.ones((2, 2, 3, 3))
QUERY = jnp.ones((1, 2, 4, 4))


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    yield
    torch.set_float32_matmul_precision("highest")


def precisions(function, *arrays) -> set[str]:
    """The precisions of all products in a function's jaxpr."""
    return set(re.findall(r"precision=\(?(?:Precision\.)?(\w+)", str(jax.make_jaxpr(function)(*arrays))))


def attention(query):
    return t2j(F.scaled_dot_product_attention)(query, query, query).sum()


PROGRAMS = {  # JAX traces a function once, so each test makes its own
    "mm": lambda: (t2j(torch.mm), MATRIX, MATRIX),
    "linear": lambda: (t2j(F.linear), MATRIX, MATRIX),
    "conv2d": lambda: (t2j(F.conv2d), IMAGE, KERNEL),
    "gradient of mm": lambda: (jax.grad(lambda x: t2j(torch.mm)(x, x).sum()), MATRIX),
    "gradient of attention": lambda: (jax.grad(lambda x: attention(x)), QUERY),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(("setting", "expected"), [("highest", "HIGHEST"), ("high", "HIGH"), ("medium", "DEFAULT")])
def test_programs_state_the_precision_of_torch(program, setting, expected):
    torch.set_float32_matmul_precision(setting)
    assert precisions(*PROGRAMS[program]()) == {expected}


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
@pytest.mark.parametrize("groups", [1, 2])
def test_lowerings_for_other_platforms_state_it(platform, groups):
    convolve = jax.jit(t2j(lambda x, w: F.conv2d(x, w, groups=groups)))
    traced = convolve.trace(IMAGE, KERNEL[:, : 2 // groups])
    torch.set_float32_matmul_precision("medium")
    text = traced.lower(lowering_platforms=(platform,)).as_text()
    assert set(re.findall(r"#stablehlo<precision (\w+)>", text)) == {"HIGHEST"}


def test_a_setting_of_jax_takes_precedence():
    with jax.default_matmul_precision("high"):
        assert precisions(t2j(torch.mm), MATRIX, MATRIX) == {"HIGH"}


def test_an_exported_program_states_it():
    exported = torch.export.export(torch.nn.Linear(3, 3), (torch.ones(2, 3),))
    assert "HIGHEST" in tenax.export.to_stablehlo(exported)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda: torch.set_float32_matmul_precision("high"), "high"),
        (lambda: setattr(torch.backends.cuda.matmul, "allow_tf32", True), "high"),
    ],
    ids=["set_float32_matmul_precision", "allow_tf32"],
)
def test_every_way_to_set_it_is_noticed(change, expected):
    change()
    assert float32_products.precision == expected == torch.get_float32_matmul_precision()


def test_the_newer_setting_is_followed_where_the_older_cannot_be_read():
    code = """
import tenax, torch
from tenax.float32_products import float32_products
from tenax.errors import TraceError
torch.backends.fp32_precision = "tf32"
print(float32_products.precision)
torch.backends.fp32_precision = "bf16"
print(float32_products.precision)
torch.backends.fp32_precision = "none"
print(float32_products.precision)
"""
    assert run(code).stdout.split() == ["high", "medium", "highest"]


class Recorded:
    """Counts the traces of a JAX function, and the precision in each."""

    def __init__(self) -> None:
        self.seen: list[str | None] = []

    def __call__(self, x):
        self.seen.append(jax.config.jax_default_matmul_precision)
        return x @ x


def changed_twice(call) -> None:
    call()
    call()
    torch.set_float32_matmul_precision("high")
    call()
    call()


def test_operations_are_traced_again_after_a_change():
    function, x = Recorded(), torch.ones(3, 3, device="jax")
    changed_twice(lambda: tenax.call_jax(function, x))
    assert sorted(set(function.seen)) == ["high", "highest"]


def test_gradients_of_a_jax_function_follow_too():
    function, x = Recorded(), torch.ones(3, 3, device="jax", requires_grad=True)
    changed_twice(lambda: tenax.call_jax(function, x).sum().backward())
    assert set(function.seen) == {"high", "highest"}


def lazily(function):
    def call(x):
        with tenax.lazy():
            return function(x)

    return call


@pytest.mark.parametrize(
    "mode", [lambda f: f, lazily, tenax.jit, torch.compile], ids=["eager", "lazy", "jit", "torch.compile"]
)
def test_a_block_sets_the_precision_of_its_thread(mode):
    function, x = Recorded(), torch.ones(3, 3, device="jax")
    call = mode(lambda x: tenax.call_jax(function, x))
    call(x), call(x)
    function.seen.clear()
    with tenax.precision("high"):
        other = threading.Thread(target=call, args=(x,))
        other.start()
        other.join()
        call(x)
    call(x)
    assert set(function.seen) == {"high"}


def test_the_precisions_of_a_block_are_named():
    with pytest.raises(ValueError, match="precision: 'low'; expected one of"), tenax.precision("low"):
        pass


@pytest.mark.parametrize(
    "compiler", [tenax.jit, lambda f: torch.compile(f, backend="tenax")], ids=["jit", "torch.compile"]
)
def test_compiled_functions_are_traced_again_after_a_change(compiler):
    function, x = Recorded(), torch.ones(3, 3, device="jax")
    step = compiler(lambda x: tenax.call_jax(function, x) + 1)
    changed_twice(lambda: step(x))
    assert set(function.seen) == {"high", "highest"}


def test_a_change_in_lazy_mode_counts_for_later_operations():
    function, x = Recorded(), torch.ones(3, 3, device="jax")
    with tenax.lazy():
        changed_twice(lambda: tenax.call_jax(function, x).sum().item())
    assert set(function.seen) == {"high", "highest"}


def test_a_compiled_function_that_leaves_another_precision_raises():
    @tenax.jit
    def step(x):
        torch.set_float32_matmul_precision("medium")
        return x @ x

    with pytest.raises(TraceError, match="precision of float32 products"):
        step(torch.ones(3, 3, device="jax"))
    assert torch.get_float32_matmul_precision() == "highest"
