"""A JAX function is a differentiable operation of torch: `call_jax`, and arrays among torch's arguments."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import tenax
from tenax import call_jax
from tenax.dispatch import jax_call as calls
from tenax.interop import j2t, t2j
from tests.helpers.agreement import close
from tests.helpers.arrays import X


def tensor(grad: bool = True) -> torch.Tensor:
    return torch.tensor(X, device="jax").requires_grad_(grad)


def wave(x: jax.Array) -> jax.Array:
    return jnp.sin(x) * jnp.exp(x)


def mixed(tree: dict[str, Any], *, power: int, name: str) -> dict[str, Any]:
    assert name == "a"
    return {"y": tree["x"] ** power, "both": (tree["x"].sum() * tree["k"], jnp.arange(3)), "none": None}


def test_values_and_gradients_are_those_of_jax() -> None:
    x = tensor()
    y = call_jax(wave, x)
    close(y, wave(X))
    y.square().sum().backward()
    close(x.grad, jax.grad(lambda x: (wave(x) ** 2).sum())(X))


def test_trees_and_static_arguments_pass() -> None:
    x, k = tensor(), jnp.float32(3)
    out = call_jax(mixed, {"x": x, "k": k}, power=3, name="a")
    assert out["none"] is None
    assert out["both"][1].tolist() == [0, 1, 2]
    assert out["both"][1].dtype == torch.int32
    close(out["y"], X**3)
    close(torch.autograd.grad(out["both"][0], x), [np.full_like(X, 3)])
    close(call_jax(mixed, {"x": x, "k": np.float32(2) * np.ones(())}, power=2, name="a")["y"], X**2)
    assert call_jax(lambda x, n: x * n, x, 2).dtype == torch.float32


def test_keys_and_numbers_are_arrays_to_jax() -> None:
    def noisy(key: Any, x: Any) -> Any:
        return x + jax.random.normal(key, x.shape), 3, np.arange(2.0), True

    key, x = jax.random.key(5), tensor()
    found, *numbers = call_jax(noisy, key, x)
    close(found, X + jax.random.normal(key, X.shape))
    close(torch.autograd.grad(found.sum(), x), [np.ones_like(X)])
    assert [n.dtype for n in numbers] == [torch.int32, torch.float32, torch.bool]
    close(
        call_jax(noisy, jax.random.key(5, impl="rbg"), x)[0],
        X + jax.random.normal(jax.random.key(5, impl="rbg"), X.shape),
    )
    made = call_jax(jnp.full, (2,), 1.5)  # without any tensor
    assert made.device.type == "jax"
    assert made.tolist() == [1.5, 1.5]


def test_higher_derivatives_and_torch_func() -> None:
    x = tensor()

    def total(x: Any) -> Any:
        return call_jax(wave, x).sum()

    (first,) = torch.autograd.grad(total(x), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = torch.autograd.grad(second.sum(), x)
    d = jax.vmap(jax.vmap(jax.grad(jax.grad(jax.grad(wave)))))
    close(third, d(X))
    close(torch.func.grad(total)(tensor(False)), jax.grad(lambda x: wave(x).sum())(X))
    close(torch.func.vmap(torch.func.grad(total))(tensor(False)), jax.grad(lambda x: wave(x).sum())(X))
    close(torch.func.jacrev(lambda x: call_jax(wave, x))(tensor(False)), jax.jacrev(wave)(X))
    close(second, jax.grad(lambda x: jax.grad(lambda y: wave(y).sum())(x).sum())(X))
    close(torch.func.vmap(lambda x: call_jax(jnp.dot, x, x))(tensor(False)), (X * X).sum(1))


def test_forward_mode_is_jaxs_jvp() -> None:
    def both(x: jax.Array) -> Any:
        return wave(x), jnp.argmax(x)

    def f(x: Any) -> Any:
        return call_jax(both, x)[0]

    x, v = tensor(False), torch.ones(2, 3, device="jax")
    close(torch.func.jvp(f, (x,), (v,)), jax.jvp(wave, (X,), (np.ones_like(X),)))
    close(torch.func.jacfwd(f)(x), jax.jacfwd(wave)(X))
    close(torch.func.hessian(lambda x: f(x).sum())(x), jax.hessian(lambda x: wave(x).sum())(X))
    close(torch.func.jacrev(torch.func.jacfwd(f))(x), jax.jacrev(jax.jacfwd(wave))(X))


def test_the_rule_of_a_custom_vjp_is_the_gradient() -> None:
    @jax.custom_vjp
    def f(x: jax.Array) -> jax.Array:
        return x * x

    f.defvjp(lambda x: (x * x, x), lambda x, g: (g * 100 * x,))
    x = tensor()
    call_jax(f, x).sum().backward()
    close(x.grad, 100 * X)


def test_a_call_within_a_pure_function_is_differentiated_by_jax() -> None:
    f = t2j(lambda x: call_jax(wave, x.sin()).sum())
    close(jax.jit(jax.grad(f))(X), jax.grad(lambda x: wave(jnp.sin(x)).sum())(X))
    g = t2j(lambda x: torch.func.grad(lambda y: call_jax(wave, y).sum())(x).sum())
    close(jax.grad(g)(X), jax.grad(lambda x: jax.grad(lambda y: wave(y).sum())(x).sum())(X))
    both = j2t(t2j(torch.sin))
    x = tensor()
    both(x).sum().backward()
    close(x.grad, np.cos(X))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_call_runs_under_torch_compile(backend: str) -> None:
    torch._dynamo.reset()

    def f(x: torch.Tensor) -> torch.Tensor:
        return call_jax(wave, x.sin()).square().sum()

    x = tensor()
    torch.compile(f, backend=backend, fullgraph=True)(x).backward()
    close(x.grad, jax.grad(lambda x: (wave(jnp.sin(x)) ** 2).sum())(X))

    def g(x: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        made = call_jax(mixed, {"x": x, "k": k}, power=3, name="a")
        return made["y"].sum() + made["both"][0]

    k = torch.tensor(2.0, device="jax")
    close(torch.compile(g, backend=backend, fullgraph=True)(x, k), g(x, k).detach().cpu())


def test_float64_and_complex_gradients() -> None:
    x = torch.tensor(X, dtype=torch.float64, device="jax", requires_grad=True)
    y = call_jax(lambda x: jax.lax.complex(jnp.cos(x), jnp.sin(x)), x)
    assert y.dtype == torch.complex128
    y.real.sum().backward()
    close(x.grad, -np.sin(X.astype(np.float64)))
    assert x.grad is not None
    assert x.grad.dtype == torch.float64


class Holder:
    def scaled(self, x: jax.Array) -> jax.Array:
        return x * 2


def test_functions_that_are_gone_leave_nothing_behind() -> None:
    x = tensor()

    def once(i: int) -> None:
        call_jax(lambda a: a * i, x).sum().backward()
        (g,) = torch.autograd.grad(call_jax(Holder().scaled, x).sin().sum(), x, create_graph=True)
        g.sum().backward()

    def sizes() -> list[int]:
        gc.collect()
        return [len(t) for t in (calls._functions, calls._numbers, calls._splits, calls._dispatcher.entries)]

    once(0)
    before = sizes()
    for i in range(3):
        once(i)
    assert sizes() == before


def test_a_graph_outlives_the_name_of_its_function() -> None:
    x = tensor()
    y = call_jax(lambda a: jnp.sin(a), x)
    gc.collect()
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    g.sum().backward()
    close(x.grad, -np.sin(X))


def test_the_same_function_is_traced_once() -> None:
    traced = []

    def f(x: jax.Array) -> jax.Array:
        traced.append(1)
        return x + 1

    with torch.no_grad():
        call_jax(f, tensor(False))
        count = len(traced)
        call_jax(f, tensor(False))
        call_jax(f, tensor(False))
    assert len(traced) == count


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"call_jax: got a tensor on cpu"):
        call_jax(jnp.sin, torch.ones(2))
    with pytest.raises(TypeError, match="not hashable"):
        call_jax(lambda x, y: x, tensor(), {1, 2})


# jax.Array among torch's arguments


def test_the_library_that_is_asked_decides_what_comes_out() -> None:
    x, a = tensor(), jnp.asarray(X)
    for made in (x + a, torch.add(x, a), torch.mul(a, 2), torch.nn.functional.linear(a, x), torch.cat([x, a])):
        assert isinstance(made, tenax.Tensor)
    (x * a).sum().backward()
    close(x.grad, X)
    for made in (a + x.detach(), jnp.add(x.detach(), a), a @ x.detach().T):
        assert isinstance(made, jax.Array)
    y = torch.zeros(2, 3, device="jax")
    y[0] = a[1]
    y += a
    close(y, np.stack([X[0] + X[1], X[1]]))
    assert torch.sin(a).jax().sharding == a.sharding


def test_an_array_that_jax_traces_is_no_argument_of_torch() -> None:
    with pytest.raises(TypeError, match="t2j"):
        jax.jit(lambda x: torch.sin(x))(X)


def test_jax_takes_no_result_whose_gradient_it_would_lose() -> None:
    x = tensor()
    y = x * 2
    with pytest.raises(RuntimeError, match=r"result of MulBackward0.*call_jax"):
        jnp.sin(y)
    with pytest.raises(RuntimeError, match="call_jax"):
        jnp.ones((2, 3)) + y
    with torch.no_grad():
        close(jnp.sin(y), np.sin(2 * X))
    close(jnp.sin(y.detach()), np.sin(2 * X))
    close(jnp.sin(x), np.sin(X))


FIRST_LINES = """
import sys
{imports}
import torch, jax, jax.numpy as jnp
from tenax.device import after_import
assert "jax" not in after_import._waiting and after_import._waiting

def error(call):
    try:
        call()
    except (TypeError, RuntimeError) as e:
        return str(e)

print("t2j" in error(lambda: jax.grad(lambda x: torch.sin(x).sum())(jnp.ones(3))))
print("expected one on device jax" in error(lambda: jnp.sin(torch.ones(2))))
print("expected one on device jax" in error(lambda: jax.jit(jnp.sin)(torch.ones(2))))
assert torch.sin(jnp.ones(3)).device.type == "jax"
print(torch.equal(torch.ones(3, device="jax") * 2, jnp.ones(3) * 2), jnp.sin(torch.zeros(2, device="jax")))
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "imports",
    [
        "import tenax, jax",
        "import jax, tenax",
        "import torch, tenax, importlib.util; assert 'jax' not in sys.modules; importlib.util.find_spec('jax')",
    ],
)
def test_arrays_and_tensors_meet_from_the_first_line_of_a_process(imports: str) -> None:
    program = FIRST_LINES.format(imports=imports)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["True", "True", "True", "True [0. 0.]"], done.stdout + done.stderr


def test_arrays_become_tensors_of_the_cpu_where_asked() -> None:
    tree = {"a": jnp.arange(3), "b": (jnp.ones(2, jnp.bfloat16), "text")}
    found = j2t(tree, device="cpu")
    assert (found["a"].device.type, found["a"].dtype, found["a"].tolist()) == ("cpu", torch.int32, [0, 1, 2])
    assert (found["b"][0].dtype, found["b"][1]) == (torch.bfloat16, "text")
    assert j2t(jnp.ones(2), device=torch.device("cpu")).device.type == "cpu"
    with pytest.raises(TypeError, match="device given for"):
        j2t(jnp.sin, device="cpu")
