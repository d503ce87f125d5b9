"""TorchTPU's names on device "tpu": what they do, and which are refused."""

from __future__ import annotations

from pathlib import Path

from tests.device.test_naming import printed, python

NAMES = """
import importlib.metadata, sys
import torch, torch_tpu
assert "jax" not in sys.modules
from torch_tpu import api
from torch_tpu._internal import dynamism, sync
from torch_tpu._internal.execution_mode import EagerMode
from torch_tpu._internal.utils.hardware import get_tpu_device_count, get_tpu_device_name
import torch_tpu._internal.sync.sync, torch.tpu.ops
import jax, tenax
from tenax.storage.recording import recording

assert importlib.metadata.version("torch-tpu") == torch_tpu.VERSION
assert api.tpu_device() == torch.device("tpu") and torch.accelerator.current_accelerator().type == "tpu"
assert get_tpu_device_name() == jax.devices()[0].device_kind
assert get_tpu_device_count() == sum(d.platform == "tpu" for d in jax.devices())
x = torch.arange(12.0, device="tpu").reshape(4, 3)

# precision
with torch.tpu.precision(torch.tpu.Precision.DEFAULT):
    assert jax.config.jax_default_matmul_precision == "default"
assert jax.config.jax_default_matmul_precision is None

# the generators
first, = {g.device.type for g in torch.tpu.default_generators}
generator = torch.tpu.default_generators[0].manual_seed(3)
assert first == "tpu" and generator.initial_seed() == torch.tpu.initial_seed() == 3
state, drawn = generator.get_state(), torch.rand(2, device="tpu")
generator.set_state(state)
assert torch.equal(torch.rand(2, device="tpu"), drawn)

# eager modes
assert torch.tpu.eager_mode is EagerMode.DEFER_NEVER and recording.tape is None
torch.tpu.eager_mode = torch.tpu.EagerMode.DEFER_AND_FUSE
y = x + 1
assert recording.tape is not None
with torch.tpu.set_eager_mode(EagerMode.DEFER_NEVER_AND_LAUNCH_BLOCKING):
    assert recording.tape is None and (y * 2).sum().item() == 156
assert recording.tape is not None and torch.tpu.eager_mode is EagerMode.DEFER_AND_FUSE
sync.synchronize(y, wait=True)
torch.tpu.eager_mode = EagerMode.DEFER_NEVER

# statistics
assert torch.tpu._get_cache_misses() == torch.tpu._get_cache_requests() == 0
for _ in range(3):
    (x.cosh() + 5).sum().item()
stats = torch.tpu._get_cache_stats()
assert stats.num_cache_hits >= 4 and len(stats.per_entry_stats) == torch.tpu._get_cache_misses() >= 2
assert all(entry.compilation_duration > 0 for entry in stats.per_entry_stats)
misses = torch.tpu._get_cache_misses()
(x.cosh() + 5).sum().item()
assert torch.tpu._get_cache_misses() == misses and "tpu:0" in torch.tpu._hbm_usage_summary()
torch.tpu._clear_cache()
(x.cosh() + 5).sum().item()
assert torch.tpu._get_cache_misses() > misses

# bounds of sizes
dynamism.mark_dynamic(x, 0, 2, 8)
try:
    dynamism.mark_dynamic(x, 0, 5, 8)
except ValueError as error:
    assert "dimension 0 has 4 elements; expected from 5 to 8" in str(error)

# operators
sizes = torch.tensor([1, 3], device="tpu", dtype=torch.int32)
left, right = x.clone().requires_grad_(), torch.randn(2, 3, 5, device="tpu", requires_grad=True)
product = torch.tpu.ops.ragged_dot(left, right, sizes)
expected = torch.cat([left[:1] @ right[0], left[1:] @ right[1]])
torch.testing.assert_close(product, expected)
for found, wanted in zip(*(torch.autograd.grad(p.square().sum(), (left, right)) for p in (product, expected))):
    torch.testing.assert_close(found, wanted)
gradient = torch.tpu.ops.ragged_dot_weight_grad(x, 2 * product.detach(), sizes)
torch.testing.assert_close(gradient, wanted)
assert torch.equal(torch.tpu.ops.optimization_barrier([x, y])[1], y)
for n in (1, 2, 3):
    image = torch.randn(1, 2, *[6] * n, device="tpu", requires_grad=True)
    options = [2] * n, [2] * n, [0] * n, [1] * n, False
    pooled = getattr(torch.tpu.ops, f"max_pool{n}d")(image, *options)
    assert torch.equal(pooled, getattr(torch.nn.functional, f"max_pool{n}d")(image, 2))
    back = getattr(torch.tpu.ops, f"max_pool{n}d_backward")(torch.ones_like(pooled), image.detach(), *options)
    assert torch.equal(back, torch.autograd.grad(pooled.sum(), image)[0])

# compilation
from torch_tpu._internal.compile import TpuBackend
for backend in ("tpu", TpuBackend()):
    assert torch.equal(torch.compile(lambda x: x.square() + 1, backend=backend)(x), x.square() + 1)
try:
    TpuBackend(debug=True)
except NotImplementedError as error:
    assert "expected tenax.explain" in str(error)
print("done")
"""

COMPILER_OPTIONS = """
import os, sys
import torch, torch_tpu, tenax
from tenax.errors import TraceError
from torch_tpu._internal.compiler_options import custom_compiler_options

assert custom_compiler_options is torch.tpu.compiler.custom_compiler_options
x = torch.ones(2, 2, device="tpu")
with custom_compiler_options({"xla_dump_to": sys.argv[1]}):
    with custom_compiler_options({"xla_backend_optimization_level": "1"}):
        x.sinh()
        torch.compile(lambda x: x + 1, backend="tpu")(x)
        tenax.jit(lambda x: x + 2)(x)
        with tenax.lazy():
            (x + 3).cos().tolist()
x.cosh()
assert {f.split(".")[1] for f in os.listdir(sys.argv[1])} == {"jit_sinh", "jit_inference", "jit__lambda", "jit__replay"}

def refused(kind, text, options, function):
    try:
        with custom_compiler_options(options):
            function(x)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)

refused(ValueError, "No such compile option: 'xla_nonsense'", {"xla_nonsense": "1"}, torch.tan)
inside = tenax.jit(lambda x: custom_compiler_options({}).__enter__())
refused(TraceError, "within a compiled function", {}, inside)
print("done")
"""

OPERATORS = """

import jax, jax.numpy as jnp
import torch, torch_tpu
from jax.experimental import pallas as pl
from torch_tpu._internal import pallas

def kernel(x, y, out):
    out[...] = x[...] + y[...]

@pallas.jax_op("mine::add")
def add(x: jax.Array, y: jax.Array) -> jax.Array:
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x, y)

x = torch.randn(3, 4, device="tpu", requires_grad=True)
assert torch.equal(add(x.detach(), x.detach()), 2 * x)

@torch.tpu.pallas.jax_op("mine::scaled")
def scaled(
    x: jax.Array, others: list[jax.Array], factor: float, mode: str = "sin", shift: float | None = None
) -> tuple[jax.Array, jax.Array]:
    assert type(factor) is float
    return x * factor * others[0] + (shift or 0), getattr(jnp, mode)(x)

product, sine = scaled(x, [x], 2.0)
(product.sum() + sine.sum()).backward()
torch.testing.assert_close(x.grad, 4 * x + x.cos())
compiled = torch.compile(lambda x: scaled(x, [x], 3.0, "cos", shift=1.0)[0] * 2, fullgraph=True)
torch.testing.assert_close(compiled(x), (3 * x * x + 1) * 2)
each = torch.func.vmap(lambda row: scaled(row, [row], 2.0)[0])(x.detach())
torch.testing.assert_close(each, 2 * x * x)

def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)

raises(TypeError, "['x', 'return'] have no annotation", lambda: pallas.jax_op("mine::bare", lambda x: x))
raises(NotImplementedError, "mesh; expected tenax.call_jax", lambda: pallas.jax_op("mine::on", add, mesh=object()))
raises(NotImplementedError, "expected tensors of the device", lambda: add(torch.ones(2), torch.ones(2)))
print("done")
"""

REFUSED = """
import torch, torch_tpu
from tenax.compat.torch_tpu import ROWS
import importlib
for row in ROWS:
    for name in row.names:
        found = getattr(importlib.import_module(row.module), name)
        try:
            row.status == "not" and found()
        except NotImplementedError as error:
            expected = f"{row.module}.{name}: tenax lacks this name of TorchTPU; expected {row.tenax}"
            assert str(error) == expected, error
        else:
            assert row.status == "runs", name
for name in ("torch.tpu.nothing", "torch_tpu.nothing", "torch_tpu._internal.nothing"):
    module, _, attribute = name.rpartition(".")
    assert not hasattr(importlib.import_module(module), attribute)
import torch_tpu._internal.vllm
"""


def test_the_names_of_torch_tpu_and_of_its_device_module() -> None:
    assert printed(NAMES, name="tpu") == "done\n"


def test_options_of_xla_apply_to_what_is_compiled_in_their_block(tmp_path: Path) -> None:
    assert printed(COMPILER_OPTIONS, tmp_path, name="tpu") == "done\n"


def test_jax_functions_become_operators_with_gradients() -> None:
    assert printed(OPERATORS, name="tpu") == "done\n"


def test_what_is_missing_is_named() -> None:
    done = python(REFUSED, name="tpu")
    assert "ModuleNotFoundError: No module named 'torch_tpu._internal.vllm': tenax lacks this module" in done.stderr


def test_other_names_of_the_device_bring_no_torch_tpu(tmp_path: Path) -> None:
    done = python("import torch; torch.ones(1, device='jax'); import torch_tpu", name="jax")
    assert "ModuleNotFoundError: No module named 'torch_tpu'" in done.stderr
